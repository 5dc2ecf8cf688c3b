//! Checks of a kernel's signature that give better errors than rustc, and the lifetime that rustc cannot infer.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident};
use syn::spanned::Spanned;
use syn::{
    FnArg, GenericArgument, Ident, Lifetime, PathArguments, ReturnType, Signature, Type, TypeReference,
};

use super::item::{Body, Function};

/// Rejects functions that cannot be kernels, whatever their types.
pub(super) fn check(function: &Function) -> syn::Result<()> {
    let signature = &function.signature;
    if let Some((span, message)) = refusal(signature) {
        return Err(syn::Error::new(span, message));
    }
    let target_feature =
        function.attributes.iter().find(|attribute| attribute.path().is_ident("target_feature"));
    if let Some(attribute) = target_feature {
        let message =
            "a kernel runs on any machine: ask for the feature inside, and call this function from there";
        return Err(syn::Error::new_spanned(attribute, message));
    }
    if let Body::Semicolon(span) = &function.body {
        let ident = &signature.ident;
        let message = format!("expected the body of `{ident}`, or the word `fallthrough` in the attribute");
        return Err(syn::Error::new(*span, message));
    }
    Ok(())
}

fn refusal(signature: &Signature) -> Option<(Span, &'static str)> {
    if let Some(token) = &signature.asyncness {
        return Some((token.span(), "a kernel cannot be `async`: it runs to its end inside the call"));
    }
    if let syn::Safety::Unsafe(token) = &signature.safety {
        let message = "a kernel cannot be `unsafe`: the dispatcher calls it with any arguments of its types";
        return Some((token.span(), message));
    }
    if let Some(abi) = &signature.abi {
        return Some((abi.span(), "a kernel is a plain Rust function, without `extern`"));
    }
    if let Some(parameter) = signature.generics.type_params().next() {
        return Some((parameter.span(), "a kernel has no type parameters: switch on the dtype inside"));
    }
    if let Some(parameter) = signature.generics.const_params().next() {
        return Some((parameter.span(), "a kernel has no const parameters"));
    }
    if let Some(receiver) = signature.receiver() {
        return Some((
            receiver.span(),
            "a kernel cannot be a method: write a function, and name the argument `this`",
        ));
    }
    if let Some(span) = self_type(signature) {
        let message = "a kernel is a free function, outside of `impl`: write the type's name for `Self`";
        return Some((span, message));
    }
    let is_impl =
        |input: &&FnArg| matches!(input, FnArg::Typed(input) if matches!(*input.ty, Type::ImplTrait(_)));
    let input = signature.inputs.iter().find(is_impl)?;
    Some((input.span(), "a kernel has no type parameters, not even as `impl`: write the type of the schema"))
}

/// Whether a function can only stand in an `impl`, as far as the macro can see: it names `self` or `Self`.
pub(super) fn is_in_impl(signature: &Signature) -> bool {
    signature.receiver().is_some() || self_type(signature).is_some()
}

/// The first `Self` in a function's types.
fn self_type(signature: &Signature) -> Option<Span> {
    fn find(tokens: TokenStream) -> Option<Span> {
        tokens.into_iter().find_map(|token| match token {
            TokenTree::Ident(ident) => (ident == "Self").then(|| ident.span()),
            TokenTree::Group(group) => find(group.stream()),
            _ => None,
        })
    }
    find(signature.inputs.to_token_stream()).or_else(|| find(signature.output.to_token_stream()))
}

/// Whether the return type may be a `Result`, possibly under an alias.
pub(super) fn may_return_result(signature: &Signature) -> bool {
    const OTHERS: [&str; 10] =
        ["Tensor", "Scalar", "Option", "Vec", "String", "bool", "i64", "f32", "f64", "usize"];
    match &signature.output {
        ReturnType::Type(_, ty) => match &**ty {
            Type::Path(path) => {
                path.path.segments.last().is_some_and(|last| OTHERS.iter().all(|other| last.ident != other))
            }
            ty => !matches!(ty, Type::Reference(_) | Type::Tuple(_) | Type::Slice(_) | Type::Array(_)),
        },
        ReturnType::Default => false,
    }
}

/// Supplies the lifetime in `fn add_(this: &mut Tensor, other: &Tensor) -> Result<&mut Tensor>`.
///
/// The intent is clear to a reader, but not to rustc, which sees two references that the return could borrow from. The
/// lifetime is that of the `&mut` argument.
///
/// # Errors
/// Several arguments are `&mut`. All of them get the lifetime, so that this is the only error.
pub(super) fn supply_lifetime(signature: &mut Signature) -> syn::Result<()> {
    let arguments: usize = signature.inputs.iter().map(references).sum();
    let mut returned = Vec::new();
    if let ReturnType::Type(_, output) = &mut signature.output {
        elided_mut(output, &mut returned);
    }
    if returned.is_empty() || arguments <= 1 {
        return Ok(());
    }
    let mut lent = Vec::new();
    let mut names = Vec::new();
    for input in &mut signature.inputs {
        let FnArg::Typed(input) = input else { continue };
        let before = lent.len();
        elided_mut(&mut input.ty, &mut lent);
        names.extend((before < lent.len()).then(|| input.pat.to_token_stream().to_string()));
    }
    let [first, ..] = &lent[..] else { return Ok(()) };
    let (span, place) = (first.and_token.span(), returned[0].and_token.span());
    let lifetime = Lifetime::new("'returned", span);
    let result =
        if lent.len() == 1 { Ok(()) } else { Err(syn::Error::new(place, several(&names, returned.len()))) };
    let all = returned.into_iter().chain(lent);
    all.for_each(|reference| reference.lifetime = Some(lifetime.clone()));
    let parameter = syn::GenericParam::Lifetime(syn::LifetimeParam::new(lifetime));
    signature.generics.params.insert(0, parameter);
    result
}

/// Rejects a return with the lifetime of two parameters. rustc would, too, but shows the operator's trait, which nobody
/// has written. Without the return it accepts them, since both references can be lent for the shorter time.
///
/// # Errors
/// A lifetime that the function declares stands in the return type and in several parameters.
pub(super) fn check_lifetimes(signature: &Signature) -> syn::Result<()> {
    let name = |input: &FnArg| match input {
        FnArg::Typed(input) => input.pat.to_token_stream().to_string(),
        FnArg::Receiver(_) => "self".to_owned(),
    };
    for declared in signature.generics.lifetimes() {
        let lifetime = &declared.lifetime;
        if find(signature.output.to_token_stream(), lifetime).is_none() {
            continue;
        }
        let mut with = signature
            .inputs
            .iter()
            .filter_map(|input| Some((name(input), find(input.to_token_stream(), lifetime)?)));
        let (Some((first, _)), Some((second, span))) = (with.next(), with.next()) else { continue };
        let advice = match signature.inputs.iter().filter(|input| is_mut(input)).count() {
            0 | 1 => "leave it out where the argument is not what is returned",
            _ => {
                "give each argument that is returned a lifetime of its own, as in `fn f<'a, 'b>(min: &'a mut Tensor, \
                 max: &'b mut Tensor) -> Result<(&'a mut Tensor, &'b mut Tensor)>`, and leave it out elsewhere"
            }
        };
        let message = format!(
            "`{first}` and `{second}` have one lifetime, `{lifetime}`, and the result has it, too, but a result is one \
             of the arguments: {advice}"
        );
        return Err(syn::Error::new(span, message));
    }
    Ok(())
}

/// Where a type has a lifetime.
fn find(tokens: TokenStream, lifetime: &Lifetime) -> Option<Span> {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let found = match (token, tokens.peek()) {
            (TokenTree::Punct(quote), Some(TokenTree::Ident(ident)))
                if quote.as_char() == '\'' && *ident == lifetime.ident =>
            {
                Some(ident.span())
            }
            (TokenTree::Group(group), _) => find(group.stream(), lifetime),
            _ => None,
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

/// Whether a parameter is a `&mut`.
fn is_mut(input: &FnArg) -> bool {
    matches!(input, FnArg::Typed(input)
        if matches!(&*input.ty, Type::Reference(reference) if reference.mutability.is_some()))
}

/// Whether rustc cannot infer the lifetime of a reference that is returned, which is an error in the function itself.
pub(super) fn needs_lifetime(signature: &Signature) -> bool {
    fn is_elided(ty: &Type) -> bool {
        match ty {
            Type::Reference(reference) => reference.lifetime.is_none() || is_elided(&reference.elem),
            Type::Tuple(tuple) => tuple.elems.iter().any(is_elided),
            Type::Paren(paren) => is_elided(&paren.elem),
            Type::Group(group) => is_elided(&group.elem),
            Type::Path(path) => path.path.segments.iter().any(|segment| match &segment.arguments {
                PathArguments::AngleBracketed(arguments) => arguments
                    .args
                    .iter()
                    .any(|argument| matches!(argument, GenericArgument::Type(ty) if is_elided(ty))),
                _ => false,
            }),
            _ => false,
        }
    }
    let arguments: usize = signature.inputs.iter().map(references).sum();
    matches!(&signature.output, ReturnType::Type(_, output) if arguments > 1 && is_elided(output))
}

fn several(names: &[String], returned: usize) -> String {
    let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    let advice = if returned == 1 {
        "give the one that is returned a lifetime, and name it here, as in \
         `fn f<'a>(out: &'a mut Tensor, …) -> Result<&'a mut Tensor>`"
    } else {
        "give each that is returned a lifetime of its own, and name them here, as in \
         `fn f<'a, 'b>(min: &'a mut Tensor, max: &'b mut Tensor) -> Result<(&'a mut Tensor, &'b mut Tensor)>`"
    };
    format!("{} are `&mut`: {advice}", names.join(" and "))
}

/// Collects the `&mut` references without a lifetime in a type.
fn elided_mut<'t>(ty: &'t mut Type, found: &mut Vec<&'t mut TypeReference>) {
    match ty {
        Type::Reference(reference) => {
            if reference.mutability.is_some() && reference.lifetime.is_none() {
                found.push(reference);
            } else {
                elided_mut(&mut reference.elem, found);
            }
        }
        Type::Tuple(tuple) => tuple.elems.iter_mut().for_each(|element| elided_mut(element, found)),
        Type::Paren(paren) => elided_mut(&mut paren.elem, found),
        Type::Group(group) => elided_mut(&mut group.elem, found),
        Type::Path(path) => {
            for segment in &mut path.path.segments {
                let PathArguments::AngleBracketed(arguments) = &mut segment.arguments else { continue };
                for argument in &mut arguments.args {
                    if let GenericArgument::Type(ty) = argument {
                        elided_mut(ty, found);
                    }
                }
            }
        }
        _ => {}
    }
}

/// The number of references in a parameter: if there is only one in all, rustc infers the lifetime.
fn references(input: &FnArg) -> usize {
    fn count(tokens: TokenStream) -> usize {
        let signs = tokens.into_iter().map(|token| match token {
            TokenTree::Punct(sign) => usize::from(sign.as_char() == '&'),
            TokenTree::Group(group) if group.delimiter() != Delimiter::Brace => count(group.stream()),
            _ => 0,
        });
        signs.sum()
    }
    match input {
        FnArg::Typed(input) => count(input.ty.to_token_stream()),
        FnArg::Receiver(_) => 1,
    }
}

/// Checks the form of a fallthrough, `fn name();`.
///
/// # Errors
/// It has arguments, a return type or a body.
pub(super) fn check_fallthrough(function: &Function) -> syn::Result<()> {
    if function.is_name_alone() {
        return Ok(());
    }
    let ident: &Ident = &function.signature.ident;
    let message = format!("a fallthrough has no arguments and no body: write `fn {ident}();`");
    Err(syn::Error::new(function.body_span(), message))
}

/// The name that a forwarding function gives to the argument at this position.
pub(super) fn argument(index: usize) -> Ident {
    format_ident!("__argument_{index}")
}
