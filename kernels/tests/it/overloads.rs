//! Overloads, and variants that write, of operators that have others: numbers first, bounds and places as tensors.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

#[test]
fn numbers_may_come_first() -> Result<()> {
    let x = Tensor::from([3i64, -3]);
    assert_eq!(aten::remainder_Scalar_Tensor(5.into(), &x)?.to_vec::<i64>()?, [2, -1]);
    assert_eq!(aten::remainder_Scalar_Tensor(5.5.into(), &x)?.to_vec::<f32>()?, [2.5, -0.5]);
    assert_eq!(aten::bitwise_and_Scalar_Tensor(5.into(), &x)?.to_vec::<i64>()?, [1, 5]);
    let shifts = Tensor::from([3i64, 1]);
    assert_eq!(aten::bitwise_left_shift_Scalar_Tensor(5.into(), &shifts)?.to_vec::<i64>()?, [40, 10]);
    assert_eq!(aten::float_power_Scalar(2.into(), &shifts)?.to_vec::<f64>()?, [8.0, 2.0]);
    assert!(aten::isin_Scalar_Tensor(3.into(), &x)?.item()?.to::<bool>()?);
    assert!(aten::isin_Scalar_Tensor(true.into(), &x).is_err());
    Ok(())
}

#[test]
fn bounds_may_be_tensors() -> Result<()> {
    let (x, bound) = (Tensor::from([1.0, 2.0, 3.0, f64::NAN]), Tensor::from(2.0));
    x.set_requires_grad(true)?;
    let y = aten::clamp_max_Tensor(&x, &bound)?;
    assert_eq!(y.to_vec::<f64>()?[..3], [1.0, 2.0, 2.0]);
    y.sum()?.backward()?;
    assert_eq!(x.grad().expect("a gradient").to_vec::<f64>()?, [1.0, 0.5, 0.0, 1.0]);
    let mut whole = Tensor::from([1i64, 5]);
    aten::clamp_min__Tensor(&mut whole, &Tensor::from([2i64]))?;
    assert_eq!(whole.to_vec::<i64>()?, [2, 5]);
    Ok(())
}

#[test]
fn numbers_are_rounded_to_digits() -> Result<()> {
    let x = Tensor::from([15.25f32, 25.0, -1.05]);
    assert_eq!(aten::round_decimals(&x, 1)?.to_vec::<f32>()?, [15.2, 25.0, -1.0]);
    assert_eq!(aten::round_decimals(&x, -1)?.to_vec::<f32>()?, [20.0, 20.0, 0.0]);
    assert!(aten::round_decimals(&x, i64::MIN)?.to_vec::<f32>()?[0].is_nan(), "as in PyTorch");
    assert_eq!(aten::special_round(&x)?.to_vec::<f32>()?, [15.0, 25.0, -1.0]);
    assert!(aten::round_decimals(&Tensor::from([1i64]), 1).is_err());
    Ok(())
}

#[test]
fn a_value_in_a_tensor_gets_the_gradient_of_all_places() -> Result<()> {
    let (x, value) = (aten::zeros(&[3, 2])?, Tensor::from(7.0f32));
    x.set_requires_grad(true)?;
    value.set_requires_grad(true)?;
    let y = aten::index_fill_int_Tensor(&x, 0, &Tensor::from([2i64, 0, 2]), &value)?;
    assert_eq!(y.to_vec::<f32>()?, [7.0, 7.0, 0.0, 0.0, 7.0, 7.0]);
    y.sum()?.backward()?;
    assert_eq!(value.grad().expect("a gradient").to_vec::<f32>()?, [4.0], "a place counts once");
    let error =
        aten::index_fill_int_Tensor(&x, 0, &Tensor::from([0i64]), &Tensor::from([7.0f32])).unwrap_err();
    assert!(error.to_string().contains("expected a tensor without dimensions"), "{error}");
    Ok(())
}

#[test]
fn elements_are_joined_where_an_index_says() -> Result<()> {
    let (x, index, source) =
        (Tensor::from([2.0, 2.0, 2.0]), Tensor::from([0i64, 1, 1]), Tensor::from([1.0, 2.0, 3.0]));
    assert_eq!(aten::scatter_reduce(&x, 0, &index, &source, "add")?.to_vec::<f64>()?, [3.0, 7.0, 2.0]);
    assert_eq!(
        aten::scatter_value_reduce(&x, 0, &index, 3.into(), "multiply")?.to_vec::<f64>()?,
        [6.0, 18.0, 2.0]
    );
    let error = aten::scatter_reduce(&x, 0, &index, &source, "mean").unwrap_err().to_string();
    assert!(error.contains("unknown reduce \"mean\", expected \"add\" or \"multiply\""), "{error}");
    Ok(())
}

#[test]
fn places_may_be_tensors() -> Result<()> {
    let x = aten::arange(5.into())?;
    assert_eq!(aten::narrow_Tensor(&x, 0, &Tensor::from(-2i64), 2)?.to_vec::<i64>()?, [3, 4]);
    assert!(aten::narrow_Tensor(&x, 0, &Tensor::from([1i64]), 2).is_err());
    let parts = aten::tensor_split_tensor_indices_or_sections(&x, &Tensor::from([1i64, 3]))?;
    assert_eq!(parts.iter().map(Tensor::numel).collect::<Vec<_>>(), [1, 2, 2]);
    assert!(aten::tensor_split_tensor_indices_or_sections(&x, &Tensor::from(2.0)).is_err());
    let found = aten::r#where(&Tensor::from([[1, 0], [2, 3]]))?;
    assert_eq!([&found[0], &found[1]].map(|part| part.to_vec::<i64>().unwrap()), [[0, 1, 1], [0, 0, 1]]);
    let ends = (Tensor::from(1i64), Tensor::from(3.0f32));
    assert_eq!(aten::linspace_Tensor_Tensor(&ends.0, &ends.1, 3)?.to_vec::<f32>()?, [1.0, 2.0, 3.0]);
    assert!(aten::linspace_Tensor_Scalar(&Tensor::from([1i64]), 3.into(), 3).is_err());
    Ok(())
}

#[test]
fn tensors_are_turned_and_converted() -> Result<()> {
    let mut x = Tensor::from([[1.0, 2.0, 3.0]]);
    assert_eq!(aten::t_(&mut x)?.sizes(), [3, 1]);
    assert_eq!(aten::squeeze__dims(&mut x, &[1])?.sizes(), [3]);
    assert!(aten::to_other(&x, &x)?.is_same(&x) && aten::type_as(&x, &x)?.is_same(&x));
    assert_eq!(aten::to_device(&x, Device::CPU, DType::Int32)?.to_vec::<i32>()?, [1, 2, 3]);
    assert!(!aten::to_dtype_layout::with(&x).copy(true).call()?.is_same(&x));
    let mut y = Tensor::from([Complex64::new(1.0, 2.0)]);
    assert_eq!(aten::conj_physical_(&mut y)?.to_vec::<Complex64>()?, [Complex64::new(1.0, -2.0)]);
    assert_eq!(aten::atleast_2d_Sequence(&[x, Tensor::from(1.0)])?.len(), 2);
    Ok(())
}

#[test]
fn indices_of_triangles_are_indices() {
    let floats = aten::tril_indices::with(2, 2).dtype(Some(DType::Float32)).call();
    assert!(floats.unwrap_err().to_string().contains("float32 cannot hold indices"));
}

#[test]
fn overloads_are_found_by_their_arguments() -> Result<()> {
    let (x, y) = (Tensor::from([[5i64, 6], [7, 9]]), Tensor::from([3i64, 12]));
    assert_eq!(
        aten::bitwise_and(&x, &y)?.to_vec::<i64>()?,
        aten::bitwise_and_Tensor(&x, &y)?.to_vec::<i64>()?
    );
    assert_eq!(aten::bitwise_and(&x, 4)?.to_vec::<i64>()?, [4, 4, 4, 0]);
    assert_eq!(x.bitwise_and(&y)?.bitwise_or(16)?.to_vec::<i64>()?, [17, 20, 19, 24]);
    assert_eq!(aten::add(&x, 0.5)?.to_vec::<f32>()?, [5.5, 6.5, 7.5, 9.5]);
    assert_eq!(aten::unbind(&x)?[1].to_vec::<i64>()?, x.unbind()?[1].to_vec::<i64>()?);
    assert_eq!(aten::transpose(&x, 0, 1)?.to_vec::<i64>()?, [5, 7, 6, 9]);
    let mut z = x.copy()?;
    aten::bitwise_xor_(&mut z, &x)?;
    assert_eq!(z.to_vec::<i64>()?, [0; 4]);
    Ok(())
}
