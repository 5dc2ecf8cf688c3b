//! Distinct elements.

use torch_library::prelude::*;
use torch_library_kernels::aten;

const NAN: f32 = f32::NAN;

fn longs(values: &[i64]) -> Result<Tensor> {
    Tensor::from_vec(values.to_vec(), &[values.len() as i64])
}

#[test]
fn distinct_elements_are_counted() -> Result<()> {
    let x = Tensor::from([[2f32, NAN, -0.0], [0.0, 2.0, NAN]]);
    let (values, inverse, counts) = aten::_unique2::call(&x, true, true, true)?;
    let values = values.to_vec::<f32>()?;
    assert!(values[..2] == [0.0, 2.0] && values[2].is_nan() && values[3].is_nan() && values.len() == 4);
    assert_eq!((inverse.sizes(), inverse.to_vec::<i64>()?), (&[2, 3][..], vec![1, 2, 0, 0, 1, 3]));
    assert_eq!(counts.to_vec::<i64>()?, [2, 2, 1, 1]);
    let (values, inverse, counts) = aten::_unique2(&longs(&[i64::MAX, i64::MIN, i64::MAX])?)?;
    assert_eq!(values.to_vec::<i64>()?, [i64::MIN, i64::MAX]);
    assert_eq!((inverse.sizes(), counts.sizes()), (&[0][..], &[0][..]));
    let (values, inverse, counts) = aten::_unique2::call(&longs(&[])?, true, true, true)?;
    assert_eq!([values.sizes(), inverse.sizes(), counts.sizes()], [[0]; 3]);
    Ok(())
}

#[test]
fn runs_are_taken_once() -> Result<()> {
    let x = Tensor::from([1f32, 1.0, NAN, NAN, 2.0, 1.0]);
    let (values, _, _) = aten::unique_consecutive(&x)?;
    let (all, inverse, counts) =
        aten::unique_consecutive::with(&x).return_inverse(true).return_counts(true).call()?;
    for values in [values, all] {
        let values = values.to_vec::<f32>()?;
        assert!(values.len() == 5 && values[0] == 1.0 && values[2].is_nan() && values[3..] == [2.0, 1.0]);
    }
    assert_eq!(inverse.to_vec::<i64>()?, [0, 0, 1, 2, 3, 4]);
    assert_eq!(counts.to_vec::<i64>()?, [2, 1, 1, 1, 1]);
    assert_eq!(aten::unique_consecutive(&Tensor::from(3))?.0.to_vec::<i32>()?, [3]);
    assert_eq!(aten::unique_consecutive(&longs(&[])?)?.0.sizes(), [0]);
    let empty = aten::unique_consecutive::with(&aten::ones(&[5, 0, 5])?).dim(Some(1)).call()?.0;
    assert_eq!((empty.sizes(), empty.strides()), (&[5, 0, 5][..], &[5, 5, 1][..]));
    assert_eq!(
        aten::unique_consecutive(&Tensor::from([true, true, false]))?.0.to_vec::<bool>()?,
        [true, false]
    );
    Ok(())
}

#[test]
fn distinct_elements_have_places() -> Result<()> {
    let (values, inverse) = aten::_unique::with(&Tensor::from([3i64, 1, 3])).return_inverse(true).call()?;
    assert_eq!((values.to_vec::<i64>()?, inverse.to_vec::<i64>()?), (vec![1, 3], vec![1, 0, 1]));
    Ok(())
}
