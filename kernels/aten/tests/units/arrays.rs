//! Arrays of `ndarray` as tensors, and back.

use ndarray::{array, s};
use torch_library::prelude::*;
use torch_library_aten::data::ndarray::{from_array, lend, to_array};

#[test]
fn arrays_come_in_with_their_strides() -> Result<()> {
    let whole = array![[1, 2, 3], [4, 5, 6]];
    assert_eq!(from_array(whole.clone().reversed_axes())?.to_vec::<i32>()?, [1, 4, 2, 5, 3, 6]);
    let part = whole.clone().slice_move(s![.., 1..]);
    let x = from_array(part)?;
    assert_eq!((x.sizes(), x.strides(), x.to_vec::<i32>()?), (&[2, 2][..], &[3, 1][..], vec![2, 3, 5, 6]));
    let mut backwards = whole;
    backwards.invert_axis(ndarray::Axis(1));
    assert_eq!(from_array(backwards)?.to_vec::<i32>()?, [3, 2, 1, 6, 5, 4]);
    assert_eq!(from_array(ndarray::Array2::<f32>::zeros((2, 0)))?.sizes(), [2, 0]);
    assert_eq!(from_array(ndarray::arr0(1.5))?.sizes(), [0i64; 0]);
    Ok(())
}

#[test]
fn views_see_the_tensors_memory() -> Result<()> {
    let x = Tensor::from([[1.0, 2.0], [3.0, 4.0]]).strided_view(&[2, 2], &[1, 2], 0)?;
    assert_eq!(lend::<f64>(&x)?.view(), array![[1.0, 3.0], [2.0, 4.0]].into_dyn());
    assert!(to_array::<f32>(&x).is_err(), "another type");
    Ok(())
}

#[test]
fn a_view_of_nothing_may_lie_anywhere() -> Result<()> {
    let x = Tensor::from([1.5f64]);
    let address = x.storage().data_ptr().expect("memory of the host").addr().get() as u64;
    // An offset, in elements of eight bytes, that leads to address 0; then strides that lead out of memory.
    let offset = (address.wrapping_neg() / 8) as i64;
    for (strides, offset) in [([1, 1], offset), ([1, i64::MAX / 2], 0)] {
        let none = x.strided_view(&[0, 3], &strides, offset)?;
        let lent = lend::<f64>(&none)?;
        assert!(
            lent.view().is_empty() && lent.view().as_ptr().is_aligned() && !lent.view().as_ptr().is_null()
        );
    }
    Ok(())
}
