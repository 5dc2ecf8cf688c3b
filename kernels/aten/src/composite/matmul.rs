//! Products of tensors of any dimensions, by matrix products.

use torch_library::geometry::{broadcast_shapes, numel};
use torch_library::prelude::*;

use crate::aten;

pub(crate) mod attention;
mod einsum;
mod scaled;

#[torch_impl(aten, CompositeExplicitAutograd, FuncTorchBatchedDecomposition)]
fn _int_mm(this: &Tensor, mat2: &Tensor) -> Result<Tensor> {
    const OPERATOR: &str = aten::_int_mm::NAME;
    ensure!(
        matches!(this.dtype(), DType::Int8 | DType::UInt8) && mat2.dtype() == DType::Int8,
        DType,
        "{OPERATOR}: matrices of {} and {}, expected int8 or uint8, and int8",
        this.dtype(),
        mat2.dtype()
    );
    let [this, mat2] = [this, mat2].map(|matrix| aten::to_dtype(matrix, DType::Int32));
    aten::mm(&this?, &mat2?).map_err(|error| error.context(OPERATOR))
}

/// Products with a result type, which may be wider than that of the matrices.
#[torch_impl(aten, CompositeImplicitAutograd)]
mod with_dtype {
    use super::*;

    fn mm_dtype(this: &Tensor, mat2: &Tensor, out_dtype: DType) -> Result<Tensor> {
        let [this, mat2] = widened(aten::mm_dtype::NAME, [this, mat2], out_dtype)?;
        aten::mm(&this, &mat2)
    }

    fn bmm_dtype(this: &Tensor, mat2: &Tensor, out_dtype: DType) -> Result<Tensor> {
        let [this, mat2] = widened(aten::bmm_dtype::NAME, [this, mat2], out_dtype)?;
        aten::bmm(&this, &mat2)
    }

    fn addmm_dtype(
        this: &Tensor,
        mat1: &Tensor,
        mat2: &Tensor,
        out_dtype: DType,
        beta: Scalar,
        alpha: Scalar,
    ) -> Result<Tensor> {
        let [mat1, mat2] = widened(aten::addmm_dtype::NAME, [mat1, mat2], out_dtype)?;
        aten::addmm::call(&aten::to_dtype(this, out_dtype)?, &mat1, &mat2, beta, alpha)
    }

    fn baddbmm_dtype(
        this: &Tensor,
        batch1: &Tensor,
        batch2: &Tensor,
        out_dtype: DType,
        beta: Scalar,
        alpha: Scalar,
    ) -> Result<Tensor> {
        let [batch1, batch2] = widened(aten::baddbmm_dtype::NAME, [batch1, batch2], out_dtype)?;
        aten::baddbmm::call(&aten::to_dtype(this, out_dtype)?, &batch1, &batch2, beta, alpha)
    }
}

/// Matrices in the type of their product.
fn widened(operator: &str, matrices: [&Tensor; 2], out_dtype: DType) -> Result<[Tensor; 2]> {
    let [one, other] = matrices.map(Tensor::dtype);
    let is_half = matches!(one, DType::Float16 | DType::BFloat16);
    ensure!(
        one == other && (out_dtype == one || is_half && out_dtype == DType::Float32),
        DType,
        "{operator}: matrices of {one} and {other} with a result of {out_dtype}, expected the same type, or float32 \
         for 16-bit floats"
    );
    let [one, other] = matrices.map(|matrix| aten::to_dtype(matrix, out_dtype));
    Ok([one?, other?])
}

#[torch_impl(aten, CompositeImplicitAutograd)]
mod kernels {
    use super::*;

    fn matmul(this: &Tensor, other: &Tensor) -> Result<Tensor> {
        match (this.dim(), other.dim()) {
            (0, _) | (_, 0) => bail!(
                Shape,
                "{}: sizes {:?} and {:?}: a tensor without dimensions has no product, use mul",
                aten::matmul::NAME,
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
            (2, 3..) if this.requires_grad() => {
                let product = fold(&transposed(other)?, &aten::t(this)?)?;
                aten::contiguous(&transposed(&product)?)
            }
            // A batch of one is squeezed first: otherwise its gradient would be as large as the other batch before it
            // is summed.
            (3, 3) if is_single(this, other) => aten::matmul(&aten::squeeze_dim(this, 0)?, other),
            (3, 3) if is_single(other, this) => aten::matmul(this, &aten::squeeze_dim(other, 0)?),
            _ => batched(this, other),
        }
    }

    fn linear(input: &Tensor, weight: &Tensor, bias: Option<&Tensor>) -> Result<Tensor> {
        ensure!(
            input.dim() > 0 && weight.dim() > 0,
            Shape,
            "{}: sizes {:?} and {:?}: both need at least one dimension",
            aten::linear::NAME,
            input.sizes(),
            weight.sizes()
        );
        ensure!(
            weight.dim() > 2 || input.sizes().last() == weight.sizes().last(),
            Shape,
            "{}: an input of sizes {:?} for a weight of sizes {:?}, expected as many features in the last dimension",
            aten::linear::NAME,
            input.sizes(),
            weight.sizes()
        );
        let weight = aten::t(weight)?;
        let Some(bias) = bias else { return aten::matmul(input, &weight) };
        if input.dim() == 2 {
            return aten::addmm(bias, input, &weight);
        }
        let is_list = bias.dim() == 1 || bias.sizes().iter().filter(|size| **size != 1).count() == 1;
        if is_list && [input, bias].iter().all(|tensor| tensor.is_contiguous(MemoryFormat::Contiguous)) {
            let (outer, last) = leading(input, 1);
            let rows = aten::reshape(input, &[numel(outer)?, last[0]])?;
            let product = aten::addmm(bias, &rows, &weight)?;
            return aten::_unsafe_view(&product, &[outer, &product.sizes()[1..]].concat());
        }
        let mut product = aten::matmul(input, &weight)?;
        if bias.is_wrapper() {
            return aten::add_Tensor(&product, bias); // a product without a batch cannot be added to in place
        }
        aten::add__Tensor(&mut product, bias)?;
        Ok(product)
    }

    fn _addmm_activation(
        this: &Tensor,
        mat1: &Tensor,
        mat2: &Tensor,
        beta: Scalar,
        alpha: Scalar,
        use_gelu: bool,
    ) -> Result<Tensor> {
        let sum = aten::addmm::call(this, mat1, mat2, beta, alpha)?;
        if use_gelu { aten::gelu(&sum) } else { aten::relu(&sum) }
    }
}

/// Whether `batch` has one matrix that requires a gradient, and `other` has several.
fn is_single(batch: &Tensor, other: &Tensor) -> bool {
    batch.sizes()[0] == 1 && other.sizes()[0] != 1 && batch.requires_grad()
}

/// Whether to treat a batch of matrices as one tall matrix: its memory layout allows it, or else the gradient of the
/// other factor would have to be as large as the batch.
fn can_fold(batch: &Tensor, other: &Tensor) -> bool {
    if other.requires_grad() || batch.numel() == 0 {
        return true;
    }
    let (sizes, strides) = (batch.sizes(), batch.strides());
    (0..batch.dim() - 2).all(|dim| strides[dim] == strides[dim + 1].saturating_mul(sizes[dim + 1]))
}

/// The product of a batch of matrices, folded into one, and a matrix or vector.
fn fold(batch: &Tensor, other: &Tensor) -> Result<Tensor> {
    let (outer, last) = leading(batch, 1);
    let rows = aten::reshape(batch, &[numel(outer)?, last[0]])?;
    let product = if other.dim() == 2 { aten::mm(&rows, other)? } else { aten::mv(&rows, other)? };
    aten::_unsafe_view(&product, &[outer, &other.sizes()[1..]].concat())
}

/// The product of batches, which broadcast.
fn batched(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    let (batch, rows) = leading(this, this.dim().min(2)); // a vector is a row
    let (other_batch, columns) = leading(other, other.dim().min(2)); // or a column
    let shape = broadcast_shapes([batch, other_batch]).map_err(|error| error.context(aten::matmul::NAME))?;
    let count = numel(&shape)?;
    let expanded = |tensor: &Tensor, last: &[i64]| {
        let expanded = aten::expand(tensor, &[shape.as_slice(), last].concat())?;
        aten::reshape(&expanded, &[&[count], last].concat())
    };
    let row = [1, rows[rows.len() - 1]];
    let left = expanded(this, if rows.len() == 1 { &row } else { rows })?;
    let right = expanded(other, columns)?;
    let sizes = [&shape, &rows[..rows.len() - 1], &columns[1..]].concat();
    if columns.len() > 1 {
        return aten::_unsafe_view(&aten::bmm(&left, &right)?, &sizes);
    }
    let product = aten::bmm(&left, &aten::unsqueeze(&right, 2)?)?;
    aten::_unsafe_view(&aten::squeeze_dim(&product, -1)?, &sizes)
}

/// The sizes before the last `last` dimensions, and those of the last ones.
fn leading(tensor: &Tensor, last: usize) -> (&[i64], &[i64]) {
    tensor.sizes().split_at(tensor.dim() - last)
}

/// The transpose of the last two dimensions.
fn transposed(tensor: &Tensor) -> Result<Tensor> {
    aten::transpose_int(tensor, -2, -1)
}
