//! Planes: rows that follow each other at a distance in every operand.
#![expect(unsafe_code, reason = "threads share the addresses of a plane")]

use super::Half;
use crate::inlined::from_fn;

/// Rows that are dense in every operand, except that some inputs may have a single element in each row. `out` and
/// `inputs` are the addresses of the first row; the steps are the distances to the next row, in bytes.
pub(in crate::loops) struct Plane<const N: usize> {
    pub(in crate::loops) rows: usize,
    pub(in crate::loops) len: usize,
    pub(in crate::loops) out: *mut u8,
    pub(in crate::loops) out_step: isize,
    pub(in crate::loops) inputs: [*const u8; N],
    pub(in crate::loops) steps: [isize; N],
    pub(in crate::loops) single: Inputs,
    /// If elements are 16-bit floats, and the function's are not: which, and the inputs that are constant instead: rows
    /// of the same element of the function's type, of at least [`CHUNK`] elements, with a step of 0.
    pub(in crate::loops) half: Option<(Half, Inputs)>,
}

/// A set of inputs.
#[derive(Clone, Copy)]
pub(in crate::loops) struct Inputs(usize);

impl Inputs {
    /// The inputs for which a function is true.
    #[inline]
    pub(in crate::loops) fn of<const N: usize>(is_in: impl Fn(usize) -> bool) -> Self {
        let mut inputs = 0;
        for k in 0..N {
            inputs |= usize::from(is_in(k)) << k;
        }
        Inputs(inputs)
    }

    #[inline]
    pub(in crate::loops) fn is_none(self) -> bool {
        self.0 == 0
    }

    /// A bit for each input, of which the lowest is the first.
    #[inline]
    pub(super) fn bits(self) -> usize {
        self.0
    }

    #[inline]
    pub(in crate::loops) fn contains(self, input: usize) -> bool {
        self.0 >> input & 1 == 1
    }

    /// Whether there is a loop over planes in which these are the inputs with a single element in each row: one, or the
    /// last and one other of three.
    #[inline]
    pub(in crate::loops) fn have_loop<const N: usize>(self) -> bool {
        self.0.count_ones() < 2 || N == 3 && matches!(self.0, 0b101 | 0b110)
    }
}

// SAFETY: the addresses are dereferenced only in `run_plane`, which is `unsafe`: its caller gives each row to one
// thread.
unsafe impl<const N: usize> Sync for Plane<N> {}

impl<const N: usize> Plane<N> {
    /// A plane of `rows` such rows elsewhere in the operands, by distances in bytes.
    #[inline]
    pub(in crate::loops) fn moved(&self, rows: usize, out: isize, inputs: [isize; N]) -> Self {
        let inputs = from_fn(|k| self.inputs[k].wrapping_offset(inputs[k]));
        Plane { rows, out: self.out.wrapping_offset(out), inputs, ..*self }
    }

    /// The addresses of a row.
    #[inline]
    pub(super) fn row(&self, row: usize) -> (*mut u8, [*const u8; N]) {
        let row = row as isize;
        (
            self.out.wrapping_offset(row * self.out_step),
            from_fn(|k| self.inputs[k].wrapping_offset(row * self.steps[k])),
        )
    }
}
