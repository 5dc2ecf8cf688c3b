//! Sampling of images at the points of a grid, and affine grids.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

fn close(found: &Tensor, want: &[f64]) -> Result<()> {
    let found = found.to_vec::<f64>()?;
    let is_close = |(found, want): (&f64, &f64)| found == want || (found - want).abs() < 1e-12;
    assert!(found.len() == want.len() && found.iter().zip(want).all(is_close), "{found:?}, not {want:?}");
    Ok(())
}

/// Images whose elements are all different.
fn images(sizes: &[i64], format: MemoryFormat) -> Result<Tensor> {
    let count = sizes.iter().product();
    let elements: Vec<f64> = (0..count).map(|i: i64| (i as f64 * 0.7).sin() + i as f64 / 64.0).collect();
    Tensor::from_vec(elements, sizes)?.contiguous_format(format)
}

#[test]
fn a_grid_is_moved_by_its_matrix() -> Result<()> {
    let shifted = Tensor::from([[[1.0, 0.0, 0.5], [0.0, 2.0, 0.0]]]);
    let grid = aten::affine_grid_generator(&shifted, &[1, 3, 2, 2], false)?;
    assert_eq!(grid.sizes(), [1, 2, 2, 2]);
    close(&grid, &[0.0, -1.0, 1.0, -1.0, 0.0, 1.0, 1.0, 1.0])?;
    let cube = Tensor::from([[[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.25]]]);
    let grid = aten::affine_grid_generator(&cube, &[1, 1, 2, 1, 1], true)?;
    close(&grid, &[0.0, 0.0, -0.75, 0.0, 0.0, 1.25])?;

    // Sampling an image with the identity gives that image.
    let identity = Tensor::from([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]);
    let image = Tensor::from([[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]]);
    for aligned in [false, true] {
        let grid = aten::affine_grid_generator(&identity, image.sizes(), aligned)?;
        close(&aten::grid_sampler(&image, &grid, 0, 0, aligned)?, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    }
    for size in [&[1, 1, 2][..], &[2, 1, 2, 2], &[1, 1, -2, 2], &[1, 1, 2, 2, 2]] {
        assert!(aten::affine_grid_generator(&identity, size, false).is_err(), "{size:?}");
    }
    Ok(())
}

/// PyTorch's numbers: the points are rounded to zero before they are multiplied.
#[test]
fn grids_of_integers_and_complex_numbers() -> Result<()> {
    let ones = Tensor::from([[[1i64; 3]; 2]]);
    let grid = aten::affine_grid_generator(&ones, &[1, 1, 3, 3], true)?;
    assert_eq!(grid.to_vec::<i64>()?, [-1, -1, 0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 1, 1, 2, 2, 3, 3]);
    let grid = aten::affine_grid_generator(&ones, &[1, 1, 2, 2], false)?;
    assert_eq!(grid.to_vec::<i64>()?, [1; 8]);
    let bytes = aten::to_dtype(&ones, DType::UInt8)?;
    let grid = aten::affine_grid_generator(&bytes, &[1, 1, 3, 5], false)?;
    let want = [[135, 135, 85, 85, 85], [51, 51, 1, 1, 1], [51, 51, 1, 1, 1]];
    assert_eq!(grid.to_vec::<u8>()?, want.concat().into_iter().flat_map(|x| [x, x]).collect::<Vec<u8>>());
    let grad = aten::to_dtype(&aten::ones(&[1, 3, 5, 2])?, DType::Int32)?;
    let back = aten::affine_grid_generator_backward(&grad, &[1, 1, 3, 5], false)?;
    assert_eq!(back.to_vec::<i32>()?, [0, 0, 15, 0, 0, 15]);
    let complex = aten::to_dtype(&ones, DType::Complex128)?;
    let grid = aten::real(&aten::affine_grid_generator(&complex, &[1, 1, 1, 2], true)?)?;
    close(&grid, &[0.0, 0.0, 2.0, 2.0])?;
    assert!(aten::affine_grid_generator(&aten::to_dtype(&ones, DType::Bool)?, &[1, 1, 2, 2], true).is_err());
    Ok(())
}

#[test]
fn a_grid_takes_shares_of_pixels() -> Result<()> {
    let image = Tensor::from([[[[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]]]]);
    let grid = Tensor::from([[[[-1.0, -1.0], [0.25, 0.5], [1.5, 0.0], [-1.0, 2.0]]]]);
    let points = |interpolation, padding, align| {
        aten::grid_sampler_2d(&image, &grid, interpolation, padding, align)?.to_vec::<f64>()
    };
    assert_eq!(points(0, 0, true)?, [1.0, 4.6875, 2.5, 2.0]);
    assert_eq!(points(0, 1, true)?, [1.0, 4.6875, 5.0, 4.0]);
    assert_eq!(points(0, 2, true)?, [1.0, 4.6875, 4.25, 2.5]);
    assert_eq!(points(0, 0, false)?, [0.25, 5.75, 0.0, 0.0]);
    assert_eq!(points(1, 0, false)?, [1.0, 5.0, 0.0, 0.0]);
    assert!(points(3, 0, false).is_err() && points(0, -1, false).is_err());
    let point = Tensor::from_vec(vec![0.25, 0.5, 0.0], &[1, 1, 1, 1, 3])?;
    let volume = aten::grid_sampler_3d(&image.unsqueeze(2)?, &point, 0, 0, true)?;
    assert_eq!(volume.to_vec::<f64>()?, [4.6875]);
    let (of_image, of_grid) = aten::grid_sampler_2d_backward(
        &aten::ones_like(&grid.select(-1, 0)?.unsqueeze(1)?)?,
        &image,
        &grid,
        0,
        0,
        true,
        &[false, true],
    )?;
    assert!(!of_image.is_defined() && of_grid.sizes() == grid.sizes());
    Ok(())
}

#[test]
fn many_points_are_sampled_in_both_precisions_alike() -> Result<()> {
    let generator = Generator::with_seed(5);
    let random = |sizes: &[i64]| aten::randn_generator(sizes, Some(&generator))?.to_dtype(DType::Float64);
    let (image, grid) = (random(&[2, 3, 7, 9])?, random(&[2, 13, 11, 2])?);
    for (mode, padding, aligned) in [(0, 0, false), (0, 1, true), (1, 0, true), (2, 0, false), (2, 2, true)] {
        let wide = aten::grid_sampler_2d(&image, &grid, mode, padding, aligned)?;
        let [image, grid] = [&image, &grid].map(|x| x.to_dtype(DType::Float32));
        let narrow = aten::grid_sampler_2d(&image?, &grid?, mode, padding, aligned)?;
        let is_close = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-4;
        let (narrow, wide) = (narrow.to_dtype(DType::Float64)?.to_vec::<f64>()?, wide.to_vec::<f64>()?);
        assert!(narrow.iter().zip(&wide).all(is_close), "mode {mode}, padding {padding}");
        assert!(padding > 0 || wide.contains(&0.0), "some points are outside");
    }
    // Pixels that are outside have no part in a sum, whatever the first pixel is.
    let image = Tensor::from([[[[f32::NAN, 1.0], [2.0, 3.0]]]]);
    let outside = Tensor::from([[[[7f32, 7.0], [f32::NAN, 0.0], [-1e30, 1e30]]]]);
    assert_eq!(aten::grid_sampler_2d(&image, &outside, 0, 0, false)?.to_vec::<f32>()?[0], 0.0);
    Ok(())
}

#[test]
fn sampling_does_not_depend_on_the_number_of_threads() -> Result<()> {
    let x = images(&[2, 3, 60, 70], MemoryFormat::ChannelsLast)?;
    let grid = images(&[2, 130, 71, 2], MemoryFormat::Contiguous)?.sin()?;
    let sampled = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| -> Result<_> {
            let y = aten::grid_sampler_2d(&x, &grid, 0, 2, false)?;
            let (a, b) = aten::grid_sampler_2d_backward(&y, &x, &grid, 2, 1, false, &[true, true])?;
            Ok((y.to_vec::<f64>()?, a.to_vec::<f64>()?, b.to_vec::<f64>()?))
        })
    };
    assert_eq!(sampled(1)?, sampled(3)?);
    Ok(())
}
