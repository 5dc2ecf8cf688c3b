//! Look-ups of elements in sorted rows.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

fn longs(values: &[i64]) -> Result<Tensor> {
    Tensor::from_vec(values.to_vec(), &[values.len() as i64])
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
fn integers_are_looked_up_among_bools() -> Result<()> {
    let row = Tensor::from([false, true, true]);
    for (number, place) in [(Scalar::from(1), 1), (Scalar::from(2), 3), (Scalar::from(0.5), 1)] {
        assert_eq!(aten::searchsorted_Scalar(&row, number)?.item()?.to::<i64>()?, place);
        assert_eq!(aten::bucketize_Scalar(number, &row)?.item()?.to::<i64>()?, place);
    }
    assert!(aten::searchsorted_Scalar(&row, true.into()).is_err(), "as in PyTorch");
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

#[test]
fn rows_of_a_sparse_matrix_are_found_from_their_ends_and_back() -> Result<()> {
    let rows = longs(&[0, 0, 2, 2, 2])?;
    let ends = aten::_convert_indices_from_coo_to_csr(&rows, 4)?;
    assert_eq!(ends.to_vec::<i64>()?, [0, 2, 2, 5, 5]);
    let narrow = aten::_convert_indices_from_coo_to_csr::with(&longs(&[])?, 2).out_int32(true).call()?;
    assert_eq!(narrow.to_vec::<i32>()?, [0, 0, 0]);
    // PyTorch corrupts its memory where rows are not in order; here the counts are of no use, but safe.
    assert_eq!(aten::_convert_indices_from_coo_to_csr(&longs(&[2, 0, 1])?, 4)?.numel(), 5);
    assert!(aten::_convert_indices_from_coo_to_csr(&Tensor::from([0.5]), 4).is_err());
    assert!(aten::_convert_indices_from_coo_to_csr(&Tensor::from([[0i64]]), 4).is_err());

    let columns = longs(&[1, 2, 0, 1, 2])?;
    let back = aten::_convert_indices_from_csr_to_coo(&longs(&[0, 2, 2, 5])?, &columns)?;
    assert_eq!(back.to_vec::<i64>()?, [0, 0, 2, 2, 2, 1, 2, 0, 1, 2]);
    let (ends, columns) = (Tensor::from([[0i32, 1, 2], [0, 2, 2]]), Tensor::from([[0i32, 1], [1, 0]]));
    let convert = || aten::_convert_indices_from_csr_to_coo::with(&ends, &columns);
    assert_eq!(convert().call()?.to_vec::<i64>()?, [0, 0, 1, 1, 0, 1, 0, 0, 0, 1, 1, 0]);
    let turned = convert().transpose(true).out_int32(true).call()?;
    assert_eq!(turned.to_vec::<i32>()?, [0, 0, 1, 1, 0, 1, 1, 0, 0, 1, 0, 0]);
    assert!(aten::_convert_indices_from_csr_to_coo(&ends, &longs(&[0, 1])?).is_err());
    Ok(())
}
