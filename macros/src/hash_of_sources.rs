//! `hash_of_sources!()`: a number that differs between two builds of the runtime from different sources.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

use proc_macro2::{Literal, TokenStream};
use quote::{ToTokens, quote};
use syn::Error;

/// Expands to a hash of the source files of the package that is compiled, and of the schema crate, which is in its
/// folder. Each change of them compiles the package again.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let Some(package) = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from) else {
        return Literal::u64_suffixed(0).into_token_stream();
    };
    let mut hasher = DefaultHasher::new();
    let hashed = ["src", "schema/src"].iter().try_for_each(|folder| hash(&package.join(folder), &mut hasher));
    match hashed {
        Ok(()) => Literal::u64_suffixed(hasher.finish()).into_token_stream(),
        Err(error) => Error::new_spanned(quote!(#input), format!("the sources cannot be read: {error}"))
            .to_compile_error(),
    }
}

/// Hashes all Rust files of a folder, if there is one, in the order of their names.
fn hash(folder: &Path, hasher: &mut DefaultHasher) -> io::Result<()> {
    if !folder.is_dir() {
        return Ok(());
    }
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    entries.sort();
    for path in entries {
        if path.is_dir() {
            hash(&path, hasher)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            path.file_name().hash(hasher);
            fs::read(&path)?.hash(hasher);
        }
    }
    Ok(())
}
