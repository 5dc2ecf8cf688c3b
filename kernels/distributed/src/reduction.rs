//! Element-wise reductions of what several ranks sent, in the order of the ranks.
//!
//! The fixed order makes results the same in each run with the same number of ranks. 16-bit floats are summed in
//! `float32` and rounded once.

use num_complex::Complex;
use torch_library::element::{bf16, f16};
use torch_library::prelude::*;
use torch_library_kernels::loops::number::{Number, larger, smaller};

use crate::reduce_op::ReduceOp;

/// An element as it is stored in a message, and the type in which it is reduced.
trait Wire {
    type Value: Copy;
    const SIZE: usize;
    fn read(bytes: &[u8]) -> Self::Value;
    fn write(value: Self::Value, bytes: &mut [u8]);
}

macro_rules! wire {
    ($($ty:ty => $value:ty, |$x:ident| $widen:expr, |$y:ident| $narrow:expr;)+) => {$(
        impl Wire for $ty {
            type Value = $value;
            const SIZE: usize = size_of::<$ty>();
            #[inline(always)]
            fn read(bytes: &[u8]) -> $value {
                let mut own = [0; size_of::<$ty>()];
                own.copy_from_slice(bytes);
                let $x = <$ty>::from_ne_bytes(own);
                $widen
            }
            #[inline(always)]
            fn write($y: $value, bytes: &mut [u8]) {
                let value: $ty = $narrow;
                bytes.copy_from_slice(&value.to_ne_bytes());
            }
        }
    )+};
}

wire! {
    u8 => u8, |x| x, |x| x;
    i8 => i8, |x| x, |x| x;
    i16 => i16, |x| x, |x| x;
    i32 => i32, |x| x, |x| x;
    i64 => i64, |x| x, |x| x;
    u16 => u16, |x| x, |x| x;
    u32 => u32, |x| x, |x| x;
    u64 => u64, |x| x, |x| x;
    f32 => f32, |x| x, |x| x;
    f64 => f64, |x| x, |x| x;
    f16 => f32, |x| x.to_f32(), |x| f16::from_f32(x);
    bf16 => f32, |x| x.to_f32(), |x| bf16::from_f32(x);
}

/// Any byte but 0 is true.
impl Wire for bool {
    type Value = bool;
    const SIZE: usize = 1;
    #[inline(always)]
    fn read(bytes: &[u8]) -> bool {
        bytes[0] != 0
    }
    #[inline(always)]
    fn write(value: bool, bytes: &mut [u8]) {
        bytes[0] = u8::from(value);
    }
}

impl<T: Wire> Wire for Complex<T> {
    type Value = Complex<T::Value>;
    const SIZE: usize = 2 * T::SIZE;
    #[inline(always)]
    fn read(bytes: &[u8]) -> Self::Value {
        let (re, im) = bytes.split_at(T::SIZE);
        Complex::new(T::read(re), T::read(im))
    }
    #[inline(always)]
    fn write(value: Self::Value, bytes: &mut [u8]) {
        let (re, im) = bytes.split_at_mut(T::SIZE);
        T::write(value.re, re);
        T::write(value.im, im);
    }
}

/// Reduces the parts of all ranks, each as long as `out`, in their order.
pub(crate) fn reduce(op: ReduceOp, dtype: DType, parts: &[&[u8]], out: &mut [u8]) -> Result<()> {
    op.check(dtype)?;
    for part in parts {
        ensure!(part.len() == out.len(), Internal, "{} bytes and {} bytes", part.len(), out.len());
    }
    match dtype {
        DType::Bool => logical(op, parts, out),
        DType::UInt8 => integers::<u8>(op, parts, out),
        DType::Int8 => integers::<i8>(op, parts, out),
        DType::Int16 => integers::<i16>(op, parts, out),
        DType::Int32 => integers::<i32>(op, parts, out),
        DType::Int64 => integers::<i64>(op, parts, out),
        DType::UInt16 => integers::<u16>(op, parts, out),
        DType::UInt32 => integers::<u32>(op, parts, out),
        DType::UInt64 => integers::<u64>(op, parts, out),
        DType::Float8E5M2
        | DType::Float8E4M3Fn
        | DType::Float8E5M2Fnuz
        | DType::Float8E4M3Fnuz
        | DType::Float8E8M0Fnu => bail!(DType, "no reduction of {dtype}: convert to float32 first"),
        DType::Float16 => floats::<f16, f32>(op, parts, out),
        DType::BFloat16 => floats::<bf16, f32>(op, parts, out),
        DType::Float32 => floats::<f32, f32>(op, parts, out),
        DType::Float64 => floats::<f64, f64>(op, parts, out),
        DType::Complex32 => complex::<f16, f32>(op, parts, out),
        DType::BComplex32 => complex::<bf16, f32>(op, parts, out),
        DType::Complex64 => complex::<f32, f32>(op, parts, out),
        DType::Complex128 => complex::<f64, f64>(op, parts, out),
    }
    Ok(())
}

/// The number of elements that are summed at a time: their sums stay in the first-level cache, and loops over them
/// vectorise.
const BLOCK: usize = 256;

fn fold<T: Wire>(
    parts: &[&[u8]],
    out: &mut [u8],
    join: impl Fn(T::Value, T::Value) -> T::Value,
    last: impl Fn(T::Value) -> T::Value,
) {
    let Some((first, others)) = parts.split_first() else { return };
    let mut sums = [T::read(&[0; 16][..T::SIZE]); BLOCK];
    for (block, out) in out.chunks_mut(BLOCK * T::SIZE).enumerate() {
        let start = block * BLOCK * T::SIZE;
        let place = start..start + out.len();
        for (sum, element) in sums.iter_mut().zip(first[place.clone()].chunks_exact(T::SIZE)) {
            *sum = T::read(element);
        }
        for part in others {
            for (sum, element) in sums.iter_mut().zip(part[place.clone()].chunks_exact(T::SIZE)) {
                *sum = join(*sum, T::read(element));
            }
        }
        for (sum, element) in sums.iter().zip(out.chunks_exact_mut(T::SIZE)) {
            T::write(last(*sum), element);
        }
    }
}

fn logical(op: ReduceOp, parts: &[&[u8]], out: &mut [u8]) {
    match op {
        ReduceOp::Sum | ReduceOp::Max | ReduceOp::Bor | ReduceOp::Avg => {
            fold::<bool>(parts, out, |a, b| a | b, |x| x);
        }
        ReduceOp::Product | ReduceOp::Min | ReduceOp::Band => fold::<bool>(parts, out, |a, b| a & b, |x| x),
        ReduceOp::Bxor => fold::<bool>(parts, out, |a, b| a ^ b, |x| x),
    }
}

trait Integer:
    Wire<Value = Self>
    + Copy
    + Ord
    + std::ops::BitAnd<Output = Self>
    + std::ops::BitOr<Output = Self>
    + std::ops::BitXor<Output = Self>
    + num_traits::WrappingAdd
    + num_traits::WrappingMul
{
}

impl<T> Integer for T where
    T: Wire<Value = T>
        + Copy
        + Ord
        + std::ops::BitAnd<Output = T>
        + std::ops::BitOr<Output = T>
        + std::ops::BitXor<Output = T>
        + num_traits::WrappingAdd
        + num_traits::WrappingMul
{
}

/// Sums that overflow wrap around, as for tensors.
fn integers<T: Integer>(op: ReduceOp, parts: &[&[u8]], out: &mut [u8]) {
    match op {
        ReduceOp::Sum | ReduceOp::Avg => fold::<T>(parts, out, |a, b| a.wrapping_add(&b), |x| x),
        ReduceOp::Product => fold::<T>(parts, out, |a, b| a.wrapping_mul(&b), |x| x),
        ReduceOp::Min => fold::<T>(parts, out, Ord::min, |x| x),
        ReduceOp::Max => fold::<T>(parts, out, Ord::max, |x| x),
        ReduceOp::Band => fold::<T>(parts, out, |a, b| a & b, |x| x),
        ReduceOp::Bor => fold::<T>(parts, out, |a, b| a | b, |x| x),
        ReduceOp::Bxor => fold::<T>(parts, out, |a, b| a ^ b, |x| x),
    }
}

fn floats<T: Wire<Value = V>, V: num_traits::Float + Number>(op: ReduceOp, parts: &[&[u8]], out: &mut [u8]) {
    let ranks = V::from(parts.len()).unwrap_or_else(V::one);
    match op {
        ReduceOp::Avg => fold::<T>(parts, out, |a, b| a + b, |x| x / ranks),
        ReduceOp::Product => fold::<T>(parts, out, |a, b| a * b, |x| x),
        ReduceOp::Min => fold::<T>(parts, out, smaller, |x| x),
        ReduceOp::Max => fold::<T>(parts, out, larger, |x| x),
        _ => fold::<T>(parts, out, |a, b| a + b, |x| x),
    }
}

fn complex<T: Wire<Value = V>, V: num_traits::Float>(op: ReduceOp, parts: &[&[u8]], out: &mut [u8]) {
    let ranks = V::from(parts.len()).unwrap_or_else(V::one);
    match op {
        ReduceOp::Avg => fold::<Complex<T>>(parts, out, |a, b| a + b, |x| x / ranks),
        ReduceOp::Product => fold::<Complex<T>>(parts, out, |a, b| a * b, |x| x),
        _ => fold::<Complex<T>>(parts, out, |a, b| a + b, |x| x),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_rounded_once() -> Result<()> {
        let parts: Vec<[u8; 2]> = [256.0, 1.0, 1.0].map(|x| bf16::from_f32(x).to_ne_bytes()).to_vec();
        let parts: Vec<&[u8]> = parts.iter().map(|part| part.as_slice()).collect();
        let mut sum = [0; 2];
        reduce(ReduceOp::Sum, DType::BFloat16, &parts, &mut sum)?;
        assert_eq!(bf16::from_ne_bytes(sum).to_f32(), 258.0); // 256 + 1 is 256 in bf16
        Ok(())
    }

    #[test]
    fn what_is_no_number_stays_none_wherever_it_stands() -> Result<()> {
        for values in [[f32::NAN, 1.0], [1.0, f32::NAN]] {
            let parts = values.map(f32::to_ne_bytes);
            let mut least = [0; 4];
            reduce(ReduceOp::Min, DType::Float32, &[&parts[0], &parts[1]], &mut least)?;
            assert!(f32::from_ne_bytes(least).is_nan());
        }
        Ok(())
    }
}
