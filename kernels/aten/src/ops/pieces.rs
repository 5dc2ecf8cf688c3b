//! Splits whose parts are not views, combinations, static `nonzero`, grouped matrix products, mantissas and exponents.

use torch_library::torch_library;

torch_library! {
    /// Splits, choices and parts of elements, on top of the operators declared before.
    pub mod aten extends super::storage::aten {
        /// [`split_Tensor`](fn@split_Tensor), but autograd does not treat the parts as views. They share the storage
        /// all the same.
        ///
        /// # Errors
        /// The errors of [`split_Tensor`](fn@split_Tensor).
        ///
        /// PyTorch: `torch.unsafe_split`.
        unsafe_split.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[];
        /// [`split_with_sizes`](fn@split_with_sizes), but autograd does not treat the parts as views.
        ///
        /// # Errors
        /// The errors of [`split_with_sizes`](fn@split_with_sizes).
        ///
        /// PyTorch: `torch.unsafe_split_with_sizes`.
        unsafe_split_with_sizes(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[];
        /// [`chunk`](fn@chunk), but autograd does not treat the parts as views.
        ///
        /// # Errors
        /// The errors of [`chunk`](fn@chunk).
        ///
        /// PyTorch: `torch.unsafe_chunk`.
        unsafe_chunk(Tensor self, int chunks, int dim=0) -> Tensor[];
        /// Splits each tensor into `num_chunks` chunks along a dimension, padding the last with zeros, and concatenates
        /// the chunks of the same index. The chunks are a dimension of the result.
        ///
        /// # Errors
        /// No tensors, or tensors without elements, of different dtypes, or of different sizes before the dimension.
        ///
        /// PyTorch: `torch._chunk_cat`.
        _chunk_cat(Tensor[] tensors, int dim, int num_chunks) -> Tensor;
        /// All combinations of `r` elements of a vector, as rows, in lexicographic order of their indices.
        ///
        /// # Errors
        /// An input that is not a vector, a negative `r`, more combinations than there is memory for.
        ///
        /// PyTorch: `torch.combinations`.
        combinations(Tensor self, int r=2, bool with_replacement=False) -> Tensor;
        /// The indices of the first `size` elements that are not zero, as rows; missing rows are filled with
        /// `fill_value`.
        ///
        /// # Errors
        /// A negative size.
        ///
        /// PyTorch: `torch.nonzero_static`.
        nonzero_static(Tensor self, *, SymInt size, int fill_value=-1) -> Tensor;
        /// The distinct elements in ascending order, and for each element its index among them.
        ///
        /// # Errors
        /// Complex dtypes.
        ///
        /// PyTorch: `aten::_unique`.
        #[tags(dynamic_output_shape)]
        _unique(Tensor self, bool sorted=True, bool return_inverse=False) -> (Tensor, Tensor);

        /// Grouped matrix products: batches of matrices, or a matrix whose rows, columns or inner dimension are split
        /// into groups, which end at `offs`.
        ///
        /// # Errors
        /// Dtypes other than `float32` and half-precision ones, sizes that do not match, `offs` that are missing,
        /// superfluous or not `int32`, a bias, another `out_dtype` than that of the operands.
        ///
        /// PyTorch: `torch._grouped_mm`.
        _grouped_mm(Tensor self, Tensor mat2, Tensor? offs=None, Tensor? bias=None,
            ScalarType? out_dtype=None) -> Tensor;

        /// The mantissas, whose magnitudes are in `[0.5, 1)`, and the exponents of two.
        ///
        /// # Errors
        /// Dtypes that are not floating-point.
        ///
        /// PyTorch: `torch.frexp`.
        #[tags(pointwise)]
        frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent);
        /// Whether each element is real: without an imaginary part.
        ///
        /// PyTorch: `torch.isreal`.
        isreal(Tensor self) -> Tensor;
        /// The tensor converted to complex numbers of half precision.
        ///
        /// PyTorch: `Tensor.chalf`.
        chalf(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor;
    }
}
