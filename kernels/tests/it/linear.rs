//! Products of vectors, and of pairs of them.

use torch_library::prelude::*;
use torch_library_kernels::aten;

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
