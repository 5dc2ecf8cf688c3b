//! Products of vectors, and of pairs of them.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

use crate::assert_close;

#[test]
fn pairs_of_vectors_are_multiplied_by_matrices() -> Result<()> {
    let (left, right) =
        (Tensor::from([[1.0, 2.0], [0.0, 1.0]]), Tensor::from([[1.0, -1.0, 2.0], [3.0, 0.0, 1.0]]));
    let weight = Tensor::from([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]]);
    let bias = Tensor::from([0.5, -0.5]);
    let out = aten::bilinear::with(&left, &right, &weight).bias(Some(&bias)).call()?;
    assert_close(&out, &[-0.5, 9.5, 0.5, 7.5])?;
    let refused = aten::bilinear(&right, &left, &weight).unwrap_err().to_string();
    assert!(refused.contains("expected [.., i], [.., j] and [o, i, j]"), "{refused}");
    Ok(())
}

#[test]
fn products_of_nothing_are_sums_of_nothing_in_every_type() -> Result<()> {
    for dtype in [DType::BFloat16, DType::Float16, DType::Float32] {
        let zeros = |sizes: &[i64]| aten::zeros::with(sizes).dtype(Some(dtype)).call();
        let out = aten::bilinear(&zeros(&[2, 3])?, &zeros(&[2, 4])?, &zeros(&[0, 3, 4])?)?;
        assert_eq!((out.sizes(), out.dtype()), (&[2, 0][..], dtype));
        let empty = zeros(&[2, 0])?;
        let sums = aten::_trilinear::call(&empty, &empty, &empty, &[], &[], &[], &[1], 1)?;
        assert_eq!(sums.to_dtype(DType::Float64)?.to_vec::<f64>()?, [0.0, 0.0]);
    }
    Ok(())
}

#[test]
fn a_kronecker_product_has_the_strides_of_its_factors() -> Result<()> {
    let (a, b) = (Tensor::from([[1.0, 2.0], [3.0, 4.0]]).t()?, Tensor::from([[1.0, 0.0], [2.0, 5.0]]).t()?);
    let product = aten::kron(&a, &b)?;
    assert_eq!((product.sizes(), product.strides()), (&[4, 4][..], &[1, 4][..]));
    assert_eq!(product.select(0, 1)?.to_vec::<f64>()?, [0.0, 5.0, 0.0, 15.0]);
    Ok(())
}

#[test]
fn a_cross_product_is_row_major() -> Result<()> {
    let x = Tensor::from([[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]; 2]).permute(&[0, 2, 1])?;
    let product = aten::linalg_cross::with(&x, &x.add(1)?).dim(-1).call()?;
    assert_eq!((product.sizes(), product.strides()), (&[2, 2, 3][..], &[6, 3, 1][..]));
    assert_eq!(product.to_vec::<f64>()?[..3], [-2.0, 4.0, -2.0]);
    Ok(())
}
