//! Series and random numbers: the streams are PyTorch's.

use torch_library::prelude::*;
use torch_library_kernels::aten;

fn seeded() -> Generator {
    Generator::with_seed(0)
}

#[test]
fn uniform_numbers_are_pytorchs() -> Result<()> {
    let generator = seeded();
    let draw = |dtype| aten::rand_generator::with(&[3], Some(&generator)).dtype(Some(dtype)).call();
    assert_eq!(draw(DType::Float32)?.to_vec::<f32>()?, [0.496_256_6, 0.768_221_8, 0.088_477_43]);
    generator.manual_seed(0);
    assert_eq!(
        draw(DType::Float64)?.to_vec::<f64>()?,
        [0.9700530018065531, 0.707819864399788, 0.45938294312745087]
    );
    generator.manual_seed(0);
    assert_eq!(draw(DType::BFloat16)?.to_string(), "tensor([0.4961, 0.7695, 0.0884], dtype=torch.bfloat16)");
    Ok(())
}

#[test]
fn normal_numbers_are_pytorchs() -> Result<()> {
    let draw = |count, dtype| {
        let numbers = aten::randn_generator::with(&[count], Some(&seeded())).dtype(Some(dtype)).call()?;
        aten::_to_copy::with(&numbers).dtype(Some(DType::Float64)).call()?.to_vec::<f64>()
    };
    let close = |got: f64, want: f64| assert!((got - want).abs() < 1e-6, "{got} instead of {want}");
    let few = draw(3, DType::Float64)?;
    assert_eq!(few, [1.5409961082440433, -0.2934289057609464, -2.1787893820745574]);
    let many = draw(17, DType::Float32)?;
    close(many[0], -1.1258398294448853);
    close(many[1], -1.6959311962127686);
    close(many[15], -0.843676745891571);
    close(many[16], 0.9318265914916992);
    Ok(())
}

#[test]
fn random_integers_are_pytorchs() -> Result<()> {
    let mut x = aten::zeros::with(&[5]).dtype(Some(DType::Int64)).call()?;
    aten::random__from::with(&mut x, 0, Some(10)).generator(Some(&seeded())).call()?;
    assert_eq!((x.to_vec::<i64>()?, x.version()), (vec![4, 9, 3, 0, 3], 1));
    aten::random__from::with(&mut x, 0, Some(1 << 30)).generator(Some(&seeded())).call()?;
    assert_eq!(x.to_vec::<i64>()?[..3], [398764591, 404868288, 463622907]);
    let order = aten::randperm_generator::with(6, Some(&seeded())).call()?;
    assert_eq!(order.to_vec::<i64>()?, [2, 5, 3, 0, 1, 4]);
    let error = aten::random__from(&mut x, 3, Some(3)).unwrap_err();
    assert_eq!(error.to_string(), "aten::random_.from: there is no integer from 3 up to 3");
    Ok(())
}

#[test]
fn long_series_are_those_of_each_number() -> Result<()> {
    for dtype in [DType::Int64, DType::Float32, DType::Float64, DType::BFloat16] {
        let many = aten::arange::with(70_000.into()).dtype(Some(dtype)).call()?;
        let at = |place: i64| aten::select_int(&many, 0, place)?.item()?.to::<f64>();
        assert_eq!((many.dtype(), at(3)?, at(256)?), (dtype, 3.0, 256.0));
        assert_eq!(aten::arange::with(0.into()).dtype(Some(dtype)).call()?.sizes(), [0]);
    }
    let order = aten::randperm(100_000)?;
    assert_eq!(aten::sort(&order)?.0.to_vec::<i64>()?, (0..100_000).collect::<Vec<i64>>());
    assert_eq!(aten::randperm::with(0).dtype(Some(DType::Float32)).call()?.sizes(), [0]);
    Ok(())
}

#[test]
fn series_lead_to_their_end() -> Result<()> {
    let series = |start: Scalar, end: Scalar, step: Scalar| {
        aten::arange_start_step::with(start, end).step(step).call()
    };
    assert_eq!(series(5.into(), 0.into(), (-2).into())?.to_vec::<i64>()?, [5, 3, 1]);
    assert_eq!(series(1.into(), 2.0.into(), 0.5.into())?.to_vec::<f32>()?, [1.0, 1.5]);
    let error = series(0.into(), 5.into(), (-1).into()).unwrap_err();
    assert_eq!(error.to_string(), "aten::arange.start_step: steps of -1 do not lead from 0 to 5");
    Ok(())
}

#[test]
fn dropped_elements_are_zero_and_the_others_scaled() -> Result<()> {
    let x = aten::dropout(&aten::ones(&[1000])?, 0.75, true)?.to_vec::<f32>()?;
    assert!(x.iter().all(|x| *x == 0.0 || *x == 4.0));
    assert!((150..350).contains(&x.iter().filter(|x| **x != 0.0).count()));
    assert!(aten::dropout(&aten::ones(&[2])?, 1.5, true).is_err());
    Ok(())
}

#[test]
fn drawn_indices_are_those_of_pytorch() {
    let generator = Generator::default();
    generator.manual_seed(3);
    let weights = Tensor::from([[0.1f32, 0.2, 0.3, 0.4], [0.0, 1.0, 0.0, 2.0]]);
    let draw = |count, replacement| {
        let draw = aten::multinomial::with(&weights, count).replacement(replacement);
        draw.generator(Some(&generator)).call().unwrap().to_vec::<i64>().unwrap()
    };
    assert_eq!(draw(2, false), [0, 3, 3, 1]);
    assert_eq!(draw(1, false), [2, 3]);
    assert_eq!(draw(5, true), [1, 2, 3, 1, 3, 3, 1, 1, 3, 1]);
    assert!(aten::multinomial(&weights, 5).is_err());
}
