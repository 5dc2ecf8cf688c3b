//! A schema means the same as rustc's tokens and as text.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use torch_library_schema::token::{Piece, Token, TokenKind, assemble, lex};
use torch_library_schema::{Mode, Schema};

const PYTORCH: &str = include_str!("schemas.txt");

/// The text of each token, and for a punctuation character whether it touches the next one.
fn cut(stream: TokenStream, texts: &mut Vec<(String, Option<bool>)>) {
    for tree in stream {
        match tree {
            TokenTree::Ident(ident) => texts.push((ident.to_string(), None)),
            TokenTree::Literal(literal) => texts.push((literal.to_string(), None)),
            TokenTree::Punct(punct) => {
                texts.push((punct.as_char().to_string(), Some(punct.spacing() == Spacing::Joint)));
            }
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    _ => ("[", "]"),
                };
                texts.push((open.to_owned(), Some(false)));
                cut(group.stream(), texts);
                texts.push((close.to_owned(), Some(false)));
            }
        }
    }
}

/// The result of `read` for the tokens that rustc makes from `text`; `None` if rustc cannot tokenise it.
fn with_rust_tokens<T>(text: &str, read: impl FnOnce(&[Token<'_>]) -> T) -> Option<T> {
    let mut texts = Vec::new();
    cut(text.parse().ok()?, &mut texts);
    let pieces: Vec<Piece<'_>> = texts
        .iter()
        .map(|(text, sign)| match sign {
            Some(joint) => Piece::Punct { sign: text.chars().next().unwrap(), joint: *joint },
            None if text.starts_with(|c: char| c.is_alphabetic() || c == '_')
                && !text.ends_with(['"', '#']) =>
            {
                Piece::Ident(text)
            }
            None => Piece::Literal(text),
        })
        .collect();
    Some(read(&assemble(&pieces)))
}

#[test]
fn the_schemas_of_pytorch_are_the_same_from_both() {
    let mut cut_by_rust = 0;
    for text in PYTORCH.lines() {
        let expected = Schema::parse(text, Mode::PyTorch);
        assert_eq!(Schema::parse_tokens(&lex(text), Mode::PyTorch), expected);
        if let Some(parsed) = with_rust_tokens(text, |tokens| Schema::parse_tokens(tokens, Mode::PyTorch)) {
            assert_eq!(parsed, expected);
            cut_by_rust += 1;
        }
    }
    // Rust has no `\f` and no `\v`.
    assert_eq!(PYTORCH.lines().count() - cut_by_rust, 1);
}

#[test]
fn literals_that_rust_cuts_or_spells_otherwise_are_put_together() {
    for (rust, text) in [
        ("float x=.5", "float x=.5"),
        ("float x=-.5", "float x=-.5"),
        ("float x=1.", "float x=1."),
        ("float x=1.e5", "float x=1.e5"),
        ("float x=1.e-5", "float x=1.e-5"),
        ("float x=-1.e+5", "float x=-1.e+5"),
        ("complex x=1.e-5j", "complex x=1.e-5j"),
        ("float x=1e-05", "float x=1e-05"),
        ("complex x=1j", "complex x=1j"),
        ("complex x=1.j", "complex x=1.j"),
        ("complex x=1.5j", "complex x=1.5j"),
        ("str x=\"a\\x41\\u{e9}\\0\"", "str x=\"aAé\\000\""),
        ("str x=r#\"a\\b\"#", "str x=\"a\\\\b\""),
        ("str x=\"\"\"a b\"\"\"", "str x=\"\"\"a b\"\"\""),
        ("str x='c'", "str x='c'"),
        ("str x='\\''", "str x='\\''"),
        ("int r#type=-1", "int type=-1"),
        ("Tensor(a!->b) x", "Tensor(a! -> b) x"),
        ("Tensor(a|*) x", "Tensor(a|*) x"),
        ("int x, ...", "int x, ..."),
    ] {
        let (rust, text) = (format!("f({rust}) -> ()"), format!("f({text}) -> ()"));
        let parsed = with_rust_tokens(&rust, |tokens| Schema::parse_tokens(tokens, Mode::Strict)).unwrap();
        assert_eq!(parsed, Ok(Schema::parse(&text, Mode::Strict).unwrap()));
    }
}

#[test]
fn numbers_of_rust_alone_are_no_numbers_of_a_schema() {
    for number in ["é", "0b1", "0o7", "1_000", "1u8", "1f32", "b'a'", "b\"a\""] {
        let text = format!("f(Scalar x={number}, str y={number}) -> ()");
        assert!(
            with_rust_tokens(&text, |tokens| Schema::parse_tokens(tokens, Mode::Strict)).unwrap().is_err()
        );
    }
}

#[test]
fn an_error_points_at_pieces() {
    let error = with_rust_tokens("ns::f(Tensor x, tensor y) -> Tensor", |tokens| {
        Schema::parse_tokens(tokens, Mode::Strict).unwrap_err()
    });
    assert_eq!(error.unwrap().span, 8..9);
}

#[test]
fn several_schemas_are_read_one_after_the_other() {
    let read = with_rust_tokens("f(Tensor x) -> Tensor; g() -> (); h", |tokens| {
        let (first, length) = Schema::parse_prefix(tokens, Mode::Strict);
        assert_eq!(first.unwrap().to_string(), "f(Tensor x) -> Tensor");
        assert_eq!((tokens[length].kind, &*tokens[length].text), (TokenKind::Invalid, ";"));
        let rest = &tokens[length + 1..];
        let (second, length) = Schema::parse_prefix(rest, Mode::Strict);
        assert_eq!(second.unwrap().to_string(), "g() -> ()");
        let (third, _) = Schema::parse_prefix(&rest[length + 1..], Mode::Strict);
        assert_eq!(third.unwrap_err().message, "expected a full schema, found an operator name alone");
    });
    assert!(read.is_some());
}
