//! PyTorch's function-schema language: `ns::name.overload(Tensor(a!) self, int[2] size=1, *, Device? d=None) ->
//! Tensor(a!)`.
//!
//! One grammar serves compile time and run time. [`Schema::parse`] reads text; a procedural macro converts its own
//! tokens to [`Token`]s with [`token::assemble`] and calls [`Schema::parse_tokens`] or [`Schema::parse_prefix`], so
//! that an error points at the offending token.
//!
//! ```
//! use torch_library_schema::{Mode, Schema, Type};
//!
//! let schema = Schema::parse("myops::scale_.Scalar(Tensor(a!) self, Scalar factor=2) -> Tensor(a!)", Mode::Strict)?;
//! assert_eq!(schema.name.to_string(), "myops::scale_.Scalar");
//! assert_eq!(schema.arguments[1].ty, Type::Scalar);
//! assert!(schema.is_mutable());
//! assert_eq!(Schema::parse(&schema.to_string(), Mode::Strict)?, schema);
//!
//! let text = "add(tensor self) -> Tensor";
//! let error = Schema::parse(text, Mode::Strict).unwrap_err();
//! assert_eq!(
//!     error.render(text),
//!     "error: unknown type `tensor`
//!   |
//! 1 | add(tensor self) -> Tensor
//!   |     ^^^^^^
//!   = help: write `Tensor`
//! ",
//! );
//! # Ok::<(), torch_library_schema::SchemaError>(())
//! ```
//!
//! # How it is built
//!
//! Text is split into [tokens](mod@token), and one recursive-descent parser makes a [`Schema`] from tokens, whether
//! they come from text or from a macro; [`Display`](std::fmt::Display) prints the canonical text. [`Mode`]
//! distinguishes what a declaration here may say from what PyTorch would read. Everything that PyTorch prints and can
//! read back is printed in the same way; where PyTorch's text is lossy, `Display` is not ([`Schema::pytorch`] is).

// The modules are listed bottom-up: each uses only those above it.

mod distance;

// Lexical elements.
mod literal;
pub mod token;

mod error;

// Parts of a schema.
mod alias;
mod default;
mod name;
mod tags;
mod types;

mod schema;

// Parsing and printing.
mod parse;

mod print;

// Queries about a schema.
mod aliasing;
mod compat;
mod normalize;

pub use alias::{AliasInfo, AliasSet};
pub use aliasing::SchemaArgument;
pub use compat::Incompatibility;
pub use default::DefaultValue;
pub use distance::{edit_distance, weighted_edit_distance};
pub use error::SchemaError;
pub use name::OperatorName;
pub use normalize::{ArgumentError, ArgumentErrorKind, Value};
pub use print::PyTorchText;
pub use schema::{Argument, Mode, Return, Schema};
pub use tags::TAGS;
pub use token::{Span, Token, TokenKind};
pub use types::{Type, TypeKind};
