//! The signature of a program: names, types and sizes of its inputs and outputs.

use std::fmt;

use torch_library::prelude::*;
pub use torch_library_pt2::symbols::Size;

/// The type of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// A tensor.
    Tensor {
        /// The element type.
        dtype: DType,
        /// The sizes.
        sizes: Vec<Size>,
    },
    /// A number, usually a size.
    Number,
    /// A constant of the export: an argument that was not a tensor, as Python prints it.
    Constant(String),
}

/// Prints `float32[s0 (2 to 8), 3]`.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Tensor { dtype, sizes } => {
                let sizes: Vec<_> = sizes.iter().map(Size::to_string).collect();
                write!(f, "{dtype}[{}]", sizes.join(", "))
            }
            Kind::Number => f.write_str("number"),
            Kind::Constant(value) => write!(f, "always {value}"),
        }
    }
}

/// An input of a program, or an argument that is a constant of it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Input {
    /// Its name in the archive, which is an identifier: `images`, `named_a`.
    pub name: String,
    /// Its path in Python, in the arguments of `forward`: `images`, `named['a']`.
    pub path: String,
    /// Its type.
    pub kind: Kind,
}

/// The role of an output in training.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Role {
    /// A result of `forward`.
    Result,
    /// The loss, of a program that was exported for training.
    Loss,
    /// The gradient of the parameter with this name.
    GradientOfParameter(String),
    /// The gradient of the input with this name.
    GradientOfInput(String),
}

/// An output of a program.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Output {
    /// Its path in Python, in the result of `forward`: `['logits']`; empty if it is the whole result.
    pub path: String,
    /// Its type.
    pub kind: Kind,
    /// Its role.
    pub role: Role,
}

/// The role of a weight in the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WeightKind {
    /// A trained parameter.
    Parameter,
    /// State that is not trained. A program may write to it.
    Buffer,
    /// A constant of the program.
    Constant,
}

/// A tensor that is part of a program.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Weight {
    /// The name in the model: `features.0.weight`.
    pub name: String,
    /// Its role.
    pub kind: WeightKind,
    /// The tensor itself, not a copy: writing to it changes the program, and if it requires a gradient it gets one.
    pub tensor: Tensor,
}
