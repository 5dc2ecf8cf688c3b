//! The words of the schema language, independent of who cut them out: our lexer from text, or rustc's for a macro.

mod assemble;

pub use assemble::{Piece, assemble};

use std::borrow::Cow;
use std::ops::Range;

/// Where a token came from: byte offsets of a text, or positions in the list of [`Piece`]s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// The first byte or piece.
    pub start: usize,
    /// One past the last byte or piece.
    pub end: usize,
}

impl From<Span> for Range<usize> {
    fn from(span: Span) -> Self {
        span.start..span.end
    }
}

/// One word of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    /// What sort of word it is.
    pub kind: TokenKind,
    /// The word as PyTorch spells it: for [`TokenKind::String`] the quoted literal with its escapes.
    pub text: Cow<'a, str>,
    /// Where it stands.
    pub span: Span,
}

/// The sorts of [`Token`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// A name: `[A-Za-z_][A-Za-z0-9_]*`. Words that PyTorch reserves (`if`, `None`) are names here; the parser knows.
    Ident,
    /// An unsigned number: `1`, `1.`, `.5`, `1e-05`, `0x10`, `1j`.
    Number,
    /// A string literal, quotes included: `"a\n"`, `'a'`, `"""a"""`.
    String,
    /// One ASCII sign, such as `(` or `?`. `::` is two of them, as it is for PyTorch.
    Punct(u8),
    /// `->`
    Arrow,
    /// `...`
    Dots,
    /// A line break outside of all brackets, which ends a declaration. Tokens of a macro have none.
    Newline,
    /// A character that no schema contains, or a string without its closing quote.
    Invalid,
    /// Past the last token. No token list contains it.
    End,
}
