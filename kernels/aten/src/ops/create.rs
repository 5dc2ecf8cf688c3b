//! Operators that create tensors, and those that fill them; sequences, triangles of matrices, and complex numbers from
//! pairs of real ones.

use torch_library::torch_library;

torch_library! {
    /// The operators of this crate, under PyTorch's names: overloads flattened, as in `add_Tensor`.
    #[methods(CreateMethods)]
    pub mod aten {
        /// A tensor with unspecified elements (here: zero).
        ///
        /// The dtype is `float32` and the device the CPU, unless they are given.
        ///
        /// PyTorch: `torch.empty`.
        empty.memory_format(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
            bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor;

        /// A tensor with the given strides and unspecified elements (here: zero).
        ///
        /// PyTorch: `torch.empty_strided`.
        empty_strided(SymInt[] size, SymInt[] stride, *, ScalarType? dtype=None, Layout? layout=None,
            Device? device=None, bool? pin_memory=None) -> Tensor;

        /// A tensor with unspecified elements (here: zero), with the sizes of `self`, and, unless they are given, its
        /// dtype, device and strides.
        ///
        /// PyTorch: `torch.empty_like`.
        #[variants(function)] // tensors have a method of this name
        empty_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
            bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor;

        /// A tensor of zeros.
        ///
        /// ```
        /// use torch_library::prelude::*;
        /// use torch_library_kernels::aten;
        ///
        /// let x = aten::zeros::with(&[2, 3]).dtype(DType::Int64).call()?;
        /// assert_eq!(x.to_vec::<i64>()?, [0; 6]);
        /// # Ok::<(), Error>(())
        /// ```
        ///
        /// PyTorch: `torch.zeros`.
        zeros(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
            bool? pin_memory=None) -> Tensor;

        /// A tensor of ones.
        ///
        /// PyTorch: `torch.ones`.
        ones(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
            bool? pin_memory=None) -> Tensor;

        /// A tensor filled with one value. Unless a dtype is given, it is that of the value: `float32` or `complex64`
        /// for floating-point and complex ones.
        ///
        /// # Errors
        /// A value that the dtype cannot hold.
        ///
        /// PyTorch: `torch.full`.
        full(SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None,
            Device? device=None, bool? pin_memory=None) -> Tensor;

        /// A tensor of zeros with the sizes of `self`, and, unless they are given, its dtype, device and strides.
        ///
        /// PyTorch: `torch.zeros_like`.
        zeros_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
            bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor;

        /// A tensor of ones with the sizes of `self`, and, unless they are given, its dtype, device and strides.
        ///
        /// PyTorch: `torch.ones_like`.
        ones_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
            bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor;

        /// A tensor filled with one value, with the sizes of `self`, and, unless they are given, its dtype, device and
        /// strides.
        ///
        /// PyTorch: `torch.full_like`.
        full_like(Tensor self, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None,
            Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor;

        /// A tensor with unspecified elements (here: zero), of the dtype and device of `self` unless they are given.
        ///
        /// PyTorch: `Tensor.new_empty`.
        new_empty(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None,
            Device? device=None, bool? pin_memory=None) -> Tensor;

        /// A tensor with the given strides and unspecified elements (here: zero), of the dtype and device of `self`
        /// unless they are given.
        ///
        /// PyTorch: `Tensor.new_empty_strided`.
        new_empty_strided(Tensor self, SymInt[] size, SymInt[] stride, *, ScalarType? dtype=None,
            Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor;

        /// A tensor of zeros, of the dtype and device of `self` unless they are given.
        ///
        /// PyTorch: `Tensor.new_zeros`.
        new_zeros(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None,
            Device? device=None, bool? pin_memory=None) -> Tensor;

        /// A tensor of ones, of the dtype and device of `self` unless they are given.
        ///
        /// PyTorch: `Tensor.new_ones`.
        new_ones(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None,
            Device? device=None, bool? pin_memory=None) -> Tensor;

        /// A tensor filled with one value, of the dtype and device of `self` unless they are given.
        ///
        /// PyTorch: `Tensor.new_full`.
        new_full(Tensor self, SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None,
            Device? device=None, bool? pin_memory=None) -> Tensor;

        /// Fills the tensor with one value.
        ///
        /// # Errors
        /// A value that the dtype cannot hold.
        ///
        /// PyTorch: `Tensor.fill_`.
        fill_.Scalar(Tensor(a!) self, Scalar value) -> Tensor(a!);

        /// Fills the tensor with the element of `value`.
        ///
        /// # Errors
        /// A `value` with dimensions.
        ///
        /// PyTorch: `Tensor.fill_`.
        fill_.Tensor(Tensor(a!) self, Tensor value) -> Tensor(a!);

        /// The functional form of `fill_`: a tensor of the sizes, dtype and strides of `self`, filled with `value`.
        ///
        /// PyTorch: `aten::fill`.
        fill.Scalar(Tensor self, Scalar value) -> Tensor;

        /// The functional form of `fill_`: a tensor of the sizes, dtype and strides of `self`, filled with the element
        /// of `value`.
        ///
        /// PyTorch: `aten::fill`.
        fill.Tensor(Tensor self, Tensor value) -> Tensor;

        /// A tensor of zeros with the sizes, dtype and strides of `self`.
        ///
        /// PyTorch: `aten::zero`.
        zero(Tensor self) -> Tensor;

        /// Fills the tensor with zeros.
        ///
        /// PyTorch: `Tensor.zero_`.
        zero_(Tensor(a!) self) -> Tensor(a!);

        /// The numbers from 0 up to but not including `end`: integers, if `end` is one.
        ///
        /// ```
        /// use torch_library_kernels::aten;
        ///
        /// assert_eq!(aten::arange(3.into())?.to_vec::<i64>()?, [0, 1, 2]);
        /// # Ok::<(), torch_library::Error>(())
        /// ```
        ///
        /// PyTorch: `torch.arange`.
        arange(Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
            bool? pin_memory=None) -> Tensor;
        /// The numbers from `start` up to but not including `end`.
        ///
        /// PyTorch: `torch.arange`.
        arange.start(Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? layout=None,
            Device? device=None, bool? pin_memory=None) -> Tensor;
        /// The numbers from `start` up to but not including `end`, in steps of `step`.
        ///
        /// # Errors
        /// A step of zero, or one in the wrong direction; bounds that are not finite, boolean and complex dtypes.
        ///
        /// PyTorch: `torch.arange`.
        arange.start_step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None,
            Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor;
        /// The indices along a dimension: the numbers from 0 up to its size.
        ///
        /// # Errors
        /// A dimension out of range.
        ///
        /// PyTorch: `torch._dim_arange`.
        _dim_arange(Tensor like, int dim) -> Tensor;
        /// The numbers from `start` up to and including `end`, in steps of `step`. The default dtype is `float32`, for
        /// integers too.
        ///
        /// # Errors
        /// A step of zero, or one in the wrong direction; bounds that are not finite, boolean and complex dtypes.
        ///
        /// PyTorch: `torch.range`, which is deprecated for [`arange.start_step`](fn@arange_start_step).
        range.step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, Layout? layout=None,
            Device? device=None, bool? pin_memory=None) -> Tensor;
        /// The numbers from `start` up to and including `end`, in steps of 1. The default dtype is `float32`, for
        /// integers too.
        ///
        /// # Errors
        /// An end before the start; bounds that are not finite, boolean and complex dtypes.
        ///
        /// PyTorch: `torch.range`, which is deprecated for [`arange`](fn@arange).
        range(Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
            bool? pin_memory=None) -> Tensor;
        /// `steps` evenly spaced numbers from `start` to `end`, both included.
        ///
        /// # Errors
        /// A negative number of steps.
        ///
        /// PyTorch: `torch.linspace`.
        linspace(Scalar start, Scalar end, int steps, *, ScalarType? dtype=None, Layout? layout=None,
            Device? device=None, bool? pin_memory=None) -> Tensor;
        /// [`linspace`](fn@linspace) with tensors as `start` and `end`.
        ///
        /// # Errors
        /// A `start` or `end` with dimensions.
        ///
        /// PyTorch: `torch.linspace`.
        linspace.Tensor_Tensor(Tensor start, Tensor end, int steps, *, ScalarType? dtype=None,
            Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor;
        /// [`linspace`](fn@linspace) with a tensor as `start`.
        ///
        /// # Errors
        /// A `start` with dimensions.
        ///
        /// PyTorch: `torch.linspace`.
        linspace.Tensor_Scalar(Tensor start, Scalar end, int steps, *, ScalarType? dtype=None,
            Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor;
        /// [`linspace`](fn@linspace) with a tensor as `end`.
        ///
        /// # Errors
        /// An `end` with dimensions.
        ///
        /// PyTorch: `torch.linspace`.
        linspace.Scalar_Tensor(Scalar start, Tensor end, int steps, *, ScalarType? dtype=None,
            Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor;
        /// Powers of `base`, with `steps` evenly spaced exponents from `start` to `end`, both included.
        ///
        /// ```
        /// use torch_library_kernels::aten;
        ///
        /// let x = aten::logspace::with(0.into(), 3.into(), 4).base(2.0).call()?;
        /// assert_eq!(x.to_vec::<f32>()?, [1.0, 2.0, 4.0, 8.0]);
        /// # Ok::<(), torch_library::Error>(())
        /// ```
        ///
        /// # Errors
        /// A negative number of steps.
        ///
        /// PyTorch: `torch.logspace`.
        logspace(Scalar start, Scalar end, int steps, float base=10., *, ScalarType? dtype=None,
            Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor;
        /// [`logspace`](fn@logspace) with tensors as `start` and `end`.
        ///
        /// # Errors
        /// A `start` or `end` with dimensions.
        ///
        /// PyTorch: `torch.logspace`.
        logspace.Tensor_Tensor(Tensor start, Tensor end, int steps, float base=10., *, ScalarType? dtype=None,
            Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor;
        /// [`logspace`](fn@logspace) with a tensor as `start`.
        ///
        /// # Errors
        /// A `start` with dimensions.
        ///
        /// PyTorch: `torch.logspace`.
        logspace.Tensor_Scalar(Tensor start, Scalar end, int steps, float base=10., *, ScalarType? dtype=None,
            Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor;
        /// [`logspace`](fn@logspace) with a tensor as `end`.
        ///
        /// # Errors
        /// An `end` with dimensions.
        ///
        /// PyTorch: `torch.logspace`.
        logspace.Scalar_Tensor(Scalar start, Tensor end, int steps, float base=10., *, ScalarType? dtype=None,
            Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor;
        /// A scalar as a tensor without dimensions, of dtype `float32` unless it is given.
        ///
        /// PyTorch: `torch.scalar_tensor`.
        scalar_tensor(Scalar s, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
            bool? pin_memory=None) -> Tensor;
        /// The identity matrix of size `n`.
        ///
        /// # Errors
        /// A negative size.
        ///
        /// PyTorch: `torch.eye`.
        eye(SymInt n, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
            bool? pin_memory=None) -> Tensor;
        /// A matrix with ones on its diagonal and zeros elsewhere.
        ///
        /// # Errors
        /// A negative size.
        ///
        /// PyTorch: `torch.eye`.
        eye.m(SymInt n, SymInt m, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
            bool? pin_memory=None) -> Tensor;
        /// The lower triangles of matrices; elements above the diagonal are zero.
        ///
        /// # Errors
        /// Fewer than two dimensions.
        ///
        /// PyTorch: `torch.tril`.
        tril(Tensor self, SymInt diagonal=0) -> Tensor;
        /// The upper triangles of matrices; elements below the diagonal are zero.
        ///
        /// # Errors
        /// Fewer than two dimensions.
        ///
        /// PyTorch: `torch.triu`.
        triu(Tensor self, SymInt diagonal=0) -> Tensor;
        /// The indices of the lower triangle of a matrix, up to and including the diagonal `offset`: row indices, then
        /// column indices, `[2, n]`.
        ///
        /// # Errors
        /// A negative size, a dtype other than `int64` and `int32`.
        ///
        /// PyTorch: `torch.tril_indices`.
        tril_indices(int row, int col, int offset=0, *, ScalarType? dtype=long, Layout? layout=None,
            Device? device=None, bool? pin_memory=None) -> Tensor;
        /// The indices of the upper triangle of a matrix, from the diagonal `offset` on: row indices, then column
        /// indices, `[2, n]`.
        ///
        /// # Errors
        /// A negative size, a dtype other than `int64` and `int32`.
        ///
        /// PyTorch: `torch.triu_indices`.
        triu_indices(int row, int col, int offset=0, *, ScalarType? dtype=long, Layout? layout=None,
            Device? device=None, bool? pin_memory=None) -> Tensor;
        /// Complex numbers from their real and imaginary parts, which broadcast.
        ///
        /// # Errors
        /// Parts of different dtypes, or of others than `float16`, `float32` and `float64`.
        ///
        /// PyTorch: `torch.complex`.
        complex(Tensor real, Tensor imag) -> Tensor;
        /// Complex numbers from their absolute values and angles, which broadcast.
        ///
        /// # Errors
        /// Operands of different dtypes, or of others than `float16`, `float32` and `float64`.
        ///
        /// PyTorch: `torch.polar`.
        polar(Tensor abs, Tensor angle) -> Tensor;
    }
}
