//! The hyperbolic tangent in a register.
#![expect(
    unsafe_code,
    reason = "reads a table, by instructions that whoever calls these functions vouches for"
)]

use std::arch::x86_64::*;

use super::super::{HyperbolicTangent, InRegisters};

impl InRegisters for HyperbolicTangent {
    /// A polynomial in the distance from the middle of an interval. The intervals are quarters of the binades from 1/16
    /// to 10, beyond which the result is 1; below is one interval, whose polynomial is odd.
    #[inline(always)]
    unsafe fn of_singles(x: __m512) -> __m512 {
        // Numbers of one interval differ in these lowest bits.
        const BITS: u32 = 21;
        // The table entry of the quarter from 12 to 14, which is not needed otherwise.
        const NEAR_ZERO: i32 = 10;
        // SAFETY: the tables have 32 numbers, the other instructions access no memory, and the caller vouches for the
        // processor.
        unsafe {
            // NaN stays, as the second operand.
            let size = _mm512_min_ps(_mm512_set1_ps(9.2), _mm512_abs_ps(x));
            let is_far = _mm512_cmp_ps_mask::<_CMP_GE_OQ>(size, _mm512_set1_ps(0.0625));
            let bits = _mm512_castps_si512(size);
            let place = _mm512_mask_srli_epi32::<BITS>(_mm512_set1_epi32(NEAR_ZERO), is_far, bits);
            // `bits & start | half`, or 0.
            let (half, start) = (_mm512_set1_epi32(1 << (BITS - 1)), _mm512_set1_epi32(-1 << BITS));
            let middle = _mm512_maskz_ternarylogic_epi32::<0b1111_1000>(is_far, half, bits, start);
            let t = _mm512_sub_ps(size, _mm512_castsi512_ps(middle));
            let mut value = picked(&COEFFICIENTS[0], place);
            for coefficients in &COEFFICIENTS[1..] {
                value = _mm512_fmadd_ps(value, t, picked(coefficients, place));
            }
            _mm512_or_ps(value, _mm512_and_ps(x, _mm512_set1_ps(-0.0))) // zeros keep their sign
        }
    }
}

/// The entries of a table that the lowest five bits of each index select.
///
/// # Safety
/// - The processor has the widest vectors.
#[inline(always)]
unsafe fn picked(numbers: &[f32; 32], index: __m512i) -> __m512 {
    // SAFETY: two unaligned loads of sixteen numbers each, from a table of 32; only the lowest five bits of each index
    // count. The caller vouches for the processor.
    unsafe {
        let (low, high) = (_mm512_loadu_ps(numbers.as_ptr()), _mm512_loadu_ps(numbers.as_ptr().add(16)));
        _mm512_permutex2var_ps(low, index, high)
    }
}

/// The coefficients of each interval's polynomial, that of the highest power first, at the index that the lowest two
/// bits of the exponent and the highest two of the mantissa form. They are found by weighted least squares, with the
/// value in the middle of the interval rounded first.
#[rustfmt::skip] // which would take a line for each number
const COEFFICIENTS: [[f32; 32]; 6] = [
    [
        3.977_047_3e-3, 1.914_758_9e-3, 7.699_487e-4, 2.923_421e-4, 6.818_748e-5, 9.232_397e-6,
        1.248_837_9e-6, 1.690_749_7e-7, 1.541_050_9e-6, 0.0, 1.330_177e-1, 0.0, 6.951_97e1, 6.765_112_4,
        -3.802_13e1, -4.327_058_8e1, -2.234_275, 5.026_278_5, 5.501_113e-1, -3.924_537_2, 1.006_281_45e-1,
        2.392_869_3e-1, 2.005_285_5e-1, -1.842_599e-1, -2.507_716_4e-2, -6.014_416_4e-2, -5.075_009_5e-2,
        -6.176_064e-2, -3.190_336_4e-2, -9.283_485e-3, 1.254_934_6e-3, 4.531_224e-3,
    ],
    [
        -1.243_405_2e-2, -5.134_928_5e-3, -1.941_168_4e-3, -7.188_949_4e-4, -1.697_678_5e-4, -2.031_563_8e-5,
        -4.354_894_4e-6, 1.583_207_9e-6, 1.392_520_3e-6, 0.0, 0.0, 0.0, 4.941_336, 6.295_301_3e-1,
        -3.834_781_6, -5.056_065, -2.456_501_9e-1, 9.684_049e-1, 2.163_158e-1, -8.391_834_5e-1,
        1.621_549_4e-1, 2.410_561_1e-1, 2.579_469e-1, 7.779_393e-2, 1.659_288_9e-1, 1.207_806_8e-1,
        9.444_38e-2, 2.954_033_8e-2, 3.946_92e-3, -2.028_563_6e-2, -2.608_776_3e-2, -2.163_504e-2,
    ],
    [
        2.708_771e-2, 1.054_631_3e-2, 3.961_046_7e-3, 1.468_32e-3, 3.284_999e-4, 4.450_317e-5, 6.023_856_3e-6,
        8.152_400_7e-7, -8.720_841e-7, 0.0, -3.333_328_7e-1, 0.0, -3.310_246_5e-1, -3.239_940_7e-1,
        -3.174_499_6e-1, -3.127_249_2e-1, -3.071_178e-1, -2.967_501_3e-1, -2.815_231_4e-1, -2.645_213_6e-1,
        -2.388_690_9e-1, -1.995_901e-1, -1.576_340_3e-1, -1.148_569_36e-1, -5.439_863e-2, 1.438_097_8e-2,
        6.420_515_5e-2, 9.481_075e-2, 1.109_726_2e-1, 9.956_753e-2, 7.516_606e-2, 5.180_278_4e-2,
    ],
    [
        -4.250_567_8e-2, -1.608_224_6e-2, -5.979_635_8e-3, -2.208_574_4e-3, -4.933_935e-4, -6.747_822e-5,
        -8.731_366e-6, -1.725_052_6e-6, -9.180_616_3e-7, 0.0, 0.0, 0.0, -7.014_986e-2, -8.513_157e-2,
        -9.993_967_4e-2, -1.147_532_24e-1, -1.368_969_4e-1, -1.654_825_5e-1, -1.923_548_3e-1, -2.177_431_6e-1,
        -2.534_889e-1, -2.946_904e-1, -3.281_769_5e-1, -3.535_389e-1, -3.773_608_8e-1, -3.842_716_5e-1,
        -3.689_567_4e-1, -3.384_551e-1, -2.792_407e-1, -1.987_712_2e-1, -1.329_894_4e-1, -8.565_88e-2,
    ],
    [
        4.346_491_8e-2, 1.621_428_7e-2, 5.995_715e-3, 2.209_892_3e-3, 4.935_178_4e-4, 6.680_457_6e-5,
        9.041_277e-6, 1.223_608_6e-6, 6.091_849e-8, 0.0, 1.0, 0.0, 9.950_724e-1, 9.926_51e-1, 9.897_556e-1,
        9.863_918_4e-1, 9.804_824e-1, 9.710_312e-1, 9.598_492e-1, 9.470_191e-1, 9.248_903e-1, 8.905_574e-1,
        8.515_563e-1, 8.088_659_6e-1, 7.400_734_4e-1, 6.443_386e-1, 5.498_032e-1, 4.611_39e-1, 3.450_317_7e-1,
        2.259_049_9e-1, 1.437_343_7e-1, 8.979_764e-2,
    ],
    [
        9.780_261e-1, 9.918_597_3e-1, 9.969_976_5e-1, 9.988_944_5e-1, 9.997_532_4e-1, 9.999_666e-1,
        9.999_954_7e-1, 9.999_994e-1, 1.0, 0.0, 0.0, 0.0, 7.019_686e-2, 8.572_657e-2, 1.012_147_3e-1,
        1.166_539_9e-1, 1.397_053e-1, 1.702_023_1e-1, 2.003_767_2e-1, 2.301_757e-1, 2.740_616e-1,
        3.308_211_3e-1, 3.852_839_8e-1, 4.371_887_7e-1, 5.098_3e-1, 5.963_735_6e-1, 6.709_671e-1,
        7.340_715e-1, 8.093_011e-1, 8.798_267e-1, 9.253_462e-1, 9.540_452_4e-1,
    ],
];
