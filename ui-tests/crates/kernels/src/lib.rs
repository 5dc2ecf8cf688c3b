//! Kernels for the operators of another crate, with the runtime under another name.
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, unreachable_pub, unused_qualifications, single_use_lifetimes, elided_lifetimes_in_paths)]

use ops::myops;
use tl::{DispatchKeySet, OperatorHandle, Result, Stack, Tensor, torch_fallback, torch_impl};

#[torch_impl(myops, CPU)]
mod cpu {
    use super::*;

    fn double(this: &Tensor, _: &str) -> Result<Tensor> {
        Tensor::from_vec(twice(this)?, this.sizes())
    }

    fn double_(this: &mut Tensor) -> Result<&mut Tensor> {
        this.copy_from_slice(&twice(this)?)?;
        Ok(this)
    }
}

fn twice(tensor: &Tensor) -> Result<Vec<f32>> {
    Ok(tensor.to_vec::<f32>()?.iter().map(|x| 2.0 * x).collect())
}

#[torch_impl(myops, "minmax.out", CPU)]
fn minmax<'a, 'b>(
    _: &Tensor,
    _: &Tensor,
    min: &'a mut Tensor,
    max: &'b mut Tensor,
) -> Result<(&'a mut Tensor, &'b mut Tensor)> {
    Ok((min, max))
}

#[torch_fallback(Tracer, crate = tl)]
fn skip(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    operator.redispatch_boxed(keys.remove(tl::DispatchKey::Tracer), stack)
}

tl::torch_library! {
    /// More operators, declared under the other name.
    pub mod more extends ops::myops {
        /// Quadruples.
        quadruple(Tensor self) -> Tensor;
    }
}

#[torch_impl(more, CompositeImplicitAutograd)]
fn quadruple(this: &Tensor) -> Result<Tensor> {
    more::double(&more::double(this)?)
}
