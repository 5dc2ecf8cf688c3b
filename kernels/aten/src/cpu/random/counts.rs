//! Random counts: Poisson and binomial distributions.
//!
//! Small counts are drawn by the times between events, or by the numbers of trials between successes. Large counts are
//! drawn by the transformed rejection method of Hörmann: a point below a curve that is easy to draw from is kept if it
//! also lies below the distribution.

use std::iter::repeat_with;

use torch_library::geometry::infer_size;
use torch_library::prelude::*;

use super::{drawn_by_word, floating, uniform};
use crate::aten;
use crate::loops;
use crate::loops::pointwise::{common_device, unsupported};

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn poisson(this: &Tensor, generator: Option<&Generator>) -> Result<Tensor> {
        const OPERATOR: &str = aten::poisson::NAME;
        floating(OPERATOR, this)?;
        let out = Tensor::empty(this.sizes(), this.dtype(), this.device())?;
        if !loops::has_elements(&out) {
            return Ok(out);
        }
        let rates = loops::elements::<f64>(this)?;
        if let Some(rate) = rates.iter().find(|rate| !(0.0..f64::INFINITY).contains(*rate)) {
            bail!(Argument, "{OPERATOR}: a rate is {rate}, expected a finite number from 0 up")
        }
        drawn_by_word(&out, generator, |out: &mut [f64], words, _| {
            let mut uniform = || uniform(words);
            out.iter_mut().zip(rates).for_each(|(out, rate)| *out = events(rate, &mut uniform));
        })?;
        Ok(out)
    }

    fn binomial(count: &Tensor, prob: &Tensor, generator: Option<&Generator>) -> Result<Tensor> {
        const OPERATOR: &str = aten::binomial::NAME;
        ensure!(
            count.dtype() == prob.dtype(),
            DType,
            "{OPERATOR}: counts of {} and probabilities of {}, expected one type",
            count.dtype(),
            prob.dtype()
        );
        let round = rounding(OPERATOR, count.dtype())?;
        let device = common_device(OPERATOR, &[count, prob])?;
        let sizes = infer_size(count.sizes(), prob.sizes()).map_err(|error| error.context(OPERATOR))?;
        let out = Tensor::empty(&sizes, count.dtype(), device)?;
        if !loops::has_elements(&out) {
            return Ok(out);
        }
        let counts = loops::elements::<f64>(&aten::expand(count, &sizes)?)?;
        let chances = loops::elements::<f64>(&aten::expand(prob, &sizes)?)?;
        drawn_by_word(&out, generator, |out: &mut [f64], words, _| {
            let mut uniform = || uniform(words);
            for (out, (count, chance)) in out.iter_mut().zip(counts.into_iter().zip(chances)) {
                *out = successes(Trials { count, chance, round }, &mut uniform);
            }
        })?;
        Ok(out)
    }
}

/// How intermediate results are rounded, so that they are those of computations in this dtype.
///
/// # Errors
/// Dtypes other than `float32` and `float64`.
pub(super) fn rounding(operator: &str, dtype: DType) -> Result<fn(f64) -> f64> {
    match dtype {
        DType::Float64 => Ok(|x| x),
        DType::Float32 => Ok(|x| f64::from(x as f32)),
        other => Err(unsupported(operator, other)),
    }
}

/// The number of events of a Poisson distribution with the mean `rate`.
///
/// PyTorch: `sample_poisson`.
fn events(rate: f64, uniform: &mut impl FnMut() -> f64) -> f64 {
    if rate == 0.0 {
        return 0.0;
    }
    if rate >= 10.0 {
        return many_events(rate, uniform);
    }
    let (end, mut time, mut count) = ((-rate).exp(), uniform(), 0.0);
    while time > end {
        time *= uniform();
        count += 1.0;
    }
    count
}

fn many_events(rate: f64, uniform: &mut impl FnMut() -> f64) -> f64 {
    let b = 0.931 + 2.53 * rate.sqrt();
    let a = -0.059 + 0.02483 * b;
    let (inverse, surely) = (1.1239 + 1.1328 / (b - 3.4), 0.9277 - 3.6224 / (b - 2.0));
    loop {
        let (place, height) = (uniform() - 0.5, uniform());
        let to_end = 0.5 - place.abs();
        let count = ((2.0 * a / to_end + b) * place + rate + 0.43).floor();
        if to_end >= 0.07 && height <= surely {
            return count;
        }
        if count < 0.0 || to_end < 0.013 && height > to_end {
            continue;
        }
        let height = height.ln() + inverse.ln() - (a / (to_end * to_end) + b).ln();
        if height <= -rate + count * rate.ln() - libm::lgamma(count + 1.0) {
            return count;
        }
    }
}

/// The trials of a binomial distribution, and the rounding to their dtype.
#[derive(Clone, Copy)]
struct Trials {
    count: f64,
    chance: f64,
    round: fn(f64) -> f64,
}

/// The number of successes among the trials.
///
/// PyTorch: `sample_binomial`.
fn successes(trials: Trials, uniform: &mut impl FnMut() -> f64) -> f64 {
    let Trials { count, chance, round } = trials;
    let mut likely = |trials: Trials| match round(trials.count * trials.chance) >= 10.0 {
        true => trials.many(&mut *uniform),
        false => trials.few(&mut *uniform),
    };
    if count.is_nan() || chance.is_nan() {
        f64::NAN
    } else if count <= 0.0 || chance <= 0.0 {
        0.0
    } else if chance >= 1.0 {
        count
    } else if chance <= 0.5 {
        likely(trials)
    } else {
        count - likely(Trials { chance: round(1.0 - chance), ..trials })
    }
}

impl Trials {
    fn few(self, uniform: &mut impl FnMut() -> f64) -> f64 {
        let Trials { count, chance, round } = self;
        let failure = round((-chance).ln_1p());
        let between = repeat_with(|| round(round(round(uniform()).ln()) / failure).ceil());
        let places = between.scan(0.0, |place, distance| {
            *place = round(*place + distance);
            Some(*place)
        });
        places.take_while(|place| *place <= count).count() as f64
    }

    fn many(self, uniform: &mut impl FnMut() -> f64) -> f64 {
        let Trials { count, chance, round } = self;
        let failure = round(1.0 - chance);
        let deviation = round(round(round(count * chance) * failure).sqrt());
        let b = round(1.15 + 2.53 * deviation);
        let a = round(-0.0873 + 0.0248 * b + 0.01 * chance);
        let middle = round(round(count * chance) + 0.5);
        let (surely, ratio) = (round(0.92 - 4.2 / b), round(chance / failure));
        let scale = round((2.83 + 5.1 / b) * deviation);
        loop {
            let (place, height) = (round(uniform() - 0.5), round(uniform()));
            let to_end = round(0.5 - place.abs());
            let slope = round(round(round(2.0 * a) / to_end) + b);
            let found = round(round(slope * place) + middle).floor();
            if to_end >= 0.07 && height <= surely {
                return found;
            }
            if found < 0.0 || found > count {
                continue;
            }
            let below = round(round(a / round(to_end * to_end)) + b);
            let height = round(round(round(height * scale) / below).ln());
            if height <= self.log_likelihood(found, ratio) {
                return found;
            }
        }
    }

    /// The logarithm of the probability of a count, relative to that of the likeliest count.
    fn log_likelihood(self, found: f64, ratio: f64) -> f64 {
        let Trials { count, chance, round } = self;
        let most = round(round(count + 1.0) * chance).floor();
        let left = |taken: f64| round(round(count - taken) + 1.0);
        let quotient = |a: f64, b: f64| round(a / b).ln();
        (most + 0.5) * quotient(round(most + 1.0), round(ratio * left(most)))
            + (count + 1.0) * quotient(left(most), left(found))
            + (found + 0.5) * quotient(round(ratio * left(found)), round(found + 1.0))
            + stirling(most)
            + stirling(count - most)
            - stirling(found)
            - stirling(count - found)
    }
}

/// The remainder of Stirling's formula for the logarithm of the factorial.
fn stirling(n: f64) -> f64 {
    const FIRST: [f64; 10] = [
        0.081_061_466_795_327_26,
        0.041_340_695_955_409_29,
        0.027_677_925_684_998_34,
        0.020_790_672_103_765_09,
        0.016_644_691_189_821_193,
        0.013_876_128_823_070_748,
        0.011_896_709_945_891_77,
        0.010_411_265_261_972_096,
        0.009_255_462_182_712_733,
        0.008_330_563_433_362_87,
    ];
    if let Some(known) = FIRST.get(n as usize).filter(|_| n <= 9.0) {
        return *known;
    }
    let square = (n + 1.0) * (n + 1.0);
    (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / 1_260.0 / square) / square) / (n + 1.0)
}
