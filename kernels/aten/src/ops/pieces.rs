//! Pieces of tensors that are no views, choices of elements, and the parts of numbers.

use torch_library::torch_library;

torch_library! {
    /// Pieces, on top of what was declared before.
    pub mod aten extends super::storage::aten {
        /// As [`split_Tensor`](fn@split_Tensor), for autograd each part a tensor of its own. It shares memory all
        /// the same.
        ///
        /// # Errors
        /// Those of that.
        ///
        /// PyTorch: `torch.unsafe_split`.
        unsafe_split.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[];
        /// As [`split_with_sizes`](fn@split_with_sizes), for autograd each part a tensor of its own.
        ///
        /// # Errors
        /// Those of that.
        ///
        /// PyTorch: `torch.unsafe_split_with_sizes`.
        unsafe_split_with_sizes(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[];
        /// As [`chunk`](fn@chunk), for autograd each part a tensor of its own.
        ///
        /// # Errors
        /// Those of that.
        ///
        /// PyTorch: `torch.unsafe_chunk`.
        unsafe_chunk(Tensor self, int chunks, int dim=0) -> Tensor[];
        /// Cuts each tensor into so many chunks along a dimension, the last filled up with zeros, and joins those
        /// of one place.
        ///
        /// # Errors
        /// No tensors, or tensors of no elements, of other types, or of other sizes before the dimension.
        ///
        /// PyTorch: `torch._chunk_cat`.
        _chunk_cat(Tensor[] tensors, int dim, int num_chunks) -> Tensor;
        /// All choices of `r` elements of a vector, in the order of their places.
        ///
        /// # Errors
        /// No vector, a negative number, more choices than there is memory for.
        ///
        /// PyTorch: `torch.combinations`.
        combinations(Tensor self, int r=2, bool with_replacement=False) -> Tensor;
        /// The places of the first `size` elements that are not zero, as rows; places that do not exist are
        /// `fill_value`.
        ///
        /// # Errors
        /// A negative size.
        ///
        /// PyTorch: `torch.nonzero_static`.
        nonzero_static(Tensor self, *, SymInt size, int fill_value=-1) -> Tensor;
        /// The distinct elements in order, and where each element is among them.
        ///
        /// # Errors
        /// Complex numbers.
        ///
        /// PyTorch: `aten::_unique`.
        #[tags(dynamic_output_shape)]
        _unique(Tensor self, bool sorted=True, bool return_inverse=False) -> (Tensor, Tensor);

        /// The products of groups of matrices: batches of matrices, or one matrix whose rows, columns or inner
        /// dimension are cut at `offs`, where groups end.
        ///
        /// # Errors
        /// Other types than `float32` and halves, sizes that do not fit, offsets that are missing or of no use, a bias.
        ///
        /// PyTorch: `torch._grouped_mm`.
        _grouped_mm(Tensor self, Tensor mat2, Tensor? offs=None, Tensor? bias=None,
            ScalarType? out_dtype=None) -> Tensor;

        /// Mantissas, of sizes from one half to one, and exponents of two.
        ///
        /// # Errors
        /// Anything but floating-point numbers.
        ///
        /// PyTorch: `torch.frexp`.
        #[tags(pointwise)]
        frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent);
        /// Whether each element has no imaginary part.
        ///
        /// PyTorch: `torch.isreal`.
        isreal(Tensor self) -> Tensor;
        /// The tensor in pairs of halves, as complex numbers.
        ///
        /// PyTorch: `Tensor.chalf`.
        chalf(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor;
    }
}
