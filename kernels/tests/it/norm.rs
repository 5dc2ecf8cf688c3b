//! Normalisation.

use torch_library::fake::to_fake;
use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;
use torch_library_kernels::vmap::vmap;

use crate::assert_close;

fn close(got: &Tensor, want: &[f64]) -> Result<()> {
    let got = got.to_dtype(DType::Float64)?.to_vec::<f64>()?;
    let is_close = |(got, want): (&f64, &f64)| (got - want).abs() <= 1e-6 * want.abs().max(1.0);
    assert!(got.len() == want.len() && got.iter().zip(want).all(is_close), "{got:?} instead of {want:?}");
    Ok(())
}

#[test]
fn layers_are_normalised_over_the_last_dimensions() -> Result<()> {
    let x = Tensor::from([[1.0, 2.0, 3.0], [10.0, 10.0, 10.0]]);
    let (weight, bias) = (Tensor::from([1.0, 2.0, 3.0]), Tensor::from([0.0, 0.0, 1.0]));
    let (y, mean, rstd) = aten::native_layer_norm(&x, &[3], Some(&weight), Some(&bias), 0.0)?;
    close(&y.narrow(0, 0, 1)?, &[-1.22474487, 0.0, 4.67423461])?;
    assert_eq!((mean.sizes(), mean.to_vec::<f64>()?), (&[2, 1][..], vec![2.0, 10.0]));
    assert_eq!(rstd.element::<f64>(&[1, 0])?, f64::INFINITY);
    assert!(aten::layer_norm(&x, &[2]).is_err() && aten::layer_norm(&x, &[]).is_err());
    Ok(())
}

#[test]
fn roots_of_mean_squares_keep_the_type_and_lie_row_by_row() -> Result<()> {
    let x = Tensor::from([[3.0, 1.0], [4.0, 1.0]]).t()?; // the second line is ones
    let weight = Tensor::from([1.0, 2.0]);
    let normal = |x: &Tensor| aten::rms_norm::with(x, &[2]).weight(Some(&weight)).eps(Some(0.0)).call();
    let y = normal(&x)?;
    close(&y, &[3.0 / 12.5_f64.sqrt(), 8.0 / 12.5_f64.sqrt(), 1.0, 2.0])?;
    assert_eq!((y.strides(), y.dtype()), (&[2, 1][..], DType::Float64));
    assert_eq!(normal(&x.to_dtype(DType::BFloat16)?)?.dtype(), DType::BFloat16);
    let small = Tensor::from([1e-6, 2e-6]); // of which the default `eps` of a type decides the first digits
    let complex = aten::rms_norm(&small.to_dtype(DType::Complex128)?, &[2])?;
    close(&aten::real(&complex)?, &aten::rms_norm(&small, &[2])?.to_vec::<f64>()?)?;
    for (x, sizes) in [(&x.to_dtype(DType::Int64)?, [2]), (&x.t()?.reshape(&[4])?, [4])] {
        assert!(aten::rms_norm::with(x, &sizes).weight(Some(&weight)).call().is_err());
    }
    Ok(())
}

/// Lines of 16-bit floats are converted some at a time; each has the mean that it has as `float32`.
#[test]
fn many_lines_of_halves_have_their_own_means() -> Result<()> {
    for (dtype, len) in [(DType::BFloat16, 20), (DType::Float16, 20), (DType::BFloat16, 3)] {
        let x = aten::randn(&[900, len])?.add(&aten::arange(900.into())?.unsqueeze(1)?)?.to_dtype(dtype)?;
        let (y, mean, rstd) = aten::native_layer_norm(&x, &[len], None, None, 1e-5)?;
        let want = aten::native_layer_norm(&x.to_dtype(DType::Float32)?, &[len], None, None, 1e-5)?;
        for (got, want) in [(y, want.0), (mean, want.1), (rstd, want.2)] {
            assert!(aten::equal(&got, &want.to_dtype(dtype)?)?, "{dtype} {len}");
        }
    }
    Ok(())
}

#[test]
fn a_large_mean_costs_layer_norm_no_digits() -> Result<()> {
    let x: Vec<f32> = (0..512).map(|i| 1e4 + (i % 2) as f32).collect();
    let y = aten::layer_norm(&Tensor::from_vec(x, &[512])?, &[512])?;
    let want: Vec<f64> = (0..512).map(|i| if i % 2 == 0 { -0.99998 } else { 0.99998 }).collect();
    close(&y, &want)
}

#[test]
fn equal_elements_are_their_own_mean_and_have_no_variance() -> Result<()> {
    let is_zero = |x: &Tensor| Ok::<_, Error>(aten::count_nonzero(x)?.item()? == Scalar::Int(0));
    for (dtype, len) in [DType::Float32, DType::Float64]
        .into_iter()
        .flat_map(|dtype| [3, 15, 100, 5000].map(|len| (dtype, len)))
    {
        for number in [1.1, 1000.7, 3.3e5] {
            let x = aten::full::with(&[2, 3, len], number.into()).dtype(Some(dtype)).call()?;
            let context = format!("{len} times {number} in {dtype}");
            for dims in [&[2][..], &[0]] {
                assert!(is_zero(&aten::var_dim::with(&x, Some(dims)).unbiased(false).call()?)?, "{context}");
            }
            let lines = aten::layer_norm::with(&x, &[len]).eps(1e-12).call()?;
            let groups = aten::group_norm::with(&x, 3).eps(1e-12).call()?;
            assert!(is_zero(&lines)? && is_zero(&groups)?, "{context}");
            let (_, mean, rstd) =
                aten::native_batch_norm::call(&x, None, None, None, None, true, 0.1, 1e-12)?;
            assert!(aten::equal(&mean, &x.select(2, 0)?.select(0, 0)?)?, "{context}");
            assert!(aten::allclose(&rstd, &aten::full_like(&rstd, 1e6.into())?)?, "{context}");
        }
    }
    // A deviation that is too large for its square.
    let x = Tensor::from([3e38f32, -3e38]);
    assert_eq!(aten::var(&x)?.element::<f32>(&[])?, f32::INFINITY);
    Ok(())
}

#[test]
fn training_moves_the_running_statistics() -> Result<()> {
    let x = Tensor::from([[1.0, 10.0], [3.0, 10.0]]);
    let (mean, var) = (Tensor::from([0.0, 0.0]), Tensor::from([1.0, 1.0]));
    let norm =
        |training| aten::batch_norm(&x, None, None, Some(&mean), Some(&var), training, 0.1, 0.0, false);
    close(&norm(false)?, &[1.0, 10.0, 3.0, 10.0])?;
    let trained = norm(true)?.to_vec::<f64>()?;
    assert_eq!((trained[0], trained[2]), (-1.0, 1.0));
    close(&mean, &[0.2, 1.0])?;
    close(&var, &[1.1, 0.9])?;
    let error = aten::batch_norm(&x, None, None, None, None, false, 0.1, 0.0, false).unwrap_err();
    assert_eq!(
        error.to_string(),
        "aten::batch_norm: aten::native_batch_norm: outside of training the running mean and variance are needed"
    );
    Ok(())
}

#[test]
fn batch_norm_keeps_the_memory_format_of_gradients() -> Result<()> {
    for dtype in [DType::Float32, DType::BFloat16] {
        let x =
            aten::randn(&[2, 16, 4, 5])?.to_dtype(dtype)?.contiguous_format(MemoryFormat::ChannelsLast)?;
        let notes = aten::ones(&[16])?.to_dtype(dtype)?;
        let notes = Some(&notes);
        let (of_x, ..) = aten::native_batch_norm_backward(
            &x, &x, notes, notes, notes, notes, notes, true, 1e-5, &[true; 3],
        )?;
        assert_eq!((of_x.dtype(), of_x.strides()), (dtype, x.strides()));
    }
    Ok(())
}

#[test]
fn batch_norm_keeps_the_memory_format() -> Result<()> {
    let x = aten::ones(&[2, 3, 4, 5])?.contiguous_format(MemoryFormat::ChannelsLast)?;
    let (y, mean, _) = aten::native_batch_norm(&x, None, None, None, None, true, 0.1, 1e-5)?;
    assert_eq!((y.strides(), mean.sizes()), (&[60, 1, 15, 3][..], &[3][..]));
    Ok(())
}

#[test]
fn batch_norm_has_the_same_gradients_in_every_memory_format() -> Result<()> {
    for channels in [2, 3, 7, 8, 9, 15, 16, 17, 29, 63, 64, 65, 103] {
        let sizes = [2, channels, 5, 17];
        let there = |x: &Tensor| x.contiguous_format(MemoryFormat::ChannelsLast);
        let of_channels_last = batch_norm_gradients_agree(&sizes, there)?;
        for strides in of_channels_last {
            assert_eq!(strides, [channels * 85, 1, channels * 17, channels], "{channels} channels");
        }
        // The same planes of one pixel, as a matrix.
        for count in [1, 2, 63, 64, 65, 150] {
            let _ = batch_norm_gradients_agree(&[count, channels, 1], |x| x.squeeze_dim(-1))?;
        }
    }
    // So many pixels that each block of them is summed in several steps.
    let _ = batch_norm_gradients_agree(&[4, 8, 70, 80], |x| x.contiguous_format(MemoryFormat::ChannelsLast))?;
    Ok(())
}

/// Compares batch norm's gradients, also without statistics, with those of the tensors that a function makes of its
/// operands. Returns the strides of the latter's gradients.
fn batch_norm_gradients_agree(
    sizes: &[i64],
    there: impl Fn(&Tensor) -> Result<Tensor>,
) -> Result<[Vec<i64>; 2]> {
    let random = |sizes: &[i64]| aten::randn::with(sizes).dtype(Some(DType::Float64)).call();
    let channels = [sizes[1]];
    let (x, grad, weight, mean) = (random(sizes)?, random(sizes)?, random(&channels)?, random(&channels)?);
    let deviation = aten::rand::with(&channels).dtype(Some(DType::Float64)).call()?.add(0.5)?;
    let mut strides = [Vec::new(), Vec::new()];
    for (train, strides) in [false, true].into_iter().zip(&mut strides) {
        let gradients = |x: &Tensor, grad: &Tensor| {
            let [weight, mean, deviation] = [&weight, &mean, &deviation].map(Some);
            let (running, saved) = ([mean, deviation], [mean, deviation]);
            aten::native_batch_norm_backward(
                grad, x, weight, running[0], running[1], saved[0], saved[1], train, 1e-5, &[true; 3],
            )
        };
        let (of_x, of_weight, of_bias) = gradients(&x, &grad)?;
        let got = gradients(&there(&x)?, &there(&grad)?)?;
        *strides = got.0.strides().to_vec();
        for (got, want) in [(got.0, of_x), (got.1, of_weight), (got.2, of_bias)] {
            close(&got.contiguous()?, &want.to_vec::<f64>()?)?;
        }
    }
    Ok(strides)
}

/// The gradients of group norm's input, weight and bias, for contiguous `[items, channels, elements]`.
fn of_groups(
    [grad, x, mean, rstd, weight]: [&[f64]; 5],
    [items, channels, elements, groups]: [usize; 4],
) -> [Vec<f64>; 3] {
    let (mut of_x, mut of_weight, mut of_bias) =
        (vec![0.0; x.len()], vec![0.0; channels], vec![0.0; channels]);
    let width = channels / groups * elements;
    for group in 0..items * groups {
        let channel_of = |i: usize| i / elements % channels;
        let normal = |i: usize| (x[i] - mean[group]) * rstd[group];
        let places = || group * width..(group + 1) * width;
        let sum: f64 = places().map(|i| grad[i] * weight[channel_of(i)]).sum();
        let product: f64 = places().map(|i| grad[i] * weight[channel_of(i)] * normal(i)).sum();
        for i in places() {
            of_weight[channel_of(i)] += grad[i] * normal(i);
            of_bias[channel_of(i)] += grad[i];
            let mean_of_all = (sum + normal(i) * product) / width as f64;
            of_x[i] = (grad[i] * weight[channel_of(i)] - mean_of_all) * rstd[group];
        }
    }
    [of_x, of_weight, of_bias]
}

#[test]
fn group_norm_has_the_gradients_of_its_formula_in_every_memory_format() -> Result<()> {
    let random = |sizes: &[i64]| aten::randn::with(sizes).dtype(Some(DType::Float64)).call();
    for (pixels, groups) in [([1, 1], 2), ([3, 3], 3), ([4, 5], 1), ([8, 9], 6)] {
        let (items, channels, elements) = (2, 6, pixels[0] * pixels[1]);
        let sizes = [items, channels, pixels[0], pixels[1]];
        let (x, grad, weight) = (random(&sizes)?, random(&sizes)?, random(&[channels])?);
        let (mean, rstd) = (random(&[items, groups])?, random(&[items, groups])?);
        let numbers = [&grad, &x, &mean, &rstd, &weight].map(|tensor| tensor.to_vec::<f64>().unwrap());
        let counts = [items, channels, elements, groups];
        let want = of_groups(numbers.each_ref().map(Vec::as_slice), counts.map(|count| count as usize));
        for format in [MemoryFormat::Contiguous, MemoryFormat::ChannelsLast] {
            let [x, grad] = [x.contiguous_format(format)?, grad.contiguous_format(format)?];
            let gradients = |mask: [bool; 3]| {
                let [n, c, hx_w, group] = counts;
                let weight = Some(&weight);
                aten::native_group_norm_backward(&grad, &x, &mean, &rstd, weight, n, c, hx_w, group, &mask)
            };
            let (of_x, of_weight, of_bias) = gradients([true; 3])?;
            assert!(of_x.is_contiguous(x.suggest_memory_format()), "{pixels:?} {format:?}");
            for (got, want) in [&of_x.contiguous()?, &of_weight, &of_bias].into_iter().zip(&want) {
                close(got, want)?;
            }
            let (of_x, of_weight, of_bias) = gradients([false, false, true])?;
            assert!(!of_x.is_defined() && !of_weight.is_defined());
            close(&of_bias, &want[2])?;
        }
    }
    Ok(())
}

/// By its formula, from images in every memory format, with and without parameters.
#[test]
fn group_norm_is_its_formula_in_every_memory_format() -> Result<()> {
    for (dtype, tolerance) in [(DType::Float64, 1e-9), (DType::Float32, 1e-3), (DType::BFloat16, 0.02)] {
        for (pixels, groups) in [([1, 1], 2), ([3, 3], 3), ([4, 5], 1), ([8, 9], 6), ([40, 30], 2)] {
            let random =
                |sizes: &[i64]| aten::randn::with(sizes).dtype(Some(DType::Float64)).call()?.to_dtype(dtype);
            let x = random(&[2, 6, pixels[0], pixels[1]])?;
            let (x, weight, bias) = (x.add_Scalar(3.into())?, random(&[6])?, random(&[6])?);
            for (weight, bias) in
                [(None, None), (Some(&weight), None), (None, Some(&bias)), (Some(&weight), Some(&bias))]
            {
                let want = of_formula(&x, groups, [weight, bias])?;
                for format in [MemoryFormat::Contiguous, MemoryFormat::ChannelsLast] {
                    let x = x.contiguous_format(format)?;
                    let elements = pixels[0] * pixels[1];
                    let got = aten::native_group_norm(&x, weight, bias, 2, 6, elements, groups, 1e-5)?;
                    assert!(got.0.is_contiguous(x.suggest_memory_format()), "{pixels:?} {format:?}");
                    for (got, want) in [&got.0, &got.1, &got.2].into_iter().zip(&want) {
                        let got = got.to_dtype(DType::Float64)?.reshape(want.sizes())?;
                        let is_close =
                            aten::allclose::with(&got, want).rtol(tolerance).atol(tolerance).call()?;
                        assert!(is_close, "{pixels:?} {groups} {format:?} {dtype}: {got} {want}");
                    }
                }
            }
        }
    }
    Ok(())
}

/// The result of group norm in double precision, the means and the reciprocal standard deviations.
fn of_formula(x: &Tensor, groups: i64, parameters: [Option<&Tensor>; 2]) -> Result<[Tensor; 3]> {
    let wide = |tensor: &Tensor| tensor.to_dtype(DType::Float64);
    let rows = wide(x)?.reshape(&[x.sizes()[0], groups, -1])?;
    let (variance, mean) =
        aten::var_mean_correction::with(&rows).dim(&[2]).correction(0).keepdim(true).call()?;
    let rstd = aten::rsqrt(&variance.add_Scalar(1e-5.into())?)?;
    let mut out = rows.sub(&mean)?.mul(&rstd)?.reshape(x.sizes())?;
    let [weight, bias] =
        parameters.map(|parameter| parameter.map(|it| wide(it)?.reshape(&[6, 1, 1])).transpose());
    if let Some(weight) = weight? {
        out = out.mul(&weight)?;
    }
    if let Some(bias) = bias? {
        out = out.add(&bias)?;
    }
    Ok([out, mean, rstd])
}

#[test]
fn more_groups_than_an_i64_counts_are_refused() -> Result<()> {
    let none = Tensor::empty(&[2, 0], DType::Float32, Device::CPU)?;
    assert!(aten::group_norm::call(&none, i64::MAX, None, None, 1e-5, true).is_err());
    Ok(())
}

/// A result that is not wanted is undefined as a tensor, `None` as a boxed value, and ignored by layers.
#[test]
fn unwanted_gradients_are_undefined() -> Result<()> {
    let (x, weight) = (Tensor::from([[1.0, 2.0, 4.0]]), Tensor::from([1.0, 2.0, 3.0]));
    let (_, mean, rstd) = aten::native_layer_norm(&x, &[3], Some(&weight), None, 1e-5)?;
    let of = |grad: &Tensor, mask: [bool; 3]| {
        aten::native_layer_norm_backward(grad, &x, &[3], &mean, &rstd, Some(&weight), None, &mask)
    };
    let is_defined = |(a, b, c): (Tensor, Tensor, Tensor)| [a, b, c].map(|tensor| tensor.is_defined());
    let mask = [false, true, false];
    assert_eq!(is_defined(of(&x, mask)?), mask);
    x.set_requires_grad(true)?;
    assert_eq!(is_defined(of(&x, mask)?), mask);
    assert_eq!(is_defined(of(&to_fake(&x.detach()?)?, mask)?), mask);
    vmap([&aten::stack(&[x.clone(), x.clone()])?], |[grad]| {
        let grads = of(&grad, mask)?;
        assert_eq!(is_defined(grads.clone()), mask);
        Ok(grads.1)
    })?;
    let boxed = aten::native_layer_norm_backward::handle().call_with(
        [
            Value::from(&x),
            (&x).into(),
            (&[3i64][..]).into(),
            (&mean).into(),
            (&rstd).into(),
            Value::None,
            Value::None,
            (&[true, false, false][..]).into(),
        ],
        [],
    )?;
    let is_none: Vec<bool> = boxed.into_iter().map(|value| value.is_none()).collect();
    assert_eq!(is_none, [false, true, true]);
    Ok(())
}

#[test]
fn one_of_the_running_statistics_is_not_enough() -> Result<()> {
    let (x, running) = (Tensor::from([[1.0], [2.0]]), Tensor::from([0.0]));
    let result = aten::native_batch_norm::call(&x, None, None, Some(&running), None, true, 0.1, 1e-5);
    assert!(result.is_err());
    Ok(())
}

#[test]
fn parameters_of_halves_have_gradients_of_their_own_type() -> Result<()> {
    let x = aten::to_dtype(&Tensor::from([[1.0], [2.0], [4.0]]), DType::BFloat16)?;
    let bias = Tensor::from([0.5f32]);
    bias.set_requires_grad(true)?;
    let (out, _, _) = aten::native_batch_norm::call(&x, None, Some(&bias), None, None, true, 0.1, 1e-5)?;
    let weights = aten::to_dtype(&Tensor::from([[1.0], [0.001953125], [0.0]]), DType::BFloat16)?;
    aten::sum(&aten::mul_Tensor(&out, &weights)?)?.backward()?;
    let gradient = bias.grad().map(|grad| grad.to_vec::<f32>()).transpose()?;
    assert_eq!(gradient, Some(vec![1.0 + 1.0 / 512.0]), "not rounded to the 8 bits of the input");
    Ok(())
}

#[test]
fn gradients_of_normalised_weights_are_functions() -> Result<()> {
    let (v, g) = (Tensor::from([[1.0, 2.0, -1.0], [0.5, 0.0, 3.0]]), Tensor::from([[2.0], [3.0]]));
    let (_, norms) = aten::_weight_norm_interface::call(&v, &g, 0)?;
    let grad = Tensor::from([[-2.0, -1.0, 0.0], [1.0, 2.0, 3.0]]);
    let (of_v, of_g) = aten::_weight_norm_differentiable_backward(&grad, &v, &g, &norms, 0)?;
    let want = [
        -1.0886621079036347,
        0.27216552697590884,
        -0.5443310539518175,
        0.4798673142967185,
        1.9727878476642875,
        -0.07997788571612026,
    ];
    assert_close(&of_v, &want)?;
    assert_close(&of_g, &[-1.6329931618554523, 3.1235807588017885])?;
    Ok(())
}

#[test]
fn batches_are_normalised_by_the_only_implementation() -> Result<()> {
    let x = Tensor::from([[1.0, 2.0, 3.0], [4.0, 8.0, -1.0], [0.0, 5.0, 2.0]]);
    let (weight, bias) = (Tensor::from([1.0, 2.0, 0.5]), Tensor::from([0.0; 3]));
    let normalise = aten::_batch_norm_impl_index::call;
    let found = normalise(&x, Some(&weight), Some(&bias), None, None, true, 0.1, 1e-5, true)?;
    let want = [
        -0.39223159141458575,
        -2.4494877015442778,
        0.4902894892682322,
        1.3728105699510502,
        2.4494877015442773,
        -0.6864052849755251,
        -0.9805789785364644,
        0.0,
        0.19611579570729287,
    ];
    assert_close(&found.0, &want)?;
    assert_close(&found.1, &[1.6666666666666667, 5.0, 1.3333333333333333])?;
    assert_eq!((found.3.sizes(), found.3.dtype(), found.4), (&[0][..], DType::UInt8, 0));
    let back = aten::_batch_norm_impl_index_backward::call;
    let (mean, root, none) = (Some(&found.1), Some(&found.2), &found.3);
    let squares = aten::square(&x)?;
    let slopes = |index, weight| {
        back(index, &x, &squares, weight, None, None, mean, root, true, 1e-5, &[true; 3], none)
    };
    let grads = slopes(0, Some(&weight))?;
    let want = [
        -1.0861855358097905,
        2.449446876817297,
        0.407320424503696,
        0.2715650526029948,
        2.449528526271258,
        0.13576827024107954,
        0.8146204832067954,
        -4.898975403088555,
        -0.5430886947447761,
    ];
    assert_close(&grads.0, &want)?;
    assert_close(&grads.1, &[21.572737527802214, 73.48463104632833, 9.021326602535474])?;
    assert_close(&grads.2, &[17.0, 93.0, 14.0])?;
    assert!(slopes(1, Some(&weight)).is_err(), "no other implementation");
    Ok(())
}

#[test]
fn statistics_move_and_are_named_in_the_schema() -> Result<()> {
    let x = Tensor::from([[1.0, 2.0], [3.0, 5.0]]);
    x.set_requires_grad(true)?;
    let (mut mean, mut var) = (Tensor::from([0.0, 0.0]), Tensor::from([1.0, 1.0]));
    let (out, save_mean, save_invstd) =
        aten::_native_batch_norm_legit(&x, None, None, &mut mean, &mut var, true, 0.1, 0.0)?;
    close(&out, &[-1.0, -1.0, 1.0, 1.0])?;
    close(&save_mean, &[2.0, 3.5])?;
    close(&save_invstd, &[1.0, 2.0 / 3.0])?;
    close(&mean, &[0.2, 0.35])?;
    close(&var, &[1.1, 1.35])?;
    assert_eq!(out.grad_fn()?.map(|node| node.name()), Some("NativeBatchNormLegitBackward0"));
    let (out, ..) = aten::_batch_norm_with_update(&x, None, None, &mut mean, &mut var, 0.1, 0.0)?;
    assert_eq!(out.grad_fn()?.map(|node| node.name()), Some("BatchNormWithUpdateBackward0"));
    close(&mean, &[0.38, 0.665])?;
    let outside = aten::_native_batch_norm_legit_no_stats(&x, None, None, false, 0.1, 0.0);
    assert!(outside.is_err(), "outside of training there must be statistics");
    Ok(())
}

#[test]
fn channels_are_dropped_as_one_and_variance_may_stay() -> Result<()> {
    let ones = aten::ones(&[4, 8, 3])?;
    let dropped = aten::feature_dropout(&ones, 0.5, true)?.to_vec::<f32>()?;
    assert!(dropped.chunks(3).all(|channel| channel == [0.0; 3] || channel == [2.0; 3]), "{dropped:?}");
    // From ones, kept and dropped elements become these two numbers, as in PyTorch.
    let (kept, lost) = (1.470_377_2, -0.910_642);
    for alpha in [aten::alpha_dropout(&ones, 0.4, true)?, aten::feature_alpha_dropout(&ones, 0.4, true)?] {
        let is_either = |x: &f32| (x - kept).abs() < 1e-6 || (x - lost).abs() < 1e-6;
        assert!(alpha.to_vec::<f32>()?.iter().all(is_either), "{alpha}");
    }
    let (out, mask) = aten::native_dropout(&ones, 0.5, Some(true))?;
    let pairs = out.to_vec::<f32>()?.into_iter().zip(mask.to_vec::<bool>()?);
    assert!(pairs.into_iter().all(|(x, is_kept)| x == if is_kept { 2.0 } else { 0.0 }));
    assert_eq!(aten::alpha_dropout(&ones, 1.0, true)?.sum()?.item()?.to::<f64>()?, 0.0);
    assert!(aten::feature_dropout(&Tensor::from([1.0]), 0.5, true).is_err(), "a vector has no channels");
    assert!(aten::alpha_dropout(&ones, 1.5, true).is_err());
    assert!(aten::native_dropout(&Tensor::from([1i64]), 0.5, None).is_err());
    Ok(())
}

#[test]
fn statistics_of_a_batch_update_the_running_ones_as_in_pytorch() -> Result<()> {
    let numbers = (0..24).map(|at| (at * 5 % 11) as f32 / 8.0 - 0.5).collect();
    let x = Tensor::from_vec::<f32>(numbers, &[2, 3, 4])?;
    for dtype in [DType::Float32, DType::BFloat16] {
        let (running_mean, running_var) =
            (Tensor::from([1.0f32, 2.0, 3.0]), Tensor::from([0.5f32, 1.0, 2.0]));
        let x = aten::to_dtype(&x, dtype)?;
        let (mean, variance) =
            aten::batch_norm_update_stats(&x, Some(&running_mean), Some(&running_var), 0.25)?;
        assert_eq!(mean.to_vec::<f32>()?, [0.234375, 0.15625, -0.09375]);
        assert_eq!(variance.to_vec::<f32>()?, [0.169_677_73, 0.124_023_44, 0.124_023_44]);
        assert_eq!(running_mean.to_vec::<f32>()?, [0.80859375, 1.5390625, 2.2265625]);
        let want = [0.42347935, 0.78543526, 1.5354353];
        assert!(running_var.to_vec::<f32>()?.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-6));
        let (mean, variance) = aten::batch_norm_update_stats(&x, None, None, 0.25)?;
        assert_eq!((mean.dtype(), variance.dtype()), (dtype, dtype));
        let mut outs = [0, 1].map(|_| Tensor::empty(&[0], dtype, Device::CPU).unwrap());
        let [first, second] = &mut outs;
        aten::batch_norm_update_stats_out(&x, None, None, 0.25, first, second)?;
        assert!(aten::equal(&outs[0], &mean)? && aten::equal(&outs[1], &variance)?);
    }
    let refused = |x: &Tensor, mean: Option<&Tensor>| {
        aten::batch_norm_update_stats(x, mean, None, 0.25).map(drop).unwrap_err().to_string()
    };
    assert!(refused(&aten::narrow(&x, 0, 0, 0)?, None).contains("no elements to take a mean of"));
    assert!(refused(&aten::to_dtype(&x, DType::Int32)?, None).contains("int32"));
    assert!(refused(&Tensor::from([1.0f32, 2.0]), None).contains("sizes [2]"));
    assert!(refused(&x, Some(&Tensor::from([1.0f32]))).contains("aten::batch_norm_update_stats"));
    assert!(refused(&x, Some(&Tensor::from([1.0, 2.0, 3.0]))).contains("float64"));
    Ok(())
}

#[test]
fn complex_numbers_are_dropped_as_a_whole() -> Result<()> {
    let x = aten::full(&[2, 3, 4], Complex64::new(1.0, -2.0).into())?.to_dtype(DType::Complex128)?;
    let dropped = aten::feature_dropout(&x, 0.5, true)?.to_vec::<Complex64>()?;
    let channel = |values: &[Complex64]| values[0] == values[3] && [0.0, 2.0].contains(&values[0].re);
    assert!(dropped.chunks(4).all(channel), "{dropped:?}");
    assert!(dropped.iter().all(|value| value.im == -2.0 * value.re), "{dropped:?}");
    for alpha in [aten::alpha_dropout(&x, 0.4, true)?, aten::feature_alpha_dropout(&x, 0.4, true)?] {
        assert_eq!((alpha.dtype(), alpha.sizes()), (x.dtype(), x.sizes()));
    }
    Ok(())
}

#[test]
fn a_weight_without_dimensions_has_no_direction() {
    let number = Tensor::from(2.0);
    for dim in [0, -1] {
        assert!(aten::_weight_norm::call(&number, &number, dim).is_err());
        assert!(aten::_weight_norm_interface::call(&number, &number, dim).is_err());
    }
}
