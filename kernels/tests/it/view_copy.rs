//! Copies of views (`*_copy`).

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;
use torch_library_kernels::vmap::vmap;

fn matrix() -> Tensor {
    Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
}

#[test]
fn copies_have_the_elements_of_views_and_memory_of_their_own() -> Result<()> {
    let x = matrix();
    let turned = aten::t_copy(&x)?;
    assert_eq!((turned.sizes(), turned.strides()), (&[3, 2][..], &[2, 1][..]));
    assert_eq!(turned.to_vec::<f64>()?, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    assert!(!turned.shares_storage_with(&x));
    assert_eq!(aten::unfold_copy(&x, 1, 2, 1)?.to_vec::<f64>()?, [1.0, 2.0, 2.0, 3.0, 4.0, 5.0, 5.0, 6.0]);
    assert_eq!(aten::narrow_copy(&x, 1, -2, 2)?.to_vec::<f64>()?, [2.0, 3.0, 5.0, 6.0]);
    // If no view can have these sizes, the elements are copied first.
    assert_eq!(aten::view_copy(&x.t()?, &[6])?.to_vec::<f64>()?, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    let rows = aten::unbind_copy_int(&x)?;
    assert_eq!((rows.len(), rows[1].to_vec::<f64>()?), (2, vec![4.0, 5.0, 6.0]));
    let bits = aten::view_copy_dtype(&Tensor::from([1.0f32]), DType::Int32)?;
    assert_eq!(bits.to_vec::<i32>()?, [0x3f80_0000]);
    Ok(())
}

#[test]
fn gradients_are_those_of_views() -> Result<()> {
    let x = matrix();
    x.set_requires_grad(true)?;
    let parts = aten::split_copy_Tensor::call(&x, 2, 1)?;
    assert_eq!(parts[0].grad_fn()?.map(|node| node.name()), Some("SplitBackward0_copy"));
    let windows = aten::unfold_copy(&x, 1, 2, 1)?;
    assert_eq!(windows.grad_fn()?.map(|node| node.name()), Some("UnfoldBackward0_copy"));
    let loss = windows.sum()?.add(&parts[1].sum()?.mul(10.0)?)?;
    loss.backward()?;
    assert_eq!(
        x.grad().map(|grad| grad.to_vec::<f64>()).transpose()?,
        Some(vec![1.0, 2.0, 11.0, 1.0, 2.0, 11.0])
    );
    let same = aten::alias_copy(&x)?;
    assert_eq!(same.grad_fn()?.map(|node| node.name()), Some("AliasBackward0_copy"));
    // PyTorch has no derivative of it either.
    assert!(aten::detach_copy(&x)?.sum()?.backward().is_err());
    Ok(())
}

#[test]
fn out_and_batches_work_as_for_others() -> Result<()> {
    let x = matrix();
    let mut out = Tensor::zeros(&[0], DType::Float64, Device::CPU)?;
    aten::view_copy_out(&x, &[3, 2], &mut out)?;
    assert_eq!((out.sizes(), out.to_vec::<f64>()?), (&[3, 2][..], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    let mut parts = [Tensor::from([0.0; 3]), Tensor::from([0.0; 3])];
    aten::unbind_copy_int_out::call(&x, 0, &mut parts)?;
    assert_eq!(parts[1].to_vec::<f64>()?, [4.0, 5.0, 6.0]);
    let error = aten::unbind_copy_int_out::call(&x, 0, &mut parts[..1]).unwrap_err().to_string();
    assert!(error.contains("1 tensors were passed for 2 results"), "{error}");
    let mut wrong = Tensor::from([0.0f32]);
    assert!(aten::t_copy_out(&x, &mut wrong).is_err());
    let rows = vmap([&x], |[row]| aten::unsqueeze_copy(&row, 0))?;
    assert_eq!(rows.sizes(), [2, 1, 3]);
    Ok(())
}

#[test]
fn mistakes_name_the_copy() {
    let x = matrix();
    let error = aten::select_copy_int(&x, 0, 5).unwrap_err().to_string();
    assert!(error.starts_with("aten::select_copy.int: "), "{error}");
    assert!(aten::view_copy(&x, &[5]).is_err());
    assert!(aten::narrow_copy(&x, 0, 1, 2).is_err());
    assert!(aten::split_with_sizes_copy(&x, &[1, 2]).is_err());
}
