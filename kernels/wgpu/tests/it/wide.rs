//! 64-bit integers on a device, conversions, and copies of elements smaller than a word.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

use crate::{all_same, device, same, tensor};

/// Numbers at the limits of both words, and between.
fn wide() -> Tensor {
    let mut numbers =
        vec![0, 1, -1, i64::MAX, i64::MIN, i64::MAX - 1, 1 << 32, (1 << 32) - 1, -(1 << 32), 1 << 31];
    numbers.extend([
        0x0123_4567_89ab_cdef,
        -0x0123_4567_89ab_cdef,
        16_777_217,
        -16_777_219,
        (1 << 62) + (1 << 38) + 1,
    ]);
    numbers.extend([
        (1 << 40) + (1 << 16),
        (1 << 40) + (1 << 16) + 1,
        (1 << 40) + 3 * (1 << 16),
        u32::MAX.into(),
    ]);
    Tensor::from(numbers)
}

#[test]
fn whole_numbers_of_64_bits_are_exact() {
    let Some(device) = device() else { return };
    let (x, y) = (wide().reshape(&[-1, 1]).unwrap(), wide());
    all_same(device, &[x, y], |x| {
        let (x, y) = (&x[0], &x[1]);
        Ok(vec![
            x.add(y)?,
            x.sub(y)?,
            x.mul(y)?,
            x.neg()?,
            x.abs()?,
            aten::maximum(x, y)?,
            aten::minimum(x, y)?,
            aten::bitwise_and_Tensor(x, y)?,
            aten::bitwise_or_Tensor(x, y)?,
            x.eq(y)?,
            aten::ne_Tensor(x, y)?,
            x.lt(y)?,
            x.le(y)?,
            x.gt(y)?,
            x.ge(y)?,
            x.gt(1i64 << 31)?,
            aten::where_self(&x.lt(y)?, x, y)?,
            aten::add_Tensor::with(x, y).alpha(-3).call()?,
            aten::bitwise_and_Tensor(&x.lt(y)?, &x.gt(0)?)?,
        ])
    });
}

#[test]
fn whole_numbers_are_summed_up_to_each() {
    let Some(device) = device() else { return };
    let x = Tensor::from_vec(
        (0..2 * 37 * 3).map(|i: i64| i.pow(3) * 977_777_777 - (1 << 40)).collect(),
        &[2, 37, 3],
    );
    all_same(device, &[x.unwrap(), tensor(&[4, 9], 0.0)], |x| {
        let bools = x[1].gt(0)?;
        let mut sums = vec![aten::cumsum(&bools, 1)?, aten::cumsum(&bools.t()?, 0)?];
        for dim in [0, 1, -1] {
            sums.push(aten::cumsum(&x[0], dim)?);
        }
        Ok(sums)
    });
    // Rows that a workgroup goes through, in which the last threads have no elements.
    for (rows, count) in [(3, 256), (2, 257), (1, 1000), (5, 641)] {
        let numbers = (0..rows * count).map(|i: i64| i.pow(3).wrapping_mul(977_777_777)).collect();
        let x = Tensor::from_vec(numbers, &[rows, count]).unwrap();
        all_same(device, &[x], |x| Ok(vec![aten::cumsum(&x[0], 1)?, aten::cumsum(&x[0].t()?, 0)?]));
    }
}

#[test]
fn floats_are_summed_up_to_each() {
    let Some(device) = device() else { return };
    all_same(device, &[tensor(&[3, 40, 2], 0.0), tensor(&[2, 300], 1.0)], |x| {
        let bools = x[1].gt(0)?;
        let mut sums = vec![aten::cumsum(&x[1], 1)?, aten::cumsum(&x[1].t()?, 0)?];
        sums.push(aten::cumsum::with(&bools, 1).dtype(DType::Float32).call()?);
        for dim in [0, 1, -1] {
            sums.push(aten::cumsum(&x[0], dim)?);
        }
        Ok(sums)
    });
}

/// A few long rows are cut into parts; many interleaved rows are reduced by one thread each.
#[test]
fn rows_of_all_lengths_are_reduced() {
    let Some(device) = device() else { return };
    for sizes in [[1, 70_000], [3, 40_000], [600, 30], [700, 9], [1, 1]] {
        let whole = (0..sizes[0] * sizes[1]).map(|i| ((i * 7919) % 1013 - 500) as i32).collect();
        let whole = Tensor::from_vec(whole, &sizes).unwrap();
        // All of one sign, or the order of summation would show.
        all_same(device, &[tensor(&sizes, 0.0).abs().unwrap(), whole], |x| {
            let turned = aten::contiguous(&x[0].t()?)?.t()?;
            Ok(vec![
                x[0].sum_dim(&[1], false)?,
                x[0].mean_dim(&[1], true)?,
                turned.sum_dim(&[1], false)?,
                turned.amin(&[1], false)?,
                aten::mean(&turned)?,
                x[0].amax(&[1], false)?,
                x[1].amax(&[1], false)?,
                x[1].amin(&[0, 1], true)?,
                aten::prod_dim_int(&x[0].slice(1, 0, 12, 1)?, 1)?,
                aten::mean_dim::with(&x[1], Some(&[1])).dtype(DType::Float32).call()?,
            ])
        });
    }
}

#[test]
fn tensors_of_several_types_are_joined_as_one() {
    let Some(device) = device() else { return };
    let whole = Tensor::from([[3i32, -5], [1, 0]]);
    all_same(device, &[whole, Tensor::from([[7i64, 8]]), tensor(&[1, 2], 0.0)], |x| {
        Ok(vec![aten::cat(&x[..2])?, aten::cat(x)?, aten::cat(&[x[2].clone(), x[0].gt(0)?])?])
    });
}

#[test]
fn types_are_converted_where_no_number_is_lost_but_by_rounding() {
    let Some(device) = device() else { return };
    let halves = Tensor::from([3i32, -5, i32::MAX, i32::MIN, 0, 16_777_217]);
    all_same(device, &[wide(), halves, tensor(&[5, 7], 0.0)], |x| {
        let bools = x[2].gt(0)?;
        Ok(vec![
            aten::to_dtype(&x[0], DType::Float32)?,
            aten::to_dtype(&x[0], DType::Bool)?,
            aten::to_dtype(&x[0], DType::Int32)?,
            aten::add_Tensor(&x[1], &x[0].select(0, 2)?)?,
            aten::to_dtype(&x[1], DType::Int64)?,
            aten::to_dtype(&x[1], DType::Float32)?,
            aten::to_dtype(&bools.t()?, DType::Int64)?,
            aten::to_dtype(&bools, DType::Int32)?,
            aten::to_dtype(&x[2], DType::Bool)?,
            aten::mul_Tensor(&x[0], &Tensor::wrapped_number(0.5))?,
            bools.t()?.contiguous()?,
            bools.slice(1, 1, 7, 2)?.contiguous()?,
        ])
    });
}

#[test]
fn long_tensors_take_more_workgroups_than_a_row_has() {
    let Some(device) = device() else { return };
    let x = tensor(&[65_536 * 64 + 67], 0.0);
    same(device, std::slice::from_ref(&x), |x| x[0].mul(2)?.slice(0, 4_194_000, i64::MAX, 1)?.contiguous());
    let rows = x.slice(0, 0, 65_600 * 3, 1).unwrap().view(&[65_600, 3]).unwrap();
    same(device, std::slice::from_ref(&rows), |x| x[0].sum_dim(&[1], false));
    same(device, &[rows], |x| x[0].softmax(1));
}

#[test]
fn tensors_without_elements_stay_so() {
    let Some(device) = device() else { return };
    let empty = tensor(&[0, 3], 0.0);
    let there = empty.to(device).unwrap();
    for compute in [
        |x: &Tensor| x.add(x),
        |x: &Tensor| x.sum_dim(&[0], false),
        |x: &Tensor| x.softmax(1),
        |x: &Tensor| x.mm(&x.t()?),
        |x: &Tensor| aten::native_layer_norm(x, &[3], None, None, 1e-5).map(|results| results.0),
        |x: &Tensor| aten::cat(&[x.clone(), x.clone()]),
        |x: &Tensor| aten::gelu(x),
        |x: &Tensor| {
            aten::conv2d(&x.view(&[0, 1, 3, 1])?, &Tensor::zeros(&[2, 1, 1, 1], DType::Float32, x.device())?)
        },
    ] {
        let (found, expected) = (compute(&there).unwrap(), compute(&empty).unwrap());
        assert_eq!((found.sizes(), found.device()), (expected.sizes(), device));
        assert_eq!(found.to_vec::<f32>().unwrap(), expected.to_vec::<f32>().unwrap());
    }
}
