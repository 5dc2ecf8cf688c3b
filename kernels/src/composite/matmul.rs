//! Products of tensors of any dimensions, by products of matrices.

use torch_library::geometry::broadcast_shapes;
use torch_library::prelude::*;

use crate::aten;

mod attention;
mod einsum;

#[torch_impl(aten, CompositeImplicitAutograd)]
mod kernels {
    use super::*;

    fn matmul(this: &Tensor, other: &Tensor) -> Result<Tensor> {
        match (this.dim(), other.dim()) {
            (0, _) | (_, 0) => bail!(
                Shape,
                "aten::matmul: sizes {:?} and {:?}: a tensor without dimensions has no product, use mul",
                this.sizes(),
                other.sizes()
            ),
            (1, 1) => aten::dot(this, other),
            (2, 1) => aten::mv(this, other),
            (1, 2) => {
                let mut product = aten::mm(&aten::unsqueeze(this, 0)?, other)?;
                aten::squeeze__dim(&mut product, 0)?;
                Ok(product)
            }
            (2, 2) => aten::mm(this, other),
            (3.., 1 | 2) if can_fold(this, other) => fold(this, other),
            (1, 3..) if can_fold(&transposed(other)?, this) => fold(&transposed(other)?, this),
            _ => batched(this, other),
        }
    }

    fn linear(input: &Tensor, weight: &Tensor, bias: Option<&Tensor>) -> Result<Tensor> {
        ensure!(
            input.dim() > 0 && weight.dim() > 0,
            Shape,
            "aten::linear: sizes {:?} and {:?}: both need at least one dimension",
            input.sizes(),
            weight.sizes()
        );
        let weight = aten::t(weight)?;
        let Some(bias) = bias else { return aten::matmul(input, &weight) };
        if input.dim() == 2 {
            return aten::addmm(bias, input, &weight);
        }
        if input.is_contiguous(MemoryFormat::Contiguous) {
            let (outer, last) = leading(input, 1);
            let rows = aten::reshape(input, &[outer.iter().product(), last[0]])?;
            let product = aten::addmm(bias, &rows, &weight)?;
            return aten::_unsafe_view(&product, &[outer, &product.sizes()[1..]].concat());
        }
        aten::add_Tensor(&aten::matmul(input, &weight)?, bias)
    }
}

/// Whether a batch of matrices is one tall matrix: it lies so in memory, or a gradient would have to be as large as the
/// batch of equal factors otherwise.
fn can_fold(batch: &Tensor, other: &Tensor) -> bool {
    if batch.requires_grad() || other.requires_grad() || batch.numel() == 0 {
        return true;
    }
    let (sizes, strides) = (batch.sizes(), batch.strides());
    (0..batch.dim() - 2).all(|dim| strides[dim] == strides[dim + 1].saturating_mul(sizes[dim + 1]))
}

/// The product of a batch of matrices, as one, and a matrix or vector.
fn fold(batch: &Tensor, other: &Tensor) -> Result<Tensor> {
    let (outer, last) = leading(batch, 1);
    let rows = aten::reshape(batch, &[outer.iter().product(), last[0]])?;
    let product = if other.dim() == 2 { aten::mm(&rows, other)? } else { aten::mv(&rows, other)? };
    aten::_unsafe_view(&product, &[outer, &other.sizes()[1..]].concat())
}

/// The product of broadcasting batches.
fn batched(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    let (rows, columns) = (this.dim() > 1, other.dim() > 1); // else a vector, as a matrix of one row or column
    let this = if rows { this.clone() } else { aten::unsqueeze(this, 0)? };
    let other = if columns { other.clone() } else { aten::unsqueeze(other, 1)? };
    let ((batch, [n, k]), (other_batch, [k2, m])) = (matrix_sizes(&this), matrix_sizes(&other));
    let shape = broadcast_shapes([batch, other_batch]).map_err(|error| error.context("aten::matmul"))?;
    let count: i64 = shape.iter().product();
    let expanded = |tensor: &Tensor, n: i64, m: i64| {
        let expanded = aten::expand(tensor, &[shape.as_slice(), &[n, m]].concat())?;
        aten::reshape(&expanded, &[count, n, m])
    };
    let product = aten::bmm(&expanded(&this, n, k)?, &expanded(&other, k2, m)?)?;
    let mut sizes = shape.to_vec();
    sizes.extend([n].iter().filter(|_| rows));
    sizes.extend([m].iter().filter(|_| columns));
    aten::_unsafe_view(&product, &sizes)
}

fn matrix_sizes(tensor: &Tensor) -> (&[i64], [i64; 2]) {
    let (batch, matrix) = leading(tensor, 2);
    (batch, [matrix[0], matrix[1]])
}

/// All sizes but the last so many, and those.
fn leading(tensor: &Tensor, last: usize) -> (&[i64], &[i64]) {
    tensor.sizes().split_at(tensor.dim() - last)
}

/// The last two dimensions swapped.
fn transposed(tensor: &Tensor) -> Result<Tensor> {
    aten::transpose_int(tensor, -2, -1)
}
