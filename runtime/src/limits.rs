//! How much is too much: what a call is refused for, rather than that it takes all memory or never ends.
//!
//! Sizes cost nothing in a strided world: an expanded tensor of one number has as many elements, rows or dimensions as
//! somebody writes. Most of what is done with them costs as much as the result has elements, so there is memory for the
//! result or an error says that there is none. These limits are for the rest, where the result is not one tensor.
//!
//! | what | at most | else |
//! |---|---|---|
//! | dimensions of a tensor | [`DIMENSIONS`] | an error of the kind `Shape` |
//! | tensors in a list that a call makes (`split`, `unbind`, …) | [`TENSORS`] | of the kind `Argument` |
//! | levels of [`vmap`](mod@crate::vmap), one in the other, of a thread | [`LEVELS`] | of the kind `Argument` |
//! | elements that a tensor's text shows | [`SHOWN`] | the text has the sizes in their place |
//! | bytes of an error's message | [`MESSAGE`] | the message ends there |

use crate::ensure;
use crate::error::Result;

pub use crate::error::MESSAGE;

/// The number of dimensions that a tensor may have.
///
/// Geometries with more are refused, so nothing else has to count: what takes quadratic time in the number of
/// dimensions ends as soon as what takes linear time, and a set of dimensions is a word.
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
/// PyTorch: `at::dim_bitset_size`, which operators that reduce or sort dimensions ask for; it makes tensors that have
/// more, and NumPy does not.
pub const DIMENSIONS: usize = 64;

/// The number of tensors that one call may return in a list.
///
/// A million tensors take half a gigabyte, and a second: whoever means to have so many can still wait for them.
pub const TENSORS: usize = 1 << 20;

/// The number of levels of [`vmap`](mod@crate::vmap) and of gradients inside of it that a thread may be in.
///
/// A call on a batched tensor is a call on its value for each of them, hence so many frames on the stack.
///
/// PyTorch: `kVmapNumLevels`.
pub const LEVELS: usize = 64;

/// The number of elements that the text of a tensor shows. A summary shows six indices of each dimension, so it takes
/// seven dimensions to have more.
pub const SHOWN: usize = 100_000;

/// Refuses to make a list of more tensors than [`TENSORS`].
///
/// # Errors
/// Such a number, or a negative one.
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
