//! Types smaller than a word: bytes wrap around, 16-bit floats are computed in float32 and rounded once.

use torch_library::prelude::*;
use torch_library::tracer::trace;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;
use torch_library_wgpu::fuse;

use crate::{all_same, close, device, falls, same, tensor};

const HALVES: [DType; 2] = [DType::Float16, DType::BFloat16];

fn of(x: &Tensor, dtype: DType) -> Tensor {
    aten::to_dtype(x, dtype).unwrap()
}

fn bytes(sizes: &[i64], seed: u8) -> Tensor {
    let count = sizes.iter().product::<i64>();
    Tensor::from_vec((0..count).map(|i| (i as u8).wrapping_mul(37).wrapping_add(seed)).collect(), sizes)
        .unwrap()
}

/// Every bit pattern of a type, including infinities and NaN.
fn patterns(dtype: DType) -> Tensor {
    let words: Vec<i16> = (0..=u16::MAX).map(u16::cast_signed).collect();
    aten::view_dtype(&Tensor::from_vec(words, &[65536]).unwrap(), dtype).unwrap()
}

fn bits(x: &Tensor) -> Vec<i16> {
    aten::view_dtype(&x.to(Device::CPU).unwrap(), DType::Int16).unwrap().to_vec().unwrap()
}

#[test]
fn every_half_is_read_and_written_as_it_is() {
    let Some(device) = device() else { return };
    for dtype in HALVES {
        let (here, before) = (patterns(dtype), falls());
        let there = here.to(device).unwrap();
        let wide = of(&there, DType::Float32);
        let expected = of(&here, DType::Float32).to_vec::<f32>().unwrap();
        for (a, b) in wide.to_vec::<f32>().unwrap().into_iter().zip(&expected) {
            // Drivers may flush subnormal float32 to zero, and some bfloat16 are subnormal.
            let is_flushed = a == 0.0 && b.abs() < f32::MIN_POSITIVE;
            assert!(
                a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan() || is_flushed,
                "{a} instead of {b}"
            );
        }
        let back = bits(&of(&wide, dtype));
        for ((a, b), number) in back.into_iter().zip(bits(&here)).zip(expected) {
            let is_flushed = a & 0x7fff == 0 && number.abs() < f32::MIN_POSITIVE;
            assert!(a == b || number.is_nan() || is_flushed, "{a:x} instead of {b:x}, {number}");
        }
        assert_eq!(before, falls());
    }
}

#[test]
fn floats_are_rounded_to_the_nearest_half() {
    let Some(device) = device() else { return };
    // 16-bit floats, numbers halfway between two of them and next to that; and numbers beyond the largest.
    let halves = of(&patterns(DType::Float16), DType::Float32).to_vec::<f32>().unwrap();
    let near = halves.windows(2).filter(|pair| pair.iter().all(|half| half.is_finite())).flat_map(|pair| {
        let middle = (pair[0] + pair[1]) / 2.0;
        [middle, f32::from_bits(middle.to_bits() + 1), f32::from_bits(middle.to_bits().saturating_sub(1))]
    });
    let mut numbers: Vec<f32> = near.filter(|x| x.abs() >= f32::MIN_POSITIVE).collect();
    numbers.extend([
        65519.9,
        65520.0,
        -65520.0,
        1e30,
        f32::INFINITY,
        f32::MAX,
        2.9e-8,
        3e-8,
        -1e-9,
        0.0,
        -0.0,
    ]);
    let count = numbers.len() as i64;
    let here = Tensor::from_vec(numbers, &[count]).unwrap();
    for dtype in HALVES {
        assert_eq!(bits(&of(&here.to(device).unwrap(), dtype)), bits(&of(&here, dtype)));
    }
}

#[test]
fn halves_are_computed_as_float32() {
    let Some(device) = device() else { return };
    for dtype in HALVES {
        let inputs = [of(&tensor(&[5, 7], 0.0), dtype), of(&tensor(&[7], 1.0), dtype)];
        same(device, &inputs, |x| x[0].add(&x[1]));
        same(device, &inputs, |x| x[0].t()?.mul(&x[1].neg()?.reshape(&[7, 1])?));
        same(device, &inputs, |x| aten::gelu(&x[0]));
        same(device, &inputs, |x| x[0].exp()?.div(&x[1]));
        same(device, &inputs, |x| aten::where_self(&x[0].gt(&x[1])?, &x[0], &x[1]));
        same(device, &inputs, |x| aten::maximum(&x[0], &x[1]));
        same(device, &inputs, |x| aten::mul_Scalar(&x[0], 3.into()));
        all_same(device, &inputs, |x| {
            let row = aten::select_int(&x[0], 0, 3)?; // begins within a word
            Ok(vec![row.add(&x[1])?, row.eq(&row)?, row.logical_not()?])
        });
        let large = of(&Tensor::from([6e4f32, -6e4, 1.0]), dtype);
        same(device, &[large], |x| x[0].mul(&x[0]));
        same(device, &[of(&tensor(&[0, 7], 0.0), dtype), inputs[1].clone()], |x| x[0].add(&x[1]));
    }
}

#[test]
fn networks_of_halves_stay_on_the_device() {
    let Some(device) = device() else { return };
    for dtype in HALVES {
        let (x, w) = (of(&tensor(&[6, 8], 0.0), dtype), of(&tensor(&[8, 5], 1.0), dtype));
        // Both sum in float32, but in another order: results may be adjacent.
        all_same(device, &[x.clone(), w], |x| Ok(vec![x[0].mm(&x[1])?.relu()?.softmax(1)?]));
        all_same(device, std::slice::from_ref(&x), |x| {
            Ok(vec![
                aten::sum_dim_IntList::call(&x[0], Some(&[1]), true, None)?,
                aten::amax::call(&x[0], &[0], false)?,
            ])
        });
        // Images, whose results have the CPU's strides.
        let inputs = [of(&tensor(&[2, 2, 5, 6], 0.0), dtype), of(&tensor(&[3, 2, 3, 3], 1.0), dtype)];
        all_same(device, &inputs, |x| Ok(vec![aten::conv2d::with(&x[0], &x[1]).call()?]));
        let places = Tensor::from_vec(vec![3i64, 0, 5], &[3]).unwrap();
        all_same(device, &[x, places], |x| Ok(vec![aten::index_select(&x[0], 0, &x[1])?]));
    }
}

#[test]
fn bytes_wrap_around() {
    let Some(device) = device() else { return };
    let inputs = [
        bytes(&[5, 7], 3),
        bytes(&[7], 250),
        Tensor::from_vec(vec![-3i32, 300, 7, 0, 1, 2, 9], &[7]).unwrap(),
    ];
    all_same(device, &inputs, |x| {
        Ok(vec![x[0].add(&x[1])?, x[0].sub(&x[1])?, x[0].mul(&x[1])?, x[0].neg()?])
    });
    all_same(device, &inputs, |x| {
        Ok(vec![
            aten::maximum(&x[0], &x[1])?,
            aten::bitwise_and_Tensor(&x[0], &x[1])?,
            x[0].lt(&x[1])?,
            x[0].abs()?,
        ])
    });
    all_same(device, &inputs, |x| {
        Ok(vec![x[0].add(&x[2])?, x[0].div(&x[1])?, aten::add_Scalar(&x[0], 200.into())?])
    });
    all_same(device, &inputs, |x| {
        Ok(vec![aten::ge_Scalar(&x[0], 100.into())?, x[0].t()?.add(&x[0].t()?)?, x[0].relu()?])
    });
    same(device, &[bytes(&[0, 3], 1), bytes(&[3], 1)], |x| x[0].add(&x[1]));
    all_same(device, &inputs, |x| {
        Ok([DType::Int32, DType::Int64, DType::Float32, DType::Bool].map(|dtype| of(&x[0], dtype)).to_vec())
    });
    // In type promotion, a tensor without dimensions on the device counts less than a tensor of bytes.
    let number = Tensor::from_vec(vec![-3i64], &[1]).unwrap();
    all_same(device, &[inputs[0].clone(), number], |x| Ok(vec![x[0].add(&aten::select_int(&x[1], 0, 0)?)?]));
    // A number that is not a byte falls back to the CPU.
    let there = inputs[0].to(device).unwrap();
    close(
        &aten::add_Scalar(&there, (-1).into()).unwrap(),
        &aten::add_Scalar(&inputs[0], (-1).into()).unwrap(),
    );
    close(&aten::eq_Scalar(&there, 300.into()).unwrap(), &aten::eq_Scalar(&inputs[0], 300.into()).unwrap());
}

#[test]
fn chains_of_them_round_as_single_calls_do() {
    let Some(device) = device() else { return };
    let f = |x: &[Tensor]| Ok(vec![x[0].mul(&x[1])?.add(&x[0])?.exp()?.mul(&x[1])?, x[0].gt(&x[1])?]);
    for dtype in HALVES {
        let inputs = [(&[5, 7][..], 0.0), (&[7], 1.0)]
            .map(|(sizes, seed)| of(&tensor(sizes, seed), dtype).to(device).unwrap());
        let (single, graph) = trace(&inputs, f).unwrap();
        let fused = fuse(graph);
        let found = fused.run(&inputs).unwrap();
        assert_eq!((fused.groups().count(), fused.refusals().len()), (1, 0), "{fused}");
        assert_eq!(bits(&found[0]), bits(&single[0]));
    }
    let inputs = [bytes(&[5, 7], 3), bytes(&[7], 250)].map(|x| x.to(device).unwrap());
    let f = |x: &[Tensor]| {
        let y = x[0].mul(&x[1])?.sub(&x[1])?;
        Ok(vec![y.neg()?, y.div(&x[1])?, y.gt(&x[0])?])
    };
    let (single, graph) = trace(&inputs, f).unwrap();
    let fused = fuse(graph);
    let found = fused.run(&inputs).unwrap();
    assert_eq!((fused.groups().count(), fused.refusals().len()), (1, 0), "{fused}");
    found.iter().zip(&single).for_each(|(found, single)| close(found, single));
}
