//! The checks that a kernel writes to the tensors that it is lent, instead of putting other handles in their places,
//! and returns none of those that it only reads.

use std::any::Any;
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use crate::error::{Error, ErrorKind};
use crate::key::DispatchKey;
use crate::operator::{Operator, OperatorHandle};
use crate::tensor::Tensor;
use crate::warning::warn;

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

/// Warns, once for each operator, of a kernel that returned an argument as if it were a new tensor. `lent` has the
/// identities of the arguments.
pub fn warn_of_argument(operator: &'static Operator, lent: &[usize], returns: &[&dyn Any]) {
    let returned = returns.iter().filter_map(|value| value.downcast_ref::<Tensor>());
    let place = returned.filter_map(|tensor| lent.iter().position(|id| *id == tensor.id())).next();
    if let Some(place) = place {
        returned_argument(operator.handle(), place);
    }
}

#[cold]
fn returned_argument(operator: OperatorHandle, place: usize) {
    static SAID: Mutex<Option<HashSet<OperatorHandle>>> = Mutex::new(None);
    let Ok(schema) = operator.schema() else { return };
    // An operator that is made of others returns whatever these return: `dropout` returns its argument in evaluation.
    if schema.has_alias_info() || operator.has_kernel_for(DispatchKey::CompositeImplicitAutograd) {
        return;
    }
    let is_first =
        SAID.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default().insert(operator);
    if let (true, Some(argument)) = (is_first, schema.arguments.get(place)) {
        warn(format_args!(
            "a kernel of {operator} returned its argument `{name}`, where its schema promises a new tensor: return a copy, \
             or declare a view, `Tensor(a) {name}` and `-> Tensor(a)`",
            name = argument.name
        ));
    }
}

/// The result of the call of a kernel that computes: as [`__kept!`](crate::__kept), and if nothing is written to, with
/// a warning where it returns an argument as a new tensor. A program without debug assertions compares nothing.
#[doc(hidden)]
#[macro_export]
macro_rules! __checked {
    ($operator:expr, [$($argument:ident)*] returned [$($result:ident {})*] written [], $call:expr) => {{
        let lent = [$($crate::__private::Argument::identity(&$argument)),*];
        let result = $call;
        if $crate::__private::cfg!(debug_assertions) {
            #[allow(unused_parens)] // of a single return
            if let $crate::__private::Ok(($($result),*)) = &result {
                $crate::__private::kept::warn_of_argument($operator, &lent, &[$($result),*]);
            }
        }
        result
    }};
    ($($kernel:tt)*) => { $crate::__kept! { $($kernel)* } };
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
