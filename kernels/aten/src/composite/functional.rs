//! The functional forms of writes through views: each returns a new tensor, for functionalized programs.

use torch_library::prelude::*;

use crate::aten;
use crate::below_autograd::below_autograd;

/// An operator with a derivative of its own.
#[torch_impl(aten, CompositeExplicitAutograd, FuncTorchBatchedDecomposition)]
fn diagonal_copy(this: &Tensor, offset: i64, dim1: i64, dim2: i64) -> Result<Tensor> {
    let diagonal = aten::diagonal::call(this, offset, dim1, dim2);
    let diagonal = diagonal.map_err(|error| error.context(aten::diagonal_copy::NAME))?;
    aten::clone::with(&diagonal).memory_format(MemoryFormat::Contiguous).call()
}

#[torch_impl(aten, CompositeExplicitAutograd)]
mod kernels {
    use super::*;

    fn copy(this: &Tensor, src: &Tensor, non_blocking: bool) -> Result<Tensor> {
        let mut out = copy_of_memory(this)?;
        below_autograd(|| aten::copy_::call(&mut out, src, non_blocking).map(drop))?;
        Ok(out)
    }

    fn select_scatter(this: &Tensor, src: &Tensor, dim: i64, index: i64) -> Result<Tensor> {
        scattered(aten::select_scatter::NAME, this, src, |out| aten::select_int(out, dim, index))
    }

    fn slice_scatter(
        this: &Tensor,
        src: &Tensor,
        dim: i64,
        start: Option<i64>,
        end: Option<i64>,
        step: i64,
    ) -> Result<Tensor> {
        let part = |out: &Tensor| aten::slice_Tensor::call(out, dim, start, end, step);
        scattered(aten::slice_scatter::NAME, this, src, part)
    }

    fn diagonal_scatter(this: &Tensor, src: &Tensor, offset: i64, dim1: i64, dim2: i64) -> Result<Tensor> {
        let diagonal = |out: &Tensor| aten::diagonal::call(out, offset, dim1, dim2);
        scattered(aten::diagonal_scatter::NAME, this, src, diagonal)
    }

    fn as_strided_scatter(
        this: &Tensor,
        src: &Tensor,
        size: &[i64],
        stride: &[i64],
        storage_offset: Option<i64>,
    ) -> Result<Tensor> {
        let places = |out: &Tensor| aten::as_strided::call(out, size, stride, storage_offset);
        scattered(aten::as_strided_scatter::NAME, this, src, places)
    }
}

/// A copy of a tensor in which the elements of a view are replaced.
fn scattered(
    operator: &str,
    this: &Tensor,
    src: &Tensor,
    part: impl FnOnce(&Tensor) -> Result<Tensor>,
) -> Result<Tensor> {
    let out = copy_of_memory(this)?;
    let mut part = below_autograd(|| part(&out)).map_err(|error| error.context(operator))?;
    ensure!(
        part.sizes() == src.sizes(),
        Shape,
        "{operator}: sizes {:?} do not fit into a part of sizes {:?}",
        src.sizes(),
        part.sizes()
    );
    below_autograd(|| aten::copy_(&mut part, src).map(drop))?;
    Ok(out)
}

/// A copy of the tensor within a copy of its whole storage, so that views of the original correspond to views of the
/// copy.
fn copy_of_memory(this: &Tensor) -> Result<Tensor> {
    if this.has_internal_overlap() {
        return aten::clone(this);
    }
    let geometry = this.geometry();
    let count = this.storage().nbytes() / this.dtype().size();
    let memory = aten::as_strided::call(this, &[count as i64], &[1], Some(0))?;
    let memory = aten::clone(&memory)?;
    aten::as_strided::call(&memory, geometry.sizes(), geometry.strides(), Some(geometry.offset()))
}
