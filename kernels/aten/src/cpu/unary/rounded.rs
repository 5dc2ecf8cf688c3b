//! Rounding, of integers too.

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
    u16: from from from from;
    u32: from from from from;
    u64: from from from from;
}
