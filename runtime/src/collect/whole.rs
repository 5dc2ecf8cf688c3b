//! Without selective linking: every operator and kernel of every crate that is linked in.

use super::KernelRecord;
use crate::operator::Operator;

/// The kernels of an operator that are linked in, where the linker chooses: it does not.
pub type Links = Option<fn() -> &'static [Option<&'static KernelRecord>]>;

/// Whether the linker chooses.
pub(crate) const IS_SELECTIVE: bool = false;

/// An operator that this crate calls by name and the registry does not know yet: none.
pub(crate) fn called_by_name(_: &str) -> Option<&'static Operator> {
    None
}

/// In an operator's module: its kernels, wherever they are. The symbol is `module.operator`.
#[doc(hidden)]
#[macro_export]
macro_rules! __links {
    ($symbol:literal) => {
        const LINKS: __torch::Links = __torch::Option::None;
    };
}

/// Leaves a library's record in the program: the first one or, where operators come when they are called, the second,
/// and its kernels one by one.
#[doc(hidden)]
#[macro_export]
macro_rules! __submit_library {
    ($record:expr, $without_operators:expr, $kernels:expr; $($kernel:tt)*) => {
        $crate::__private::submit! { $record }
    };
}

/// Leaves a record of kernels in the program, each of which follows: its key, the symbol of its operator, whether it
/// overrides another, its function, and the operator's module.
#[doc(hidden)]
#[macro_export]
macro_rules! __submit_kernels {
    ($record:expr; $($kernel:tt)*) => {
        $crate::__private::submit! { $record }
    };
}
