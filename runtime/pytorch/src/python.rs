//! Exceptions of Python's that come up from a call of PyTorch's: modes, subclasses of tensors and the glue raise them. They go
//! on as they are, where PyTorch's C functions would leave neither class nor text of them.
#![expect(unsafe_code, reason = "calls Python, if it is in the process, and throws an object of C++")]

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{self, NonNull};
use std::sync::OnceLock;

use crate::shim::shim;

type Object = *mut c_void;

macro_rules! functions {
    ($($field:ident = $name:literal ($($argument:ty),*) $(-> $output:ty)?;)*) => {
        /// What is asked of Python, by the functions of its stable ABI.
        struct Python {
            $($field: unsafe extern "C" fn($($argument),*) $(-> $output)?,)*
        }

        impl Python {
            fn find() -> Option<Python> {
                Some(Python {
                    // SAFETY: Python's stable ABI has the function with this signature.
                    $($field: unsafe {
                        std::mem::transmute::<NonNull<c_void>, unsafe extern "C" fn($($argument),*) $(-> $output)?>(
                            symbol(concat!($name, "\0"))?,
                        )
                    },)*
                })
            }
        }
    };
}

functions! {
    is_running = "Py_IsInitialized"() -> c_int;
    lock = "PyGILState_Ensure"() -> c_int;
    unlock = "PyGILState_Release"(c_int);
    occurred = "PyErr_Occurred"() -> Object;
    fetch = "PyErr_Fetch"(*mut Object, *mut Object, *mut Object);
    normalize = "PyErr_NormalizeException"(*mut Object, *mut Object, *mut Object);
    restore = "PyErr_Restore"(Object, Object, Object);
    set = "PyErr_SetObject"(Object, Object);
    class_of = "PyObject_Type"(Object) -> Object;
    class_name = "PyExceptionClass_Name"(Object) -> *const c_char;
    text = "PyObject_Str"(Object) -> Object;
    utf8 = "PyUnicode_AsUTF8"(Object) -> *const c_char;
    clear = "PyErr_Clear"();
    release = "Py_DecRef"(Object);
}

/// A function of any library in the process. The name ends in a zero.
#[cfg(unix)]
fn symbol(name: &str) -> Option<NonNull<c_void>> {
    // SAFETY: the name ends in a zero, and the symbols of all libraries are looked through.
    NonNull::new(unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr().cast()) })
}

/// As above.
#[cfg(not(unix))]
fn symbol(_: &str) -> Option<NonNull<c_void>> {
    None
}

impl Python {
    fn get() -> Option<&'static Python> {
        static PYTHON: OnceLock<Option<Python>> = OnceLock::new();
        // SAFETY: it may be asked at any time.
        let is_running = |python: &Python| unsafe { (python.is_running)() } != 0;
        PYTHON.get_or_init(|| Python::find().filter(is_running)).as_ref()
    }

    /// Runs a closure while this thread has Python's lock.
    fn locked<R>(&self, f: impl FnOnce() -> R) -> R {
        // SAFETY: Python is in the process, and any thread may ask for its lock.
        let state = unsafe { (self.lock)() };
        let result = f();
        // SAFETY: it is the state of the call above.
        unsafe { (self.unlock)(state) };
        result
    }
}

/// An exception that was taken from Python: its class, the object, where it was raised.
#[derive(Clone, Copy)]
struct Taken([Object; 3]);

thread_local! {
    static TAKEN: Cell<Option<Taken>> = const { Cell::new(None) };
}

/// Takes what Python has raised on this thread, if anything, and returns its text.
pub(crate) fn take() -> Option<String> {
    // Without a module of PyTorch's there is no Python that calls it.
    let python = Python::get()?;
    python.locked(|| {
        let mut parts = [ptr::null_mut(); 3];
        // SAFETY: this thread has the lock; the parts go to where they are told, and are ours then.
        unsafe {
            if (python.occurred)().is_null() {
                return None;
            }
            let [class, value, trace] = &mut parts;
            (python.fetch)(class, value, trace);
            (python.normalize)(class, value, trace);
        }
        let text = text_of(python, parts);
        forget(python, TAKEN.replace(Some(Taken(parts))));
        Some(text)
    })
}

/// Forgets what was taken, before a call that may raise something else.
pub(crate) fn begin() {
    if let Some(taken) = TAKEN.take()
        && let Some(python) = Python::get()
    {
        python.locked(|| forget(python, Some(taken)));
    }
}

/// The text of what was taken since.
pub(crate) fn pending() -> Option<String> {
    let (python, Taken(parts)) = (Python::get()?, TAKEN.get()?);
    Some(python.locked(|| text_of(python, parts)))
}

/// `ValueError: what it says`
fn text_of(python: &Python, [class, value, _]: [Object; 3]) -> String {
    // SAFETY: this thread has the lock, and the parts of an exception are a class and an object; a text lives as long as
    // the object that it is of.
    unsafe {
        let name = CStr::from_ptr((python.class_name)(class)).to_string_lossy().into_owned();
        let object = (python.text)(value);
        let text = if object.is_null() { ptr::null() } else { (python.utf8)(object) };
        let text = if text.is_null() { "".into() } else { CStr::from_ptr(text).to_string_lossy() };
        let text = format!("{name}: {text}");
        (python.release)(object); // nothing, where there is none
        (python.clear)();
        text
    }
}

fn forget(python: &Python, taken: Option<Taken>) {
    for part in taken.into_iter().flat_map(|Taken(parts)| parts) {
        // SAFETY: this thread has the lock, and the reference is ours.
        unsafe { (python.release)(part) };
    }
}

/// What the glue is about to raise again, after PyTorch has lost it.
///
/// # Safety
/// * It is null or an exception of Python's, which the caller holds.
pub unsafe fn raised(error: *mut c_void) {
    if error.is_null() {
        return;
    }
    let Some(python) = Python::get() else { return };
    python.locked(|| {
        // SAFETY: this thread has the lock, and the caller lends an exception; the reference to its class is ours.
        unsafe {
            let class = (python.class_of)(error);
            (python.set)(class, error);
            (python.release)(class);
        }
    });
    take();
}

/// Whether an exception of this text was taken, which goes on now. It is Python's again if so.
pub(crate) fn give_back(message: &str) -> bool {
    let (Some(python), Some(taken)) = (Python::get(), TAKEN.take()) else { return false };
    python.locked(|| {
        let text = text_of(python, taken.0);
        if !message.contains(&text) {
            forget(python, Some(taken));
            return false;
        }
        let [class, value, trace] = taken.0;
        // SAFETY: this thread has the lock, and the references are ours.
        unsafe { (python.restore)(class, value, trace) };
        true
    })
}

/// What stands in front of an object's functions.
#[repr(C)]
struct Table {
    offset: isize,
    information: *const Information,
    end: [unsafe extern "C-unwind" fn(*mut c_void); 2],
    what: unsafe extern "C-unwind" fn(*const c_void) -> *const c_char,
}

/// What describes a class with one base to a handler: it compares names.
#[repr(C)]
struct Information {
    table: *const c_void,
    name: *const c_char,
    base: *const c_void,
}

/// `python_error` of PyTorch's: without the three objects it stands for what Python has raised.
#[repr(C)]
struct PythonError {
    functions: *const c_void,
    objects: [Object; 3],
    /// A `std::string` of libstdc++ that is empty: where its bytes are, how many, and room for few.
    text: (*const c_void, usize, [u64; 2]),
}

extern "C-unwind" fn end(_: *mut c_void) {}

extern "C-unwind" fn what(_: *const c_void) -> *const c_char {
    c"Python has raised an exception".as_ptr()
}

/// Throws what Python has raised. It returns where that is not possible.
pub(crate) fn throw(
    allocate: unsafe extern "C-unwind" fn(usize) -> *mut c_void,
    throw: unsafe extern "C-unwind" fn(
        *mut c_void,
        *const c_void,
        Option<unsafe extern "C-unwind" fn(*mut c_void)>,
    ) -> !,
) {
    struct Described(Information, Table);
    // SAFETY: it is written once, and read by whoever handles the exception.
    unsafe impl Send for Described {}
    // SAFETY: likewise.
    unsafe impl Sync for Described {}
    static DESCRIBED: OnceLock<Option<Box<Described>>> = OnceLock::new();
    let describe = || {
        let library = &shim().library;
        let class = library.symbol("_ZTVN10__cxxabiv120__si_class_type_infoE\0")?;
        let base = library.symbol("_ZTISt9exception\0")?;
        let table = class.as_ptr().cast::<*const c_void>().wrapping_add(2).cast::<c_void>().cast_const();
        let information = Information { table, name: c"12python_error".as_ptr(), base: base.as_ptr() };
        let table = Table { offset: 0, information: ptr::null(), end: [end, end], what };
        let mut described = Box::new(Described(information, table));
        described.1.information = &raw const described.0;
        Some(described)
    };
    let Some(described) = DESCRIBED.get_or_init(describe) else { return };
    // SAFETY:
    // * The memory is for an exception of this size, and filled before it is thrown.
    // * The class is described as the Itanium C++ ABI has it, with functions that take nothing from the object.
    // * Nothing here has a destructor, and this throws through functions of the ABI `C-unwind`.
    unsafe {
        let error = allocate(size_of::<PythonError>() + 64).cast::<PythonError>();
        let functions = (&raw const described.1.end).cast();
        error.write(PythonError { functions, objects: [ptr::null_mut(); 3], text: (ptr::null(), 0, [0; 2]) });
        (&raw mut (*error).text.0).write((&raw const (*error).text.2).cast());
        throw(error.cast(), (&raw const described.0).cast(), None)
    }
}
