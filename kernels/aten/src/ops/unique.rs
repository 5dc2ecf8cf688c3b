//! Distinct elements and distinct slices.

use torch_library::torch_library;

torch_library! {
    /// Distinct elements.
    #[methods(UniqueMethods)]
    pub mod aten extends "aten" {
        /// The distinct elements in ascending order, for each element its index among them, and how often each occurs.
        ///
        /// # Errors
        /// Complex dtypes.
        ///
        /// PyTorch: `torch.unique`.
        #[tags(dynamic_output_shape)]
        _unique2(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> (Tensor,
            Tensor, Tensor);
        /// The distinct elements in ascending order, and for each element its index among them.
        ///
        /// # Errors
        /// Complex dtypes.
        ///
        /// PyTorch: `aten::_unique`.
        #[variants(function)]
        #[tags(dynamic_output_shape)]
        _unique(Tensor self, bool sorted=True, bool return_inverse=False) -> (Tensor, Tensor);
        /// One element of each run of equal elements, for each element the index of its run, and the length of each
        /// run.
        ///
        /// # Errors
        /// Complex dtypes.
        ///
        /// PyTorch: `torch.unique_consecutive`.
        #[tags(dynamic_output_shape)]
        unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False,
            int? dim=None) -> (Tensor, Tensor, Tensor);
        /// One slice of each run of equal slices along a dimension, for each slice the index of its run, and the length
        /// of each run.
        ///
        /// # Errors
        /// Complex dtypes, another dimension of size 0.
        ///
        /// PyTorch: `torch.unique_consecutive` with `dim`.
        #[tags(dynamic_output_shape)]
        unique_dim_consecutive(Tensor self, int dim, bool return_inverse=False,
            bool return_counts=False) -> (Tensor, Tensor, Tensor);
        /// The distinct slices along a dimension in ascending order, for each slice its index among them, and how often
        /// each occurs.
        ///
        /// # Errors
        /// Complex dtypes, another dimension of size 0.
        ///
        /// PyTorch: `torch.unique`.
        #[tags(dynamic_output_shape)]
        unique_dim(Tensor self, int dim, bool sorted=True, bool return_inverse=False,
            bool return_counts=False) -> (Tensor, Tensor, Tensor);
    }
}
