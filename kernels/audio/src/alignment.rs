//! Alignment of labels with times, by the Viterbi algorithm.

use torch_library::prelude::*;
use torch_library_aten::aten;
use torch_library_aten::real::{Real, elements};

use crate::labels::{integers, label, labels, sizes};
use crate::ops::torchaudio;

#[torch_impl(torchaudio::forced_align, CPU)]
fn forced_align(
    log_probs: &Tensor,
    targets: &Tensor,
    input_lengths: &Tensor,
    target_lengths: &Tensor,
    blank: i64,
) -> Result<(Tensor, Tensor)> {
    let [times, classes, length] = of_alignment(log_probs, targets)?;
    ensure!(log_probs.dtype().is_floating_point(), DType, "`log_probs` is of {}", log_probs.dtype());
    let lengths = [("input_lengths", input_lengths, times), ("target_lengths", target_lengths, length)];
    for (name, tensor, expected) in lengths {
        let found = integers(name, tensor)?;
        ensure!(found == [expected as i64], Argument, "`{name}` is {found:?}, expected {expected}");
    }
    let blank = label("blank", blank, classes)?;
    let targets_ = labels("targets", targets, classes)?;
    ensure!(!targets_.contains(&blank), Argument, "`targets` contains {blank}, which is the blank label");
    let repeats = targets_.windows(2).filter(|pair| pair[0] == pair[1]).count();
    ensure!(
        times >= length + repeats,
        Argument,
        "{length} targets, {repeats} of which repeat the one before, do not fit into {times} times"
    );
    let path = match log_probs.dtype() {
        DType::Float64 => path(&elements::<f64>(log_probs)?, classes, &targets_, blank)?,
        _ => path(&elements::<f32>(log_probs)?, classes, &targets_, blank)?,
    };
    let path = Tensor::from_vec(path.into_iter().map(|label| label as i64).collect(), &[1, times as i64])?;
    Ok((aten::to_dtype(&path, targets.dtype())?, aten::clone(log_probs)?))
}

/// The numbers of times, classes and targets.
///
/// # Errors
/// There is more than one sequence.
pub(crate) fn of_alignment(log_probs: &Tensor, targets: &Tensor) -> Result<[usize; 3]> {
    let [batch, times, classes] = sizes("log_probs", log_probs)?;
    let [sequences, length] = sizes("targets", targets)?;
    ensure!(batch == 1 && sequences == 1, NotSupported, "there are {batch} sequences, expected one");
    Ok([times, classes, length])
}

/// The label of each time on the most likely path through the targets, with a blank before, between and after them.
///
/// # Errors
/// There is not enough memory for the steps of all paths.
fn path<T: Real>(log_probs: &[T], classes: usize, targets: &[usize], blank: usize) -> Result<Vec<usize>> {
    let states = 2 * targets.len() + 1;
    let label = |state: usize| if state.is_multiple_of(2) { blank } else { targets[state / 2] };
    // A label follows another one directly if they differ.
    let skips =
        |state: usize| !state.is_multiple_of(2) && state > 1 && targets[state / 2] != targets[state / 2 - 1];
    let mut scores = vec![T::neg_infinity(); states];
    let mut steps: Vec<u8> = Vec::new();
    let count = (log_probs.len() / classes).checked_mul(states);
    if count.is_none_or(|count| steps.try_reserve_exact(count).is_err()) {
        bail!(OutOfMemory, "cannot allocate the steps of {states} paths")
    }
    for (time, row) in log_probs.chunks(classes).enumerate() {
        if time == 0 {
            (0..states.min(2)).for_each(|state| scores[state] = row[label(state)]);
            steps.resize(states, 0);
            continue;
        }
        let before = scores.clone();
        let from = |state: usize, back: usize| match state.checked_sub(back) {
            Some(state) => before[state],
            None => T::neg_infinity(),
        };
        for (state, score) in scores.iter_mut().enumerate() {
            let [stay, next] = [0, 1].map(|back| from(state, back));
            let skip = if skips(state) { from(state, 2) } else { T::neg_infinity() };
            // As in torchaudio, the step between two equally good ones is to stay.
            let (best, step) = if skip > next && skip > stay {
                (skip, 2)
            } else if next > stay && next > skip {
                (next, 1)
            } else {
                (stay, 0)
            };
            *score = best + row[label(state)];
            steps.push(step);
        }
    }
    let last = states - 1;
    let ends_blank = last == 0 || scores[last] > scores[last - 1];
    let mut state = if ends_blank { last } else { last - 1 };
    let times = steps.chunks(states).rev().map(|steps| {
        let label = label(state);
        state -= usize::from(steps[state]);
        label
    });
    let mut path: Vec<_> = times.collect();
    path.reverse();
    Ok(path)
}
