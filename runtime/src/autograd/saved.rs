//! Saved tensors: values that a derivative needs, with the version that they had.

use super::meta::{AutogradMeta, set_history};
use super::node::{Edge, Node, WeakNode};
use super::view;
use crate::ensure;
use crate::error::{Error, ErrorKind, Result};
use crate::guard::GradMode;
use crate::tensor::Tensor;

/// A tensor that a node keeps for its backward pass.
///
/// It stores the tensor's history in a way that makes no reference cycle, although an output's history is the node
/// itself. If the memory is written to in between, the gradient would be wrong, so [`unpack`](SavedTensor::unpack)
/// fails.
///
/// PyTorch: `torch::autograd::SavedVariable`.
#[derive(Debug)]
pub struct SavedTensor {
    tensor: Tensor,
    version: u64,
    history: History,
}

/// The history of the saved tensor, for higher-order derivatives.
#[derive(Debug)]
enum History {
    /// The saved tensor has it itself: it is a leaf.
    Own,
    /// An input of the operation, with its edge.
    Input(Edge),
    /// The output of the operation with this number.
    Output(usize),
    /// An output that is a view written to in place: it has the view's new history, not the operation's node.
    OutputView(WeakNode, usize),
}

impl SavedTensor {
    /// Saves an input of an operation.
    ///
    /// # Errors
    /// An inference tensor, which has no version counter.
    pub fn input(tensor: &Tensor) -> Result<Self> {
        check_counted(tensor)?;
        let (tensor, history) = match view::history(tensor)? {
            Some(edge) => (detached(tensor), History::Input(edge)),
            None => (tensor.clone(), History::Own),
        };
        Ok(SavedTensor { version: tensor.version(), tensor, history })
    }

    /// Saves output `output_nr` of an operation, once the tensor's history is set.
    ///
    /// # Errors
    /// The errors of [`input`](SavedTensor::input).
    pub fn output(tensor: &Tensor, output_nr: usize) -> Result<Self> {
        check_counted(tensor)?;
        let history = match view::history(tensor)? {
            Some(edge) if tensor.is_view() => History::OutputView(edge.node.downgrade(), edge.input_nr),
            _ => History::Output(output_nr),
        };
        Ok(SavedTensor { version: tensor.version(), tensor: detached(tensor), history })
    }

    /// The saved tensor with its history, for the node that saved it.
    ///
    /// # Errors
    /// The tensor was modified or detached in place since.
    pub fn unpack(&self, node: &Node) -> Result<Tensor> {
        if let History::Input(Edge { node: before, input_nr }) = &self.history {
            ensure!(
                !before.is_detached(*input_nr),
                Autograd,
                "{} saved a tensor for its backward pass that has since been detached in place: output {input_nr} of \
                 {}\n  \
                 help: `x.detach()` returns a new tensor, and leaves this one as it is",
                node.name(),
                before.name()
            );
        }
        if self.version != self.tensor.version() {
            return Err(self.outdated(node));
        }
        let edge = match &self.history {
            History::Own => return Ok(self.tensor.clone()),
            // With grad mode off nothing is recorded, so the history does not matter.
            _ if !GradMode::is_enabled() => return Ok(self.tensor.clone()),
            History::Input(edge) => edge.clone(),
            History::Output(output_nr) => Edge { node: node.clone(), input_nr: *output_nr },
            History::OutputView(weak, input_nr) => {
                let node = weak.upgrade().unwrap_or_else(|| node.clone());
                Edge { node, input_nr: *input_nr }
            }
        };
        // A separate tensor: if the saved one had the history, it would hold the node that holds it.
        let again = self.tensor.with_key_set(self.tensor.key_set());
        set_history(&again, edge);
        Ok(again)
    }

    /// The error for a tensor that was modified in place since it was saved.
    #[cold]
    fn outdated(&self, node: &Node) -> Error {
        let (saved, now) = (self.version, self.tensor.version());
        let what = match &self.history {
            History::Own => "a leaf".into(),
            History::Input(edge) => format!("output {} of {}", edge.input_nr, edge.node.name()),
            History::Output(nr) => format!("output {nr} of {}", node.name()),
            History::OutputView(..) => "a view that it wrote to".into(),
        };
        let message = format!(
            "{} saved a tensor for its backward pass that has since been written to in place: sizes {:?} of {}, \
             {what}, saved at version {saved}, now at version {now}\n  \
             help: write to a copy, or use the out-of-place form of the operator that wrote",
            node.name(),
            self.tensor.sizes(),
            self.tensor.dtype()
        );
        Error::new(ErrorKind::Autograd, message)
    }
}

fn check_counted(tensor: &Tensor) -> Result<()> {
    ensure!(
        !tensor.is_inference(),
        Autograd,
        "an inference tensor cannot be saved for the backward pass: its version is not tracked\n  \
         help: work on a copy made outside of inference mode"
    );
    Ok(())
}

/// A tensor over the same elements, without autograd state.
fn detached(tensor: &Tensor) -> Tensor {
    match AutogradMeta::of(tensor) {
        None if !tensor.requires_grad() => tensor.clone(),
        _ => tensor.with_key_set(tensor.key_set()),
    }
}
