//! What a `#[torch_impl]` says: which function implements which operator, and in which form.

use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{FnArg, Ident, LitStr, Path, ReturnType, Signature, Type};

use super::parse::{Arguments, Function};
use crate::errors::Errors;
use crate::library::flat_name;

/// The operator that a kernel is for.
pub(super) struct Target {
    /// The module of the operator, as rustc is to look it up.
    pub(super) path: Path,
    /// The namespace's module.
    pub(super) namespace: Path,
    /// The flattened name.
    pub(super) ident: Ident,
}

impl Target {
    /// From the attribute on a function: `aten` and the function's name, `aten::add_Tensor`, or `aten, "add.Tensor"`.
    pub(super) fn of_function(arguments: &Arguments, function: &Ident, errors: &mut Errors) -> Option<Self> {
        match &arguments.name {
            Some(name) => Self::of_name(&arguments.path, name, errors),
            None if names_operator(&arguments.path) => {
                let mut namespace = arguments.path.clone();
                let last = namespace.segments.pop()?;
                namespace.segments.pop_punct();
                Some(Target { path: arguments.path.clone(), namespace, ident: last.ident })
            }
            None => Some(Self::of_ident(&arguments.path, function.clone())),
        }
    }

    /// From a function's name.
    pub(super) fn of_ident(namespace: &Path, ident: Ident) -> Self {
        let mut path = namespace.clone();
        path.segments.push(ident.clone().into());
        Target { path, namespace: namespace.clone(), ident }
    }

    /// From a name as the schema has it.
    pub(super) fn of_name(namespace: &Path, name: &LitStr, errors: &mut Errors) -> Option<Self> {
        let text = name.value();
        if text.contains('(') {
            errors.at(name, "expected the name of an operator, `name.overload`, not a whole schema");
            return None;
        }
        let (base, overload) = text.split_once('.').unwrap_or((&text, ""));
        let is_name = |name: &str| name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
        if base.is_empty()
            || !is_name(base)
            || !is_name(overload)
            || (overload.is_empty() && text.contains('.'))
        {
            errors.at(name, "expected the name of an operator: `name` or `name.overload`");
            return None;
        }
        Some(Self::of_ident(namespace, flat_name(base, overload, name.span())))
    }

    /// The operator's name as a part of other identifiers.
    pub(super) fn label(&self) -> String {
        let namespace = self.namespace.segments.last().map(|segment| segment.ident.unraw().to_string());
        format!("{}_{}", namespace.unwrap_or_default(), self.ident.unraw())
    }
}

/// Whether a path names an operator, not a namespace: whether more than one segment is left after `crate`, `super`.
fn names_operator(path: &Path) -> bool {
    let is_keyword = |ident: &Ident| ident == "crate" || ident == "super" || ident == "self";
    path.segments.iter().filter(|segment| !is_keyword(&segment.ident)).count() > 1
}

/// A kernel's signature, with what the attribute adds.
pub(super) struct Checked {
    /// Whether it takes the keys of the call first.
    pub(super) takes_keys: bool,
}

/// Refuses what no kernel can be, and ties an elided `&mut` return to the only `&mut` parameter.
pub(super) fn check(function: &mut Function, errors: &mut Errors) -> Option<Checked> {
    let signature = &mut function.signature;
    let before = refuse(signature, errors);
    if before {
        return None;
    }
    supply_lifetime(signature, errors)?;
    Some(Checked { takes_keys: takes_keys(signature) })
}

/// Whether something was refused.
fn refuse(signature: &Signature, errors: &mut Errors) -> bool {
    let problem: Option<(Span, &str)> = if let Some(token) = &signature.asyncness {
        Some((token.span(), "a kernel cannot be `async`: it runs to its end inside the call"))
    } else if let syn::Safety::Unsafe(token) = &signature.safety {
        Some((
            token.span(),
            "a kernel cannot be `unsafe`: the dispatcher calls it with any arguments of its types",
        ))
    } else if let Some(abi) = &signature.abi {
        Some((abi.span(), "a kernel is a plain Rust function, without `extern`"))
    } else if let Some(parameter) = signature.generics.type_params().next() {
        Some((parameter.span(), "a kernel has no type parameters: switch on the dtype inside"))
    } else if let Some(parameter) = signature.generics.const_params().next() {
        Some((parameter.span(), "a kernel has no const parameters"))
    } else {
        signature
            .receiver()
            .map(|receiver| (receiver.span(), "a kernel is no method: name the argument `this`"))
    };
    let refused = problem.is_some();
    if let Some((span, message)) = problem {
        errors.push(syn::Error::new(span, message));
    }
    refused
}

fn takes_keys(signature: &Signature) -> bool {
    let Some(FnArg::Typed(first)) = signature.inputs.first() else { return false };
    let Type::Path(path) = &*first.ty else { return false };
    path.path.segments.last().is_some_and(|last| last.ident == "DispatchKeySet")
}

/// `fn add_(this: &mut Tensor, other: &Tensor) -> Result<&mut Tensor>` is clear to a reader, but not to rustc, which
/// sees two references that the return could borrow from. The `&mut` is meant.
fn supply_lifetime(signature: &mut Signature, errors: &mut Errors) -> Option<()> {
    let ReturnType::Type(_, output) = &mut signature.output else { return Some(()) };
    let mut returned = Vec::new();
    elided_mut(output, &mut returned);
    let all = references(&signature.inputs);
    if returned.is_empty() || all <= 1 {
        return Some(());
    }
    let mut parameters = Vec::new();
    for input in &mut signature.inputs {
        if let FnArg::Typed(input) = input {
            elided_mut(&mut input.ty, &mut parameters);
        }
    }
    match &mut parameters[..] {
        [one] => {
            let lifetime = syn::Lifetime::new("'returned", one.and_token.span());
            one.lifetime = Some(lifetime.clone());
            returned.iter_mut().for_each(|reference| reference.lifetime = Some(lifetime.clone()));
            signature
                .generics
                .params
                .insert(0, syn::GenericParam::Lifetime(syn::LifetimeParam::new(lifetime)));
            Some(())
        }
        [] => Some(()),
        _ => {
            let message = "several arguments are `&mut`: name the lifetime of the one that is returned, \
                           as in `fn f<'a>(out: &'a mut Tensor, …) -> Result<&'a mut Tensor>`";
            errors.push(syn::Error::new(returned[0].span(), message));
            None
        }
    }
}

/// The `&mut` without a lifetime in a type.
fn elided_mut<'t>(ty: &'t mut Type, found: &mut Vec<&'t mut syn::TypeReference>) {
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
        Type::Path(path) => {
            for segment in &mut path.path.segments {
                if let syn::PathArguments::AngleBracketed(arguments) = &mut segment.arguments {
                    for argument in &mut arguments.args {
                        if let syn::GenericArgument::Type(ty) = argument {
                            elided_mut(ty, found);
                        }
                    }
                }
            }
        }
        _ => {}
    }
}

/// How many references the parameters have whose lifetime is elided: with one, rustc needs no help.
fn references<'i>(inputs: impl IntoIterator<Item = &'i FnArg>) -> usize {
    let text = |input: &FnArg| match input {
        FnArg::Typed(input) => quote::ToTokens::to_token_stream(&input.ty).to_string(),
        FnArg::Receiver(_) => String::new(),
    };
    inputs.into_iter().map(|input| text(input).matches('&').count()).sum()
}
