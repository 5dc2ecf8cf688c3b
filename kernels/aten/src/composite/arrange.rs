//! Operators that rearrange elements, by views and copies.

use torch_library::fake::is_fake;
use torch_library::geometry::{infer_size, infer_view_size, wrap_dim};
use torch_library::prelude::*;

use super::vector;
use crate::aten;

mod combinations;
mod join;
mod pick;

/// Operators with derivatives of their own.
#[torch_impl(aten, CompositeExplicitAutograd, FuncTorchBatchedDecomposition)]
mod derived {
    use super::*;

    fn repeat(this: &Tensor, repeats: &[i64]) -> Result<Tensor> {
        ensure!(
            repeats.len() >= this.dim() && repeats.iter().all(|count| *count >= 0),
            Argument,
            "{}: repeats {repeats:?}, expected one count, zero or more, for each dimension of sizes {:?}",
            aten::repeat::NAME,
            this.sizes()
        );
        let missing = repeats.len() - this.dim();
        let sizes: Vec<i64> = vec![1; missing].into_iter().chain(this.sizes().iter().copied()).collect();
        let whole = repeats.iter().zip(&sizes).map(|(count, size)| count.checked_mul(*size));
        let Some(whole) = whole.collect::<Option<Vec<i64>>>() else {
            bail!(Shape, "{}: {repeats:?} repeats of sizes {sizes:?} exceed 2^63", aten::repeat::NAME)
        };
        let each = |f: fn(i64, i64) -> [i64; 2]| -> Vec<i64> {
            repeats.iter().zip(&sizes).flat_map(|(count, size)| f(*count, *size)).collect()
        };
        let expanded = aten::expand(
            &aten::reshape(this, &each(|_, size| [1, size]))?,
            &each(|count, size| [count, size]),
        )?;
        let copy = contiguous_copy(&expanded)?;
        aten::view(&copy, &whole)
    }

    fn roll(this: &Tensor, shifts: &[i64], dims: &[i64]) -> Result<Tensor> {
        const OPERATOR: &str = aten::roll::NAME;
        if dims.is_empty() && shifts.len() == 1 {
            let flat = contiguous_copy(this)?;
            let rolled = aten::roll::call(&aten::reshape(&flat, &[-1])?, shifts, &[0])?;
            return aten::reshape(&rolled, this.sizes());
        }
        ensure!(
            !shifts.is_empty() && shifts.len() == dims.len(),
            Argument,
            "{OPERATOR}: shifts {shifts:?} for dimensions {dims:?}, expected one for each"
        );
        if this.numel() == 0 {
            return aten::clone(this);
        }
        let mut out = this.clone();
        for (shift, dim) in shifts.iter().zip(dims) {
            let size = out.size(*dim).map_err(|error| error.context(OPERATOR))?;
            let start = shift.wrapping_neg().rem_euclid(size.max(1));
            let parts = [aten::narrow(&out, *dim, start, size - start)?, aten::narrow(&out, *dim, 0, start)?];
            out = aten::cat::call(&parts, *dim)?;
        }
        Ok(out)
    }

    fn rot90(this: &Tensor, k: i64, dims: &[i64]) -> Result<Tensor> {
        const OPERATOR: &str = aten::rot90::NAME;
        let wrap = |dim: i64| wrap_dim(dim, this.dim()).map_err(|error| error.context(OPERATOR));
        let &[first, second] = dims else { bail!(Argument, "{OPERATOR}: dims {dims:?}, expected two") };
        ensure!(
            this.dim() >= 2 && wrap(first)? != wrap(second)?,
            Argument,
            "{OPERATOR}: dims {dims:?} of sizes {:?}, expected two different dimensions",
            this.sizes()
        );
        match k.rem_euclid(4) {
            1 => aten::transpose_int(&aten::flip(this, &[second])?, first, second),
            2 => aten::flip(this, dims),
            3 => aten::transpose_int(&aten::flip(this, &[first])?, first, second),
            _ => contiguous_copy(this),
        }
    }

    fn diag_embed(this: &Tensor, offset: i64, dim1: i64, dim2: i64) -> Result<Tensor> {
        let [dim1, dim2] = dims_of_diagonal(this, dim1, dim2)?;
        let (below, above) = (offset.saturating_neg().max(0), offset.max(0));
        let size = this.size(-1)?.saturating_add(below.max(above));
        let padded = aten::constant_pad_nd(this, &[below, above])?;
        let rows = aten::arange(size.into())?;
        let is_on = aten::eq_Tensor(
            &aten::unsqueeze(&aten::add_Scalar(&rows, offset.into())?, 1)?,
            &aten::unsqueeze(&rows, 0)?,
        )?;
        let is_on = aten::_to_copy::with(&is_on).device(this.device()).call()?;
        let spread = aten::where_ScalarOther(&is_on, &aten::unsqueeze(&padded, -1)?, 0.into())?;
        let spread = aten::to_dtype(&spread, this.dtype())?;
        let placed = aten::movedim_intlist(&spread, &[-2, -1], &[dim1 as i64, dim2 as i64])?;
        aten::contiguous(&placed)
    }
}

#[torch_impl(aten, CompositeImplicitAutograd)]
mod implicit {
    use super::*;

    fn pad_sequence(
        sequences: &[Tensor],
        batch_first: bool,
        padding_value: f64,
        padding_side: &str,
    ) -> Result<Tensor> {
        const OPERATOR: &str = aten::pad_sequence::NAME;
        ensure!(
            ["left", "right"].contains(&padding_side),
            Argument,
            "{OPERATOR}: padding_side is {padding_side:?}, expected \"left\" or \"right\""
        );
        let Some(first) = sequences.first() else {
            bail!(Argument, "{OPERATOR}: no sequences, expected one at least")
        };
        ensure!(
            sequences.iter().all(|sequence| sequence.dim() > 0),
            Shape,
            "{OPERATOR}: a sequence without dimensions, expected one at least"
        );
        let lengths = || sequences.iter().map(|sequence| sequence.sizes()[0]);
        let longest = lengths().max().unwrap_or(0);
        let (steps, batch) = if batch_first { (1, 0) } else { (0, 1) };
        let mut sizes = [&[0, 0], &first.sizes()[1..]].concat();
        (sizes[steps], sizes[batch]) = (longest, sequences.len() as i64);
        let padded = aten::new_full(first, &sizes, padding_value.into())?;
        for (index, (sequence, length)) in sequences.iter().zip(lengths()).enumerate() {
            let start = if padding_side == "left" { longest - length } else { 0 };
            let line = aten::select_int(&padded, batch as i64, index as i64)?;
            let mut place = aten::narrow(&line, 0, start, length)?;
            aten::copy_(&mut place, sequence).map_err(|error| error.context(OPERATOR))?;
        }
        Ok(padded)
    }

    fn fill_diagonal_(this: &mut Tensor, fill_value: Scalar, wrap: bool) -> Result<&mut Tensor> {
        const OPERATOR: &str = aten::fill_diagonal_::NAME;
        let &[rows, columns, ref others @ ..] = this.sizes() else {
            bail!(Shape, "{OPERATOR}: sizes {:?}, expected two dimensions at least", this.sizes())
        };
        ensure!(
            others.is_empty() || rows == columns && others.iter().all(|size| *size == rows),
            Shape,
            "{OPERATOR}: sizes {:?}, expected a matrix, or equal sizes",
            this.sizes()
        );
        let fill = |part: &Tensor| -> Result<()> {
            let mut diagonal = part.clone();
            while diagonal.dim() > 1 {
                diagonal = aten::diagonal(&diagonal)?;
            }
            aten::fill__Scalar(&mut diagonal, fill_value).map(drop).map_err(|error| error.context(OPERATOR))
        };
        let period = columns.saturating_add(1);
        if !wrap || !others.is_empty() || rows <= period {
            fill(this)?;
            return Ok(this);
        }
        // Each diagonal ends a row before the next one starts.
        let whole = rows - rows % period;
        let blocks = aten::unflatten_int(&aten::narrow(this, 0, 0, whole)?, 0, &[whole / period, period])?;
        let mut diagonals = aten::diagonal::call(&blocks, 0, 1, 2)?;
        aten::fill__Scalar(&mut diagonals, fill_value).map_err(|error| error.context(OPERATOR))?;
        fill(&aten::narrow(this, 0, whole, rows - whole)?)?;
        Ok(this)
    }

    fn tile(this: &Tensor, dims: &[i64]) -> Result<Tensor> {
        let missing = this.dim().saturating_sub(dims.len());
        aten::repeat(this, &[&vec![1; missing], dims].concat())
    }

    fn repeat_interleave_self_int(
        this: &Tensor,
        repeats: i64,
        dim: Option<i64>,
        output_size: Option<i64>,
    ) -> Result<Tensor> {
        const OPERATOR: &str = aten::repeat_interleave_self_int::NAME;
        ensure!(repeats >= 0, Argument, "{OPERATOR}: {repeats} repeats, expected zero or more");
        let (this, dim) = along_or_flat(OPERATOR, this, dim)?;
        let size = this.sizes()[dim].saturating_mul(repeats);
        ensure!(
            output_size.is_none_or(|expected| expected == size),
            Argument,
            "{OPERATOR}: output_size is {}, the result has {size} slices",
            output_size.unwrap_or_default()
        );
        let mut sizes = this.sizes().to_vec();
        sizes.insert(dim + 1, repeats);
        let copy = contiguous_copy(&aten::expand(&aten::unsqueeze(&this, dim as i64 + 1)?, &sizes)?)?;
        aten::flatten_using_ints::call(&copy, dim as i64, dim as i64 + 1)
    }

    fn repeat_interleave_self_Tensor(
        this: &Tensor,
        repeats: &Tensor,
        dim: Option<i64>,
        output_size: Option<i64>,
    ) -> Result<Tensor> {
        const OPERATOR: &str = aten::repeat_interleave_self_Tensor::NAME;
        let (this, dim) = along_or_flat(OPERATOR, this, dim)?;
        let size = this.sizes()[dim];
        ensure!(
            repeats.numel() == 1 || repeats.sizes() == [size],
            Shape,
            "{OPERATOR}: repeats of sizes {:?} for {size} indices, expected one number, or one for each",
            repeats.sizes()
        );
        let repeats = aten::expand(&aten::reshape(repeats, &[-1])?, &[size])?;
        let index = match output_size {
            // Without elements, that is all that is known of the index.
            Some(size) if repeats.device() == Device::META || is_fake(&repeats) => {
                aten::new_empty(&repeats, &[size])?
            }
            _ => aten::repeat_interleave_Tensor::call(&repeats, output_size)?,
        };
        let index = match index.dtype() {
            DType::Int32 | DType::Int64 => index,
            _ => aten::to_dtype(&index, DType::Int64)?,
        };
        aten::index_select(&this, dim as i64, &index)
    }

    fn fliplr(this: &Tensor) -> Result<Tensor> {
        ensure!(this.dim() >= 2, Shape, "{}: sizes {:?} have no columns", aten::fliplr::NAME, this.sizes());
        aten::flip(this, &[1])
    }

    fn flipud(this: &Tensor) -> Result<Tensor> {
        ensure!(this.dim() >= 1, Shape, "{}: a tensor without dimensions has no rows", aten::flipud::NAME);
        aten::flip(this, &[0])
    }

    fn diag(this: &Tensor, diagonal: i64) -> Result<Tensor> {
        match this.dim() {
            1 => aten::diag_embed::with(this).offset(diagonal).call(),
            2 => contiguous_copy(&aten::diagonal::with(this).offset(diagonal).call()?),
            _ => bail!(
                Shape,
                "{}: sizes {:?}, expected those of a vector or a matrix",
                aten::diag::NAME,
                this.sizes()
            ),
        }
    }

    fn diagflat(this: &Tensor, offset: i64) -> Result<Tensor> {
        aten::diag::call(&aten::reshape(this, &[-1])?, offset)
    }

    fn swapaxes(this: &Tensor, axis0: i64, axis1: i64) -> Result<Tensor> {
        aten::transpose_int(this, axis0, axis1)
    }

    fn swapaxes_(this: &mut Tensor, axis0: i64, axis1: i64) -> Result<&mut Tensor> {
        aten::transpose_(this, axis0, axis1)
    }

    fn swapdims_(this: &mut Tensor, dim0: i64, dim1: i64) -> Result<&mut Tensor> {
        aten::transpose_(this, dim0, dim1)
    }

    fn swapdims(this: &Tensor, dim0: i64, dim1: i64) -> Result<Tensor> {
        aten::transpose_int(this, dim0, dim1)
    }

    fn moveaxis_int(this: &Tensor, source: i64, destination: i64) -> Result<Tensor> {
        aten::movedim_int(this, source, destination)
    }

    fn moveaxis_intlist(this: &Tensor, source: &[i64], destination: &[i64]) -> Result<Tensor> {
        aten::movedim_intlist(this, source, destination)
    }

    fn movedim_intlist(this: &Tensor, source: &[i64], destination: &[i64]) -> Result<Tensor> {
        const OPERATOR: &str = aten::movedim_intlist::NAME;
        let wrap = |dims: &[i64]| -> Result<Vec<usize>> {
            let dims = dims.iter().map(|dim| wrap_dim(*dim, this.dim())).collect::<Result<Vec<_>>>();
            let dims = dims.map_err(|error| error.context(OPERATOR))?;
            let twice = (1..dims.len()).any(|at| dims[..at].contains(&dims[at]));
            ensure!(!twice, Argument, "{OPERATOR}: a dimension is named twice in {dims:?}");
            Ok(dims)
        };
        ensure!(
            source.len() == destination.len(),
            Argument,
            "{OPERATOR}: {} source dimensions and {} destinations, expected one for each",
            source.len(),
            destination.len()
        );
        let (source, destination) = (wrap(source)?, wrap(destination)?);
        let mut others = (0..this.dim()).filter(|dim| !source.contains(dim));
        let order = (0..this.dim()).map(|place| match destination.iter().position(|other| *other == place) {
            Some(at) => source[at] as i64,
            None => others.next().unwrap_or(place) as i64,
        });
        aten::permute(this, &order.collect::<Vec<_>>())
    }

    fn mT(this: &Tensor) -> Result<Tensor> {
        transposed(aten::mT::NAME, this)
    }

    fn mH(this: &Tensor) -> Result<Tensor> {
        aten::conj(&transposed(aten::mH::NAME, this)?)
    }

    fn adjoint(this: &Tensor) -> Result<Tensor> {
        aten::conj(&transposed(aten::adjoint::NAME, this)?)
    }

    fn matrix_H(this: &Tensor) -> Result<Tensor> {
        ensure!(
            matches!(this.dim(), 0 | 2),
            Shape,
            "{}: sizes {:?} are not those of one matrix, use mH for batches",
            aten::matrix_H::NAME,
            this.sizes()
        );
        aten::mH(this)
    }

    fn numpy_T(this: &Tensor) -> Result<Tensor> {
        aten::permute(this, &(0..this.dim() as i64).rev().collect::<Vec<_>>())
    }

    fn ravel(this: &Tensor) -> Result<Tensor> {
        aten::view(&aten::contiguous(this)?, &[-1])
    }

    fn unflatten_int(this: &Tensor, dim: i64, sizes: &[i64]) -> Result<Tensor> {
        const OPERATOR: &str = aten::unflatten_int::NAME;
        ensure!(!sizes.is_empty(), Argument, "{OPERATOR}: sizes is empty, expected at least one");
        let wrapped = wrap_dim(dim, this.dim()).map_err(|error| error.context(OPERATOR))?;
        let size = this.size(dim).map_err(|error| error.context(OPERATOR))?;
        let inner = infer_view_size(sizes, size).map_err(|error| error.context(OPERATOR))?;
        aten::view(this, &[&this.sizes()[..wrapped], &inner, &this.sizes()[wrapped + 1..]].concat())
    }
}

/// The transpose of matrices; a tensor without dimensions stays as it is.
fn transposed(operator: &str, this: &Tensor) -> Result<Tensor> {
    ensure!(this.dim() != 1, Shape, "{operator}: sizes {:?} are not those of a matrix", this.sizes());
    if this.dim() == 0 { Ok(this.clone()) } else { aten::transpose_int(this, -2, -1) }
}

/// A contiguous copy.
pub(super) fn contiguous_copy(this: &Tensor) -> Result<Tensor> {
    aten::clone::with(this).memory_format(MemoryFormat::Contiguous).call()
}

/// A tensor and one of its dimensions, or the flattened tensor and its only dimension.
fn along_or_flat(operator: &str, this: &Tensor, dim: Option<i64>) -> Result<(Tensor, usize)> {
    let (this, dim) = match dim {
        Some(dim) => (this.clone(), dim),
        None => (aten::reshape(this, &[-1])?, 0),
    };
    ensure!(this.dim() > 0, Index, "{operator}: a tensor without dimensions has no dimension {dim}");
    let dim = wrap_dim(dim, this.dim()).map_err(|error| error.context(operator))?;
    Ok((this, dim))
}

/// The two new dimensions of `diag_embed`.
///
/// # Errors
/// The same dimension twice, a dimension out of range; a tensor without dimensions.
pub(crate) fn dims_of_diagonal(this: &Tensor, dim1: i64, dim2: i64) -> Result<[usize; 2]> {
    const OPERATOR: &str = aten::diag_embed::NAME;
    ensure!(this.dim() > 0, Shape, "{OPERATOR}: a tensor without dimensions has no last dimension");
    let wrap = |dim: i64| wrap_dim(dim, this.dim() + 1).map_err(|error| error.context(OPERATOR));
    let dims = [wrap(dim1)?, wrap(dim2)?];
    ensure!(dims[0] != dims[1], Argument, "{OPERATOR}: dimension {dim1} has no diagonal with itself");
    Ok(dims)
}

/// The sizes that all tensors broadcast to.
fn common_sizes(operator: &str, tensors: &[Tensor]) -> Result<Vec<i64>> {
    let mut sizes = Vec::new();
    for tensor in tensors {
        sizes = infer_size(&sizes, tensor.sizes()).map_err(|error| error.context(operator))?.to_vec();
    }
    Ok(sizes)
}
