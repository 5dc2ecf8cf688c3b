//! Accumulates class means, independently of how the pictures are stored.

use torch_library::{Result, Tensor, bail, ensure};

use crate::extent;

/// The ink of each class and pixel, accumulated so far.
///
/// Kernels of all backends add to this struct, so that what they share is written once.
pub struct ClassMeans {
    /// The class of each picture.
    labels: Vec<usize>,
    /// The number of pictures in each class.
    counts: Vec<f64>,
    sums: Vec<f64>,
    pixels: usize,
    sizes: Vec<i64>,
}

impl ClassMeans {
    /// Starts with no ink, for a batch of these sizes.
    ///
    /// # Errors
    /// Sizes that are not those of a batch of pictures, labels that are not one `int64` for each picture, a label that
    /// is not a class, or more classes than fit into memory.
    pub fn new(sizes: &[i64], labels: &Tensor, classes: i64) -> Result<Self> {
        let (pictures, pixels) = extent(sizes)?;
        ensure!(
            labels.sizes() == [pictures as i64],
            Shape,
            "glyphs::class_means: {pictures} pictures need labels of sizes [{pictures}], these have {:?}",
            labels.sizes()
        );
        let (mut counts, sums) = (zeros(classes, 1)?, zeros(classes, pixels)?);
        let class_of = |(picture, label): (usize, i64)| match usize::try_from(label) {
            Ok(class) if class < counts.len() => {
                counts[class] += 1.0;
                Ok(class)
            }
            _ => bail!(
                Argument,
                "glyphs::class_means: picture {picture} has label {label}, classes are 0..{classes}"
            ),
        };
        let labels = labels.to_vec()?.into_iter().enumerate().map(class_of).collect::<Result<_>>()?;
        let sizes = [&[classes], &sizes[1..]].concat();
        Ok(ClassMeans { labels, counts, sums, pixels, sizes })
    }

    /// Adds ink at a position, counted through all pictures.
    pub fn add(&mut self, position: usize, ink: f32) {
        let (picture, pixel) = (position / self.pixels, position % self.pixels);
        self.sums[self.labels[picture] * self.pixels + pixel] += f64::from(ink);
    }

    /// The means, in the host's memory.
    ///
    /// # Errors
    /// None: the sizes are those of the sums.
    pub fn finish(self) -> Result<Tensor> {
        let mean = |(index, sum)| (sum / self.counts[index / self.pixels]) as f32;
        Tensor::from_vec(self.sums.into_iter().enumerate().map(mean).collect(), &self.sizes)
    }
}

fn zeros(classes: i64, each: usize) -> Result<Vec<f64>> {
    let mut zeros = Vec::new();
    let len = usize::try_from(classes).ok().and_then(|classes| classes.checked_mul(each));
    match len.filter(|len| zeros.try_reserve_exact(*len).is_ok()) {
        Some(len) => zeros.resize(len, 0.0),
        None => bail!(Argument, "glyphs::class_means: there is no room for {classes} classes"),
    }
    Ok(zeros)
}
