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
fn a_few_columns_of_many_rows_are_selected_by_index() -> Result<()> {
    for [width, inner] in [[1, 1], [2, 1], [5, 1], [64, 1], [3, 2], [4, 9]] {
        for dtype in [DType::Bool].into_iter().chain(dtypes()) {
            let x = numbers(&[ROWS, width * inner], dtype)?;
            let (from, planes) = (rows(&x)?, x.reshape(&[ROWS, width, inner])?);
            let apart = planes.transpose(0, 1)?.contiguous()?.transpose(0, 1)?;
            for count in [0, 1, 2, 7, 15, 16, 17] {
                let places: Vec<i64> = (0..count).map(|i| (i * 3 + 1) % width).collect();
                let index = Tensor::from_slice(&places, &[count])?;
                let of_row = |row: &Vec<i64>| -> Vec<i64> {
                    let chosen = places.iter().map(|place| (place * inner) as usize);
                    chosen.flat_map(|start| row[start..start + inner as usize].to_vec()).collect()
                };
                let want: Vec<i64> = from.iter().flat_map(of_row).collect();
                for x in [&planes, &apart] {
                    let picked = x.index_select(1, &index)?;
                    assert_eq!(picked.sizes(), [ROWS, count, inner]);
                    let picked = picked.to_dtype(DType::Int64)?.to_vec::<i64>()?;
                    assert_eq!(picked, want, "{count} of {width} × {inner} {dtype}");
                }
            }
        }
    }
    Ok(())
}

#[test]
fn short_rows_are_gathered_from_and_added_to_by_index() -> Result<()> {
    for (width, count) in [(1, 1), (2, 2), (5, 3), (16, 16), (40, 33), (64, 63), (64, 64)] {
        let places: Vec<i64> = (0..ROWS * count).map(|i| (i * 7 + i / 3) % width).collect();
        let index = Tensor::from_slice(&places, &[ROWS, count])?;
        for dtype in [DType::Bool].into_iter().chain(dtypes()) {
            let x = numbers(&[ROWS, width], dtype)?;
            let from = rows(&x)?;
            let want: Vec<Vec<i64>> = places
                .chunks(count as usize)
                .zip(&from)
                .map(|(places, row)| places.iter().map(|place| row[*place as usize]).collect())
                .collect();
            let mut apart = aten::narrow(&numbers(&[ROWS, width + 2], dtype)?, 1, 1, width)?;
            apart.copy_(&x)?;
            for x in [&x, &apart, &x.t()?.contiguous()?.t()?] {
                assert_eq!(rows(&x.gather(1, &index)?)?, want, "{count} of {width} {dtype}");
            }
            let cube = x.reshape(&[ROWS / 3, 3, width])?.gather(2, &index.reshape(&[ROWS / 3, 3, count])?)?;
            assert_eq!(rows(&cube.reshape(&[ROWS, count])?)?, want, "{count} of {width} {dtype}");
        }
        let mut last = index.select(0, ROWS - 1)?.select(0, count - 1)?;
        last.fill(width)?;
        let refusal = numbers(&[ROWS, width], DType::Float32)?.gather(1, &index).unwrap_err().to_string();
        assert!(refusal.contains(&format!("index {width} is out of range")), "{refusal}");
    }
    for count in [1, 4, 15, 17] {
        let places: Vec<i64> = (0..count).map(|i| i * 3 % 5).collect();
        let (index, x) = (Tensor::from_slice(&places, &[count])?, numbers(&[ROWS, 5], DType::Float64)?);
        let more = numbers(&[ROWS, count], DType::Float64)?;
        let sums = rows(&aten::index_add(&x, 1, &index, &more)?)?;
        for ((mut row, more), sums) in rows(&x)?.into_iter().zip(rows(&more)?).zip(sums) {
            for (place, more) in places.iter().zip(more) {
                row[*place as usize] += more;
            }
            assert_eq!(sums, row, "{count}");
        }
    }
    Ok(())
}

#[test]
fn rows_with_gaps_are_computed() -> Result<()> {
    let types = [DType::Float32, DType::BFloat16, DType::Float16, DType::Int64, DType::UInt8, DType::Float64];
    for width in [2, 3, 15, 16, 17, 32, 63, 64, 65, 127, 130] {
        for dtype in types {
            let small = |sizes: &[i64]| -> Result<Tensor> {
                aten::remainder_Scalar(&numbers(sizes, DType::Int64)?, 11.into())?.to_dtype(dtype)
            };
            let wide = small(&[60, width + 3])?;
            let (x, y) = (aten::narrow(&wide, 1, 2, width)?, small(&[60, width])?);
            let (a, b) = (rows(&x)?, rows(&y)?);
            let check = |got: &Tensor, want: &dyn Fn(usize, usize) -> i64| -> Result<()> {
                for (n, row) in rows(got)?.into_iter().enumerate() {
                    let want: Vec<i64> = (0..width as usize).map(|i| want(n, i)).collect();
                    assert_eq!(row, want, "row {n} of {width} {dtype}");
                }
                Ok(())
            };
            check(&aten::add_Tensor(&x, &y)?, &|n, i| a[n][i] + b[n][i])?;
            check(&aten::add_Tensor(&x, &x)?, &|n, i| 2 * a[n][i])?;
            check(&aten::add_Scalar(&x, 3.into())?, &|n, i| a[n][i] + 3)?;
            check(&aten::mul_Tensor(&x, &y.select(0, 0)?)?, &|n, i| a[n][i] * b[0][i])?;
            let column = aten::narrow(&y, 1, 1, 1)?;
            check(&aten::mul_Tensor(&x, &column)?, &|n, i| a[n][i] * b[n][1])?;
            let singles = y.to_dtype(DType::Float32)?;
            check(&aten::add_Tensor(&x, &singles)?, &|n, i| a[n][i] + b[n][i])?;
            let flags = aten::logical_not(&x)?;
            check(&flags.to_dtype(DType::Int64)?, &|n, i| i64::from(a[n][i] == 0))?;
            let of_flags = aten::narrow(&wide.to_dtype(DType::Bool)?, 1, 2, width)?;
            check(&aten::logical_not(&of_flags)?.to_dtype(DType::Int64)?, &|n, i| i64::from(a[n][i] == 0))?;
            check(&of_flags.contiguous()?.to_dtype(DType::Int64)?, &|n, i| i64::from(a[n][i] != 0))?;
            let edges = rows(&wide)?;
            aten::add__Tensor(&mut x.clone(), &y)?;
            check(&x, &|n, i| a[n][i] + b[n][i])?;
            for (row, before) in rows(&wide)?.iter().zip(&edges) {
                assert_eq!(
                    (&row[..2], row[row.len() - 1]),
                    (&before[..2], before[before.len() - 1]),
                    "{dtype}"
                );
            }
        }
    }
    Ok(())
}

#[test]
fn rows_with_gaps_are_flipped() -> Result<()> {
    for width in [1, 2, 15, 16, 17, 31, 32, 33, 70] {
        for dtype in [DType::Bool, DType::Complex128].into_iter().chain(dtypes()) {
            let wide = numbers(&[40, width + 3], dtype)?;
            let x = aten::narrow(&wide, 1, 2, width)?;
            let numbers = |x: &Tensor| -> Result<Vec<Vec<i64>>> {
                rows(&if x.dtype().is_complex() { aten::real(x)? } else { x.clone() })
            };
            for (x, layout) in [(x.clone(), "gaps"), (x.contiguous()?, "dense"), (x.t()?, "transposed")] {
                let from = numbers(&x)?;
                let back = |rows: &[Vec<i64>]| -> Vec<Vec<i64>> {
                    rows.iter().map(|row| row.iter().rev().copied().collect()).collect()
                };
                let up: Vec<Vec<i64>> = from.iter().rev().cloned().collect();
                let context = format!("{width} {dtype}, {layout}");
                assert_eq!(numbers(&aten::flip(&x, &[1])?)?, back(&from), "{context}");
                assert_eq!(numbers(&aten::flip(&x, &[0])?)?, up, "{context}");
                assert_eq!(numbers(&aten::flip(&x, &[0, 1])?)?, back(&up), "{context}");
            }
        }
    }
    Ok(())
}

#[test]
fn narrow_tables_are_joined() -> Result<()> {
    for (left, right) in [(1, 1), (2, 3), (0, 5), (8, 8), (13, 1), (16, 17), (40, 2)] {
        for dtype in [DType::Bool].into_iter().chain(dtypes()) {
            let tables = [left, right].map(|width| numbers(&[ROWS, width], dtype));
            let [a, b] = tables;
            let (a, b) = (a?, b?);
            let joined = rows(&aten::cat::with(&[a.clone(), b.clone()]).dim(1).call()?)?;
            let parts =
                |x: &Tensor| if x.numel() == 0 { Ok(vec![Vec::new(); ROWS as usize]) } else { rows(x) };
            let want: Vec<Vec<i64>> =
                parts(&a)?.into_iter().zip(parts(&b)?).map(|(a, b)| [a, b].concat()).collect();
            assert_eq!(joined, want, "{left} and {right} {dtype}");
        }
    }
    Ok(())
}

#[test]
fn transposed_operands_of_any_type_are_added_to_short_rows() -> Result<()> {
    let types = [DType::BFloat16, DType::Float16, DType::Float32, DType::UInt8, DType::Bool];
    for width in [2, 12, 13, 16, 17, 64, 300] {
        for (of_rows, of_columns) in types.iter().flat_map(|a| types.iter().map(move |b| (*a, *b))) {
            let small = |sizes: &[i64], dtype| {
                aten::remainder_Scalar(&numbers(sizes, DType::Int64)?, 7.into())?.to_dtype(dtype)
            };
            let (x, columns) = (small(&[200, width], of_rows)?, small(&[width, 200], of_columns)?);
            let (a, b) = (rows(&x)?, rows(&columns)?);
            let sums = rows(&aten::add_Tensor(&x, &columns.t()?)?)?;
            let is_flag = of_rows == DType::Bool && of_columns == DType::Bool;
            for (n, sums) in sums.iter().enumerate() {
                let want = a[n].iter().zip(&b).map(|(a, b)| if is_flag { a | b[n] } else { a + b[n] });
                assert_eq!(*sums, want.collect::<Vec<_>>(), "{width} {of_rows} {of_columns}");
            }
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
