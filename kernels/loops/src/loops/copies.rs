//! Copies of whole tensors, and uninitialised results with the memory layout of another tensor.
#![expect(unsafe_code, reason = "reads and writes elements through pointers that a walk keeps in bounds")]

use torch_library::geometry::{preserved_strides, strides_for};
use torch_library::{DType, Element, Lease, MemoryFormat, Result, Tensor, bail, ensure, match_dtype};

use super::function::Identity;
use super::inner::Inner;
use super::walk::{SHORT, Walk};
use super::{COPY_GRAIN, Operands, as_bytes, assign, has_elements};

/// A row-major copy, converted to `dtype`.
///
/// # Errors
/// Memory that the host cannot access.
#[track_caller]
pub fn copy(tensor: &Tensor, dtype: DType) -> Result<Tensor> {
    // SAFETY: `assign` writes every element before any is read; if it fails, the tensor is dropped here.
    let copy = unsafe { uninit_like(tensor, dtype, MemoryFormat::Contiguous)? };
    assign(&copy, tensor)?;
    Ok(copy)
}

/// A copy with the memory layout of the tensor, in which some dimensions are reversed.
///
/// # Errors
/// Memory that the host cannot access.
#[track_caller]
pub fn copy_back_to_front(tensor: &Tensor, is_back: impl Fn(usize) -> bool) -> Result<Tensor> {
    // SAFETY: `write_back_to_front` writes every element before any is read; if it is not reached, there are no
    // elements, and if it fails, the tensor is dropped here.
    let out = unsafe { uninit_like(tensor, tensor.dtype(), MemoryFormat::Preserve)? };
    if has_elements(&out) {
        match tensor.dtype().is_float8() {
            true => write_back_to_front(&as_bytes(&out)?, &as_bytes(tensor)?, is_back)?,
            false => write_back_to_front(&out, tensor, is_back)?,
        }
    }
    Ok(out)
}

/// Writes the elements of a tensor, in some dimensions from the last to the first, to a new one of the same type.
fn write_back_to_front(out: &Tensor, tensor: &Tensor, is_back: impl Fn(usize) -> bool) -> Result<()> {
    let lease = Lease::new([out], [tensor])?;
    ensure!(
        out.sizes() == tensor.sizes(),
        Shape,
        "sizes {:?} changed to {:?} meanwhile",
        out.sizes(),
        tensor.sizes()
    );
    let (mut walk, first) = Walk::back_to_front(out.geometry(), tensor.geometry(), is_back);
    match_dtype!(tensor.dtype(), T: NotFloat8 => {
        let inner = Inner::of::<T, T, _>(&Identity);
        let mut operands = Operands::new(out, [tensor], &inner, &lease)?;
        let input = &mut operands.inputs[0];
        input.data = input.data.wrapping_offset(first * input.size as isize);
        let is_short = walk.inner().is_some_and(|(len, _)| len < SHORT);
        if is_short || !operands.copies(&mut walk) {
            walk.lengthen_rows();
            operands.compute_rows(&walk, out.numel() as usize, COPY_GRAIN);
        }
    }, else => bail!(DType, "not implemented for {}", tensor.dtype()));
    drop(lease);
    Ok(())
}

/// An uninitialised tensor with the sizes and device of `tensor`, of type `dtype` and in a memory format.
///
/// # Safety
/// - Every element is written before any is read.
/// - Every element is written before safe code gets the tensor, or it never does.
///
/// # Errors
/// A memory format that is for another number of dimensions.
pub unsafe fn uninit_like(tensor: &Tensor, dtype: DType, format: MemoryFormat) -> Result<Tensor> {
    let geometry = tensor.geometry();
    let strides = match format {
        MemoryFormat::Preserve => preserved_strides(geometry.sizes(), geometry.strides()),
        _ => strides_for(geometry.sizes(), format)?,
    };
    // SAFETY: the caller writes every element before any is read, and before safe code gets the tensor.
    unsafe { Tensor::uninit_strided(geometry.sizes(), &strides, dtype, tensor.device()) }
}

/// The tensor itself if it is contiguous in row-major order, else a copy that is.
///
/// # Errors
/// Memory that the host cannot access.
///
/// PyTorch: `Tensor.contiguous`.
#[track_caller]
pub fn contiguous(tensor: &Tensor) -> Result<Tensor> {
    if tensor.is_contiguous(MemoryFormat::Contiguous) {
        return Ok(tensor.clone());
    }
    copy(tensor, tensor.dtype())
}

/// The elements in row-major order, as the opmath type `M`.
///
/// # Errors
/// Memory that the host cannot access.
#[track_caller]
pub fn elements<M: Element>(tensor: &Tensor) -> Result<Vec<M>> {
    if tensor.dtype() == M::DTYPE { tensor.to_vec() } else { copy(tensor, M::DTYPE)?.to_vec() }
}
