//! A step of an LSTM cell in one pass over its gates.
#![expect(unsafe_code, reason = "lends rows of tensors as slices to threads")]

use num_traits::Float;
use torch_library::Element;
use torch_library::prelude::*;

use crate::aten;
use crate::composite::recurrent::check_gates;
use crate::functions::Functions;
use crate::inlined::zip;
use crate::loops::parts::{Parts, PartsMut};
use crate::loops::pointwise::{common_device, unsupported};
use crate::loops::{self, match_opmath, on_vectors, parallel};
use crate::number::Number;

/// How many additions take as long as the activation of one gate, for the estimate of the work per thread.
const ACTIVATION: usize = 16;

#[torch_impl(aten, CPU, Meta)]
fn _thnn_fused_lstm_cell(
    input_gates: &Tensor,
    hidden_gates: &Tensor,
    cx: &Tensor,
    input_bias: Option<&Tensor>,
    hidden_bias: Option<&Tensor>,
) -> Result<(Tensor, Tensor, Tensor)> {
    const OPERATOR: &str = aten::_thnn_fused_lstm_cell::NAME;
    let (tensors, biases) = ([input_gates, hidden_gates, cx], [input_bias, hidden_bias]);
    let _lease = loops::all_frozen(tensors.into_iter().chain(biases.into_iter().flatten()))?;
    check_gates(OPERATOR, 4, tensors, biases)?;
    let device = common_device(OPERATOR, &tensors)?;
    match_opmath!(cx.dtype(), T: Float => {
        let like = |tensor: &Tensor| Tensor::empty(tensor.sizes(), T::DTYPE, device);
        let (hy, cy, gates) = (like(cx)?, like(cx)?, like(input_gates)?);
        if loops::has_elements(cx) {
            step::<T>(tensors, biases, [&hy, &cy, &gates])?;
        }
        let rounded = |tensor: Tensor| match tensor.dtype() == cx.dtype() {
            true => Ok(tensor),
            false => loops::copy(&tensor, cx.dtype()),
        };
        Ok((rounded(hy)?, rounded(cy)?, rounded(gates)?))
    }, else => Err(unsupported(OPERATOR, cx.dtype())))
}

/// Writes the new states and the gates after their activations.
fn step<T: Float + Functions + Number>(
    [input, hidden, cx]: [&Tensor; 3],
    biases: [Option<&Tensor>; 2],
    [hy, cy, gates]: [&Tensor; 3],
) -> Result<()> {
    let size = *cx.sizes().last().unwrap_or(&0) as usize;
    let mut shift = vec![T::ZERO; 4 * size];
    for bias in biases.into_iter().flatten() {
        shift.iter_mut().zip(loops::elements::<T>(bias)?).for_each(|(shift, bias)| *shift = *shift + bias);
    }
    let [input, hidden] = [Parts::<T>::row_major(input, 4 * size)?, Parts::row_major(hidden, 4 * size)?];
    let cx = Parts::<T>::row_major(cx, size)?;
    let [hy, cy] = [PartsMut::<T>::of(hy, size)?, PartsMut::of(cy, size)?];
    let gates = PartsMut::<T>::of(gates, 4 * size)?;
    ensure!(
        [input.count(), hidden.count(), hy.count(), cy.count(), gates.count()] == [cx.count(); 5],
        Busy,
        "the gates of an LSTM were resized while they were read"
    );
    parallel::shares(cx.count(), (parallel::GRAIN / (4 * size * ACTIVATION)).max(1), |range| {
        for n in range {
            // SAFETY: every tensor has this row, as was just checked, under a lease; only this thread writes row `n` of
            // the results, which are initialised.
            unsafe {
                let gates = gates.get_mut(n);
                add([input.get(n), hidden.get(n), &shift], gates);
                activate(gates, cx.get(n), cy.get_mut(n), hy.get_mut(n));
            }
        }
    });
    Ok(())
}

on_vectors! {
    fn add<T: Number>(terms: [&[T]; 3], sums: &mut [T]) {
        let [a, b, c] = terms;
        for (sum, (a, (b, c))) in zip(sums, zip(a, zip(b, c))) {
            *sum = a.plus(*b).plus(*c);
        }
    }
}

/// A type in which gates are computed.
trait Gate: Float + Functions {}

impl<T: Float + Functions> Gate for T {}

on_vectors! {
    /// Applies the functions of the gates in place, and writes the new states.
    fn activate<T: Gate>(gates: &mut [T], cx: &[T], cy: &mut [T], hy: &mut [T]) {
        let size = cx.len();
        let (sigmoids, rest) = gates.split_at_mut(2 * size);
        let (new, output) = rest.split_at_mut(size);
        for x in &mut *sigmoids {
            *x = x.logistic();
        }
        for x in &mut *output {
            *x = x.logistic();
        }
        for x in &mut *new {
            *x = x.hyperbolic_tangent();
        }
        let (input, forget) = sigmoids.split_at(size);
        for ((cy, cx), ((input, forget), new)) in zip(&mut *cy, cx).zip(zip(zip(input, forget), &*new)) {
            *cy = *forget * *cx + *input * *new;
        }
        for (hy, (cy, output)) in zip(hy, zip(&*cy, &*output)) {
            *hy = *output * cy.hyperbolic_tangent();
        }
    }
}
