//! Hashes of tensors.

use torch_library::prelude::*;

use crate::aten;
use crate::loops;
use crate::loops::Reduction;

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
    let bits: Vec<u64> = match dtype.is_floating_point() {
        true => {
            let wide = loops::elements::<f64>(&loops::copy(this, DType::Float64)?)?;
            wide.into_iter().map(f64::to_bits).collect()
        }
        false if dtype == DType::UInt64 => loops::elements::<u64>(this)?,
        false => {
            let wide = loops::elements::<i64>(&loops::copy(this, DType::Int64)?)?;
            wide.into_iter().map(|x| x as u64).collect()
        }
    };
    joined(&out, this.sizes(), reduction.is_reduced(), &bits)?;
    Ok(out)
}

/// Writes the exclusive or of the elements over the reduced dimensions.
fn joined(out: &Tensor, sizes: &[i64], is_reduced: &[bool], bits: &[u64]) -> Result<()> {
    let mut values = vec![0u64; out.numel() as usize];
    let mut steps = vec![0usize; sizes.len()];
    let mut step = 1;
    for dim in (0..sizes.len()).rev() {
        if !is_reduced[dim] {
            steps[dim] = step;
            step *= sizes[dim] as usize;
        }
    }
    for (at, bits) in bits.iter().enumerate() {
        let (mut rest, mut to) = (at, 0);
        for dim in (0..sizes.len()).rev() {
            to += rest % sizes[dim] as usize * steps[dim];
            rest /= sizes[dim] as usize;
        }
        values[to] ^= bits;
    }
    out.clone().copy_from_slice(&values)
}
