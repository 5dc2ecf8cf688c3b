//! Packing tensors with any strides into contiguous bytes, and back.

use torch_library::guard::no_grad;
use torch_library::prelude::*;
use torch_library_kernels::aten;

/// The elements of tensors as bytes, in row-major order.
pub(crate) fn pack(tensors: &[&Tensor]) -> Result<Vec<u8>> {
    let length: usize = tensors.iter().map(|tensor| nbytes(tensor)).sum();
    let mut bytes = Vec::with_capacity(length);
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

/// Writes bytes to the elements of tensors, which have as many bytes together.
pub(crate) fn unpack(mut bytes: &[u8], tensors: &[Tensor]) -> Result<()> {
    let length: usize = tensors.iter().map(nbytes).sum();
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
    tensor.numel() as usize * tensor.dtype().size()
}
