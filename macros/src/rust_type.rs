//! From schema types to the Rust types that kernels and callers use.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::Lifetime;
use torch_library_schema::Type;

/// The name by which generated modules refer to the runtime's private items.
pub(crate) fn runtime() -> Ident {
    Ident::new("__torch", Span::call_site())
}

/// A Rust type of a generated signature.
pub(crate) enum RustType {
    /// A type of the runtime, by its name there: `Tensor`, `i64`.
    Plain(&'static str),
    /// `&T`, `&mut T`
    Reference { mutable: bool, target: Box<RustType> },
    /// `[T]`
    Slice(Box<RustType>),
    /// `Option<T>`
    Option(Box<RustType>),
    /// `Vec<T>`
    Vec(Box<RustType>),
}

impl RustType {
    /// The type of a kernel's parameter: `&Tensor`, `&mut Tensor`, `Option<&[i64]>`; `None` if it is not supported yet.
    pub(crate) fn argument(ty: &Type, mutable: bool) -> Option<Self> {
        let reference = |mutable, target| RustType::Reference { mutable, target: Box::new(target) };
        Some(match ty {
            Type::Tensor => reference(mutable, RustType::Plain("Tensor")),
            Type::Generator => reference(false, RustType::Plain("Generator")),
            Type::Str => reference(false, RustType::Plain("str")),
            Type::List(element) => reference(mutable, RustType::Slice(Box::new(Self::element(element)?))),
            Type::Optional(inner) => RustType::Option(Box::new(Self::argument(inner, mutable)?)),
            other => RustType::Plain(by_value(other)?),
        })
    }

    /// The type that a kernel returns: `Tensor`, `Vec<Tensor>`, `i64`.
    pub(crate) fn owned(ty: &Type) -> Option<Self> {
        Some(match ty {
            Type::Tensor => RustType::Plain("Tensor"),
            Type::Generator => RustType::Plain("Generator"),
            Type::Str => RustType::Plain("String"),
            Type::List(element) => RustType::Vec(Box::new(Self::element(element)?)),
            Type::Optional(inner) => RustType::Option(Box::new(Self::owned(inner)?)),
            other => RustType::Plain(by_value(other)?),
        })
    }

    fn element(ty: &Type) -> Option<Self> {
        Some(match ty {
            Type::Tensor => RustType::Plain("Tensor"),
            Type::Optional(inner) if **inner == Type::Tensor => {
                RustType::Option(Box::new(RustType::Plain("Tensor")))
            }
            Type::Str => RustType::Plain("String"),
            Type::Int | Type::SymInt | Type::Float | Type::Bool | Type::Scalar => {
                RustType::Plain(by_value(ty)?)
            }
            _ => return None,
        })
    }

    /// The type inside an option.
    pub(crate) fn optional(&self) -> Option<&RustType> {
        match self {
            RustType::Option(inner) => Some(inner),
            _ => None,
        }
    }

    /// Whether this is a `Scalar`, a number of any type.
    pub(crate) fn is_scalar(&self) -> bool {
        matches!(self, RustType::Plain("Scalar"))
    }

    /// Whether it contains a reference.
    pub(crate) fn is_reference(&self) -> bool {
        match self {
            RustType::Reference { .. } => true,
            RustType::Option(inner) => inner.is_reference(),
            RustType::Plain(_) | RustType::Slice(_) | RustType::Vec(_) => false,
        }
    }

    /// The type in Rust, with the given lifetime on its references or with none.
    pub(crate) fn tokens(&self, lifetime: Option<&Lifetime>) -> TokenStream {
        let runtime = runtime();
        match self {
            // With paths from the root: `unused_qualifications` wants no others for what is in scope everywhere.
            RustType::Plain(name @ ("i64" | "f64" | "bool" | "str")) => {
                let name = Ident::new(name, Span::call_site());
                quote!(::core::primitive::#name)
            }
            RustType::Plain("String") => quote!(::std::string::String),
            RustType::Plain(name) => {
                let name = Ident::new(name, Span::call_site());
                quote!(#runtime::#name)
            }
            RustType::Reference { mutable, target } => {
                let (mutable, target) = (mutable.then(|| quote!(mut)), target.tokens(lifetime));
                quote!(& #lifetime #mutable #target)
            }
            RustType::Slice(element) => {
                let element = element.tokens(lifetime);
                quote!([#element])
            }
            RustType::Option(inner) => {
                let inner = inner.tokens(lifetime);
                quote!(::core::option::Option<#inner>)
            }
            RustType::Vec(element) => {
                let element = element.tokens(lifetime);
                quote!(::std::vec::Vec<#element>)
            }
        }
    }
}

/// Types that are passed by value.
fn by_value(ty: &Type) -> Option<&'static str> {
    Some(match ty {
        Type::Int | Type::SymInt => "i64",
        Type::Float => "f64",
        Type::Bool | Type::SymBool => "bool",
        Type::Complex => "Complex64",
        Type::Scalar => "Scalar",
        Type::ScalarType => "DType",
        Type::Layout => "Layout",
        Type::MemoryFormat => "MemoryFormat",
        Type::Device => "Device",
        _ => return None,
    })
}

/// Whether an argument of this type can be mutable.
pub(crate) fn can_be_written(ty: &Type) -> bool {
    match ty {
        Type::Tensor => true,
        Type::List(element) => **element == Type::Tensor,
        Type::Optional(inner) => can_be_written(inner),
        _ => false,
    }
}
