//! Limits: calls beyond them are refused, instead of taking all memory or never ending.
//!
//! With strides, sizes are free: an expanded tensor with one number in memory may have any number of elements, rows or
//! dimensions. For most operations, time and memory are proportional to the number of elements of the result, so either
//! there is memory for the result or the call fails. These limits are for the other cases, where the result is not one
//! tensor.
//!
//! | what | at most | beyond |
//! |---|---|---|
//! | dimensions of a tensor | [`DIMENSIONS`] | an error of the kind `Shape` |
//! | tensors in a list that a call makes (`split`, `unbind`, …) | [`TENSORS`] | of the kind `Argument` |
//! | nested levels of [`vmap`](mod@crate::vmap) of a thread | [`LEVELS`] | of the kind `Argument` |
//! | elements that a tensor is printed with | [`SHOWN`] | the sizes are printed instead |
//! | bytes of an error's message | [`MESSAGE`] | the message ends there |

use crate::ensure;
use crate::error::Result;

pub use crate::error::MESSAGE;

/// The maximum number of dimensions of a tensor.
///
/// Geometries with more are refused, so other code need not check: an algorithm that is quadratic in the number of
/// dimensions is fast enough, and a set of dimensions fits a word.
///
/// ```
/// use torch_library::{ErrorKind, geometry::Geometry, limits};
///
/// assert!(Geometry::contiguous(&[1; limits::DIMENSIONS]).is_ok());
/// let error = Geometry::contiguous(&[1; limits::DIMENSIONS + 1]).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Shape);
/// assert_eq!(error.to_string(), "65 dimensions, a tensor has at most 64");
/// ```
///
/// PyTorch: `at::dim_bitset_size`, which operators that reduce or sort dimensions enforce; PyTorch can make tensors
/// with more dimensions, NumPy cannot.
pub const DIMENSIONS: usize = 64;

/// The maximum number of tensors that one call may return in a list.
///
/// A million tensors take half a gigabyte and a second, so a caller that really wants them can still wait for them.
pub const TENSORS: usize = 1 << 20;

/// The maximum number of nested levels of [`vmap`](mod@crate::vmap), and of gradients inside it, on a thread.
///
/// A call on a batched tensor calls the operator on its value for each level, so the stack grows with the levels.
///
/// PyTorch: `kVmapNumLevels`.
pub const LEVELS: usize = 64;

/// The maximum number of elements that a tensor is printed with. A summary shows six indices of each dimension, so it
/// takes seven dimensions to have more.
pub const SHOWN: usize = 100_000;

/// Refuses to make a list of more than [`TENSORS`] tensors.
///
/// # Errors
/// The number is larger, or negative.
///
/// ```
/// use torch_library::limits;
///
/// assert_eq!(limits::check_tensors(3)?, 3);
/// assert_eq!(
///     limits::check_tensors(1 << 45).unwrap_err().to_string(),
///     "35184372088832 tensors are too many to return, at most 1048576"
/// );
/// # Ok::<(), torch_library::Error>(())
/// ```
pub fn check_tensors(count: i64) -> Result<usize> {
    let checked = usize::try_from(count).ok().filter(|count| *count <= TENSORS);
    ensure!(checked.is_some(), Argument, "{count} tensors are too many to return, at most {TENSORS}");
    Ok(checked.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_as_many_tensors_as_the_limit_says_and_no_more() {
        let most = TENSORS as i64;
        assert_eq!((check_tensors(0).unwrap(), check_tensors(most).unwrap()), (0, TENSORS));
        for count in [most + 1, i64::MAX, -1] {
            let error = check_tensors(count).unwrap_err().to_string();
            assert_eq!(error, format!("{count} tensors are too many to return, at most 1048576"));
        }
    }
}
