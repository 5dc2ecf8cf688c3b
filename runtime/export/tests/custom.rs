//! A program finds operators of a user's crate like any other, with all of their layers.

use std::path::Path;

use torch_library::prelude::*;
use torch_library_export::Program;
use torch_library_kernels::aten;

torch_library! {
    /// The operators of the model's library.
    pub mod fixtures {
        /// Twice a tensor.
        twice(Tensor x) -> Tensor;
    }
}

#[torch_impl(fixtures, CompositeImplicitAutograd)]
fn twice(x: &Tensor) -> Result<Tensor> {
    aten::mul_Scalar(x, 2.into())
}

#[test]
fn an_operator_of_any_namespace_is_called() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/archives");
    let program = Program::load(folder.join("custom.pt2")).unwrap();
    assert!(program.problems().is_empty(), "{:?}", program.problems());
    let x = Tensor::from([-1f32, 3.0]);
    x.set_requires_grad(true).unwrap();
    let y = program.run(std::slice::from_ref(&x)).unwrap().remove(0);
    assert_eq!(y.to_vec::<f32>().unwrap(), [0.0, 6.0]);
    aten::sum(&y).unwrap().backward().unwrap();
    assert_eq!(x.grad().unwrap().to_vec::<f32>().unwrap(), [0.0, 2.0]);
}

#[test]
fn a_chain_of_calls_is_one_after_the_other() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/archives");
    let program = Program::load(folder.join("chain.pt2")).unwrap();
    let outputs = program.run(&[Tensor::from([1f32])]).unwrap();
    assert_eq!(outputs[0].to_vec::<f32>().unwrap(), [2f32.powi(50)]);
}
