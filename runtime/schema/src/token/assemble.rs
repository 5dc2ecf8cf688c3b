//! Converts rustc's tokens to ours, so that bare tokens in a macro mean the same as their text.

use super::{Span, Token, TokenKind};
use crate::literal;
use std::borrow::Cow;

/// A token of rustc. Groups are flattened: their brackets are `Punct`s like any other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// An identifier or keyword, raw (`r#type`) or not.
    Ident(&'a str),
    /// A punctuation character, and whether the next one follows without a space (`Spacing::Joint`).
    Punct {
        /// The character.
        sign: char,
        /// Whether the next one follows directly.
        joint: bool,
    },
    /// A literal as it is written: `1`, `1.`, `1e-05`, `1j`, `"text"`, `'c'`, `r"raw"`.
    Literal(&'a str),
}

/// Combines pieces into tokens. Spans count pieces.
///
/// Rust splits some tokens that are one in the schema language (`->` and `...` are several characters, `.5` and `1.j`
/// several pieces) and has other string escapes; the resulting tokens are those that the lexer makes from the same
/// text.
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
        // Three quotes, for Rust an empty string on each side.
        [Piece::Literal("\"\""), Piece::Literal(text), Piece::Literal("\"\""), ..] => string(text, 3),
        [Piece::Literal(text), ..] => string(text, 1),
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

fn string(text: &str, length: usize) -> (TokenKind, Cow<'_, str>, usize) {
    match literal::rust_string(text) {
        Some(value) => (TokenKind::String, Cow::Owned(literal::quote(value.as_bytes())), length),
        None => (TokenKind::Invalid, Cow::Borrowed(text), length),
    }
}

/// A number, with the tail that Rust splits off: `1.j` is `1` `.` `j` for rustc, `1.e5` is `1` `.` `e5`, and `1.e-5` is
/// `1` `.` `e` `-` `5`. Numbers that only exist in Rust (`0b1`, `1_000`, `1u8`) are rejected.
fn number<'a>(text: &'a str, rest: &[Piece<'a>]) -> (TokenKind, Cow<'a, str>, usize) {
    let is_number = |text: &str| literal::scan_number(text.as_bytes()) == text.len();
    if let [Piece::Punct { sign: '.', joint: false }, Piece::Ident(tail), ..] = *rest {
        let whole = format!("{text}.{tail}");
        if is_number(&whole) {
            return (TokenKind::Number, Cow::Owned(whole), 3);
        }
        if let [_, _, Piece::Punct { sign, .. }, Piece::Literal(exponent), ..] = *rest {
            let whole = format!("{whole}{sign}{exponent}");
            if is_number(&whole) {
                return (TokenKind::Number, Cow::Owned(whole), 5);
            }
        }
    }
    let kind = if is_number(text) { TokenKind::Number } else { TokenKind::Invalid };
    (kind, Cow::Borrowed(text), 1)
}
