//! Look-ups of elements in sorted rows.

use torch_library::prelude::*;

use super::in_floats;
use crate::aten;

mod compressed;

#[torch_impl(aten, CompositeImplicitAutograd)]
mod implicit {
    use super::*;

    fn searchsorted_Scalar(
        sorted_sequence: &Tensor,
        this: Scalar,
        out_int32: bool,
        right: bool,
        side: Option<&str>,
        sorter: Option<&Tensor>,
    ) -> Result<Tensor> {
        let (number, sequence) = number_beside(this, sorted_sequence)?;
        aten::searchsorted_Tensor::call(&sequence, &number, out_int32, right, side, sorter)
    }

    fn bucketize_Tensor(this: &Tensor, boundaries: &Tensor, out_int32: bool, right: bool) -> Result<Tensor> {
        ensure!(
            boundaries.dim() == 1,
            Shape,
            "{}: boundaries of sizes {:?}, expected a vector",
            aten::bucketize_Tensor::NAME,
            boundaries.sizes()
        );
        aten::searchsorted_Tensor::call(boundaries, this, out_int32, right, None, None)
    }

    fn bucketize_Scalar(this: Scalar, boundaries: &Tensor, out_int32: bool, right: bool) -> Result<Tensor> {
        let (number, boundaries) = number_beside(this, boundaries)?;
        aten::bucketize_Tensor::call(&number, &boundaries, out_int32, right)
    }
}

/// A scalar and a tensor in one dtype: a floating-point scalar converts integers to floating point, an integer
/// converts bools to integers.
fn number_beside(number: Scalar, other: &Tensor) -> Result<(Tensor, Tensor)> {
    let other = match number {
        Scalar::Float(_) => in_floats(other)?,
        Scalar::Int(_) if other.dtype() == DType::Bool => aten::to_dtype(other, DType::Int64)?,
        _ => other.clone(),
    };
    let number = aten::full::with(&[], number).dtype(other.dtype()).device(other.device()).call()?;
    Ok((number, other))
}
