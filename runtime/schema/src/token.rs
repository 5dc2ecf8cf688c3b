//! The tokens of the schema language, whether they come from our lexer or, in a macro, from rustc.

mod assemble;
pub(crate) mod lexer;

pub use assemble::{Piece, assemble};

use std::borrow::Cow;
use std::ops::Range;

use lexer::{Lexeme, Lexer};

/// The position of a token: byte offsets in a text, or indices in the list of [`Piece`]s.
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

/// A token of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    /// The kind of token.
    pub kind: TokenKind,
    /// The text as PyTorch spells it: for [`TokenKind::String`] the quoted literal with its escapes.
    pub text: Cow<'a, str>,
    /// The position.
    pub span: Span,
}

/// The kinds of [`Token`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// A word: `[A-Za-z_][A-Za-z0-9_]*`. Words that PyTorch reserves (`if`, `None`) are words here; the parser
    /// distinguishes them.
    Ident,
    /// An unsigned number: `1`, `1.`, `.5`, `1e-05`, `0x10`, `1j`.
    Number,
    /// A string literal, quotes included: `"a\n"`, `'a'`, `"""a"""`.
    String,
    /// `(`
    OpenParen,
    /// `)`
    CloseParen,
    /// `[`
    OpenBracket,
    /// `]`
    CloseBracket,
    /// `,`
    Comma,
    /// `.`
    Dot,
    /// `:`
    Colon,
    /// `=`
    Equals,
    /// `*`
    Star,
    /// `?`
    Question,
    /// `!`
    Bang,
    /// `|`
    Pipe,
    /// `-`
    Minus,
    /// `->`
    Arrow,
    /// `...`
    Dots,
    /// A line break outside all brackets, which ends a declaration. Tokens of a macro have none.
    Newline,
    /// A character that no schema contains, or a string without its closing quote.
    Invalid,
    /// Past the last token. No token list contains it.
    End,
}

/// The tokens of one character.
const SIGNS: [(u8, TokenKind); 13] = [
    (b'(', TokenKind::OpenParen),
    (b')', TokenKind::CloseParen),
    (b'[', TokenKind::OpenBracket),
    (b']', TokenKind::CloseBracket),
    (b',', TokenKind::Comma),
    (b'.', TokenKind::Dot),
    (b':', TokenKind::Colon),
    (b'=', TokenKind::Equals),
    (b'*', TokenKind::Star),
    (b'?', TokenKind::Question),
    (b'!', TokenKind::Bang),
    (b'|', TokenKind::Pipe),
    (b'-', TokenKind::Minus),
];

impl TokenKind {
    /// The kind of the token that consists of this character; [`Invalid`](Self::Invalid) if there is none.
    pub(crate) const fn of_sign(sign: u8) -> Self {
        let mut index = 0;
        while index < SIGNS.len() {
            if SIGNS[index].0 == sign {
                return SIGNS[index].1;
            }
            index += 1;
        }
        Self::Invalid
    }

    /// The character, for messages.
    pub(crate) fn sign(self) -> char {
        SIGNS.iter().find(|(_, kind)| *kind == self).map_or('?', |&(sign, _)| char::from(sign))
    }
}

/// The tokens of a text. A macro that gets a schema as a string literal starts here.
///
/// ```
/// use torch_library_schema::token::{TokenKind, lex};
///
/// let kinds: Vec<TokenKind> = lex("f() -> ...").into_iter().map(|token| token.kind).collect();
/// assert_eq!(
///     kinds,
///     [TokenKind::Ident, TokenKind::OpenParen, TokenKind::CloseParen, TokenKind::Arrow, TokenKind::Dots],
/// );
/// ```
pub fn lex(text: &str) -> Vec<Token<'_>> {
    let mut lexer = Lexer::new(text);
    let mut lexeme = Lexeme::end(0);
    let mut tokens = Vec::new();
    loop {
        lexer.read(&mut lexeme);
        if lexeme.kind == TokenKind::End {
            return tokens;
        }
        tokens.push(Token { kind: lexeme.kind, text: Cow::Borrowed(lexeme.text), span: lexeme.span });
    }
}
