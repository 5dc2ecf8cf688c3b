//! A training step without elements: what does a network need, and do its shapes fit, on a device that is not here?

use torch_library::fake::FakeMode;
use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::optim::{AdamW, Optimizer};

torch_library! {
    /// An operator with a kernel for a device that this machine lacks.
    pub mod far {
        /// Twice as many columns.
        widen(Tensor self) -> Tensor;
    }
}

/// The only kernel that fake mode needs.
#[torch_impl(far, Meta)]
fn widen(this: &Tensor) -> Result<Tensor> {
    Tensor::empty(&[this.size(0)?, 2 * this.size(1)?], this.dtype(), Device::META)
}

fn main() -> Result<()> {
    let mode = FakeMode::new();
    let (images, device) = (1 << 20, "cuda:0".parse::<Device>()?);
    let on_device = |sizes: &[i64]| aten::zeros::with(sizes).dtype(DType::Float32).device(device).call();
    let parameters = vec![on_device(&[64, 3, 7, 7])?, on_device(&[10, 64 * 16 * 16])?];
    parameters.iter().try_for_each(|parameter| parameter.set_requires_grad(true))?;

    let input = on_device(&[images, 3, 64, 64])?;
    let labels = aten::zeros::with(&[images]).dtype(DType::Int64).device(device).call()?;
    let seen = aten::conv2d::with(&input, &parameters[0]).stride(&[2, 2]).padding(&[3, 3]).call()?;
    let seen = aten::max_pool2d(&aten::relu(&seen)?, &[2, 2])?;
    let logits = aten::linear(&aten::flatten_using_ints::with(&seen).start_dim(1).call()?, &parameters[1])?;
    println!("{:?} become {:?} and {:?} on {}", input.sizes(), seen.sizes(), logits.sizes(), logits.device());

    aten::cross_entropy_loss(&logits, &labels)?.backward()?;
    AdamW::new(parameters.clone(), 1e-3)?.step()?;
    let grads: Vec<_> = parameters.iter().filter_map(Tensor::grad).collect();
    println!("gradients of {:?} and {:?}", grads[0].sizes(), grads[1].sizes());
    println!("{} GB of images, in no memory", input.storage().nbytes() >> 30);

    println!("\n{}", aten::nonzero(&logits).unwrap_err());
    println!("\n{}", aten::add_Tensor(&logits, &aten::zeros(&[2, 10])?).unwrap_err());
    drop(mode);

    let plain = Tensor::from([[1.0, 2.0]]);
    println!("\n{}", far::widen(&plain).unwrap_err().to_string().lines().next().unwrap_or_default());
    println!("fake: {}", far::widen(&torch_library::fake::to_fake(&plain)?)?);
    Ok(())
}

// Prints:
// [1048576, 3, 64, 64] become [1048576, 64, 16, 16] and [1048576, 10] on cuda:0
// gradients of [64, 3, 7, 7] and [10, 16384]
// 48 GB of images, in no memory
//
// aten::nonzero depends on the values of elements, which fake tensors do not have
//   help: call it outside of fake mode, or use an operator whose result has the same sizes for all values
//
// aten::add.Tensor got tensors on cuda:0 and on cpu, expected one device
//   help: move one of them to the device of the other first
//
// far::widen has no kernel for CPU, and no linked crate registers any CPU kernel in far; did you forget `use the_crate_with_the_kernels as _;`?
// fake: tensor(..., size=(1, 4), dtype=torch.float64)
