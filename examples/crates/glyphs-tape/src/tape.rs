//! The backend's memory: a tape of runs.

use std::sync::{Arc, PoisonError, RwLock};

use torch_library::{BackendRef, Device, DeviceType, Result, StorageImpl, Tensor, bail, ensure};

/// Some pixels of the same ink, one behind the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    /// Where the first of them is.
    pub start: usize,
    /// How many there are.
    pub length: usize,
    /// The ink of each.
    pub ink: f32,
}

/// Pixels as runs. A tape keeps its length, and is recorded as a whole.
///
/// ```
/// use glyphs_tape::{Run, Tape};
///
/// let tape = Tape::from(vec![0.0, 0.0, 0.0, 1.0]);
/// assert_eq!(*tape.runs(), [Run { start: 0, length: 3, ink: 0.0 }, Run { start: 3, length: 1, ink: 1.0 }]);
/// ```
#[derive(Debug)]
pub struct Tape {
    len: usize,
    /// In order, without gaps. Whoever plays the tape keeps the runs of that moment.
    runs: RwLock<Arc<[Run]>>,
}

impl Tape {
    /// The tape of a tensor.
    ///
    /// # Errors
    /// A tensor that is no tape, or a view of a part of one.
    pub fn of(tensor: &Tensor) -> Result<BackendRef<'_, Tape>> {
        let Some(tape) = tensor.storage().downcast::<Tape>() else {
            bail!(Device, "a tensor on tape was expected, this one is on {}", tensor.device())
        };
        ensure!(
            tensor.numel() as usize == tape.len && tensor.geometry().is_contiguous(),
            NotSupported,
            "a view of a part of a tape cannot be played, move the whole to the cpu first"
        );
        Ok(tape)
    }

    /// The same ink everywhere.
    pub fn plain(len: usize, ink: f32) -> Tape {
        let run = Run { start: 0, length: len, ink };
        Tape { len, runs: RwLock::new([run].into()) }
    }

    /// The runs.
    pub fn runs(&self) -> Arc<[Run]> {
        self.runs.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many pixels there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Replaces what is on the tape.
    ///
    /// # Errors
    /// Another number of pixels than before.
    pub fn record(&self, other: &Tape) -> Result<()> {
        ensure!(self.len == other.len, Shape, "a tape of {} pixels cannot record {}", self.len, other.len);
        *self.runs.write().unwrap_or_else(PoisonError::into_inner) = other.runs();
        Ok(())
    }

    /// The same runs with other ink.
    pub fn map(&self, ink: impl Fn(f32) -> f32) -> Tape {
        let runs = self.runs().iter().map(|run| Run { ink: ink(run.ink), ..*run }).collect();
        Tape { len: self.len, runs: RwLock::new(runs) }
    }

    /// The pixels.
    pub fn play(&self) -> Vec<f32> {
        self.runs().iter().flat_map(|run| std::iter::repeat_n(run.ink, run.length)).collect()
    }
}

/// Finds the runs.
impl From<Vec<f32>> for Tape {
    fn from(pixels: Vec<f32>) -> Tape {
        // Bits are compared: NaN joins NaN, and -0 stays what it is.
        let runs = pixels.chunk_by(|a, b| a.to_bits() == b.to_bits());
        let runs = runs.scan(0, |next, run| {
            let start = std::mem::replace(next, *next + run.len());
            Some(Run { start, length: run.len(), ink: run[0] })
        });
        Tape { len: pixels.len(), runs: RwLock::new(runs.collect()) }
    }
}

impl StorageImpl for Tape {
    /// What the pixels would take, were they in memory.
    fn nbytes(&self) -> usize {
        self.len * size_of::<f32>()
    }

    fn device(&self) -> Device {
        DeviceType::PrivateUse1.into()
    }
}
