//! What the layout of the sources must be like: modules in layers, texts that are easy to read.
//!
//! [`Sources`] is a crate's module tree with what each module names; [`layers`] finds arrows that point back and circles,
//! [`text`] what is too wide, too long or does not say what it is for, [`safety`] `unsafe` functions that do not list what they
//! ask for. Each returns a sentence for each place that breaks a rule.

pub mod layers;
mod paths;
pub mod safety;
mod sources;
pub mod text;

pub use sources::{Arrow, Module, Sources};

/// What kept a crate from being read: a file that is not there or is not Rust.
pub type Result<T> = std::result::Result<T, String>;
