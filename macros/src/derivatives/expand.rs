//! From a row to Rust: what the node saves, how it computes gradients, and the kernels that create it.

use std::collections::BTreeSet;
use std::ops::Range;

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{Lifetime, Path};
use torch_library_schema::Type;

use super::formula::{local_span, result_name};
use super::named::named;
use super::row::{Derivative, Kind, Row};
use crate::kernel::{Target, linked, marker};
use crate::library::{function_head, output_type};
use crate::lints;

/// All rows of a block, with one record for all their kernels.
pub(super) fn rows(root: &TokenStream, namespace: &Path, rows: &[Row]) -> TokenStream {
    let names: Vec<Ident> = (0..rows.len()).map(|index| format_ident!("ROW_{index}")).collect();
    let nodes: Vec<Ident> = rows
        .iter()
        .enumerate()
        .map(|(index, row)| format_ident!("Kept{}", index - usize::from(row.is_second)))
        .collect();
    let items = rows
        .iter()
        .zip(names.iter().zip(&nodes))
        .map(|(row, (name, node))| self::row(namespace, row, name, node));
    let kept = rows.iter().zip(&nodes).filter(|(row, _)| !row.is_second).filter_map(|(row, node)| {
        row.derivative.as_ref().map(|derivative| kept(namespace, row, derivative, node))
    });
    let records = rows.iter().zip(&names).flat_map(|(row, name)| {
        let (cfgs, keys) = (&row.cfgs, keys(row));
        (0..keys.len()).map(move |index| quote!(#(#cfgs)* #name[#index]))
    });
    let source = rows.first().map(|row| {
        let module = row.operator.source.module();
        quote!(static __SOURCE: __torch::SourceModule = #module;)
    });
    let markers = rows.iter().map(|row| markers(namespace, row));
    let linked = rows.iter().map(|row| linked_row(namespace, row));
    let names = rows.iter().flat_map(|row| row.operator.arguments.iter().map(|argument| &argument.ident));
    let names = lints::names(names);
    quote! {
        #(#markers)*
        #names
        const _: () = {
            use #root::__private as __torch;
            use __torch::derivative as __d;
            #source
            #(#kept)*
            #(#items)*
            static __RECORDS: &[__torch::KernelRecord] = &[#(#records),*];
            __torch::submit_kernels! { __torch::Record::Kernels(__RECORDS); #(#linked)* }
        };
    }
}

/// The links of a row's kernels, for `submit_kernels!`.
fn linked_row(namespace: &Path, row: &Row) -> TokenStream {
    let ident = &row.operator.ident;
    let target = Target { namespace: namespace.clone(), ident: ident.clone() };
    let cfgs: Vec<_> = row.cfgs.iter().collect();
    let keys = keys(row).iter().map(|key| format_ident!("{key}"));
    linked(keys, false, ident, (&target, &quote!(#namespace::#ident)), &cfgs)
}

/// Items that a second kernel for the same operator and key would define too, so that rustc rejects it.
fn markers(namespace: &Path, row: &Row) -> TokenStream {
    let target = Target { namespace: namespace.clone(), ident: row.operator.ident.clone() };
    let cfgs: Vec<_> = row.cfgs.iter().collect();
    keys(row).iter().map(|key| marker(key, &target, &cfgs)).collect()
}

/// The keys at which a row has kernels.
fn keys(row: &Row) -> &'static [&'static str] {
    match row.kind {
        Kind::Functional => &["Autograd"],
        Kind::View(_) | Kind::InPlace(_) => &["Autograd", "ADInplaceOrView"],
    }
}

/// One row: the records of its kernels, in a scope of its own. `node` is the struct with what its node saves.
fn row(namespace: &Path, row: &Row, name: &Ident, node: &Ident) -> TokenStream {
    let (cfgs, ident) = (&row.cfgs, &row.operator.ident);
    let autograd = match &row.derivative {
        Some(derivative) => differentiable(row, derivative, node),
        None => below(row), // no result has a gradient: just redispatch
    };
    let bodies = std::iter::once(autograd).chain(bookkeeping(row));
    let derivatives = std::iter::once(named(row)).chain(std::iter::repeat(quote!(__torch::Option::None)));
    let records = keys(row).iter().zip(bodies).zip(derivatives);
    let records = records.map(|((key, body), derivative)| record(row, key, &body, &derivative));
    let count = keys(row).len();
    let comparison = comparison(row);
    let target = Target { namespace: namespace.clone(), ident: ident.clone() };
    let import = target.import(&format_ident!("__operator"));
    quote_spanned! {lints::ours(ident.span())=>
        #(#cfgs)*
        const #name: [__torch::KernelRecord; #count] = {
            #import
            #comparison
            [#(#records),*]
        };
    }
}

/// Compares the row with the declaration as text, in rustc: types do not show names, alias annotations and defaults.
fn comparison(row: &Row) -> TokenStream {
    let text = row.operator.schema.to_string();
    // Rustc shows the name in its message; no lint minds one that begins with an underscore.
    let name = format_ident!("_SCHEMA_OF_{}", row.operator.ident.unraw().to_string().to_uppercase());
    row.operator.place.lend(quote!(const #name: () = __d::compare(#text, __operator::SCHEMA);))
}

/// A kernel for the operator, in the impl that rustc compares with the operator's trait, and its record.
fn record(row: &Row, key: &str, body: &TokenStream, derivative: &TokenStream) -> TokenStream {
    let (generics, parameters) = function_head(&row.operator);
    let (ident, key, output) = (&row.operator.ident, format_ident!("{key}"), output_type(&row.operator));
    let (function, place) = (ident.unraw().to_string(), row.operator.source.place(&quote!(__SOURCE)));
    let (count, at) = (Literal::usize_unsuffixed(parameters.len()), lints::ours(ident.span()));
    let otherwise = quote_spanned!(at=> { __torch::RecordedKernel::Fallthrough });
    let kernel = quote!({
        struct __Kernel;
        impl __operator::KernelWithKeys for __Kernel {
            fn #ident #generics(__keys: __torch::DispatchKeySet, #(#parameters),*) -> __torch::Result<#output> {
                #body
            }
        }
        __torch::RecordedKernel::Typed(__operator::code_with_keys::<__Kernel>())
    });
    quote!({
        __torch::KernelRecord {
            operator: &__operator::OPERATOR,
            key: __torch::DispatchKey::#key,
            // With another number of arguments, the comparison of the schemas is the only error.
            kernel: __operator::takes! {
                #count [#kernel] __operator::redispatch as __expected [_] #otherwise
            },
            derivative: #derivative,
            function: #function,
            overrides: false,
            place: #place,
        }
    })
}

fn arguments(row: &Row) -> Vec<&Ident> {
    row.operator.arguments.iter().map(|argument| &argument.ident).collect()
}

/// The call below autograd: for operators with views or writes it goes through their bookkeeping.
fn below(row: &Row) -> TokenStream {
    let arguments = arguments(row);
    let (keys, guard) = match row.kind {
        Kind::Functional => (quote!(BELOW_AD_INPLACE_OR_VIEW), quote!(AutoDispatchBelowADInplaceOrView)),
        _ => (quote!(BELOW_AUTOGRAD), quote!(AutoDispatchBelowAutograd)),
    };
    quote!({
        let __guard = __d::#guard::new();
        __operator::redispatch(__keys & __d::#keys, #(#arguments),*)
    })
}

/// The bookkeeping of views and version counters, for operators that need it.
fn bookkeeping(row: &Row) -> Option<TokenStream> {
    let arguments = arguments(row);
    let call = quote!({
        let __guard = __d::AutoDispatchBelowADInplaceOrView::new();
        __operator::redispatch(__keys & __d::BELOW_AD_INPLACE_OR_VIEW, #(#arguments),*)?
    });
    Some(match row.kind {
        Kind::Functional => return None,
        Kind::InPlace(written) => {
            let this = arguments[written];
            quote! {
                __d::check_counted(&*#this)?;
                let __result = #call;
                __result.bump_version();
                __torch::Result::Ok(__result)
            }
        }
        Kind::View(source) => {
            let source = arguments[source];
            quote! {
                let mut __result = #call;
                __d::Results::track(&mut __result, #source);
                __torch::Result::Ok(__result)
            }
        }
    })
}

/// The kernel at the autograd key, which records a node.
fn differentiable(row: &Row, derivative: &Derivative, node: &Ident) -> TokenStream {
    let name = &row.name;
    let below = below(row);
    let inputs: Vec<&Ident> = derivative.inputs().map(|index| &row.operator.arguments[index].ident).collect();
    let (edges, ranges) = edges(row, derivative);
    let (check, copy, wanted) = match row.kind {
        Kind::InPlace(written) => {
            let this = &row.operator.arguments[written].ident;
            let needs_copy = derivative.formulas.iter().any(|(_, formula)| formula.values.contains(&written));
            (
                quote!(__d::check_write(__operator::NAME, #this)?;),
                needs_copy.then(|| quote!(let __before = __d::before_write(#this)?;)),
                quote!(__d::is_differentiable(&*#this) &&),
            )
        }
        _ => (quote!(), None, quote!()),
    };
    let refused = derivative.refused.iter().map(|index| {
        let ident = &row.operator.arguments[*index].ident;
        let name = &row.operator.schema.arguments[*index].name;
        quote!(__d::check_no_requires_grad(#name, &#ident)?;)
    });
    let fields = fields(row, derivative);
    let (names, saves) = (fields.iter().map(Field::name), fields.iter().map(|field| field.save(row)));
    let mutable = (!fields.is_empty()).then(|| quote!(mut));
    let ties = ties(row, derivative);
    let owns = matches!(row.kind, Kind::Functional).then(|| owns(row, derivative, &inputs));
    let condition = row.condition.iter().map(|condition| &condition.tokens);
    let results = saved_results(derivative).into_iter().map(|_| quote!(__d::SavedResult::default()));
    let results = keeps_results(derivative).then(|| quote!(__results: [#(#results),*],));
    quote! {
        #(#refused)*
        // One call below, recorded or not, so that each operator contains this code only once.
        let __recording = if #((#condition) &&)* #wanted __d::is_recording()
            && (false #(|| __torch::Argument::requires_grad(&#inputs))*)
        {
            #check
            let mut __edges = __d::Edges::default();
            #edges
            let __ranges = [#(#ranges),*];
            #copy
            let #mutable __row = #node { #(#names: __torch::Option::None,)* #results __ranges };
            #(#saves)*
            __torch::Option::Some(__edges.keep(__d::Arc::new(__row))?)
        } else {
            __torch::Option::None
        };
        let __result = #below?;
        let __torch::Option::Some(__recording) = __recording else {
            return __torch::Result::Ok(__result);
        };
        #owns
        let __recorded = __recording.node(#name);
        #ties
        __torch::Result::Ok(__result)
    }
}

/// Adds the node's edges, in the order of the arguments. Also returns, formula by formula, the edges of its targets.
fn edges(row: &Row, derivative: &Derivative) -> (TokenStream, Vec<Ident>) {
    let range = |index: usize| format_ident!("__range_{index}");
    let inputs: Vec<usize> = derivative.inputs().collect();
    let sorted: BTreeSet<usize> = inputs.iter().copied().collect();
    let edges = sorted.into_iter().map(|index| {
        let (range, ident) = (range(index), &row.operator.arguments[index].ident);
        quote!(let #range = __edges.add(&#ident);)
    });
    (quote!(#(#edges)*), inputs.into_iter().map(range).collect())
}

/// Replaces results that are the same tensor as an argument by separate tensors.
fn owns(row: &Row, derivative: &Derivative, inputs: &[&Ident]) -> TokenStream {
    let count = row.operator.schema.returns.len();
    let results = derivative.differentiable.iter().map(|index| match count {
        1 => quote!(__result),
        _ => {
            let index = syn::Index::from(*index);
            quote!(__result.#index)
        }
    });
    let owns = results
        .flat_map(|result| inputs.iter().map(move |input| quote!(__d::Results::own(&mut #result, &#input);)));
    quote!(let mut __result = __result; #(#owns)*)
}

/// Attaches the results to the node, and saves those that formulas name.
fn ties(row: &Row, derivative: &Derivative) -> TokenStream {
    let count = row.operator.schema.returns.len();
    let results: Vec<Ident> = (0..count).map(|index| format_ident!("__result_{index}")).collect();
    let take = if count == 1 {
        quote!(let __result_0 = &__result;)
    } else {
        quote!(let (#(#results),*) = &__result;)
    };
    let records = derivative.differentiable.iter().map(|index| {
        let result = &results[*index];
        match row.kind {
            Kind::InPlace(_) if row.inplace_view => {
                quote!(__d::Results::record(&**#result, &__recorded.node)?;)
            }
            Kind::InPlace(_) => quote!(__d::rebase(#result, &__recorded.node)?;),
            _ => quote!(__d::Results::record(#result, &__recorded.node)?;),
        }
    });
    let saves = saved_results(derivative).into_iter().enumerate().map(|(slot, index)| {
        let result = &results[index];
        match derivative.differentiable.iter().position(|known| *known == index) {
            Some(number) => quote!(__recorded.save(#slot, #result, #number)?;),
            None => quote!(__recorded.save_constant(#slot, #result)?;),
        }
    });
    quote!(#take #(#records)* #(#saves)*)
}

fn saved_results(derivative: &Derivative) -> BTreeSet<usize> {
    derivative.formulas.iter().flat_map(|(_, formula)| formula.results.iter().copied()).collect()
}

/// The local variable for a saved result, unpacked.
fn held_result(slot: usize) -> Ident {
    format_ident!("__held_{slot}")
}

fn keeps_results(derivative: &Derivative) -> bool {
    !saved_results(derivative).is_empty()
}

/// A saved argument, as a field of the node.
struct Field {
    argument: usize,
    metadata: bool,
    /// The differentiable inputs whose formulas name this argument.
    ranges: Vec<Range<usize>>,
}

impl Field {
    fn name(&self) -> Ident {
        format_ident!("{}_{}", if self.metadata { "metadata" } else { "value" }, self.argument)
    }

    fn ty(&self, row: &Row) -> TokenStream {
        let lifetime = Lifetime::new("'static", Span::call_site());
        let ty = row.operator.arguments[self.argument].ty.tokens(Some(&lifetime));
        let kept = if self.metadata { quote!(SaveMetadata) } else { quote!(Save) };
        quote!(<#ty as __d::#kept>::Kept)
    }

    /// Saves the argument, if some formula that names it will be used.
    fn save(&self, row: &Row) -> TokenStream {
        let (name, ident) = (self.name(), &row.operator.arguments[self.argument].ident);
        let source = match row.kind {
            Kind::InPlace(written) if written == self.argument && !self.metadata => quote!(&__before),
            Kind::InPlace(written) if written == self.argument => quote!(&*#ident),
            _ => quote!(#ident),
        };
        let save = format_ident!("{}", if self.metadata { "save_metadata" } else { "save" });
        let of = self.ranges.iter().flat_map(Range::clone).fold(0u32, |of, index| of | 1 << index);
        quote!(__edges.#save(&mut __row.#name, &__row.__ranges, #of, #source);)
    }
}

fn fields(row: &Row, derivative: &Derivative) -> Vec<Field> {
    let mut fields = Vec::new();
    for argument in 0..row.operator.arguments.len() {
        for metadata in [false, true] {
            let names = |formula: &super::formula::Formula| {
                if metadata {
                    formula.metadata.contains(&argument)
                } else {
                    formula.values.contains(&argument)
                }
            };
            let all = derivative.formulas.iter().zip(formula_ranges(derivative));
            let ranges: Vec<_> =
                all.filter(|((_, formula), _)| names(formula)).map(|(_, range)| range).collect();
            if !ranges.is_empty() {
                fields.push(Field { argument, metadata, ranges });
            }
        }
    }
    fields
}

/// The node: the struct with what it saves, and its backward function. The row of the in-place form has the same one.
fn kept(namespace: &Path, row: &Row, derivative: &Derivative, node: &Ident) -> TokenStream {
    let cfgs = &row.cfgs;
    let fields = fields(row, derivative);
    let names: Vec<_> = fields.iter().map(Field::name).collect();
    let slots = 0..saved_results(derivative).len();
    let held_results = slots.clone().map(held_result);
    let types = fields.iter().map(|field| field.ty(row));
    let (inputs, results) = (derivative.inputs().count(), saved_results(derivative).len());
    let keeps_results = keeps_results(derivative);
    let results_field = keeps_results.then(|| quote!(__results: [__d::SavedResult; #results],));
    let results = keeps_results.then(|| {
        quote! {
            fn results(&self) -> &[__d::SavedResult] {
                &self.__results
            }
        }
    });
    let formulas = (0..derivative.formulas.len()).map(|index| formula(namespace, row, derivative, index));
    let (all, one) = (local(row, "grads"), grad(row, derivative));
    let used = used(one.iter().map(|_| local(row, "grad")).chain([all.clone()]));
    let keeps_tensors =
        keeps_results || fields.iter().any(|field| !field.metadata && is_tensors(row, field.argument));
    quote! {
        #(#cfgs)*
        struct #node {
            __ranges: [__d::Range<usize>; #inputs],
            #(#names: __torch::Option<#types>,)*
            #results_field
        }

        #(#cfgs)*
        impl __d::Backward for #node {
            fn backward(
                &self,
                __call: &__d::Call<'_>,
                __grads: __torch::Vec<__torch::Option<__torch::Tensor>>,
            ) -> __torch::Result<__torch::Vec<__torch::Option<__torch::Tensor>>> {
                __d::run(self, __call, __grads)
            }

            fn keeps_tensors(&self) -> bool {
                #keeps_tensors
            }
        }

        #(#cfgs)*
        impl __d::Row for #node {
            fn formulas(
                &self,
                __call: &__d::Call<'_>,
                #all: &[__torch::Option<__torch::Tensor>],
                __gradients: &mut [__torch::Option<__torch::Tensor>],
            ) -> __torch::Result<()> {
                // Also for formulas that do not run: a write to a saved tensor is reported in any case.
                #(let #names = __d::Keep::hold(&self.#names, __call.node())?;)*
                #(let #held_results = self.__results[#slots].unpack(__call.node())?;)*
                #one
                #used // formulas use either `grad` or `grads`
                #(#formulas)*
                __torch::Result::Ok(())
            }

            #results
        }
    }
}

fn is_tensors(row: &Row, argument: usize) -> bool {
    super::row::is_tensors(&row.operator.schema.arguments[argument].ty)
}

/// For each formula, the range of inputs that are its targets.
fn formula_ranges(derivative: &Derivative) -> Vec<Range<usize>> {
    let ends = derivative.formulas.iter().scan(0, |end, (arguments, _)| {
        *end += arguments.len();
        Some(*end - arguments.len()..*end)
    });
    ends.collect()
}

/// A variable for formulas, visible to the user's tokens.
fn local(row: &Row, name: &str) -> Ident {
    Ident::new(name, local_span(&row.operator))
}

/// A use of variables that formulas may not need.
fn used(variables: impl IntoIterator<Item = Ident>) -> TokenStream {
    variables.into_iter().map(|variable| quote!(let _ = &#variable;)).collect()
}

/// Defines `grad` for formulas, if a single result has a gradient; if `grad` is undefined, the node does nothing.
fn grad(row: &Row, derivative: &Derivative) -> Option<TokenStream> {
    let (one, all) = (local(row, "grad"), local(row, "grads"));
    let is_tensor = |index: usize| row.operator.schema.returns[index].ty == Type::Tensor;
    match derivative.differentiable[..] {
        [index] if is_tensor(index) => Some(quote! {
            let __torch::Option::Some(#one) = __d::only(#all) else {
                return __torch::Result::Ok(());
            };
        }),
        _ => None,
    }
}

/// One formula, run only if one of its gradients is wanted.
fn formula(namespace: &Path, row: &Row, derivative: &Derivative, index: usize) -> TokenStream {
    let formula = &derivative.formulas[index].1;
    let positions: Vec<usize> = formula_ranges(derivative).swap_remove(index).collect();
    let hold = |argument: &usize, metadata: bool| {
        let field = Field { argument: *argument, metadata, ranges: Vec::new() }.name();
        let ident = &row.operator.arguments[*argument].ident;
        quote! {
            let __torch::Option::Some(#field) = &#field else {
                return __torch::Result::Err(__d::unsaved(__call.node()));
            };
            let #ident = __d::Lend::lend(#field);
        }
    };
    let values = formula.values.iter().map(|argument| hold(argument, false));
    let metadata = formula.metadata.iter().map(|argument| hold(argument, true));
    let saved: Vec<usize> = saved_results(derivative).into_iter().collect();
    let arguments = formula.values.iter().chain(&formula.metadata);
    let arguments = arguments.map(|argument| row.operator.arguments[*argument].ident.clone());
    let named = formula.results.iter().map(|result| local(row, &result_name(&row.operator, *result)));
    let named = used(arguments.chain(named));
    let results = formula.results.iter().map(|result| {
        let held = saved.iter().position(|saved| saved == result).map(held_result);
        let name = local(row, &result_name(&row.operator, *result));
        quote!(let #name = &#held;)
    });
    let (tokens, mask) = (&formula.tokens, local(row, "mask"));
    let put = if formula.diverges() {
        quote!({ #tokens }) // a gradient of the type `!` would have no `put`
    } else if let [position] = positions[..] {
        let argument = &row.operator.schema.arguments[derivative.formulas[index].0[0]];
        let places = quote!(&self.__ranges[#position], __gradients);
        let name = &argument.name;
        match argument.ty {
            Type::List(_) => {
                let operator = &row.operator.ident;
                quote!(__d::IntoGradients::put(#tokens, #places, [#namespace::#operator::NAME, #name])?;)
            }
            _ => quote!(__d::IntoGradient::put(#tokens, #places)?;),
        }
    } else {
        let count = positions.len();
        let ranges = quote!([#(&self.__ranges[#positions]),*]);
        quote!(__d::IntoEach::<#count>::put(#tokens, __mask, #ranges, __gradients)?;)
    };
    let any = 0..positions.len();
    let used = used([mask.clone()]);
    quote! {
        let __mask = [#(__d::wants(__call, &self.__ranges[#positions])),*];
        if false #(|| __mask[#any])* {
            let #mask = __mask;
            #used // an argument may have the name
            #(#values)*
            #(#metadata)*
            #(#results)*
            #named // a formula may give these names to other variables
            #put
        }
    }
}
