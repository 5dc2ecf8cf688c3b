//! 16-bit floats ("halves") in registers: widened and rounded a block at a time, without a conversion buffer.
#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "reads and writes elements through pointers")
)]

use torch_library::DType;

/// The 16-bit floats, which are computed as `f32`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Half {
    Float16,
    BFloat16,
}

impl Half {
    /// Whether the program is compiled with any 16-bit float type.
    #[cfg(target_arch = "x86_64")]
    pub(super) const ARE_BUILT: bool = DType::Float16.is_built() || DType::BFloat16.is_built();

    #[inline]
    pub(super) fn of(dtype: DType) -> Option<Half> {
        match dtype {
            DType::Float16 if const { DType::Float16.is_built() } => Some(Half::Float16),
            DType::BFloat16 if const { DType::BFloat16.is_built() } => Some(Half::BFloat16),
            _ => None,
        }
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use registers::{Rows, narrow, narrow_line, widen, widen_line};

#[cfg(target_arch = "x86_64")]
mod registers {
    use std::arch::x86_64::*;

    use super::Half;
    use crate::loops::function::BLOCK;

    /// The number of `f32` in a register.
    const LANES: usize = 16;

    /// Widens up to a block of halves, and writes a whole block: beyond `len` the first element is repeated.
    ///
    /// # Safety
    /// - `len` elements, at least one, can be read from `from` on, and nothing writes to them during the call.
    /// - A block can be written from `to` on, in other memory, which nothing else uses.
    /// - The processor has these features.
    #[inline]
    #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
    pub(in crate::loops) unsafe fn widen(half: Half, from: *const u16, len: usize, to: *mut f32) {
        for start in (0..BLOCK).step_by(LANES) {
            let bits = match start + LANES <= len {
                // SAFETY: the caller vouches for `len` elements, of which these are some. Loads need no alignment.
                true => unsafe { _mm256_loadu_si256(from.add(start).cast()) },
                // SAFETY: the caller vouches for one element at least, and for `len`; others are not read.
                false => unsafe {
                    let first = _mm256_set1_epi16(from.read().cast_signed());
                    _mm256_mask_loadu_epi16(
                        first,
                        lanes_below(len, start) as __mmask16,
                        from.wrapping_add(start).cast(),
                    )
                },
            };
            // SAFETY: a part of the block that the caller vouches for. Stores need no alignment.
            unsafe { _mm512_storeu_ps(to.add(start), widened(half, bits)) };
        }
    }

    /// Rows of halves, a step in bytes apart, that are shorter than a block; or of one half each, which stands for as
    /// many.
    #[derive(Clone, Copy)]
    pub(in crate::loops) struct Rows {
        pub(in crate::loops) half: Half,
        pub(in crate::loops) from: *const u8,
        pub(in crate::loops) step: isize,
        pub(in crate::loops) count: usize,
        pub(in crate::loops) len: usize,
        pub(in crate::loops) is_single: bool,
    }

    impl Rows {
        /// Widens the rows, side by side. Behind the last one, numbers are written up to a whole register.
        ///
        /// # Safety
        /// - The rows can be read, and nothing writes to them during the call.
        /// - `len` is at most a block. There is room for `count` rows of `len` elements and a block at `to`, in other
        ///   memory, which nothing else uses.
        /// - The processor has these features.
        #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
        pub(in crate::loops) unsafe fn widen(self, to: *mut f32) {
            let whole = self.len - self.len % LANES;
            let lanes = lanes_below(self.len, whole) as __mmask16;
            for row in 0..self.count {
                let from = self.from.wrapping_offset(row as isize * self.step).cast::<u16>();
                let to = to.wrapping_add(row * self.len);
                // SAFETY: the caller vouches for the elements of the row, or for a single one, and the mask leaves only
                // those; a register that starts within the row ends within the block behind it. No access needs an
                // alignment.
                unsafe {
                    if self.is_single {
                        let wide = widened(self.half, _mm256_set1_epi16(from.read().cast_signed()));
                        (0..self.len).step_by(LANES).for_each(|start| _mm512_storeu_ps(to.add(start), wide));
                        continue;
                    }
                    for start in (0..whole).step_by(LANES) {
                        let bits = _mm256_loadu_si256(from.add(start).cast());
                        _mm512_storeu_ps(to.add(start), widened(self.half, bits));
                    }
                    if whole < self.len {
                        let bits = _mm256_maskz_loadu_epi16(lanes, from.add(whole).cast());
                        _mm512_storeu_ps(to.add(whole), widened(self.half, bits));
                    }
                }
            }
        }
    }

    #[inline]
    #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
    fn widened(half: Half, bits: __m256i) -> __m512 {
        match half {
            Half::Float16 => _mm512_cvtph_ps(bits),
            // The upper half of an `f32` is a `bf16`.
            Half::BFloat16 => _mm512_castsi512_ps(_mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(bits))),
        }
    }

    /// A mask of the lanes of a register for the elements from `start` on that are below `len`.
    #[inline]
    fn lanes_below(len: usize, start: usize) -> u32 {
        (1u64 << len.saturating_sub(start).min(2 * LANES)).wrapping_sub(1) as u32
    }

    /// Rounds a block of `f32` to nearest, ties to even, and writes its first `len` elements; NaN stays NaN.
    ///
    /// # Safety
    /// - A block of `f32` can be read from `from` on.
    /// - `len` elements can be written from `to` on, in other memory, which nothing else uses.
    /// - The processor has these features.
    #[inline]
    #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
    pub(in crate::loops) unsafe fn narrow(half: Half, from: *const f32, to: *mut u16, len: usize) {
        for start in (0..BLOCK).step_by(2 * LANES) {
            if start >= len {
                break;
            }
            // SAFETY: parts of the block that the caller vouches for. Loads need no alignment.
            let (low, high) =
                unsafe { (_mm512_loadu_ps(from.add(start)), _mm512_loadu_ps(from.add(start + LANES))) };
            let bits = narrowed(half, low, high);
            // SAFETY: the caller vouches for `len` places, of which these are some; others are not written. Stores need
            // no alignment.
            unsafe {
                match start + 2 * LANES <= len {
                    true => _mm512_storeu_si512(to.add(start).cast(), bits),
                    false => _mm512_mask_storeu_epi16(to.add(start).cast(), lanes_below(len, start), bits),
                }
            }
        }
    }

    #[inline]
    #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
    fn narrowed(half: Half, low: __m512, high: __m512) -> __m512i {
        match half {
            Half::Float16 => _mm512_inserti64x4::<1>(
                _mm512_castsi256_si512(_mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(low)),
                _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(high),
            ),
            Half::BFloat16 => round_bf16(low, high),
        }
    }

    /// Converts halves, `bf16` or `f16`, to `f32`.
    ///
    /// # Safety
    /// - `len` halves of this kind can be read from `from` on, aligned, and nothing writes to them during the call.
    /// - `len` elements of `f32` can be written from `to` on, aligned, in other memory, which nothing else uses.
    /// - The processor has these features.
    #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
    pub(in crate::loops) unsafe fn widen_line<const IS_BF16: bool>(from: *const u8, len: usize, to: *mut u8) {
        let half = if IS_BF16 { Half::BFloat16 } else { Half::Float16 };
        let (from, to, rest) = (from.cast::<u16>(), to.cast::<f32>(), len % BLOCK);
        for start in (0..len - rest).step_by(BLOCK) {
            // SAFETY: `start + BLOCK` is at most `len`, and the caller vouches for as many elements in both, and
            // for the features.
            unsafe { widen(half, from.add(start), BLOCK, to.add(start)) };
        }
        for start in (len - rest..len).step_by(LANES) {
            let lanes = lanes_below(len, start) as __mmask16;
            // SAFETY: the mask leaves only those of the `len` elements that the caller vouches for in both. Neither
            // access needs an alignment.
            unsafe {
                let bits = _mm256_maskz_loadu_epi16(lanes, from.add(start).cast());
                _mm512_mask_storeu_ps(to.add(start), lanes, widened(half, bits));
            }
        }
    }

    /// Converts `f32` to halves, `bf16` or `f16`.
    ///
    /// # Safety
    /// - `len` elements of `f32` can be read from `from` on, aligned, and nothing writes to them during the call.
    /// - `len` halves of this kind can be written from `to` on, aligned, in other memory, which nothing else uses.
    /// - The processor has these features.
    #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
    pub(in crate::loops) unsafe fn narrow_line<const IS_BF16: bool>(
        from: *const u8,
        len: usize,
        to: *mut u8,
    ) {
        let half = if IS_BF16 { Half::BFloat16 } else { Half::Float16 };
        let (from, to, rest) = (from.cast::<f32>(), to.cast::<u16>(), len % BLOCK);
        for start in (0..len - rest).step_by(BLOCK) {
            // SAFETY: `start + BLOCK` is at most `len`, and the caller vouches for as many elements in both, and
            // for the features.
            unsafe { narrow(half, from.add(start), to.add(start), BLOCK) };
        }
        for start in (len - rest..len).step_by(2 * LANES) {
            let lanes = [0, LANES].map(|lane| lanes_below(len, start + lane) as __mmask16);
            // SAFETY: the masks leave only those of the `len` elements that the caller vouches for in both. Neither
            // access needs an alignment.
            unsafe {
                let low = _mm512_maskz_loadu_ps(lanes[0], from.add(start));
                let high = _mm512_maskz_loadu_ps(lanes[1], from.wrapping_add(start + LANES));
                let bits = narrowed(half, low, high);
                _mm512_mask_storeu_epi16(to.add(start).cast(), lanes_below(len, start), bits);
            }
        }
    }

    /// Rounds in the upper halves, and then takes these from both registers at once.
    #[inline]
    #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
    fn round_bf16(low: __m512, high: __m512) -> __m512i {
        const UPPER: [u16; 2 * LANES] = {
            let mut places = [0; 2 * LANES];
            let mut i = 0;
            while i < 2 * LANES {
                places[i] = 2 * i as u16 + 1;
                i += 1;
            }
            places
        };
        // SAFETY: an array of as many bits as the register has. Loads need no alignment.
        let upper = unsafe { _mm512_loadu_si512(UPPER.as_ptr().cast()) };
        _mm512_permutex2var_epi16(round_in_place(low), upper, round_in_place(high))
    }

    /// Rounds to `bf16`, which is in the upper half of each lane.
    #[inline]
    #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
    fn round_in_place(wide: __m512) -> __m512i {
        let bits = _mm512_castps_si512(wide);
        let odd = _mm512_and_si512(_mm512_srli_epi32::<16>(bits), _mm512_set1_epi32(1));
        let excess = _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff));
        let is_nan = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(wide, wide);
        let rounded = _mm512_add_epi32(bits, excess);
        _mm512_mask_or_epi32(rounded, is_nan, bits, _mm512_set1_epi32(0x40_0000))
    }
}

#[cfg(test)]
mod tests {
    use torch_library::{DType, Element, Tensor};

    use crate::loops::{copy, map};

    /// Sums of 16-bit floats, of every length up to a few blocks: with 16-bit floats, with one number, and in place.
    fn check<H: Element>() {
        let numbers = |start: i64, len: i64| -> Vec<H> {
            (start..start + len).map(|i| ((i * 37 % 1000 - 500) as f32 * 0.37).cast()).collect()
        };
        let sum = |a: &H, b: f32| (a.cast::<f32>() + b).cast::<H>();
        for len in (0..200).chain([4000, 40_000]) {
            let (a, b) = (numbers(3, len), numbers(8, len));
            let tensor = |halves: &[H]| Tensor::from_slice(halves, &[len]).unwrap();
            let (x, y, out) = (tensor(&a), tensor(&b), tensor(&a));
            map(&out, [&x, &y], |[a, b]: [f32; 2]| a + b).unwrap();
            let sums: Vec<H> = a.iter().zip(&b).map(|(a, b)| sum(a, b.cast())).collect();
            assert_eq!(out.to_vec::<H>().unwrap(), sums);
            map(&out, [&x, &Tensor::from(0.3)], |[a, b]: [f32; 2]| a + b).unwrap();
            let raised: Vec<H> = a.iter().map(|a| sum(a, 0.3)).collect();
            assert_eq!(out.to_vec::<H>().unwrap(), raised);
            map(&x, [&x, &y], |[a, b]: [f32; 2]| a + b).unwrap();
            assert_eq!(x.to_vec::<H>().unwrap(), sums, "in place");
        }
    }

    /// Rows with gaps between them, of every length up to some blocks, from tensors with gaps or without and in place.
    fn check_rows<H: Element>() {
        let numbers = |start: i64, len: i64| -> Vec<H> {
            (start..start + len).map(|i| ((i * 37 % 1000 - 500) as f32 * 0.37).cast()).collect()
        };
        for (rows, len) in (1..140).map(|len| (1 + len * 7 % 40, len)).chain([(700, 32), (3000, 5)]) {
            let gap = len + 3;
            let (a, b) = (numbers(3, rows * gap), numbers(8, rows * len));
            let row = |n: usize| &a[n * gap as usize..][..len as usize];
            let pairs = (0..rows as usize).flat_map(row).zip(&b);
            let sums: Vec<H> = pairs.map(|(a, b)| (a.cast::<f32>() + b.cast::<f32>()).cast()).collect();
            let x = Tensor::from_slice(&a, &[rows * gap]).unwrap();
            let x = x.strided_view(&[rows, len], &[gap, 1], 0).unwrap();
            let y = Tensor::from_slice(&b, &[rows, len]).unwrap();
            let out = Tensor::from_slice(&b, &[rows, len]).unwrap();
            map(&out, [&x, &y], |[a, b]: [f32; 2]| a + b).unwrap();
            assert_eq!(out.to_vec::<H>().unwrap(), sums, "{rows} rows of {len}");
            let each = |f: &dyn Fn(usize, f32) -> f32| -> Vec<H> {
                let all = (0..rows as usize).flat_map(|n| row(n).iter().map(move |a| (n, a)));
                all.map(|(n, a)| f(n, a.cast()).cast()).collect()
            };
            map(&out, [&x, &Tensor::from(0.3)], |[a, b]: [f32; 2]| a + b).unwrap();
            assert_eq!(
                out.to_vec::<H>().unwrap(),
                each(&|_, a| a + 0.3),
                "{rows} rows of {len}, and a number"
            );
            let column = y.strided_view(&[rows, 1], &[len, 1], 0).unwrap();
            map(&out, [&x, &column, &Tensor::from(0.3)], |[a, b, c]: [f32; 3]| a * c + b).unwrap();
            let of_row = |n: usize, a: f32| a * 0.3 + b[n * len as usize].cast::<f32>();
            assert_eq!(out.to_vec::<H>().unwrap(), each(&of_row), "{rows} rows of {len}, and a column");
            let doubles = copy(&x, DType::Float64).unwrap();
            assert_eq!(copy(&doubles, H::DTYPE).unwrap().to_vec::<H>().unwrap(), each(&|_, a| a));
            map(&x, [&x, &y], |[a, b]: [f32; 2]| a + b).unwrap();
            assert_eq!(x.to_vec::<H>().unwrap(), sums, "{rows} rows of {len}, in place");
            map(&out, [&x], |[a]: [f32; 1]| -a).unwrap();
            let negated: Vec<H> = sums.iter().map(|sum| (-sum.cast::<f32>()).cast()).collect();
            assert_eq!(out.to_vec::<H>().unwrap(), negated, "{rows} rows of {len}, of one operand");
            map(&x, [], |[]: [f32; 0]| 2.5).unwrap();
            assert_eq!(x.to_vec::<H>().unwrap(), each(&|_, _| 2.5), "{rows} rows of {len}, of none");
        }
    }

    #[test]
    fn halves_are_computed_as_if_one_by_one() {
        check::<half::bf16>();
        check::<half::f16>();
    }

    #[test]
    fn rows_with_gaps_are_computed_as_if_one_by_one() {
        check_rows::<half::bf16>();
        check_rows::<half::f16>();
        check_rows::<f32>();
    }
}
