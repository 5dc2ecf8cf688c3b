//! Objects that are called without a tuple of arguments: Python's *vectorcall*, for pyo3 classes.
//!
//! A pyo3 class is called with a tuple and a dictionary, which Python makes for each call. The stable interface lets a
//! class take a C array instead, if each object stores the address of its function. pyo3 classes have no room for that,
//! so this module makes a subclass that does.
#![expect(unsafe_code, reason = "a class made by the C interface, and the function that Python calls")]

use std::any::Any;
use std::ffi::{CStr, c_int, c_ulong, c_void};
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use pyo3::exceptions::PySystemError;
use pyo3::ffi;
use pyo3::panic::PanicException;
use pyo3::prelude::*;
use pyo3::pyclass::boolean_struct::True;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyTuple, PyType};
use pyo3::{Borrowed, PyClass};

use crate::arguments::{Arguments, Lent, named};
use crate::result::Returned;

/// `Py_TPFLAGS_HAVE_VECTORCALL`: part of the stable interface under this name from 3.12 on, and of Python itself with
/// this value from 3.8 on.
const HAVE_VECTORCALL: c_ulong = 1 << 11;
/// `PY_VECTORCALL_ARGUMENTS_OFFSET`: a flag in the number of positional arguments.
const ARGUMENTS_OFFSET: usize = 1 << (usize::BITS - 1);

/// The function that Python calls: with the object, the arguments, the number of positional ones, and a tuple of the
/// others' names.
type Function = unsafe extern "C" fn(
    *mut ffi::PyObject,
    *const *mut ffi::PyObject,
    usize,
    *mut ffi::PyObject,
) -> *mut ffi::PyObject;

/// A class whose objects are functions.
pub(crate) trait Callable: PyClass<Frozen = True> + Sync {
    /// The full name of the class, including its module.
    const FULL_NAME: &'static CStr;
    /// Whether such an object in a class is a method of the class.
    const IS_METHOD: bool;

    fn called<'py>(&self, py: Python<'py>, arguments: Arguments<'_, 'py>) -> Returned;
}

/// The class of objects that are called this way, made when the first object is.
pub(crate) struct Class<T> {
    made: PyOnceLock<Made>,
    of: PhantomData<fn() -> T>,
}

struct Made {
    class: Py<PyType>,
    /// The offset of the function's address in an object: after the fields of the base class.
    offset: usize,
}

impl<T: Callable> Class<T> {
    pub(crate) const fn new() -> Self {
        Class { made: PyOnceLock::new(), of: PhantomData }
    }

    /// An object of the class, made with the constructor of the base class.
    pub(crate) fn object<'py>(
        &self,
        py: Python<'py>,
        arguments: impl pyo3::call::PyCallArgs<'py>,
    ) -> PyResult<Bound<'py, T>> {
        let Made { class, offset } = self.made.get_or_try_init(py, || make::<T>(py))?;
        let object = class.bind(py).call1(arguments)?.cast_into::<T>()?;
        if !object.as_any().get_type().is(class) {
            return Err(PySystemError::new_err("the constructor of a class made an object of another"));
        }
        // SAFETY: objects of this class are larger by an address than those of `T`, whose size is `offset`, and no
        // other code writes there. Python reads it, but the GIL is held.
        unsafe { object.as_ptr().byte_add(*offset).cast::<Function>().write(call::<T>) };
        Ok(object)
    }
}

fn make<T: Callable>(py: Python<'_>) -> PyResult<Made> {
    let base = py.get_type::<T>();
    let offset: usize = base.getattr("__basicsize__")?.extract()?;
    let wrong = || PySystemError::new_err("an object has no place for an address");
    let size =
        offset.checked_add(size_of::<Function>()).filter(|_| offset.is_multiple_of(align_of::<Function>()));
    let size = size.and_then(|size| c_int::try_from(size).ok()).ok_or_else(wrong)?;
    let member = ffi::PyMemberDef {
        name: c"__vectorcalloffset__".as_ptr(),
        type_code: ffi::Py_T_PYSSIZET,
        offset: offset as ffi::Py_ssize_t,
        flags: ffi::Py_READONLY,
        doc: ptr::null(),
    };
    let mut members = [member, ffi::PyMemberDef::default()];
    let inherited = |slot| {
        // SAFETY: the class is alive, and was made by `PyType_FromSpec`, as all pyo3 classes are.
        ffi::PyType_Slot { slot, pfunc: unsafe { ffi::PyType_GetSlot(base.as_type_ptr(), slot) } }
    };
    let end = ffi::PyType_Slot { slot: 0, pfunc: ptr::null_mut() };
    let members = ffi::PyType_Slot { slot: ffi::Py_tp_members, pfunc: members.as_mut_ptr().cast::<c_void>() };
    let mut slots = [members, inherited(ffi::Py_tp_call), end, end];
    let mut flags = ffi::Py_TPFLAGS_DEFAULT | HAVE_VECTORCALL;
    if T::IS_METHOD {
        slots[2] = inherited(ffi::Py_tp_descr_get);
        flags |= ffi::Py_TPFLAGS_METHOD_DESCRIPTOR;
    }
    let mut spec = ffi::PyType_Spec {
        name: T::FULL_NAME.as_ptr(),
        basicsize: size,
        itemsize: 0,
        flags: flags as _,
        slots: slots.as_mut_ptr(),
    };
    // SAFETY: the lists are terminated, and are copied; the names of the class and the member are constants.
    let class = unsafe {
        Bound::from_owned_ptr_or_err(py, ffi::PyType_FromSpecWithBases(&raw mut spec, base.as_ptr()))
    }?;
    // A class has its own docstring, which would hide those of the objects.
    class.setattr("__doc__", base.getattr("__dict__")?.get_item("__doc__")?)?;
    Ok(Made { class: class.cast_into()?.unbind(), offset })
}

/// # Safety
/// - Called by Python for an object of the class of `T`: with that object, the number of positional arguments, and a
///   tuple with a name for each argument after these, or null; all of them live until this returns.
unsafe extern "C" fn call<T: Callable>(
    callable: *mut ffi::PyObject,
    arguments: *const *mut ffi::PyObject,
    flagged: usize,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    let count = flagged & !ARGUMENTS_OFFSET;
    let work = |py: Python<'_>| {
        let called = catch_unwind(AssertUnwindSafe(|| {
            // SAFETY: as the caller promises.
            let (callable, names) =
                unsafe { (Borrowed::from_ptr(py, callable), Borrowed::from_ptr_or_opt(py, names)) };
            // SAFETY: only objects of a subclass of `T` have this function.
            let callable = unsafe { callable.cast_unchecked::<T>() };
            let Some(names) = names else {
                // SAFETY: as the caller promises.
                let positional = unsafe { lent(arguments, count) };
                return callable.get().called(py, Arguments::positional(positional));
            };
            let names = names.cast::<PyTuple>().map_err(PyErr::from)?;
            // SAFETY: as the caller promises.
            let (positional, rest) = unsafe { lent(arguments, count + names.len()) }.split_at(count);
            callable.get().called(py, Arguments { positional, named: &named(&names, rest)? })
        }));
        match called {
            Ok(Ok(result)) => result.into_ptr(),
            Ok(Err(error)) => raise(py, *error),
            Err(panic) => raise(py, panicked(panic)),
        }
    };
    // SAFETY: Python calls this on a thread that holds the GIL, also while the interpreter ends: it runs destructors
    // then, when `attach` would refuse to.
    unsafe { Python::attach_unchecked(work) }
}

/// # Safety
/// - There are `count` objects, which live for `'a`; or the count is 0.
unsafe fn lent<'a, 'py>(objects: *const *mut ffi::PyObject, count: usize) -> &'a [Lent<'a, 'py>] {
    const { assert!(size_of::<Lent<'_, '_>>() == size_of::<*mut ffi::PyObject>()) };
    if count == 0 {
        return &[];
    }
    // SAFETY: `Borrowed` is a transparent wrapper of the pointer to an object, which lives long enough, as the caller
    // promises.
    unsafe { std::slice::from_raw_parts(objects.cast(), count) }
}

#[cold]
fn raise(py: Python<'_>, error: PyErr) -> *mut ffi::PyObject {
    error.restore(py);
    ptr::null_mut()
}

/// The exception that pyo3 makes from a panic.
#[cold]
fn panicked(panic: Box<dyn Any + Send>) -> PyErr {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic in Rust");
    PanicException::new_err((text.to_owned(),))
}
