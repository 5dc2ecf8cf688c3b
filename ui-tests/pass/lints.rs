//! Lints that are allowed by default, and that a crate may deny: the schema's tokens and those of kernels are the user's.
#![deny(unused_import_braces, unused_qualifications)]

use torch_library::{derivatives, prelude::*};

torch_library! {
    /// Operators in a crate that denies more.
    #[methods(Denying)]
    #[overloads]
    mod denying {
        #[variants(out, in_place)]
        f(Tensor self, Scalar other, int[] list=[1], float? x=None) -> Tensor;
        g(Tensor(a!) self, *, Tensor(b!) out, Scalar by=1) -> (Tensor(a!), Tensor(b!));
        h.number(Tensor self, Scalar by) -> Tensor;
        h.list(Tensor self, int[] by) -> (Tensor, int);
    }
}

derivatives! {
    in denying;
    f(Tensor self, Scalar other, int[] list=[1], float? x=None) -> Tensor {
        self => grad.clone(),
    }
}

#[torch_impl(denying, CPU)]
mod kernels {
    use torch_library::prelude::*;

    fn f(_: Output<'_>, this: &Tensor, _: Scalar, _: &[i64], _: Option<f64>) -> Result<Tensor> {
        Tensor::from_vec(this.to_vec::<f64>()?, this.sizes())
    }
}

#[torch_impl(denying, CPU)]
fn h_number(this: &Tensor, _: Scalar) -> Result<Tensor> {
    Ok(this.clone())
}

#[test]
fn nothing_is_reported() -> Result<()> {
    use denying::Denying;
    let x = Tensor::from([1.0]);
    assert_eq!(x.f(1.into())?.numel(), 1);
    assert!(x.h(2)?.is_same(&x));
    Ok(())
}
