//! Moving elements in and out.
#![expect(unsafe_code, reason = "reads and writes elements through the storage's pointer")]

use std::ptr::{self, NonNull};

use num_complex::Complex64;

use super::Tensor;
use super::geometry::{Dims, Geometry};
use crate::dtype::{DType, Element};
use crate::error::Result;
use crate::key::{DispatchKey, DispatchKeySet};
use crate::scalar::Scalar;
use crate::{bail, ensure, match_dtype};

/// The elements of a tensor at one moment, as memory.
///
/// Invariant: `base` is aligned for `T`, and valid for reads and writes of `len` elements for `'a`; `geometry` stays
/// within them, as a [`Place`](super::Place) guarantees.
struct Elements<'a, T> {
    base: NonNull<T>,
    len: usize,
    geometry: &'a Geometry,
}

impl<'a, T: Element> Elements<'a, T> {
    /// # Errors
    /// A tensor of another type, or one whose memory the host does not reach.
    fn of(tensor: &'a Tensor) -> Result<Elements<'a, T>> {
        ensure!(tensor.is_defined(), Argument, "elements of {} were asked of an undefined tensor", T::DTYPE);
        ensure!(
            tensor.dtype() == T::DTYPE,
            DType,
            "elements of {} were asked of a tensor of {}, convert one to the other first",
            T::DTYPE,
            tensor.dtype()
        );
        ensure!(
            !tensor.is_wrapper(),
            NotSupported,
            "this tensor stands for others (inside vmap: for one of each example), so it has no elements to look at\n  \
             help: a kernel that looks at elements belongs at a backend's key, as `CPU`, not at a composite one; for vmap, \
             the operator then has a rule at `FuncTorchBatched`"
        );
        ensure!(
            !tensor.is_lazy(),
            NotSupported,
            "the elements of this tensor are not those in memory, which are to be conjugated or negated first\n  \
             help: `resolve_conj` and `resolve_neg` do it"
        );
        let place = tensor.place();
        match place.storage.data_ptr() {
            Some(base) => {
                let len = place.storage.nbytes() / size_of::<T>();
                Ok(Elements { base: base.cast(), len, geometry: &place.geometry })
            }
            None => match place.storage.why_unreachable() {
                Some(why) => bail!(Device, "{why}"),
                None => {
                    bail!(
                        Device,
                        "the elements of a tensor on {} are out of the host's reach",
                        tensor.device()
                    )
                }
            },
        }
    }

    /// The address of an element, by its storage index.
    #[inline]
    fn at(&self, index: i64) -> NonNull<T> {
        let index = usize::try_from(index).expect("storage indices are not negative");
        assert!(index < self.len, "element {index} of {}: a geometry left its storage", self.len);
        // SAFETY: in bounds by the assertion and the invariant.
        unsafe { self.base.add(index) }
    }

    #[inline]
    fn load(&self, index: i64) -> T {
        let address = self.at(index);
        if T::DTYPE == DType::Bool {
            // SAFETY: initialised by the invariant. Any byte may have come in from outside, and as a `bool` most would
            // be undefined behaviour.
            let byte = unsafe { address.cast::<u8>().read() };
            return (byte != 0).cast();
        }
        // SAFETY: initialised and aligned by the invariant; every bit pattern is a value.
        unsafe { address.read() }
    }

    /// The address of the first of as many elements as the geometry has, if these lie one behind the other.
    fn contiguous(&self) -> Option<(NonNull<T>, usize)> {
        match self.geometry.numel() {
            // The offset may lie anywhere, and memory without elements be of another type.
            0 => Some((NonNull::dangling(), 0)),
            numel => self.geometry.is_contiguous().then(|| (self.at(self.geometry.offset()), numel as usize)),
        }
    }

    #[inline]
    fn store(&self, index: i64, value: T) {
        // SAFETY: writable and aligned by the invariant.
        unsafe { self.at(index).write(value) }
    }
}

/// The keys of tensors whose elements are not those in memory.
const LAZY: DispatchKeySet = DispatchKeySet::from_keys(&[DispatchKey::Conjugate, DispatchKey::Negative]);

impl Tensor {
    fn is_lazy(&self) -> bool {
        self.key_set().has_any(LAZY)
    }

    /// What an element in memory stands for.
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
    /// A tensor of another type, or one whose memory the host does not reach; an expanded tensor of more elements than
    /// fit into memory.
    ///
    /// PyTorch: `Tensor.tolist`, flat.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        if self.is_lazy() {
            let memory = self.with_key_set(self.key_set() - LAZY).to_vec::<T>()?;
            return Ok(memory.into_iter().map(|element| self.meant(element)).collect());
        }
        let elements = Elements::<T>::of(self)?;
        let (count, mut values) = (elements.geometry.numel(), Vec::new());
        // An expanded tensor may have more elements than there is memory.
        let reserved = usize::try_from(count).is_ok_and(|count| values.try_reserve_exact(count).is_ok());
        ensure!(reserved, Argument, "cannot allocate a vector of {count} elements of {}", T::DTYPE);
        match elements.contiguous() {
            Some((first, len)) if T::DTYPE != DType::Bool => {
                // SAFETY: `len` initialised elements lie there, every bit pattern a value; the vector's memory is new and
                // large enough.
                unsafe { ptr::copy_nonoverlapping(first.as_ptr(), values.as_mut_ptr(), len) };
                // SAFETY: just written.
                unsafe { values.set_len(len) };
            }
            _ => values.extend(elements.geometry.offsets().map(|index| elements.load(index))),
        }
        Ok(values)
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
    /// Not one index per dimension, an index out of range, a tensor of another type, or one whose memory the host does
    /// not reach.
    pub fn element<T: Element>(&self, index: &[i64]) -> Result<T> {
        if self.is_lazy() {
            return Ok(self.meant(self.with_key_set(self.key_set() - LAZY).element(index)?));
        }
        let elements = Elements::<T>::of(self)?;
        let (sizes, strides) = (elements.geometry.sizes(), elements.geometry.strides());
        let is_inside =
            index.len() == sizes.len() && index.iter().zip(sizes).all(|(i, size)| (0..*size).contains(i));
        ensure!(is_inside, Shape, "there is no element {index:?} in a tensor of sizes {sizes:?}");
        let distance: i64 = index.iter().zip(strides).map(|(i, stride)| i * stride).sum();
        Ok(elements.load(elements.geometry.offset() + distance))
    }

    /// The only element.
    ///
    /// # Errors
    /// More or less than one element, memory that the host does not reach, a `uint64` beyond the integers of
    /// [`Scalar`].
    ///
    /// PyTorch: `Tensor.item`.
    pub fn item(&self) -> Result<Scalar> {
        ensure!(
            self.numel() == 1,
            Shape,
            "a tensor of sizes {:?} has {} elements, only of one there is an item",
            self.sizes(),
            self.numel()
        );
        let index = Dims::from_elem(0, self.dim());
        match_dtype!(self.dtype(), T => Scalar::from_element(self.element::<T>(&index)?))
    }

    /// Writes elements in logical order, whatever the strides: memory is changed for every tensor that shares it.
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
    /// Another number of elements, a tensor of another type, or one whose memory the host does not reach.
    pub fn copy_from_slice<T: Element>(&mut self, values: &[T]) -> Result<()> {
        let elements = Elements::<T>::of(self)?;
        let count = elements.geometry.numel() as usize;
        ensure!(
            count == values.len(),
            Shape,
            "a tensor of {count} elements cannot take {} values",
            values.len()
        );
        if let Some((first, len)) = elements.contiguous() {
            // SAFETY: `len` elements lie there and `values` has as many. It is other memory: slices of this one come from
            // unsafe functions that exclude writers.
            unsafe { ptr::copy_nonoverlapping(values.as_ptr(), first.as_ptr(), len) };
            return Ok(());
        }
        elements.geometry.offsets().zip(values).for_each(|(index, value)| elements.store(index, *value));
        Ok(())
    }

    /// Writes the values of an iterator in logical order: nothing, unless there are as many as elements.
    ///
    /// # Errors
    /// Like [`copy_from_slice`](Tensor::copy_from_slice).
    pub fn fill_from<T: Element>(&mut self, values: impl IntoIterator<Item = T>) -> Result<()> {
        // Collected first: the iterator may well read this very tensor.
        let values: Vec<T> = values.into_iter().collect();
        self.copy_from_slice(&values)
    }

    /// Writes one value to every element.
    ///
    /// # Errors
    /// A tensor of another type, or one whose memory the host does not reach.
    pub fn fill<T: Element>(&mut self, value: T) -> Result<()> {
        let elements = Elements::<T>::of(self)?;
        match elements.contiguous() {
            // SAFETY: that many elements lie there, writable and aligned.
            Some((first, len)) => (0..len).for_each(|i| unsafe { first.add(i).write(value) }),
            None => elements.geometry.offsets().for_each(|index| elements.store(index, value)),
        }
        Ok(())
    }

    /// The address of element `[0, 0, …]`, for kernels; the others follow from the [strides](Tensor::strides).
    ///
    /// The pointer is valid for reads and writes of all elements as long as a handle to the tensor's storage lives, under
    /// the rule about [threads](Tensor#sharing-and-threads). Of a tensor without elements it must not be followed.
    /// Elements of type `bool` that came from a [`Storage`](crate::Storage) of other bytes need not be 0 or 1.
    ///
    /// # Errors
    /// A tensor of another type, or one whose memory the host does not reach.
    pub fn data_ptr<T: Element>(&self) -> Result<*mut T> {
        let elements = Elements::<T>::of(self)?;
        // Wrapping: without elements the offset may lie anywhere.
        Ok(elements.base.as_ptr().wrapping_offset(elements.geometry.offset() as isize))
    }

    /// The elements of a contiguous tensor as a slice.
    ///
    /// # Errors
    /// A tensor that is not contiguous or of another type, or one whose memory the host does not reach.
    ///
    /// # Safety
    /// While the slice lives nobody writes these elements, on this thread or another, through any handle. A `bool` tensor
    /// holds nothing but 0 and 1.
    pub unsafe fn as_slice<T: Element>(&self) -> Result<&[T]> {
        let (data, len) = self.contiguous_span()?;
        // SAFETY: valid, aligned and initialised for `len` elements by the invariant of `Elements`; the caller excludes
        // writers.
        Ok(unsafe { std::slice::from_raw_parts(data, len) })
    }

    /// The elements of a contiguous tensor as a slice to write to.
    ///
    /// # Errors
    /// A tensor that is not contiguous or of another type, or one whose memory the host does not reach.
    ///
    /// # Safety
    /// While the slice lives nobody else reads or writes these elements, on this thread or another, through any handle:
    /// no other argument of the kernel shares them. A `bool` tensor holds nothing but 0 and 1.
    pub unsafe fn as_mut_slice<T: Element>(&mut self) -> Result<&mut [T]> {
        let (data, len) = self.contiguous_span()?;
        // SAFETY: as in `as_slice`; the caller excludes readers too.
        Ok(unsafe { std::slice::from_raw_parts_mut(data, len) })
    }

    fn contiguous_span<T: Element>(&self) -> Result<(*mut T, usize)> {
        let elements = Elements::<T>::of(self)?;
        let Some((first, len)) = elements.contiguous() else {
            bail!(
                Shape,
                "sizes {:?} with strides {:?} are not contiguous, a slice needs a contiguous copy",
                elements.geometry.sizes(),
                elements.geometry.strides()
            )
        };
        Ok((first.as_ptr(), len))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Device, DispatchKeySet, ErrorKind, Storage};

    #[test]
    fn memory_of_no_elements_may_be_another_types() {
        let keys = DispatchKeySet::from(DispatchKey::CPU);
        let storage = Storage::from_vec(Vec::<u8>::new());
        let x = Tensor::from_storage(storage, &[0, 2], &[2, 1], 0, DType::Float64, keys).unwrap();
        assert_eq!(x.to_vec::<f64>().unwrap(), []);
    }

    #[test]
    fn elements_come_in_logical_order() {
        let x = Tensor::from([[1, 2, 3], [4, 5, 6]]);
        let transposed = x.strided_view(&[3, 2], &[1, 3], 0).unwrap();
        assert_eq!(transposed.to_vec::<i32>().unwrap(), [1, 4, 2, 5, 3, 6]);
        let expanded = x.strided_view(&[2, 2], &[0, 1], 1).unwrap();
        assert_eq!(expanded.to_vec::<i32>().unwrap(), [2, 3, 2, 3]);
        assert_eq!(x.strided_view(&[0], &[1], 100).unwrap().to_vec::<i32>().unwrap(), []);
    }

    #[test]
    fn huge_expanded_tensors_are_errors() {
        let x = Tensor::from([1]).strided_view(&[i64::MAX], &[0], 0).unwrap();
        assert!(
            x.to_vec::<i32>().unwrap_err().to_string().starts_with("cannot allocate a vector of 92233720")
        );
        assert_eq!(x.to_string(), "tensor([1, 1, 1,  ..., 1, 1, 1], dtype=torch.int32)");
    }

    #[test]
    fn elements_have_an_index_per_dimension() {
        let x = Tensor::from([[1, 2], [3, 4]]).strided_view(&[2], &[2], 1).unwrap();
        assert_eq!(x.element::<i32>(&[1]).unwrap(), 4);
        assert_eq!(
            x.element::<i32>(&[2]).unwrap_err().to_string(),
            "there is no element [2] in a tensor of sizes [2]"
        );
        assert!(x.element::<i32>(&[0, 0]).is_err() && x.element::<i32>(&[-1]).is_err());
    }

    #[test]
    fn types_are_not_confused() {
        let error = Tensor::from([1.0]).to_vec::<f32>().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DType);
        assert_eq!(
            error.to_string(),
            "elements of float32 were asked of a tensor of float64, convert one to the other first"
        );
    }

    #[test]
    fn foreign_bytes_are_truths() {
        let storage = Storage::from_vec(vec![0u8, 1, 2, 255]);
        let keys = DispatchKeySet::EMPTY;
        let x = Tensor::from_storage(storage, &[4], &[1], 0, DType::Bool, keys).unwrap();
        assert_eq!(x.to_vec::<bool>().unwrap(), [false, true, true, true]);
    }

    #[test]
    fn items_are_single() {
        assert_eq!(Tensor::from([[2.5f32]]).item().unwrap(), Scalar::Float(2.5));
        assert_eq!(
            Tensor::from([1, 2]).item().unwrap_err().to_string(),
            "a tensor of sizes [2] has 2 elements, only of one there is an item"
        );
    }

    #[test]
    fn a_value_fills_any_strides() {
        let mut x = Tensor::from([1, 2, 3, 4]);
        x.strided_view(&[2], &[2], 1).unwrap().fill(0).unwrap();
        assert_eq!(x.to_vec::<i32>().unwrap(), [1, 0, 3, 0]);
        x.fill(7).unwrap();
        assert_eq!(x.to_vec::<i32>().unwrap(), [7; 4]);
    }

    #[test]
    fn writes_are_all_or_nothing() {
        let mut x = Tensor::from([1, 2, 3]);
        assert!(x.fill_from([7, 8]).is_err() && x.fill_from([7; 4]).is_err());
        assert_eq!(x.to_vec::<i32>().unwrap(), [1, 2, 3]);
        let source = x.clone();
        x.fill_from(source.to_vec::<i32>().unwrap().into_iter().rev()).unwrap();
        assert_eq!(source.to_vec::<i32>().unwrap(), [3, 2, 1]);
    }

    #[test]
    fn slices_need_contiguous_memory() {
        let mut x = Tensor::from([[1, 2], [3, 4]]);
        // SAFETY: nobody else has a handle.
        unsafe { x.as_mut_slice::<i32>() }.unwrap()[3] = 40;
        // SAFETY: nobody writes meanwhile.
        assert_eq!(unsafe { x.as_slice::<i32>() }.unwrap(), [1, 2, 3, 40]);
        let transposed = x.strided_view(&[2, 2], &[1, 2], 0).unwrap();
        // SAFETY: nobody writes meanwhile.
        assert!(unsafe { transposed.as_slice::<i32>() }.is_err());
        let empty = Tensor::empty(&[0], DType::Float32, Device::CPU).unwrap();
        // SAFETY: there is nothing to write.
        assert_eq!(unsafe { empty.as_slice::<f32>() }.unwrap(), []);
    }
}
