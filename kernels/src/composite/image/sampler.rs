//! Images and volumes at the points of a grid, and grids that move them.

use torch_library::prelude::*;

use crate::aten;

#[torch_impl(aten, CompositeImplicitAutograd)]
fn grid_sampler(
    input: &Tensor,
    grid: &Tensor,
    interpolation_mode: i64,
    padding_mode: i64,
    align_corners: bool,
) -> Result<Tensor> {
    let sample = if input.dim() == 5 { aten::grid_sampler_3d } else { aten::grid_sampler_2d };
    sample(input, grid, interpolation_mode, padding_mode, align_corners)
}

/// What has a derivative of its own.
#[torch_impl(aten, CompositeExplicitAutograd, FuncTorchBatchedDecomposition)]
fn affine_grid_generator(theta: &Tensor, size: &[i64], align_corners: bool) -> Result<Tensor> {
    const OPERATOR: &str = "aten::affine_grid_generator";
    let (batch, spread) = parts_of_grid(OPERATOR, size)?;
    let axes = spread.len() as i64;
    ensure!(
        theta.sizes() == [batch, axes, axes + 1],
        Shape,
        "{OPERATOR}: matrices of sizes {:?} for images of {size:?}, expected [{batch}, {axes}, {}]",
        theta.sizes(),
        axes + 1
    );
    let points = points(OPERATOR, theta, spread, align_corners)?;
    let count = points.size(0)?;
    let points = aten::expand(&points, &[batch, count, axes + 1])?;
    let moved = aten::bmm(&points, &aten::transpose_int(theta, 1, 2)?)?;
    aten::view(&moved, &[&[batch], spread, &[axes]].concat())
}

#[torch_impl(aten, CompositeImplicitAutograd)]
fn affine_grid_generator_backward(grad: &Tensor, size: &[i64], align_corners: bool) -> Result<Tensor> {
    const OPERATOR: &str = "aten::affine_grid_generator_backward";
    let (batch, spread) = parts_of_grid(OPERATOR, size)?;
    let axes = spread.len() as i64;
    let expected = [&[batch], spread, &[axes]].concat();
    ensure!(
        grad.sizes() == expected,
        Shape,
        "{OPERATOR}: a gradient of sizes {:?}, expected {expected:?}",
        grad.sizes()
    );
    let points = points(OPERATOR, grad, spread, align_corners)?;
    let count = points.size(0)?;
    let points = aten::expand(&points, &[batch, count, axes + 1])?;
    let of_points = aten::reshape(grad, &[batch, count, axes])?;
    let transposed = aten::bmm(&aten::transpose_int(&points, 1, 2)?, &of_points)?;
    aten::transpose_int(&transposed, 1, 2)
}

/// How many images or volumes there are, and their sizes without channels.
fn parts_of_grid<'s>(operator: &str, size: &'s [i64]) -> Result<(i64, &'s [i64])> {
    match *size {
        [batch, _, ref spread @ ..] if spread.len() == 2 || spread.len() == 3 => {
            ensure!(size.iter().all(|size| *size >= 0), Shape, "{operator}: a size in {size:?} is negative");
            Ok((batch, spread))
        }
        _ => bail!(
            Shape,
            "{operator}: sizes {size:?} are not those of images or volumes with batch and channels"
        ),
    }
}

/// The points of a grid, the last dimension's coordinate first and a one behind them: `[points, axes + 1]`.
fn points(operator: &str, like: &Tensor, spread: &[i64], align_corners: bool) -> Result<Tensor> {
    ensure!(like.dtype().is_floating_point(), DType, "{operator} is not implemented for {}", like.dtype());
    let (last, dtype) = (spread.len() - 1, like.dtype());
    let axis = |dim: usize| -> Result<Tensor> {
        let count = spread[dim];
        let line = match count {
            0 | 1 => aten::new_zeros(like, &[count])?,
            count => {
                let line = aten::linspace::with((-1).into(), 1.into(), count).dtype(Some(dtype));
                line.device(Some(like.device())).call()?
            }
        };
        let line = if align_corners || count <= 1 {
            line
        } else {
            let inner = aten::mul_Scalar(&line, (count - 1).into())?;
            aten::div_Scalar(&inner, count.into())?
        };
        let mut sizes = vec![1; spread.len()];
        sizes[dim] = count;
        aten::expand(&aten::view(&line, &sizes)?, spread)
    };
    let coordinates = (0..=last).rev().map(axis);
    let ones = std::iter::once_with(|| aten::new_ones(like, spread));
    let all = coordinates.chain(ones).collect::<Result<Vec<_>>>()?;
    aten::reshape(&aten::stack::with(&all).dim(-1).call()?, &[-1, last as i64 + 2])
}
