//! Operators of [`torch_library`] in PyTorch: a library that Rust built is loaded by `torch.ops.load_library`, and what
//! it declares is `torch.ops.NAMESPACE.NAME`. No C++, no header, no PyTorch when it is built.
//!
//! **[The guide page](guide)** goes from an empty folder to a differentiated function.
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

/// What [`export!`] names, and nobody else.
#[doc(hidden)]
pub mod __private {
    pub use crate::export::{define, describe, differentiate, export, glue, report, signatures};
    pub use crate::python::raised;

    /// Whether records are there before constructors run, and operators have functions of C.
    pub const IS_FOR_EXPORT: bool = cfg!(feature = "export");
}

/// Hands operators to PyTorch when the library that says this is loaded: all that are linked into it but `aten`'s, or
/// those of the namespaces that are named. Said once, in the `cdylib`.
///
/// ```ignore
/// torch_library_pytorch::export!(); // or export!(mine, yours);
/// ```
///
/// It needs the feature `export` of this crate, and a build that unwinds from panics. What cannot be handed over is
/// reported on standard error while the library is loaded, and by its function `torch_library_report`; the guide has
/// [the list](guide#what-does-not-pass). Where PyTorch was not loaded yet, `torch_library_register` does it later.
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

            /// Hands the operators over, unless that is done.
            #[unsafe(no_mangle)]
            extern "C" fn torch_library_register() {
                $crate::__private::export(&[$(::core::stringify!($namespace)),*]);
            }

            /// Registers derivatives, once Python is there to record them, by what this function defines.
            ///
            /// # Safety
            /// - The function takes a text or null, from any thread, for as long as the process lives.
            #[unsafe(no_mangle)]
            unsafe extern "C" fn torch_library_differentiate(
                define: unsafe extern "C" fn(*const ::core::ffi::c_char),
            ) {
                // SAFETY: the caller says what the function takes.
                unsafe { $crate::__private::differentiate(define) };
            }

            /// Defines the operators that serve the one of this name.
            ///
            /// # Safety
            /// - The name is a text that ends in a zero.
            #[unsafe(no_mangle)]
            unsafe extern "C" fn torch_library_define(name: *const ::core::ffi::c_char) {
                // SAFETY: the caller says that it is a text.
                unsafe { $crate::__private::define(name) };
            }

            /// What the glue is about to raise again.
            ///
            /// # Safety
            /// - It is null or an exception of Python's, which the caller holds.
            #[unsafe(no_mangle)]
            unsafe extern "C" fn torch_library_raised(error: *mut ::core::ffi::c_void) {
                // SAFETY: the caller holds an exception.
                unsafe { $crate::__private::raised(error) };
            }

            /// What was left out, a line each.
            #[unsafe(no_mangle)]
            extern "C" fn torch_library_report() -> *const ::core::ffi::c_char {
                $crate::__private::report()
            }

            /// The operators, for the glue in Python.
            #[unsafe(no_mangle)]
            extern "C" fn torch_library_describe() -> *const ::core::ffi::c_char {
                $crate::__private::describe()
            }

            /// The operators as Python writes them, for its editors: without PyTorch.
            #[unsafe(no_mangle)]
            extern "C" fn torch_library_signatures() -> *const ::core::ffi::c_char {
                $crate::__private::signatures(&[$(::core::stringify!($namespace)),*])
            }

            /// The glue in Python.
            #[unsafe(no_mangle)]
            extern "C" fn torch_library_glue() -> *const ::core::ffi::c_char {
                $crate::__private::glue()
            }
        };
    };
}
