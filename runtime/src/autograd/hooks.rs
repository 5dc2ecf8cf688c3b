//! Hooks: functions that see, and may replace, a gradient in a backward pass.

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
    /// The input of the node whose gradient the hook sees.
    input_nr: usize,
    hook: Hook,
    removed: Arc<AtomicBool>,
    /// Whether the hook runs after all others, and so sees the final gradient.
    last: bool,
}

/// Removes a hook. Dropping the handle does not.
///
/// PyTorch: `torch.utils.hooks.RemovableHandle`.
#[derive(Clone, Debug)]
pub struct HookHandle(Arc<AtomicBool>);

impl HookHandle {
    /// Removes the hook: it no longer runs.
    pub fn remove(&self) {
        self.0.store(true, Ordering::Relaxed); // the flag guards no other memory
    }
}

impl Hooks {
    /// Adds a hook. Returns the removed hooks, for the caller to drop without a lock, since dropping a closure may run
    /// code that uses hooks.
    pub(super) fn add(hooks: &mut Option<Box<Hooks>>, input_nr: usize, hook: Hook) -> (HookHandle, Hooks) {
        Hooks::push(hooks, input_nr, hook, false)
    }

    /// Like [`add`](Self::add), but the hook runs after all others.
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

    /// The present hooks. They run without a lock, so they may add and remove others.
    pub(super) fn snapshot(hooks: &Option<Box<Hooks>>) -> Option<Hooks> {
        Some(Hooks(hooks.as_ref()?.0.clone()))
    }

    /// Calls the hooks with the gradients that arrived.
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

/// The hooks are users' closures, of which several may panic when they are dropped.
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
