//! Sampling of images and volumes at the points of a grid (`grid_sampler`), and affine grids.

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

/// Operators with derivatives of their own.
#[torch_impl(aten, CompositeExplicitAutograd, FuncTorchBatchedDecomposition)]
fn affine_grid_generator(theta: &Tensor, size: &[i64], align_corners: bool) -> Result<Tensor> {
    let grid = Grid::of(aten::affine_grid_generator::NAME, size)?;
    let axes = grid.axes();
    grid.check("matrices", theta, &[grid.batch, axes, axes + 1])?;
    let points = grid.points(theta, align_corners)?;
    aten::view(&aten::bmm(&points, &aten::transpose_int(theta, 1, 2)?)?, &grid.sizes())
}

#[torch_impl(aten, CompositeImplicitAutograd)]
fn affine_grid_generator_backward(grad: &Tensor, size: &[i64], align_corners: bool) -> Result<Tensor> {
    let grid = Grid::of(aten::affine_grid_generator_backward::NAME, size)?;
    grid.check("a gradient", grad, &grid.sizes())?;
    let points = grid.points(grad, align_corners)?;
    let of_points = aten::reshape(grad, &[grid.batch, points.size(1)?, grid.axes()])?;
    let of_columns = aten::bmm(&aten::transpose_int(&points, 1, 2)?, &of_points)?;
    aten::transpose_int(&of_columns, 1, 2)
}

/// A grid over images or volumes.
struct Grid<'s> {
    operator: &'static str,
    batch: i64,
    /// The sizes of each image or volume, without channels.
    spread: &'s [i64],
}

impl<'s> Grid<'s> {
    fn of(operator: &'static str, size: &'s [i64]) -> Result<Self> {
        match *size {
            [batch, _, ref spread @ ..] if matches!(spread.len(), 2 | 3) => {
                let is_size = size.iter().all(|size| *size >= 0);
                ensure!(is_size, Shape, "{operator}: a size in {size:?} is negative");
                Ok(Grid { operator, batch, spread })
            }
            _ => bail!(
                Shape,
                "{operator}: sizes {size:?} are not those of batches of images or volumes with channels"
            ),
        }
    }

    fn axes(&self) -> i64 {
        self.spread.len() as i64
    }

    fn sizes(&self) -> Vec<i64> {
        [&[self.batch], self.spread, &[self.axes()]].concat()
    }

    fn check(&self, name: &str, tensor: &Tensor, sizes: &[i64]) -> Result<()> {
        let (operator, found, dtype) = (self.operator, tensor.sizes(), tensor.dtype());
        ensure!(found == sizes, Shape, "{operator}: {name} of sizes {found:?}, expected {sizes:?}");
        ensure!(dtype != DType::Bool, DType, "{operator} is not implemented for {dtype}");
        Ok(())
    }

    /// The homogeneous coordinates of all points, that of the last dimension first and 1 at the end: `[batch, points,
    /// axes + 1]`.
    fn points(&self, like: &Tensor, align_corners: bool) -> Result<Tensor> {
        let axes = (0..self.spread.len()).rev().map(|dim| self.axis(dim, like, align_corners));
        let ones = std::iter::once_with(|| aten::new_ones(like, self.spread));
        let coordinates = axes.chain(ones).collect::<Result<Vec<_>>>()?;
        let points = aten::flatten_using_ints::call(&aten::stack::with(&coordinates).dim(-1).call()?, 0, -2)?;
        aten::expand(&points, &[&[self.batch], points.sizes()].concat())
    }

    /// The coordinates of all points in one dimension.
    fn axis(&self, dim: usize, like: &Tensor, align_corners: bool) -> Result<Tensor> {
        let count = self.spread[dim];
        let mut line = aten::new_zeros(like, &[count])?; // a single point is in the middle
        if count > 1 {
            let ends = aten::linspace::with((-1).into(), 1.into(), count).dtype(like.dtype());
            line = ends.device(like.device()).call()?;
            if !align_corners {
                let scaled = aten::div_Scalar(&aten::mul_Scalar(&line, (count - 1).into())?, count.into())?;
                line = aten::to_dtype(&scaled, like.dtype())?; // quotients of integers are fractions
            }
        }
        let mut sizes = vec![1; self.spread.len()];
        sizes[dim] = count;
        aten::expand(&aten::view(&line, &sizes)?, self.spread)
    }
}
