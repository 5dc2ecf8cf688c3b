//! From a row to Rust: what the node keeps, what it does, and the kernels that make it.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{Lifetime, Path};

use super::formula::result_name;
use super::row::{Derivative, Kind, Row};
use crate::kernel::{Target, linked, marker};
use crate::library::{function_head, output_type};

/// All rows of a block, with one record for all their kernels.
pub(super) fn rows(root: &TokenStream, namespace: &Path, rows: &[Row]) -> TokenStream {
    let names: Vec<Ident> = (0..rows.len()).map(|index| format_ident!("ROW_{index}")).collect();
    let items = rows.iter().zip(&names).map(|(row, name)| self::row(namespace, row, name));
    let records = rows.iter().zip(&names).flat_map(|(row, name)| {
        let (cfgs, keys) = (&row.cfgs, keys(row));
        (0..keys.len()).map(move |index| quote!(#(#cfgs)* #name[#index]))
    });
    let source = rows.first().map(|row| {
        let module = row.operator.source.module();
        quote!(static SOURCE: __torch::SourceModule = #module;)
    });
    let markers = rows.iter().map(|row| markers(namespace, row));
    let linked = rows.iter().map(|row| linked_row(namespace, row));
    quote! {
        #(#markers)*
        #[allow(non_snake_case)]
        const _: () = {
            use #root::__private as __torch;
            use __torch::derivative as __d;
            #source
            #(#items)*
            static RECORDS: &[__torch::KernelRecord] = &[#(#records),*];
            __torch::submit_kernels! { __torch::Record::Kernels(RECORDS); #(#linked)* }
        };
    }
}

/// What `submit_kernels!` wants to know of a row.
fn linked_row(namespace: &Path, row: &Row) -> TokenStream {
    let ident = &row.operator.ident;
    let target = Target { namespace: namespace.clone(), ident: ident.clone() };
    let cfgs: Vec<_> = row.cfgs.iter().collect();
    let keys = keys(row).iter().map(|key| format_ident!("{key}"));
    linked(keys, false, ident, (&target, &quote!(#namespace::#ident)), &cfgs)
}

/// What a second kernel for the same place would have as well, so that rustc refuses it.
fn markers(namespace: &Path, row: &Row) -> TokenStream {
    let target = Target { namespace: namespace.clone(), ident: row.operator.ident.clone() };
    let cfgs: Vec<_> = row.cfgs.iter().collect();
    keys(row).iter().map(|key| marker(key, &target, &cfgs)).collect()
}

/// Where a row has kernels.
fn keys(row: &Row) -> &'static [&'static str] {
    match row.kind {
        Kind::Functional => &["Autograd"],
        Kind::View(_) | Kind::InPlace(_) => &["Autograd", "ADInplaceOrView"],
    }
}

/// One row: the records of its kernels, in a scope of its own.
fn row(namespace: &Path, row: &Row, name: &Ident) -> TokenStream {
    let (cfgs, ident) = (&row.cfgs, &row.operator.ident);
    let autograd = match &row.derivative {
        Some(derivative) => differentiable(row, derivative),
        None => below(row), // no result has a gradient: the call goes on
    };
    let bodies = std::iter::once(autograd).chain(bookkeeping(row));
    let records = keys(row).iter().zip(bodies).map(|(key, body)| record(row, key, &body));
    let kept = row.derivative.as_ref().map(|derivative| kept(row, derivative));
    let count = keys(row).len();
    let comparison = comparison(row);
    quote_spanned! {ident.span()=>
        #(#cfgs)*
        const #name: [__torch::KernelRecord; #count] = {
            #[allow(clippy::unsafe_removed_from_name)] // an operator may be named so
            use #namespace::{#ident as __operator};
            #comparison
            #kept
            [#(#records),*]
        };
    }
}

/// Compares the row with the declaration, which rustc reads alone: types say nothing of names, aliases and defaults.
fn comparison(row: &Row) -> TokenStream {
    let text = row.operator.schema.to_string();
    let name = format_ident!("schema_of_{}", row.operator.ident.unraw());
    row.operator.place.lend(quote! {
        #[allow(dead_code, non_upper_case_globals)] // rustc says the name
        const #name: () = __d::compare(#text, __operator::SCHEMA);
    })
}

/// A kernel for the operator, in the impl that rustc compares with the operator's trait, and its record.
fn record(row: &Row, key: &str, body: &TokenStream) -> TokenStream {
    let (generics, parameters) = function_head(&row.operator);
    let (ident, key, output) = (&row.operator.ident, format_ident!("{key}"), output_type(&row.operator));
    let (function, place) = (ident.unraw().to_string(), row.operator.source.place(&quote!(SOURCE)));
    quote!({
        struct __Kernel;
        impl __operator::KernelWithKeys for __Kernel {
            fn #ident #generics(__keys: __torch::DispatchKeySet, #(#parameters),*) -> __torch::Result<#output> {
                #body
            }
        }
        __torch::KernelRecord {
            operator: &__operator::OPERATOR,
            key: __torch::DispatchKey::#key,
            kernel: __operator::typed_with_keys::<__Kernel>(),
            function: #function,
            overrides: false,
            place: #place,
        }
    })
}

fn arguments(row: &Row) -> Vec<&Ident> {
    row.operator.arguments.iter().map(|argument| &argument.ident).collect()
}

/// The call below autograd: an operator with views or writes goes through their bookkeeping.
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

/// The bookkeeping of views and versions, for operators that have any.
fn bookkeeping(row: &Row) -> Option<TokenStream> {
    let arguments = arguments(row);
    let call = quote!({
        let __guard = __d::AutoDispatchBelowADInplaceOrView::new();
        __operator::redispatch(__keys & __d::BELOW_AD_INPLACE_OR_VIEW, #(#arguments),*)?
    });
    Some(match row.kind {
        Kind::Functional => return None,
        Kind::InPlace(_) => quote! {
            let __result = #call;
            __result.bump_version();
            __torch::Result::Ok(__result)
        },
        Kind::View(source) => {
            let source = arguments[source];
            quote! {
                let __result = #call;
                __d::Results::track(&__result, #source);
                __torch::Result::Ok(__result)
            }
        }
    })
}

/// The kernel that records.
fn differentiable(row: &Row, derivative: &Derivative) -> TokenStream {
    let name = row.name.to_string();
    let below = below(row);
    let inputs: Vec<&Ident> = derivative.inputs().map(|index| &row.operator.arguments[index].ident).collect();
    let (check, copy, wanted) = match row.kind {
        Kind::InPlace(written) => {
            let this = &row.operator.arguments[written].ident;
            let needs_copy = derivative.formulas.iter().any(|(_, formula)| formula.values.contains(&written));
            let full = row.operator.schema.name.to_string();
            (
                quote!(__d::check_write(::core::concat!(#full), #this)?;),
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
    let always = inputs.len() == 1; // whoever runs the node has a use for it
    let fields = fields(row, derivative).into_iter().map(|field| field.save(row, always));
    let ties = ties(row, derivative);
    let owns = matches!(row.kind, Kind::Functional).then(|| owns(row, derivative, &inputs));
    let condition = row.condition.as_ref().map(|condition| quote!((#condition) &&));
    quote! {
        #(#refused)*
        if !(#condition #wanted __d::is_wanted(|| false #(|| __torch::Argument::requires_grad(&#inputs))*)) {
            return #below;
        }
        #check
        let mut __edges = __d::Edges::default();
        let __ranges = [#(__edges.add(&#inputs)?),*];
        #copy
        let __kept = __d::Arc::new(Kept { #(#fields,)* ..Kept::of(__ranges.clone()) });
        let __result = #below?;
        #owns
        let __node = __edges.node(#name, __kept.clone());
        #ties
        __torch::Result::Ok(__result)
    }
}

/// Makes results that are arguments tensors of their own.
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

/// Ties the results to the node, and saves those that formulas name.
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
            Kind::InPlace(_) if row.inplace_view => quote!(__d::Results::record(&**#result, &__node)?;),
            Kind::InPlace(_) => quote!(__d::rebase(#result, &__node)?;),
            _ => quote!(__d::Results::record(#result, &__node)?;),
        }
    });
    let saves = saved_results(derivative).into_iter().map(|index| {
        let (result, field) = (&results[index], result_field(index));
        match derivative.differentiable.iter().position(|known| *known == index) {
            Some(number) => quote!(__kept.#field.save(#result, #number)?;),
            None => quote!(__kept.#field.save_constant(#result)?;),
        }
    });
    quote!(#take #(#records)* #(#saves)*)
}

fn saved_results(derivative: &Derivative) -> std::collections::BTreeSet<usize> {
    derivative.formulas.iter().flat_map(|(_, formula)| formula.results.iter().copied()).collect()
}

fn result_field(index: usize) -> Ident {
    format_ident!("result_{index}")
}

/// An argument as the node keeps it.
struct Field {
    argument: usize,
    metadata: bool,
    /// The formulas that name it.
    formulas: Vec<usize>,
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

    /// Its value in the struct: there if a formula that names it is of use.
    fn save(&self, row: &Row, always: bool) -> TokenStream {
        let (name, ident) = (self.name(), &row.operator.arguments[self.argument].ident);
        let used = self.formulas.iter();
        let source = match row.kind {
            Kind::InPlace(written) if written == self.argument && !self.metadata => quote!(&__before),
            Kind::InPlace(written) if written == self.argument => quote!(&*#ident),
            _ => quote!(#ident),
        };
        let save = if self.metadata {
            quote!(__d::SaveMetadata::save_metadata(#source))
        } else {
            quote!(__d::Save::save(#source)?)
        };
        if always {
            return quote!(#name: __torch::Option::Some(#save));
        }
        quote!(#name: if false #(|| Kept::wants(&__edges, &__ranges, #used))* {
            __torch::Option::Some(#save)
        } else {
            __torch::Option::None
        })
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
            let all = derivative.formulas.iter().enumerate();
            let formulas: Vec<usize> =
                all.filter(|(_, (_, formula))| names(formula)).map(|(index, _)| index).collect();
            if !formulas.is_empty() {
                fields.push(Field { argument, metadata, formulas });
            }
        }
    }
    fields
}

/// What the node keeps, and what it does with it.
fn kept(row: &Row, derivative: &Derivative) -> TokenStream {
    let fields = fields(row, derivative);
    let names: Vec<_> = fields.iter().map(Field::name).collect();
    let types = fields.iter().map(|field| field.ty(row));
    let results: Vec<_> = saved_results(derivative).into_iter().map(result_field).collect();
    let inputs = derivative.inputs().count();
    let of_formulas = formula_ranges(derivative)
        .into_iter()
        .enumerate()
        .map(|(index, ranges)| quote!(#index => __ranges[#ranges].iter().any(|range| __edges.wants(range))));
    let formulas = (0..derivative.formulas.len()).map(|index| formula(row, derivative, index));
    let grads = grads(row, derivative);
    let keeps_tensors =
        fields.iter().any(|field| !field.metadata && is_tensors(row, field.argument)) || !results.is_empty();
    quote! {
        struct Kept {
            __ranges: [__d::Range<usize>; #inputs],
            #(#names: __torch::Option<#types>,)*
            #(#results: __d::SavedResult,)*
        }

        impl Kept {
            fn of(__ranges: [__d::Range<usize>; #inputs]) -> Self {
                Kept {
                    __ranges,
                    #(#names: __torch::Option::None,)*
                    #(#results: __d::SavedResult::default(),)*
                }
            }

            fn wants(__edges: &__d::Edges, __ranges: &[__d::Range<usize>; #inputs], formula: usize) -> bool {
                match formula {
                    #(#of_formulas,)*
                    _ => false,
                }
            }
        }

        impl __d::Backward for Kept {
            fn backward(
                &self,
                __call: &__d::Call<'_>,
                __grads: __torch::Vec<__torch::Option<__torch::Tensor>>,
            ) -> __torch::Result<__torch::Vec<__torch::Option<__torch::Tensor>>> {
                #(let #names = __d::Keep::hold(&self.#names, __call.node())?;)*
                #(let #results = self.#results.unpack(__call.node())?;)*
                let mut __gradients = __d::no_gradients(__call);
                #grads
                #(#formulas)*
                __torch::Result::Ok(__gradients)
            }

            fn keeps_tensors(&self) -> bool {
                #keeps_tensors
            }
        }
    }
}

fn is_tensors(row: &Row, argument: usize) -> bool {
    super::row::is_tensors(&row.operator.schema.arguments[argument].ty)
}

/// For each formula, which of the inputs' ranges are its own.
fn formula_ranges(derivative: &Derivative) -> Vec<TokenStream> {
    let mut next = 0;
    derivative
        .formulas
        .iter()
        .map(|(arguments, _)| {
            let start = next;
            next += arguments.len();
            quote!(#start..#next)
        })
        .collect()
}

/// A name for formulas: a local variable that the user's tokens see.
fn local(row: &Row, name: &str) -> Ident {
    Ident::new(name, row.operator.place.first)
}

/// What formulas know of the gradients that came in: `grad` where one result has one, `grads` always.
fn grads(row: &Row, derivative: &Derivative) -> TokenStream {
    let (one, all) = (local(row, "grad"), local(row, "grads"));
    let is_tensor =
        |index: usize| row.operator.schema.returns[index].ty == torch_library_schema::Type::Tensor;
    let grad = match derivative.differentiable[..] {
        [index] if is_tensor(index) => quote! {
            #[allow(unused_variables)] // as below
            let __torch::Option::Some(__torch::Option::Some(#one)) = __grads.first() else {
                return __torch::Result::Ok(__gradients);
            };
        },
        _ => quote!(),
    };
    quote! {
        #[allow(unused_variables)] // formulas name the one gradient, or all
        let #all: &[__torch::Option<__torch::Tensor>] = &__grads;
        #grad
    }
}

/// One formula, if somebody wants what it gives.
fn formula(row: &Row, derivative: &Derivative, index: usize) -> TokenStream {
    let (arguments, formula) = &derivative.formulas[index];
    let first = derivative.formulas[..index].iter().map(|(arguments, _)| arguments.len()).sum::<usize>();
    let positions: Vec<usize> = (first..first + arguments.len()).collect();
    let hold = |argument: &usize, metadata: bool| {
        let field = Field { argument: *argument, metadata, formulas: Vec::new() }.name();
        let ident = &row.operator.arguments[*argument].ident;
        quote!(let #ident = __d::Lend::lend(__d::held(&#field, __call.node())?);)
    };
    let values = formula.values.iter().map(|argument| hold(argument, false));
    let metadata = formula.metadata.iter().map(|argument| hold(argument, true));
    let results = formula.results.iter().map(|result| {
        let (field, name) = (result_field(*result), local(row, &result_name(&row.operator, *result)));
        quote!(let #name = &#field;)
    });
    let (tokens, mask) = (&formula.tokens, local(row, "mask"));
    let put = if let [position] = positions[..] {
        quote!(__d::IntoGradients::put(#tokens, &mut __gradients[self.__ranges[#position].clone()])?;)
    } else {
        quote!(__d::put_each(#tokens, #mask, [#(&self.__ranges[#positions]),*], &mut __gradients)?;)
    };
    quote! {
        let #mask = [#(__d::wants(__call, &self.__ranges[#positions])),*];
        if #mask.contains(&true) {
            #(#values)*
            #(#metadata)*
            #(#results)*
            #put
        }
    }
}
