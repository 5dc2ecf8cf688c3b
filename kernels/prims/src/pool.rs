//! Maxima of windows that name the place of a maximum by its place in the window, which fits in eight bits.

use torch_library::prelude::*;
use torch_library_aten::aten;

use crate::ops::prims;

/// The windows of a pool, along its last dimensions.
struct Windows<'w> {
    kernel_size: &'w [i64],
    stride: &'w [i64],
    padding: &'w [i64],
    dilation: &'w [i64],
}

impl Windows<'_> {
    /// Checks that there is one positive number for each of two or three dimensions, which a tensor has.
    fn check(&self, operator: &str, tensor: &Tensor, input_size: &[i64]) -> Result<usize> {
        let dims = self.kernel_size.len();
        let lists = [self.stride, self.padding, self.dilation, input_size];
        ensure!(
            matches!(dims, 2 | 3) && tensor.dim() >= dims && lists.iter().all(|list| list.len() == dims),
            Shape,
            "{operator}: a pool over two or three dimensions takes one number of each kind for each of them"
        );
        let positive = [self.kernel_size, self.stride, self.dilation, input_size];
        ensure!(
            positive.into_iter().flatten().all(|number| *number > 0),
            Argument,
            "{operator}: sizes, strides and dilations of a pool must be positive"
        );
        Ok(dims)
    }

    /// Where the windows begin along one of the last dimensions of their results.
    fn starts(&self, results: &Tensor, dim: usize) -> Result<Tensor> {
        let place = results.dim() - self.kernel_size.len() + dim;
        let size = results.sizes()[place];
        let numbers = aten::arange::with(size.into()).dtype(DType::Int64);
        let numbers = numbers.device(results.device()).call()?;
        let starts = aten::mul_Scalar(&numbers, self.stride[dim].into())?;
        let starts = aten::sub_Scalar(&starts, self.padding[dim].into())?;
        let mut shape = vec![1; results.dim()];
        shape[place] = size;
        aten::view(&starts, &shape)
    }
}

/// The index along each dimension of an index into all elements of these sizes.
fn split(index: &Tensor, sizes: &[i64]) -> Result<Vec<Tensor>> {
    let (mut rest, mut indices) = (index.clone(), Vec::new());
    for size in sizes[1..].iter().rev() {
        indices.insert(0, aten::remainder_Scalar(&rest, (*size).into())?);
        rest = aten::div_Scalar_mode(&rest, (*size).into(), Some("floor"))?;
    }
    indices.insert(0, rest);
    Ok(indices)
}

/// The index into all elements of these sizes.
fn joined(indices: &[Tensor], sizes: &[i64]) -> Result<Tensor> {
    let mut joined = indices[0].clone();
    for (index, size) in indices.iter().zip(sizes).skip(1) {
        joined = aten::add_Tensor(&aten::mul_Scalar(&joined, (*size).into())?, index)?;
    }
    Ok(joined)
}

#[torch_impl(prims, CompositeImplicitAutograd)]
mod kernels {
    use super::*;

    fn _low_memory_max_pool_with_offsets(
        this: &Tensor,
        kernel_size: &[i64],
        stride: &[i64],
        padding: &[i64],
        dilation: &[i64],
        ceil_mode: bool,
    ) -> Result<(Tensor, Tensor)> {
        const OPERATOR: &str = prims::_low_memory_max_pool_with_offsets::NAME;
        let windows = Windows { kernel_size, stride, padding, dilation };
        let sizes = &this.sizes()[this.dim().saturating_sub(kernel_size.len())..];
        let dims = windows.check(OPERATOR, this, sizes)?;
        let (values, indices) = match dims {
            2 => {
                aten::max_pool2d_with_indices::call(this, kernel_size, stride, padding, dilation, ceil_mode)?
            }
            _ => {
                aten::max_pool3d_with_indices::call(this, kernel_size, stride, padding, dilation, ceil_mode)?
            }
        };
        let mut places = split(&indices, sizes)?;
        for (dim, place) in places.iter_mut().enumerate() {
            let inside = aten::sub_Tensor(place, &windows.starts(&indices, dim)?)?;
            *place = aten::div_Scalar_mode(&inside, dilation[dim].into(), Some("floor"))?;
        }
        Ok((values, aten::to_dtype(&joined(&places, kernel_size)?, DType::Int8)?))
    }

    fn _low_memory_max_pool_offsets_to_indices(
        this: &Tensor,
        kernel_size: &[i64],
        input_size: &[i64],
        stride: &[i64],
        padding: &[i64],
        dilation: &[i64],
    ) -> Result<Tensor> {
        const OPERATOR: &str = prims::_low_memory_max_pool_offsets_to_indices::NAME;
        let windows = Windows { kernel_size, stride, padding, dilation };
        windows.check(OPERATOR, this, input_size)?;
        let mut places = split(&aten::to_dtype(this, DType::Int64)?, kernel_size)?;
        for (dim, place) in places.iter_mut().enumerate() {
            let inside = aten::mul_Scalar(place, dilation[dim].into())?;
            *place = aten::add_Tensor(&inside, &windows.starts(this, dim)?)?;
        }
        joined(&places, input_size)
    }
}
