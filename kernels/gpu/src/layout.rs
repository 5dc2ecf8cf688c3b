//! The order in which elements are visited: that of the result in memory, with as few dimensions as possible.

use torch_library::prelude::*;

/// The most dimensions that a kernel can count through.
pub const DIMS: usize = 8;

/// The sizes of the loops, outermost first, and the strides of each input along them. The result is contiguous in this
/// order.
///
/// ```
/// use torch_library::{DType, Device, Tensor};
/// use torch_library_gpu::Layout;
///
/// let on_meta = |sizes: &[i64]| Tensor::empty(sizes, DType::Float32, Device::META).unwrap();
/// let (result, row) = (on_meta(&[2, 3, 4]), on_meta(&[4]));
/// // The first two dimensions are one for both, and the row starts over in each of its six steps.
/// assert_eq!(Layout::of(&result, &[&result, &row]).unwrap().params(), [24, 6, 4, 0, 4, 1, 0, 0, 1]);
/// ```
#[derive(Clone, Debug)]
pub struct Layout {
    /// The sizes of the loops, outermost first.
    pub sizes: Vec<i64>,
    /// The offset and strides of each input.
    pub inputs: Vec<Steps>,
    numel: i64,
}

/// The offset and the strides of an input, in elements.
#[derive(Clone, Debug)]
pub struct Steps {
    /// The offset of the first element.
    pub offset: i64,
    /// The stride of each loop.
    pub strides: Vec<i64>,
}

impl Layout {
    /// The layout for a result and its inputs; `None` if kernels do not support it: a result with gaps, or too many
    /// dimensions.
    pub fn of(result: &Tensor, inputs: &[&Tensor]) -> Option<Layout> {
        if !result.is_non_overlapping_and_dense() {
            return None;
        }
        let mut order: Vec<usize> = (0..result.dim()).collect();
        order.sort_by_key(|dim| std::cmp::Reverse(result.strides()[*dim]));
        let (sizes, strides) = along(result, &order, inputs);
        Layout::new(result.numel(), sizes, strides, inputs)
    }

    /// The layout for reducing the rows of a tensor to one element each: first the dimensions that are kept, then those
    /// that are reduced. Also returns how many sizes are of kept dimensions.
    pub fn rows(
        this: &Tensor,
        kept: &[usize],
        reduced: &[usize],
        inputs: &[&Tensor],
    ) -> Option<(Layout, usize)> {
        let (mut sizes, mut strides) = along(this, kept, inputs);
        let (own, rows) = (sizes.len(), sizes.iter().product());
        let (others, further) = along(this, reduced, inputs);
        sizes.extend(others);
        strides.iter_mut().zip(further).for_each(|(strides, further)| strides.extend(further));
        Some((Layout::new(rows, sizes, strides, inputs)?, own))
    }

    fn new(numel: i64, sizes: Vec<i64>, strides: Vec<Vec<i64>>, inputs: &[&Tensor]) -> Option<Layout> {
        if sizes.len() > DIMS {
            return None;
        }
        let steps = inputs
            .iter()
            .zip(strides)
            .map(|(input, strides)| Steps { offset: input.storage_offset(), strides });
        Some(Layout { inputs: steps.collect(), sizes, numel })
    }

    /// The layout as parameters of a kernel: the number of elements, the sizes, and the offset and strides of each input.
    pub fn params(&self) -> Vec<i64> {
        let mut params = vec![self.numel];
        params.extend(&self.sizes);
        for input in &self.inputs {
            params.push(input.offset);
            params.extend(&input.strides);
        }
        params
    }

    /// The position of an input's offset in the parameters.
    pub fn place(&self, input: usize) -> usize {
        1 + self.sizes.len() + input * (1 + self.sizes.len())
    }
}

/// The sizes of a tensor along some of its dimensions, and the strides there of each input, which is broadcast to it.
fn along(this: &Tensor, dims: &[usize], inputs: &[&Tensor]) -> (Vec<i64>, Vec<Vec<i64>>) {
    let dims: Vec<usize> = dims.iter().copied().filter(|dim| this.sizes()[*dim] != 1).collect();
    let strides = inputs.iter().map(|input| {
        let missing = this.dim() - input.dim();
        let stride = |dim: &usize| match dim.checked_sub(missing) {
            Some(own) if input.sizes()[own] != 1 => input.strides()[own],
            _ => 0, // broadcast
        };
        dims.iter().map(stride).collect()
    });
    let strides = strides.collect();
    merged(dims.iter().map(|dim| this.sizes()[*dim]).collect(), strides)
}

/// Merges dimensions that are contiguous with each other in all inputs.
fn merged(sizes: Vec<i64>, inputs: Vec<Vec<i64>>) -> (Vec<i64>, Vec<Vec<i64>>) {
    let mut kept: Vec<(i64, Vec<i64>)> = Vec::new();
    for (dim, size) in sizes.into_iter().enumerate() {
        let strides: Vec<i64> = inputs.iter().map(|input| input[dim]).collect();
        match kept.last_mut() {
            Some((outer, before))
                if before.iter().zip(&strides).all(|(outer, inner)| *outer == inner * size) =>
            {
                *outer *= size;
                *before = strides;
            }
            _ => kept.push((size, strides)),
        }
    }
    let sizes = kept.iter().map(|(size, _)| *size).collect();
    let strides = (0..inputs.len()).map(|input| kept.iter().map(|(_, strides)| strides[input]).collect());
    (sizes, strides.collect())
}
