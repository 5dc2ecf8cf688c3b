//! Rounding and bitwise operations, for integers too.

/// A number that can be rounded to an integer.
pub(super) trait Rounded: Copy {
    fn down(self) -> Self;
    fn up(self) -> Self;
    /// Ties go to the even number.
    fn nearest(self) -> Self;
    fn cut(self) -> Self;
}

macro_rules! rounded {
    ($($ty:ty: $down:ident $up:ident $nearest:ident $cut:ident;)+) => { $(
        impl Rounded for $ty {
            #[inline(always)]
            fn down(self) -> Self {
                <$ty>::$down(self)
            }

            #[inline(always)]
            fn up(self) -> Self {
                <$ty>::$up(self)
            }

            #[inline(always)]
            fn nearest(self) -> Self {
                <$ty>::$nearest(self)
            }

            #[inline(always)]
            fn cut(self) -> Self {
                <$ty>::$cut(self)
            }
        }
    )+ };
}

rounded! {
    f32: floor ceil round_ties_even trunc;
    f64: floor ceil round_ties_even trunc;
    u8: from from from from;
    i8: from from from from;
    i16: from from from from;
    i32: from from from from;
    i64: from from from from;
}

/// A type with bitwise operations; a boolean is one bit.
pub(super) trait Bits: Copy {
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
