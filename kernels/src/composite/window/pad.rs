//! Padding by what the tensor has itself.

use torch_library::prelude::*;

use crate::aten;
use crate::composite::{crossed, vector};

/// What has a derivative of its own.
#[torch_impl(aten, CompositeExplicitAutograd, FuncTorchBatchedDecomposition)]
mod derived {
    use super::*;

    fn reflection_pad1d(this: &Tensor, padding: &[i64]) -> Result<Tensor> {
        padded("aten::reflection_pad1d", this, padding, Edge::Reflect)
    }

    fn reflection_pad2d(this: &Tensor, padding: &[i64]) -> Result<Tensor> {
        padded("aten::reflection_pad2d", this, padding, Edge::Reflect)
    }

    fn replication_pad1d(this: &Tensor, padding: &[i64]) -> Result<Tensor> {
        padded("aten::replication_pad1d", this, padding, Edge::Replicate)
    }

    fn replication_pad2d(this: &Tensor, padding: &[i64]) -> Result<Tensor> {
        padded("aten::replication_pad2d", this, padding, Edge::Replicate)
    }

    fn replication_pad3d(this: &Tensor, padding: &[i64]) -> Result<Tensor> {
        padded("aten::replication_pad3d", this, padding, Edge::Replicate)
    }
}

#[torch_impl(aten, CompositeImplicitAutograd)]
mod kernels {
    use super::*;

    fn pad(this: &Tensor, pad: &[i64], mode: &str, value: Option<f64>) -> Result<Tensor> {
        const OPERATOR: &str = "aten::pad";
        let edge = match mode {
            "constant" => {
                return aten::constant_pad_nd::call(this, pad, value.unwrap_or(0.0).into());
            }
            "reflect" => Edge::Reflect,
            "replicate" => Edge::Replicate,
            "circular" => Edge::Circular,
            other => bail!(
                Argument,
                "{OPERATOR}: unknown mode {other:?}, expected \"constant\", \"reflect\", \"replicate\" or \"circular\""
            ),
        };
        ensure!(value.is_none(), Argument, "{OPERATOR}: a value is for mode \"constant\", not for {mode:?}");
        padded(OPERATOR, this, pad, edge)
    }
}

/// What lies beyond an edge.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Edge {
    Reflect,
    Replicate,
    Circular,
}

impl Edge {
    /// Which of so many elements each place of a padded dimension repeats.
    fn places(self, size: i64, pad: &[i64]) -> Vec<i64> {
        let source = |place: i64| match self {
            Edge::Replicate => place.clamp(0, size - 1),
            Edge::Circular => place.rem_euclid(size),
            Edge::Reflect if place < 0 => -place,
            Edge::Reflect if place >= size => 2 * (size - 1) - place,
            Edge::Reflect => place,
        };
        (-pad[0]..size + pad[1]).map(source).collect()
    }
}

/// The gradient of what was padded to give a tensor of this one: that of each element and of its repetitions.
pub(crate) fn gathered(grad: &Tensor, sizes: &[i64], pad: &[i64], edge: Edge) -> Result<Tensor> {
    let mut out = grad.clone();
    for (back, pad) in pad.chunks_exact(2).enumerate().filter(|(_, pad)| **pad != [0, 0]) {
        let (dim, size) = (-1 - back as i64, sizes[sizes.len() - 1 - back]);
        let mut sizes = out.sizes().to_vec();
        sizes[out.dim() - 1 - back] = size;
        out = aten::index_add(
            &aten::new_zeros(&out, &sizes)?,
            dim,
            &vector(edge.places(size, pad), grad.device())?,
            &out,
        )?;
    }
    Ok(out)
}

/// Picks for each place of the result the one that it repeats, dimension by dimension.
fn padded(operator: &str, this: &Tensor, pad: &[i64], edge: Edge) -> Result<Tensor> {
    ensure!(
        pad.len().is_multiple_of(2) && pad.len() / 2 <= this.dim(),
        Argument,
        "{operator}: pad {pad:?} has not two numbers for each of at most {} dimensions",
        this.dim()
    );
    let mut lists = Vec::new();
    for (back, pad) in pad.chunks_exact(2).enumerate() {
        let dim = -1 - back as i64;
        let size = this.size(dim)?;
        let most = if edge == Edge::Reflect { size - 1 } else { size };
        ensure!(
            size > 0
                && pad.iter().all(|pad| (-size..=i64::from(i32::MAX)).contains(pad))
                && (edge == Edge::Replicate || pad.iter().all(|pad| *pad <= most)),
            Argument,
            "{operator}: padding {pad:?} is more than dimension {dim} of sizes {:?} has to give",
            this.sizes()
        );
        lists.push(edge.places(size, pad));
    }
    let format = if edge == Edge::Circular { MemoryFormat::Contiguous } else { this.suggest_memory_format() };
    if pad.iter().all(|pad| *pad == 0) {
        return aten::clone::with(this).memory_format(Some(format)).call(); // a copy all the same
    }
    lists.reverse();
    let out = crossed(this, this.dim() - lists.len(), lists)?;
    aten::contiguous::with(&out).memory_format(format).call()
}
