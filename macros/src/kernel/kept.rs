//! Checks that a kernel writes to the tensor that it is lent, instead of putting another handle in its place.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::{FnArg, GenericArgument, PathArguments, ReturnType, Signature, Type};

use super::signature::argument;

/// A kernel's call, and after it the check for the one tensor that it returns, or for those of a kernel that returns
/// nothing. `*this = other` compiles, and leaves all other handles of the tensor as they were.
pub(super) fn checked(signature: &Signature, call: TokenStream, operator: &Ident) -> TokenStream {
    let lent: Vec<Ident> = signature
        .inputs
        .iter()
        .enumerate()
        .filter(|(_, input)| matches!(input, FnArg::Typed(input) if is_lent_tensor(&input.ty)))
        .map(|(index, _)| argument(index))
        .collect();
    let refuse = quote!(__torch::Result::Err(__torch::replaced_handle(#operator::NAME)));
    match (returned(&signature.output), lent.as_slice()) {
        (Some(returned), [lent]) if is_lent_tensor(returned) => quote! {
            let __lent = #lent.id();
            match #call {
                __torch::Result::Ok(__returned) if __returned.id() != __lent => #refuse,
                __result => __result,
            }
        },
        (Some(Type::Tuple(unit)), [_, ..]) if unit.elems.is_empty() => quote! {
            let __lent = [#(#lent.id()),*];
            let __result = #call;
            if __torch::Result::is_ok(&__result) && __lent != [#(#lent.id()),*] {
                return #refuse;
            }
            __result
        },
        _ => call,
    }
}

/// The type in a return type of `Result<…>`.
fn returned(output: &ReturnType) -> Option<&Type> {
    let ReturnType::Type(_, ty) = output else { return None };
    let Type::Path(path) = &**ty else { return None };
    let result = path.path.segments.last().filter(|segment| segment.ident == "Result")?;
    match &result.arguments {
        PathArguments::AngleBracketed(arguments) => match arguments.args.first()? {
            GenericArgument::Type(ty) => Some(ty),
            _ => None,
        },
        _ => None,
    }
}

/// Whether this is `&mut Tensor`.
fn is_lent_tensor(ty: &Type) -> bool {
    let Type::Reference(reference) = ty else { return false };
    let is_tensor =
        |path: &syn::TypePath| path.path.segments.last().is_some_and(|last| last.ident == "Tensor");
    reference.mutability.is_some() && matches!(&*reference.elem, Type::Path(path) if is_tensor(path))
}
