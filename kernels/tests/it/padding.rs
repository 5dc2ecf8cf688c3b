//! Padding of signals and images.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

#[test]
fn padding_may_be_negative() -> Result<()> {
    let x = Tensor::from([[1, 2, 3], [4, 5, 6]]);
    let padded = aten::constant_pad_nd::with(&x, &[-1, 1, 1, 0]).value(9).call()?;
    assert_eq!((padded.sizes(), padded.to_vec::<i32>()?), (&[3, 3][..], vec![9, 9, 9, 2, 3, 9, 5, 6, 9]));
    assert!(aten::constant_pad_nd(&x, &[1]).is_err() && aten::constant_pad_nd(&x, &[-2, -2]).is_err());
    let turned = aten::zeros(&[6, 4])?.t()?;
    for (pad, strides) in [([0, 0], [1, 4]), ([-1, 0], [1, 4]), ([1, 0], [7, 1])] {
        assert_eq!(aten::constant_pad_nd(&turned, &pad)?.strides(), strides); // as PyTorch's
    }
    Ok(())
}

#[test]
fn padding_repeats_what_is_at_the_edge_or_behind_it() -> Result<()> {
    let x = Tensor::from([[1, 2, 3, 4]]);
    let pad = |mode, pad: &[i64]| aten::pad::with(&x, pad).mode(mode).call()?.to_vec::<i32>();
    assert_eq!(pad("reflect", &[2, 3])?, [3, 2, 1, 2, 3, 4, 3, 2, 1]);
    assert_eq!(pad("replicate", &[2, -3])?, [1, 1, 1]);
    assert_eq!(pad("reflect", &[-5, 3])?, [2, 1]);
    assert_eq!(pad("circular", &[2, 1])?, [3, 4, 1, 2, 3, 4, 1]);
    assert!(pad("reflect", &[4, 0]).is_err() && pad("replicate", &[-2, -2]).is_err());
    assert!(pad("replicate", &[1, 1, 1, 1]).is_err() && pad("reflect", &[1]).is_err());
    let grad = aten::reflection_pad1d_backward(
        &Tensor::from([[1.0, 2.0, 4.0, 8.0]]),
        &Tensor::from([[0.0, 0.0]]),
        &[1, 1],
    )?;
    assert_eq!(grad.to_vec::<f64>()?, [10.0, 5.0]);
    Ok(())
}

#[test]
fn padded_images_lie_as_images_do() -> Result<()> {
    let x = aten::contiguous::with(&aten::rand(&[2, 3, 4, 5])?)
        .memory_format(MemoryFormat::ChannelsLast)
        .call()?;
    for pad in [[1, 1, 1, 1], [0; 4]] {
        let out = aten::replication_pad2d(&x, &pad)?;
        assert!(out.is_contiguous(MemoryFormat::ChannelsLast) && !out.shares_storage_with(&x));
        assert!(aten::reflection_pad2d(&x, &pad)?.is_contiguous(MemoryFormat::ChannelsLast));
        assert!(aten::pad::call(&x, &pad, "circular", None)?.is_contiguous(MemoryFormat::Contiguous));
        assert!(aten::replication_pad2d(&x.transpose(0, 1)?, &pad)?.is_contiguous(MemoryFormat::Contiguous));
    }
    Ok(())
}

#[test]
fn a_padded_volume_without_a_batch_lies_as_images_do() -> Result<()> {
    let x = aten::contiguous::with(&aten::rand(&[2, 3, 4, 5])?)
        .memory_format(MemoryFormat::ChannelsLast)
        .call()?;
    let pad = [1, 0, 0, 1, 1, 1];
    let out = aten::reflection_pad3d(&x, &pad)?;
    assert_eq!(out.strides(), [150, 1, 30, 5]);
    let row_major = aten::reflection_pad3d(&x.contiguous()?, &pad)?;
    assert!(row_major.is_contiguous(MemoryFormat::Contiguous) && aten::equal(&out, &row_major)?);
    let grad = aten::replication_pad3d_backward(&out, &x, &pad)?;
    assert_eq!(grad.strides(), x.strides());
    assert!(aten::equal(&grad, &aten::replication_pad3d_backward(&row_major, &x.contiguous()?, &pad)?)?);
    Ok(())
}

#[test]
fn circular_padding_is_row_major_to_the_last_stride() -> Result<()> {
    for batch in [0, 1, 2] {
        let x = aten::zeros(&[3, 3, batch])?.permute(&[2, 0, 1])?;
        assert_eq!(aten::pad::call(&x, &[0, 1], "circular", None)?.strides(), [12, 4, 1]);
    }
    Ok(())
}

#[test]
fn modes_of_padding_have_numbers() -> Result<()> {
    let line = Tensor::from([[0, 1, 2]]);
    let padded =
        |mode| aten::_pad_enum(&line, &[1, 2], mode).and_then(|x| x.to_vec::<i32>()).unwrap_or_default();
    assert_eq!(padded(0), [1, 0, 1, 2, 1, 0]);
    assert_eq!(padded(1), [0, 0, 1, 2, 2, 2]);
    assert_eq!(padded(2), [2, 0, 1, 2, 0, 1]);
    assert_eq!(padded(3), [0, 0, 1, 2, 0, 0]);
    assert!(padded(-1).is_empty() && padded(4).is_empty());
    assert_eq!(aten::_pad_circular(&line, &[1, 2])?.to_vec::<i32>()?, padded(2));
    assert!(aten::_pad_circular(&line, &[1, 4]).is_err(), "more than once around");
    Ok(())
}

/// The index of the pixel that each padded pixel repeats, from the definition of the two modes.
fn repeated(size: i64, [before, after]: [i64; 2], reflects: bool) -> Vec<i64> {
    let of = |place: i64| match reflects {
        true if place < 0 => -place,
        true if place >= size => 2 * (size - 1) - place,
        _ => place.clamp(0, size - 1),
    };
    (-before..size + after).map(of).collect()
}

#[test]
fn padding_of_any_width_repeats_the_same_pixels_in_every_format() -> Result<()> {
    let cases = [1, 2, 7, 8, 9, 17, 64, 65].into_iter().flat_map(|width| {
        [[0, 0], [1, 0], [0, 1], [-1, 1], [1, -1], [3, 2], [7, 8], [-3, 5]].map(|pad| (width, pad))
    });
    for ((width, pad), (reflects, channels)) in
        cases.flat_map(|case| [(true, 1), (true, 3), (false, 8), (false, 17)].map(|how| (case, how)))
    {
        let [before, after] = pad;
        if width + before + after < 1 || reflects && before.max(after) >= width {
            continue;
        }
        let count = 2 * channels * 3 * width;
        let x =
            Tensor::from_vec((0..count).map(|i| (i * 7 % 61) as f32).collect(), &[2, channels, 3, width])?;
        let list = [before, after, 1, 2];
        let (ys, xs) = (repeated(3, [1, 2], reflects), repeated(width, pad, reflects));
        let element = |plane: i64, y: i64, x: i64| (((plane * 3 + y) * width + x) * 7 % 61) as f32;
        let mut want = Vec::new();
        for (plane, y) in (0..2 * channels).flat_map(|plane| ys.iter().map(move |y| (plane, *y))) {
            want.extend(xs.iter().map(|x| element(plane, y, *x)));
        }
        for format in [MemoryFormat::Contiguous, MemoryFormat::ChannelsLast] {
            let x = x.contiguous_format(format)?;
            let padded = match reflects {
                true => aten::reflection_pad2d(&x, &list)?,
                false => aten::replication_pad2d(&x, &list)?,
            };
            assert!(padded.to_vec::<f32>()? == want, "{channels} channels of {width} by {pad:?}, {format:?}");
            // The gradient is the transposed map: ⟨g, pad(x)⟩ = ⟨dx, x⟩, in whole numbers.
            let grad = padded.remainder(13)?.contiguous_format(format)?;
            let of_x = match reflects {
                true => aten::reflection_pad2d_backward(&grad, &x, &list)?,
                false => aten::replication_pad2d_backward(&grad, &x, &list)?,
            };
            let dot = |a: &Tensor, b: &Tensor| {
                a.to_dtype(DType::Float64)?.mul(&b.to_dtype(DType::Float64)?)?.sum()?.item()
            };
            assert_eq!(
                dot(&grad, &padded)?,
                dot(&of_x, &x)?,
                "{channels} channels of {width} by {pad:?}, {format:?}"
            );
        }
    }
    Ok(())
}
