//! Internal operators: PyTorch's numbers, and what is refused.

use torch_library::prelude::*;
use torch_library_kernels::aten;

fn close(found: &Tensor, want: &[f64]) -> Result<()> {
    let found = found.to_vec::<f64>()?;
    let is_close = |(found, want): (&f64, &f64)| (found - want).abs() < 1e-13;
    assert!(found.len() == want.len() && found.iter().zip(want).all(is_close), "{found:?}, not {want:?}");
    Ok(())
}

#[test]
fn sums_are_cut_off_at_zero() -> Result<()> {
    let x = Tensor::from([1.0, -2.0]);
    let sum = aten::_add_relu_Tensor::call(&x, &Tensor::from([3.0, 0.5]), 2.into())?;
    close(&sum, &[7.0, 0.0])?;
    let sum = aten::_add_relu_Scalar::call(&Tensor::from([3, -5, 1]), 2.into(), 3.into())?;
    assert_eq!(sum.to_vec::<i32>()?, [9, 1, 7]);
    let mut y = Tensor::from([1f32, f32::NAN]);
    aten::_add_relu__Scalar(&mut y, 1.into())?;
    assert_eq!(y.to_vec::<f32>()?, [2.0, 0.0]);
    assert!(aten::_add_relu__Tensor(&mut Tensor::from([1]), &Tensor::from([1.5])).is_err(), "no integers");
    for dtype in [DType::Float16, DType::UInt8, DType::Bool, DType::Complex64] {
        let x = aten::to_dtype(&x, dtype)?;
        assert!(aten::_add_relu_Tensor(&x, &x).is_err(), "{dtype}");
    }
    Ok(())
}

#[test]
fn slices_are_combined() -> Result<()> {
    let slices = Tensor::from([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]);
    let rows = Tensor::from([[1.0, 0.0, 2.0], [0.0, 0.5, -1.0]]);
    close(&aten::_compute_linear_combination(&slices, &rows)?, &[8.0, 11.0, -3.0, -3.5])?;
    let whole = |tensor: &Tensor| aten::to_dtype(tensor, DType::Int64);
    let sums = aten::_compute_linear_combination(&whole(&slices)?, &whole(&rows)?)?;
    assert_eq!(sums.to_vec::<i64>()?, [8, 11, -4, -5]);
    assert!(aten::_compute_linear_combination(&slices, &Tensor::from([1.0, 0.0, 2.0])).is_err());
    assert!(aten::_compute_linear_combination(&slices, &Tensor::from([[1.0, 0.0]])).is_err());
    assert!(aten::_compute_linear_combination(&slices, &aten::to_dtype(&rows, DType::Float32)?).is_err());
    Ok(())
}

#[test]
fn running_extremes_are_written_where_the_caller_says() -> Result<()> {
    let x = Tensor::from([1.0, 3.0, 2.0]);
    let (mut values, mut places) = (Tensor::from([0.0; 3]), Tensor::from([0i64; 3]));
    aten::_cummax_helper(&x, &mut values, &mut places, 0)?;
    assert_eq!((values.to_vec::<f64>()?, places.to_vec::<i64>()?), (vec![1.0, 3.0, 3.0], vec![0, 1, 1]));
    aten::_cummin_helper(&x, &mut values, &mut places, 0)?;
    assert_eq!((values.to_vec::<f64>()?, places.to_vec::<i64>()?), (vec![1.0; 3], vec![0; 3]));
    let mut shorter = Tensor::from([0.0; 2]);
    assert!(aten::_cummin_helper(&x, &mut shorter, &mut places, 0).is_err());
    assert!(aten::_cummin_helper(&x, &mut values, &mut Tensor::from([0i32; 3]), 0).is_err());
    close(
        &aten::_logcumsumexp(&Tensor::from([1.0, 2.0, 0.5]), 0)?,
        &[1.0, 2.313261687518223, 2.464368784107945],
    )
}

#[test]
fn tensors_are_one_vector_and_its_parts() -> Result<()> {
    let (square, number) = (Tensor::from([[1.0, 2.0], [3.0, 4.0]]), Tensor::from(5.0));
    let flat = aten::flatten_dense_tensors(&[square.clone(), number.clone()])?;
    close(&flat, &[1.0, 2.0, 3.0, 4.0, 5.0])?;
    let parts = aten::unflatten_dense_tensors(&flat, &[square.clone(), number.clone()])?;
    assert_eq!((parts[0].sizes(), parts[1].sizes()), (&[2, 2][..], &[][..]));
    close(&parts[0], &[1.0, 2.0, 3.0, 4.0])?;
    let none = Tensor::zeros(&[0, 2], DType::Float32, Device::CPU)?;
    assert_eq!(aten::unflatten_dense_tensors(&flat, &[none])?[0].sizes(), [0, 2]);
    assert!(aten::unflatten_dense_tensors(&flat, &[square.clone(), square]).is_err(), "too few elements");
    assert!(aten::flatten_dense_tensors(&[]).is_err());
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
    assert_eq!(aten::_dim_arange(&x, -1)?.to_vec::<i64>()?, [0, 1, 2]);
    assert!(aten::_dim_arange(&x, 2).is_err() && aten::_dim_arange(&Tensor::from(1), 0).is_err());
    let copy = aten::_reshape_copy(&aten::t(&x)?, &[-1])?;
    assert_eq!(copy.to_vec::<i32>()?, [0, 3, 1, 4, 2, 5]);
    assert!(!aten::_reshape_copy(&x, &[6])?.shares_storage_with(&x));
    assert!(aten::_reshape_copy(&x, &[4]).is_err());
    let line = Tensor::from([[0, 1, 2]]);
    let padded =
        |mode| aten::_pad_enum(&line, &[1, 2], mode).and_then(|x| x.to_vec::<i32>()).unwrap_or_default();
    assert_eq!(padded(0), [1, 0, 1, 2, 1, 0]);
    assert_eq!(padded(1), [0, 0, 1, 2, 2, 2]);
    assert_eq!(padded(2), [2, 0, 1, 2, 0, 1]);
    assert_eq!(padded(3), [0, 0, 1, 2, 0, 0]);
    assert!(padded(-1).is_empty() && padded(4).is_empty());
    assert_eq!(aten::_pad_circular(&line, &[1, 2])?.to_vec::<i32>()?, padded(2));
    assert!(aten::_pad_circular(&line, &[1, 4]).is_err(), "more than once around");
    Ok(())
}

#[test]
fn gradients_that_are_functions() -> Result<()> {
    let grad =
        aten::infinitely_differentiable_gelu_backward(&Tensor::from([1.0, 0.5]), &Tensor::from([1.0, -2.0]))?;
    close(&grad, &[1.0833154705876864, -0.04261590053909846])?;
    let (v, g) = (Tensor::from([[1.0, 2.0, -1.0], [0.5, 0.0, 3.0]]), Tensor::from([[2.0], [3.0]]));
    let (_, norms) = aten::_weight_norm_interface::call(&v, &g, 0)?;
    let grad = Tensor::from([[-2.0, -1.0, 0.0], [1.0, 2.0, 3.0]]);
    let (of_v, of_g) = aten::_weight_norm_differentiable_backward(&grad, &v, &g, &norms, 0)?;
    let want = [
        -1.0886621079036347,
        0.27216552697590884,
        -0.5443310539518175,
        0.4798673142967185,
        1.9727878476642875,
        -0.07997788571612026,
    ];
    close(&of_v, &want)?;
    close(&of_g, &[-1.6329931618554523, 3.1235807588017885])?;
    let (grad, x) = (Tensor::from([[[1.0, 2.0]], [[3.0, -1.0]]]), Tensor::from([[[0.0]], [[1.0]], [[2.0]]]));
    let weight = Tensor::from([[[0.0, 1.0]], [[2.0, 3.0]]]);
    let (of_x, of_weight, of_bias) =
        aten::conv_tbc_backward(&grad, &x, &weight, &Tensor::from([1.0, 1.0]), 0)?;
    close(&of_x, &[2.0, 7.0, 3.0])?;
    close(&of_weight, &[3.0, -1.0, 7.0, 0.0])?;
    close(&of_bias, &[4.0, 1.0])?;
    let factor = Tensor::from([[2.0, 0.0], [1.0, 3.0]]);
    let solution = aten::_cholesky_solve_helper(&Tensor::from([[1.0, 2.0], [3.0, 4.0]]), &factor, false)?;
    close(&solution, &[0.11111111111111113, 0.33333333333333337, 0.27777777777777773, 0.3333333333333333])?;
    let batch = aten::unsqueeze(&factor, 0)?;
    assert!(aten::_cholesky_solve_helper(&factor, &batch, false).is_err(), "no batch");
    Ok(())
}

#[test]
fn batches_are_normalised_by_the_only_implementation() -> Result<()> {
    let x = Tensor::from([[1.0, 2.0, 3.0], [4.0, 8.0, -1.0], [0.0, 5.0, 2.0]]);
    let (weight, bias) = (Tensor::from([1.0, 2.0, 0.5]), Tensor::from([0.0; 3]));
    let normalise = aten::_batch_norm_impl_index::call;
    let found = normalise(&x, Some(&weight), Some(&bias), None, None, true, 0.1, 1e-5, true)?;
    let want = [
        -0.39223159141458575,
        -2.4494877015442778,
        0.4902894892682322,
        1.3728105699510502,
        2.4494877015442773,
        -0.6864052849755251,
        -0.9805789785364644,
        0.0,
        0.19611579570729287,
    ];
    close(&found.0, &want)?;
    close(&found.1, &[1.6666666666666667, 5.0, 1.3333333333333333])?;
    assert_eq!((found.3.sizes(), found.3.dtype(), found.4), (&[0][..], DType::UInt8, 0));
    let back = aten::_batch_norm_impl_index_backward::call;
    let (mean, root, none) = (Some(&found.1), Some(&found.2), &found.3);
    let squares = aten::square(&x)?;
    let slopes = |index, weight| {
        back(index, &x, &squares, weight, None, None, mean, root, true, 1e-5, &[true; 3], none)
    };
    let grads = slopes(0, Some(&weight))?;
    let want = [
        -1.0861855358097905,
        2.449446876817297,
        0.407320424503696,
        0.2715650526029948,
        2.449528526271258,
        0.13576827024107954,
        0.8146204832067954,
        -4.898975403088555,
        -0.5430886947447761,
    ];
    close(&grads.0, &want)?;
    close(&grads.1, &[21.572737527802214, 73.48463104632833, 9.021326602535474])?;
    close(&grads.2, &[17.0, 93.0, 14.0])?;
    assert!(slopes(1, Some(&weight)).is_err(), "no other implementation");
    Ok(())
}
