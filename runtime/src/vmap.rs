//! vmap: tensors that stand for each example of a batch, and the dispatch of calls with such arguments.
//!
//! This module is only the mechanism: it manages the levels of nesting and runs batching rules, and names no operator.
//! The function `vmap`, the batching rules for the operators of `aten` and the loop for operators without a rule are in
//! `torch-library-kernels`.
//!
//! ```
//! use torch_library::prelude::*;
//! use torch_library::vmap::{Level, Randomness};
//!
//! torch_library! {
//!     pub mod vmap_docs {
//!         /// Doubles every element.
//!         double(Tensor self) -> Tensor;
//!     }
//! }
//!
//! #[torch_impl(vmap_docs, CPU)]
//! fn double(this: &Tensor) -> Result<Tensor> {
//!     Tensor::from_vec(this.to_vec::<f64>()?.iter().map(|x| 2.0 * x).collect(), this.sizes())
//! }
//!
//! #[torch_impl(vmap_docs::double, FuncTorchBatched)] // the batching rule
//! fn double_all(this: &Tensor) -> Result<Tensor> {
//!     let level = Level::current()?;
//!     let (all, Some(dim)) = level.unwrap(this) else { unreachable!("rules run only for batched arguments") };
//!     level.wrap(vmap_docs::double(&all)?, dim)
//! }
//!
//! # fn main() -> Result<()> {
//! let batch = Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]); // two examples of three elements
//! let guard = Level::enter(2, Randomness::Error)?; // the function `vmap` does this
//! let example = guard.level().wrap(batch, 0)?;
//! assert_eq!(example.sizes(), [3]);
//! let (doubled, dim) = guard.level().unwrap(&vmap_docs::double(&example)?);
//! assert_eq!((doubled.sizes(), dim), (&[2, 3][..], Some(0)));
//! assert_eq!(doubled.to_vec::<f64>()?, [2.0, 4.0, 6.0, 8.0, 10.0, 12.0]);
//! # Ok(())
//! # }
//! ```
//!
//! # How it works
//! 1. Inside vmap a batched input is a [wrapper](Tensor::wrapper): it has the sizes of one example, and holds the
//!    *value*, the tensor with all examples, and the batch dimension.
//! 2. A wrapper has two keys more than its value. `FuncTorchDynamicLayerFrontMode` is above all others: its fallback
//!    remembers what the thread includes and excludes, and redispatches. So autocast, tracer and autograd see a call on
//!    examples, as the user wrote it, and autograd inside vmap differentiates each example by itself.
//! 3. `FuncTorchDynamicLayerBackMode` is below autograd and above the backends. Its fallback takes the innermost level
//!    among the arguments, restores the thread's keys from the front, and runs the operator's *batching rule*: its
//!    kernel at `FuncTorchBatched`. If no argument is batched at this level, the operator itself is called on the
//!    values.
//! 4. The rule unwraps the values ([`Level::unwrap`]), calls operators on them (they may be wrappers of an outer level
//!    or recorded by an outer autograd), and wraps the result ([`Level::wrap`]).
//!
//! No thread state says that vmap is active: calls on tensors that are not batched pay nothing.
//!
//! PyTorch: functorch's `DynamicLayer` and `BatchedTensorImpl`. There each call visits every level of a stack; here it
//! visits only the levels of its arguments, with the same results.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::error::Result;
use crate::guard::{
    ForceDispatchKeyGuard, GradMode, IncludeDispatchKeyGuard, LocalDispatchKeySet, enable_grad, no_grad,
};
use crate::key::{DispatchKey, DispatchKeySet};
use crate::limits;
use crate::operator::OperatorHandle;
use crate::registry::LayerKernel;
use crate::tensor::geometry::{Dims, Geometry};
use crate::tensor::{Storage, Tensor};
use crate::value::{Stack, Value};
use crate::{bail, ensure};

/// The behaviour of random operators inside vmap.
///
/// PyTorch: the argument `randomness` of `torch.vmap`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Randomness {
    /// Random operators are an error: the caller has to choose one of the two variants below.
    #[default]
    Error,
    /// All examples get the same numbers.
    Same,
    /// Each example gets its own numbers.
    Different,
}

/// A vmap that is active on this thread, or a gradient with a graph of its own; nested ones are different levels.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Level {
    id: u64,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Vmap {
        batch_size: i64,
        randomness: Randomness,
    },
    /// A level for gradients; the grad mode when it began applies to operations on the values.
    Grad {
        grad_mode: bool,
    },
}

thread_local! {
    /// The levels, from the outermost to the innermost. The end of the last level frees the list, so it needs no
    /// destructor, and remains usable by other thread-local destructors at the end of a thread.
    static LEVELS: RefCell<ManuallyDrop<Vec<Level>>> = const { RefCell::new(ManuallyDrop::new(Vec::new())) };
    /// The level whose batching rule is running.
    static SERVED: Cell<Option<Level>> = const { Cell::new(None) };
    /// The thread's keys at the front of a call that has not reached its batching rule yet.
    static IN_FRONT: Cell<Option<LocalDispatchKeySet>> = const { Cell::new(None) };
}

/// What of a thread's vmap travels to other threads; the keys travel by themselves.
#[derive(Clone)]
pub(crate) struct State {
    levels: Vec<Level>,
    served: Option<Level>,
    in_front: Option<LocalDispatchKeySet>,
}

impl State {
    pub(crate) fn capture() -> Self {
        let levels = LEVELS.with_borrow(|levels| levels.to_vec());
        State { levels, served: SERVED.get(), in_front: IN_FRONT.get() }
    }

    /// Makes this the thread's state, and returns the previous one.
    pub(crate) fn replace(self) -> Self {
        State {
            levels: replace_levels(self.levels),
            served: SERVED.replace(self.served),
            in_front: IN_FRONT.replace(self.in_front),
        }
    }
}

/// The content of a wrapper. It is shared with handles that autograd makes of the wrapper, so that in-place changes are
/// visible in all.
struct Batched {
    level: u64,
    /// The value, and the batch dimension; `None` if all examples share the value, in which case the wrapper matters
    /// only to autograd.
    value: Mutex<(Tensor, Option<usize>)>,
}

impl Batched {
    fn value(&self) -> (Tensor, Option<usize>) {
        self.value.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn dim(&self) -> Option<usize> {
        self.value.lock().unwrap_or_else(PoisonError::into_inner).1
    }

    fn replace(&self, value: Tensor, dim: Option<usize>) {
        let mut now = self.value.lock().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *now, (value, dim));
        drop(now);
        drop(before); // after the lock is released
    }
}

const FRONT: DispatchKey = DispatchKey::FuncTorchDynamicLayerFrontMode;
const BACK: DispatchKey = DispatchKey::FuncTorchDynamicLayerBackMode;

impl Level {
    /// Begins a vmap over a batch of this size; it lasts while the guard lives.
    ///
    /// # Errors
    /// A negative size; more nested levels than [a thread may have](crate::limits::LEVELS).
    pub fn enter(batch_size: i64, randomness: Randomness) -> Result<LevelGuard> {
        ensure!(
            batch_size >= 0,
            Argument,
            "a batch cannot have {batch_size} examples, expected zero or more"
        );
        check_depth()?;
        let random = IncludeDispatchKeyGuard::new(DispatchKey::FuncTorchVmapMode);
        Ok(Level::begin(Kind::Vmap { batch_size, randomness }, Some(random)))
    }

    /// Begins a level without a batch, for gradients: autograd records operations on tensors that are
    /// [wrapped](Self::wrap_shared) at this level separately from those on their values.
    ///
    /// # Errors
    /// More nested levels than [a thread may have](crate::limits::LEVELS).
    ///
    /// PyTorch: functorch's grad levels.
    pub fn enter_grad() -> Result<LevelGuard> {
        check_depth()?;
        Ok(Level::begin(Kind::Grad { grad_mode: GradMode::is_enabled() }, None))
    }

    fn begin(kind: Kind, random: Option<IncludeDispatchKeyGuard>) -> LevelGuard {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        // Ids increase, so an inner level always has the larger one.
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let level = Level { id, kind };
        LEVELS.with_borrow_mut(|levels| levels.push(level));
        LevelGuard { level, _random: random }
    }

    /// The level that the running batching rule serves.
    ///
    /// # Errors
    /// No batching rule is running.
    pub fn current() -> Result<Level> {
        match SERVED.get() {
            Some(level) => Ok(level),
            None => bail!(
                Argument,
                "a batching rule was called outside of vmap: call its operator, and the dispatcher finds the rule"
            ),
        }
    }

    /// The innermost vmap that is active on this thread.
    pub fn innermost() -> Option<Level> {
        let is_vmap = |level: &&Level| matches!(level.kind, Kind::Vmap { .. });
        LEVELS.with_borrow(|levels| levels.iter().rev().find(is_vmap).copied())
    }

    /// The number of examples; 1 at a level for gradients.
    pub fn batch_size(&self) -> i64 {
        match self.kind {
            Kind::Vmap { batch_size, .. } => batch_size,
            Kind::Grad { .. } => 1,
        }
    }

    /// The behaviour of random operators.
    pub fn randomness(&self) -> Randomness {
        match self.kind {
            Kind::Vmap { randomness, .. } => randomness,
            Kind::Grad { .. } => Randomness::Same,
        }
    }

    /// Whether a tensor is a wrapper of a level inside this one.
    pub fn is_around(&self, tensor: &Tensor) -> bool {
        tensor.content::<Batched>().is_some_and(|batched| batched.level > self.id)
    }

    /// Whether a tensor is batched at this level.
    pub fn has(&self, tensor: &Tensor) -> bool {
        self.content(tensor).is_some_and(|batched| batched.dim().is_some())
    }

    /// Whether a tensor is a wrapper of this level, whether batched or shared by all examples.
    pub fn wraps(&self, tensor: &Tensor) -> bool {
        self.content(tensor).is_some()
    }

    /// Whether a tensor is a wrapper of this level that all examples share.
    fn shares(&self, tensor: &Tensor) -> bool {
        self.content(tensor).is_some_and(|shared| shared.dim().is_none())
    }

    fn content<'t>(&self, tensor: &'t Tensor) -> Option<&'t Batched> {
        tensor.content::<Batched>().filter(|batched| batched.level == self.id)
    }

    /// The tensor with all examples, and its batch dimension; a tensor that is not batched at this level is returned
    /// unchanged.
    ///
    /// PyTorch: `unwrapTensorAtLevel`.
    pub fn unwrap(&self, tensor: &Tensor) -> (Tensor, Option<usize>) {
        self.content(tensor).map_or_else(|| (tensor.clone(), None), Batched::value)
    }

    /// A batched tensor, which stands for each of the examples along a dimension of `value`.
    ///
    /// # Errors
    /// The value has no such dimension, or its size is not that of the batch.
    ///
    /// PyTorch: `makeBatched`.
    pub fn wrap(&self, value: Tensor, dim: usize) -> Result<Tensor> {
        let geometry = self.geometry_of_one(&value, dim)?;
        self.wrapper(value, Some(dim), &geometry)
    }

    /// A separate tensor for a value that all examples share: operations that autograd records for it inside vmap are
    /// not recorded for the value.
    ///
    /// # Errors
    /// The errors of [`Tensor::wrapper`].
    ///
    /// PyTorch: functorch's `TensorWrapper`.
    pub fn wrap_shared(&self, value: Tensor) -> Result<Tensor> {
        let geometry = value.geometry().clone();
        self.wrapper(value, None, &geometry)
    }

    fn wrapper(&self, value: Tensor, dim: Option<usize>, geometry: &Geometry) -> Result<Tensor> {
        let key_set = value.key_set() | DispatchKeySet::from_keys(&[FRONT, BACK]);
        // It has the value's storage, for code that compares storages or counts versions. An empty batch has less
        // memory than one example would need.
        let storage = if value.numel() == 0 {
            let nbytes = usize::try_from(geometry.end()?).unwrap_or(0).saturating_mul(value.dtype().size());
            Storage::without_data(nbytes, value.device())
        } else {
            value.storage().clone()
        };
        let dtype = value.dtype();
        let batched = Batched { level: self.id, value: Mutex::new((value, dim)) };
        Tensor::wrapper(storage, geometry, dtype, key_set, batched)
    }

    /// Makes a batched tensor stand for another value, for all its handles: for the rules of operators that change
    /// sizes in place.
    ///
    /// # Errors
    /// The errors of [`wrap`](Self::wrap); the tensor is not batched at this level.
    pub fn rewrap(&self, tensor: &mut Tensor, value: Tensor, dim: usize) -> Result<()> {
        let geometry = self.geometry_of_one(&value, dim)?;
        let handle = tensor.clone();
        let Some(batched) = self.content(&handle) else {
            bail!(Argument, "the tensor is not batched at this level of vmap");
        };
        tensor.set_geometry(geometry.sizes(), geometry.strides(), geometry.offset())?;
        batched.replace(value, Some(dim));
        Ok(())
    }

    fn geometry_of_one(&self, value: &Tensor, dim: usize) -> Result<Geometry> {
        let geometry = value.geometry();
        ensure!(
            geometry.sizes().get(dim) == Some(&self.batch_size()),
            Shape,
            "dimension {dim} of sizes {:?} does not have the {} examples of the batch",
            geometry.sizes(),
            self.batch_size()
        );
        let without = |list: &[i64]| {
            let mut rest = Dims::from_slice(list);
            rest.remove(dim);
            rest
        };
        Geometry::new(&without(geometry.sizes()), &without(geometry.strides()), geometry.offset())
    }

    /// Runs a closure as a batching rule of this level: inside, [`current`](Self::current) is this level.
    pub fn serve<R>(self, f: impl FnOnce() -> R) -> R {
        let _served = Setting::new(&SERVED, Some(self));
        f()
    }

    /// Runs a closure as if this level, the innermost, did not exist, as needed for a random operator on one example.
    pub fn outside<R>(&self, f: impl FnOnce() -> R) -> R {
        struct Restore(Vec<Level>, Option<ForceDispatchKeyGuard>);
        impl Drop for Restore {
            fn drop(&mut self) {
                replace_levels(std::mem::take(&mut self.0));
                drop(self.1.take());
            }
        }
        let levels = replace_levels(Vec::new());
        let outer: Vec<_> = levels.iter().copied().filter(|level| level.id < self.id).collect();
        let LocalDispatchKeySet { included, excluded } = LocalDispatchKeySet::current();
        let random = DispatchKey::FuncTorchVmapMode;
        let included = if outer.is_empty() { included.remove(random) } else { included };
        let keys = ForceDispatchKeyGuard::new(LocalDispatchKeySet { included, excluded });
        replace_levels(outer);
        let _restore = Restore(levels, Some(keys));
        f()
    }
}

impl fmt::Debug for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Level({} of {} examples)", self.id, self.batch_size())
    }
}

/// An active level. Drop guards in reverse order.
#[must_use = "a guard acts while it lives: bind it to a name, `let _guard = …`; `let _ = …` drops it at once"]
#[derive(Debug)]
pub struct LevelGuard {
    level: Level,
    _random: Option<IncludeDispatchKeyGuard>,
}

impl LevelGuard {
    /// The level that this guard began.
    pub fn level(&self) -> Level {
        self.level
    }
}

impl Drop for LevelGuard {
    fn drop(&mut self) {
        let is_last = LEVELS.with_borrow_mut(|levels| {
            levels.retain(|level| level.id != self.level.id);
            levels.is_empty()
        });
        if is_last {
            replace_levels(Vec::new());
        }
    }
}

/// Sets a cell, and restores it when dropped.
struct Setting<T: Copy + 'static>(&'static std::thread::LocalKey<Cell<T>>, T);

impl<T: Copy> Setting<T> {
    fn new(cell: &'static std::thread::LocalKey<Cell<T>>, value: T) -> Self {
        Setting(cell, cell.replace(value))
    }
}

impl<T: Copy> Drop for Setting<T> {
    fn drop(&mut self) {
        self.0.set(self.1);
    }
}

/// The front layer, above all others.
pub(crate) const FRONT_LAYER: LayerKernel =
    LayerKernel { key: DispatchKey::FuncTorchDynamicLayerFrontMode, kernel: front, name: "vmap_front" };

/// The back layer, below autograd.
pub(crate) const BACK_LAYER: LayerKernel =
    LayerKernel { key: DispatchKey::FuncTorchDynamicLayerBackMode, kernel: back, name: "vmap_back" };

/// The fallback at the front: remembers what the thread includes and excludes.
///
/// A call that a layer makes within a call, with its own keys excluded, belongs to the outer call and uses its keys.
fn front(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    let in_front = IN_FRONT.get().unwrap_or_else(LocalDispatchKeySet::current);
    let _remembered = Setting::new(&IN_FRONT, Some(in_front));
    operator.redispatch_boxed(keys & DispatchKeySet::full_after(FRONT), stack)
}

/// The fallback below autograd: runs the batching rule for the innermost level among the arguments.
fn back(operator: OperatorHandle, _: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    let level = innermost(operator.arguments(stack)?).map_err(|error| error.context(operator))?;
    let keys = IN_FRONT.get().unwrap_or_else(LocalDispatchKeySet::current);
    let _keys = ForceDispatchKeyGuard::new(keys);
    let _in_front = Setting::new(&IN_FRONT, None);
    let arity = operator.arguments(stack)?.len();
    let arguments = stack.last_mut(arity);
    let tensors = || arguments.iter().flat_map(Value::all_tensors);
    let (is_batched, is_shared) =
        (tensors().any(|tensor| level.has(tensor)), tensors().any(|tensor| level.shares(tensor)));
    // A rule gets the values of tensors that all examples share.
    let originals = match is_shared {
        true => arguments.iter_mut().map(|argument| level.unwrap_shared(argument)).collect::<Result<_>>()?,
        false => Vec::new(), // there are none to restore
    };
    if is_batched {
        let rule = DispatchKeySet::from_key(DispatchKey::FuncTorchBatched);
        return level.serve(|| operator.redispatch_boxed(rule, stack));
    }
    match level.kind {
        Kind::Grad { grad_mode: true } => enable_grad(|| operator.call_boxed(stack))?,
        Kind::Grad { grad_mode: false } => no_grad(|| operator.call_boxed(stack))?,
        Kind::Vmap { .. } => operator.call_boxed(stack)?,
    }
    level.share_returns(operator, stack, originals)
}

impl Level {
    /// Replaces tensors that all examples share by their values, and returns the original argument if there were any.
    fn unwrap_shared<'v>(&self, argument: &mut Value<'v>) -> Result<Option<Value<'v>>> {
        let value =
            |tensor: &Tensor| if self.shares(tensor) { self.unwrap(tensor).0 } else { tensor.clone() };
        if !argument.all_tensors().any(|tensor| self.shares(tensor)) {
            return Ok(None);
        }
        let unwrapped = argument.map_tensors(|tensor| Ok(value(tensor)))?.into_owned();
        Ok(Some(std::mem::replace(argument, unwrapped)))
    }

    /// Wraps the returns of a call on shared values; a written argument is returned as the original tensor.
    fn share_returns<'v>(
        &self,
        operator: OperatorHandle,
        stack: &mut Stack<'v>,
        mut originals: Vec<Option<Value<'v>>>,
    ) -> Result<()> {
        let count = operator.schema()?.returns.len();
        for (index, value) in stack.last_mut(count).iter_mut().enumerate() {
            let argument = operator.operator().returned_argument(index);
            if let Some(mut original) = argument.and_then(|argument| originals.get_mut(argument)?.take()) {
                self.refresh(&mut original)?;
                *value = original;
                continue;
            }
            let shared = value.map_tensors(|tensor| self.wrap_shared(tensor.clone()))?.into_owned();
            *value = shared;
        }
        Ok(())
    }

    /// Gives a shared tensor the geometry that its value has now.
    fn refresh(&self, shared: &mut Value<'_>) -> Result<()> {
        let tensor = match shared {
            Value::TensorMut(tensor) => &mut **tensor,
            Value::Tensor(tensor) => tensor,
            _ => return Ok(()),
        };
        let (value, _) = self.unwrap(tensor);
        let geometry = value.geometry();
        if geometry == tensor.geometry() {
            return Ok(());
        }
        tensor.set_geometry(geometry.sizes(), geometry.strides(), geometry.offset())
    }
}

/// Sets this thread's levels, and returns the old ones.
fn replace_levels(levels: Vec<Level>) -> Vec<Level> {
    ManuallyDrop::into_inner(LEVELS.replace(ManuallyDrop::new(levels)))
}

fn check_depth() -> Result<()> {
    let depth = LEVELS.with_borrow(|levels| levels.len());
    ensure!(
        depth < limits::LEVELS,
        Argument,
        "vmap is {depth} levels deep on this thread, at most {} are allowed",
        limits::LEVELS
    );
    Ok(())
}

/// The innermost level at which an argument is wrapped.
fn innermost(values: &[Value<'_>]) -> Result<Level> {
    let id = |tensor: &Tensor| tensor.content::<Batched>().map(|batched| batched.level);
    let Some(id) = values.iter().flat_map(Value::all_tensors).filter_map(id).max() else {
        bail!(Internal, "a call with the keys of vmap has no batched argument");
    };
    match LEVELS.with_borrow(|levels| levels.iter().copied().find(|level| level.id == id)) {
        Some(level) => Ok(level),
        None => bail!(
            Argument,
            "a batched tensor is used outside of its vmap: what leaves vmap has to be returned from its function"
        ),
    }
}
