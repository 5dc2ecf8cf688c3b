//! What the registry asks of the layers above it, which implement this for [`Program`], and the kernel that is all of
//! them.

use super::missing;
use crate::error::Result;
use crate::key::{DispatchKey, DispatchKeySet};
use crate::operator::Operator;
use crate::operator::kernel::{BoxedFn, BoxedKernel, Kernel};
use crate::program::Program;
use crate::value::Stack;

/// A layer of this library that any operator may have to pass: what it does at its key, where nobody registered
/// anything else.
pub(crate) struct LayerKernel {
    pub(crate) key: DispatchKey,
    pub(crate) kernel: BoxedFn,
    /// What listings call it.
    pub(crate) name: &'static str,
}

/// All layers.
pub(crate) trait Layers {
    /// One for a key, in any order.
    const LAYERS: &'static [LayerKernel];
}

/// What happens at the keys of autograd for which nobody wrote a kernel.
pub(crate) trait Differentiating {
    /// Keeps the books of views and versions, at `ADInplaceOrView`.
    ///
    /// # Errors
    /// That of the call below.
    fn keep_books(
        kernel: &'static Kernel,
        operator: &'static Operator,
        keys: DispatchKeySet,
        stack: &mut Stack<'_>,
    ) -> Result<()>;

    /// Passes a boxed call on, and records one that has a gradient to lose.
    ///
    /// # Errors
    /// That of the call below; or gradients cannot follow it.
    fn differentiate(
        kernel: &'static Kernel,
        operator: &'static Operator,
        keys: DispatchKeySet,
        stack: &mut Stack<'_>,
    ) -> Result<()>;
}

/// Who wants to know that the registry of the process is there.
pub(crate) trait Starting {
    /// Is called once.
    fn started();
}

/// All layers, the bookkeeping and the lack of any kernel as one: a table has a copy of each of its kernels, and there
/// are many tables. It serves the keys of operators that have nothing else there.
pub(super) const LAYER: BoxedKernel = BoxedKernel::new(|kernel, operator, keys, stack| {
    let key = keys.highest_priority();
    match Program::LAYERS.iter().find(|layer| layer.key == key) {
        Some(layer) => (layer.kernel)(operator.handle(), keys, stack),
        None if key == DispatchKey::ADInplaceOrView => Program::keep_books(kernel, operator, keys, stack),
        None => Err(missing::no_kernel(operator, keys, stack)),
    }
});
