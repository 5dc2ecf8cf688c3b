//! The building blocks of the kernels that `derivatives!` generates.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::arithmetic;
use super::creation::CreationMeta;
use super::edge::gradient_edge;
use super::keep::{Save, SaveMetadata};
use super::meta::{self, set_history};
use super::node::{self, Backward, Call, Edge, InputMetadata, Node};
use super::rebase::rebase_history;
use super::saved::SavedTensor;
use super::view;
use crate::argument::Argument;
use crate::error::{Error, Result};
use crate::guard::{GradMode, InferenceMode};
use crate::key::{DispatchKey, DispatchKeySet};
use crate::tensor::Tensor;
use crate::{bail, ensure};

/// The keys below autograd.
pub const BELOW_AUTOGRAD: DispatchKeySet = DispatchKeySet::full_after(DispatchKey::AutogradOther);
/// The keys below the tracking of views and versions.
pub const BELOW_AD_INPLACE_OR_VIEW: DispatchKeySet = DispatchKeySet::full_after(DispatchKey::ADInplaceOrView);

/// Whether calls with an input that requires a gradient are recorded.
#[inline(always)]
pub fn is_recording() -> bool {
    GradMode::is_enabled()
}

/// The edges of a node that is being made. The first error in making them, or in saving arguments, is kept for
/// [`keep`](Self::keep), so that generated code passes on one error for each operator instead of one for each argument.
#[derive(Default)]
pub struct Edges {
    edges: node::Edges,
    error: Option<Error>,
}

/// An argument that gradients may flow to.
pub trait Differentiable: Argument {
    /// Visits its tensors, in order; a missing tensor takes a place, too.
    fn each(&self, visit: &mut dyn FnMut(Option<&Tensor>) -> Result<()>) -> Result<()>;
}

impl Differentiable for &Tensor {
    fn each(&self, visit: &mut dyn FnMut(Option<&Tensor>) -> Result<()>) -> Result<()> {
        visit(Some(self))
    }
}

impl Differentiable for &mut Tensor {
    fn each(&self, visit: &mut dyn FnMut(Option<&Tensor>) -> Result<()>) -> Result<()> {
        visit(Some(self))
    }
}

impl Differentiable for Option<&Tensor> {
    fn each(&self, visit: &mut dyn FnMut(Option<&Tensor>) -> Result<()>) -> Result<()> {
        visit(*self)
    }
}

impl Differentiable for &[Tensor] {
    fn each(&self, visit: &mut dyn FnMut(Option<&Tensor>) -> Result<()>) -> Result<()> {
        self.iter().try_for_each(|tensor| visit(Some(tensor)))
    }
}

impl Differentiable for &[Option<Tensor>] {
    fn each(&self, visit: &mut dyn FnMut(Option<&Tensor>) -> Result<()>) -> Result<()> {
        self.iter().try_for_each(|tensor| visit(tensor.as_ref()))
    }
}

impl Edges {
    /// Adds the edges of an argument, and returns their range.
    pub fn add(&mut self, argument: &impl Differentiable) -> Range<usize> {
        let start = self.edges.len();
        let added = self.try_add(argument);
        self.check(added);
        start..self.edges.len()
    }

    /// Adds the edges of an argument.
    ///
    /// # Errors
    /// A view whose history cannot be followed.
    pub fn try_add(&mut self, argument: &impl Differentiable) -> Result<()> {
        argument.each(&mut |tensor| {
            self.edges.push(tensor.map(gradient_edge).transpose()?.flatten());
            Ok(())
        })
    }

    /// Whether a gradient is needed for the edge that was added last.
    pub fn wants_last(&self) -> bool {
        self.edges.last().is_some_and(Option::is_some)
    }

    /// Saves an argument in its place, if a gradient is needed for any of the ranges whose bit is set in `of`.
    pub fn save<S: Save>(
        &mut self,
        place: &mut Option<S::Kept>,
        ranges: &[Range<usize>],
        of: u32,
        argument: S,
    ) {
        if self.wants(ranges, of) {
            *place = self.check(argument.save());
        }
    }

    /// Like [`save`](Self::save), for an argument of which only the metadata is saved.
    pub fn save_metadata<S: SaveMetadata>(
        &mut self,
        place: &mut Option<S::Kept>,
        ranges: &[Range<usize>],
        of: u32,
        argument: S,
    ) {
        if self.wants(ranges, of) {
            *place = Some(argument.save_metadata());
        }
    }

    fn wants(&self, ranges: &[Range<usize>], of: u32) -> bool {
        let named = ranges.iter().enumerate().filter(|(index, _)| of & 1 << index != 0);
        named.into_iter().any(|(_, range)| self.edges[range.clone()].iter().any(Option::is_some))
    }

    fn check<T>(&mut self, result: Result<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.error.get_or_insert(error);
                None
            }
        }
    }

    /// Makes the node.
    pub fn node(self, name: &'static str, backward: Arc<dyn Backward>) -> Node {
        Node::of_edges(name, self.edges, backward)
    }

    /// Starts a recording with these edges. All rows share the type `dyn Row`, and so the code that drops it.
    ///
    /// # Errors
    /// A view whose history cannot be followed; an argument that cannot be saved.
    pub fn keep(self, row: Arc<dyn Row>) -> Result<Recording> {
        match self.error {
            None => Ok(Recording { edges: self.edges, row }),
            Some(error) => Err(error),
        }
    }
}

/// A call that is being recorded, before it is made.
pub struct Recording {
    edges: node::Edges,
    row: Arc<dyn Row>,
}

impl Recording {
    /// Makes the node, after the call.
    pub fn node(self, name: &'static str) -> Recorded {
        Recorded { node: Node::of_edges(name, self.edges, self.row.clone()), row: self.row }
    }
}

/// A call that was recorded.
pub struct Recorded {
    /// Its node.
    pub node: Node,
    row: Arc<dyn Row>,
}

impl Recorded {
    /// Saves a result that formulas name, once its history is known.
    ///
    /// # Errors
    /// An inference tensor.
    pub fn save(&self, slot: usize, result: &Tensor, output_nr: usize) -> Result<()> {
        self.row.results()[slot].save(result, output_nr)
    }

    /// Like [`save`](Self::save), for a result that has no gradient.
    ///
    /// # Errors
    /// An inference tensor.
    pub fn save_constant(&self, slot: usize, result: &Tensor) -> Result<()> {
        self.row.results()[slot].save_constant(result)
    }
}

/// The gradient of an only result, if it is defined.
pub fn only(grads: &[Option<Tensor>]) -> Option<&Tensor> {
    grads.first()?.as_ref()
}

/// Whether a gradient is needed for any of these inputs.
pub fn wants(call: &Call<'_>, range: &Range<usize>) -> bool {
    range.clone().any(|input| call.wants(input))
}

/// The differentiable results of an operation.
pub trait Results {
    /// Makes them outputs of a node.
    ///
    /// # Errors
    /// A result of a type without gradients.
    fn record(&self, node: &Node) -> Result<()>;

    /// Replaces results that are the argument itself by separate tensors: otherwise the argument would become an output
    /// of the node, and a leaf would lose its gradient.
    fn own(&mut self, argument: &impl Differentiable);

    /// Marks the results as views of a tensor. Those that are not new tensors are replaced by separate ones.
    fn track(&mut self, base: &Tensor);
}

impl Results for Tensor {
    fn record(&self, node: &Node) -> Result<()> {
        let input_nr = node.add_input(InputMetadata::of(self));
        if !self.is_defined() {
            return Ok(()); // it takes an output number, but no gradient will arrive
        }
        if !self.dtype().is_differentiable() {
            bail!(
                Autograd,
                "{} cannot be recorded: its result is of {}, which has no gradients\n  \
                 help: ask for the result in another type, or use `no_grad` or `x.detach()`",
                node.name(),
                self.dtype()
            );
        }
        set_history(self, Edge { node: node.clone(), input_nr });
        Ok(())
    }

    fn own(&mut self, argument: &impl Differentiable) {
        let mut same = None;
        let _: Result<()> = argument.each(&mut |tensor| {
            same = same.take().or_else(|| tensor.filter(|tensor| tensor.is_same(self)).cloned());
            Ok(())
        });
        if let Some(argument) = same {
            *self = view::alias(&argument);
        }
    }

    fn track(&mut self, base: &Tensor) {
        if self.is_same(base) && meta::wants_graph(|| base.requires_grad()) {
            *self = view::alias(base); // it becomes an output of the node, which the base must not be
        } else {
            view::track(base, self, CreationMeta::now(false));
        }
    }
}

impl Results for Vec<Tensor> {
    fn record(&self, node: &Node) -> Result<()> {
        self.iter().try_for_each(|tensor| tensor.record(node))
    }

    fn own(&mut self, argument: &impl Differentiable) {
        self.iter_mut().for_each(|tensor| tensor.own(argument));
    }

    fn track(&mut self, base: &Tensor) {
        for tensor in self {
            view::track(base, tensor, CreationMeta::now(true));
        }
    }
}

/// Whether a tensor can have a gradient at all.
pub fn is_differentiable(tensor: &Tensor) -> bool {
    tensor.dtype().is_differentiable()
}

/// Runs the formulas of a row.
///
/// # Errors
/// The errors of the formulas.
pub fn run(row: &dyn Row, call: &Call<'_>, grads: Vec<Option<Tensor>>) -> Result<Vec<Option<Tensor>>> {
    let mut gradients = vec![None; call.node().edges().len()];
    row.formulas(call, &grads, &mut gradients)?;
    Ok(gradients)
}

/// Checks that a write can be recorded, before it happens.
///
/// # Errors
/// A leaf that requires a gradient, or a view whose write cannot be recorded.
pub fn check_write(operator: &str, tensor: &Tensor) -> Result<()> {
    view::check_write(operator, tensor)
}

/// Checks that a tensor whose versions are not counted is written in inference mode alone.
///
/// # Errors
/// A tensor made in inference mode: outside of it, what is computed from the tensor may have been recorded. Tensors of
/// another library, whose versions are counted there, have the keys of their backends alone.
///
/// PyTorch: `Inplace update to inference tensor outside InferenceMode is not allowed`.
#[inline]
pub fn check_counted(tensor: &Tensor) -> Result<()> {
    let is_own = || tensor.key_set().has_any(DispatchKeySet::AUTOCAST) && !tensor.is_wrapper();
    if tensor.is_inference() && is_own() && !InferenceMode::is_enabled() {
        Err(view::inference_error())
    } else {
        Ok(())
    }
}

/// Checks that no gradient is needed for an argument that has none.
///
/// # Errors
/// The argument requires a gradient, and grad mode is on.
///
/// PyTorch: `check_no_requires_grad`.
pub fn check_no_requires_grad(argument: &str, value: &impl Argument) -> Result<()> {
    ensure!(
        !(is_recording() && value.requires_grad()),
        Autograd,
        "there is no derivative with respect to `{argument}`, which requires grad; detach it"
    );
    Ok(())
}

/// Gives a tensor that was written to its new history.
///
/// # Errors
/// A tensor of a type without gradients.
pub fn rebase(tensor: &Tensor, node: &Node) -> Result<()> {
    ensure!(
        tensor.dtype().is_differentiable(),
        Autograd,
        "{} cannot be recorded: it writes to a tensor of {}, which has no gradients",
        node.name(),
        tensor.dtype()
    );
    rebase_history(tensor, node)
}

/// A copy, with its own history, of a tensor that an operation reads and then overwrites.
///
/// # Errors
/// The errors of `aten::clone`.
pub fn before_write(tensor: &Tensor) -> Result<Tensor> {
    arithmetic::clone(tensor)
}

/// The state of a row of `derivatives!` in its node.
pub trait Row: Backward {
    /// Computes the gradients of the inputs, and stores them in their places, which are empty at first.
    ///
    /// # Errors
    /// The errors of [`Backward::backward`].
    fn formulas(
        &self,
        call: &Call<'_>,
        grads: &[Option<Tensor>],
        gradients: &mut [Option<Tensor>],
    ) -> Result<()>;

    /// The slots of the saved results that formulas name.
    fn results(&self) -> &[SavedResult] {
        &[]
    }
}

/// A result that a formula names, saved once the operation is done.
#[derive(Debug, Default)]
pub struct SavedResult(OnceLock<SavedTensor>);

impl SavedResult {
    fn save(&self, tensor: &Tensor, output_nr: usize) -> Result<()> {
        let saved = SavedTensor::output(tensor, output_nr)?;
        self.0.get_or_init(|| saved);
        Ok(())
    }

    fn save_constant(&self, tensor: &Tensor) -> Result<()> {
        let saved = SavedTensor::input(tensor)?;
        self.0.get_or_init(|| saved);
        Ok(())
    }

    /// Unpacks the result.
    ///
    /// # Errors
    /// The result was modified in place since.
    pub fn unpack(&self, node: &Node) -> Result<Tensor> {
        match self.0.get() {
            Some(saved) => saved.unpack(node),
            None => bail!(Internal, "{} did not save its result", node.name()),
        }
    }
}
