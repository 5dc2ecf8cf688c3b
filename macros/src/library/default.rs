//! Default values as Rust expressions.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use torch_library_schema::{DefaultValue, Type};

/// A constant expression of the argument's Rust type, or nothing where there is none.
pub(crate) fn tokens(value: &DefaultValue, ty: &Type, root: &Ident) -> Option<TokenStream> {
    if let Type::Optional(inner) = ty {
        return match value {
            DefaultValue::None => Some(quote!(#root::Option::None)),
            value => {
                let inner = tokens(value, inner, root)?;
                Some(quote!(#root::Option::Some(#inner)))
            }
        };
    }
    Some(match (ty, value) {
        (Type::Int | Type::SymInt, DefaultValue::Int(value)) => quote!(#value),
        (Type::Float, value) => {
            let value = float(value)?;
            quote!(#value)
        }
        (Type::Bool | Type::SymBool, DefaultValue::Bool(value)) => quote!(#value),
        (Type::Complex, DefaultValue::Complex { re, im }) => quote!(#root::Complex64::new(#re, #im)),
        (Type::Scalar, DefaultValue::Int(value)) => quote!(#root::Scalar::Int(#value)),
        (Type::Scalar, DefaultValue::Double(value)) => quote!(#root::Scalar::Float(#value)),
        (Type::Scalar, DefaultValue::Bool(value)) => quote!(#root::Scalar::Bool(#value)),
        (Type::Scalar, DefaultValue::Complex { re, im }) => {
            quote!(#root::Scalar::Complex(#root::Complex64::new(#re, #im)))
        }
        (Type::Str, value) => {
            let text = value.as_str()?;
            quote!(#text)
        }
        (Type::ScalarType, DefaultValue::Int(value)) => quote!(const { #root::constant::dtype(#value) }),
        (Type::Layout, DefaultValue::Int(value)) => quote!(const { #root::constant::layout(#value) }),
        (Type::MemoryFormat, DefaultValue::Int(value)) => {
            quote!(const { #root::constant::memory_format(#value) })
        }
        (Type::Device, DefaultValue::Device(text)) if text == "cpu" => quote!(#root::Device::CPU),
        (Type::List(element), DefaultValue::List(values)) => {
            let values: Option<Vec<_>> = values.iter().map(|value| tokens(value, element, root)).collect();
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
