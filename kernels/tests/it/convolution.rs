//! Convolution.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

mod algorithms;
mod depthwise;

/// One image of one channel, numbered from 0.
fn image(height: i64, width: i64) -> Result<Tensor> {
    let pixels: Vec<f64> = (0..height * width).map(|i| i as f64).collect();
    Tensor::from_vec(pixels, &[1, 1, height, width])
}

#[test]
fn convolutions_multiply_and_add() -> Result<()> {
    let (x, weight) = (image(3, 3)?, Tensor::from([[[[1.0, 2.0], [3.0, 4.0]]]]));
    assert_eq!(aten::conv2d(&x, &weight)?.to_vec::<f64>()?, [27.0, 37.0, 57.0, 67.0]);
    let padded = aten::conv2d::with(&x, &weight).padding(&[1, 1]).stride(&[2, 2]).call()?;
    assert_eq!(padded.to_vec::<f64>()?, [0.0, 11.0, 30.0, 67.0]);
    let dilated =
        aten::conv2d::with(&x, &weight).dilation(&[2, 2]).bias(Some(&Tensor::from([0.5]))).call()?;
    assert_eq!(dilated.to_vec::<f64>()?, [54.5]);
    assert_eq!(aten::conv2d(&x.select(0, 0)?, &weight)?.sizes(), [1, 2, 2]);
    Ok(())
}

/// A window of one pixel is a product of matrices, unless few pixels fill a vector, or pixels do not follow each other.
#[test]
fn windows_of_one_pixel_multiply_and_add() -> Result<()> {
    let numbers = |sizes: &[i64], dtype| -> Result<Tensor> {
        let count = sizes.iter().product::<i64>();
        Tensor::from_vec((0..count).map(|i| (i * i % 13 - 6) as f64).collect(), sizes)?.to_dtype(dtype)
    };
    for (dtype, [height, width]) in [
        (DType::Float32, [14, 14]),
        (DType::Float64, [4, 4]),
        (DType::Float32, [3, 5]),
        (DType::Float32, [1, 1]),
    ] {
        let (x, weight) = (numbers(&[2, 5, height, width], dtype)?, numbers(&[7, 5, 1, 1], dtype)?);
        let bias = numbers(&[7], dtype)?;
        let scattered = weight.strided_view(&[7, 5, 1, 1], &[0, 1, 3, 4], 2)?;
        for (weight, bias) in [(&weight, None), (&weight, Some(&bias)), (&scattered, Some(&bias))] {
            let convolved = aten::conv2d::with(&x, weight).bias(bias).call()?;
            let terms = aten::mul_Tensor(&x.unsqueeze(1)?, &weight.unsqueeze(0)?)?;
            let mut want = aten::sum_dim_IntList(&terms, Some(&[2]))?;
            if let Some(bias) = bias {
                want = aten::add_Tensor(&want, &bias.reshape(&[7, 1, 1])?)?;
            }
            assert_eq!(convolved.sizes(), [2, 7, height, width]);
            let [convolved, want] =
                [convolved, want].map(|x| x.to_dtype(DType::Float64).and_then(|x| x.to_vec::<f64>()));
            assert_eq!(convolved?, want?, "{dtype} {height}×{width}");
            // The same in the other direction, where the weight is the other way round.
            let turned = weight.transpose(0, 1)?;
            let spread = aten::conv_transpose2d_input::with(&x, &turned).bias(bias).call()?;
            let [spread, convolved] = [spread, aten::conv2d::with(&x, weight).bias(bias).call()?]
                .map(|x| x.to_dtype(DType::Float64));
            assert!(aten::equal(&spread?, &convolved?)?, "{dtype} {height}×{width}, transposed");
        }
    }
    Ok(())
}

#[test]
fn same_padding_keeps_the_sizes() -> Result<()> {
    for kernel in [1, 2, 3, 4] {
        let weight = aten::ones(&[1, 1, kernel, kernel])?.to_dtype(DType::Float64)?;
        let y = aten::conv2d_padding::with(&image(5, 4)?, &weight).padding("same").call()?;
        assert_eq!(y.sizes(), [1, 1, 5, 4]);
    }
    let weight = aten::ones(&[1, 1, 2, 2])?.to_dtype(DType::Float64)?;
    let y = aten::conv2d_padding::with(&image(2, 2)?, &weight).padding("same").call()?;
    assert_eq!(y.to_vec::<f64>()?, [6.0, 4.0, 5.0, 3.0]);
    let strided = aten::conv2d_padding::with(&image(5, 5)?, &weight).padding("same").stride(&[2]).call();
    assert!(strided.is_err());
    Ok(())
}

#[test]
fn groups_see_their_own_channels() -> Result<()> {
    let x = Tensor::from_slice(&[1i64, 2, 3, 4], &[1, 2, 1, 2])?;
    let weight = Tensor::from_slice(&[10i64, 100], &[2, 1, 1, 1])?;
    let y = aten::conv2d::with(&x, &weight).groups(2).call()?;
    assert_eq!(y.to_vec::<i64>()?, [10, 20, 300, 400]);
    assert!(aten::conv2d(&x, &weight).is_err());
    Ok(())
}

#[test]
fn convolutions_refuse_what_does_not_fit() -> Result<()> {
    let (x, weight) = (image(3, 3)?, Tensor::from([[[[1f32; 4]; 4]]]));
    assert_eq!(
        aten::conv2d(&x, &weight).unwrap_err().to_string(),
        "aten::conv2d: aten::convolution: the input is of float64, the weight of float32; convert one to the other by `aten::to_dtype`"
    );
    assert_eq!(
        aten::conv2d(&x.to_dtype(DType::Float32)?, &weight).unwrap_err().to_string(),
        "aten::conv2d: aten::convolution: a window of [4, 4] does not fit images of [3, 3] with padding [0, 0]"
    );
    assert!(aten::conv2d(&aten::ones(&[3, 3])?, &weight).is_err());
    Ok(())
}

#[test]
fn an_image_without_channels_has_a_result_without_channels() -> Result<()> {
    let ones = |sizes: &[i64]| {
        let ones = aten::ones(sizes)?;
        ones.set_requires_grad(true).map(|()| ones)
    };
    let (x, weight, bias) = (ones(&[2, 0, 5, 6])?, ones(&[4, 0, 2, 2])?, ones(&[4])?);
    let y = aten::conv2d::with(&x, &weight).bias(Some(&bias)).groups(2).call()?;
    assert_eq!((y.sizes(), y.strides()), (&[2, 0, 4, 5][..], &[20, 20, 5, 1][..]));
    y.sum()?.backward()?;
    let grad = |x: &Tensor| x.grad().expect("a gradient");
    assert_eq!(grad(&bias).to_vec::<f32>()?, [0.0; 4]);
    assert_eq!((grad(&x).sizes(), grad(&weight).sizes()), (x.sizes(), weight.sizes()));
    assert!(aten::conv2d::with(&x, &weight).bias(Some(&aten::ones(&[3])?)).groups(2).call().is_err());
    Ok(())
}

#[test]
fn a_channels_last_factor_makes_the_result_so() -> Result<()> {
    let (x, weight) = (aten::ones(&[2, 3, 4, 4])?, aten::ones(&[5, 3, 1, 1])?);
    let last = |x: &Tensor| x.contiguous_format(MemoryFormat::ChannelsLast);
    assert_eq!(aten::conv2d(&x, &weight)?.strides(), [80, 16, 4, 1]);
    assert_eq!(aten::conv2d(&last(&x)?, &weight)?.strides(), [80, 1, 20, 5]);
    Ok(())
}

#[test]
fn a_transposed_convolution_is_the_gradient_of_one() -> Result<()> {
    let (x, weight) = (Tensor::from([[[1.0, 2.0]]]), Tensor::from([[[1.0, 10.0, 100.0]]]));
    let convolve = |transposed: bool, output_padding: i64| {
        aten::convolution(&x, &weight, None, &[2], &[1], &[1], transposed, &[output_padding], 1)
    };
    assert_eq!(convolve(true, 0)?.to_vec::<f64>()?, [10.0, 102.0, 20.0]);
    assert_eq!(convolve(true, 1)?.to_vec::<f64>()?, [10.0, 102.0, 20.0, 200.0]);
    assert_eq!(convolve(false, 0)?.to_vec::<f64>()?, [210.0]);
    assert_eq!(
        convolve(true, 2).unwrap_err().to_string(),
        "aten::convolution: output_padding [2] must be less than the stride [2] or dilation [1]"
    );
    Ok(())
}

/// Small whole numbers, of which sums are exact.
fn numbers(sizes: &[i64], seed: i64) -> Result<Tensor> {
    let count = sizes.iter().product::<i64>();
    Tensor::from_vec((0..count).map(|i| ((i * 7 + seed) % 11 - 5) as f32).collect(), sizes)
}

#[test]
fn depthwise_convolutions_have_a_bias_for_each_channel() -> Result<()> {
    for (transposed, stride) in [(false, 1), (false, 2), (true, 1), (true, 2)] {
        let (x, weight) = (numbers(&[2, 9, 6, 5], 1)?, numbers(&[9, 1, 3, 2], 2)?);
        let bias = numbers(&[9], 3)?;
        let convolve = |bias| {
            let (stride, padding) = ([stride; 2], [1; 2]);
            aten::convolution(&x, &weight, bias, &stride, &padding, &[1, 1], transposed, &[0, 0], 9)
        };
        let want = convolve(None)?.add(&bias.strided_view(&[9, 1, 1], &[1, 0, 0], 0)?)?;
        assert_eq!(convolve(Some(&bias))?.to_vec::<f32>()?, want.to_vec::<f32>()?);
    }
    Ok(())
}

#[test]
fn depthwise_convolutions_of_bfloat16_are_rounded_once() -> Result<()> {
    let (x, weight) = (numbers(&[2, 9, 7, 20], 1)?, numbers(&[9, 1, 3, 3], 2)?);
    let convolve = |x: &Tensor, weight: &Tensor| {
        aten::convolution(x, weight, None, &[1, 1], &[1, 1], &[1, 1], false, &[0, 0], 9)
    };
    let halves = |x: &Tensor| x.to_dtype(DType::BFloat16);
    let rounded = halves(&convolve(&x, &weight)?)?;
    assert_eq!(
        convolve(&halves(&x)?, &halves(&weight)?)?.to_dtype(DType::Float32)?.to_vec::<f32>()?,
        rounded.to_dtype(DType::Float32)?.to_vec::<f32>()?
    );
    Ok(())
}

/// A naive convolution: for each place, the sum of products under the window.
fn naive(x: &Tensor, weight: &Tensor, [stride, padding, dilation, groups]: [i64; 4]) -> Result<Vec<f32>> {
    let (&[batch, _, height, width], &[outer, inner, kh, kw]) = (x.sizes(), weight.sizes()) else { panic!() };
    let (pixels, weights) = (x.to_vec::<f32>()?, weight.to_vec::<f32>()?);
    let places = |size: i64, kernel: i64| (size + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1;
    let mut result = Vec::new();
    for n in 0..batch * outer * places(height, kh) * places(width, kw) {
        let (column, n) = (n % places(width, kw), n / places(width, kw));
        let (row, n) = (n % places(height, kh), n / places(height, kh));
        let (channel, image) = (n % outer, n / outer);
        let mut sum = 0.0;
        for tap in 0..inner * kh * kw {
            let (c, dy, dx) = (tap / (kh * kw), tap / kw % kh, tap % kw);
            let (y, x) = (row * stride + dy * dilation - padding, column * stride + dx * dilation - padding);
            if (0..height).contains(&y) && (0..width).contains(&x) {
                let plane = image * inner * groups + channel / (outer / groups) * inner + c;
                let weight = weights[(channel * inner * kh * kw + tap) as usize];
                sum += weight * pixels[((plane * height + y) * width + x) as usize];
            }
        }
        result.push(sum);
    }
    Ok(result)
}

/// Depthwise convolutions of images whose lines fill registers: in several bands, of even and odd lengths, with gaps.
const LONG_LINES: [[[i64; 4]; 3]; 6] = [
    [[1, 8, 300, 110], [8, 1, 3, 3], [1, 3, 1, 8]],
    [[2, 9, 31, 28], [9, 1, 5, 5], [2, 2, 1, 9]],
    [[1, 8, 20, 29], [8, 1, 3, 4], [2, 1, 2, 8]],
    [[1, 8, 140, 201], [8, 1, 3, 3], [2, 0, 1, 8]],
    [[3, 8, 13, 12], [8, 1, 1, 1], [1, 2, 1, 8]],
    [[1, 8, 9, 3], [8, 1, 1, 9], [1, 10, 1, 8]],
];

#[test]
fn convolutions_of_every_size_are_sums_under_the_window() -> Result<()> {
    // Among them: several blocks, panels and steps of sums; few kernels and one for each channel; windows with wide
    // gaps.
    let cases = [
        ([2, 96, 19, 61], [3, 96, 3, 3], [1, 1, 1, 1]),
        ([1, 40, 7, 500], [2, 40, 3, 3], [1, 0, 1, 1]),
        ([2, 6, 9, 11], [4, 3, 2, 3], [2, 2, 1, 2]),
        ([2, 5, 9, 11], [5, 1, 3, 3], [1, 1, 1, 5]),
        ([1, 5, 9, 11], [5, 1, 3, 2], [2, 1, 1, 5]),
        ([2, 7, 5, 3], [4, 7, 1, 1], [1, 0, 1, 1]),
        ([1, 2, 2, 1], [3, 2, 4, 5], [1, 3, 1, 1]),
        ([3, 33, 15, 14], [70, 33, 3, 3], [1, 1, 1, 1]),
        ([5, 8, 7, 7], [45, 8, 3, 3], [2, 2, 3, 1]),
        ([2, 16, 10, 9], [24, 8, 1, 1], [3, 0, 1, 2]),
        ([2, 4, 8, 19], [8, 1, 3, 3], [1, 2, 2, 4]),
        ([2, 40, 9, 11], [40, 1, 3, 3], [2, 1, 1, 40]),
        ([1, 9, 8, 7], [9, 1, 2, 3], [1, 1, 2, 9]),
        ([2, 33, 6, 30], [33, 1, 1, 2], [3, 0, 1, 33]),
        ([1, 8, 5, 5], [8, 1, 2, 2], [1, 500_000, 1_000_000, 8]),
        ([1, 8, 5, 6], [8, 1, 3, 3], [1_000_000, 1_000_000, 1, 8]),
        ([1, 2, 5, 5], [9, 2, 2, 2], [1, 500_000, 1_000_000, 1]),
        ([1, 2, 5, 6], [3, 2, 3, 3], [1_000_000, 1_000_000, 1, 1]),
        // Depthwise, in several strips.
        ([2, 9, 170, 61], [9, 1, 5, 3], [2, 3, 1, 9]),
        ([1, 9, 61, 170], [9, 1, 3, 5], [3, 2, 2, 9]),
        ([1, 1, 90, 200], [1, 1, 3, 3], [1, 1, 1, 1]),
        ([2, 8, 5, 4000], [8, 1, 2, 4], [5, 0, 1, 8]),
    ];
    let long = LONG_LINES.map(|[image, kernel, steps]| (image, kernel, steps));
    for ((image, kernel, steps), format) in cases
        .into_iter()
        .chain(long)
        .flat_map(|case| [MemoryFormat::Contiguous, MemoryFormat::ChannelsLast].map(|format| (case, format)))
    {
        let name = format!("{image:?} {kernel:?} {steps:?} {format:?}");
        let [stride, padding, dilation, groups] = steps;
        let (x, weight) = (numbers(&image, 1)?, numbers(&kernel, 3)?);
        let (stride, padding, dilation) = ([stride; 2], [padding; 2], [dilation; 2]);
        let x = aten::contiguous::with(&x).memory_format(format).call()?;
        let y = aten::convolution(&x, &weight, None, &stride, &padding, &dilation, false, &[0, 0], groups)?;
        assert!(y.to_vec::<f32>()? == naive(&x, &weight, steps)?, "{name}");
        // The gradients are the transposed map: ⟨g, conv(x, w)⟩ = ⟨dx, x⟩ = ⟨dw, w⟩.
        let grad = aten::contiguous::with(&numbers(y.sizes(), 5)?).memory_format(format).call()?;
        let (dx, dw, _) = aten::convolution_backward(
            &grad,
            &x,
            &weight,
            None,
            &stride,
            &padding,
            &dilation,
            false,
            &[0, 0],
            groups,
            &[true, true, false],
        )?;
        let dot = |a: &Tensor, b: &Tensor| -> Result<Scalar> {
            a.to_dtype(DType::Float64)?.mul(&b.to_dtype(DType::Float64)?)?.sum()?.item()
        };
        let products = [dot(&grad, &y)?, dot(&dx, &x)?, dot(&dw, &weight)?];
        assert_eq!(products, [products[0]; 3], "{name}");
    }
    Ok(())
}

#[test]
fn convolutions_do_not_depend_on_the_number_of_threads() -> Result<()> {
    let cases = [
        ([2, 24, 33, 31], [40, 24, 3, 3], 1, 1),
        ([2, 40, 65, 30], [3, 40, 3, 3], 1, 1),
        ([4, 40, 60, 59], [40, 1, 3, 3], 2, 40),
    ];
    for (image, kernel, stride, groups) in cases {
        let (x, weight) = (aten::randn(&image)?, aten::randn(&kernel)?);
        let (stride, one, zero) = ([stride; 2], [1; 2], [0; 2]);
        let on = |threads: usize| -> Result<[Vec<f32>; 3]> {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let y = aten::convolution(&x, &weight, None, &stride, &one, &one, false, &zero, groups)?;
                let (dx, dw, _) = aten::convolution_backward(
                    &y,
                    &x,
                    &weight,
                    None,
                    &stride,
                    &one,
                    &one,
                    false,
                    &zero,
                    groups,
                    &[true, true, false],
                )?;
                Ok([y.to_vec()?, dx.to_vec()?, dw.to_vec()?])
            })
        };
        let alone = on(1)?;
        assert!(on(2)? == alone && on(3)? == alone, "{image:?} {kernel:?}");
    }
    Ok(())
}

#[test]
fn a_bias_is_added_to_every_pixel_of_its_channel() -> Result<()> {
    for (transposed, stride, channels) in [(false, 1, 9), (false, 2, 3), (true, 1, 2), (true, 3, 8)] {
        let x = numbers(&[2, 4, 6, 5], 1)?;
        let weight = numbers(&if transposed { [4, channels, 2, 2] } else { [channels, 4, 2, 2] }, 2)?;
        let bias = numbers(&[channels], 3)?;
        let convolve = |bias| {
            let (stride, padding) = ([stride; 2], [1; 2]);
            aten::convolution(&x, &weight, bias, &stride, &padding, &[1, 1], transposed, &[0, 0], 1)
        };
        let want = convolve(None)?.add(&bias.strided_view(&[channels, 1, 1], &[1, 0, 0], 0)?)?;
        assert_eq!(convolve(Some(&bias))?.to_vec::<f32>()?, want.to_vec::<f32>()?);
    }
    Ok(())
}

#[test]
fn padding_behind_a_spread_image_has_its_bias_alone() -> Result<()> {
    let (x, weight) = (Tensor::from([[[1.0, 2.0]]]), Tensor::from([[[3.0]]]));
    let spread = aten::convolution(&x, &weight, Some(&Tensor::from([0.5])), &[1], &[0], &[2], true, &[1], 1)?;
    assert_eq!(spread.to_vec::<f64>()?, [3.5, 6.5, 0.5]);
    Ok(())
}

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

/// As after a pooling of whole images: a matrix of pixels in either memory format, which the result keeps.
#[test]
fn pointwise_convolutions_of_single_pixels_keep_the_memory_format() -> Result<()> {
    let (weight, bias) = (numbers(&[24, 40, 1, 1], 3)?, numbers(&[24], 4)?);
    for batch in [1, 3] {
        let rows = numbers(&[batch, 40, 1, 1], 1)?;
        let last = rows.strided_view(&[batch, 40, 1, 1], &[40, 1, 40, 40], 0)?;
        let wanted = naive(&rows, &weight, [1, 0, 1, 1])?;
        for (images, strides) in [(rows, [24, 1, 1, 1]), (last, [24, 1, 24, 24])] {
            let plain = aten::conv2d(&images, &weight)?;
            assert_eq!((plain.strides(), plain.to_vec::<f32>()?), (&strides[..], wanted.clone()));
            let shifted = aten::conv2d::with(&images, &weight).bias(Some(&bias)).call()?;
            let added = plain.add(&bias.reshape(&[24, 1, 1])?)?;
            assert_eq!(shifted.to_vec::<f32>()?, added.to_vec::<f32>()?);
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
