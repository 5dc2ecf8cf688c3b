//! Values that a derivative needs, kept with the version they had.

use super::meta::{AutogradMeta, set_history};
use super::node::{Edge, Node, WeakNode};
use super::view;
use crate::ensure;
use crate::error::{Error, ErrorKind, Result};
use crate::guard::GradMode;
use crate::tensor::Tensor;

/// A tensor that a node keeps for its backward pass.
///
/// It does not keep the tensor's history in a way that would make a circle: an output's history is the node itself. If
/// the memory is written to in between, there is no right gradient any more, and [`unpack`](SavedTensor::unpack) is an
/// error.
///
/// PyTorch: `torch::autograd::SavedVariable`.
#[derive(Debug)]
pub struct SavedTensor {
    tensor: Tensor,
    version: u64,
    history: History,
}

/// Where the saved tensor comes from, for derivatives of derivatives.
#[derive(Debug)]
enum History {
    /// The tensor that is kept knows it: a leaf.
    Own,
    /// An input of the operation.
    Input(Edge),
    /// An output of the operation, of this number.
    Output(usize),
    /// An output that is a view written to in place: the view's new history, not the operation's own node.
    OutputView(WeakNode, usize),
}

impl SavedTensor {
    /// Keeps an input of an operation.
    ///
    /// # Errors
    /// An inference tensor, whose versions nobody counts.
    pub fn input(tensor: &Tensor) -> Result<Self> {
        check_counted(tensor)?;
        let (tensor, history) = match view::history(tensor)? {
            Some(edge) => (detached(tensor), History::Input(edge)),
            None => (tensor.clone(), History::Own),
        };
        Ok(SavedTensor { version: tensor.version(), tensor, history })
    }

    /// Keeps the output number `output_nr` of an operation, once the node is known to it.
    ///
    /// # Errors
    /// As [`input`](SavedTensor::input).
    pub fn output(tensor: &Tensor, output_nr: usize) -> Result<Self> {
        check_counted(tensor)?;
        let history = match view::history(tensor)? {
            Some(edge) if tensor.is_view() => History::OutputView(edge.node.downgrade(), edge.input_nr),
            _ => History::Output(output_nr),
        };
        Ok(SavedTensor { version: tensor.version(), tensor: detached(tensor), history })
    }

    /// The tensor again, for the node that kept it.
    ///
    /// # Errors
    /// It was written to, or detached, in place since.
    pub fn unpack(&self, node: &Node) -> Result<Tensor> {
        if let History::Input(Edge { node: before, input_nr }) = &self.history {
            ensure!(
                !before.is_detached(*input_nr),
                Autograd,
                "{} saved a tensor for its gradient that was detached in place since: output {input_nr} of {}\n  \
                 help: `x.detach()` is another tensor, and leaves this one as it is",
                node.name(),
                before.name()
            );
        }
        if self.version != self.tensor.version() {
            return Err(self.outdated(node));
        }
        let edge = match &self.history {
            History::Own => return Ok(self.tensor.clone()),
            // Nobody records what is computed from it, so its history does not matter.
            _ if !GradMode::is_enabled() => return Ok(self.tensor.clone()),
            History::Input(edge) => edge.clone(),
            History::Output(output_nr) => Edge { node: node.clone(), input_nr: *output_nr },
            History::OutputView(weak, input_nr) => {
                let node = weak.upgrade().unwrap_or_else(|| node.clone());
                Edge { node, input_nr: *input_nr }
            }
        };
        // A tensor of its own: with a history the kept one would hold the node that keeps it.
        let again = self.tensor.with_key_set(self.tensor.key_set());
        set_history(&again, edge);
        Ok(again)
    }

    /// The tensor was written to since.
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
            "{} saved a tensor for its gradient that was written to in place since: sizes {:?} of {}, {what}, \
             saved at version {saved}, now at version {now}\n  \
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
        "an inference tensor cannot be saved for the backward pass: its versions are not counted\n  \
         help: work on a copy made outside of inference mode"
    );
    Ok(())
}

/// The same elements, unknown to autograd.
fn detached(tensor: &Tensor) -> Tensor {
    match AutogradMeta::of(tensor) {
        None if !tensor.requires_grad() => tensor.clone(),
        _ => tensor.with_key_set(tensor.key_set()),
    }
}
