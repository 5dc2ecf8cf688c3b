//! What a command answers: the same for people and for machines.

use serde_json::Value;

/// An answer.
pub(crate) struct Answer {
    /// For people: whole lines.
    pub(crate) text: String,
    /// For machines.
    pub(crate) json: Value,
    /// Whether nothing is wrong with what was asked about.
    pub(crate) is_well: bool,
}

impl Answer {
    pub(crate) fn new(text: String, json: Value) -> Self {
        Answer { text, json, is_well: true }
    }
}
