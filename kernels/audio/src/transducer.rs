//! The loss of a transducer, which reads one label after the other while time goes on.

use torch_library::prelude::*;
use torch_library_aten::real::{Real, elements, real, tensor};

use crate::labels::{integers, label, labels, sizes};
use crate::ops::torchaudio;

#[torch_impl(torchaudio::rnnt_loss_forward, CPU)]
fn rnnt_loss_forward(
    logits: &Tensor,
    targets: &Tensor,
    logit_lengths: &Tensor,
    target_lengths: &Tensor,
    blank: i64,
    clamp: f64,
    fused_log_softmax: bool,
) -> Result<(Tensor, Tensor)> {
    ensure!(logits.dtype().is_floating_point(), DType, "`logits` is of {}", logits.dtype());
    let [batch, times, places, classes] = of_loss(logits, targets)?;
    let length = places - 1;
    let blank = label("blank", blank, classes)?;
    let times_of = lengths("logit_lengths", logit_lengths, batch, 1, times)?;
    let lengths_of = lengths("target_lengths", target_lengths, batch, 0, length)?;
    let labels = labels("targets", targets, classes)?;
    let shape = Shape { times, places, classes, blank, is_fused: fused_log_softmax, clamp };
    let sequences = Sequences { labels, times: times_of, lengths: lengths_of };
    match logits.dtype() {
        DType::Float64 => shape.all::<f64>(logits, &sequences),
        _ => shape.all::<f32>(logits, &sequences),
    }
}

/// The numbers of sequences, times, places between labels, and classes.
///
/// # Errors
/// Sizes that do not match.
pub(crate) fn of_loss(logits: &Tensor, targets: &Tensor) -> Result<[usize; 4]> {
    let [batch, times, places, classes] = sizes("logits", logits)?;
    let [sequences, length] = sizes("targets", targets)?;
    ensure!(
        sequences == batch && length + 1 == places,
        Shape,
        "`targets` has sizes {:?}, expected {:?}, one less than `logits` has",
        targets.sizes(),
        [batch, places.saturating_sub(1)]
    );
    Ok([batch, times, places, classes])
}

/// The length of each sequence.
///
/// # Errors
/// One is out of range, or none is the whole one.
fn lengths(name: &str, tensor: &Tensor, batch: usize, least: usize, most: usize) -> Result<Vec<usize>> {
    let lengths = integers(name, tensor)?;
    ensure!(lengths.len() == batch, Shape, "`{name}` has sizes {:?}, expected [{batch}]", tensor.sizes());
    let within = |length: i64| usize::try_from(length).ok().filter(|length| (least..=most).contains(length));
    let found: Option<Vec<_>> = lengths.iter().map(|length| within(*length)).collect();
    match found {
        Some(found) if found.is_empty() || found.contains(&most) => Ok(found),
        _ => bail!(Argument, "`{name}` is {lengths:?}, expected {least} to {most}, with {most} among them"),
    }
}

struct Sequences {
    labels: Vec<usize>,
    times: Vec<usize>,
    lengths: Vec<usize>,
}

/// The sizes of all sequences, and how the loss is computed.
struct Shape {
    times: usize,
    places: usize,
    classes: usize,
    blank: usize,
    is_fused: bool,
    clamp: f64,
}

impl Shape {
    fn all<T: Real>(&self, logits: &Tensor, sequences: &Sequences) -> Result<(Tensor, Tensor)> {
        let values = elements::<T>(logits)?;
        let mut gradients = vec![T::zero(); values.len()];
        let mut losses = Vec::new();
        let (part, most) = (self.times * self.places * self.classes, self.places - 1);
        for (place, (times, length)) in sequences.times.iter().zip(&sequences.lengths).enumerate() {
            let labels = &sequences.labels[place * most..][..*length];
            let (values, gradients) = (&values[place * part..], &mut gradients[place * part..]);
            losses.push(self.one(values, labels, *times, gradients));
        }
        let losses = tensor(losses, &logits.sizes()[..1], logits.dtype())?;
        Ok((losses, tensor(gradients, logits.sizes(), logits.dtype())?))
    }

    /// The loss of a sequence, and its gradient.
    fn one<T: Real>(&self, logits: &[T], labels: &[usize], times: usize, gradients: &mut [T]) -> T {
        let places = labels.len() + 1;
        let row = |time: usize, place: usize| (time * self.places + place) * self.classes;
        let norm = |time: usize, place: usize| match self.is_fused {
            true => log_sum(&logits[row(time, place)..][..self.classes]),
            false => T::zero(),
        };
        let norms: Vec<T> = cells(times, places).map(|(time, place)| norm(time, place)).collect();
        let log_prob = |time: usize, place: usize, label: usize| {
            logits[row(time, place) + label] - norms[time * places + place]
        };
        // What follows a cell: with a blank the next time, with a label the next place.
        let blank = |time, place| log_prob(time, place, self.blank);
        let next = |time, place| labels.get(place).map(|label| log_prob(time, place, *label));
        let mut forward = vec![T::neg_infinity(); times * places];
        forward[0] = T::zero();
        for (time, place) in cells(times, places).skip(1) {
            let waited = time.checked_sub(1).map(|time| forward[time * places + place] + blank(time, place));
            let read = place.checked_sub(1).and_then(|before| {
                next(time, before).map(|log_prob| forward[time * places + before] + log_prob)
            });
            forward[time * places + place] = either(waited, read);
        }
        let mut backward = vec![T::neg_infinity(); times * places];
        for (time, place) in cells(times, places).collect::<Vec<_>>().into_iter().rev() {
            let rest = self.after(&backward, time, place, [times, places]);
            let waited = rest[0].map(|rest| rest + blank(time, place));
            let read = rest[1].zip(next(time, place)).map(|(rest, log_prob)| rest + log_prob);
            backward[time * places + place] = either(waited, read);
        }
        let total = backward[0];
        for (time, place) in cells(times, places) {
            let here = forward[time * places + place] - total;
            let rest = self.after(&backward, time, place, [times, places]);
            let all = backward[time * places + place];
            for class in 0..self.classes {
                let log_prob = log_prob(time, place, class);
                let mut gradient = if self.is_fused { (here + all + log_prob).exp() } else { T::zero() };
                let is_read = labels.get(place) == Some(&class);
                for (rest, follows) in rest.into_iter().zip([class == self.blank, is_read]) {
                    if let (Some(rest), true) = (rest, follows) {
                        gradient = gradient - (here + rest + log_prob).exp();
                    }
                }
                gradients[row(time, place) + class] = self.clamped(gradient);
            }
        }
        -total
    }

    /// What is to come after a blank, and after a label: nothing after the last blank.
    fn after<T: Real>(
        &self,
        backward: &[T],
        time: usize,
        place: usize,
        [times, places]: [usize; 2],
    ) -> [Option<T>; 2] {
        let waited = match (time + 1 < times, place + 1 < places) {
            (true, _) => Some(backward[(time + 1) * places + place]),
            (false, false) => Some(T::zero()),
            (false, true) => None,
        };
        let read = (place + 1 < places).then(|| backward[time * places + place + 1]);
        [waited, read]
    }

    fn clamped<T: Real>(&self, gradient: T) -> T {
        if self.clamp > 0.0 { gradient.max(real(-self.clamp)).min(real(self.clamp)) } else { gradient }
    }
}

fn cells(times: usize, places: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..times).flat_map(move |time| (0..places).map(move |place| (time, place)))
}

/// The logarithm of the sum of two probabilities, either of which there may not be.
fn either<T: Real>(left: Option<T>, right: Option<T>) -> T {
    match (left, right) {
        (Some(left), Some(right)) => log_sum(&[left, right]),
        (one, other) => one.or(other).unwrap_or_else(T::neg_infinity),
    }
}

/// The logarithm of the sum of the exponentials.
fn log_sum<T: Real>(numbers: &[T]) -> T {
    let largest = numbers.iter().fold(T::neg_infinity(), |largest, number| largest.max(*number));
    if largest.is_infinite() {
        return largest;
    }
    largest + numbers.iter().fold(T::zero(), |sum, number| sum + (*number - largest).exp()).ln()
}
