//! Thrown exceptions: their messages, and how they are freed.
#![expect(unsafe_code, reason = "looks at exceptions where the Itanium ABI has their parts")]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::NonNull;

/// The unwinder's header of an exception. The object follows it, in C++ and here.
#[repr(C, align(16))]
pub(crate) struct Header {
    class: u64,
    cleanup: Option<unsafe extern "C" fn(c_int, *mut Header)>,
    private: [usize; 2],
}

/// An exception of our own, for a process without a C++ library.
#[repr(C)]
pub(super) struct Own {
    header: Header,
    message: CString,
}

/// The vendor, in the first four letters, and the language.
const OWN: u64 = u64::from_be_bytes(*b"TLIBRUST");
const GNU: u64 = u64::from_be_bytes(*b"GNUCC++\0");
/// The class for `std::rethrow_exception`, and for code that catches and rethrows.
const GNU_DEPENDENT: u64 = u64::from_be_bytes(*b"GNUCC++\x01");
const CLANG: u64 = u64::from_be_bytes(*b"CLNGC++\0");
const RUST: u64 = u64::from_be_bytes(*b"MOZ\0RUST");

/// The reason why the unwinder's `cleanup` is called: another language caught the exception.
const CAUGHT: c_int = 1;

impl Own {
    pub(super) fn raised(message: CString) -> *mut Header {
        let header = Header { class: OWN, cleanup: Some(Own::free), private: [0; 2] };
        Box::into_raw(Box::new(Own { header, message })).cast()
    }

    /// # Safety
    /// * The exception is one of ours, and is no longer used.
    unsafe extern "C" fn free(_: c_int, exception: *mut Header) {
        // SAFETY: the caller promises that it is what `raised` made, and it is freed only once.
        drop(unsafe { Box::from_raw(exception.cast::<Own>()) });
    }
}

/// The message of an exception, which is freed.
///
/// # Safety
/// * It was caught, and no other code uses it.
pub(super) unsafe fn consume(exception: NonNull<Header>) -> String {
    // SAFETY: every exception has this header in front.
    let Header { class, cleanup, .. } = *unsafe { exception.as_ref() };
    // SAFETY: the class determines what is before and after the header.
    let text = unsafe {
        match class {
            OWN => exception.cast::<Own>().as_ref().message.to_string_lossy().into_owned(),
            GNU | CLANG => Object::of(exception).text(),
            GNU_DEPENDENT => Object::of_dependent(exception).text(),
            // It is leaked: freeing an exception of another copy of Rust's library aborts the process.
            RUST => return "a panic of Rust came out of it".to_owned(),
            _ => "an exception of another language than C++ came out of it".to_owned(),
        }
    };
    if let (GNU | GNU_DEPENDENT | CLANG, Some(cleanup)) = (class, cleanup)
        && let Some(cxx) = Catching::of(cleanup as *const c_void)
    {
        // SAFETY: it is an exception of the C++ library that these functions belong to, which counts thrown exceptions.
        unsafe {
            (cxx.begin)(exception.as_ptr());
            (cxx.end)();
        }
    } else if let Some(cleanup) = cleanup {
        // SAFETY: this is how a foreign exception is freed.
        unsafe { cleanup(CAUGHT, exception.as_ptr()) };
    }
    text
}

/// The functions of the C++ library that threw.
struct Catching {
    begin: unsafe extern "C" fn(*mut Header) -> *mut c_void,
    end: unsafe extern "C" fn(),
}

impl Catching {
    /// The functions in the library that contains this function, if it exports them.
    fn of(function: *const c_void) -> Option<Catching> {
        // SAFETY: the fields are numbers and pointers, for which zeros are valid.
        let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
        // SAFETY: the result is stored at the given address; a returned name lives as long as its library.
        let library = unsafe {
            if libc::dladdr(function, &raw mut info) == 0 || info.dli_fname.is_null() {
                return None;
            }
            libc::dlopen(info.dli_fname, libc::RTLD_NOW | libc::RTLD_NOLOAD)
        };
        let symbol = |name: &CStr| {
            // SAFETY: the library is loaded, and the name ends in a zero.
            let address = unsafe { libc::dlsym(library, name.as_ptr()) };
            (!library.is_null() && !address.is_null()).then_some(address)
        };
        let (begin, end) = (symbol(c"__cxa_begin_catch")?, symbol(c"__cxa_end_catch")?);
        // SAFETY: the Itanium ABI gives these signatures to the functions with these names.
        unsafe {
            Some(Catching {
                begin: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut Header) -> *mut c_void>(
                    begin,
                ),
                end: std::mem::transmute::<*mut c_void, unsafe extern "C" fn()>(end),
            })
        }
    }
}

/// A C++ object that was thrown.
struct Object {
    address: *const u8,
    ty: TypeInfo,
}

/// The fields before the header: the type, a destructor, two handlers, the next exception, two counts, and four more
/// pointers.
const TYPE_BEFORE_HEADER: usize = 80;

impl Object {
    /// # Safety
    /// * C++ threw the exception, and it is not a dependent one.
    unsafe fn of(exception: NonNull<Header>) -> Object {
        // SAFETY: in memory that C++ allocates for an exception, the type is this far in front of the header, and the
        // object directly after it.
        unsafe {
            let header = exception.as_ptr().cast_const().cast::<u8>();
            let ty = header.sub(TYPE_BEFORE_HEADER).cast::<*const TypeLayout>().read();
            Object { address: header.add(size_of::<Header>()), ty: TypeInfo(ty) }
        }
    }

    /// # Safety
    /// * C++ threw the exception, which is a dependent one.
    unsafe fn of_dependent(exception: NonNull<Header>) -> Object {
        // SAFETY: a dependent exception has the primary exception's object where others have the type; the header of
        // the primary exception is in front of its object.
        unsafe {
            let header = exception.as_ptr().cast_const().cast::<u8>();
            let object = header.sub(TYPE_BEFORE_HEADER).cast::<*mut u8>().read();
            Object::of(NonNull::new_unchecked(object.sub(size_of::<Header>())).cast())
        }
    }

    /// The text of `std::exception::what`, or the type if it is not a `std::exception`.
    ///
    /// # Safety
    /// * The object is alive.
    unsafe fn text(&self) -> String {
        /// The index of `what` in the table of virtual functions, after two destructors.
        const WHAT: usize = 2;
        type What = unsafe extern "C" fn(*const u8) -> *const c_char;
        // SAFETY: the object has this type.
        let Some(exception) = (unsafe { self.ty.find(self.address, "St9exception", 0) }) else {
            // SAFETY: types live as long as their library, whose code has just run.
            let name = unsafe { self.ty.name() };
            return format!("an exception of C++ of the type {name}");
        };
        // SAFETY: it is the part of the object that is a `std::exception`: a pointer to a table whose third function is
        // `what`, which does not throw and lends a text until the object is destroyed.
        unsafe {
            let table = exception.cast::<*const What>().read();
            let text = table.add(WHAT).read()(exception);
            if text.is_null() { String::new() } else { CStr::from_ptr(text).to_string_lossy().into_owned() }
        }
    }
}

/// The memory layout of a C++ type description (`std::type_info`).
#[repr(C)]
struct TypeLayout {
    /// Distinguishes the kinds of descriptions: of classes without, with one, and with several base classes.
    table: *const c_void,
    name: *const c_char,
}

/// One of the base classes in a description.
#[repr(C)]
struct Base {
    ty: *const TypeLayout,
    /// Two flags, and the offset in the object.
    flags: isize,
}

#[derive(Clone, Copy)]
struct TypeInfo(*const TypeLayout);

impl TypeInfo {
    /// # Safety
    /// * The description is that of a type in a loaded library.
    unsafe fn name(self) -> String {
        // SAFETY: a description has a name that ends in a zero. A star in front says that names are not to be compared.
        let name = unsafe { CStr::from_ptr((*self.0).name) };
        name.to_string_lossy().trim_start_matches('*').to_owned()
    }

    /// The type of the description itself.
    ///
    /// # Safety
    /// * The requirements of [`name`](Self::name).
    unsafe fn kind(self) -> TypeInfo {
        // SAFETY: in front of a table of virtual functions is the description of the type that it belongs to.
        unsafe { TypeInfo((*self.0).table.cast::<*const TypeLayout>().sub(1).read()) }
    }

    /// The part of an object of this type that has the type with a name: the object, or one of its base classes.
    ///
    /// # Safety
    /// * The object is alive and has this type, whose description is in a loaded library.
    unsafe fn find(self, object: *const u8, name: &str, depth: usize) -> Option<*const u8> {
        const IS_VIRTUAL: isize = 1;
        const IS_PUBLIC: isize = 2;
        const DEEPEST: usize = 64;
        // SAFETY: the description is alive, and the fields after its name follow from its kind: none; one base class,
        // at the start of the object; or flags, a count, and that many base classes, each with its offset, or with the
        // position of its offset in the table of functions.
        unsafe {
            if self.name() == name {
                return Some(object);
            }
            let behind = self.0.add(1);
            match self.kind().name().as_str() {
                "N10__cxxabiv120__si_class_type_infoE" if depth < DEEPEST => {
                    TypeInfo(behind.cast::<*const TypeLayout>().read()).find(object, name, depth + 1)
                }
                "N10__cxxabiv121__vmi_class_type_infoE" if depth < DEEPEST => {
                    let count = behind.cast::<u32>().add(1).read() as usize;
                    let bases = behind.cast::<u64>().add(1).cast::<Base>();
                    (0..count).find_map(|index| {
                        let Base { ty, flags } = bases.add(index).read();
                        let mut offset = flags >> 8;
                        if flags & IS_VIRTUAL != 0 {
                            let table = object.cast::<*const u8>().read();
                            offset = table.offset(offset).cast::<isize>().read();
                        }
                        let is_public = flags & IS_PUBLIC != 0;
                        is_public.then(|| TypeInfo(ty).find(object.offset(offset), name, depth + 1))?
                    })
                }
                _ => None,
            }
        }
    }
}
