//! Numbers from gamma and Dirichlet distributions, whose streams and gradients are PyTorch's.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

use DType::{Float32, Float64};

fn seeded() -> Generator {
    Generator::with_seed(0)
}

fn near(found: &Tensor, wanted: &[f64], tolerance: f64) {
    let found = found.to_dtype(Float64).unwrap().to_vec::<f64>().unwrap();
    assert_eq!(found.len(), wanted.len());
    let is_near = |(x, y): (&f64, &f64)| x == y || (x - y).abs() <= tolerance * y.abs();
    assert!(found.iter().zip(wanted).all(is_near), "{found:?}, expected {wanted:?}");
}

#[test]
fn numbers_of_gamma_distributions_are_pytorchs() -> Result<()> {
    let shapes = Tensor::from([0.0, 0.01, 0.3, 0.99, 1.0, 1.5, 5.0, 50.0, 1e4]);
    let draw =
        |dtype| aten::_standard_gamma::with(&shapes.to_dtype(dtype)?).generator(Some(&seeded())).call();
    let wide = [
        2.2250738585072014e-308,
        2.006888712411347e-153,
        0.00791742223230888,
        0.6880698596207224,
        1.9643529807468205,
        1.6760022658526679,
        6.725440733537639,
        43.249685987216125,
        10036.884263253025,
    ];
    near(&draw(Float64)?, &wide, 1e-15);
    let single = [
        1.175_494_4e-38,
        1.175_494_4e-38,
        0.007_917_422,
        0.688_069_9,
        1.964_353,
        1.676_002_3,
        6.725_440_5,
        43.249_687,
        10_036.885,
    ];
    assert_eq!(draw(Float32)?.to_vec::<f32>()?, single);
    Ok(())
}

#[test]
fn a_stream_goes_on_after_a_thousand_numbers() -> Result<()> {
    let generator = seeded();
    let sum = |shape: f64, dtype| {
        let shapes = aten::full::with(&[1000], shape.into()).dtype(Some(dtype)).call()?;
        let drawn = aten::_standard_gamma::with(&shapes).generator(Some(&generator)).call()?;
        drawn.to_dtype(Float64)?.sum()?.item()?.to::<f64>()
    };
    let sums = [sum(2.5, Float32)?, sum(0.5, Float64)?];
    assert_eq!(sums.map(|sum| (sum * 1e9).round()), [2_529_942_014_910.0, 507_938_586_132.0]);
    let next = aten::randn_generator::with(&[3], Some(&generator)).dtype(Some(Float64)).call()?;
    near(&next, &[-0.9527754623865105, -0.24022505515280695, -0.35311080824634533], 1e-14);
    Ok(())
}

#[test]
fn numbers_of_gamma_distributions_move_with_the_shape() -> Result<()> {
    let shapes = Tensor::from([0.3, 2.0, 9.0]);
    shapes.set_requires_grad(true)?;
    let drawn = aten::_standard_gamma::with(&shapes).generator(Some(&seeded())).call()?;
    near(&drawn.detach()?, &[5.90695073130949e-06, 0.6315406048880828, 9.147442252527831], 1e-15);
    drawn.mul(&Tensor::from([1.0, 2.0, 3.0]))?.sum()?.backward()?;
    let grads = [0.0002337232209380278, 1.148824965553238, 3.0808479032973906];
    near(&shapes.grad().unwrap(), &grads, 1e-13);
    Ok(())
}

#[test]
fn shares_are_those_of_pytorch_and_add_up_to_one() -> Result<()> {
    let concentrations = Tensor::from([[0.01, 0.3, 0.99], [1.0, 5.0, 50.0]]);
    let draw = |concentrations: &Tensor| {
        aten::_sample_dirichlet::with(concentrations).generator(Some(&seeded())).call()
    };
    let wide = [
        2.883513484712115e-153,
        0.011375814528146464,
        0.9886241854718536,
        0.030978658426727344,
        0.08869253311429501,
        0.8803288084589777,
    ];
    near(&draw(&concentrations)?, &wide, 1e-15);
    let single = draw(&concentrations.to_dtype(Float32)?)?;
    let wanted = [1.175_494_4e-38, 0.011_375_817, 0.988_624_16, 0.030_978_66, 0.088_692_53, 0.880_328_83f32];
    assert_eq!(single.to_vec::<f32>()?, wanted);
    let turned = [
        1.6866920100408802e-152,
        0.9999999999999999,
        0.001140571730713285,
        0.9988594282692868,
        0.02146492665548002,
        0.97853507334452,
    ];
    let across = draw(&aten::t(&concentrations)?)?;
    assert_eq!(across.strides(), [2, 1]);
    near(&across, &turned, 1e-14);
    assert_eq!(draw(&Tensor::from(2.0))?.to_vec::<f64>()?, [1.0 - f64::EPSILON / 2.0]);
    Ok(())
}

#[test]
fn every_approximation_of_a_gradient_is_pytorchs() -> Result<()> {
    let shapes = Tensor::from([0.1, 0.5, 2.0, 5.0, 20.0, 20.0, 20.0, 3.0, 1e-3, 9.0]);
    let x = Tensor::from([0.05, 0.7, 1.5, 9.0, 19.0, 30.0, 10.0, 1e-8, 0.0, 9.0]);
    let wanted = [
        1.367283067838242,
        1.5867722372837023,
        0.9366198345654156,
        1.3672391086493698,
        0.9827254818951642,
        1.2265978621587852,
        0.6988779184588811,
        6.55893282073372e-08,
        0.0,
        1.0186475162576842,
    ];
    near(&aten::_standard_gamma_grad(&shapes, &x)?, &wanted, 1e-12);
    let nowhere = aten::_standard_gamma_grad(&Tensor::from([0.0]), &Tensor::from([1.0]))?;
    assert!(nowhere.item()?.to::<f64>()?.is_nan());

    let x = Tensor::from([0.1, 0.01, 0.99, 0.5, 0.45, 0.4, 0.3, 0.7, 0.97, 0.0, 1.0]);
    let alpha = Tensor::from([0.5, 3.0, 2.0, 20.0, 15.0, 3.0, 1.0, 4.0, 20.0, 0.5, 0.5]);
    let total = Tensor::from([1.5, 5.0, 2.5, 40.0, 40.0, 7.0, 4.0, 6.0, 21.0, 1.0, 1.0]);
    let wanted = [
        0.5116855762208993,
        0.014703028295048735,
        0.5578069126549366,
        0.025418403680122426,
        0.027896576792952904,
        0.15288014459588392,
        0.3503499829369683,
        0.1885357224364381,
        0.049242385643891294,
        0.0,
        2.7725887222397803,
    ];
    near(&aten::_dirichlet_grad(&x, &alpha, &total)?, &wanted, 1e-12);
    let [x, alpha, total] = [x, alpha, total].map(|tensor| tensor.to_dtype(Float32).unwrap());
    near(&aten::_dirichlet_grad(&x, &alpha, &total)?, &wanted, 2e-5);
    Ok(())
}

#[test]
fn distributions_refuse_what_pytorch_refuses() -> Result<()> {
    for dtype in [DType::Float16, DType::BFloat16, DType::Int64, DType::Complex64] {
        for sizes in [&[0][..], &[2]] {
            let x = aten::ones::with(sizes).dtype(Some(dtype)).call()?;
            assert!(aten::_standard_gamma(&x).is_err() && aten::_sample_dirichlet(&x).is_err());
            assert!(aten::_standard_gamma_grad(&x, &x).is_err());
            assert!(aten::_dirichlet_grad(&x, &x, &x).is_err());
        }
    }
    let (single, wide) = (Tensor::from([0.5f32]), Tensor::from([0.5]));
    let error = aten::_standard_gamma_grad(&single, &wide).unwrap_err().to_string();
    assert_eq!(error, "aten::_standard_gamma_grad: tensors of float32 and float64, expected one dtype");
    assert!(aten::_dirichlet_grad(&wide, &wide, &single).is_err());
    for sizes in [&[0][..], &[2, 0], &[0, 2]] {
        let none = aten::zeros(sizes)?;
        assert_eq!(aten::_sample_dirichlet(&none)?.sizes(), sizes);
        assert_eq!(aten::_standard_gamma(&none)?.sizes(), sizes);
    }
    // PyTorch looks for a number that these distributions do not have, without end.
    let none = aten::_standard_gamma(&Tensor::from([f64::NAN, -1.0]))?.to_vec::<f64>()?;
    assert_eq!(none, [f64::MIN_POSITIVE; 2]);
    Ok(())
}
