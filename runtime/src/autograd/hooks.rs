//! Functions that see, and may replace, a gradient on its way.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::Result;
use crate::panics;
use crate::tensor::Tensor;

pub(super) type Hook = Arc<dyn Fn(&Tensor) -> Result<Option<Tensor>> + Send + Sync>;

/// The hooks of a node or of a leaf, in the order in which they run.
#[derive(Default)]
pub(super) struct Hooks(Vec<Registered>);

#[derive(Clone)]
struct Registered {
    /// Of which input of the node.
    input_nr: usize,
    hook: Hook,
    removed: Arc<AtomicBool>,
    /// Runs after all others: what it sees is final.
    last: bool,
}

/// Takes a hook away again. Dropping it does not.
///
/// PyTorch: `torch.utils.hooks.RemovableHandle`.
#[derive(Clone, Debug)]
pub struct HookHandle(Arc<AtomicBool>);

impl HookHandle {
    /// From now on the hook does not run.
    pub fn remove(&self) {
        self.0.store(true, Ordering::Relaxed); // a flag of its own
    }
}

impl Hooks {
    /// Adds one, and takes those out that were removed: what they hold is to be dropped without a lock, as it may have
    /// hooks to look at.
    pub(super) fn add(hooks: &mut Option<Box<Hooks>>, input_nr: usize, hook: Hook) -> (HookHandle, Hooks) {
        Hooks::push(hooks, input_nr, hook, false)
    }

    /// As [`add`](Self::add), behind all others.
    pub(super) fn add_last(
        hooks: &mut Option<Box<Hooks>>,
        input_nr: usize,
        hook: Hook,
    ) -> (HookHandle, Hooks) {
        Hooks::push(hooks, input_nr, hook, true)
    }

    fn push(hooks: &mut Option<Box<Hooks>>, input_nr: usize, hook: Hook, last: bool) -> (HookHandle, Hooks) {
        let removed = Arc::new(AtomicBool::new(false));
        let hooks = hooks.get_or_insert_default();
        let gone = hooks.0.extract_if(.., |registered| registered.is_removed()).collect();
        let first_last = hooks.0.iter().position(|registered| registered.last).unwrap_or(hooks.0.len());
        let place = if last { hooks.0.len() } else { first_last };
        hooks.0.insert(place, Registered { input_nr, hook, removed: removed.clone(), last });
        (HookHandle(removed), Hooks(gone))
    }

    /// Those that stand now. Hooks run without a lock, so they may add and remove others.
    pub(super) fn snapshot(hooks: &Option<Box<Hooks>>) -> Option<Hooks> {
        Some(Hooks(hooks.as_ref()?.0.clone()))
    }

    /// Shows them the gradients that arrived.
    pub(super) fn run(&self, grads: &mut [Option<Tensor>]) -> Result<()> {
        for registered in self.0.iter().filter(|registered| !registered.is_removed()) {
            let Some(Some(grad)) = grads.get_mut(registered.input_nr) else { continue };
            if let Some(other) = (registered.hook)(grad)? {
                *grad = other;
            }
        }
        Ok(())
    }
}

/// Closures of users, of which several may panic as they are dropped.
impl Drop for Hooks {
    fn drop(&mut self) {
        panics::each(std::mem::take(&mut self.0), drop);
    }
}

impl Registered {
    fn is_removed(&self) -> bool {
        self.removed.load(Ordering::Relaxed)
    }
}
