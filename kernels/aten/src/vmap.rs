//! vmap: runs a function of one example on a whole batch at once.
//!
//! ```
//! use torch_library::prelude::*;
//! use torch_library_kernels::{aten, vmap::vmap};
//!
//! let (rows, weights) = (Tensor::from([[1.0, 2.0], [3.0, 4.0]]), Tensor::from([[1.0, 0.0], [0.0, 10.0]]));
//! let dots = vmap([&rows, &weights], |[row, weight]| aten::dot(&row, &weight))?;
//! assert_eq!(dots.to_vec::<f64>()?, [1.0, 40.0]);
//! # Ok::<(), Error>(())
//! ```
//!
//! The function sees tensors with the sizes of one example. Each operator that it calls runs once, by its *batching
//! rule*; an operator without a rule runs once for each example, and warns once. One that cannot (it returns views,
//! numbers or strings, or writes to `out`) is an error of the kind `NotSupported`. A rule is a kernel at
//! `FuncTorchBatched`:
//!
//! ```
//! use torch_library::prelude::*;
//! use torch_library_kernels::{aten, vmap::{Level, front, vmap}};
//!
//! torch_library! {
//!     pub mod vmap_docs {
//!         /// The sum of the squares of a vector.
//!         energy(Tensor self) -> Tensor;
//!     }
//! }
//!
//! #[torch_impl(vmap_docs, CPU)]
//! fn energy(this: &Tensor) -> Result<Tensor> {
//!     Ok(this.to_vec::<f64>()?.iter().map(|x| x * x).sum::<f64>().into())
//! }
//!
//! /// All vectors at once: the batch is the first dimension.
//! #[torch_impl(vmap_docs::energy, FuncTorchBatched)]
//! fn energies(this: &Tensor) -> Result<Tensor> {
//!     let level = Level::current()?;
//!     let vectors = front(level, this)?;
//!     level.wrap(aten::sum_dim_IntList(&aten::mul_Tensor(&vectors, &vectors)?, Some(&[1]))?, 0)
//! }
//!
//! # fn main() -> Result<()> {
//! let energies = vmap([&Tensor::from([[1.0, 2.0], [3.0, 4.0]])], |[vector]| vmap_docs::energy(&vector))?;
//! assert_eq!(energies.to_vec::<f64>()?, [5.0, 25.0]);
//! # Ok(())
//! # }
//! ```
//!
//! Operators that are tagged `pointwise` need no rule. For the mechanism, see [`torch_library::vmap`].
//!
//! PyTorch: `torch.vmap`, functorch's batching rules.

mod activation;
mod advanced;
#[doc(hidden)]
pub mod boxed;
mod copy;
mod fallback;
mod grad;
mod index;
mod matmul;
mod pointwise;
mod random;
mod reduce;
mod scatter;
mod view;

use torch_library::geometry::wrap_dim;
use torch_library::prelude::*;

use crate::aten;

pub use boxed::{aligned, expanded, front};
pub use grad::{grad, grads};
pub use torch_library::vmap::{Level, Randomness};

/// Runs a function on each example of a batch, which is the first dimension of every input and of the result.
///
/// # Errors
/// The errors of [`Vmap::run`].
///
/// PyTorch: `torch.vmap(f)(*inputs)`.
pub fn vmap<const N: usize>(
    inputs: [&Tensor; N],
    f: impl FnOnce([Tensor; N]) -> Result<Tensor>,
) -> Result<Tensor> {
    let inputs = inputs.map(Clone::clone);
    let one_output = |examples: &[Tensor]| {
        let examples = <[Tensor; N]>::try_from(examples.to_vec());
        Ok(vec![f(examples.unwrap_or_else(|_| unreachable!("there are as many examples as inputs")))?])
    };
    let mut outputs = Vmap::new().run(&inputs, one_output)?;
    Ok(outputs.remove(0))
}

/// A vmap with options: the batch dimensions of inputs and outputs, and the behaviour of random operators.
///
/// ```
/// use torch_library::prelude::*;
/// use torch_library_kernels::{aten, vmap::Vmap};
///
/// // A matrix product from products with vectors: the columns are the examples, of the input and of the result.
/// let (a, b) = (Tensor::from([[1.0, 2.0], [3.0, 4.0]]), Tensor::from([[1.0, 0.0], [0.0, 10.0]]));
/// let product = Vmap::new().in_dims([None, Some(1)]).out_dims([Some(1)]);
/// let product = product.run(&[a, b], |inputs| Ok(vec![aten::mv(&inputs[0], &inputs[1])?]))?;
/// assert_eq!(product[0].to_vec::<f64>()?, [1.0, 20.0, 3.0, 40.0]);
/// # Ok::<(), Error>(())
/// ```
///
/// PyTorch: `torch.vmap(f, in_dims, out_dims, randomness)`.
#[derive(Clone, Debug)]
#[must_use = "nothing runs before `run`"]
pub struct Vmap {
    in_dims: Option<Vec<Option<i64>>>,
    out_dims: Vec<Option<i64>>,
    randomness: Randomness,
}

impl Vmap {
    /// Along the first dimension of all inputs and outputs; random operators are errors.
    pub fn new() -> Self {
        Vmap { in_dims: None, out_dims: vec![Some(0)], randomness: Randomness::default() }
    }

    /// The batch dimension of each input; a negative one counts from the end. `None` is for an input that all examples
    /// share.
    pub fn in_dims(self, dims: impl Into<Vec<Option<i64>>>) -> Self {
        Vmap { in_dims: Some(dims.into()), ..self }
    }

    /// The position of the batch dimension in each output; a single one stands for all outputs. `None` asserts that an
    /// output is the same for all examples.
    pub fn out_dims(self, dims: impl Into<Vec<Option<i64>>>) -> Self {
        Vmap { out_dims: dims.into(), ..self }
    }

    /// The behaviour of random operators.
    pub fn randomness(self, randomness: Randomness) -> Self {
        Vmap { randomness, ..self }
    }

    /// Runs a function on each example.
    ///
    /// # Errors
    /// Dimensions that do not match the inputs or outputs, no batched input, batches of different sizes, an output that
    /// depends on the example although its `out_dims` is `None`; errors of the function.
    pub fn run(
        &self,
        inputs: &[Tensor],
        f: impl FnOnce(&[Tensor]) -> Result<Vec<Tensor>>,
    ) -> Result<Vec<Tensor>> {
        let dims = self.dims_of(inputs)?;
        let guard = Level::enter(batch_size(inputs, &dims)?, self.randomness)?;
        let level = guard.level();
        let examples = inputs.iter().zip(dims).map(|(input, dim)| match dim {
            Some(dim) => level.wrap(input.clone(), dim),
            None => Ok(input.clone()),
        });
        let outputs = f(&examples.collect::<Result<Vec<_>>>()?)?;
        let out_dims = self.out_dims_of(outputs.len())?;
        outputs.iter().zip(out_dims).map(|(output, dim)| leave(level, output, dim)).collect()
    }

    /// The batch dimension of each input, as a non-negative index.
    fn dims_of(&self, inputs: &[Tensor]) -> Result<Vec<Option<usize>>> {
        let Some(dims) = &self.in_dims else {
            return inputs.iter().map(|input| existing_dim(input, 0).map(Some)).collect();
        };
        ensure!(
            dims.len() == inputs.len(),
            Argument,
            "vmap: {} dimensions for {} inputs, each input needs one",
            dims.len(),
            inputs.len()
        );
        let dims = inputs.iter().zip(dims);
        dims.map(|(input, dim)| dim.map(|dim| existing_dim(input, dim)).transpose()).collect()
    }

    fn out_dims_of(&self, outputs: usize) -> Result<Vec<Option<i64>>> {
        match self.out_dims.as_slice() {
            [dim] => Ok(vec![*dim; outputs]),
            dims if dims.len() == outputs => Ok(dims.to_vec()),
            dims => bail!(
                Argument,
                "vmap: {} dimensions for {outputs} outputs, each output needs one",
                dims.len()
            ),
        }
    }
}

impl Default for Vmap {
    fn default() -> Self {
        Self::new()
    }
}

fn existing_dim(input: &Tensor, dim: i64) -> Result<usize> {
    let ndim = input.dim() as i64;
    ensure!(
        -ndim <= dim && dim < ndim,
        Shape,
        "vmap: an input of sizes {:?} has no dimension {dim} for the batch",
        input.sizes()
    );
    Ok((if dim < 0 { dim + ndim } else { dim }) as usize)
}

fn batch_size(inputs: &[Tensor], dims: &[Option<usize>]) -> Result<i64> {
    let mut sizes = inputs.iter().zip(dims).filter_map(|(input, dim)| dim.map(|dim| input.sizes()[dim]));
    let Some(size) = sizes.next() else {
        bail!(Argument, "vmap: no input has a batch, at least one needs a dimension of it");
    };
    match sizes.find(|other| *other != size) {
        Some(other) => bail!(Shape, "vmap: one input has a batch of {size} examples, another one of {other}"),
        None => Ok(size),
    }
}

/// An output of the function, in the form that the caller of vmap gets.
fn leave(level: Level, output: &Tensor, dim: Option<i64>) -> Result<Tensor> {
    match (level.unwrap(output), dim) {
        ((value, None), None) => Ok(value),
        ((_, Some(_)), None) => bail!(
            Argument,
            "vmap: an output depends on the example, so it needs a dimension of the batch; `None` is for what does not"
        ),
        ((value, from), Some(dim)) => {
            let to = wrap_dim(dim, output.dim() + 1).map_err(|error| error.context("vmap: out_dims"))?;
            match from {
                Some(from) => moved(&value, from, to),
                None => {
                    let mut sizes = value.sizes().to_vec();
                    sizes.insert(to, level.batch_size());
                    aten::expand(&aten::unsqueeze(&value, to as i64)?, &sizes)
                }
            }
        }
    }
}

/// A view with one dimension moved to another position.
fn moved(tensor: &Tensor, from: usize, to: usize) -> Result<Tensor> {
    if from == to {
        return Ok(tensor.clone());
    }
    let mut order: Vec<i64> = (0..tensor.dim() as i64).collect();
    let dim = order.remove(from);
    order.insert(to, dim);
    aten::permute(tensor, &order)
}
