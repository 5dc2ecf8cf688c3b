//! Splits a text into tokens, by the rules of PyTorch's lexer.

use crate::literal::{scan_number, scan_string};
use crate::token::{Span, TokenKind};

/// A token that owns nothing, as the parser uses it.
#[derive(Clone, Copy)]
pub(crate) struct Lexeme<'a> {
    pub(crate) kind: TokenKind,
    pub(crate) text: &'a str,
    pub(crate) span: Span,
}

impl Lexeme<'_> {
    pub(crate) fn end(at: usize) -> Self {
        Self { kind: TokenKind::End, text: "", span: Span { start: at, end: at } }
    }
}

/// Returns the tokens of a text, and [`TokenKind::End`] for ever after. Never fails: what is not a token of the
/// language is [`TokenKind::Invalid`].
pub(crate) struct Lexer<'a> {
    text: &'a str,
    at: usize,
    /// The number of open brackets. Line breaks count only outside brackets.
    depth: usize,
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let mut lexer = Self { text, at: 0, depth: 0 };
        lexer.skip_blank(false);
        lexer
    }

    /// Replaces `lexeme` by the next token. This is done in place, since returning it would mean copying it right after
    /// it was written, which costs more than finding it.
    #[inline]
    pub(crate) fn read(&mut self, lexeme: &mut Lexeme<'a>) {
        let bytes = self.text.as_bytes();
        // Nine in ten tokens follow the last one directly, or after one space.
        let start = self.at + usize::from(bytes.get(self.at) == Some(&b' '));
        let kind = bytes.get(start).map_or(TokenKind::Invalid, |&byte| KIND[usize::from(byte)]);
        let length = match kind {
            TokenKind::Ident => ident_length(&bytes[start..]),
            TokenKind::Number | TokenKind::Invalid => return self.read_rare(lexeme, start),
            TokenKind::OpenParen | TokenKind::OpenBracket => {
                self.depth = self.depth.wrapping_add(1);
                1
            }
            TokenKind::CloseParen | TokenKind::CloseBracket => {
                // One closing bracket too many is a syntax error; until the parser gets there, line breaks do not
                // matter.
                self.depth = self.depth.wrapping_sub(1);
                1
            }
            _ => 1,
        };
        self.put(lexeme, kind, start, length);
    }

    /// Reads a token that is neither a word nor a single character.
    #[inline(never)]
    fn read_rare(&mut self, lexeme: &mut Lexeme<'a>, start: usize) {
        let (kind, length) = match &self.text.as_bytes()[start..] {
            [] => (TokenKind::End, 0),
            rest @ ([b'0'..=b'9', ..] | [b'.', b'0'..=b'9', ..]) => (TokenKind::Number, scan_number(rest)),
            [b'.', b'.', b'.', ..] => (TokenKind::Dots, 3),
            [b'.', ..] => (TokenKind::Dot, 1),
            [b'-', b'>', ..] => (TokenKind::Arrow, 2),
            [b'-', ..] => (TokenKind::Minus, 1),
            rest @ [b'"' | b'\'', ..] => match scan_string(rest) {
                Some(length) => (TokenKind::String, length),
                None => (TokenKind::Invalid, 1),
            },
            _ => {
                self.at = start;
                if self.skip_blank(self.depth == 0) {
                    return self.put(lexeme, TokenKind::Newline, start, self.at - start);
                }
                if self.at > start {
                    return self.read(lexeme);
                }
                (TokenKind::Invalid, self.text[start..].chars().next().map_or(1, char::len_utf8))
            }
        };
        self.put(lexeme, kind, start, length);
    }

    #[inline]
    fn put(&mut self, lexeme: &mut Lexeme<'a>, kind: TokenKind, start: usize, length: usize) {
        let end = start + length;
        self.at = end;
        lexeme.kind = kind;
        lexeme.text = &self.text[start..end];
        lexeme.span = Span { start, end };
    }

    /// Skips white space, comments and continued lines. Returns whether there was a line break, if `stop_at_newline` is
    /// set.
    fn skip_blank(&mut self, stop_at_newline: bool) -> bool {
        let mut newline = false;
        loop {
            let rest = &self.text.as_bytes()[self.at..];
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
    let is_part = |&byte: &u8| matches!(KIND[usize::from(byte)], TokenKind::Ident | TokenKind::Number);
    bytes.iter().position(|byte| !is_part(byte)).unwrap_or(bytes.len())
}

/// The kind of token that starts with each byte; `Invalid` if that needs a closer look.
const KIND: [TokenKind; 256] = {
    let mut table = [TokenKind::Invalid; 256];
    let mut byte = 0;
    while byte < table.len() {
        table[byte] = match byte as u8 {
            b'A'..=b'Z' | b'a'..=b'z' | b'_' => TokenKind::Ident,
            b'0'..=b'9' => TokenKind::Number,
            b'.' | b'-' => TokenKind::Invalid,
            byte => TokenKind::of_sign(byte),
        };
        byte += 1;
    }
    table
};
