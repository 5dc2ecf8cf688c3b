//! The types of arguments other than tensors and numbers: element types, devices, layouts, formats, generators.

use std::sync::OnceLock;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt, PyString, PyType};
use torch_library::{DType, Device, Generator, Layout, MemoryFormat};

use crate::error::exception;

/// Defines a Python class for values of a runtime type: comparable, and printed as PyTorch prints them.
macro_rules! kind {
    ($(#[$doc:meta])* $name:ident($inner:ty) as $python:literal, shown $value:ident => $shown:expr) => {
        $(#[$doc])*
        #[pyclass(frozen, eq, hash, name = $python, module = "torch_library")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub(crate) struct $name(pub(crate) $inner);

        #[pymethods]
        impl $name {
            fn __repr__(&self) -> String {
                let $value = self.0;
                $shown
            }
        }
    };
}

kind! {
    /// The type of a tensor's elements.
    PyDType(DType) as "dtype", shown value => format!("torch_library.{value}")
}
kind! {
    /// The device of a tensor's memory.
    PyDevice(Device) as "device", shown value => format!("device({:?})", value.to_string())
}
kind! {
    /// The data structure of a tensor.
    PyLayout(Layout) as "layout", shown value => format!("torch_library.{value}")
}
kind! {
    /// The order of a tensor's dimensions in memory.
    PyMemoryFormat(MemoryFormat) as "memory_format", shown value => format!("torch_library.{value}")
}

#[pymethods]
impl PyDType {
    #[new]
    fn new(value: &Bound<'_, PyAny>) -> PyResult<Self> {
        dtype(value).map(PyDType).ok_or_else(|| PyTypeError::new_err(format!("{value} names no dtype")))
    }

    /// The size of an element in bytes.
    #[getter]
    fn itemsize(&self) -> usize {
        self.0.size()
    }

    /// The name: `float32`.
    #[getter]
    fn name(&self) -> &'static str {
        self.0.name()
    }

    #[getter]
    fn is_floating_point(&self) -> bool {
        self.0.is_floating_point()
    }

    #[getter]
    fn is_complex(&self) -> bool {
        self.0.is_complex()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyType>, (&'static str,)) {
        (py.get_type::<PyDType>(), (self.0.name(),))
    }
}

#[pymethods]
impl PyDevice {
    #[new]
    fn new(name: &Bound<'_, PyAny>) -> PyResult<Self> {
        match device(name) {
            Some(device) => Ok(PyDevice(device)),
            None => Err(exception(name.str()?.to_str()?.parse::<Device>().err().unwrap_or_else(|| {
                torch_library::Error::new(torch_library::ErrorKind::Type, "a device is named by a string")
            }))),
        }
    }

    /// The device type: `cpu`.
    #[getter(r#type)]
    fn kind(&self) -> String {
        self.0.kind.to_string()
    }

    /// The index among devices of this type.
    #[getter]
    fn index(&self) -> Option<u8> {
        self.0.index
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }
}

#[pymethods]
impl PyLayout {
    #[new]
    fn new(name: &str) -> PyResult<Self> {
        name.parse().map(PyLayout).map_err(exception)
    }
}

#[pymethods]
impl PyMemoryFormat {
    #[new]
    fn new(name: &str) -> PyResult<Self> {
        name.parse().map(PyMemoryFormat).map_err(exception)
    }
}

/// A random number generator.
#[pyclass(frozen, name = "Generator", module = "torch_library")]
#[derive(Clone, Debug)]
pub(crate) struct PyGenerator(pub(crate) Generator);

#[pymethods]
impl PyGenerator {
    #[new]
    #[pyo3(signature = (seed=Generator::DEFAULT_SEED))]
    fn new(seed: u64) -> Self {
        PyGenerator(Generator::with_seed(seed))
    }

    /// Restarts the stream from a seed, and returns the generator.
    fn manual_seed(slf: Bound<'_, Self>, seed: u64) -> Bound<'_, Self> {
        slf.get().0.manual_seed(seed);
        slf
    }

    /// The seed from which the stream was started.
    fn initial_seed(&self) -> u64 {
        self.0.initial_seed()
    }
}

/// The generator that random operators use if none is given.
#[pyfunction]
pub(crate) fn default_generator() -> PyGenerator {
    PyGenerator(torch_library_kernels::random::default_generator().clone())
}

/// Restarts the stream of the default generator from a seed, and returns the generator.
#[pyfunction]
pub(crate) fn manual_seed(seed: u64) -> PyGenerator {
    torch_library_kernels::random::manual_seed(seed);
    default_generator()
}

/// The element type that a value names: one of ours, one of NumPy's, `float`, or a string.
pub(crate) fn dtype(value: &Bound<'_, PyAny>) -> Option<DType> {
    if let Ok(dtype) = value.cast_exact::<PyDType>() {
        return Some(dtype.get().0);
    }
    if let Ok(word) = value.cast::<PyString>() {
        return word.to_str().ok()?.trim_start_matches("torch_library.").parse().ok();
    }
    let py = value.py();
    if let Ok(class) = value.cast::<PyType>() {
        return [
            (py.get_type::<PyFloat>(), DType::Float64),
            (py.get_type::<PyInt>(), DType::Int64),
            (py.get_type::<PyBool>(), DType::Bool),
            (py.get_type::<PyComplex>(), DType::Complex128),
        ]
        .into_iter()
        .find(|(known, _)| known.is(class))
        .map(|(_, dtype)| dtype)
        .or_else(|| numpy_name(value, "__name__"));
    }
    numpy_name(value, "name")
}

/// The element type that a NumPy object names.
fn numpy_name(value: &Bound<'_, PyAny>, attribute: &str) -> Option<DType> {
    let class = match value.cast::<PyType>() {
        Ok(class) => class.clone(),
        Err(_) => value.get_type(),
    };
    let module = class.module().ok()?;
    if !module.to_str().ok()?.starts_with("numpy") {
        return None;
    }
    let name = value.getattr(attribute).ok()?;
    let name = name.cast::<PyString>().ok()?.to_str().ok()?;
    DType::all().find(|dtype| dtype.name() == name.trim_end_matches('_'))
}

/// The device that a value is or names.
pub(crate) fn device(value: &Bound<'_, PyAny>) -> Option<Device> {
    match value.cast_exact::<PyDevice>() {
        Ok(device) => Some(device.get().0),
        Err(_) => value.cast::<PyString>().ok()?.to_str().ok()?.parse().ok(),
    }
}

/// The unique object of a type, so that `is` works as expected.
pub(crate) fn dtype_object(py: Python<'_>, dtype: DType) -> PyResult<Py<PyDType>> {
    static OBJECTS: OnceLock<Vec<(DType, Py<PyDType>)>> = OnceLock::new();
    let objects = match OBJECTS.get() {
        Some(objects) => objects,
        None => {
            let all = DType::all().map(|dtype| Ok((dtype, Py::new(py, PyDType(dtype))?)));
            let all = all.collect::<PyResult<Vec<_>>>()?;
            OBJECTS.get_or_init(|| all)
        }
    };
    match objects.iter().find(|(known, _)| *known == dtype) {
        Some((_, object)) => Ok(object.clone_ref(py)),
        None => Py::new(py, PyDType(dtype)),
    }
}
