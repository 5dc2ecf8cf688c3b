//! Dispatch modes: a closure through which all calls of one thread pass, for as long as a guard lives. It sees them
//! below autograd and the other layers, and above the backends.
//!
//! ```
//! use torch_library::dispatch_mode::DispatchMode;
//! use torch_library::prelude::*;
//!
//! torch_library! {
//!     pub mod mode_docs {
//!         /// Doubles a number.
//!         double(Tensor self) -> Tensor;
//!     }
//! }
//!
//! #[torch_impl(mode_docs, CPU)]
//! fn double(this: &Tensor) -> Result<Tensor> {
//!     Tensor::from_vec(this.to_vec::<f64>()?.into_iter().map(|x| 2.0 * x).collect(), this.sizes())
//! }
//!
//! # fn main() -> Result<()> {
//! let x = Tensor::from([3.0]);
//!
//! // Another kernel for one operator and key, on this thread alone.
//! let mode = DispatchMode::replacing(mode_docs::double::handle(), DispatchKey::CPU, |this: &Tensor| {
//!     Tensor::from_vec(vec![0.0; this.to_vec::<f64>()?.len()], this.sizes())
//! })?;
//! assert_eq!(mode_docs::double(&x)?.to_vec::<f64>()?, [0.0]);
//! std::thread::scope(|scope| {
//!     scope.spawn(|| assert_eq!(mode_docs::double(&x).unwrap().to_vec::<f64>().unwrap(), [6.0]));
//! });
//! drop(mode);
//! assert_eq!(mode_docs::double(&x)?.to_vec::<f64>()?, [6.0]);
//!
//! // All operators.
//! let mode = DispatchMode::new(|operator, keys, stack| {
//!     println!("{operator}");
//!     operator.redispatch_boxed(keys, stack)
//! });
//! assert_eq!(mode_docs::double(&x)?.to_vec::<f64>()?, [6.0]);
//! # drop(mode);
//! # Ok(())
//! # }
//! ```
//!
//! # How it works
//! While there is a mode, the thread includes the key `Python`, with which PyTorch does the same. The fallback at this
//! key calls the closure of the newest mode that is for the call. The closure itself runs without that mode: its calls,
//! and those that it redispatches, reach the other modes, and from the oldest one the backend. A thread without a mode
//! does not include the key, so modes cost its calls nothing.
//!
//! An operator that is composed of others is no call of a backend: the calls that it makes pass through the mode one by
//! one.
//!
//! PyTorch: `TorchDispatchMode`.

use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::{Arc, Weak};

use torch_library_schema::Schema;

use crate::bail;
use crate::error::Result;
use crate::guard::{LocalDispatchKeySet, carried, set_carried};
use crate::infer::{Inferred, infer_schema};
use crate::key::{DispatchKey, DispatchKeySet};
use crate::operator::OperatorHandle;
use crate::registry::{self, LayerKernel};
use crate::value::Stack;

/// The layer's kernel, below all other layers except [fake mode](crate::fake).
pub(crate) const LAYER: LayerKernel =
    LayerKernel { key: DispatchKey::Python, kernel: fallback, name: "dispatch_mode" };

type Handler = dyn Fn(OperatorHandle, DispatchKeySet, &mut Stack<'_>) -> Result<()> + Send + Sync;

struct Mode {
    handler: Box<Handler>,
    /// The operator and the key whose kernel it replaces; without them it is for all calls.
    replaces: Option<(OperatorHandle, DispatchKey)>,
}

impl Mode {
    /// Whether it is for a call of an operator whose kernel has this key: `Undefined` if the call has no tensors.
    fn is_for(&self, operator: OperatorHandle, next: DispatchKey) -> bool {
        self.replaces.is_none_or(|(replaced, key)| {
            let is_for_key = key.covers(next) || (next == DispatchKey::Undefined && !key.is_runtime());
            replaced == operator && is_for_key
        })
    }
}

/// The modes of a thread, the newest last. Their guards own them.
#[derive(Clone, Default)]
struct Modes(Vec<Weak<Mode>>);

impl Modes {
    fn of_thread() -> Self {
        carried::<Modes>().map(|modes| (*modes).clone()).unwrap_or_default()
    }

    /// Makes these the thread's modes, for whose calls the fallback has to run.
    fn set(self) {
        LocalDispatchKeySet::set_included(DispatchKey::Python, !self.0.is_empty());
        set_carried((!self.0.is_empty()).then_some(self));
    }

    /// Takes the newest mode for a call out of the list.
    fn take_newest(&mut self, operator: OperatorHandle, next: DispatchKey) -> Option<Arc<Mode>> {
        self.0.retain(|mode| mode.strong_count() > 0); // guards may be dropped in any order
        let newest_first = self.0.iter().enumerate().rev();
        let mut upgraded = newest_first.filter_map(|(place, mode)| Some((place, mode.upgrade()?)));
        let (place, mode) = upgraded.find(|(_, mode)| mode.is_for(operator, next))?;
        self.0.remove(place);
        Some(mode)
    }
}

/// While it lives, the calls of this thread pass through a closure.
///
/// [`ThreadLocalState`](crate::guard::ThreadLocalState) takes the modes of a thread to its workers, where they act
/// until their guards are dropped. The [module](self) has an example.
///
/// PyTorch: `TorchDispatchMode`, `with mode:`.
#[must_use = "a guard acts while it lives: bind it to a name, `let _guard = …`; `let _ = …` drops it at once"]
pub struct DispatchMode {
    mode: Arc<Mode>,
    not_send: PhantomData<*const ()>,
}

impl DispatchMode {
    /// Enters a mode. Its closure takes the place of the kernel for every call: it leaves the returns on the stack in
    /// place of the arguments, itself or by `operator.redispatch_boxed(keys, stack)`, which runs what would have run
    /// without the mode.
    pub fn new(
        handler: impl Fn(OperatorHandle, DispatchKeySet, &mut Stack<'_>) -> Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self::enter(Mode { handler: Box::new(handler), replaces: None })
    }

    fn enter(mode: Mode) -> Self {
        let mode = Arc::new(mode);
        let mut modes = Modes::of_thread();
        modes.0.push(Arc::downgrade(&mode));
        modes.set();
        DispatchMode { mode, not_send: PhantomData }
    }

    /// Enters a mode in which a function replaces the kernel of one operator for a backend's key, or for all backends
    /// that an alias such as `CompositeExplicitAutograd` covers. Derivatives, batching rules and autocast, which are
    /// kernels at higher keys, apply as before. The variants of an operator, such as `relu_`, are operators of their
    /// own.
    ///
    /// Unlike a kernel of a [`Library`](crate::Library), which serves all threads, it serves this thread alone.
    ///
    /// # Errors
    /// The function has other types than the operator, the key is above the backends, or the operator is composed of
    /// others, so that no call of it reaches a backend.
    #[track_caller]
    pub fn replacing<F: Inferred<Types>, Types>(
        operator: OperatorHandle,
        key: DispatchKey,
        function: F,
    ) -> Result<Self> {
        let place = Location::caller();
        check(operator, key, &infer_schema::<F, Types>("function")?).map_err(|error| error.at(place))?;
        let handler: Box<Handler> =
            Box::new(move |operator, keys, stack| function.call_boxed(operator, keys, stack));
        Ok(Self::enter(Mode { handler, replaces: Some((operator, key)) }))
    }
}

impl Drop for DispatchMode {
    fn drop(&mut self) {
        let mut modes = Modes::of_thread();
        modes.0.retain(|mode| !std::ptr::eq(mode.as_ptr(), Arc::as_ptr(&self.mode)));
        modes.set();
    }
}

impl fmt::Debug for DispatchMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DispatchMode").finish_non_exhaustive()
    }
}

/// Whether a function of this signature can replace an operator's kernel for a key.
fn check(operator: OperatorHandle, key: DispatchKey, signature: &Schema) -> Result<()> {
    let schema = operator.schema()?;
    if let Some(difference) = registry::difference(schema, signature) {
        bail!(
            Type,
            "the function does not fit {operator}: {difference}\n  function: {signature}\n  operator: {schema}"
        );
    }
    if !key.is_backend() && key != DispatchKey::CompositeExplicitAutograd {
        bail!(
            Argument,
            "a function for {key} cannot replace a kernel: modes see calls below {key}\n  \
             help: name a backend, such as CPU, or CompositeExplicitAutograd for all of them; register a kernel for \
             {key} in a `Library`"
        );
    }
    if is_composed(operator, key) {
        bail!(
            NotSupported,
            "{operator} is composed of other operators, so its calls reach no kernel for {key}\n  \
             help: replace kernels of the operators that it calls"
        );
    }
    Ok(())
}

/// The key of the kernel that a call with these keys runs: a backend's, or that of fake mode, in which no backend
/// computes. `Undefined` if the call has no tensors.
fn next_key(operator: OperatorHandle, keys: DispatchKeySet) -> Result<DispatchKey> {
    let (_, keys) = operator.operator().resolved()?.row(keys);
    Ok(keys.highest_priority())
}

/// Whether calls of an operator for a backend run its kernel that calls other operators.
fn is_composed(operator: OperatorHandle, backend: DispatchKey) -> bool {
    let has = |key| operator.has_kernel_for(key);
    has(DispatchKey::CompositeImplicitAutograd)
        && !has(backend)
        && !has(DispatchKey::CompositeExplicitAutograd)
        && !has(DispatchKey::CompositeExplicitAutogradNonFunctional)
}

/// The fallback at `Python`: calls the newest mode for the call.
fn fallback(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    let below = keys & DispatchKeySet::full_after(DispatchKey::Python);
    let next = next_key(operator, below)?;
    if is_composed(operator, next) {
        return operator.redispatch_boxed(below, stack);
    }
    let before = Modes::of_thread();
    let mut others = before.clone();
    let Some(mode) = others.take_newest(operator, next) else {
        if others.0.len() < before.0.len() {
            others.set(); // the guards of the rest are gone
        }
        return operator.redispatch_boxed(below, stack);
    };
    let keys = if others.0.is_empty() { below } else { below.add(DispatchKey::Python) };
    let _inside = Inside::enter(before, others);
    (mode.handler)(operator, keys, stack)
}

/// While a closure runs, the thread is in the other modes.
struct Inside {
    before: Modes,
}

impl Inside {
    fn enter(before: Modes, others: Modes) -> Self {
        others.set();
        Inside { before }
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        // Guards that the closure dropped, or keeps for later, count as well.
        let entered = Modes::of_thread().0;
        let mut modes = std::mem::take(&mut self.before);
        modes.0.retain(|mode| mode.strong_count() > 0);
        let is_new = |mode: &Weak<Mode>| !modes.0.iter().any(|known| known.ptr_eq(mode));
        let new: Vec<_> = entered.into_iter().filter(is_new).collect();
        modes.0.extend(new);
        modes.set();
    }
}
