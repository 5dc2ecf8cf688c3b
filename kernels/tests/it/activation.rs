//! The leaky ReLU with random slopes, and with given ones.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

fn seeded() -> Generator {
    Generator::with_seed(3)
}

fn close(got: &Tensor, want: &[f64]) -> Result<()> {
    let got = got.to_dtype(DType::Float64)?.to_vec::<f64>()?;
    let is_close = |(got, want): (&f64, &f64)| (got - want).abs() <= 1e-6 * want.abs().max(1.0);
    assert!(got.len() == want.len() && got.iter().zip(want).all(is_close), "{got:?} instead of {want:?}");
    Ok(())
}

#[test]
fn slopes_by_chance_are_pytorchs() -> Result<()> {
    let (x, mut noise) = (Tensor::from([-1f32, 2.0, -3.0, 0.0]), Tensor::from([0f32; 4]));
    x.set_requires_grad(true)?;
    let (generator, lower, upper) = (seeded(), Scalar::from(0.1), Scalar::from(0.3));
    let out = aten::rrelu_with_noise::call(&x, &mut noise, lower, upper, true, Some(&generator))?;
    close(&out, &[-0.10682164, 2.0, -0.47204417, 0.0])?;
    close(&noise.narrow(0, 0, 3)?, &[0.10682164, 1.0, 0.15734806])?;
    assert_eq!(out.grad_fn()?.map(|node| node.name()), Some("RreluWithNoiseBackward0"));
    let fixed = aten::rrelu::call(&x, lower, upper, false, None)?;
    close(&fixed, &[-0.2, 2.0, -0.6, 0.0])?;
    assert!(aten::rrelu::call(&x, upper, lower, true, None).is_err(), "bounds in the wrong order");
    assert!(aten::rrelu_with_noise::call(&x, &mut Tensor::from([0f32]), lower, upper, true, None).is_err());
    let halves = x.to_dtype(DType::Float16)?;
    assert!(aten::rrelu::call(&halves, lower, upper, true, None).is_err(), "as in PyTorch");
    let fixed = aten::rrelu::call(&halves, lower, upper, false, None)?;
    assert_eq!(fixed.dtype(), DType::Float16);
    close(&fixed.to_dtype(DType::Float32)?, &[-0.199951171875, 2.0, -0.60009765625, 0.0])?;
    assert!(aten::rrelu::call(&x, lower, f64::INFINITY.into(), false, None).is_err(), "not finite");
    Ok(())
}

#[test]
fn slopes_are_rounded_to_the_type_only_in_the_noise() -> Result<()> {
    let x = aten::full(&[64], (-8.5).into())?;
    let (lower, upper) = (Scalar::from(0.0), Scalar::from(1.0));
    let outs = [DType::Float32, DType::BFloat16].map(|dtype| {
        let x = x.to_dtype(dtype)?;
        let out = aten::rrelu_with_noise::call(&x, &mut x.mul(0)?, lower, upper, true, Some(&seeded()))?;
        out.to_dtype(DType::BFloat16)?.to_vec::<bf16>()
    });
    let [single, half] = outs;
    assert_eq!(single?, half?);
    Ok(())
}

#[test]
fn a_weight_of_prelu_has_one_dimension() -> Result<()> {
    let x = Tensor::from([[1.0, -2.0]]);
    for weight in [Tensor::from(0.5), Tensor::from([0.5]), Tensor::from([0.5, 0.5])] {
        close(&aten::prelu(&x, &weight)?, &[1.0, -1.0])?;
    }
    let error = aten::prelu(&x, &Tensor::from([[0.5]])).unwrap_err().to_string();
    assert!(error.contains("a weight of sizes [1, 1]"), "{error}");
    Ok(())
}
