//! Exceptions of PyTorch's, by the kind of an error: what Python sees as `IndexError`, `ValueError` and so on.
//!
//! The stable C functions throw one class alone, which is Python's `RuntimeError`. The other classes are in the library that
//! is loaded, so their constructors are called as C++ would call them: by the names, the calls and the tables of the Itanium
//! C++ ABI, with a string of libstdc++. Where one of the names is missing the error is a `RuntimeError` as before.
#![expect(unsafe_code, reason = "builds and throws objects of C++")]

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_void};
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::sync::OnceLock;

use torch_library::ErrorKind;

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

/// Memory for a `std::string` of libstdc++: a pointer, a length, sixteen bytes.
type CppString = MaybeUninit<[u64; 4]>;

type NewString = unsafe extern "C-unwind" fn(*mut CppString, *const c_char, usize, *const u8);
type EndString = unsafe extern "C-unwind" fn(*mut CppString);
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
    new_string: NewString,
    end_string: EndString,
    allocate: Allocate,
    throw: Throw,
    /// The constructor of each class, and what describes it to a handler.
    classes: [(NewException, NonNull<c_void>); Class::ALL.len()],
}

// SAFETY: what describes a class lies in a library that is never closed, and nobody writes to it.
unsafe impl Send for Exceptions {}
// SAFETY: of what is shared, nothing is written: these are addresses of functions and of what is constant.
unsafe impl Sync for Exceptions {}

impl Exceptions {
    /// Looks for all names; one that is missing is the reason to throw no such class.
    fn find(library: &Library) -> Option<Exceptions> {
        const STRING: &str = "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE";
        const ARGUMENTS: &str = "C1ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE";
        let symbol = |name: String| library.symbol(&format!("{name}\0"));
        let class = |class: Class| {
            let new = symbol(format!("_ZN3c10{}{ARGUMENTS}", class.name()))?;
            let information = symbol(format!("_ZTIN3c10{}E", class.name()))?;
            // SAFETY: the name has the types of the arguments in it, and a constructor takes the object before them.
            Some((unsafe { std::mem::transmute::<NonNull<c_void>, NewException>(new) }, information))
        };
        let [index, value, kind, not_implemented] = Class::ALL.map(class);
        let new_string = symbol(format!("{STRING}C1EPKcmRKS3_"))?;
        let end_string = symbol(format!("{STRING}D1Ev"))?;
        let (allocate, throw) = (symbol("__cxa_allocate_exception".into())?, symbol("__cxa_throw".into())?);
        // SAFETY: the names have the types of arguments in them; those of the two last are the C++ ABI's.
        unsafe {
            Some(Exceptions {
                new_string: std::mem::transmute::<NonNull<c_void>, NewString>(new_string),
                end_string: std::mem::transmute::<NonNull<c_void>, EndString>(end_string),
                allocate: std::mem::transmute::<NonNull<c_void>, Allocate>(allocate),
                throw: std::mem::transmute::<NonNull<c_void>, Throw>(throw),
                classes: [index?, value?, kind?, not_implemented?],
            })
        }
    }

    /// Throws an exception of a class with a message.
    fn throw(self, class: Class, message: &CStr) -> ! {
        let (new, information) = self.classes[class as usize];
        let from = SourceLocation { function: c"torch_library".as_ptr(), file: c"rust".as_ptr(), line: 0 };
        let mut text = CppString::uninit();
        // SAFETY:
        // * The string is made from so many bytes, in memory of its size, by an allocator that has no state; the
        //   constructor of the exception may take its bytes, and the destructor ends it either way.
        // * The exception is made in memory for one that is larger, which the ABI aligns for any type.
        // * It is of a class with a virtual destructor, which is the first function of its table.
        // * Nothing here has a destructor, and this throws through functions of the ABI `C-unwind`.
        unsafe {
            (self.new_string)(&raw mut text, message.as_ptr(), message.to_bytes().len(), &raw const NO_STATE);
            let exception = (self.allocate)(ROOM);
            new(exception, from, &raw mut text);
            (self.end_string)(&raw mut text);
            let table = exception.cast::<*const Option<EndException>>().read();
            (self.throw)(exception, information.as_ptr(), table.read())
        }
    }
}

/// An allocator of C++ without a state has an address and nothing at it.
static NO_STATE: u8 = 0;

thread_local! {
    /// The message of the exception that is being thrown: no value with a destructor is on the stack then.
    static MESSAGE: RefCell<CString> = RefCell::new(CString::default());
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
