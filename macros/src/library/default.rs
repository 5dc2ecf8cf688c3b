//! Default values as Rust expressions.

use proc_macro2::TokenStream;
use quote::quote;
use torch_library_schema::{DefaultValue, Type};

use crate::rust_type::runtime;

/// A constant expression of the argument's Rust type, or `None` if there is none.
pub(super) fn tokens(value: &DefaultValue, ty: &Type) -> Option<TokenStream> {
    let root = runtime();
    if let Type::Optional(inner) = ty {
        return match value {
            DefaultValue::None => Some(quote!(#root::Option::None)),
            value => {
                let inner = tokens(value, inner)?;
                Some(quote!(#root::Option::Some(#inner)))
            }
        };
    }
    Some(match (ty, value) {
        (Type::Int | Type::SymInt, DefaultValue::Int(value)) => quote!(#value),
        (Type::Float, value) => float_tokens(float(value)?),
        (Type::Bool | Type::SymBool, DefaultValue::Bool(value)) => quote!(#value),
        (Type::Complex, DefaultValue::Complex { re, im }) => complex(*re, *im),
        (Type::Complex, value) => complex(float(value)?, 0.0),
        (Type::Scalar, DefaultValue::Int(value)) => quote!(#root::Scalar::Int(#value)),
        (Type::Scalar, DefaultValue::Double(value)) => {
            let value = float_tokens(*value);
            quote!(#root::Scalar::Float(#value))
        }
        (Type::Scalar, DefaultValue::Bool(value)) => quote!(#root::Scalar::Bool(#value)),
        (Type::Scalar, DefaultValue::Complex { re, im }) => {
            let value = complex(*re, *im);
            quote!(#root::Scalar::Complex(#value))
        }
        (Type::Str, value) => {
            let text = value.as_str()?;
            quote!(#text)
        }
        (Type::ScalarType, DefaultValue::Int(number)) => {
            let number = u8::try_from(*number).ok().filter(|&number| is_carried(number))?;
            quote!(const { #root::constant::dtype(#number) })
        }
        (Type::Layout, DefaultValue::Int(number)) => {
            let number = u8::try_from(*number).ok()?;
            quote!(const { #root::constant::layout(#number) })
        }
        (Type::MemoryFormat, DefaultValue::Int(number)) => {
            let number = u8::try_from(*number).ok()?;
            quote!(const { #root::constant::memory_format(#number) })
        }
        (Type::Device, DefaultValue::Device(text)) => device(text)?,
        (Type::Device, value) => device(value.as_str()?)?,
        (Type::List(element), DefaultValue::List(values)) => {
            let values: Option<Vec<_>> = values.iter().map(|value| tokens(value, element)).collect();
            let values = values?;
            quote!(const { &[#(#values),*] })
        }
        _ => return None,
    })
}

fn float(value: &DefaultValue) -> Option<f64> {
    match value {
        DefaultValue::Double(value) => Some(*value),
        DefaultValue::Int(value) => Some(*value as f64),
        _ => None,
    }
}

/// A floating-point number, including the infinities, which have no literal.
fn float_tokens(value: f64) -> TokenStream {
    if value.is_finite() {
        quote!(#value)
    } else if value > 0.0 {
        quote!(::core::f64::INFINITY)
    } else {
        quote!(::core::f64::NEG_INFINITY)
    }
}

fn complex(re: f64, im: f64) -> TokenStream {
    let (root, re, im) = (runtime(), float_tokens(re), float_tokens(im));
    quote!(#root::Complex64::new(#re, #im))
}

/// Whether the runtime has a dtype with this number.
fn is_carried(number: u8) -> bool {
    matches!(number, 0..=11 | 15 | 23..=29 | 44 | 46)
}

/// A device such as `cpu` or `cuda:1`.
fn device(text: &str) -> Option<TokenStream> {
    let root = runtime();
    let (kind, index) = match text.split_once(':') {
        None => (text, quote!(#root::Option::None)),
        Some((kind, index)) => {
            let index: u8 = index.parse().ok()?;
            (kind, quote!(#root::Option::Some(#index)))
        }
    };
    Some(quote!(const { #root::constant::device(#kind, #index) }))
}
