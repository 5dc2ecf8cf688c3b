//! Bags of embeddings.

use torch_library::prelude::*;
use torch_library::promote_types;

use crate::aten;
use crate::cpu::loops;

#[torch_impl(aten, CompositeImplicitAutograd)]
mod implicit {
    use super::*;

    fn embedding_bag(
        weight: &Tensor,
        indices: &Tensor,
        offsets: &Tensor,
        scale_grad_by_freq: bool,
        mode: i64,
        _sparse: bool,
        per_sample_weights: Option<&Tensor>,
        include_last_offset: bool,
    ) -> Result<(Tensor, Tensor, Tensor, Tensor)> {
        let operator = "aten::embedding_bag";
        let bags = Bags { operator, weight, indices, scale_grad_by_freq, per_sample_weights, padding: None };
        bags.pooled(mode, offsets, include_last_offset)
    }

    fn embedding_bag_padding_idx(
        weight: &Tensor,
        indices: &Tensor,
        offsets: &Tensor,
        scale_grad_by_freq: bool,
        mode: i64,
        _sparse: bool,
        per_sample_weights: Option<&Tensor>,
        include_last_offset: bool,
        padding_idx: Option<i64>,
    ) -> Result<(Tensor, Tensor, Tensor, Tensor)> {
        let operator = "aten::embedding_bag.padding_idx";
        let rows = weight.sizes().first().copied().unwrap_or(0);
        let padding = padding_idx.map(|row| if row < 0 { row + rows } else { row });
        ensure!(
            padding.is_none_or(|row| (0..rows).contains(&row)),
            Argument,
            "{operator}: padding_idx {padding_idx:?} is none of {rows} rows"
        );
        let bags = Bags { operator, weight, indices, scale_grad_by_freq, per_sample_weights, padding };
        bags.pooled(mode, offsets, include_last_offset)
    }
}

struct Bags<'a> {
    operator: &'static str,
    weight: &'a Tensor,
    indices: &'a Tensor,
    scale_grad_by_freq: bool,
    per_sample_weights: Option<&'a Tensor>,
    /// A row that does not count.
    padding: Option<i64>,
}

impl Bags<'_> {
    fn pooled(&self, mode: i64, offsets: &Tensor, last: bool) -> Result<(Tensor, Tensor, Tensor, Tensor)> {
        self.check(mode, offsets, last)?;
        let Bags { weight, indices, per_sample_weights, padding, .. } = *self;
        let (starts, count) = match last {
            true => (aten::narrow(offsets, 0, 0, offsets.numel() - 1)?, offsets.numel() - 1),
            false => (offsets.clone(), offsets.numel()),
        };
        let bags = self.bag_of_each(&starts)?;
        let rows =
            aten::embedding::call(weight, indices, padding.unwrap_or(-1), self.scale_grad_by_freq, false)?;
        let counts = match padding {
            None => aten::ones_like(&bags)?,
            Some(row) => aten::to_dtype(&aten::ne_Scalar(indices, row.into())?, bags.dtype())?,
        };
        let zeros = |tensor: &Tensor, sizes: &[i64]| aten::new_zeros(tensor, sizes);
        let index_dtype = promote_types(indices.dtype(), offsets.dtype())?;
        let as_index = |tensor: &Tensor| aten::to_dtype(tensor, index_dtype);
        let sizes = aten::index_add(&zeros(&bags, &[count])?, 0, &bags, &counts)?;
        if mode == 2 {
            let (maxima, places) = self.maxima(&rows, &bags, &counts, count)?;
            return Ok((maxima, as_index(&bags)?, as_index(&sizes)?, as_index(&places)?));
        }
        let share = match per_sample_weights {
            None => aten::to_dtype(&counts, rows.dtype())?,
            Some(share) => aten::mul_Tensor(share, &counts)?,
        };
        let weighted = aten::mul_Tensor(&rows, &aten::unsqueeze(&share, 1)?)?;
        let width = weight.sizes()[1];
        let sums = aten::index_add(&zeros(&weighted, &[count, width])?, 0, &bags, &weighted)?;
        if mode == 0 {
            // What the sum does not need, PyTorch leaves out.
            let is_left_out =
                padding.is_none() && weight.dtype() != DType::Float64 && weight.strides()[1] == 1;
            let bags = if is_left_out { zeros(&bags, &[0])? } else { bags };
            let nothing = as_index(&aten::zeros_like(offsets)?)?;
            return Ok((sums, as_index(&bags)?, nothing.clone(), aten::clone(&nothing)?));
        }
        let means = aten::div_Tensor(&sums, &aten::unsqueeze(&aten::clamp_min(&sizes, 1.into())?, 1)?)?;
        let sizes = as_index(&sizes)?;
        Ok((means, as_index(&bags)?, sizes.clone(), aten::clone(&sizes)?))
    }

    fn check(&self, mode: i64, offsets: &Tensor, last: bool) -> Result<()> {
        let Bags { operator, weight, indices, per_sample_weights, .. } = *self;
        let is_vector =
            |tensor: &Tensor| tensor.dim() == 1 && matches!(tensor.dtype(), DType::Int32 | DType::Int64);
        ensure!(
            weight.dim() == 2 && is_vector(indices) && is_vector(offsets),
            Argument,
            "{operator}: weight of sizes {:?}, indices of {} and sizes {:?}, offsets of {} and sizes {:?}, \
             expected a matrix and vectors of int32 or int64",
            weight.sizes(),
            indices.dtype(),
            indices.sizes(),
            offsets.dtype(),
            offsets.sizes()
        );
        ensure!((0..3).contains(&mode), Argument, "{operator}: mode {mode}, expected 0, 1 or 2");
        ensure!(
            !last || offsets.numel() > 0,
            Argument,
            "{operator}: no offsets, of which the last is to be the end"
        );
        if let Some(share) = per_sample_weights {
            ensure!(
                mode == 0 && share.sizes() == indices.sizes() && share.dtype() == weight.dtype(),
                Argument,
                "{operator}: per_sample_weights of {} and sizes {:?} in mode {mode}, expected {} for each index in mode 0",
                share.dtype(),
                share.sizes(),
                weight.dtype()
            );
        }
        if loops::has_elements(offsets) {
            let starts = loops::elements::<i64>(offsets)?;
            ensure!(starts[0] == 0, Argument, "{operator}: the first offset is {}, expected 0", starts[0]);
            let end = starts[starts.len() - 1];
            ensure!(
                end <= indices.numel(),
                Argument,
                "{operator}: the last offset is {end}, there are {} indices",
                indices.numel()
            );
        }
        Ok(())
    }

    /// In which bag each index is: how many bags start before it, less one.
    fn bag_of_each(&self, starts: &Tensor) -> Result<Tensor> {
        let count = self.indices.numel();
        let starts = aten::to_dtype(starts, DType::Int64)?;
        let marks = aten::new_zeros(&starts, &[count + 1])?;
        let marks = aten::index_add(&marks, 0, &starts, &aten::ones_like(&starts)?)?;
        aten::sub_Scalar(&aten::narrow(&aten::cumsum(&marks, 0)?, 0, 0, count)?, 1.into())
    }

    /// The largest numbers of the rows in each bag, and the indices of these rows.
    fn maxima(&self, rows: &Tensor, bags: &Tensor, counts: &Tensor, count: i64) -> Result<(Tensor, Tensor)> {
        let (mut maxima, mut places) = (Vec::new(), Vec::new());
        for bag in 0..count {
            let is_in = aten::logical_and(&aten::eq_Scalar(bags, bag.into())?, counts)?;
            let index = aten::squeeze_dim(&aten::nonzero(&is_in)?, 1)?;
            let rows = aten::index_select(rows, 0, &index)?;
            let width = &rows.sizes()[1..];
            if index.numel() == 0 {
                maxima.push(aten::new_zeros(&rows, width)?);
                places.push(aten::new_zeros(&index, width)?);
                continue;
            }
            let (values, place) = aten::max_dim(&rows, 0)?;
            maxima.push(values);
            places.push(aten::index_select(&aten::index_select(self.indices, 0, &index)?, 0, &place)?);
        }
        if maxima.is_empty() {
            let none = [0, rows.sizes()[1]];
            return Ok((aten::new_zeros(rows, &none)?, aten::new_zeros(self.indices, &none)?));
        }
        Ok((aten::stack(&maxima)?, aten::stack(&places)?))
    }
}
