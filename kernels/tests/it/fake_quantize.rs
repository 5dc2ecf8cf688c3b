//! Fake quantisation, and the ranges that observers keep for it.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

#[test]
fn fake_quantisation_has_the_gradient_of_the_identity_where_nothing_is_clamped() -> Result<()> {
    let x = Tensor::from([-1.3f32, 0.26, 9.0, 100.0]);
    x.set_requires_grad(true)?;
    let y = aten::fake_quantize_per_tensor_affine(&x, 0.1, 10, 0, 50)?;
    assert_eq!(y.to_vec::<f32>()?, [-1.0, 0.3, 4.0, 4.0]);
    y.sum()?.backward()?;
    assert_eq!(x.grad().unwrap().to_vec::<f32>()?, [0.0, 1.0, 0.0, 0.0]);
    let (scales, zeros) = (Tensor::from([0.1f32, 0.5]), Tensor::from([10i32, 3]));
    let (y, mask) = aten::fake_quantize_per_channel_affine_cachemask(
        &Tensor::from([[-1.3f32, 0.04], [0.26, 9.0]]),
        &scales,
        &zeros,
        1,
        0,
        50,
    )?;
    assert_eq!(
        (y.to_vec::<f32>()?, mask.to_vec::<bool>()?),
        (vec![-1.0, 0.0, 0.3, 9.0], vec![false, true, true, true])
    );
    assert!(aten::fake_quantize_per_tensor_affine(&x, 0.1, 300, 0, 255).is_err());
    assert!(aten::fake_quantize_per_tensor_affine(&x, 0.1, 0, 5, 1).is_err());
    Ok(())
}

/// The range, the scale and the zero point before the first tensor.
fn unknown() -> [Tensor; 4] {
    let range = [f32::INFINITY, f32::NEG_INFINITY].map(|end| Tensor::from([end]));
    let [smallest, largest] = range;
    [smallest, largest, Tensor::from([1.0f32]), Tensor::from([0i32])]
}

fn observed(x: &Tensor, of_rows: bool, symmetric: bool, state: &mut [Tensor; 4]) -> Result<(Tensor, Tensor)> {
    let on = Tensor::from([1i64]);
    let [smallest, largest, scale, zero_point] = state;
    aten::_fused_moving_avg_obs_fq_helper::with(
        x, &on, &on, smallest, largest, scale, zero_point, 0.25, -8, 7, 0,
    )
    .per_row_fake_quant(of_rows)
    .symmetric_quant(symmetric)
    .call()
}

#[test]
fn quantisation_follows_the_range_of_the_elements() -> Result<()> {
    let x = Tensor::from([-1.0f32, 0.0, 1.0, 2.0, 3.0]);
    let mut state = unknown();
    let numbers = |tensor: &Tensor| tensor.to_vec::<f32>();
    let (first, _) = observed(&x, false, false, &mut state)?;
    assert_eq!(numbers(&first)?, [-1.066_666_7, 0.0, 1.066_666_7, 1.866_666_8, 2.933_333_4]);
    assert_eq!((numbers(&state[2])?[0], state[3].to_vec::<i32>()?[0]), (0.266_666_68, -4));
    let (second, mask) = observed(&x.mul(2)?, false, false, &mut state)?;
    assert_eq!(numbers(&second)?, [-1.333_333_4, 0.0, 2.0, 3.666_666_7, 3.666_666_7]);
    assert_eq!((numbers(&state[0])?[0], numbers(&state[1])?[0]), (-1.25, 3.75));
    assert_eq!((numbers(&state[2])?[0], state[3].to_vec::<i32>()?[0]), (0.333_333_34, -4));
    assert_eq!(mask.to_vec::<bool>()?, [false, true, true, false, false]);

    let rows = aten::stack(&[x.clone(), x.neg()?])?;
    let empty = || Tensor::from_slice::<f32>(&[], &[0]);
    let mut state = [empty()?, empty()?, empty()?, Tensor::from_slice::<i32>(&[], &[0])?];
    observed(&rows, true, true, &mut state)?;
    assert_eq!(numbers(&state[0])?, [-1.0, -3.0]);
    assert_eq!((numbers(&state[2])?, state[3].to_vec::<i32>()?), (vec![3.0 / 7.0, 0.375], vec![0, 0]));
    Ok(())
}

#[test]
fn parts_of_a_moving_range_can_be_turned_off() -> Result<()> {
    let (x, off, on) = (Tensor::from([-2.0f32, 2.0]), Tensor::from([0i64]), Tensor::from([1i64]));
    let run = |observes: &Tensor, quantises: &Tensor| {
        let [smallest, largest, scale, zero_point] = unknown();
        aten::_fused_moving_avg_obs_fq_helper_functional(
            &x,
            observes,
            quantises,
            &smallest,
            &largest,
            &scale,
            &zero_point,
            0.25,
            -8,
            7,
            0,
        )
    };
    let (output, _, smallest, _, scale, _) = run(&on, &off)?;
    assert_eq!((output.to_vec::<f32>()?, smallest.to_vec::<f32>()?), (vec![-2.0, 2.0], vec![-2.0]));
    assert_eq!(scale.to_vec::<f32>()?, [1.0]);
    let (_, _, smallest, ..) = run(&off, &off)?;
    assert_eq!(smallest.to_vec::<f32>()?, [f32::INFINITY]);

    x.set_requires_grad(true)?;
    let mut state = unknown();
    observed(&x, false, false, &mut state)?.0.sum()?.backward()?;
    assert_eq!(x.grad().unwrap().to_vec::<f32>()?, [1.0, 1.0]);
    assert!(!state[0].requires_grad(), "the range is not differentiated");
    assert!(observed(&Tensor::from([1.0]), false, false, &mut unknown()).is_err(), "float64");
    Ok(())
}

#[test]
fn a_zero_point_in_a_tensor_may_be_out_of_bounds() -> Result<()> {
    let x = Tensor::from([-2.0f32, 0.0, 2.0]);
    let quantised = |scale: &Tensor, zero_point: &Tensor| {
        aten::fake_quantize_per_tensor_affine_tensor_qparams(&x, scale, zero_point, -4, 3)
    };
    let (half, one) = (Tensor::from([0.5f32]), Tensor::from([1i32]));
    assert_eq!(quantised(&half, &one)?.to_vec::<f32>()?, [-2.0, 0.0, 1.0]);
    assert_eq!(quantised(&Tensor::from(0.5), &Tensor::from(1.2f32))?.to_vec::<f32>()?, [-2.0, 0.0, 1.0]);
    assert_eq!(quantised(&half, &Tensor::from([9i64]))?.to_vec::<f32>()?, [-3.0; 3]);
    assert!(quantised(&Tensor::from([0.5f32, 0.5]), &one).is_err());
    let off = Tensor::from([0i64]);
    let (same, mask) =
        aten::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams(&x, &half, &one, &off, -4, 3)?;
    assert_eq!((same.to_vec::<f32>()?, mask.to_vec::<bool>()?), (x.to_vec()?, vec![true; 3]));
    Ok(())
}

#[test]
fn parameters_of_fake_quantisation_can_be_learned() -> Result<()> {
    let x = Tensor::from([-1.3f32, 0.26, 9.0, 100.0, -0.05]);
    let (scale, zero_point) = (Tensor::from([0.1f32]), Tensor::from([10.4f32]));
    for parameter in [&x, &scale, &zero_point] {
        parameter.set_requires_grad(true)?;
    }
    let learned = aten::_fake_quantize_learnable_per_tensor_affine::with(&x, &scale, &zero_point, 0, 50);
    let y = learned.grad_factor(0.5).call()?;
    assert_eq!(y.to_vec::<f32>()?, [-1.0, 0.3, 4.0, 4.0, 0.0]);
    y.mul(&Tensor::from([1.0f32, 2.0, 3.0, 4.0, 5.0]))?.sum()?.backward()?;
    assert_eq!(x.grad().unwrap().to_vec::<f32>()?, [0.0, 2.0, 0.0, 0.0, 5.0]);
    assert!((scale.grad().unwrap().to_vec::<f32>()?[0] - 136.65).abs() < 1e-4);
    assert_eq!(zero_point.grad().unwrap().to_vec::<f32>()?, [-0.4]);
    // A zero point outside of the bounds is clamped to them.
    let low = Tensor::from([-3.7f32]);
    let y = aten::_fake_quantize_learnable_per_tensor_affine(&x, &scale, &low, 0, 50)?;
    assert_eq!(y.to_vec::<f32>()?, [0.0, 0.3, 5.0, 5.0, 0.0]);

    let w = Tensor::from([[-1.3f32, 0.04, 3.0], [0.26, 9.0, -5.0]]);
    let (scales, zeros) = (Tensor::from([0.1f32, 0.5]), Tensor::from([10.5f32, 3.2]));
    let y = aten::_fake_quantize_learnable_per_channel_affine(&w, &scales, &zeros, 0, 0, 20)?;
    assert_eq!(y.to_vec::<f32>()?, [-1.0, 0.0, 1.0, 0.5, 8.5, -1.5]);
    let twos = Tensor::full(&[2, 3], 2.0, DType::Float32, Device::CPU)?;
    let backward = |w: &Tensor, grad: &Tensor, axis| {
        aten::_fake_quantize_learnable_per_channel_affine_backward::with(
            grad, w, &scales, &zeros, axis, 0, 20,
        )
        .grad_factor(0.5)
        .call()
    };
    for (axis, w, grad) in [(0, w.clone(), twos.clone()), (1, w.t()?, twos.t()?)] {
        let (of_w, of_scale, of_zero) = backward(&w, &grad, axis)?;
        assert_eq!(if axis == 0 { of_w } else { of_w.t()? }.to_vec::<f32>()?, [0.0, 2.0, 0.0, 2.0, 0.0, 0.0]);
        let of_scale = of_scale.to_vec::<f32>()?;
        assert!((of_scale[0] + 0.4).abs() < 1e-6 && (of_scale[1] - 14.48).abs() < 1e-5, "{of_scale:?}");
        assert_eq!(of_zero.to_vec::<f32>()?, [-0.2, -1.0]);
    }
    let doubles = w.to_dtype(DType::Float64)?;
    assert!(
        backward(&doubles, &twos, 0)
            .unwrap_err()
            .to_string()
            .ends_with("float64 is not supported, only float32")
    );
    assert!(
        aten::_fake_quantize_learnable_per_tensor_affine(&w, &Tensor::from(0.1f32), &zeros, 0, 50).is_err()
    );
    Ok(())
}

/// Numbers with one far from the others at each end.
fn with_outliers() -> Tensor {
    let mut numbers: Vec<f32> = (0..60).map(|at| (at * 17 % 41) as f32 / 7.0 - 2.3).collect();
    (numbers[5], numbers[7]) = (9.0, -6.5);
    Tensor::from_vec(numbers, &[60]).unwrap()
}

#[test]
fn ranges_with_the_least_error_are_pytorchs() -> Result<()> {
    let x = with_outliers();
    let found = |x: &Tensor, numel, bins, ratio, bits| -> Result<[f32; 2]> {
        let (most, least) = aten::choose_qparams_optimized(x, numel, bins, ratio, bits)?;
        Ok([most.to_vec::<f32>()?[0], least.to_vec::<f32>()?[0]])
    };
    assert_eq!(found(&x, 60, 200, 0.16, 4)?, [8.534_998, -6.112_500_7]);
    assert_eq!(found(&x, 60, 50, 0.3, 4)?, [8.69, -6.19]);
    assert_eq!(found(&x, 60, 100, 0.5, 2)?, [5.744_998_5, -4.484_997_3]);
    assert_eq!(found(&x, 30, 200, 0.16, 8)?, [9.0, -6.5], "every narrower range has a larger error");
    let columns = aten::t(&aten::view(&x, &[6, 10])?)?;
    assert_eq!(found(&columns, 60, 100, 0.5, 2)?, [5.744_998_5, -4.484_997_3]);
    assert_eq!(found(&Tensor::from([3.0f32; 5]), 5, 200, 0.16, 4)?, [3.0; 2]);
    assert_eq!(found(&x, 60, 0, 0.16, 4)?, [9.0, -6.5], "no step");
    assert_eq!(found(&x, 0, 200, 0.16, 4)?, [x.to_vec::<f32>()?[0]; 2], "the first element");
    assert_eq!(found(&Tensor::from([f32::INFINITY, 1.0]), 2, 200, 0.16, 4)?, [f32::INFINITY, 1.0]);
    let steps_that_vanish = Tensor::from([1e8f32, 1e8 + 8.0]);
    assert_eq!(found(&steps_that_vanish, 2, 200, 0.16, 4)?, [1e8 + 8.0, 1e8]);

    let refused = |x: &Tensor, numel, bins, bits| found(x, numel, bins, 0.16, bits).unwrap_err().to_string();
    for numel in [-1, 61, i64::MAX] {
        assert!(
            refused(&x, numel, 200, 4).contains("expected elements and not more than there are"),
            "{numel}"
        );
    }
    assert!(refused(&aten::narrow(&x, 0, 0, 0)?, 0, 200, 4).contains("expected elements"));
    for (bins, bits) in [(-3, 4), (200, 0), (200, 32), (200, i64::MIN)] {
        assert!(refused(&x, 60, bins, bits).ends_with("expected zero or more, and 1 to 31"));
    }
    assert!(refused(&x.to_dtype(DType::Float64)?, 60, 200, 4).ends_with("of float64, expected float32"));
    Ok(())
}

#[test]
fn parameters_of_a_whole_tensor_are_pytorchs() -> Result<()> {
    let x = with_outliers();
    let of = |x: &Tensor, reduced| aten::_choose_qparams_per_tensor::with(x).reduce_range(reduced).call();
    assert_eq!(of(&x, false)?, (0.060784313725490195, 107));
    assert_eq!(of(&x, true)?, (0.1220472440944882, 53));
    assert_eq!(of(&aten::abs(&x)?, false)?, (0.03529411764705882, 0));
    assert_eq!(of(&aten::neg(&aten::abs(&x)?)?, true)?, (0.07086614173228346, 127));
    assert_eq!(of(&x.to_dtype(DType::Float16)?, false)?, (0.060784313725490195, 107));
    assert_eq!(
        of(&aten::mul_Scalar(&x, 8.into())?.to_dtype(DType::Int32)?, false)?,
        (0.48627450980392156, 107)
    );
    assert_eq!(of(&Tensor::from([0.0f32; 2]), false)?, (0.1, 0));
    assert_eq!(of(&Tensor::from([1e-6f32, 2e-6]), false)?, (6.0999998822808266e-05, 0));
    assert!(
        of(&Tensor::from([f32::NAN, 1.0]), false).unwrap_err().to_string().ends_with("NaN is in no range")
    );
    assert!(of(&aten::narrow(&x, 0, 0, 0)?, false).is_err(), "no elements");
    Ok(())
}
