//! Calls from one variant of an operation to another: which arguments to pass, copy beforehand, and return.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use crate::library::model::{Argument, Operator, Returned};
use crate::rust_type::RustType;

/// The operators of `aten` that copy.
const CLONE: &str = "aten::clone";
const COPY: &str = "aten::copy_";

/// The kinds of tensor arguments that derived kernels distinguish.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    One,
    List,
    Optional,
}

/// The kind of a tensor argument.
pub(super) fn shape(ty: &RustType) -> Option<Shape> {
    match ty {
        RustType::Reference { target, .. } => match &**target {
            RustType::Plain("Tensor") => Some(Shape::One),
            RustType::Slice(element) if matches!(**element, RustType::Plain("Tensor")) => Some(Shape::List),
            _ => None,
        },
        RustType::Option(inner) if shape(inner) == Some(Shape::One) => Some(Shape::Optional),
        _ => None,
    }
}

/// Whether an argument is mutable.
pub(super) fn is_written(ty: &RustType) -> bool {
    match ty {
        RustType::Reference { mutable, .. } => *mutable,
        RustType::Option(inner) => is_written(inner),
        _ => false,
    }
}

/// An argument as a shared reference: `&Tensor` for a `&mut Tensor`.
pub(super) fn look(argument: &Argument) -> TokenStream {
    let ident = &argument.ident;
    match (&argument.ty, is_written(&argument.ty)) {
        (RustType::Option(_), true) => quote!(#ident.as_deref()),
        (_, true) => quote!(&*#ident),
        _ => quote!(#ident),
    }
}

/// An argument reborrowed for a call, so that it can be used again afterwards.
pub(super) fn lend(argument: &Argument) -> TokenStream {
    let ident = &argument.ident;
    match (&argument.ty, is_written(&argument.ty)) {
        (RustType::Option(_), true) => quote!(#ident.as_deref_mut()),
        (_, true) => quote!(&mut *#ident),
        _ => quote!(#ident),
    }
}

/// A pattern that names the returns of a call, except those that are arguments: `(r0, _)`.
pub(super) fn pattern(operator: &Operator) -> TokenStream {
    let names = operator.returns.iter().enumerate().map(|(at, ret)| match ret.value {
        Returned::Owned(_) => {
            let name = result(at);
            quote!(#name)
        }
        Returned::Argument(_) => quote!(_),
    });
    match operator.returns.len() {
        1 => quote!(#(#names)*),
        _ => quote!((#(#names),*)),
    }
}

/// The name of a return.
pub(super) fn result(at: usize) -> Ident {
    format_ident!("result_{at}")
}

/// One value, or a tuple of several.
pub(super) fn tuple(values: &[TokenStream]) -> TokenStream {
    match values {
        [one] => one.clone(),
        several => quote!((#(#several),*)),
    }
}

/// A statement that copies an argument to a variable, and an expression that lends it for writing.
fn copy(argument: &Argument, to: &Ident) -> Option<(TokenStream, TokenStream)> {
    let from = look(argument);
    Some(match shape(&argument.ty)? {
        Shape::One => (quote!(let mut #to = __torch::derived::copy(#CLONE, #from)?;), quote!(&mut #to)),
        Shape::List => {
            (quote!(let mut #to = __torch::derived::copy_all(#CLONE, #from)?;), quote!(&mut #to[..]))
        }
        Shape::Optional => (
            quote!(let mut #to = #from.map(|tensor| __torch::derived::copy(#CLONE, tensor)).transpose()?;),
            quote!(#to.as_mut()),
        ),
    })
}

/// The functional variant, by calling the one that writes to arguments on copies of those.
pub(super) fn functional(functional: &Operator, base: &Operator) -> Option<TokenStream> {
    let (mut copies, mut passed, mut copied) = (TokenStream::new(), Vec::new(), Vec::new());
    for (argument, target) in functional.arguments.iter().zip(&base.arguments) {
        if is_written(&target.ty) {
            let name = format_ident!("copy_of_{}", syn::ext::IdentExt::unraw(&argument.ident));
            let (statement, lent) = copy(argument, &name)?;
            copies.extend(statement);
            passed.push(lent);
            copied.push(quote!(#name));
        } else {
            passed.push(lend(argument));
        }
    }
    let (ident, pattern) = (&base.ident, pattern(base));
    let owned = base.returns.iter().enumerate().filter(|(_, ret)| matches!(ret.value, Returned::Owned(_)));
    let returned: Vec<_> = owned
        .map(|(at, _)| {
            let name = result(at);
            quote!(#name)
        })
        .chain(copied)
        .collect();
    let returned = tuple(&returned);
    Some(quote! {
        #copies
        let #pattern = super::#ident::call(#(#passed),*)?;
        ::core::result::Result::Ok(#returned)
    })
}

/// The `out` variant, by calling the one that it was generated from.
pub(super) fn out(out: &Operator, base: &Operator, base_is_in_place: bool) -> Option<TokenStream> {
    let outs: Vec<&Argument> = out.arguments.iter().filter(|own| is_out(own, base)).collect();
    let mut copies = TokenStream::new();
    let mut copied = None;
    let passed = base.arguments.iter().map(|target| {
        let Some(own) = out.arguments.iter().find(|own| own.ident == target.ident) else {
            return option_of(target, &outs);
        };
        if base_is_in_place && own.ident == "this" {
            let name = format_ident!("copy_of_this");
            let (statement, lent) = copy(own, &name)?;
            copies.extend(statement);
            copied = Some(name);
            return Some(lent);
        }
        Some(lend(own))
    });
    let passed: Vec<_> = passed.collect::<Option<_>>()?;
    let results: Vec<Ident> = match &copied {
        Some(copy) => vec![copy.clone()],
        None => base
            .returns
            .iter()
            .enumerate()
            .filter(|(_, ret)| is_tensor(&ret.value))
            .map(|(at, _)| result(at))
            .collect(),
    };
    let mut writes = TokenStream::new();
    for (argument, result) in outs.iter().zip(results) {
        let target = lend(argument);
        writes.extend(match shape(&argument.ty)? {
            Shape::One => quote!(__torch::derived::write(#COPY, #target, &#result)?;),
            Shape::List => quote!(__torch::derived::write_all(#COPY, #target, &#result)?;),
            Shape::Optional => return None,
        });
    }
    let returned: Vec<_> = out
        .returns
        .iter()
        .enumerate()
        .map(|(at, ret)| match ret.value {
            Returned::Argument(source) => {
                let ident = &out.arguments[source].ident;
                quote!(#ident)
            }
            Returned::Owned(_) => {
                let name = self::result(at);
                quote!(#name)
            }
        })
        .collect();
    let (ident, pattern, returned) = (&base.ident, pattern(base), tuple(&returned));
    Some(quote! {
        #copies
        let #pattern = super::#ident::call(#(#passed),*)?;
        #writes
        ::core::result::Result::Ok(#returned)
    })
}

fn is_out(argument: &Argument, base: &Operator) -> bool {
    base.arguments.iter().all(|other| other.ident != argument.ident)
}

fn is_tensor(value: &Returned) -> bool {
    match value {
        Returned::Owned(RustType::Plain("Tensor")) => true,
        Returned::Owned(RustType::Vec(element)) => matches!(**element, RustType::Plain("Tensor")),
        _ => false,
    }
}

/// A tensor option that the `out` variant does not have: taken from the `out` argument.
fn option_of(argument: &Argument, outs: &[&Argument]) -> Option<TokenStream> {
    let out = &outs.first().filter(|out| shape(&out.ty) == Some(Shape::One))?.ident;
    let value = if argument.ident == "dtype" {
        quote!(#out.dtype())
    } else if argument.ident == "device" {
        quote!(#out.device())
    } else {
        return argument.default.clone();
    };
    let is_optional = matches!(argument.ty, RustType::Option(_));
    Some(if is_optional { quote!(__torch::Option::Some(#value)) } else { value })
}
