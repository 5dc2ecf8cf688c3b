//! What is done with the digits: operators of three crates, under one name.

use glyphs_extra::glyphs_extra as glyphs;
use glyphs_tape::Tape;
use torch_library::{MemoryFormat, Result, Tensor};

use crate::data::Digits;

/// What came out.
pub(crate) struct Outcome {
    /// Tensors before and after `contiguous(channels_last)`.
    pub(crate) formats: Vec<Formats>,
    /// Pixels on the tape, and runs.
    pub(crate) tape: (usize, usize),
    /// The mean picture of each class, sizes `[10, 1, 8, 8]`.
    pub(crate) means: Tensor,
    /// The ink on each of them.
    pub(crate) ink: Vec<f32>,
    /// How many pictures are nearest to the mean of their own class.
    pub(crate) recognised: usize,
}

/// A tensor in two memory formats.
pub(crate) struct Formats {
    pub(crate) name: &'static str,
    pub(crate) before: Tensor,
    pub(crate) after: Tensor,
}

impl Formats {
    fn new(name: &'static str, before: &Tensor) -> Result<Formats> {
        Ok(Formats { name, before: before.clone(), after: channels_last(before)? })
    }
}

/// # Errors
/// Whatever the operators return.
pub(crate) fn run(digits: &Digits) -> Result<Outcome> {
    let images = glyphs::normalize(&digits.images)?;
    let outlined = glyphs::outlined(&images)?;
    let formats = vec![Formats::new("images", &images)?, Formats::new("outlined", &outlined)?];

    // The same operator once more: now its tensor is on tape, and another crate's kernel runs.
    let tape = glyphs::normalize(&glyphs_tape::record(&digits.images)?)?;
    let means = glyphs::host(&glyphs::class_means(&tape, &digits.labels)?)?;

    let nearest: Vec<i64> = glyphs::nearest(&images, &means)?.to_vec()?;
    let labels: Vec<i64> = digits.labels.to_vec()?;
    Ok(Outcome {
        formats,
        tape: (Tape::of(&tape)?.len(), Tape::of(&tape)?.runs().len()),
        ink: glyphs::ink(&means)?.to_vec()?,
        means,
        recognised: nearest.iter().zip(&labels).filter(|(nearest, label)| nearest == label).count(),
    })
}

fn channels_last(x: &Tensor) -> Result<Tensor> {
    if x.is_contiguous(MemoryFormat::ChannelsLast) {
        return Ok(x.clone());
    }
    let mut y = x.empty_like(x.dtype(), MemoryFormat::ChannelsLast)?;
    y.copy_from_slice(&x.to_vec::<f32>()?)?;
    Ok(y)
}
