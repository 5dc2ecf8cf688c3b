//! Resizing images.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;
use torch_library_kernels::vmap::vmap;

/// Images whose elements are all different.
fn images(sizes: &[i64], format: MemoryFormat) -> Result<Tensor> {
    let count = sizes.iter().product();
    let elements: Vec<f64> = (0..count).map(|i: i64| (i as f64 * 0.7).sin() + i as f64 / 64.0).collect();
    Tensor::from_vec(elements, sizes)?.contiguous_format(format)
}

fn is_close(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12)
}

#[test]
fn new_pixels_lie_on_lines_between_old_ones() -> Result<()> {
    let x = Tensor::from([[[0.0, 4.0, 12.0]]]);
    let line = |sizes, align| aten::upsample_linear1d(&x, sizes, align)?.to_vec::<f64>();
    assert_eq!(line(&[6], false)?, [0.0, 1.0, 3.0, 6.0, 10.0, 12.0]);
    assert_eq!(line(&[5], true)?, [0.0, 2.0, 4.0, 8.0, 12.0]);
    assert_eq!(line(&[3], false)?, [0.0, 4.0, 12.0]);
    let curve = aten::upsample_bicubic2d(&x.unsqueeze(2)?, &[1, 3], true)?;
    assert_eq!(curve.to_vec::<f64>()?, [0.0, 4.0, 12.0]);
    assert!(aten::upsample_linear1d(&x, &[0], false).is_err());
    assert!(aten::upsample_linear1d(&x.to_dtype(DType::Int64)?, &[2], false).is_err());
    Ok(())
}

/// A scale that contradicts the sizes counts where PyTorch's kernels look at it.
#[test]
fn sizes_may_speak_for_themselves() -> Result<()> {
    let nearest = |channels: i64, height: i64, format| {
        let x = images(&[1, channels, height, 3], format)?;
        let y = aten::upsample_nearest2d::call(&x, &[height, 6], None, Some(0.5))?;
        let line = |image: &Tensor| image.select(2, 0)?.select(1, 0)?.to_vec::<f64>();
        let twice: Vec<f64> = line(&x)?.into_iter().flat_map(|x| [x, x]).collect();
        Ok::<_, Error>(line(&y)? == twice)
    };
    assert!(nearest(1, 4, MemoryFormat::Contiguous)? && nearest(4, 130, MemoryFormat::ChannelsLast)?);
    assert!(!nearest(1, 130, MemoryFormat::Contiguous)? && !nearest(3, 130, MemoryFormat::ChannelsLast)?);
    Ok(())
}

#[test]
fn directions_are_resized_one_by_one_in_every_format() -> Result<()> {
    let sizes = [2, 3, 4, 5];
    for (format, align) in [(MemoryFormat::Contiguous, false), (MemoryFormat::ChannelsLast, true)] {
        let x = images(&sizes, format)?;
        let both = aten::upsample_bilinear2d(&x, &[7, 3], align)?;
        assert!(both.is_contiguous(format));
        let rows = aten::upsample_bilinear2d(&x, &[7, 5], align)?;
        let columns = aten::upsample_bilinear2d(&rows, &[7, 3], align)?;
        assert!(is_close(&both.to_vec::<f64>()?, &columns.to_vec::<f64>()?));
        let volume = aten::upsample_trilinear3d(&x.unsqueeze(2)?, &[1, 7, 3], align)?;
        assert!(is_close(&both.to_vec::<f64>()?, &volume.to_vec::<f64>()?));
    }
    Ok(())
}

/// Images of bytes are rounded after each direction, and weights have sixteen bits; the expected numbers are those of
/// PyTorch 2.15.
#[test]
fn bytes_are_resized_to_bytes_in_every_format() -> Result<()> {
    let bytes: Vec<u8> = (0..30i64).map(|i| (i * i * 37 + 11) as u8).collect();
    let (x, to) = (Tensor::from_vec(bytes, &[1, 2, 3, 5])?, [2, 7]);
    for format in [MemoryFormat::Contiguous, MemoryFormat::ChannelsLast] {
        let x = x.contiguous_format(format)?;
        let is = |y: Tensor, expected: [u8; 28]| -> Result<()> {
            assert!(y.is_contiguous(format));
            assert_eq!(y.to_vec::<u8>()?, expected);
            Ok(())
        };
        is(
            aten::upsample_bilinear2d(&x, &to, false)?,
            [
                50, 51, 74, 127, 97, 98, 116, 137, 126, 134, 172, 127, 113, 119, 163, 103, 104, 220, 205,
                140, 61, 127, 165, 179, 142, 112, 114, 133,
            ],
        )?;
        is(
            aten::upsample_bicubic2d(&x, &to, true)?,
            [
                11, 24, 91, 159, 116, 81, 91, 127, 124, 169, 219, 159, 101, 95, 144, 31, 57, 208, 248, 172,
                56, 96, 171, 175, 104, 83, 109, 152,
            ],
        )?;
        is(
            aten::_upsample_bilinear2d_aa(&x, &to, false)?,
            [
                70, 61, 70, 111, 91, 103, 129, 142, 123, 120, 149, 116, 115, 131, 172, 121, 123, 226, 198,
                134, 63, 142, 172, 185, 161, 121, 113, 123,
            ],
        )?;
        is(
            aten::_upsample_bicubic2d_aa(&x, &to, false)?,
            [
                69, 54, 64, 107, 86, 101, 133, 149, 125, 119, 148, 113, 113, 135, 181, 110, 109, 231, 215,
                130, 52, 138, 178, 197, 159, 111, 107, 128,
            ],
        )?;
    }
    let same = aten::upsample_bicubic2d(&x, &[3, 5], false)?;
    assert_eq!(same.to_vec::<u8>()?, x.to_vec::<u8>()?);
    let volume = x.unsqueeze(2)?;
    assert!(aten::upsample_trilinear3d(&volume, &[1, 2, 7], false).is_err(), "bytes are for images alone");
    Ok(())
}

#[test]
fn bytes_of_a_pixel_are_resized_like_those_of_planes() -> Result<()> {
    let sizes = [[1, 1], [1, 7], [3, 5], [8, 1], [9, 16], [2, 33]];
    let to = [[1, 1], [3, 4], [5, 1], [3, 5], [17, 8], [2, 65]];
    for (channels, (from, to)) in [1, 2, 3, 4, 5, 16]
        .into_iter()
        .flat_map(|channels| sizes.map(|from| (channels, from)))
        .flat_map(|(channels, from)| to.map(|to| (channels, (from, to))))
    {
        let count = 2 * channels * from[0] * from[1];
        let bytes: Vec<u8> = (0..count).map(|i| (i * i * 37 + 11 * i) as u8).collect();
        let planes = Tensor::from_vec(bytes, &[2, channels, from[0], from[1]])?;
        let pixels = planes.contiguous_format(MemoryFormat::ChannelsLast)?;
        for align in [false, true] {
            let linear = [&planes, &pixels].map(|x| aten::upsample_bilinear2d(x, &to, align));
            let cubic = [&planes, &pixels].map(|x| aten::upsample_bicubic2d(x, &to, align));
            for [of_planes, of_pixels] in [linear, cubic] {
                let [of_planes, of_pixels] = [of_planes?, of_pixels?].map(|y| y.to_vec::<u8>());
                assert_eq!(of_planes?, of_pixels?, "{channels} channels, {from:?} to {to:?}");
            }
        }
    }
    Ok(())
}

#[test]
fn gradients_of_resizing_are_the_way_back() -> Result<()> {
    type Pair = (fn(&Tensor) -> Result<Tensor>, fn(&Tensor) -> Result<Tensor>);
    const TO: [i64; 2] = [6, 7];
    const FROM: [i64; 4] = [2, 3, 4, 5];
    let pairs: [Pair; 4] = [
        (|x| aten::upsample_nearest2d(x, &TO), |g| aten::upsample_nearest2d_backward(g, &TO, &FROM)),
        (
            |x| aten::_upsample_nearest_exact2d(x, &TO),
            |g| aten::_upsample_nearest_exact2d_backward(g, &TO, &FROM),
        ),
        (
            |x| aten::upsample_bilinear2d(x, &TO, true),
            |g| aten::upsample_bilinear2d_backward(g, &TO, &FROM, true),
        ),
        (
            |x| aten::upsample_bicubic2d(x, &TO, false),
            |g| aten::upsample_bicubic2d_backward(g, &TO, &FROM, false),
        ),
    ];
    let product = |a: &Tensor, b: &Tensor| -> Result<f64> {
        Ok(aten::sum(&aten::mul_Tensor(a, b)?)?.to_vec::<f64>()?[0])
    };
    for format in [MemoryFormat::Contiguous, MemoryFormat::ChannelsLast] {
        let (x, grad) = (images(&FROM, format)?, images(&[2, 3, 6, 7], format)?);
        for (forth, back) in pairs {
            let (there, here) = (product(&forth(&x)?, &grad)?, product(&x, &back(&grad)?)?);
            assert!((there - here).abs() < 1e-9, "{there} {here}");
        }
    }
    Ok(())
}

/// Copies of one line follow each other within an image, and an image may begin with the line that the last one ended
/// with.
#[test]
fn nearest_pixels_are_copied_as_they_are() -> Result<()> {
    let nearest = |x: &Tensor, dim: i64, to: i64| {
        let indices: Vec<i64> = (0..to).map(|i| i * x.sizes()[dim as usize] / to).collect();
        x.index_select(dim, &Tensor::from_vec(indices, &[to])?)
    };
    for format in [MemoryFormat::Contiguous, MemoryFormat::ChannelsLast] {
        for dtype in [DType::UInt8, DType::Float16, DType::BFloat16, DType::Float32, DType::Float64] {
            let x = images(&[3, 5, 4, 6], format)?.to_dtype(dtype)?;
            for [height, width] in [[8, 12], [12, 6], [4, 9], [3, 5], [1, 1]] {
                let found = aten::upsample_nearest2d(&x, &[height, width])?;
                let want = nearest(&nearest(&x, 2, height)?, 3, width)?;
                assert!(found.equal(&want)?, "{dtype} {format:?} {height} × {width}");
                assert!(found.dtype() == dtype && found.is_contiguous(format));
            }
        }
        let nan = images(&[1, 2, 2, 2], format)?.div(0.0)?.sub(f64::INFINITY)?;
        assert!(aten::upsample_nearest2d(&nan, &[4, 4])?.to_vec::<f64>()?[1..].iter().any(|x| x.is_nan()));
    }
    assert!(
        aten::upsample_nearest2d(&Tensor::zeros(&[1, 1, 2, 2], DType::Int64, Device::CPU)?, &[4, 4]).is_err()
    );
    // Nothing is computed for a result without elements, however large it is.
    let meta = Tensor::zeros(&[1, 1, 2, 2], DType::Float32, Device::META)?;
    assert_eq!(aten::upsample_nearest2d(&meta, &[1 << 40, 3])?.sizes(), [1, 1, 1 << 40, 3]);
    Ok(())
}

#[test]
fn resizing_does_not_depend_on_the_number_of_threads() -> Result<()> {
    let x = images(&[1, 2, 150, 170], MemoryFormat::Contiguous)?.to_dtype(DType::Float32)?;
    let resized = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| -> Result<_> {
            let y = aten::upsample_bicubic2d(&x, &[301, 333], false)?;
            let back = aten::upsample_bicubic2d_backward(&y, &[301, 333], &[1, 2, 150, 170], false)?;
            Ok((y.to_vec::<f32>()?, back.to_vec::<f32>()?))
        })
    };
    assert_eq!(resized(1)?, resized(3)?);
    Ok(())
}

/// As in PyTorch, where the scales of such a dimension have no meaning, and no dtype is refused if neither changes.
#[test]
fn antialiasing_leaves_dimensions_alone_whose_size_stays() -> Result<()> {
    for dtype in [DType::Float32, DType::UInt8, DType::Int64, DType::BFloat16] {
        let x = aten::reshape(&aten::arange(24.into())?, &[1, 2, 3, 4])?.to_dtype(dtype)?;
        let resized = |size: &[i64], scale_w: Option<f64>| {
            aten::_upsample_bicubic2d_aa::with(&x, size, false).scales_w(scale_w).call()
        };
        let same = resized(&[3, 4], Some(0.5))?;
        assert!(aten::equal(&same, &x)? && !same.shares_storage_with(&x), "{dtype}");
        if matches!(dtype, DType::Float32 | DType::UInt8) {
            assert!(aten::equal(&resized(&[2, 4], Some(0.5))?, &resized(&[2, 4], None)?)?, "{dtype}");
        } else {
            assert_eq!(resized(&[2, 4], None).unwrap_err().kind(), ErrorKind::DType);
        }
    }
    Ok(())
}

/// PyTorch's numbers.
#[test]
fn lanczos_weighs_pixels_within_three() -> Result<()> {
    let squares: Vec<f64> = (0..16).map(|x| f64::from(x * x)).collect();
    let x = Tensor::from_vec(squares, &[1, 1, 4, 4])?;
    let found = aten::_upsample_lanczos2d_aa(&x, &[3, 2], false)?.to_vec::<f64>()?;
    let want = [
        1.496015284774052,
        9.72030226919273,
        42.86170222773581,
        71.7178850051937,
        141.73697607275966,
        191.22505464325678,
    ];
    assert!(found.iter().zip(&want).all(|(found, want)| (found - want).abs() < 1e-12), "{found:?}");
    let bytes: Vec<u8> = (0..48u8).map(|x| x.wrapping_mul(5)).collect();
    let bytes = Tensor::from_vec(bytes, &[1, 3, 4, 4])?;
    let want = [6, 15, 33, 42, 60, 69, 86, 95, 113, 122, 140, 149, 166, 175, 193, 202, 220, 229];
    assert_eq!(aten::_upsample_lanczos2d_aa(&bytes, &[3, 2], false)?.to_vec::<u8>()?, want);
    let grad = aten::ones_like(&Tensor::from_vec(vec![0f64; 6], &[1, 1, 3, 2])?)?;
    let back =
        aten::_upsample_lanczos2d_aa_backward(&grad, &[3, 2], &[1, 1, 4, 4], false)?.to_vec::<f64>()?;
    let want = [0.280806103306223, 0.43028119203849713, 0.4302811920384972, 0.28080610330622313];
    assert!(back.iter().zip(&want).all(|(found, want)| (found - want).abs() < 1e-14), "{back:?}");
    assert!(aten::_upsample_lanczos2d_aa(&aten::to_dtype(&x, DType::Float16)?, &[3, 2], false).is_err());
    Ok(())
}

/// Asserts that a tensor has these numbers, which have eight digits.
#[track_caller]
fn assert_near(found: &Tensor, want: &[f64]) -> Result<()> {
    let found = found.to_vec::<f64>()?;
    let is_close = |(found, want): (&f64, &f64)| (found - want).abs() <= 1e-6 * want.abs().max(1.0);
    assert!(
        found.len() == want.len() && found.iter().zip(want).all(is_close),
        "{found:?} instead of {want:?}"
    );
    Ok(())
}

#[test]
fn smaller_images_are_means() -> Result<()> {
    let squares: Vec<f64> = (0..7).map(|x| f64::from(x * x)).collect();
    let x = Tensor::from_vec(squares, &[1, 1, 1, 7])?;
    assert_near(&aten::_upsample_bilinear2d_aa(&x, &[1, 3], false)?, &[1.28571429, 9.94117647, 27.0])?;
    assert_near(&aten::_upsample_bicubic2d_aa(&x, &[1, 3], false)?, &[0.67741935, 9.36385836, 28.06451613])?;
    assert!(aten::_upsample_bilinear2d_aa(&x, &[0, 3], false).is_err());
    assert!(aten::_upsample_bicubic2d_aa(&x.to_dtype(DType::Float16)?, &[1, 3], false).is_err());
    assert!(aten::_upsample_bilinear2d_aa_backward(&x, &[1, 3], &[1, 1, 1, 9], false).is_err());
    Ok(())
}

#[test]
fn antialiased_images_are_those_of_dense_matrices() -> Result<()> {
    type Resize = fn(&Tensor, &[i64]) -> Result<Tensor>;
    let filters: [Resize; 3] = [
        |x, size| aten::_upsample_bilinear2d_aa(x, size, false),
        |x, size| aten::_upsample_bicubic2d_aa(x, size, true),
        |x, size| aten::_upsample_lanczos2d_aa(x, size, false),
    ];
    let floats = aten::randn::with(&[1, 2, 3, 40, 57]).dtype(Some(DType::Float64)).call()?;
    let bytes = aten::clamp::call(&floats.mul(60)?.add(128)?, Some(0.into()), Some(255.into()))?;
    for images in [floats, bytes.to_dtype(DType::UInt8)?] {
        for resize in filters {
            for size in [[13, 80], [90, 20], [40, 19], [11, 57]] {
                let found = resize(&images.select_int(0, 0)?, &size)?;
                // Under vmap it is computed by products with matrices.
                let want = vmap([&images], |[images]| resize(&images, &size))?.select_int(0, 0)?;
                let (found, want) = (found.to_dtype(DType::Float64)?, want.to_dtype(DType::Float64)?);
                assert!(aten::allclose::call(&found, &want, 1e-12, 1e-12, false)?, "{size:?}");
            }
        }
    }
    Ok(())
}
