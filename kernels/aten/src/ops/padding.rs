//! Padding of tensors: with a constant, by reflection, by replication, or with the opposite side.

use torch_library::torch_library;

torch_library! {
    /// Padding.
    #[methods(PaddingMethods)]
    #[kernels_in(torch_library_nn)]
    pub mod aten extends "aten" {
        /// Pads the tensor with a constant: `pad` has the numbers of elements to add before and after, the last
        /// dimension first.
        ///
        /// Negative numbers remove elements instead.
        ///
        /// # Errors
        /// More pairs than dimensions, a result of negative size.
        ///
        /// PyTorch: `torch.constant_pad_nd`.
        constant_pad_nd(Tensor self, SymInt[] pad, Scalar value=0) -> Tensor;

        /// Pads the last dimensions: with a constant (`"constant"`), the edge element (`"replicate"`), the reflection
        /// at the edge (`"reflect"`) or the opposite side (`"circular"`). `pad` has two numbers for each dimension, the
        /// last dimension first.
        ///
        /// ```
        /// use torch_library::prelude::*;
        /// use torch_library_kernels::aten;
        ///
        /// let x = Tensor::from([[1, 2, 3]]);
        /// let padded = aten::pad::with(&x, &[2, 1]).mode("reflect").call()?;
        /// assert_eq!(padded.to_vec::<i32>()?, [3, 2, 1, 2, 3, 2]);
        /// # Ok::<(), Error>(())
        /// ```
        ///
        /// # Errors
        /// Another mode, more pairs of numbers than dimensions, reflections that are not shorter than the dimension,
        /// circular padding that is longer than it, a `value` in another mode than `"constant"`.
        ///
        /// PyTorch: `torch.nn.functional.pad`.
        pad(Tensor self, SymInt[] pad, str mode="constant", float? value=None) -> Tensor;
        /// [`pad`](fn@pad) with `"circular"`.
        ///
        /// PyTorch: `aten::_pad_circular`.
        #[variants(function)]
        _pad_circular(Tensor self, SymInt[] pad) -> Tensor;
        /// [`pad`](fn@pad) with the mode as a number: 0 reflects, 1 replicates, 2 is circular, 3 pads with `value`.
        ///
        /// # Errors
        /// Another mode; the errors of [`pad`](fn@pad).
        ///
        /// PyTorch: `aten::_pad_enum`.
        #[variants(function)]
        _pad_enum(Tensor self, SymInt[] pad, int mode, float? value=None) -> Tensor;
        /// Pads sequences by reflection at their ends.
        ///
        /// # Errors
        /// Padding that is not smaller than the dimension, a number of dimensions other than two and three, a boolean
        /// dtype.
        ///
        /// PyTorch: `torch.nn.ReflectionPad1d`.
        reflection_pad1d(Tensor self, SymInt[2] padding) -> Tensor;
        /// Pads images by reflection at their edges.
        ///
        /// # Errors
        /// Padding that is not smaller than the dimension, a number of dimensions other than three and four, a boolean
        /// dtype.
        ///
        /// PyTorch: `torch.nn.ReflectionPad2d`.
        reflection_pad2d(Tensor self, SymInt[4] padding) -> Tensor;
        /// Pads sequences by replication of their end elements.
        ///
        /// # Errors
        /// A number of dimensions other than two and three, a boolean dtype.
        ///
        /// PyTorch: `torch.nn.ReplicationPad1d`.
        replication_pad1d(Tensor self, SymInt[2] padding) -> Tensor;
        /// Pads images by replication of their edges.
        ///
        /// # Errors
        /// A number of dimensions other than three and four, a boolean dtype.
        ///
        /// PyTorch: `torch.nn.ReplicationPad2d`.
        replication_pad2d(Tensor self, SymInt[4] padding) -> Tensor;
        /// Pads volumes by replication of their faces.
        ///
        /// # Errors
        /// A number of dimensions other than four and five, a boolean dtype.
        ///
        /// PyTorch: `torch.nn.ReplicationPad3d`.
        replication_pad3d(Tensor self, SymInt[6] padding) -> Tensor;
        /// Pads volumes by reflection at their faces.
        ///
        /// # Errors
        /// Padding that is not smaller than the dimension, a number of dimensions other than four and five, a boolean
        /// dtype.
        ///
        /// PyTorch: `torch.nn.ReflectionPad3d`.
        reflection_pad3d(Tensor self, SymInt[6] padding) -> Tensor;
        /// The gradient of the input of [`reflection_pad1d`](fn@reflection_pad1d).
        ///
        /// # Errors
        /// A gradient whose sizes are not those of the result.
        ///
        /// PyTorch: `aten::reflection_pad1d_backward`.
        reflection_pad1d_backward(Tensor grad_output, Tensor self, SymInt[2] padding) -> Tensor;
        /// The gradient of the input of [`reflection_pad2d`](fn@reflection_pad2d).
        ///
        /// # Errors
        /// A gradient whose sizes are not those of the result.
        ///
        /// PyTorch: `aten::reflection_pad2d_backward`.
        reflection_pad2d_backward(Tensor grad_output, Tensor self, SymInt[4] padding) -> Tensor;
        /// The gradient of the input of [`reflection_pad3d`](fn@reflection_pad3d).
        ///
        /// # Errors
        /// A gradient whose sizes are not those of the result.
        ///
        /// PyTorch: `aten::reflection_pad3d_backward`.
        reflection_pad3d_backward(Tensor grad_output, Tensor self, SymInt[6] padding) -> Tensor;
        /// The gradient of the input of [`replication_pad1d`](fn@replication_pad1d).
        ///
        /// # Errors
        /// A gradient whose sizes are not those of the result.
        ///
        /// PyTorch: `aten::replication_pad1d_backward`.
        replication_pad1d_backward(Tensor grad_output, Tensor self, SymInt[2] padding) -> Tensor;
        /// The gradient of the input of [`replication_pad2d`](fn@replication_pad2d).
        ///
        /// # Errors
        /// A gradient whose sizes are not those of the result.
        ///
        /// PyTorch: `aten::replication_pad2d_backward`.
        replication_pad2d_backward(Tensor grad_output, Tensor self, SymInt[4] padding) -> Tensor;
        /// The gradient of the input of [`replication_pad3d`](fn@replication_pad3d).
        ///
        /// # Errors
        /// A gradient whose sizes are not those of the result.
        ///
        /// PyTorch: `aten::replication_pad3d_backward`.
        replication_pad3d_backward(Tensor grad_output, Tensor self, SymInt[6] padding) -> Tensor;
    }
}
