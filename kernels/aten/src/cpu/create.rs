//! Kernels that allocate and fill memory.
#![expect(
    unsafe_code,
    reason = "shares a tensor among threads as slices, and takes memory that it fills at once"
)]

use std::mem::MaybeUninit;

use torch_library::Element;
use torch_library::geometry::strides_for;
use torch_library::match_dtype;
use torch_library::prelude::*;

use crate::aten;
use crate::below_autograd::below_autograd;
use crate::composite::create::sequence::evenly_spaced;
use crate::composite::create::series::series;
use crate::composite::create::triangle::Triangle;
use crate::composite::create::{Options, creating};
use crate::loops;
use crate::loops::overlap::without_repetitions;
use crate::loops::parts::PartsMut;
use crate::loops::pointwise::unsupported;

mod complex;
mod triangle;

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    pub(super) fn empty_memory_format(
        size: &[i64],
        dtype: Option<DType>,
        layout: Option<Layout>,
        device: Option<Device>,
        pin_memory: Option<bool>,
        memory_format: Option<MemoryFormat>,
    ) -> Result<Tensor> {
        const OPERATOR: &str = aten::empty_memory_format::NAME;
        check_options(OPERATOR, layout, pin_memory)?;
        let strides = strides_for(size, memory_format.unwrap_or_default());
        let strides = strides.map_err(|error| error.context(OPERATOR))?;
        let (dtype, device) = (dtype.unwrap_or(DType::DEFAULT), device.unwrap_or(Device::CPU));
        Tensor::empty_strided(size, &strides, dtype, device).map_err(|error| error.context(OPERATOR))
    }

    pub(super) fn empty_strided(
        size: &[i64],
        stride: &[i64],
        dtype: Option<DType>,
        layout: Option<Layout>,
        device: Option<Device>,
        pin_memory: Option<bool>,
    ) -> Result<Tensor> {
        const OPERATOR: &str = aten::empty_strided::NAME;
        check_options(OPERATOR, layout, pin_memory)?;
        let (dtype, device) = (dtype.unwrap_or(DType::DEFAULT), device.unwrap_or(Device::CPU));
        Tensor::empty_strided(size, stride, dtype, device).map_err(|error| error.context(OPERATOR))
    }

    pub(super) fn fill__Scalar(this: &mut Tensor, value: Scalar) -> Result<&mut Tensor> {
        fill(this, value).map_err(|error| error.context(aten::fill__Scalar::NAME))?;
        Ok(this)
    }
}

/// Writes the memory once; the composite kernel, which serves any backend, has to write it twice.
#[torch_impl(aten, CPU)]
fn full(
    size: &[i64],
    fill_value: Scalar,
    dtype: Option<DType>,
    layout: Option<Layout>,
    device: Option<Device>,
    pin_memory: Option<bool>,
) -> Result<Tensor> {
    const OPERATOR: &str = aten::full::NAME;
    check_options(OPERATOR, layout, pin_memory)?;
    let (dtype, device) = (dtype.unwrap_or(DType::DEFAULT), device.unwrap_or(Device::CPU));
    // SAFETY: `fill` writes every element before any is read; if it fails, the tensor is dropped.
    let out = unsafe { Tensor::uninit(size, dtype, device) };
    out.and_then(|out| fill(&out, fill_value)).map_err(|error| error.context(OPERATOR))
}

/// Like [`full`], with the properties of a tensor.
#[torch_impl(aten, CPU)]
fn full_like(
    this: &Tensor,
    fill_value: Scalar,
    dtype: Option<DType>,
    layout: Option<Layout>,
    device: Option<Device>,
    pin_memory: Option<bool>,
    memory_format: Option<MemoryFormat>,
) -> Result<Tensor> {
    const OPERATOR: &str = aten::full_like::NAME;
    if device.is_some_and(|device| device != Device::CPU) {
        let mut full = aten::empty_like::call(this, dtype, layout, device, pin_memory, memory_format)?;
        below_autograd(|| aten::fill__Scalar(&mut full, fill_value).map(drop))?;
        return Ok(full);
    }
    check_options(OPERATOR, layout, pin_memory)?;
    let (dtype, format) = (dtype.unwrap_or(this.dtype()), memory_format.unwrap_or(MemoryFormat::Preserve));
    // SAFETY: `fill` writes every element before any is read; if it fails, the tensor is dropped.
    let out = unsafe { loops::uninit_like(this, dtype, format) };
    out.and_then(|out| fill(&out, fill_value)).map_err(|error| error.context(OPERATOR))
}

// Written once, as by `full`.
creating! { CPU, sequences;
    arange(end: Scalar), options => series(0.into(), end, 1.into(), of_cpu(aten::arange::NAME, options)?);
    arange_start(start: Scalar, end: Scalar), options =>
        series(start, end, 1.into(), of_cpu(aten::arange_start::NAME, options)?);
    arange_start_step(start: Scalar, end: Scalar, step: Scalar), options =>
        series(start, end, step, of_cpu(aten::arange_start_step::NAME, options)?);
    linspace(start: Scalar, end: Scalar, steps: i64), options =>
        evenly_spaced(start, end, steps, of_cpu(aten::linspace::NAME, options)?);
    tril_indices(row: i64, col: i64, offset: i64), options =>
        triangle(aten::tril_indices::NAME, [row, col], offset, true, options);
    triu_indices(row: i64, col: i64, offset: i64), options =>
        triangle(aten::triu_indices::NAME, [row, col], offset, false, options);
}

/// The options of a tensor of the CPU.
fn of_cpu(operator: &str, options: Options) -> Result<Options> {
    check_options(operator, options.layout, options.pin_memory)?;
    Ok(Options { is_of_cpu: true, ..options })
}

/// The row indices of a triangle's elements, then their column indices.
fn triangle(
    operator: &str,
    sizes: [i64; 2],
    offset: i64,
    is_lower: bool,
    options: Options,
) -> Result<Tensor> {
    let Options { dtype, device, .. } = of_cpu(operator, options)?;
    let triangle = Triangle::new(operator, sizes, offset, is_lower, dtype)?;
    // SAFETY: `write` writes every element; if it fails, the tensor is dropped.
    let out = unsafe { Tensor::uninit(&[2, triangle.count], triangle.dtype, device.unwrap_or(Device::CPU))? };
    match_dtype!(triangle.dtype, T: NotFloat8 => {
        if loops::has_elements(&out) {
            let places = PartsMut::<T>::of(&out, out.numel() as usize)?;
            // SAFETY: the tensor is new, and this slice of it the only one, to which only values are written.
            triangle.write(unsafe { places.uninit(0) }, |place| MaybeUninit::new(place.cast::<T>()));
        }
    }, else => return Err(unsupported(operator, triangle.dtype)));
    Ok(out)
}

fn check_options(operator: &str, layout: Option<Layout>, pin_memory: Option<bool>) -> Result<()> {
    let layout = layout.unwrap_or_default();
    ensure!(
        layout == Layout::Strided,
        NotSupported,
        "{operator}: layout {layout} is not supported, only strided tensors are"
    );
    ensure!(pin_memory != Some(true), NotSupported, "{operator}: pinned memory is not supported");
    Ok(())
}

/// Fills a tensor. If elements overlap, they all get the same value, so each position is written once.
fn fill(this: &Tensor, value: Scalar) -> Result<Tensor> {
    // As in PyTorch, a number beyond the range of a short float becomes what it is rounded to where there is one
    // element, and is refused where there are others.
    let is_rounded = this.numel() == 1 && this.dtype().is_floating_point() && this.dtype().size() < 4;
    let apart;
    let places = match this.has_internal_overlap() {
        true => {
            apart = without_repetitions(this)?;
            &apart
        }
        false => this,
    };
    match_dtype!(this.dtype(), T: NotFloat8 => {
        let value: T = element(value, is_rounded)?;
        loops::map(places, [], |[]: [T; 0]| value)?;
    }, else => {
        let code = match_dtype!(this.dtype(), T: Float8 => element::<T>(value, is_rounded)?.to_bits(), else => 0);
        loops::map(&loops::as_bytes(places)?, [], |[]: [u8; 0]| code)?;
    });
    Ok(this.clone())
}

fn element<T: Element>(value: Scalar, is_rounded: bool) -> Result<T> {
    if !is_rounded {
        return value.to();
    }
    value.to::<f64>()?; // which refuses an imaginary part
    Ok(value.cast())
}
