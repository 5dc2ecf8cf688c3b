//! Functions that have a form for AVX-512 registers besides the one for any processor.
#![expect(unsafe_code, reason = "computes elements through pointers that the loops vouch for")]

use std::marker::PhantomData;

use torch_library::Element;

use crate::loops::Elements;

#[cfg(target_arch = "x86_64")]
mod widest;

#[cfg(target_arch = "x86_64")]
pub use widest::exponentials;

/// A function of the floats in an AVX-512 register.
pub trait InRegisters: Sync {
    /// Whether there is a form for double precision.
    #[cfg(target_arch = "x86_64")]
    const OF_DOUBLES: bool = false;

    /// # Safety
    /// - The processor has the widest vectors.
    #[cfg(target_arch = "x86_64")]
    unsafe fn of_singles(x: std::arch::x86_64::__m512) -> std::arch::x86_64::__m512;

    /// The function of doubles; returns its argument unless [`OF_DOUBLES`](Self::OF_DOUBLES).
    ///
    /// # Safety
    /// - The processor has the widest vectors.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn of_doubles(x: std::arch::x86_64::__m512d) -> std::arch::x86_64::__m512d {
        x
    }
}

/// The natural logarithm.
pub struct Logarithm;

/// *e* to the power of a number.
pub struct Exponential;

/// The logarithm to base 2.
pub struct BinaryLogarithm;

/// The logarithm to base 10.
pub struct DecimalLogarithm;

/// The logarithm of `x / (1 - x)`.
pub struct LogOdds;

/// The hyperbolic tangent.
pub struct HyperbolicTangent;

/// The tangent of an angle of moderate size: see [`Circular`](super::Circular).
pub struct Tangent;

/// `1 - erf(x)`.
pub struct ComplementaryError;

/// The square root.
pub struct SquareRoot;

#[cfg(not(target_arch = "x86_64"))]
mod elsewhere {
    use super::*;

    impl InRegisters for Logarithm {}
    impl InRegisters for BinaryLogarithm {}
    impl InRegisters for DecimalLogarithm {}
    impl InRegisters for LogOdds {}
    impl InRegisters for Exponential {}
    impl InRegisters for HyperbolicTangent {}
    impl InRegisters for Tangent {}
    impl InRegisters for ComplementaryError {}
    impl InRegisters for SquareRoot {}
}

/// A function for any processor, and its form in registers.
pub struct Registers<F, W> {
    any: F,
    wide: PhantomData<W>,
}

impl<F, W: InRegisters> Registers<F, W> {
    #[inline]
    pub fn new(any: F) -> Self {
        Registers { any, wide: PhantomData }
    }
}

// SAFETY: the function for any processor writes all results, and so does `widest::each`, whatever `W` computes; it is
// not said to be the identity.
unsafe impl<M: Element, F: Elements<M, M, 1>, W: InRegisters> Elements<M, M, 1> for Registers<F, W> {
    #[inline(always)]
    fn one(&self, elements: [M; 1]) -> M {
        self.any.one(elements)
    }

    #[inline(always)]
    unsafe fn each(&self, out: *mut M, inputs: [*const M; 1], len: usize) {
        // SAFETY: the caller vouches for `len` elements in the input and in `out`, which are the same memory or
        // disjoint.
        unsafe { self.any.each(out, inputs, len) }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn each_widest(&self, out: *mut M, [from]: [*const M; 1], len: usize) {
        use torch_library::DType;

        let is_single = matches!(M::DTYPE, DType::Float32);
        let is_double = W::OF_DOUBLES && matches!(M::DTYPE, DType::Float64);
        // SAFETY: the caller vouches for `len` elements in the input and in `out`, which are the same memory or
        // disjoint, and for the processor; `widest::each` is called for `f32`, and for `f64` where `W` has a form for
        // it.
        unsafe {
            match is_single || is_double {
                true => widest::each::<M, W>(out, from, len),
                false => self.any.each(out, [from], len),
            }
        }
    }
}
