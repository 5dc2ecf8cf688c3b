//! Reading and writing elements.
#![expect(unsafe_code, reason = "reads and writes elements through the storage's pointer")]

use std::ptr::{self, NonNull};
use std::slice;

use num_complex::Complex64;

use super::geometry::{Dims, Geometry};
use super::{Lease, Storage, Tensor, backend};
use crate::dtype::{DType, Element};
use crate::error::{Error, ErrorKind, Result};
use crate::guard;
use crate::key::{DispatchKey, DispatchKeySet};
use crate::scalar::Scalar;
use crate::{bail, ensure, match_dtype};

/// Read access to the elements of a tensor: while this lives, they are not written, and the tensor's geometry does not
/// change.
///
/// ```
/// use torch_library::Tensor;
///
/// let x = Tensor::from([[1, 2], [3, 4]]);
/// let elements = x.elements::<i32>()?;
/// assert_eq!(elements.as_slice()?, [1, 2, 3, 4]);
/// assert_eq!(elements.iter().sum::<i32>(), 10);
/// assert!(x.clone().fill(0).is_err(), "somebody reads");
/// # Ok::<(), torch_library::Error>(())
/// ```
pub struct Elements<'a, T> {
    memory: Memory<'a, T>,
    _lease: Lease<'a, 0, 1>,
}

/// Read and write access to the elements of a tensor: while this lives, no other code reads or writes them, and the
/// tensor's geometry does not change.
///
/// ```
/// use torch_library::Tensor;
///
/// let mut x = Tensor::from([[1, 2], [3, 4]]);
/// x.elements_mut::<i32>()?.as_mut_slice()?.reverse();
/// assert_eq!(x.to_vec::<i32>()?, [4, 3, 2, 1]);
/// # Ok::<(), torch_library::Error>(())
/// ```
pub struct ElementsMut<'a, T> {
    memory: Memory<'a, T>,
    _lease: Lease<'a, 1, 0>,
}

/// The location of a tensor's elements, while a lease is held.
///
/// Invariant: `base` is aligned for `T`, and valid for reads and writes of `len` elements for `'a`; `geometry` stays
/// within them, as a [`StorageView`](super::StorageView) guarantees.
#[derive(Clone, Copy)]
struct Memory<'a, T> {
    base: NonNull<T>,
    len: usize,
    geometry: &'a Geometry,
}

impl<'a, T: Element> Memory<'a, T> {
    /// The memory of a tensor on which a lease is held, which keeps it unchanged.
    ///
    /// # Errors
    /// A tensor of another type, or one whose memory the host cannot access.
    #[inline]
    fn of(tensor: &'a Tensor) -> Result<Memory<'a, T>> {
        tensor.check_dtype(T::DTYPE)?;
        match tensor.first_storage() {
            Some(storage) => Memory::over(tensor, storage),
            None => Memory::over(tensor, &tensor.storage()),
        }
    }

    #[inline(always)]
    fn over(tensor: &'a Tensor, storage: &Storage) -> Result<Memory<'a, T>> {
        let (base, len) = (tensor.host_ptr(storage)?.cast(), storage.nbytes() / size_of::<T>());
        Ok(Memory { base, len, geometry: tensor.geometry() })
    }

    /// The address of an element, by its storage index.
    #[inline]
    fn at(&self, index: i64) -> NonNull<T> {
        let index = usize::try_from(index).expect("storage indices are not negative");
        assert!(index < self.len, "element {index} is outside of a storage of {} elements", self.len);
        // SAFETY: `index` is less than `len`, as asserted, and by the invariant `base` is valid for `len` elements.
        unsafe { self.base.add(index) }
    }

    /// An element, by its storage index. A lease excludes writers.
    #[inline]
    fn load(&self, index: i64) -> T {
        let address = self.at(index);
        if T::DTYPE == DType::Bool {
            // SAFETY: `at` returns the address of an element, which is initialised by the invariant; the lease excludes
            // writers. The memory may have come from outside with any bytes, most of which would be undefined behaviour
            // as a `bool`.
            let byte = unsafe { address.cast::<u8>().read() };
            return (byte != 0).cast();
        }
        // SAFETY: `at` returns the address of an element, which is initialised and aligned by the invariant; the lease
        // excludes writers; every bit pattern is a value of `T`, which is not `bool`.
        unsafe { address.read() }
    }

    /// The address of the first element and the number of elements, if the tensor is contiguous.
    fn contiguous(&self) -> Option<(NonNull<T>, usize)> {
        match self.geometry.numel() {
            // The offset may be anything, and memory without elements may be of another type.
            0 => Some((NonNull::dangling(), 0)),
            numel => self.geometry.is_contiguous().then(|| (self.at(self.geometry.offset()), numel as usize)),
        }
    }

    /// Like [`contiguous`](Self::contiguous), for elements that may be accessed as a slice.
    ///
    /// # Errors
    /// Elements that are not contiguous, or that are not valid values of their type.
    fn span(&self) -> Result<(NonNull<T>, usize)> {
        let Some((first, len)) = self.contiguous() else {
            bail!(
                Shape,
                "sizes {:?} with strides {:?} are not contiguous, a slice needs a contiguous copy",
                self.geometry.sizes(),
                self.geometry.strides()
            )
        };
        if T::DTYPE == DType::Bool {
            // SAFETY: `contiguous` returns `len` elements within the memory, or none: initialised bytes by the
            // invariant; the lease excludes writers.
            let bytes = unsafe { slice::from_raw_parts(first.cast::<u8>().as_ptr(), len) };
            ensure!(
                bytes.iter().all(|byte| *byte < 2),
                DType,
                "memory with bytes other than 0 and 1 cannot be a slice of `bool`, read it by `to_vec` or `iter`"
            );
        }
        Ok((first, len))
    }

    /// The storage index of an element, from one index for each dimension.
    fn index(&self, index: &[i64]) -> Result<i64> {
        let (sizes, strides) = (self.geometry.sizes(), self.geometry.strides());
        let is_inside =
            index.len() == sizes.len() && index.iter().zip(sizes).all(|(i, size)| (0..*size).contains(i));
        ensure!(is_inside, Shape, "there is no element {index:?} in a tensor of sizes {sizes:?}");
        let distance: i64 = index.iter().zip(strides).map(|(i, stride)| i * stride).sum();
        Ok(self.geometry.offset() + distance)
    }

    fn get(&self, index: &[i64]) -> Result<T> {
        Ok(self.load(self.index(index)?))
    }

    fn iter(&self) -> impl Iterator<Item = T> + '_ {
        self.geometry.offsets().map(|index| self.load(index))
    }

    fn to_vec(self) -> Result<Vec<T>> {
        let (count, mut values) = (self.geometry.numel(), Vec::new());
        // An expanded tensor may have more elements than fit into memory.
        let reserved = usize::try_from(count).is_ok_and(|count| values.try_reserve_exact(count).is_ok());
        ensure!(reserved, OutOfMemory, "cannot allocate a vector of {count} elements of {}", T::DTYPE);
        match self.contiguous() {
            Some((first, len)) if T::DTYPE != DType::Bool => {
                // SAFETY: `contiguous` returns `len` elements within the memory, initialised by the invariant; the
                // lease excludes writers. The vector's memory is new, and has room for `count`, which is `len`.
                unsafe { ptr::copy_nonoverlapping(first.as_ptr(), values.as_mut_ptr(), len) };
                // SAFETY: `len` elements were just written, and every bit pattern is a value of `T`, since it is not
                // `bool`.
                unsafe { values.set_len(len) };
            }
            _ => values.extend(self.iter()),
        }
        Ok(values)
    }
}

impl<T: Element> Elements<'_, T> {
    /// Sizes, strides and offset.
    pub fn geometry(&self) -> &Geometry {
        self.memory.geometry
    }

    /// All elements of a contiguous tensor.
    ///
    /// # Errors
    /// Strides with gaps or in another order; `bool` memory from outside with bytes other than 0 and 1.
    pub fn as_slice(&self) -> Result<&[T]> {
        let (first, len) = self.memory.span()?;
        // SAFETY: `span` returns `len` aligned and initialised values; the lease excludes writers while `self` is
        // borrowed.
        Ok(unsafe { slice::from_raw_parts(first.as_ptr(), len) })
    }

    /// One element, by an index for each dimension.
    ///
    /// # Errors
    /// The number of indices differs from the number of dimensions; an index is out of range.
    pub fn get(&self, index: &[i64]) -> Result<T> {
        self.memory.get(index)
    }

    /// All elements in logical (row-major) order, whatever the strides.
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        self.memory.iter()
    }

    /// A copy of all elements in logical order.
    ///
    /// # Errors
    /// An expanded tensor with more elements than fit into memory.
    pub fn to_vec(&self) -> Result<Vec<T>> {
        self.memory.to_vec()
    }
}

impl<T: Element> ElementsMut<'_, T> {
    /// Sizes, strides and offset.
    pub fn geometry(&self) -> &Geometry {
        self.memory.geometry
    }

    /// All elements of a contiguous tensor.
    ///
    /// # Errors
    /// Strides with gaps or in another order; `bool` memory from outside with bytes other than 0 and 1.
    pub fn as_slice(&self) -> Result<&[T]> {
        let (first, len) = self.memory.span()?;
        // SAFETY: `span` returns `len` aligned and initialised values; the lease excludes writers while `self` is
        // borrowed.
        Ok(unsafe { slice::from_raw_parts(first.as_ptr(), len) })
    }

    /// All elements of a contiguous tensor, to be written.
    ///
    /// # Errors
    /// The errors of [`as_slice`](Self::as_slice).
    pub fn as_mut_slice(&mut self) -> Result<&mut [T]> {
        let (first, len) = self.memory.span()?;
        // SAFETY: `span` returns `len` aligned and initialised values; the lease excludes all other accesses while
        // `self` is borrowed.
        Ok(unsafe { slice::from_raw_parts_mut(first.as_ptr(), len) })
    }

    /// One element, by an index for each dimension.
    ///
    /// # Errors
    /// The number of indices differs from the number of dimensions; an index is out of range.
    pub fn get(&self, index: &[i64]) -> Result<T> {
        self.memory.get(index)
    }

    /// Writes one element, by an index for each dimension.
    ///
    /// # Errors
    /// The number of indices differs from the number of dimensions; an index is out of range.
    pub fn set(&mut self, index: &[i64], value: T) -> Result<()> {
        let index = self.memory.index(index)?;
        self.store(index, value);
        Ok(())
    }

    /// Writes one value to every element.
    pub fn fill(&mut self, value: T) {
        match self.memory.contiguous() {
            // SAFETY: `contiguous` returns `len` elements within the memory, writable and aligned by the invariant; the
            // exclusive lease excludes all other accesses.
            Some((first, len)) => (0..len).for_each(|i| unsafe { first.add(i).write(value) }),
            None => self.memory.geometry.offsets().for_each(|index| self.store(index, value)),
        }
    }

    /// Writes a slice of values, one for each element, in logical order.
    ///
    /// # Errors
    /// The number of values differs from the number of elements.
    pub fn copy_from_slice(&mut self, values: &[T]) -> Result<()> {
        let count = self.memory.geometry.numel() as usize;
        ensure!(
            count == values.len(),
            Shape,
            "a tensor of {count} elements cannot take {} values",
            values.len()
        );
        if let Some((first, len)) = self.memory.contiguous() {
            // SAFETY: `contiguous` returns `len` elements within the memory, writable and aligned by the invariant, and
            // `values` has as many. The two do not overlap: a slice of this memory would have needed a lease, which
            // cannot exist besides the exclusive one.
            unsafe { ptr::copy_nonoverlapping(values.as_ptr(), first.as_ptr(), len) };
            return Ok(());
        }
        self.memory.geometry.offsets().zip(values).for_each(|(index, value)| self.store(index, *value));
        Ok(())
    }

    #[inline]
    fn store(&self, index: i64, value: T) {
        // SAFETY: `at` returns the address of an element, which is writable and aligned by the invariant; the exclusive
        // lease excludes all other accesses.
        unsafe { self.memory.at(index).write(value) }
    }
}

/// The keys of tensors whose elements differ from those in memory.
const LAZY: DispatchKeySet = DispatchKeySet::from_keys(&[DispatchKey::Conjugate, DispatchKey::Negative]);

impl Tensor {
    #[inline]
    pub(super) fn is_lazy(&self) -> bool {
        self.key_set().has_any(LAZY)
    }

    /// The value that an element in memory stands for.
    fn meant<T: Element>(&self, element: T) -> T {
        let mut number: Complex64 = element.cast();
        if self.key_set().has(DispatchKey::Conjugate) {
            number = number.conj();
        }
        if self.key_set().has(DispatchKey::Negative) {
            number = -number;
        }
        number.cast()
    }

    /// A copy of the elements in logical (row-major) order, whatever the strides.
    ///
    /// # Errors
    /// A tensor of another type, or one whose memory the host cannot access; an expanded tensor with more elements than
    /// fit into memory.
    ///
    /// PyTorch: `Tensor.tolist`, flat.
    #[track_caller]
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        if self.is_lazy() {
            let memory = self.with_key_set(self.key_set() - LAZY).to_vec::<T>()?;
            return Ok(memory.into_iter().map(|element| self.meant(element)).collect());
        }
        let _lease = Lease::new([], [self])?;
        match Memory::<T>::of(self) {
            Ok(memory) => memory.to_vec(),
            Err(error) => self.on_host(error)?.to_vec(),
        }
    }

    /// A copy of one element.
    ///
    /// ```
    /// use torch_library::Tensor;
    ///
    /// let x = Tensor::from([[1, 2], [3, 4]]);
    /// assert_eq!(x.element::<i32>(&[1, 0])?, 3);
    /// # Ok::<(), torch_library::Error>(())
    /// ```
    ///
    /// # Errors
    /// The number of indices differs from the number of dimensions; an index is out of range; a tensor of another type,
    /// or one whose memory the host cannot access.
    #[track_caller]
    pub fn element<T: Element>(&self, index: &[i64]) -> Result<T> {
        if self.is_lazy() {
            return Ok(self.meant(self.with_key_set(self.key_set() - LAZY).element(index)?));
        }
        let _lease = Lease::new([], [self])?;
        match Memory::<T>::of(self) {
            Ok(memory) => memory.get(index),
            Err(error) => self.on_host(error)?.element(index),
        }
    }

    /// The element of a tensor with one element.
    ///
    /// # Errors
    /// More or fewer elements than one; memory that the host cannot access; a `uint64` that exceeds the integers of a
    /// [`Scalar`].
    ///
    /// PyTorch: `Tensor.item`.
    #[track_caller]
    pub fn item(&self) -> Result<Scalar> {
        ensure!(
            self.numel() == 1,
            Shape,
            "a tensor of sizes {:?} has {} elements, `item` needs exactly one",
            self.sizes(),
            self.numel()
        );
        self.dtype().ensure_built()?;
        let index = Dims::from_elem(0, self.dim());
        match_dtype!(self.dtype(), T => Scalar::from_element(self.element::<T>(&index)?))
    }

    /// Writes elements in logical order, whatever the strides. The change is visible to every tensor that shares the
    /// memory.
    ///
    /// For kernels: it acts [below all layers](crate::guide::memory#below-all-layers), where gradients, vmap and
    /// traces do not see it. Programs call `copy_`.
    ///
    /// ```
    /// use torch_library::Tensor;
    ///
    /// let x = Tensor::from([[1, 2], [3, 4]]);
    /// let mut column = x.strided_view(&[2], &[2], 1)?;
    /// column.copy_from_slice(&[20, 40])?;
    /// assert_eq!(x.to_vec::<i32>()?, [1, 20, 3, 40]);
    /// # Ok::<(), torch_library::Error>(())
    /// ```
    ///
    /// # Errors
    /// Another number of elements; a tensor of another type, whose memory the host cannot access, of which several
    /// elements share one place, or that autograd has recorded.
    #[track_caller]
    pub fn copy_from_slice<T: Element>(&mut self, values: &[T]) -> Result<()> {
        self.check_no_internal_overlap()?;
        let error = match self.elements_mut::<T>() {
            Ok(mut elements) => return elements.copy_from_slice(values),
            Err(error) => error,
        };
        let mut host = self.on_host(error)?;
        self.account_for_write()?;
        host.copy_from_slice(values)?;
        backend::from_host(&host, self)
    }

    /// Writes the values of an iterator in logical order, if there are as many as elements; otherwise writes nothing.
    ///
    /// For kernels: it acts [below all layers](crate::guide::memory#below-all-layers), where gradients, vmap and
    /// traces do not see it. Programs call `copy_`.
    ///
    /// # Errors
    /// The errors of [`copy_from_slice`](Tensor::copy_from_slice).
    #[track_caller]
    pub fn fill_from<T: Element>(&mut self, values: impl IntoIterator<Item = T>) -> Result<()> {
        // Collected first, since the iterator may read this very tensor.
        let values: Vec<T> = values.into_iter().collect();
        self.copy_from_slice(&values)
    }

    /// Writes one value to every element.
    ///
    /// For kernels: it acts [below all layers](crate::guide::memory#below-all-layers), where gradients, vmap and
    /// traces do not see it. Programs call `fill_`.
    ///
    /// # Errors
    /// A tensor of another type, or one whose memory the host cannot access.
    ///
    /// PyTorch: `Tensor.data.fill_`.
    #[track_caller]
    pub fn fill<T: Element>(&mut self, value: T) -> Result<()> {
        let error = match self.elements_mut::<T>() {
            Ok(mut elements) => {
                elements.fill(value);
                return Ok(());
            }
            Err(error) => error,
        };
        let mut host = self.on_host(error)?;
        self.account_for_write()?;
        host.fill(value)?;
        backend::from_host(&host, self)
    }

    /// Read access to the elements in place.
    ///
    /// # Errors
    /// A tensor of another type, one whose memory the host cannot access, or one that is being written.
    #[track_caller]
    pub fn elements<T: Element>(&self) -> Result<Elements<'_, T>> {
        let lease = Lease::new([], [self])?;
        Ok(Elements { memory: Memory::of(self)?, _lease: lease })
    }

    /// Read and write access to the elements in place. Changes are visible to every tensor that shares the memory.
    ///
    /// For kernels: it acts [below all layers](crate::guide::memory#below-all-layers), where gradients, vmap and
    /// traces do not see it. Programs call `copy_`, or another in-place operator.
    ///
    /// # Errors
    /// A tensor of another type, one whose memory the host cannot access, or one that is being read or written.
    #[track_caller]
    pub fn elements_mut<T: Element>(&mut self) -> Result<ElementsMut<'_, T>> {
        let lease = Lease::new([&*self], [])?;
        let memory = Memory::of(self)?;
        self.account_for_write()?;
        Ok(ElementsMut { memory, _lease: lease })
    }

    /// Does for a write by a program what layers do for one by an operator: the version counts it, so that a backward
    /// pass that needs the elements as they were fails.
    ///
    /// # Errors
    /// The tensor was computed by an operator that autograd recorded: its gradient would not be that of what is
    /// written.
    fn account_for_write(&self) -> Result<()> {
        self.check_not_recorded()?;
        self.count_own_write();
        Ok(())
    }

    /// Checks that a program may write elements itself: autograd would not see it.
    ///
    /// # Errors
    /// The errors of [`account_for_write`](Self::account_for_write).
    pub(super) fn check_not_recorded(&self) -> Result<()> {
        ensure!(
            !(guard::is_above_bookkeeping() && guard::is_recording() && self.is_recorded()),
            Autograd,
            "autograd has recorded how this tensor was computed, and does not see that its elements are written\n  \
             help: call an operator that writes in place (`aten::copy_`, `aten::fill_`), or write to `x.detach()`"
        );
        Ok(())
    }

    /// Counts a write outside of kernels, if anyone else can see it.
    pub(super) fn count_own_write(&self) {
        if guard::is_above_bookkeeping() && !self.is_sole_owner() {
            self.bump_version();
        }
    }

    /// Whether a recorded operator computed the tensor, or the tensor that it is a view of.
    fn is_recorded(&self) -> bool {
        self.requires_grad() && self.0.autograd.get().is_some_and(|meta| meta.is_recorded())
    }

    /// Checks that the tensor is defined, and that its element type is `dtype`.
    #[inline]
    pub(super) fn check_dtype(&self, dtype: DType) -> Result<()> {
        ensure!(self.is_defined(), Argument, "elements of {dtype} were requested from an undefined tensor");
        ensure!(
            self.dtype() == dtype,
            DType,
            "elements of {dtype} were requested from a tensor of {}, convert the tensor or request its type",
            self.dtype()
        );
        Ok(())
    }

    /// The start of the tensor's memory in host memory; `storage` is the tensor's storage.
    #[inline]
    pub(super) fn host_ptr(&self, storage: &Storage) -> Result<NonNull<u8>> {
        ensure!(
            !self.is_wrapper(),
            NotSupported,
            "this tensor is a wrapper (inside vmap, of a whole batch; or functionalised), so it has no elements to \
             read\n  \
             help: a kernel that reads elements belongs at a backend's key, such as `CPU`, not at a composite one; \
             for vmap, the operator then needs a batching rule at `FuncTorchBatched`; `from_functional` gives the \
             tensor that a functionalised one stands for"
        );
        ensure!(
            !self.is_lazy(),
            NotSupported,
            "the elements of this tensor are not those in its memory, which must be conjugated or negated first\n  \
             help: `resolve_conj` and `resolve_neg` do that"
        );
        match storage.data_ptr() {
            Some(base) => Ok(base),
            None => Err(self.out_of_reach(storage)),
        }
    }

    /// A copy in host memory if the tensor is on a device with a backend that can copy it; otherwise `error`, with
    /// which the host access failed.
    #[cold]
    fn on_host(&self, error: Error) -> Result<Tensor> {
        let is_remote = error.kind() == ErrorKind::Device && self.storage().data_ptr().is_none();
        match is_remote && backend::of(self.device().kind)?.is_some() {
            true => backend::host_copy(self),
            false => Err(error),
        }
    }

    #[cold]
    fn out_of_reach(&self, storage: &Storage) -> Error {
        let device = self.device();
        let why = storage.why_unreachable().map_or_else(
            || format!("the elements of a tensor on {device} cannot be accessed from the host"),
            ToOwned::to_owned,
        );
        Error::new(ErrorKind::Device, why)
    }
}

#[cfg(test)]
mod tests;
