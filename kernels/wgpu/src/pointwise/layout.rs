//! In which order elements are visited: that of the result in memory, with as few dimensions as that takes.

use torch_library::prelude::*;

/// The most dimensions that a shader counts through.
const MOST: usize = 8;

/// The sizes of the loops, outermost first, and how far each input goes with them. The result lies one element behind the
/// other.
pub(super) struct Layout {
    pub(super) sizes: Vec<u32>,
    pub(super) inputs: Vec<Steps>,
    numel: u32,
}

/// Where an input starts, and its strides.
pub(super) struct Steps {
    offset: u32,
    pub(super) strides: Vec<u32>,
}

impl Layout {
    /// Nothing where a kernel cannot: a result with gaps, too many dimensions.
    pub(super) fn of(result: &Tensor, inputs: &[&Tensor]) -> Result<Option<Layout>> {
        if !result.is_non_overlapping_and_dense() {
            return Ok(None);
        }
        let mut order: Vec<usize> = (0..result.dim()).filter(|dim| result.sizes()[*dim] != 1).collect();
        order.sort_by_key(|dim| std::cmp::Reverse(result.strides()[*dim]));
        let mut all = Vec::new();
        for input in inputs {
            let missing = result.dim() - input.dim();
            let stride = |dim: usize| match dim.checked_sub(missing) {
                Some(own) if input.sizes()[own] != 1 => input.strides()[own],
                _ => 0, // broadcast
            };
            all.push(order.iter().map(|dim| stride(*dim)).collect::<Vec<i64>>());
        }
        let sizes = order.iter().map(|dim| result.sizes()[*dim]).collect();
        let (sizes, strides) = merged(sizes, all);
        if sizes.len() > MOST {
            return Ok(None);
        }
        let small = |number: i64| u32::try_from(number).unwrap_or(u32::MAX); // checked by the caller
        let steps = inputs.iter().zip(strides).map(|(input, strides)| Steps {
            offset: small(input.storage_offset()),
            strides: strides.into_iter().map(small).collect(),
        });
        Ok(Some(Layout {
            inputs: steps.collect(),
            sizes: sizes.into_iter().map(small).collect(),
            numel: small(result.numel()),
        }))
    }

    /// The number of elements, the sizes, and of each input offset and strides.
    pub(super) fn params(&self) -> Vec<u32> {
        let mut params = vec![self.numel];
        params.extend(&self.sizes);
        for input in &self.inputs {
            params.push(input.offset);
            params.extend(&input.strides);
        }
        params
    }

    /// Where in the parameters an input's offset is.
    pub(super) fn place(&self, input: usize) -> usize {
        1 + self.sizes.len() + input * (1 + self.sizes.len())
    }
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
