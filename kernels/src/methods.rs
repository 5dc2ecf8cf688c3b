//! Operators as methods: `x.relu()?` for `aten::relu(&x)?`.

use torch_library::prelude::*;

use crate::aten;

/// The other side of an arithmetic method: a tensor or a number.
#[derive(Clone, Copy, Debug)]
pub enum Operand<'a> {
    /// A tensor, whose type counts in full.
    Tensor(&'a Tensor),
    /// A number, of which only the kind counts.
    Number(Scalar),
}

impl<'a> From<&'a Tensor> for Operand<'a> {
    fn from(tensor: &'a Tensor) -> Self {
        Operand::Tensor(tensor)
    }
}

macro_rules! operand_from {
    ($($number:ty),+) => { $(
        impl From<$number> for Operand<'_> {
            fn from(number: $number) -> Self {
                Operand::Number(number.into())
            }
        }
    )+ };
}

operand_from!(Scalar, f32, f64, i32, i64, bool, Complex64);

/// Writes methods that take a tensor or a number.
macro_rules! arithmetic {
    ($($(#[$doc:meta])* $method:ident $in_place:ident: $tensor:ident $tensor_:ident, $scalar:ident $scalar_:ident;)+) => { $(
        $(#[$doc])*
        fn $method<'a>(&self, other: impl Into<Operand<'a>>) -> Result<Tensor> {
            match other.into() {
                Operand::Tensor(other) => aten::$tensor(self.as_tensor(), other),
                Operand::Number(other) => aten::$scalar(self.as_tensor(), other),
            }
        }

        /// As the method without underscore, in place.
        fn $in_place<'a>(&mut self, other: impl Into<Operand<'a>>) -> Result<&mut Tensor> {
            match other.into() {
                Operand::Tensor(other) => aten::$tensor_(self.as_tensor_mut(), other),
                Operand::Number(other) => aten::$scalar_(self.as_tensor_mut(), other),
            }
        }
    )+ };
}

/// Writes methods that hand their arguments to an operator.
macro_rules! methods {
    ($($(#[$doc:meta])* $method:ident = $operator:ident $(:: $call:ident)? ($($argument:ident: $ty:ty),*);)+) => { $(
        $(#[$doc])*
        fn $method(&self $(, $argument: $ty)*) -> Result<Tensor> {
            aten::$operator $(:: $call)? (self.as_tensor() $(, $argument)*)
        }
    )+ };
}

/// The operators of this crate as methods of [`Tensor`]; each is documented at the function of its name in
/// [`aten`](mod@crate::aten).
///
/// ```
/// use torch_library::prelude::*;
/// use torch_library_kernels::prelude::*;
///
/// let x = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
/// let y = x.t()?.mul(10)?.add(&x)?;
/// assert_eq!(y.to_vec::<f64>()?, [11.0, 32.0, 23.0, 44.0]);
/// assert_eq!(y.to_vec::<f64>()?, ((x.t()? * 10)? + &x)?.to_vec::<f64>()?); // as expressions
/// # Ok::<(), Error>(())
/// ```
#[expect(clippy::missing_errors_doc, reason = "said at the functions")]
pub trait TensorMethods {
    #[doc(hidden)]
    fn as_tensor(&self) -> &Tensor;
    #[doc(hidden)]
    fn as_tensor_mut(&mut self) -> &mut Tensor;

    arithmetic! {
        /// The sum with a tensor or a number.
        add add_: add_Tensor add__Tensor, add_Scalar add__Scalar;
        /// The difference to a tensor or a number.
        sub sub_: sub_Tensor sub__Tensor, sub_Scalar sub__Scalar;
        /// The product with a tensor or a number, element by element.
        mul mul_: mul_Tensor mul__Tensor, mul_Scalar mul__Scalar;
        /// The quotient by a tensor or a number, element by element.
        div div_: div_Tensor div__Tensor, div_Scalar div__Scalar;
    }

    methods! {
        /// A copy in memory of its own; `clone` copies the handle.
        copy = clone();
        /// The tensor itself if it is row-major without gaps, else a copy that is.
        contiguous = contiguous();
        /// The same elements in another shape; one size may be `-1`.
        view = view(size: &[i64]);
        /// The same elements in another shape, copied if need be.
        reshape = reshape(shape: &[i64]);
        /// The dimensions in another order.
        permute = permute(dims: &[i64]);
        /// Two dimensions swapped.
        transpose = transpose_int(dim0: i64, dim1: i64);
        /// The transposed matrix.
        t = t();
        /// A new dimension of size 1.
        unsqueeze = unsqueeze(dim: i64);
        /// Without the dimensions of size 1.
        squeeze = squeeze();
        /// Dimensions of size 1 repeated to other sizes.
        expand = expand(size: &[i64]);
        /// One index of a dimension.
        select = select_int(dim: i64, index: i64);
        /// Some indices of a dimension.
        narrow = narrow(dim: i64, start: i64, length: i64);
        /// All dimensions as one.
        flatten = flatten_using_ints();
        /// The same elements, unknown to autograd.
        detach = detach();
        /// Each element with the other sign.
        neg = neg();
        /// Each element without its sign.
        abs = abs();
        /// *e* to the power of each element.
        exp = exp();
        /// The natural logarithm of each element.
        log = log();
        /// The square root of each element.
        sqrt = sqrt();
        /// The hyperbolic tangent of each element.
        tanh = tanh();
        /// The logistic function of each element.
        sigmoid = sigmoid();
        /// The larger of each element and zero.
        relu = relu();
        /// The Gaussian error linear unit of each element.
        gelu = gelu();
        /// Each element but not below `min` and not above `max`.
        clamp = clamp::call(min: Option<Scalar>, max: Option<Scalar>);
        /// The sum of all elements.
        sum = sum();
        /// The mean of all elements.
        mean = mean();
        /// The largest elements over some dimensions.
        amax = amax::call(dims: &[i64], keepdim: bool);
        /// The smallest elements over some dimensions.
        amin = amin::call(dims: &[i64], keepdim: bool);
        /// Where in a dimension, or else in the flat tensor, the largest element is.
        argmax = argmax::call(dim: Option<i64>, keepdim: bool);
        /// The product of two matrices.
        mm = mm(mat2: &Tensor);
        /// The product of vectors, matrices, or batches of them.
        matmul = matmul(other: &Tensor);
        /// Exponentials that sum to one along a dimension.
        softmax = softmax_int(dim: i64);
        /// The logarithm of the softmax.
        log_softmax = log_softmax_int(dim: i64);
        /// Slices by their index in a dimension.
        index_select = index_select(dim: i64, index: &Tensor);
        /// Elements by their index in a dimension.
        gather = gather(dim: i64, index: &Tensor);
    }

    /// The tensor itself if its elements lie in the memory format, else a copy of which that is true.
    fn contiguous_format(&self, format: MemoryFormat) -> Result<Tensor> {
        aten::contiguous::with(self.as_tensor()).memory_format(format).call()
    }

    /// The tensor itself if it has the type already, else a copy that has.
    fn to_dtype(&self, dtype: DType) -> Result<Tensor> {
        aten::to_dtype(self.as_tensor(), dtype)
    }

    /// Every `step`-th index of a dimension within a range.
    fn slice(&self, dim: i64, start: i64, end: i64, step: i64) -> Result<Tensor> {
        aten::slice_Tensor::call(self.as_tensor(), dim, Some(start), Some(end), step)
    }

    /// The sums over some dimensions, which stay with size 1 if `keepdim`.
    fn sum_dim(&self, dims: &[i64], keepdim: bool) -> Result<Tensor> {
        aten::sum_dim_IntList::call(self.as_tensor(), Some(dims), keepdim, None)
    }

    /// The means over some dimensions, which stay with size 1 if `keepdim`.
    fn mean_dim(&self, dims: &[i64], keepdim: bool) -> Result<Tensor> {
        aten::mean_dim::call(self.as_tensor(), Some(dims), keepdim, None)
    }

    /// Writes the elements of another tensor, which broadcasts to this one.
    fn copy_(&mut self, src: &Tensor) -> Result<&mut Tensor> {
        aten::copy_(self.as_tensor_mut(), src)
    }

    /// Writes one value to every element.
    fn fill_(&mut self, value: impl Into<Scalar>) -> Result<&mut Tensor> {
        aten::fill__Scalar(self.as_tensor_mut(), value.into())
    }

    /// Replaces negative elements by zero.
    fn relu_(&mut self) -> Result<&mut Tensor> {
        aten::relu_(self.as_tensor_mut())
    }
}

impl TensorMethods for Tensor {
    fn as_tensor(&self) -> &Tensor {
        self
    }

    fn as_tensor_mut(&mut self) -> &mut Tensor {
        self
    }
}
