//! From schema types to the Rust types that kernels and callers use.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use torch_library_schema::Type;

/// What becomes of the references in a type.
#[derive(Clone, Copy)]
pub(crate) enum References<'a> {
    /// `&Tensor`
    Elided,
    /// `&'a Tensor`
    Named(&'a TokenStream),
}

/// An argument's type, as `&Tensor`, `&mut Tensor`, `Option<&[i64]>`; nothing where this version does not carry it.
///
/// `root` is the path of the runtime's private module.
pub(crate) fn argument(
    ty: &Type,
    mutable: bool,
    references: References<'_>,
    root: &Ident,
) -> Option<TokenStream> {
    let lifetime = match references {
        References::Elided => quote!(),
        References::Named(lifetime) => quote!(#lifetime),
    };
    let mutability = if mutable { quote!(mut) } else { quote!() };
    Some(match ty {
        Type::Tensor => quote!(& #lifetime #mutability #root::Tensor),
        Type::Generator => quote!(& #lifetime #root::Generator),
        Type::Str => quote!(& #lifetime #root::str),
        Type::Optional(inner) => {
            let inner = argument(inner, mutable, references, root)?;
            quote!(#root::Option<#inner>)
        }
        Type::List(element) => {
            let element = list_element(element, root)?;
            quote!(& #lifetime #mutability [#element])
        }
        plain => value(plain, root)?,
    })
}

fn list_element(ty: &Type, root: &Ident) -> Option<TokenStream> {
    Some(match ty {
        Type::Tensor => quote!(#root::Tensor),
        Type::Optional(inner) if **inner == Type::Tensor => quote!(#root::Option<#root::Tensor>),
        Type::Int | Type::SymInt => quote!(#root::i64),
        Type::Float => quote!(#root::f64),
        Type::Bool => quote!(#root::bool),
        Type::Scalar => quote!(#root::Scalar),
        Type::Str => quote!(#root::String),
        _ => return None,
    })
}

/// Types that are passed by value.
fn value(ty: &Type, root: &Ident) -> Option<TokenStream> {
    Some(match ty {
        Type::Int | Type::SymInt => quote!(#root::i64),
        Type::Float => quote!(#root::f64),
        Type::Bool | Type::SymBool => quote!(#root::bool),
        Type::Complex => quote!(#root::Complex64),
        Type::Scalar => quote!(#root::Scalar),
        Type::ScalarType => quote!(#root::DType),
        Type::Layout => quote!(#root::Layout),
        Type::MemoryFormat => quote!(#root::MemoryFormat),
        Type::Device => quote!(#root::Device),
        _ => return None,
    })
}

/// A return's type that the kernel hands over: `Tensor`, `Vec<Tensor>`, `i64`.
pub(crate) fn owned(ty: &Type, root: &Ident) -> Option<TokenStream> {
    Some(match ty {
        Type::Tensor => quote!(#root::Tensor),
        Type::Generator => quote!(#root::Generator),
        Type::Str => quote!(#root::String),
        Type::Optional(inner) => {
            let inner = owned(inner, root)?;
            quote!(#root::Option<#inner>)
        }
        Type::List(element) => {
            let element = list_element(element, root)?;
            quote!(#root::Vec<#element>)
        }
        plain => value(plain, root)?,
    })
}

/// The name a user would look for in the message about a type that is not carried: of `Dict(str, int)[]`, `Dict`.
pub(crate) fn head(ty: &Type) -> String {
    match ty {
        Type::Optional(inner) | Type::List(inner) => head(inner),
        Type::Tuple(_) => "(".to_owned(),
        other => other.to_string().split(['(', '[']).next().unwrap_or_default().to_owned(),
    }
}
