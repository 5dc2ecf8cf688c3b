//! Does an operator do what its schema says? opcheck, on a draft with faults and on its corrected version.

use torch_library::opcheck::opcheck;
use torch_library::prelude::*;
use torch_library_kernels::prelude::*;

torch_library! {
    /// Exponential decay.
    pub mod decay {
        /// The amount left after `times` half-lives.
        #[tags(pointwise)]
        draft(Tensor self, float times) -> Tensor;
        /// The amount left after `times` half-lives, as corrected with opcheck.
        #[tags(pointwise)]
        left(Tensor self, float times) -> Tensor;
    }
}

#[torch_impl(decay, CPU)]
fn draft(this: &Tensor, times: f64) -> Result<Tensor> {
    if times == 0.0 {
        return Ok(this.clone()); // a second handle to the same memory, where the schema promises a new tensor
    }
    let share = 0.5f64.powf(times);
    Tensor::from_vec(this.to_vec::<f64>()?.iter().map(|x| x * share).collect(), this.sizes())
}

/// Made of operators that run anywhere, on `meta` too.
#[torch_impl(decay, CompositeExplicitAutograd)]
fn left(this: &Tensor, times: f64) -> Result<Tensor> {
    this.mul(0.5f64.powf(times))
}

derivatives! {
    in decay;
    draft(Tensor self, float times) -> Tensor { self => grad.mul(0.5 * times) }
    left(Tensor self, float times) -> Tensor { self => grad.mul(0.5f64.powf(times)) }
}

fn main() {
    let samples = || {
        let x = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
        [3.0, 0.0].map(|times| vec![Value::from(x.clone()), Value::from(times)])
    };
    for operator in [decay::draft::handle(), decay::left::handle()] {
        match opcheck(operator, samples()) {
            Ok(()) => println!("{operator}: as its schema says"),
            Err(error) => println!("{error}"),
        }
    }
}

// Prints:
// decay::draft: 3 faults in 26 calls
//   Aliasing: return 0 shares memory with `self`, the schema says it does not
//   Meta: has no kernel for Meta, so the sizes and types of its results are unknown without running it: write one, or let the CPU's kernel serve both, `#[torch_impl(decay, CPU, Meta)]`
//   Gradient: the derivative of output 0, element 0, with respect to input 0, element 0, is 1.5, but finite differences give 0.12499999999665556
// decay::left: as its schema says
