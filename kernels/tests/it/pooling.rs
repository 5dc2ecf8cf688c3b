//! Pooling, also in regions whose borders are drawn, and its inverse.

use torch_library::autograd::{GradOptions, grad};
use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

/// One image of one channel, numbered from 0.
fn image(height: i64, width: i64) -> Result<Tensor> {
    let pixels: Vec<f64> = (0..height * width).map(|i| i as f64).collect();
    Tensor::from_vec(pixels, &[1, 1, height, width])
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
    // Adaptive pooling adds in another order where channels are last.
    let [found, expected] =
        [MemoryFormat::Contiguous, MemoryFormat::ChannelsLast].map(gradients).map(Result::unwrap);
    assert_eq!(found[..2], expected[..2]);
    assert!(found[2].iter().zip(&expected[2]).all(|(a, b)| (a - b).abs() < 1e-12));
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
    // Windows that overlap or not, of one size or two.
    for (size, places) in [(32, 7), (17, 7), (9, 3), (4, 7), (10, 4)] {
        let image = image(size, size + 3)?.expand(&[1, 2, size, size + 3])?;
        let squares = aten::mul_Tensor(&image, &image)?;
        let means = aten::_adaptive_avg_pool2d(&squares, &[places, places])?;
        let covered = |place: i64, size: i64| {
            let [start, end] = [place * size / places, ((place + 1) * size + places - 1) / places];
            (start, end - start)
        };
        for (y, x) in (0..places).flat_map(|y| (0..places).map(move |x| (y, x))) {
            let ((top, height), (left, width)) = (covered(y, size), covered(x, size + 3));
            let window = squares.narrow(2, top, height)?.narrow(3, left, width)?;
            let mean = window.narrow(1, 0, 1)?.mean()?.item()?.cast::<f64>();
            let found = means.element::<f64>(&[0, 1, y, x])?;
            assert!((found - mean).abs() <= 1e-12 * mean, "{size} {places}: {found} {mean}");
        }
    }
    Ok(())
}

#[test]
fn elements_go_back_to_where_they_were_taken() -> Result<()> {
    let x = Tensor::from([[[0.0, 1.0], [2.0, 3.0]]]);
    let places = Tensor::from([[[0i64, 1], [2, 3]]]);
    let out = aten::max_unpool2d(&x, &places, &[2, 3])?;
    assert_eq!((out.sizes(), out.to_vec::<f64>()?), (&[1, 2, 3][..], vec![0.0, 1.0, 2.0, 3.0, 0.0, 0.0]));
    assert!(aten::max_unpool2d(&x, &places.add(1)?, &[2, 2]).is_err(), "4 is not in an image of four");
    assert!(aten::max_unpool2d(&x, &places.sub(1)?, &[2, 2]).is_err());
    assert!(aten::max_unpool2d(&x, &places.to_dtype(DType::Int32)?, &[2, 2]).is_err());
    let volumes = (x.unsqueeze(0)?, places.unsqueeze(0)?);
    let unpool = |stride: &[i64]| aten::max_unpool3d(&volumes.0, &volumes.1, &[1, 2, 2], stride, &[0, 0, 0]);
    assert_eq!(unpool(&[1, 1, 1])?.to_vec::<f64>()?, [0.0, 1.0, 2.0, 3.0]);
    assert!(unpool(&[0, 1, 1]).is_err());
    let (largest, where_from) = aten::max_pool1d_with_indices(&Tensor::from([[1.0, 3.0, 2.0, 0.0]]), &[2])?;
    assert_eq!((largest.to_vec::<f64>()?, where_from.to_vec::<i64>()?), (vec![3.0, 2.0], vec![1, 2]));
    Ok(())
}

#[test]
fn regions_with_drawn_borders_are_pytorchs() -> Result<()> {
    let digits = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0, 5.0, 3.0, 5.0, 8.0, 9.0, 7.0, 9.0, 3.0];
    let x = Tensor::from_slice(&digits, &[1, 4, 4])?;
    let pool =
        |kernel, samples: &Tensor| aten::fractional_max_pool2d(&x, &[kernel, kernel], &[2, 2], samples);
    let half = Tensor::from([[[0.5, 0.5]]]);
    let (largest, places) = pool(2, &half)?;
    assert_eq!(largest.to_vec::<f64>()?, [9.0, 6.0, 9.0, 9.0]);
    assert_eq!(places.to_vec::<i64>()?, [5, 7, 12, 14]);
    let back = aten::fractional_max_pool2d_backward(&largest, &x, &[2, 2], &[2, 2], &places)?;
    assert_eq!(back.to_vec::<f64>()?[5], 9.0);
    assert!(pool(4, &half).is_err(), "two windows of four do not fit into four");
    assert!(pool(2, &half.to_dtype(DType::Float32)?).is_err() && pool(2, &Tensor::from([[[0.5]]])).is_err());
    Ok(())
}

#[test]
fn borders_are_drawn_in_the_element_type() -> Result<()> {
    let zeros = aten::zeros::with(&[1, 200, 200]).dtype(Some(DType::BFloat16)).call()?;
    let samples = Tensor::from([[[0.300_781_25_f64; 2]]]).to_dtype(DType::BFloat16)?;
    let (_, places) = aten::fractional_max_pool2d(&zeros, &[2, 2], &[70, 70], &samples)?;
    let first: Vec<i64> = places.to_vec::<i64>()?[..18].to_vec();
    assert_eq!(first, [0, 3, 6, 9, 12, 15, 18, 21, 23, 26, 29, 32, 35, 38, 41, 44, 46, 49]);
    Ok(())
}

#[test]
fn no_images_have_second_gradients() -> Result<()> {
    let options = GradOptions::new().create_graph(true);
    let images = Tensor::empty(&[0, 3, 4, 4], DType::Float64, Device::CPU)?;
    images.set_requires_grad(true)?;
    for pooled in [
        aten::max_pool2d_with_indices(&images, &[2, 2])?.0,
        aten::adaptive_max_pool2d(&images, &[2, 2])?.0,
        aten::max_pool3d_with_indices(&images.unsqueeze(2)?, &[1, 2, 2])?.0,
    ] {
        let grad_output = aten::ones_like(&pooled)?;
        grad_output.set_requires_grad(true)?;
        let grads = grad(&[&pooled], &[&images], &[Some(grad_output.clone())], options)?;
        let first = grads.into_iter().flatten().next().expect("a gradient");
        let second = grad(&[&first.sum()?], &[&grad_output], &[], GradOptions::new())?;
        assert_eq!(second[0].as_ref().map(Tensor::sizes), Some(pooled.sizes()));
    }
    Ok(())
}

#[test]
fn pooled_signals_are_row_major_unless_a_gradient_is_wanted() -> Result<()> {
    let x = aten::rand(&[2, 6, 2])?.transpose(1, 2)?;
    let pool = |x: &Tensor| aten::max_pool1d(x, &[3]);
    let strides = pool(&x)?.strides().to_vec();
    assert_eq!(strides, [4, 2, 1]);
    x.set_requires_grad(true)?;
    assert_eq!(pool(&x)?.strides(), [4, 1, 2]);
    Ok(())
}
