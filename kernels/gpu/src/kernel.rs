//! Kernels in the making: parameters and tensors that have names, functions, and a body for each thread or row.

use torch_library::prelude::*;

/// A kernel in the making, in a backend's language. Its first parameter is `count`, the number of threads or rows that have
/// something to do; how a body reads parameters and tensors is the language's.
///
/// Tensors are kept until it runs. What was wrong with them is an error then.
pub trait KernelBuilder: Sized {
    /// One without parameters, by a name that tools of drivers show.
    fn new(label: &'static str) -> Self;

    /// A whole number that is not negative.
    fn number(self, name: &str, number: i64) -> Self;

    /// A whole number.
    fn signed(self, name: &str, number: i64) -> Self {
        self.number(name, number)
    }

    /// Several that are not negative, `name[0]` and so on.
    fn numbers(self, name: &str, numbers: &[i64]) -> Self;

    /// A number.
    fn float(self, name: &str, number: f64) -> Self;

    /// A name for what elements of a type are in the language.
    fn type_named(self, name: &str, dtype: DType) -> Self;

    /// The names for a type of elements: `R` as they are held, `T` as they are computed with.
    fn of(self, dtype: DType) -> Self {
        self.type_named("T", computed(dtype)).type_named("R", dtype)
    }

    /// The elements of a tensor in memory, from its first one on.
    fn input(self, name: &str, tensor: &Tensor) -> Self;

    /// Where elements are written; they can be read, too.
    fn result(self, name: &str, tensor: &Tensor) -> Self;

    /// A tensor that may be missing, as a function of the place in it; and what each of its elements is then, a literal.
    fn optional(self, name: &str, tensor: Option<&Tensor>, otherwise: &str) -> Self;

    /// As [`input`](Self::input), to be moved and not computed with: of any type that the backend
    /// [moves](crate::GpuBackend::moves), in pieces as it [says](crate::GpuBackend::pieces).
    fn input_moved(self, name: &str, tensor: &Tensor) -> Self {
        self.input(name, tensor)
    }

    /// As [`input_moved`](Self::input_moved), of what is written.
    fn result_moved(self, name: &str, tensor: &Tensor) -> Self {
        self.result(name, tensor)
    }

    /// The sizes that threads count through, last dimension first, at most [`DIMS`](crate::DIMS) of them.
    fn sizes(self, sizes: &[i64]) -> Self;

    /// How far a tensor goes with these dimensions: a function `name_place` is where it is in the `n`-th place of them all.
    fn strides(self, name: &str, strides: &[i64]) -> Self;

    /// A function for the place of a number in dimensions of such sizes and strides, as many as there are.
    fn places(self, name: &str, sizes: &[i64], strides: &[i64]) -> Self;

    /// Functions for the body.
    fn with(self, text: &str) -> Self;

    /// Runs a body in as many threads, each with its number, `n`.
    ///
    /// # Errors
    /// A tensor is on another device than the others, or its device is lost; or the kernel does not run.
    fn threads(self, count: i64, body: &str) -> Result<()> {
        self.threads_after("", count, body)
    }

    /// As [`threads`](Self::threads), after a text that all threads of a group run together, those beyond the last included.
    ///
    /// # Errors
    /// As for [`threads`](Self::threads).
    fn threads_after(self, before: &str, count: i64, body: &str) -> Result<()>;

    /// Runs a body in a group of threads for each of as many rows: its `thread` goes through a part of the `length` elements
    /// of `row`. All threads get the sum of what each has from `over_sum`, and the largest from `over_max`. What is in
    /// `writes` comes after that, where the row is one of those that were asked for; there must be no barrier in it.
    ///
    /// # Errors
    /// As for [`threads`](Self::threads).
    fn rows(self, count: i64, length: i64, body: &str, writes: &str) -> Result<()>;
}

/// What is computed with for elements of a type: float32 for those of 16 bits, as PyTorch does.
///
/// ```
/// use torch_library::DType;
///
/// assert_eq!(torch_library_gpu::computed(DType::BFloat16), DType::Float32);
/// assert_eq!(torch_library_gpu::computed(DType::Int64), DType::Int64);
/// ```
pub fn computed(dtype: DType) -> DType {
    match dtype {
        DType::Float16 | DType::BFloat16 => DType::Float32,
        _ => dtype,
    }
}
