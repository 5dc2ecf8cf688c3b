//! Packed sequences: the first step of all sequences, then the second step of those that have one, and so on. The
//! sequences are sorted by length, so that those of a step are the first ones.

use torch_library::prelude::*;

use super::{Cell, State, Weights};
use crate::aten;

#[torch_impl(aten, CompositeExplicitAutograd)]
fn _pack_padded_sequence(input: &Tensor, lengths: &Tensor, batch_first: bool) -> Result<(Tensor, Tensor)> {
    const OPERATOR: &str = aten::_pack_padded_sequence::NAME;
    let lengths = vector(lengths, "lengths").map_err(|error| error.context(OPERATOR))?;
    ensure!(
        input.dim() >= 2 && input.numel() > 0,
        Shape,
        "{OPERATOR}: an input of sizes {:?}, expected sequences of steps with elements",
        input.sizes()
    );
    let input = if batch_first { aten::transpose_int(input, 0, 1)? } else { input.clone() };
    let (steps, batch) = (input.sizes()[0], input.sizes()[1]);
    ensure!(
        lengths.len() as i64 == batch,
        Argument,
        "{OPERATOR}: {} lengths for {batch} sequences",
        lengths.len()
    );
    ensure!(
        lengths.iter().rev().is_sorted() && lengths.iter().all(|length| (1..=steps).contains(length)),
        Argument,
        "{OPERATOR}: lengths {lengths:?}, expected numbers from 1 to {steps} that do not increase\n  \
         help: sort the sequences by length, the longest first"
    );
    let (mut blocks, mut batch_sizes, mut start) = (Vec::new(), Vec::new(), 0);
    for (batch, end) in (1..=batch).rev().zip(lengths.into_iter().rev()) {
        if end > start {
            let block = aten::narrow(&aten::narrow(&input, 0, start, end - start)?, 1, 0, batch)?;
            blocks.push(aten::flatten_using_ints::with(&block).start_dim(0).end_dim(1).call()?);
            batch_sizes.resize(end as usize, batch);
            start = end;
        }
    }
    Ok((aten::cat(&blocks)?, Tensor::from_slice(&batch_sizes, &[start])?))
}

#[torch_impl(aten, CompositeImplicitAutograd)]
mod implicit {
    use super::*;

    fn _pack_padded_sequence_backward(
        grad: &Tensor,
        input_size: &[i64],
        batch_sizes: &Tensor,
        batch_first: bool,
    ) -> Result<Tensor> {
        const OPERATOR: &str = aten::_pack_padded_sequence_backward::NAME;
        let (steps, batch) = match (input_size, batch_first) {
            ([steps, batch, ..], false) | ([batch, steps, ..], true) => (*steps, *batch),
            _ => bail!(Shape, "{OPERATOR}: an input of sizes {input_size:?} has no sequences of steps"),
        };
        let packed = Packed::of(batch_sizes).map_err(|error| error.context(OPERATOR))?;
        let padded = packed.padded(grad, batch, steps, 0.into()).map_err(|error| error.context(OPERATOR))?;
        if batch_first { aten::transpose_int(&padded, 0, 1) } else { Ok(padded) }
    }

    fn _pad_packed_sequence(
        data: &Tensor,
        batch_sizes: &Tensor,
        batch_first: bool,
        padding_value: Scalar,
        total_length: i64,
    ) -> Result<(Tensor, Tensor)> {
        const OPERATOR: &str = aten::_pad_packed_sequence::NAME;
        let packed = Packed::of(batch_sizes).map_err(|error| error.context(OPERATOR))?;
        let (batch, longest) = (packed.batch_sizes[0], packed.batch_sizes.len() as i64);
        ensure!(
            total_length <= 0 || total_length >= longest,
            Argument,
            "{OPERATOR}: a total length of {total_length}, but the longest sequence has {longest} steps"
        );
        let padded = packed.padded(data, batch, total_length.max(longest), padding_value);
        let padded = padded.map_err(|error| error.context(OPERATOR))?;
        let padded = if batch_first { aten::transpose_int(&padded, 0, 1)? } else { padded };
        let length = |sequence| packed.batch_sizes.partition_point(|size| *size > sequence) as i64;
        let lengths: Vec<i64> = (0..batch).map(length).collect();
        Ok((padded, Tensor::from_slice(&lengths, &[batch])?))
    }
}

/// How many sequences have each step.
pub(super) struct Packed {
    batch_sizes: Vec<i64>,
}

impl Packed {
    /// # Errors
    /// Batch sizes that are not an `int64` vector on the CPU, that increase or are negative; no steps.
    pub(super) fn of(batch_sizes: &Tensor) -> Result<Self> {
        let batch_sizes = vector(batch_sizes, "batch sizes")?;
        ensure!(
            batch_sizes.iter().rev().is_sorted() && batch_sizes.last().is_some_and(|size| *size >= 0),
            Argument,
            "batch sizes {batch_sizes:?}, expected one for each step, none larger than the one before"
        );
        let rows = batch_sizes.iter().try_fold(0i64, |rows, size| rows.checked_add(*size));
        ensure!(rows.is_some(), Argument, "batch sizes {batch_sizes:?}, whose sum is no int64");
        Ok(Packed { batch_sizes })
    }

    /// The sequences as `[steps, batch, ...]`, with `value` where a sequence has no step.
    fn padded(&self, data: &Tensor, batch: i64, steps: i64, value: Scalar) -> Result<Tensor> {
        ensure!(data.dim() > 0, Shape, "packed data without dimensions");
        let features = &data.sizes()[1..];
        let (mut blocks, mut start) = (Vec::new(), 0);
        for same in self.batch_sizes.chunk_by(|a, b| a == b) {
            let (count, size) = (same.len() as i64, same[0]);
            ensure!(size <= batch, Shape, "a step of {size} sequences, but there are only {batch}");
            let block = aten::narrow(data, 0, start, count * size)?;
            let block = aten::reshape(&block, &[&[count, size], features].concat())?;
            blocks.push(widened(&block, 1, batch - size, value)?);
            start += count * size;
        }
        let longest = self.batch_sizes.len() as i64;
        ensure!(longest <= steps, Shape, "sequences of {longest} steps in an input of {steps}");
        widened(&aten::cat(&blocks)?, 0, steps - longest, value)
    }

    /// The rows of each step. Backwards, they are counted from the end, as in PyTorch, where data may have more rows
    /// than the steps have.
    fn steps(&self, data: &Tensor, backwards: bool) -> Result<Vec<Tensor>> {
        let (rows, all): (i64, _) = (self.batch_sizes.iter().sum(), data.sizes()[0]);
        ensure!(rows <= all, Shape, "packed data of {all} rows, expected {rows}, the sum of the batch sizes");
        let mut start = if backwards { all - rows } else { 0 };
        let step = self.batch_sizes.iter().map(|size| {
            let step = aten::narrow(data, 0, start, *size);
            start += size;
            step
        });
        step.collect()
    }
}

/// A tensor with `missing` more indices at the end of a dimension.
fn widened(tensor: &Tensor, dim: usize, missing: i64, value: Scalar) -> Result<Tensor> {
    if missing == 0 {
        return Ok(tensor.clone());
    }
    let mut pad = vec![0; 2 * (tensor.dim() - dim)];
    pad[2 * (tensor.dim() - dim) - 1] = missing;
    aten::constant_pad_nd::with(tensor, &pad).value(value).call()
}

/// The numbers in an `int64` vector on the CPU.
fn vector(numbers: &Tensor, name: &str) -> Result<Vec<i64>> {
    ensure!(
        numbers.dim() == 1 && numbers.dtype() == DType::Int64 && numbers.device() == Device::CPU,
        Argument,
        "{name} of sizes {:?} and {} on {}, expected a vector of int64 on the CPU",
        numbers.sizes(),
        numbers.dtype(),
        numbers.device()
    );
    numbers.to_vec()
}

impl Weights<'_> {
    /// The outputs of all steps, packed as the input is, and the last state of each sequence.
    pub(super) fn run_packed(
        &self,
        cell: Cell,
        packed: &Packed,
        input: &Tensor,
        state: [&Tensor; 2],
        backwards: bool,
    ) -> Result<(Tensor, State)> {
        let steps = packed.steps(&self.of_input(input)?, backwards)?;
        if backwards {
            return self.run_packed_backwards(cell, &steps, state);
        }
        let mut outputs = Vec::with_capacity(steps.len());
        let mut ended: [Vec<Tensor>; 2] = [Vec::new(), Vec::new()];
        let (mut state, mut size) = (state.map(Tensor::clone), packed.batch_sizes[0]);
        for step in &steps {
            let fewer = step.sizes()[0];
            if fewer < size {
                for (state, ended) in state.iter_mut().zip(&mut ended) {
                    ended.push(aten::narrow(state, 0, fewer, size - fewer)?);
                    *state = aten::narrow(state, 0, 0, fewer)?;
                }
                size = fewer;
            }
            state = self.step(cell, step, [&state[0], &state[1]])?;
            outputs.push(state[0].clone());
        }
        // The sequences that ended first are the last ones.
        for (ended, state) in ended.iter_mut().zip(state) {
            ended.push(state);
            ended.reverse();
        }
        let [hidden, memory] = ended.map(|ended| aten::cat(&ended));
        Ok((aten::cat(&outputs)?, [hidden?, memory?]))
    }

    fn run_packed_backwards(
        &self,
        cell: Cell,
        steps: &[Tensor],
        first: [&Tensor; 2],
    ) -> Result<(Tensor, State)> {
        let mut outputs = Vec::with_capacity(steps.len());
        let (mut state, mut size) = (first.map(Tensor::clone), None);
        for step in steps.iter().rev() {
            let more = step.sizes()[0];
            for (state, first) in state.iter_mut().zip(first) {
                match size {
                    None => *state = aten::narrow(first, 0, 0, more)?,
                    Some(size) if more > size => {
                        let begun = aten::narrow(first, 0, size, more - size)?;
                        *state = aten::cat(&[state.clone(), begun])?;
                    }
                    Some(_) => {}
                }
            }
            size = Some(more);
            state = self.step(cell, step, [&state[0], &state[1]])?;
            outputs.push(state[0].clone());
        }
        outputs.reverse();
        Ok((aten::cat(&outputs)?, state))
    }
}
