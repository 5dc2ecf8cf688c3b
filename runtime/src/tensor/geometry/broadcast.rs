//! Broadcasting of shapes.

use super::Dims;
use crate::bail;
use crate::error::Result;

/// The shape that two operands broadcast to: aligned at the last dimension, sizes are equal or one of them is 1.
///
/// ```
/// use torch_library::geometry::infer_size;
///
/// assert_eq!(infer_size(&[5, 1, 4], &[3, 1])?.as_slice(), [5, 3, 4]);
/// assert!(infer_size(&[2], &[3]).is_err());
/// # Ok::<(), torch_library::Error>(())
/// ```
///
/// # Errors
/// Shapes that do not broadcast.
///
/// PyTorch: `at::infer_size`.
pub fn infer_size(a: &[i64], b: &[i64]) -> Result<Dims> {
    let ndim = a.len().max(b.len());
    let size = |sizes: &[i64], dim: usize| (dim + sizes.len()).checked_sub(ndim).map_or(1, |dim| sizes[dim]);
    let mut result = Dims::with_capacity(ndim);
    for dim in 0..ndim {
        result.push(match (size(a, dim), size(b, dim)) {
            (1, size) | (size, 1) => size,
            (x, y) if x == y => x,
            (x, y) => {
                let from_end = ndim - dim;
                bail!(
                    Shape,
                    "sizes {a:?} and {b:?} do not broadcast: {x} and {y} at dimension -{from_end}, neither is 1"
                )
            }
        });
    }
    Ok(result)
}

/// The shape that any number of operands broadcast to; no operands give no dimensions.
///
/// # Errors
/// Shapes that do not broadcast; the message has the shape so far and the one that does not fit.
///
/// PyTorch: `torch.broadcast_shapes`.
pub fn broadcast_shapes<'a>(shapes: impl IntoIterator<Item = &'a [i64]>) -> Result<Dims> {
    shapes.into_iter().try_fold(Dims::new(), |result, shape| infer_size(&result, shape))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ones_and_missing_dimensions_stretch() {
        let cases: [(&[i64], &[i64], &[i64]); 5] = [
            (&[], &[], &[]),
            (&[], &[2, 3], &[2, 3]),
            (&[3], &[2, 1], &[2, 3]),
            (&[1, 0], &[4, 1], &[4, 0]),
            (&[8, 1, 6, 1], &[7, 1, 5], &[8, 7, 6, 5]),
        ];
        for (a, b, want) in cases {
            assert_eq!(infer_size(a, b).unwrap().as_slice(), want);
            assert_eq!(infer_size(b, a).unwrap().as_slice(), want);
        }
        assert_eq!(broadcast_shapes([&[2, 1][..], &[3], &[1]]).unwrap().as_slice(), [2, 3]);
    }

    #[test]
    fn errors_name_both_shapes() {
        assert_eq!(
            infer_size(&[2, 3], &[2, 4]).unwrap_err().to_string(),
            "sizes [2, 3] and [2, 4] do not broadcast: 3 and 4 at dimension -1, neither is 1"
        );
        assert!(infer_size(&[0], &[2]).is_err());
    }
}
