//! Indexing by tensors: `x[i, :, j]`, to read and to write.
#![expect(unsafe_code, reason = "vouches for indices that it has checked itself")]

use torch_library::geometry::{Dims, broadcast_shapes, contiguous_strides, infer_size};
use torch_library::prelude::*;
use torch_library::{Element, Overlap, match_dtype};

use crate::aten;
use crate::cpu::loops::gather::{Lanes, gather, scatter};
use crate::cpu::loops::{self, match_computing};
use crate::cpu::number::Number;
use crate::pointwise::{broadcast_strides, common_device, strides_in_order, unsupported};

#[torch_impl(aten, CPU)]
fn nonzero(this: &Tensor) -> Result<Tensor> {
    let columns = columns_of_nonzero(this)?;
    let (count, ndim) = (columns.sizes()[1], columns.sizes()[0]);
    columns.strided_view(&[count, ndim], &[1, count.max(1)], 0)
}

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn index_Tensor(this: &Tensor, indices: &[Option<Tensor>]) -> Result<Tensor> {
        let places = Places::new("aten::index.Tensor", this, indices)?;
        let order = [std::slice::from_ref(&places.strides), &places.index_strides].concat();
        let strides = strides_in_order(&places.sizes, &order);
        let out = Tensor::empty_strided(&places.sizes, &strides, this.dtype(), this.device())?;
        if loops::has_elements(&out) {
            gather(&out, &places.lanes(this), &places.offsets)?;
        }
        Ok(out)
    }

    fn index_put_<'a>(
        this: &'a mut Tensor,
        indices: &[Option<Tensor>],
        values: &Tensor,
        accumulate: bool,
    ) -> Result<&'a mut Tensor> {
        put("aten::index_put_", this, indices, values, accumulate)?;
        Ok(this)
    }
}

/// The places that indices name: their sizes, and how many elements of memory each is away from the tensor's first.
struct Places {
    sizes: Dims,
    /// The tensor's strides in the dimensions that are kept whole, 0 in those of the indices.
    strides: Dims,
    /// The strides of each index as it broadcasts to the sizes: with the tensor's they say how a result is laid out.
    index_strides: Vec<Dims>,
    /// The distances that the indices make, of all sizes.
    offsets: Tensor,
}

impl Places {
    fn new(operator: &'static str, this: &Tensor, indices: &[Option<Tensor>]) -> Result<Self> {
        let indices = without_masks(operator, this, indices)?;
        let found: Vec<&Tensor> = indices.iter().flatten().collect();
        common_device(operator, &[&[this], &found[..]].concat())?;
        let shape = broadcast_shapes(found.iter().map(|index| index.sizes()));
        let shape = shape.map_err(|error| error.context(operator))?;
        let is_kept = |dim: &usize| indices.get(*dim).is_none_or(Option::is_none);
        let first = (0..this.dim()).find(|dim| !is_kept(dim)).unwrap_or(0);
        let are_neighbours = (first..first + found.len()).all(|dim| !is_kept(&dim));
        let front = if are_neighbours { first } else { 0 };
        let kept: Vec<usize> = (0..this.dim()).filter(is_kept).collect();
        let joined = |own: &[i64], others: &[i64]| -> Dims {
            let own: Vec<i64> = kept.iter().map(|dim| own[*dim]).collect();
            [&own[..front], others, &own[front..]].concat().into()
        };
        let sizes = joined(this.sizes(), &shape);
        let strides = joined(this.strides(), &vec![0; shape.len()]);
        let none = vec![0; this.dim()];
        let index_strides = found
            .iter()
            .map(|index| joined(&none, &broadcast_strides(index.sizes(), index.strides(), &shape)))
            .collect();
        let offsets = distances(operator, this, &indices, &shape)?;
        let offsets = offsets.strided_view(&sizes, &joined(&none, &contiguous_strides(&shape)), 0)?;
        Ok(Places { sizes, strides, index_strides, offsets })
    }

    fn lanes<'a>(&self, this: &'a Tensor) -> Lanes<'a> {
        // SAFETY: `distances` takes indices within their dimensions only; the other dimensions are the tensor's own.
        unsafe { Lanes::anywhere(this, self.strides.clone()) }
    }
}

/// An index for each of the first dimensions: a mask is one for each of its own.
fn without_masks(
    operator: &'static str,
    this: &Tensor,
    indices: &[Option<Tensor>],
) -> Result<Vec<Option<Tensor>>> {
    let mut expanded = Vec::new();
    for index in indices {
        match index {
            Some(mask) if matches!(mask.dtype(), DType::Bool | DType::UInt8) => {
                let covered = this.sizes().get(expanded.len()..expanded.len() + mask.dim());
                ensure!(
                    covered == Some(mask.sizes()),
                    Shape,
                    "{operator}: a mask of sizes {:?} at dimension {} does not fit sizes {:?}",
                    mask.sizes(),
                    expanded.len(),
                    this.sizes()
                );
                let columns = columns_of_nonzero(mask).map_err(|error| error.context(operator))?;
                let count = columns.sizes()[1];
                for dim in 0..mask.dim() as i64 {
                    expanded.push(Some(columns.strided_view(&[count], &[1], dim * count)?));
                }
            }
            Some(index) => {
                ensure!(
                    matches!(index.dtype(), DType::Int64 | DType::Int32),
                    DType,
                    "{operator}: an index is of {}, expected int64, int32 or bool",
                    index.dtype()
                );
                expanded.push(Some(index.clone()));
            }
            None => expanded.push(None),
        }
    }
    ensure!(
        expanded.len() <= this.dim(),
        Shape,
        "{operator}: {} indices are too many for sizes {:?}",
        expanded.len(),
        this.sizes()
    );
    Ok(expanded)
}

/// How many elements away from index 0 the indices lead, for each of their places.
fn distances(operator: &str, this: &Tensor, indices: &[Option<Tensor>], shape: &[i64]) -> Result<Tensor> {
    let sum = Tensor::empty(shape, DType::Int64, this.device())?;
    if !loops::has_elements(&sum) {
        return Ok(sum);
    }
    for (dim, index) in indices.iter().enumerate() {
        let (Some(index), size, stride) = (index, this.sizes()[dim], this.strides()[dim]) else { continue };
        let bad = loops::elements::<i64>(index)?.into_iter().find(|index| !(-size..size).contains(index));
        if let Some(bad) = bad {
            bail!(Argument, "{operator}: index {bad} is out of range for dimension {dim} of size {size}");
        }
        loops::map(&sum, [&sum, index], |[sum, index]: [i64; 2]| {
            sum + stride * if index < 0 { index + size } else { index }
        })?;
    }
    Ok(sum)
}

/// The indices of elements that are not zero: a row for each dimension, a column for each element.
fn columns_of_nonzero(this: &Tensor) -> Result<Tensor> {
    let flags = Tensor::empty(this.sizes(), DType::Bool, Device::CPU)?;
    match_dtype!(this.dtype(), T => loops::map(&flags, [this], |[x]: [T; 1]| x != T::default())?);
    let flags = flags.to_vec::<bool>()?;
    let found: Vec<i64> = (0..).zip(flags).filter(|(_, is_nonzero)| *is_nonzero).map(|(i, _)| i).collect();
    let strides = contiguous_strides(this.sizes());
    let along = |(size, stride): (&i64, &i64)| {
        let (size, stride) = (*size, *stride);
        found.iter().map(move |place| place / stride % size)
    };
    let columns: Vec<i64> = this.sizes().iter().zip(&strides).flat_map(along).collect();
    Tensor::from_vec(columns, &[this.dim() as i64, found.len() as i64])
}

fn put(
    operator: &'static str,
    this: &Tensor,
    indices: &[Option<Tensor>],
    values: &Tensor,
    accumulate: bool,
) -> Result<()> {
    let mut read = indices.iter().flatten().chain([values]);
    read.try_for_each(|tensor| this.check_no_overlap(tensor)).map_err(|error| error.context(operator))?;
    let places = Places::new(operator, this, indices)?;
    let fits = infer_size(&places.sizes, values.sizes()).is_ok_and(|sizes| sizes == places.sizes);
    ensure!(
        fits,
        Shape,
        "{operator}: values of sizes {:?} do not broadcast to those of the places, {:?}",
        values.sizes(),
        places.sizes
    );
    ensure!(
        values.dtype() == this.dtype(),
        DType,
        "{operator}: the values are of {}, the tensor of {}, convert one to the other by `aten::to_dtype`",
        values.dtype(),
        this.dtype()
    );
    if !loops::has_elements(this) {
        return Ok(());
    }
    let is_apart = this.overlap_with(values) == Overlap::No;
    let copied =
        |dtype: DType, must: bool| if must { loops::copy(values, dtype) } else { Ok(values.clone()) };
    if !accumulate {
        let values = expanded(&copied(this.dtype(), !is_apart)?, &places.sizes)?;
        return match_dtype!(this.dtype(), T => {
            scatter::<T>(&places.lanes(this), &places.offsets, &values, |_, new| new).map(drop)
        });
    }
    match_computing!(this.dtype(), T: Bool | Integer | Unsigned | Float | Complex => {
        let is_plain = this.dtype() == T::DTYPE;
        let values = expanded(&copied(T::DTYPE, !is_apart || !is_plain)?, &places.sizes)?;
        let wide = if is_plain { this.clone() } else { same_places(this, T::DTYPE)? };
        scatter::<T>(&places.lanes(&wide), &places.offsets, &values, |old, new| old.plus(new))?;
        if is_plain { Ok(()) } else { loops::map(this, [&wide], |[x]: [T; 1]| x) }
    }, else => Err(unsupported(operator, this.dtype())))
}

/// A copy of another type with the same strides.
fn same_places(this: &Tensor, dtype: DType) -> Result<Tensor> {
    let copy = Tensor::empty_strided(this.sizes(), this.strides(), dtype, this.device())?;
    match_dtype!(dtype, T => loops::map(&copy, [this], |[x]: [T; 1]| x))?;
    Ok(copy)
}

fn expanded(values: &Tensor, sizes: &[i64]) -> Result<Tensor> {
    let missing = sizes.len() - values.dim();
    let stride = |dim: usize| match dim.checked_sub(missing) {
        Some(own) if values.sizes()[own] != 1 => values.strides()[own],
        _ => 0,
    };
    let strides: Dims = (0..sizes.len()).map(stride).collect();
    values.strided_view(sizes, &strides, values.storage_offset())
}
