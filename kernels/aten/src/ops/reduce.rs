//! Reductions: sums, means, extremes and their indices.
//!
//! Reduced dimensions are removed, or kept with size 1 if `keepdim` is true. If no dimensions are given, all are
//! reduced.

use torch_library::torch_library;

torch_library! {
    /// Reductions, on top of the operators declared before.
    #[methods(ReduceMethods)]
    pub mod aten extends super::bits::aten {
        /// The sum of all elements; for integers and booleans it is an `int64`.
        ///
        /// PyTorch: `torch.sum`.
        sum(Tensor self, *, ScalarType? dtype=None) -> Tensor;
        /// The sums over some dimensions. For integers and booleans they are `int64`.
        ///
        /// ```
        /// use torch_library::prelude::*;
        /// use torch_library_kernels::aten;
        ///
        /// let x = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
        /// let rows = aten::sum_dim_IntList::with(&x, Some(&[1])).keepdim(true).call()?;
        /// assert_eq!((rows.sizes(), rows.to_vec::<f64>()?), (&[2, 1][..], vec![3.0, 7.0]));
        /// # Ok::<(), Error>(())
        /// ```
        ///
        /// PyTorch: `torch.sum`.
        #[variants(out = "IntList_out")]
        sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor;

        /// The sums over the dimensions that broadcasting expanded or added: the adjoint of `expand`.
        ///
        /// # Errors
        /// Sizes that do not broadcast to those of the tensor.
        ///
        /// PyTorch: `Tensor.sum_to_size`.
        sum_to_size(Tensor self, SymInt[] size) -> Tensor;

        /// The mean of all elements.
        ///
        /// # Errors
        /// Integer and boolean dtypes, unless a floating-point `dtype` is given.
        ///
        /// PyTorch: `torch.mean`.
        mean(Tensor self, *, ScalarType? dtype=None) -> Tensor;
        /// The means over some dimensions.
        ///
        /// # Errors
        /// The errors of [`mean`](fn@mean).
        ///
        /// PyTorch: `torch.mean`.
        #[variants(function)] // the method is in `methods`, with its options
        #[variants(out = "out")]
        mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor;

        /// The largest elements over some dimensions; NaN if there is one.
        ///
        /// # Errors
        /// A reduced dimension of size 0, a complex dtype.
        ///
        /// PyTorch: `torch.amax`.
        #[variants(function)] // the method is in `methods`, with its options
        #[variants(out)]
        amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor;
        /// The smallest elements over some dimensions; NaN if there is one.
        ///
        /// # Errors
        /// The errors of [`amax`](fn@amax).
        ///
        /// PyTorch: `torch.amin`.
        #[variants(function)] // the method is in `methods`, with its options
        #[variants(out)]
        amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor;
        /// The index of the largest element along a dimension, or in the flattened tensor; the first if there are
        /// several. The result is `int64`.
        ///
        /// # Errors
        /// A reduction over no elements, boolean and complex dtypes.
        ///
        /// PyTorch: `torch.argmax`.
        #[variants(function)] // the method is in `methods`, with its options
        #[variants(out)]
        argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor;
        /// The index of the smallest element along a dimension, or in the flattened tensor; the first if there are
        /// several. The result is `int64`.
        ///
        /// # Errors
        /// The errors of [`argmax`](fn@argmax).
        ///
        /// PyTorch: `torch.argmin`.
        #[variants(out)]
        argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor;
    }
}
