//! Orthogonal polynomials and the Airy function; the numbers are PyTorch's.

use torch_library::prelude::*;
use torch_library_kernels::aten;

#[track_caller]
fn close(result: Result<Tensor>, expected: &[f64]) {
    let result = result.unwrap().to_vec::<f64>().unwrap();
    assert_eq!(result.len(), expected.len());
    for (x, y) in result.iter().zip(expected) {
        let same = x.is_nan() && y.is_nan() || (x - y).abs() <= 1e-9 * y.abs().max(1.0);
        assert!(same, "{result:?} {expected:?}");
    }
}

fn places() -> Tensor {
    Tensor::from([f64::NAN, -3.0, 0.3, 0.9, 0.0, 1.0, -1.0])
}

#[test]
fn low_orders_are_sums_and_high_ones_closed_forms() {
    let (x, nan) = (places(), f64::NAN);
    let of = |n: i64| Scalar::from(n);
    close(
        aten::special_chebyshev_polynomial_t_n_scalar(&x, of(3)),
        &[nan, -99.0, -0.792, 0.216, 0.0, 1.0, -1.0],
    );
    close(
        aten::special_chebyshev_polynomial_t_n_scalar(&x, of(50)),
        &[nan, 9.474_112_515_2e37, 0.890_054_977_9, -0.847_153_099_8, -1.0, 1.0, 1.0],
    );
    close(
        aten::special_chebyshev_polynomial_u_n_scalar(&x, of(5)),
        &[nan, -6930.0, 1.01376, 0.96768, 0.0, 6.0, -6.0],
    );
    close(
        aten::special_chebyshev_polynomial_v_n_scalar(&x, of(10)),
        &[nan, 54_608_393.0, 0.926_160_281_6, 0.023_998_054_4, -1.0, 1.0, 21.0],
    );
    close(
        aten::special_chebyshev_polynomial_w_n_scalar(&x, of(2)),
        &[nan, 29.0, -0.04, 4.04, -1.0, 5.0, 1.0],
    );
    close(
        aten::special_shifted_chebyshev_polynomial_v_n_scalar(&x, of(5)),
        &[nan, -564_719.0, -0.16928, -0.97184, -11.0, 1.0, -8119.0],
    );
    close(
        aten::special_hermite_polynomial_h_n_scalar(&x, of(5)),
        &[nan, -3816.0, 31.75776, 10.25568, 0.0, -8.0, 8.0],
    );
    close(
        aten::special_hermite_polynomial_he_n_scalar(&x, of(3)),
        &[nan, -18.0, -0.873, -1.971, 0.0, -2.0, 2.0],
    );
    close(
        aten::special_laguerre_polynomial_l_n_scalar(&x, of(3)),
        &[nan, 28.0, 0.2305, -0.6065, 1.0, -2.0 / 3.0, 17.0 / 3.0],
    );
    close(
        aten::special_legendre_polynomial_p_n_scalar(&x, of(5)),
        &[nan, -1683.0, 0.345_386_25, -0.041_141_25, 0.0, 1.0, -1.0],
    );
}

#[test]
fn orders_are_cut_and_bounded() {
    let x = places();
    close(aten::special_legendre_polynomial_p_n_scalar(&x, (-1).into()), &[0.0; 7]);
    let same = aten::special_chebyshev_polynomial_t_n_scalar(&Tensor::from([2.0, 3.0]), 2.5.into());
    close(same, &[7.0, 17.0]);
    // For these degrees the recurrence would take for ever.
    let far = aten::special_legendre_polynomial_p_n_scalar(&Tensor::from([0.5]), (1i64 << 60).into());
    close(far, &[f64::NAN]);
    close(aten::special_hermite_polynomial_h_n_scalar(&Tensor::from([0.5]), 600.into()), &[f64::NAN]);
    let small = aten::special_hermite_polynomial_h_n_scalar(&Tensor::from([0.5f32]), 129.into()).unwrap();
    assert!(small.item().unwrap().to::<f64>().unwrap().is_nan());
}

#[test]
fn numbers_stand_for_tensors() -> Result<()> {
    let orders = Tensor::from([0i64, 1, 2]);
    let values = aten::special_hermite_polynomial_h_x_scalar(2.into(), &orders)?;
    assert_eq!((values.dtype(), values.to_vec::<f32>()?), (DType::Float32, vec![1.0, 4.0, 14.0]));
    let columns =
        aten::special_laguerre_polynomial_l(&Tensor::from([[0.5], [1.0]]), &Tensor::from([0.0, 1.0]))?;
    assert_eq!(columns.to_vec::<f64>()?, [1.0, 0.5, 1.0, 0.0]);
    let mut out = Tensor::from([0.0, 0.0, 0.0]);
    aten::special_hermite_polynomial_h_x_scalar_out(2.into(), &orders, &mut out)?;
    assert_eq!(out.to_vec::<f64>()?, [1.0, 4.0, 14.0]);
    let x = Tensor::from([0.5]);
    x.set_requires_grad(true)?;
    assert!(aten::special_chebyshev_polynomial_t_n_scalar(&x, 2.into())?.grad_fn()?.is_none());
    Ok(())
}

#[test]
fn airy_decays_on_one_side_and_waves_on_the_other() {
    let x = Tensor::from([0.0, 1.0, 2.5, 10.0, 103.0, 104.0, -1.5, -4.5, -20.0, f64::INFINITY, f64::NAN]);
    let expected = [
        0.355_028_053_887_817_2,
        0.135_292_416_312_881_42,
        0.015_725_923_380_470_493,
        1.104_753_255_289_868_4e-10,
        0.0, // nearly
        0.0,
        0.464_256_577_748_869_5,
        0.292_152_781_055_959_5,
        -0.176_406_127_077_984_7,
        f64::NAN,
        f64::NAN,
    ];
    close(aten::special_airy_ai(&x), &expected);
    let far = aten::special_airy_ai(&Tensor::from([10.0])).unwrap().item().unwrap().to::<f64>().unwrap();
    assert!((far / 1.104_753_255_289_868_4e-10 - 1.0).abs() < 1e-12);
}

#[test]
fn halves_and_complex_numbers_are_refused() {
    let half = Tensor::zeros(&[2], DType::Float16, Device::CPU).unwrap();
    let complex = Tensor::zeros(&[2], DType::Complex64, Device::CPU).unwrap();
    for x in [half, complex] {
        assert!(aten::special_airy_ai(&x).is_err());
        assert!(aten::special_legendre_polynomial_p(&x, &x).is_err());
    }
}
