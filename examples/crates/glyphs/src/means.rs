//! Class means as they are summed up, whatever the pictures are stored as.

use torch_library::{Error, ErrorKind, Result, Tensor, bail, ensure};

use crate::extent;

/// The ink of each class and pixel so far.
///
/// Kernels of all backends add to one of these, so what they share is written once.
pub struct ClassMeans {
    /// The class of each picture.
    labels: Vec<usize>,
    pixels: usize,
    sums: Vec<f64>,
    sizes: Vec<i64>,
}

impl ClassMeans {
    /// Nothing yet, for a batch of these sizes.
    ///
    /// # Errors
    /// Sizes that are not those of a batch of pictures, not one label of type `int64` for each of them, a label that is
    /// no class.
    pub fn new(sizes: &[i64], labels: &Tensor, classes: i64) -> Result<Self> {
        let (pictures, pixels) = extent(sizes)?;
        ensure!(
            labels.sizes() == [pictures as i64],
            Shape,
            "glyphs::class_means: {pictures} pictures need labels of sizes [{pictures}], these have {:?}",
            labels.sizes()
        );
        let labels: Vec<i64> = labels.to_vec()?;
        if let Some(picture) = labels.iter().position(|label| !(0..classes).contains(label)) {
            let label = labels[picture];
            bail!(
                Argument,
                "glyphs::class_means: picture {picture} has label {label}, classes are 0..{classes}"
            );
        }
        let mut sizes = sizes.to_vec();
        sizes[0] = classes;
        let labels = labels.into_iter().map(|label| label as usize).collect();
        Ok(ClassMeans { labels, pixels, sums: zeros(classes, pixels)?, sizes })
    }

    /// Adds ink at a position, counted through all pictures.
    pub fn add(&mut self, position: usize, ink: f32) {
        let (picture, pixel) = (position / self.pixels, position % self.pixels);
        self.sums[self.labels[picture] * self.pixels + pixel] += f64::from(ink);
    }

    /// The means, in the host's memory.
    ///
    /// # Errors
    /// More memory than there is.
    pub fn finish(self) -> Result<Tensor> {
        let mut counts = vec![0u32; self.sizes[0] as usize];
        self.labels.iter().for_each(|label| counts[*label] += 1);
        let mean = |(index, sum)| (sum / f64::from(counts[index / self.pixels])) as f32;
        Tensor::from_vec(self.sums.into_iter().enumerate().map(mean).collect(), &self.sizes)
    }
}

fn zeros(classes: i64, pixels: usize) -> Result<Vec<f64>> {
    let mut zeros = Vec::new();
    let len = usize::try_from(classes).ok().and_then(|classes| classes.checked_mul(pixels));
    match len.filter(|len| zeros.try_reserve_exact(*len).is_ok()) {
        Some(len) => zeros.resize(len, 0.0),
        None => {
            let message =
                format!("glyphs::class_means: there is no room for {classes} classes of {pixels} pixels");
            return Err(Error::new(ErrorKind::Argument, message));
        }
    }
    Ok(zeros)
}
