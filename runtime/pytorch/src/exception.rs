//! Exceptions of PyTorch's, by the kind of an error: what Python sees as `IndexError`, `ValueError` and so on.
//!
//! The stable C functions throw one class alone, which is Python's `RuntimeError`. The other classes are in the library that
//! is loaded: each is its base with another table of functions, and is made so, by the names, the calls and the tables of
//! the Itanium C++ ABI, with a string of libstdc++. Where one of the names is missing the error is a `RuntimeError`.
#![expect(unsafe_code, reason = "builds and throws objects of C++")]

use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::NonNull;
use std::sync::OnceLock;

use torch_library::{Error, ErrorKind, Result};

use crate::cpp::{CppString, Strings};
use crate::python;
use crate::shim::{Library, shim};

/// A class of PyTorch's exceptions, which its module for Python makes Python's of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Index,
    Value,
    Type,
    NotImplemented,
}

impl Class {
    const ALL: [Class; 4] = [Class::Index, Class::Value, Class::Type, Class::NotImplemented];

    /// The class of a kind of error, if it is not the one that is a `RuntimeError`. Python without PyTorch has the same.
    fn of(kind: ErrorKind) -> Option<Class> {
        match kind {
            ErrorKind::Index => Some(Class::Index),
            ErrorKind::Argument | ErrorKind::Shape | ErrorKind::Schema => Some(Class::Value),
            ErrorKind::DType | ErrorKind::Type => Some(Class::Type),
            ErrorKind::MissingKernel | ErrorKind::NotSupported => Some(Class::NotImplemented),
            _ => None,
        }
    }

    /// Its name, as the compiler of C++ writes it: the length in front.
    fn name(self) -> &'static str {
        match self {
            Class::Index => "10IndexError",
            Class::Value => "10ValueError",
            Class::Type => "9TypeError",
            Class::NotImplemented => "19NotImplementedError",
        }
    }
}

/// `c10::SourceLocation`: a function, a file, a line.
#[repr(C)]
struct SourceLocation {
    function: *const c_char,
    file: *const c_char,
    line: u32,
}

/// A string goes by its address, as whatever has a destructor does.
type NewException = unsafe extern "C-unwind" fn(*mut c_void, SourceLocation, *mut CppString);
type EndException = unsafe extern "C-unwind" fn(*mut c_void);
type Allocate = unsafe extern "C-unwind" fn(usize) -> *mut c_void;
type Throw = unsafe extern "C-unwind" fn(*mut c_void, *const c_void, Option<EndException>) -> !;

/// More than any of the classes takes, which are a table, five strings and pointers: how much, no header promises.
const ROOM: usize = 1024;

/// What throws exceptions of all classes.
#[derive(Clone, Copy)]
struct Exceptions {
    strings: Strings,
    allocate: Allocate,
    throw: Throw,
    /// The constructor of the base class.
    new: NewException,
    /// The table of each class, and what describes it to a handler.
    classes: [(NonNull<c_void>, NonNull<c_void>); Class::ALL.len()],
}

// SAFETY: the tables and what describes a class lie in a library that is never closed, and nobody writes to them.
unsafe impl Send for Exceptions {}
// SAFETY: of what is shared, nothing is written: these are addresses of functions and of what is constant.
unsafe impl Sync for Exceptions {}

impl Exceptions {
    /// Looks for all names; one that is missing is the reason to throw no such class.
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
        // SAFETY: the first name has the types of the arguments in it, and a constructor takes the object before them; the
        // others are functions of the C++ ABI.
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
        // SAFETY: it allocates as C++ does for an exception, or ends the process.
        let exception = unsafe { (self.allocate)(ROOM) };
        self.strings.lend(message, |text| {
            // SAFETY: the exception is made in memory for one that is larger, which the ABI aligns for any type; of the
            // string it may take the bytes.
            unsafe { (self.new)(exception, from, text) };
        });
        // SAFETY:
        // * An object begins with the address of its table, behind two words of it. The class has nothing but its base,
        //   so that with its table the object is one of it.
        // * The first function of the table is the destructor.
        // * Nothing here has a destructor, and this throws through functions of the ABI `C-unwind`.
        unsafe {
            let functions = table.cast::<Option<EndException>>().add(2);
            exception.cast::<NonNull<Option<EndException>>>().write(functions);
            (self.throw)(exception, information.as_ptr(), functions.read())
        }
    }
}

thread_local! {
    /// The message of the exception that is being thrown: no value with a destructor is on the stack then.
    static MESSAGE: RefCell<CString> = RefCell::new(CString::default());
    /// The kind of the last exception that was thrown, until somebody takes it.
    static KIND: Cell<Option<ErrorKind>> = const { Cell::new(None) };
}

/// Runs a call of PyTorch's in which operators of this library may throw. What they threw comes back with its own kind
/// and text, which PyTorch's C functions do not tell.
///
/// # Errors
/// Those of the call.
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

/// What throws them, looked up once, where the other functions are.
fn exceptions() -> Option<Exceptions> {
    *EXCEPTIONS.get_or_init(|| Exceptions::find(&shim().library))
}

/// Whether there is more than a `RuntimeError`.
pub(crate) fn have_kinds() -> bool {
    exceptions().is_some()
}

/// Throws the exception of an error of a kind.
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
        // SAFETY: it ends in a zero, and stays until this thread's next exception.
        exceptions.throw(class, unsafe { CStr::from_ptr(text) })
    }
    // SAFETY: the texts end in zeros, and PyTorch copies the message before it throws. Its exception passes through
    // functions of the ABI `C-unwind` alone, which hold nothing.
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
