//! Kernels for the operators of `glyphs` on tape.

use glyphs::glyphs;
use torch_library::torch_impl;

#[torch_impl(glyphs, PrivateUse1)]
mod kernels {
    use glyphs::{ClassMeans, extent};
    use torch_library::prelude::*;

    use crate::{Tape, tensor};

    fn normalize(images: &Tensor, max: f64) -> Result<Tensor> {
        ensure!(max > 0.0, Argument, "glyphs::normalize: max must be positive, but is {max}");
        tensor(Tape::of(images)?.map(|ink| ink / max as f32), images.sizes())
    }

    fn ink(images: &Tensor) -> Result<Tensor> {
        let (pictures, pixels) = extent(images.sizes())?;
        let mut sums = vec![0f32; pictures];
        for run in Tape::of(images)?.runs().iter().filter(|run| run.ink != 0.0) {
            (run.start..run.start + run.length).for_each(|position| sums[position / pixels] += run.ink);
        }
        tensor(sums.into(), &[pictures as i64])
    }

    // The labels may be in the host's memory: one tensor on tape is enough to dispatch here.
    fn class_means(images: &Tensor, labels: &Tensor, classes: i64) -> Result<Tensor> {
        let mut means = ClassMeans::new(images.sizes(), labels, classes)?;
        for run in Tape::of(images)?.runs().iter().filter(|run| run.ink != 0.0) {
            (run.start..run.start + run.length).for_each(|position| means.add(position, run.ink));
        }
        let means = means.finish()?;
        tensor(means.to_vec()?.into(), means.sizes())
    }
}
