//! Cuts a text into tokens, by the rules of PyTorch's lexer.

use crate::literal::{scan_number, scan_string};
use crate::token::{Span, Token, TokenKind};
use std::borrow::Cow;

/// The tokens of `text`. Never fails: what is no word of the language becomes [`TokenKind::Invalid`].
pub(crate) fn lex(text: &str) -> Vec<Token<'_>> {
    // Words are three to four bytes long on average over PyTorch's own schemas, so this seldom grows.
    let mut tokens = Vec::with_capacity(text.len() / 3 + 1);
    let mut lexer = Lexer { text, bytes: text.as_bytes(), at: 0, depth: 0 };
    lexer.skip_blank(false);
    while let Some(token) = lexer.next_token() {
        tokens.push(token);
    }
    tokens
}

struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    /// How many brackets are open. Line breaks count outside of them only.
    depth: usize,
}

impl<'a> Lexer<'a> {
    fn next_token(&mut self) -> Option<Token<'a>> {
        let start = self.at;
        if self.skip_blank(self.depth == 0) {
            return Some(self.token(TokenKind::Newline, start));
        }
        let start = self.at;
        let rest = &self.bytes[start..];
        let (kind, length) = match *rest.first()? {
            b'A'..=b'Z' | b'a'..=b'z' | b'_' => (TokenKind::Ident, ident_length(rest)),
            b'0'..=b'9' => (TokenKind::Number, scan_number(rest)),
            b'.' if rest.get(1).is_some_and(u8::is_ascii_digit) => (TokenKind::Number, scan_number(rest)),
            b'.' if rest.starts_with(b"...") => (TokenKind::Dots, 3),
            b'-' if rest.get(1) == Some(&b'>') => (TokenKind::Arrow, 2),
            b'"' | b'\'' => match scan_string(rest) {
                Some(length) => (TokenKind::String, length),
                None => (TokenKind::Invalid, 1),
            },
            b'#' | b'$' | b';' | b'\\' | b'`' => (TokenKind::Invalid, 1),
            sign if sign.is_ascii_punctuation() => (TokenKind::Punct(sign), 1),
            _ => (TokenKind::Invalid, self.text[start..].chars().next().map_or(1, char::len_utf8)),
        };
        match kind {
            TokenKind::Punct(b'(' | b'[' | b'{') => self.depth += 1,
            // A bracket too many is a syntax error; until the parser gets there, line breaks do not matter.
            TokenKind::Punct(b')' | b']' | b'}') => self.depth = self.depth.wrapping_sub(1),
            _ => {}
        }
        self.at += length;
        Some(self.token(kind, start))
    }

    fn token(&self, kind: TokenKind, start: usize) -> Token<'a> {
        let span = Span { start, end: self.at };
        Token { kind, text: Cow::Borrowed(&self.text[start..self.at]), span }
    }

    /// Skips white space, comments and continued lines. Says whether a line break was among them, if asked to look.
    fn skip_blank(&mut self, stop_at_newline: bool) -> bool {
        let mut newline = false;
        loop {
            let rest = &self.bytes[self.at..];
            match rest {
                [b' ' | b'\t' | b'\r' | 0x0b | 0x0c, ..] => self.at += 1,
                [b'\n', ..] => {
                    newline = stop_at_newline;
                    self.at += 1;
                }
                [b'#', ..] if !rest.starts_with(b"# type:") => {
                    self.at += rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
                }
                [b'\\', b'\n', ..] if !newline => self.at += 2,
                _ => return newline,
            }
        }
    }
}

fn ident_length(bytes: &[u8]) -> usize {
    bytes.iter().position(|&byte| !(byte.is_ascii_alphanumeric() || byte == b'_')).unwrap_or(bytes.len())
}
