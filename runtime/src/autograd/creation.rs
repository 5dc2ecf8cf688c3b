//! How views come about.

use crate::bail;
use crate::error::Result;
use crate::guard::{GradMode, InferenceMode};

/// How a view came about, which decides whether it may be written to while gradients are recorded.
///
/// PyTorch: `torch::autograd::CreationMeta`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreationMeta {
    /// As the one view that an operator returns: it may.
    Default,
    /// As one of several views of one operator, as of `split`.
    MultiOutputNode,
    /// While grad mode was off.
    NoGradMode,
    /// In inference mode.
    InferenceMode,
    /// By a [`Function`](super::Function).
    InCustomFunction,
}

impl CreationMeta {
    /// That of a view made now.
    pub(super) fn now(one_of_several: bool) -> Self {
        match (InferenceMode::is_enabled(), GradMode::is_enabled(), one_of_several) {
            (true, ..) => CreationMeta::InferenceMode,
            (_, false, _) => CreationMeta::NoGradMode,
            (_, _, true) => CreationMeta::MultiOutputNode,
            _ => CreationMeta::Default,
        }
    }

    /// Why a view like this cannot be written to; nothing where it can.
    fn objection(self) -> Option<&'static str> {
        Some(match self {
            CreationMeta::Default => return None,
            CreationMeta::MultiOutputNode => "is one of several views that one operator returned",
            CreationMeta::NoGradMode => "was made while grad mode was off",
            CreationMeta::InferenceMode => "was made in inference mode",
            CreationMeta::InCustomFunction => "was made by a custom function",
        })
    }

    pub(super) fn check(self, what: &str) -> Result<()> {
        match self.objection() {
            None => Ok(()),
            Some(objection) => bail!(
                Autograd,
                "{what}, while gradients are recorded, but this view {objection}, so gradients could not follow the write\n  \
                 help: write to a copy, or write with grad mode off as well"
            ),
        }
    }
}
