//! The kernels for the CPU.

use torch_library::torch_impl;

use crate::glyphs_extra;

#[torch_impl(glyphs_extra, CPU)]
mod cpu {
    use glyphs::extent;
    use torch_library::prelude::*;

    use super::{distance, outline};

    fn outlined(images: &Tensor, paper: f64) -> Result<Tensor> {
        let &[pictures, 1, height, width] = images.sizes() else {
            bail!(Shape, "glyphs::outlined: sizes must be [N, 1, H, W], but are {:?}", images.sizes());
        };
        let (_, pixels) = extent(images.sizes())?;
        let ink = images.to_vec::<f32>()?;
        let mut channels = Vec::with_capacity(2 * ink.len());
        for picture in ink.chunks(pixels.max(1)) {
            channels.extend_from_slice(picture);
            channels.extend(outline(picture, width as usize, paper as f32));
        }
        Tensor::from_vec(channels, &[pictures, 2, height, width])
    }

    fn nearest(images: &Tensor, means: &Tensor) -> Result<Tensor> {
        ensure!(
            images.dim() == 4 && means.dim() == 4 && images.sizes()[1..] == means.sizes()[1..],
            Shape,
            "glyphs::nearest: pictures of sizes {:?} cannot be compared with means of sizes {:?}",
            images.sizes(),
            means.sizes()
        );
        let pixels = extent(images.sizes())?.1.max(1);
        let (images, means) = (images.to_vec::<f32>()?, means.to_vec::<f32>()?);
        let nearest = |image: &[f32]| {
            let distances = means.chunks(pixels).map(|mean| distance(image, mean));
            distances
                .enumerate()
                .min_by(|(_, a), (_, b)| a.total_cmp(b))
                .map_or(-1, |(class, _)| class as i64)
        };
        Ok(images.chunks(pixels).map(nearest).collect::<Vec<i64>>().into())
    }
}

/// The squared distance between two pictures.
fn distance(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum()
}

/// The ink of pixels on an outline: those next to paper, or at the edge of the picture; no ink elsewhere.
fn outline(picture: &[f32], width: usize, paper: f32) -> impl Iterator<Item = f32> {
    let is_paper = move |pixel: Option<usize>| {
        pixel.and_then(|pixel| picture.get(pixel)).is_none_or(|ink| *ink <= paper)
    };
    picture.iter().enumerate().map(move |(pixel, ink)| {
        let left = (pixel % width > 0).then(|| pixel - 1);
        let right = (pixel % width + 1 < width).then_some(pixel + 1);
        let neighbours = [left, right, pixel.checked_sub(width), Some(pixel + width)];
        let is_outline = *ink > paper && neighbours.into_iter().any(is_paper);
        if is_outline { *ink } else { 0.0 }
    })
}
