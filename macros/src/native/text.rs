//! The text of a native functions file, and messages that point into it.

use std::fmt::Write;

/// The text of a file, and the name to show for it.
pub(crate) struct Text {
    /// The file's name, such as `native_functions.yaml`.
    pub(crate) name: String,
    pub(crate) text: String,
    /// The number of the first line.
    pub(crate) first_line: usize,
}

/// A place within one line of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    /// The line, from 0.
    pub(crate) line: usize,
    /// The column, from 0, in characters.
    pub(crate) column: usize,
    /// The length in characters.
    pub(crate) length: usize,
}

/// A message and its place.
#[derive(Clone, Debug)]
pub(crate) struct Mistake {
    pub(crate) spot: Spot,
    pub(crate) message: String,
}

impl Spot {
    pub(crate) fn mistake(self, message: impl Into<String>) -> Mistake {
        Mistake { spot: self, message: message.into() }
    }
}

impl Text {
    /// The line number of a spot, as editors count.
    pub(crate) fn line_number(&self, spot: Spot) -> usize {
        self.first_line + spot.line
    }

    /// Whether exactly these words are at a spot.
    pub(crate) fn reads(&self, spot: Spot, words: &str) -> bool {
        let line = self.text.lines().nth(spot.line).unwrap_or_default();
        line.chars().skip(spot.column).take(words.chars().count()).eq(words.chars())
    }

    /// Renders a message with the line and a caret.
    pub(crate) fn render(&self, mistake: &Mistake) -> String {
        let Mistake { spot, message } = mistake;
        let number = self.line_number(*spot).to_string();
        let margin = " ".repeat(number.len());
        let line = self.text.lines().nth(spot.line).unwrap_or_default();
        let (message, help) = message.split_once('\n').unwrap_or((message, ""));
        let before: String =
            line.chars().take(spot.column).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let left = line.chars().count().saturating_sub(spot.column);
        let carets = "^".repeat(spot.length.min(left).max(1));
        let mut out = format!("{}:{number}:{}: {message}", self.name, spot.column + 1);
        let _ = write!(out, "\n{margin} |\n{number} | {line}\n{margin} | {before}{carets}");
        if !help.is_empty() {
            let _ = write!(out, "\n{margin} = {help}");
        }
        out
    }
}
