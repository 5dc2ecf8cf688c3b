//! Special functions of statistics and physics: PyTorch's values, refused arguments, and derivatives.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

fn close(found: &Tensor, want: &[f64]) -> Result<()> {
    let found = found.to_vec::<f64>()?;
    assert_eq!(found.len(), want.len());
    for (at, (found, want)) in found.iter().zip(want).enumerate() {
        let is_close = found == want || (found - want).abs() <= 4e-15 * want.abs().max(0.1);
        assert!(is_close, "element {at} is {found}, expected {want}");
    }
    Ok(())
}

/// A function, and its values at -2.5, -0.5, 0.25, 1.5 and 9, computed by PyTorch, or for the last two functions with
/// 25 digits.
type Case = (fn(&Tensor) -> Result<Tensor>, [f64; 5]);

const CASES: [Case; 8] = [
    (
        aten::i0,
        [3.289839144050123, 1.0634833707413236, 1.015686141223608, 1.6467231897728907, 1093.5883545113745],
    ),
    (
        aten::special_i0e,
        [0.27004644161220276, 0.6450352704491501, 0.7910171621397194, 0.36743360905415834, 0.134959524581723],
    ),
    (
        aten::special_i1,
        [
            -2.5167162452886984,
            -0.25789430539089636,
            0.12597910894546793,
            0.9816664285779075,
            1030.9147225169565,
        ],
    ),
    (
        aten::special_i1e,
        [
            -0.20658464953126654,
            -0.15642080318487173,
            0.09811262869736825,
            0.21903938742092566,
            0.1272249839358912,
        ],
    ),
    (
        aten::special_erfcx,
        [1035.8148429726227, 1.952360489182557, 0.770346547730997, 0.3215854164543176, 0.06230772403777468],
    ),
    (
        aten::special_log_ndtr,
        [
            -5.081648277278691,
            -1.1759117615936185,
            -0.5129840754094305,
            -0.06914345561223396,
            -1.1285884059538295e-19,
        ],
    ),
    (
        aten::special_bessel_j0,
        [
            -0.048383776468198,
            0.9384698072408129,
            0.9844359292958527,
            0.5118276717359181,
            -0.09033361118287614,
        ],
    ),
    (
        aten::special_bessel_j1,
        [
            -0.49709410246427405,
            -0.2422684576748739,
            0.12402597732272692,
            0.5579365079100996,
            0.24531178657332528,
        ],
    ),
];

#[test]
fn functions_of_any_number_are_those_of_pytorch() -> Result<()> {
    let x = Tensor::from([-2.5, -0.5, 0.25, 1.5, 9.0]);
    for (function, want) in CASES {
        close(&function(&x)?, &want)?;
    }
    close(
        &aten::special_ndtr(&x)?.narrow(0, 1, 4)?,
        &[0.3085375387259869, 0.5987063256829237, 0.9331927987311419, 1.0],
    )
}

#[test]
fn functions_of_probabilities_and_of_two_numbers_are_those_of_pytorch() -> Result<()> {
    let p = Tensor::from([0.0, 0.01, 0.3, 0.5, 0.999]);
    let infinity = f64::INFINITY;
    close(
        &aten::special_entr(&p)?,
        &[0.0, 0.04605170185988091, 0.3611918412977808, 0.34657359027997264, 0.0009994998332499509],
    )?;
    close(
        &aten::special_ndtri(&p)?,
        &[-infinity, -2.3263478740408408, -0.5244005127080409, 0.0, 3.090232306167813],
    )?;
    let (s, q) = (Tensor::from([2.0, 3.0, 1.5, 4.0, 3.0]), Tensor::from([1.0, 0.5, 10.0, -2.5, -1.5]));
    close(
        &aten::special_zeta(&s, &q)?,
        &[1.6449340668482266, 8.414398322117158, 0.6486616319415703, 32.457979369864596, 0.11810202582086413],
    )?;
    close(
        &aten::special_zeta(
            &Tensor::from([1.0, infinity, infinity, 1.5]),
            &Tensor::from([2.0, 0.5, 1.0, -2.0]),
        )?,
        &[infinity, infinity, 1.0, infinity],
    )?;
    close(&aten::mvlgamma(&Tensor::from([2.0, 3.5]), 3)?, &[1.5963125911388552, 3.895898482154039])?;
    let none = aten::as_strided(&aten::zeros(&[64])?, &[0, 1, 3], &[6, 6, 2])?;
    assert_eq!(aten::mvlgamma(&none, 3)?.strides(), [3, 3, 1]);
    let (x, y) = (Tensor::from([0.0, 2.0, 0.5]), Tensor::from([-1.0, 1e-10, 3.0]));
    close(&aten::special_xlog1py(&x, &y)?, &[0.0, 1.9999999999000001e-10, std::f64::consts::LN_2])
}

#[test]
fn large_exponents_leave_one_term() -> Result<()> {
    let (s, q) = (Tensor::from([1e300, 1e17, 400.0]), Tensor::from([2.0, 1e17, 1.5]));
    close(&aten::special_zeta(&s, &q)?, &[0.0, 0.0, 1.5f64.powi(-400)])
}

#[test]
fn types_are_those_of_pytorch() -> Result<()> {
    for dtype in [DType::Float16, DType::BFloat16] {
        let x = aten::ones::with(&[2]).dtype(Some(dtype)).call()?;
        assert_eq!(aten::i0(&x)?.dtype(), dtype);
        assert_eq!(aten::special_xlog1py(&x, &x)?.dtype(), dtype);
        let refused: [fn(&Tensor) -> Result<Tensor>; 4] =
            [aten::special_erfcx, aten::special_ndtri, aten::special_bessel_y1, |x| aten::special_zeta(x, x)];
        for function in refused {
            let error = function(&x).unwrap_err().to_string();
            assert!(error.contains("is not implemented for"), "{error}");
        }
    }
    assert_eq!(aten::special_bessel_j0(&Tensor::from([3i64]))?.dtype(), DType::Float32);
    assert!(aten::i0(&Tensor::from([Complex64::new(1.0, 0.0)])).is_err());
    assert!(aten::i0_(&mut Tensor::from([1i64])).is_err(), "no integer tensor takes fractions");
    Ok(())
}

#[test]
fn a_gamma_function_has_a_variable() -> Result<()> {
    let x = Tensor::from([3.0]);
    for (x, p, part) in [
        (&x, 0, "0 variables, expected at least 1"),
        (&x, i64::MIN, "variables, expected at least 1"),
        (&Tensor::from([true]), 1, "expected numbers, got bool"),
    ] {
        let error = aten::mvlgamma(x, p).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
    assert!(aten::mvlgamma(&x, i64::MAX).is_err());
    Ok(())
}

#[test]
fn where_a_formula_divides_by_zero_the_slope_is_a_half() -> Result<()> {
    let functions: [fn(&Tensor) -> Result<Tensor>; 4] =
        [aten::special_i1, aten::special_i1e, aten::special_bessel_j1, aten::special_modified_bessel_i1];
    for function in functions {
        let x = Tensor::from([0.0, -0.0]);
        x.set_requires_grad(true)?;
        function(&x)?.sum()?.backward()?;
        assert_eq!(x.grad().expect("a gradient").to_vec::<f64>()?, [0.5; 2]);
    }
    Ok(())
}

#[test]
fn there_is_no_slope_along_the_exponent_of_zeta() -> Result<()> {
    let (s, q) = (Tensor::from([2.0]), Tensor::from([1.5]));
    s.set_requires_grad(true)?;
    let error = aten::special_zeta(&s, &q)?.sum()?.backward().unwrap_err().to_string();
    assert!(error.contains("the derivative of `zeta` for its first argument is not implemented"), "{error}");
    Ok(())
}

#[test]
fn parts_of_the_gamma_distribution_add_up_to_one() -> Result<()> {
    let (shape, place) = (Tensor::from([0.5, 2.0, 7.0]), Tensor::from([0.3, 2.0, 5.0]));
    place.set_requires_grad(true)?;
    let (below, above) = (aten::igamma(&shape, &place)?, aten::special_gammaincc(&shape, &place)?);
    close(&below.add(&above)?, &[1.0; 3])?;
    below.sum()?.backward()?;
    close(&place.grad().unwrap(), &[0.763090578768186, 0.2706705664732254, 0.1462228081398754])?;
    let wide = aten::igamma(&Tensor::from([0.5f32, 3.0]), &Tensor::from([[0.3f32], [4.0]]))?;
    let want = Tensor::from([[0.561_422_05f32, 0.003_599_494], [0.995_322_3, 0.761_896_67]]);
    assert!(aten::allclose::call(&wide, &want, 3e-7, 0.0, false)?, "{wide}");
    Ok(())
}

#[test]
fn the_gamma_distribution_is_one_of_floats_and_has_no_slope_along_its_shape() -> Result<()> {
    let error = aten::igamma(&Tensor::from([1i64]), &Tensor::from([2i64])).unwrap_err().to_string();
    assert!(error.contains("aten::igamma") && error.contains("int64"), "{error}");
    let (shape, place) = (Tensor::from([2.0]), Tensor::from([1.5]));
    shape.set_requires_grad(true)?;
    let error = aten::igammac(&shape, &place)?.sum()?.backward().unwrap_err().to_string();
    assert!(
        error.contains("the derivative of `igammac` for its first argument is not implemented"),
        "{error}"
    );
    Ok(())
}

#[test]
fn polygamma_is_as_exact_far_below_zero() -> Result<()> {
    let cases = [
        (1, -20000.5, 9.869554403589243),
        (1, -1e-10, 1e20 + std::f64::consts::PI.powi(2) / 6.0),
        (2, -20000.25, 124.02510671869945),
        (2, -0.5, -0.82879664423432),
        (3, -20000.25, 1558.5454565440386),
    ];
    for (order, x, want) in cases {
        let found = aten::polygamma(order, &Tensor::from([x]))?.to_vec::<f64>()?[0];
        assert!((found / want - 1.0).abs() < 1e-13, "order {order} of {x}: {found}, expected {want}");
    }
    Ok(())
}

#[test]
fn incomplete_gamma_functions_of_nan_are_numbers_at_the_ends_of_the_other_argument() -> Result<()> {
    let (infinite, nan) = (f64::INFINITY, f64::NAN);
    let shape = Tensor::from([infinite, nan, nan, 0.0, nan, 1.0, infinite]);
    let place = Tensor::from([nan, 0.0, infinite, nan, 1.0, nan, infinite]);
    let below = aten::igamma(&shape, &place)?.to_vec::<f64>()?;
    assert!(below[..3] == [0.0, 0.0, 1.0] && below[3..].iter().all(|x| x.is_nan()), "{below:?}");
    let above = aten::igammac(&shape, &place)?.to_vec::<f64>()?;
    assert!(above[..3] == [1.0, 1.0, 0.0] && above[3..].iter().all(|x| x.is_nan()), "{above:?}");
    Ok(())
}

#[test]
fn the_trigamma_function_has_pytorchs_digits() -> Result<()> {
    let x = Tensor::from([0.733385649055246, 3.345405606742738, -1.0887439588938208, f64::INFINITY]);
    let want = Tensor::from([2.632787947689362, 0.3479696803445905, 129.7069530900412, 0.0]);
    let found = aten::polygamma(1, &x)?;
    assert!(aten::allclose::call(&found, &want, 1e-13, 0.0, false)?, "{found}");
    Ok(())
}

#[test]
fn a_zeta_function_whose_terms_vanish_is_zero() -> Result<()> {
    let zeta = aten::special_zeta(&Tensor::from([1.5]), &Tensor::from([f64::MAX]))?;
    assert_eq!(zeta.to_vec::<f64>()?, [0.0]);
    Ok(())
}
