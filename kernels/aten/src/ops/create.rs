//! Operators that make tensors from nothing, and those that fill them.

use torch_library::torch_library;

torch_library! {
    /// The operators of this crate, under PyTorch's names: overloads flattened, as in `add_Tensor`.
    #[methods(CreateMethods)]
    pub mod aten {
        /// A tensor whose elements are unspecified (here: zero).
        ///
        /// The type is `float32` and the device the CPU unless given.
        ///
        /// PyTorch: `torch.empty`.
        empty.memory_format(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
            bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor;

        /// A tensor with given strides whose elements are unspecified (here: zero).
        ///
        /// PyTorch: `torch.empty_strided`.
        empty_strided(SymInt[] size, SymInt[] stride, *, ScalarType? dtype=None, Layout? layout=None,
            Device? device=None, bool? pin_memory=None) -> Tensor;

        /// A tensor for results that resembles another: its sizes, and unless given its type, device and strides.
        ///
        /// PyTorch: `torch.empty_like`.
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

        /// A tensor of one value, whose type is that of the value unless given.
        ///
        /// PyTorch: `torch.full`.
        full(SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None,
            Device? device=None, bool? pin_memory=None) -> Tensor;

        /// A tensor of zeros that resembles another.
        ///
        /// PyTorch: `torch.zeros_like`.
        zeros_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
            bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor;

        /// A tensor of ones that resembles another.
        ///
        /// PyTorch: `torch.ones_like`.
        ones_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
            bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor;

        /// A tensor of one value that resembles another.
        ///
        /// PyTorch: `torch.full_like`.
        full_like(Tensor self, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None,
            Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor;

        /// A tensor whose elements are unspecified (here: zero), of the type and device of another unless given.
        ///
        /// PyTorch: `Tensor.new_empty`.
        new_empty(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None,
            Device? device=None, bool? pin_memory=None) -> Tensor;

        /// A tensor of given strides whose elements are unspecified (here: zero), of the type and device of another
        /// unless given.
        ///
        /// PyTorch: `Tensor.new_empty_strided`.
        new_empty_strided(Tensor self, SymInt[] size, SymInt[] stride, *, ScalarType? dtype=None,
            Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor;

        /// A tensor of zeros, of the type and device of another unless given.
        ///
        /// PyTorch: `Tensor.new_zeros`.
        new_zeros(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None,
            Device? device=None, bool? pin_memory=None) -> Tensor;

        /// A tensor of ones, of the type and device of another unless given.
        ///
        /// PyTorch: `Tensor.new_ones`.
        new_ones(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None,
            Device? device=None, bool? pin_memory=None) -> Tensor;

        /// A tensor of one value, of the type and device of another unless given.
        ///
        /// PyTorch: `Tensor.new_full`.
        new_full(Tensor self, SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None,
            Device? device=None, bool? pin_memory=None) -> Tensor;

        /// Writes one value to every element.
        ///
        /// # Errors
        /// A value that the type cannot hold.
        ///
        /// PyTorch: `Tensor.fill_`.
        fill_.Scalar(Tensor(a!) self, Scalar value) -> Tensor(a!);

        /// Writes the only element of a tensor to every element.
        ///
        /// PyTorch: `Tensor.fill_`.
        fill_.Tensor(Tensor(a!) self, Tensor value) -> Tensor(a!);

        /// A tensor of the same sizes, type and strides, of one value.
        ///
        /// PyTorch: `aten::fill`.
        fill.Scalar(Tensor self, Scalar value) -> Tensor;

        /// A tensor of the same sizes, type and strides, of the only element of another.
        ///
        /// PyTorch: `aten::fill`.
        fill.Tensor(Tensor self, Tensor value) -> Tensor;

        /// A tensor of the same sizes, type and strides, of zeros.
        ///
        /// PyTorch: `aten::zero`.
        zero(Tensor self) -> Tensor;

        /// Writes zero to every element.
        ///
        /// PyTorch: `Tensor.zero_`.
        zero_(Tensor(a!) self) -> Tensor(a!);
    }
}
