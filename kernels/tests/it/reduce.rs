//! Reductions.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::loops::{Fold, fold};
use torch_library_kernels::prelude::*;

#[test]
fn sums_run_over_any_dimensions() -> Result<()> {
    let x = Tensor::from_vec((0..24).collect::<Vec<i32>>(), &[2, 3, 4])?;
    assert_eq!(x.sum()?.item()?, Scalar::Int(276));
    assert_eq!(x.sum_dim(&[0], false)?.to_vec::<i64>()?, [12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34]);
    assert_eq!(x.sum_dim(&[-1], false)?.to_vec::<i64>()?, [6, 22, 38, 54, 70, 86]);
    let outer = x.sum_dim(&[0, 2], true)?;
    assert_eq!((outer.sizes(), outer.to_vec::<i64>()?), (&[1, 3, 1][..], vec![60, 92, 124]));
    assert_eq!(x.permute(&[2, 0, 1])?.sum_dim(&[1, 2], false)?.to_vec::<i64>()?, [60, 66, 72, 78]);
    assert!(x.sum_dim(&[0, -3], false).is_err() && x.sum_dim(&[3], false).is_err());
    Ok(())
}

#[test]
fn nothing_sums_to_zero_and_has_no_mean() -> Result<()> {
    let x = aten::zeros(&[2, 0])?;
    assert_eq!(x.sum_dim(&[1], false)?.to_vec::<f32>()?, [0.0, 0.0]);
    assert!(x.mean_dim(&[1], false)?.to_vec::<f32>()?.iter().all(|x| x.is_nan()));
    assert_eq!(x.sum_dim(&[0], false)?.sizes(), [0]);
    Ok(())
}

#[test]
fn means_are_floating_point() -> Result<()> {
    let x = Tensor::from([1i64, 2, 4]);
    assert!(x.mean().unwrap_err().to_string().contains("a mean cannot be of int64"));
    assert_eq!(aten::mean::with(&x).dtype(Some(DType::Float64)).call()?.item()?, Scalar::Float(7.0 / 3.0));
    Ok(())
}

#[test]
fn long_sums_lose_little() -> Result<()> {
    let n = 1_000_000;
    let x = Tensor::from_vec(vec![0.1f32; n], &[n as i64])?;
    let want = 0.1f32 as f64 * n as f64;
    for sum in [x.sum()?, x.view(&[1000, 1000])?.sum_dim(&[0], false)?.sum()?] {
        let sum: f64 = sum.item()?.to()?;
        assert!((sum - want).abs() < 1e-6 * want, "{sum} instead of {want}");
    }
    let halves = Tensor::from_vec(vec![f16::ONE; 5000], &[5000])?;
    assert_eq!(halves.sum()?.item()?, Scalar::Float(5000.0));
    Ok(())
}

#[test]
fn long_columns_lose_little_and_the_same_on_any_number_of_threads() -> Result<()> {
    // Matrices of a few columns, of whole vectors, of neither; several of them; channels that lie last.
    let shapes: [&[i64]; 7] = [
        &[1 << 18, 4],
        &[1 << 15, 64],
        &[1 << 14, 100],
        &[700, 96],
        &[3, 1 << 14, 6],
        &[40, 1 << 12, 4],
        &[1 << 10, 2048],
    ];
    for sizes in shapes {
        let x = aten::full::with(sizes, 0.1.into()).dtype(DType::Float32).call()?;
        let dim = sizes.len() as i64 - 2;
        let want = f64::from(0.1_f32) * sizes[dim as usize] as f64;
        let mut sums: Option<Vec<f32>> = None;
        for threads in [1, 2, 3, 16] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let found = pool.install(|| aten::sum_dim_IntList(&x, Some(&[dim])))?.to_vec::<f32>()?;
            let off = found.iter().map(|sum| (f64::from(*sum) / want - 1.0).abs()).fold(0.0, f64::max);
            assert!(off < 4e-6, "{sizes:?} with {threads} threads: relative error {off}");
            let same = sums.get_or_insert_with(|| found.clone()).iter().zip(&found);
            assert!(
                same.into_iter().all(|(a, b)| a.to_bits() == b.to_bits()),
                "{sizes:?} with {threads} threads"
            );
        }
    }
    Ok(())
}

#[test]
fn extremes_let_nan_through() -> Result<()> {
    let x = Tensor::from([[1.0, f64::NEG_INFINITY], [f64::NAN, 3.0]]);
    assert_eq!(x.amax(&[1], false)?.to_vec::<f64>()?[0], 1.0);
    assert!(x.amax(&[1], false)?.to_vec::<f64>()?[1].is_nan());
    assert!(x.amin(&[], false)?.to_vec::<f64>()?[0].is_nan());
    assert_eq!(Tensor::from([[-5i8, -3]]).amax(&[0, 1], true)?.sizes(), [1, 1]);
    let error = aten::zeros(&[0, 2])?.amax(&[0], false).unwrap_err();
    assert_eq!(
        error.to_string(),
        "aten::amax: there is nothing to choose from in dimensions [0] of sizes [0, 2]"
    );
    assert_eq!(aten::zeros(&[0, 2])?.amax(&[1], false)?.sizes(), [0]);
    Ok(())
}

#[test]
fn the_first_of_equals_is_the_argmax() -> Result<()> {
    let x = Tensor::from([[1, 7, 7], [7, 0, -1]]);
    assert_eq!(x.argmax(1, false)?.to_vec::<i64>()?, [1, 0]);
    assert_eq!(x.argmax(None, false)?.item()?, Scalar::Int(1));
    assert_eq!(x.t()?.argmax(None, true)?.sizes(), [1, 1]);
    assert_eq!(x.t()?.argmax(None, false)?.item()?, Scalar::Int(1));
    assert_eq!(aten::argmin(&x)?.item()?, Scalar::Int(5));
    let nan = Tensor::from([1.0, f64::NAN, f64::INFINITY, f64::NAN]);
    assert_eq!((nan.argmax(None, false)?.item()?, aten::argmin(&nan)?.item()?), (1.into(), 1.into()));
    let low = Tensor::from([f64::NEG_INFINITY; 20]);
    assert_eq!(low.argmax(0, false)?.item()?, Scalar::Int(0));
    assert!(Tensor::from([true]).argmax(None, false).is_err());
    Ok(())
}

#[test]
fn reductions_of_every_length_take_each_element_once() -> Result<()> {
    for n in [1, 31, 32, 33, 255, 1023, 1025, 65_537, 300_001] {
        let elements: Vec<f64> = (0..n).map(|i| (i64::from(i) * 7919 % 1009) as f64).collect();
        let largest = (0..elements.len()).max_by(|a, b| elements[*a].total_cmp(&elements[*b]).then(b.cmp(a)));
        let (sum, x) = (elements.iter().sum::<f64>(), Tensor::from(elements.clone()));
        assert_eq!(x.sum()?.item()?, Scalar::Float(sum), "{n}");
        assert_eq!(aten::argmax(&x)?.item()?, Scalar::Int(largest.unwrap_or(0) as i64), "{n}");
        let mean = sum / f64::from(n);
        let squares = elements.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>();
        let variance =
            aten::var_correction::with(&x).correction(Some(0.into())).call()?.item()?.cast::<f64>();
        assert!((variance - squares / f64::from(n)).abs() <= 1e-12 * squares, "{n}: {variance}");
        // Every second one, and one column of two.
        let half = x.narrow(0, 0, i64::from(n / 2 * 2))?.reshape(&[-1, 2])?.select(1, 1)?;
        let odd = elements.iter().skip(1).step_by(2).sum::<f64>();
        assert_eq!(half.sum()?.item()?, Scalar::Float(odd), "{n}");
    }
    let far = Tensor::from([f32::MAX, f32::MAX]);
    assert_eq!(aten::var_correction(&far)?.item()?, Scalar::Float(0.0), "though the sum is infinite");
    Ok(())
}

#[test]
fn running_sums_are_exact_where_numbers_are_whole() -> Result<()> {
    for len in [0, 1, 15, 16, 17, 33, 100] {
        let numbers: Vec<i64> = (0..2 * len).map(|i| i * 7 % 11 - 5).collect();
        let mut sums = numbers.clone();
        for i in (0..sums.len()).filter(|i| i % len as usize != 0) {
            sums[i] += sums[i - 1];
        }
        for dtype in [DType::Int32, DType::Int64, DType::BFloat16, DType::Float32, DType::Float64] {
            let x = Tensor::from_slice(&numbers, &[2, len])?.to_dtype(dtype)?;
            for x in [x.clone(), x.t()?.contiguous()?.t()?] {
                let got = aten::cumsum(&x, 1)?;
                assert_eq!(got.dtype(), if dtype.is_integer() { DType::Int64 } else { dtype });
                assert_eq!(got.to_dtype(DType::Int64)?.to_vec::<i64>()?, sums, "{len} of {dtype}");
                assert_eq!(aten::cumsum(&x.t()?, 0)?.t()?.to_dtype(DType::Int64)?.to_vec::<i64>()?, sums);
            }
        }
    }
    let most = [f32::MAX, f32::MAX, -f32::MAX, -f32::MAX];
    let sums = aten::cumsum(&Tensor::from(most), 0)?.to_vec::<f32>()?;
    assert_eq!(
        sums,
        [f32::MAX, f32::INFINITY, f32::MAX, 0.0],
        "added up in double precision, as PyTorch does"
    );
    Ok(())
}

#[test]
fn folds_refuse_what_does_not_fit() {
    struct Sum;

    impl Fold<f32> for Sum {
        type Value = f32;

        fn identity(&self) -> f32 {
            0.0
        }

        fn step(&self, sum: f32, element: f32, _position: usize) -> f32 {
            sum + element
        }

        fn merge(&self, a: f32, b: f32) -> f32 {
            a + b
        }
    }

    let x = Tensor::from([[1f32, 2.0], [3.0, 4.0], [5.0, 6.0]]);
    let run = |out: &Tensor, marks: &[bool]| fold([out], &x, marks, &Sum, |sum| [sum]);
    let place = Tensor::from([0f32; 6]);
    let of = |sizes: &[i64], strides: &[i64]| place.strided_view(sizes, strides, 0).unwrap();
    run(&of(&[3], &[1]), &[false, true]).unwrap();
    assert_eq!(place.to_vec::<f32>().unwrap(), [3.0, 7.0, 11.0, 0.0, 0.0, 0.0]);
    for (out, marks) in [
        (of(&[2], &[1]), &[false, true][..]),
        (of(&[3], &[2]), &[false, true]),
        (of(&[3], &[1]), &[false]),
        (x.strided_view(&[3], &[1], 0).unwrap(), &[false, true]),
    ] {
        assert!(run(&out, marks).is_err(), "{:?} {:?} {marks:?}", out.sizes(), out.strides());
    }
    let empty = x.strided_view(&[1 << 40, 0, 1 << 40], &[0, 0, 0], 0).unwrap(); // more values than an `i64` counts
    assert!(fold([&of(&[3], &[1])], &empty, &[false, true, false], &Sum, |sum| [sum]).is_err());
}

#[test]
fn truth_values_and_bytes_are_counted_without_overflow() -> Result<()> {
    for (numel, ones) in [(0, 0), (5, 2), (70, 24), (100_000, 33_334)] {
        let numbers: Vec<u8> = (0..numel).map(|i| u8::from(i % 3 == 0)).collect();
        let bytes = Tensor::from_vec(numbers, &[numel])?;
        let flags = bytes.to_dtype(DType::Bool)?;
        assert_eq!(flags.sum()?.item()?, Scalar::Int(ones));
        assert_eq!(aten::count_nonzero(&flags)?.item()?, Scalar::Int(ones));
        let large = bytes.mul(255)?;
        assert_eq!((large.dtype(), large.sum()?.item()?), (DType::UInt8, Scalar::Int(255 * ones)));
    }
    let flags = Tensor::from([[true, false, true], [true, false, false]]);
    assert_eq!(flags.sum_dim(&[0], false)?.to_vec::<i64>()?, [2, 0, 1]);
    assert_eq!(flags.t()?.sum_dim(&[0], false)?.to_vec::<i64>()?, [2, 1]);
    Ok(())
}

#[test]
fn sums_of_numbers_skip_nan() -> Result<()> {
    let x = Tensor::from([[1f32, f32::NAN, 2.0], [f32::NAN, f32::NAN, f32::INFINITY]]);
    assert_eq!(aten::nansum(&x)?.item()?, Scalar::Float(f64::INFINITY));
    assert_eq!(aten::nansum::with(&x).dim(Some(&[0])).call()?.to_vec::<f32>()?, [1.0, 0.0, f32::INFINITY]);
    let half = aten::nansum(&x.to_dtype(DType::BFloat16)?.narrow(0, 0, 1)?)?;
    assert_eq!((half.dtype(), half.item()?), (DType::BFloat16, Scalar::Float(3.0)));
    let whole = aten::nansum::with(&x).dim(Some(&[1])).dtype(Some(DType::Int32)).call()?;
    assert_eq!(whole.to_vec::<i32>()?[0], 3);
    assert_eq!(aten::nansum(&Tensor::from([1i32, 2]))?.item()?, Scalar::Int(3));
    assert!(aten::nansum(&x.to_dtype(DType::Complex64)?).is_err());
    Ok(())
}

#[test]
fn results_side_by_side_are_those_of_each_alone() -> Result<()> {
    for (rows, columns) in [(3, 64), (64, 64), (65, 128), (200, 192), (130, 256), (100, 320), (70, 63)] {
        let numbers = |i: i64| ((i * 37 + i / columns) % 1009) as f32;
        let x = Tensor::from_vec((0..rows * columns).map(numbers).collect(), &[rows, columns])?;
        let turned = x.t()?.contiguous()?; // of which each result is a line
        assert!(aten::equal(&x.sum_dim(&[0], false)?, &turned.sum_dim(&[1], false)?)?, "{rows} {columns}");
        let (best, places) = aten::max_dim(&x, 0)?;
        let (of_line, place_in_line) = aten::max_dim(&turned, 1)?;
        assert!(aten::equal(&best, &of_line)? && aten::equal(&places, &place_in_line)?, "{rows} {columns}");
        let images = x.reshape(&[1, rows, 1, columns])?.permute(&[0, 3, 1, 2])?;
        assert!(aten::equal(&images.sum_dim(&[2, 3], false)?.flatten()?, &turned.sum_dim(&[1], false)?)?);
        let bytes = x.remainder(2)?.to_dtype(DType::UInt8)?;
        let counted = turned.remainder(2)?.sum_dim(&[1], false)?.to_dtype(DType::Int64)?;
        assert!(aten::equal(&bytes.sum_dim(&[0], false)?, &counted)?, "{rows} {columns}");
    }
    Ok(())
}

/// Each element times its position: what a fold that looks at positions sees.
struct Moments;

impl Fold<f32> for Moments {
    type Value = i64;

    fn identity(&self) -> i64 {
        0
    }

    fn step(&self, sum: i64, element: f32, position: usize) -> i64 {
        sum + element as i64 * position as i64
    }

    fn merge(&self, a: i64, b: i64) -> i64 {
        a + b
    }
}

#[test]
fn columns_of_tall_matrices_are_folded_in_every_position() -> Result<()> {
    for (rows, columns) in
        [(4000, 3), (1000, 5), (513, 8), (700, 40), (129, 63), (900, 100), (300, 130), (40, 9), (9000, 2)]
    {
        let numbers = |i: i64| (i % 7) as f32;
        let x = Tensor::from_vec((0..rows * columns).map(numbers).collect(), &[rows, columns])?;
        let turned = x.t()?.contiguous()?; // of which each result is a line
        let sums = turned.sum_dim(&[1], false)?;
        assert!(aten::equal(&x.sum_dim(&[0], false)?, &sums)?, "{rows} {columns}");
        for dtype in [DType::BFloat16, DType::Float16, DType::Float64] {
            let own = x.to_dtype(dtype)?;
            assert!(
                aten::equal(&own.sum_dim(&[0], false)?, &sums.to_dtype(dtype)?)?,
                "{rows} {columns} {dtype}"
            );
        }
        // As a part of a larger reduction, and of rows that do not follow each other.
        let parts = aten::stack::call(&[x.clone(), x.clone(), x.clone()], 1)?;
        assert!(aten::equal(&parts.sum_dim(&[0, 1], false)?, &sums.mul(&Tensor::from([3f32]))?)?);
        for dtype in [DType::Float32, DType::BFloat16, DType::Float64, DType::Int32] {
            let apart = parts.to_dtype(dtype)?.select(1, 1)?;
            let want = sums.to_dtype(dtype)?.to_dtype(DType::Float64)?;
            let found = apart.sum_dim(&[0], false)?.to_dtype(DType::Float64)?;
            assert!(aten::equal(&found, &want)?, "{rows} {columns} {dtype}");
            let (_, places) = aten::max_dim(&apart, 0)?;
            assert!(aten::equal(&places, &aten::max_dim(&x, 0)?.1)?, "{rows} {columns} {dtype}");
        }
        for dtype in [DType::Float32, DType::BFloat16] {
            let (own, of_line) = (x.to_dtype(dtype)?, turned.to_dtype(dtype)?);
            let moments = |x: &Tensor, marks: [bool; 2]| {
                let out = Tensor::empty(&[columns], DType::Int64, Device::CPU)?;
                fold([&out], x, &marks, &Moments, |sum| [sum]).map(|()| out)
            };
            let (moments, want) = (moments(&own, [true, false])?, moments(&of_line, [false, true])?);
            assert!(aten::equal(&moments, &want)?, "{rows} {columns} {dtype}");
        }
    }
    Ok(())
}

/// [`Moments`] of a tensor of three dimensions, by a loop over indices.
fn moments_of(x: &Tensor, marks: [bool; 3]) -> Result<Vec<i64>> {
    let sizes = [x.sizes()[0], x.sizes()[1], x.sizes()[2]];
    let elements = x.to_dtype(DType::Int64)?.to_vec::<i64>()?;
    let of = |index: [i64; 3], are_reduced: bool| {
        let dims = (0..3).filter(|dim| marks[*dim] == are_reduced);
        dims.fold(0, |place, dim| place * sizes[dim] + index[dim])
    };
    let last = sizes.map(|size| size - 1);
    let (mut sums, mut elements) = (vec![0; of(last, false) as usize + 1], elements.into_iter());
    for a in 0..sizes[0] {
        for b in 0..sizes[1] {
            for c in 0..sizes[2] {
                sums[of([a, b, c], false) as usize] += elements.next().unwrap_or(0) * of([a, b, c], true);
            }
        }
    }
    Ok(sums)
}

#[test]
fn rows_with_gaps_are_folded_in_every_position() -> Result<()> {
    for width in [1, 2, 3, 8, 15, 16, 17, 31, 32, 48, 63, 64, 100, 200, 255, 256, 300] {
        let numbers = |i: i64| (i % 7) as f32;
        let sizes = [3, 70, width + 5];
        let wide = Tensor::from_vec((0..210 * (width + 5)).map(numbers).collect(), &sizes)?;
        for dtype in [DType::Float32, DType::BFloat16, DType::Float16, DType::Float64] {
            let x = wide.to_dtype(dtype)?.narrow(2, 3, width)?;
            for marks in [[true; 3], [false, true, true], [true, true, false], [false, true, false]] {
                let want = moments_of(&x, marks)?;
                let out = Tensor::empty(&[want.len() as i64], DType::Int64, Device::CPU)?;
                fold([&out], &x, &marks, &Moments, |sum| [sum])?;
                assert_eq!(out.to_vec::<i64>()?, want, "{width} {dtype} {marks:?}");
            }
        }
    }
    Ok(())
}

#[test]
fn rows_of_channels_last_images_are_folded() -> Result<()> {
    for (channels, width) in [(2, 30), (3, 9), (16, 2), (40, 70), (64, 16), (100, 5), (1, 8), (300, 20)] {
        let numbers = |i: i64| (i * 37 % 101) as f32;
        let x =
            Tensor::from_vec((0..2 * channels * 5 * width).map(numbers).collect(), &[2, 5, width, channels])?;
        for dtype in [DType::Float32, DType::BFloat16, DType::Int64, DType::Bool] {
            let images = x.to_dtype(dtype)?.permute(&[0, 3, 1, 2])?;
            let lines = images.contiguous()?;
            for dims in [&[3][..], &[2], &[2, 3], &[0, 3], &[1, 3]] {
                let sums = images.sum_dim(dims, false)?;
                assert!(
                    aten::equal(&sums, &lines.sum_dim(dims, false)?)?,
                    "{channels} {width} {dtype} {dims:?}"
                );
            }
            let ((best, places), (of_line, in_line)) =
                (aten::max_dim(&images, 3)?, aten::max_dim(&lines, 3)?);
            assert!(
                aten::equal(&best, &of_line)? && aten::equal(&places, &in_line)?,
                "{channels} {width} {dtype}"
            );
        }
    }
    Ok(())
}

#[test]
fn tensors_differ_wherever_an_element_does() -> Result<()> {
    for numel in [1, 100, 5000, 100_000] {
        let x = aten::arange(numel.into())?;
        assert!(aten::equal(&x, &x.copy()?)?);
        for place in [0, numel / 2, numel - 1] {
            let mut other = x.copy()?;
            aten::fill__Scalar(&mut other.narrow(0, place, 1)?, (-1).into())?;
            other = other.reshape(&[-1])?;
            assert!(!aten::equal(&x, &other)?, "{place} of {numel}");
        }
    }
    let nan = Tensor::from([f32::NAN]);
    assert!(!aten::equal(&nan, &nan)?);
    let flags = Tensor::from([[true, false], [false, true]]);
    assert!(aten::equal(&flags, &flags.t()?)? && !aten::equal(&flags, &flags.t()?.logical_not()?)?);
    assert!(aten::equal(&Tensor::from([0f32; 0]), &Tensor::from([0f32; 0]))?);
    Ok(())
}

#[test]
fn rows_are_folded_where_they_lie() -> Result<()> {
    // Rows of 300, so that a part of the tree starts and ends within one.
    let x = aten::arange((7 * 40 * 300).into())?.remainder(11)?.reshape(&[7, 40, 300])?;
    let wide = x.to_dtype(DType::Float32)?;
    let want = x.transpose(0, 1)?.reshape(&[40, 2100])?;
    let sums = aten::sum_dim_IntList(&wide, Some(&[0, 2]))?;
    assert!(aten::equal(&sums, &want.sum_dim(&[1], false)?.to_dtype(DType::Float32)?)?);
    let part = aten::slice_Tensor::call(&wide, 2, Some(1), Some(299), 1)?;
    let sum = part.reshape(&[-1])?.sum_dim(&[0], false)?;
    assert!(aten::equal(&aten::sum(&part)?, &sum)?);
    let large = aten::slice_Tensor::call(&aten::full(&[4, 512], 1e20.into())?, 1, Some(0), Some(300), 1)?;
    assert_eq!(aten::var_dim(&large, Some(&[0, 1]))?.to_vec::<f32>()?, [0.0]);
    let places = aten::argmax(&aten::neg(&part)?)?;
    assert!(aten::equal(&places, &aten::argmax(&aten::neg(&part.reshape(&[-1])?)?)?)?);
    Ok(())
}

#[test]
fn columns_have_the_variance_of_lines() -> Result<()> {
    let around = [2, 15, 16, 17, 65].into_iter().flat_map(|rows| {
        [1, 2, 7, 8, 9, 15, 16, 17, 63, 64, 65, 80, 1023, 1025].map(|columns| (rows, columns))
    });
    let others = [(3, 64), (64, 64), (37, 87), (200, 24), (130, 320), (1000, 9), (16, 1030)];
    for (rows, columns) in others.into_iter().chain(around) {
        let numbers = |i: i64| 1e3 + ((i * 37 + i / columns) % 1009) as f32;
        let x = Tensor::from_vec((0..rows * columns).map(numbers).collect(), &[rows, columns])?;
        for dtype in [DType::Float32, DType::Float64, DType::BFloat16] {
            let x = x.to_dtype(dtype)?;
            let (of_columns, of_lines) = (x.var_dim(Some(&[0]))?, x.t()?.contiguous()?.var_dim(Some(&[1]))?);
            assert!(
                aten::allclose::with(&of_columns, &of_lines).rtol(1e-5).call()?,
                "{rows} {columns} {dtype}"
            );
        }
    }
    // Sums that overflow, and numbers that are not finite.
    let x = aten::full(&[40, 70], 3e38.into())?;
    assert!(x.var_dim(Some(&[0]))?.sum()?.item()?.to::<f64>()? == 0.0);
    let of_infinity = aten::full(&[40, 70], f64::INFINITY.into())?.var_dim(Some(&[0]))?;
    assert!(of_infinity.isnan()?.all()?.item()?.to::<bool>()?);
    Ok(())
}

#[test]
fn a_deviation_whose_square_overflows_is_finite() -> Result<()> {
    for dtype in [DType::Float32, DType::BFloat16] {
        let deviation = Tensor::from([2e38f64, -2e38]).to_dtype(dtype)?.std_correction()?;
        let deviation: f64 = deviation.item()?.to()?;
        assert!((deviation - 2.828e38).abs() < 0.02e38, "{deviation}");
    }
    Ok(())
}

#[test]
fn the_norm_of_one_number_is_its_magnitude() -> Result<()> {
    let x = Tensor::from([[1e-30f32], [-2e30]]);
    for order in [2.0, 3.5, 300.0, -1.0] {
        let norms = aten::linalg_vector_norm::with(&x).ord(order).dim(Some(&[1])).call()?;
        assert_eq!(norms.to_vec::<f32>()?, [1e-30, 2e30], "order {order}");
    }
    let counts =
        aten::linalg_vector_norm::with(&Tensor::from([[2.0], [0.0]])).ord(0.0).dim(Some(&[1])).call()?;
    assert_eq!(counts.to_vec::<f64>()?, [1.0, 0.0]);
    Ok(())
}

#[test]
fn a_mean_without_nan_is_no_integer() -> Result<()> {
    let x = Tensor::from([1.0, f64::NAN, 4.0]);
    assert_eq!(aten::nanmean(&x)?.item()?.to::<f64>()?, 2.5);
    let error = aten::nanmean::with(&x).dtype(Some(DType::Int32)).call().unwrap_err().to_string();
    assert!(error.contains("a mean of int32 is not supported"), "{error}");
    Ok(())
}

#[test]
fn a_mean_of_nan_alone_has_the_slope_nan() -> Result<()> {
    let x = Tensor::from([[f64::NAN, f64::NAN], [1.0, f64::NAN]]);
    x.set_requires_grad(true)?;
    aten::nanmean::with(&x).dim(Some(&[1])).call()?.sum()?.backward()?;
    let slopes = x.grad().map(|grad| grad.to_vec::<f64>()).transpose()?.unwrap_or_default();
    assert!(slopes[..2].iter().all(|slope| slope.is_nan()) && slopes[2..] == [1.0, 0.0], "{slopes:?}");
    Ok(())
}

#[test]
fn a_mean_beside_a_deviation_is_nan_where_an_element_is_infinite() -> Result<()> {
    let x = Tensor::from([[-0.5, 1.0], [f64::INFINITY, 2.0], [3.0, 3.0]]);
    for (_, mean) in [
        aten::std_mean_dim::call(&x, Some(&[0]), true, false)?,
        aten::var_mean_dim::call(&x, Some(&[0]), true, false)?,
    ] {
        let means = mean.to_vec::<f64>()?;
        assert!(means[0].is_nan() && means[1] == 2.0, "{means:?}");
    }
    Ok(())
}

#[test]
fn hashes_join_bits() -> Result<()> {
    let hash = |x: &Tensor| aten::hash_tensor(x)?.to_vec::<u64>();
    assert_eq!(hash(&Tensor::from([1.0f32, 2.0, 5.0]))?, [4_603_804_719_079_489_536]);
    assert_eq!(hash(&Tensor::from([-3i8]))?, [18_446_744_073_709_551_613]);
    assert_eq!(hash(&Tensor::from([true, true, true]))?, [1]);
    let x = Tensor::from([[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    let columns = aten::hash_tensor::with(&x).dim(&[0]).call()?;
    let expected = [9_214_364_837_600_034_816, 5_629_499_534_213_120, 4_503_599_627_370_496];
    assert_eq!(columns.to_vec::<u64>()?, expected);
    assert!(aten::hash_tensor(&aten::zeros(&[0])?).is_err());
    assert!(aten::hash_tensor::with(&x).mode(1).call().is_err());
    assert!(hash(&Tensor::zeros(&[1], DType::Complex64, Device::CPU)?).is_err());
    Ok(())
}

#[test]
fn long_slices_are_scaled_down() -> Result<()> {
    let x = Tensor::from([[3.0, 4.0], [0.3, 0.4]]);
    let bounded = aten::renorm(&x, 2.into(), 0, 1.into())?.to_vec::<f64>()?;
    let want = [3.0 / (5.0 + 1e-7), 4.0 / (5.0 + 1e-7), 0.3, 0.4];
    assert!(
        bounded.len() == 4 && bounded.iter().zip(want).all(|(found, want)| (found - want).abs() < 1e-14),
        "{bounded:?}"
    );
    for (order, largest) in [(0.0, 1.0), (-1.0, 1.0), (2.0, -1.0)] {
        assert!(aten::renorm(&x, order.into(), 0, largest.into()).is_err(), "{order} {largest}");
    }
    assert!(aten::renorm(&x.select(0, 0)?, 2.into(), 0, 1.into()).is_err());
    Ok(())
}

#[test]
fn inputs_larger_than_the_cache_are_folded_whole() -> Result<()> {
    // Ends within a page, and within the lanes of a leaf.
    for (rows, len) in [(1, (13 << 20) / 4 + 77), (1100, 3077)] {
        let mut x = aten::ones(&[rows, len])?;
        assert_eq!(x.sum()?.item()?, Scalar::Float((rows * len) as f64));
        assert_eq!(x.sum_dim(&[1], false)?.to_vec::<f32>()?, vec![len as f32; rows as usize]);
        x.select(1, len - 1)?.fill_(7)?;
        assert_eq!(x.amax(&[1], false)?.to_vec::<f32>()?, vec![7.0; rows as usize]);
        let halves =
            aten::cat::with(&[x.to_dtype(DType::BFloat16)?, x.to_dtype(DType::BFloat16)?]).dim(1).call()?;
        assert_eq!(halves.sum_dim(&[1], false)?.sizes(), [rows]);
        assert_eq!(halves.amax(&[1], false)?.to_vec::<bf16>()?, vec![bf16::from_f32(7.0); rows as usize]);
        x.zero_()?;
        assert_eq!(x.amin(&[0, 1], false)?.item()?, Scalar::Float(0.0));
    }
    Ok(())
}
