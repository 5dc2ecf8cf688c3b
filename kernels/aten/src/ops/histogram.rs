//! Histograms in one and more dimensions, and counts of whole numbers.

use torch_library::torch_library;

torch_library! {
    /// Histograms.
    #[methods(HistogramMethods)]
    pub mod aten extends "aten" {
        /// The number of occurrences of each non-negative integer, or the sum of the weights at its occurrences. Counts
        /// are `int64`; the result has at least `minlength` elements.
        ///
        /// # Errors
        /// Negative elements, a dtype that is not integer, more than one dimension.
        ///
        /// PyTorch: `torch.bincount`.
        #[tags(dynamic_output_shape)]
        bincount(Tensor self, Tensor? weights=None, SymInt minlength=0) -> Tensor;
        /// The histogram of the elements: their counts in bins of equal width between `min` and `max`, or between the
        /// smallest and the largest element if both are 0.
        ///
        /// # Errors
        /// No bins, a `min` above `max`, a range that is not finite (without `min` and `max`, elements that are not),
        /// dtypes that are not floating-point.
        ///
        /// PyTorch: `torch.histc`.
        histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor;
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
        #[variants(function)]
        histogram.bin_ct(Tensor self, int bins=100, *, float[]? range=None, Tensor? weight=None,
            bool density=False) -> (Tensor hist, Tensor bin_edges);
        /// [`histogram_bin_ct`](fn@histogram_bin_ct) with the given edges of bins.
        ///
        /// # Errors
        /// The errors of [`histogram_bin_ct`](fn@histogram_bin_ct); edges that are not a vector, or of another dtype.
        ///
        /// PyTorch: `torch.histogram`.
        #[variants(function)]
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
        #[variants(function)]
        histogramdd(Tensor self, int[] bins, float[]? range=None, Tensor? weight=None,
            bool density=False) -> (Tensor hist, Tensor[] bin_edges);
        /// [`histogramdd`](fn@histogramdd) with the same number of bins in each dimension.
        ///
        /// PyTorch: `torch.histogramdd`.
        #[variants(function)]
        histogramdd.int_bins(Tensor self, int bins, float[]? range=None, Tensor? weight=None,
            bool density=False) -> (Tensor hist, Tensor[] bin_edges);
        /// [`histogramdd`](fn@histogramdd) with the given edges of bins.
        ///
        /// PyTorch: `torch.histogramdd`.
        #[variants(function)]
        histogramdd.TensorList_bins(Tensor self, Tensor[] bins, float[]? range=None, Tensor? weight=None,
            bool density=False) -> (Tensor hist, Tensor[] bin_edges);
        /// The edges of the bins of [`histogramdd`](fn@histogramdd).
        ///
        /// PyTorch: `aten::_histogramdd_bin_edges`.
        #[variants(function)]
        _histogramdd_bin_edges(Tensor self, int[] bins, *, float[]? range=None, Tensor? weight=None,
            bool density=False) -> Tensor[];
        /// The counts of [`histogramdd`](fn@histogramdd).
        ///
        /// PyTorch: `aten::_histogramdd_from_bin_cts`.
        #[variants(function)]
        _histogramdd_from_bin_cts(Tensor self, int[] bins, *, float[]? range=None, Tensor? weight=None,
            bool density=False) -> Tensor;
        /// The counts of [`histogramdd`](fn@histogramdd) with the given edges of bins.
        ///
        /// PyTorch: `aten::_histogramdd_from_bin_tensors`.
        #[variants(function)]
        _histogramdd_from_bin_tensors(Tensor self, Tensor[] bins, *, Tensor? weight=None, bool density=False) -> Tensor;
    }
}
