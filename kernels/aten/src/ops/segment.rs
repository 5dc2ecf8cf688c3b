//! Samples put together: counts in bins of several dimensions, reductions of segments, hashes.

use torch_library::torch_library;

torch_library! {
    /// Bins and segments, on top of what was declared before.
    pub mod aten extends super::calculus::aten {
        /// How many elements are in each of so many bins of one width, or the sum of their weights; and where bins
        /// end. A bin has its left end, the last one both; with `density` the integral over all bins is 1.
        ///
        /// ```
        /// use torch_library::prelude::*;
        /// use torch_library_kernels::aten;
        ///
        /// let (counts, edges) = aten::histogram_bin_ct::with(&Tensor::from([1.0, 2.0, 1.0, 5.0])).bins(2).call()?;
        /// assert_eq!((counts.to_vec::<f64>()?, edges.to_vec::<f64>()?), (vec![3.0, 1.0], vec![1.0, 3.0, 5.0]));
        /// # Ok::<(), Error>(())
        /// ```
        ///
        /// # Errors
        /// Integers, halves and complex numbers, no bins, a range that is not finite, weights of another type or
        /// number.
        ///
        /// PyTorch: `torch.histogram`.
        histogram.bin_ct(Tensor self, int bins=100, *, float[]? range=None, Tensor? weight=None,
            bool density=False) -> (Tensor hist, Tensor bin_edges);
        /// As [`histogram_bin_ct`](fn@histogram_bin_ct), with the ends of bins given.
        ///
        /// # Errors
        /// As of that; ends that are no vector, or of another type.
        ///
        /// PyTorch: `torch.histogram`.
        histogram.bins_tensor(Tensor self, Tensor bins, *, Tensor? weight=None,
            bool density=False) -> (Tensor hist, Tensor bin_edges);
        /// As [`histogram_bin_ct`](fn@histogram_bin_ct), of points whose coordinates are the last dimension: bins
        /// of as many dimensions.
        ///
        /// # Errors
        /// As of that; a tensor without a dimension of points, other than one number of bins for each coordinate.
        ///
        /// PyTorch: `torch.histogramdd`.
        histogramdd(Tensor self, int[] bins, float[]? range=None, Tensor? weight=None,
            bool density=False) -> (Tensor hist, Tensor[] bin_edges);
        /// As [`histogramdd`](fn@histogramdd), with as many bins in each dimension.
        ///
        /// PyTorch: `torch.histogramdd`.
        histogramdd.int_bins(Tensor self, int bins, float[]? range=None, Tensor? weight=None,
            bool density=False) -> (Tensor hist, Tensor[] bin_edges);
        /// As [`histogramdd`](fn@histogramdd), with the ends of bins given.
        ///
        /// PyTorch: `torch.histogramdd`.
        histogramdd.TensorList_bins(Tensor self, Tensor[] bins, float[]? range=None, Tensor? weight=None,
            bool density=False) -> (Tensor hist, Tensor[] bin_edges);
        /// The ends of the bins of [`histogramdd`](fn@histogramdd).
        ///
        /// PyTorch: `aten::_histogramdd_bin_edges`.
        _histogramdd_bin_edges(Tensor self, int[] bins, *, float[]? range=None, Tensor? weight=None,
            bool density=False) -> Tensor[];
        /// The counts of [`histogramdd`](fn@histogramdd).
        ///
        /// PyTorch: `aten::_histogramdd_from_bin_cts`.
        _histogramdd_from_bin_cts(Tensor self, int[] bins, *, float[]? range=None, Tensor? weight=None,
            bool density=False) -> Tensor;
        /// The counts of [`histogramdd`](fn@histogramdd), with the ends of bins given.
        ///
        /// PyTorch: `aten::_histogramdd_from_bin_tensors`.
        _histogramdd_from_bin_tensors(Tensor self, Tensor[] bins, *, Tensor? weight=None, bool density=False) -> Tensor;

        /// Reduces segments along a dimension: `reduce` is `sum`, `mean`, `prod`, `max` or `min`. Segments have
        /// lengths, or begin and end at `offsets`; a segment of no elements gives `initial`, from which all start,
        /// or what the reduction has for none.
        ///
        /// # Errors
        /// Integers and complex numbers, segments that do not make up the dimension, an axis that is not the last
        /// dimension of the lengths, `indices`.
        ///
        /// PyTorch: `torch.segment_reduce`.
        segment_reduce(Tensor data, str reduce, *, Tensor? lengths=None, Tensor? indices=None,
            Tensor? offsets=None, int axis=0, bool unsafe=False, Scalar? initial=None) -> Tensor;
        /// The gradient of [`segment_reduce`](fn@segment_reduce); equal extremes share it.
        ///
        /// PyTorch: `aten::_segment_reduce_backward`.
        _segment_reduce_backward(Tensor grad, Tensor output, Tensor data, str reduce, *, Tensor? lengths=None,
            Tensor? offsets=None, int axis=0, Scalar? initial=None) -> Tensor;

        /// The bits of elements, of floating-point ones as `float64`, joined by "exclusive or": equal tensors have
        /// equal numbers.
        ///
        /// # Errors
        /// Complex numbers, no elements to reduce, a `mode` other than 0.
        ///
        /// PyTorch: `torch.hash_tensor`.
        hash_tensor(Tensor self, int[1] dim=[], *, bool keepdim=False, int mode=0) -> Tensor;
    }
}
