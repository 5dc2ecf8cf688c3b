//! Models that are built into a program.

use std::path::Path;

use torch_library::prelude::*;
use torch_library::{DType, Device};
use torch_library_export::{Program, include_model};

torch_library! {
    /// The operators of the model's library.
    pub mod fixtures {
        /// Twice a tensor.
        twice(Tensor x) -> Tensor;
    }
}

#[torch_impl(fixtures, CompositeImplicitAutograd)]
fn twice(x: &Tensor) -> Result<Tensor> {
    torch_library_kernels::aten::mul_Scalar(x, 2.into())
}

include_model! {
    /// Reads handwritten digits.
    struct Digits = "../../examples/models/digits.pt2";
}
include_model!(struct Twice = "tests/archives/custom.pt2", namespaces = { fixtures: crate::fixtures });
include_model!(struct AtRunTime = "tests/archives/custom.pt2", namespaces = { fixtures: _ });
include_model!(struct Numbered = "tests/archives/numbered.pt2");
include_model!(struct Nested = "tests/archives/nested.pt2");
include_model!(struct Loops = "tests/archives/loops.pt2");
include_model!(struct Counts = "tests/archives/functional.pt2");
include_model!(struct Ordered = "tests/archives/ordered.pt2");
include_model!(struct Types = "tests/archives/types.pt2");

fn path(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn values(tensor: &Tensor) -> Vec<f32> {
    tensor.to_vec().unwrap()
}

#[test]
fn what_is_built_in_computes_what_is_loaded() {
    let images = Tensor::full(&[3, 1, 8, 8], 5.0, DType::Float32, Device::CPU).unwrap();
    let built_in = Digits::load().unwrap().forward(&images).unwrap();
    let loaded = Program::load(path("../../examples/models/digits.pt2")).unwrap().run(&[images]).unwrap();
    assert_eq!(values(&built_in), values(&loaded[0]));
    let wide = Tensor::full(&[1, 1, 9, 9], 0.0, DType::Float32, Device::CPU).unwrap();
    let refused = Digits::load().unwrap().forward(&wide).unwrap_err();
    assert_eq!(refused.to_string(), "size 2 of input `images` is 9, but the program was exported for 8 only");
}

#[test]
fn weights_lie_in_the_program_and_are_the_same_for_all() {
    let (first, second) = (Digits::load().unwrap(), Digits::load().unwrap());
    assert!(std::ptr::eq(first.program(), second.program()));
    for weight in first.program().weights() {
        let bytes = weight.tensor.storage().data_ptr().unwrap();
        let distance = bytes.addr().get().abs_diff(first_weight(&first));
        assert!(distance < 40_930, "{} is {distance} bytes from the first: a copy", weight.name);
    }
    first.program().weight("classes.bias").unwrap().set_requires_grad(true).unwrap();
    assert!(second.program().weight("classes.bias").unwrap().requires_grad());
}

fn first_weight(digits: &Digits) -> usize {
    digits.program().weights()[0].tensor.storage().data_ptr().unwrap().addr().get()
}

#[test]
fn operators_of_other_libraries_are_where_one_says() {
    let x = Tensor::from([-1f32, 3.0]);
    assert_eq!(values(&Twice::load().unwrap().forward(&x).unwrap()), [0.0, 6.0]);
    assert_eq!(values(&AtRunTime::load().unwrap().forward(&x).unwrap()), [0.0, 6.0]);
}

#[test]
fn numbers_are_numbers_and_constants_are_left_out() {
    let x = Tensor::full(&[8, 3], 1.5, DType::Float32, Device::CPU).unwrap();
    let (product, part): (Tensor, Tensor) = Numbered::load().unwrap().forward(&x, 4).unwrap();
    assert_eq!((values(&product)[0], part.sizes()), (6.0, &[4, 3][..]));

    // {"sum": first + second, "rest": [named["a"] * scale, (named["b"], None, 7)]}
    let ones = Tensor::from([1f32, 1.0]);
    let (sum, product, same): (Tensor, Tensor, Tensor) = Nested::load()
        .unwrap()
        .forward(&ones, &ones, &Tensor::from([1f32, 1.0, 1.0]), &Tensor::from([4f32]), &Tensor::from(3f32))
        .unwrap();
    assert_eq!(values(&sum), [2.0, 2.0]);
    assert_eq!(values(&product), [3.0, 3.0, 3.0]);
    assert_eq!(values(&same), [4.0]);
}

#[test]
fn loops_and_what_is_written_back_are_as_in_the_archive() {
    let x = Tensor::full(&[3, 2], 1.0, DType::Float32, Device::CPU).unwrap();
    let (steps, last, _) = Loops::load().unwrap().forward(&x).unwrap();
    assert_eq!((steps.to_vec::<i64>().unwrap(), last.sizes()), (vec![5], &[3, 2][..]));

    // A buffer counts the calls, through all values of the type.
    let counted: Vec<_> = (0..3)
        .map(|_| values(&Counts::load().unwrap().forward(&Tensor::from([0f32, 0.0])).unwrap())[0])
        .collect();
    assert_eq!(counted, [1.0, 2.0, 3.0]);
}

#[test]
fn operators_that_are_called_with_tokens_are_linked() {
    let (eye, twos) =
        (Tensor::from_vec(vec![2f32, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0], &[3, 3]), [2f32; 3]);
    let (solution, inverse) = Ordered::load().unwrap().forward(&eye.unwrap(), &Tensor::from(twos)).unwrap();
    assert_eq!((values(&solution), values(&inverse)[0]), (vec![1.0; 3], 0.5));
}

#[test]
fn weights_of_every_type_are_built_in() {
    let x = Tensor::full(&[9], 0.0, DType::Float32, Device::CPU).unwrap();
    let (sums, complex, empty, doubled) = Types::load().unwrap().forward(&x).unwrap();
    assert_eq!(values(&sums)[..2], [4.0, 6.0]);
    assert_eq!((complex.sizes(), empty.sizes()), (&[2, 2][..], &[0, 3][..]));
    assert_eq!(doubled.dtype(), DType::BFloat16);
}
