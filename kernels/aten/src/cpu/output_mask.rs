//! The output mask of a backward operator: which of the three gradients the caller asks for.

use torch_library::prelude::*;

/// The output mask for the gradients of the input, the weight and the bias.
///
/// # Errors
/// A number of values other than three.
pub fn output_mask(operator: &str, mask: &[bool]) -> Result<[bool; 3]> {
    match mask.try_into() {
        Ok(mask) => Ok(mask),
        Err(_) => bail!(Argument, "{operator}: output_mask has {} values, expected three", mask.len()),
    }
}
