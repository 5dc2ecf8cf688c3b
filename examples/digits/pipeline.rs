//! What the demonstration does with the digits: operators of three crates, in one namespace.

use glyphs_extra::glyphs_extra as glyphs;
use glyphs_tape::Tape;
use torch_library::{Device, MemoryFormat, Result, Tensor};
use torch_library_aten::aten;

use crate::data::Digits;

/// The results.
pub(crate) struct Outcome {
    /// Ink from 0 to 1, sizes `[N, 1, 8, 8]`.
    pub(crate) images: Tensor,
    /// Tensors before and after `contiguous(channels_last)`.
    pub(crate) formats: Vec<Formats>,
    /// The numbers of pixels and of runs on the tape.
    pub(crate) tape: (usize, usize),
    /// The mean picture of each class, sizes `[10, 1, 8, 8]`.
    pub(crate) means: Tensor,
    /// The ink of each mean picture.
    pub(crate) ink: Vec<f32>,
    /// The number of pictures that are nearest to the mean of their own class.
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
        let after = aten::contiguous::with(before).memory_format(MemoryFormat::ChannelsLast).call()?;
        Ok(Formats { name, before: before.clone(), after })
    }
}

/// # Errors
/// Errors of operators.
pub(crate) fn run(digits: &Digits) -> Result<Outcome> {
    let images = glyphs::normalize(&digits.images)?;
    let outlined = glyphs::outlined(&images)?;
    let formats = vec![Formats::new("images", &images)?, Formats::new("outlined", &outlined)?];

    // The same operator again: now its tensor is on tape, so another crate's kernel runs.
    let tape = glyphs::normalize(&to(&digits.images, glyphs_tape::device()?)?)?;
    let means = to(&glyphs::class_means(&tape, &digits.labels)?, Device::CPU)?;

    let nearest: Vec<i64> = glyphs::nearest(&images, &means)?.to_vec()?;
    let labels: Vec<i64> = digits.labels.to_vec()?;
    Ok(Outcome {
        formats,
        tape: (Tape::of(&tape)?.len(), Tape::of(&tape)?.runs().len()),
        ink: glyphs::ink(&means)?.to_vec()?,
        means,
        images,
        recognised: nearest.iter().zip(&labels).filter(|(nearest, label)| nearest == label).count(),
    })
}

fn to(x: &Tensor, device: Device) -> Result<Tensor> {
    aten::_to_copy::with(x).device(device).call()
}
