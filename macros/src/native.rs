//! `native_functions!`: operators declared by a file in the format of PyTorch's `native_functions.yaml`.

mod arguments;
mod entry;
mod expand;
mod fields;
mod file_rules;
mod func;
mod generate;
mod group;
mod keys;
mod name;
mod schema_rules;
mod spelling;
#[cfg(test)]
mod tests;
mod text;
mod yaml;

use proc_macro2::TokenStream;
use quote::quote;

use crate::errors::Errors;
use arguments::Arguments;
use entry::Entry;
use expand::Expansion;
use text::{Mistake, Text};

/// Expands the whole macro; after a mistake, the correct declarations are emitted with the errors, without kernels.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let mut arguments = match syn::parse2::<Arguments>(input) {
        Ok(arguments) => arguments,
        Err(error) => return error.to_compile_error(),
    };
    let (text, path) = match arguments.text() {
        Ok(text) => text,
        Err(error) => return error.to_compile_error(),
    };
    let (entries, mut mistakes) = read(&text);
    arguments.declarations |= !mistakes.is_empty();
    let expansion = Expansion { arguments: &arguments, text: &text, entries: &entries };
    let tokens = expansion.expand(&mut mistakes);
    let mut errors = Errors::default();
    for mistake in &mistakes {
        errors.at(&arguments.file, text.render(mistake));
    }
    let errors = errors.into_tokens();
    // Makes Cargo rebuild when the file changes.
    let dependency = path.map(|path| {
        quote!(
            const _: &[u8] = ::core::include_bytes!(#path);
        )
    });
    quote!(#dependency #tokens #errors)
}

/// All operators of a file, the generated ones last, and all mistakes. If there is a mistake within an entry, the
/// checks across entries are skipped.
pub(crate) fn read(text: &Text) -> (Vec<Entry>, Vec<Mistake>) {
    let root = yaml::parse(&text.text);
    let nodes = root.as_ref().map_err(|mistake| mistake.clone()).and_then(|root| root.as_list());
    let nodes = match nodes {
        Ok(nodes) => nodes,
        Err(mistake) => return (Vec::new(), vec![mistake]),
    };
    let (mut entries, mut mistakes) = (Vec::new(), Vec::new());
    for node in nodes {
        match Entry::read(node, text) {
            Ok(entry) => entries.push(entry),
            Err(mistake) => mistakes.push(mistake),
        }
    }
    if mistakes.is_empty() {
        file_rules::check(&mut entries, &mut mistakes);
    }
    if mistakes.is_empty() {
        group::complete(&mut entries, &mut mistakes);
    }
    if mistakes.is_empty() {
        file_rules::check_views(&entries, &mut mistakes);
    }
    (entries, mistakes)
}
