//! Everything that an operator that reduces dimensions decides before any element is computed.

use smallvec::SmallVec;
use torch_library::geometry::{Dims, saturating_numel, wrap_dim};
use torch_library::prelude::*;
use torch_library::promote_types;

use crate::inlined::zip;

/// The type of a result where only the caller decides it: `dtype` if given, else the type of `out`, if there is one.
///
/// # Errors
/// Both are given and differ.
pub fn dtype_or_that_of_out(output: Output<'_>, dtype: Option<DType>) -> Result<Option<DType>> {
    let own = output.given().map(Tensor::dtype);
    if let (Some(dtype), Some(own)) = (dtype, own) {
        ensure!(
            dtype == own,
            DType,
            "{}: dtype is {dtype}, and `out` is of {own}, expected one type",
            output.operator()
        );
    }
    Ok(dtype.or(own))
}

/// The type of sums and products of a tensor's elements: `dtype` if given, else `int64` for integers and booleans, else
/// the tensor's type.
pub fn type_of_sum(input: &Tensor, dtype: Option<DType>) -> DType {
    let is_whole = input.dtype().is_integer() || input.dtype() == DType::Bool;
    dtype.unwrap_or(if is_whole { DType::Int64 } else { input.dtype() })
}

/// The type that a norm is computed in: `dtype` if given, which must be able to hold the elements, and be complex
/// exactly if they are; else the tensor's type.
///
/// # Errors
/// Another `dtype`, or elements that are neither floating-point nor complex.
pub fn type_of_norm(operator: &str, input: &Tensor, dtype: Option<DType>) -> Result<DType> {
    let (own, dtype) = (input.dtype(), dtype.unwrap_or(input.dtype()));
    let fits = own.is_differentiable()
        && own.is_complex() == dtype.is_complex()
        && promote_types(own, dtype).is_ok_and(|common| common == dtype);
    ensure!(
        fits,
        DType,
        "{operator}: a norm of {own} as {dtype}, expected floating-point or complex numbers, and a type that holds them"
    );
    Ok(dtype)
}

/// A tensor, which of its dimensions are reduced, and where the result goes.
///
/// PyTorch: `at::native::make_reduction`.
#[derive(Debug)]
pub struct Reduction<'a> {
    output: Output<'a>,
    input: &'a Tensor,
    is_reduced: SmallVec<[bool; 6]>,
    keepdim: bool,
}

impl<'a> Reduction<'a> {
    /// A reduction over the dimensions `dims`, or over all of them if none are given.
    ///
    /// # Errors
    /// A dimension out of range, or named twice.
    pub fn new(
        output: impl Into<Output<'a>>,
        input: &'a Tensor,
        dims: Option<&[i64]>,
        keepdim: bool,
    ) -> Result<Self> {
        let output = output.into();
        let operator = output.operator();
        let (dims, ndim) = (dims.unwrap_or_default(), input.dim());
        // For a tensor without dimensions, `dim` may be 0 or -1, as if it had one.
        let mut is_reduced: SmallVec<[bool; 6]> = SmallVec::from_elem(dims.is_empty(), ndim.max(1));
        for &dim in dims {
            let wrapped = wrap_dim(dim, ndim).map_err(|error| error.context(operator))?;
            ensure!(!is_reduced[wrapped], Argument, "{operator}: dimension {dim} is named twice in {dims:?}");
            is_reduced[wrapped] = true;
        }
        is_reduced.truncate(ndim);
        Ok(Reduction { output, input, is_reduced, keepdim })
    }

    /// A reduction of no dimensions: every element is a result of its own.
    pub fn of_nothing(output: Output<'a>, input: &'a Tensor) -> Self {
        Reduction { output, input, is_reduced: SmallVec::from_elem(false, input.dim()), keepdim: false }
    }

    /// Whether each dimension is reduced.
    #[inline]
    pub fn is_reduced(&self) -> &[bool] {
        &self.is_reduced
    }

    /// The number of elements that go into one result.
    #[inline]
    pub fn count(&self) -> i64 {
        let sizes = zip(self.input.sizes(), &*self.is_reduced);
        saturating_numel(sizes.filter(|(_, is_reduced)| **is_reduced).map(|(size, _)| size))
    }

    /// A contiguous tensor for the results: the caller's, if they can be written to it directly, or a new one.
    ///
    /// # Errors
    /// More memory than there is.
    pub fn output(&self, dtype: DType) -> Result<Tensor> {
        let mut sizes = Dims::new();
        for (size, is_reduced) in zip(self.input.sizes(), &*self.is_reduced) {
            match is_reduced {
                false => sizes.push(*size),
                true if self.keepdim => sizes.push(1),
                true => {}
            }
        }
        self.output.contiguous(&sizes, dtype, self.input.device(), &[self.input])
    }

    /// The error for a type that the operator does not compute in.
    #[cold]
    pub fn unsupported(&self, dtype: DType) -> Error {
        crate::loops::pointwise::unsupported(self.output.operator(), dtype)
    }
}
