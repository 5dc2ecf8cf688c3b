//! Overloads by their common name: `add(&x, &y)` and `add(&x, 2.0)`, resolved by the types of the arguments.

use std::collections::HashSet;

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};

use super::receiver;
use super::types::{Lifetimes, argument_type, output};
use crate::library::model::{Argument, Library, Operator, flat_name, is_own_method};
use crate::lints;
use crate::rust_type::RustType;

/// Operators of the same name, with as many required arguments, of different types.
pub(crate) struct Overloads<'a> {
    /// The name without the overload.
    pub(super) ident: Ident,
    pub(crate) operators: Vec<&'a Operator>,
}

/// All sets of a library that asks for them. An operator without an overload keeps the common name for itself.
pub(crate) fn sets(library: &Library) -> Vec<Overloads<'_>> {
    let mut sets: Vec<Overloads<'_>> = Vec::new();
    let writes_out = |operator: &Operator| operator.schema.arguments.iter().any(|argument| argument.is_out());
    let operators = library.operators.iter().filter(|_| library.overloads.is_some());
    for operator in operators.filter(|one| !one.schema.name.overload.is_empty() && !one.is_conditional()) {
        if !operator.is_function || writes_out(operator) {
            continue;
        }
        let ident = flat_name(&operator.schema.name.name, "", operator.place.first);
        match sets.iter_mut().find(|set| set.ident == ident) {
            Some(set) if required(operator).count() != required(set.operators[0]).count() => {}
            Some(set) => set.operators.push(operator),
            None => sets.push(Overloads { ident, operators: vec![operator] }),
        }
    }
    let boxed = || library.untyped.iter().map(|operator| &operator.ident);
    let names = || library.operators.iter().map(|operator| &operator.ident).chain(boxed());
    sets.retain(|set| names().all(|name| *name != set.ident));
    sets
}

fn required(operator: &Operator) -> impl Iterator<Item = &Argument> {
    operator.arguments.iter().filter(|argument| argument.default.is_none())
}

impl Overloads<'_> {
    /// A function of the common name, and a module with the trait that resolves the overload.
    pub(super) fn tokens(&self) -> TokenStream {
        let Overloads { ident, operators } = self;
        let parameters = self.parameters();
        let types: Vec<_> = (0..parameters.len()).map(|at| format_ident!("A{at}")).collect();
        let schemas = operators
            .iter()
            .map(|operator| format!("- `{}`, [`{1}`](mod@{1})", operator.schema, operator.ident));
        let about = format!("The overload of `{ident}` that the types of the arguments select.");
        // The span is for the note that shows the bound. With the result in the bound, there is one error, not two.
        let bound = quote_spanned!(operators[0].place.first=> (#(#types,)*): #ident::Overload<Output = O>);
        let module = self.module();
        let names = lints::names(parameters.iter().copied().chain([ident]));
        quote! {
            #[doc = #about]
            #[doc = ""]
            #(#[doc = #schemas])*
            #[inline]
            #names
            #[allow(clippy::all, clippy::pedantic)]
            pub fn #ident<#(#types,)* O>(#(#parameters: #types),*) -> __torch::Result<O>
            where
                #bound
            {
                self::#ident::Overload::call((#(#parameters,)*))
            }

            #module
        }
    }

    fn module(&self) -> TokenStream {
        let Overloads { ident, operators } = self;
        let notes = operators.iter().map(|operator| {
            let text = format!("`{}` is `{}`", operator.ident, operator.schema)
                .replace('{', "{{")
                .replace('}', "}}");
            quote!(#[diagnostic::on_unimplemented(note = #text)])
        });
        let message = format!("no overload of `{ident}` takes `{{Self}}`");
        let implementations = implementations(operators);
        let names = lints::names(std::iter::once(ident));
        quote! {
            #[doc = "Selects an overload by the types of its arguments."]
            #names
            #[allow(clippy::module_inception)]
            pub mod #ident {
                #[doc(hidden)]
                pub use super::__torch;
                #[doc(hidden)]
                pub use super::__torch::{
                    arity::{__takes_of_overloads as takes, TheCommonNameOfOverloads as OPERATOR},
                    of_operator as one_of, serving as serves,
                };

                /// The required arguments of an overload.
                #[diagnostic::on_unimplemented(message = #message, label = "no overload takes these arguments")]
                #(#notes)*
                pub trait Overload {
                    /// The output of the call.
                    type Output;
                    /// Calls the overload, with defaults for its other arguments.
                    #[allow(clippy::missing_errors_doc)]
                    fn call(self) -> __torch::Result<Self::Output>;
                }

                #(#implementations)*
            }
        }
    }

    /// The names of the required arguments, taken from the first operator.
    fn parameters(&self) -> Vec<&Ident> {
        required(self.operators[0]).map(|argument| &argument.ident).collect()
    }

    /// The method of the common name, and its declaration, if all overloads that are methods read their tensor, or all
    /// write to it.
    pub(super) fn method(&self) -> Option<(TokenStream, TokenStream)> {
        let Overloads { ident, operators } = self;
        if is_own_method(&ident.to_string()) {
            return None; // a call would not reach it
        }
        let receivers = operators.iter().filter_map(|operator| {
            let this = &operator.arguments[operator.receiver?];
            let is_first = required(operator).next().is_some_and(|first| first.ident == this.ident);
            is_first.then(|| receiver::is_mutable(this))
        });
        let receivers: Vec<bool> = receivers.collect();
        let mutable = *receivers.first()?;
        if receivers.contains(&!mutable) {
            return None;
        }
        let mutable = mutable.then(|| quote!(mut));
        let parameters = &self.parameters()[1..];
        let types: Vec<_> = (0..parameters.len()).map(|at| format_ident!("A{at}")).collect();
        let (name, all) = (receiver::name(ident), quote!((&'w #mutable __torch::Tensor, #(#types,)*)));
        let bound = quote_spanned!(operators[0].place.first=> #all: #ident::Overload<Output = O>);
        let head = quote! {
            fn #name<'w, #(#types,)* O>(&'w #mutable self #(, #parameters: #types)*) -> __torch::Result<O>
            where
                #bound
        };
        let about =
            format!("The overload that the types of the arguments select, see [`{ident}`](fn@{ident}).");
        Some((
            quote!(#[doc = #about] #head;),
            quote!(#[inline] #head { self::#ident::Overload::call((self, #(#parameters,)*)) }),
        ))
    }
}

/// An implementation of the trait for each way to pass the required arguments of an operator. Argument types that an
/// overload takes without conversion have priority over conversions, and earlier overloads over later ones.
fn implementations(operators: &[&Operator]) -> Vec<TokenStream> {
    let all = || operators.iter().flat_map(|operator| ways(operator).into_iter().map(|way| (*operator, way)));
    let (exact, converted): (Vec<_>, Vec<_>) =
        all().partition(|(_, way)| !way.iter().any(|given| given.is_converted));
    let mut known = HashSet::new();
    let new = exact.into_iter().chain(converted).filter(|(_, way)| {
        let types = way.iter().map(|given| given.ty.to_string().replace("'a ", "")).collect::<Vec<_>>();
        known.insert(types.join(", "))
    });
    new.map(|(operator, way)| implementation(operator, &way)).collect()
}

/// The most implementations for one operator: rustc compares each with all others.
const MOST_WAYS: usize = 5000;

/// Whether the required arguments can be passed in too many ways to have an implementation for each.
pub(crate) fn has_too_many_ways(operator: &Operator) -> bool {
    let ways =
        required(operator).try_fold(1usize, |ways, argument| ways.checked_mul(given(argument, 0).len()));
    ways.is_none_or(|ways| ways > MOST_WAYS)
}

/// Every combination of the types that each required argument can be passed as.
fn ways(operator: &Operator) -> Vec<Vec<Given>> {
    if has_too_many_ways(operator) {
        return Vec::new(); // an error says so
    }
    required(operator).enumerate().fold(vec![Vec::new()], |ways, (at, argument)| {
        let given = given(argument, at);
        let longer = |way: &Vec<Given>| {
            given.iter().map(|one| [&way[..], std::slice::from_ref(one)].concat()).collect::<Vec<_>>()
        };
        ways.iter().flat_map(longer).collect()
    })
}

fn implementation(operator: &Operator, way: &[Given]) -> TokenStream {
    let Operator { ident, lifetimes, .. } = operator;
    let output = output(operator, Lifetimes::Own);
    let (types, counts) = (way.iter().map(|given| &given.ty), way.iter().flat_map(|given| &given.count));
    let values = way.iter().enumerate().map(|(at, given)| {
        let at = syn::Index::from(at);
        if given.is_converted { quote!(__torch::Into::into(self.#at)) } else { quote!(self.#at) }
    });
    quote! {
        impl<#(#lifetimes,)* #(const #counts: usize),*> Overload for (#(#types,)*) {
            type Output = #output;

            #[inline]
            fn call(self) -> __torch::Result<#output> {
                super::#ident(#(#values),*)
            }
        }
    }
}

/// Numbers that convert to a `Scalar`: one integer type and one float type, so that the type of a literal, and with it
/// the overload and the type of the result, can be inferred.
const NUMBERS: [&str; 4] = ["i64", "f64", "bool", "Complex64"];

/// A type that an argument can be passed as.
#[derive(Clone)]
struct Given {
    ty: TokenStream,
    /// The const parameter for the length of an array.
    count: Option<Ident>,
    is_converted: bool,
}

/// The types that an argument can be passed as: for a `Scalar` also numbers, for a list also an array.
fn given(argument: &Argument, at: usize) -> Vec<Given> {
    let as_it_is = Given { ty: argument_type(argument, Lifetimes::Own), count: None, is_converted: false };
    let mut all = vec![as_it_is];
    match &argument.ty {
        ty if ty.is_scalar() => all.extend(NUMBERS.map(|number| {
            let ty = RustType::Plain(number).tokens(None);
            Given { ty, count: None, is_converted: true }
        })),
        RustType::Reference { mutable: false, target } => {
            if let RustType::Slice(element) = &**target {
                let (element, count) = (element.tokens(None), format_ident!("N{at}"));
                all.push(Given { ty: quote!(&[#element; #count]), count: Some(count), is_converted: false });
            }
        }
        _ => {}
    }
    all
}
