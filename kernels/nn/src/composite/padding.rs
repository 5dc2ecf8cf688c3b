//! Padding with elements of the tensor itself, or with a constant.

use torch_library::geometry::contiguous_strides;
use torch_library::prelude::*;

use crate::aten;
use crate::below_autograd::below_autograd;
use crate::composite::{collected, crossed};

#[torch_impl(aten, CompositeImplicitAutograd)]
mod kernels {
    use super::*;

    fn pad(this: &Tensor, pad: &[i64], mode: &str, value: Option<f64>) -> Result<Tensor> {
        const OPERATOR: &str = aten::pad::NAME;
        if mode == "constant" {
            return aten::constant_pad_nd::call(this, pad, value.unwrap_or(0.0).into());
        }
        ensure!(
            value.unwrap_or(0.0) == 0.0,
            Argument,
            "{OPERATOR}: a value is for mode \"constant\", not for {mode:?}"
        );
        let ndim = pad.len() / 2;
        ensure!(
            pad.len().is_multiple_of(2)
                && (1..=3).contains(&ndim)
                && (ndim + 1..=ndim + 2).contains(&this.dim()),
            Argument,
            "{OPERATOR}: pad {pad:?} in mode {mode:?} of sizes {:?}, expected two numbers for each of one to three \
             dimensions after the channels, with or without a batch",
            this.sizes()
        );
        match (mode, ndim) {
            ("reflect", 1) => aten::reflection_pad1d(this, pad),
            ("reflect", 2) => aten::reflection_pad2d(this, pad),
            ("reflect", _) => aten::reflection_pad3d(this, pad),
            ("replicate", 1) => aten::replication_pad1d(this, pad),
            ("replicate", 2) => aten::replication_pad2d(this, pad),
            ("replicate", _) => aten::replication_pad3d(this, pad),
            ("circular", _) => circular(OPERATOR, this, pad),
            (other, _) => bail!(
                Argument,
                "{OPERATOR}: unknown mode {other:?}, expected \"constant\", \"reflect\", \"replicate\" or \"circular\""
            ),
        }
    }

    fn _pad_circular(this: &Tensor, pad: &[i64]) -> Result<Tensor> {
        aten::pad::call(this, pad, "circular", None)
    }

    fn _pad_enum(this: &Tensor, pad: &[i64], mode: i64, value: Option<f64>) -> Result<Tensor> {
        let mode = match mode {
            0 => "reflect",
            1 => "replicate",
            2 => "circular",
            3 => "constant",
            _ => bail!(Argument, "{}: mode is {mode}, expected 0 to 3", aten::_pad_enum::NAME),
        };
        aten::pad::call(this, pad, mode, value)
    }
}

/// Circular padding, dimension by dimension: indexes the element of the other side that each place repeats.
fn circular(operator: &str, this: &Tensor, pad: &[i64]) -> Result<Tensor> {
    let mut lists = Vec::new();
    let mut kept = this.clone();
    for (back, pad) in pad.chunks_exact(2).enumerate() {
        let size = this.sizes()[this.dim() - 1 - back];
        let padded = pad.iter().try_fold(size, |padded, pad| padded.checked_add(*pad));
        ensure!(
            pad.iter().all(|pad| (-size..=size).contains(pad))
                && (pad[0] == 0 && pad[1] == 0 || padded.is_some_and(|padded| padded > 0)),
            Argument,
            "{operator}: padding {pad:?} is too large for sizes {:?}",
            this.sizes()
        );
        // Elements that are cut off on one side are not repeated on the other.
        let [cut, cut_end] = [pad[0], pad[1]].map(|pad| (-pad).max(0));
        let (dim, size) = ((this.dim() - 1 - back) as i64, (size - cut - cut_end).max(0));
        kept = aten::narrow(&kept, dim, cut.min(this.sizes()[dim as usize]), size)?;
        let (before, after) = (pad[0].max(0), pad[1].max(0));
        let source = |place: i64| (place - before).checked_rem_euclid(size).unwrap_or(0);
        // Without elements, a size may exceed any list.
        lists.push(collected(operator, before.saturating_add(size).saturating_add(after), source)?);
    }
    if pad.iter().all(|pad| *pad == 0) {
        // The result is a copy in this case too.
        return aten::clone::with(this).memory_format(MemoryFormat::Contiguous).call();
    }
    lists.reverse();
    let out = crossed(&kept, this.dim() - lists.len(), lists)?;
    // To the last stride, even of a dimension of size one, which being contiguous does not settle.
    if *out.strides() == *contiguous_strides(out.sizes()) {
        return Ok(out);
    }
    aten::clone::with(&out).memory_format(MemoryFormat::Contiguous).call()
}

#[torch_impl(aten, CompositeExplicitAutograd)]
fn constant_pad_nd(this: &Tensor, pad: &[i64], value: Scalar) -> Result<Tensor> {
    const OPERATOR: &str = aten::constant_pad_nd::NAME;
    ensure!(
        pad.len().is_multiple_of(2) && pad.len() / 2 <= this.dim(),
        Argument,
        "{OPERATOR}: pad {pad:?} does not have two numbers for each of at most {} dimensions",
        this.dim()
    );
    let mut sizes = this.sizes().to_vec();
    for (size, pad) in sizes.iter_mut().rev().zip(pad.chunks_exact(2)) {
        *size = size.saturating_add(pad[0].saturating_add(pad[1])); // a sum that is too large is refused as a size
    }
    ensure!(
        sizes.iter().all(|size| *size >= 0),
        Shape,
        "{OPERATOR}: pad {pad:?} removes more elements than sizes {:?} have",
        this.sizes()
    );
    if pad.iter().all(|pad| *pad <= 0) {
        return taken_off(this, pad); // a tensor that is only cropped keeps its memory format
    }
    let mut out = aten::empty_memory_format::with(&sizes)
        .dtype(this.dtype())
        .device(this.device())
        .memory_format(this.suggest_memory_format())
        .call()?;
    below_autograd(|| {
        aten::fill__Scalar(&mut out, value)?;
        let (mut source, mut place) = (this.clone(), out.clone());
        for (back, pad) in pad.chunks_exact(2).enumerate() {
            let dim = -1 - back as i64;
            let kept = this.size(dim)?.saturating_add(pad[0].min(0)).saturating_add(pad[1].min(0)).max(0);
            source = aten::narrow(&source, dim, pad[0].saturating_neg().max(0), kept)?;
            place = aten::narrow(&place, dim, pad[0].max(0), kept)?;
        }
        aten::copy_(&mut place, &source).map(drop)
    })?;
    Ok(out)
}

/// A copy of the part of a tensor that negative padding leaves.
fn taken_off(this: &Tensor, pad: &[i64]) -> Result<Tensor> {
    let mut left = this.clone();
    for (back, pad) in pad.chunks_exact(2).enumerate() {
        let dim = -1 - back as i64;
        left = aten::narrow(&left, dim, -pad[0], left.size(dim)? + pad[0] + pad[1])?;
    }
    aten::clone(&left)
}
