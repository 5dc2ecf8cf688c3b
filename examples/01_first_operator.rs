//! The first program: declares a namespace with two operators, registers kernels for the CPU, calls one.

use torch_library::prelude::*;

torch_library! {
    /// Operators of my library.
    pub mod myops {
        /// Adds two tensors of the same shape.
        myadd(Tensor self, Tensor other) -> Tensor;
        /// Scales in place.
        scale_.Scalar(Tensor(a!) self, Scalar factor=2) -> Tensor(a!);
    }
}

#[torch_impl(myops, CPU)]
fn myadd(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    ensure!(this.sizes() == other.sizes(), Shape, "sizes {:?} and {:?} differ", this.sizes(), other.sizes());
    let (this_values, other_values) = (this.to_vec::<f64>()?, other.to_vec::<f64>()?);
    let sums = this_values.iter().zip(&other_values).map(|(a, b)| a + b).collect();
    Tensor::from_vec(sums, this.sizes())
}

#[torch_impl(myops::scale__Scalar, CPU)] // the overload `scale_.Scalar`: in Rust, `_` joins the name and the overload
fn scale(this: &mut Tensor, factor: Scalar) -> Result<&mut Tensor> {
    let factor: f64 = factor.to()?;
    let values = this.to_vec::<f64>()?;
    this.fill_from(values.iter().map(|value| value * factor))?;
    Ok(this)
}

fn main() -> Result<()> {
    let x = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
    println!("{}", myops::myadd(&x, &x)?);
    Ok(())
}

// Prints:
// tensor([[2., 4.],
//         [6., 8.]], dtype=torch.float64)
