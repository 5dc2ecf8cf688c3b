//! In which order elements are visited: that of the result in memory, with as few dimensions as that takes.

use torch_library::prelude::*;

use crate::launch::DIMS;

/// The sizes of the loops, outermost first, and how far each input goes with them. The result lies one element behind the
/// other.
pub(crate) struct Layout {
    pub(crate) sizes: Vec<u32>,
    pub(crate) inputs: Vec<Steps>,
    numel: u32,
}

/// Where an input starts, and its strides.
pub(crate) struct Steps {
    offset: u32,
    pub(crate) strides: Vec<u32>,
}

impl Layout {
    /// Nothing where a kernel cannot: a result with gaps, too many dimensions.
    pub(crate) fn of(result: &Tensor, inputs: &[&Tensor]) -> Option<Layout> {
        if !result.is_non_overlapping_and_dense() {
            return None;
        }
        let mut order: Vec<usize> = (0..result.dim()).collect();
        order.sort_by_key(|dim| std::cmp::Reverse(result.strides()[*dim]));
        let (sizes, strides) = along(result, &order, inputs);
        Layout::new(result.numel(), sizes, strides, inputs)
    }

    /// That of the rows of a tensor, which are reduced to one element each: its dimensions that are kept, then those that
    /// are not. Also how many of the sizes are of the first kind.
    pub(crate) fn rows(
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
        let small = |number: i64| u32::try_from(number).unwrap_or(u32::MAX); // checked by the caller
        let steps = inputs.iter().zip(strides).map(|(input, strides)| Steps {
            offset: small(input.storage_offset()),
            strides: strides.into_iter().map(small).collect(),
        });
        Some(Layout {
            inputs: steps.collect(),
            sizes: sizes.into_iter().map(small).collect(),
            numel: small(numel),
        })
    }

    /// The number of elements, the sizes, and of each input offset and strides.
    pub(crate) fn params(&self) -> Vec<u32> {
        let mut params = vec![self.numel];
        params.extend(&self.sizes);
        for input in &self.inputs {
            params.push(input.offset);
            params.extend(&input.strides);
        }
        params
    }

    /// Where in the parameters an input's offset is.
    pub(crate) fn place(&self, input: usize) -> usize {
        1 + self.sizes.len() + input * (1 + self.sizes.len())
    }
}

/// The sizes of a tensor along some of its dimensions, and of each input, which is broadcast to it, the strides there.
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

/// Joins dimensions that are one for all inputs.
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
