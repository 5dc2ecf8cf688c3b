//! The output mask of a backward operator: which of three gradients a caller asks for.

use torch_library::prelude::*;

/// The mask of the gradients of the input, the weight and the bias.
///
/// # Errors
/// Another number of values.
pub fn output_mask(operator: &str, mask: &[bool]) -> Result<[bool; 3]> {
    match mask.try_into() {
        Ok(mask) => Ok(mask),
        Err(_) => bail!(Argument, "{operator}: output_mask has {} values, expected three", mask.len()),
    }
}
