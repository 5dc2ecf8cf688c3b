//! Throws PyTorch's exception for each kind of error, which Python sees as `IndexError`, `ValueError` and so on.
//!
//! The stable C functions throw only one class, which becomes Python's `RuntimeError`. The other classes are in the
//! library that is loaded: each is its base class with another vtable. They are built here by the mangled names, the
//! calling convention and the vtable layout of the Itanium C++ ABI, with a string of libstdc++. Where one of the
//! symbols is missing, the error is a `RuntimeError`.
#![expect(unsafe_code, reason = "builds and throws objects of C++")]

use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::NonNull;
use std::sync::OnceLock;

use torch_library::{Error, ErrorKind, Result};

use crate::cpp::{CppString, Strings};
use crate::python;
use crate::shim::{Library, shim};

/// A class of PyTorch's exceptions, which PyTorch's Python bindings translate to a Python exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Index,
    Value,
    Type,
    NotImplemented,
}

impl Class {
    const ALL: [Class; 4] = [Class::Index, Class::Value, Class::Type, Class::NotImplemented];

    /// The class for a kind of error; none for kinds that become a `RuntimeError`. The wheel `torch_library`, which
    /// works without PyTorch, maps kinds in the same way.
    fn of(kind: ErrorKind) -> Option<Class> {
        match kind {
            ErrorKind::Index => Some(Class::Index),
            ErrorKind::Argument | ErrorKind::Shape | ErrorKind::Schema => Some(Class::Value),
            ErrorKind::DType | ErrorKind::Type => Some(Class::Type),
            ErrorKind::MissingKernel | ErrorKind::NotSupported => Some(Class::NotImplemented),
            _ => None,
        }
    }

    /// Its mangled name: the length, then the name.
    fn name(self) -> &'static str {
        match self {
            Class::Index => "10IndexError",
            Class::Value => "10ValueError",
            Class::Type => "9TypeError",
            Class::NotImplemented => "19NotImplementedError",
        }
    }
}

/// `c10::SourceLocation`: function, file and line.
#[repr(C)]
struct SourceLocation {
    function: *const c_char,
    file: *const c_char,
    line: u32,
}

/// The constructor. A string argument is passed by its address, like every class with a destructor.
type NewException = unsafe extern "C-unwind" fn(*mut c_void, SourceLocation, *mut CppString);
type EndException = unsafe extern "C-unwind" fn(*mut c_void);
type Allocate = unsafe extern "C-unwind" fn(usize) -> *mut c_void;
type Throw = unsafe extern "C-unwind" fn(*mut c_void, *const c_void, Option<EndException>) -> !;

/// More bytes than any of the classes needs: they contain a vtable pointer, five strings and pointers, but no header
/// promises their exact size.
const ROOM: usize = 1024;

/// The functions and tables with which exceptions of all classes are thrown.
#[derive(Clone, Copy)]
struct Exceptions {
    strings: Strings,
    allocate: Allocate,
    throw: Throw,
    /// The constructor of the base class.
    new: NewException,
    /// The vtable and the `type_info` of each class.
    classes: [(NonNull<c_void>, NonNull<c_void>); Class::ALL.len()],
}

// SAFETY: the vtables and `type_info`s lie in a library that is never closed, and are never written to.
unsafe impl Send for Exceptions {}
// SAFETY: nothing that is shared is written to: these are addresses of functions and constants.
unsafe impl Sync for Exceptions {}

impl Exceptions {
    /// Looks up all symbols; if one is missing, none of these classes is thrown.
    fn find(library: &Library) -> Option<Exceptions> {
        const NEW: &str =
            "_ZN3c105ErrorC1ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE";
        let symbol = |name: String| library.symbol(&format!("{name}\0"));
        let class = |class: Class| {
            let table = symbol(format!("_ZTVN3c10{}E", class.name()))?;
            Some((table, symbol(format!("_ZTIN3c10{}E", class.name()))?))
        };
        let new = symbol(NEW.to_owned())?;
        let [index, value, kind, not_implemented] = Class::ALL.map(class);
        let strings = Strings::find(library)?;
        let (allocate, throw) = (symbol("__cxa_allocate_exception".into())?, symbol("__cxa_throw".into())?);
        // SAFETY: the mangled name of the constructor contains the types of its arguments, and it takes the object
        // before them; the others are functions of the C++ ABI with these signatures.
        unsafe {
            Some(Exceptions {
                strings,
                new: std::mem::transmute::<NonNull<c_void>, NewException>(new),
                allocate: std::mem::transmute::<NonNull<c_void>, Allocate>(allocate),
                throw: std::mem::transmute::<NonNull<c_void>, Throw>(throw),
                classes: [index?, value?, kind?, not_implemented?],
            })
        }
    }

    /// Throws an exception of a class with a message.
    fn throw(self, class: Class, message: &CStr) -> ! {
        let (table, information) = self.classes[class as usize];
        let from = SourceLocation { function: c"torch_library".as_ptr(), file: c"rust".as_ptr(), line: 0 };
        // SAFETY: it allocates memory for an exception of this size, or ends the process.
        let exception = unsafe { (self.allocate)(ROOM) };
        self.strings.lend(message, |text| {
            // SAFETY: the memory is larger than the exception, and the ABI aligns it for any type; the constructor may
            // move out of the string.
            unsafe { (self.new)(exception, from, text) };
        });
        // SAFETY:
        // * An object begins with a pointer into its vtable, past the first two words. The class adds no members to its
        //   base, so with the vtable of the class the object is an object of the class.
        // * The first function of the vtable is the destructor.
        // * No value here has a destructor, and this throws through functions of the ABI `C-unwind`.
        unsafe {
            let functions = table.cast::<Option<EndException>>().add(2);
            exception.cast::<NonNull<Option<EndException>>>().write(functions);
            (self.throw)(exception, information.as_ptr(), functions.read())
        }
    }
}

thread_local! {
    /// The message of the exception that is being thrown. It is kept here because no value with a destructor may be on
    /// the stack then.
    static MESSAGE: RefCell<CString> = RefCell::new(CString::default());
    /// The kind of the last exception that was thrown, until [`with_kinds`] takes it.
    static KIND: Cell<Option<ErrorKind>> = const { Cell::new(None) };
}

/// Runs a call into PyTorch in which operators of this library may throw. Their errors keep their own kind and text,
/// which PyTorch's C functions do not return.
///
/// # Errors
/// The errors of the call.
pub(crate) fn with_kinds<R>(call: impl FnOnce() -> Result<R>) -> Result<R> {
    KIND.set(None);
    call().map_err(|error| {
        let Some(kind) = KIND.take() else { return error };
        let text = MESSAGE.with_borrow(|kept| kept.to_string_lossy().into_owned());
        let is_told = shim().torch_exception_get_what_without_backtrace.is_some();
        if is_told && !error.to_string().contains(&text) { error } else { Error::new(kind, text) }
    })
}

static EXCEPTIONS: OnceLock<Option<Exceptions>> = OnceLock::new();

/// The functions that throw, looked up once, in the library that has the other functions.
fn exceptions() -> Option<Exceptions> {
    *EXCEPTIONS.get_or_init(|| Exceptions::find(&shim().library))
}

/// Whether errors can be anything but a `RuntimeError`.
pub(crate) fn have_kinds() -> bool {
    exceptions().is_some()
}

/// Throws the exception for an error of this kind: a pending exception of Python if the message contains its text.
pub(crate) fn raise(kind: ErrorKind, message: String) {
    if python::give_back(&message)
        && let Some(exceptions) = exceptions()
    {
        drop(message);
        return python::throw(exceptions.allocate, exceptions.throw);
    }
    KIND.set(Some(kind));
    let text = MESSAGE.with_borrow_mut(|kept| {
        *kept = CString::new(message.replace('\0', "\\0")).unwrap_or_default();
        kept.as_ptr()
    });
    if let (Some(class), Some(exceptions)) = (Class::of(kind), exceptions()) {
        // SAFETY: the text is null-terminated, and stays alive until this thread's next exception.
        exceptions.throw(class, unsafe { CStr::from_ptr(text) })
    }
    // SAFETY: the strings are null-terminated, and PyTorch copies the message before it throws. Its exception unwinds
    // only through functions of the ABI `C-unwind` that hold no value with a destructor.
    unsafe { (shim().aoti_torch_check)(false, c"torch_library".as_ptr(), c"rust".as_ptr(), 0, text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_where_their_numbers_say() {
        for (index, class) in Class::ALL.into_iter().enumerate() {
            assert_eq!(class as usize, index);
        }
    }

    #[test]
    fn names_have_their_lengths_in_front() {
        for class in Class::ALL {
            let digits = class.name().chars().take_while(char::is_ascii_digit).count();
            let (length, name) = class.name().split_at(digits);
            assert_eq!(length.parse(), Ok(name.len()));
        }
    }
}
