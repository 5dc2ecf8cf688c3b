//! Prints outputs for people.

use std::io::Write;

use torch_library::prelude::*;
use torch_library_export::{Kind, Program};
use torch_library_kernels::aten;

use crate::call::Call;

/// The number of classes to print.
const BEST: i64 = 5;
/// The largest number of elements that is printed in full.
const SMALL: i64 = 64;

/// Prints each output: its sizes, the indices of the largest numbers in each row, or the elements of small ones; numbers
/// as they are.
pub(crate) fn outputs(
    program: &Program,
    call: &Call<'_>,
    outputs: &[Tensor],
    to: &mut dyn Write,
) -> Result<()> {
    let mut tensors = outputs.iter();
    for (place, output) in program.outputs().iter().enumerate() {
        if !matches!(output.kind, Kind::Tensor { .. }) {
            if let Some(text) = call.text(place) {
                writeln!(to, "{}: {text}", output.name())?;
            }
            continue;
        }
        let Some(tensor) = tensors.next() else { break };
        writeln!(to, "{}: {}{:?}", output.name(), tensor.dtype(), tensor.sizes())?;
        if tensor.storage().data_ptr().is_none() || tensor.is_wrapper() {
            continue; // has only sizes
        }
        if let Some(best) = best(tensor)? {
            write!(to, "{best}")?;
        } else if tensor.numel() <= SMALL {
            writeln!(to, "{tensor}")?;
        }
    }
    Ok(())
}

/// The largest numbers of each row, if there are few rows of many numbers.
fn best(tensor: &Tensor) -> Result<Option<String>> {
    let is_rows = tensor.dim() == 2 && tensor.dtype().is_floating_point();
    if !is_rows || tensor.sizes()[1] < 2 * BEST || !(1..=16).contains(&tensor.sizes()[0]) {
        return Ok(None);
    }
    let (values, places) = aten::topk::with(tensor, BEST).call()?;
    let values = aten::to_dtype(&values, DType::Float64)?.to_vec::<f64>()?;
    let (places, count) = (places.to_vec::<i64>()?, BEST as usize);
    let mut text = String::new();
    for (row, (values, places)) in values.chunks(count).zip(places.chunks(count)).enumerate() {
        let best: Vec<_> =
            places.iter().zip(values).map(|(place, value)| format!("{place} ({value:.4})")).collect();
        text.push_str(&format!("  row {row}, largest first: {}\n", best.join(", ")));
    }
    Ok(Some(text))
}

/// Prints the largest relative difference of outputs from reference outputs, relative to each output's largest number.
pub(crate) fn difference(wanted: &[Tensor], found: &[Tensor], to: &mut dyn Write) -> Result<()> {
    ensure!(
        wanted.len() == found.len(),
        Argument,
        "{} outputs, {} are to compare with",
        found.len(),
        wanted.len()
    );
    let mut worst = 0f64;
    for (place, (wanted, found)) in wanted.iter().zip(found).enumerate() {
        ensure!(
            wanted.sizes() == found.sizes() && wanted.dtype() == found.dtype(),
            Shape,
            "output {place} is {}{:?}, to compare with is {}{:?}",
            found.dtype(),
            found.sizes(),
            wanted.dtype(),
            wanted.sizes()
        );
        let numbers = |tensor: &Tensor| {
            let whole = aten::resolve_neg(&aten::resolve_conj(tensor)?)?;
            let real = if whole.dtype().is_complex() { aten::view_as_real(&whole)? } else { whole };
            aten::_to_copy::with(&real).dtype(DType::Float64).call()?.to_vec::<f64>()
        };
        let (wanted, found) = (numbers(wanted)?, numbers(found)?);
        let largest = wanted
            .iter()
            .filter(|number| number.is_finite())
            .fold(0f64, |largest, number| largest.max(number.abs()));
        let apart = wanted.iter().zip(&found).map(|(wanted, found)| {
            match wanted == found || (wanted.is_nan() && found.is_nan()) {
                true => 0.0,
                false => (wanted - found).abs(),
            }
        });
        // If only one side is NaN, the difference is infinite.
        let apart =
            apart.fold(0f64, |worst, apart| if apart.is_nan() { f64::INFINITY } else { worst.max(apart) });
        worst = worst.max(if apart == 0.0 { 0.0 } else { apart / largest.max(f64::MIN_POSITIVE) });
    }
    Ok(writeln!(to, "largest difference, beside the largest number of its output: {worst:.1e}")?)
}
