//! Moving elements in and out.
#![expect(unsafe_code, reason = "reads and writes elements through the storage's pointer")]

use std::ptr::NonNull;

use super::{Tensor, geometry::Geometry};
use crate::{DType, Element, MemoryFormat, Result, Scalar, bail, ensure, match_dtype};

/// The elements of a tensor at one moment, as memory.
///
/// Invariant: `base` is aligned for `T`, and valid for reads and writes of every element that `geometry` reaches, for
/// `'a`. A [`Place`](super::Place) guarantees it.
struct Elements<'a, T> {
    base: NonNull<T>,
    geometry: &'a Geometry,
}

impl<'a, T: Element> Elements<'a, T> {
    /// # Errors
    /// A tensor of another type, or one whose memory the host does not reach.
    fn of(tensor: &'a Tensor) -> Result<Elements<'a, T>> {
        ensure!(
            tensor.dtype() == T::DTYPE,
            DType,
            "elements of {} were asked of a tensor of {}, convert one to the other first",
            T::DTYPE,
            tensor.dtype()
        );
        let place = tensor.place();
        match place.storage.data_ptr() {
            Some(base) => Ok(Elements { base: base.cast(), geometry: &place.geometry }),
            None => {
                bail!(Device, "the elements of a tensor on {} are out of the host's reach", tensor.device())
            }
        }
    }

    /// The address of a storage index.
    ///
    /// # Safety
    /// The index is one of [`Geometry::offsets`].
    #[inline]
    unsafe fn at(&self, index: i64) -> NonNull<T> {
        // SAFETY: in bounds by the caller's promise and the invariant; hence it also fits an `isize`.
        unsafe { self.base.offset(index as isize) }
    }

    fn load(&self, index: i64) -> T {
        // SAFETY: only `Tensor::to_vec` calls this, with the geometry's own offsets.
        let address = unsafe { self.at(index) };
        if T::DTYPE == DType::Bool {
            // SAFETY: initialised by `Elements`' invariant. Any byte may have come in from outside, and as a `bool` most
            // would be undefined behaviour.
            let byte = unsafe { address.cast::<u8>().read() };
            return (byte != 0).cast();
        }
        // SAFETY: initialised and aligned by the invariant; every bit pattern is a value.
        unsafe { address.read() }
    }
}

impl Tensor {
    /// A copy of the elements in logical (row-major) order, whatever the strides.
    ///
    /// # Errors
    /// A tensor of another type, or one whose memory the host does not reach.
    ///
    /// PyTorch: `Tensor.tolist`, flat.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        let elements = Elements::<T>::of(self)?;
        if elements.geometry.is_contiguous() {
            let start = elements.geometry.offset();
            return Ok((start..start + elements.geometry.numel())
                .map(|index| elements.load(index))
                .collect());
        }
        Ok(elements.geometry.offsets().map(|index| elements.load(index)).collect())
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
        match_dtype!(self.dtype(), T => Scalar::from_element(self.to_vec::<T>()?[0]))
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
        let count = elements.geometry.offsets().len();
        ensure!(
            count == values.len(),
            Shape,
            "a tensor of {count} elements cannot take {} values",
            values.len()
        );
        for (index, value) in elements.geometry.offsets().zip(values) {
            // SAFETY: one of the geometry's offsets; writable and aligned by the invariant of `Elements`. `values` is not
            // this memory: slices of it come from unsafe functions that exclude writers.
            unsafe { elements.at(index).write(*value) }
        }
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
        let Elements { base, geometry } = Elements::<T>::of(self)?;
        ensure!(
            geometry.is_contiguous(),
            Shape,
            "sizes {:?} with strides {:?} are not contiguous ({}), a slice needs a contiguous copy",
            geometry.sizes(),
            geometry.strides(),
            MemoryFormat::Contiguous
        );
        if geometry.numel() == 0 {
            return Ok((base.as_ptr(), 0)); // the offset may lie anywhere
        }
        Ok((base.as_ptr().wrapping_offset(geometry.offset() as isize), geometry.offsets().len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Device, DispatchKeySet, ErrorKind, Storage};

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
