//! Operators that do almost nothing, so that the cost of a call can be measured.

use torch_library::{derivatives, prelude::*};
use torch_library_loops::{Pointwise, match_opmath};

#[cfg(feature = "hundred")]
mod hundred;

torch_library_pytorch::export!();

torch_library! {
    /// Operators to measure.
    pub mod bench {
        /// Does nothing.
        nop(Tensor self) -> ();
        /// Does nothing, with three arguments.
        nop3(Tensor self, Tensor other, *, float alpha=1) -> ();
        /// The sum of tensors of the same sizes.
        #[tags(pointwise)]
        myadd(Tensor self, Tensor other) -> Tensor;
    }
}

#[torch_impl(bench, CPU)]
mod cpu {
    use torch_library::prelude::*;

    fn nop(_: &Tensor) -> Result<()> {
        Ok(())
    }

    fn nop3(_: &Tensor, _: &Tensor, _: f64) -> Result<()> {
        Ok(())
    }
}

#[torch_impl(bench, CPU, Meta)]
fn myadd(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    let call = Pointwise::promoting_to_float(bench::myadd::NAME, [this, other])?;
    match_opmath!(call.dtype, T: Float => {
        call.compute(None, call.dtype, |[a, b]: [T; 2]| a + b)
    }, else => Err(call.unsupported()))
}

derivatives! {
    in bench;
    myadd(Tensor self, Tensor other) -> Tensor {
        self => grad.clone(),
        other => grad.clone(),
    }
}
