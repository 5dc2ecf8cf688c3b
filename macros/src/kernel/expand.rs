//! From one kernel to Rust: the user's function as it is, rustc's own check of its signature, and a record.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Attribute, FnArg, Path};

use super::before::{self, Before};
use super::item::Function;
use super::parse::{Form, Options};
use super::signature::{self, argument};
use super::surroundings::{self, Around};
use super::target::{Target, used};
use crate::errors::Errors;
use crate::key::Key;
use crate::lints;
use crate::source::Source;

/// A function with the attribute.
pub(super) fn function(
    path: &Path,
    options: &Options,
    mut function: Function,
    errors: &mut Errors,
) -> TokenStream {
    let checked = errors.ok(check(options.form, &mut function));
    let around = surroundings::around(function.signature.fn_token.span);
    if let (Some(()), Around::Associated(keyword)) = (checked, around) {
        let ident = &function.signature.ident;
        errors.at(ident, format!("a kernel is a free function: move `{ident}` out of the `{keyword}`"));
        return function.as_written(); // no further items are allowed there
    }
    let target = Target::in_namespace(path, options.name.as_ref(), &function.signature.ident);
    let target = errors.ok(target);
    let item = function.as_written();
    if checked.is_some() && signature::needs_lifetime(&function.signature) {
        let used = used(path);
        return quote!(#item #used); // rustc says so, and would say it of the registration too
    }
    let (Some(target), Some(())) = (target, checked) else {
        if around == Around::Module && function.signature.receiver().is_some() {
            return used(path); // rustc would report `self` once more
        }
        // Inside an impl, no further items are allowed.
        let is_in_impl = around != Around::Module && around != Around::Function;
        let used = (!is_in_impl && !signature::is_in_impl(&function.signature)).then(|| used(path));
        return quote!(#item #used);
    };
    let of_path = Target::of_path(path).filter(|_| options.name.is_none());
    let registration = match of_path {
        Some(operator) => of_either(options, &function, &operator, &target),
        None => registration(options, &function, &target),
    };
    quote!(#item #registration)
}

/// A registration for the operator that the path names or, if the path names a namespace, for the operator in it: a
/// macro in the module that the path leads to selects one of the two.
fn of_either(
    options: &Options,
    function: &Function,
    operator: &Target,
    in_namespace: &Target,
) -> TokenStream {
    let cfgs: Vec<_> = function.cfgs().collect();
    let keys: String = options.keys.iter().map(|Key(key)| format!("_{key}")).collect();
    let found = format_ident!("__{}_for_{}{keys}", function.signature.ident.unraw(), operator.label());
    let import = operator.import(&found);
    let [operator, in_namespace] =
        [operator, in_namespace].map(|target| registration(options, function, target));
    quote! {
        #(#cfgs)*
        #import
        #(#cfgs)*
        #found::one_of! { { #operator } { #in_namespace } }
    }
}

/// The items next to a function that register it.
fn registration(options: &Options, function: &Function, target: &Target) -> TokenStream {
    let operator = format_ident!("__operator");
    let import = target.import(&operator);
    let cfgs: Vec<_> = function.cfgs().collect();
    let marker = duplicate_marker(options, target, &cfgs);
    let (kernel, constant) =
        (kernel(options.form, function, &target.ident, &operator), format_ident!("__KERNEL"));
    let source = source(&function.signature.ident);
    let ident = &function.signature.ident;
    let records = records(&options.keys, options.overrides, ident, &operator, &constant);
    let keys = options.keys.iter().map(|Key(key)| key.clone());
    let linked = linked(keys, options.overrides, ident, (target, &quote!(#operator)), &[]);
    quote! {
        #marker
        #(#cfgs)*
        const _: () = {
            #import
            use #operator::__torch;
            const #constant: __torch::RecordedKernel = #kernel;
            #source
            static __RECORDS: &[__torch::KernelRecord] = &[#(#records),*];
            __torch::submit_kernels! { __torch::Record::Kernels(__RECORDS); #linked }
        };
    }
}

/// Checks what the macro can see of a function.
pub(super) fn check(form: Form, function: &mut Function) -> syn::Result<()> {
    match form {
        Form::Fallthrough => signature::check_fallthrough(function),
        Form::Boxed(_) => signature::check(function),
        Form::Typed => {
            signature::check(function)?;
            before::check(&function.signature)?;
            signature::check_lifetimes(&function.signature)?;
            signature::supply_lifetime(&mut function.signature)
        }
    }
}

/// A function as a `RecordedKernel` of the operator with this name, whose module is known as `operator`.
pub(super) fn kernel(form: Form, function: &Function, name: &Ident, operator: &Ident) -> TokenStream {
    match form {
        Form::Typed => typed(function, name, operator),
        Form::Boxed(span) => boxed(&function.signature.ident, span),
        Form::Fallthrough => quote!(__torch::RecordedKernel::Fallthrough),
    }
}

/// A boxed function. If it has the wrong type, rustc says "expected due to this" at `span`.
pub(super) fn boxed(function: &Ident, span: Span) -> TokenStream {
    let ty = quote_spanned!(span=> __torch::BoxedFn);
    quote!({
        let kernel: #ty = #function;
        __torch::RecordedKernel::Boxed(kernel)
    })
}

const WITHOUT_VARIANTS: &str = "a kernel that takes an `Output` serves an operator and its variants, and this one has \
    none: declare them above its schema, as in `#[variants(out, in_place)]`, or leave the parameter out";

/// A typed kernel, and the impl that rustc compares with the operator's trait.
fn typed(function: &Function, name: &Ident, operator: &Ident) -> TokenStream {
    let signature = &function.signature;
    let (ident, generics, output) = (&signature.ident, &signature.generics, &signature.output);
    let inputs: Vec<_> =
        signature.inputs.iter().enumerate().map(|(index, input)| parameter(index, input)).collect();
    let passed = (0..inputs.len()).map(argument);
    let before = before::before(signature);
    let (kind, recorded, code, caller, keys) = match before {
        Before::Nothing => (quote!(Kernel), quote!(Typed), quote!(code), quote!(call), quote!()),
        Before::Keys => {
            (quote!(KernelWithKeys), quote!(Typed), quote!(code_with_keys), quote!(redispatch), quote!(_))
        }
        Before::Output => {
            (quote!(OutputKernel), quote!(Variants), quote!(code_with_output), quote!(with_output), quote!(_))
        }
    };
    let count = Literal::usize_unsuffixed(inputs.len() - usize::from(before != Before::Nothing));
    // The user's own tokens, so that rustc's errors underline them.
    let inputs = quote_spanned!(signature.paren_token.span.join()=> (#(#inputs),*));
    let (mut name, span) = (name.clone(), signature.fn_token.span);
    name.set_span(ident.span());
    let method = quote_spanned! {span=>
        #[inline(always)]
        #[allow(clippy::all, clippy::pedantic)]
        fn #name #generics #inputs #output {
            #ident(#(#passed),*)
        }
    };
    let kernel = quote!({
        struct __Kernel;
        impl #operator::#kind for __Kernel {
            #method
        }
        __torch::RecordedKernel::#recorded(#operator::#code::<__Kernel>())
    });
    // Only rustc knows how many arguments the operator has.
    let comparison = quote_spanned! {ident.span()=> {
        let _ = [__expected, #ident];
        __torch::RecordedKernel::Fallthrough
    }};
    let kernel =
        quote!(#operator::takes! { #count [#kernel] #operator::#caller as __expected [#keys] #comparison });
    match before {
        Before::Output => {
            // The error points at the parameter.
            let span = signature.inputs.first().map_or(ident.span(), Spanned::span);
            let refusal = syn::Error::new(span, WITHOUT_VARIANTS).to_compile_error();
            quote!(#operator::serves! { { #refusal } #kernel })
        }
        _ => kernel,
    }
}

/// A parameter of the forwarding function: the user's type tokens with a generated name.
fn parameter(index: usize, input: &FnArg) -> TokenStream {
    let name = argument(index);
    match input {
        FnArg::Typed(input) => {
            let ty = &input.ty;
            quote!(#name: #ty)
        }
        FnArg::Receiver(receiver) => quote!(#receiver),
    }
}

/// A record for each key, in the scope of [`source`].
pub(super) fn records(
    keys: &[Key],
    overrides: bool,
    function: &Ident,
    operator: &Ident,
    kernel: &Ident,
) -> Vec<TokenStream> {
    let place = Source::Span(function.span()).place(&quote!(__SOURCE));
    // The common name of overloads has something else there, which is an error at the function.
    let (span, mut operator) = (function.span(), operator.clone());
    operator.set_span(span);
    let operator = quote_spanned!(span=> &#operator::OPERATOR);
    let function = function.unraw().to_string();
    let record = |key| {
        quote!(__torch::KernelRecord {
            operator: #operator,
            key: __torch::DispatchKey::#key,
            kernel: #kernel,
            derivative: __torch::Option::None,
            function: #function,
            overrides: #overrides,
            place: #place,
        })
    };
    keys.iter().map(record).collect()
}

/// The links of one function's records, for `submit_kernels!`; the operator is given by a path.
pub(crate) fn linked(
    keys: impl Iterator<Item = Ident>,
    overrides: bool,
    function: &Ident,
    (target, path): (&Target, &TokenStream),
    cfgs: &[&Attribute],
) -> TokenStream {
    let (symbol, function) = (target.symbol(), function.unraw().to_string());
    let cfgs = quote!(#(#cfgs)*);
    quote!(#({ #cfgs #keys #symbol #overrides #function #path })*)
}

/// The `SourceModule` of some records.
pub(super) fn source(function: &Ident) -> TokenStream {
    let module = Source::Span(function.span()).module();
    quote!(static __SOURCE: __torch::SourceModule = #module;)
}

/// An item whose name says operator and key: a second kernel for the same pair in this module is rustc's "defined
/// multiple times", which shows both places.
fn duplicate_marker(options: &Options, target: &Target, cfgs: &[&Attribute]) -> TokenStream {
    if options.overrides {
        return quote!();
    }
    let markers = options.keys.iter().map(|Key(key)| marker(&key.to_string(), target, cfgs));
    quote!(#(#markers)*)
}

/// An empty module, which no lint minds, for each operator and key: it can be defined once. Rustc's error for a
/// duplicate shows its name, which therefore says how to resolve it.
pub(crate) fn marker(key: &str, target: &Target, cfgs: &[&Attribute]) -> TokenStream {
    let (key, span) = (key.to_lowercase(), target.ident.span());
    let mut name = Ident::new(&format!("{key}_kernel_of_{}_without_override", target.label()), span);
    if lints::names(std::iter::once(&name)).is_some() {
        name.set_span(lints::ours(span));
    }
    quote_spanned! {span=>
        #(#cfgs)*
        #[doc(hidden)]
        mod #name {}
    }
}
