//! The operations that combine the numbers of several ranks.

use std::fmt;
use std::str::FromStr;

use torch_library::prelude::*;

/// The operations that combine the numbers of several ranks.
///
/// Operators take it by its name, like PyTorch's functional collectives.
///
/// ```
/// use torch_library_distributed::ReduceOp;
///
/// let op: ReduceOp = "avg".parse()?;
/// assert_eq!((op, op.to_string()), (ReduceOp::Avg, "avg".to_owned()));
/// # Ok::<(), torch_library::Error>(())
/// ```
///
/// PyTorch: `torch.distributed.ReduceOp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReduceOp {
    /// The sum; for `bool`, whether any is true.
    Sum,
    /// The sum, divided by the number of ranks; only for floating-point and complex numbers.
    Avg,
    /// The product; for `bool`, whether all are true.
    Product,
    /// The smallest number, or NaN if any is NaN.
    Min,
    /// The largest number, or NaN if any is NaN.
    Max,
    /// The bits that are set in all numbers; only for integers and `bool`.
    Band,
    /// The bits that are set in any number; only for integers and `bool`.
    Bor,
    /// The bits that are set in an odd number of numbers; only for integers and `bool`.
    Bxor,
}

const NAMES: [(ReduceOp, &str); 8] = [
    (ReduceOp::Sum, "sum"),
    (ReduceOp::Avg, "avg"),
    (ReduceOp::Product, "product"),
    (ReduceOp::Min, "min"),
    (ReduceOp::Max, "max"),
    (ReduceOp::Band, "band"),
    (ReduceOp::Bor, "bor"),
    (ReduceOp::Bxor, "bxor"),
];

impl FromStr for ReduceOp {
    type Err = Error;

    fn from_str(name: &str) -> Result<ReduceOp> {
        let lower = name.to_ascii_lowercase();
        match NAMES.iter().find(|(_, known)| *known == lower) {
            Some((op, _)) => Ok(*op),
            None => bail!(
                Argument,
                "no reduction is called {name:?}\n  help: it is one of {}",
                NAMES.map(|(_, name)| name).join(", ")
            ),
        }
    }
}

impl fmt::Display for ReduceOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = NAMES.iter().find(|(op, _)| op == self).map_or("?", |(_, name)| name);
        f.write_str(name)
    }
}

impl ReduceOp {
    /// Checks that numbers of a type can be reduced with this operation.
    ///
    /// # Errors
    /// They cannot; the message says which types are supported.
    pub fn check(self, dtype: DType) -> Result<()> {
        let is_integral = !dtype.is_floating_point() && !dtype.is_complex();
        let (fits, expected) = match self {
            ReduceOp::Sum | ReduceOp::Product => (true, ""),
            ReduceOp::Avg => (!is_integral, "floating-point or complex numbers"),
            ReduceOp::Min | ReduceOp::Max => (!dtype.is_complex(), "numbers that have an order"),
            ReduceOp::Band | ReduceOp::Bor | ReduceOp::Bxor => (is_integral, "integers or bool"),
        };
        ensure!(fits, DType, "{self} of {dtype} is not supported, expected {expected}");
        Ok(())
    }
}
