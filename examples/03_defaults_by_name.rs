//! Arguments with defaults: the plain call leaves them out, `with` passes them by name.

use torch_library::prelude::*;

torch_library! {
    /// Interpolation between two tensors.
    pub mod mixing {
        /// Mixes two tensors: `a * (1 - weight) + b * weight`, with each result clamped to the limits.
        mix(Tensor a, Tensor b, float weight=0.5, *, float? min=None, float? max=None) -> Tensor;
    }
}

#[torch_impl(mixing, CPU)]
fn mix(a: &Tensor, b: &Tensor, weight: f64, min: Option<f64>, max: Option<f64>) -> Result<Tensor> {
    ensure!(a.sizes() == b.sizes(), Shape, "mix: sizes {:?} and {:?} differ", a.sizes(), b.sizes());
    let (min, max) = (min.unwrap_or(f64::NEG_INFINITY), max.unwrap_or(f64::INFINITY));
    ensure!(min <= max, Argument, "mix: min is {min}, more than max, which is {max}");
    let mix = |(a, b): (f64, f64)| (a * (1.0 - weight) + b * weight).clamp(min, max);
    let mixed = a.to_vec()?.into_iter().zip(b.to_vec()?).map(mix).collect();
    Tensor::from_vec(mixed, a.sizes())
}

fn main() -> Result<()> {
    let (low, high) = (Tensor::from([0.0, 10.0]), Tensor::from([100.0, 20.0]));

    println!("{:?}", mixing::mix(&low, &high)?.to_vec::<f64>()?);
    println!("{:?}", mixing::mix::with(&low, &high).weight(0.25).call()?.to_vec::<f64>()?);
    println!("{:?}", mixing::mix::with(&low, &high).max(40.0).call()?.to_vec::<f64>()?);
    // All arguments in the schema's order: the form to which the others reduce.
    println!("{:?}", mixing::mix::call(&low, &high, 0.75, None, None)?.to_vec::<f64>()?);
    Ok(())
}

// Prints:
// [50.0, 15.0]
// [25.0, 12.5]
// [40.0, 15.0]
// [75.0, 17.5]
