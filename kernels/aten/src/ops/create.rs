//! Operators that create tensors, and those that fill them.

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
    }
}
