//! Histograms in one and more dimensions, reductions of segments, hashes of tensors.

use torch_library::torch_library;

torch_library! {
    /// Histograms and segments, on top of the operators declared before.
    pub mod aten extends super::calculus::aten {
        /// The histogram of the elements in `bins` bins of equal width, weighted if weights are given, and the edges of
        /// the bins. A bin includes its left edge, the last one both; with `density`, the integral over all bins is 1.
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
        /// Integer, half-precision and complex dtypes, no bins, a range that is not finite, weights of another dtype or
        /// size.
        ///
        /// PyTorch: `torch.histogram`.
        histogram.bin_ct(Tensor self, int bins=100, *, float[]? range=None, Tensor? weight=None,
            bool density=False) -> (Tensor hist, Tensor bin_edges);
        /// [`histogram_bin_ct`](fn@histogram_bin_ct) with the given edges of bins.
        ///
        /// # Errors
        /// The errors of [`histogram_bin_ct`](fn@histogram_bin_ct); edges that are not a vector, or of another dtype.
        ///
        /// PyTorch: `torch.histogram`.
        histogram.bins_tensor(Tensor self, Tensor bins, *, Tensor? weight=None,
            bool density=False) -> (Tensor hist, Tensor bin_edges);
        /// The histogram of points, whose coordinates are the last dimension, in as many dimensions as there are
        /// coordinates; see [`histogram_bin_ct`](fn@histogram_bin_ct).
        ///
        /// # Errors
        /// The errors of [`histogram_bin_ct`](fn@histogram_bin_ct); a tensor of fewer than two dimensions, a number of
        /// bin counts other than that of the coordinates.
        ///
        /// PyTorch: `torch.histogramdd`.
        histogramdd(Tensor self, int[] bins, float[]? range=None, Tensor? weight=None,
            bool density=False) -> (Tensor hist, Tensor[] bin_edges);
        /// [`histogramdd`](fn@histogramdd) with the same number of bins in each dimension.
        ///
        /// PyTorch: `torch.histogramdd`.
        histogramdd.int_bins(Tensor self, int bins, float[]? range=None, Tensor? weight=None,
            bool density=False) -> (Tensor hist, Tensor[] bin_edges);
        /// [`histogramdd`](fn@histogramdd) with the given edges of bins.
        ///
        /// PyTorch: `torch.histogramdd`.
        histogramdd.TensorList_bins(Tensor self, Tensor[] bins, float[]? range=None, Tensor? weight=None,
            bool density=False) -> (Tensor hist, Tensor[] bin_edges);
        /// The edges of the bins of [`histogramdd`](fn@histogramdd).
        ///
        /// PyTorch: `aten::_histogramdd_bin_edges`.
        _histogramdd_bin_edges(Tensor self, int[] bins, *, float[]? range=None, Tensor? weight=None,
            bool density=False) -> Tensor[];
        /// The counts of [`histogramdd`](fn@histogramdd).
        ///
        /// PyTorch: `aten::_histogramdd_from_bin_cts`.
        _histogramdd_from_bin_cts(Tensor self, int[] bins, *, float[]? range=None, Tensor? weight=None,
            bool density=False) -> Tensor;
        /// The counts of [`histogramdd`](fn@histogramdd) with the given edges of bins.
        ///
        /// PyTorch: `aten::_histogramdd_from_bin_tensors`.
        _histogramdd_from_bin_tensors(Tensor self, Tensor[] bins, *, Tensor? weight=None, bool density=False) -> Tensor;

        /// Reduces segments along a dimension: `reduce` is `sum`, `mean`, `prod`, `max` or `min`. Segments are given by
        /// their lengths, or by `offsets`, at which they begin and end. Every reduction starts from `initial`; without
        /// it, an empty segment gives the identity of the reduction, or NaN for `mean`.
        ///
        /// # Errors
        /// Integer, boolean and complex dtypes, lengths that do not add up to the dimension, offsets outside of it, an
        /// `axis` that is not the last dimension of the lengths; `indices`, which no kernel supports.
        ///
        /// PyTorch: `torch.segment_reduce`.
        segment_reduce(Tensor data, str reduce, *, Tensor? lengths=None, Tensor? indices=None,
            Tensor? offsets=None, int axis=0, bool unsafe=False, Scalar? initial=None) -> Tensor;
        /// The gradient of [`segment_reduce`](fn@segment_reduce); equal extremes share it evenly.
        ///
        /// PyTorch: `aten::_segment_reduce_backward`.
        _segment_reduce_backward(Tensor grad, Tensor output, Tensor data, str reduce, *, Tensor? lengths=None,
            Tensor? offsets=None, int axis=0, Scalar? initial=None) -> Tensor;

        /// A hash: the exclusive or of the bits of the elements, of floating-point ones as `float64`. Equal tensors
        /// have equal hashes.
        ///
        /// # Errors
        /// A complex dtype, a reduction over no elements, a `mode` other than 0.
        ///
        /// PyTorch: `torch.hash_tensor`.
        hash_tensor(Tensor self, int[1] dim=[], *, bool keepdim=False, int mode=0) -> Tensor;
    }
}
