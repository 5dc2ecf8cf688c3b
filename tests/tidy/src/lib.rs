//! Checks the layout of the sources: modules in layers, and files that are easy to read.
//!
//! [`Sources`] is a crate's module tree with the paths that each module names; [`layers`] finds references to lower layers
//! and cycles, [`text`] finds files that are too wide, too long or do not say what they are for, [`safety`] finds `unsafe`
//! functions that do not list their requirements. Each returns a sentence for each place that breaks a rule.

pub mod layers;
mod paths;
pub mod safety;
mod sources;
pub mod text;

pub use sources::{Arrow, Module, Sources};

/// Why a crate could not be read: a file is missing or is not Rust.
pub type Result<T> = std::result::Result<T, String>;
