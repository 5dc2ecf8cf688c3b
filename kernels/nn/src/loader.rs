//! Batches of examples, in their own order or in one that a seed decides.
//!
//! ```
//! use torch_library::prelude::*;
//! use torch_library_kernels::loader::Batches;
//!
//! let (images, labels) = (Tensor::from([[1f32], [2.0], [3.0]]), Tensor::from([1i64, 2, 3]));
//! let generator = Generator::with_seed(0);
//! for batch in Batches::new([&images, &labels], 2)?.shuffled(&generator)? {
//!     let [images, labels] = batch?;
//!     assert_eq!(images.sizes()[0], labels.sizes()[0]);
//! }
//! # Ok::<(), Error>(())
//! ```

use std::iter::FusedIterator;

use torch_library::prelude::*;

use crate::aten;

/// An iterator over batches of tensors whose first dimension counts examples. The last batch may be smaller.
///
/// PyTorch: `torch.utils.data.DataLoader` over a `TensorDataset`.
#[derive(Clone, Debug)]
pub struct Batches<const N: usize> {
    tensors: [Tensor; N],
    /// The indices of the examples, if their order is not that of the tensors.
    order: Option<Tensor>,
    examples: i64,
    size: i64,
    next: i64,
}

impl<const N: usize> Batches<N> {
    /// Batches of `size` examples.
    ///
    /// # Errors
    /// A batch of no examples, tensors of different numbers of examples, a tensor without dimensions.
    pub fn new(tensors: [&Tensor; N], size: usize) -> Result<Batches<N>> {
        ensure!(size > 0, Argument, "batches of no examples would never end, expected a size of at least 1");
        let mut counts = tensors.iter().map(|tensor| tensor.size(0));
        let examples = counts.next().unwrap_or(Ok(0))?;
        for count in counts {
            let count = count?;
            ensure!(count == examples, Shape, "{examples} examples in one tensor, {count} in another");
        }
        let size = i64::try_from(size).unwrap_or(i64::MAX);
        Ok(Batches { tensors: tensors.map(Clone::clone), order: None, examples, size, next: 0 })
    }

    /// Starts over with all examples, in an order that the generator draws.
    ///
    /// # Errors
    /// A generator of another device.
    pub fn shuffled(self, generator: &Generator) -> Result<Batches<N>> {
        let order = aten::randperm_generator(self.examples, Some(generator))?;
        Ok(Batches { order: Some(order), next: 0, ..self })
    }

    fn batch(&self, start: i64, length: i64) -> Result<[Tensor; N]> {
        let order = self.order.as_ref().map(|order| aten::narrow(order, 0, start, length)).transpose()?;
        let mut batch = self.tensors.clone();
        for tensor in &mut batch {
            *tensor = match &order {
                Some(order) => aten::index_select(tensor, 0, order)?,
                None => aten::narrow(tensor, 0, start, length)?,
            };
        }
        Ok(batch)
    }
}

impl<const N: usize> Iterator for Batches<N> {
    type Item = Result<[Tensor; N]>;

    fn next(&mut self) -> Option<Self::Item> {
        let length = self.size.min(self.examples - self.next);
        if length <= 0 {
            return None;
        }
        let start = self.next;
        self.next += length;
        Some(self.batch(start, length))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let batches = (self.examples - self.next).unsigned_abs().div_ceil(self.size.unsigned_abs()) as usize;
        (batches, Some(batches))
    }
}

impl<const N: usize> ExactSizeIterator for Batches<N> {}

impl<const N: usize> FusedIterator for Batches<N> {}
