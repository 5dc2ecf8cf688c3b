//! How a view was created, and whether it may be written to.

use crate::bail;
use crate::error::Result;
use crate::guard::{GradMode, InferenceMode};

/// How a view was created, which decides whether it may be written to while gradients are recorded.
///
/// PyTorch: `torch::autograd::CreationMeta`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CreationMeta {
    /// The only view that an operator returned: it may be written to.
    Default,
    /// One of several views that an operator returned, as `split` does.
    MultiOutputNode,
    /// Created while grad mode was off.
    NoGradMode,
    /// Created in inference mode.
    InferenceMode,
    /// Created by a [`Function`](super::Function).
    InCustomFunction,
}

impl CreationMeta {
    /// The value for a view that is created now.
    pub(super) fn now(one_of_several: bool) -> Self {
        match (InferenceMode::is_enabled(), GradMode::is_enabled(), one_of_several) {
            (true, ..) => CreationMeta::InferenceMode,
            (_, false, _) => CreationMeta::NoGradMode,
            (_, _, true) => CreationMeta::MultiOutputNode,
            _ => CreationMeta::Default,
        }
    }

    /// The reason why a view like this cannot be written to, or `None` if it can.
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
                "{what}, while gradients are recorded, but this view {objection}, so autograd cannot track the \
                 write\n  \
                 help: write to a copy, or write with grad mode off as well"
            ),
        }
    }
}
