//! The interface of the registry to the layers above it, which implement it for [`Program`], and the kernel that stands
//! for all of them.

use super::missing;
use crate::error::Result;
use crate::key::{DispatchKey, DispatchKeySet};
use crate::operator::Operator;
use crate::operator::kernel::{BoxedFn, BoxedKernel, Kernel};
use crate::program::Program;
use crate::value::Stack;

/// A layer of this library that any operator may pass through: its kernel at its key, used where nothing else is
/// registered.
pub(crate) struct LayerKernel {
    pub(crate) key: DispatchKey,
    pub(crate) kernel: BoxedFn,
    /// The name in listings.
    pub(crate) name: &'static str,
}

/// All layers.
pub(crate) trait Layers {
    /// One entry for each key, in any order.
    const LAYERS: &'static [LayerKernel];
}

/// The defaults at the keys of autograd.
pub(crate) trait Differentiating {
    /// The default at `ADInplaceOrView`: tracks views and versions.
    ///
    /// # Errors
    /// The error of the redispatched call.
    fn keep_books(
        kernel: &'static Kernel,
        operator: &'static Operator,
        keys: DispatchKeySet,
        stack: &mut Stack<'_>,
    ) -> Result<()>;

    /// Passes a boxed call on, and records it if it has a gradient to lose.
    ///
    /// # Errors
    /// The error of the redispatched call; a write that cannot be recorded.
    fn differentiate(
        kernel: &'static Kernel,
        operator: &'static Operator,
        keys: DispatchKeySet,
        stack: &mut Stack<'_>,
    ) -> Result<()>;
}

/// Is notified when the process-wide registry is created.
pub(crate) trait Starting {
    /// Called once.
    fn started();
}

/// One kernel for all layers, for the tracking of views and versions, and for missing kernels: a table has a copy of
/// each of its kernels, and there are many tables. It serves the keys at which an operator has no other kernel.
pub(super) const LAYER: BoxedKernel = BoxedKernel::new(|kernel, operator, keys, stack| {
    let key = keys.highest_priority();
    match Program::LAYERS.iter().find(|layer| layer.key == key) {
        Some(layer) => (layer.kernel)(operator.handle(), keys, stack),
        None if key == DispatchKey::ADInplaceOrView => Program::keep_books(kernel, operator, keys, stack),
        None => Err(missing::no_kernel(operator, keys, stack)),
    }
});
