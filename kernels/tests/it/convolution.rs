//! Convolutions of `bfloat16`, with their gradients, and pointwise ones.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

/// Sums of small whole numbers are exact in `float32`, so that those of `bfloat16` must be the same, rounded once,
/// whether AMX tiles compute them or other loops. Some lines have more places than a tile has rows, some channels fill
/// no panel, and some pieces have more steps than are multiplied at a time.
#[test]
fn convolutions_of_bfloat16_are_rounded_once() -> Result<()> {
    // The sizes of the image and of the weight; stride, padding, dilation and groups.
    type Case<'a> = ([&'a [i64]; 2], [&'a [i64]; 3], i64);
    let cases: [Case<'_>; 12] = [
        ([&[2, 32, 9, 40], &[64, 32, 3, 3]], [&[1, 1], &[1, 1], &[1, 1]], 1),
        ([&[1, 20, 5, 33], &[40, 20, 1, 1]], [&[1, 1], &[0, 0], &[1, 1]], 1),
        ([&[1, 3, 21, 35], &[17, 3, 7, 7]], [&[2, 2], &[3, 3], &[1, 1]], 1),
        ([&[2, 34, 8, 8], &[36, 17, 3, 3]], [&[1, 1], &[1, 0], &[1, 1]], 2),
        ([&[1, 200, 4, 6], &[16, 200, 3, 3]], [&[1, 1], &[1, 1], &[1, 1]], 1),
        ([&[1, 16, 12, 7], &[16, 16, 3, 2]], [&[1, 1], &[2, 1], &[2, 1]], 1),
        ([&[1, 16, 12, 9], &[16, 16, 3, 3]], [&[1, 1], &[2, 2], &[2, 2]], 1),
        ([&[1, 16, 5, 1], &[33, 16, 2, 1]], [&[1, 1], &[0, 0], &[1, 1]], 1),
        ([&[3, 24, 50], &[32, 24, 5]], [&[2], &[2], &[1]], 1),
        ([&[1, 16, 4, 5, 6], &[48, 16, 2, 3, 3]], [&[1, 1, 2], &[1, 1, 1], &[1, 1, 1]], 1),
        ([&[1, 16, 3, 3], &[16, 16, 1, 1]], [&[2, 2], &[40, 40], &[1, 1]], 1),
        ([&[1, 16, 6, 6], &[8, 16, 3, 3]], [&[1, 1], &[1, 1], &[1, 1]], 1),
    ];
    for ([image, weight], steps, groups) in cases {
        let (images, weight, bias) =
            (whole_numbers(image, 5)?, whole_numbers(weight, 3)?, whole_numbers(&weight[..1], 4)?);
        let last = (image.len() == 4).then(|| images.contiguous_format(MemoryFormat::ChannelsLast));
        for images in [Some(images), last.transpose()?].into_iter().flatten() {
            for bias in [None, Some(&bias)] {
                are_rounded_once(&images, &weight, bias, steps, groups)?;
            }
        }
    }
    Ok(())
}

/// A pointwise convolution writes the bias to a part of the result at a time, and then adds products to it.
#[test]
fn pointwise_convolutions_add_the_bias_once() -> Result<()> {
    for (batch, pixels, kernels) in [(1, [1, 1], 5), (2, [30, 30], 1024), (3, [40, 47], 64), (0, [3, 4], 3)] {
        let images = whole_numbers(&[batch, 7, pixels[0], pixels[1]], 5)?;
        let (weight, bias) = (whole_numbers(&[kernels, 7, 1, 1], 3)?, whole_numbers(&[kernels], 4)?);
        for dtype in [DType::Float32, DType::Float64] {
            let [images, weight, bias] = [&images, &weight, &bias].map(|tensor| tensor.to_dtype(dtype));
            let (images, weight, bias) = (images?, weight?, bias?);
            let plain = aten::conv2d(&images, &weight)?;
            let wanted = plain.add(&bias.reshape(&[kernels, 1, 1])?)?;
            let found = aten::conv2d::with(&images, &weight).bias(Some(&bias)).call()?;
            assert!(
                aten::equal(&found, &wanted)?,
                "{dtype}, {batch} images of {pixels:?}, {kernels} kernels"
            );
        }
    }
    Ok(())
}

/// Numbers from -3 to 3, in `bfloat16`.
fn whole_numbers(sizes: &[i64], step: i64) -> Result<Tensor> {
    let count: i64 = sizes.iter().product();
    let numbers = Tensor::from_vec((0..count).map(|i| (i * step % 7 - 3) as f32).collect(), sizes)?;
    numbers.to_dtype(DType::BFloat16)
}

/// Compares a convolution of `bfloat16`, a transposed one, and the gradients of both with those in `float32`.
fn are_rounded_once(
    image: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    [stride, padding, dilation]: [&[i64]; 3],
    groups: i64,
) -> Result<()> {
    let zeros = vec![0; stride.len()];
    let [half, single] = [DType::BFloat16, DType::Float32].map(|dtype| -> Result<[Tensor; 6]> {
        let bias = bias.map(|bias| bias.to_dtype(dtype)).transpose()?;
        let (image, weight) = (image.to_dtype(dtype)?, weight.to_dtype(dtype)?);
        let convolve = |x: &Tensor, bias: Option<&Tensor>, transposed: bool| {
            aten::convolution(x, &weight, bias, stride, padding, dilation, transposed, &zeros, groups)
        };
        let gradients = |grad: &Tensor, x: &Tensor, transposed: bool| {
            let mask = [true, true, false];
            aten::convolution_backward(
                grad, x, &weight, None, stride, padding, dilation, transposed, &zeros, groups, &mask,
            )
        };
        let places = convolve(&image, bias.as_ref(), false)?;
        let grad = whole_numbers(places.sizes(), 2)?.to_dtype(dtype)?;
        let (of_image, of_weight, _) = gradients(&grad, &image, false)?;
        let spread = convolve(&grad, None, true)?;
        let grad_of_spread = whole_numbers(spread.sizes(), 6)?.to_dtype(dtype)?;
        let (of_places, of_weight_of_spread, _) = gradients(&grad_of_spread, &grad, true)?;
        Ok([places, of_image, of_weight, spread, of_places, of_weight_of_spread])
    });
    for (half, single) in half?.iter().zip(single?) {
        assert_eq!(half.strides(), single.strides(), "{:?}", image.sizes());
        let [half, single] =
            [half.clone(), single.to_dtype(DType::BFloat16)?].map(|x| x.to_dtype(DType::Float32));
        assert!(half?.to_vec::<f32>()? == single?.to_vec::<f32>()?, "{:?} {stride:?}", image.sizes());
    }
    Ok(())
}

fn close(found: &Tensor, want: &[f64]) -> Result<()> {
    let found = found.to_vec::<f64>()?;
    let is_close = |(found, want): (&f64, &f64)| (found - want).abs() < 1e-14;
    assert!(found.len() == want.len() && found.iter().zip(want).all(is_close), "{found:?}, not {want:?}");
    Ok(())
}

/// An image, two kernels and their biases.
fn image() -> Result<[Tensor; 3]> {
    let series = |count: i64| aten::arange::with(count.into()).dtype(Some(DType::Float64)).call();
    let image = aten::reshape(&series(16)?.sub(5.0)?.div(4.0)?, &[1, 1, 4, 4])?;
    let kernels = aten::reshape(&series(8)?.div(3.0)?.sub(1.0)?, &[2, 1, 2, 2])?;
    Ok([image, kernels, Tensor::from([0.5, -0.25])])
}

/// PyTorch's numbers.
#[test]
fn convolutions_of_images_have_the_names_of_algorithms() -> Result<()> {
    let ([image, kernels, bias], two) = (image()?, [2, 2]);
    let want = [
        0.9166666666666667,
        0.8333333333333334,
        0.75,
        0.5,
        0.0,
        -0.5,
        -2.5833333333333335,
        -3.0,
        -3.4166666666666665,
        -2.8333333333333335,
        -2.25,
        -1.6666666666666667,
        1.75,
        2.5833333333333335,
        3.4166666666666665,
        1.6666666666666667,
        1.9166666666666667,
        2.1666666666666665,
    ];
    for kernels in [kernels.clone(), aten::reshape(&kernels, &[2, 4])?] {
        close(&aten::thnn_conv2d::call(&image, &kernels, &two, Some(&bias), &[2, 1], &[1, 0])?, &want)?;
        let grad = aten::ones_like(&aten::reshape(&Tensor::from(want), &[1, 2, 3, 3])?)?;
        let slopes = aten::_slow_conv2d_backward_output_mask(
            &grad,
            &image,
            &kernels,
            &two,
            &[2, 1],
            &[1, 0],
            &[true; 3],
        )?;
        close(&slopes.1, &[6.0, 7.5, 0.0, 1.5, 6.0, 7.5, 0.0, 1.5])?;
        close(&slopes.2, &[9.0, 9.0])?;
        assert_eq!((slopes.0.sizes(), slopes.1.sizes()), (image.sizes(), kernels.sizes()));
        let [mut a, mut b, mut c] =
            [(); 3].map(|()| Tensor::zeros(&[0], DType::Float64, Device::CPU).unwrap());
        aten::_slow_conv2d_backward_grad_input(
            &grad,
            &image,
            &kernels,
            &two,
            &[2, 1],
            &[1, 0],
            &mut a,
            &mut b,
            &mut c,
        )?;
        assert!(aten::equal(&a, &slopes.0)? && aten::equal(&b, &slopes.1)? && aten::equal(&c, &slopes.2)?);
    }
    Ok(())
}

/// PyTorch's numbers.
#[test]
fn transposed_and_dilated_convolutions_have_such_names() -> Result<()> {
    let ([image, kernels, bias], two) = (image()?, [2, 2]);
    let part = aten::narrow(&aten::narrow(&image, 2, 0, 2)?, 3, 0, 2)?;
    let turned = aten::transpose_int(&kernels, 0, 1)?;
    let want = [
        1.5,
        1.3333333333333335,
        0.8333333333333334,
        0.5,
        0.5,
        0.6666666666666667,
        0.5,
        0.5,
        0.5,
        0.5,
        -0.5833333333333333,
        -1.0833333333333335,
        -1.25,
        -1.916666666666667,
        -0.25,
        -0.4166666666666667,
        -0.25,
        -0.5833333333333334,
        -0.25,
        -0.25,
    ];
    let found = aten::slow_conv_transpose2d::call(
        &part,
        &turned,
        &two,
        Some(&bias),
        &[2, 1],
        &[0, 1],
        &[1, 0],
        &[1, 2],
    )?;
    close(&found, &want)?;
    let without_batch = aten::select_int(&image, 0, 0)?;
    let found = aten::slow_conv_dilated2d::call(
        &without_batch,
        &kernels,
        &two,
        Some(&bias),
        &[1, 1],
        &[0, 0],
        &[2, 3],
    )?;
    close(&found, &[1.8333333333333335, -0.16666666666666677, 1.7500000000000004, 5.083333333333334])?;
    Ok(())
}

/// PyTorch's numbers.
#[test]
fn convolutions_of_volumes_have_such_names() -> Result<()> {
    let [image, kernels, _] = image()?;
    let (volume, cube) =
        (aten::reshape(&image, &[1, 1, 2, 2, 4])?, aten::reshape(&kernels, &[1, 1, 2, 2, 2])?);
    let found = aten::slow_conv3d::call(&volume, &cube, &[2; 3], None, &[1; 3], &[0, 0, 1])?;
    close(&found, &[3.6666666666666665, 7.333333333333333, 7.666666666666667, 8.0, 3.3333333333333335])?;
    let column = aten::narrow(&volume, 4, 0, 1)?;
    let found = aten::slow_conv_transpose3d(&column, &cube, &[2; 3])?;
    assert_eq!(found.sizes(), [1, 1, 3, 3, 2]);
    close(&aten::narrow(&aten::flatten(&found)?, 0, 0, 3)?, &[1.25, 0.8333333333333334, 0.6666666666666666])?;
    let found = aten::slow_conv_dilated3d::call(&volume, &cube, &[2; 3], None, &[1; 3], &[0; 3], &[1, 1, 2])?;
    let plain = aten::conv3d::call(&volume, &cube, None, &[1; 3], &[0; 3], &[1, 1, 2], 1)?;
    assert!(aten::equal(&found, &plain)?);
    Ok(())
}

#[test]
fn convolutions_by_name_refuse_what_their_algorithms_refuse() -> Result<()> {
    let [image, kernels, _] = image()?;
    let without_batch = aten::select_int(&image, 0, 0)?;
    let complex = |tensor: &Tensor| aten::to_dtype(tensor, DType::Complex64);
    assert!(aten::thnn_conv2d(&image, &kernels, &[3, 3]).is_err(), "another kernel");
    assert!(aten::thnn_conv2d(&without_batch, &kernels, &[2, 2]).is_err(), "no batch");
    assert!(aten::thnn_conv2d(&complex(&image)?, &complex(&kernels)?, &[2, 2]).is_err(), "complex");
    assert!(aten::slow_conv_dilated2d(&image, &aten::reshape(&kernels, &[2, 4])?, &[2, 2]).is_err(), "rows");
    assert!(
        aten::slow_conv_transpose2d(&image, &aten::narrow(&kernels, 1, 0, 0)?, &[2, 2]).is_err(),
        "nothing"
    );
    assert!(aten::slow_conv3d(&image, &kernels, &[2, 2, 2]).is_err(), "no volume");
    let whole = |tensor: &Tensor| aten::to_dtype(tensor, DType::Int64);
    assert_eq!(aten::thnn_conv2d(&whole(&image)?, &whole(&kernels)?, &[2, 2])?.dtype(), DType::Int64);
    Ok(())
}

#[test]
fn gradients_of_time_first_convolutions_are_a_function() -> Result<()> {
    let (grad, x) = (Tensor::from([[[1.0, 2.0]], [[3.0, -1.0]]]), Tensor::from([[[0.0]], [[1.0]], [[2.0]]]));
    let weight = Tensor::from([[[0.0, 1.0]], [[2.0, 3.0]]]);
    let (of_x, of_weight, of_bias) =
        aten::conv_tbc_backward(&grad, &x, &weight, &Tensor::from([1.0, 1.0]), 0)?;
    close(&of_x, &[2.0, 7.0, 3.0])?;
    close(&of_weight, &[3.0, -1.0, 7.0, 0.0])?;
    close(&of_bias, &[4.0, 1.0])?;
    Ok(())
}
