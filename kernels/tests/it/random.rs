//! Ranges and random numbers, whose streams are PyTorch's.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

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
    let none = aten::multinomial::with(&aten::zeros(&[2, 0]).unwrap(), 2).replacement(true).call();
    assert!(none.unwrap_err().to_string().contains("no categories"));
}

/// A new tensor of zeros of a type, drawn into from seed 0.
fn drawn(
    dtype: DType,
    count: i64,
    draw: impl FnOnce(&mut Tensor, &Generator) -> Result<()>,
) -> Result<Tensor> {
    let mut out = aten::zeros::with(&[count]).dtype(Some(dtype)).call()?;
    draw(&mut out, &seeded())?;
    Ok(out)
}

#[test]
fn normal_numbers_come_in_pairs_of_which_the_second_waits() -> Result<()> {
    let generator = seeded();
    let one = |sizes: &[i64]| {
        aten::randn_generator::with(sizes, Some(&generator))
            .dtype(Some(DType::Float64))
            .call()?
            .to_vec::<f64>()
    };
    assert_eq!(one(&[1])?, [1.5409961082440433]);
    assert_eq!(generator.random64() & ((1 << 53) - 1), (0.45938294312745087 * 2f64.powi(53)) as u64);
    assert_eq!(one(&[2])?, [-0.2934289057609464, 1.2644587093281903]);
    generator.manual_seed(0);
    assert_eq!(one(&[1])?, [1.5409961082440433], "nothing waits after a seed");
    Ok(())
}

#[test]
fn distributions_are_pytorchs() -> Result<()> {
    let cauchy =
        drawn(DType::Float64, 3, |out, from| aten::cauchy_::call(out, 1.0, 2.0, Some(from)).map(drop))?;
    assert_eq!(cauchy.to_vec::<f64>()?, [22.195458653364593, 2.5295345192117997, 0.7434013158336519]);
    let normal =
        drawn(DType::Float64, 3, |out, from| aten::log_normal_::call(out, 0.5, 0.25, Some(from)).map(drop))?;
    assert_eq!(normal.to_vec::<f64>()?, [2.4235878553037287, 1.5321052554493706, 0.9562868625441218]);
    let trials = drawn(DType::Int64, 4, |out, from| aten::geometric_::call(out, 0.3, Some(from)).map(drop))?;
    assert_eq!(trials.to_vec::<i64>()?, [1, 1, 3, 1]);
    let chances = aten::full(&[6], 0.4.into())?;
    let hits = drawn(DType::Int64, 6, |out, from| {
        aten::bernoulli__Tensor::call(out, &chances, Some(from)).map(drop)
    })?;
    assert_eq!(hits.to_vec::<i64>()?, [0, 0, 1, 1, 1, 0]);
    Ok(())
}

#[test]
fn types_draw_the_integers_that_they_hold() -> Result<()> {
    let all = |dtype| drawn(dtype, 3, |out, from| aten::random_::call(out, Some(from)).map(drop));
    assert_eq!(all(DType::Float32)?.to_vec::<f32>()?, [8325664.0, 12888472.0, 1484222.0]);
    assert_eq!(
        all(DType::Int64)?.to_vec::<i64>()?,
        [900450186894289455, 3969543146641149120, 1895649597198586619]
    );
    let few = drawn(DType::BFloat16, 3, |out, from| {
        aten::random__from::call(out, 0, Some(300), Some(from)).map(drop)
    })?;
    let few = aten::to_dtype(&few, DType::Float32)?;
    assert_eq!(few.to_vec::<f32>()?, [148.0, 53.0, 69.0], "298 of the 300 are multiples of two or below 256");
    for (dtype, from, to, part) in [
        (DType::Int8, 0, Some(129), "int8 cannot hold all integers from 0 to 128"),
        (DType::UInt8, -1, Some(3), "uint8 cannot hold all integers from -1 to 2"),
        (DType::Bool, 0, Some(3), "bool cannot hold"),
        (DType::Float16, 0, Some(70_000), "float16 cannot hold"),
        (DType::Int32, i64::MIN, None, "int32 cannot hold all 64-bit integers"),
        (DType::Int64, 3, Some(3), "there is no integer from 3 up to 3"),
    ] {
        let refused =
            drawn(dtype, 3, |out, source| aten::random__from::call(out, from, to, Some(source)).map(drop));
        let error = refused.unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
    for (from, to) in
        [(i64::MIN, Some(i64::MAX)), (i64::MAX - 1, Some(i64::MAX)), (i64::MAX, None), (i64::MIN, None)]
    {
        for dtype in [DType::Int64, DType::Float32, DType::BFloat16] {
            drop(drawn(dtype, 3, |out, source| {
                aten::random__from::call(out, from, to, Some(source)).map(drop)
            }));
        }
    }
    Ok(())
}

#[test]
fn numbers_are_drawn_as_elements_lie_in_memory() -> Result<()> {
    let mut x = aten::t(&aten::zeros(&[3, 2])?)?;
    aten::uniform_::with(&mut x).generator(Some(&seeded())).call()?;
    let want = [0.49625659, 0.08847743, 0.30742282, 0.7682218, 0.13203049, 0.63407868];
    assert_eq!(x.to_vec::<f32>()?, want.map(|x: f64| x as f32));
    Ok(())
}

#[test]
fn means_and_deviations_may_be_tensors() -> Result<()> {
    let (seed, again) = (seeded(), seeded());
    let means = Tensor::from([0.0, 10.0, 20.0]);
    let around = aten::normal_Tensor_float::with(&means).std(2.0).generator(Some(&seed)).call()?;
    assert_eq!(around.to_vec::<f64>()?, [3.0819922164880866, 9.413142188478107, 15.642421235850886]);
    let spread = aten::normal_float_Tensor::with(1.0, &Tensor::from([0.0, 1.0, 2.0]))
        .generator(Some(&again))
        .call()?;
    assert_eq!(spread.to_vec::<f64>()?, [1.0, 0.7065710942390536, -3.357578764149115]);
    let error = aten::normal_float_Tensor(0.0, &Tensor::from([1.0, -1.0])).unwrap_err().to_string();
    assert!(error.contains("a standard deviation is -1, expected zero or more"), "{error}");
    let mut out = aten::zeros::with(&[0]).dtype(Some(DType::Float64)).call()?;
    aten::normal_float_Tensor_out::call(1.0, &Tensor::from([0.0f32]), None, &mut out)?;
    assert_eq!(out.to_vec::<f64>()?, [1.0]);
    Ok(())
}

#[test]
fn parameters_of_distributions_are_checked() -> Result<()> {
    let mut x = aten::zeros(&[3])?;
    assert!(aten::cauchy_::call(&mut x, 0.0, 0.0, None).is_err());
    assert!(aten::log_normal_::call(&mut x, 0.0, f64::NAN, None).is_err());
    assert!(aten::geometric_(&mut x, 1.0).is_err() && aten::geometric_(&mut x, f64::NAN).is_err());
    assert!(aten::bernoulli__Tensor(&mut x, &Tensor::from(1.5)).is_err());
    assert!(aten::bernoulli__Tensor(&mut x, &Tensor::from(1i64)).is_err());
    assert!(aten::uniform_::call(&mut x, 0.0, f64::INFINITY, None).is_err());
    assert!(aten::cauchy_(&mut Tensor::from([1i64])).is_err());
    Ok(())
}

#[test]
fn counts_are_pytorchs() -> Result<()> {
    let rates = Tensor::from([0.0, 0.3, 5.0, 9.9, 10.0, 25.0, 1000.0, 1e4]);
    let events = |rates: &Tensor| aten::poisson::call(rates, Some(&seeded()));
    assert_eq!(events(&rates)?.to_vec::<f64>()?, [0.0, 1.0, 7.0, 10.0, 12.0, 25.0, 1005.0, 10053.0]);
    let few = events(&Tensor::from([0.3, 30.0, 3.0]).to_dtype(DType::BFloat16)?)?;
    assert_eq!(few.to_string(), "tensor([ 1., 29.,  3.], dtype=torch.bfloat16)");
    let trials = Tensor::from([0.0, 1.0, 20.0, 100.0, 1000.0, 20.0, 100.0, 5000.0]);
    let chances = Tensor::from([0.5, 0.3, 0.1, 0.3, 0.4, 0.9, 0.8, 0.7]);
    for dtype in [DType::Float64, DType::Float32] {
        let (trials, chances) = (trials.to_dtype(dtype)?, chances.to_dtype(dtype)?);
        let hits = aten::binomial::call(&trials, &chances, Some(&seeded()))?.to_dtype(DType::Float64)?;
        assert_eq!(hits.to_vec::<f64>()?, [0.0, 1.0, 4.0, 28.0, 390.0, 19.0, 79.0, 3505.0]);
    }
    Ok(())
}

#[test]
fn long_streams_of_counts_are_pytorchs() -> Result<()> {
    let (generator, full) =
        (seeded(), |x: f64, dtype| aten::full::with(&[1000], x.into()).dtype(Some(dtype)).call());
    let sum = |counts: Tensor| counts.sum()?.item()?.to::<f64>();
    let events = |mean| sum(aten::poisson::call(&full(mean, DType::Float64)?, Some(&generator))?);
    assert_eq!([events(12.0)?, events(2.0)?], [12_045.0, 2_045.0]);
    for dtype in [DType::Float64, DType::Float32] {
        generator.manual_seed(0);
        let hits = |chance| {
            sum(aten::binomial::call(&full(100.0, dtype)?, &full(chance, dtype)?, Some(&generator))?)
        };
        assert_eq!([hits(0.3)?, hits(0.95)?], [29_973.0, 94_974.0]);
    }
    Ok(())
}

#[test]
fn counts_need_means_and_probabilities() -> Result<()> {
    let one = Tensor::from([1.0]);
    let error = aten::poisson(&Tensor::from([-1.0])).unwrap_err().to_string();
    assert_eq!(error, "aten::poisson: a rate is -1, expected a finite number from 0 up");
    assert!(
        aten::poisson(&Tensor::from([f64::NAN])).is_err() && aten::poisson(&Tensor::from([1i64])).is_err()
    );
    assert!(aten::binomial(&one, &Tensor::from([0.5f32])).is_err(), "two types");
    assert!(aten::binomial(&Tensor::from([1i64]), &Tensor::from([1i64])).is_err());
    let edges =
        aten::binomial(&Tensor::from([-1.0, 3.0, 3.0, f64::NAN]), &Tensor::from([0.5, 1.5, f64::NAN, 0.5]))?;
    let edges = edges.to_vec::<f64>()?;
    assert_eq!(edges[..2], [0.0, 3.0]);
    assert!(edges[2].is_nan() && edges[3].is_nan());
    Ok(())
}
