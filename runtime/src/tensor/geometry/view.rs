//! Reshaping without copying: sizes with a `-1`, and strides for a new shape over the same elements.

use super::{Dims, contiguous_strides, numel};
use crate::error::Result;
use crate::{bail, ensure};

/// Replaces a size of `-1` in a shape for `elements` elements by the size that results.
///
/// ```
/// use torch_library::geometry::infer_view_size;
///
/// assert_eq!(infer_view_size(&[2, -1], 6)?.as_slice(), [2, 3]);
/// # Ok::<(), torch_library::Error>(())
/// ```
///
/// # Errors
/// Two sizes of `-1`, other negative sizes, a shape with another number of elements, a `-1` beside a 0 (any size would
/// do).
///
/// PyTorch: `at::infer_size` for `view` and `reshape`.
pub fn infer_view_size(shape: &[i64], elements: i64) -> Result<Dims> {
    let mut sizes = Dims::from_slice(shape);
    let Some(unknown) = shape.iter().position(|size| *size == -1) else {
        ensure!(numel(shape)? == elements, Shape, "shape {shape:?} does not fit {elements} elements");
        return Ok(sizes);
    };
    sizes[unknown] = 1;
    ensure!(
        !sizes.contains(&-1),
        Shape,
        "shape {shape:?} has -1 more than once, only one size can be inferred"
    );
    let known = numel(&sizes)?;
    if known == 0 && elements == 0 {
        bail!(Shape, "shape {shape:?} does not determine the size given as -1 for a tensor without elements");
    }
    ensure!(known != 0 && elements % known == 0, Shape, "shape {shape:?} does not fit {elements} elements");
    sizes[unknown] = elements / known;
    Ok(sizes)
}

/// The strides with which the elements of a geometry have a new shape with the same number of elements, if possible.
///
/// # How it works
/// The old dimensions are divided into runs, innermost first, in which each stride is the extent of the next dimension:
/// the elements of a run are equidistant. The new shape is possible if its dimensions can be distributed over the runs
/// so that each run gets exactly its number of elements.
///
/// PyTorch: `at::detail::computeStride`.
pub fn computed_view_strides(sizes: &[i64], strides: &[i64], shape: &[i64]) -> Option<Dims> {
    if sizes.contains(&0) {
        return Some(if sizes == shape { Dims::from_slice(strides) } else { contiguous_strides(shape) });
    }
    if sizes.is_empty() {
        return Some(Dims::from_elem(1, shape.len()));
    }
    let mut result = Dims::from_elem(0, shape.len());
    let mut undealt = shape.len();
    let (mut run, mut step) = (1i64, strides[sizes.len() - 1]);
    for dim in (0..sizes.len()).rev() {
        run = run.saturating_mul(sizes[dim]);
        let run_goes_on = dim > 0 && (sizes[dim - 1] == 1 || strides[dim - 1] == run.saturating_mul(step));
        if run_goes_on {
            continue;
        }
        let mut dealt = 1i64;
        while undealt > 0 && (dealt < run || shape[undealt - 1] == 1) {
            undealt -= 1;
            result[undealt] = dealt.saturating_mul(step);
            dealt = dealt.saturating_mul(shape[undealt]);
        }
        if dealt != run {
            return None;
        }
        if dim > 0 {
            (run, step) = (1, strides[dim - 1]);
        }
    }
    (undealt == 0).then_some(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_size_is_worked_out() {
        assert_eq!(infer_view_size(&[-1], 0).unwrap().as_slice(), [0]);
        assert_eq!(infer_view_size(&[], 1).unwrap().as_slice(), [] as [i64; 0]);
        assert_eq!(infer_view_size(&[3, -1, 2], 12).unwrap().as_slice(), [3, 2, 2]);
        let cases: [(&[i64], i64, &str); 5] = [
            (&[-1, -1], 4, "shape [-1, -1] has -1 more than once, only one size can be inferred"),
            (
                &[-1, 0],
                0,
                "shape [-1, 0] does not determine the size given as -1 for a tensor without elements",
            ),
            (&[4, -1], 6, "shape [4, -1] does not fit 6 elements"),
            (&[5], 6, "shape [5] does not fit 6 elements"),
            (&[-2, 3], 6, "sizes [-2, 3] must not be negative"),
        ];
        for (shape, elements, want) in cases {
            assert_eq!(infer_view_size(shape, elements).unwrap_err().to_string(), want);
        }
    }

    #[test]
    fn views_need_runs_that_match() {
        let strides = |sizes: &[i64], strides: &[i64], shape: &[i64]| {
            computed_view_strides(sizes, strides, shape).map(|strides| strides.to_vec())
        };
        assert_eq!(strides(&[2, 3], &[3, 1], &[6]), Some(vec![1]));
        assert_eq!(strides(&[2, 3], &[1, 2], &[6]), None);
        assert_eq!(strides(&[2, 3], &[1, 2], &[2, 1, 3]), Some(vec![1, 6, 2]));
        assert_eq!(strides(&[4, 3], &[1, 4], &[2, 2, 3]), Some(vec![2, 1, 4]));
        assert_eq!(strides(&[4], &[2], &[2, 2]), Some(vec![4, 2]));
        assert_eq!(strides(&[], &[], &[1, 1]), Some(vec![1, 1]));
        assert_eq!(strides(&[1], &[5], &[]), Some(vec![]));
        assert_eq!(strides(&[0, 3], &[3, 1], &[5, 0]), Some(vec![1, 1]));
        assert_eq!(strides(&[2, 1, 3], &[3, 77, 1], &[6]), Some(vec![1]));
        assert_eq!(strides(&[3, 4], &[0, 1], &[12]), None);
        assert_eq!(strides(&[3, 4], &[0, 0], &[12]), Some(vec![0]));
    }
}
