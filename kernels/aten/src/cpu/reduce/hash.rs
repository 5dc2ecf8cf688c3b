//! Hashes of tensors.

use torch_library::prelude::*;

use crate::aten;
use crate::loops;
use crate::loops::Reduction;
use crate::loops::reduce::{Fold, fold};

#[torch_impl(aten, CPU, Meta)]
fn hash_tensor(this: &Tensor, dim: &[i64], keepdim: bool, mode: i64) -> Result<Tensor> {
    let _lease = loops::frozen([this])?;
    const OPERATOR: &str = aten::hash_tensor::NAME;
    ensure!(mode == 0, Argument, "{OPERATOR}: mode {mode} is unknown, expected 0");
    let reduction = Reduction::new(OPERATOR, this, Some(dim), keepdim)?;
    let out = reduction.output(DType::UInt64)?;
    ensure!(
        reduction.count() > 0 || (out.numel() == 0 && !dim.is_empty()),
        Shape,
        "{OPERATOR}: sizes {:?} have no elements to reduce",
        this.sizes()
    );
    let dtype = this.dtype();
    if !dtype.is_floating_point() && !dtype.is_integer() && dtype != DType::Bool {
        return Err(reduction.unsupported(dtype));
    }
    if !loops::has_elements(&out) {
        return Ok(out);
    }
    let (outs, is_reduced) = ([&out], reduction.is_reduced());
    match dtype {
        DType::UInt64 => fold(outs, this, is_reduced, &Joined(|x: u64| x), |bits| [bits])?,
        _ if dtype.is_floating_point() => fold(outs, this, is_reduced, &Joined(f64::to_bits), |bits| [bits])?,
        _ => fold(outs, this, is_reduced, &Joined(|x: i64| x as u64), |bits| [bits])?,
    }
    Ok(out)
}

/// The exclusive or of the bits of all elements.
struct Joined<F>(F);

impl<M, F: Fn(M) -> u64 + Sync> Fold<M> for Joined<F> {
    type Value = u64;

    fn identity(&self) -> u64 {
        0
    }

    fn step(&self, joined: u64, element: M, _: usize) -> u64 {
        joined ^ (self.0)(element)
    }

    fn merge(&self, a: u64, b: u64) -> u64 {
        a ^ b
    }
}
