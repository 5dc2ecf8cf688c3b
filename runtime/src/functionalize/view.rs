//! Functional tensors, and the steps between a view and its base.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::memory::{Memory, Origin, geometry_of_extent, geometry_of_whole, is_whole};
use super::named;
use crate::error::{Error, ErrorKind, Result};
use crate::guard::ExcludeDispatchKeyGuard;
use crate::key::{DispatchKey, DispatchKeySet};
use crate::tensor::geometry::{Dims, Geometry};
use crate::tensor::{BackendRef, Storage, Tensor};
use crate::{bail, ensure};

type Forward = dyn Fn(&Tensor) -> Result<Tensor> + Send + Sync;
type Reverse = dyn Fn(&Tensor, &Tensor) -> Result<Tensor> + Send + Sync;

/// How a view is computed from its base, and how a new base is computed from the old one and the new value of the view.
///
/// PyTorch: `ViewMeta`.
#[derive(Clone)]
pub(super) struct Step {
    forward: Arc<Forward>,
    /// If there is none, the view's geometry says where its elements belong in the base.
    reverse: Option<Arc<Reverse>>,
    /// Whether the view has no elements besides those of an input.
    is_part: bool,
}

impl Step {
    pub(super) fn new(forward: impl Fn(&Tensor) -> Result<Tensor> + Send + Sync + 'static) -> Self {
        Step { forward: Arc::new(forward), reverse: None, is_part: false }
    }

    fn with_reverse(
        self,
        reverse: impl Fn(&Tensor, &Tensor) -> Result<Tensor> + Send + Sync + 'static,
    ) -> Self {
        Step { reverse: Some(Arc::new(reverse)), is_part: true, ..self }
    }

    /// A step to the part of the memory that an input shows.
    fn place(origin: Origin, geometry: Geometry) -> Self {
        let forward = move |base: &Tensor| named::as_strided(base, &origin.within(base, &geometry)?);
        Step { is_part: true, ..Step::new(forward) }
    }
}

/// The content of a functional tensor besides its memory.
///
/// PyTorch: `FunctionalTensorWrapper`.
pub(super) struct Functional(Mutex<State>);

#[derive(Clone, Default)]
struct State {
    steps: Vec<Step>,
    /// The value, and the generation of the base that it was computed from.
    value: Option<(Tensor, u64)>,
}

/// Excludes functionalization, and autograd, which has recorded the program already, for the calls that this layer
/// makes.
pub(super) fn below() -> ExcludeDispatchKeyGuard {
    ExcludeDispatchKeyGuard::new(
        DispatchKeySet::AUTOGRAD_AND_AD_INPLACE_OR_VIEW.add(DispatchKey::Functionalize),
    )
}

impl Functional {
    pub(super) fn of(tensor: &Tensor) -> Option<(&Functional, BackendRef<'_, Memory>)> {
        Some((tensor.content::<Functional>()?, Memory::of(tensor)?))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The plain tensor with the current value.
    pub(super) fn value(&self, memory: &Memory) -> Result<Tensor> {
        let (base, generation) = memory.base();
        let State { steps, value } = self.state().clone();
        if let Some((value, made)) = value
            && made == generation
        {
            return Ok(value);
        }
        let _below = below();
        let value = steps.iter().try_fold(base, |value, step| (step.forward)(&value))?;
        let before = self.state().value.replace((value.clone(), generation));
        drop(before); // after the lock is released
        Ok(value)
    }

    /// Sets the value of this tensor, by replacing the base accordingly; all views follow from the base.
    pub(super) fn write(&self, memory: &Memory, tensor: &Tensor, value: Tensor) -> Result<()> {
        let _below = below();
        let (base, _) = memory.base();
        let is_alike = (value.sizes(), value.dtype()) == (tensor.sizes(), tensor.dtype());
        let value = if is_alike { value } else { named::copy(&self.value(memory)?, &value)? };
        let steps = self.state().steps.clone();
        // An operator that replaces a part of a tensor copies the memory around the tensor as well.
        let base = if steps.is_empty() { base } else { compact(base)? };
        let mut new = carried_back(&steps, memory, &base, value, tensor.geometry())?;
        if (new.sizes(), new.strides()) != (base.sizes(), base.strides()) || !is_whole(&new) {
            new = named::copy(&compact(base)?, &new)?; // strides are visible to the program, too
        }
        let is_inside = steps.iter().all(|step| step.is_part);
        memory.replace(new, (!is_inside).then(|| tensor.geometry()));
        Ok(())
    }

    /// Makes a functional tensor equal to another, for all its handles.
    pub(super) fn adopt(tensor: &mut Tensor, other: &Tensor) -> Result<()> {
        if let (Some((this, _)), Some((other, _))) = (Functional::of(tensor), Functional::of(other)) {
            let state = other.state().clone();
            let before = std::mem::replace(&mut *this.state(), state);
            drop(before); // after the lock is released
        }
        let geometry = other.geometry();
        tensor.set_storage(other.storage().clone(), geometry.sizes(), geometry.strides(), geometry.offset())
    }
}

/// The same elements in memory that they fill.
fn compact(base: Tensor) -> Result<Tensor> {
    if is_whole(&base) { Ok(base) } else { named::clone(&base) }
}

/// The new base for which a view has this value.
fn carried_back(
    steps: &[Step],
    memory: &Memory,
    base: &Tensor,
    value: Tensor,
    geometry: &Geometry,
) -> Result<Tensor> {
    let reverses: Option<Vec<_>> = steps.iter().map(|step| step.reverse.clone()).collect();
    let Some(reverses) = reverses else {
        if value.dtype() != base.dtype() {
            bail!(
                NotSupported,
                "a view of {} as {} is written to, and the operator that made the view has no inverse\n  \
                 help: register a kernel for it at Functionalize, with `functionalize::view`",
                base.dtype(),
                value.dtype()
            );
        }
        return named::as_strided_scatter(base, &value, &memory.origin().within(base, geometry)?);
    };
    let mut befores = vec![base.clone()];
    for step in steps.iter().take(steps.len().saturating_sub(1)) {
        befores.push((step.forward)(&befores[befores.len() - 1])?);
    }
    let back = befores.iter().zip(&reverses).rev();
    back.into_iter().try_fold(value, |view, (before, reverse)| reverse(before, &view))
}

fn wrapper(
    storage: &Storage,
    geometry: &Geometry,
    value: Tensor,
    generation: u64,
    steps: Vec<Step>,
) -> Result<Tensor> {
    // The keys of functorch transforms belong to the tensors inside, not to the wrapper.
    const FUNCTORCH: DispatchKeySet = DispatchKeySet::from_keys(&[
        DispatchKey::FuncTorchDynamicLayerFrontMode,
        DispatchKey::FuncTorchDynamicLayerBackMode,
    ]);
    let keys = (value.key_set() - FUNCTORCH).add(DispatchKey::Functionalize);
    let dtype = value.dtype();
    let functional = Functional(Mutex::new(State { steps, value: Some((value, generation)) }));
    Tensor::wrapper(storage.clone(), geometry, dtype, keys, functional)
}

/// A functional tensor with memory of its own.
pub(super) fn fresh(value: Tensor) -> Result<Tensor> {
    within(value, Memory::around)
}

/// A functional tensor with memory of its own, to which another tensor will be moved.
pub(super) fn later(value: Tensor) -> Result<Tensor> {
    within(value, Memory::later)
}

fn within(value: Tensor, memory: fn(Tensor) -> Memory) -> Result<Tensor> {
    if value.is_wrapper() || value.is_non_overlapping_and_dense() {
        let geometry = value.geometry().clone();
        return wrapper(&Storage::new(memory(value.clone())), &geometry, value, 0, Vec::new());
    }
    let extent = geometry_of_extent(&value)?;
    let base = {
        let _below = below();
        named::as_strided(&value, &extent)?
    };
    place_in(&Storage::new(memory(base)), value)
}

/// A functional tensor for an input whose memory other inputs share.
pub(super) fn first_in_memory(value: Tensor) -> Result<Tensor> {
    if is_whole(&value) {
        return fresh(value);
    }
    let base = {
        let _below = below();
        named::as_strided(&value, &geometry_of_whole(&value)?)?
    };
    place_in(&Storage::new(Memory::around(base)), value)
}

/// A functional tensor for a value in memory whose base has not been replaced yet.
pub(super) fn place_in(storage: &Storage, value: Tensor) -> Result<Tensor> {
    let Some(memory) = storage.downcast_ref::<Memory>() else { return fresh(value) };
    let geometry = value.geometry().clone();
    let step = Step::place(memory.origin(), geometry.clone());
    wrapper(storage, &geometry, value, 0, vec![step])
}

/// A functional view: one step from another functional tensor.
pub(super) fn step_from(source: &Tensor, value: Tensor, step: Step) -> Result<Tensor> {
    let Some((functional, memory)) = Functional::of(source) else { return fresh(value) };
    let before = functional.value(&memory)?;
    // An operator that may return a view may also return a copy.
    if !before.shares_storage_with(&value) {
        return fresh(value);
    }
    let geometry = seen(&value, &before, source)?;
    let mut steps = functional.state().steps.clone();
    steps.push(step);
    wrapper(&source.storage(), &geometry, value, memory.base().1, steps)
}

/// A functional view of any part of the memory of a functional tensor.
pub(super) fn part_of(source: &Tensor, part: &Geometry) -> Result<Tensor> {
    let Some((functional, memory)) = Functional::of(source) else { return named::as_strided(source, part) };
    let (sizes, strides) = (Dims::from_slice(part.sizes()), Dims::from_slice(part.strides()));
    let distance = part.offset() - source.storage_offset();
    let forward = move |before: &Tensor| {
        named::as_strided(before, &Geometry::new(&sizes, &strides, before.storage_offset() + distance)?)
    };
    let value = {
        let _below = below();
        forward(&functional.value(&memory)?)?
    };
    step_from(source, value, Step::new(forward))
}

/// The geometry that a view has for the program: it is as far from the functional tensor `source` as its value is from
/// the value `before` of that tensor.
fn seen(value: &Tensor, before: &Tensor, source: &Tensor) -> Result<Geometry> {
    let (geometry, width) = (value.geometry(), value.dtype().size() as i64);
    let bytes = (source.storage_offset() - before.storage_offset()) * before.dtype().size() as i64;
    ensure!(
        bytes % width == 0,
        Shape,
        "a view as {} starts {bytes} bytes from the start of its memory, which is not a multiple of {width}",
        value.dtype()
    );
    Geometry::new(geometry.sizes(), geometry.strides(), geometry.offset() + bytes / width)
}

/// The kernel at `Functionalize` for an operator that returns a view.
///
/// `forward` computes the view from a base. `reverse` computes the new base from the base and the new value of the
/// view. Neither writes.
///
/// ```
/// use torch_library::prelude::*;
/// use torch_library::functionalize;
///
/// torch_library! {
///     pub mod functionalize_docs {
///         /// The same elements.
///         same(Tensor(a) self) -> Tensor(a);
///     }
/// }
///
/// #[torch_impl(functionalize_docs, CompositeExplicitAutograd)]
/// fn same(this: &Tensor) -> Result<Tensor> {
///     this.strided_view(this.sizes(), this.strides(), this.storage_offset())
/// }
///
/// #[torch_impl(functionalize_docs::same, Functionalize)]
/// fn functional_same(this: &Tensor) -> Result<Tensor> {
///     functionalize::view(this, functionalize_docs::same, |_, view| Ok(view.clone()))
/// }
///
/// # fn main() -> Result<()> {
/// let x = functionalize::to_functional(&Tensor::from([1.0, 2.0]))?;
/// let same = functionalize_docs::same(&x)?;
/// assert!(functionalize::is_functional(&same) && same.shares_storage_with(&x));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// The errors of `forward`.
///
/// PyTorch: `ViewMeta(forward_fn, reverse_fn)`.
pub fn view(
    this: &Tensor,
    forward: impl Fn(&Tensor) -> Result<Tensor> + Send + Sync + 'static,
    reverse: impl Fn(&Tensor, &Tensor) -> Result<Tensor> + Send + Sync + 'static,
) -> Result<Tensor> {
    let _below = below();
    let Some((functional, memory)) = Functional::of(this) else { return forward(this) };
    let value = forward(&functional.value(&memory)?)?;
    step_from(this, value, Step::new(forward).with_reverse(reverse))
}

/// Like [`view()`], for an operator that returns several views: `reverse` gets the index of the one that was written
/// to.
///
/// # Errors
/// The errors of `forward`.
pub fn views(
    this: &Tensor,
    forward: impl Fn(&Tensor) -> Result<Vec<Tensor>> + Send + Sync + 'static,
    reverse: impl Fn(&Tensor, &Tensor, usize) -> Result<Tensor> + Send + Sync + 'static,
) -> Result<Vec<Tensor>> {
    let _below = below();
    let Some((functional, memory)) = Functional::of(this) else { return forward(this) };
    let values = forward(&functional.value(&memory)?)?;
    let (forward, reverse) = (Arc::new(forward), Arc::new(reverse));
    let view = |(index, value)| {
        let (forward, reverse) = (Arc::clone(&forward), Arc::clone(&reverse));
        let step = Step::new(move |base| nth(forward(base)?, index))
            .with_reverse(move |base, view| reverse(base, view, index));
        step_from(this, value, step)
    };
    values.into_iter().enumerate().map(view).collect()
}

/// The view with this index, from a base that gives the same number of views.
pub(super) fn nth(views: Vec<Tensor>, index: usize) -> Result<Tensor> {
    let count = views.len();
    let missing = || {
        Error::new(
            ErrorKind::Internal,
            format!("view {index} of {count}: the sizes of the base have changed"),
        )
    };
    views.into_iter().nth(index).ok_or_else(missing)
}
