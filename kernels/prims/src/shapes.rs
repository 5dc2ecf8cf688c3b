//! Primitives that move elements or change how they are seen.

use torch_library::geometry::numel;
use torch_library::prelude::*;
use torch_library_aten::aten;

use crate::ops::prims;

/// The sizes after the dimensions from `start` to `end`, both included, became one. A number counts as one of one
/// dimension.
fn collapsed(operator: &str, sizes: &[i64], start: i64, end: i64) -> Result<Vec<i64>> {
    let sizes = if sizes.is_empty() { &[1] } else { sizes };
    let range = match (usize::try_from(start), usize::try_from(end)) {
        (Ok(start), Ok(end)) if start <= end && end < sizes.len() => start..end + 1,
        _ => bail!(Shape, "{operator}: there are no dimensions {start} to {end} in sizes {sizes:?}"),
    };
    let size = numel(&sizes[range.clone()]).map_err(|error| error.context(operator))?;
    let mut collapsed = sizes.to_vec();
    collapsed.splice(range, [size]);
    Ok(collapsed)
}

#[torch_impl(prims, CompositeImplicitAutograd)]
mod views {
    use super::*;

    fn as_strided(a: &Tensor, size: &[i64], stride: &[i64], storage_offset: i64) -> Result<Tensor> {
        aten::as_strided::call(a, size, stride, Some(storage_offset))
    }

    fn broadcast_in_dim(a: &Tensor, shape: &[i64], broadcast_dimensions: &[i64]) -> Result<Tensor> {
        let is_ascending = broadcast_dimensions.is_sorted_by(|one, next| one < next);
        let is_inside = |dim: &i64| usize::try_from(*dim).is_ok_and(|dim| dim < shape.len());
        ensure!(
            is_ascending
                && broadcast_dimensions.iter().all(is_inside)
                && broadcast_dimensions.len() == a.dim(),
            Shape,
            "{}: the dimensions of sizes {:?} cannot become the dimensions {broadcast_dimensions:?} of sizes {shape:?}",
            prims::broadcast_in_dim::NAME,
            a.sizes()
        );
        let mut view = a.clone();
        for dim in (0..shape.len() as i64).filter(|dim| !broadcast_dimensions.contains(dim)) {
            view = aten::unsqueeze(&view, dim)?;
        }
        aten::expand(&view, shape)
    }

    fn collapse_view(a: &Tensor, start: i64, end: i64) -> Result<Tensor> {
        aten::view(a, &collapsed(prims::collapse_view::NAME, a.sizes(), start, end)?)
    }

    fn conj(a: &Tensor) -> Result<Tensor> {
        aten::conj(a)
    }

    fn imag(this: &Tensor) -> Result<Tensor> {
        aten::imag(this)
    }

    fn real(this: &Tensor) -> Result<Tensor> {
        aten::real(this)
    }

    fn split_dim(a: &Tensor, dim: i64, outer_length: i64) -> Result<Tensor> {
        let place = usize::try_from(dim).ok().filter(|place| *place < a.sizes().len());
        let size = place.map(|place| a.sizes()[place]);
        let inner = size.filter(|size| outer_length > 0 && size % outer_length == 0);
        let (Some(place), Some(size)) = (place, inner) else {
            bail!(
                Shape,
                "{}: dimension {dim} of sizes {:?} cannot be split into {outer_length}",
                prims::split_dim::NAME,
                a.sizes()
            )
        };
        let mut sizes = a.sizes().to_vec();
        sizes.splice(place..=place, [outer_length, size / outer_length]);
        aten::view(a, &sizes)
    }

    fn squeeze(a: &Tensor, dimensions: &[i64]) -> Result<Tensor> {
        aten::squeeze_dims(a, dimensions)
    }

    fn transpose(a: &Tensor, permutation: &[i64]) -> Result<Tensor> {
        aten::permute(a, permutation)
    }

    fn view_of(a: &Tensor) -> Result<Tensor> {
        aten::alias(a)
    }

    fn view_of_dtype(a: &Tensor, dtype: DType) -> Result<Tensor> {
        aten::view_dtype(a, dtype)
    }
}

#[torch_impl(prims, CompositeImplicitAutograd)]
mod copies {
    use super::*;

    fn as_strided_scatter(
        this: &Tensor,
        src: &Tensor,
        size: &[i64],
        stride: &[i64],
        storage_offset: i64,
    ) -> Result<Tensor> {
        aten::as_strided_scatter::call(this, src, size, stride, Some(storage_offset))
    }

    fn cat(tensors: &[Tensor], dim: i64) -> Result<Tensor> {
        aten::cat::call(tensors, dim)
    }

    fn collapse(a: &Tensor, start: i64, end: i64) -> Result<Tensor> {
        let sizes = collapsed(prims::collapse::NAME, a.sizes(), start, end)?;
        aten::view(&aten::clone::call(a, Some(MemoryFormat::Contiguous))?, &sizes)
    }

    fn reshape(a: &Tensor, shape: &[i64]) -> Result<Tensor> {
        aten::clone::call(&aten::reshape(a, shape)?, Some(MemoryFormat::Contiguous))
    }

    fn rev(a: &Tensor, dims: &[i64]) -> Result<Tensor> {
        aten::flip(a, dims)
    }

    fn convert_element_type(a: &Tensor, dtype: DType) -> Result<Tensor> {
        aten::_to_copy::with(a).dtype(dtype).call()
    }

    fn copy_strided(a: &Tensor, stride: &[i64]) -> Result<Tensor> {
        let copy = aten::empty_strided::with(a.sizes(), stride).dtype(a.dtype());
        let mut copy = copy.device(a.device()).call()?;
        aten::copy_(&mut copy, a)?;
        Ok(copy)
    }

    fn copy_to<'t>(a: &'t mut Tensor, b: &Tensor) -> Result<&'t mut Tensor> {
        aten::copy_(a, b)
    }

    fn device_put(a: &Tensor, device: Device, non_blocking: bool) -> Result<Tensor> {
        aten::_to_copy::with(a).device(device).non_blocking(non_blocking).call()
    }

    fn item(a: &Tensor) -> Result<Scalar> {
        aten::item(a)
    }

    fn resize<'t>(a: &'t mut Tensor, shape: &[i64]) -> Result<&'t mut Tensor> {
        aten::resize_(a, shape)
    }
}
