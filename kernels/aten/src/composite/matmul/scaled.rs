//! Products of matrices of floats of eight bits, with scales that bring the results back into range.

use torch_library::prelude::*;

use crate::aten;

/// How many scales a matrix has.
#[derive(Clone, Copy, PartialEq)]
enum Scaling {
    /// One for all elements.
    TensorWise,
    /// One for each row of the first matrix, or for each column of the second.
    RowWise,
}

impl Scaling {
    /// PyTorch: `torch.nn.functional.ScalingType`.
    fn from_number(number: i64) -> Option<Scaling> {
        match number {
            0 => Some(Scaling::TensorWise),
            1 => Some(Scaling::RowWise),
            _ => None,
        }
    }
}

#[torch_impl(aten, CompositeExplicitAutograd, FuncTorchBatchedDecomposition)]
mod kernels {
    use super::*;

    /// Sums are in `float32`, so that there is no faster and less exact way to add.
    fn _scaled_mm(
        this: &Tensor,
        mat2: &Tensor,
        scale_a: &Tensor,
        scale_b: &Tensor,
        bias: Option<&Tensor>,
        scale_result: Option<&Tensor>,
        out_dtype: Option<DType>,
        _use_fast_accum: bool,
    ) -> Result<Tensor> {
        const OPERATOR: &str = aten::_scaled_mm::NAME;
        check_matrices(OPERATOR, [this, mat2])?;
        check_scales(OPERATOR, [this, mat2], [scale_a, scale_b])?;
        let dtype = out_dtype.unwrap_or(this.dtype());
        let mut product = scaled(OPERATOR, [this, mat2], [scale_a, scale_b], bias)?;
        if let Some(scale) = scale_result {
            ensure!(
                scale.dtype() == DType::Float32 && scale.numel() == 1,
                Argument,
                "{OPERATOR}: the scale of the result is of {} and sizes {:?}, expected one float32",
                scale.dtype(),
                scale.sizes()
            );
            // As in PyTorch, not if the result is of eight bits only because the first matrix is.
            if out_dtype.is_some_and(DType::is_float8) {
                product = aten::div_Tensor(&product, &aten::reshape(scale, &[])?)?;
            }
        }
        aten::to_dtype(&product, dtype)
    }

    fn _scaled_mm_v2(
        this: &Tensor,
        mat2: &Tensor,
        scale_a: &[Tensor],
        recipe_a: &[i64],
        swizzle_a: &[i64],
        scale_b: &[Tensor],
        recipe_b: &[i64],
        swizzle_b: &[i64],
        bias: Option<&Tensor>,
        out_dtype: Option<DType>,
        _contraction_dim: &[i64],
        _use_fast_accum: bool,
    ) -> Result<Tensor> {
        const OPERATOR: &str = aten::_scaled_mm_v2::NAME;
        let (&[first], &[second], [scale_a], [scale_b]) = (recipe_a, recipe_b, scale_a, scale_b) else {
            bail!(
                NotSupported,
                "{OPERATOR}: recipes {recipe_a:?} and {recipe_b:?}, expected one for each matrix"
            )
        };
        let Some(scaling) = Scaling::from_number(first).filter(|_| first == second) else {
            bail!(
                NotSupported,
                "{OPERATOR}: recipes {first} and {second}, expected 0 (one scale) or 1 (a scale for each row) for both"
            )
        };
        let is_plain = [swizzle_a, swizzle_b].into_iter().flatten().all(|swizzle| *swizzle == 0);
        ensure!(is_plain, NotSupported, "{OPERATOR}: swizzled scales, which are for GPUs only");
        check_matrices(OPERATOR, [this, mat2])?;
        let (rows, columns) = (this.sizes()[0], mat2.sizes()[1]);
        let count = |of_rows| if scaling == Scaling::RowWise { of_rows } else { 1 };
        let scales = [(scale_a, [count(rows), 1]), (scale_b, [1, count(columns)])];
        let scales = scales.map(|(scale, sizes)| {
            ensure!(
                scale.dtype() == DType::Float32 && scale.numel() == sizes[0] * sizes[1],
                Argument,
                "{OPERATOR}: scales of {} and sizes {:?}, expected {} of float32",
                scale.dtype(),
                scale.sizes(),
                sizes[0] * sizes[1]
            );
            aten::reshape(scale, &sizes)
        });
        let [scale_a, scale_b] = scales;
        let product = scaled(OPERATOR, [this, mat2], [&scale_a?, &scale_b?], bias)?;
        aten::to_dtype(&product, out_dtype.unwrap_or(this.dtype()))
    }
}

fn check_matrices(operator: &str, matrices: [&Tensor; 2]) -> Result<()> {
    let [this, mat2] = matrices;
    for matrix in matrices {
        ensure!(
            matrix.dtype().is_float8(),
            DType,
            "{operator}: a matrix of {}, expected floats of eight bits",
            matrix.dtype()
        );
        ensure!(matrix.dim() == 2, Shape, "{operator}: sizes {:?}, expected a matrix", matrix.sizes());
    }
    ensure!(
        this.sizes()[1] == mat2.sizes()[0],
        Shape,
        "{operator}: matrices of sizes {:?} and {:?} have no product",
        this.sizes(),
        mat2.sizes()
    );
    Ok(())
}

/// Both scales have one element, or a column of the first and a row of the second belong to rows and columns.
fn check_scales(operator: &str, [this, mat2]: [&Tensor; 2], scales: [&Tensor; 2]) -> Result<()> {
    let are_single = scales.iter().all(|scale| scale.numel() == 1);
    let (rows, columns) = (this.sizes()[0], mat2.sizes()[1]);
    let are_rows = scales[0].sizes() == [rows, 1]
        && scales[1].sizes() == [1, columns]
        && scales.iter().all(|scale| scale.is_contiguous(MemoryFormat::Contiguous));
    let are_floats = scales.iter().all(|scale| scale.dtype() == DType::Float32);
    ensure!(
        are_floats && (are_single || are_rows),
        Argument,
        "{operator}: scales of {} {:?} and {} {:?}, expected float32: one for each matrix, or contiguous ones of sizes \
         [{rows}, 1] and [1, {columns}]",
        scales[0].dtype(),
        scales[0].sizes(),
        scales[1].dtype(),
        scales[1].sizes()
    );
    Ok(())
}

/// The product, scaled, plus the bias, in `float32`: it is rounded once.
fn scaled(
    operator: &str,
    matrices: [&Tensor; 2],
    scales: [&Tensor; 2],
    bias: Option<&Tensor>,
) -> Result<Tensor> {
    let [this, mat2] = matrices.map(|matrix| aten::to_dtype(matrix, DType::Float32));
    let product = aten::mm(&this?, &mat2?)?;
    let columns = product.sizes()[1];
    let [scale_a, scale_b] = scales.map(|scale| match scale.numel() {
        1 => aten::reshape(scale, &[]),
        _ => Ok(scale.clone()),
    });
    let product = aten::mul_Tensor(&product, &aten::mul_Tensor(&scale_a?, &scale_b?)?)?;
    let Some(bias) = bias else { return Ok(product) };
    ensure!(
        bias.numel() == columns,
        Shape,
        "{operator}: a bias of sizes {:?}, expected one for each of {columns} columns",
        bias.sizes()
    );
    let bias = aten::reshape(&aten::to_dtype(bias, DType::Float32)?, &[columns])?;
    aten::add_Tensor(&product, &bias)
}
