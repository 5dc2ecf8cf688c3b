//! Views.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;
use torch_library_kernels::vmap::vmap;

fn numbers(sizes: &[i64]) -> Result<Tensor> {
    let n = sizes.iter().product::<i64>() as i32;
    Tensor::from_vec((0..n).collect::<Vec<_>>(), sizes)
}

#[test]
fn views_share_memory() -> Result<()> {
    let x = numbers(&[2, 3])?;
    for view in [x.t()?, x.view(&[-1])?, x.select(0, 1)?, x.unsqueeze(0)?, x.detach()?, x.narrow(1, 1, 2)?] {
        assert!(view.shares_storage_with(&x) && !view.is_same(&x));
    }
    x.select(1, -1)?.fill_(9)?;
    assert_eq!(x.to_vec::<i32>()?, [0, 1, 9, 3, 4, 9]);
    Ok(())
}

#[test]
fn slices_are_cut_to_the_tensor() -> Result<()> {
    let x = numbers(&[6])?;
    let slice = |start, end, step| aten::slice_Tensor::call(&x, 0, start, end, step)?.to_vec::<i32>();
    assert_eq!(slice(None, None, 1)?, [0, 1, 2, 3, 4, 5]);
    assert_eq!(slice(Some(1), Some(100), 2)?, [1, 3, 5]);
    assert_eq!(slice(Some(-2), Some(-1), 1)?, [4]);
    assert_eq!(slice(Some(-100), Some(2), 1)?, [0, 1]);
    assert_eq!(slice(Some(4), Some(2), 1)?, [0i32; 0]);
    assert!(slice(None, None, 0).is_err());
    Ok(())
}

#[test]
fn view_needs_strides_and_reshape_copies_without() -> Result<()> {
    let x = numbers(&[2, 3])?.t()?;
    assert_eq!(
        x.view(&[6]).unwrap_err().to_string(),
        "aten::view: sizes [3, 2] with strides [1, 3] have no view of sizes [6], use reshape, which copies"
    );
    let reshaped = x.reshape(&[6])?;
    assert_eq!(
        (reshaped.to_vec::<i32>()?, reshaped.shares_storage_with(&x)),
        (vec![0, 3, 1, 4, 2, 5], false)
    );
    assert!(x.reshape(&[3, 1, 2])?.shares_storage_with(&x));
    assert!(x.reshape(&[4]).is_err() && x.reshape(&[-1, -1]).is_err());
    Ok(())
}

#[test]
fn matrices_are_transposed_and_numbers_stay() -> Result<()> {
    let number = numbers(&[])?;
    for (turn, name) in [(aten::mT as fn(&Tensor) -> _, "mT"), (aten::mH, "mH"), (aten::adjoint, "adjoint")] {
        assert_eq!(turn(&numbers(&[4, 2, 3])?)?.strides(), [6, 1, 3]);
        assert!(turn(&number)?.sizes().is_empty());
        let error = turn(&numbers(&[3])?).unwrap_err().to_string();
        assert_eq!(error, format!("aten::{name}: sizes [3] are not those of a matrix"));
    }
    assert!(aten::matrix_H(&number).is_ok() && aten::matrix_H(&numbers(&[1, 2, 3])?).is_err());
    assert_eq!(aten::numpy_T(&numbers(&[4, 2, 3])?)?.sizes(), [3, 2, 4]);
    Ok(())
}

#[test]
fn bytes_are_seen_as_another_type() -> Result<()> {
    let x = Tensor::from([[1.0f32, 2.0]]);
    assert_eq!(aten::view_dtype(&x, DType::Int32)?.to_vec::<i32>()?, [1065353216, 1073741824]);
    assert_eq!(aten::view_dtype(&x, DType::Int16)?.sizes(), [1, 4]);
    assert_eq!(aten::view_dtype(&x, DType::Float64)?.sizes(), [1, 1]);
    assert!(aten::view_dtype(&Tensor::from([1.0f32; 3]), DType::Float64).is_err());
    Ok(())
}

#[test]
fn tensors_are_expanded_without_memory() -> Result<()> {
    let x = numbers(&[3, 1])?;
    let y = x.expand(&[2, -1, 4])?;
    assert_eq!((y.sizes(), y.strides()), (&[2, 3, 4][..], &[0, 1, 0][..]));
    assert_eq!(
        x.expand(&[2, 4]).unwrap_err().to_string(),
        "aten::expand: sizes [3, 1] do not expand to [2, 4]: 3 to 2 at dimension 0"
    );
    assert!(x.expand(&[3]).is_err() && x.expand(&[-1, 3, 1]).is_err());
    Ok(())
}

#[test]
fn dimensions_of_one_come_and_go() -> Result<()> {
    let x = numbers(&[2, 1, 3, 1])?;
    assert_eq!(x.squeeze()?.sizes(), [2, 3]);
    assert_eq!(aten::squeeze_dim(&x, 1)?.sizes(), [2, 3, 1]);
    assert_eq!(aten::squeeze_dim(&x, 0)?.sizes(), [2, 1, 3, 1]);
    assert_eq!(aten::squeeze_dims(&x, &[1, -1])?.sizes(), [2, 3]);
    assert!(aten::squeeze_dims(&x, &[1, 1]).is_err());
    let mut y = x.clone();
    aten::squeeze_(&mut y)?;
    aten::unsqueeze_(&mut y, -1)?;
    assert_eq!(x.sizes(), [2, 3, 1]);
    Ok(())
}

#[test]
fn tensors_come_in_parts() -> Result<()> {
    let x = numbers(&[5])?;
    let sizes = |parts: Vec<Tensor>| parts.iter().map(|part| part.numel()).collect::<Vec<_>>();
    assert_eq!(sizes(aten::split_Tensor(&x, 2)?), [2, 2, 1]);
    assert_eq!(sizes(aten::chunk(&x, 4)?), [2, 2, 1]);
    assert_eq!(sizes(aten::split_with_sizes(&x, &[0, 5])?), [0, 5]);
    assert!(aten::split_with_sizes(&x, &[2, 2]).is_err() && aten::chunk(&x, 0).is_err());
    assert_eq!(sizes(aten::chunk(&numbers(&[0])?, 3)?), [0, 0, 0]);
    Ok(())
}

#[test]
fn flatten_joins_neighbours() -> Result<()> {
    let x = numbers(&[2, 3, 4])?;
    assert_eq!(aten::flatten_using_ints::with(&x).start_dim(1).call()?.sizes(), [2, 12]);
    assert_eq!(Tensor::from(1.0).flatten()?.sizes(), [1]);
    assert!(aten::flatten_using_ints::with(&x).start_dim(2).end_dim(0).call().is_err());
    Ok(())
}

#[test]
fn places_beyond_counting_are_refused_without_elements_too() -> Result<()> {
    assert!(Tensor::empty(&[0, i64::MAX, 2], DType::Int8, Device::CPU).is_err());
    let far = Tensor::empty(&[1 << 61, 0, 2], DType::Int8, Device::CPU)?;
    let last = far.select(0, -1)?;
    assert_eq!((last.storage_offset(), last.sizes()), (((1 << 61) - 1) * 2, &[0, 2][..]));
    assert_eq!(far.expand(&[3, 1 << 61, 0, 2])?.select(1, -1)?.unsqueeze(0)?.sizes(), [1, 3, 0, 2]);
    Ok(())
}

#[test]
fn slices_may_begin_behind_any_end() -> Result<()> {
    let x = Tensor::from([1.0, 2.0, 3.0]);
    for end in [None, Some(2), Some(i64::MIN), Some(i64::MAX)] {
        let slice = aten::slice_Tensor::call(&x, 0, Some(i64::MAX), end, 1)?;
        assert_eq!((slice.sizes(), slice.storage_offset()), (&[0][..], 3), "to {end:?}");
    }
    Ok(())
}

#[test]
fn complex_numbers_come_from_parts_or_from_magnitudes_and_angles() -> Result<()> {
    let z = aten::complex(&Tensor::from([1.0, 2.0]), &Tensor::from([[3.0], [4.0]]))?;
    assert_eq!(
        z.to_string(),
        "tensor([[1.+3.j, 2.+3.j],\n        [1.+4.j, 2.+4.j]], dtype=torch.complex128)"
    );
    let turned = aten::polar(&Tensor::from([2.0]), &Tensor::from([std::f64::consts::PI]))?;
    let parts = aten::view_as_real(&turned)?.to_vec::<f64>()?;
    assert!((parts[0] + 2.0).abs() < 1e-12 && parts[1].abs() < 1e-12);
    assert!(aten::complex(&Tensor::from([1.0]), &Tensor::from([1f32])).is_err());
    Ok(())
}

#[test]
fn splits_into_columns_rows_and_layers() -> Result<()> {
    let table = numbers(&[2, 4])?;
    assert_eq!(aten::hsplit_int(&table, 2)?[1].to_vec::<i32>()?, [2, 3, 6, 7]);
    assert_eq!(aten::vsplit_int(&table, 2)?[1].to_vec::<i32>()?, [4, 5, 6, 7]);
    assert_eq!(aten::dsplit_array(&numbers(&[1, 2, 3])?, &[1])?[1].to_vec::<i32>()?, [1, 2, 4, 5]);
    let error = aten::hsplit_int(&table, 3).unwrap_err().to_string();
    assert!(error.contains("a dimension of size 4 cannot be cut into 3 equal parts"), "{error}");
    Ok(())
}

#[test]
fn copies_of_diagonals_are_row_major() -> Result<()> {
    let x = numbers(&[2, 3, 2])?;
    let copy = aten::diagonal_copy::call(&x, 1, 0, 1)?;
    assert_eq!(copy.to_vec::<i32>()?, [2, 10, 3, 11]);
    assert_eq!((copy.sizes(), copy.strides()), (&[2, 2][..], &[2, 1][..]));
    assert!(!copy.shares_storage_with(&x));
    let error = aten::diagonal_copy::call(&x, 0, 1, 1).unwrap_err().to_string();
    assert!(error.starts_with("aten::diagonal_copy: "), "{error}");
    Ok(())
}

#[test]
fn sizes_come_from_and_become_tensors() -> Result<()> {
    let x = Tensor::from([[0, 1, 2], [3, 4, 5]]);
    let shape = Tensor::from([3i64, -1]);
    assert_eq!(aten::_reshape_from_tensor(&x, &shape)?.sizes(), [3, 2]);
    assert!(aten::_reshape_from_tensor(&x, &Tensor::from([3, 2])).is_err(), "int32");
    assert!(aten::_reshape_from_tensor(&x, &Tensor::from([[3i64, 2]])).is_err(), "a matrix");
    assert_eq!(aten::_shape_as_tensor(&x)?.to_vec::<i64>()?, [2, 3]);
    let copy = aten::_reshape_copy(&aten::t(&x)?, &[-1])?;
    assert_eq!(copy.to_vec::<i32>()?, [0, 3, 1, 4, 2, 5]);
    assert!(!aten::_reshape_copy(&x, &[6])?.shares_storage_with(&x));
    assert!(aten::_reshape_copy(&x, &[4]).is_err());
    Ok(())
}

#[test]
fn parts_are_no_views() -> Result<()> {
    let x = Tensor::from([0.0, 1.0, 2.0, 3.0, 4.0]);
    x.set_requires_grad(true)?;
    let parts = aten::unsafe_chunk(&x, 3)?;
    assert_eq!(parts.iter().map(Tensor::numel).collect::<Vec<_>>(), [2, 2, 1]);
    assert!(!parts[1].is_view() && parts[1].shares_storage_with(&x));
    assert_eq!(parts[1].grad_fn()?.map(|node| node.name()), Some("UnsafeSplitBackward0"));
    parts[1].sum()?.backward()?;
    assert_eq!(x.grad().map(|grad| grad.to_vec::<f64>()).transpose()?, Some(vec![0.0, 0.0, 1.0, 1.0, 0.0]));
    assert!(aten::unsafe_chunk(&x, 0).is_err() && aten::unsafe_split_Tensor(&x, 0).is_err());
    let matrix = Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    let halves = vmap([&matrix], |[row]| Ok(aten::unsafe_split_with_sizes(&row, &[1, 2])?.remove(1)))?;
    assert_eq!(halves.to_vec::<f64>()?, [2.0, 3.0, 5.0, 6.0]);
    Ok(())
}

#[test]
fn a_slice_leads_back_to_what_it_is_part_of() -> Result<()> {
    let x = Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    x.set_requires_grad(true)?;
    let part = x.narrow(1, 1, 2)?;
    let whole = aten::slice_inverse(&part, &x)?;
    assert_eq!((whole.sizes(), whole.to_vec::<f64>()?), (x.sizes(), x.to_vec::<f64>()?));
    assert_eq!(whole.storage().data_ptr(), x.storage().data_ptr());
    whole.mul(&x.detach()?)?.sum()?.backward()?;
    // The first column is no part of the slice, and has no gradient by way of it.
    assert_eq!(x.grad().unwrap().to_vec::<f64>()?, [0.0, 2.0, 3.0, 0.0, 5.0, 6.0]);
    let refused = vmap([&x.detach()?], |[row]| aten::slice_inverse(&row.narrow(0, 1, 2)?, &row));
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::NotSupported);
    Ok(())
}

#[test]
fn a_refused_unfold_names_the_step_or_the_size() -> Result<()> {
    let x = Tensor::from([1.0, 2.0, 3.0]);
    let message = |size, step| aten::unfold(&x, 0, size, step).unwrap_err().to_string();
    assert!(message(2, 0).contains("windows 0 apart, expected a step of one or more"), "{}", message(2, 0));
    assert!(message(4, 1).contains("windows of 4 do not fit a dimension of size 3"), "{}", message(4, 1));
    Ok(())
}
