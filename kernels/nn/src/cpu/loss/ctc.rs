//! The CTC loss: the likelihood of sequences of labels, summed over all alignments.
//!
//! # How it works
//!
//! By the forward-backward algorithm: an alignment is a *path* through the labels of an example with blanks around
//! them. At each time it stays, or moves one or two places on, but never from a label over a blank to the same label.
//! For each time and place, the forward pass sums the probabilities of all paths that lead there, as logarithms, from
//! those of the time before; the backward pass does the same from the other end, for all paths that lead on from there.

use torch_library::prelude::*;
use torch_library::{Element, match_dtype};

use crate::arguments::lengths;
use crate::aten;
use crate::composite::collected;
use crate::loops;
use crate::loops::pointwise::unsupported;
use crate::number::larger;

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn _ctc_loss(
        log_probs: &Tensor,
        targets: &Tensor,
        input_lengths: &[i64],
        target_lengths: &[i64],
        blank: i64,
        _zero_infinity: bool,
    ) -> Result<(Tensor, Tensor)> {
        let _lease = loops::frozen([log_probs, targets])?;
        const OPERATOR: &str = aten::_ctc_loss::NAME;
        let examples = Examples::new(OPERATOR, log_probs, targets, [input_lengths, target_lengths], blank)?;
        let [times, batch, _] = examples.sizes;
        let empty = |sizes: &[i64]| Tensor::zeros(sizes, log_probs.dtype(), log_probs.device());
        let width = width_of(target_lengths);
        let (loss, alpha) = (empty(&[batch as i64])?, empty(&[batch as i64, times as i64, width])?);
        if !loops::has_elements(&loss) {
            return Ok((loss, alpha));
        }
        let mut losses = Vec::new();
        let mut alphas = collected(OPERATOR, alpha.numel(), |_| f64::NEG_INFINITY)?;
        for (at, labels) in examples.labels.iter().enumerate() {
            let (there, places) = (input_lengths[at] as usize, labels.len());
            let paths = walk(labels, there, |time, label| examples.log_prob(time, at, label));
            losses.push(-match there {
                0 if places == 1 => 0.0,
                0 => f64::NEG_INFINITY,
                _ => log_sum(paths[(there - 1) * places..].iter().rev().take(2).copied()),
            });
            let rows = alphas.chunks_exact_mut(width as usize).skip(at * times);
            for (row, paths) in rows.zip(paths.chunks_exact(places)) {
                row[..places].copy_from_slice(paths);
            }
        }
        match_dtype!(log_probs.dtype(), T: Float => {
            loss.clone().fill_from::<T>(losses.into_iter().map(|x| x.cast()))?;
            alpha.clone().fill_from::<T>(alphas.into_iter().map(|x| x.cast()))?;
        }, else => return Err(unsupported(OPERATOR, log_probs.dtype())));
        Ok((loss, alpha))
    }

    fn _ctc_loss_backward(
        grad: &Tensor,
        log_probs: &Tensor,
        targets: &Tensor,
        input_lengths: &[i64],
        target_lengths: &[i64],
        neg_log_likelihood: &Tensor,
        log_alpha: &Tensor,
        blank: i64,
        zero_infinity: bool,
    ) -> Result<Tensor> {
        let _lease = loops::frozen([grad, log_probs, targets, neg_log_likelihood, log_alpha])?;
        const OPERATOR: &str = aten::_ctc_loss_backward::NAME;
        let examples = Examples::new(OPERATOR, log_probs, targets, [input_lengths, target_lengths], blank)?;
        let [times, batch, classes] = examples.sizes;
        let width = width_of(target_lengths);
        ensure!(
            [grad, neg_log_likelihood].iter().all(|tensor| tensor.sizes() == [batch as i64])
                && log_alpha.sizes() == [batch as i64, times as i64, width],
            Shape,
            "{OPERATOR}: a gradient, losses and sums of sizes {:?}, {:?} and {:?} for {batch} examples",
            grad.sizes(),
            neg_log_likelihood.sizes(),
            log_alpha.sizes()
        );
        let out = Tensor::zeros(log_probs.sizes(), log_probs.dtype(), log_probs.device())?;
        if !loops::has_elements(&out) {
            return Ok(out);
        }
        let numbers = |tensor: &Tensor| loops::elements::<f64>(&aten::to_dtype(tensor, DType::Float64)?);
        let (grads, losses, alpha) = (numbers(grad)?, numbers(neg_log_likelihood)?, numbers(log_alpha)?);
        let mut elements = collected(OPERATOR, out.numel(), |_| 0.0)?;
        let mut sums = vec![0.0; classes];
        for (at, labels) in examples.labels.iter().enumerate() {
            if zero_infinity && losses[at] == f64::INFINITY {
                continue;
            }
            let (there, places) = (input_lengths[at] as usize, labels.len());
            let back: Vec<usize> = labels.iter().rev().copied().collect();
            let beta = walk(&back, there, |time, label| examples.log_prob(there - 1 - time, at, label));
            for time in 0..there {
                sums.fill(f64::NEG_INFINITY);
                let own = &alpha[(at * times + time) * width as usize..];
                for (place, label) in labels.iter().enumerate() {
                    let on = beta[(there - 1 - time) * places + places - 1 - place];
                    sums[*label] = log_sum([sums[*label], own[place] + on]);
                }
                for (class, sum) in sums.iter().enumerate() {
                    let log_prob = examples.log_prob(time, at, class);
                    let share = (sum + losses[at] - log_prob).exp();
                    elements[(time * batch + at) * classes + class] = (log_prob.exp() - share) * grads[at];
                }
            }
        }
        match_dtype!(out.dtype(), T: Float => {
            out.clone().fill_from::<T>(elements.into_iter().map(|x| x.cast()))?;
        }, else => return Err(unsupported(OPERATOR, out.dtype())));
        Ok(out)
    }
}

/// The overload whose lengths are tensors; they are read into lists.
#[torch_impl(aten::_ctc_loss_Tensor, CPU)]
fn with_lengths_in_tensors(
    log_probs: &Tensor,
    targets: &Tensor,
    input_lengths: &Tensor,
    target_lengths: &Tensor,
    blank: i64,
    zero_infinity: bool,
) -> Result<(Tensor, Tensor)> {
    let _lease = loops::frozen([log_probs, targets, input_lengths, target_lengths])?;
    let [inputs, labels] = lengths([input_lengths, target_lengths])?;
    aten::_ctc_loss::call(log_probs, targets, &inputs, &labels, blank, zero_infinity)
}

#[torch_impl(aten, CPU, Meta)]
mod of_tensors {
    use super::*;

    fn _ctc_loss_backward_Tensor(
        grad: &Tensor,
        log_probs: &Tensor,
        targets: &Tensor,
        input_lengths: &Tensor,
        target_lengths: &Tensor,
        neg_log_likelihood: &Tensor,
        log_alpha: &Tensor,
        blank: i64,
        zero_infinity: bool,
    ) -> Result<Tensor> {
        let _lease = loops::frozen([
            grad,
            log_probs,
            targets,
            input_lengths,
            target_lengths,
            neg_log_likelihood,
            log_alpha,
        ])?;
        if log_probs.device() == Device::META && log_probs.numel() > 0 {
            return aten::zeros_like(log_probs);
        }
        let [inputs, labels] = lengths([input_lengths, target_lengths])?;
        let (loss, alpha) = (neg_log_likelihood, log_alpha);
        aten::_ctc_loss_backward::call(
            grad,
            log_probs,
            targets,
            &inputs,
            &labels,
            loss,
            alpha,
            blank,
            zero_infinity,
        )
    }
}

struct Examples {
    /// The numbers of times, examples and classes.
    sizes: [usize; 3],
    log_probs: Vec<f64>,
    /// The labels of each example, with a blank before each label and after the last.
    labels: Vec<Vec<usize>>,
}

impl Examples {
    fn new(
        operator: &'static str,
        log_probs: &Tensor,
        targets: &Tensor,
        [inputs, labels]: [&[i64]; 2],
        blank: i64,
    ) -> Result<Self> {
        let &[times, batch, classes] = log_probs.sizes() else {
            bail!(
                Shape,
                "{operator}: log_probs of sizes {:?}, expected [time, batch, classes]",
                log_probs.sizes()
            )
        };
        ensure!(
            matches!(log_probs.dtype(), DType::Float32 | DType::Float64),
            DType,
            "{operator} is not implemented for {}",
            log_probs.dtype()
        );
        ensure!(
            log_probs.numel() > 0,
            Shape,
            "{operator}: log_probs of sizes {:?} are empty",
            log_probs.sizes()
        );
        ensure!(
            (0..classes).contains(&blank),
            Argument,
            "{operator}: blank is {blank}, out of range for {classes} classes"
        );
        check_lengths(operator, [times, batch], targets, [inputs, labels])?;
        let mut examples = Examples {
            sizes: [times as usize, batch as usize, classes as usize],
            log_probs: Vec::new(),
            labels: Vec::new(),
        };
        if !loops::has_elements(log_probs) {
            return Ok(examples);
        }
        examples.log_probs = aten::to_dtype(log_probs, DType::Float64)?.to_vec()?;
        let (all, mut start) = (aten::to_dtype(targets, DType::Int64)?.to_vec::<i64>()?, 0);
        for length in labels {
            let own = &all[start..][..*length as usize];
            start += *targets.sizes().get(1).unwrap_or(length) as usize;
            let bad = own.iter().find(|label| !(0..classes).contains(*label));
            if let Some(label) = bad {
                bail!(Argument, "{operator}: target {label} is out of range for {classes} classes");
            }
            let places = own.iter().flat_map(|label| [blank, *label]).chain([blank]);
            examples.labels.push(places.map(|label| label as usize).collect());
        }
        Ok(examples)
    }

    fn log_prob(&self, time: usize, example: usize, class: usize) -> f64 {
        let [_, batch, classes] = self.sizes;
        self.log_probs[(time * batch + example) * classes + class]
    }
}

/// The number of places of the longest example: a blank before each label and after the last.
fn width_of(target_lengths: &[i64]) -> i64 {
    target_lengths.iter().max().map_or(1, |length| length.saturating_mul(2).saturating_add(1))
}

/// # Errors
/// Lists that do not have one length for each example, lengths that are out of range, or targets that do not fit them.
fn check_lengths(
    operator: &str,
    [times, batch]: [i64; 2],
    targets: &Tensor,
    [inputs, labels]: [&[i64]; 2],
) -> Result<()> {
    ensure!(
        inputs.len() as i64 == batch && labels.len() as i64 == batch,
        Argument,
        "{operator}: {} and {} lengths for {batch} examples",
        inputs.len(),
        labels.len()
    );
    ensure!(
        inputs.iter().all(|length| (0..=times).contains(length)) && labels.iter().all(|length| *length >= 0),
        Argument,
        "{operator}: input lengths {inputs:?}, expected 0 to {times}, and target lengths {labels:?}, expected zero \
         or more"
    );
    let longest = labels.iter().max().copied().unwrap_or(0);
    let fits = match targets.sizes() {
        [all] => labels.iter().try_fold(0i64, |sum, length| sum.checked_add(*length)) == Some(*all),
        [rows, columns] => *rows == batch && *columns >= longest,
        _ => false,
    };
    ensure!(
        fits && matches!(targets.dtype(), DType::Int64 | DType::Int32),
        Argument,
        "{operator}: targets of {} and sizes {:?}, expected int64 or int32, [batch, labels] or all in one, for lengths {labels:?}",
        targets.dtype(),
        targets.sizes()
    );
    Ok(())
}

/// The forward pass: for each time and place, the logarithm of the probability of all paths that lead there.
fn walk(labels: &[usize], times: usize, log_prob: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    let places = labels.len();
    let mut paths = vec![f64::NEG_INFINITY; times * places];
    for time in 0..times {
        let (before, now) = paths.split_at_mut(time * places);
        let before = before.chunks_exact(places).next_back();
        for (place, label) in labels.iter().enumerate() {
            let sum = match before {
                None if place < 2 => 0.0,
                None => continue,
                Some(before) => {
                    let leap = place >= 2 && labels[place - 2] != *label;
                    log_sum(before[place.saturating_sub(1 + usize::from(leap))..=place].iter().copied())
                }
            };
            now[place] = sum + log_prob(time, *label);
        }
    }
    paths
}

/// The log-sum-exp of some numbers, NaN if one is.
fn log_sum(logs: impl IntoIterator<Item = f64> + Clone) -> f64 {
    let largest = logs.clone().into_iter().fold(f64::NEG_INFINITY, larger);
    if largest == f64::NEG_INFINITY {
        return largest;
    }
    largest + logs.into_iter().map(|log| (log - largest).exp()).sum::<f64>().ln()
}
