//! Advanced indexing: reads and writes `x[i, :, j]` with tensors as indices.
#![expect(unsafe_code, reason = "vouches for indices that it has checked itself")]

use torch_library::geometry::{
    Dims, Geometry, broadcast_shapes, contiguous_strides, infer_size, saturating_numel,
};
use torch_library::prelude::*;
use torch_library::{Element, Lease, ListLease, Overlap, match_dtype};

use crate::aten;
use crate::below_autograd::below_autograd;
use crate::composite::collected;
use crate::loops;
use crate::loops::crossings::{Along, Crossings};
use crate::loops::gather::are_within;
use crate::loops::overlap::without_repetitions;
use crate::loops::parts::Parts;
use crate::loops::pointwise::{broadcast_strides, common_device, strides_in_order, unsupported};
use crate::number::Number;

#[torch_impl(aten, CPU)]
fn nonzero(this: &Tensor) -> Result<Tensor> {
    let columns = columns_of_nonzero(this)?;
    let (count, ndim) = (columns.sizes()[1], columns.sizes()[0]);
    columns.strided_view(&[count, ndim], &[1, count], 0)
}

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn index_Tensor(this: &Tensor, indices: &[Option<Tensor>]) -> Result<Tensor> {
        Places::new(aten::index_Tensor::NAME, this, indices)?.read(this)
    }

    fn index_put_<'a>(
        this: &'a mut Tensor,
        indices: &[Option<Tensor>],
        values: &Tensor,
        accumulate: bool,
    ) -> Result<&'a mut Tensor> {
        put(aten::index_put_::NAME, this, indices, values, accumulate)?;
        Ok(this)
    }
}

/// The geometry that was read from a tensor before it was leased.
struct Seen(Geometry);

impl Seen {
    fn of(tensor: &Tensor) -> Self {
        Seen(tensor.geometry().clone())
    }

    /// Checks, under a lease, that the tensor still has this geometry.
    fn check(&self, tensor: &Tensor) -> Result<()> {
        ensure!(
            *tensor.geometry() == self.0,
            Busy,
            "a tensor of sizes {:?} was resized to {:?} while it was indexed",
            self.0.sizes(),
            tensor.sizes()
        );
        Ok(())
    }
}

/// The positions that indices select: their sizes, and their offsets in the tensor.
struct Places {
    geometry: Seen,
    sizes: Dims,
    /// The tensor's strides in the dimensions that are kept whole, and 0 in those of the indices.
    strides: Dims,
    /// The strides of each index, broadcast to the sizes: together with the tensor's, they determine the layout of a
    /// result.
    index_strides: Vec<Dims>,
    /// The offset that is constant, then the offsets along each of the sizes, with those of the indices possibly
    /// combined.
    along: Vec<Along>,
}

impl Places {
    fn new(operator: &'static str, this: &Tensor, indices: &[Option<Tensor>]) -> Result<Self> {
        let _lease = ListLease::new([], indices.iter().flatten().chain([this]))?;
        ensure!(!indices.is_empty(), Index, "{operator}: there is no index, expected at least one");
        let geometry = Seen::of(this);
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
        let (constant, lists) = lists(operator, this, &indices, &shape)?;
        let whole = |dim: &usize| Along::Whole { size: this.sizes()[*dim], stride: this.strides()[*dim] };
        let along = std::iter::once(Along::List(vec![constant]))
            .chain(kept[..front].iter().map(whole))
            .chain(lists.into_iter().map(Along::List))
            .chain(kept[front..].iter().map(whole))
            .collect();
        Ok(Places { geometry, sizes, strides, index_strides, along })
    }

    /// Reads the elements; the layout of the result follows that of the tensor and the indices.
    fn read(self, this: &Tensor) -> Result<Tensor> {
        let order = [std::slice::from_ref(&self.strides), &self.index_strides].concat();
        let strides = strides_in_order(&self.sizes, &order);
        // SAFETY: `Crossings::read` writes every element of one, `assign` those of the other, if there are any; after
        // an error both are dropped.
        let empty = |strides: &[i64]| unsafe {
            Tensor::uninit_strided(&self.sizes, strides, this.dtype(), this.device())
        };
        let out = empty(&strides)?;
        if !loops::has_elements(&out) {
            return Ok(out);
        }
        let (mut along, row_major) = (self.along, contiguous_strides(&self.sizes));
        let is_split = along.len() == strides.len() + 1;
        let dense = if is_split || strides == row_major { out.clone() } else { empty(&row_major)? };
        if is_split {
            let mut sorted: Vec<_> = strides.iter().zip(along.drain(1..)).collect();
            sorted.sort_by_key(|(stride, _)| std::cmp::Reverse(**stride));
            along.extend(sorted.into_iter().map(|(_, along)| along));
        }
        let lease = Lease::new([&dense], [this])?;
        self.geometry.check(this)?;
        // SAFETY: `lists` accepts only indices within their dimensions, and copies them as it checks; the other
        // dimensions are those of the tensor, whose geometry is unchanged under the lease. `dense` is new, and has an
        // element for each position, in this order.
        unsafe { Crossings::new(along)?.read((this, &lease), (&dense, &lease))? };
        drop(lease);
        if !dense.is_same(&out) {
            loops::assign(&out, &dense)?;
        }
        Ok(out)
    }

    /// Replaces each element by a function of it and its value; the values broadcast to the sizes.
    fn write<T: Element>(self, this: &Tensor, values: &Tensor, f: impl Fn(T, T) -> T) -> Result<()> {
        let is_single = values.numel() == 1;
        let values = match is_single {
            true => values.clone(),
            false => loops::contiguous(&expanded(values, &self.sizes)?)?,
        };
        if saturating_numel(&self.sizes) == 0 {
            return Ok(()); // where nothing is written, a dimension may be longer than any list
        }
        let lease = Lease::new([this], [&values])?;
        self.geometry.check(this)?;
        let count = if is_single { 1 } else { saturating_numel(&self.sizes) };
        ensure!(
            values.numel() == count
                && values.is_contiguous(MemoryFormat::Contiguous)
                && !values.shares_storage_with(this),
            Busy,
            "values were resized to {:?} while they were read",
            values.sizes()
        );
        // SAFETY: `lists` accepts only indices within their dimensions, and copies them as it checks; the other
        // dimensions are those of the tensor, whose geometry is unchanged under the lease. There is a value for each
        // position, or a single one, contiguous and in other memory, as ensured above.
        unsafe { Crossings::new(self.along)?.write::<T>(this, &values, &lease, is_single, f) }
    }
}

/// An index for each of the first dimensions: a mask is converted to an index for each of its own.
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

/// The offsets that the indices lead to, in elements: a constant one, and then a list for each dimension of their
/// common shape, or, if an index has several dimensions, one list for all of them.
fn lists(
    operator: &str,
    this: &Tensor,
    indices: &[Option<Tensor>],
    shape: &[i64],
) -> Result<(isize, Vec<Vec<isize>>)> {
    let is_line = |index: &Tensor| index.sizes().iter().filter(|size| **size != 1).count() <= 1;
    let are_lines = indices.iter().flatten().all(is_line);
    let count = saturating_numel(shape);
    // Without elements, the positions are not needed.
    let is_read = count > 0 && this.storage().data_ptr().is_some();
    let counts = if are_lines { shape.to_vec() } else { vec![count] };
    let zeros = |count: i64| collected(operator, if is_read { count } else { 0 }, |_| 0);
    let (mut constant, mut lists) = (0, counts.into_iter().map(zeros).collect::<Result<Vec<Vec<isize>>>>()?);
    for (dim, index) in indices.iter().enumerate() {
        let (Some(index), size, stride) = (index, this.sizes()[dim], this.strides()[dim]) else { continue };
        // An index without memory is an error if its positions are needed, even along a dimension of size 0.
        if count == 0 || !is_read && !loops::has_elements(index) {
            continue;
        }
        let index = if are_lines { index.clone() } else { expanded(index, shape)? };
        let places = Parts::<i64>::row_major(&index, index.numel() as usize)?;
        let places = if places.count() == 0 { &[][..] } else { places.get(0) };
        // The differences that `are_within` looks at overflow in dimensions of more than 2^62.
        let is_bad = |place: &&i64| !(-size..size).contains(*place);
        if !are_within(places, -size..size)
            && let Some(bad) = places.iter().find(is_bad)
        {
            bail!(Index, "{operator}: index {bad} is out of range for dimension {dim} of size {size}");
        }
        let offset = |place: &i64| (stride * if *place < 0 { place + size } else { *place }) as isize;
        let varies = (0..index.dim()).rev().find(|dim| index.sizes()[*dim] != 1);
        match (varies, places) {
            (None, [place]) if are_lines => constant += offset(place),
            (varies, places) => {
                let missing = shape.len() - index.dim();
                let at = if are_lines { varies.map_or(0, |dim| dim + missing) } else { 0 };
                lists[at].iter_mut().zip(places).for_each(|(sum, place)| *sum += offset(place));
            }
        }
    }
    Ok((constant, lists))
}

/// The indices of the nonzero elements: a row for each dimension, a column for each element.
fn columns_of_nonzero(this: &Tensor) -> Result<Tensor> {
    let flags = match this.dtype() {
        DType::Bool => loops::contiguous(this)?,
        _ => {
            let flags = Tensor::empty(this.sizes(), DType::Bool, Device::CPU)?;
            match_dtype!(this.dtype(), T: NotFloat8 => {
                loops::map(&flags, [this], |[x]: [T; 1]| x != T::default())?;
            }, else => return Err(unsupported(aten::nonzero::NAME, this.dtype())));
            flags
        }
    };
    let lease = Lease::new([], [&flags])?;
    let geometry = flags.geometry();
    ensure!(geometry.is_contiguous(), Busy, "the strides of a mask changed while it was read");
    // SAFETY: `bool` elements are bytes, any of which may be read as `u8`; they are contiguous as ensured, and start at
    // an address that is not null (byte offsets lead to none), and the lease prevents writes for as long as the slice
    // is used.
    let bytes = unsafe { std::slice::from_raw_parts(flags.address(&lease)?, geometry.numel() as usize) };
    let count = bytes.iter().map(|flag| usize::from(*flag != 0)).sum();
    let columns = coordinates_of_nonzero(bytes, geometry.sizes(), count)?;
    Tensor::from_vec(columns, &[geometry.dim() as i64, count as i64])
}

/// The coordinates of `count` nonzero elements in row-major order: a list for each dimension, one after the other.
fn coordinates_of_nonzero(flags: &[u8], sizes: &[i64], count: usize) -> Result<Vec<i64>> {
    let Some((&line, outer)) = sizes.split_last().filter(|_| count > 0) else { return Ok(Vec::new()) };
    // One place more, as a coordinate is written for every element, and stays if that is nonzero.
    let mut columns = collected(aten::nonzero::NAME, (sizes.len() * count + 1) as i64, |_| 0)?;
    let (of_lines, within_lines) = columns.split_at_mut(outer.len() * count);
    let (mut at, mut found) = (vec![0; outer.len()], 0);
    for flags in flags.chunks_exact(line as usize) {
        let first = found;
        for (place, flag) in (0..).zip(flags) {
            within_lines[found] = place;
            found += usize::from(*flag != 0);
        }
        for (column, coordinate) in of_lines.chunks_exact_mut(count).zip(&at) {
            column[first..found].fill(*coordinate);
        }
        for (coordinate, size) in at.iter_mut().zip(outer).rev() {
            *coordinate += 1;
            if *coordinate < *size {
                break;
            }
            *coordinate = 0;
        }
    }
    columns.pop();
    Ok(columns)
}

fn put(
    operator: &'static str,
    this: &Tensor,
    indices: &[Option<Tensor>],
    values: &Tensor,
    accumulate: bool,
) -> Result<()> {
    if this.dtype().is_float8() && !accumulate {
        check_values(operator, this, values)?;
        ensure_indexed(operator, this)?;
        return put(operator, &loops::as_bytes(this)?, indices, &loops::as_bytes(values)?, false);
    }
    let mut read = indices.iter().flatten().chain([values]);
    read.try_for_each(|tensor| this.check_no_overlap(tensor)).map_err(|error| error.context(operator))?;
    if let Some(mask) = single_mask(this, indices).filter(|_| values.numel() == 1 && !accumulate) {
        return put_where(operator, this, &mask?, values);
    }
    let is_mask = |index: &Tensor| matches!(index.dtype(), DType::Bool | DType::UInt8);
    if indices
        .iter()
        .flatten()
        .any(|index| is_mask(index) && index.numel() > 0 && !loops::has_elements(index))
    {
        return check_values(operator, this, values); // how many elements such a mask picks is not known
    }
    let places = Places::new(operator, this, indices)?;
    let fits = infer_size(&places.sizes, values.sizes()).is_ok_and(|sizes| sizes == places.sizes);
    ensure!(
        fits,
        Shape,
        "{operator}: values of sizes {:?} do not broadcast to those of the indexed elements, {:?}",
        values.sizes(),
        places.sizes
    );
    check_values(operator, this, values)?;
    if !loops::has_elements(this) || values.numel() == 0 {
        return Ok(());
    }
    let is_apart = this.overlap_with(values) == Overlap::No;
    let copied =
        |dtype: DType, must: bool| if must { loops::copy(values, dtype) } else { Ok(values.clone()) };
    if !accumulate {
        let values = copied(this.dtype(), !is_apart)?;
        return match_dtype!(this.dtype(), T: NotFloat8 => places.write::<T>(this, &values, |_, new| new),
            else => Err(unsupported(operator, this.dtype())));
    }
    ensure_indexed(operator, this)?;
    match_dtype!(loops::opmath_type_with_float8(this.dtype()), T: Bool | Integer | Unsigned | Float | Complex => {
        let is_plain = this.dtype() == T::DTYPE;
        let values = copied(T::DTYPE, !is_apart || !is_plain)?;
        let wide = if is_plain { this.clone() } else { same_places(this, T::DTYPE)? };
        places.write::<T>(&wide, &values, |old, new| old.plus(new))?;
        if is_plain {
            return Ok(());
        }
        loops::map(&without_repetitions(this)?, [&without_repetitions(&wide)?], |[x]: [T; 1]| x)
    }, else => Err(unsupported(operator, this.dtype())))
}

/// Refuses the scales of eight bits, for which PyTorch has no writes at an index.
fn ensure_indexed(operator: &'static str, this: &Tensor) -> Result<()> {
    if this.dtype() == DType::Float8E8M0Fnu { Err(unsupported(operator, this.dtype())) } else { Ok(()) }
}

fn check_values(operator: &str, this: &Tensor, values: &Tensor) -> Result<()> {
    ensure!(
        values.dtype() == this.dtype(),
        DType,
        "{operator}: the values are of {}, the tensor of {}, convert one to the other by `aten::to_dtype`",
        values.dtype(),
        this.dtype()
    );
    Ok(())
}

/// The mask, broadcast to the tensor, if it is the only index, and matches the sizes of the tensor.
fn single_mask(this: &Tensor, indices: &[Option<Tensor>]) -> Option<Result<Tensor>> {
    let at = indices.iter().position(Option::is_some)?;
    let mask = indices[at].as_ref()?;
    let is_it = mask.dtype() == DType::Bool
        && indices[at + 1..].iter().all(Option::is_none)
        && this.sizes().get(at..at + mask.dim()) == Some(mask.sizes())
        && indices.len() - 1 + mask.dim() <= this.dim();
    let behind = || this.dim() - at - mask.dim();
    let wide = |own: &[i64], other: i64| -> Dims {
        own.iter().copied().chain(std::iter::repeat_n(other, behind())).collect()
    };
    is_it.then(|| mask.strided_view(&wide(mask.sizes(), 1), &wide(mask.strides(), 0), mask.storage_offset()))
}

/// Which elements of an expanded tensor a mask selects: those of which it selects any repetition. The result
/// broadcasts to the tensor [without repetitions](without_repetitions).
pub(in crate::cpu) fn selected(this: &Tensor, mask: &Tensor) -> Result<Tensor> {
    let dims = (0..this.dim()).filter(|dim| this.strides()[*dim] == 0).map(|dim| dim as i64);
    let mask = expanded(mask, this.sizes())?;
    below_autograd(|| aten::any_dims::call(&mask, Some(&dims.collect::<Dims>()), true))
}

/// Writes one value wherever a mask is true.
fn put_where(operator: &'static str, this: &Tensor, mask: &Tensor, value: &Tensor) -> Result<()> {
    common_device(operator, &[this, mask])?;
    check_values(operator, this, value)?;
    if !loops::has_elements(this) {
        return Ok(());
    }
    if this.has_internal_overlap() {
        return put_where(operator, &without_repetitions(this)?, &selected(this, mask)?, value);
    }
    let value = value.strided_view(&[], &[], value.storage_offset())?;
    let value =
        if this.overlap_with(&value) == Overlap::No { value } else { loops::copy(&value, this.dtype())? };
    match_dtype!(this.dtype(), T: NotFloat8 => {
        let choose = |[mask, old, new]: [T; 3]| if mask == T::default() { old } else { new };
        loops::map(this, [mask, this, &value], choose)
    }, else => Err(unsupported(operator, this.dtype())))
}

/// A copy in another dtype with the same strides.
fn same_places(this: &Tensor, dtype: DType) -> Result<Tensor> {
    let copy = Tensor::empty_strided(this.sizes(), this.strides(), dtype, this.device())?;
    loops::assign(&without_repetitions(&copy)?, &without_repetitions(this)?)?;
    Ok(copy)
}

pub(super) fn expanded(values: &Tensor, sizes: &[i64]) -> Result<Tensor> {
    let strides = broadcast_strides(values.sizes(), values.strides(), sizes);
    values.strided_view(sizes, &strides, values.storage_offset())
}
