//! Floating-point numbers of eight bits: PyTorch's five formats, and their conversions from and to `f32`.
//!
//! All other conversions go through `f32`, as in PyTorch, so that kernels can compute in it and no format needs loops
//! of its own.

use std::fmt;

/// How a format's bits are divided between exponent and mantissa, and what stands beyond its numbers.
///
/// PyTorch: the template parameters of `c10::detail::fp8e4m3fn_from_fp32_value` and its relatives.
struct Format {
    mantissa: u32,
    bias: u32,
    /// The code of the largest finite number.
    largest: u8,
    /// The code, without its sign, of what is larger.
    beyond: u8,
    /// The code, without its sign, that NaN is converted to.
    nan: u8,
    /// Whether minus zero is NaN, the only one, instead of a number ("uz": unsigned zero).
    is_zero_unsigned: bool,
    /// Whether the largest exponent stands for infinity and NaN as in `f32`.
    has_infinity: bool,
}

/// The code of minus zero.
const SIGN: u8 = 0x80;
/// `f32`'s bits of infinity; larger ones, without the sign, are NaN.
const INFINITY: u32 = 0x7f80_0000;
/// `f32`'s bits of the NaN that formats with a single NaN are converted to.
const ONLY_NAN: u32 = INFINITY + 1;
/// `f32`'s bits of a NaN that a payload is added to.
const QUIET_NAN: u32 = 0x7fc0_0000;
/// The bits of an `f32` below the exponent, and the exponent of 1.
const F32_MANTISSA: u32 = 23;
const F32_BIAS: u32 = 127;

impl Format {
    const fn largest(&self) -> u8 {
        self.largest
    }

    /// The code of the nearest number, the even one of two that are equally near.
    const fn encode(&self, bits: u32) -> u8 {
        let (sign, magnitude) = ((bits >> 24) as u8 & SIGN, bits & !(1 << 31));
        if magnitude > INFINITY {
            return self.nan | sign;
        }
        let code = self.rounded(magnitude);
        match code > self.largest as u32 {
            true => self.beyond | sign,
            false if self.is_zero_unsigned && code == 0 => 0,
            false => code as u8 | sign,
        }
    }

    /// The code of a number without its sign, as if the exponent had no upper limit.
    const fn rounded(&self, magnitude: u32) -> u32 {
        let surplus = F32_MANTISSA - self.mantissa;
        let smallest_normal = (F32_BIAS + 1 - self.bias) << F32_MANTISSA;
        if magnitude < smallest_normal {
            // Its last bit is worth as much as the smallest subnormal, so that the addition rounds to that.
            let ruler = (F32_BIAS + 1 - self.bias + surplus) << F32_MANTISSA;
            return (f32::from_bits(magnitude) + f32::from_bits(ruler)).to_bits() - ruler;
        }
        let is_odd = magnitude >> surplus & 1;
        let rounded = (magnitude + (1 << (surplus - 1)) - 1 + is_odd) >> surplus;
        rounded - ((F32_BIAS - self.bias) << self.mantissa)
    }

    /// The bits of a code's number as `f32`.
    const fn decode(&self, code: u8) -> u32 {
        let (sign, magnitude) = (((code & SIGN) as u32) << 24, (code & !SIGN) as u32);
        let surplus = F32_MANTISSA - self.mantissa;
        if self.is_zero_unsigned && code == SIGN {
            return ONLY_NAN;
        }
        if !self.is_zero_unsigned && magnitude > self.largest as u32 {
            let payload = (magnitude & ((1 << self.mantissa) - 1)) << surplus;
            let is_infinity = self.has_infinity && payload == 0;
            return sign | if is_infinity { INFINITY } else { QUIET_NAN | payload };
        }
        if magnitude >> self.mantissa == 0 {
            let smallest = f32::from_bits((F32_BIAS + 1 - self.bias - self.mantissa) << F32_MANTISSA);
            return sign | (magnitude as f32 * smallest).to_bits();
        }
        sign | ((magnitude << surplus) + ((F32_BIAS - self.bias) << F32_MANTISSA))
    }
}

/// The exponents of `f32`, as the format of scales: no sign, no mantissa and no zero.
struct Exponents;

impl Exponents {
    const fn largest(&self) -> u8 {
        u8::MAX - 1
    }

    /// The exponent of the nearest power of two; a number halfway between two goes to the larger one, and the sign is
    /// ignored.
    const fn encode(&self, bits: u32) -> u8 {
        const HALF: u32 = 1 << (F32_MANTISSA - 1);
        let (exponent, mantissa) = ((bits >> F32_MANTISSA) as u8, bits & ((1 << F32_MANTISSA) - 1));
        match exponent {
            u8::MAX => u8::MAX,
            0 => (mantissa > HALF) as u8, // `f32`'s subnormals: half of the smallest normal number is the lowest scale
            _ => exponent + (mantissa >= HALF) as u8,
        }
    }

    const fn decode(&self, code: u8) -> u32 {
        match code {
            u8::MAX => ONLY_NAN,
            0 => 1 << (F32_MANTISSA - 1),
            _ => (code as u32) << F32_MANTISSA,
        }
    }
}

/// Defines the type of a format's elements.
macro_rules! float8 {
    ($($(#[$doc:meta])+ $name:ident $format:expr;)+) => { $(
        $(#[$doc])+
        #[derive(Clone, Copy, Default)]
        #[repr(transparent)]
        pub struct $name(u8);

        impl $name {
            /// The largest number.
            ///
            /// PyTorch: `torch.finfo(dtype).max`.
            pub const MAX: Self = Self($format.largest());

            /// The bits of each number as `f32`.
            const NUMBERS: &[u32; 256] = &{
                let (mut numbers, mut code) = ([0; 256], 0);
                while code < numbers.len() {
                    numbers[code] = $format.decode(code as u8);
                    code += 1;
                }
                numbers
            };

            /// The nearest number of the format, rounded as PyTorch does.
            #[inline]
            pub const fn from_f32(x: f32) -> Self {
                Self($format.encode(x.to_bits()))
            }

            /// The number, which `f32` represents exactly.
            #[inline(always)]
            pub const fn to_f32(self) -> f32 {
                f32::from_bits(Self::NUMBERS[self.0 as usize])
            }

            /// The number with this code.
            #[inline(always)]
            pub const fn from_bits(bits: u8) -> Self {
                Self(bits)
            }

            /// The code.
            #[inline(always)]
            pub const fn to_bits(self) -> u8 {
                self.0
            }
        }

        /// As numbers: NaN is equal to nothing, and the two zeros are equal.
        impl PartialEq for $name {
            #[inline]
            fn eq(&self, other: &Self) -> bool {
                self.to_f32() == other.to_f32()
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.to_f32().fmt(f)
            }
        }
    )+ };
}

float8! {
    /// An element of [`DType::Float8E5M2`](crate::DType::Float8E5M2): the upper half of an `f16`.
    ///
    /// ```
    /// use torch_library::element::Float8E5M2;
    ///
    /// assert_eq!(Float8E5M2::from_f32(1.1).to_f32(), 1.0);
    /// assert_eq!(Float8E5M2::from_f32(1e6).to_f32(), f32::INFINITY);
    /// ```
    ///
    /// PyTorch: `c10::Float8_e5m2`.
    Float8E5M2 Format {
        mantissa: 2,
        bias: 15,
        largest: 0x7b,
        beyond: 0x7c,
        nan: 0x7f,
        is_zero_unsigned: false,
        has_infinity: true,
    };
    /// An element of [`DType::Float8E4M3Fn`](crate::DType::Float8E4M3Fn): finite numbers and NaN. Larger numbers, and
    /// infinity, become the largest one, 448.
    ///
    /// ```
    /// use torch_library::element::Float8E4M3Fn;
    ///
    /// assert_eq!(Float8E4M3Fn::from_f32(1.1).to_f32(), 1.125);
    /// assert_eq!(Float8E4M3Fn::from_f32(-1e6).to_f32(), -448.0);
    /// ```
    ///
    /// PyTorch: `c10::Float8_e4m3fn`.
    Float8E4M3Fn Format {
        mantissa: 3,
        bias: 7,
        largest: 0x7e,
        beyond: 0x7e,
        nan: 0x7f,
        is_zero_unsigned: false,
        has_infinity: false,
    };
    /// An element of [`DType::Float8E5M2Fnuz`](crate::DType::Float8E5M2Fnuz): finite numbers, one zero and one NaN,
    /// which larger numbers and infinity become.
    ///
    /// PyTorch: `c10::Float8_e5m2fnuz`.
    Float8E5M2Fnuz Format {
        mantissa: 2,
        bias: 16,
        largest: 0x7f,
        beyond: SIGN,
        nan: SIGN,
        is_zero_unsigned: true,
        has_infinity: false,
    };
    /// An element of [`DType::Float8E4M3Fnuz`](crate::DType::Float8E4M3Fnuz): finite numbers, one zero and one NaN,
    /// which larger numbers and infinity become.
    ///
    /// PyTorch: `c10::Float8_e4m3fnuz`.
    Float8E4M3Fnuz Format {
        mantissa: 3,
        bias: 8,
        largest: 0x7f,
        beyond: SIGN,
        nan: SIGN,
        is_zero_unsigned: true,
        has_infinity: false,
    };
    /// An element of [`DType::Float8E8M0Fnu`](crate::DType::Float8E8M0Fnu): a power of two from 2⁻¹²⁷ to 2¹²⁷, or NaN.
    /// There is no zero: the code 0 is 2⁻¹²⁷.
    ///
    /// ```
    /// use torch_library::element::Float8E8M0Fnu;
    ///
    /// assert_eq!(Float8E8M0Fnu::from_f32(3.0).to_f32(), 4.0);
    /// assert_eq!(Float8E8M0Fnu::from_f32(0.0).to_f32(), 2f32.powi(-127));
    /// ```
    ///
    /// PyTorch: `c10::Float8_e8m0fnu`.
    Float8E8M0Fnu Exponents;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::DType;
    use crate::match_dtype;

    /// What PyTorch 2.15 made of all 2³² numbers of type `float32`, in ranges from the first number (its bits) that
    /// became a code; and of all codes as `float32`.
    const RECORDED: &str = include_str!("float8/recorded.txt");

    /// The words under a heading.
    fn recorded(heading: &str) -> Vec<&'static str> {
        let lines = RECORDED.lines().skip_while(|line| *line != heading).skip(1);
        let words: Vec<_> =
            lines.take_while(|line| !line.contains("float8")).flat_map(|line| line.split(' ')).collect();
        assert!(!words.is_empty(), "{heading}");
        words
    }

    fn hexadecimal(text: &str) -> u32 {
        u32::from_str_radix(text, 16).unwrap()
    }

    fn formats() -> impl Iterator<Item = DType> {
        DType::all().filter(|dtype| dtype.is_float8())
    }

    /// The code that a number is converted to.
    fn encoded(dtype: DType, bits: u32) -> u8 {
        match_dtype!(dtype, T: Float8 => T::from_f32(f32::from_bits(bits)).to_bits(), else => unreachable!())
    }

    #[test]
    fn numbers_become_the_codes_that_pytorch_gives_them() {
        for dtype in formats() {
            let ranges = recorded(&format!("to {dtype}"));
            let starts = ranges.iter().map(|range| hexadecimal(&range[..8]));
            let ends = starts.clone().skip(1).map(|next| next - 1).chain([u32::MAX]);
            for ((range, start), end) in ranges.iter().zip(starts).zip(ends) {
                // Both ends decide for all numbers in between, of which the conversion keeps the order.
                for bits in [start, start + (end - start) / 2, end] {
                    assert_eq!(
                        u32::from(encoded(dtype, bits)),
                        hexadecimal(&range[9..]),
                        "{dtype} {bits:08x}"
                    );
                }
            }
        }
        assert_eq!(formats().count(), 5);
    }

    #[test]
    fn codes_become_the_numbers_that_pytorch_gives_them() {
        for dtype in formats() {
            let numbers = recorded(&format!("from {dtype}"));
            assert_eq!(numbers.len(), 256);
            for (code, number) in (0..=u8::MAX).zip(numbers) {
                let bits = match_dtype!(dtype, T: Float8 => T::from_bits(code).to_f32().to_bits(), else => 0);
                assert_eq!(bits, hexadecimal(number), "{dtype} {code:02x}");
                if !f32::from_bits(bits).is_nan() {
                    assert_eq!(encoded(dtype, bits), code, "{dtype} {code:02x}");
                }
            }
        }
    }

    #[test]
    fn codes_are_compared_as_numbers() {
        let [zero, minus_zero, nan] = [0, 0x80, 0x7f].map(Float8E4M3Fn::from_bits);
        assert_eq!(zero, minus_zero);
        assert_ne!(nan, nan);
        assert_eq!(format!("{:?}", Float8E4M3Fn::from_f32(0.5)), "0.5");
    }
}
