//! The tokens of a macro's input as the schema language's parser takes them, with the way back to the user's tokens.

use std::ops::Range;

use proc_macro2::{Delimiter, Spacing, Span, TokenStream, TokenTree};
use torch_library_schema::token::{Piece, Token, assemble};

/// A flat list of tokens: what was inside a bracket stands between two signs.
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

    /// The words of the schema language.
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

    /// The place of a whole declaration.
    pub(crate) fn first_span(&self) -> Span {
        self.spans.first().copied().unwrap_or_else(Span::call_site)
    }

    /// An error at the user's tokens in this range; past the end, at the last one.
    pub(crate) fn error(&self, range: Range<usize>, message: impl std::fmt::Display) -> syn::Error {
        let last = self.spans.len().saturating_sub(1);
        let span = |index: usize| self.spans.get(index.min(last)).copied().unwrap_or_else(Span::call_site);
        let mut start = TokenTree::from(proc_macro2::Ident::new("start", Span::call_site()));
        let mut end = start.clone();
        start.set_span(span(range.start));
        end.set_span(span(range.end.saturating_sub(1).max(range.start)));
        // `new_spanned` reaches from the first token to the last; `Span::join` would be nightly only.
        syn::Error::new_spanned(TokenStream::from_iter([start, end]), message)
    }

    /// The span of the first word with this text.
    pub(crate) fn position(&self, word: &str) -> Option<usize> {
        self.texts
            .iter()
            .position(|text| matches!(text, Text::Ident(name) if name.trim_start_matches("r#") == word))
    }

    /// The span of a piece.
    pub(crate) fn span(&self, index: usize) -> Span {
        self.spans.get(index).copied().unwrap_or_else(Span::call_site)
    }
}
