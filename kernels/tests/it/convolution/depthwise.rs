//! Depthwise convolutions of channels-last images, whose kernels are their own.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

/// Numbers whose sums of products no floating-point type rounds.
fn numbers(sizes: &[i64], dtype: DType) -> Result<Tensor> {
    let count = sizes.iter().product::<i64>();
    Tensor::from_vec((0..count).map(|i| i * 37 % 5 - 2).collect::<Vec<i64>>(), sizes)?.to_dtype(dtype)
}

/// The result and the gradients of input, weight and bias, in a memory format.
fn convolved(
    format: MemoryFormat,
    [input, weight, bias]: [&Tensor; 3],
    [stride, padding, dilation]: [&[i64]; 3],
    is_transposed: bool,
) -> Result<Vec<Tensor>> {
    let input = input.contiguous_format(format)?;
    let (groups, none) = (input.sizes()[1], vec![0; stride.len()]);
    let out = aten::convolution(
        &input,
        weight,
        Some(bias),
        stride,
        padding,
        dilation,
        is_transposed,
        &none,
        groups,
    )?;
    assert!(out.is_contiguous(format), "{format:?}");
    let grad = numbers(out.sizes(), out.dtype())?.contiguous_format(format)?;
    let (of_input, of_weight, of_bias) = aten::convolution_backward(
        &grad,
        &input,
        weight,
        Some(&[groups]),
        stride,
        padding,
        dilation,
        is_transposed,
        &none,
        groups,
        &[true; 3],
    )?;
    assert!(of_input.is_contiguous(format), "{format:?}");
    Ok(vec![out, of_input, of_weight, of_bias])
}

/// Channels that fill registers or do not, borders on either side, gaps, and images that are smaller than windows.
#[test]
fn results_and_gradients_are_those_of_contiguous_images() -> Result<()> {
    let windows: [[&[i64]; 4]; 8] = [
        [&[3, 3], &[1, 1], &[1, 1], &[1, 1]],
        [&[3, 3], &[2, 2], &[1, 1], &[1, 1]],
        [&[7, 7], &[1, 1], &[3, 3], &[1, 1]],
        [&[5, 5], &[1, 1], &[2, 2], &[1, 1]],
        [&[5, 3], &[2, 1], &[4, 0], &[1, 2]],
        [&[2, 3], &[3, 2], &[1, 2], &[3, 1]],
        [&[1, 2], &[1, 3], &[0, 0], &[1, 1]],
        [&[3, 5], &[1, 1], &[3, 6], &[2, 3]],
    ];
    for (at, [kernel, stride, padding, dilation]) in windows.into_iter().enumerate() {
        for (channels, dtype) in [
            (8, DType::Float64),
            (16, DType::Float32),
            (33, DType::BFloat16),
            (48, DType::Float32),
            (70, DType::Float16),
            (9, DType::Float32),
        ] {
            let [height, width] = [[9, 14], [13, 27]][at % 2];
            let input = numbers(&[2, channels, height, width], dtype)?;
            let weight = numbers(&[&[channels, 1], kernel].concat(), dtype)?;
            let operands = [&input, &weight, &numbers(&[channels], dtype)?];
            for is_transposed in [false, true] {
                let formats = [MemoryFormat::Contiguous, MemoryFormat::ChannelsLast];
                let [rows, pixels] = formats
                    .map(|format| convolved(format, operands, [stride, padding, dilation], is_transposed));
                for (which, (expected, found)) in rows?.iter().zip(&pixels?).enumerate() {
                    let what = format!("{which} of window {at}, {channels} {dtype} {is_transposed}");
                    assert!(aten::equal(expected, found)?, "{what}");
                }
            }
        }
    }
    Ok(())
}

#[test]
fn volumes_have_three_directions() -> Result<()> {
    let (input, weight) =
        (numbers(&[2, 19, 5, 6, 7], DType::Float32)?, numbers(&[19, 1, 3, 2, 3], DType::Float32)?);
    let operands = [&input, &weight, &numbers(&[19], DType::Float32)?];
    for is_transposed in [false, true] {
        let [rows, pixels] = [MemoryFormat::Contiguous, MemoryFormat::ChannelsLast3d]
            .map(|format| convolved(format, operands, [&[1, 2, 2], &[1, 0, 2], &[1, 1, 2]], is_transposed));
        for (which, (expected, found)) in rows?.iter().zip(&pixels?).enumerate() {
            assert!(aten::equal(expected, found)?, "{which} {is_transposed}");
        }
    }
    Ok(())
}

/// Large enough that threads share the lines, and that the gradient of the weight is summed in parts.
#[test]
fn large_images_are_shared() -> Result<()> {
    let (input, weight) =
        (numbers(&[3, 40, 61, 50], DType::Float64)?, numbers(&[40, 1, 3, 3], DType::Float64)?);
    let operands = [&input, &weight, &numbers(&[40], DType::Float64)?];
    let [rows, pixels] = [MemoryFormat::Contiguous, MemoryFormat::ChannelsLast]
        .map(|format| convolved(format, operands, [&[1, 1], &[1, 1], &[1, 1]], false));
    for (which, (expected, found)) in rows?.iter().zip(&pixels?).enumerate() {
        assert!(aten::equal(expected, found)?, "{which}");
    }
    Ok(())
}
