//! The values of formulas: for a tensor its gradient, for a list a gradient for each of its tensors, for several
//! arguments one for each. Each has a trait of its own, so that no gradient is lost where the value is of another kind.

use std::ops::Range;

use crate::ensure;
use crate::error::Result;
use crate::tensor::Tensor;

/// The value of a formula for a tensor.
#[diagnostic::on_unimplemented(
    message = "a formula gives a gradient, not `{Self}`",
    label = "expected a `Tensor`, an `Option<Tensor>` or a `Result` of these"
)]
pub trait IntoGradient {
    /// The gradient, if there is one.
    ///
    /// # Errors
    /// The errors of the formula.
    fn gradient(self) -> Result<Option<Tensor>>;

    /// Stores the gradient in its place, the start of `range`.
    ///
    /// # Errors
    /// The errors of the formula.
    fn put(self, range: &Range<usize>, gradients: &mut [Option<Tensor>]) -> Result<()>
    where
        Self: Sized,
    {
        gradients[range.start] = self.gradient()?;
        Ok(())
    }
}

#[diagnostic::do_not_recommend]
impl IntoGradient for Tensor {
    fn gradient(self) -> Result<Option<Tensor>> {
        Ok(defined(self))
    }
}

#[diagnostic::do_not_recommend]
impl IntoGradient for Option<Tensor> {
    fn gradient(self) -> Result<Option<Tensor>> {
        Ok(defined(self))
    }
}

#[diagnostic::do_not_recommend]
impl<T: IntoGradient> IntoGradient for Result<T> {
    fn gradient(self) -> Result<Option<Tensor>> {
        self?.gradient()
    }
}

/// The value of a formula for a list of tensors.
#[diagnostic::on_unimplemented(
    message = "a formula for a list gives a gradient for each of its tensors, not `{Self}`",
    label = "expected a `Vec<Tensor>`, a `Vec<Option<Tensor>>` or a `Result` of these"
)]
pub trait IntoGradients {
    /// Stores the gradients in their places, which are in `range`; `of` names the operator and the argument.
    ///
    /// # Errors
    /// The errors of the formula; a `Vec` whose length differs from the argument's.
    fn put(self, range: &Range<usize>, gradients: &mut [Option<Tensor>], of: [&str; 2]) -> Result<()>;
}

#[diagnostic::do_not_recommend]
impl<T: Into<Option<Tensor>>> IntoGradients for Vec<T> {
    fn put(
        self,
        range: &Range<usize>,
        gradients: &mut [Option<Tensor>],
        [operator, argument]: [&str; 2],
    ) -> Result<()> {
        let gradients = &mut gradients[range.clone()];
        let (found, expected) = (self.len(), gradients.len());
        ensure!(
            found == expected,
            Autograd,
            "the formula for `{argument}` of {operator} returned {found} gradients for a list of length {expected}"
        );
        for (gradient, value) in gradients.iter_mut().zip(self) {
            *gradient = defined(value);
        }
        Ok(())
    }
}

#[diagnostic::do_not_recommend]
impl<T: IntoGradients> IntoGradients for Result<T> {
    fn put(self, range: &Range<usize>, gradients: &mut [Option<Tensor>], of: [&str; 2]) -> Result<()> {
        self?.put(range, gradients, of)
    }
}

/// The value of a formula that `N` arguments share.
#[diagnostic::on_unimplemented(
    message = "a formula for {N} arguments gives a gradient for each, not `{Self}`",
    label = "expected a tuple with a `Tensor` or an `Option<Tensor>` for each argument, or a `Result` of it"
)]
pub trait IntoEach<const N: usize> {
    /// The gradients, in the order of the arguments.
    ///
    /// # Errors
    /// The errors of the formula.
    fn each(self) -> Result<[Option<Tensor>; N]>;

    /// Stores the gradients, each where it is needed.
    ///
    /// # Errors
    /// The errors of the formula.
    fn put(self, mask: [bool; N], ranges: [&Range<usize>; N], gradients: &mut [Option<Tensor>]) -> Result<()>
    where
        Self: Sized,
    {
        for ((gradient, wanted), range) in self.each()?.into_iter().zip(mask).zip(ranges) {
            if wanted {
                gradients[range.start] = gradient;
            }
        }
        Ok(())
    }
}

#[diagnostic::do_not_recommend]
impl<const N: usize, T: IntoEach<N>> IntoEach<N> for Result<T> {
    fn each(self) -> Result<[Option<Tensor>; N]> {
        self?.each()
    }
}

macro_rules! tuples {
    ($(($N:literal $($T:ident $index:tt)+))*) => { $(
        /// The gradients of several tensor arguments.
        #[diagnostic::do_not_recommend]
        impl<$($T: Into<Option<Tensor>>),+> IntoEach<$N> for ($($T,)+) {
            fn each(self) -> Result<[Option<Tensor>; $N]> {
                Ok([$(defined(self.$index)),+])
            }
        }
    )* };
}

tuples! {
    (2 A 0 B 1)
    (3 A 0 B 1 C 2)
    (4 A 0 B 1 C 2 D 3)
    (5 A 0 B 1 C 2 D 3 E 4)
    (6 A 0 B 1 C 2 D 3 E 4 F 5)
    (7 A 0 B 1 C 2 D 3 E 4 F 5 G 6)
    (8 A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7)
}

/// A gradient, if there is one.
fn defined(value: impl Into<Option<Tensor>>) -> Option<Tensor> {
    value.into().filter(Tensor::is_defined)
}
