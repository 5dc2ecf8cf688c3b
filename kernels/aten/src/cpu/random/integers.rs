//! Random integers, in tensors of any dtype that can hold some.

use torch_library::prelude::*;
use torch_library::{Element, match_dtype};

use super::{draw, wide};
use crate::aten;

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn random__from<'a>(
        this: &'a mut Tensor,
        from: i64,
        to: Option<i64>,
        generator: Option<&Generator>,
    ) -> Result<&'a mut Tensor> {
        const OPERATOR: &str = aten::random__from::NAME;
        match to {
            Some(to) => between(OPERATOR, this, from, to, generator)?,
            None => from_on(OPERATOR, this, from, generator)?,
        }
        Ok(this)
    }

    fn random__to<'a>(
        this: &'a mut Tensor,
        to: i64,
        generator: Option<&Generator>,
    ) -> Result<&'a mut Tensor> {
        between(aten::random__to::NAME, this, 0, to, generator)?;
        Ok(this)
    }

    /// All integers from 0 on, or as many as a floating-point dtype represents exactly.
    fn random_<'a>(this: &'a mut Tensor, generator: Option<&Generator>) -> Result<&'a mut Tensor> {
        const OPERATOR: &str = aten::random_::NAME;
        if this.numel() == 0 {
            return Ok(this);
        }
        let held = Held::by(OPERATOR, this.dtype())?;
        let count = (held.largest() as u64).wrapping_add(1);
        match this.dtype() {
            DType::Int64 | DType::Float64 => draw(this, generator, |words| (wide(words) % count) as i64)?,
            _ => {
                let rest = remainder(count as u32);
                draw(this, generator, |[word]| i64::from(rest(word)))?;
            }
        }
        Ok(this)
    }
}

/// The integers that a dtype can hold.
#[derive(Clone, Copy)]
enum Held {
    /// All integers of a range.
    Whole { smallest: i64, largest: i64 },
    /// All integers of up to `digits` binary digits, and some larger ones, up to `largest`.
    Floating { digits: u32, largest: f64, dtype: DType },
}

impl Held {
    fn by(operator: &str, dtype: DType) -> Result<Held> {
        let floating = |digits, largest| Ok(Held::Floating { digits, largest, dtype });
        match dtype {
            DType::Bool => Ok(Held::Whole { smallest: 0, largest: 1 }),
            DType::Float64 => floating(53, f64::MAX),
            DType::Float32 => floating(24, f32::MAX.into()),
            DType::Float16 => floating(11, 65_504.0),
            DType::BFloat16 => floating(8, f32::MAX.into()),
            DType::UInt16 | DType::UInt32 | DType::UInt64 => {
                bail!(DType, "{operator} is not implemented for {dtype}")
            }
            _ => match_dtype!(dtype, T: Integer => {
                Ok(Held::Whole { smallest: T::MIN.cast(), largest: T::MAX.cast() })
            }, else => bail!(DType, "{operator} is not implemented for {dtype}")),
        }
    }

    /// The largest integer that is drawn if no end is given.
    fn largest(self) -> i64 {
        match self {
            Held::Whole { largest, .. } => largest,
            Held::Floating { digits, .. } => 1 << digits,
        }
    }

    fn holds(self, number: i64) -> bool {
        match self {
            Held::Whole { smallest, largest } => (smallest..=largest).contains(&number),
            Held::Floating { largest, .. } => (number as f64).abs() <= largest,
        }
    }

    /// A number rounded to the dtype, if that is floating-point.
    fn rounded(self, number: i64) -> i64 {
        match self {
            Held::Whole { .. } => number,
            Held::Floating { dtype, .. } => match_dtype!(dtype, T: Half | Float => {
                let rounded = number.cast::<T>().cast::<f64>();
                // A number out of range becomes the smallest one, as on x86 processors.
                if rounded < i64::MAX as f64 { rounded as i64 } else { i64::MIN }
            }, else => number),
        }
    }

    /// The distance between adjacent numbers of the dtype near `number`.
    fn step(self, number: i64) -> i64 {
        match self {
            Held::Whole { .. } => 1,
            Held::Floating { digits, .. } => {
                1 << (number.unsigned_abs().max(1).ilog2() + 1).saturating_sub(digits)
            }
        }
    }

    /// The first number to draw, which rounding must not move below `from`.
    ///
    /// PyTorch: `update_from`.
    fn first(self, from: i64) -> i64 {
        let next = from.saturating_add(1);
        let rounded = self.rounded(next);
        if rounded < from { rounded.saturating_add(self.step(next)) } else { from }
    }

    /// The end of the numbers to draw, which rounding must not move to `to`.
    ///
    /// PyTorch: `update_to`.
    fn end(self, to: i64) -> i64 {
        let last = to.saturating_sub(1);
        let rounded = self.rounded(last);
        if rounded >= to { rounded.saturating_sub(self.step(last)) } else { to }
    }
}

fn between(operator: &str, this: &Tensor, from: i64, to: i64, generator: Option<&Generator>) -> Result<()> {
    ensure!(from < to, Argument, "{operator}: there is no integer from {from} up to {to}");
    let held = Held::by(operator, this.dtype())?;
    let (first, end) = (held.first(from), held.end(to));
    ensure!(first < end, Argument, "{operator}: {} has no integer from {from} up to {to}", this.dtype());
    check(operator, this, held, first, end - 1)?;
    fill(this, first, end.wrapping_sub(first) as u64, generator)
}

fn from_on(operator: &str, this: &Tensor, from: i64, generator: Option<&Generator>) -> Result<()> {
    if from == i64::MIN {
        let dtype = this.dtype();
        ensure!(
            this.numel() == 0
                || matches!(dtype, DType::Int64 | DType::Float64 | DType::Float32 | DType::BFloat16),
            DType,
            "{operator}: {dtype} cannot hold all 64-bit integers"
        );
        return draw(this, generator, |words| wide(words) as i64);
    }
    let held = Held::by(operator, this.dtype())?;
    let (first, last) = (held.first(from), held.largest());
    ensure!(first <= last, Argument, "{operator}: {} has no integer from {from} on", this.dtype());
    check(operator, this, held, first, last)?;
    fill(this, first, (last.wrapping_sub(first) as u64).wrapping_add(1), generator)
}

fn check(operator: &str, this: &Tensor, held: Held, first: i64, last: i64) -> Result<()> {
    ensure!(
        held.holds(first) && held.holds(last),
        Argument,
        "{operator}: {} cannot hold all integers from {first} to {last}",
        this.dtype()
    );
    Ok(())
}

/// Fills a tensor with random integers, uniform among `count` of them from `first` on.
fn fill(this: &Tensor, first: i64, count: u64, generator: Option<&Generator>) -> Result<()> {
    match count {
        0..0x1000_0000 => {
            let rest = remainder(count as u32);
            draw(this, generator, |[word]| first.wrapping_add(rest(word).into()))
        }
        _ => draw(this, generator, |words| first.wrapping_add((wide(words) % count) as i64)),
    }
}

/// The remainder of a word divided by a number that is not 0, by two multiplications (Lemire, Kaser and Kurz, 2019).
pub fn remainder(divisor: u32) -> impl Fn(u32) -> u32 {
    let inverse = (u64::MAX / u64::from(divisor)).wrapping_add(1);
    move |word| {
        let fraction = inverse.wrapping_mul(word.into());
        ((u128::from(fraction) * u128::from(divisor)) >> 64) as u32
    }
}
