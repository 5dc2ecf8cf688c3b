//! The numbers that are transformed.

use num_traits::Float;
use rustfft::FftNum;

#[cfg(target_arch = "x86_64")]
use super::registers::Register;

/// A type in which transforms are computed.
pub(super) trait Number: FftNum + Float {
    /// A register of such numbers.
    #[cfg(target_arch = "x86_64")]
    type Wide: Register<Real = Self>;
}

macro_rules! number {
    ($($ty:ty: $wide:ident)+) => { $(
        impl Number for $ty {
            #[cfg(target_arch = "x86_64")]
            type Wide = std::arch::x86_64::$wide;
        }
    )+ };
}

number! { f32: __m512 f64: __m512d }

/// A number in the type of the transform.
pub(super) fn number<T: Number>(x: f64) -> T {
    T::from_f64(x).expect("floats of one precision are floats of another")
}
