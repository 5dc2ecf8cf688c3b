//! Bitwise operators of booleans and integers, and shifts by any number of bits.

/// A type with bitwise operations; a boolean is one bit.
pub trait Bits: Copy {
    fn flipped(self) -> Self;
    fn both(self, other: Self) -> Self;
    fn either(self, other: Self) -> Self;
    fn differing(self, other: Self) -> Self;
}

/// Computed on bytes: for the operators of `bool`, LLVM combines both operands into one number and compares that with
/// 0, two bytes at a time.
impl Bits for bool {
    #[inline(always)]
    fn flipped(self) -> Self {
        !self
    }

    #[inline(always)]
    fn both(self, other: Self) -> Self {
        u8::from(self) & u8::from(other) != 0
    }

    #[inline(always)]
    fn either(self, other: Self) -> Self {
        u8::from(self) | u8::from(other) != 0
    }

    #[inline(always)]
    fn differing(self, other: Self) -> Self {
        self != other
    }
}

macro_rules! bits {
    ($($ty:ty),+) => { $(
        impl Bits for $ty {
            #[inline(always)]
            fn flipped(self) -> Self {
                !self
            }

            #[inline(always)]
            fn both(self, other: Self) -> Self {
                self & other
            }

            #[inline(always)]
            fn either(self, other: Self) -> Self {
                self | other
            }

            #[inline(always)]
            fn differing(self, other: Self) -> Self {
                self ^ other
            }
        }
    )+ };
}

bits!(u8, i8, i16, i32, i64, u16, u32, u64);

/// An integer that can be shifted by any number of bits.
pub trait Shifted: Copy {
    fn shifted_left(self, by: Self) -> Self;
    fn shifted_right(self, by: Self) -> Self;
}

macro_rules! shifted {
    ($($ty:ty),+) => { $(
        impl Shifted for $ty {
            #[inline]
            fn shifted_left(self, by: $ty) -> $ty {
                u32::try_from(by).ok().and_then(|by| self.checked_shl(by)).unwrap_or(0)
            }

            #[inline]
            fn shifted_right(self, by: $ty) -> $ty {
                let all = <$ty>::BITS - 1;
                let signed = if <$ty>::MIN == 0 { 0 } else { self >> all };
                u32::try_from(by).ok().and_then(|by| self.checked_shr(by)).unwrap_or(signed)
            }
        }
    )+ };
}

shifted!(u8, i8, i16, i32, i64);
