//! Tensors whose elements are joined, chosen and rearranged.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

fn matrix() -> Tensor {
    Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
}

#[test]
fn chunks_are_filled_up_and_joined() -> Result<()> {
    let y = aten::arange(12.0.into())?.reshape(&[3, 4])?.to_dtype(DType::Float64)?;
    let joined = aten::_chunk_cat(&[matrix(), y], 0, 2)?;
    assert_eq!(joined.sizes(), [2, 11]);
    let expected = [1., 2., 3., 0., 1., 2., 3., 4., 5., 6., 7., 4., 5., 6., 8., 9., 10., 11., 0., 0., 0., 0.];
    assert_eq!(joined.to_vec::<f64>()?, expected);
    let columns = aten::_chunk_cat(&[matrix(), matrix()], -1, 2)?;
    assert_eq!(columns.to_vec::<f64>()?, [1., 2., 1., 2., 3., 0., 3., 0., 4., 5., 4., 5., 6., 0., 6., 0.]);
    assert!(aten::_chunk_cat(&[], 0, 2).is_err() && aten::_chunk_cat(&[matrix()], 0, 0).is_err());
    assert!(aten::_chunk_cat(&[matrix(), aten::zeros(&[2, 3])?], 0, 2).is_err());
    assert!(aten::_chunk_cat(&[Tensor::from(1.0)], 0, 2).is_err());
    Ok(())
}

#[test]
fn choices_of_elements() -> Result<()> {
    let x = Tensor::from([10i64, 11, 12]);
    assert_eq!(aten::combinations(&x)?.to_vec::<i64>()?, [10, 11, 10, 12, 11, 12]);
    let with = aten::combinations::with(&x).with_replacement(true).call()?;
    assert_eq!(with.to_vec::<i64>()?, [10, 10, 10, 11, 10, 12, 11, 11, 11, 12, 12, 12]);
    let sizes = |r: i64| Ok::<_, Error>(aten::combinations::with(&x).r(r).call()?.sizes().to_vec());
    assert_eq!((sizes(0)?, sizes(3)?, sizes(4)?), (vec![0], vec![1, 3], vec![0, 4]));
    assert!(sizes(-1).is_err() && aten::combinations(&matrix()).is_err());
    let many = aten::zeros(&[1000])?;
    let error = aten::combinations::with(&many).r(500).call().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutOfMemory, "{error}");
    Ok(())
}

#[test]
fn copies_are_as_many_as_announced() -> Result<()> {
    let x = matrix();
    let copies =
        |size| aten::repeat_interleave_self_int::with(&x, 2).dim(Some(1)).output_size(Some(size)).call();
    assert_eq!(copies(6)?.sizes(), [2, 6]);
    let error = copies(5).unwrap_err().to_string();
    assert_eq!(error, "aten::repeat_interleave.self_int: output_size is 5, the result has 6 slices");
    Ok(())
}

#[test]
fn a_number_has_no_dimension_to_repeat_or_to_take_along() -> Result<()> {
    let (number, one) = (Tensor::from(1.0), Tensor::from([1i64]));
    for dim in [0, -1] {
        let repeated = aten::repeat_interleave_self_int::with(&number, 2).dim(Some(dim)).call();
        assert!(repeated.unwrap_err().to_string().contains("a tensor without dimensions has no dimension"));
        assert!(aten::repeat_interleave_self_Tensor::with(&number, &one).dim(Some(dim)).call().is_err());
        assert!(aten::take_along_dim::with(&number, &Tensor::from(0i64)).dim(Some(dim)).call().is_err());
    }
    assert_eq!(aten::repeat_interleave_self_int(&number, 2)?.to_vec::<f64>()?, [1.0, 1.0]);
    // Without rows, there is nothing that a size could contradict.
    let none = Tensor::from_vec(Vec::<i64>::new(), &[0])?;
    let rows = matrix().narrow(0, 0, 0)?;
    let repeated = aten::repeat_interleave_self_Tensor::with(&rows, &none).dim(Some(0)).output_size(Some(6));
    assert_eq!(repeated.call()?.sizes(), [0, 3]);
    Ok(())
}

#[test]
fn rearranged_pixels_have_the_strides_of_their_format_in_dimensions_of_size_one() -> Result<()> {
    let x = aten::as_strided(&aten::zeros(&[1, 1, 6, 6])?, &[1, 1, 6, 6], &[36, 1, 6, 1])?;
    assert_eq!(aten::pixel_unshuffle(&x, 1)?.strides(), [36, 1, 6, 1]);
    assert_eq!(aten::pixel_unshuffle(&x, 2)?.strides(), [36, 1, 12, 4]);
    assert_eq!(aten::pixel_shuffle(&x, 1)?.strides(), [36, 1, 6, 1]);
    assert_eq!(aten::pixel_unshuffle(&aten::zeros(&[1, 1, 6, 6])?, 1)?.strides(), [36, 36, 6, 1]);
    Ok(())
}
