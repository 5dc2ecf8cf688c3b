//! What goes into a program and what comes out of it: names, types, sizes.

use std::fmt;

use torch_library::prelude::*;
pub use torch_library_pt2::symbols::Size;

/// What a value of a program is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// A tensor.
    Tensor {
        /// The type of its elements.
        dtype: DType,
        /// Its sizes.
        sizes: Vec<Size>,
    },
    /// A number: a size, mostly.
    Number,
    /// Known when the program was exported: what a caller passed there that was no tensor, as Python prints it.
    Constant(String),
}

/// `float32[s0 (2 to 8), 3]`
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

/// What a program is called with.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Input {
    /// Its name in the archive, which is a word: `images`, `named_a`.
    pub name: String,
    /// How Python gets at it from the arguments of `forward`: `images`, `named['a']`.
    pub path: String,
    /// What it is.
    pub kind: Kind,
}

/// What an output is to whoever trains.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Role {
    /// A result of `forward`.
    Result,
    /// The loss of a program that was exported for training.
    Loss,
    /// The gradient of a parameter, by its name.
    GradientOfParameter(String),
    /// The gradient of an input, by its name.
    GradientOfInput(String),
}

/// What a program computes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Output {
    /// How Python gets at it from the result of `forward`: `['logits']`; empty where that is all of it.
    pub path: String,
    /// What it is.
    pub kind: Kind,
    /// What it is for.
    pub role: Role,
}

/// What a weight is to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WeightKind {
    /// It is trained.
    Parameter,
    /// It is state that is not trained. A program may write to it.
    Buffer,
    /// It stands in the program's text.
    Constant,
}

/// A tensor that a program brings.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Weight {
    /// The name in the model: `features.0.weight`.
    pub name: String,
    /// What it is.
    pub kind: WeightKind,
    /// The tensor itself, not a copy: who writes to it changes the program, and one that requires gradients gets them.
    pub tensor: Tensor,
}
