//! Operators of which a program calls some. Each kernel and derivative prints a string, which shows whether it is linked.
#![forbid(unsafe_code)]
#![deny(warnings)]

use torch_library::derivatives;
use torch_library::prelude::*;

torch_library! {
    /// Operators whose kernels are in two crates.
    pub mod reached {
        /// Called by the program.
        outer(Tensor self) -> Tensor;
        /// Called by the kernel of `outer`.
        inner(Tensor self) -> Tensor;
        /// Named by the program.
        named(Tensor self) -> Tensor;
        /// Has a kernel that overrides another.
        replaced(Tensor self) -> Tensor;
        /// Called by the program only through a variant.
        #[variants(out, in_place)]
        doubled(Tensor self) -> Tensor;
        /// Never called.
        unreached(Tensor self) -> Tensor;
        /// Called only by the kernel of `unreached`.
        beyond(Tensor self) -> Tensor;
    }
}

#[torch_impl(reached, CompositeImplicitAutograd)]
fn outer(this: &Tensor) -> Result<Tensor> {
    reached::inner(this)
}

#[torch_impl(reached, CPU)]
mod cpu {
    use torch_library::prelude::*;

    fn replaced(this: &Tensor) -> Result<Tensor> {
        Ok(this.clone())
    }

    fn doubled(output: Output<'_>, this: &Tensor) -> Result<Tensor> {
        let values = this.to_vec::<f32>()?;
        let mut out = output.contiguous(this.sizes(), DType::Float32, Device::CPU, &[])?;
        out.fill_from(values.into_iter().map(|x| 2.0 * x))?;
        Ok(out)
    }

    fn unreached(this: &Tensor) -> Result<Tensor> {
        println!("UNREACHED KERNEL IN A BLOCK");
        super::reached::beyond(this)
    }
}

derivatives! {
    in reached;

    inner(Tensor self) -> Tensor as InnerBackward0 {
        self => {
            println!("THE DERIVATIVE OF INNER");
            Ok(grad.clone())
        },
    }

    unreached(Tensor self) -> Tensor as UnreachedBackward0 {
        self => {
            println!("UNREACHED DERIVATIVE");
            Ok(grad.clone())
        },
    }
}
