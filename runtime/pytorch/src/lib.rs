//! Operators of [`torch_library`] in PyTorch: `torch.ops.load_library` loads a library built in Rust, and its operators
//! become `torch.ops.NAMESPACE.NAME`. Building it needs no C++, no header and no PyTorch.
//!
//! **[The guide](guide)** goes from an empty folder to a function with a derivative.
//!
//! ```ignore
//! torch_library! {
//!     pub mod mine {
//!         /// Half of each element.
//!         half(Tensor self) -> Tensor;
//!     }
//! }
//!
//! torch_library_pytorch::export!();
//! ```

mod shim;

mod cpp;
mod python;

mod exception;
mod handle;
mod tracking;

mod spares;

mod hidden;
mod incoming;
mod later;
mod outgoing;
mod plan;
mod text;
mod views;
mod words;

mod recorded;

mod above;
mod batched;
mod derivative;
mod entry;
mod layer;
mod stubs;

mod calls;
mod export;

pub use incoming::DeviceMemory;

#[doc = include_str!("../docs/guide.md")]
pub mod guide {}

/// Items that the expansion of [`export!`] names; not for other code.
#[doc(hidden)]
pub mod __private {
    pub use crate::export::{define, describe, differentiate, export, glue, report, signatures};
    pub use crate::python::raised;

    /// Whether registrations exist before constructors run, and operators have C functions.
    pub const IS_FOR_EXPORT: bool = cfg!(feature = "export");
}

/// Registers the operators of a library with PyTorch when the library is loaded: all operators that are linked into it
/// except those of `aten`, or only those of the namespaces that are named. Invoke it once, in the `cdylib`.
///
/// ```ignore
/// torch_library_pytorch::export!(); // or export!(mine, yours);
/// ```
///
/// It needs the feature `export` of this crate, and a build that unwinds from panics. Whatever cannot be registered is
/// reported on standard error while the library is loaded, and by its function `torch_library_report`; the guide has
/// [the list](guide#what-does-not-pass). If PyTorch is not loaded yet, call `torch_library_register` later.
///
/// PyTorch: `STABLE_TORCH_LIBRARY_FRAGMENT` and `STABLE_TORCH_LIBRARY_IMPL`.
#[macro_export]
macro_rules! export {
    ($($namespace:ident),* $(,)?) => {
        const _: () = {
            #[cfg(panic = "abort")]
            ::core::compile_error!(
                "PyTorch gets errors as exceptions, which a build with `panic = \"abort\"` ends the process for"
            );
            ::core::assert!(
                $crate::__private::IS_FOR_EXPORT,
                "a library that is loaded into PyTorch needs the feature `export` of torch-library-pytorch"
            );

            #[used]
            #[cfg_attr(target_os = "macos", unsafe(link_section = "__DATA,__mod_init_func"))]
            #[cfg_attr(not(target_os = "macos"), unsafe(link_section = ".init_array"))]
            static REGISTER: extern "C" fn() = torch_library_register;

            /// Registers the operators, unless they are registered already.
            #[unsafe(no_mangle)]
            extern "C" fn torch_library_register() {
                $crate::__private::export(&[$(::core::stringify!($namespace)),*]);
            }

            /// Registers derivatives, once the glue in Python is loaded to record them. `define` defines the operators
            /// that a recorded call needs.
            ///
            /// # Safety
            /// - The function takes a C string or null, from any thread, for as long as the process lives.
            #[unsafe(no_mangle)]
            unsafe extern "C" fn torch_library_differentiate(
                define: unsafe extern "C" fn(*const ::core::ffi::c_char),
            ) {
                // SAFETY: the caller guarantees what the function takes.
                unsafe { $crate::__private::differentiate(define) };
            }

            /// Defines the auxiliary operators of the operator with this name.
            ///
            /// # Safety
            /// - The name is a null-terminated string.
            #[unsafe(no_mangle)]
            unsafe extern "C" fn torch_library_define(name: *const ::core::ffi::c_char) {
                // SAFETY: the caller guarantees that it is a null-terminated string.
                unsafe { $crate::__private::define(name) };
            }

            /// Takes the exception that the glue is about to raise again.
            ///
            /// # Safety
            /// - It is null or a Python exception, to which the caller holds a reference.
            #[unsafe(no_mangle)]
            unsafe extern "C" fn torch_library_raised(error: *mut ::core::ffi::c_void) {
                // SAFETY: the caller guarantees that it is null or an exception that the caller holds.
                unsafe { $crate::__private::raised(error) };
            }

            /// The report of what was left out, one line each.
            #[unsafe(no_mangle)]
            extern "C" fn torch_library_report() -> *const ::core::ffi::c_char {
                $crate::__private::report()
            }

            /// A description of the operators, for the glue in Python.
            #[unsafe(no_mangle)]
            extern "C" fn torch_library_describe() -> *const ::core::ffi::c_char {
                $crate::__private::describe()
            }

            /// The signatures of the operators in Python's syntax, for stubs; works without PyTorch.
            #[unsafe(no_mangle)]
            extern "C" fn torch_library_signatures() -> *const ::core::ffi::c_char {
                $crate::__private::signatures(&[$(::core::stringify!($namespace)),*])
            }

            /// The source of the glue in Python.
            #[unsafe(no_mangle)]
            extern "C" fn torch_library_glue() -> *const ::core::ffi::c_char {
                $crate::__private::glue()
            }
        };
    };
}
