//! Passes Python exceptions through calls into PyTorch unchanged: those of modes, tensor subclasses and the glue.
//! PyTorch's C functions would keep neither their class nor their text.
#![expect(unsafe_code, reason = "calls Python, if it is in the process, and throws an object of C++")]

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{self, NonNull};
use std::sync::OnceLock;

use crate::shim::shim;

type Object = *mut c_void;

macro_rules! functions {
    ($($field:ident = $name:literal ($($argument:ty),*) $(-> $output:ty)?;)*) => {
        /// The functions of Python's stable ABI that are used here.
        struct Python {
            $($field: unsafe extern "C" fn($($argument),*) $(-> $output)?,)*
        }

        impl Python {
            fn find() -> Option<Python> {
                Some(Python {
                    // SAFETY: the function has this signature in Python's stable ABI.
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

/// A function of any library in the process. The name is null-terminated.
#[cfg(unix)]
fn symbol(name: &str) -> Option<NonNull<c_void>> {
    // SAFETY: the name is null-terminated, and `RTLD_DEFAULT` searches all global libraries.
    NonNull::new(unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr().cast()) })
}

/// Python is not looked for on other systems.
#[cfg(not(unix))]
fn symbol(_: &str) -> Option<NonNull<c_void>> {
    None
}

impl Python {
    fn get() -> Option<&'static Python> {
        static PYTHON: OnceLock<Option<Python>> = OnceLock::new();
        // SAFETY: `Py_IsInitialized` may be called at any time.
        let is_running = |python: &Python| unsafe { (python.is_running)() } != 0;
        PYTHON.get_or_init(|| Python::find().filter(is_running)).as_ref()
    }

    /// Runs a closure while this thread holds Python's lock (the GIL).
    fn locked<R>(&self, f: impl FnOnce() -> R) -> R {
        // SAFETY: Python is initialised, and any thread may acquire its lock.
        let state = unsafe { (self.lock)() };
        let result = f();
        // SAFETY: the state is that of the matching call above.
        unsafe { (self.unlock)(state) };
        result
    }
}

/// An exception that was taken from Python: its class, the object and the traceback.
#[derive(Clone, Copy)]
struct Taken([Object; 3]);

thread_local! {
    static TAKEN: Cell<Option<Taken>> = const { Cell::new(None) };
}

/// Takes the exception that Python has raised on this thread, if any, and returns its text.
pub(crate) fn take() -> Option<String> {
    let python = Python::get()?;
    python.locked(|| {
        let mut parts = [ptr::null_mut(); 3];
        // SAFETY: this thread holds the lock; the functions write the parts to these addresses, and we own them then.
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

/// Drops an exception that was taken earlier, before a call that may raise another one.
pub(crate) fn begin() {
    if let Some(taken) = TAKEN.take()
        && let Some(python) = Python::get()
    {
        python.locked(|| forget(python, Some(taken)));
    }
}

/// The text of the exception that was taken since [`begin`], if any.
pub(crate) fn pending() -> Option<String> {
    let (python, Taken(parts)) = (Python::get()?, TAKEN.get()?);
    Some(python.locked(|| text_of(python, parts)))
}

/// The text of an exception: `ValueError: message`.
fn text_of(python: &Python, [class, value, _]: [Object; 3]) -> String {
    // SAFETY: this thread holds the lock, and the parts of an exception are a class and an object; a string's bytes
    // live as long as the string object.
    unsafe {
        let name = CStr::from_ptr((python.class_name)(class)).to_string_lossy().into_owned();
        let object = (python.text)(value);
        let text = if object.is_null() { ptr::null() } else { (python.utf8)(object) };
        let text = if text.is_null() { "".into() } else { CStr::from_ptr(text).to_string_lossy() };
        let text = format!("{name}: {text}");
        (python.release)(object); // does nothing for null
        (python.clear)();
        text
    }
}

fn forget(python: &Python, taken: Option<Taken>) {
    for part in taken.into_iter().flat_map(|Taken(parts)| parts) {
        // SAFETY: this thread holds the lock, and the reference is ours.
        unsafe { (python.release)(part) };
    }
}

/// Takes the exception that the glue is about to raise again, after PyTorch has lost it.
///
/// # Safety
/// * It is null or a Python exception, to which the caller holds a reference.
pub unsafe fn raised(error: *mut c_void) {
    if error.is_null() {
        return;
    }
    let Some(python) = Python::get() else { return };
    python.locked(|| {
        // SAFETY: this thread holds the lock, and the caller holds the exception; the reference to its class is ours.
        unsafe {
            let class = (python.class_of)(error);
            (python.set)(class, error);
            (python.release)(class);
        }
    });
    take();
}

/// Restores the exception that was taken as Python's current one, if the message contains its text. Returns whether it
/// did; otherwise the exception is dropped.
pub(crate) fn give_back(message: &str) -> bool {
    let (Some(python), Some(taken)) = (Python::get(), TAKEN.take()) else { return false };
    python.locked(|| {
        let text = text_of(python, taken.0);
        if !message.contains(&text) {
            forget(python, Some(taken));
            return false;
        }
        let [class, value, trace] = taken.0;
        // SAFETY: this thread holds the lock, and the references are ours to give.
        unsafe { (python.restore)(class, value, trace) };
        true
    })
}

/// A vtable, with the two words in front of its functions.
#[repr(C)]
struct Table {
    offset: isize,
    information: *const Information,
    end: [unsafe extern "C-unwind" fn(*mut c_void); 2],
    what: unsafe extern "C-unwind" fn(*const c_void) -> *const c_char,
}

/// The `type_info` of a class with a single base (`__si_class_type_info`); handlers compare the names.
#[repr(C)]
struct Information {
    table: *const c_void,
    name: *const c_char,
    base: *const c_void,
}

/// PyTorch's `python_error`: with its three objects null, it stands for Python's current exception.
#[repr(C)]
struct PythonError {
    functions: *const c_void,
    objects: [Object; 3],
    /// An empty `std::string` of libstdc++: the address of its bytes, their number, and room for short strings.
    text: (*const c_void, usize, [u64; 2]),
}

extern "C-unwind" fn end(_: *mut c_void) {}

extern "C-unwind" fn what(_: *const c_void) -> *const c_char {
    c"Python has raised an exception".as_ptr()
}

/// Throws a `python_error` for Python's current exception. It returns only if that is not possible.
pub(crate) fn throw(
    allocate: unsafe extern "C-unwind" fn(usize) -> *mut c_void,
    throw: unsafe extern "C-unwind" fn(
        *mut c_void,
        *const c_void,
        Option<unsafe extern "C-unwind" fn(*mut c_void)>,
    ) -> !,
) {
    struct Described(Information, Table);
    // SAFETY: it is written once, before it is shared, and then only read by exception handlers.
    unsafe impl Send for Described {}
    // SAFETY: as for `Send`.
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
    // * The memory is large enough for an exception of this type, and initialised before it is thrown.
    // * The `type_info` and the vtable are laid out as the Itanium C++ ABI demands, with functions that do not access
    //   the object.
    // * No value here has a destructor, and this throws through functions of the ABI `C-unwind`.
    unsafe {
        let error = allocate(size_of::<PythonError>() + 64).cast::<PythonError>();
        let functions = (&raw const described.1.end).cast();
        error.write(PythonError { functions, objects: [ptr::null_mut(); 3], text: (ptr::null(), 0, [0; 2]) });
        (&raw mut (*error).text.0).write((&raw const (*error).text.2).cast());
        throw(error.cast(), (&raw const described.0).cast(), None)
    }
}
