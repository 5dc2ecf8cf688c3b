//! Models that are built into a program: `include_model!`, and the code that it expands to.
#![expect(unsafe_code, reason = "weights lie in the memory of the program, which is not copied")]

use std::cell::UnsafeCell;
use std::ptr::NonNull;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use torch_library::FromReturn;
use torch_library::prelude::*;

use crate::loader::Loader;
use crate::memory::Memory;
use crate::program::Program;

/// Builds a model into a program: declares a type with `load` and a typed `forward`.
///
/// The archive is read at compile time. A mistake in it, including a wrong checksum of a weight, is a compile error,
/// and so is an operator that is missing from its module. `forward` uses the model's own names: an input `images` is an
/// argument `images`; several results are a tuple, without those that are constant. The archive is part of the
/// program's own memory, where the weights stay.
///
/// The path of the archive is relative to the folder of `Cargo.toml`.
///
/// ```
/// use torch_library::prelude::*;
/// use torch_library_export::include_model;
///
/// include_model! {
///     /// Reads handwritten digits.
///     pub struct Digits = "../../examples/models/digits.pt2";
/// }
///
/// fn main() -> Result<()> {
///     let digits = Digits::load()?;
///     let images = Tensor::from_vec(vec![0f32; 2 * 64], &[2, 1, 8, 8])?;
///     let likely: Tensor = digits.forward(&images)?;
///     assert_eq!(likely.sizes(), [2, 10]);
///     Ok(())
/// }
/// ```
///
/// Operators of `aten` are taken from `torch_library_kernels::aten`, so the crate has to depend on that. The modules of
/// other operators are listed after the archive: `pub struct Model = "model.pt2", namespaces = { mylib: my_crate::mylib
/// };`; `mylib: _` means that the first `load` looks them up, before which their library has to be loaded: what that call
/// returns, be it an error, is what all calls return. With the feature `selective` of the runtime the program has only
/// these operators, and those that they call.
///
/// All values of the type share one program: writes to its buffers are visible to all of them. [`Program::from_bytes`]
/// makes one with separate buffers.
///
/// PyTorch: `torch._inductor.aoti_compile_and_package`, which compiles a model to a library for C++.
#[macro_export]
macro_rules! include_model {
    ($($tokens:tt)*) => {
        $crate::__private::declare_model! { [$crate] $($tokens)* }
    };
}

/// An archive in the memory of the program, and the program that was made from it.
#[derive(Debug)]
#[repr(C, align(64))] // records of an archive are aligned to 64 bytes
pub struct Embedded<const LEN: usize> {
    bytes: UnsafeCell<[u8; LEN]>,
    taken: AtomicBool,
    program: OnceLock<Result<Program>>,
}

// SAFETY: the bytes are accessed only through `memory`, which gives them away once.
unsafe impl<const LEN: usize> Sync for Embedded<LEN> {}

impl<const LEN: usize> Embedded<LEN> {
    /// An archive that has not been read yet.
    pub const fn new(bytes: [u8; LEN]) -> Self {
        Embedded { bytes: UnsafeCell::new(bytes), taken: AtomicBool::new(false), program: OnceLock::new() }
    }

    /// The program, which the first call makes. `link` registers the operators that it calls.
    ///
    /// # Errors
    /// A mistake in the archive; missing operators.
    pub fn program(&'static self, link: impl FnOnce()) -> Result<&'static Program> {
        let program = self.program.get_or_init(|| {
            link();
            let program = Loader::new().of(self.memory()?)?;
            program.complete()?;
            Ok(program)
        });
        program.as_ref().map_err(|error| Error::new(error.kind(), error.to_string()))
    }

    /// The bytes, which only the first caller gets.
    fn memory(&'static self) -> Result<Memory> {
        let is_taken = self.taken.swap(true, Ordering::Relaxed);
        ensure!(!is_taken, Internal, "a panic kept the model from being loaded");
        let base = NonNull::from(&self.bytes).cast();
        // SAFETY: the bytes of a static live for ever, and those of an `UnsafeCell` may be written to. `taken` was not
        // set, so this runs only once, and no other code accesses the bytes.
        Ok(unsafe { Memory::forever(base, LEN) })
    }
}

/// A result of a run, by its index.
///
/// # Errors
/// There is no such result, or it has another type than the archive says, because an operator returned something else.
pub fn take<T: FromReturn>(results: &mut [Value<'static>], place: usize) -> Result<T> {
    let Some(value) = results.get_mut(place) else { bail!(Internal, "the program has no result {place}") };
    T::from_return(std::mem::replace(value, Value::None))
}
