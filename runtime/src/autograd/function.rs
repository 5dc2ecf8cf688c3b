//! Derivatives that are written by hand, where formulas are not enough.

use std::sync::{Arc, OnceLock};

use super::creation::CreationMeta;
use super::meta::wants_graph;
use super::node::{Backward, Call};
use super::record::{Edges, Results, check_write, rebase};
use super::saved::SavedTensor;
use super::view;
use crate::error::Result;
use crate::guard::NoGradGuard;
use crate::tensor::Tensor;
use crate::{bail, ensure};

/// An operation with its derivative, both written by hand.
///
/// ```
/// use torch_library::autograd::{self, Context, Function};
/// use torch_library::prelude::*;
///
/// /// The identity, except that it negates gradients.
/// struct Reverse;
///
/// impl Function for Reverse {
///     fn name(&self) -> &'static str {
///         "ReverseBackward"
///     }
///
///     fn forward(&self, _: &mut Context, inputs: &[&Tensor]) -> Result<Vec<Tensor>> {
///         Ok(vec![Tensor::from_vec(inputs[0].to_vec::<f64>()?, inputs[0].sizes())?])
///     }
///
///     fn backward(&self, _: &Context, grads: Vec<Option<Tensor>>) -> Result<Vec<Option<Tensor>>> {
///         let negate = |grad: Tensor| {
///             let values = grad.to_vec::<f64>()?.iter().map(|x| -x).collect();
///             Tensor::from_vec(values, grad.sizes())
///         };
///         grads.into_iter().map(|grad| grad.map(negate).transpose()).collect()
///     }
/// }
///
/// let x = Tensor::from([1.0, 2.0]);
/// x.set_requires_grad(true)?;
/// let y = &autograd::apply(Reverse, &[&x])?[0];
/// assert_eq!(y.grad_fn()?.map(|node| node.name()), Some("ReverseBackward"));
/// let first = Tensor::from([1.0, 10.0]);
/// let grads = autograd::grad(&[y], &[&x], &[Some(first)], Default::default())?;
/// assert_eq!(grads[0].as_ref().map(Tensor::to_vec::<f64>).transpose()?, Some(vec![-1.0, -10.0]));
/// # Ok::<(), Error>(())
/// ```
///
/// PyTorch: `torch.autograd.Function`, `torch::autograd::Function`.
pub trait Function: Send + Sync + 'static {
    /// The name that [`Node::name`](super::Node::name) returns.
    fn name(&self) -> &'static str;

    /// Computes the outputs, with grad mode off.
    ///
    /// # Errors
    /// The function's own errors.
    fn forward(&self, context: &mut Context, inputs: &[&Tensor]) -> Result<Vec<Tensor>>;

    /// Computes the gradients of the inputs, one for each, from those of the outputs. A missing gradient stands for
    /// zeros.
    ///
    /// # Errors
    /// The function's own errors.
    fn backward(&self, context: &Context, grads: Vec<Option<Tensor>>) -> Result<Vec<Option<Tensor>>>;
}

/// State that [`forward`](Function::forward) leaves for [`backward`](Function::backward).
///
/// PyTorch: `ctx`, `torch::autograd::AutogradContext`.
#[derive(Debug, Default)]
pub struct Context {
    needs_input_grad: Vec<bool>,
    saved: Vec<Tensor>,
    non_differentiable: Vec<Tensor>,
    dirty: Vec<Tensor>,
}

impl Context {
    /// Saves inputs or outputs for the backward pass.
    ///
    /// PyTorch: `ctx.save_for_backward`.
    pub fn save_for_backward(&mut self, tensors: &[&Tensor]) {
        self.saved = tensors.iter().map(|tensor| (*tensor).clone()).collect();
    }

    /// Marks an output through which no gradients flow.
    ///
    /// PyTorch: `ctx.mark_non_differentiable`.
    pub fn mark_non_differentiable(&mut self, output: &Tensor) {
        self.non_differentiable.push(output.clone());
    }

    /// Marks an input that was written to; it has to be among the outputs.
    ///
    /// PyTorch: `ctx.mark_dirty`.
    pub fn mark_dirty(&mut self, input: &Tensor) {
        self.dirty.push(input.clone());
    }

    /// Whether the gradient of an input is needed.
    ///
    /// PyTorch: `ctx.needs_input_grad`.
    pub fn needs_input_grad(&self, input: usize) -> bool {
        self.needs_input_grad.get(input).copied().unwrap_or(false)
    }

    /// The saved tensors.
    ///
    /// PyTorch: `ctx.saved_tensors`.
    pub fn saved(&self) -> &[Tensor] {
        &self.saved
    }
}

/// A function as the body of a node.
struct Applied<F> {
    function: F,
    needs_input_grad: Vec<bool>,
    saved: OnceLock<Vec<SavedTensor>>,
}

impl<F: Function> Backward for Applied<F> {
    fn backward(&self, call: &Call<'_>, grads: Vec<Option<Tensor>>) -> Result<Vec<Option<Tensor>>> {
        let saved = self.saved.get().into_iter().flatten().map(|saved| saved.unpack(call.node()));
        let context = Context {
            needs_input_grad: self.needs_input_grad.clone(),
            saved: saved.collect::<Result<_>>()?,
            ..Context::default()
        };
        let grads = self.function.backward(&context, grads)?;
        let inputs = call.node().edges().len();
        ensure!(
            grads.len() == inputs,
            Autograd,
            "{} has {inputs} inputs, but its backward returned {} gradients",
            self.function.name(),
            grads.len()
        );
        Ok(grads)
    }
}

/// Calls a function, and records it if a gradient is needed.
///
/// # Errors
/// The errors of the function's `forward`; an input that it wrote to although the write cannot be recorded, or that it
/// marked as written to but did not return.
///
/// PyTorch: `Function.apply`.
pub fn apply<F: Function>(function: F, inputs: &[&Tensor]) -> Result<Vec<Tensor>> {
    let recorded = wants_graph(|| inputs.iter().any(|input| input.requires_grad()));
    let mut edges = Edges::default();
    let mut context = Context::default();
    if recorded {
        for input in inputs {
            edges.try_add(input)?;
            context.needs_input_grad.push(edges.wants_last());
        }
    }
    let mut outputs = {
        let _quiet = NoGradGuard::new();
        function.forward(&mut context, inputs)?
    };
    check_returned(function.name(), &context.dirty, &outputs)?;
    let kinds: Vec<Kind> = outputs.iter().map(|output| Kind::of(output, &context)).collect();
    for (output, kind) in outputs.iter_mut().zip(&kinds) {
        let is_input = inputs.iter().any(|input| input.is_same(output));
        let base = if is_input { Some(output.clone()) } else { output.base() };
        let Some(base) = base.filter(|_| *kind != Kind::Written) else { continue };
        if is_input || *kind == Kind::Constant {
            // An output must be a separate tensor, and a constant must not be a view that is tracked.
            *output = output.with_key_set(output.key_set());
        }
        if recorded && *kind == Kind::Differentiable {
            view::mark(&base, output, CreationMeta::InCustomFunction);
        }
    }
    if recorded {
        record(function, edges, context, &outputs, &kinds)?;
    } else {
        context.dirty.iter().for_each(Tensor::bump_version);
    }
    Ok(outputs)
}

/// What an output is to the graph.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// An input that was written to.
    Written,
    /// No gradients flow through it.
    Constant,
    Differentiable,
}

impl Kind {
    fn of(output: &Tensor, context: &Context) -> Self {
        if is_among(&context.dirty, output) {
            Kind::Written
        } else if !output.dtype().is_differentiable() || is_among(&context.non_differentiable, output) {
            Kind::Constant
        } else {
            Kind::Differentiable
        }
    }
}

/// Checks that the tensors that were written to are among the outputs: only outputs get a new history.
fn check_returned(name: &str, dirty: &[Tensor], outputs: &[Tensor]) -> Result<()> {
    let Some(missing) = dirty.iter().find(|dirty| !is_among(outputs, dirty)) else { return Ok(()) };
    dirty.iter().for_each(Tensor::bump_version); // they were written to nevertheless
    bail!(
        Autograd,
        "{name} marked a tensor of sizes {:?} as written to, but did not return it, so the tensor would keep the \
         history of its old value\n  \
         help: return each tensor that `mark_dirty` is called with",
        missing.sizes()
    )
}

fn record<F: Function>(
    function: F,
    edges: Edges,
    context: Context,
    outputs: &[Tensor],
    kinds: &[Kind],
) -> Result<()> {
    let name = function.name();
    for dirty in &context.dirty {
        check_write(name, dirty)?;
        dirty.bump_version();
    }
    let needs_input_grad = context.needs_input_grad;
    let applied = Arc::new(Applied { function, needs_input_grad, saved: OnceLock::new() });
    let node = edges.node(name, applied.clone());
    let mut numbers = Vec::with_capacity(outputs.len());
    for (output, kind) in outputs.iter().zip(kinds) {
        numbers.push(node.state().inputs.len());
        match kind {
            Kind::Written => rebase(output, &node)?,
            Kind::Constant => {}
            Kind::Differentiable => output.record(&node)?,
        }
    }
    let save = |tensor: &Tensor| match outputs.iter().position(|output| output.is_same(tensor)) {
        Some(index) if kinds[index] != Kind::Constant => SavedTensor::output(tensor, numbers[index]),
        _ => SavedTensor::input(tensor),
    };
    let saved: Vec<SavedTensor> = context.saved.iter().map(save).collect::<Result<_>>()?;
    applied.saved.get_or_init(|| saved);
    Ok(())
}

fn is_among(tensors: &[Tensor], tensor: &Tensor) -> bool {
    tensors.iter().any(|other| other.is_same(tensor))
}
