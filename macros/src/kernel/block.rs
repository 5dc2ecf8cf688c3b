//! From a module of kernels to Rust: the module as it is, the checks of its functions, and one record for all.

use std::collections::HashMap;

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::Path;
use syn::spanned::Spanned;

use super::expand::{check, kernel, linked, records, source};
use super::item::{Function, Module, ModuleItem};
use super::parse::{Form, Options};
use super::signature;
use super::surroundings::{self, Around};
use super::target::{Target, used};
use crate::errors::Errors;
use crate::key::Key;
use crate::lints;

/// A module with the attribute.
pub(super) fn module(path: &Path, options: &Options, mut module: Module, errors: &mut Errors) -> TokenStream {
    if let Some(name) = &options.name {
        errors.at(
            name,
            "a block has many operators: put the name on a function, `#[torch_impl(\"add.Tensor\")]`",
        );
    }
    if let Some(span) = module.unseen() {
        let message = "a block registers the functions written in it, not those that a macro generates: \
                       call the macro outside of it, or in a module inside";
        errors.push(syn::Error::new(span, message));
    } else if !module.items.iter().any(|item| matches!(item, ModuleItem::Kernel(_))) {
        errors.at(&module.ident, "a block registers the functions written in it, and this one has none");
    }
    let mut block = Block { path, options, module: module.ident.clone(), seen: HashMap::new() };
    let mut kernels = Vec::new();
    for item in &mut module.items {
        if let ModuleItem::Kernel(function) = item {
            let options = take_options(function, errors).filter(|options| !options.is_helper);
            kernels
                .extend(options.and_then(|options| block.kernel(kernels.len(), &options, function, errors)));
        }
    }
    if surroundings::around(module.keyword.span) == Around::Function {
        let message = "no path leads from a module in a function to what is around it: move this block out, or put the \
                       attribute on each function";
        errors.at(&module.ident, message);
        kernels.clear();
    }
    let imports: TokenStream = kernels.iter().map(|kernel| kernel.import.clone()).collect();
    let runtime = format_ident!("__torch_of_{}", module.ident);
    let extras = (!kernels.is_empty()).then(|| {
        let import = quote_spanned!(lints::ours(path.span())=> use #path::{__torch as #runtime};);
        (import, record(&runtime, &module.ident, &kernels))
    });
    let (import, record) = extras.unzip();
    let import = import.unwrap_or_else(|| used(path));
    let Module { attributes, visibility, keyword, ident, inner_attributes, items } = &module;
    quote! {
        #import
        #imports
        #(#attributes)*
        #visibility #keyword #ident {
            #(#inner_attributes)*
            #(#items)*
            #record
        }
    }
}

/// The state while the functions of a block are visited.
struct Block<'a> {
    path: &'a Path,
    options: &'a Options,
    module: Ident,
    /// The index of each operator's kernel.
    seen: HashMap<String, usize>,
}

/// One function of a block.
struct BlockKernel {
    /// Emitted outside the module, where the user's path is valid.
    import: TokenStream,
    /// Emitted in the module, where the function is in scope.
    kernel: TokenStream,
    records: TokenStream,
    /// The links for `submit_kernels!`.
    linked: TokenStream,
}

impl Block<'_> {
    fn kernel(
        &mut self,
        index: usize,
        options: &Options,
        function: &mut Function,
        errors: &mut Errors,
    ) -> Option<BlockKernel> {
        // The block's form applies to each function that has none of its own.
        let form = if matches!(options.form, Form::Typed) { self.options.form } else { options.form };
        errors.ok(check(form, function))?;
        if signature::needs_lifetime(&function.signature) {
            return None; // rustc's error in the function says it
        }
        let ident = &function.signature.ident;
        if matches!(form, Form::Typed) && !signature::may_return_result(&function.signature) {
            let message = format!(
                "every function of a block is a kernel and returns a `Result`, but `{ident}` does not: mark a helper \
                 with `#[torch_impl(helper)]`, or move it out of the block"
            );
            errors.push(syn::Error::new(ident.span(), message));
            return None;
        }
        let target = errors.ok(Target::in_namespace(self.path, options.name.as_ref(), ident))?;
        let line = ident.span().unwrap().line();
        let cfgs: Vec<_> = function.cfgs().collect();
        if cfgs.is_empty()
            && let Some(first) = self.seen.insert(target.label(), line)
        {
            let message =
                format!("a second kernel for `{}` in this block, the first is on line {first}", target.ident);
            errors.push(syn::Error::new(ident.span(), message));
            return None;
        }
        let operator = format_ident!("__{}_{index}", self.module);
        let (constant, value) =
            (format_ident!("__KERNEL_{index}"), kernel(form, function, &target.ident, &operator));
        let overrides = options.overrides || self.options.overrides;
        let records = records(&self.options.keys, overrides, ident, &operator, &constant);
        let import = target.import(&operator);
        let keys = self.options.keys.iter().map(|Key(key)| key.clone());
        let linked = linked(keys, overrides, ident, (&target, &quote!(super::#operator)), &cfgs);
        Some(BlockKernel {
            linked,
            import: quote!(#(#cfgs)* #import),
            kernel: quote! {
                #(#cfgs)*
                use super::#operator;
                #(#cfgs)*
                const #constant: __torch::RecordedKernel = #value;
            },
            records: records.into_iter().map(|record| quote!(#(#cfgs)* #record,)).collect(),
        })
    }
}

/// Checks the options of `#[torch_impl("add.Tensor", override)]` on a function of a block.
fn take_options(function: &mut Function, errors: &mut Errors) -> Option<Options> {
    let is_ours = |attribute: &syn::Attribute| {
        attribute.path().segments.last().is_some_and(|segment| segment.ident == "torch_impl")
    };
    let Some(position) = function.attributes.iter().position(is_ours) else {
        return Some(Options::default());
    };
    let attribute = function.attributes.remove(position);
    match attribute.meta {
        syn::Meta::Path(_) => Some(Options::default()),
        _ => errors.ok(attribute.parse_args_with(Options::parse_in_block)),
    }
}

/// The record of a block, which the linker collects and `register!` takes.
fn record(runtime: &Ident, module: &Ident, kernels: &[BlockKernel]) -> TokenStream {
    let source = source(module);
    let constants = kernels.iter().map(|kernel| &kernel.kernel);
    let records = kernels.iter().map(|kernel| &kernel.records);
    let linked = kernels.iter().map(|kernel| &kernel.linked);
    quote! {
        #[doc(hidden)]
        pub static TORCH_LIBRARY_RECORD: super::#runtime::Record = {
            use super::#runtime as __torch;
            #(#constants)*
            #source
            static __RECORDS: &[__torch::KernelRecord] = &[#(#records)*];
            __torch::Record::Kernels(__RECORDS)
        };
        const _: () = {
            super::#runtime::submit_kernels! { TORCH_LIBRARY_RECORD; #(#linked)* }
        };
    }
}
