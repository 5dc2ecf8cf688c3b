//! The check that a kernel writes to the tensors that it is lent, instead of putting other handles in their places.

use crate::error::{Error, ErrorKind};
use crate::operator::Operator;

/// An argument that is written to.
pub trait Written {
    /// The argument for a shorter time.
    type Again<'s>
    where
        Self: 's;

    /// Lends the argument once more.
    fn again(&mut self) -> Self::Again<'_>;
}

impl<T: ?Sized> Written for &mut T {
    type Again<'s>
        = &'s mut T
    where
        Self: 's;

    #[inline(always)]
    fn again(&mut self) -> &mut T {
        self
    }
}

impl<T: Written> Written for Option<T> {
    type Again<'s>
        = Option<T::Again<'s>>
    where
        Self: 's;

    #[inline(always)]
    fn again(&mut self) -> Option<T::Again<'_>> {
        self.as_mut().map(Written::again)
    }
}

/// The error for a kernel that put another tensor into the place of one that it was lent.
#[cold]
pub fn replaced_handle(operator: &Operator) -> Error {
    Error::new(
        ErrorKind::Kernel,
        format!(
            "a kernel of {operator} replaced the handle of a tensor that it should write to (as `*this = other` does), so \
             other handles of the tensor do not see its result\n  \
             help: write to the elements, as `copy_` does, or give the tensor other memory by `set_storage`"
        ),
    )
}

/// The result of a kernel's call, or an error if an argument that it wrote to is not the tensor that it was lent:
/// `*this = other` compiles, and leaves all other handles of the tensor as they were. Takes the arguments, a name for
/// each return with the index of the argument that it is, and the other arguments that are written to.
#[doc(hidden)]
#[macro_export]
macro_rules! __kept {
    // Nothing is written to.
    ($operator:expr, [$($argument:ident)*] returned [$($result:ident {})*] written [], $call:expr) => { $call };
    (
        $operator:expr,
        [$($argument:ident)*] returned [$($result:ident { $($source:tt)? })*] written [$($written:ident $at:tt)*],
        $call:expr
    ) => {{
        let lent = [$($crate::__private::Argument::identity(&$argument)),*];
        $(let mut $written = $written;)*
        let result = {
            $(let $written = $crate::__private::kept::Written::again(&mut $written);)*
            $call
        };
        let is_kept = match &result {
            $crate::__private::Ok(($($result),*)) => {
                true $($(&& $crate::__private::Argument::identity($result) == lent[$source])?)*
                    $(&& $crate::__private::Argument::identity(&$written) == lent[$at])*
            }
            $crate::__private::Err(_) => true,
        };
        if is_kept { result } else { $crate::__private::Err($crate::__private::kept::replaced_handle($operator)) }
    }};
}
