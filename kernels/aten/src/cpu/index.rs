//! Kernels that concatenate tensors, and that read elements by index.
#![expect(unsafe_code, reason = "takes memory that it fills at once")]

use torch_library::geometry::{Dims, contiguous_strides, saturating_numel, strides_for, wrap_dim};
use torch_library::prelude::*;
use torch_library::{Lease, ListLease, result_type};

use crate::loops;
use crate::loops::bytes::copy_bytes;
use crate::loops::crossings::{Along, Crossings};
use crate::loops::gather::{Address, AddressMut, Lanes, are_within, gather};
use crate::loops::parallel;
use crate::loops::parts::Parts;

use crate::aten;
use crate::loops::pointwise::common_device;

pub(super) mod advanced;
pub(crate) mod bag;
mod flat;

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn cat(tensors: &[Tensor], dim: i64) -> Result<Tensor> {
        let _lease = ListLease::new([], tensors)?;
        let (out, dim) = joined(tensors, dim)?;
        if join_rows(&out, tensors, dim)? {
            return Ok(out);
        }
        let mut start = 0;
        for tensor in tensors.iter().filter(|tensor| !is_left_out(tensor)) {
            let offset = out.storage_offset() + start * out.strides()[dim];
            let part = out.strided_view(tensor.sizes(), out.strides(), offset)?;
            loops::assign(&part, tensor)?;
            start += tensor.sizes()[dim];
        }
        Ok(out)
    }

    fn gather(this: &Tensor, dim: i64, index: &Tensor, _sparse_grad: bool) -> Result<Tensor> {
        const OPERATOR: &str = aten::gather::NAME;
        let _lease = Lease::new([], [this, index])?;
        let dim = wrap_dim(dim, this.dim()).map_err(|error| error.context(OPERATOR))?;
        let device = common_device(OPERATOR, &[this, index])?;
        if index.numel() == 0 {
            // PyTorch does not check an empty index further, not even its dtype.
            return Tensor::empty(index.sizes(), this.dtype(), device);
        }
        check_index(OPERATOR, index)?;
        ensure!(
            index.dim().max(1) == this.dim().max(1),
            Shape,
            "{OPERATOR}: an index of sizes {:?} has another number of dimensions than sizes {:?}",
            index.sizes(),
            this.sizes()
        );
        let mut others =
            index.sizes().iter().zip(this.sizes()).enumerate().filter(|(other, _)| *other != dim);
        ensure!(
            others.all(|(_, (index, this))| index <= this),
            Shape,
            "{OPERATOR}: an index of sizes {:?} is larger than sizes {:?}, apart from dimension {dim}",
            index.sizes(),
            this.sizes()
        );
        // SAFETY: `pick` writes every element; if an index is out of range, or memory cannot be accessed, the tensor is
        // dropped.
        let out = unsafe { Tensor::uninit(index.sizes(), this.dtype(), device)? };
        let (this, index) = (at_least_1d(this)?, at_least_1d(index)?);
        pick(OPERATOR, &at_least_1d(&out)?, &this, dim, &index)?;
        Ok(out)
    }

    fn index_select(this: &Tensor, dim: i64, index: &Tensor) -> Result<Tensor> {
        const OPERATOR: &str = aten::index_select::NAME;
        let reading = Lease::new([], [this, index])?;
        let dim = wrap_dim(dim, this.dim()).map_err(|error| error.context(OPERATOR))?;
        check_index(OPERATOR, index)?;
        ensure!(
            index.dim() <= 1 && (this.dim() > 0 || index.numel() == 1),
            Shape,
            "{OPERATOR}: an index of sizes {:?} for sizes {:?}, expected a vector, or one element for no dimensions",
            index.sizes(),
            this.sizes()
        );
        let mut sizes = Dims::from_slice(this.sizes());
        if let Some(size) = sizes.get_mut(dim) {
            *size = index.numel();
        }
        let (strides, device) = (contiguous_strides(&sizes), common_device(OPERATOR, &[this, index])?);
        // SAFETY: `read` writes every element, if there are any; if an index is out of range, or memory cannot be
        // accessed, the tensor is dropped.
        let out = unsafe { Tensor::uninit_strided(&sizes, &strides, this.dtype(), device)? };
        // An index without memory is an error, unless there is nothing to write (on meta).
        if loops::has_elements(index) || loops::has_elements(&out) {
            let size = this.sizes().get(dim).copied().unwrap_or(1);
            let index = Parts::<i64>::row_major(index, index.numel() as usize)?;
            let index = if index.count() == 0 { &[][..] } else { index.get(0) };
            if !are_within(index, 0..size) {
                check_range(
                    OPERATOR,
                    index.iter().find(|index| !(0..size).contains(*index)).copied(),
                    dim,
                    size,
                )?;
            }
            if !loops::has_elements(&out) {
                return Ok(out);
            }
            let step = this.strides().get(dim).copied().unwrap_or(1);
            let dims = this.sizes().iter().zip(this.strides());
            let mut dims: Vec<Along> =
                dims.map(|(size, stride)| Along::Whole { size: *size, stride: *stride }).collect();
            let list = Along::List(index.iter().map(|index| (index * step) as isize).collect());
            dims.splice(dim..(dim + 1).min(dims.len()), [list]);
            // SAFETY: `out` is new, and nothing else has it before this returns.
            let writing = unsafe { Lease::with_new(&out, [])? };
            // SAFETY: the indices were read once, and are in bounds as just checked; the other dimensions are those of
            // the tensor, which the lease keeps unchanged; `out` is new, contiguous, and has their sizes.
            unsafe { Crossings::new(dims)?.read((this, &reading), (&out, &writing))? };
        }
        Ok(out)
    }

    fn nonzero_static(this: &Tensor, size: i64, fill_value: i64) -> Result<Tensor> {
        const OPERATOR: &str = aten::nonzero_static::NAME;
        ensure!(size >= 0, Argument, "{OPERATOR}: size is {size}, expected zero or more");
        let mut out = Tensor::empty(&[size, this.dim() as i64], DType::Int64, this.device())?;
        if loops::has_elements(&out) {
            aten::fill__Scalar(&mut out, fill_value.into())?;
            let found = aten::nonzero(this)?;
            let count = size.min(found.sizes()[0]);
            aten::copy_(&mut aten::narrow(&out, 0, 0, count)?, &aten::narrow(&found, 0, 0, count)?)?;
        }
        Ok(out)
    }
}

/// Concatenates tensors whose rows are long and contiguous, like those of the result, and returns whether they were.
fn join_rows(out: &Tensor, tensors: &[Tensor], dim: usize) -> Result<bool> {
    const SHORT: usize = 64;
    let (size, is_line) =
        (out.dtype().size(), |tensor: &Tensor| tensor.is_contiguous(MemoryFormat::Contiguous));
    if !loops::has_elements(out) || !is_line(out) || out.dtype() == DType::Bool {
        return Ok(false); // boolean memory from outside may hold any byte
    }
    let lease = ListLease::new([out], tensors)?;
    let bytes = |tensor: &Tensor| saturating_numel(&tensor.sizes()[dim..]) as usize * size;
    let mut rows = Vec::with_capacity(tensors.len());
    for tensor in tensors.iter().filter(|tensor| !is_left_out(tensor)) {
        let len = bytes(tensor);
        if tensor.dtype() != out.dtype() || !is_line(tensor) || len < SHORT && len > 0 {
            return Ok(false);
        }
        rows.push((Address::of(tensor, &lease)?, len));
    }
    let (width, to) = (bytes(out), AddressMut::of(out, &lease)?);
    let count = |tensor: &Tensor| tensor.numel();
    ensure!(
        rows.iter().map(|(_, len)| len).sum::<usize>() == width
            && tensors.iter().filter(|tensor| !is_left_out(tensor)).map(count).sum::<i64>() == out.numel(),
        Busy,
        "{}: a tensor was resized while it was read",
        aten::cat::NAME
    );
    // Threads divide the bytes, so that the number of rows does not matter.
    parallel::shares(out.numel() as usize * size, loops::COPY_GRAIN * size, |range| {
        let mut row = range.start / width;
        while row * width < range.end {
            let mut start = row * width;
            for (from, len) in &rows {
                let (first, last) = (range.start.max(start), range.end.min(start + len));
                if first < last {
                    let from = from.get().wrapping_add(row * len + first - start);
                    // SAFETY: this copies part of a tensor's row to its position in the result: the rows of all tensors
                    // together make up `width`, and all have equally many, as ensured above. The result's memory is
                    // new, so source and target do not overlap; only this thread uses its range, and the lease prevents
                    // other accesses.
                    unsafe { copy_bytes(from, to.get().wrapping_add(first), last - first) };
                }
                start += len;
            }
            row += 1;
        }
    });
    Ok(true)
}

/// The uninitialised result of `cat`, and the dimension as a non-negative index.
fn joined(tensors: &[Tensor], dim: i64) -> Result<(Tensor, usize)> {
    const OPERATOR: &str = aten::cat::NAME;
    ensure!(!tensors.is_empty(), Argument, "{OPERATOR}: there are no tensors to join");
    let position = tensors.iter().position(|tensor| tensor.dim() == 0);
    if let Some(position) = position {
        bail!(Shape, "{OPERATOR}: tensor {position} has no dimensions to be joined along, use stack");
    }
    let dtype = result_type(tensors.iter().map(Tensor::promotion_operand));
    let dtype = dtype.map_err(|error| error.context(OPERATOR))?;
    let device = common_device(OPERATOR, &tensors.iter().collect::<Vec<_>>())?;
    let Some(first) = tensors.iter().find(|tensor| !is_left_out(tensor)) else {
        return Ok((Tensor::empty(&[0], dtype, device)?, 0));
    };
    let dim = wrap_dim(dim, first.dim()).map_err(|error| error.context(OPERATOR))?;
    let mut sizes = Dims::from_slice(first.sizes());
    sizes[dim] = 0;
    for tensor in tensors.iter().filter(|tensor| !is_left_out(tensor)) {
        let fits = tensor.dim() == sizes.len()
            && (0..sizes.len()).all(|other| other == dim || tensor.sizes()[other] == sizes[other]);
        ensure!(
            fits,
            Shape,
            "{OPERATOR}: sizes {:?} and {:?} differ in another dimension than {dim}",
            first.sizes(),
            tensor.sizes()
        );
        let size = sizes[dim].checked_add(tensor.sizes()[dim]);
        let Some(size) = size else {
            bail!(Shape, "{OPERATOR}: dimension {dim} of the result would exceed 2^63")
        };
        sizes[dim] = size;
    }
    let format = tensors[0].suggest_memory_format();
    let is_common = tensors.iter().all(|tensor| tensor.suggest_memory_format() == format);
    let strides = strides_for(&sizes, if is_common { format } else { MemoryFormat::Contiguous })?;
    // SAFETY: `cat` writes every element, as the sizes of the parts along `dim` add up to that of the whole, and the
    // lease that it holds keeps them unchanged; after an error the tensor is dropped.
    Ok((unsafe { Tensor::uninit_strided(&sizes, &strides, dtype, device)? }, dim))
}

/// Tensors of sizes `[0]` are skipped, for compatibility with old programs.
fn is_left_out(tensor: &Tensor) -> bool {
    tensor.sizes() == [0]
}

pub(super) fn check_index(operator: &str, index: &Tensor) -> Result<()> {
    ensure!(
        matches!(index.dtype(), DType::Int64 | DType::Int32) || index.numel() == 0,
        DType,
        "{operator}: the index is of {}, expected int64 or int32",
        index.dtype()
    );
    Ok(())
}

/// A tensor without dimensions as a vector of one element.
pub(super) fn at_least_1d(tensor: &Tensor) -> Result<Tensor> {
    match tensor.dim() {
        0 => tensor.strided_view(&[1], &[1], tensor.storage_offset()),
        _ => Ok(tensor.clone()),
    }
}

/// A view of a vector that is expanded to `sizes`, with its elements along one dimension.
pub(super) fn along(vector: &Tensor, sizes: &[i64], dim: usize) -> Result<Tensor> {
    let mut strides = Dims::from_elem(0, sizes.len());
    strides[dim] = vector.strides().first().copied().unwrap_or(0);
    vector.strided_view(sizes, &strides, vector.storage_offset())
}

/// Reads the elements at an index along a dimension.
///
/// # Errors
/// An index out of range.
pub(super) fn pick(operator: &str, out: &Tensor, source: &Tensor, dim: usize, index: &Tensor) -> Result<()> {
    let bad = gather(out, &Lanes::along(source, dim), index)?;
    check_range(operator, bad, dim, source.sizes()[dim])
}

/// # Errors
/// An index out of range.
pub(super) fn check_range(operator: &str, bad: Option<i64>, dim: usize, size: i64) -> Result<()> {
    match bad {
        None => Ok(()),
        Some(index) => {
            bail!(Index, "{operator}: index {index} is out of range for dimension {dim} of size {size}")
        }
    }
}
