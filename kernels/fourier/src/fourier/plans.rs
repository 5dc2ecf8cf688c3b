//! The plans of transforms, which are made once for each length.

use std::f64::consts::TAU;
use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};

use num_complex::Complex;
use rustfft::{Fft, FftDirection, FftNum, FftPlanner};

use super::numbers::{Number, number};
#[cfg(target_arch = "x86_64")]
use super::stages::Stages;

/// The kind of a line's elements, and the direction of the transform.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Complex(FftDirection),
    /// Real numbers; the inverse transform returns them.
    Real(FftDirection),
}

/// A type in which transforms are computed.
pub(super) trait Real: Number {
    /// The plans of all threads.
    fn plans() -> &'static Plans<Self>;
}

macro_rules! real {
    ($($ty:ty)+) => { $(
        impl Real for $ty {
            fn plans() -> &'static Plans<Self> {
                static PLANS: Plans<$ty> = Plans(Mutex::new(Vec::new()));
                &PLANS
            }
        }
    )+ };
}

real! { f32 f64 }

/// The plan for lines of one length.
pub(super) struct Plan<T: FftNum> {
    pub(super) kind: Kind,
    /// The length of a line, in its own elements.
    pub(super) len: usize,
    /// The complex transform, of half the length if there is an even number of real numbers.
    pub(super) fft: Arc<dyn Fft<T>>,
    /// For an even number of real numbers: -i/2 times the roots of unity, for the first half of the half-spectrum.
    pub(super) roots: Vec<Complex<T>>,
    /// The stages of the same transform for several lines at once, if there are any for this length.
    #[cfg(target_arch = "x86_64")]
    pub(super) stages: Option<Stages<T>>,
}

impl<T: Real> Plan<T> {
    fn new(kind: Kind, len: usize) -> Self {
        let (direction, is_halved) = match kind {
            Kind::Complex(direction) => (direction, false),
            Kind::Real(direction) => (direction, len.is_multiple_of(2)),
        };
        let half = len / 2;
        let root = |k| {
            let (sin, cos) = (TAU * k as f64 / len as f64).sin_cos();
            Complex::new(number(-0.5 * sin), number(-0.5 * cos))
        };
        let roots = if is_halved { (1..half.div_ceil(2)).map(root).collect() } else { Vec::new() };
        let count = if is_halved { half } else { len };
        Plan {
            kind,
            len,
            fft: FftPlanner::new().plan_fft(count, direction),
            roots,
            #[cfg(target_arch = "x86_64")]
            stages: Stages::new(count),
        }
    }
}

/// The most elements that the lines of all cached plans have together; a plan needs about as many numbers of its own.
const KEPT: usize = 1 << 22;

/// The plans that were used most recently, the latest at the end.
pub(super) struct Plans<T: FftNum>(Mutex<Vec<Arc<Plan<T>>>>);

impl<T: Real> Plans<T> {
    /// The plan for lines of length `len`, which is not zero.
    pub(super) fn of(&self, kind: Kind, len: usize) -> Arc<Plan<T>> {
        let is_meant = |plan: &Arc<Plan<T>>| plan.kind == kind && plan.len == len;
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut plans = lock();
        if let Some(at) = plans.iter().rposition(is_meant) {
            let plan = plans.remove(at);
            plans.push(plan.clone());
            return plan;
        }
        drop(plans); // making one may take long
        let plan = Arc::new(Plan::new(kind, len));
        let mut plans = lock();
        plans.retain(|plan| !is_meant(plan));
        plans.push(plan.clone());
        let mut room = KEPT;
        let kept = plans.iter().rev().take_while(|plan| {
            let fits = plan.len <= room;
            room = room.saturating_sub(plan.len);
            fits
        });
        let forgotten = plans.len() - kept.count();
        plans.drain(..forgotten);
        plan
    }
}
