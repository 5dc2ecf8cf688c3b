//! The kernels for the CPU.

use torch_library::torch_impl;

use crate::glyphs;

#[torch_impl(glyphs, CPU)]
mod kernels {
    use torch_library::prelude::*;
    use torch_library_aten::prelude::*;

    use crate::{ClassMeans, extent};

    fn normalize(images: &Tensor, max: f64) -> Result<Tensor> {
        ensure!(max > 0.0, Argument, "glyphs::normalize: max must be positive, but is {max}");
        images.div(max)
    }

    fn ink(images: &Tensor) -> Result<Tensor> {
        extent(images.sizes())?;
        images.sum_dim(&[1, 2, 3], false)
    }

    fn class_means(images: &Tensor, labels: &Tensor, classes: i64) -> Result<Tensor> {
        let mut means = ClassMeans::new(images.sizes(), labels, classes)?;
        for (position, ink) in images.to_vec::<f32>()?.into_iter().enumerate() {
            means.add(position, ink);
        }
        means.finish()
    }
}
