//! Convolution and pooling.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

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
    for (dtype, [height, width]) in
        [(DType::Float32, [14, 14]), (DType::Float64, [4, 4]), (DType::Float32, [3, 5])]
    {
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
fn a_channels_last_factor_makes_the_result_so() -> Result<()> {
    let (x, weight) = (aten::ones(&[2, 3, 4, 4])?, aten::ones(&[5, 3, 1, 1])?);
    let last = |x: &Tensor| x.contiguous_format(MemoryFormat::ChannelsLast);
    assert_eq!(aten::conv2d(&x, &weight)?.strides(), [80, 16, 4, 1]);
    assert_eq!(aten::conv2d(&last(&x)?, &weight)?.strides(), [80, 1, 20, 5]);
    Ok(())
}

#[test]
fn the_largest_pixel_is_pooled_with_its_place() -> Result<()> {
    let (y, places) = aten::max_pool2d_with_indices(&image(4, 5)?, &[2, 2])?;
    assert_eq!((y.sizes(), y.to_vec::<f64>()?), (&[1, 1, 2, 2][..], vec![6.0, 8.0, 16.0, 18.0]));
    assert_eq!(places.to_vec::<i64>()?, [6, 8, 16, 18]);
    let ceiled = aten::max_pool2d::with(&image(4, 5)?, &[2]).ceil_mode(true).call()?;
    assert_eq!(ceiled.sizes(), [1, 1, 2, 3]);
    let nan = Tensor::from([[[1.0, f64::NAN], [3.0, 4.0]]]);
    assert!(aten::max_pool2d(&nan, &[2])?.to_vec::<f64>()?[0].is_nan());
    assert!(aten::max_pool2d::with(&nan, &[2]).padding(&[2]).call().is_err());
    Ok(())
}

/// The pixels under the windows of one direction at each place, and their number with the padding.
fn covered(size: i64, [kernel, stride, padding, dilation]: [i64; 4], places: i64) -> Vec<(Vec<i64>, i64)> {
    let at = |place: i64| {
        let start = place * stride - padding;
        let pixels = (0..kernel).map(|tap| start + tap * dilation).filter(|pixel| (0..size).contains(pixel));
        (pixels.collect(), (start + kernel).min(size + padding) - start)
    };
    (0..places).map(at).collect()
}

/// The pixel of the largest element; NaN counts as larger than all.
fn largest(pixels: &[i64], of: impl Fn(i64) -> f64) -> Option<i64> {
    let is_better = |pixel, best| of(pixel) > of(best) || of(pixel).is_nan();
    pixels.iter().copied().reduce(|best, pixel| if is_better(pixel, best) { pixel } else { best })
}

#[test]
fn pooling_is_what_it_says_in_every_format() -> Result<()> {
    let element = |i: i64| if i % 11 == 3 { f64::NAN } else { f64::from((i * 7919 % 5) as i32 - 2) };
    for case in 0..1024 {
        let bit = |n: i32| i64::from(case >> n & 1);
        let (height, width) = (5 + 3 * bit(0), 6 + 13 * bit(1));
        let (kernel, stride) = ([2 + bit(2), 3 - bit(3)], [1 + bit(4), 2]);
        let (padding, dilation, is_ceiled) = ([bit(5), bit(6)], [1 + bit(7), 1 + bit(8)], bit(9) == 1);
        let dtype = [DType::Float64, DType::Float32, DType::Int64, DType::Int8][case as usize % 7 % 4];
        let elements: Vec<f64> = (0..2 * height * width).map(element).collect();
        let format = [MemoryFormat::Contiguous, MemoryFormat::ChannelsLast][case as usize % 3 % 2];
        let image = Tensor::from_vec(elements, &[1, 2, height, width])?.to_dtype(dtype)?;
        let image = image.contiguous_format(format)?;
        let (values, pixels) = aten::max_pool2d_with_indices::with(&image, &kernel)
            .stride(&stride)
            .padding(&padding)
            .dilation(&dilation)
            .ceil_mode(is_ceiled)
            .call()?;
        assert!(values.is_contiguous(format) && pixels.is_contiguous(format));
        let numbers = aten::nan_to_num(&image)?.to_dtype(DType::Float64)?;
        let mean = |counts_padding: bool| {
            let call = aten::avg_pool2d::with(&numbers, &kernel).stride(&stride).padding(&padding);
            call.ceil_mode(is_ceiled).count_include_pad(counts_padding).call()
        };
        let means = [mean(true)?, mean(false)?];
        let elements = image.to_dtype(DType::Float64)?.to_vec::<f64>()?;
        let windows = |result: &Tensor, dilation: [i64; 2]| {
            let of = |at: usize, size: i64| {
                covered(size, [kernel[at], stride[at], padding[at], dilation[at]], result.sizes()[at + 2])
            };
            let (rows, columns) = (of(0, height), of(1, width));
            let places =
                rows.into_iter().flat_map(move |y| columns.clone().into_iter().map(move |x| (y.clone(), x)));
            let places: Vec<_> = places.collect();
            (0..2).flat_map(move |channel| {
                places.clone().into_iter().map(move |((y, tall), (x, wide))| {
                    let pixels = y.iter().flat_map(|y| x.iter().map(move |x| y * width + x));
                    (channel * height * width, pixels.collect::<Vec<_>>(), tall * wide)
                })
            })
        };
        let what = format!("{height}x{width} {kernel:?} {stride:?} {padding:?} {dilation:?} {is_ceiled}");
        let found =
            values.to_dtype(DType::Float64)?.to_vec::<f64>()?.into_iter().zip(pixels.to_vec::<i64>()?);
        for ((channel, under, _), (value, pixel)) in windows(&values, dilation).zip(found) {
            let of = |pixel: i64| elements[(channel + pixel) as usize];
            let expected = largest(&under, of);
            let Some(expected) = expected else { continue };
            assert_eq!((value.to_bits(), pixel), (of(expected).to_bits(), expected), "{what}");
        }
        for (mean, counts_padding) in means.iter().zip([true, false]) {
            let found = mean.to_vec::<f64>()?;
            for ((channel, under, padded), found) in windows(mean, [1, 1]).zip(found) {
                let numbers = under.iter().map(|pixel| elements[(channel + pixel) as usize]);
                let sum: f64 = numbers.map(|x| if x.is_nan() { 0.0 } else { x }).sum();
                let count = if counts_padding { padded } else { under.len().max(1) as i64 };
                assert!((sum / count as f64 - found).abs() < 1e-12, "{what}");
            }
        }
    }
    Ok(())
}

/// A place's gradient goes to the pixels that its value depends on.
#[test]
fn gradients_of_pooling_are_the_same_in_every_format() -> Result<()> {
    let image = aten::sin(&aten::mul_Scalar(&image(7, 9)?.expand(&[2, 3, 7, 9])?, 37.into())?)?;
    let channels = Tensor::from([[[1.0]], [[-2.0]], [[3.0]]]);
    let image = aten::mul_Tensor(&image, &channels)?;
    let gradients = |format: MemoryFormat| -> Result<Vec<Vec<f64>>> {
        let image = image.contiguous_format(format)?;
        let (largest, at) = aten::max_pool2d_with_indices::with(&image, &[3, 2]).stride(&[2, 1]).call()?;
        let picked_from = |at: &Tensor| {
            let (kernel, stride, padding, dilation) = ([3, 2], [2, 1], [0, 0], [1, 1]);
            aten::max_pool2d_with_indices_backward(
                &largest, &image, &kernel, &stride, &padding, &dilation, false, at,
            )
        };
        let mean = aten::avg_pool2d::with(&image, &[3, 2]).stride(&[2, 1]).padding(&[1, 1]).call()?;
        let share = aten::_adaptive_avg_pool2d(&image, &[3, 4])?;
        let back = [
            picked_from(&at)?,
            aten::avg_pool2d_backward(&mean, &image, &[3, 2], &[2, 1], &[1, 1], false, true, None)?,
            aten::_adaptive_avg_pool2d_backward(&share, &image)?,
        ];
        assert!(back.iter().all(|back| back.is_contiguous(format)));
        let lost = aten::add_Scalar(&at, 1000.into())?;
        assert!(picked_from(&lost).is_err());
        back.iter().map(|back| back.to_vec::<f64>()).collect()
    };
    assert_eq!(gradients(MemoryFormat::Contiguous)?, gradients(MemoryFormat::ChannelsLast)?);
    Ok(())
}

#[test]
fn the_largest_of_a_pixel_with_many_elements_are_those_of_each_channel() -> Result<()> {
    let element = |i: i64| if i % 13 == 5 { f64::NAN } else { f64::from((i * 7919 % 7) as i32 - 3) };
    for channels in [1, 3, 4, 7, 16, 21] {
        for (size, kernel, padding) in [(2, 2, 0), (5, 3, 1), (9, 2, 1), (30, 3, 0)] {
            let elements: Vec<f64> = (0..channels * size * size).map(element).collect();
            let image = Tensor::from_vec(elements, &[1, channels, size, size])?.to_dtype(DType::Float32)?;
            let largest = |image: &Tensor| {
                aten::max_pool2d_with_indices::with(image, &[kernel]).padding(&[padding]).call()
            };
            let (values, pixels) = largest(&image)?;
            let (others, places) = largest(&image.contiguous_format(MemoryFormat::ChannelsLast)?)?;
            let bits = |values: &Tensor| -> Result<Vec<u32>> {
                Ok(values.to_vec::<f32>()?.into_iter().map(f32::to_bits).collect())
            };
            assert_eq!(bits(&values)?, bits(&others)?, "{channels} {size} {kernel}");
            assert_eq!(pixels.to_vec::<i64>()?, places.to_vec::<i64>()?, "{channels} {size} {kernel}");
        }
    }
    Ok(())
}

#[test]
fn pooling_without_indices_gives_the_same_values() -> Result<()> {
    let mut numbers: Vec<f32> = (0..2 * 20 * 33 * 41).map(|i| ((i * 7919) % 1013) as f32 - 500.0).collect();
    (numbers[77], numbers[1234]) = (f32::NAN, f32::NEG_INFINITY);
    let volume = Tensor::from_vec(numbers, &[2, 20, 33, 41])?;
    for image in [
        volume.clone(),                                                       // long lines
        aten::slice_Tensor::with(&volume).dim(3).end(11).call()?,             // short lines
        aten::permute(&volume, &[0, 3, 2, 1])?,                               // few lanes
        volume.permute(&[0, 2, 3, 1])?.contiguous()?.permute(&[0, 3, 1, 2])?, // channels last
    ] {
        for dtype in [DType::Float32, DType::Float64, DType::BFloat16, DType::Int32] {
            let image = aten::to_dtype(&aten::nan_to_num::with(&image).nan(3.5).call()?, dtype)?;
            for (kernel, stride, padding) in [(2, 2, 0), (3, 1, 1), (3, 2, 1)] {
                let alone =
                    aten::max_pool2d::with(&image, &[kernel]).stride(&[stride]).padding(&[padding]).call()?;
                let both = aten::max_pool2d_with_indices::with(&image, &[kernel])
                    .stride(&[stride])
                    .padding(&[padding])
                    .call()?;
                assert!(aten::equal(&alone, &both.0)? && alone.strides() == both.0.strides());
            }
        }
        let pooled = aten::max_pool2d(&image, &[2])?;
        assert!(aten::equal(
            &aten::isnan(&pooled)?,
            &aten::isnan(&aten::max_pool2d_with_indices(&image, &[2])?.0)?
        )?);
    }
    Ok(())
}

#[test]
fn means_count_the_padding_or_not() -> Result<()> {
    let x = Tensor::from([[[4.0, 4.0], [4.0, 4.0]]]);
    let mean = |count, divisor| {
        let call = aten::avg_pool2d::with(&x, &[2]).padding(&[1]).count_include_pad(count);
        call.divisor_override(divisor).call()?.to_vec::<f64>()
    };
    assert_eq!(mean(true, None)?, [1.0; 4]);
    assert_eq!(mean(false, None)?, [4.0; 4]);
    assert_eq!(mean(true, Some(2))?, [2.0; 4]);
    assert!(mean(true, Some(0)).is_err());
    Ok(())
}

#[test]
fn adaptive_windows_cover_the_image() -> Result<()> {
    let y = aten::adaptive_avg_pool2d(&image(3, 4)?, &[2, 3])?;
    assert_eq!(y.to_vec::<f64>()?, [2.5, 3.5, 4.5, 6.5, 7.5, 8.5]);
    assert_eq!(aten::adaptive_avg_pool2d(&image(3, 4)?, &[1, 1])?.to_vec::<f64>()?, [5.5]);
    assert!(aten::adaptive_avg_pool2d(&aten::zeros(&[1, 1, 0, 2])?, &[1, 1]).is_err());
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
    ];
    for ((image, kernel, steps), format) in cases
        .into_iter()
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
