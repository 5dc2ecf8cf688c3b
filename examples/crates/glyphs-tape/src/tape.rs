//! The backend's memory: a tape of runs.

use std::sync::{Arc, PoisonError, RwLock};

use torch_library::{
    BackendRef, DType, Device, DeviceType, Result, Storage, StorageImpl, Tensor, bail, ensure,
};

/// Consecutive pixels of the same ink.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    /// The index of the first pixel.
    pub start: usize,
    /// The number of pixels.
    pub length: usize,
    /// The ink of each pixel.
    pub ink: f32,
}

/// A number of consecutive elements with the same bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Stretch {
    length: usize,
    bytes: [u8; WIDEST],
}

/// The size in bytes of the widest element, a complex128.
const WIDEST: usize = 16;

/// Elements of any type, mostly pixels, as runs of equal ones. A tape keeps its length, and is recorded as a whole.
///
/// ```
/// use glyphs_tape::{Run, Tape};
///
/// let tape = Tape::from(vec![0.0, 0.0, 0.0, 1.0]);
/// assert_eq!(*tape.runs(), [Run { start: 0, length: 3, ink: 0.0 }, Run { start: 3, length: 1, ink: 1.0 }]);
/// ```
#[derive(Debug)]
pub struct Tape {
    nbytes: usize,
    /// The size of an element in bytes. The last element may have fewer.
    width: usize,
    /// In order, without gaps. While a tape is played, the stretches at that moment are kept alive.
    stretches: RwLock<Arc<[Stretch]>>,
}

impl Tape {
    /// The tape of a tensor of pixels.
    ///
    /// # Errors
    /// A tensor that is not on tape or not of type `float32`, or a view of a part of a tape.
    pub fn of(tensor: &Tensor) -> Result<BackendRef<'_, Tape>> {
        let Some(tape) = tensor.storage().downcast::<Tape>() else {
            bail!(Device, "a tensor on tape was expected, this one is on {}", tensor.device())
        };
        ensure!(
            tensor.dtype() == DType::Float32,
            DType,
            "pixels are float32, not {}: convert before copying to tape",
            tensor.dtype()
        );
        ensure!(
            tensor.numel() as usize == tape.len() && tensor.geometry().is_contiguous(),
            NotSupported,
            "a view of a part of a tape cannot be played run by run, make a copy first"
        );
        Ok(tape)
    }

    /// The tape in a storage.
    ///
    /// # Errors
    /// The storage is on another device.
    pub(crate) fn in_storage(storage: &Storage) -> Result<&Tape> {
        match storage.downcast_ref::<Tape>() {
            Some(tape) => Ok(tape),
            None => bail!(Device, "a tape was expected, this memory is on {}", storage.device()),
        }
    }

    /// A tape of zeros, for elements of a type.
    pub(crate) fn blank(nbytes: usize, dtype: DType) -> Tape {
        let width = dtype.size();
        let whole = Stretch { length: nbytes.div_ceil(width), bytes: [0; WIDEST] };
        Tape { nbytes, width, stretches: RwLock::new([whole].into()) }
    }

    /// Records bytes as runs of equal elements.
    fn recorded(bytes: &[u8], width: usize) -> Tape {
        Tape { nbytes: bytes.len(), width, stretches: RwLock::new(stretches(bytes, width)) }
    }

    fn stretches(&self) -> Arc<[Stretch]> {
        self.stretches.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The runs of a tape of pixels.
    pub fn runs(&self) -> Arc<[Run]> {
        let runs = self.stretches();
        let runs = runs.iter().scan(0, |next, stretch| {
            let start = std::mem::replace(next, *next + stretch.length);
            let [a, b, c, d, ..] = stretch.bytes;
            Some(Run { start, length: stretch.length, ink: f32::from_ne_bytes([a, b, c, d]) })
        });
        runs.collect()
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.nbytes / self.width
    }

    /// Whether the tape has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A tape with the same runs and other ink, for a tape of pixels.
    pub fn map(&self, ink: impl Fn(f32) -> f32) -> Tape {
        let runs = self.runs();
        let stretch = |run: &Run| Stretch { length: run.length, bytes: padded(&ink(run.ink).to_ne_bytes()) };
        let stretches = RwLock::new(runs.iter().map(stretch).collect());
        Tape { nbytes: self.nbytes, width: self.width, stretches }
    }

    /// All bytes, decoded.
    pub(crate) fn play(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.nbytes);
        for stretch in self.stretches().iter() {
            (0..stretch.length).for_each(|_| bytes.extend(&stretch.bytes[..self.width]));
        }
        bytes.resize(self.nbytes, 0);
        bytes
    }

    /// Replaces the bytes from an offset on.
    ///
    /// # Errors
    /// They do not lie within the tape.
    pub(crate) fn record(&self, offset: usize, bytes: &[u8]) -> Result<()> {
        let mut lock = self.stretches.write().unwrap_or_else(PoisonError::into_inner);
        let is_whole = offset == 0 && bytes.len() == self.nbytes;
        if is_whole {
            *lock = stretches(bytes, self.width);
            return Ok(());
        }
        let played = Tape { stretches: RwLock::new(lock.clone()), ..*self };
        let mut all = played.play();
        let end = offset.checked_add(bytes.len()).filter(|end| *end <= all.len());
        let Some(end) = end else { bail!(Argument, "a tape of {} bytes has none at {offset}", self.nbytes) };
        all[offset..end].copy_from_slice(bytes);
        *lock = stretches(&all, self.width);
        Ok(())
    }
}

fn padded(element: &[u8]) -> [u8; WIDEST] {
    let mut bytes = [0; WIDEST];
    bytes[..element.len()].copy_from_slice(element);
    bytes
}

/// Compares elements by their bits: equal NaNs join, and -0 is kept. A rest at the end is an element of its own.
fn stretches(bytes: &[u8], width: usize) -> Arc<[Stretch]> {
    let mut stretches: Vec<Stretch> = Vec::new();
    for element in bytes.chunks(width) {
        let bytes = padded(element);
        match stretches.last_mut() {
            Some(last) if last.bytes == bytes => last.length += 1,
            _ => stretches.push(Stretch { length: 1, bytes }),
        }
    }
    stretches.into()
}

/// Finds the runs of equal pixels.
impl From<Vec<f32>> for Tape {
    fn from(pixels: Vec<f32>) -> Tape {
        let bytes: Vec<u8> = pixels.iter().flat_map(|pixel| pixel.to_ne_bytes()).collect();
        Tape::recorded(&bytes, size_of::<f32>())
    }
}

impl StorageImpl for Tape {
    /// The size of the elements in bytes, decoded.
    fn nbytes(&self) -> usize {
        self.nbytes
    }

    fn device(&self) -> Device {
        Device::new(DeviceType::PrivateUse1, Some(0))
    }
}
