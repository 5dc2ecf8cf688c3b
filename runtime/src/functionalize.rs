//! Functionalize: runs a program that writes in place and through views as one that only computes new tensors.
//!
//! ```
//! use torch_library::functionalize::{from_functional, to_functional};
//! use torch_library::prelude::*;
//!
//! torch_library! {
//!     pub mod functional_docs {
//!         /// Adds a number to each element.
//!         shift(Tensor self, float by) -> Tensor;
//!         /// The in-place variant.
//!         shift_(Tensor(a!) self, float by) -> Tensor(a!);
//!     }
//! }
//!
//! #[torch_impl(functional_docs, CPU)]
//! fn shift(this: &Tensor, by: f64) -> Result<Tensor> {
//!     Tensor::from_vec(this.to_vec::<f64>()?.into_iter().map(|x| x + by).collect(), this.sizes())
//! }
//!
//! # fn main() -> Result<()> {
//! let plain = Tensor::from([1.0, 2.0]);
//! let mut x = to_functional(&plain)?;
//! functional_docs::shift_(&mut x, 10.0)?; // has no kernel, and needs none: `shift` has one
//! assert_eq!(from_functional(&x)?.to_vec::<f64>()?, [11.0, 12.0]);
//! assert_eq!(plain.to_vec::<f64>()?, [1.0, 2.0]);
//! # Ok(())
//! # }
//! ```
//!
//! This layer is a mechanism driven by schemas. The functional variant of an operator that writes is found by its name
//! and types. Kernels at `Functionalize` say how a modified view is put back into its base ([`view`]); all other views
//! use `aten::as_strided_scatter`.
//!
//! # How it works
//! 1. A *functional* tensor is a [wrapper](Tensor::wrapper) with the sizes, strides and versions that the program sees.
//!    Its storage is a `Memory`, which it shares with all of its views and which holds the *base*: the tensor with the
//!    current value of all elements. They are those of the input, or all of its memory if other inputs share that. A
//!    wrapper has the keys of the base, and `Functionalize`, which is below autograd: gradients are recorded for the
//!    program as it was written.
//! 2. A view remembers the *steps* that lead from the base to it. Its value is computed when it is needed, and again
//!    when the base has changed since.
//! 3. An operator that writes is replaced by its functional variant: `add_.Tensor` becomes `add.Tensor`. If there is
//!    none, it writes to a temporary copy. The result is carried back along the steps, and becomes the new base.
//! 4. So that errors are the same, the original operator first checks its arguments, on tensors without elements.
//!
//! Under a [tracer](crate::tracer), the recorded graph has no writes but those to the inputs, which come last.
//!
//! PyTorch: `torch.func.functionalize(remove="mutations")`, `FunctionalTensorWrapper`.

mod calls;
mod fallback;
mod gradient;
mod memory;
mod mutation;
mod named;
mod view;

use crate::autograd::Node;
use crate::ensure;
use crate::error::Result;
use crate::guard::{IncludeDispatchKeyGuard, no_grad};
use crate::key::DispatchKey;
use crate::operator::OperatorHandle;
use crate::registry::{LayerKernel, Variant};
use crate::tensor::Tensor;
use crate::tensor::geometry::Geometry;

pub use view::{view, views};

use memory::Memory;
use view::Functional;

/// The layer's kernel, below autograd.
pub(crate) const LAYER: LayerKernel =
    LayerKernel { key: DispatchKey::Functionalize, kernel: fallback::fallback, name: "functionalize" };

/// Runs a function on functional tensors, and returns its results as plain tensors.
///
/// Inputs that the function writes to are written to when it is done. Gradients flow as if the function had been called
/// directly.
///
/// # Errors
/// The function's own errors; inputs of a surrounding vmap that share memory; a write to a tensor from outside that is
/// not an input; a view of an input that reaches beyond it, after a write; a write without a functional form.
///
/// PyTorch: `torch.func.functionalize(f)(*inputs)`.
pub fn functionalize(
    inputs: &[Tensor],
    f: impl FnOnce(&[Tensor]) -> Result<Vec<Tensor>>,
) -> Result<Vec<Tensor>> {
    let mut entered: Vec<Tensor> = Vec::with_capacity(inputs.len());
    for (index, input) in inputs.iter().enumerate() {
        let functional = entry(index, inputs, &entered)?;
        entered.push(gradient::enter(input, functional)?);
    }
    let histories = entered.iter().map(Tensor::grad_fn).collect::<Result<Vec<_>>>()?;
    let outputs = {
        let _functional = IncludeDispatchKeyGuard::new(DispatchKey::Functionalize);
        f(&entered)?
    };
    let leave = |output| match entered.iter().position(|entered| entered.is_same(output)) {
        Some(index) => Ok(inputs[index].clone()),
        None => gradient::leave(output),
    };
    let outputs = outputs.iter().map(leave).collect::<Result<Vec<_>>>()?;
    for ((input, functional), history) in inputs.iter().zip(&entered).zip(histories) {
        write_back(&mut input.clone(), functional, history.as_ref())?;
    }
    Ok(outputs)
}

/// A functional tensor for a plain one; it is a leaf.
///
/// Writes to it do not reach the plain tensor.
///
/// # Errors
/// The errors of `aten::as_strided`, which is called for a tensor with gaps between its elements.
///
/// PyTorch: `torch._to_functional_tensor`.
pub fn to_functional(tensor: &Tensor) -> Result<Tensor> {
    view::fresh(tensor.clone())
}

/// The plain tensor with the current elements of a functional one; a plain tensor is returned unchanged.
///
/// # Errors
/// A view that cannot be computed again.
///
/// PyTorch: `torch._sync`, then `torch._from_functional_tensor`.
pub fn from_functional(tensor: &Tensor) -> Result<Tensor> {
    match Functional::of(tensor) {
        Some((functional, memory)) => functional.value(&memory),
        None => Ok(tensor.clone()),
    }
}

/// The functional variant of an operator that writes, found by name and types: `add.Tensor` for `add_.Tensor`. It
/// returns the results of the original that are not written arguments, then the new value of each written argument.
///
/// # Errors
/// The operator was removed.
pub fn functional_variant(operator: OperatorHandle) -> Result<Option<OperatorHandle>> {
    Variant::Functional.of(operator)
}

/// Whether a tensor is functional.
///
/// PyTorch: `torch._is_functional_tensor`.
pub fn is_functional(tensor: &Tensor) -> bool {
    tensor.content::<Functional>().is_some()
}

/// The functional tensor for an input; inputs that share memory become views of one base.
fn entry(index: usize, inputs: &[Tensor], entered: &[Tensor]) -> Result<Tensor> {
    let input = &inputs[index];
    let is_beside = |other: &Tensor| other.shares_storage_with(input);
    let Some(first) = inputs[..index].iter().position(is_beside) else {
        let is_shared = inputs[index + 1..].iter().any(is_beside);
        return if is_shared { view::first_in_memory(input.clone()) } else { view::fresh(input.clone()) };
    };
    ensure!(
        !input.is_wrapper(),
        NotSupported,
        "two inputs are wrappers that share memory, and a write to one would not reach the other\n  \
         help: functionalize outside of vmap, or copy one of them"
    );
    ensure!(
        inputs[first].dtype() == input.dtype(),
        NotSupported,
        "two inputs share memory, one as {} and one as {}, so the program cannot be functionalized",
        inputs[first].dtype(),
        input.dtype()
    );
    view::place_in(&entered[first].storage(), input.clone())
}

/// Writes the elements that the function left in a functional tensor to its input, and nothing to the memory around it
/// that the function did not write.
fn write_back(input: &mut Tensor, functional: &Tensor, history: Option<&Node>) -> Result<()> {
    let Some(memory) = Memory::of(functional) else { return Ok(()) };
    let has_new_history = gradient::has_new_history(functional, history)?;
    let value = if has_new_history { Some(gradient::leave(functional)?) } else { None };
    let others = other_places(&memory, input, functional);
    let write = || {
        if memory.is_later() {
            named::resize(input, functional.sizes())?;
        }
        let offset = if memory.is_later() { input.storage_offset() } else { functional.storage_offset() };
        let geometry = Geometry::new(functional.sizes(), functional.strides(), offset)?;
        if *input.geometry() != geometry {
            named::move_to(input, &geometry)?;
        }
        match value {
            _ if !memory.is_written() => Ok(()),
            Some(value) => named::write(input, &value),
            None => named::write(input, &from_functional(functional)?),
        }
    };
    if has_new_history { write() } else { no_grad(write) }?;
    let (base, _) = memory.base();
    no_grad(|| {
        others.iter().try_for_each(|place| {
            let from = named::as_strided(&base, &memory.origin().within(&base, place)?)?;
            named::write(&named::as_strided(input, place)?, &from)
        })
    })
}

/// What the function may have written besides the elements that a functional tensor shows in the end: where its input
/// was when it entered, and what other views reached.
fn other_places(memory: &Memory, input: &Tensor, functional: &Tensor) -> Vec<Geometry> {
    let mut places = memory.take_strays();
    let shows_all =
        functional.numel() == memory.base().0.numel() && functional.is_non_overlapping_and_dense();
    if memory.is_later() || !memory.is_written() || shows_all {
        return Vec::new();
    }
    places.push(input.geometry().clone());
    places.retain(|place| place != functional.geometry());
    places
}
