//! Distances between all pairs of rows, by differences, and their gradients.

use torch_library::geometry::infer_size;
use torch_library::prelude::*;

use crate::aten;
use crate::composite::{collected, vector};

/// The derivative of distances of order `p` with respect to the differences, which have one dimension more at the end.
fn slope(difference: &Tensor, distances: &Tensor, p: f64) -> Result<Tensor> {
    let distances = aten::unsqueeze(distances, -1)?;
    let (size, direction) = (aten::abs(difference)?, aten::sign(difference)?);
    Ok(match p {
        0.0 => aten::zeros_like(difference)?,
        1.0 => direction,
        p if p.is_infinite() => aten::mul_Tensor(&direction, &aten::eq_Tensor(&size, &distances)?)?,
        p => {
            // Where the distance is 0, the slope is 0; where the difference is 0 in one coordinate, the power may be
            // infinite.
            let is_flat = aten::eq_Scalar(if p == 2.0 { &distances } else { &size }, 0.into())?;
            let apart = |x: &Tensor| aten::where_ScalarSelf(&is_flat, 1.into(), x);
            let slope = match p {
                2.0 => aten::div_Tensor(difference, &apart(&distances)?)?,
                p => {
                    let share = aten::div_Tensor(&apart(&size)?, &apart(&distances)?)?;
                    aten::mul_Tensor(&direction, &aten::pow_Tensor_Scalar(&share, (p - 1.0).into())?)?
                }
            };
            aten::masked_fill_Scalar(&slope, &is_flat, 0.into())?
        }
    })
}

/// The derivatives of the slopes with respect to the differences and the distances.
fn curvature(difference: &Tensor, distances: &Tensor, p: f64) -> Result<[Tensor; 2]> {
    if p == 0.0 || p == 1.0 || p.is_infinite() {
        let flat = aten::zeros_like(difference)?;
        return Ok([flat.clone(), flat]);
    }
    let slope = slope(difference, distances, p)?;
    let distances = aten::unsqueeze(distances, -1)?;
    let steps = match p {
        2.0 => over(&aten::ones_like(difference)?, &distances)?,
        p => aten::mul_Scalar(&over(&aten::abs(&slope)?, &aten::abs(difference)?)?, (p - 1.0).into())?,
    };
    Ok([steps, aten::mul_Scalar(&over(&slope, &distances)?, (1.0 - p).into())?])
}

/// Quotients; 0 where the divisor is 0.
fn over(dividend: &Tensor, divisor: &Tensor) -> Result<Tensor> {
    let is_flat = aten::eq_Scalar(divisor, 0.into())?;
    let quotient = aten::div_Tensor(dividend, &aten::where_ScalarSelf(&is_flat, 1.into(), divisor)?)?;
    aten::masked_fill_Scalar(&quotient, &is_flat, 0.into())
}

/// The gradients of the arguments of `_cdist_backward`: the gradient, both lists of rows, the distances.
pub(crate) fn backward_of_cdist(
    grad: &Tensor,
    grad_output: &Tensor,
    [x1, x2]: [&Tensor; 2],
    p: f64,
    cdist: &Tensor,
) -> Result<[Tensor; 4]> {
    let difference = aten::sub_Tensor(&aten::unsqueeze(x1, -2)?, &aten::unsqueeze(x2, -3)?)?;
    let [of_grad, of_difference, of_distances] =
        backward_of_pairs(&aten::unsqueeze(grad, -2)?, grad_output, &difference, p, cdist)?;
    let of_x1 = aten::sum_dim_IntList(&of_difference, Some(&[-2]))?;
    let of_x2 = aten::neg(&aten::sum_dim_IntList(&of_difference, Some(&[-3]))?)?;
    Ok([of_grad, of_x1, of_x2, of_distances])
}

/// The gradients of the arguments of `_pdist_backward`: the gradient, the rows, the distances.
pub(crate) fn backward_of_pdist(
    grad: &Tensor,
    grad_output: &Tensor,
    rows: &Tensor,
    p: f64,
    pdist: &Tensor,
) -> Result<[Tensor; 3]> {
    let pairs = Pairs::new(aten::_pdist_backward::NAME, rows)?;
    let [of_grad, of_difference, of_distances] =
        backward_of_pairs(&pairs.difference(grad)?, grad_output, &pairs.difference(rows)?, p, pdist)?;
    Ok([of_grad, pairs.gathered(rows, &of_difference)?, of_distances])
}

/// The second derivatives for pairs: the gradients of the incoming gradients, of the differences and of the distances.
fn backward_of_pairs(
    change: &Tensor,
    grad_output: &Tensor,
    difference: &Tensor,
    p: f64,
    distances: &Tensor,
) -> Result<[Tensor; 3]> {
    let sum = |products: Tensor| aten::sum_dim_IntList(&products, Some(&[-1]));
    let [steps, of_distance] = curvature(difference, distances, p)?;
    let weighted = aten::mul_Tensor(change, &aten::unsqueeze(grad_output, -1)?)?;
    Ok([
        sum(aten::mul_Tensor(change, &slope(difference, distances, p)?)?)?,
        aten::mul_Tensor(&weighted, &steps)?,
        sum(aten::mul_Tensor(&weighted, &of_distance)?)?,
    ])
}

/// Operators with derivatives of their own.
#[torch_impl(aten, CompositeExplicitAutograd, FuncTorchBatchedDecomposition)]
mod derived {
    use super::*;

    fn _cdist_backward(
        grad_output: &Tensor,
        x1: &Tensor,
        x2: &Tensor,
        p: f64,
        cdist: &Tensor,
    ) -> Result<Tensor> {
        check_cdist_backward(grad_output, x1, x2, cdist)?;
        let difference = aten::sub_Tensor(&aten::unsqueeze(x1, -2)?, &aten::unsqueeze(x2, -3)?)?;
        if difference.numel() == 0 {
            return aten::zeros_like::with(x1).memory_format(MemoryFormat::Contiguous).call();
        }
        let grads = aten::mul_Tensor(&aten::unsqueeze(grad_output, -1)?, &slope(&difference, cdist, p)?)?;
        aten::sum_dim_IntList(&grads, Some(&[-2]))
    }

    fn _pdist_forward(this: &Tensor, p: f64) -> Result<Tensor> {
        check_pdist(this, p)?;
        let pairs = Pairs::new(aten::_pdist_forward::NAME, this)?;
        let difference = pairs.difference(this)?;
        if difference.numel() == 0 {
            return aten::sum_dim_IntList(&difference, Some(&[-1]));
        }
        aten::linalg_vector_norm::with(&difference).ord(p).dim(&[-1]).call()
    }

    fn _pdist_backward(grad_output: &Tensor, this: &Tensor, p: f64, pdist: &Tensor) -> Result<Tensor> {
        check_pdist_backward(grad_output, this, pdist)?;
        let pairs = Pairs::new(aten::_pdist_backward::NAME, this)?;
        let slope = slope(&pairs.difference(this)?, pdist, p)?;
        let grads = aten::mul_Tensor(&aten::unsqueeze(grad_output, -1)?, &slope)?;
        pairs.gathered(this, &grads)
    }
}

/// The sizes of the distances between the rows of matrices whose batches broadcast.
pub(super) fn sizes_of_distances(operator: &str, x1: &Tensor, x2: &Tensor) -> Result<Vec<i64>> {
    let ([batch1 @ .., rows, len], [batch2 @ .., others, other_len]) = (x1.sizes(), x2.sizes()) else {
        bail!(Shape, "{operator}: sizes {:?} and {:?}, expected matrices", x1.sizes(), x2.sizes())
    };
    ensure!(
        len == other_len,
        Shape,
        "{operator}: sizes {:?} and {:?}, expected rows of one length",
        x1.sizes(),
        x2.sizes()
    );
    let batch = infer_size(batch1, batch2).map_err(|error| error.context(operator))?;
    Ok([&batch[..], &[*rows, *others]].concat())
}

/// Checks the arguments of `_cdist_backward`, and returns the sizes of the distances.
///
/// # Errors
/// Rows of different lengths, several dtypes, a gradient or distances of other sizes.
pub(crate) fn check_cdist_backward(
    grad_output: &Tensor,
    x1: &Tensor,
    x2: &Tensor,
    cdist: &Tensor,
) -> Result<Vec<i64>> {
    const OPERATOR: &str = aten::_cdist_backward::NAME;
    let pairs = sizes_of_distances(OPERATOR, x1, x2)?;
    if let Some(other) = [grad_output, x2, cdist].iter().find(|tensor| tensor.dtype() != x1.dtype()) {
        bail!(
            DType,
            "{OPERATOR}: rows of {} and a tensor of {}, expected one type",
            x1.dtype(),
            other.dtype()
        );
    }
    ensure!(
        grad_output.sizes() == pairs && cdist.sizes() == pairs,
        Shape,
        "{OPERATOR}: a gradient of sizes {:?} and distances of {:?}, expected one for each pair, {pairs:?}",
        grad_output.sizes(),
        cdist.sizes()
    );
    Ok(pairs)
}

fn check_matrix(operator: &str, rows: &Tensor) -> Result<()> {
    ensure!(rows.dim() == 2, Shape, "{operator}: sizes {:?}, expected a matrix", rows.sizes());
    ensure!(
        matches!(rows.dtype(), DType::Float32 | DType::Float64),
        DType,
        "{operator} is not implemented for {}",
        rows.dtype()
    );
    Ok(())
}

/// # Errors
/// No matrix of `float32` or `float64`, a negative order.
pub(crate) fn check_pdist(this: &Tensor, p: f64) -> Result<()> {
    const OPERATOR: &str = aten::_pdist_forward::NAME;
    check_matrix(OPERATOR, this)?;
    ensure!(p >= 0.0, Argument, "{OPERATOR}: a norm of order {p}, expected one that is not negative");
    Ok(())
}

/// # Errors
/// No matrix of `float32` or `float64`, a gradient or distances that are not one for each pair of rows.
pub(crate) fn check_pdist_backward(grad_output: &Tensor, this: &Tensor, pdist: &Tensor) -> Result<()> {
    const OPERATOR: &str = aten::_pdist_backward::NAME;
    check_matrix(OPERATOR, this)?;
    let count = count_of_pairs(this);
    ensure!(
        grad_output.sizes() == [count] && pdist.sizes() == [count],
        Shape,
        "{OPERATOR}: a gradient of sizes {:?} and distances of {:?}, expected one for each of {count} pairs",
        grad_output.sizes(),
        pdist.sizes()
    );
    Ok(())
}

/// The number of pairs of different rows of a matrix.
pub(crate) fn count_of_pairs(rows: &Tensor) -> i64 {
    let count = rows.sizes()[0];
    count.checked_mul(count.saturating_sub(1)).map_or(i64::MAX, |pairs| pairs / 2)
}

#[torch_impl(aten, CompositeImplicitAutograd)]
fn pdist(this: &Tensor, p: f64) -> Result<Tensor> {
    const OPERATOR: &str = aten::pdist::NAME;
    ensure!(this.dim() == 2, Shape, "{OPERATOR}: sizes {:?}, expected a matrix", this.sizes());
    ensure!(
        this.dtype().is_floating_point() && p >= 0.0,
        Argument,
        "{OPERATOR}: {} by the norm of order {p}, expected a floating-point type and no negative order",
        this.dtype()
    );
    aten::_pdist_forward::call(&aten::contiguous(this)?, p)
}

/// All pairs of different rows of a matrix.
struct Pairs {
    first: Tensor,
    second: Tensor,
}

impl Pairs {
    fn new(operator: &'static str, rows: &Tensor) -> Result<Self> {
        check_matrix(operator, rows)?;
        let (count, pairs) = (rows.sizes()[0], count_of_pairs(rows));
        // Row by row, each with the rows after it.
        let mut place = (0, 0);
        let both = collected(operator, pairs, |_| {
            place.1 += 1;
            if place.1 == count {
                place = (place.0 + 1, place.0 + 2);
            }
            place
        })?;
        let of = |part: fn(&(i64, i64)) -> i64| vector(both.iter().map(part).collect(), rows.device());
        Ok(Pairs { first: of(|pair| pair.0)?, second: of(|pair| pair.1)? })
    }

    /// The gradient of each row, summed over its pairs: the first row of a pair gets the gradient, the second its
    /// negative.
    fn gathered(&self, rows: &Tensor, grads: &Tensor) -> Result<Tensor> {
        let sum = aten::index_add(&aten::zeros_like(rows)?, 0, &self.first, grads)?;
        aten::index_add(&sum, 0, &self.second, &aten::neg(grads)?)
    }

    fn difference(&self, rows: &Tensor) -> Result<Tensor> {
        aten::sub_Tensor(
            &aten::index_select(rows, 0, &self.first)?,
            &aten::index_select(rows, 0, &self.second)?,
        )
    }
}
