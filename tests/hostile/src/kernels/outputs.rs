//! Results that share memory with each other, with inputs, or with themselves.
#![forbid(unsafe_code)]

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::loops::{Fold, fold, map};

use crate::harness::{allowed, attempt, count};

/// The sum.
struct Sum;

impl Fold<f64> for Sum {
    type Value = f64;

    fn identity(&self) -> f64 {
        0.0
    }

    fn step(&self, sum: f64, element: f64, _: usize) -> f64 {
        sum + element
    }

    fn merge(&self, a: f64, b: f64) -> f64 {
        a + b
    }
}

const ROWS: i64 = count(1 << 17, 64) as i64;

fn typed(x: &Tensor, dtype: DType, sizes: &[i64], strides: &[i64], offset: i64) -> Result<Tensor> {
    Tensor::from_storage(x.storage().clone(), sizes, strides, offset, dtype, x.key_set())
}

/// Two results of one fold overlap in memory, one element apart: equal calls must give equal results.
pub(crate) fn fold_outputs_overlap() -> Result<()> {
    let x = Tensor::from((0..2 * ROWS).map(|i| (i % 7) as f64).collect::<Vec<_>>()).strided_view(&[ROWS, 2], &[2, 1], 0)?;
    let mut first = None;
    for _ in 0..50 {
        let memory = Tensor::zeros(&[ROWS + 1], DType::Float64, Device::CPU)?;
        let outs = [memory.strided_view(&[ROWS], &[1], 0)?, memory.strided_view(&[ROWS], &[1], 1)?];
        let folded = fold([&outs[0], &outs[1]], &x, &[false, true], &Sum, |sum: f64| [sum, -sum]);
        if allowed(folded).is_some() {
            let values = memory.to_vec::<f64>()?;
            assert_eq!(first.get_or_insert_with(|| values.clone()), &values);
        }
    }
    Ok(())
}

/// Operators with several results get the same memory for all of them, with one dtype and with two.
pub(crate) fn out_variants_overlap() -> Result<()> {
    let x = Tensor::from((0..ROWS).map(|i| ((i * 31) % 1000) as f64).collect::<Vec<_>>()).strided_view(&[ROWS / 4, 4], &[4, 1], 0)?;
    for shift in [0, 1, 2] {
        let memory = Tensor::zeros(&[ROWS + 8], DType::Float64, Device::CPU)?;
        let (whole, rows) = (&[ROWS / 4, 4][..], &[ROWS / 4][..]);
        let of = |sizes: &[i64], strides: &[i64], offset| memory.strided_view(sizes, strides, offset);
        let longs = |sizes: &[i64], strides: &[i64]| typed(&memory, DType::Int64, sizes, strides, shift);
        let (mut sorted, mut places) = (of(whole, &[4, 1], 0)?, longs(whole, &[4, 1])?);
        attempt(aten::sort_values::call(&x, 1, false, &mut sorted, &mut places).map(drop));
        attempt(aten::cummax_out::call(&x, 1, &mut sorted, &mut places).map(drop));
        attempt(aten::topk_values::call(&x, 4, 1, true, true, &mut sorted, &mut places).map(drop));
        let (mut values, mut at) = (of(rows, &[1], 0)?, longs(rows, &[1])?);
        attempt(aten::max_dim_max::call(&x, 1, false, &mut values, &mut at).map(drop));
        attempt(aten::mode_values::call(&x, 1, false, &mut values, &mut at).map(drop));
        attempt(aten::kthvalue_values::call(&x, 2, 1, false, &mut values, &mut at).map(drop));
        let (mut min, mut max) = (of(rows, &[1], 0)?, of(rows, &[1], shift)?);
        attempt(aten::aminmax_out::call(&x, Some(1), false, &mut min, &mut max).map(drop));
        attempt(aten::std_mean_correction_out::call(&x, Some(&[1]), None, false, &mut min, &mut max).map(drop));
        let found = places.to_vec::<i64>()?;
        assert!(found.len() == 4 * rows[0] as usize);
    }
    Ok(())
}

/// Running statistics that are one tensor, overlap, or are the input itself.
pub(crate) fn statistics_overlap() -> Result<()> {
    let x = Tensor::from(vec![2.0; 4096]).strided_view(&[64, 8, 8], &[64, 8, 1], 0)?;
    let memory = Tensor::from(vec![1.0; 16]);
    let parts = [
        (memory.strided_view(&[8], &[1], 0)?, memory.strided_view(&[8], &[1], 0)?),
        (memory.strided_view(&[8], &[1], 0)?, memory.strided_view(&[8], &[1], 1)?),
        (memory.strided_view(&[8], &[0], 0)?, memory.strided_view(&[8], &[2], 1)?),
        (x.strided_view(&[8], &[1], 0)?, x.strided_view(&[8], &[1], 4)?),
    ];
    for (mean, var) in &parts {
        let normed = aten::native_batch_norm(&x, Some(var), Some(mean), Some(mean), Some(var), true, 0.1, 1e-5);
        if let Some((normed, ..)) = allowed(normed) {
            assert_eq!(normed.sizes(), x.sizes());
        }
    }
    assert!(memory.to_vec::<f64>()?.iter().all(|value| value.is_finite()));
    Ok(())
}

/// A tensor is computed from its own bytes, viewed as another dtype.
pub(crate) fn two_types_one_memory() -> Result<()> {
    let len = count(100_000, 64) as i64;
    for dtype in [DType::Float32, DType::Int32, DType::UInt8, DType::Bool, DType::Complex64, DType::Float16] {
        let memory = Tensor::from((0..len).map(|i| i as f64).collect::<Vec<_>>());
        let other = typed(&memory, dtype, &[len], &[1], 0)?;
        let want = typed(&memory, dtype, &[len], &[1], 0).and_then(|other| aten::clone(&other))?;
        let mut out = memory.clone();
        if allowed(aten::copy_(&mut out, &other).map(drop)).is_some() {
            let want = aten::add_Tensor(&want, &Tensor::zeros(&[len], DType::Float64, Device::CPU)?)?;
            if want.dtype() == DType::Float64 {
                let (want, found) = (want.to_vec::<f64>()?, memory.to_vec::<f64>()?);
                assert!(want.iter().zip(&found).all(|(a, b)| a.to_bits() == b.to_bits()), "copied from {dtype}");
            }
        }
        let mut narrow = other.clone();
        attempt(aten::add__Tensor(&mut narrow, &memory).map(drop));
        attempt(aten::mul_out::call(&other, &other, &mut out).map(drop));
        attempt(aten::index_select(&memory, 0, &typed(&memory, DType::Int64, &[4], &[1], 0)?));
        let stale = typed(&memory, DType::Int64, &[len], &[1], 0)?;
        attempt(aten::gather(&memory, 0, &stale));
        attempt(aten::scatter__src(&mut out, 0, &stale, &memory).map(drop));
        attempt(aten::masked_fill__Scalar(&mut out, &typed(&memory, DType::Bool, &[len], &[1], 0)?, 1.into()).map(drop));
    }
    Ok(())
}

/// The same bytes with the same strides, as one row of wide numbers and as several rows of narrow ones.
pub(crate) fn rows_of_narrow_numbers() -> Result<()> {
    let len = count(1 << 17, 64) as i64;
    for (dtype, rows) in [(DType::Int32, 2), (DType::Int16, 4), (DType::Bool, 8)] {
        let values: Vec<i64> = (0..len).collect();
        let wide = Tensor::from(values.clone()).strided_view(&[1, len], &[len, 1], 0)?;
        let mut narrow = typed(&wide, dtype, &[rows, len], &[len, 1], 0)?;
        let copy = Tensor::from(values).strided_view(&[1, len], &[len, 1], 0)?;
        let want = aten::to_dtype(&aten::add_Tensor(&copy, &Tensor::from(vec![0i64; rows as usize]).strided_view(&[rows, 1], &[1, 1], 0)?)?, dtype)?;
        if allowed(aten::copy_(&mut narrow, &wide).map(drop)).is_some() {
            assert!(aten::equal(&narrow, &want)?, "copied to {dtype}");
        }
        let zeros = Tensor::zeros(&[rows, 1], DType::Int64, Device::CPU)?;
        attempt(aten::eq_Tensor_out::call(&wide, &zeros, &mut narrow).map(drop));
        attempt(map(&narrow, [&wide, &zeros], |[x, _]: [i64; 2]| x));
    }
    Ok(())
}

/// Results with internal overlap: all elements in one place, or each overlapping the next.
pub(crate) fn outputs_that_coincide() -> Result<()> {
    let len = count(100_000, 64) as i64;
    let x = Tensor::from(vec![1.0; len as usize]);
    let index = Tensor::from(vec![0i64; len as usize]);
    for strides in [[0, 1], [1, 1], [2, 1]] {
        let memory = Tensor::zeros(&[2 * len], DType::Float64, Device::CPU)?;
        let out = memory.strided_view(&[len / 4, 4], &strides, 0)?;
        let (x, index) = (x.strided_view(&[len / 4, 4], &[4, 1], 0)?, index.strided_view(&[len / 4, 4], &[4, 1], 0)?);
        let rows = index.strided_view(&[4], &[1], 0)?;
        attempt(map(&out, [&x], |[x]: [f64; 1]| x));
        let mut out = out;
        let ends: [Result<()>; 8] = [
            aten::add__Tensor(&mut out, &x).map(drop),
            aten::copy_(&mut out, &x).map(drop),
            aten::scatter_add_(&mut out, 0, &index, &x).map(drop),
            aten::index_put_::call(&mut out, &[Some(rows.clone())], &x.strided_view(&[4, 4], &[4, 1], 0)?, true).map(drop),
            aten::normal_::call(&mut out, 0.0, 1.0, None).map(drop),
            aten::fill__Scalar(&mut out, 3.into()).map(drop),
            aten::neg_(&mut out).map(drop),
            aten::cumsum_out::call(&x, 0, None, &mut out).map(drop),
        ];
        ends.into_iter().for_each(|end| attempt(end));
        assert!(memory.to_vec::<f64>()?.iter().all(|value| value.is_finite()));
    }
    Ok(())
}

/// Results that partially overlap the inputs from which they are computed.
pub(crate) fn results_over_inputs() -> Result<()> {
    let len = count(100_000, 64) as i64;
    let memory = Tensor::from((0..2 * len).map(|i| i as f64).collect::<Vec<_>>());
    let (x, mut out) = (memory.strided_view(&[len], &[1], 0)?, memory.strided_view(&[len], &[1], 1)?);
    let (square, mut onto) = (memory.strided_view(&[16, 16], &[16, 1], 0)?, memory.strided_view(&[16, 16], &[1, 16], 8)?);
    attempt(aten::neg_out::call(&x, &mut out).map(drop));
    attempt(aten::cumsum_out::call(&x, 0, None, &mut out).map(drop));
    attempt(aten::mm_out::call(&square, &square, &mut onto).map(drop));
    attempt(aten::flip_out::call(&x, &[0], &mut out).map(drop));
    attempt(aten::roll_out::call(&x, &[3], &[0], &mut out).map(drop));
    attempt(aten::cat_out::call(&[x.clone(), x.clone()], 0, &mut memory.clone()).map(drop));
    attempt(aten::index_select_out::call(&x, 0, &Tensor::from(vec![1i64; len as usize]), &mut out).map(drop));
    assert_eq!(memory.numel(), 2 * len);
    Ok(())
}
