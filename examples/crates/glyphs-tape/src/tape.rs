//! The backend's memory: a tape of runs.

use torch_library::{Device, DeviceType, Result, StorageImpl, Tensor, bail};

/// Some pixels of the same ink, one behind the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    /// The ink of each.
    pub ink: f32,
    /// How many there are.
    pub length: usize,
}

/// Pixels as runs.
///
/// ```
/// use glyphs_tape::{Run, Tape};
///
/// let tape: Tape = [0.0, 0.0, 0.0, 1.0].into_iter().collect();
/// assert_eq!(tape.runs(), [Run { ink: 0.0, length: 3 }, Run { ink: 1.0, length: 1 }]);
/// ```
#[derive(Debug, Default)]
pub struct Tape(Vec<Run>);

impl Tape {
    /// The tape of a tensor.
    ///
    /// # Errors
    /// A tensor that is no tape, or a view of a part of one.
    pub fn of(tensor: &Tensor) -> Result<&Tape> {
        let Some(tape) = tensor.storage().downcast_ref::<Tape>() else {
            bail!(Device, "this tensor is on {}, not on tape; put it there with `record`", tensor.device())
        };
        if tensor.numel() as usize != tape.len() || !tensor.geometry().is_contiguous() {
            bail!(
                NotSupported,
                "views of a tape cannot be played, take `glyphs::host` of the whole tape first"
            );
        }
        Ok(tape)
    }

    /// The runs.
    pub fn runs(&self) -> &[Run] {
        &self.0
    }

    /// How many pixels there are.
    pub fn len(&self) -> usize {
        self.0.iter().map(|run| run.length).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The runs that are not paper, with the position of their first pixel.
    pub fn inked(&self) -> impl Iterator<Item = (usize, Run)> {
        let starts = self.0.iter().scan(0, |next, run| Some(std::mem::replace(next, *next + run.length)));
        starts.zip(self.0.iter().copied()).filter(|(_, run)| run.ink != 0.0)
    }

    /// The same runs with other ink.
    pub fn map(&self, ink: impl Fn(f32) -> f32) -> Tape {
        Tape(self.0.iter().map(|run| Run { ink: ink(run.ink), ..*run }).collect())
    }

    /// The pixels.
    pub fn play(&self) -> Vec<f32> {
        self.0.iter().flat_map(|run| std::iter::repeat_n(run.ink, run.length)).collect()
    }
}

impl FromIterator<f32> for Tape {
    fn from_iter<I: IntoIterator<Item = f32>>(pixels: I) -> Self {
        let mut runs: Vec<Run> = Vec::new();
        for ink in pixels {
            match runs.last_mut() {
                Some(run) if run.ink.to_bits() == ink.to_bits() => run.length += 1,
                _ => runs.push(Run { ink, length: 1 }),
            }
        }
        Tape(runs)
    }
}

impl StorageImpl for Tape {
    /// What the pixels would take, had they memory.
    fn nbytes(&self) -> usize {
        self.len() * size_of::<f32>()
    }

    fn device(&self) -> Device {
        DeviceType::PrivateUse1.into()
    }
}
