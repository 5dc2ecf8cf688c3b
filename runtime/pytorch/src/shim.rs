//! PyTorch's stable C functions, looked up in the process at run time.
//!
//! Python loads PyTorch with `RTLD_LOCAL`, so the linker cannot resolve its symbols: the loaded library is found by its
//! name, and each function with `dlsym`. Functions that every version since 2.10 has are required; the others are
//! optional, and the code that uses one has a fallback or an error for when it is missing.
#![expect(unsafe_code, reason = "foreign functions, by their addresses")]

use std::ffi::{CStr, c_char, c_void};
use std::ptr::NonNull;
use std::sync::OnceLock;

use torch_library::{EntryFunction, Error, ErrorKind, Result};

/// An argument or a return in one word, PyTorch's `StableIValue`. Its meaning depends on the type in the schema.
pub(crate) type Word = u64;
/// An opaque PyTorch object: a tensor, a list, a string, a library.
pub(crate) type Object = *mut c_void;

/// The version whose headers this table was written from, as PyTorch encodes it. Calls by name pass it on, so that a
/// later PyTorch knows which version of a schema they use.
pub(crate) const WRITTEN_FROM: u64 = (2 << 56) | (15 << 48);

macro_rules! shims {
    (
        required { $($name:ident($($argument:ty),*) $(-> $output:ty)?;)* }
        optional { $($optional:ident($($optional_argument:ty),*) $(-> $optional_output:ty)?;)* }
    ) => {
        /// The functions, under PyTorch's names.
        #[expect(non_snake_case, reason = "two names are the C++ compiler's")]
        pub(crate) struct Shim {
            $(pub(crate) $name: unsafe extern "C-unwind" fn($($argument),*) $(-> $output)?,)*
            $(pub(crate) $optional:
                Option<unsafe extern "C-unwind" fn($($optional_argument),*) $(-> $optional_output)?>,)*
            pub(crate) numbers: Numbers,
            /// The library that they were found in.
            pub(crate) library: Library,
        }

        impl Shim {
            fn find(library: Library) -> Result<Shim> {
                Ok(Shim {
                    // SAFETY: PyTorch's headers declare these signatures, and promise not to change them.
                    $($name: unsafe {
                        std::mem::transmute::<
                            NonNull<c_void>,
                            unsafe extern "C-unwind" fn($($argument),*) $(-> $output)?,
                        >(library.required(concat!(stringify!($name), "\0"))?)
                    },)*
                    // SAFETY: the headers of every version that has such a function declare this signature.
                    $($optional: library.symbol(concat!(stringify!($optional), "\0")).map(|symbol| unsafe {
                        std::mem::transmute::<
                            NonNull<c_void>,
                            unsafe extern "C-unwind" fn($($optional_argument),*) $(-> $optional_output)?,
                        >(symbol)
                    }),)*
                    numbers: Numbers::find(&library)?,
                    library,
                })
            }

            /// The optional functions that this PyTorch lacks.
            pub(crate) fn missing(&self) -> Vec<&'static str> {
                let all = [$((stringify!($optional), self.$optional.is_none())),*];
                all.into_iter().filter(|(_, is_missing)| *is_missing).map(|(name, _)| name).collect()
            }
        }
    };
}

/// A deleter for the memory that a PyTorch tensor was made over.
pub(crate) type Deleter = unsafe extern "C" fn(*mut c_void, *mut c_void);

shims! {
    required {
        aoti_torch_abi_version() -> u64;
        aoti_torch_library_init_fragment(*const c_char, *const c_char, u32, *mut Object) -> i32;
        aoti_torch_library_init_impl(*const c_char, *const c_char, *const c_char, u32, *mut Object) -> i32;
        aoti_torch_library_def(Object, *const c_char) -> i32;
        torch_library_impl(Object, *const c_char, EntryFunction, u64) -> i32;
        torch_call_dispatcher(*const c_char, *const c_char, *mut Word, u64) -> i32;
        aoti_torch_check(bool, *const c_char, *const c_char, u32, *const c_char);
        aoti_torch_new_tensor_handle(Object, *mut Object) -> i32;
        aoti_torch_delete_tensor_object(Object) -> i32;
        aoti_torch_get_data_ptr(Object, *mut *mut c_void) -> i32;
        aoti_torch_get_storage_size(Object, *mut i64) -> i32;
        aoti_torch_get_dim(Object, *mut i64) -> i32;
        aoti_torch_get_sizes(Object, *mut *mut i64) -> i32;
        aoti_torch_get_strides(Object, *mut *mut i64) -> i32;
        aoti_torch_get_dtype(Object, *mut i32) -> i32;
        aoti_torch_get_device_type(Object, *mut i32) -> i32;
        aoti_torch_get_device_index(Object, *mut i32) -> i32;
        aoti_torch_get_layout(Object, *mut i32) -> i32;
        aoti_torch_get_storage_offset(Object, *mut i64) -> i32;
        aoti_torch_is_defined(Object, *mut bool) -> i32;
        aoti_torch_empty_strided(i64, *const i64, *const i64, i32, i32, i32, *mut Object) -> i32;
        aoti_torch_new_uninitialized_tensor(*mut Object) -> i32;
        aoti_torch_grad_mode_is_enabled() -> bool;
        aoti_torch_grad_mode_set_enabled(bool);
        torch_new_list_reserve_size(usize, *mut Object) -> i32;
        torch_list_size(Object, *mut usize) -> i32;
        torch_list_get_item(Object, usize, *mut Word) -> i32;
        torch_list_push_back(Object, Word) -> i32;
        torch_delete_list(Object) -> i32;
        torch_new_string_handle(*const c_char, usize, *mut Object) -> i32;
        torch_string_length(Object, *mut usize) -> i32;
        torch_string_c_str(Object, *mut *const c_char) -> i32;
        torch_delete_string(Object) -> i32;
    }
    optional {
        // Since 2.11.
        torch_from_blob(
            *mut c_void, i64, *const i64, *const i64, i64, i32, i32, i32, *mut Object, i32, *const u8, i64, Deleter,
            *mut c_void
        ) -> i32;
        // Since 2.12.
        torch_library_def_with_tags(Object, *const c_char, *const i32, i32) -> i32;
        // Since 2.13.
        torch_exception_get_what_without_backtrace() -> *const c_char;
        torch_new_stable_ivalue(*mut *mut Word) -> i32;
        torch_delete_stable_ivalue(*mut Word) -> i32;
        torch_delete_generator(Object) -> i32;
        // C++'s `operator new` and `operator delete`, with which optionals are made and freed before 2.13.
        _Znwm(usize) -> *mut c_void;
        _ZdlPv(*mut c_void);
        // Functions of `torch-library-stable`, which can pass a `Scalar`.
        torch_library_host_new_scalar(i64, Word, Word, *mut Object) -> i32;
        torch_library_host_delete_scalar(Object) -> i32;
        torch_library_host_call_dispatcher(*const c_char, *const c_char, *mut Word, u64) -> i32;
    }
}

/// A loaded shared library.
pub(crate) struct Library(NonNull<c_void>);

// SAFETY: it is the handle of a library that is never closed, and any thread may look up symbols in it.
unsafe impl Send for Library {}
// SAFETY: only the handle is shared, and looking up a symbol does not change it.
unsafe impl Sync for Library {}

impl Library {
    /// The library of the host that loads this library, otherwise PyTorch's, if it is loaded.
    #[cfg(unix)]
    fn of_host() -> Option<Library> {
        Self::of_loading_host().or_else(Self::of_pytorch)
    }

    /// Not implemented for other systems yet.
    #[cfg(not(unix))]
    fn of_host() -> Option<Library> {
        None
    }

    /// The library of `torch-library-stable`, which offers the same functions, if it is the one that loads this library
    /// now. A PyTorch in the same process is ignored then.
    #[cfg(unix)]
    fn of_loading_host() -> Option<Library> {
        let host = Self::loaded(c"libtorch_library_host.so")?;
        let is_loading = host.number("torch_library_host_is_loading\0")?;
        (is_loading != 0).then_some(host)
    }

    /// The library with this name, if it is loaded.
    #[cfg(unix)]
    fn loaded(name: &CStr) -> Option<Library> {
        // SAFETY: the name is null-terminated, and a library that is loaded already runs no constructors.
        let found = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_NOLOAD) };
        NonNull::new(found).map(Library)
    }

    /// PyTorch's library, if it is loaded.
    #[cfg(unix)]
    fn of_pytorch() -> Option<Library> {
        let names: &[&CStr] = match cfg!(target_os = "macos") {
            true => &[c"@rpath/libtorch_cpu.dylib", c"libtorch_cpu.dylib"],
            false => &[c"libtorch_cpu.so"],
        };
        names.iter().find_map(|name| Self::loaded(name))
    }

    /// Whether it is PyTorch's own library.
    pub(crate) fn is_pytorch(&self) -> bool {
        self.symbol("torch_library_host_is_loading\0").is_none()
    }

    /// The address of a function. The name is null-terminated.
    #[cfg(unix)]
    pub(crate) fn symbol(&self, name: &str) -> Option<NonNull<c_void>> {
        debug_assert!(name.ends_with('\0'));
        // SAFETY: the library is loaded and never closed, and the name is null-terminated.
        NonNull::new(unsafe { libc::dlsym(self.0.as_ptr(), name.as_ptr().cast()) })
    }

    /// Not implemented for other systems yet.
    #[cfg(not(unix))]
    pub(crate) fn symbol(&self, _: &str) -> Option<NonNull<c_void>> {
        None
    }

    fn required(&self, name: &str) -> Result<NonNull<c_void>> {
        self.symbol(name).ok_or_else(|| {
            let name = name.trim_end_matches('\0');
            Error::new(
                ErrorKind::NotSupported,
                format!("this PyTorch has no `{name}`; 2.10 is the oldest that has all"),
            )
        })
    }

    /// The result of a function without arguments.
    fn number(&self, name: &str) -> Option<i32> {
        let symbol = self.symbol(name)?;
        // SAFETY: all functions that this is called for are declared as `int32_t name()` in PyTorch's headers.
        let function =
            unsafe { std::mem::transmute::<NonNull<c_void>, extern "C-unwind" fn() -> i32>(symbol) };
        Some(function())
    }
}

/// PyTorch's numbers of dtypes, devices, layouts, memory formats and tags, which only its functions tell.
pub(crate) struct Numbers {
    pub(crate) dtypes: Vec<(torch_library::DType, i32)>,
    pub(crate) devices: Vec<(torch_library::DeviceType, i32)>,
    pub(crate) layouts: Vec<(torch_library::Layout, i32)>,
    pub(crate) formats: Vec<(torch_library::MemoryFormat, i32)>,
    pub(crate) tags: Vec<(&'static str, i32)>,
    /// The number of the CPU, and that of the strided layout.
    pub(crate) host: (i32, i32),
    /// The dtypes, indexed by PyTorch's numbers.
    pub(crate) dtype_of: [Option<torch_library::DType>; 64],
}

/// The tags that PyTorch has getters for.
const TAGS: [&str; 18] = [
    "core",
    "cudagraph_unsafe",
    "data_dependent_output",
    "dynamic_output_shape",
    "flexible_layout",
    "generated",
    "inplace_view",
    "maybe_aliasing_or_mutating",
    "needs_contiguous_strides",
    "needs_exact_strides",
    "needs_fixed_stride_order",
    "nondeterministic_bitwise",
    "nondeterministic_seeded",
    "out_variant",
    "pointwise",
    "pt2_compliant_tag",
    "reduction",
    "view_copy",
];

impl Numbers {
    fn find(library: &Library) -> Result<Numbers> {
        use torch_library::{DType, DeviceType, Layout, MemoryFormat};
        let number = |prefix: &str, name: &str| library.number(&format!("{prefix}_{name}\0"));
        let devices = [
            (DeviceType::Cpu, "cpu"),
            (DeviceType::Cuda, "cuda"),
            (DeviceType::Meta, "meta"),
            (DeviceType::Xpu, "xpu"),
            (DeviceType::Mps, "mps"),
            (DeviceType::PrivateUse1, "privateuse1"),
        ];
        let dtypes: Vec<(DType, i32)> = DType::all()
            .filter_map(|dtype| Some((dtype, number("aoti_torch_dtype", dtype.name())?)))
            .collect();
        let mut dtype_of = [None; 64];
        for (dtype, number) in &dtypes {
            if let Some(place) = usize::try_from(*number).ok().and_then(|number| dtype_of.get_mut(number)) {
                *place = Some(*dtype);
            }
        }
        let numbers = Numbers {
            dtypes,
            dtype_of,
            host: (
                library.number("aoti_torch_device_type_cpu\0").unwrap_or(-1),
                library.number("aoti_torch_layout_strided\0").unwrap_or(-1),
            ),
            devices: devices
                .into_iter()
                .filter_map(|(device, name)| Some((device, number("aoti_torch_device_type", name)?)))
                .collect(),
            layouts: Layout::ALL
                .iter()
                .filter_map(|layout| Some((*layout, number("aoti_torch_layout", layout.name())?)))
                .collect(),
            formats: MemoryFormat::ALL
                .iter()
                .filter_map(|format| Some((*format, number("aoti_torch_memory_format", format.name())?)))
                .collect(),
            tags: TAGS.into_iter().filter_map(|tag| Some((tag, number("torch_tag", tag)?))).collect(),
        };
        for (what, found) in [("dtype", numbers.dtypes.len()), ("device", numbers.devices.len())] {
            if found == 0 {
                let message = format!("this PyTorch does not say which number a {what} has");
                return Err(Error::new(ErrorKind::NotSupported, message));
            }
        }
        Ok(numbers)
    }
}

/// PyTorch's number of a value, in a list of pairs.
pub(crate) fn number_of<T: Copy + PartialEq>(pairs: &[(T, i32)], value: T) -> Option<i32> {
    pairs.iter().find(|(known, _)| *known == value).map(|(_, number)| *number)
}

/// The value that has this number in PyTorch, in a list of pairs.
pub(crate) fn of_number<T: Copy>(pairs: &[(T, i32)], number: i32) -> Option<T> {
    pairs.iter().find(|(_, known)| *known == number).map(|(value, _)| *value)
}

static SHIM: OnceLock<Shim> = OnceLock::new();

/// Looks the functions up, once.
///
/// # Errors
/// PyTorch is not loaded in this process, or is too old.
pub(crate) fn load() -> Result<&'static Shim> {
    if let Some(shim) = SHIM.get() {
        return Ok(shim);
    }
    let not_loaded = "PyTorch is not loaded in this process: `import torch` comes first, then the library";
    let library = Library::of_host().ok_or_else(|| Error::new(ErrorKind::NotSupported, not_loaded))?;
    let shim = Shim::find(library)?;
    Ok(SHIM.get_or_init(|| shim))
}

/// The functions. Code that has a PyTorch object has gone through [`load`].
#[inline]
pub(crate) fn shim() -> &'static Shim {
    SHIM.get().expect("an object of PyTorch exists, so its functions were looked up")
}

/// Converts the status code of a PyTorch function to a result.
///
/// # Errors
/// The function failed; the message is PyTorch's if this version returns it.
#[inline]
pub(crate) fn check(code: i32, doing: impl FnOnce() -> String) -> Result<()> {
    if code == 0 { Ok(()) } else { Err(failure(&doing())) }
}

#[cold]
fn failure(doing: &str) -> Error {
    let what = shim().torch_exception_get_what_without_backtrace.map(|what| {
        // SAFETY: it takes no arguments.
        let text = unsafe { what() };
        // SAFETY: if it is not null, it is a null-terminated string that stays alive until this thread's next
        // exception.
        (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
    });
    let message = match what.flatten() {
        Some(text) => format!("{doing}: {}", without_frames(&text)),
        None => format!("{doing} failed in PyTorch, which printed why"),
    };
    Error::new(ErrorKind::Kernel, message)
}

/// A message of PyTorch without its C++ backtrace.
fn without_frames(text: &str) -> &str {
    text.split("\nException raised from ").next().unwrap_or(text).trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_of_pytorch_ends_where_its_frames_begin() {
        assert_eq!(without_frames("no\nException raised from f at g:1\nframe #0"), "no");
        assert_eq!(without_frames("no\nbut yes\n"), "no\nbut yes");
    }

    #[test]
    fn without_pytorch_there_is_a_message() {
        let error = load().err().map(|error| error.to_string());
        assert!(error.is_none_or(|error| error.starts_with("PyTorch is not loaded in this process")));
    }

    #[test]
    fn numbers_lead_both_ways() {
        let pairs = [("one", 1), ("two", 2)];
        assert_eq!((number_of(&pairs, "two"), of_number(&pairs, 1)), (Some(2), Some("one")));
        assert_eq!((number_of(&pairs, "three"), of_number(&pairs, 3)), (None, None));
    }
}
