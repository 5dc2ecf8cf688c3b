//! Look-ups of elements among others.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

fn longs(values: &[i64]) -> Result<Tensor> {
    Tensor::from_vec(values.to_vec(), &[values.len() as i64])
}

#[test]
fn elements_are_looked_up_among_others() -> Result<()> {
    let x = Tensor::from([[f32::NAN, 0.0], [-0.0, 3.0]]);
    let tests = Tensor::from([3.0, f64::NAN, 0.0, 3.0]);
    assert_eq!(aten::isin_Tensor_Tensor(&x, &tests)?.to_vec::<bool>()?, [false, true, true, true]);
    let others = aten::isin_Tensor_Tensor::with(&x, &tests).invert(true).call()?;
    assert_eq!(others.to_vec::<bool>()?, [true, false, false, false]);
    let found = aten::isin_Tensor_Tensor(&longs(&[1, (1 << 31) + 5])?, &Tensor::from([1i32, 5]))?;
    assert_eq!(found.to_vec::<bool>()?, [true, false]);
    assert_eq!(aten::isin_Tensor_Tensor(&Tensor::from(2), &longs(&[])?)?.item()?, Scalar::Bool(false));
    assert!(aten::isin_Tensor_Tensor(&Tensor::from(true), &Tensor::from(true)).is_err());
    Ok(())
}

#[test]
fn places_in_sorted_rows_are_before_or_behind_equals() -> Result<()> {
    let (row, x) =
        (Tensor::from([-1f32, 0.0, 0.0, 2.0, f32::NAN]), Tensor::from([-0.0f32, f32::NAN, 9.0, -5.0]));
    // PyTorch's search steps past NaN in the row, and for a NaN that is searched for, past the whole row.
    assert_eq!(aten::searchsorted_Tensor(&row, &x)?.to_vec::<i64>()?, [1, 5, 5, 0]);
    let right = aten::searchsorted_Tensor::with(&row, &x).right(true).out_int32(true).call()?;
    assert_eq!(right.to_vec::<i32>()?, [5, 5, 5, 0]);
    assert_eq!(aten::searchsorted_Tensor(&aten::zeros(&[0])?, &x)?.to_vec::<i64>()?, [0; 4]);
    Ok(())
}

#[test]
fn values_are_placed_in_rows_of_any_length() -> Result<()> {
    for n in 0..40i64 {
        let row = aten::arange(n.into())?.to_dtype(DType::Float32)?;
        let x = aten::arange::with((2 * n + 3).into())
            .call()?
            .to_dtype(DType::Float32)?
            .mul_Scalar(0.5.into())?;
        let want = |right: bool| -> Vec<i64> {
            let behind = |x: i64| if right { x / 2 + 1 } else { (x + 1) / 2 };
            (0..2 * n + 3).map(|x| behind(x).min(n)).collect()
        };
        for right in [false, true] {
            let found = aten::searchsorted_Tensor::with(&row, &x).right(right).call()?;
            assert_eq!(found.to_vec::<i64>()?, want(right), "{n} numbers, right {right}");
        }
    }
    Ok(())
}
