//! Operators on many short rows, whose loops run along another dimension, or over several rows at once: each element is
//! compared with a loop over indices.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

/// More rows than any loop takes at once.
const ROWS: i64 = 1500;

fn numbers(sizes: &[i64], dtype: DType) -> Result<Tensor> {
    let count: i64 = sizes.iter().product();
    let numbers = (0..count).map(|i| (i * 37 + i / 5) % 101).collect();
    Tensor::from_vec::<i64>(numbers, sizes)?.to_dtype(dtype)
}

/// A tensor of rows and columns as nested lists of integers.
fn rows(x: &Tensor) -> Result<Vec<Vec<i64>>> {
    let width = x.sizes()[1] as usize;
    Ok(x.to_dtype(DType::Int64)?.to_vec::<i64>()?.chunks(width).map(<[i64]>::to_vec).collect())
}

fn dtypes() -> [DType; 5] {
    [DType::Float32, DType::Float64, DType::Int64, DType::UInt8, DType::BFloat16]
}

#[test]
fn operands_broadcast_to_short_rows() -> Result<()> {
    for width in [2, 3, 7, 15, 17] {
        for dtype in dtypes() {
            let (x, other) = (numbers(&[ROWS, width], dtype)?, numbers(&[width], dtype)?);
            let condition = aten::gt_Scalar(&numbers(&[ROWS, 1], DType::Int64)?, 50.into())?;
            let chosen = rows(&aten::where_self(&condition, &x, &other)?)?;
            let (x, other) = (rows(&x)?, other.to_dtype(DType::Int64)?.to_vec::<i64>()?);
            let condition = condition.to_vec::<bool>()?;
            for (n, row) in chosen.iter().enumerate() {
                assert_eq!(*row, if condition[n] { x[n].clone() } else { other.clone() }, "{width} {dtype}");
            }
        }
    }
    Ok(())
}

#[test]
fn short_rows_are_turned_around_and_about() -> Result<()> {
    for width in [2, 3, 4, 7, 16] {
        for dtype in dtypes() {
            let x = numbers(&[ROWS, width], dtype)?;
            let back: Vec<Vec<i64>> =
                rows(&x)?.into_iter().map(|row| row.into_iter().rev().collect()).collect();
            assert_eq!(rows(&aten::flip(&x, &[1])?)?, back, "{width} {dtype}");
            let columns = rows(&x.t()?.contiguous()?)?;
            let want = |column: usize| -> Result<Vec<i64>> {
                Ok(rows(&x)?.into_iter().map(|row| row[column]).collect())
            };
            for (column, got) in columns.iter().enumerate() {
                assert_eq!(*got, want(column)?, "{width} {dtype}");
            }
            let mut rolled = rows(&x)?;
            rolled.rotate_right(1);
            assert_eq!(rows(&aten::roll::with(&x, &[1]).dims(&[0]).call()?)?, rolled, "{width} {dtype}");
        }
    }
    Ok(())
}

#[test]
fn short_rows_are_selected_by_index() -> Result<()> {
    let places: Vec<i64> = (0..ROWS).map(|i| i * 7919 % 40).collect();
    let index = Tensor::from_slice(&places, &[ROWS])?;
    for width in [1, 2, 3, 5, 8, 13, 16, 33, 64] {
        for dtype in [DType::Bool, DType::Complex128].into_iter().chain(dtypes()) {
            let x = numbers(&[40, width], dtype)?;
            let picked = |x: &Tensor| -> Result<Vec<Vec<i64>>> {
                let x = if x.dtype().is_complex() { aten::real(x)? } else { x.clone() };
                rows(&x)
            };
            let from = picked(&x)?;
            let want: Vec<Vec<i64>> = places.iter().map(|place| from[*place as usize].clone()).collect();
            assert_eq!(picked(&x.index_select(0, &index)?)?, want, "{width} {dtype}");
            let wide = index.reshape(&[ROWS, 1])?.expand(&[ROWS, width])?;
            assert_eq!(picked(&x.gather(0, &wide)?)?, want, "{width} {dtype}");
            assert_eq!(picked(&x.gather(0, &wide.contiguous()?)?)?, want, "{width} {dtype}");
        }
    }
    Ok(())
}

#[test]
fn short_rows_are_reduced() -> Result<()> {
    for width in [2, 3, 7, 8, 9, 49] {
        for dtype in dtypes() {
            let x = aten::remainder_Scalar(&numbers(&[ROWS, width], dtype)?, 5.into())?;
            let from = rows(&x)?;
            let (sums, largest) = (x.sum_dim(&[1], false)?, aten::amax::with(&x).dim(&[1]).call()?);
            let place = aten::argmax::with(&x).dim(Some(1)).call()?.to_vec::<i64>()?;
            let (every, any) = (aten::all_dim(&x, 1)?.to_dtype(DType::Bool)?, aten::any_dim(&x, 1)?);
            let (every, any) = (every.to_vec::<bool>()?, any.to_dtype(DType::Bool)?.to_vec::<bool>()?);
            let sums = sums.to_dtype(DType::Int64)?.to_vec::<i64>()?;
            let largest = largest.to_dtype(DType::Int64)?.to_vec::<i64>()?;
            for (n, row) in from.iter().enumerate() {
                let most = *row.iter().max().unwrap();
                assert_eq!((sums[n], largest[n]), (row.iter().sum(), most), "{width} {dtype}");
                assert_eq!(place[n] as usize, row.iter().position(|x| *x == most).unwrap());
                assert_eq!((every[n], any[n]), (!row.contains(&0), row.iter().any(|x| *x != 0)));
            }
        }
    }
    Ok(())
}

#[test]
fn tall_matrices_are_reduced() -> Result<()> {
    let dtypes = [DType::Int32, DType::UInt8, DType::Bool, DType::Float16, DType::Float32, DType::Complex64];
    for width in [2, 3, 7, 40] {
        for dtype in dtypes {
            let x = numbers(&[ROWS, width], DType::Int64)?;
            // Columns of truths, of falsehoods but for one, and mixed ones.
            let x = aten::where_self(
                &aten::eq_Scalar(&aten::arange(width.into())?, 0.into())?,
                &aten::ones_like(&x)?,
                &x,
            )?;
            let x = aten::remainder_Scalar(&x, 5.into())?.to_dtype(dtype)?;
            let from = rows(&aten::real(&x)?.to_dtype(DType::Int64)?)?;
            let column = |n: usize| from.iter().map(move |row| row[n]);
            let sums = aten::real(&x.sum_dim(&[0], false)?)?.to_dtype(DType::Int64)?.to_vec::<i64>()?;
            let every = aten::all_dim(&x, 0)?.to_dtype(DType::Bool)?.to_vec::<bool>()?;
            let any = aten::any_dim(&x, 0)?.to_dtype(DType::Bool)?.to_vec::<bool>()?;
            for n in 0..width as usize {
                let want = match dtype {
                    DType::Float16 => f16::from_f64(column(n).sum::<i64>() as f64).to_f64() as i64,
                    _ => column(n).sum::<i64>(),
                };
                assert_eq!(sums[n], want, "{width} {dtype}");
                assert_eq!(
                    (every[n], any[n]),
                    (column(n).all(|x| x != 0), column(n).any(|x| x != 0)),
                    "{width} {dtype}"
                );
            }
            let nothing = aten::zeros_like(&x)?;
            assert!(!aten::any(&nothing)?.to_dtype(DType::Bool)?.item()?.to::<bool>()?);
            assert!(!aten::any_dim(&nothing, 0)?.to_dtype(DType::Bool)?.to_vec::<bool>()?.contains(&true));
        }
    }
    Ok(())
}

/// The place of the first extreme of some elements; NaN is more extreme than anything.
fn first_extreme(elements: impl Iterator<Item = f64>, is_better: fn(f64, f64) -> bool) -> i64 {
    let (mut best, mut place) = (None, 0);
    for (n, x) in elements.enumerate() {
        if best.is_none_or(|best: f64| is_better(x, best) || (x.is_nan() && !best.is_nan())) {
            (best, place) = (Some(x), n as i64);
        }
    }
    place
}

#[test]
fn extremes_far_down_a_tall_matrix_are_found_where_they_are() -> Result<()> {
    for (dtype, width) in
        [DType::Float32, DType::Int64].into_iter().flat_map(|dtype| [3, 9].map(|width| (dtype, width)))
    {
        let places: Vec<i64> = (0..width).map(|column| ROWS - 1 - 37 * column).collect();
        let mut elements = vec![0.0; (ROWS * width) as usize];
        for (column, place) in places.iter().enumerate() {
            elements[(place * width) as usize + column] = 1.0;
        }
        let x = Tensor::from_vec(elements, &[ROWS, width])?.to_dtype(dtype)?;
        assert_eq!(aten::argmax::with(&x).dim(Some(0)).call()?.to_vec::<i64>()?, places, "{dtype} {width}");
        assert_eq!(
            aten::argmin::with(&x.neg()?).dim(Some(0)).call()?.to_vec::<i64>()?,
            places,
            "{dtype} {width}"
        );
    }
    Ok(())
}

#[test]
fn the_first_extremes_of_rows_and_columns_are_found() -> Result<()> {
    // Ties, zeros of both signs, and what a search may start with: infinities, and the ends of the integers.
    let floats = [0.0, -0.0, f64::NEG_INFINITY, 1.0, 2.5, -1.0, f64::INFINITY, f64::NAN];
    let integers =
        |least: i64, most: i64| [least, 0, least, 3, most, 1, most - 1, least + 1].map(|x| x as f64);
    let kinds = [
        (DType::Float32, floats),
        (DType::Float64, floats),
        (DType::BFloat16, floats),
        (DType::Int64, integers(i64::MIN, 1 << 40)),
        (DType::Int32, integers(i32::MIN.into(), i32::MAX.into())),
        (DType::Int8, integers(i8::MIN.into(), i8::MAX.into())),
        (DType::UInt8, integers(0, u8::MAX.into())),
    ];
    for [height, width] in [[ROWS, 1], [ROWS, 3], [ROWS, 8], [ROWS, 9], [200, 64], [3, 700], [2, 5000]] {
        for ((dtype, values), kinds_of_values) in
            kinds.iter().flat_map(|kind| [1, 3, 6, 8].map(|n| (kind, n)))
        {
            let value = |i: i64| values[(i * 5 + i / 7) as usize % kinds_of_values];
            let x = Tensor::from_vec((0..height * width).map(value).collect(), &[height, width])?
                .to_dtype(*dtype)?;
            for (dim, count, len) in [(0, width, height), (1, height, width)] {
                let elements = |at: i64| {
                    (0..len)
                        .map(move |n| if dim == 0 { value(n * width + at) } else { value(at * width + n) })
                };
                let want = |is_better| (0..count).map(|at| first_extreme(elements(at), is_better)).collect();
                let (largest, smallest): (Vec<i64>, Vec<i64>) = (want(|a, b| a > b), want(|a, b| a < b));
                let what = format!("{dtype} {height} {width} {kinds_of_values} {dim}");
                let place = aten::argmax::with(&x).dim(Some(dim)).call()?;
                assert_eq!(place.to_vec::<i64>()?, largest, "{what}");
                assert_eq!(
                    aten::argmin::with(&x).dim(Some(dim)).call()?.to_vec::<i64>()?,
                    smallest,
                    "{what}"
                );
                let (values, places) = aten::max_dim::with(&x, dim).keepdim(true).call()?;
                assert_eq!(places.to_vec::<i64>()?, largest, "{what}");
                assert!(
                    aten::allclose::with(&values, &x.gather(dim, &places)?).equal_nan(true).call()?,
                    "{what}"
                );
            }
        }
    }
    Ok(())
}

#[test]
fn lanes_side_by_side_have_running_values() -> Result<()> {
    for inner in [8, 33, 600] {
        for dtype in [DType::Float32, DType::Float64, DType::Int64, DType::BFloat16] {
            let x = aten::remainder_Scalar(&numbers(&[3, 20, inner], DType::Int64)?, 3.into())?;
            let sums = aten::cumsum(&x.to_dtype(dtype)?, 1)?;
            assert_eq!((sums.dtype(), sums.sizes()), (dtype, x.sizes()));
            let (got, from) = (sums.to_dtype(DType::Int64)?.to_vec::<i64>()?, x.to_vec::<i64>()?);
            let products = aten::cumprod(&x.to_dtype(dtype)?, 1)?.to_dtype(DType::Int64)?.to_vec::<i64>()?;
            let inner = inner as usize;
            for (i, sum) in got.iter().enumerate() {
                let (lane, n) = (i / (20 * inner) * 20 * inner + i % inner, i / inner % 20);
                let up_to = (0..=n).map(|n| from[lane + n * inner]);
                assert_eq!(*sum, up_to.clone().sum::<i64>(), "{inner} {dtype}");
                assert_eq!(products[i], up_to.product::<i64>(), "{inner} {dtype}");
            }
        }
    }
    Ok(())
}

#[test]
fn short_rows_have_running_values() -> Result<()> {
    for width in [1, 2, 3, 7, 8, 17] {
        for dtype in [DType::Float32, DType::Float64, DType::Int64, DType::BFloat16] {
            let x = aten::remainder_Scalar(&numbers(&[ROWS, width], dtype)?, 5.into())?;
            let sums = rows(&aten::cumsum(&x, 1)?)?;
            for (row, sums) in rows(&x)?.into_iter().zip(sums) {
                let up_to = (1..=row.len()).map(|n| row[..n].iter().sum::<i64>());
                assert_eq!(sums, up_to.collect::<Vec<_>>(), "{width} {dtype}");
            }
        }
    }
    Ok(())
}

#[test]
fn small_matrices_are_multiplied() -> Result<()> {
    for (n, k, m) in (1..=5).flat_map(|n| (1..=5).flat_map(move |k| (1..=5).map(move |m| (n, k, m)))) {
        let of = |sizes: &[i64]| aten::sub_Scalar(&numbers(sizes, DType::Int64)?, 50.into());
        let (a, b) = (of(&[40, n, k])?, of(&[40, k, m])?);
        let want = aten::bmm(&a, &b)?;
        for dtype in [DType::Float32, DType::Float64, DType::Complex64] {
            let (a, b) = (a.to_dtype(dtype)?, b.to_dtype(dtype)?);
            let turned = |x: &Tensor| x.transpose(1, 2)?.contiguous()?.transpose(1, 2);
            let whole = |x: Tensor| if x.dtype().is_complex() { aten::real(&x) } else { Ok(x) };
            for (a, b) in [(a.clone(), b.clone()), (turned(&a)?, turned(&b)?)] {
                let got = whole(aten::bmm(&a, &b)?)?.to_dtype(DType::Int64)?;
                assert!(aten::equal(&got, &want)?, "[{n}, {k}] × [{k}, {m}] of {dtype}");
                let bias = aten::ones(&[m])?.to_dtype(dtype)?;
                let sum =
                    whole(aten::baddbmm(&bias.reshape(&[1, 1, m])?, &a, &b)?)?.to_dtype(DType::Int64)?;
                assert!(aten::equal(&sum, &aten::add_Scalar(&want, 1.into())?)?, "{n} {k} {m} of {dtype}");
            }
        }
    }
    Ok(())
}
