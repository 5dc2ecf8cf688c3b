//! The macros in a crate that forbids what lints of rustc find, where an `#[allow]` would be an error.
#![forbid(unsafe_code, dead_code, non_camel_case_types, non_snake_case)]
#![forbid(unused_imports, unused_import_braces, unused_qualifications, unused_variables)]

use torch_library::prelude::*;
use torch_library::{derivatives, torch_fallback};

use crate::forbidden::ForbiddenMethods;

torch_library! {
    /// Operators with arguments of several types, some with defaults.
    #[methods(ForbiddenMethods)]
    #[overloads]
    mod forbidden {
        /// Counts.
        count(Tensor self, int[]? dim=None, str name="", float p=1.0, Scalar? limit=None) -> int;
        write_(Tensor(a!) self, *, bool really=True) -> Tensor(a!);
        unused(Tensor[] tensors, Tensor?[] more) -> (Tensor[], str);
        #[variants(out, in_place)]
        scale(Tensor self, float by, int[] list=[1]) -> Tensor;
        scale.number(Tensor self, Scalar by) -> Tensor;
        mix.tensor(Tensor self, Tensor other) -> Tensor;
        mix.number(Tensor self, Scalar other) -> Tensor;
        #[boxed]
        anything(Any value, ...) -> Any;
    }
}

derivatives! {
    in forbidden;
    scale(Tensor self, float by, int[] list=[1]) -> Tensor { self => forbidden::scale(grad, by) }
    write_(Tensor(a!) self, *, bool really=True) -> Tensor(a!) { self => grads[0].clone() }
    mix.tensor(Tensor self, Tensor other) -> Tensor { (self, other) => (grad.clone(), result.clone()) }
}

#[torch_impl(forbidden, CPU)]
fn count(this: &Tensor, _: Option<&[i64]>, _: &str, _: f64, _: Option<Scalar>) -> Result<i64> {
    Ok(this.numel())
}

#[torch_impl(forbidden, CPU)]
mod kernels {
    use super::*;

    fn write_(this: &mut Tensor, _: bool) -> Result<&mut Tensor> {
        Ok(this)
    }
}

#[torch_fallback(PreDispatch, fallthrough)]
fn nothing();

#[test]
fn the_macros_need_no_lint_to_be_allowed() -> Result<()> {
    let mut x = Tensor::from([1.0, 2.0]);
    assert_eq!((forbidden::count(&x)?, ForbiddenMethods::count(&x)?), (2, 2));
    x.write_()?;
    Ok(())
}
