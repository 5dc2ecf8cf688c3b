//! A dispatch table of 137 rows: one line for each or, shorter, one paragraph for each kernel.

use std::fmt::Write;

use serde_json::{Value, json};
use torch_library::table::{Entry, Source};
use torch_library::{BackendComponent, DispatchKey, RowInfo};

use crate::columns::Columns;

/// The width of lines of keys.
const WIDTH: usize = 100;

/// The kernel and rule of a key.
pub(crate) struct Row {
    key: DispatchKey,
    source: Source,
    kernel: Option<String>,
    is_fallthrough: bool,
}

impl Row {
    pub(crate) fn new(key: DispatchKey, entry: Entry<&str>) -> Self {
        let kernel = entry.kernel.map(str::to_owned);
        Row { key, source: entry.source, kernel, is_fallthrough: entry.is_fallthrough }
    }

    pub(crate) fn json(&self) -> Value {
        json!({ "key": self.key.to_string(), "source": self.source.to_string(), "kernel": self.kernel })
    }

    /// For example `add at src/cpu.rs:12 (crate myops) [kernel]`.
    fn title(&self) -> String {
        match (&self.kernel, self.is_fallthrough) {
            (Some(kernel), true) => format!("{kernel} [{}]: calls skip", self.source),
            (Some(kernel), false) => format!("{kernel} [{}]", self.source),
            (None, _) => format!("[{}]", self.source),
        }
    }
}

impl From<&RowInfo> for Row {
    fn from(row: &RowInfo) -> Self {
        let kernel = row.kernel.as_ref();
        Row {
            key: row.key,
            source: row.source,
            kernel: kernel.map(ToString::to_string),
            is_fallthrough: kernel.is_some_and(|kernel| kernel.is_fallthrough),
        }
    }
}

/// The rows as text: a line for each key, or a paragraph for each kernel.
pub(crate) fn text(rows: &[Row], all: bool) -> String {
    if !all {
        return paragraphs(rows);
    }
    let lines = rows
        .iter()
        .map(|row| [row.key.to_string(), row.source.to_string(), row.kernel.clone().unwrap_or_default()]);
    lines.collect::<Columns>().to_string()
}

/// One paragraph for each kernel and rule, in the order of their first keys; keys without a kernel come last.
fn paragraphs(rows: &[Row]) -> String {
    let mut groups: Vec<(String, Vec<DispatchKey>)> = Vec::new();
    for row in rows {
        let title = row.title();
        match groups.iter_mut().find(|(known, _)| *known == title) {
            Some((_, keys)) => keys.push(row.key),
            None => groups.push((title, vec![row.key])),
        }
    }
    groups.sort_by_key(|(title, _)| (title.starts_with('['), title == "[missing]")); // the sort is stable
    let paragraph = |(title, keys): &(String, Vec<_>)| format!("  {title}\n{}", wrapped(&names(keys)));
    groups.iter().map(paragraph).collect::<Vec<_>>().join("\n")
}

/// The keys' names, where `Sparse*` stands for `SparseCPU`, `SparseCUDA` and so on to `SparseMeta`.
fn names(keys: &[DispatchKey]) -> Vec<String> {
    let mut names = Vec::new();
    for key in keys {
        let functionality = key.functionality();
        let block = BackendComponent::ALL.map(|backend| functionality.on(backend));
        if key.backend().is_none() || !block.iter().all(|key| keys.contains(key)) {
            names.push(key.to_string());
        } else if *key == block[0] {
            let name = key.name().trim_end_matches("CPU");
            names.push(if name.is_empty() { "every backend".to_owned() } else { format!("{name}*") });
        }
    }
    names
}

/// Joins words with commas, indented and wrapped.
fn wrapped(words: &[String]) -> String {
    let mut text = String::new();
    let mut line = String::new();
    for (index, word) in words.iter().enumerate() {
        let comma = if index + 1 == words.len() { "" } else { "," };
        if !line.is_empty() && line.len() + word.len() + 2 > WIDTH {
            let _ = writeln!(text, "      {}", line.trim_end());
            line.clear();
        }
        let _ = write!(line, "{word}{comma} ");
    }
    let _ = writeln!(text, "      {}", line.trim_end());
    text
}
