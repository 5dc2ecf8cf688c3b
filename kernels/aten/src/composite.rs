//! Composite kernels: written in terms of other operators, or without access to elements, they serve every backend.

pub(crate) mod activation;
pub(crate) mod arrange;

mod binary;
mod bits;
mod bucketization;
mod constraints;
mod copy;
mod correlation;
pub(crate) mod create;
mod device;
pub(crate) mod distance;
mod factor;
mod fake_quantize;
mod fourier;
mod functional;
mod histogram;
mod index;
mod integration;
mod lazy;
pub(crate) mod linalg;
pub(crate) mod linear;
pub(crate) mod matmul;
mod metadata;
mod pixel_shuffle;
mod random;
pub(crate) mod reduce;
mod scan;
pub(crate) mod scatter;
mod sorting;
pub mod special;
mod storage;
pub(crate) mod unary;
mod view;

use torch_library::autocast::Autocast;
use torch_library::fake::is_fake;
use torch_library::prelude::*;

use crate::aten;

/// Whether a tensor is a plain CPU tensor: no wrapper, no fake tensor, and with no keys besides those of an ordinary
/// one.
pub(crate) fn is_plain(tensor: &Tensor) -> Result<bool> {
    let plain = Tensor::empty(&[0], tensor.dtype(), Device::CPU)?;
    Ok((tensor.device(), tensor.key_set()) == (Device::CPU, plain.key_set()) && !is_fake(tensor))
}

/// Whether a tensor has elements that can be read at once: it is on the CPU, and neither a wrapper nor a fake tensor.
pub(crate) fn is_readable(tensor: &Tensor) -> bool {
    tensor.device() == Device::CPU && !tensor.is_wrapper() && !is_fake(tensor)
}

/// Runs a closure without autocast on a device: for calls that PyTorch's kernel of the same operator does not make.
pub(crate) fn below_autocast<R>(device: Device, f: impl FnOnce() -> R) -> R {
    Autocast::on(device.kind).enabled(false).run(f)
}

/// A vector of `count` numbers, or an error if there is no memory for them.
pub fn collected<T>(operator: &str, count: i64, number: impl FnMut(i64) -> T) -> Result<Vec<T>> {
    let mut numbers = Vec::new();
    let room = usize::try_from(count).is_ok_and(|count| numbers.try_reserve_exact(count).is_ok());
    ensure!(room, OutOfMemory, "{operator}: cannot allocate memory for {count} numbers");
    numbers.extend((0..count).map(number));
    Ok(numbers)
}

/// An index tensor of one dimension, on a device.
pub(crate) fn vector(index: Vec<i64>, device: Device) -> Result<Tensor> {
    let count = index.len() as i64;
    let index = Tensor::from_vec(index, &[count])?;
    if device == Device::CPU { Ok(index) } else { aten::_to_copy::with(&index).device(device).call() }
}

/// The elements at the Cartesian product of lists of indices, one list for each dimension from `first` on.
pub fn crossed(this: &Tensor, first: usize, lists: Vec<Vec<i64>>) -> Result<Tensor> {
    let mut indices = vec![None; first];
    for (behind, list) in (0..lists.len()).rev().zip(lists) {
        let column = [&[list.len() as i64], &vec![1; behind][..]].concat();
        indices.push(Some(aten::view(&vector(list, this.device())?, &column)?));
    }
    aten::index_Tensor(this, &indices)
}

/// A tensor of numbers that derivatives are defined for, converted to the default type if it is not.
pub(crate) fn in_floats(this: &Tensor) -> Result<Tensor> {
    if this.dtype().is_differentiable() { Ok(this.clone()) } else { aten::to_dtype(this, DType::DEFAULT) }
}
