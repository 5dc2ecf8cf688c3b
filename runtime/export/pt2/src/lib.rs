//! Reads the archives that `torch.export` writes, without a dispatcher to run them: records, the graph and its
//! signature, expressions for sizes.
//!
//! `torch-library-export` runs what this crate reads; the macro `include_model!` uses it at compile time, so nothing
//! here needs a tensor. The public items are for these two crates, and change with them.

// The modules are listed bottom-up: each uses only those above it.

mod error;

pub mod kinds;
pub mod number;

pub mod expression;
pub mod tree;
pub mod wire;
pub mod zip;

pub mod archive;
pub mod symbols;
pub mod target;

pub use error::{Error, ErrorKind, Result};

/// The maximum length of the text that describes the inputs or outputs of a program. Each may repeat a part of the
/// archive, a long key or a list of sizes, so that a small archive could request any amount of memory.
pub(crate) const LONGEST_DESCRIPTION: usize = 1 << 26;

/// The beginning of a text from a file, for messages.
pub fn shortened(text: &str) -> &str {
    text.char_indices().nth(120).map_or(text, |(end, _)| &text[..end])
}
