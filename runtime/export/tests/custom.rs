//! A program finds operators of a user's crate like any other, with all of their layers.

use std::path::Path;

use torch_library::prelude::*;
use torch_library_export::Program;
use torch_library_kernels::aten;
use torch_library_kernels::data::safetensors;

torch_library! {
    /// The operators of the model's library.
    pub mod fixtures {
        /// Twice a tensor.
        twice(Tensor x) -> Tensor;
        /// Adds a multiple of `x`.
        accumulate(Tensor(a0!) into, Tensor x, int factor=2) -> ();
        /// Multiplies each of the tensors, counts them, and returns the sum of their elements.
        scale_all(Tensor(a0!)[] tensors, Tensor(a1!)? seen, float factor) -> Tensor;
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

#[torch_impl(fixtures, CompositeExplicitAutograd)]
fn accumulate(into: &mut Tensor, x: &Tensor, factor: i64) -> Result<()> {
    aten::add__Tensor::with(into, x).alpha(Scalar::Int(factor)).call()?;
    Ok(())
}

#[torch_impl(fixtures, CompositeExplicitAutograd)]
fn scale_all(tensors: &mut [Tensor], seen: Option<&mut Tensor>, factor: f64) -> Result<Tensor> {
    let mut total = Tensor::from(0f32);
    for tensor in &mut *tensors {
        aten::mul__Scalar(tensor, factor.into())?;
        total = aten::add_Tensor(&total, &aten::sum(tensor)?)?;
    }
    if let Some(seen) = seen {
        aten::add__Scalar(seen, Scalar::Int(tensors.len() as i64))?;
    }
    Ok(total)
}

/// Runs an archive with recorded inputs twice, and compares with PyTorch's results.
fn assert_same(name: &str) -> Program {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/archives");
    let tensors = |which: &str| -> Vec<Tensor> {
        let file = std::fs::read(folder.join(format!("{name}.{which}.safetensors"))).unwrap();
        safetensors::from_bytes(&file).unwrap().into_values().collect()
    };
    let program = Program::load(folder.join(format!("{name}.pt2"))).unwrap();
    assert!(program.problems().is_empty(), "{:?}", program.problems());
    let inputs = tensors("inputs");
    for _ in 0..2 {
        let outputs = program.run(&inputs).unwrap();
        assert_eq!(outputs.len(), 4);
        for (found, wanted) in outputs.iter().zip(tensors("outputs")) {
            assert_eq!((found.sizes(), found.dtype()), (wanted.sizes(), wanted.dtype()));
            assert_eq!(found.to_vec::<f32>().unwrap(), wanted.to_vec::<f32>().unwrap());
        }
    }
    program
}

#[test]
fn an_operator_that_writes_writes_to_copies_in_a_functional_program() {
    let program = assert_same("mutating");
    assert!(program.to_string().contains("auto_functionalized_v2"), "{program}");
    assert!(program.operators().contains_key("torch.ops.fixtures.accumulate.default"), "{program}");
    let program = assert_same("mutating_wholes");
    assert!(program.operators().contains_key("torch.ops.higher_order.auto_functionalized"), "{program}");
}
