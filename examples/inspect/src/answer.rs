//! The answer of a command, for people and for machines.

use serde_json::Value;

/// An answer.
pub(crate) struct Answer {
    /// For people: lines of text.
    pub(crate) text: String,
    /// For machines: JSON.
    pub(crate) json: Value,
    /// Whether the command found no problem.
    pub(crate) is_well: bool,
}

impl Answer {
    pub(crate) fn new(text: String, json: Value) -> Self {
        Answer { text, json, is_well: true }
    }
}
