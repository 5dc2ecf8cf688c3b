//! What may be passed by name for an optional argument: its value, or an `Option` of it.

use num_complex::Complex64;

use crate::device::Device;
use crate::dtype::DType;
use crate::generator::Generator;
use crate::layout::{Layout, MemoryFormat};
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// A type that may be passed by name for an optional argument of type `T`, so that `dim(1)`, `dim(Some(1))` and
/// `dim(None)` all work.
///
/// A string may also be passed as a `&String`, a list as a reference to an array or a `Vec`, and a `Scalar` as any
/// number. (For lists, a bare `None` would be ambiguous: leave the argument out instead.)
///
/// ```
/// use torch_library::prelude::*;
///
/// torch_library! {
///     pub mod plots {
///         draw(Tensor self, *, str? title=None, int[]? ticks=None, Scalar? limit=None) -> str;
///     }
/// }
///
/// #[torch_impl(plots, CPU)]
/// fn draw(_: &Tensor, title: Option<&str>, ticks: Option<&[i64]>, limit: Option<Scalar>) -> Result<String> {
///     Ok(format!("{title:?} {ticks:?} {}", limit.is_some()))
/// }
///
/// # fn main() -> Result<()> {
/// let x = Tensor::from([1.0]);
/// let drawn = plots::draw::with(&x).title("cat").ticks(&[0, 1]).limit(2.5).call()?;
/// assert_eq!(drawn, r#"Some("cat") Some([0, 1]) true"#);
/// let (title, ticks) = (None, Some(vec![7]));
/// assert_eq!(plots::draw::with(&x).title(title).ticks(ticks.as_deref()).call()?, "None Some([7]) false");
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed for an optional argument of type `{T}`",
    label = "expected `{T}`, or an `Option` of it"
)]
pub trait IntoOptional<T> {
    /// The argument.
    fn into_optional(self) -> Option<T>;
}

/// Types that are passed unchanged.
macro_rules! optional {
    ($($type:ty),*) => {$(
        impl<'w> IntoOptional<$type> for $type {
            #[inline(always)]
            fn into_optional(self) -> Option<$type> {
                Some(self)
            }
        }

        impl<'w> IntoOptional<$type> for Option<$type> {
            #[inline(always)]
            fn into_optional(self) -> Option<$type> {
                self
            }
        }
    )*};
}

optional!(i64, f64, bool, Complex64, Scalar, DType, Layout, MemoryFormat, Device);
optional!(&'w Tensor, &'w mut Tensor, &'w mut [Tensor], &'w Generator, &'w str);

impl<'w> IntoOptional<&'w str> for &'w String {
    #[inline(always)]
    fn into_optional(self) -> Option<&'w str> {
        Some(self)
    }
}

#[diagnostic::do_not_recommend]
impl<'w, T, L: AsRef<[T]> + ?Sized> IntoOptional<&'w [T]> for &'w L {
    #[inline(always)]
    fn into_optional(self) -> Option<&'w [T]> {
        Some(self.as_ref())
    }
}

#[diagnostic::do_not_recommend]
impl<'w, T, L: AsRef<[T]> + ?Sized> IntoOptional<&'w [T]> for Option<&'w L> {
    #[inline(always)]
    fn into_optional(self) -> Option<&'w [T]> {
        self.map(AsRef::as_ref)
    }
}

/// Numbers that are converted to scalars.
macro_rules! optional_scalar {
    ($($number:ty),*) => {$(
        impl IntoOptional<Scalar> for $number {
            #[inline(always)]
            fn into_optional(self) -> Option<Scalar> {
                Some(self.into())
            }
        }
    )*};
}

optional_scalar!(
    u8,
    u16,
    u32,
    i8,
    i16,
    i32,
    i64,
    f32,
    f64,
    half::f16,
    half::bf16,
    bool,
    num_complex::Complex32,
    Complex64
);
