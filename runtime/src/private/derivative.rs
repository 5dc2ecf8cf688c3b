//! The building blocks of the kernels that `derivatives!` generates.

pub use std::ops::Range;
pub use std::sync::Arc;

pub use crate::autograd::formula::{IntoEach, IntoGradient, IntoGradients};
pub use crate::autograd::keep::{Keep, Lend, Save, SaveMetadata, unsaved};
pub use crate::autograd::record::{
    BELOW_AD_INPLACE_OR_VIEW, BELOW_AUTOGRAD, Edges, Recorded, Recording, Results, Row, SavedResult,
    before_write, check_counted, check_no_requires_grad, check_write, is_differentiable, is_recording, only,
    rebase, run, wants,
};
pub use crate::autograd::{Backward, Call};
pub use crate::guard::{AutoDispatchBelowADInplaceOrView, AutoDispatchBelowAutograd};
pub use compare::compare;

mod compare;
