//! Models that are built into a program: `include_model!` and what it expands to.
#![expect(unsafe_code, reason = "weights lie in the memory of the program, which is not copied")]

use std::cell::UnsafeCell;
use std::ptr::NonNull;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use torch_library::FromReturn;
use torch_library::prelude::*;

use crate::memory::Memory;
use crate::program::{Loader, Program};

/// Builds a model into a program: declares a type with `load` and a typed `forward`.
///
/// The archive is read while the program is compiled. What is wrong with it, a checksum of a weight included, is an
/// error of the compiler, and so is an operator that the module it should be in does not have. The type takes the
/// model's own names: an input `images` is an argument `images`, several results are a tuple, with those left out that
/// are always the same. The archive is part of the program's own memory, where the weights stay.
///
/// The place of the archive is relative to the folder of `Cargo.toml`.
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
/// Operators of `aten` are taken from `torch_library_kernels::aten`, on which the crate has to depend. Where others are
/// is said behind the archive: `pub struct Model = "model.pt2", namespaces = { mylib: my_crate::mylib };`, and
/// `mylib: _` leaves them to be looked up when the program runs. Under the feature `selective` of the runtime the
/// program has these operators, and those that they call, and no other.
///
/// All values of the type are one program: what it writes to its buffers, all of them see. [`Program::from_bytes`]
/// makes one with buffers of its own.
///
/// PyTorch: `torch._inductor.aoti_compile_and_package`, which makes a library of a model for C++.
#[macro_export]
macro_rules! include_model {
    ($($tokens:tt)*) => {
        $crate::__private::declare_model! { [$crate] $($tokens)* }
    };
}

/// An archive in the memory of the program, and the program that it has become.
#[derive(Debug)]
#[repr(C, align(64))] // records of an archive lie at multiples of 64
pub struct Embedded<const LEN: usize> {
    bytes: UnsafeCell<[u8; LEN]>,
    taken: AtomicBool,
    program: OnceLock<Result<Program>>,
}

// SAFETY: the bytes are reached through `memory` alone, which gives them away once.
unsafe impl<const LEN: usize> Sync for Embedded<LEN> {}

impl<const LEN: usize> Embedded<LEN> {
    /// An archive that nobody has looked at.
    pub const fn new(bytes: [u8; LEN]) -> Self {
        Embedded { bytes: UnsafeCell::new(bytes), taken: AtomicBool::new(false), program: OnceLock::new() }
    }

    /// The program, which is made by the first call. `link` registers what it calls.
    ///
    /// # Errors
    /// What is wrong with the archive; operators that are missing.
    pub fn program(&'static self, link: impl FnOnce()) -> Result<&'static Program> {
        let program = self.program.get_or_init(|| {
            link();
            let program = Loader::new().of(self.memory()?)?;
            program.complete()?;
            Ok(program)
        });
        program.as_ref().map_err(|error| Error::new(error.kind(), error.to_string()))
    }

    /// The bytes, which are whoever's asks first.
    fn memory(&'static self) -> Result<Memory> {
        let is_taken = self.taken.swap(true, Ordering::Relaxed);
        ensure!(!is_taken, Internal, "a panic kept the model from being loaded");
        let base = NonNull::from(&self.bytes).cast();
        // SAFETY: a static's bytes are there for ever, and those of an `UnsafeCell` may be written to. `taken` was not
        // set, so this runs once, and nothing else looks at the bytes.
        Ok(unsafe { Memory::forever(base, LEN) })
    }
}

/// A result of a run, by its place.
///
/// # Errors
/// There is none, or it has another type: the archive said so, and an operator did something else.
pub fn take<T: FromReturn>(results: &mut [Value<'static>], place: usize) -> Result<T> {
    let Some(value) = results.get_mut(place) else { bail!(Internal, "the program has no result {place}") };
    T::from_return(std::mem::replace(value, Value::None))
}
