//! The kernels for the CPU.

use torch_library::torch_impl;

use crate::glyphs;

#[torch_impl(glyphs, CPU)]
mod kernels {
    use torch_library::prelude::*;

    use crate::{ClassMeans, extent};

    fn normalize(images: &Tensor, max: f64) -> Result<Tensor> {
        ensure!(max > 0.0, Argument, "glyphs::normalize: max must be positive, but is {max}");
        let ink = images.to_vec::<f32>()?.into_iter().map(|ink| ink / max as f32).collect();
        Tensor::from_vec(ink, images.sizes())
    }

    fn ink(images: &Tensor) -> Result<Tensor> {
        let (_, pixels) = extent(images.sizes())?;
        let ink = images.to_vec::<f32>()?;
        let sums: Vec<f32> = ink.chunks(pixels.max(1)).map(|picture| picture.iter().sum()).collect();
        Ok(sums.into())
    }

    fn class_means(images: &Tensor, labels: &Tensor, classes: i64) -> Result<Tensor> {
        let mut means = ClassMeans::new(images.sizes(), labels, classes)?;
        for (position, ink) in images.to_vec::<f32>()?.into_iter().enumerate() {
            means.add(position, ink);
        }
        means.finish()
    }

    fn host(images: &Tensor) -> Result<Tensor> {
        Ok(images.clone())
    }
}
