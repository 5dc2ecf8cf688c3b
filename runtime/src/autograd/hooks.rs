//! Hooks: functions that see, and may replace, a gradient in a backward pass.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

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
    hook: Arc<Slot>,
    /// Whether the hook runs after all others, and so sees the final gradient.
    last: bool,
}

/// The place of a hook, which is empty once the hook was removed.
struct Slot(Mutex<Option<Hook>>);

/// Removes a hook. Dropping the handle does not.
///
/// PyTorch: `torch.utils.hooks.RemovableHandle`.
#[derive(Clone, Debug)]
pub struct HookHandle(Weak<Slot>);

impl HookHandle {
    /// Removes the hook: it no longer runs, and is dropped, unless it is running.
    ///
    /// So a hook that holds its own tensor keeps it alive only until here.
    pub fn remove(&self) {
        let slot = self.0.upgrade();
        let hook = slot.and_then(|slot| slot.lock().take());
        drop(hook); // after the lock is released, since dropping a closure may run code that uses hooks
    }
}

impl Hooks {
    /// Adds a hook.
    pub(super) fn add(hooks: &mut Option<Box<Hooks>>, input_nr: usize, hook: Hook) -> HookHandle {
        Hooks::push(hooks, input_nr, hook, false)
    }

    /// Like [`add`](Self::add), but the hook runs after all others.
    pub(super) fn add_last(hooks: &mut Option<Box<Hooks>>, input_nr: usize, hook: Hook) -> HookHandle {
        Hooks::push(hooks, input_nr, hook, true)
    }

    fn push(hooks: &mut Option<Box<Hooks>>, input_nr: usize, hook: Hook, last: bool) -> HookHandle {
        let slot = Arc::new(Slot(Mutex::new(Some(hook))));
        let handle = HookHandle(Arc::downgrade(&slot));
        let hooks = hooks.get_or_insert_default();
        hooks.0.retain(|registered| registered.hook.lock().is_some());
        let first_last = hooks.0.iter().position(|registered| registered.last).unwrap_or(hooks.0.len());
        let place = if last { hooks.0.len() } else { first_last };
        hooks.0.insert(place, Registered { input_nr, hook: slot, last });
        handle
    }

    /// The present hooks. They run without a lock, so they may add and remove others.
    pub(super) fn snapshot(hooks: &Option<Box<Hooks>>) -> Option<Hooks> {
        Some(Hooks(hooks.as_ref()?.0.clone()))
    }

    /// Calls the hooks with the gradients that arrived.
    pub(super) fn run(&self, grads: &mut [Option<Tensor>]) -> Result<()> {
        for registered in &self.0 {
            let Some(hook) = registered.hook.get() else { continue };
            let Some(Some(grad)) = grads.get_mut(registered.input_nr) else { continue };
            if let Some(other) = hook(grad)? {
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

impl Slot {
    fn lock(&self) -> MutexGuard<'_, Option<Hook>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn get(&self) -> Option<Hook> {
        self.lock().clone()
    }
}
