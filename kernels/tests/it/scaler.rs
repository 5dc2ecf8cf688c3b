//! Scales of losses in half precision.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

#[test]
fn gradients_are_divided_by_the_scale_of_the_loss() -> Result<()> {
    let mut grads = [Tensor::from([2.0f32, 4.0]), Tensor::from([6.0]).to_dtype(DType::Float16)?];
    let (mut found, inverse) = (Tensor::from([0.0f32]), Tensor::from([0.5f32]));
    aten::_amp_foreach_non_finite_check_and_unscale_(&mut grads, &mut found, &inverse)?;
    assert_eq!((grads[0].to_vec::<f32>()?, found.to_vec::<f32>()?), (vec![1.0, 2.0], vec![0.0]));
    assert_eq!(grads[1].to_dtype(DType::Float32)?.to_vec::<f32>()?, [3.0]);
    let (_, found) = aten::_amp_foreach_non_finite_check_and_unscale(
        &[Tensor::from([1.0f32]), Tensor::from([f32::NAN])],
        &found,
        &inverse,
    )?;
    assert_eq!(found.to_vec::<f32>()?, [1.0]);
    let check = |grad: Tensor, mut found: Tensor, inverse: &Tensor| {
        aten::_amp_foreach_non_finite_check_and_unscale_(&mut [grad], &mut found, inverse)
    };
    assert!(check(Tensor::from([1i64]), Tensor::from([0.0f32]), &inverse).is_err());
    assert!(check(Tensor::from([1.0]), Tensor::from([0.0]), &inverse).is_err());
    assert!(check(Tensor::from([1.0]), Tensor::from([0.0f32]), &Tensor::from([0.5f32, 0.5])).is_err());
    Ok(())
}

#[test]
fn the_scale_grows_until_a_gradient_is_not_finite() -> Result<()> {
    let next = |scale: f32, steps: i32, found: f32| {
        let (scale, steps) = (Tensor::from([scale]), Tensor::from([steps]));
        let (scale, steps) = aten::_amp_update_scale(&scale, &steps, &Tensor::from([found]), 2.0, 0.5, 2)?;
        Ok::<_, Error>((scale.to_vec::<f32>()?[0], steps.to_vec::<i32>()?[0]))
    };
    assert_eq!(next(8.0, 0, 0.0)?, (8.0, 1));
    assert_eq!(next(8.0, 1, 0.0)?, (16.0, 0));
    assert_eq!(next(8.0, 1, 1.0)?, (4.0, 0));
    assert_eq!(next(3e38, 1, 0.0)?, (3e38, 0));
    let (mut scale, mut steps) = (Tensor::from([1.0f32]), Tensor::from([0i64]));
    let found = Tensor::from([0.0f32]);
    assert!(aten::_amp_update_scale_(&mut scale, &mut steps, &found, 2.0, 0.5, 2).is_err());
    Ok(())
}
