//! Gradients: formulas for your own operators, in-place writes, second derivatives, and errors for wrong uses.

use torch_library::autograd::{self, Context, Function};
use torch_library::guard::no_grad;
use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

torch_library! {
    /// A library that defines its derivatives.
    pub mod waves {
        sin2(Tensor self) -> Tensor;
        /// An operator without a derivative.
        plain(Tensor self) -> Tensor;
    }
}

#[torch_impl(waves, CPU)]
mod cpu {
    use super::*;

    fn sin2(this: &Tensor) -> Result<Tensor> {
        let values = this.to_vec::<f64>()?;
        Tensor::from_vec(values.iter().map(|x| x.sin().powi(2)).collect(), this.sizes())
    }

    fn plain(this: &Tensor) -> Result<Tensor> {
        sin2(this)
    }
}

torch_library::derivatives! {
    in waves;
    sin2(Tensor self) -> Tensor {
        self => aten::sin(&self.mul(2)?)?.mul(grad),
    }
}

/// A custom function, for what no formula can express: it reverses the gradient.
struct Reverse;

impl Function for Reverse {
    fn name(&self) -> &'static str {
        "ReverseBackward"
    }

    fn forward(&self, _: &mut Context, inputs: &[&Tensor]) -> Result<Vec<Tensor>> {
        Ok(vec![inputs[0].copy()?])
    }

    fn backward(&self, _: &Context, grads: Vec<Option<Tensor>>) -> Result<Vec<Option<Tensor>>> {
        grads.into_iter().map(|grad| grad.map(|grad| grad.neg()).transpose()).collect()
    }
}

fn main() -> Result<()> {
    let x = Tensor::from([0.5, 1.0]);
    x.set_requires_grad(true)?;
    let y = waves::sin2(&x)?;
    println!("made by {:?}", y.grad_fn()?);
    y.sum()?.backward()?;
    println!("x.grad   {:?}", x.grad());
    autograd::gradgradcheck(|x| Ok(vec![waves::sin2(&x[0])?]), std::slice::from_ref(&x), Default::default())?;

    let square = x.mul(&x)?;
    square.select(0, 0)?.mul_(10)?; // a write through a view is a write to its base
    let slope = autograd::grad(&[&square.sum()?], &[&x], &[], Default::default())?;
    println!("in place {:?}", slope[0]);
    let turned = &autograd::apply(Reverse, &[&x])?[0];
    println!("reversed {:?}", autograd::grad(&[&turned.sum()?], &[&x], &[], Default::default())?[0]);

    let plain = waves::plain(&x)?;
    println!("a gradient is never lost in silence:\n{}", plain.sum()?.backward().unwrap_err());
    println!("without: {}", no_grad(|| waves::plain(&x))?);
    let mut kept = x.mul(2)?;
    let product = kept.mul(&kept)?.sum()?;
    kept.mul_(3)?;
    println!("nor wrong in silence:\n{}", product.backward().unwrap_err());
    Ok(())
}

// Prints:
// made by Some(<Sin2Backward0>)
// x.grad   Some(tensor([0.8415, 0.9093], dtype=torch.float64))
// in place Some(tensor([10.,  2.], dtype=torch.float64))
// reversed Some(tensor([-1., -1.], dtype=torch.float64))
// a gradient is never lost in silence:
// waves::plain has no derivative, but a backward pass reached one of its results
//   declared at examples/15_autograd.rs:14 (crate 15_autograd)
//   help: register a kernel for `Autograd`, or call it inside `no_grad` or on `x.detach()`
// without: tensor([0.2298, 0.7081], dtype=torch.float64)
// nor wrong in silence:
// MulBackward0 saved a tensor for its backward pass that has since been written to in place: sizes [2] of float64, output 0 of MulBackward1, saved at version 0, now at version 1
//   help: write to a copy, or use the out-of-place form of the operator that wrote
