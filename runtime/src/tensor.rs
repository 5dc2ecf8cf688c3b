//! The tensor handle that all kernels use.

mod access;
pub(crate) mod backend;
mod bytes;
mod counterparts;
mod create;
mod debug;
mod foreign;
pub mod geometry;
mod lease;
mod lease_word;
mod overlap;
mod parts;
mod placement;
mod print;
mod resize;
mod storage;
mod wrapper;

use std::any::Any;
use std::panic::Location;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use crate::device::Device;
use crate::dtype::{DType, Operand};
use crate::ensure;
use crate::error::Result;
use crate::key::DispatchKeySet;
use crate::layout::MemoryFormat;
use geometry::Geometry;
use lease::StorageLease;
use placement::Placement;
use wrapper::Content;

pub use access::{Elements, ElementsMut};
pub use bytes::{StorageBytes, StorageBytesMut};
pub(crate) use counterparts::Counterparts;
pub use foreign::ForeignTensor;
pub use lease::{Lease, Leased, ListLease, OwnedLease};
pub use overlap::Overlap;
pub use storage::{BackendRef, Foreign, Storage, StorageImpl, StorageRef};

/// A multi-dimensional array of numbers: a handle to shared, typed, strided memory.
///
/// A handle is one word. Cloning it gives a second handle to the same tensor; views are separate tensors that share the
/// memory. Operators come from other crates, as functions and methods, and `+`, `-`, `*` and `/` call those of `aten`
/// (`(&x + &y)?`). This module creates tensors, queries them, and copies elements in and out.
///
/// ```
/// use torch_library::{DType, Tensor};
///
/// let x = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
/// assert_eq!((x.sizes(), x.strides(), x.dtype()), (&[2, 2][..], &[2, 1][..], DType::Float64));
/// assert_eq!(x.to_vec::<f64>()?, [1.0, 2.0, 3.0, 4.0]);
/// println!("{x}");
/// # Ok::<(), torch_library::Error>(())
/// ```
///
/// # Sharing and threads
/// Handles may be sent to and used from any thread, and every handle may write: `&mut Tensor` marks mutation in
/// signatures, it does not prove that there is no other handle. Hence, as in PyTorch:
/// - Sizes, strides, offset and storage may be replaced (`squeeze_`, `resize_`) while other code reads them; every
///   query is consistent ([`geometry`](Tensor::geometry)), and its result stays valid as long as the handle that it
///   came from is borrowed.
/// - While elements are written, no other code reads or writes that memory, or changes the tensor's geometry; while
///   elements are read, no code writes them. Code holds a [`Lease`] on the storage for as long as it accesses elements;
///   a conflicting access, on the same thread or another, fails with an error of the kind
///   [`Busy`](crate::ErrorKind::Busy). So safe code has no data races, whatever it does. A closure that a kernel calls
///   for each element may read the tensors that the kernel reads, and must write to none of the kernel's tensors.
/// - Threads that write different parts of one memory use [`disjoint_parts`](Tensor::disjoint_parts).
///
/// PyTorch: `at::Tensor`.
#[derive(Clone)]
pub struct Tensor(Arc<TensorImpl>);

/// A weak reference to a tensor, for caches.
///
/// ```
/// use torch_library::Tensor;
///
/// let x = Tensor::from([1.0]);
/// let weak = x.downgrade();
/// assert!(weak.upgrade().is_some_and(|y| y.is_same(&x)));
/// drop(x);
/// assert!(weak.upgrade().is_none());
/// ```
///
/// PyTorch: `c10::weak_intrusive_ptr<TensorImpl>`, `weakref.ref` in Python.
#[derive(Clone, Debug)]
pub struct WeakTensor(Weak<TensorImpl>);

/// The tensor that handles point to.
struct TensorImpl {
    key_set: DispatchKeySet,
    dtype: DType,
    device: Device,
    is_defined: bool,
    is_wrapped_number: bool,
    gradient: AtomicU8, // one of the values of `Gradient`
    place: Placement,
    autograd: OnceLock<Box<dyn AutogradMetaInterface>>,
    /// For a wrapper: the data of the layer that made it.
    content: Content,
}

/// A storage, and the geometry of the elements in it, which always stays within the storage's bounds.
#[derive(Debug)]
struct StorageView {
    storage: Storage,
    geometry: Geometry,
}

impl StorageView {
    /// Checks that elements of a type that the program is built with lie within a storage, and that their addresses are
    /// aligned.
    #[inline]
    fn check(storage: &Storage, geometry: &Geometry, dtype: DType) -> Result<()> {
        dtype.ensure_built()?;
        let (end, capacity) = (geometry.end()?, storage.nbytes() / dtype.size());
        ensure!(
            usize::try_from(end).is_ok_and(|end| end <= capacity),
            Shape,
            "sizes {:?}, strides {:?} and offset {} reach {end} elements of {dtype}, the storage has {capacity}",
            geometry.sizes(),
            geometry.strides(),
            geometry.offset()
        );
        storage.check_alignment(dtype.align())
    }
}

/// Queries.
impl Tensor {
    /// The dispatch keys that this tensor adds to a call.
    #[inline(always)]
    pub fn key_set(&self) -> DispatchKeySet {
        self.0.key_set
    }

    /// The element type.
    #[inline]
    pub fn dtype(&self) -> DType {
        self.0.dtype
    }

    /// The device of the elements.
    #[inline]
    pub fn device(&self) -> Device {
        self.0.device
    }

    /// A consistent snapshot of sizes, strides and offset.
    ///
    /// Another handle may change them between two calls of [`sizes`](Tensor::sizes) and [`strides`](Tensor::strides);
    /// kernels take one geometry and keep using it.
    #[inline]
    pub fn geometry(&self) -> &Geometry {
        self.0.place.geometry()
    }

    /// The size of each dimension.
    ///
    /// PyTorch: `Tensor.shape`.
    #[doc(alias = "shape")]
    #[doc(alias = "dims")]
    #[inline]
    pub fn sizes(&self) -> &[i64] {
        self.geometry().sizes()
    }

    /// The stride of each dimension, in elements.
    ///
    /// PyTorch: `Tensor.stride()`.
    #[inline]
    pub fn strides(&self) -> &[i64] {
        self.geometry().strides()
    }

    /// The index of the first element in the storage, in elements.
    #[inline]
    pub fn storage_offset(&self) -> i64 {
        self.geometry().offset()
    }

    /// The memory.
    #[inline]
    pub fn storage(&self) -> StorageRef<'_> {
        self.0.place.storage()
    }

    /// The number of dimensions.
    #[doc(alias = "ndim")]
    #[doc(alias = "rank")]
    #[inline]
    pub fn dim(&self) -> usize {
        self.geometry().dim()
    }

    /// The number of elements.
    #[doc(alias = "len")]
    #[doc(alias = "elem_count")]
    #[doc(alias = "num_elements")]
    #[inline]
    pub fn numel(&self) -> i64 {
        self.geometry().numel()
    }

    /// The size of one dimension, counted from the back if negative.
    ///
    /// # Errors
    /// A dimension out of range, such as any dimension of a tensor that has none.
    pub fn size(&self, dim: i64) -> Result<i64> {
        self.geometry().size(dim)
    }

    /// Whether the elements are contiguous in a memory format.
    #[inline]
    pub fn is_contiguous(&self, format: MemoryFormat) -> bool {
        let geometry = self.geometry();
        match format {
            MemoryFormat::Contiguous => geometry.is_contiguous(),
            _ => geometry::is_contiguous_as(geometry.sizes(), geometry.strides(), format),
        }
    }

    /// The memory format that element-wise operators choose for results from this tensor.
    pub fn suggest_memory_format(&self) -> MemoryFormat {
        let geometry = self.geometry();
        geometry::suggest_memory_format(geometry.sizes(), geometry.strides())
    }

    /// Whether the elements fill a block of memory without gaps or overlap, with the dimensions in any order.
    pub fn is_non_overlapping_and_dense(&self) -> bool {
        let geometry = self.geometry();
        geometry::is_non_overlapping_and_dense(geometry.sizes(), geometry.strides())
    }

    /// Whether this stands for a plain number in an operator's tensor argument, which has lower priority in
    /// [promotion](crate::result_type).
    ///
    /// PyTorch: `TensorImpl::is_wrapped_number`.
    #[inline]
    pub fn is_wrapped_number(&self) -> bool {
        self.0.is_wrapped_number
    }

    /// Whether there is a tensor at all: false only for the result of [`undefined`](Tensor::undefined).
    ///
    /// PyTorch: `Tensor::defined`.
    #[inline]
    pub fn is_defined(&self) -> bool {
        self.0.is_defined
    }

    /// Whether this tensor was made in inference mode: neither autograd nor the tracking of views and versions applies
    /// to it.
    ///
    /// PyTorch: `Tensor.is_inference`.
    pub fn is_inference(&self) -> bool {
        !self.key_set().has_any(DispatchKeySet::AUTOGRAD_AND_AD_INPLACE_OR_VIEW)
    }

    /// The operand that type promotion uses for this tensor.
    pub fn promotion_operand(&self) -> Operand {
        match self.dim() {
            0 if self.is_wrapped_number() => Operand::Number(self.dtype()),
            0 => Operand::ZeroDim(self.dtype()),
            _ => Operand::Dimensioned(self.dtype()),
        }
    }

    /// Whether both handles refer to the same tensor, not just to equal or shared elements.
    ///
    /// PyTorch: `Tensor::is_same`.
    #[inline]
    pub fn is_same(&self, other: &Tensor) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Whether both tensors have the same storage, whether or not their elements overlap. A backend's storage counts as
    /// the host storage that it lends.
    ///
    /// PyTorch: `Tensor::is_alias_of`.
    #[inline]
    pub fn shares_storage_with(&self, other: &Tensor) -> bool {
        match (self.first_storage(), other.first_storage()) {
            (Some(own), Some(other)) => own.is_memory_of(other),
            _ => self.storage().is_memory_of(&other.storage()),
        }
    }

    /// The version counter: how often the memory was written in place, through this tensor or another with the same
    /// storage.
    ///
    /// PyTorch: `Tensor._version`.
    #[inline]
    pub fn version(&self) -> u64 {
        self.storage().version()
    }

    /// Counts an in-place write. Layers do this around kernels, and methods that write elements where no kernel calls
    /// them; kernels do not.
    ///
    /// PyTorch: `torch.autograd.graph.increment_version`.
    #[inline]
    pub fn bump_version(&self) {
        self.storage().bump_version();
    }

    /// A number that identifies this tensor while it lives, the same for all of its handles: a key for maps.
    #[inline]
    pub fn id(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// Whether this handle is the only owner of the tensor and its memory.
    pub(crate) fn is_sole_owner(&self) -> bool {
        self.is_sole_handle() && self.storage().is_sole_owner()
    }

    /// Whether this is the only handle of the tensor, whether or not the memory is shared.
    pub(crate) fn is_sole_handle(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }

    /// A weak reference to the tensor.
    pub fn downgrade(&self) -> WeakTensor {
        WeakTensor(Arc::downgrade(&self.0))
    }

    /// The storage, if the tensor's placement was never changed while it had several handles.
    #[inline(always)]
    fn first_storage(&self) -> Option<&Storage> {
        self.0.place.first_storage()
    }

    /// Whether this is the tensor's storage.
    #[inline(always)]
    fn is_in(&self, storage: &Storage) -> bool {
        self.0.place.is_in(storage)
    }
}

/// Whether a tensor requires a gradient, in one byte: every call queries this, at the cost of one load.
enum Gradient {}

impl Gradient {
    const NOT_REQUIRED: u8 = 0;
    const REQUIRED: u8 = 1;
    /// A view, which requires a gradient if its base does: autograd decides.
    const AS_AUTOGRAD_SAYS: u8 = 2;
}

/// The autograd state of a tensor.
///
/// PyTorch: `c10::AutogradMetaInterface`.
pub(crate) trait AutogradMetaInterface: Any + Send + Sync {
    /// Whether a tensor requires a gradient, if its flag leaves this to autograd.
    fn requires_grad(&self) -> bool;

    /// Whether a recorded operator computed the tensor, or it is a view of one that requires a gradient.
    fn is_recorded(&self) -> bool;
}

/// The parts of a tensor that autograd uses: a flag, and a slot for its state.
impl Tensor {
    /// Whether this tensor requires a gradient.
    ///
    /// PyTorch: `Tensor.requires_grad`.
    #[inline(always)]
    pub fn requires_grad(&self) -> bool {
        match self.0.gradient.load(Ordering::Relaxed) /* a flag of its own, it publishes nothing */ {
            Gradient::NOT_REQUIRED => false,
            Gradient::REQUIRED => true,
            _ => self.base_requires_grad(),
        }
    }

    #[cold]
    fn base_requires_grad(&self) -> bool {
        self.0.autograd.get().is_some_and(|meta| meta.requires_grad())
    }

    #[inline]
    pub(crate) fn store_requires_grad(&self, requires_grad: bool) {
        let gradient = if requires_grad { Gradient::REQUIRED } else { Gradient::NOT_REQUIRED };
        self.0.gradient.store(gradient, Ordering::Relaxed);
    }

    /// Makes [`AutogradMetaInterface::requires_grad`] decide from now on.
    pub(crate) fn ask_autograd_for_requires_grad(&self) {
        self.0.gradient.store(Gradient::AS_AUTOGRAD_SAYS, Ordering::Relaxed);
    }

    /// Whether this tensor itself requires a gradient, not only its base.
    pub(crate) fn requires_grad_itself(&self) -> bool {
        self.0.gradient.load(Ordering::Relaxed) == Gradient::REQUIRED
    }

    /// The slot for the autograd state, which is set at most once in a tensor's life.
    #[inline]
    pub(crate) fn autograd_slot(&self) -> &OnceLock<Box<dyn AutogradMetaInterface>> {
        &self.0.autograd
    }
}

/// Creating tensors over the same memory, and changing a tensor's geometry or memory.
impl Tensor {
    /// A tensor over an existing storage, for backends and foreign memory.
    ///
    /// # Errors
    /// Sizes, strides and offset that are inconsistent or exceed the storage; storage that is not aligned for the type;
    /// a type that the program is [built without](DType::is_built).
    ///
    /// ```
    /// use torch_library::{DType, Device, DispatchKey, DispatchKeySet, Storage, Tensor};
    ///
    /// let storage = Storage::from_vec(vec![1f32, 2.0, 3.0, 4.0]);
    /// let keys = DispatchKeySet::from_key(DispatchKey::CPU); // an inference tensor: no autograd keys
    /// let x = Tensor::from_storage(storage, &[3], &[1], 1, DType::Float32, keys)?;
    /// assert_eq!(x.to_vec::<f32>()?, [2.0, 3.0, 4.0]);
    /// # Ok::<(), torch_library::Error>(())
    /// ```
    pub fn from_storage(
        storage: Storage,
        sizes: &[i64],
        strides: &[i64],
        offset: i64,
        dtype: DType,
        key_set: DispatchKeySet,
    ) -> Result<Tensor> {
        let mut tensor = Tensor::scalar_in(storage, dtype, key_set);
        tensor.geometry_mut().set(sizes, strides, offset)?;
        StorageView::check(&tensor.storage(), tensor.geometry(), dtype)?;
        Ok(tensor)
    }

    #[inline]
    fn from_place(place: StorageView, dtype: DType, key_set: DispatchKeySet) -> Tensor {
        let mut tensor = Tensor::scalar_in(place.storage, dtype, key_set);
        *tensor.geometry_mut() = place.geometry;
        tensor
    }

    /// A tensor over a storage, whose geometry is set next.
    #[inline]
    fn scalar_in(storage: Storage, dtype: DType, key_set: DispatchKeySet) -> Tensor {
        Tensor(Arc::new(TensorImpl {
            key_set,
            dtype,
            device: storage.device(),
            is_defined: true,
            is_wrapped_number: false,
            gradient: AtomicU8::new(Gradient::NOT_REQUIRED),
            place: Placement::new(StorageView { storage, geometry: Geometry::SCALAR }),
            autograd: OnceLock::new(),
            content: Content::NONE,
        }))
    }

    /// The geometry of a tensor that is still being created.
    #[inline]
    fn geometry_mut(&mut self) -> &mut Geometry {
        let tensor = Arc::get_mut(&mut self.0).expect("a new tensor has one handle");
        tensor.place.first_mut()
    }

    /// Another tensor over the same memory, with the same type and keys. No layer knows that it is a view, and it has
    /// no [history](crate::guide::memory#below-all-layers), like the result of `detach`. Programs call `as_strided`.
    ///
    /// # Errors
    /// Sizes, strides and offset that are inconsistent or exceed the storage.
    ///
    /// ```
    /// use torch_library::Tensor;
    ///
    /// let x = Tensor::from([1, 2, 3, 4]);
    /// let last = x.strided_view(&[2], &[1], 2)?;
    /// assert_eq!(last.to_vec::<i32>()?, [3, 4]);
    /// assert!(last.shares_storage_with(&x) && !last.is_same(&x));
    /// assert!(x.strided_view(&[3], &[2], 0).is_err());
    /// # Ok::<(), torch_library::Error>(())
    /// ```
    ///
    /// PyTorch: `at::detail::make_tensor` with the storage and keys of another tensor, as in kernels of `as_strided`.
    pub fn strided_view(&self, sizes: &[i64], strides: &[i64], offset: i64) -> Result<Tensor> {
        let mut view = Tensor::scalar_in(self.storage().clone(), self.dtype(), self.key_set());
        view.geometry_mut().set(sizes, strides, offset)?;
        StorageView::check(&view.storage(), view.geometry(), self.dtype())?;
        ensure!(
            !self.is_wrapper() || view.geometry() == self.geometry(),
            NotSupported,
            "only the layer of a wrapper tensor can make views of it: call an operator, such as `as_strided`"
        );
        Ok(view.with_content_of(self))
    }

    /// Another tensor over the same elements, for dispatch under other keys.
    #[must_use]
    pub fn with_key_set(&self, key_set: DispatchKeySet) -> Tensor {
        let (storage, geometry) = self.0.place.place();
        Tensor::from_place(
            StorageView { storage: storage.clone(), geometry: geometry.clone() },
            self.dtype(),
            key_set,
        )
        .with_content_of(self)
    }

    /// Changes the sizes, strides and offset of this tensor in its storage, for all its handles, [below all
    /// layers](crate::guide::memory#below-all-layers). Programs call `as_strided_`, `squeeze_` or `t_`.
    ///
    /// # Errors
    /// Sizes, strides and offset that are inconsistent or exceed the storage.
    ///
    /// ```
    /// use torch_library::Tensor;
    ///
    /// let mut x = Tensor::from([1, 2, 3, 4]);
    /// let handle = x.clone();
    /// x.set_geometry(&[2, 2], &[1, 2], 0)?;
    /// assert_eq!(handle.to_vec::<i32>()?, [1, 3, 2, 4]);
    /// # Ok::<(), torch_library::Error>(())
    /// ```
    ///
    /// PyTorch: `TensorImpl::set_sizes_and_strides`, as in kernels of `squeeze_`, `t_` and `as_strided_`.
    #[track_caller]
    pub fn set_geometry(&mut self, sizes: &[i64], strides: &[i64], offset: i64) -> Result<()> {
        self.count_own_write(); // what was saved of this tensor is no longer in these places
        let storage = self.storage().clone();
        self.set_storage(storage, sizes, strides, offset)
    }

    /// Replaces the storage of this tensor, for all its handles. Its views keep the old one.
    ///
    /// # Errors
    /// Sizes, strides and offset that are inconsistent or exceed the storage; a storage of another device; a kernel
    /// that is using the old memory, if there are other handles.
    ///
    /// PyTorch: `TensorImpl::set_storage_and_dtype`, as in kernels of `set_` and of a growing `resize_`.
    #[track_caller]
    pub fn set_storage(
        &mut self,
        storage: Storage,
        sizes: &[i64],
        strides: &[i64],
        offset: i64,
    ) -> Result<()> {
        ensure!(
            storage.device() == self.device(),
            Device,
            "a tensor on {} cannot move to storage on {}",
            self.device(),
            storage.device()
        );
        let (here, geometry) = (Location::caller(), Geometry::new(sizes, strides, offset)?);
        StorageView::check(&storage, &geometry, self.dtype())?;
        let place = StorageView { storage, geometry };
        match Arc::get_mut(&mut self.0) {
            Some(only) => only.place.replace(place),
            // A kernel that has leased the memory through another handle relies on the geometry and addresses that it
            // has read.
            None => {
                self.0
                    .place
                    .publish(place, |before| StorageLease::exclusive(StorageRef::Owned(before), here))?;
            }
        }
        Ok(())
    }
}

impl WeakTensor {
    /// A handle to the tensor, if it still lives.
    pub fn upgrade(&self) -> Option<Tensor> {
        self.0.upgrade().map(Tensor)
    }
}

impl std::fmt::Debug for TensorImpl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TensorImpl")
            .field("dtype", &self.dtype)
            .field("geometry", self.place.geometry())
            .field("storage", &*self.place.storage())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
