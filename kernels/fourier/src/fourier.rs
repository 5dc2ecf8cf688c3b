//! Fourier transforms, dimension by dimension.
//!
//! # How it works
//!
//! 1. Results have PyTorch's strides: the outer dimensions are those that are not transformed, ordered by their strides
//!    in the input, and the inner ones those that are transformed. So the lines of the last of these are contiguous.
//! 2. Contiguous lines are transformed directly in the result, read from the input if it has the same order
//!    ([`lines`]).
//! 3. Along other dimensions, memory is read in rows. With AVX-512, some lines at a time are transformed together,
//!    with a number of each in a register ([`together`]), and so are contiguous lines of some lengths; otherwise,
//!    they are gathered.
//! 4. Pairs of real numbers are transformed as complex numbers, so that lines are half as long ([`real`]).
//! 5. The plan for each length is kept for the next call ([`plans`]), and threads share the lines.
#![expect(unsafe_code, reason = "takes memory that it fills at once")]

use num_complex::Complex;
use rustfft::FftDirection;
use torch_library::prelude::*;

use crate::aten;
use crate::loops;
use crate::loops::pointwise::unsupported;
use lines::{Memory, columns, in_place, neighbours};
use plans::{Kind, Real};

mod lines;
mod numbers;
mod plans;
mod real;
#[cfg(target_arch = "x86_64")]
mod registers;
#[cfg(target_arch = "x86_64")]
mod stages;
#[cfg(target_arch = "x86_64")]
mod together;

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn _fft_c2c(this: &Tensor, dim: &[i64], normalization: i64, forward: bool) -> Result<Tensor> {
        let _lease = loops::frozen([this])?;
        complex_to_complex(aten::_fft_c2c::NAME, this, dim, normalization, forward)
    }

    fn _fft_r2c(this: &Tensor, dim: &[i64], normalization: i64, onesided: bool) -> Result<Tensor> {
        let _lease = loops::frozen([this])?;
        const OPERATOR: &str = aten::_fft_r2c::NAME;
        ensure!(
            this.dtype().is_floating_point(),
            DType,
            "{OPERATOR}: a tensor of {}, expected a floating-point type",
            this.dtype()
        );
        let mut dims = checked(OPERATOR, this, dim)?;
        let Some((last, others)) = dims.split_last_mut() else {
            bail!(Argument, "{OPERATOR}: no dimension to transform, expected at least one")
        };
        outermost_first(this, others);
        let (last, mut sizes) = (*last, this.sizes().to_vec());
        ensure!(sizes[last] > 0, Shape, "{OPERATOR}: dimension {last} has no elements to transform");
        let scale = scale(OPERATOR, normalization, this.sizes(), &dims)?;
        if onesided {
            sizes[last] = sizes[last] / 2 + 1;
        }
        let complex = this.dtype().to_complex().ok_or_else(|| unsupported(OPERATOR, this.dtype()))?;
        let result = Laid::new(OPERATOR, this, &dims, &sizes, complex, this.device())?;
        if let Some(out) = result.to_fill() {
            let given = loops::contiguous(&result.like(this)?)?;
            match this.dtype() {
                DType::Float32 => of_reals::<f32>(out, &given, dims.len(), scale)?,
                DType::Float64 => of_reals::<f64>(out, &given, dims.len(), scale)?,
                other => return Err(unsupported(OPERATOR, other)),
            }
        }
        result.finished()
    }

    fn _fft_c2r(this: &Tensor, dim: &[i64], normalization: i64, last_dim_size: i64) -> Result<Tensor> {
        let _lease = loops::frozen([this])?;
        const OPERATOR: &str = aten::_fft_c2r::NAME;
        let dims = checked(OPERATOR, this, dim)?;
        let Some((&last, _)) = dims.split_last() else {
            bail!(Argument, "{OPERATOR}: no dimension to transform, expected at least one")
        };
        let size = this.sizes()[last];
        ensure!(
            last_dim_size >= 0 && size == last_dim_size / 2 + 1,
            Shape,
            "{OPERATOR}: dimension {last} has size {size}, expected {last_dim_size} / 2 + 1"
        );
        complex_only(OPERATOR, this)?;
        let (mut others, mut sizes) = (dims[..dims.len() - 1].to_vec(), this.sizes().to_vec());
        outermost_first(this, &mut others);
        sizes[last] = last_dim_size;
        let scale = scale(OPERATOR, normalization, &sizes, &dims)?;
        // The result has the strides that it would have if the others were transformed first, to a result of their own.
        let lying = if others.is_empty() { this.clone() } else { Laid::without_memory(this, &others)? };
        let result = Laid::new(OPERATOR, &lying, &[last], &sizes, this.dtype().to_real(), this.device())?;
        if let Some(out) = result.to_fill() {
            let (given, others) = (result.like(this)?, result.positions(&others));
            match this.dtype() {
                DType::Complex64 => to_reals::<f32>(out, &given, &others, scale)?,
                DType::Complex128 => to_reals::<f64>(out, &given, &others, scale)?,
                other => return Err(unsupported(OPERATOR, other)),
            }
        }
        result.finished()
    }
}

fn complex_to_complex(
    operator: &'static str,
    this: &Tensor,
    dim: &[i64],
    normalization: i64,
    forward: bool,
) -> Result<Tensor> {
    complex_only(operator, this)?;
    let mut dims = checked(operator, this, dim)?;
    outermost_first(this, &mut dims);
    let scale = scale(operator, normalization, this.sizes(), &dims)?;
    if dims.is_empty() {
        return aten::clone(this);
    }
    let direction = if forward { FftDirection::Forward } else { FftDirection::Inverse };
    let result = Laid::new(operator, this, &dims, this.sizes(), this.dtype(), this.device())?;
    if let Some(out) = result.to_fill() {
        let given = result.like(this)?;
        match this.dtype() {
            DType::Complex64 => of_complex::<f32>(out, &given, dims.len(), direction, scale)?,
            DType::Complex128 => of_complex::<f64>(out, &given, dims.len(), direction, scale)?,
            other => return Err(unsupported(operator, other)),
        }
    }
    result.finished()
}

fn complex_only(operator: &str, this: &Tensor) -> Result<()> {
    ensure!(
        this.dtype().is_complex(),
        DType,
        "{operator}: a tensor of {}, expected a complex one",
        this.dtype()
    );
    Ok(())
}

/// Dimensions counted from the front, each once.
fn checked(operator: &str, this: &Tensor, dim: &[i64]) -> Result<Vec<usize>> {
    let mut dims = Vec::with_capacity(dim.len().min(this.dim()));
    for dim in dim {
        let found = usize::try_from(*dim).ok().filter(|dim| *dim < this.dim() && !dims.contains(dim));
        let Some(found) = found else {
            bail!(
                Shape,
                "{operator}: dimension {dim} is given twice, or is not a dimension of sizes {:?}, counted from the \
                 front",
                this.sizes()
            )
        };
        dims.push(found);
    }
    Ok(dims)
}

fn outermost_first(this: &Tensor, dims: &mut [usize]) {
    dims.sort_by_key(|dim| std::cmp::Reverse(this.strides()[*dim])); // a stable sort: equal strides keep their order
}

/// The dimensions that are not among `dims`. Later ones take the places of those that are, as in PyTorch, which matters
/// if strides are equal.
fn others(ndim: usize, dims: &[usize]) -> Vec<usize> {
    let (mut found, mut left) = (Vec::with_capacity(ndim), 0..ndim);
    while let Some(dim) = left.next() {
        let is_other = |dim: &usize| !dims.contains(dim);
        found.extend(Some(dim).filter(is_other).or_else(|| left.rfind(is_other)));
    }
    found
}

/// The factor by which a transform is scaled.
///
/// PyTorch: `fft_norm_mode`.
fn scale(operator: &str, normalization: i64, sizes: &[i64], dims: &[usize]) -> Result<f64> {
    let count = dims.iter().map(|dim| sizes[*dim] as f64).product::<f64>();
    match normalization {
        0 => Ok(1.0),
        1 => Ok(count.sqrt().recip()),
        2 => Ok(count.recip()),
        other => bail!(
            Argument,
            "{operator}: normalization {other}, expected 0 for none, 1 for the root of the size, 2 for the size"
        ),
    }
}

/// A result, and the row-major tensor over the same memory.
struct Laid {
    rows: Tensor,
    /// For each dimension of the row-major tensor, the dimension of the result that it is.
    order: Vec<usize>,
    sizes: Vec<i64>,
}

impl Laid {
    fn new(
        operator: &str,
        this: &Tensor,
        dims: &[usize],
        sizes: &[i64],
        dtype: DType,
        device: Device,
    ) -> Result<Self> {
        let mut order = others(sizes.len(), dims);
        outermost_first(this, &mut order);
        order.extend(dims);
        if sizes.contains(&0) {
            order.sort_unstable(); // nothing is transformed, so no dimension moves
        }
        let inner: Vec<i64> = order.iter().map(|dim| sizes[*dim]).collect();
        // SAFETY: every element is written before any is read, and before `finished` hands the tensor out: `assign`
        // writes all of them, and so do `neighbours`, `forward` and `inverse`, whose lines make up the tensor. After an
        // error it is dropped.
        let rows =
            unsafe { Tensor::uninit(&inner, dtype, device) }.map_err(|error| error.context(operator))?;
        Ok(Laid { rows, order, sizes: sizes.to_vec() })
    }

    /// A `meta` tensor with the strides that a result would have.
    fn without_memory(this: &Tensor, dims: &[usize]) -> Result<Tensor> {
        Laid::new("", this, dims, this.sizes(), this.dtype(), Device::META)?.finished()
    }

    /// The positions of dimensions in the row-major tensor.
    fn positions(&self, dims: &[usize]) -> Vec<usize> {
        (0..self.order.len()).filter(|at| dims.contains(&self.order[*at])).collect()
    }

    /// The tensor to write to, if there are any elements.
    fn to_fill(&self) -> Option<&Tensor> {
        Some(&self.rows).filter(|rows| loops::has_elements(rows))
    }

    /// A view of a tensor with its dimensions in the order of the row-major tensor.
    fn like(&self, this: &Tensor) -> Result<Tensor> {
        let [sizes, strides] = [this.sizes(), this.strides()]
            .map(|each| self.order.iter().map(|dim| each[*dim]).collect::<Vec<_>>());
        this.strided_view(&sizes, &strides, this.storage_offset())
    }

    fn finished(self) -> Result<Tensor> {
        let mut strides = vec![0; self.sizes.len()];
        for (dim, stride) in self.order.iter().zip(self.rows.strides()) {
            strides[*dim] = *stride;
        }
        self.rows.strided_view(&self.sizes, &strides, 0)
    }
}

/// Transforms the last dimensions of a tensor into those of a row-major one.
fn of_complex<T: Real>(
    out: &Tensor,
    given: &Tensor,
    count: usize,
    direction: FftDirection,
    scale: f64,
) -> Result<()> {
    let last = [1.0, scale][usize::from(count == 1)];
    let len = out.sizes()[out.dim() - 1] as usize;
    let plan = T::plans().of(Kind::Complex(direction), len);
    let is_line = given.is_contiguous(MemoryFormat::Contiguous);
    if !is_line {
        loops::assign(out, given)?;
    }
    let lines = Memory::<Complex<T>>::written(out)?;
    match is_line {
        true => neighbours(&lines, &Memory::of(given)?, &plan, last),
        false => in_place(&lines, &plan, last),
    }
    across::<T>(out, &lines, &before_last(out, count), direction, scale);
    Ok(())
}

/// Transforms a row-major tensor along further dimensions, from the last to the first, and applies the factor in the
/// last step.
fn across<T: Real>(
    out: &Tensor,
    lines: &Memory<Complex<T>>,
    dims: &[usize],
    direction: FftDirection,
    scale: f64,
) {
    for (left, dim) in dims.iter().enumerate().rev() {
        let plan = T::plans().of(Kind::Complex(direction), out.sizes()[*dim] as usize);
        let inner = out.strides()[*dim] as usize; // there are elements, so strides are valid
        columns(lines, inner, &plan, [1.0, scale][usize::from(left == 0)]);
    }
}

/// The last `count` dimensions without the very last one.
fn before_last(out: &Tensor, count: usize) -> Vec<usize> {
    (out.dim() - count..out.dim() - 1).collect()
}

/// Like [`of_complex`], for real numbers; computes half of each spectrum if the result only has room for that.
fn of_reals<T: Real>(out: &Tensor, given: &Tensor, count: usize, scale: f64) -> Result<()> {
    let last = [1.0, scale][usize::from(count == 1)];
    let [len, room] = [given, out].map(|tensor| tensor.sizes()[tensor.dim() - 1] as usize);
    let plan = T::plans().of(Kind::Real(FftDirection::Forward), len);
    let lines = Memory::<Complex<T>>::written(out)?;
    real::forward(&lines, room, &Memory::of(given)?, &plan, last);
    across::<T>(out, &lines, &before_last(out, count), FftDirection::Forward, scale);
    Ok(())
}

/// Transforms along the other dimensions, and then half-spectra back into lines of real numbers.
fn to_reals<T: Real>(out: &Tensor, given: &Tensor, others: &[usize], scale: f64) -> Result<()> {
    let len = out.sizes()[out.dim() - 1] as usize;
    let plan = T::plans().of(Kind::Real(FftDirection::Inverse), len);
    let given = match others.is_empty() {
        true => loops::contiguous(given)?,
        false => loops::copy(given, given.dtype())?,
    };
    let lines = if others.is_empty() { Memory::of(&given)? } else { Memory::written(&given)? };
    across::<T>(&given, &lines, others, FftDirection::Inverse, 1.0);
    real::inverse(&Memory::written(out)?, &lines, &plan, scale);
    Ok(())
}
