//! From the tokens of rustc to ours, so that a schema written bare in a macro means what its text means.

use super::{Span, Token, TokenKind};
use crate::literal;
use std::borrow::Cow;

/// A token as rustc cuts it. Groups are flattened: their brackets are `Punct`s like any other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// An identifier or keyword, raw (`r#type`) or not.
    Ident(&'a str),
    /// A sign, and whether the next sign follows without a space (`Spacing::Joint`).
    Punct {
        /// The sign.
        sign: char,
        /// Whether it touches the next one.
        joint: bool,
    },
    /// A literal as it is written: `1`, `1.`, `1e-05`, `1j`, `"text"`, `'c'`, `r"raw"`.
    Literal(&'a str),
}

/// Puts pieces together into tokens. Spans count pieces.
///
/// Rust cuts some words finer than the schema language does (`->` and `...` are several signs, `.5` and `1.j` several
/// pieces) and writes strings in its own escapes; the tokens that come out are those the lexer makes of the same text.
///
/// ```
/// use torch_library_schema::token::{Piece, TokenKind, assemble};
///
/// let sign = |sign, joint| Piece::Punct { sign, joint };
/// let pieces = [sign('-', true), sign('>', false), Piece::Ident("r#type")];
/// let tokens = assemble(&pieces);
/// assert_eq!(tokens[0].kind, TokenKind::Arrow);
/// assert_eq!((&*tokens[1].text, tokens[1].span.start), ("type", 2));
/// ```
pub fn assemble<'a>(pieces: &[Piece<'a>]) -> Vec<Token<'a>> {
    let mut tokens = Vec::with_capacity(pieces.len());
    let mut start = 0;
    while let Some((kind, text, length)) = next_token(&pieces[start..]) {
        tokens.push(Token { kind, text, span: Span { start, end: start + length } });
        start += length;
    }
    tokens
}

fn next_token<'a>(pieces: &[Piece<'a>]) -> Option<(TokenKind, Cow<'a, str>, usize)> {
    Some(match *pieces {
        [Piece::Ident(name), ..] => {
            let name = name.strip_prefix("r#").unwrap_or(name);
            let kind = if name.is_ascii() { TokenKind::Ident } else { TokenKind::Invalid };
            (kind, Cow::Borrowed(name), 1)
        }
        [Piece::Literal(text), ..] if text.starts_with(|c: char| c.is_ascii_digit()) => {
            number(text, &pieces[1..])
        }
        [Piece::Literal(text), ..] => match literal::rust_string(text) {
            Some(value) => (TokenKind::String, Cow::Owned(literal::quote(value.as_bytes())), 1),
            None => (TokenKind::Invalid, Cow::Borrowed(text), 1),
        },
        [Piece::Punct { sign: '-', joint: true }, Piece::Punct { sign: '>', .. }, ..] => {
            (TokenKind::Arrow, Cow::Borrowed("->"), 2)
        }
        [
            Piece::Punct { sign: '.', joint: true },
            Piece::Punct { sign: '.', joint: true },
            Piece::Punct { sign: '.', .. },
            ..,
        ] => (TokenKind::Dots, Cow::Borrowed("..."), 3),
        [Piece::Punct { sign: '.', .. }, Piece::Literal(digits), ..]
            if digits.starts_with(|c: char| c.is_ascii_digit()) =>
        {
            (TokenKind::Number, Cow::Owned(format!(".{digits}")), 2)
        }
        [Piece::Punct { sign, .. }, ..] => {
            let kind = u8::try_from(sign).map_or(TokenKind::Invalid, TokenKind::of_sign);
            (kind, Cow::Owned(sign.to_string()), 1)
        }
        [] => return None,
    })
}

/// A number, with the tail that Rust cuts off: `1.j` is `1` `.` `j` to rustc, and `1.e5` is `1` `.` `e5`. Numbers that
/// only Rust has (`0b1`, `1_000`, `1u8`) are none.
fn number<'a>(text: &'a str, rest: &[Piece<'a>]) -> (TokenKind, Cow<'a, str>, usize) {
    let is_number = |text: &str| literal::scan_number(text.as_bytes()) == text.len();
    if let [Piece::Punct { sign: '.', joint: false }, Piece::Ident(tail), ..] = *rest {
        let whole = format!("{text}.{tail}");
        if is_number(&whole) {
            return (TokenKind::Number, Cow::Owned(whole), 3);
        }
    }
    let kind = if is_number(text) { TokenKind::Number } else { TokenKind::Invalid };
    (kind, Cow::Borrowed(text), 1)
}
