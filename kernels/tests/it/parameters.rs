//! Numbers that are parameters of operators on 16-bit floats: they are rounded to the type of the elements, or refused
//! beyond its range. Results are PyTorch's.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

use DType::{BFloat16, Float16, Float32};

fn of(dtype: DType, numbers: &[f64]) -> Result<Tensor> {
    Tensor::from_vec(numbers.to_vec(), &[numbers.len() as i64])?.to_dtype(dtype)
}

fn numbers(x: &Tensor) -> Result<Vec<f64>> {
    x.to_dtype(DType::Float64)?.to_vec::<f64>()
}

fn refused(result: Result<Tensor>) {
    let error = result.unwrap_err().to_string();
    assert!(error.contains("out of range"), "{error}");
}

#[test]
fn bounds_are_numbers_of_the_type() -> Result<()> {
    for dtype in [BFloat16, Float16] {
        let (x, grad) = (of(dtype, &[0.3, -0.3, 2.0])?, of(dtype, &[1.0; 3])?);
        let bound = Scalar::from(0.3); // less than the nearest number of either type
        assert_eq!(numbers(&aten::hardshrink::call(&x, bound)?)?, [0.0, 0.0, 2.0], "{dtype}");
        assert_eq!(numbers(&aten::softshrink::call(&x, bound)?)?[..2], [0.0, 0.0], "{dtype}");
        assert_eq!(numbers(&aten::hardshrink_backward(&grad, &x, bound)?)?, [0.0, 0.0, 1.0], "{dtype}");
        assert_eq!(numbers(&aten::softshrink_backward(&grad, &x, bound)?)?, [0.0, 0.0, 1.0], "{dtype}");
    }
    Ok(())
}

#[test]
fn what_logit_clamps_to_are_numbers_of_the_type() -> Result<()> {
    let logit = |dtype, eps| -> Result<_> {
        let x = of(dtype, &[0.0, 0.5, 1.0])?;
        x.set_requires_grad(true)?;
        let out = aten::logit::with(&x).eps(eps).call()?;
        out.sum()?.backward()?;
        Ok((numbers(&out.detach()?)?, numbers(&x.grad().expect("a gradient"))?))
    };
    let infinity = f64::INFINITY;
    // In `bfloat16`, what 0.001 leaves of one is one.
    assert_eq!(logit(BFloat16, 1e-3)?, (vec![-6.90625, 0.0, infinity], vec![0.0, 4.0, infinity]));
    assert_eq!(logit(Float16, 1e-3)?.1, [0.0, 4.0, 0.0]);
    assert_eq!(logit(Float16, 1e-9)?.0, [-infinity, 0.0, infinity]);
    Ok(())
}

#[test]
fn factors_are_numbers_of_the_type() -> Result<()> {
    // 256 times the number that is closest to 0.3; nothing is left of the difference.
    for (dtype, product) in [(BFloat16, 77.0), (Float16, 76.8125)] {
        let (one, many) = (of(dtype, &[1.0])?, of(dtype, &[256.0])?);
        let (less, more) = (of(dtype, &[-product])?, of(dtype, &[product])?);
        let factor = Scalar::from(0.3);
        for found in [
            aten::add_Tensor::with(&less, &many).alpha(factor).call()?,
            aten::sub_Tensor::with(&more, &many).alpha(factor).call()?,
            aten::rsub_Tensor::with(&many, &more).alpha(factor).call()?,
            aten::addr::with(&less, &many, &one).alpha(factor).call()?,
            aten::addr::with(&many, &less, &one).beta(factor).call()?,
            aten::addmv::with(&less, &many.reshape(&[1, 1])?, &one).alpha(factor).call()?,
            aten::addmv::with(&many, &less.reshape(&[1, 1])?, &one).beta(factor).call()?,
        ] {
            assert_eq!(numbers(&found)?, [0.0], "{dtype}");
        }
    }
    Ok(())
}

#[test]
fn numbers_beyond_the_range_are_refused() -> Result<()> {
    let (half, single) = (of(Float16, &[1.0, -1.0])?, of(Float32, &[1.0, -1.0])?);
    for (x, beyond) in [(&half, 70_000.0), (&single, 1e39)] {
        let (number, matrix) = (Scalar::from(beyond), x.reshape(&[1, 2])?);
        let one = matrix.reshape(&[2, 1])?;
        refused(aten::hardtanh::with(x).max_val(number).call());
        refused(aten::logit::with(x).eps(beyond).call());
        refused(aten::addmv::with(x, &aten::mm(&one, &matrix)?, x).beta(number).call());
        refused(aten::addr::with(&aten::mm(&one, &matrix)?, x, x).beta(number).call());
        refused(aten::index_fill_int_Scalar(x, 0, &Tensor::from([0i64]), number));
        refused(aten::linspace::with(0.into(), number, 3).dtype(x.dtype()).call());
        refused(aten::logspace::with(0.into(), number, 3).dtype(x.dtype()).call());
        refused(aten::histc::with(x).max(number).call());
    }
    refused(aten::linspace(0.into(), 1e39.into(), 3));
    // These are computed in `float32`, whose range counts.
    for x in [&half, &single] {
        let beyond = Scalar::from(1e39);
        refused(aten::elu::with(x).alpha(beyond).call());
        refused(aten::leaky_relu::with(x).negative_slope(beyond).call());
        refused(aten::leaky_relu_backward(x, x, beyond, false));
    }
    assert_eq!(numbers(&aten::leaky_relu::with(&half).negative_slope(3e4).call()?)?, [1.0, -3e4]);
    assert_eq!(numbers(&aten::threshold(&half, 7e4.into(), 0.into())?)?, [0.0, 0.0]);
    assert_eq!(numbers(&aten::hardtanh::with(&half).max_val(f64::INFINITY).call()?)?, [1.0, -1.0]);
    Ok(())
}

#[test]
fn bins_begin_and_end_at_numbers_of_the_type() -> Result<()> {
    for dtype in [BFloat16, Float16] {
        let x = of(dtype, &[-1.3, -1.0, -0.7, -0.52, -0.26, 0.0, 0.26, 0.52, 0.78, 1.04, 1.3])?;
        let counts = aten::histc::with(&x).bins(10).min(-1.3).max(1.3).call()?;
        assert_eq!(numbers(&counts)?, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0], "{dtype}");
    }
    Ok(())
}
