//! A namespace with its crate's name: the crate root re-exports the operators.
#![deny(warnings, missing_docs, unreachable_pub)]

use torch_library::prelude::*;

torch_library! {
    /// Operators on images.
    pub mod imgops {
        /// Brighter.
        adjust(Tensor self, float gain, *, float bias=0.0) -> Tensor;
        /// The same.
        copy(Tensor self) -> Tensor;
    }
}

pub use imgops::*;

#[torch_impl(imgops, CPU)]
mod cpu {
    use torch_library::prelude::*;

    fn adjust(this: &Tensor, gain: f64, bias: f64) -> Result<Tensor> {
        let values = this.to_vec::<f64>()?;
        Tensor::from_vec(values.iter().map(|value| value * gain + bias).collect(), this.sizes())
    }
}
