//! Packing tensors with any strides into contiguous bytes, and back.

use torch_library::guard::no_grad;
use torch_library::prelude::*;
use torch_library_kernels::aten;

/// The elements of tensors as bytes, in row-major order.
///
/// # Errors
/// A tensor is not in host memory; there is no memory for the bytes.
pub(crate) fn pack(tensors: &[&Tensor]) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(length(tensors.iter().copied())?);
    for tensor in tensors {
        ensure!(
            tensor.device() == Device::CPU,
            Device,
            "a collective sends host memory, and cannot access a tensor on {}",
            tensor.device()
        );
        if tensor.numel() == 0 {
            continue;
        }
        let dense = no_grad(|| aten::contiguous(tensor))?;
        let start = dense.storage_offset() as usize * dense.dtype().size();
        let storage = dense.storage();
        bytes.extend_from_slice(&storage.bytes()?[start..start + nbytes(&dense)]);
    }
    Ok(bytes)
}

/// The number of bytes that tensors have together, after a check that so many can be allocated.
///
/// # Errors
/// They cannot: an expanded tensor may have more elements than fit any memory.
pub(crate) fn length<'t>(tensors: impl IntoIterator<Item = &'t Tensor>) -> Result<usize> {
    let length = tensors.into_iter().map(nbytes).fold(0, usize::saturating_add);
    // Tried first, because without memory `vec![0; length]` ends the process.
    let reserved = Vec::<u8>::new().try_reserve_exact(length);
    ensure!(reserved.is_ok(), OutOfMemory, "no memory for the {length} bytes of a collective");
    Ok(length)
}

/// Writes bytes to the elements of tensors.
///
/// # Errors
/// The tensors do not have as many bytes together; an error of `copy_`.
pub(crate) fn unpack(mut bytes: &[u8], tensors: &[Tensor]) -> Result<()> {
    let length = tensors.iter().map(nbytes).fold(0, usize::saturating_add);
    ensure!(bytes.len() == length, Shape, "{} bytes came for {length} bytes of results", bytes.len());
    for tensor in tensors {
        let (own, rest) = bytes.split_at(nbytes(tensor));
        bytes = rest;
        if own.is_empty() {
            continue;
        }
        if tensor.is_contiguous(MemoryFormat::Contiguous) {
            fill(tensor, own)?;
            continue;
        }
        let dense = Tensor::empty(tensor.sizes(), tensor.dtype(), Device::CPU)?;
        fill(&dense, own)?;
        no_grad(|| aten::copy_(&mut tensor.clone(), &dense).map(drop))?;
    }
    Ok(())
}

fn fill(dense: &Tensor, bytes: &[u8]) -> Result<()> {
    let start = dense.storage_offset() as usize * dense.dtype().size();
    dense.storage().bytes_mut()?[start..start + bytes.len()].copy_from_slice(bytes);
    Ok(())
}

/// The size of the elements of a tensor in bytes, stored contiguously.
pub(crate) fn nbytes(tensor: &Tensor) -> usize {
    (tensor.numel() as usize).saturating_mul(tensor.dtype().size())
}
