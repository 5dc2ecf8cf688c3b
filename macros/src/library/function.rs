//! A Rust item where a schema is expected: the error about a function suggests the equivalent schema.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::{FnArg, GenericArgument, Pat, PathArguments, ReturnType, Signature, Type};

/// Whether these tokens start like a function, `fn f` or `pub fn f`.
pub(super) fn starts(tokens: &[TokenTree]) -> bool {
    matches!(behind_visibility(tokens), [TokenTree::Ident(word), TokenTree::Ident(_), ..] if word == "fn")
}

/// The error for another item, such as `use super::*`, if these tokens start like one. An operator may have the name of
/// a keyword, `type(Tensor self) -> int`.
pub(super) fn other_item(tokens: &[TokenTree]) -> Option<syn::Error> {
    const KEYWORDS: [&str; 9] = ["use", "const", "static", "struct", "enum", "trait", "type", "impl", "mod"];
    let [TokenTree::Ident(word), TokenTree::Ident(_), ..] = behind_visibility(tokens) else { return None };
    KEYWORDS.iter().any(|keyword| word == keyword).then(|| {
        let message = format!(
            "expected a schema: a library holds operators only, so `{word}` belongs outside of `torch_library!`"
        );
        syn::Error::new(word.span(), message)
    })
}

fn behind_visibility(tokens: &[TokenTree]) -> &[TokenTree] {
    match tokens {
        [TokenTree::Ident(word), TokenTree::Group(of), rest @ ..]
            if word == "pub" && of.delimiter() == Delimiter::Parenthesis =>
        {
            rest
        }
        [TokenTree::Ident(word), rest @ ..] if word == "pub" => rest,
        tokens => tokens,
    }
}

/// The error for a function, which may have a body, with the schema to write instead.
pub(super) fn refusal(tokens: &[TokenTree]) -> syn::Error {
    let is_fn = |token: &&TokenTree| matches!(token, TokenTree::Ident(word) if word == "fn");
    let keyword = tokens.iter().position(|token| is_fn(&token)).unwrap_or_default();
    let is_body =
        |token: &TokenTree| matches!(token, TokenTree::Group(body) if body.delimiter() == Delimiter::Brace);
    let head: TokenStream = tokens[keyword..].iter().take_while(|token| !is_body(token)).cloned().collect();
    let schema = syn::parse2::<Signature>(head).ok().and_then(|signature| schema(&signature));
    let example = schema.as_deref().unwrap_or("add(Tensor self, Tensor other) -> Tensor");
    let message = format!(
        "an operator is declared by its schema, without `fn`, as in `{example};`: \
         its kernels are functions with `#[torch_impl]`, outside of `torch_library!`"
    );
    syn::Error::new(tokens[keyword].span(), message)
}

/// The schema of a function with these types, if each has a counterpart.
fn schema(signature: &Signature) -> Option<String> {
    let mut arguments = Vec::new();
    for input in &signature.inputs {
        arguments.push(match input {
            FnArg::Receiver(_) => "Tensor self".to_owned(),
            FnArg::Typed(input) => {
                let Pat::Ident(name) = &*input.pat else { return None };
                let name = name.ident.unraw().to_string();
                format!("{} {}", of_type(&input.ty)?, if name == "this" { "self" } else { &name })
            }
        });
    }
    let writes = arguments.iter().filter(|argument| argument.contains('!')).count();
    if writes > 1 {
        return None; // the types do not tell which of them is returned
    }
    let returns = match &signature.output {
        ReturnType::Default => "()".to_owned(),
        ReturnType::Type(_, ty) => of_type(ty)?,
    };
    Some(format!("{}({}) -> {returns}", signature.ident.unraw(), arguments.join(", ")))
}

/// The schema language's name for a type.
fn of_type(ty: &Type) -> Option<String> {
    match ty {
        Type::Reference(reference) => match &*reference.elem {
            Type::Slice(list) => Some(format!("{}[]", of_type(&list.elem)?)),
            inner if reference.mutability.is_some() => {
                (of_type(inner)? == "Tensor").then(|| "Tensor(a!)".to_owned())
            }
            inner => of_type(inner),
        },
        Type::Tuple(tuple) => {
            let types: Option<Vec<_>> = tuple.elems.iter().map(of_type).collect();
            Some(format!("({})", types?.join(", ")))
        }
        Type::Path(path) => {
            let last = path.path.segments.last()?;
            let inner = match &last.arguments {
                PathArguments::AngleBracketed(arguments) => match arguments.args.first()? {
                    GenericArgument::Type(ty) => Some(of_type(ty)?),
                    _ => None,
                },
                _ => None,
            };
            of_name(&last.ident.to_string(), inner)
        }
        _ => None,
    }
}

/// The schema type for a Rust type of this name, whose generic argument has this schema type.
fn of_name(name: &str, inner: Option<String>) -> Option<String> {
    Some(match (name, inner) {
        ("Option", Some(inner)) => format!("{inner}?"),
        ("Vec", Some(inner)) => format!("{inner}[]"),
        ("Result", Some(inner)) => inner,
        ("i8" | "i16" | "i32" | "i64" | "isize" | "u8" | "u16" | "u32" | "u64" | "usize", None) => {
            "int".to_owned()
        }
        ("f32" | "f64", None) => "float".to_owned(),
        ("str" | "String", None) => "str".to_owned(),
        ("DType", None) => "ScalarType".to_owned(),
        ("Complex64", None) => "complex".to_owned(),
        ("bool" | "Tensor" | "Scalar" | "Generator" | "Device" | "Layout" | "MemoryFormat", None) => {
            name.to_owned()
        }
        _ => return None,
    })
}
