//! Views: arithmetic on sizes and strides, without access to memory.

use torch_library::geometry::{Dims, computed_view_strides, infer_view_size, numel, wrap_dim};
use torch_library::limits::check_tensors;
use torch_library::prelude::*;

use crate::aten;

mod backward;
mod parts;
mod shape;

use shape::Shape;

#[torch_impl(aten, CompositeExplicitAutograd)]
mod explicit {
    use super::*;

    fn alias(this: &Tensor) -> Result<Tensor> {
        Shape::of(this).view(this)
    }

    fn detach(this: &Tensor) -> Result<Tensor> {
        Shape::of(this).view(this)
    }

    fn detach_(this: &mut Tensor) -> Result<&mut Tensor> {
        Ok(this) // below autograd there is nothing to detach
    }

    fn as_strided(
        this: &Tensor,
        size: &[i64],
        stride: &[i64],
        storage_offset: Option<i64>,
    ) -> Result<Tensor> {
        let view = this.strided_view(size, stride, storage_offset.unwrap_or(this.storage_offset()));
        view.map_err(|error| error.context(aten::as_strided::NAME))
    }

    fn as_strided_(
        this: &mut Tensor,
        size: &[i64],
        stride: &[i64],
        storage_offset: Option<i64>,
    ) -> Result<&mut Tensor> {
        let offset = storage_offset.unwrap_or(this.storage_offset());
        this.set_geometry(size, stride, offset).map_err(|error| error.context(aten::as_strided_::NAME))?;
        Ok(this)
    }

    fn view(this: &Tensor, size: &[i64]) -> Result<Tensor> {
        super::view(this, size).map_err(|error| error.context(aten::view::NAME))
    }

    fn _unsafe_view(this: &Tensor, size: &[i64]) -> Result<Tensor> {
        let view = super::view(this, size).map_err(|error| error.context(aten::_unsafe_view::NAME))?;
        // Autograd does not treat writes to one as writes to the other.
        let (storage, geometry) = (view.storage().clone(), view.geometry());
        let (sizes, strides, offset) = (geometry.sizes(), geometry.strides(), geometry.offset());
        Tensor::from_storage(storage, sizes, strides, offset, view.dtype(), view.key_set())
    }

    fn _reshape_alias(this: &Tensor, size: &[i64], stride: &[i64]) -> Result<Tensor> {
        let view = this.strided_view(size, stride, this.storage_offset());
        view.map_err(|error| error.context(aten::_reshape_alias::NAME))
    }

    fn view_dtype(this: &Tensor, dtype: DType) -> Result<Tensor> {
        super::reinterpret(this, dtype).map_err(|error| error.context(aten::view_dtype::NAME))
    }

    fn permute(this: &Tensor, dims: &[i64]) -> Result<Tensor> {
        let shape = Shape::of(this).permuted(dims);
        shape.map_err(|error| error.context(aten::permute::NAME))?.view(this)
    }

    fn transpose_int(this: &Tensor, dim0: i64, dim1: i64) -> Result<Tensor> {
        let shape = Shape::of(this).transposed(dim0, dim1);
        shape.map_err(|error| error.context(aten::transpose_int::NAME))?.view(this)
    }

    fn transpose_(this: &mut Tensor, dim0: i64, dim1: i64) -> Result<&mut Tensor> {
        let shape = Shape::of(this).transposed(dim0, dim1);
        shape.map_err(|error| error.context(aten::transpose_::NAME))?.apply(this)
    }

    fn t(this: &Tensor) -> Result<Tensor> {
        turned(aten::t::NAME, this)?.view(this)
    }

    fn t_(this: &mut Tensor) -> Result<&mut Tensor> {
        turned(aten::t_::NAME, this)?.apply(this)
    }

    fn unsqueeze(this: &Tensor, dim: i64) -> Result<Tensor> {
        let shape = Shape::of(this).unsqueezed(dim);
        shape.map_err(|error| error.context(aten::unsqueeze::NAME))?.view(this)
    }

    fn unsqueeze_(this: &mut Tensor, dim: i64) -> Result<&mut Tensor> {
        let shape = Shape::of(this).unsqueezed(dim);
        shape.map_err(|error| error.context(aten::unsqueeze_::NAME))?.apply(this)
    }

    fn squeeze(this: &Tensor) -> Result<Tensor> {
        Shape::of(this).squeezed(|_| true).view(this)
    }

    fn squeeze_dim(this: &Tensor, dim: i64) -> Result<Tensor> {
        let dim = wrap_dim(dim, this.dim()).map_err(|error| error.context(aten::squeeze_dim::NAME))?;
        Shape::of(this).squeezed(|other| other == dim).view(this)
    }

    fn squeeze_dims(this: &Tensor, dim: &[i64]) -> Result<Tensor> {
        let dims = shape::distinct_dims(dim, this.dim());
        let dims = dims.map_err(|error| error.context(aten::squeeze_dims::NAME))?;
        Shape::of(this).squeezed(|other| dims.contains(&other)).view(this)
    }

    fn squeeze_(this: &mut Tensor) -> Result<&mut Tensor> {
        Shape::of(this).squeezed(|_| true).apply(this)
    }

    fn squeeze__dim(this: &mut Tensor, dim: i64) -> Result<&mut Tensor> {
        let dim = wrap_dim(dim, this.dim()).map_err(|error| error.context(aten::squeeze__dim::NAME))?;
        Shape::of(this).squeezed(|other| other == dim).apply(this)
    }

    fn squeeze__dims<'t>(this: &'t mut Tensor, dim: &[i64]) -> Result<&'t mut Tensor> {
        let dims = shape::distinct_dims(dim, this.dim());
        let dims = dims.map_err(|error| error.context(aten::squeeze__dims::NAME))?;
        Shape::of(this).squeezed(|other| dims.contains(&other)).apply(this)
    }

    fn expand(this: &Tensor, size: &[i64], _implicit: bool) -> Result<Tensor> {
        let shape = Shape::of(this).expanded(size);
        shape.map_err(|error| error.context(aten::expand::NAME))?.view(this)
    }

    fn slice_Tensor(
        this: &Tensor,
        dim: i64,
        start: Option<i64>,
        end: Option<i64>,
        step: i64,
    ) -> Result<Tensor> {
        let shape = Shape::of(this).sliced(dim, start, end, step);
        shape.map_err(|error| error.context(aten::slice_Tensor::NAME))?.view(this)
    }

    fn diagonal(this: &Tensor, offset: i64, dim1: i64, dim2: i64) -> Result<Tensor> {
        let shape = Shape::of(this).diagonal(offset, dim1, dim2);
        shape.map_err(|error| error.context(aten::diagonal::NAME))?.view(this)
    }

    fn unfold(this: &Tensor, dimension: i64, size: i64, step: i64) -> Result<Tensor> {
        let shape = Shape::of(this).unfolded(dimension, size, step);
        shape.map_err(|error| error.context(aten::unfold::NAME))?.view(this)
    }

    fn unbind_int(this: &Tensor, dim: i64) -> Result<Vec<Tensor>> {
        ensure!(
            this.dim() > 0,
            Shape,
            "{}: a tensor without dimensions has no slices",
            aten::unbind_int::NAME
        );
        let size = this.size(dim).and_then(check_tensors);
        let size = size.map_err(|error| error.context(aten::unbind_int::NAME))? as i64;
        (0..size).map(|index| aten::select_int(this, dim, index)).collect()
    }

    fn select_int(this: &Tensor, dim: i64, index: i64) -> Result<Tensor> {
        let shape = Shape::of(this).selected(dim, index);
        shape.map_err(|error| error.context(aten::select_int::NAME))?.view(this)
    }
}

/// The transpose of a matrix; a vector stays as it is.
fn turned(operator: &str, this: &Tensor) -> Result<Shape> {
    ensure!(
        this.dim() <= 2,
        Shape,
        "{operator}: sizes {:?} are not those of a matrix, use transpose or permute",
        this.sizes()
    );
    Shape::of(this).transposed(0, if this.dim() < 2 { 0 } else { 1 })
}

#[torch_impl(aten, CompositeImplicitAutograd)]
mod implicit {
    use super::*;

    fn slice_inverse(
        this: &Tensor,
        src: &Tensor,
        _dim: i64,
        _start: Option<i64>,
        _end: Option<i64>,
        _step: i64,
    ) -> Result<Tensor> {
        ensure!(
            !this.is_wrapper() && !src.is_wrapper(),
            NotSupported,
            "{}: a tensor of a transform such as `vmap` does not say where it lies in memory",
            aten::slice_inverse::NAME
        );
        aten::as_strided::call(this, src.sizes(), src.strides(), Some(src.storage_offset()))
    }

    fn reshape(this: &Tensor, shape: &[i64]) -> Result<Tensor> {
        let sizes =
            infer_view_size(shape, this.numel()).map_err(|error| error.context(aten::reshape::NAME))?;
        let is_plain = this.is_contiguous(MemoryFormat::Contiguous) || this.is_wrapper();
        match computed_view_strides(this.sizes(), this.strides(), &sizes) {
            Some(_) if is_plain => aten::view(this, &sizes),
            Some(strides) => aten::_reshape_alias(this, &sizes, &strides),
            None => {
                let copy = aten::clone::with(this).memory_format(MemoryFormat::Contiguous).call()?;
                aten::_unsafe_view(&copy, &sizes)
            }
        }
    }

    fn _reshape_copy(this: &Tensor, size: &[i64]) -> Result<Tensor> {
        let copy = aten::clone::with(this).memory_format(MemoryFormat::Contiguous).call()?;
        let error = |error: Error| error.context(aten::_reshape_copy::NAME);
        aten::_unsafe_view(&copy, aten::reshape(this, size).map_err(error)?.sizes())
    }

    fn _reshape_from_tensor(this: &Tensor, shape: &Tensor) -> Result<Tensor> {
        ensure!(
            shape.dim() == 1 && shape.dtype() == DType::Int64,
            Argument,
            "{}: a shape of {} and sizes {:?}, expected a vector of int64",
            aten::_reshape_from_tensor::NAME,
            shape.dtype(),
            shape.sizes()
        );
        aten::reshape(this, &shape.to_vec::<i64>()?)
    }

    fn movedim_int(this: &Tensor, source: i64, destination: i64) -> Result<Tensor> {
        let wrap = |dim| wrap_dim(dim, this.dim()).map_err(|error| error.context(aten::movedim_int::NAME));
        let (source, destination) = (wrap(source)?, wrap(destination)?);
        if this.dim() == 0 {
            return aten::alias(this);
        }
        let mut order: Vec<i64> = (0..this.dim() as i64).collect();
        let dim = order.remove(source);
        order.insert(destination, dim);
        aten::permute(this, &order)
    }

    fn expand_as(this: &Tensor, other: &Tensor) -> Result<Tensor> {
        aten::expand(this, other.sizes())
    }

    fn view_as(this: &Tensor, other: &Tensor) -> Result<Tensor> {
        aten::view(this, other.sizes())
    }

    fn reshape_as(this: &Tensor, other: &Tensor) -> Result<Tensor> {
        aten::reshape(this, other.sizes())
    }

    fn flatten_using_ints(this: &Tensor, start_dim: i64, end_dim: i64) -> Result<Tensor> {
        let wrap =
            |dim| wrap_dim(dim, this.dim()).map_err(|error| error.context(aten::flatten_using_ints::NAME));
        let (start, end) = (wrap(start_dim)?, wrap(end_dim)?);
        ensure!(
            start <= end,
            Argument,
            "{}: start_dim {start_dim} comes after end_dim {end_dim} of {} dimensions",
            aten::flatten_using_ints::NAME,
            this.dim()
        );
        match this.dim() {
            0 => aten::reshape(this, &[1]),
            _ if start == end => Ok(this.clone()),
            _ => {
                let (front, back) = (&this.sizes()[..start], &this.sizes()[end + 1..]);
                let middle = numel(&this.sizes()[start..=end])
                    .map_err(|error| error.context(aten::flatten_using_ints::NAME))?;
                aten::reshape(this, &[front, &[middle], back].concat())
            }
        }
    }
}

fn view(this: &Tensor, size: &[i64]) -> Result<Tensor> {
    let geometry = this.geometry();
    let sizes = infer_view_size(size, geometry.numel())?;
    match computed_view_strides(geometry.sizes(), geometry.strides(), &sizes) {
        Some(strides) => this.strided_view(&sizes, &strides, geometry.offset()),
        None => bail!(
            Shape,
            "sizes {:?} with strides {:?} have no view of sizes {sizes:?}, use reshape, which copies",
            geometry.sizes(),
            geometry.strides()
        ),
    }
}

/// A view of the same bytes as another dtype: in the last dimension, one element becomes several, or several become
/// one.
fn reinterpret(this: &Tensor, dtype: DType) -> Result<Tensor> {
    let (geometry, old, new) = (this.geometry(), this.dtype().size() as i64, dtype.size() as i64);
    let mut sizes = Dims::from_slice(geometry.sizes());
    let mut strides = Dims::from_slice(geometry.strides());
    let mut offset = geometry.offset();
    let lazy = [(DispatchKey::Conjugate, "resolve_conj"), (DispatchKey::Negative, "resolve_neg")];
    for (key, resolve) in lazy {
        ensure!(
            !this.key_set().has(key),
            NotSupported,
            "the elements of a tensor with the key {key} are not those in memory, `{resolve}` makes a copy that has them"
        );
    }
    if old != new {
        let (Some(size), Some(stride)) = (sizes.last_mut(), strides.last_mut()) else {
            bail!(Shape, "a tensor without dimensions has no view of {dtype}, which is of another size");
        };
        ensure!(
            *stride == 1,
            Shape,
            "the last dimension of {:?} has stride {stride}, it must be dense to be seen as {dtype}",
            this.sizes()
        );
        let scale = |value: &mut i64, what: &str| {
            let bytes = i128::from(*value) * i128::from(old);
            let scaled = i64::try_from(bytes / i128::from(new)).ok().filter(|_| bytes % i128::from(new) == 0);
            let Some(scaled) = scaled else {
                bail!(Shape, "{what} {value} of {} cannot be divided into elements of {dtype}", this.dtype())
            };
            *value = scaled;
            Ok(())
        };
        scale(size, "size")?;
        scale(&mut offset, "offset")?;
        let last = strides.len() - 1;
        strides[..last].iter_mut().try_for_each(|stride| scale(stride, "stride"))?;
    }
    Tensor::from_storage(this.storage().clone(), &sizes, &strides, offset, dtype, this.key_set())
}
