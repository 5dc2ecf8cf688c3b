//! Memory that NumPy and other holders of buffers share: in by `from_numpy`, out by the buffer protocol.
#![expect(unsafe_code, reason = "the buffer protocol, which hands out addresses")]

use std::ffi::{CStr, c_int, c_void};
use std::ptr;

use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use torch_library::{DType, Device, Lease, Scalar, Tensor};
use torch_library_kernels::aten;

use crate::argument::items;
use crate::element::number;
use crate::error::exception;
use crate::held::Held;
use crate::kinds::dtype as dtype_named;
use crate::owner::lock;
use crate::shared::{self, Elements, alone, over};
use crate::tensor::{PyTensor, unlocked};

/// Element types with the letters of the `struct` module. Sizes tell apart what has one letter here and another there.
const FORMATS: [(DType, &CStr); 14] = [
    (DType::Bool, c"?"),
    (DType::UInt8, c"B"),
    (DType::Int8, c"b"),
    (DType::Int16, c"h"),
    (DType::UInt16, c"H"),
    (DType::Int32, c"i"),
    (DType::UInt32, c"I"),
    (DType::Int64, c"q"),
    (DType::UInt64, c"Q"),
    (DType::Float16, c"e"),
    (DType::Float32, c"f"),
    (DType::Float64, c"d"),
    (DType::Complex64, c"Zf"),
    (DType::Complex128, c"Zd"),
];

/// The element type of a buffer, by its letters and the size of an element.
fn dtype_of(format: &CStr, size: usize) -> Option<DType> {
    let text = format.to_str().ok()?;
    let native = if cfg!(target_endian = "little") { '<' } else { '>' };
    let letters = text.trim_start_matches(['@', '=', native]);
    let signed = matches!(letters, "b" | "h" | "i" | "l" | "q" | "n");
    let unsigned = matches!(letters, "B" | "H" | "I" | "L" | "Q" | "N");
    let fits = |dtype: DType| dtype.size() == size;
    let of_kind = |dtype: DType| match (signed, unsigned) {
        (true, _) => dtype.is_integer() && dtype.is_signed(),
        (_, true) => dtype.is_integer() && !dtype.is_signed(),
        _ => FORMATS.iter().any(|(known, format)| *known == dtype && format.to_str() == Ok(letters)),
    };
    FORMATS.iter().map(|(dtype, _)| *dtype).find(|dtype| fits(*dtype) && of_kind(*dtype))
}

/// Where the elements of a buffer are.
struct Place {
    start: *mut c_void,
    sizes: Vec<i64>,
    strides: Vec<i64>,
    dtype: DType,
    readonly: bool,
}

impl Place {
    fn elements(&self, dtype: DType, block: Option<(usize, usize)>) -> Elements<'_> {
        Elements { start: self.start, sizes: &self.sizes, strides: &self.strides, dtype, block }
    }
}

fn place(buffer: &Held<'_>) -> PyResult<Place> {
    let (format, size) = (buffer.format(), buffer.item_size());
    let Some(dtype) = dtype_of(format, size) else {
        return Err(PyTypeError::new_err(format!(
            "elements of the format {format:?} with {size} bytes are not supported; supported are {}",
            FORMATS.iter().map(|(dtype, _)| dtype.name()).collect::<Vec<_>>().join(", ")
        )));
    };
    if buffer.has_suboffsets() {
        return Err(PyValueError::new_err("a buffer of pointers to pointers has no strides"));
    }
    if buffer.sizes().len() != buffer.strides().len() {
        return Err(PyValueError::new_err("a buffer without strides"));
    }
    let strides = buffer.strides().iter().map(|bytes| {
        let bytes = *bytes as i64;
        match bytes % size as i64 {
            0 if bytes >= 0 => Ok(bytes / size as i64),
            _ => Err(PyValueError::new_err(format!(
                "strides of {:?} bytes are negative, or no multiples of an element's {size}; copy the array first",
                buffer.strides()
            ))),
        }
    });
    Ok(Place {
        start: buffer.start(),
        strides: strides.collect::<PyResult<_>>()?,
        sizes: buffer.sizes().iter().map(|size| *size as i64).collect(),
        dtype,
        readonly: buffer.is_readonly(),
    })
}

/// A tensor over the memory of an array, which is not copied: what is written to one is seen in the other. Booleans are
/// copied, since the bytes of an array may be others than 0 and 1.
#[pyfunction]
pub(crate) fn from_numpy(array: &Bound<'_, PyAny>) -> PyResult<PyTensor> {
    let buffer = buffer_of(array)?;
    let place = place(&buffer)?;
    if place.dtype == DType::Bool {
        return copied(&place).map(PyTensor);
    }
    if place.readonly {
        return Err(PyValueError::new_err(
            "the array is read-only, and a tensor over it could be written to; `torch_library.tensor(array)` copies it",
        ));
    }
    let (keeper, block) = lock(array)?;
    // SAFETY:
    // * the array has its elements there as long as the buffer of it that the keeper has, and is not moved meanwhile,
    //   see
    //   `lock`; so has its owner the block. Arrays never written to hold what the allocator left: to Rust, what comes
    // from
    //   foreign code is some value.
    // * the guide tells users the rule.
    unsafe { over(&place.elements(place.dtype, block), keeper) }.map(PyTensor).map_err(exception)
}

fn buffer_of<'py>(object: &Bound<'py, PyAny>) -> PyResult<Held<'py>> {
    Held::of(object).map_err(|error| {
        let text = format!("{} has no buffer to share: {error}", object.get_type());
        PyTypeError::new_err(text)
    })
}

/// A tensor of its own with the elements of a buffer.
fn copied(place: &Place) -> PyResult<Tensor> {
    // A byte for each boolean, of which any but 0 is true.
    let dtype = if place.dtype == DType::Bool { DType::UInt8 } else { place.dtype };
    // SAFETY: the caller holds the buffer of this place until the copy is made, before this function returns, and
    // drops the
    // tensor before it; bytes of booleans are looked at as numbers.
    let shared = unsafe { alone(&place.elements(dtype, None)) };
    let shared = shared.map_err(exception)?;
    let copy = || match place.dtype {
        DType::Bool => aten::ne_Scalar(&shared, Scalar::Int(0)),
        _ => aten::clone(&shared),
    };
    // Python waits: nobody changes the buffer before it was read.

    copy().map_err(exception)
}

/// A tensor of its own: of numbers, nested lists of them, or a copy of an array.
#[pyfunction]
#[pyo3(signature = (data, *, dtype=None, requires_grad=false))]
pub(crate) fn tensor(
    data: &Bound<'_, PyAny>,
    dtype: Option<&Bound<'_, PyAny>>,
    requires_grad: bool,
) -> PyResult<PyTensor> {
    let wanted = match dtype {
        Some(object) => {
            let wrong = || PyTypeError::new_err(format!("{object} names no dtype"));
            Some(dtype_named(object).ok_or_else(wrong)?)
        }
        None => None,
    };
    let tensor = tensor_of(data, wanted)?;
    tensor.set_requires_grad(requires_grad).map_err(exception)?;
    Ok(PyTensor(tensor))
}

/// A tensor of its own, of a type or of that which its elements ask for.
pub(crate) fn tensor_of(data: &Bound<'_, PyAny>, wanted: Option<DType>) -> PyResult<Tensor> {
    let py = data.py();
    let tensor = if let Ok(tensor) = data.cast_exact::<PyTensor>() {
        let tensor = tensor.get().0.clone();
        unlocked(py, tensor.numel(), || aten::detach(&aten::clone(&tensor)?)).map_err(exception)?
    } else if let Ok(buffer) = Held::of(data) {
        copied(&place(&buffer)?)?
    } else {
        let (mut numbers, mut sizes) = (Vec::new(), Vec::new());
        collect(data, 0, &mut sizes, &mut numbers)?;
        of_numbers(&numbers, &sizes).map_err(exception)?
    };
    match wanted {
        Some(dtype) if dtype != tensor.dtype() => {
            aten::_to_copy::with(&tensor).dtype(Some(dtype)).call().map_err(exception)
        }
        _ => Ok(tensor),
    }
}

/// The numbers of nested lists, which all have as many members as the first of their depth.
fn collect(
    object: &Bound<'_, PyAny>,
    depth: usize,
    sizes: &mut Vec<i64>,
    numbers: &mut Vec<Scalar>,
) -> PyResult<()> {
    let one = number(object).or_else(|| object.cast_exact::<PyTensor>().ok()?.get().0.item().ok());
    if let Some(number) = one {
        let ends = depth == sizes.len();
        numbers.push(number);
        return if ends { Ok(()) } else { Err(ragged(depth)) };
    }
    let Some(members) = items(object).filter(|_| !object.is_instance_of::<PyString>() && depth < 64) else {
        return Err(PyTypeError::new_err(format!(
            "a tensor is made of numbers, nested lists of them, or an array, not of {}",
            object.get_type()
        )));
    };
    let count = members.len() as i64;
    match sizes.get(depth) {
        None if numbers.is_empty() => sizes.push(count),
        Some(size) if *size == count => {}
        _ => return Err(ragged(depth)),
    }
    members.iter().try_for_each(|member| collect(member, depth + 1, sizes, numbers))
}

fn ragged(depth: usize) -> PyErr {
    PyValueError::new_err(format!("nested lists at depth {depth} have different lengths"))
}

fn of_numbers(numbers: &[Scalar], sizes: &[i64]) -> torch_library::Result<Tensor> {
    let is = |kind: fn(&Scalar) -> bool| numbers.iter().any(kind);
    if is(|number| matches!(number, Scalar::Complex(_))) {
        let list = numbers.iter().map(|number| number.cast::<num_complex::Complex<f32>>()).collect();
        Tensor::from_vec(list, sizes)
    } else if numbers.is_empty() || is(|number| matches!(number, Scalar::Float(_))) {
        Tensor::from_vec(numbers.iter().map(|number| number.cast::<f32>()).collect(), sizes)
    } else if is(|number| matches!(number, Scalar::Int(_))) {
        Tensor::from_vec(numbers.iter().map(|number| number.cast::<i64>()).collect(), sizes)
    } else {
        Tensor::from_vec(numbers.iter().map(|number| number.cast::<bool>()).collect(), sizes)
    }
}

/// What a buffer of ours needs while somebody has it: a tensor that nobody can move to other memory, and its lists.
struct Lent {
    _tensor: Tensor,
    sizes: Vec<ffi::Py_ssize_t>,
    strides: Vec<ffi::Py_ssize_t>,
}

/// The address of a tensor's elements, and a tensor of our own over the same ones.
pub(crate) fn lend(tensor: &Tensor) -> torch_library::Result<(*mut c_void, Tensor)> {
    torch_library::ensure!(
        tensor.device() == Device::CPU,
        Device,
        "a tensor on {} has no memory that Python could share, `x.to(\"cpu\")` has",
        tensor.device()
    );
    torch_library::ensure!(
        !tensor.requires_grad(),
        Autograd,
        "what is written to shared memory has no gradient; `x.detach()` can be shared"
    );
    let lease = Lease::new([], [tensor])?;
    let geometry = tensor.geometry();
    let own = tensor.strided_view(geometry.sizes(), geometry.strides(), geometry.offset())?;
    shared::lend(&own);
    Ok((tensor.address(&lease)?.cast_mut().cast(), own))
}

#[pymethods]
impl PyTensor {
    /// The elements as an array of NumPy's over the same memory. One of booleans is read-only.
    fn numpy<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let tensor = &slf.get().0;
        if !FORMATS.iter().any(|(known, _)| *known == tensor.dtype()) {
            let text = format!("NumPy has no {}, `x.to(torch_library.float32)` has", tensor.dtype());
            return Err(PyTypeError::new_err(text));
        }
        lend(tensor).map_err(exception)?;
        let view = pyo3::types::PyMemoryView::from(slf.as_any())?;
        slf.py().import("numpy")?.call_method1("asarray", (view,))
    }

    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        slf: &Bound<'py, Self>,
        dtype: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, array) = (slf.py(), PyTensor::numpy(slf)?);
        let options = PyDict::new(py);
        options.set_item("dtype", dtype)?;
        options.set_item("copy", copy)?;
        py.import("numpy")?.call_method("array", (array,), Some(&options))
    }

    /// # Safety
    /// As Python calls it: `view` is one to fill.
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let tensor = &slf.get().0;
        let dtype = tensor.dtype();
        let format = FORMATS.iter().find(|(known, _)| *known == dtype);
        let refuse = |text: String| Err(PyBufferError::new_err(text));
        let Some((_, format)) = format else {
            return refuse(format!(
                "NumPy and the buffer protocol have no {dtype}, `x.to(torch_library.float32)` has"
            ));
        };
        let readonly = dtype == DType::Bool;
        if readonly && flags & ffi::PyBUF_WRITABLE != 0 {
            return refuse(
                "memory of booleans is lent to be read, since a byte that is no boolean may not be written"
                    .into(),
            );
        }
        let (start, own) = lend(tensor).map_err(|error| PyBufferError::new_err(error.to_string()))?;
        let size = dtype.size() as ffi::Py_ssize_t;
        let is_contiguous = own.is_contiguous(torch_library::MemoryFormat::Contiguous);
        if flags & ffi::PyBUF_STRIDES != ffi::PyBUF_STRIDES && !is_contiguous {
            return refuse("the elements have strides, and who asks for them wants them side by side".into());
        }
        let mut lent = Box::new(Lent {
            sizes: own.sizes().iter().map(|size| *size as ffi::Py_ssize_t).collect(),
            strides: own.strides().iter().map(|stride| *stride as ffi::Py_ssize_t * size).collect(),
            _tensor: own,
        });
        let len = lent.sizes.iter().product::<ffi::Py_ssize_t>() * size;
        // SAFETY: Python hands a structure to fill. What it points to lives in `lent`, which `internal` keeps until
        // `__releasebuffer__`, and the elements as long as the tensor in it.
        unsafe {
            (*view).buf = start;
            (*view).len = len;
            (*view).itemsize = size;
            (*view).readonly = c_int::from(readonly);
            (*view).ndim = lent.sizes.len() as c_int;
            (*view).format =
                if flags & ffi::PyBUF_FORMAT != 0 { format.as_ptr().cast_mut() } else { ptr::null_mut() };
            (*view).shape =
                if flags & ffi::PyBUF_ND != 0 { lent.sizes.as_mut_ptr() } else { ptr::null_mut() };
            let wants_strides = flags & ffi::PyBUF_STRIDES == ffi::PyBUF_STRIDES;
            (*view).strides = if wants_strides { lent.strides.as_mut_ptr() } else { ptr::null_mut() };
            (*view).suboffsets = ptr::null_mut();
            (*view).internal = Box::into_raw(lent).cast();
            (*view).obj = slf.into_any().into_ptr();
        }
        Ok(())
    }

    /// # Safety
    /// As Python calls it: once for each view that `__getbuffer__` filled.
    unsafe fn __releasebuffer__(&self, view: *mut ffi::Py_buffer) {
        // SAFETY: `internal` is the box that `__getbuffer__` put there, and Python releases a view once.
        drop(unsafe { Box::from_raw((*view).internal.cast::<Lent>()) });
    }
}
