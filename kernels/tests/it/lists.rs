//! Operators on lists of tensors whose numbers are in a tensor, that write to `out`, or that return what steps of
//! optimisers write.

use torch_library::prelude::*;
use torch_library_kernels::aten;

fn close(found: &Tensor, want: &[f64]) -> Result<()> {
    let found = found.to_vec::<f64>()?;
    let is_close = |(found, want): (&f64, &f64)| (found - want).abs() < 1e-14 * want.abs().max(1.0);
    assert!(found.len() == want.len() && found.iter().zip(want).all(is_close), "{found:?}, not {want:?}");
    Ok(())
}

fn pair(first: f64, second: f64) -> [Tensor; 1] {
    [Tensor::from([first, second])]
}

/// PyTorch's numbers.
#[test]
fn a_step_of_adam_returns_what_it_writes() -> Result<()> {
    let (x, grad, mean, square) = (pair(1.0, -2.0), pair(4.0, 0.5), pair(0.1, 0.2), pair(0.3, 0.4));
    let (steps, scale) = ([Tensor::from(2.0f32)], Tensor::from(2.0f32));
    let step = aten::_fused_adam::call;
    let found = step(
        &x,
        &grad,
        &mean,
        &square,
        &[],
        &steps,
        0.1,
        0.9,
        0.99,
        0.01,
        1e-8,
        false,
        false,
        Some(&scale),
        None,
    )?;
    close(&found.0[0], &[0.962804299469538, -2.023934893356945])?;
    close(&found.1[0], &[2.0, 0.25])?;
    close(&found.2[0], &[0.291, 0.203])?;
    close(&found.3[0], &[0.337401, 0.396529])?;
    assert!(found.4.is_empty());
    close(&x[0], &[1.0, -2.0])?;
    close(&grad[0], &[4.0, 0.5])?;

    let (rate, mut outs) = (Tensor::from(0.1), [Tensor::zeros(&[0], DType::Float64, Device::CPU)?]);
    aten::_fused_adamw_tensor_lr_out::call(
        &x,
        &mut grad.clone(),
        &mut mean.clone(),
        &mut square.clone(),
        &mut [],
        &steps,
        &rate,
        0.9,
        0.99,
        0.01,
        1e-8,
        false,
        false,
        Some(&scale),
        None,
        &mut outs,
    )?;
    close(&outs[0], &[0.9619100725640795, -2.0221677797714386])?;
    close(&grad[0], &[4.0, 0.5])
}

/// PyTorch's numbers.
#[test]
fn steps_of_sgd_and_adagrad_return_what_they_write() -> Result<()> {
    let (x, grad, buffer, sums) = (pair(1.0, -2.0), pair(4.0, 0.5), pair(0.1, 0.2), pair(0.3, 0.4));
    let rate = Tensor::from(0.5);
    let found = aten::_fused_sgd_tensor_lr::call(
        &x, &grad, &buffer, 0.01, 0.9, &rate, 0.1, true, false, false, None, None,
    )?;
    close(&found.0[0], &[-2.66955, -2.5154])?;
    close(&found.1[0], &[4.0, 0.5])?;
    close(&found.2[0], &[3.699, 0.612])?;
    let steps = [Tensor::from(3.0f32)];
    let found =
        aten::_fused_adagrad::call(&x, &grad, &sums, &steps, 0.1, 0.5, 0.01, 1e-10, true, None, None)?;
    close(&found.0[0], &[1.0495354526990606, -1.9682454220353862])?;
    close(&found.2[0], &[16.2201, 0.6704])?;
    assert_eq!(found.3[0].item()?, Scalar::Float(3.0));
    close(&x[0], &[1.0, -2.0])
}

#[test]
fn numbers_for_lists_may_be_in_a_tensor() -> Result<()> {
    let [x, mean] = [pair(1.0, -2.0), pair(0.1, 0.2)].map(|[x]| x);
    let [grad, square] = [pair(4.0, 0.5), pair(0.3, 0.4)].map(|[x]| x);
    let (mut own, first, second) = ([x, mean], [grad.clone(), grad], [square.clone(), square]);
    let numbers = Tensor::from([2.0, 3.0]);
    let sums = aten::_foreach_addcmul_Tensor(&own, &first, &second, &numbers)?;
    close(&sums[0], &[3.4, -1.6])?;
    close(&sums[1], &[3.7, 0.8])?;
    aten::_foreach_addcdiv__Tensor(&mut own, &first, &second, &numbers)?;
    close(&own[0], &[27.666666666666668, 0.5])?;
    close(&own[1], &[40.1, 3.95])?;
    let every_other = Tensor::from([2.0, 0.0, 3.0]).strided_view(&[2], &[2], 0)?;
    for refused in [Tensor::from([2.0]), Tensor::from([[2.0, 3.0]]), every_other] {
        assert!(aten::_foreach_addcmul_Tensor(&own, &first, &second, &refused).is_err(), "{refused}");
        assert!(aten::_foreach_addcmul__Tensor(&mut own, &first, &second, &refused).is_err(), "{refused}");
    }
    Ok(())
}

#[test]
fn sums_of_powers_are_norms_without_their_roots() -> Result<()> {
    let lists = [Tensor::from([1.0, -2.0]), Tensor::from([4.0, 0.5])];
    let sums = aten::_foreach_powsum_Scalar::with(&lists).ord(3).call()?;
    close(&sums[0], &[9.0])?;
    close(&sums[1], &[64.125])?;
    assert!(aten::_foreach_powsum_Scalar(&[]).is_err());
    let complex = Tensor::from([
        [Complex64::new(1.0, 2.0), Complex64::new(0.0, 0.0)],
        [Complex64::new(3.0, 0.0), Complex64::new(0.0, -1.0)],
    ]);
    let sums = aten::linalg__powsum::call(&complex, 1.5.into(), Some(&[1]), true, None)?;
    assert_eq!(sums.sizes(), [2, 1]);
    close(&sums, &[3.3437015248821105, 6.196152422706632])?;
    let zero = Tensor::from([0.0, -3.0]);
    close(&aten::linalg__powsum::with(&zero).ord(0).call()?, &[2.0])?;
    assert_eq!(aten::linalg__powsum::with(&zero).ord(-1).call()?.item()?, Scalar::Float(f64::INFINITY));
    let whole = Tensor::from([3i64, 4]);
    assert!(aten::linalg__powsum(&whole).is_err());
    close(&aten::linalg__powsum::with(&whole).dtype(Some(DType::Float64)).call()?, &[25.0])
}

#[test]
fn results_of_lists_are_written_to_lists() -> Result<()> {
    let (lists, empty) = ([Tensor::from([1.0, -2.0])], |dtype| Tensor::zeros(&[0], dtype, Device::CPU));
    let mut outs = [empty(DType::Float64)?];
    aten::_foreach_add_Scalar_out(&lists, 2.into(), &mut outs)?;
    close(&outs[0], &[3.0, 0.0])?;
    aten::_foreach_zero_out(&lists, &mut outs)?;
    close(&outs[0], &[0.0, 0.0])?;
    assert!(aten::_foreach_add_Scalar_out(&lists, 2.into(), &mut [empty(DType::Float32)?]).is_err());
    assert!(aten::_foreach_add_Scalar_out(&lists, 2.into(), &mut []).is_err());
    close(&aten::_foreach_copy(&lists, &[Tensor::from([7.0f32])])?[0], &[7.0, 7.0])?;
    close(&lists[0], &[1.0, -2.0])
}
