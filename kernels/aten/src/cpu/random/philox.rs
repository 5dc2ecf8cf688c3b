//! Random numbers that are functions of a key, by Philox4x32-10: the same key gives the same numbers, and there is no
//! generator.
//!
//! A key is a pair of a seed and an offset. Philox turns the seed and a counter into four random words; the words of a
//! key are those of the counters from its offset on. (Salmon and others, *Parallel random numbers: as easy as 1, 2, 3*,
//! 2011.)
#![expect(unsafe_code, reason = "shares the elements of a tensor among threads")]

use std::f32::consts::TAU as TURN_IN_SINGLE;
use std::f64::consts::TAU;
use std::ops::Range;

use torch_library::element::{bf16, f16};
use torch_library::geometry::saturating_numel;
use torch_library::prelude::*;
use torch_library::{Element, match_dtype};

use super::{double, single, wide};
use crate::aten;
use crate::inlined::zip;
use crate::loops::parts::PartsMut;
use crate::loops::{assign, elements, has_elements, parallel};

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn _philox_key_split(key: &Tensor, num_splits: i64) -> Result<Tensor> {
        const OPERATOR: &str = aten::_philox_key_split::NAME;
        check_key(OPERATOR, key)?;
        ensure!(num_splits > 0, Argument, "{OPERATOR}: num_splits is {num_splits}, expected one or more");
        let sizes = [&[num_splits], key.sizes()].concat();
        derived(key, &sizes, |number| number)
    }

    fn _philox_key_fold_in(key: &Tensor, data: i64) -> Result<Tensor> {
        check_key(aten::_philox_key_fold_in::NAME, key)?;
        derived(key, key.sizes(), |_| data as u64)
    }

    fn _philox_key_fold_in_Tensor(key: &Tensor, data: &Tensor) -> Result<Tensor> {
        const OPERATOR: &str = aten::_philox_key_fold_in_Tensor::NAME;
        check_key(OPERATOR, key)?;
        ensure!(
            data.numel() == 1,
            Shape,
            "{OPERATOR}: data of sizes {:?} has {} elements, expected exactly one",
            data.sizes(),
            data.numel()
        );
        ensure!(
            data.device() == key.device(),
            Device,
            "{OPERATOR}: data on {} for a key on {}",
            data.device(),
            key.device()
        );
        let data = if has_elements(data) { elements::<u64>(data)?[0] } else { 0 };
        derived(key, key.sizes(), |_| data)
    }

    fn _philox_uniform_<'a>(
        this: &'a mut Tensor,
        key: &Tensor,
        low: f64,
        high: f64,
    ) -> Result<&'a mut Tensor> {
        const OPERATOR: &str = aten::_philox_uniform_::NAME;
        let streams = Streams::of(OPERATOR, this, key, is_drawn(this.dtype()))?;
        if this.dtype() == DType::Float64 {
            let span = high - low;
            streams.write(this, |words| pairs(words).map(|pair| double(pair) * span + low))?;
            return Ok(this);
        }
        // The bounds and their difference are numbers of the dtype, and so many bits are drawn as it has digits.
        let (round, digits): (fn(f64) -> f32, u32) = match this.dtype() {
            DType::Float16 => (|x| f16::from_f32(x as f32).to_f32(), 11),
            DType::BFloat16 => (|x| bf16::from_f32(x as f32).to_f32(), 8),
            _ => (|x| x as f32, 24),
        };
        let (start, end) = (round(low), round(high));
        let span = round(f64::from(end - start));
        let above = 24 - digits;
        streams.write(this, |words| words.map(|word| single(word << above) * span + start))?;
        Ok(this)
    }

    fn _philox_normal_<'a>(
        this: &'a mut Tensor,
        key: &Tensor,
        mean: f64,
        std: f64,
    ) -> Result<&'a mut Tensor> {
        const OPERATOR: &str = aten::_philox_normal_::NAME;
        let streams = Streams::of(OPERATOR, this, key, is_drawn(this.dtype()))?;
        match this.dtype() {
            DType::Float64 => {
                streams.write(this, |words| normal_double(words).map(|x| x * std + mean))?;
            }
            _ => {
                let (mean, std) = (mean as f32, std as f32);
                streams.write(this, |words| normal_single(words).map(|x| x * std + mean))?;
            }
        }
        Ok(this)
    }

    fn _philox_randint_<'a>(
        this: &'a mut Tensor,
        key: &Tensor,
        low: Option<i64>,
        high: Option<i64>,
    ) -> Result<&'a mut Tensor> {
        const OPERATOR: &str = aten::_philox_randint_::NAME;
        let dtype = this.dtype();
        let is_integer = matches!(dtype, DType::UInt16 | DType::UInt32 | DType::UInt64) || dtype.is_integer();
        let streams = Streams::of(OPERATOR, this, key, is_integer)?;
        match_dtype!(dtype, T: Integer | Unsigned => {
            let range = Integers::new(OPERATOR, dtype, [low, high], [T::MIN.cast(), T::MAX.cast()])?;
            match dtype.size() {
                8 => streams.write(this, |words| pairs(words).map(|pair| range.wide(wide(pair)).cast::<T>()))?,
                _ => streams.write(this, |words| words.map(|word| range.narrow(word).cast::<T>()))?,
            }
        }, else => {});
        Ok(this)
    }
}

/// Whether uniform and normal numbers of the type can be drawn.
fn is_drawn(dtype: DType) -> bool {
    matches!(dtype, DType::Float16 | DType::BFloat16 | DType::Float32 | DType::Float64)
}

/// What two of the four words are multiplied by in each round.
const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];

/// What is added to the key in each round: the fractions of the golden ratio and of the square root of three.
const STEPS: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

/// Four random words.
#[inline(always)]
fn words(seed: u64, counter: u64) -> [u32; 4] {
    let halves = |number: u64| [number as u32, (number >> 32) as u32];
    let ([mut a, mut b], [mut c, mut d]) = (halves(counter), [0, 0]);
    let mut key = halves(seed);
    for _ in 0..10 {
        let [first, second] = [halves_of(MULTIPLIERS[0], a), halves_of(MULTIPLIERS[1], c)];
        (a, b, c, d) = (second[1] ^ b ^ key[0], second[0], first[1] ^ d ^ key[1], first[0]);
        for (part, step) in zip(&mut key, &STEPS) {
            *part = part.wrapping_add(*step);
        }
    }
    [a, b, c, d]
}

/// The lower and the upper half of a product.
#[inline(always)]
fn halves_of(a: u32, b: u32) -> [u32; 2] {
    let product = u64::from(a) * u64::from(b);
    [product as u32, (product >> 32) as u32]
}

/// Four words as two pairs, of which the first word is the upper one.
#[inline(always)]
fn pairs([a, b, c, d]: [u32; 4]) -> [[u32; 2]; 2] {
    [[a, b], [c, d]]
}

/// Four normally distributed numbers, by the Box–Muller transform of each pair of words.
#[inline(always)]
fn normal_single(words: [u32; 4]) -> [f32; 4] {
    let share = |word: u32| word as f32 * (1.0 / (1u64 << 32) as f32) + 1.0 / (1u64 << 33) as f32;
    let [[a, b], [c, d]] = pairs(words).map(|[radius, angle]| {
        let radius = (-2.0 * share(radius).ln()).sqrt();
        let (sin, cos) = (share(angle) * TURN_IN_SINGLE).sin_cos();
        [radius * cos, radius * sin]
    });
    [a, b, c, d]
}

/// Like [`normal_single`], two numbers with all digits.
#[inline(always)]
fn normal_double(words: [u32; 4]) -> [f64; 2] {
    let share = |pair| wide(pair) as f64 * (0.5f64).powi(64) + (0.5f64).powi(65);
    let [radius, angle] = pairs(words).map(share);
    let radius = (-2.0 * radius.ln()).sqrt();
    let (sin, cos) = (angle * TAU).sin_cos();
    [radius * cos, radius * sin]
}

/// The integers to draw from: a range by its first number and their count, where 0 stands for all.
#[derive(Clone, Copy)]
struct Integers {
    first: u64,
    count: u64,
}

impl Integers {
    /// # Errors
    /// A range without integers, or one of a number of integers that 32 bits cannot be divided into without bias.
    fn new(
        operator: &str,
        dtype: DType,
        [low, high]: [Option<i64>; 2],
        [least, most]: [u64; 2],
    ) -> Result<Self> {
        let is_wide = dtype.size() == 8;
        // Bounds are counted modulo the numbers that are drawn, so that those of `uint64` fit into an `i64`.
        let reduced = |number: u64| if is_wide { number } else { u64::from(number as u32) };
        let first = low.map_or(least, |low| low as u64);
        if high.is_none() && first == least {
            return Ok(Integers { first: 0, count: 0 });
        }
        let count = reduced(high.map_or(most.wrapping_add(1), |high| high as u64).wrapping_sub(first));
        ensure!(
            count != 0,
            Argument,
            "{operator}: a range from {low:?} to {high:?} for {dtype}, whose ends are equal; with neither, all \
             integers that it can hold are drawn"
        );
        ensure!(
            is_wide || count < 1 << 28 || count.is_power_of_two(),
            Argument,
            "{operator}: a range of {count} integers for {dtype} would be drawn from 32 bits with a bias, expected \
             fewer than 2^28 or a power of two, or a dtype of 64 bits"
        );
        Ok(Integers { first, count })
    }

    #[inline(always)]
    fn wide(self, number: u64) -> u64 {
        self.first.wrapping_add(number.checked_rem(self.count).unwrap_or(number))
    }

    #[inline(always)]
    fn narrow(self, word: u32) -> u32 {
        (self.first as u32).wrapping_add(word.checked_rem(self.count as u32).unwrap_or(word))
    }
}

/// # Errors
/// A tensor that is not a key, or a batch of keys.
fn check_key(operator: &str, key: &Tensor) -> Result<()> {
    ensure!(key.dtype() == DType::UInt64, DType, "{operator}: a key of {}, expected uint64", key.dtype());
    ensure!(
        key.sizes().last() == Some(&2),
        Shape,
        "{operator}: a key of sizes {:?}, expected a seed and an offset, or a batch of them: [.., 2]",
        key.sizes()
    );
    Ok(())
}

/// A seed and an offset.
type Key = [u64; 2];

fn keys(tensor: &Tensor) -> Result<Vec<Key>> {
    Ok(elements::<u64>(tensor)?.as_chunks::<2>().0.to_vec())
}

/// Copies of all keys, one after the other, that make up a tensor of these sizes. The `n`th copy of a key is the block
/// of words at `distance(n)` from the key's offset.
fn derived(key: &Tensor, sizes: &[i64], distance: impl Fn(u64) -> u64) -> Result<Tensor> {
    let out = Tensor::empty(sizes, DType::UInt64, key.device())?;
    if !has_elements(&out) {
        return Ok(out);
    }
    let keys = keys(key)?;
    let parts = PartsMut::<u64>::of(&out, 2 * keys.len())?;
    for copy in 0..parts.count() {
        // SAFETY: this is the only slice, and it is used on this thread; `Tensor::empty` initialised the elements.
        let out = unsafe { parts.get_mut(copy) };
        for ([seed, offset], out) in zip(&keys, out.as_chunks_mut().0) {
            let [a, b, c, d] = words(*seed, offset.wrapping_add(distance(copy as u64)));
            *out = [wide([b, a]), wide([d, c])];
        }
    }
    drop(parts);
    Ok(out)
}

/// The keys of a tensor's elements: each key gives `len` elements, which lie one after the other in row-major order.
struct Streams {
    keys: Vec<Key>,
    len: usize,
}

impl Streams {
    /// # Errors
    /// A tensor of a dtype that numbers cannot be drawn for, or with elements in the same place; keys of other sizes or
    /// on another device.
    fn of(operator: &str, this: &Tensor, key: &Tensor, is_supported: bool) -> Result<Streams> {
        ensure!(is_supported, DType, "{operator} is not implemented for {}", this.dtype());
        check_key(operator, key)?;
        ensure!(
            this.device() == key.device(),
            Device,
            "{operator}: a key on {} for a tensor on {}",
            key.device(),
            this.device()
        );
        let batch = &key.sizes()[..key.dim() - 1];
        ensure!(
            batch.is_empty()
                || (batch.len() == this.dim()
                    && batch.iter().zip(this.sizes()).all(|(keys, size)| *keys == 1 || keys == size)),
            Shape,
            "{operator}: keys of sizes {:?} for a tensor of sizes {:?}, expected one key, or for each dimension as \
             many as it has elements or a single one",
            key.sizes(),
            this.sizes()
        );
        this.check_no_internal_overlap()?;
        if !has_elements(this) {
            return Ok(Streams { keys: Vec::new(), len: 1 });
        }
        // The last dimensions without keys of their own are filled from one key; others repeat theirs.
        let own = batch.iter().rposition(|keys| *keys != 1).map_or(0, |last| last + 1);
        let sizes = this.sizes();
        let one_each = aten::reshape(key, &[&batch[..own], &[2]].concat())?;
        let keys = keys(&aten::expand(&one_each, &[&sizes[..own], &[2]].concat())?)?;
        Ok(Streams { keys, len: saturating_numel(&sizes[own..]) as usize })
    }

    /// Writes all elements of the tensor, `PER` from each four words.
    fn write<T: Element, const PER: usize>(
        &self,
        this: &Tensor,
        numbers: impl Fn([u32; 4]) -> [T; PER] + Sync,
    ) -> Result<()> {
        if self.keys.is_empty() {
            return Ok(());
        }
        let is_plain = this.dtype() == T::DTYPE && this.is_contiguous(MemoryFormat::Contiguous);
        let out = if is_plain { this.clone() } else { Tensor::empty(this.sizes(), T::DTYPE, this.device())? };
        let parts = PartsMut::<T>::of(&out, 1)?;
        let count = parts.count().min(self.keys.len() * self.len);
        parallel::shares(count, parallel::GRAIN / 8, |range| {
            let (first, len) = (parts.at(range.start), range.len());
            // SAFETY: the elements of `range` are in bounds and this thread's alone; `Tensor::empty`, or whoever wrote
            // to the tensor before, initialised them, and `T` is a number.
            let out = unsafe { std::slice::from_raw_parts_mut(first, len) };
            self.fill(range, out, &numbers);
        });
        drop(parts);
        if is_plain { Ok(()) } else { assign(this, &out) }
    }

    /// Writes the elements of a range.
    fn fill<T: Copy, const PER: usize>(
        &self,
        range: Range<usize>,
        mut out: &mut [T],
        numbers: &impl Fn([u32; 4]) -> [T; PER],
    ) {
        let (mut stream, mut place) = (range.start / self.len, range.start % self.len);
        while !out.is_empty() {
            let (own, rest) = out.split_at_mut(out.len().min(self.len - place));
            let [seed, offset] = self.keys[stream];
            let mut done = 0;
            while done < own.len() {
                let at = place + done;
                let numbers = numbers(words(seed, offset.wrapping_add((at / PER) as u64)));
                let numbers = &numbers[at % PER..];
                let count = numbers.len().min(own.len() - done);
                own[done..done + count].copy_from_slice(&numbers[..count]);
                done += count;
            }
            (stream, place, out) = (stream + 1, 0, rest);
        }
    }
}
