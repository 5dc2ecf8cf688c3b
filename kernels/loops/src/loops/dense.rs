//! Conversions of dense elements on wide vectors, for the pairs of types that programs convert most.
#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "reads and writes elements through pointers")
)]

use torch_library::DType;

#[cfg(target_arch = "x86_64")]
use torch_library::element::{bf16, f16};

#[cfg(target_arch = "x86_64")]
use super::halves;

/// Converts `len` dense elements.
///
/// # Safety
/// - `len` elements can be read from `from` on, aligned for their type and initialised (booleans may be any byte), and
///   nothing writes to them during the call.
/// - `len` elements can be written from `to` on, aligned for their type, and nothing else uses them during the call.
/// - The two share no memory.
/// - The processor has the features that the function is compiled for.
type Convert = unsafe fn(from: *const u8, len: usize, to: *mut u8);

/// The fast conversion from `S` to `D`, if there is one and the processor has its instructions.
#[inline(always)]
pub(super) fn conversion(from: DType, to: DType) -> Option<Convert> {
    #[cfg(target_arch = "x86_64")]
    match (from, to) {
        (DType::BFloat16, DType::Float32) if super::has_avx512() => return Some(halves::widen_line::<true>),
        (DType::Float32, DType::BFloat16) if super::has_avx512() => return Some(halves::narrow_line::<true>),
        (DType::Float16, DType::Float32) if super::has_avx512() => return Some(halves::widen_line::<false>),
        (DType::Float32, DType::Float16) if super::has_avx512() => return Some(halves::narrow_line::<false>),
        (DType::BFloat16, DType::Float32) if super::has_avx2() => return Some(wide::widen_bf16),
        (DType::Float32, DType::BFloat16) if super::has_avx2() => return Some(wide::round_bf16),
        (DType::Float16, DType::Float32) if has_f16c() => return Some(wide::widen_f16),
        (DType::Float32, DType::Float16) if has_f16c() => return Some(wide::round_f16),
        (DType::Float32, DType::Float64) if super::has_avx2() => return Some(wide::each::<f32, f64>),
        (DType::Float64, DType::Float32) if super::has_avx2() => return Some(wide::each::<f64, f32>),
        (DType::UInt8, DType::Float32) if super::has_avx512() => return Some(wide::each_widest::<u8, f32>),
        (DType::UInt8, DType::Float64) if super::has_avx512() => return Some(wide::each_widest::<u8, f64>),
        (DType::Int32, DType::Float32) if super::has_avx2() => return Some(wide::each::<i32, f32>),
        (DType::Float32, DType::Int32) if super::has_avx2() => return Some(wide::cut_narrow::<i32>),
        (DType::Float32, DType::Int16) if super::has_avx2() => return Some(wide::cut_narrow::<i16>),
        (DType::Float32, DType::Int8) if super::has_avx2() => return Some(wide::cut_narrow::<i8>),
        (DType::Float32, DType::UInt8) if super::has_avx2() => return Some(wide::cut_narrow::<u8>),
        (DType::Int32, DType::Int64) if super::has_avx2() => return Some(wide::each::<i32, i64>),
        (DType::UInt8, DType::Int64) if super::has_avx2() => return Some(wide::each::<u8, i64>),
        (DType::Int64, DType::Float32) if super::has_avx512() => return Some(wide::each_widest::<i64, f32>),
        (DType::Int64, DType::UInt8) if super::has_avx512() => return Some(wide::each_widest::<i64, u8>),
        (DType::Bool, DType::Bool | DType::UInt8) if super::has_avx2() => return Some(wide::to_bool),
        (DType::Bool, DType::Int32) if super::has_avx2() => return Some(wide::of_bool::<i32>),
        (DType::Bool, DType::Int64) if super::has_avx2() => return Some(wide::of_bool::<i64>),
        (DType::Bool, DType::Float16) if super::has_avx2() => return Some(wide::of_bool::<f16>),
        (DType::Bool, DType::BFloat16) if super::has_avx2() => return Some(wide::of_bool::<bf16>),
        (DType::Bool, DType::Float32) if super::has_avx2() => return Some(wide::of_bool::<f32>),
        (DType::Bool, DType::Float64) if super::has_avx2() => return Some(wide::of_bool::<f64>),
        (DType::Float32, DType::Int64) if super::has_avx512() => return Some(wide::cut),
        (DType::Float64, DType::Int64) if super::has_avx512() => return Some(wide::cut_double),
        (DType::Float32, DType::Bool) if super::has_avx2() => return Some(wide::is_nonzero::<f32>),
        (DType::Float64, DType::Bool) if super::has_avx2() => return Some(wide::is_nonzero::<f64>),
        (DType::Int32, DType::Bool) if super::has_avx2() => return Some(wide::is_nonzero::<i32>),
        (DType::Int64, DType::Bool) if super::has_avx2() => return Some(wide::is_nonzero::<i64>),
        _ => {}
    }
    let _ = (from, to);
    None
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn has_f16c() -> bool {
    super::has_avx2() && is_x86_feature_detected!("f16c")
}

#[cfg(target_arch = "x86_64")]
mod wide {
    use std::arch::x86_64::{
        __m128i, __m256, __m256i, _MM_FROUND_TO_NEAREST_INT, _mm256_cvtph_ps, _mm256_cvtps_ph,
        _mm256_cvttps_epi32, _mm256_loadu_ps, _mm256_zeroupper, _mm512_cvttpd_epi64, _mm512_cvttps_epi64,
        _mm512_loadu_pd, _mm512_storeu_si512,
    };

    use torch_library::Element;

    /// # Safety
    /// - What [`Convert`](super::Convert) requires, of elements of `S` and `D`: `len` to read, `len` to write, in
    ///   disjoint memory that nothing else uses.
    /// - The processor has these features.
    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn each<S: Element, D: Element>(from: *const u8, len: usize, to: *mut u8) {
        // SAFETY: the caller vouches for `len` elements of `S` to read and of `D` to write, in disjoint memory.
        unsafe { each_here::<S, D>(from.cast(), len, to.cast()) };
        // LLVM does this only if the function names a wide register, which a conversion of wide memory to a narrow
        // register does not. Where the upper halves are in use, calls of libm take ten times as long on Intel's
        // processors.
        _mm256_zeroupper();
    }

    /// # Safety
    /// - What [`Convert`](super::Convert) requires, of elements of `S` and `D`: `len` to read, `len` to write, in
    ///   disjoint memory that nothing else uses.
    /// - The processor has these features.
    #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
    pub(super) unsafe fn each_widest<S: Element, D: Element>(from: *const u8, len: usize, to: *mut u8) {
        // SAFETY: the caller vouches for `len` elements of `S` to read and of `D` to write, in disjoint memory.
        unsafe { each_here::<S, D>(from.cast(), len, to.cast()) };
        _mm256_zeroupper(); // as in `each`
    }

    /// Converts booleans to booleans or to bytes: any byte but 0 is true.
    ///
    /// # Safety
    /// - What [`Convert`](super::Convert) requires, of bytes: `len` to read, `len` to write, in disjoint memory that
    ///   nothing else uses.
    /// - The processor has these features.
    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn to_bool(from: *const u8, len: usize, to: *mut u8) {
        for i in 0..len {
            // SAFETY: `i` is below `len`, and the caller vouches for as many bytes to read; as bytes, any value is one.
            let is_true = unsafe { from.add(i).read() } != 0;
            // SAFETY: `i` is below `len`, and the caller vouches for as many bytes to write; 0 and 1 are booleans.
            unsafe { to.add(i).write(u8::from(is_true)) };
        }
    }

    /// Converts booleans to 0 and 1: any byte but 0 is true.
    ///
    /// # Safety
    /// - What [`Convert`](super::Convert) requires, of bytes and elements of `D`: `len` to read, `len` to write, in
    ///   disjoint memory that nothing else uses.
    /// - The processor has these features.
    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn of_bool<D: Element>(from: *const u8, len: usize, to: *mut u8) {
        let (to, [zero, one]) = (to.cast::<D>(), [0u8, 1].map(u8::cast::<D>));
        for i in 0..len {
            // SAFETY: `i` is below `len`, and the caller vouches for as many bytes to read; as bytes, any value is one.
            let is_true = unsafe { from.add(i).read() } != 0;
            // SAFETY: `i` is below `len`, and the caller vouches for as many elements of `D` to write.
            unsafe { to.add(i).write(if is_true { one } else { zero }) };
        }
    }

    /// Converts numbers to booleans: any number but 0 is true.
    ///
    /// # Safety
    /// - What [`Convert`](super::Convert) requires, of elements of `S` and booleans: `len` to read, `len` to write, in
    ///   disjoint memory that nothing else uses.
    /// - `S` is not `bool`.
    /// - The processor has these features.
    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn is_nonzero<S: Element>(from: *const u8, len: usize, to: *mut u8) {
        let from = from.cast::<S>();
        for i in 0..len {
            // SAFETY: `i` is below `len`, and the caller vouches for as many elements of `S`, a number, of which
            // any bits are a value.
            let is_true = unsafe { from.add(i).read() } != S::default();
            // SAFETY: `i` is below `len`, and the caller vouches for as many bytes to write; 0 and 1 are booleans.
            unsafe { to.add(i).write(u8::from(is_true)) };
        }
    }

    /// Converts `f32` to `i64`; for numbers out of range the instruction gives the result that [`Element::cast`]
    /// promises.
    ///
    /// # Safety
    /// - What [`Convert`](super::Convert) requires, of `f32` and `i64`: `len` to read, `len` to write, in disjoint
    ///   memory that nothing else uses.
    /// - The processor has these features.
    #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
    pub(super) unsafe fn cut(from: *const u8, len: usize, to: *mut u8) {
        let (from, to) = (from.cast::<f32>(), to.cast::<i64>());
        let lanes_end = len - len % LANES;
        for start in (0..lanes_end).step_by(LANES) {
            // SAFETY: `start + LANES` is at most `len`, and the caller vouches for as many `f32`.
            let wide = unsafe { _mm256_loadu_ps(from.add(start)) };
            // SAFETY: `start + LANES` is at most `len`, and the caller vouches for as many places for an `i64`.
            unsafe { _mm512_storeu_si512(to.add(start).cast(), _mm512_cvttps_epi64(wide)) };
        }
        // SAFETY: the caller vouches for `len` elements in both, of which these are the last.
        unsafe { each_here::<f32, i64>(from.add(lanes_end), len - lanes_end, to.add(lanes_end)) };
    }

    /// Converts `f64` to `i64`; see [`cut`].
    ///
    /// # Safety
    /// - What [`Convert`](super::Convert) requires, of `f64` and `i64`: `len` to read, `len` to write, in disjoint
    ///   memory that nothing else uses.
    /// - The processor has these features.
    #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
    pub(super) unsafe fn cut_double(from: *const u8, len: usize, to: *mut u8) {
        let (from, to) = (from.cast::<f64>(), to.cast::<i64>());
        let lanes_end = len - len % LANES;
        for start in (0..lanes_end).step_by(LANES) {
            // SAFETY: `start + LANES` is at most `len`, and the caller vouches for as many `f64`, and for as many
            // places for an `i64`.
            unsafe {
                let doubles = _mm512_loadu_pd(from.add(start));
                _mm512_storeu_si512(to.add(start).cast(), _mm512_cvttpd_epi64(doubles));
            }
        }
        // SAFETY: the caller vouches for `len` elements in both, of which these are the last.
        unsafe { each_here::<f64, i64>(from.add(lanes_end), len - lanes_end, to.add(lanes_end)) };
    }

    /// Converts `f32` to integers of up to 32 bits; see [`cut`].
    ///
    /// # Safety
    /// - What [`Convert`](super::Convert) requires, of `f32` and `D`: `len` to read, `len` to write, in disjoint memory
    ///   that nothing else uses.
    /// - The processor has these features.
    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn cut_narrow<D: Element>(from: *const u8, len: usize, to: *mut u8) {
        let (from, to) = (from.cast::<f32>(), to.cast::<D>());
        let lanes_end = len - len % LANES;
        for start in (0..lanes_end).step_by(LANES) {
            // SAFETY: `start + LANES` is at most `len`, and the caller vouches for as many `f32`.
            let cut = _mm256_cvttps_epi32(unsafe { _mm256_loadu_ps(from.add(start)) });
            // SAFETY: both are eight times four bytes, of which every pattern is a value.
            let cut = unsafe { std::mem::transmute::<__m256i, [i32; LANES]>(cut) };
            // Written out, since LLVM stores the elements of an array that a loop fills one by one.
            let [a, b, c, d, e, f, g, h] = cut;
            let narrow = [a.cast(), b.cast(), c.cast(), d.cast(), e.cast(), f.cast(), g.cast(), h.cast()];
            // SAFETY: `start + LANES` is at most `len`, and the caller vouches for as many places for a `D`,
            // aligned for it and so for an array.
            unsafe { to.add(start).cast::<[D; LANES]>().write(narrow) };
        }
        // SAFETY: the caller vouches for `len` elements in both, of which these are the last.
        unsafe { each_here::<f32, D>(from.add(lanes_end), len - lanes_end, to.add(lanes_end)) };
    }

    /// # Safety
    /// - `len` elements can be read from `from` on, and nothing writes to them during the call; they are not booleans.
    /// - `len` elements can be written from `to` on, and nothing else uses them during the call.
    /// - The two share no memory.
    #[inline(always)]
    unsafe fn each_here<S: Element, D: Element>(from: *const S, len: usize, to: *mut D) {
        for i in 0..len {
            // SAFETY: `i` is below `len`, and the caller vouches for as many elements in both, of which any bits
            // are a value.
            unsafe { to.add(i).write(from.add(i).read().cast::<D>()) };
        }
    }

    /// The number of elements that an instruction converts.
    const LANES: usize = 8;

    /// # Safety
    /// - What [`Convert`](super::Convert) requires, of `bf16` and `f32`: `len` to read, `len` to write, in disjoint
    ///   memory that nothing else uses.
    /// - The processor has these features.
    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn widen_bf16(from: *const u8, len: usize, to: *mut u8) {
        let (from, to) = (from.cast::<u16>(), to.cast::<u32>());
        for i in 0..len {
            // SAFETY: `i` is below `len`, and the caller vouches for as many elements in both; `bf16` lies in memory as
            // `u16`, and `f32`, which begins with the bits of `bf16`, as `u32`.
            unsafe { to.add(i).write(u32::from(from.add(i).read()) << 16) };
        }
    }

    /// Rounds `f32` to `bf16`: to nearest, ties to even; NaN stays NaN.
    ///
    /// # Safety
    /// - What [`Convert`](super::Convert) requires, of `f32` and `bf16`: `len` to read, `len` to write, in disjoint
    ///   memory that nothing else uses.
    /// - The processor has these features.
    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn round_bf16(from: *const u8, len: usize, to: *mut u8) {
        const INFINITY: u32 = 0x7f80_0000;
        let (from, to) = (from.cast::<u32>(), to.cast::<u16>());
        for i in 0..len {
            // SAFETY: `i` is below `len`, and the caller vouches for as many `f32`, which lie in memory as `u32`.
            let bits = unsafe { from.add(i).read() };
            let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
            let quiet = bits >> 16 | 0x40;
            let result = if bits & 0x7fff_ffff > INFINITY { quiet } else { rounded };
            // SAFETY: `i` is below `len`, and the caller vouches for as many places for a `bf16`, which lies in
            // memory as `u16`.
            unsafe { to.add(i).write(result as u16) };
        }
    }

    /// # Safety
    /// - What [`Convert`](super::Convert) requires, of `f16` and `f32`: `len` to read, `len` to write, in disjoint
    ///   memory that nothing else uses.
    /// - The processor has these features.
    #[target_feature(enable = "avx2,fma,f16c")]
    pub(super) unsafe fn widen_f16(from: *const u8, len: usize, to: *mut u8) {
        let (from, to) = (from.cast::<u16>(), to.cast::<f32>());
        let rest = len % LANES;
        for start in (0..len - rest).step_by(LANES) {
            // SAFETY: `start + LANES` is at most `len`, and the caller vouches for as many elements in both, and
            // for the features.
            unsafe { widen_few(from.add(start), LANES, to.add(start)) };
        }
        // SAFETY: the last `rest` of the `len` elements that the caller vouches for in both, fewer than the lanes.
        unsafe { widen_few(from.add(len - rest), rest, to.add(len - rest)) };
    }

    /// # Safety
    /// - `len` elements can be read from `from` on and written from `to` on, in other memory, and nothing else uses
    ///   these during the call.
    /// - `len` is at most `LANES`.
    /// - The processor has these features.
    #[inline]
    #[target_feature(enable = "avx2,fma,f16c")]
    unsafe fn widen_few(from: *const u16, len: usize, to: *mut f32) {
        let mut lanes = [0; LANES];
        // SAFETY: the caller vouches for `len` elements to read, and for no more than there are lanes; a local array is
        // other memory.
        unsafe { std::ptr::copy_nonoverlapping(from, lanes.as_mut_ptr(), len) };
        // SAFETY: both are eight times two bytes, of which every pattern is a value.
        let wide = _mm256_cvtph_ps(unsafe { std::mem::transmute::<[u16; LANES], __m128i>(lanes) });
        // SAFETY: a register holds as many `f32` as there are lanes, which `len` does not exceed; the caller vouches
        // for as many places. A local register is other memory.
        unsafe { std::ptr::copy_nonoverlapping((&raw const wide).cast(), to, len) };
    }

    /// # Safety
    /// - What [`Convert`](super::Convert) requires, of `f32` and `f16`: `len` to read, `len` to write, in disjoint
    ///   memory that nothing else uses.
    /// - The processor has these features.
    #[target_feature(enable = "avx2,fma,f16c")]
    pub(super) unsafe fn round_f16(from: *const u8, len: usize, to: *mut u8) {
        let (from, to) = (from.cast::<f32>(), to.cast::<u16>());
        let rest = len % LANES;
        for start in (0..len - rest).step_by(LANES) {
            // SAFETY: `start + LANES` is at most `len`, and the caller vouches for as many elements in both, and
            // for the features.
            unsafe { round_few(from.add(start), LANES, to.add(start)) };
        }
        // SAFETY: the last `rest` of the `len` elements that the caller vouches for in both, fewer than the lanes.
        unsafe { round_few(from.add(len - rest), rest, to.add(len - rest)) };
    }

    /// # Safety
    /// - `len` elements can be read from `from` on and written from `to` on, in other memory, and nothing else uses
    ///   these during the call.
    /// - `len` is at most `LANES`.
    /// - The processor has these features.
    #[inline]
    #[target_feature(enable = "avx2,fma,f16c")]
    unsafe fn round_few(from: *const f32, len: usize, to: *mut u16) {
        let mut lanes = [0.0; LANES];
        // SAFETY: the caller vouches for `len` elements to read, and for no more than there are lanes; a local array is
        // other memory.
        unsafe { std::ptr::copy_nonoverlapping(from, lanes.as_mut_ptr(), len) };
        // SAFETY: both are eight times four bytes, of which every pattern is a value.
        let wide = unsafe { std::mem::transmute::<[f32; LANES], __m256>(lanes) };
        let narrow = _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(wide);
        // SAFETY: a register holds as many `f16` as there are lanes, which `len` does not exceed; the caller vouches
        // for as many places. A local register is other memory.
        unsafe { std::ptr::copy_nonoverlapping((&raw const narrow).cast(), to, len) };
    }
}

#[cfg(test)]
mod tests {
    use torch_library::{DType, Device, Element, Tensor};

    use crate::loops::map;

    /// Checks all 16-bit floats, and numbers halfway and nearly halfway between them, against the conversions of the
    /// element types themselves.
    fn check<H: Element + std::fmt::Debug>(bits: impl Fn(H) -> u16, half: impl Fn(u16) -> H) {
        let halves: Vec<H> = (0..=u16::MAX).map(&half).collect();
        let singles: Vec<f32> =
            (0..1 << 18).map(|i| f32::from_bits((i << 14) | ((i & 3) * 0x1fff))).collect();
        for offset in [0, 1, 5] {
            let halves = &halves[offset..];
            let tensor = Tensor::from_slice(halves, &[halves.len() as i64]).unwrap();
            let out = Tensor::empty(tensor.sizes(), DType::Float32, Device::CPU).unwrap();
            map(&out, [&tensor], |[x]: [f32; 1]| x).unwrap();
            for (half, got) in halves.iter().zip(out.to_vec::<f32>().unwrap()) {
                let want = half.cast::<f32>();
                assert!(got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan(), "{half:?}");
            }
            let singles = &singles[offset..];
            let tensor = Tensor::from_slice(singles, &[singles.len() as i64]).unwrap();
            let out = Tensor::empty(tensor.sizes(), H::DTYPE, Device::CPU).unwrap();
            map(&out, [&tensor], |[x]: [f32; 1]| x).unwrap();
            for (single, got) in singles.iter().zip(out.to_vec::<H>().unwrap()) {
                let is_nan = single.is_nan() && got.cast::<f32>().is_nan();
                assert!(bits(got) == bits(single.cast::<H>()) || is_nan, "{single:?} became {got:?}");
            }
        }
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    #[expect(unsafe_code, reason = "executes an instruction that CPUID reports")]
    fn conversions_leave_no_upper_halves_in_use() {
        use std::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv};
        /// Whether upper halves of registers are in use.
        #[target_feature(enable = "xsave")]
        fn are_in_use() -> bool {
            // SAFETY: the test found that the instruction takes this argument.
            unsafe { _xgetbv(1) & 4 != 0 }
        }
        let takes_one = __cpuid(0).eax >= 13 && __cpuid_count(13, 1).eax & 4 != 0;
        if !(takes_one && is_x86_feature_detected!("xsave") && is_x86_feature_detected!("avx")) {
            return;
        }
        for len in [5i64, 20, 100] {
            let doubles = Tensor::full(&[len], 1.5, DType::Float64, Device::CPU).unwrap();
            for dtype in [DType::Float32, DType::Int32, DType::Int64, DType::Float16] {
                let out = Tensor::empty(&[len], dtype, Device::CPU).unwrap();
                map(&out, [&doubles], |[x]: [f64; 1]| x).unwrap();
                // SAFETY: the processor has the feature, as was just found.
                assert!(!unsafe { are_in_use() }, "{len} doubles as {dtype}");
            }
        }
    }

    #[test]
    fn floats_are_cut_like_single_elements() {
        fn check<S: Element, D: Element + std::fmt::Debug>() {
            let some =
                [3e9, -3e9, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 300.7, -1.5, 70000.0, -40000.0, 1e19];
            for len in [3, 8, 9, 41] {
                let floats: Vec<S> = some.iter().cycle().take(len).map(|x| x.cast()).collect();
                let tensor = Tensor::from_slice(&floats, &[len as i64]).unwrap();
                let out = Tensor::empty(tensor.sizes(), D::DTYPE, Device::CPU).unwrap();
                map(&out, [&tensor], |[x]: [D; 1]| x).unwrap();
                let want: Vec<D> = floats.iter().map(|x| x.cast()).collect();
                assert_eq!(out.to_vec::<D>().unwrap(), want);
            }
        }
        check::<f32, i32>();
        check::<f32, i64>();
        check::<f32, i16>();
        check::<f32, i8>();
        check::<f32, u8>();
        check::<f64, i64>();
        check::<f64, i32>();
    }

    #[test]
    fn halves_are_converted_like_single_elements() {
        check(|x: half::bf16| x.to_bits(), half::bf16::from_bits);
        check(|x: half::f16| x.to_bits(), half::f16::from_bits);
    }
}
