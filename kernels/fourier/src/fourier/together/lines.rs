//! Contiguous lines, which are transposed into registers and back, square by square.
#![expect(unsafe_code, reason = "reads and writes lines that the caller vouches for, on registers")]

use super::super::numbers::Number;
use super::super::registers::Register;

/// Contiguous lines, as real numbers.
#[derive(Clone, Copy)]
pub(super) struct Lines<T> {
    pub(super) data: *mut T,
    pub(super) len: usize,
    pub(super) apart: usize,
    pub(super) count: usize,
    /// Whether real parts are taken for imaginary ones.
    pub(super) is_swapped: bool,
}

impl<T: Number> Lines<T> {
    /// Writes a register for each real number of a line.
    ///
    /// # Safety
    /// - The processor has AVX-512.
    /// - The lines can be read, at most as many as a register has numbers, and there is memory for the registers, which
    ///   nothing else uses.
    #[inline(always)]
    pub(super) unsafe fn gather<V: Register<Real = T>>(&self, to: *mut V) {
        for start in (0..self.len).step_by(V::COUNT) {
            let left = (self.len - start).min(V::COUNT);
            // SAFETY: `left` numbers from `start` on are part of each line, and as many registers of the memory.
            unsafe { self.gather_square(start, left, to.add(start)) };
        }
    }

    /// Writes registers for `left` real numbers from `start` on.
    ///
    /// # Safety
    /// - The processor has AVX-512.
    /// - The lines have as many numbers there, which can be read, and are at most as many as a register has numbers;
    ///   there is memory for `left` registers, at most as many, which nothing else uses.
    #[inline(always)]
    pub(super) unsafe fn gather_square<V: Register<Real = T>>(&self, start: usize, left: usize, to: *mut V) {
        let from = self.data.wrapping_add(start);
        let swap = usize::from(self.is_swapped);
        // SAFETY: these are `left` numbers of each of `count` lines, and as many registers; real and imaginary parts
        // are in pairs.
        unsafe {
            if left == V::COUNT && self.count == V::COUNT {
                let line = |i| V::load(from.wrapping_add(i * self.apart), V::COUNT);
                return V::transpose(line, |i, x| to.add(i ^ swap).write(x));
            }
            let mut square = [V::zero(); 16];
            for (i, line) in square.iter_mut().enumerate().take(self.count) {
                *line = V::load(from.wrapping_add(i * self.apart), left);
            }
            V::transpose(
                |i| square[i],
                |i, x| {
                    if i < left {
                        to.add(i ^ swap).write(x)
                    }
                },
            );
        }
    }

    /// Writes the numbers in registers to the lines.
    ///
    /// # Safety
    /// - The processor has AVX-512.
    /// - The lines can be written, at most as many as a register has numbers, and nothing else uses them; the registers
    ///   can be read.
    #[inline(always)]
    pub(super) unsafe fn scatter<V: Register<Real = T>>(&self, from: *const V, scale: T) {
        for start in (0..self.len).step_by(V::COUNT) {
            let left = (self.len - start).min(V::COUNT);
            // SAFETY: `left` numbers from `start` on are part of each line, and as many registers of the memory.
            unsafe { self.scatter_square(start, left, from.add(start), scale) };
        }
    }

    /// Writes `left` real numbers from `start` on.
    ///
    /// # Safety
    /// - The processor has AVX-512.
    /// - The lines have as many numbers there, which can be written, and which nothing else uses; they are at most as
    ///   many as a register has numbers; there are `left` registers, at most as many, that can be read.
    #[inline(always)]
    unsafe fn scatter_square<V: Register<Real = T>>(
        &self,
        start: usize,
        left: usize,
        from: *const V,
        scale: T,
    ) {
        let to = self.data.wrapping_add(start);
        let swap = usize::from(self.is_swapped);
        // SAFETY: these are `left` numbers of each of `count` lines, and as many registers; real and imaginary parts
        // are in pairs.
        unsafe {
            let scale = V::splat(scale);
            if left == V::COUNT && self.count == V::COUNT {
                let number = |i| from.add(i ^ swap).read().times(scale);
                return V::transpose(number, |i, x| x.store(to.wrapping_add(i * self.apart), V::COUNT));
            }
            let mut square = [V::zero(); 16];
            for (i, number) in square.iter_mut().enumerate().take(left) {
                *number = from.add(i ^ swap).read().times(scale);
            }
            V::transpose(
                |i| square[i],
                |i, x| {
                    if i < self.count {
                        x.store(to.wrapping_add(i * self.apart), left)
                    }
                },
            );
        }
    }
}
