//! What transformers answers, and what it leaves to its caller.

use torch_library::autograd::gradcheck;
use torch_library::opcheck::opcheck;
use torch_library::prelude::*;
use torch_library_aten::aten;
use torch_library_transformers::transformers;

/// Six rows, the last of which has no expert.
fn rows(dtype: DType) -> Tensor {
    let values = (0..12).map(|x| f64::from(x) - 3.0).collect();
    aten::to_dtype(&Tensor::from_vec(values, &[6, 2]).unwrap(), dtype).unwrap()
}

fn experts(dtype: DType) -> Tensor {
    let values = (0..18).map(|x| f64::from(x % 5) - 2.0).collect();
    aten::to_dtype(&Tensor::from_vec(values, &[3, 2, 3]).unwrap(), dtype).unwrap()
}

/// The second expert has no rows.
fn ends() -> Tensor {
    Tensor::from([2i64, 2, 5])
}

#[track_caller]
fn equal(tensor: &Tensor, values: &[f32]) {
    let tensor = aten::to_dtype(tensor, DType::Float32).unwrap();
    assert_eq!(tensor.to_vec::<f32>().unwrap(), values);
}

#[test]
fn each_row_meets_its_expert() -> Result<()> {
    let expected = [4., -1., 4., 2., 1., 0., -4., -1., 2., -8., -1., 6., -12., -1., 10., 0., 0., 0.];
    for dtype in [DType::Float32, DType::Float64, DType::BFloat16, DType::Int64] {
        for ends in [ends(), aten::to_dtype(&ends(), DType::Int32)?] {
            let products = transformers::grouped_mm_fallback(&rows(dtype), &experts(dtype), &ends)?;
            assert_eq!((products.dtype(), products.sizes()), (dtype, &[6, 3][..]));
            equal(&products, &expected);
        }
    }
    let turned = aten::transpose_int(&experts(DType::Float32), 1, 2)?;
    let turned = aten::transpose_int(&aten::contiguous(&turned)?, 1, 2)?;
    equal(&transformers::grouped_mm_fallback(&rows(DType::Float32), &turned, &ends())?, &expected);
    let nothing = aten::narrow(&rows(DType::Float32), 0, 0, 0)?;
    let none = aten::zeros_like(&ends())?;
    let products = transformers::grouped_mm_fallback(&nothing, &experts(DType::Float32), &none)?;
    assert_eq!(products.sizes(), [0, 3]);
    Ok(())
}

#[test]
fn gradients_are_those_of_the_products() -> Result<()> {
    let (rows, experts) = (rows(DType::Float64), experts(DType::Float64));
    let grad = Tensor::from_vec((0..18).map(|x| f64::from(x % 4)).collect(), &[6, 3])?;
    let (of_rows, of_experts) = transformers::grouped_mm_fallback_backward(&rows, &experts, &ends(), &grad)?;
    equal(&of_rows, &[-1., -2., -6., 1., 3., -7., 8., -4., 5., -1., 0., 0.]);
    let expected = [-3., -3., -7., 0., -2., -4., 0., 0., 0., 0., 0., 0., 5., 14., 19., 8., 20., 24.];
    equal(&of_experts, &expected);
    rows.set_requires_grad(true)?;
    experts.set_requires_grad(true)?;
    let products = |x: &[Tensor]| Ok(vec![transformers::grouped_mm_fallback(&x[0], &x[1], &ends())?]);
    gradcheck(products, &[rows, experts], Default::default())
}

#[test]
fn gradients_lie_as_what_they_are_of() -> Result<()> {
    // A model that keeps its experts as `[experts, columns, rows]` passes views.
    let turned =
        |x: &Tensor| aten::transpose_int(&aten::contiguous(&aten::transpose_int(x, -2, -1)?)?, -2, -1);
    let (rows, experts) = (turned(&rows(DType::Float64))?, turned(&experts(DType::Float64))?);
    let grad = Tensor::zeros(&[6, 3], DType::Float64, Device::CPU)?;
    for device in [Device::CPU, Device::META] {
        let [x, w, ends, grad] =
            [&rows, &experts, &ends(), &grad].map(|x| aten::to_device(x, device, x.dtype()));
        let (of_rows, of_experts) = transformers::grouped_mm_fallback_backward(&x?, &w?, &ends?, &grad?)?;
        assert_eq!((of_rows.strides(), of_experts.strides()), (rows.strides(), experts.strides()));
    }
    Ok(())
}

#[test]
fn what_does_not_match_is_refused() {
    let refusal = |rows: &Tensor, experts: &Tensor, ends: &Tensor| {
        transformers::grouped_mm_fallback(rows, experts, ends).unwrap_err().to_string()
    };
    let (x, w) = (rows(DType::Float32), experts(DType::Float32));
    for (error, expected) in [
        (refusal(&w, &w, &ends()), "expected two and three dimensions"),
        (refusal(&aten::t(&x).unwrap(), &w, &ends()), "rows of 6 elements cannot be multiplied"),
        (refusal(&rows(DType::Float64), &w, &ends()), "rows of float64 and experts of float32"),
        (refusal(&x, &w, &Tensor::from([2i64, 5])), "expected a vector of 3 of int32 or int64"),
        (refusal(&x, &w, &Tensor::from([2f32, 3.0, 5.0])), "expected a vector of 3 of int32 or int64"),
        (refusal(&x, &w, &Tensor::from([3i64, 2, 5])), "end at 2, expected a number from 3 to 6"),
        (refusal(&x, &w, &Tensor::from([3i64, 4, 7])), "end at 7, expected a number from 4 to 6"),
        (refusal(&x, &w, &Tensor::from([-1i64, 4, 5])), "end at -1, expected a number from 0 to 6"),
    ] {
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn schemas_and_layers_agree() {
    let sample = || vec![rows(DType::Float64).into(), experts(DType::Float64).into(), Value::from(ends())];
    opcheck(transformers::grouped_mm_fallback::handle(), [sample()]).unwrap();
    let mut backward = sample();
    backward.push(Tensor::zeros(&[6, 3], DType::Float64, Device::CPU).unwrap().into());
    opcheck(transformers::grouped_mm_fallback_backward::handle(), [backward]).unwrap();
}
