//! Checks and interpretations of arguments that kernels at several dispatch keys share.

use torch_library::geometry::{Dims, wrap_dim};
use torch_library::guard::GradMode;
use torch_library::match_dtype;
use torch_library::prelude::*;

use crate::aten;
use crate::loops::pointwise::{common_device, order_of_dimensions};

/// The slope of `hardsigmoid`, which is a float in PyTorch for every type.
pub const ONE_SIXTH: f32 = 1.0 / 6.0;

/// How `embedding_bag` reduces the rows of a bag, by PyTorch's numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum BagMode {
    Sum,
    Mean,
    Max,
}

impl BagMode {
    /// # Errors
    /// A number that is not a mode.
    pub(crate) fn of(operator: &str, mode: i64) -> Result<Self> {
        match mode {
            0 => Ok(BagMode::Sum),
            1 => Ok(BagMode::Mean),
            2 => Ok(BagMode::Max),
            _ => bail!(Argument, "{operator}: mode {mode}, expected 0 (sum), 1 (mean) or 2 (maximum)"),
        }
    }
}

/// Checks that an index is of int64.
pub(crate) fn check_int64(operator: &str, index: &Tensor) -> Result<()> {
    let dtype = index.dtype();
    ensure!(dtype == DType::Int64, DType, "{operator}: the index is of {dtype}, expected int64");
    Ok(())
}

/// Checks the dtypes of the arguments of `masked_scatter`.
pub(crate) fn check_masked_scatter(
    operator: &str,
    this: &Tensor,
    mask: &Tensor,
    source: &Tensor,
) -> Result<()> {
    ensure!(
        mask.dtype() == DType::Bool && source.dtype() == this.dtype(),
        DType,
        "{operator}: a mask of {} and a source of {} for {}, expected bool and the same type",
        mask.dtype(),
        source.dtype(),
        this.dtype()
    );
    Ok(())
}

/// The size `n` of matrices `[.., n, n]`.
pub fn square(operator: &str, a: &Tensor) -> Result<i64> {
    match a.sizes() {
        [.., rows, columns] if rows == columns => Ok(*rows),
        sizes => bail!(Shape, "{operator}: sizes {sizes:?}, expected square matrices"),
    }
}

/// Checks the operands of group norm's gradient: the gradient, the input, means and deviations of the groups, and a
/// weight for each channel, for the numbers of items, of channels, of the elements of a channel, and of groups.
pub fn check_groups(
    operator: &str,
    [items, channels, elements, groups]: [i64; 4],
    [grad, input, mean, rstd]: [&Tensor; 4],
    weight: Option<&Tensor>,
) -> Result<()> {
    let count = [items, channels, elements].into_iter().try_fold(1, i64::checked_mul);
    ensure!(
        groups > 0
            && channels % groups == 0
            && count == Some(input.numel())
            && grad.sizes() == input.sizes()
            && [mean, rstd].iter().all(|moments| items.checked_mul(groups) == Some(moments.numel()))
            && weight.is_none_or(|weight| weight.numel() == channels),
        Shape,
        "{operator}: {items} items of {channels} channels of {elements} elements in {groups} groups do not fit sizes \
         {:?}, a gradient of {:?}, means of {:?} and deviations of {:?}",
        input.sizes(),
        grad.sizes(),
        mean.sizes(),
        rstd.sizes()
    );
    Ok(())
}

/// The number of channels of `input`, after a check that each vector has one element for each channel.
pub fn channels_of(operator: &'static str, input: &Tensor, vectors: &[Option<&Tensor>]) -> Result<i64> {
    ensure!(
        input.dim() >= 2,
        Shape,
        "{operator}: sizes {:?} have no dimension 1 for channels",
        input.sizes()
    );
    let channels = input.sizes()[1];
    for vector in vectors.iter().flatten() {
        ensure!(
            vector.sizes() == [channels],
            Shape,
            "{operator}: a parameter has sizes {:?}, expected one element for each of {channels} channels",
            vector.sizes()
        );
        common_device(operator, &[input, vector])?;
    }
    Ok(channels)
}

/// # Errors
/// A negative integer power of an integer, or one that is beyond the numbers of the type.
pub(crate) fn check_exponent(operator: &str, this: &Tensor, exponent: Scalar) -> Result<()> {
    let is_negative = matches!(exponent, Scalar::Int(number) if number < 0);
    ensure!(
        !is_negative || this.dtype().is_differentiable(),
        Argument,
        "{operator}: {} to the power of {exponent} is not an integer, convert to a floating-point type",
        this.dtype()
    );
    let fits = match exponent {
        Scalar::Int(_) => {
            match_dtype!(this.dtype(), T: Integer | Half => exponent.to::<T>().map(drop), else => Ok(()))
        }
        Scalar::Float(_) => {
            match_dtype!(this.dtype(), T: Half => exponent.to::<T>().map(drop), else => Ok(()))
        }
        _ => Ok(()),
    };
    fits.map_err(|error| error.context(operator))
}

/// The size of the dimension that an operator splits.
///
/// # Errors
/// A tensor without dimensions, a dimension out of range.
pub(crate) fn size_along(operator: &str, tensor: &Tensor, dim: i64) -> Result<i64> {
    ensure!(tensor.dim() > 0, Shape, "{operator}: a tensor without dimensions has no parts");
    let dim = wrap_dim(dim, tensor.dim()).map_err(|error| error.context(operator))?;
    Ok(tensor.sizes()[dim])
}

/// The inverse of a permutation of dimensions.
///
/// # Errors
/// A dimension out of range.
pub fn inverse(dims: &[i64]) -> Result<Vec<i64>> {
    let mut inverse = vec![0; dims.len()];
    for (to, from) in dims.iter().enumerate() {
        inverse[wrap_dim(*from, dims.len())?] = to as i64;
    }
    Ok(inverse)
}

/// The elements of two tensors of sequence lengths.
///
/// # Errors
/// A dtype that is not integer.
pub fn lengths(tensors: [&Tensor; 2]) -> Result<[Vec<i64>; 2]> {
    let list = |tensor: &Tensor| {
        ensure!(
            tensor.dtype().is_integer(),
            DType,
            "{}: lengths of {}, expected whole numbers",
            aten::_ctc_loss::NAME,
            tensor.dtype()
        );
        aten::to_dtype(tensor, DType::Int64)?.to_vec::<i64>()
    };
    Ok([list(tensors[0])?, list(tensors[1])?])
}

/// Whether PyTorch has flash attention for these tensors on the CPU: they have one dtype, and their last dimension is
/// contiguous. With `enable_gqa`, several heads of queries may share one of keys and values. Its result has the memory
/// layout of the query.
pub(crate) fn has_flash_attention(tensors: [&Tensor; 3], mask: Option<&Tensor>, enable_gqa: bool) -> bool {
    let [query, key, value] = tensors;
    let have_heads = |heads: i64, own: i64| own == heads || enable_gqa && own > 0 && heads % own == 0;
    let is_plain = |tensor: &Tensor| match (query.sizes(), tensor.sizes()) {
        (&[batch, heads, _, width], &[batch2, own, _, width2]) => {
            tensor.dtype() == query.dtype()
                && [batch, width] == [batch2, width2]
                && have_heads(heads, own)
                && tensor.strides()[3] == 1
                && tensor.numel() > 0
                && tensor.dtype().is_floating_point()
        }
        _ => false,
    };
    let is_mask = |mask: &Tensor| mask.dtype() == DType::Bool || mask.dtype() == query.dtype();
    tensors.into_iter().all(is_plain) && key.sizes()[1] == value.sizes()[1] && mask.is_none_or(is_mask)
}

/// Whether our flash attention can be used: for plain CPU tensors, with a mask that requires no gradient.
pub(crate) fn suits_flash_attention(tensors: [&Tensor; 3], mask: Option<&Tensor>, enable_gqa: bool) -> bool {
    let wants_gradient = |tensor: &Tensor| GradMode::is_enabled() && tensor.requires_grad();
    let is_here = |tensor: &Tensor| tensor.device() == Device::CPU && !tensor.is_wrapper();
    has_flash_attention(tensors, mask, enable_gqa)
        && tensors.iter().all(|tensor| is_here(tensor))
        && mask.is_none_or(|mask| !mask.is_wrapper() && !wants_gradient(mask))
}

/// The dimensions of a tensor in the order of memory, from the largest stride to the smallest.
pub(crate) fn dense_order(this: &Tensor) -> Dims {
    let geometry = this.geometry();
    let strides = Dims::from_slice(geometry.strides());
    order_of_dimensions(geometry.sizes(), &[strides]).into_iter().rev().map(|dim| dim as i64).collect()
}
