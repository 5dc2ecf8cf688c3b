//! Expands an archive to a type with `load` and `forward`.

use std::collections::BTreeMap;
use std::path::Path;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::ext::IdentExt;
use syn::parse::Parser;

use crate::input::{Input, Place};
use crate::model::{Model, Operator, Type};

/// The whole expansion. If the archive has a mistake, the type is generated nevertheless, so that there is no second
/// error.
pub(crate) fn expand(tokens: TokenStream) -> TokenStream {
    let input = match syn::parse2::<Input>(tokens) {
        Ok(input) => input,
        Err(error) => return error.to_compile_error(),
    };
    match read(&input).and_then(|model| program(&input, &model)) {
        Ok(tokens) => tokens,
        Err(error) => {
            let (error, ident) = (error.to_compile_error(), &input.ident);
            let (attributes, visibility) = (&input.attributes, &input.visibility);
            quote!(#(#attributes)* #visibility struct #ident; #error)
        }
    }
}

fn read(input: &Input) -> syn::Result<Model> {
    let file = input.file.value();
    let bytes = std::fs::read(input.path()).map_err(|error| {
        input.error(format_args!("cannot read {file:?}, looked for from the folder of Cargo.toml: {error}"))
    })?;
    Model::read(&bytes).map_err(|error| input.error(format_args!("{file}: {error}")))
}

pub(crate) fn program(input: &Input, model: &Model) -> syn::Result<TokenStream> {
    let Input { export_crate, attributes, visibility, ident, .. } = input;
    let private = quote!(#export_crate::__private);
    let runtime = quote!(#private::torch_library);
    let file = file(input);
    let summary = format!(
        " The model in `{}`, which PyTorch {} exported. All values of this type are the same program, with the \
         same weights.",
        input.file.value(),
        model.torch_version
    );
    let links = links(input, model, &runtime)?;
    let names = model.inputs.iter().map(|of| identifier(&of.name, input));
    let forward = forward(model, &names.collect::<syn::Result<Vec<_>>>()?, &private, &runtime, visibility);
    Ok(quote! {
        #(#attributes)*
        #[doc = ""]
        #[doc = #summary]
        #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
        #visibility struct #ident {
            program: &'static #export_crate::Program,
        }

        impl #ident {
            /// The model, ready to run. The first call creates it; its weights are in the memory of the program.
            ///
            /// # Errors
            /// Operators that are looked up at run time are not registered. Later calls return the error of the first.
            #visibility fn load() -> #runtime::Result<Self> {
                static ARCHIVE: #private::Embedded<{ #file.len() }> = #private::Embedded::new(*#file);
                ARCHIVE.program(|| { #(#links)* }).map(|program| Self { program })
            }

            /// The contents of the archive: inputs, outputs, weights, profiles.
            #visibility fn program(&self) -> &'static #export_crate::Program {
                self.program
            }

            #forward
        }
    })
}

/// `include_bytes!` of the archive, so that Cargo rebuilds after a change.
fn file(input: &Input) -> TokenStream {
    let file = &input.file;
    if Path::new(&file.value()).is_absolute() {
        quote!(::core::include_bytes!(#file))
    } else {
        quote!(::core::include_bytes!(::core::concat!(::core::env!("CARGO_MANIFEST_DIR"), "/", #file)))
    }
}

/// One `link!` for each namespace.
fn links(input: &Input, model: &Model, runtime: &TokenStream) -> syn::Result<Vec<TokenStream>> {
    let mut namespaces: BTreeMap<&str, Vec<&Operator>> = BTreeMap::new();
    for operator in &model.operators {
        namespaces.entry(&operator.namespace).or_default().push(operator);
    }
    let mut links = Vec::new();
    for (namespace, operators) in namespaces {
        identifier(namespace, input)?;
        let Some(place) = input.place(namespace) else {
            let message = format!(
                "the model calls operators of `{namespace}`, `{}` among them: say which module declares them, \
                 `namespaces = {{ {namespace}: my_crate::{namespace} }}`, or `{namespace}: _` for operators that \
                 are defined when the program runs",
                operators[0].name
            );
            return Err(input.error(message));
        };
        let Place::Module(path) = place else { continue };
        // Rustc points at the path alone if there is no such module: from its start to this alias.
        let end = path.segments.last().map_or_else(|| input.span(), |segment| segment.ident.span());
        let module = format_ident!("__{namespace}", span = end);
        let names = operators.iter().map(|operator| flat_name(operator, input));
        let names = names.collect::<syn::Result<Vec<_>>>()?;
        links.push(quote! {{
            use #path as #module;
            #runtime::link!(#(#module::#names),*);
        }});
    }
    Ok(links)
}

fn forward(
    model: &Model,
    names: &[Ident],
    private: &TokenStream,
    runtime: &TokenStream,
    visibility: &syn::Visibility,
) -> TokenStream {
    let types = model.inputs.iter().map(|input| match input.ty {
        Type::Tensor => quote!(&#runtime::Tensor),
        other => number(other),
    });
    let values = model.inputs.iter().zip(names).map(|(input, name)| match input.ty {
        Type::Tensor => quote!(#runtime::Value::TensorRef(#name)),
        Type::Int => quote!(#runtime::Value::Int(#name)),
        Type::Float => quote!(#runtime::Value::Float(#name)),
        Type::Bool => quote!(#runtime::Value::Bool(#name)),
    });
    let returned: Vec<_> = model
        .outputs
        .iter()
        .map(|output| match output.ty {
            Type::Tensor => quote!(#runtime::Tensor),
            other => number(other),
        })
        .collect();
    let places = model.outputs.iter().map(|output| output.place);
    let taken = quote!(#(#private::take::<#returned>(&mut results, #places)?),*);
    let (returned, taken) = match returned.as_slice() {
        [one] => (quote!(#one), taken),
        several => (quote!((#(#several),*)), quote!((#taken))),
    };
    let run = match model.outputs.is_empty() {
        true => quote!(self.program.run_values(inputs)?;),
        false => quote!(let mut results = self.program.run_values(inputs)?;),
    };
    let count = names.len();
    let documentation = documentation(model, names);
    let many = (count > 6)
        .then(|| quote!(#[expect(clippy::too_many_arguments, reason = "as many as the model has")]));
    quote! {
        #(#[doc = #documentation])*
        #many
        #visibility fn forward(&self, #(#names: #types),*) -> #runtime::Result<#returned> {
            let inputs: [#runtime::Value<'_>; #count] = [#(#values),*];
            #run
            ::core::result::Result::Ok(#taken)
        }
    }
}

/// Documentation of the inputs and outputs.
fn documentation(model: &Model, names: &[Ident]) -> Vec<String> {
    let mut lines = vec![" Runs the model.".to_owned(), String::new()];
    let inputs = names.iter().zip(&model.inputs);
    lines.extend(inputs.map(|(name, input)| format!(" - `{name}`: `{}`", input.text)));
    lines.push(String::new());
    match model.outputs.as_slice() {
        [] => lines.push(" Returns nothing.".to_owned()),
        [one] => lines.push(format!(" Returns `{}`.", one.text)),
        several => {
            lines.push(" Returns, in this order:".to_owned());
            lines.extend(several.iter().map(|output| format!(" - `{}`", output.text)));
        }
    }
    let errors =
        "\n # Errors\n Inputs of other types or sizes than these, and whatever the operators refuse.";
    lines.extend(errors.lines().map(str::to_owned));
    lines
}

fn number(ty: Type) -> TokenStream {
    match ty {
        Type::Int => quote!(::core::primitive::i64),
        Type::Float => quote!(::core::primitive::f64),
        Type::Bool | Type::Tensor => quote!(::core::primitive::bool),
    }
}

/// The Rust name of an operator: `add_Tensor`.
fn flat_name(operator: &Operator, input: &Input) -> syn::Result<Ident> {
    let Operator { name, overload, .. } = operator;
    let flat = if overload.is_empty() { name.clone() } else { format!("{name}_{overload}") };
    let mut ident = identifier(&flat, input)?;
    ident.set_span(input.span());
    Ok(ident)
}

/// An identifier, raw if the name is a keyword.
///
/// # Errors
/// The name is neither: the archive was not written by PyTorch, whose names are those of Python.
fn identifier(name: &str, input: &Input) -> syn::Result<Ident> {
    let is_word = |found: Ident| found == name;
    match name {
        "self" | "Self" | "super" | "crate" | "_" => Ok(format_ident!("{name}_")),
        _ if syn::parse_str(name).is_ok_and(is_word) => Ok(Ident::new(name, Span::call_site())),
        _ if Ident::parse_any.parse_str(name).is_ok_and(is_word) => {
            Ok(Ident::new_raw(name, Span::call_site()))
        }
        _ => {
            let file = input.file.value();
            Err(input.error(format_args!("{file}: the name {name:?} is not an identifier in Rust")))
        }
    }
}
