//! Converts a macro's tokens to those of the schema language's parser, and maps them back to the user's tokens.

use std::ops::Range;

use proc_macro2::{Delimiter, Ident, Spacing, Span, TokenStream, TokenTree};
use torch_library_schema::token::{Piece, Token, assemble};

use crate::lints;

mod places;

pub(crate) use places::{ArgumentPlaces, Places};

/// A flat list of tokens, in which brackets are ordinary signs around their content.
#[derive(Default)]
pub(crate) struct Pieces {
    texts: Vec<Text>,
    spans: Vec<Span>,
}

enum Text {
    Ident(String),
    Punct { sign: char, joint: bool },
    Literal(String),
}

impl Pieces {
    /// Flattens tokens.
    pub(crate) fn new(tokens: impl IntoIterator<Item = TokenTree>) -> Self {
        let mut pieces = Pieces::default();
        pieces.extend(tokens);
        pieces
    }

    fn extend(&mut self, tokens: impl IntoIterator<Item = TokenTree>) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.group(group.delimiter(), group.stream(), group.delim_span()),
                TokenTree::Ident(ident) => self.push(Text::Ident(ident.to_string()), ident.span()),
                TokenTree::Punct(punct) => {
                    let joint = punct.spacing() == Spacing::Joint;
                    self.push(Text::Punct { sign: punct.as_char(), joint }, punct.span());
                }
                TokenTree::Literal(literal) => self.push(Text::Literal(literal.to_string()), literal.span()),
            }
        }
    }

    fn group(&mut self, delimiter: Delimiter, stream: TokenStream, span: proc_macro2::extra::DelimSpan) {
        let (open, close) = match delimiter {
            Delimiter::Parenthesis => ('(', ')'),
            Delimiter::Bracket => ('[', ']'),
            Delimiter::Brace => ('{', '}'),
            Delimiter::None => return self.extend(stream),
        };
        self.push(Text::Punct { sign: open, joint: false }, span.open());
        self.extend(stream);
        self.push(Text::Punct { sign: close, joint: false }, span.close());
    }

    fn push(&mut self, text: Text, span: Span) {
        self.texts.push(text);
        self.spans.push(span);
    }

    /// The tokens as the schema language's parser takes them.
    pub(crate) fn tokens(&self) -> Vec<Token<'_>> {
        let pieces: Vec<Piece<'_>> = self
            .texts
            .iter()
            .map(|text| match text {
                Text::Ident(name) => Piece::Ident(name),
                Text::Punct { sign, joint } => Piece::Punct { sign: *sign, joint: *joint },
                Text::Literal(text) => Piece::Literal(text),
            })
            .collect();
        assemble(&pieces)
    }

    /// The span of some pieces or, past the end, of the last one.
    pub(crate) fn place(&self, range: &Range<usize>) -> SpanRange {
        let last = self.spans.len().saturating_sub(1);
        let span = |index: usize| self.spans.get(index.min(last)).copied().unwrap_or_else(Span::call_site);
        SpanRange { first: span(range.start), last: span(range.end.saturating_sub(1).max(range.start)) }
    }

    fn sign(&self, index: usize) -> Option<char> {
        match self.texts.get(index) {
            Some(Text::Punct { sign, .. }) => Some(*sign),
            _ => None,
        }
    }
}

/// The user's tokens that a message points at, from the first to the last. (Only nightly can join two spans.)
#[derive(Clone, Copy)]
pub(crate) struct SpanRange {
    pub(crate) first: Span,
    pub(crate) last: Span,
}

impl SpanRange {
    /// An error that underlines the whole range.
    pub(crate) fn error(self, message: impl std::fmt::Display) -> syn::Error {
        let token = |span| TokenTree::Ident(Ident::new("place", span));
        syn::Error::new_spanned(TokenStream::from_iter([token(self.first), token(self.last)]), message)
    }

    /// Gives generated tokens this range, so that rustc's own messages point there.
    pub(crate) fn lend(self, tokens: TokenStream) -> TokenStream {
        let mut tokens: Vec<TokenTree> = respan(tokens, self.first).collect();
        if let Some(token) = tokens.last_mut() {
            token.set_span(self.last);
        }
        tokens.into_iter().collect()
    }

    /// The same for tokens in the user's scope, where lints would take what they read for the user's.
    pub(crate) fn lend_ours(self, tokens: TokenStream) -> TokenStream {
        SpanRange { first: lints::ours(self.first), last: lints::ours(self.last) }.lend(tokens)
    }
}

fn respan(tokens: TokenStream, span: Span) -> impl Iterator<Item = TokenTree> {
    tokens.into_iter().map(move |mut token| {
        if let TokenTree::Group(group) = &token {
            token = proc_macro2::Group::new(group.delimiter(), respan(group.stream(), span).collect()).into();
        }
        token.set_span(span);
        token
    })
}
