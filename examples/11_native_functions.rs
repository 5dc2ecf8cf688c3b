//! Operators from a file in PyTorch's own format: methods, generated variants, and one kernel for several of them.

use torch_library::native_functions;
use torch_library::prelude::*;
use torch_library_kernels as _; // `clone` and `copy_`, which derived kernels call

native_functions!("11_native_functions.yaml");

use signal::TensorMethods;

/// The file names no kernel for this operator, so the kernel has the operator's name.
fn energy(this: &Tensor) -> Result<f64> {
    Ok(this.to_vec::<f64>()?.iter().map(|value| value * value).sum())
}

fn gain_cpu(this: &mut Tensor, by: f64) -> Result<&mut Tensor> {
    let values = this.to_vec::<f64>()?;
    this.fill_from(values.iter().map(|value| value * by))?;
    Ok(this)
}

/// Describes the result: a structured operator needs only one such function for all of its variants.
fn mix_meta(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    ensure!(this.sizes() == other.sizes(), Shape, "{:?} and {:?} do not mix", this.sizes(), other.sizes());
    Tensor::empty(this.sizes(), this.dtype(), Device::META)
}

fn mix_cpu<'a>(this: &Tensor, other: &Tensor, out: &'a mut Tensor) -> Result<&'a mut Tensor> {
    let pairs = this.to_vec::<f64>()?.into_iter().zip(other.to_vec::<f64>()?);
    out.fill_from(pairs.map(|(a, b)| (a + b) / 2.0).collect::<Vec<_>>())?;
    Ok(out)
}

fn main() -> Result<()> {
    let mut x = Tensor::from([1.0, 2.0]);
    println!("energy {}", x.energy()?);

    // `autogen` derived `gain` from `gain_`: it works on a copy.
    println!("gained {:?}", signal::gain(&x)?.to_vec::<f64>()?);
    x.gain_()?;
    println!("in place {:?}", x.to_vec::<f64>()?);

    println!("mixed {:?}", x.mix(&Tensor::from([0.0, 8.0]))?.to_vec::<f64>()?);
    println!("{}", x.mix(&Tensor::from([0.0])).unwrap_err());

    for function in signal::NATIVE_FUNCTIONS {
        let from = function.generated_from.map_or(String::new(), |base| format!(", made of {base}"));
        println!("{}{from}", function.operator());
    }
    Ok(())
}

// Prints:
// energy 5
// gained [2.0, 4.0]
// in place [2.0, 4.0]
// mixed [1.0, 6.0]
// signal::mix: [2] and [1] do not mix
// signal::energy
// signal::gain_
// signal::mix.out
// signal::mix
// signal::gain.out, made of gain_
// signal::gain, made of gain_
