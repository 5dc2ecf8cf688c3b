//! Creating tensors, from values or empty.
#![expect(unsafe_code, reason = "passes on the promise to fill memory that starts out empty")]

use super::geometry::{
    Geometry, contiguous_numel, is_non_overlapping_and_dense, numel, preserved_strides, strides_for,
};
use super::{Storage, StorageView, Tensor, backend};
use crate::device::{Device, DeviceType};
use crate::dtype::{DType, Element};
use crate::error::Result;
use crate::guard::InferenceMode;
use crate::key::{DispatchKey, DispatchKeySet};
use crate::layout::MemoryFormat;
use crate::scalar::Scalar;
use crate::{bail, ensure, match_dtype};

impl Tensor {
    /// A contiguous tensor for results; its elements are zero.
    ///
    /// # Errors
    /// Negative sizes, not enough memory, a device without a [backend](crate::backend) in the program, a type that the
    /// program is [built without](DType::is_built).
    ///
    /// PyTorch: `torch.empty`, `at::detail::empty_cpu`.
    pub fn empty(sizes: &[i64], dtype: DType, device: Device) -> Result<Tensor> {
        Tensor::allocate_contiguous(sizes, dtype, device, Storage::zeroed)
    }

    /// A tensor for results with the given strides; its elements are zero.
    ///
    /// ```
    /// use torch_library::{DType, Device, Tensor};
    ///
    /// let columns = Tensor::empty_strided(&[2, 3], &[1, 2], DType::Float32, Device::CPU)?;
    /// assert_eq!(columns.storage().nbytes(), 24);
    /// # Ok::<(), torch_library::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`empty`](Tensor::empty), and strides that do not fit the sizes.
    ///
    /// PyTorch: `torch.empty_strided`.
    pub fn empty_strided(sizes: &[i64], strides: &[i64], dtype: DType, device: Device) -> Result<Tensor> {
        Tensor::allocate_strided(Geometry::new(sizes, strides, 0)?, dtype, device, Storage::zeroed)
    }

    /// A contiguous tensor for results that a kernel writes completely: like [`empty`](Tensor::empty), but its memory
    /// is uninitialised.
    ///
    /// # Errors
    /// The errors of [`empty`](Tensor::empty).
    ///
    /// # Safety
    /// - Every element is written before any is read, and before safe code gets the tensor.
    pub unsafe fn uninit(sizes: &[i64], dtype: DType, device: Device) -> Result<Tensor> {
        Tensor::allocate_contiguous(sizes, dtype, device, |nbytes, device| {
            // SAFETY: the elements fill the memory without gaps, and the caller promises to write them all before they
            // are read.
            unsafe { Storage::uninit(nbytes, device) }
        })
    }

    /// A tensor for results that a kernel writes completely: like [`empty_strided`](Tensor::empty_strided), but its
    /// memory is uninitialised. If the strides leave gaps, the memory is zeroed all the same.
    ///
    /// # Errors
    /// The errors of [`empty_strided`](Tensor::empty_strided).
    ///
    /// # Safety
    /// - Every element is written before any is read, and before safe code gets the tensor.
    pub unsafe fn uninit_strided(
        sizes: &[i64],
        strides: &[i64],
        dtype: DType,
        device: Device,
    ) -> Result<Tensor> {
        let geometry = Geometry::new(sizes, strides, 0)?;
        match is_non_overlapping_and_dense(sizes, strides) {
            // SAFETY: dense elements fill the memory without gaps, and the caller promises to write them all before
            // they are read.
            true => Tensor::allocate_strided(geometry, dtype, device, |nbytes, device| unsafe {
                Storage::uninit(nbytes, device)
            }),
            false => Tensor::allocate_strided(geometry, dtype, device, Storage::zeroed),
        }
    }

    /// A tensor of zeros: [`empty`](Tensor::empty) under the name that promises them.
    ///
    /// # Errors
    /// The errors of [`empty`](Tensor::empty).
    ///
    /// PyTorch: `torch.zeros`.
    pub fn zeros(sizes: &[i64], dtype: DType, device: Device) -> Result<Tensor> {
        Tensor::empty(sizes, dtype, device)
    }

    /// A tensor filled with one value.
    ///
    /// ```
    /// use torch_library::{DType, Device, Tensor};
    ///
    /// let x = Tensor::full(&[2], 2.5, DType::Float32, Device::CPU)?;
    /// assert_eq!(x.to_string(), "tensor([2.5000, 2.5000])");
    /// # Ok::<(), torch_library::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`empty`](Tensor::empty), and a value that the type cannot represent.
    ///
    /// PyTorch: `torch.full`.
    pub fn full(sizes: &[i64], value: impl Into<Scalar>, dtype: DType, device: Device) -> Result<Tensor> {
        let (value, mut tensor) = (value.into(), Tensor::empty(sizes, dtype, device)?);
        match_dtype!(dtype, T => {
            let value: T = value.to()?;
            if device.kind != DeviceType::Meta {
                tensor.fill(value)?;
            }
        });
        Ok(tensor)
    }

    /// A tensor with a vector's elements, which are not copied.
    ///
    /// # Errors
    /// The sizes need another number of elements; the program is [built without](DType::is_built) the type.
    pub fn from_vec<T: Element>(elements: Vec<T>, sizes: &[i64]) -> Result<Tensor> {
        T::DTYPE.ensure_built()?;
        Tensor::from_elements(elements, sizes)
    }

    fn from_elements<T: Element>(elements: Vec<T>, sizes: &[i64]) -> Result<Tensor> {
        let geometry = Geometry::contiguous(sizes)?;
        ensure!(
            usize::try_from(geometry.numel()) == Ok(elements.len()),
            Shape,
            "sizes {sizes:?} need {} elements, {} were given",
            geometry.numel(),
            elements.len()
        );
        let place = StorageView { storage: Storage::from_vec(elements), geometry };
        Ok(Tensor::from_place(place, T::DTYPE, default_keys(Device::CPU)))
    }

    /// A tensor with a copy of a slice's elements.
    ///
    /// # Errors
    /// The errors of [`from_vec`](Tensor::from_vec).
    ///
    /// PyTorch: `torch.tensor`.
    pub fn from_slice<T: Element>(elements: &[T], sizes: &[i64]) -> Result<Tensor> {
        Tensor::from_vec(elements.to_vec(), sizes)
    }

    /// A wrapped number: a tensor that stands for a number in an operator's tensor argument.
    ///
    /// ```
    /// use torch_library::{DType, Tensor, result_type};
    ///
    /// let (x, two) = (Tensor::from([1i8, 2]), Tensor::wrapped_number(2));
    /// assert_eq!((two.dtype(), two.dim()), (DType::Int64, 0));
    /// let operands = [x.promotion_operand(), two.promotion_operand()];
    /// assert_eq!(result_type(operands)?, DType::Int8);
    /// # Ok::<(), torch_library::Error>(())
    /// ```
    ///
    /// PyTorch: `at::wrapped_scalar_tensor`.
    pub fn wrapped_number(number: impl Into<Scalar>) -> Tensor {
        let mut tensor = Tensor::from(number.into());
        if let Some(tensor) = std::sync::Arc::get_mut(&mut tensor.0) {
            tensor.is_wrapped_number = true; // always true: there is no other handle yet
        }
        tensor
    }

    /// The undefined tensor, which a kernel returns if there is no result: no keys, no elements, and `None` as a boxed
    /// value.
    ///
    /// ```
    /// use torch_library::{Tensor, Value};
    ///
    /// let nothing = Tensor::undefined();
    /// assert!(!nothing.is_defined() && nothing.key_set().is_empty());
    /// assert!(Value::from(nothing).is_none());
    /// ```
    ///
    /// PyTorch: `at::Tensor()`, `None` in Python.
    pub fn undefined() -> Tensor {
        let storage = Storage::without_data(0, Device::CPU);
        let mut tensor = Tensor::scalar_in(storage, DType::Float32, DispatchKeySet::EMPTY);
        tensor.geometry_mut().set_contiguous(&[0], 0);
        if let Some(tensor) = std::sync::Arc::get_mut(&mut tensor.0) {
            tensor.is_defined = false; // always true: there is no other handle yet
        }
        tensor
    }

    /// A tensor for results that resembles this one: the same sizes and device, the given type, and strides by memory
    /// format.
    ///
    /// [`MemoryFormat::Preserve`] keeps the strides of a dense input, and otherwise the order of its dimensions.
    ///
    /// # Errors
    /// The errors of [`empty`](Tensor::empty), and a channels-last format for the wrong number of dimensions.
    ///
    /// PyTorch: `torch.empty_like`.
    pub fn empty_like(&self, dtype: DType, format: MemoryFormat) -> Result<Tensor> {
        let geometry = self.geometry();
        let strides = match format {
            MemoryFormat::Preserve => preserved_strides(geometry.sizes(), geometry.strides()),
            _ => strides_for(geometry.sizes(), format)?,
        };
        Tensor::empty_strided(geometry.sizes(), &strides, dtype, self.device())
    }

    #[inline]
    fn allocate_contiguous(
        sizes: &[i64],
        dtype: DType,
        device: Device,
        host_memory: impl FnOnce(usize, Device) -> Result<Storage>,
    ) -> Result<Tensor> {
        let numel = contiguous_numel(sizes)?;
        let storage = allocate(numel, sizes, dtype, device, host_memory)?;
        let mut tensor = Tensor::scalar_in(storage, dtype, default_keys(device));
        tensor.geometry_mut().set_contiguous(sizes, numel);
        Ok(tensor)
    }

    fn allocate_strided(
        geometry: Geometry,
        dtype: DType,
        device: Device,
        host_memory: impl FnOnce(usize, Device) -> Result<Storage>,
    ) -> Result<Tensor> {
        let storage = allocate(geometry.end()?, geometry.sizes(), dtype, device, host_memory)?;
        let mut tensor = Tensor::scalar_in(storage, dtype, default_keys(device));
        // Computed in place: moving the geometry would stall on the stores that have just been made.
        tensor.geometry_mut().set(geometry.sizes(), geometry.strides(), geometry.offset())?;
        Ok(tensor)
    }

    /// A tensor over a storage, with the sizes, strides, offset and dtype of another tensor.
    pub(crate) fn from_storage_like(
        storage: Storage,
        like: &Tensor,
        key_set: DispatchKeySet,
    ) -> Result<Tensor> {
        let geometry = like.geometry();
        let (sizes, strides, offset) = (geometry.sizes(), geometry.strides(), geometry.offset());
        Tensor::from_storage(storage, sizes, strides, offset, like.dtype(), key_set)
    }
}

/// Allocates memory for `count` elements.
#[inline]
fn allocate(
    count: i64,
    sizes: &[i64],
    dtype: DType,
    device: Device,
    host_memory: impl FnOnce(usize, Device) -> Result<Storage>,
) -> Result<Storage> {
    dtype.ensure_built()?;
    let nbytes = usize::try_from(count).ok().and_then(|count| count.checked_mul(dtype.size()));
    let Some(nbytes) = nbytes else { bail!(Shape, "sizes {sizes:?} of {dtype} exceed the address space") };
    match device.kind {
        DeviceType::Cpu => host_memory(nbytes, device),
        DeviceType::Meta => Ok(Storage::without_data(nbytes, device)),
        _ => backend::allocate(nbytes, dtype, device),
    }
}

/// The keys of a new tensor on a device.
#[inline]
fn default_keys(device: Device) -> DispatchKeySet {
    // A constant, since most tensors are made on the CPU.
    const ON_CPU: DispatchKeySet = DispatchKeySet::of_tensor(DispatchKey::CPU);
    const INFERRED_ON_CPU: DispatchKeySet = DispatchKeySet::of_inference_tensor(DispatchKey::CPU);
    if device.kind == DeviceType::Cpu {
        return if InferenceMode::is_enabled() { INFERRED_ON_CPU } else { ON_CPU };
    }
    let key = device.kind.dispatch_key();
    match InferenceMode::is_enabled() {
        true => DispatchKeySet::of_inference_tensor(key),
        false => DispatchKeySet::of_tensor(key),
    }
}

/// A tensor without dimensions.
impl<T: Element> From<T> for Tensor {
    fn from(element: T) -> Tensor {
        from_exact(vec![element], &[])
    }
}

/// A tensor without dimensions, of the widest type of the number's kind.
impl From<Scalar> for Tensor {
    fn from(number: Scalar) -> Tensor {
        match number {
            Scalar::Int(x) => x.into(),
            Scalar::Float(x) => x.into(),
            Scalar::Bool(x) => x.into(),
            // The type may be one that the program is built without; code that then computes with the tensor reports
            // it.
            Scalar::Complex(x) => Tensor::from_elements(vec![x], &[]).expect("one element, no dimensions"),
        }
    }
}

/// A tensor of one dimension; the elements are not copied.
impl<T: Element> From<Vec<T>> for Tensor {
    fn from(elements: Vec<T>) -> Tensor {
        let sizes = [elements.len() as i64];
        from_exact(elements, &sizes)
    }
}

/// A tensor of one dimension.
impl<T: Element> From<&[T]> for Tensor {
    fn from(elements: &[T]) -> Tensor {
        elements.to_vec().into()
    }
}

/// A tensor of one dimension.
impl<T: Element, const A: usize> From<[T; A]> for Tensor {
    fn from(elements: [T; A]) -> Tensor {
        from_exact(elements.to_vec(), &[A as i64])
    }
}

/// A tensor of two dimensions.
impl<T: Element, const A: usize, const B: usize> From<[[T; B]; A]> for Tensor {
    fn from(elements: [[T; B]; A]) -> Tensor {
        from_exact(elements.as_flattened().to_vec(), &[A as i64, B as i64])
    }
}

/// A tensor of three dimensions.
impl<T: Element, const A: usize, const B: usize, const C: usize> From<[[[T; C]; B]; A]> for Tensor {
    fn from(elements: [[[T; C]; B]; A]) -> Tensor {
        from_exact(elements.as_flattened().as_flattened().to_vec(), &[A as i64, B as i64, C as i64])
    }
}

/// A tensor of four dimensions.
impl<T: Element, const A: usize, const B: usize, const C: usize, const D: usize> From<[[[[T; D]; C]; B]; A]>
    for Tensor
{
    fn from(elements: [[[[T; D]; C]; B]; A]) -> Tensor {
        let elements = elements.as_flattened().as_flattened().as_flattened();
        from_exact(elements.to_vec(), &[A as i64, B as i64, C as i64, D as i64])
    }
}

/// A tensor whose number of elements matches its sizes by construction.
///
/// # Panics
/// The program is built without the type. Only the program's source can name the type, so no user input leads here.
fn from_exact<T: Element>(elements: Vec<T>, sizes: &[i64]) -> Tensor {
    debug_assert_eq!(numel(sizes).ok(), i64::try_from(elements.len()).ok());
    Tensor::from_vec(elements, sizes).unwrap_or_else(|error| panic!("{error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    #[test]
    fn literals_make_tensors_of_their_type() {
        assert_eq!(Tensor::from(2.5f32).sizes(), [] as [i64; 0]);
        assert_eq!(Tensor::from([1u8, 2]).dtype(), DType::UInt8);
        assert_eq!(Tensor::from([[true], [false]]).sizes(), [2, 1]);
        assert_eq!(Tensor::from([[[1.0f32; 4]; 3]; 2]).sizes(), [2, 3, 4]);
        let x = Tensor::from([[[[1i64, 2], [3, 4]]]]);
        assert_eq!((x.sizes(), x.to_vec::<i64>().unwrap()), (&[1, 1, 2, 2][..], vec![1, 2, 3, 4]));
        assert_eq!(Tensor::from([[0f64; 3]; 0]).sizes(), [0, 3]);
        assert_eq!(Tensor::from(vec![half::f16::ONE]).dtype(), DType::Float16);
        assert_eq!(Tensor::from(Scalar::from(true)).dtype(), DType::Bool);
    }

    #[test]
    fn new_tensors_are_zero() {
        for dtype in DType::all() {
            let x = Tensor::empty(&[2, 3], dtype, Device::CPU).unwrap();
            assert_eq!((x.strides(), x.storage().nbytes()), (&[3, 1][..], 6 * dtype.size()));
            match_dtype!(dtype, T => assert_eq!(x.to_vec::<T>().unwrap(), [T::default(); 6]));
        }
    }

    #[test]
    fn gaps_are_never_uninitialised() {
        let make = |strides| {
            // SAFETY: `copy_from_slice` writes all four elements next.
            let mut x =
                unsafe { Tensor::uninit_strided(&[2, 2], strides, DType::Int32, Device::CPU) }.unwrap();
            x.copy_from_slice(&[1, 2, 3, 4]).unwrap();
            let memory = (x.storage().nbytes() / 4) as i64;
            x.strided_view(&[memory], &[1], 0).unwrap().to_vec::<i32>().unwrap()
        };
        assert_eq!(make(&[1, 2]), [1, 3, 2, 4]);
        assert_eq!(make(&[4, 2]), [1, 0, 2, 0, 3, 0, 4]);
    }

    #[test]
    fn other_devices_allocate_for_themselves() {
        let error = Tensor::empty(&[2], DType::Float32, Device::new(DeviceType::Cuda, Some(0))).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Device);
        assert!(error.to_string().contains("cuda:0"));
        let meta = Tensor::full(&[2], 1, DType::Float32, Device::META).unwrap();
        assert!(meta.storage().data_ptr().is_none() && meta.to_vec::<f32>().is_err());
        assert!(Tensor::empty(&[i64::MAX], DType::Float32, Device::META).is_err());
    }

    #[test]
    fn inference_mode_makes_inference_tensors_but_not_of_views() {
        let x = Tensor::from([1.0]);
        let (y, view) =
            crate::guard::inference_mode(|| (Tensor::from([1.0]), x.strided_view(&[1], &[1], 0).unwrap()));
        assert_eq!(y.key_set().raw(), 549_755_879_425);
        assert_eq!((x.is_inference(), y.is_inference(), view.is_inference()), (false, true, false));
    }

    #[test]
    fn full_checks_its_value() {
        assert!(Tensor::full(&[1], 300, DType::UInt8, Device::CPU).is_err());
        assert!(Tensor::full(&[1], f64::NAN, DType::Int64, Device::META).is_err());
        assert!(Tensor::full(&[1], 2, DType::Bool, Device::CPU).unwrap().to_vec::<bool>().unwrap()[0]);
    }

    #[test]
    fn counts_must_match() {
        let error = Tensor::from_slice(&[1, 2, 3], &[2, 2]).unwrap_err();
        assert_eq!(error.to_string(), "sizes [2, 2] need 4 elements, 3 were given");
    }

    #[test]
    fn preserve_keeps_the_order_of_dimensions() {
        let x = Tensor::from_slice(&[0f32; 24], &[24]).unwrap();
        let like = |sizes: &[i64], strides: &[i64]| {
            let view = x.strided_view(sizes, strides, 0).unwrap();
            view.empty_like(DType::Int8, MemoryFormat::Preserve).unwrap().strides().to_vec()
        };
        assert_eq!(like(&[2, 3], &[1, 2]), [1, 2]);
        assert_eq!(like(&[2, 3], &[2, 4]), [1, 2]);
        assert_eq!(like(&[2, 3], &[0, 1]), [3, 1]);
    }
}
