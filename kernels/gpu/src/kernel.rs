//! Building kernels from named parameters and tensors, functions, and a body for each thread or row.

use torch_library::prelude::*;

/// A builder for a kernel in a backend's language. The first parameter is `count`, the number of threads or rows that have
/// something to do; how a body reads parameters and tensors depends on the language.
///
/// Tensors are kept until the kernel runs. Errors about them are reported then.
pub trait KernelBuilder: Sized {
    /// A kernel without parameters, with a label that drivers' tools show.
    fn new(label: &'static str) -> Self;

    /// Adds an integer parameter that is not negative.
    fn number(self, name: &str, number: i64) -> Self;

    /// Adds an integer parameter.
    fn signed(self, name: &str, number: i64) -> Self {
        self.number(name, number)
    }

    /// Adds several integer parameters that are not negative, `name[0]` and so on.
    fn numbers(self, name: &str, numbers: &[i64]) -> Self;

    /// Adds a floating-point parameter.
    fn float(self, name: &str, number: f64) -> Self;

    /// Names the type that elements of a dtype have in the language.
    fn type_named(self, name: &str, dtype: DType) -> Self;

    /// Names the types for elements of a dtype: `R` as they are stored, `T` as they are computed with.
    fn of(self, dtype: DType) -> Self {
        self.type_named("T", computed(dtype)).type_named("R", dtype)
    }

    /// Adds a tensor for reading, by its elements in memory from its first one on.
    fn input(self, name: &str, tensor: &Tensor) -> Self;

    /// Adds a tensor for writing; it can be read, too.
    fn result(self, name: &str, tensor: &Tensor) -> Self;

    /// Adds a tensor that may be missing, as a function of the position in it; if it is missing, each element is the literal
    /// `otherwise`.
    fn optional(self, name: &str, tensor: Option<&Tensor>, otherwise: &str) -> Self;

    /// As [`input`](Self::input), for elements that are moved and not computed with: of any type that the backend can
    /// [move](crate::GpuBackend::moves), in its number of [pieces](crate::GpuBackend::pieces).
    fn input_moved(self, name: &str, tensor: &Tensor) -> Self {
        self.input(name, tensor)
    }

    /// As [`input_moved`](Self::input_moved), for writing.
    fn result_moved(self, name: &str, tensor: &Tensor) -> Self {
        self.result(name, tensor)
    }

    /// Adds the sizes that threads count through, last dimension first, at most [`DIMS`](crate::DIMS) of them.
    fn sizes(self, sizes: &[i64]) -> Self;

    /// Adds the strides of a tensor along these dimensions, and a function `name_place` for the position of the `n`-th
    /// element of them.
    fn strides(self, name: &str, strides: &[i64]) -> Self;

    /// Adds a function that maps an element number to its position, for any number of dimensions with these sizes and
    /// strides.
    fn places(self, name: &str, sizes: &[i64], strides: &[i64]) -> Self;

    /// Adds functions for the body.
    fn with(self, text: &str) -> Self;

    /// Runs a body in `count` threads, each with its number, `n`.
    ///
    /// # Errors
    /// A tensor on another device than the others, a lost device, or a kernel that does not run.
    fn threads(self, count: i64, body: &str) -> Result<()> {
        self.threads_after("", count, body)
    }

    /// As [`threads`](Self::threads), after the code `before`, which all threads of a workgroup run together, including
    /// those beyond `count`.
    ///
    /// # Errors
    /// As for [`threads`](Self::threads).
    fn threads_after(self, before: &str, count: i64, body: &str) -> Result<()>;

    /// Runs a body in one workgroup for each of `count` rows: each `thread` goes through a part of the `length` elements of
    /// `row`. `over_sum` and `over_max` give all threads the sum and the largest of the values that they pass. The code in
    /// `writes` comes after that, only for rows below `count`; it must not contain a barrier.
    ///
    /// # Errors
    /// As for [`threads`](Self::threads).
    fn rows(self, count: i64, length: i64, body: &str, writes: &str) -> Result<()>;
}

/// The type in which elements of a type are computed: float32 for 16-bit floats, as in PyTorch.
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
