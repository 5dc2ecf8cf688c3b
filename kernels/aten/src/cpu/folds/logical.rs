//! The folds behind `any` and `all`: of booleans, and of the bytes that they are in memory.

use crate::loops::reduce::Fold;

/// Whether any element is true.
pub struct Some;

impl Fold<bool> for Some {
    type Value = bool;

    #[inline(always)]
    fn identity(&self) -> bool {
        false
    }

    #[inline(always)]
    fn step(&self, found: bool, element: bool, _: usize) -> bool {
        found | element
    }

    #[inline(always)]
    fn merge(&self, a: bool, b: bool) -> bool {
        a | b
    }
}

/// For bytes, of which all but 0 are true: 0 if none is.
impl Fold<u8> for Some {
    type Value = u8;

    #[inline(always)]
    fn identity(&self) -> u8 {
        0
    }

    #[inline(always)]
    fn step(&self, found: u8, element: u8, _: usize) -> u8 {
        found | element
    }

    #[inline(always)]
    fn merge(&self, a: u8, b: u8) -> u8 {
        a | b
    }
}

/// Whether all elements are true.
pub struct Every;

impl Fold<bool> for Every {
    type Value = bool;

    #[inline(always)]
    fn identity(&self) -> bool {
        true
    }

    #[inline(always)]
    fn step(&self, all: bool, element: bool, _: usize) -> bool {
        all & element
    }

    #[inline(always)]
    fn merge(&self, a: bool, b: bool) -> bool {
        a & b
    }
}

/// For bytes, of which all but 0 are true: 1 if all are, otherwise 0.
impl Fold<u8> for Every {
    type Value = u8;

    #[inline(always)]
    fn identity(&self) -> u8 {
        1
    }

    #[inline(always)]
    fn step(&self, all: u8, element: u8, _: usize) -> u8 {
        all & u8::from(element != 0)
    }

    #[inline(always)]
    fn merge(&self, a: u8, b: u8) -> u8 {
        a & b
    }
}
