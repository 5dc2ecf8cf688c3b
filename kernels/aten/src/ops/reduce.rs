//! Operators that reduce dimensions to one value each.
//!
//! Reduced dimensions are gone in the result, or of size 1 with `keepdim`. No dimensions given means all of them.

use torch_library::torch_library;

torch_library! {
    /// Reductions, on top of what was declared before.
    #[methods(ReduceMethods)]
    pub mod aten extends super::bits::aten {
        /// The sum of all elements; of integers and booleans it is an `int64`.
        ///
        /// PyTorch: `torch.sum`.
        sum(Tensor self, *, ScalarType? dtype=None) -> Tensor;
        /// The sums over some dimensions.
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

        /// The sums over the dimensions that broadcasting repeated or added: what undoes `expand`.
        ///
        /// # Errors
        /// Sizes that do not broadcast to those of the tensor.
        ///
        /// PyTorch: `Tensor.sum_to_size`.
        sum_to_size(Tensor self, SymInt[] size) -> Tensor;

        /// The mean of all elements.
        ///
        /// # Errors
        /// Integers and booleans, unless a floating-point type is given.
        ///
        /// PyTorch: `torch.mean`.
        mean(Tensor self, *, ScalarType? dtype=None) -> Tensor;
        /// The means over some dimensions.
        ///
        /// PyTorch: `torch.mean`.
        #[variants(function)] // by hand, with its options
        #[variants(out = "out")]
        mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor;

        /// The largest elements over some dimensions; NaN counts as larger than all numbers.
        ///
        /// # Errors
        /// A reduced dimension of size 0, complex numbers.
        ///
        /// PyTorch: `torch.amax`.
        #[variants(function)] // by hand, with its options
        #[variants(out)]
        amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor;
        /// The smallest elements over some dimensions; NaN counts as smaller than all numbers.
        ///
        /// # Errors
        /// As [`amax`](fn@amax).
        ///
        /// PyTorch: `torch.amin`.
        #[variants(function)] // by hand, with its options
        #[variants(out)]
        amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor;
        /// Where the largest element is: its index in a dimension, or in the flat tensor; the first of several.
        ///
        /// # Errors
        /// No elements to choose from, booleans and complex numbers.
        ///
        /// PyTorch: `torch.argmax`.
        #[variants(function)] // by hand, with its options
        #[variants(out)]
        argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor;
        /// Where the smallest element is: its index in a dimension, or in the flat tensor; the first of several.
        ///
        /// # Errors
        /// As [`argmax`](fn@argmax).
        ///
        /// PyTorch: `torch.argmin`.
        #[variants(out)]
        argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor;
    }
}
