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
