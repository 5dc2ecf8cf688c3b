//! Operators on pictures of single characters: declares the namespace `glyphs`, and has its kernels for the CPU.
//!
//! Pictures come in batches: `float32` tensors of sizes `[N, C, H, W]` that hold ink, 0 for paper.

use torch_library::{geometry, torch_library};

mod cpu;
mod means;

pub use means::ClassMeans;

torch_library! {
    /// Operators on pictures of single characters.
    pub mod glyphs {
        /// Scales ink from the range 0 to `max` to the range 0 to 1.
        normalize(Tensor images, float max=16.) -> Tensor;
        /// The amount of ink on each picture: sizes `[N]`.
        ink(Tensor images) -> Tensor;
        /// The mean picture of each class, sizes `[classes, C, H, W]`: NaN for a class without pictures.
        class_means(Tensor images, Tensor labels, int classes=10) -> Tensor;
    }
}

/// The number of pictures in a batch, and of pixels in each.
///
/// # Errors
/// The sizes are not those of a batch of pictures.
pub fn extent(sizes: &[i64]) -> torch_library::Result<(usize, usize)> {
    match sizes {
        [pictures, picture @ ..] if picture.len() == 3 => {
            Ok((*pictures as usize, geometry::numel(picture)? as usize))
        }
        _ => torch_library::bail!(Shape, "pictures have sizes [N, C, H, W], but the tensor's are {sizes:?}"),
    }
}
