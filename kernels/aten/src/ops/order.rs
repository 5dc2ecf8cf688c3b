//! Operators that count, rank and run along a dimension: medians, quantiles, running extremes, bins, distinct elements.

use torch_library::torch_library;

torch_library! {
    /// Ranks and counts, on top of what was declared before.
    #[methods(OrderMethods)]
    pub mod aten extends super::analysis::aten {
        /// The running products along a dimension; of integers and booleans they are `int64`.
        ///
        /// # Errors
        /// A dimension out of range.
        ///
        /// PyTorch: `torch.cumprod`.
        cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor;
        /// The running maxima along a dimension, and where the last of them is.
        ///
        /// # Errors
        /// A dimension out of range, complex numbers.
        ///
        /// PyTorch: `torch.cummax`.
        cummax(Tensor self, int dim) -> (Tensor values, Tensor indices);
        /// The running minima along a dimension, and where the last of them is.
        ///
        /// # Errors
        /// A dimension out of range, complex numbers.
        ///
        /// PyTorch: `torch.cummin`.
        cummin(Tensor self, int dim) -> (Tensor values, Tensor indices);
        /// The logarithms of the running sums of exponentials, without overflow.
        ///
        /// # Errors
        /// Integers and booleans.
        ///
        /// PyTorch: `torch.logcumsumexp`.
        logcumsumexp(Tensor self, int dim) -> Tensor;
        /// The `k`-th smallest elements of a dimension, counted from 1, and where they are.
        ///
        /// # Errors
        /// A `k` beyond the dimension.
        ///
        /// PyTorch: `torch.kthvalue`.
        kthvalue(Tensor self, SymInt k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices);
        /// The median of all elements: of two in the middle the smaller one; NaN if there is one.
        ///
        /// # Errors
        /// Complex numbers.
        ///
        /// PyTorch: `torch.median`.
        median(Tensor self) -> Tensor;
        /// The medians of a dimension, and where they are.
        ///
        /// # Errors
        /// No elements to choose from, complex numbers.
        ///
        /// PyTorch: `torch.median`.
        median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices);
        /// The median of the elements that are not NaN.
        ///
        /// # Errors
        /// Complex numbers.
        ///
        /// PyTorch: `torch.nanmedian`.
        nanmedian(Tensor self) -> Tensor;
        /// The medians of what is not NaN in a dimension, and where they are.
        ///
        /// # Errors
        /// No elements to choose from, complex numbers.
        ///
        /// PyTorch: `torch.nanmedian`.
        nanmedian.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices);
        /// The most frequent elements of a dimension, of several the smallest, and where one of them is.
        ///
        /// # Errors
        /// No elements to choose from, complex numbers.
        ///
        /// PyTorch: `torch.mode`.
        mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices);
        /// The elements below which a share `q` of a dimension lies, or of all; several shares come first in the
        /// result.
        ///
        /// # Errors
        /// Another type than that of `q`, shares outside of `[0, 1]`, no elements, another word than `"linear"`,
        /// `"lower"`, `"higher"`, `"midpoint"` and `"nearest"`.
        ///
        /// PyTorch: `torch.quantile`.
        quantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation="linear") -> Tensor;
        /// As [`quantile`](fn@quantile), for one share.
        ///
        /// # Errors
        /// As [`quantile`](fn@quantile).
        ///
        /// PyTorch: `torch.quantile`.
        quantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *,
            str interpolation="linear") -> Tensor;
        /// As [`quantile`](fn@quantile), of what is not NaN.
        ///
        /// # Errors
        /// As [`quantile`](fn@quantile).
        ///
        /// PyTorch: `torch.nanquantile`.
        nanquantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation="linear") -> Tensor;
        /// As [`nanquantile`](fn@nanquantile), for one share.
        ///
        /// # Errors
        /// As [`quantile`](fn@quantile).
        ///
        /// PyTorch: `torch.nanquantile`.
        nanquantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *,
            str interpolation="linear") -> Tensor;
        /// Sorted along the first dimension.
        ///
        /// PyTorch: `torch.msort`.
        msort(Tensor self) -> Tensor;
        /// Where the elements in order are; equal ones keep their order.
        ///
        /// # Errors
        /// A dimension out of range, complex numbers.
        ///
        /// PyTorch: `torch.argsort`.
        argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> Tensor;

        /// The sums of what is not NaN.
        ///
        /// # Errors
        /// Complex numbers.
        ///
        /// PyTorch: `torch.nansum`.
        nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor;
        /// The means of what is not NaN.
        ///
        /// # Errors
        /// Integers and booleans.
        ///
        /// PyTorch: `torch.nanmean`.
        nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor;
        /// The smallest and the largest elements of a dimension, or of all.
        ///
        /// # Errors
        /// No elements to choose from, complex numbers.
        ///
        /// PyTorch: `torch.aminmax`.
        aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max);
        /// The standard deviation and the mean of all elements.
        ///
        /// # Errors
        /// Integers and booleans.
        ///
        /// PyTorch: `torch.std_mean`.
        std_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor);
        /// The standard deviations and means over some dimensions.
        ///
        /// # Errors
        /// Integers and booleans.
        ///
        /// PyTorch: `torch.std_mean`.
        std_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor);
        /// The standard deviations and means over some dimensions, with another correction than 1.
        ///
        /// # Errors
        /// Integers and booleans.
        ///
        /// PyTorch: `torch.std_mean`.
        std_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None,
            bool keepdim=False) -> (Tensor, Tensor);
        /// The variance and the mean of all elements.
        ///
        /// # Errors
        /// Integers and booleans.
        ///
        /// PyTorch: `torch.var_mean`.
        var_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor);
        /// The variances and means over some dimensions.
        ///
        /// # Errors
        /// Integers and booleans.
        ///
        /// PyTorch: `torch.var_mean`.
        var_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor);
        /// The differences of neighbours along a dimension, `n` times.
        ///
        /// # Errors
        /// A tensor without dimensions, a negative `n`.
        ///
        /// PyTorch: `torch.diff`.
        diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor;
        /// The area under a line through points that are `dx` apart.
        ///
        /// # Errors
        /// A dimension out of range.
        ///
        /// PyTorch: `torch.trapezoid`.
        trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor;
        /// The area under a line through points at `x`.
        ///
        /// # Errors
        /// Sizes that do not broadcast.
        ///
        /// PyTorch: `torch.trapezoid`.
        trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor;
        /// How each two of the rows vary together.
        ///
        /// # Errors
        /// More than two dimensions, weights that are not one for each column.
        ///
        /// PyTorch: `torch.cov`.
        cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> Tensor;
        /// How each two of the rows correlate.
        ///
        /// # Errors
        /// More than two dimensions.
        ///
        /// PyTorch: `torch.corrcoef`.
        corrcoef(Tensor self) -> Tensor;

        /// How often each whole number occurs, or the sum of the weights where it does.
        ///
        /// # Errors
        /// Negative numbers, such that are not whole, more than one dimension.
        ///
        /// PyTorch: `torch.bincount`.
        #[tags(dynamic_output_shape)]
        bincount(Tensor self, Tensor? weights=None, SymInt minlength=0) -> Tensor;
        /// How many elements lie in each of equal bins between two bounds, or between the smallest and the largest
        /// element.
        ///
        /// # Errors
        /// No bins, a lower bound above the upper one, integers.
        ///
        /// PyTorch: `torch.histc`.
        histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor;
        /// The distinct elements in order, which of them each element is, and how often each occurs.
        ///
        /// # Errors
        /// Complex numbers.
        ///
        /// PyTorch: `torch.unique`.
        #[tags(dynamic_output_shape)]
        _unique2(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> (Tensor,
            Tensor, Tensor);
        /// One of each run of equal elements, which of them each element is, and how long each run is.
        ///
        /// PyTorch: `torch.unique_consecutive`.
        #[tags(dynamic_output_shape)]
        unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False,
            int? dim=None) -> (Tensor, Tensor, Tensor);
        /// The distinct slices of a dimension in order, which of them each slice is, and how often each occurs.
        ///
        /// # Errors
        /// Complex numbers.
        ///
        /// PyTorch: `torch.unique`.
        #[tags(dynamic_output_shape)]
        unique_dim(Tensor self, int dim, bool sorted=True, bool return_inverse=False,
            bool return_counts=False) -> (Tensor, Tensor, Tensor);
        /// Where elements would go into sorted rows: before equal ones, or behind them with `right`.
        ///
        /// # Errors
        /// Rows of other sizes, a side that contradicts `right`.
        ///
        /// PyTorch: `torch.searchsorted`.
        searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool right=False,
            str? side=None, Tensor? sorter=None) -> Tensor;
        /// Where a number would go into a sorted vector.
        ///
        /// # Errors
        /// As [`searchsorted_Tensor`](fn@searchsorted_Tensor).
        ///
        /// PyTorch: `torch.searchsorted`.
        searchsorted.Scalar(Tensor sorted_sequence, Scalar self, *, bool out_int32=False, bool right=False,
            str? side=None, Tensor? sorter=None) -> Tensor;
        /// Between which boundaries each element lies: how many are below it, or not above it with `right`.
        ///
        /// # Errors
        /// Boundaries that are no vector.
        ///
        /// PyTorch: `torch.bucketize`.
        bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor;
        /// Between which boundaries a number lies.
        ///
        /// # Errors
        /// As [`bucketize_Tensor`](fn@bucketize_Tensor).
        ///
        /// PyTorch: `torch.bucketize`.
        bucketize.Scalar(Scalar self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor;
        /// Whether each element is among others, or is not with `invert`.
        ///
        /// PyTorch: `torch.isin`.
        isin.Tensor_Tensor(Tensor elements, Tensor test_elements, *, bool assume_unique=False,
            bool invert=False) -> Tensor;
        /// Whether each element is a number, or is not with `invert`.
        ///
        /// PyTorch: `torch.isin`.
        isin.Tensor_Scalar(Tensor elements, Scalar test_element, *, bool assume_unique=False,
            bool invert=False) -> Tensor;
        /// Whether a number is among elements; with `invert` whether it is not.
        ///
        /// # Errors
        /// Booleans and complex numbers.
        ///
        /// PyTorch: `torch.isin`.
        isin.Scalar_Tensor(Scalar element, Tensor test_elements, *, bool assume_unique=False,
            bool invert=False) -> Tensor;
    }
}
