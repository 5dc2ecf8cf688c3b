//! Work that is compiled for the vector registers of several widths, of which the processor's widest are chosen.
#![expect(unsafe_code, reason = "calls what is compiled for registers that the processor was asked for")]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{__m256, __m256d, __m512, __m512d};

use num_complex::Complex;

#[cfg(target_arch = "x86_64")]
use super::{has_avx2, has_avx512};
use crate::number::Number;
use crate::vector::{Few, Vector};

/// Elements with vector registers, or with an array in their place.
pub trait Held: Number {
    type Widest: Vector<Element = Self>;
    type Wide: Vector<Element = Self>;
}

macro_rules! held {
    ($($ty:ty: $widest:ty, $wide:ty;)+) => { $(
        #[cfg(target_arch = "x86_64")]
        impl Held for $ty {
            type Widest = $widest;
            type Wide = $wide;
        }

        #[cfg(not(target_arch = "x86_64"))]
        impl Held for $ty {
            type Widest = Few<$ty>;
            type Wide = Few<$ty>;
        }
    )+ };
}

held! {
    f32: __m512, __m256;
    f64: __m512d, __m256d;
    Complex<f32>: Few<Complex<f32>>, Few<Complex<f32>>;
    Complex<f64>: Few<Complex<f64>>, Few<Complex<f64>>;
}

/// Work in vector registers. Implementations are always inlined, so that they are compiled for the registers.
pub trait Work<T> {
    type Output;

    /// # Safety
    /// - The processor has the registers of `V`.
    unsafe fn with<V: Vector<Element = T>>(self) -> Self::Output;
}

/// Runs work on the widest registers that the processor has.
///
/// ```
/// use torch_library_loops::loops::{Work, work};
/// use torch_library_loops::vector::Vector;
///
/// /// The sum of a slice.
/// struct Sum<'a>(&'a [f32]);
///
/// impl Work<f32> for Sum<'_> {
///     type Output = f32;
///
///     #[inline(always)]
///     unsafe fn with<V: Vector<Element = f32>>(self) -> f32 {
///         // SAFETY: the caller vouches for the registers; chunks have as many elements as are loaded.
///         unsafe {
///             let add = |sum: V, chunk: &[f32]| sum.plus(V::load(chunk.as_ptr(), chunk.len()));
///             self.0.chunks(V::LANES).fold(V::zero(), add).sum()
///         }
///     }
/// }
///
/// assert_eq!(work(Sum(&[1.0; 100])), 100.0);
/// ```
///
/// PyTorch: kernels over `at::vec::Vectorized`, which `REGISTER_DISPATCH` chooses by the processor.
pub fn work<T: Held, W: Work<T>>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    if has_avx512() {
        // SAFETY: `has_avx512` found all features that `widest` is compiled for.
        return unsafe { widest(work) };
    } else if has_avx2() {
        // SAFETY: `has_avx2` found all features that `wide` is compiled for.
        return unsafe { wide(work) };
    }
    // SAFETY: `Few` is an array, for which any processor is enough.
    unsafe { work.with::<Few<T>>() }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
fn widest<T: Held, W: Work<T>>(work: W) -> W::Output {
    // SAFETY: the processor has these features, and so the registers of `Widest`.
    unsafe { work.with::<T::Widest>() }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn wide<T: Held, W: Work<T>>(work: W) -> W::Output {
    // SAFETY: the processor has these features, and so the registers of `Wide`.
    unsafe { work.with::<T::Wide>() }
}
