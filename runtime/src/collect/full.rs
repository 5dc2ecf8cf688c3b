//! Without selective linking: every operator and kernel of every crate that is linked in.

use super::KernelRecord;
use crate::operator::Operator;

/// With selective linking, a function that returns the kernels of an operator that are linked in; here always `None`.
pub type Links = Option<fn() -> &'static [Option<&'static KernelRecord>]>;

/// Whether the linker chooses which operators a program has.
pub(crate) const IS_SELECTIVE: bool = false;

/// The operator with this name that this crate calls and the registry does not know yet: always `None`.
pub(crate) fn called_by_name(_: &str) -> Option<&'static Operator> {
    None
}

/// In an operator's module: nothing, since the linker does not choose among its kernels.
#[doc(hidden)]
#[macro_export]
macro_rules! __links {
    ($symbol:literal) => {};
}

/// The operator's [`Links`], inside its module.
#[doc(hidden)]
#[macro_export]
macro_rules! __links_here {
    () => {
        $crate::__private::Option::None
    };
}

/// Leaves a library's record in the program. Of the two records given this takes the first, which has the operators;
/// the second is for selective linking.
#[doc(hidden)]
#[macro_export]
macro_rules! __submit_library {
    ($record:expr, $without_operators:expr, $kernels:expr; $($kernel:tt)*) => {
        $crate::__private::submit! { $record }
    };
}

/// Leaves a record of kernels in the program. Each kernel is listed with its key, the symbol of its operator, whether
/// it overrides another, its function, and the operator's module.
#[doc(hidden)]
#[macro_export]
macro_rules! __submit_kernels {
    ($record:expr; $($kernel:tt)*) => {
        $crate::__private::submit! { $record }
    };
}
