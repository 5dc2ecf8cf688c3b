//! Errors in schemas, with their positions.

use crate::token::Span;
use std::fmt;
use std::ops::Range;

/// A mistake in a schema, with its position.
///
/// The fields hold the first mistake; [`iter`](Self::iter) lists it and all others that were found. A syntax error ends
/// the search; a semantic error (a duplicate name, a default of the wrong kind) does not.
///
/// PyTorch: the `RuntimeError` of the schema parser, which stops at the first mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaError {
    /// The message: lower case, no full stop.
    pub message: String,
    /// The position: byte offsets in the text, or the token positions from which [`Span`](crate::Span)s were made.
    pub span: Range<usize>,
    /// A suggestion for what to write instead.
    pub help: Option<String>,
    others: Vec<SchemaError>,
}

impl SchemaError {
    pub(crate) fn new(message: impl Into<String>, span: Span) -> Self {
        let message = excerpt(message.into(), LONGEST_MESSAGE);
        Self { message, span: span.into(), help: None, others: Vec::new() }
    }

    pub(crate) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(excerpt(help.into(), LONGEST_MESSAGE));
        self
    }

    /// One error for all mistakes in a schema, of which there is at least one, in the order of the text.
    #[cold]
    pub(crate) fn from_all(mut problems: Vec<SchemaError>) -> Self {
        problems.sort_by_key(|problem| problem.span.start);
        let mut first = problems.remove(0);
        first.others = problems;
        first
    }

    /// All mistakes, in the order of the text, including this one.
    pub fn iter(&self) -> impl Iterator<Item = &SchemaError> {
        std::iter::once(self).chain(&self.others)
    }

    /// The error as a compiler shows it: each mistake with its line of `text`, a caret under it, and the help.
    ///
    /// ```
    /// use torch_library_schema::{Mode, Schema};
    ///
    /// let text = "f(Tensor x, int x) -> Tensor";
    /// assert_eq!(
    ///     Schema::parse(text, Mode::Strict).unwrap_err().render(text),
    ///     "error: two arguments are called `x`
    ///   |
    /// 1 | f(Tensor x, int x) -> Tensor
    ///   |                 ^
    ///   = help: every argument needs a name of its own
    /// ",
    /// );
    /// ```
    pub fn render(&self, text: &str) -> String {
        self.iter().map(|problem| problem.render_one(text)).collect()
    }

    fn render_one(&self, text: &str) -> String {
        let start = floor_char_boundary(text, self.span.start);
        let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |newline| start + newline);
        let number = (text[..line_start].matches('\n').count() + 1).to_string();
        let margin = " ".repeat(number.len());
        // For a long line, the part around the position.
        let from = line_start.max(floor_char_boundary(text, start.saturating_sub(SHOWN_BEFORE)));
        let to = line_end.min(floor_char_boundary(text, start + SHOWN_AFTER));
        let end = floor_char_boundary(text, self.span.end).clamp(start, to);
        let (before, after) =
            (if from > line_start { "…" } else { "" }, if to < line_end { "…" } else { "" });
        // A tab stays a tab, so that the caret is under its token for any tab width.
        let before_caret = before.chars().chain(text[from..start].chars());
        let indent: String = before_caret.map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let carets = "^".repeat(text[start..end].chars().count().max(1));
        let mut out = format!(
            "error: {}\n{margin} |\n{number} | {before}{}{after}\n{margin} | {indent}{carets}\n",
            self.message,
            visible(&text[from..to])
        );
        if let Some(help) = &self.help {
            out += &format!("{margin} = help: {help}\n");
        }
        out
    }
}

/// The maximum number of bytes of a message, or its help: the text that it quotes may be of any length.
const LONGEST_MESSAGE: usize = 500;
/// How much of a line is shown before and after the position of a mistake.
const SHOWN_BEFORE: usize = 400;
const SHOWN_AFTER: usize = 400;

/// The beginning and the end of a text that is longer than `longest` bytes.
fn excerpt(text: String, longest: usize) -> String {
    if text.len() <= longest {
        return text;
    }
    let head = &text[..floor_char_boundary(&text, longest * 3 / 4)];
    let tail = &text[floor_char_boundary(&text, text.len() - longest / 4)..];
    format!("{head}…{tail}")
}

/// `text` with every control character except tabs replaced, one by one, so that it can be shown on a line.
pub(crate) fn visible(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\t' { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

fn floor_char_boundary(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.iter().enumerate() {
            if index > 0 {
                f.write_str("; ")?;
            }
            f.write_str(&problem.message)?;
            if let Some(help) = &problem.help {
                write!(f, " ({help})")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for SchemaError {}
