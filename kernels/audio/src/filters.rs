//! Recursive filters.

use torch_library::prelude::*;
use torch_library_aten::real::{Real, real};

use crate::labels::sizes;
use crate::ops::torchaudio;

/// Checks that all tensors have the type that a filter computes in, and runs it.
macro_rules! in_type_of {
    ($first:ident, $($other:ident),+ => $run:ident($($argument:expr),*)) => {{
        let dtype = $first.dtype();
        for (name, found) in [$((stringify!($other), $other.dtype())),+] {
            let first = stringify!($first);
            ensure!(found == dtype, DType, "`{name}` is of {found}, and `{first}` of {dtype}, expected one type");
        }
        match dtype {
            DType::Float32 => $run::<f32>($($argument),*),
            DType::Float64 => $run::<f64>($($argument),*),
            _ => bail!(DType, "`{}` is of {dtype}, expected float32 or float64", stringify!($first)),
        }
    }};
}

#[torch_impl(torchaudio::_lfilter_core_loop, CPU)]
fn _lfilter_core_loop<'a>(
    input_signal_windows: &Tensor,
    a_coeff_flipped: &Tensor,
    padded_output_waveform: &'a mut Tensor,
) -> Result<&'a mut Tensor> {
    in_type_of!(input_signal_windows, a_coeff_flipped, padded_output_waveform => recursion(
        input_signal_windows, a_coeff_flipped, padded_output_waveform
    ))?;
    Ok(padded_output_waveform)
}

/// The numbers of signals, channels, samples and coefficients.
///
/// # Errors
/// Sizes that do not match.
pub(crate) fn of_recursion(input: &Tensor, coefficients: &Tensor, output: &Tensor) -> Result<[usize; 4]> {
    let [batch, channels, samples] = sizes("input_signal_windows", input)?;
    let [filters, order] = sizes("a_coeff_flipped", coefficients)?;
    ensure!(
        filters == channels && order > 0,
        Shape,
        "`a_coeff_flipped` has sizes {:?}, expected some for each of {channels} channels",
        coefficients.sizes()
    );
    let padded = samples + order - 1;
    ensure!(
        sizes("padded_output_waveform", output)? == [batch, channels, padded],
        Shape,
        "`padded_output_waveform` has sizes {:?}, expected {:?}",
        output.sizes(),
        [batch, channels, padded]
    );
    Ok([batch, channels, samples, order])
}

fn recursion<T: Real>(input: &Tensor, coefficients: &Tensor, output: &mut Tensor) -> Result<()> {
    let [batch, channels, samples, order] = of_recursion(input, coefficients, output)?;
    let padded = samples + order - 1;
    if batch * channels * samples == 0 {
        return Ok(());
    }
    let (input, coefficients) = (input.to_vec::<T>()?, coefficients.to_vec::<T>()?);
    let mut waveform = output.to_vec::<T>()?;
    for (row, (input, output)) in input.chunks(samples).zip(waveform.chunks_mut(padded)).enumerate() {
        let coefficients = &coefficients[row % channels * order..][..order];
        for (place, sample) in input.iter().enumerate() {
            let before = output[place..].iter().zip(coefficients);
            output[place + order - 1] = before.fold(*sample, |rest, (output, by)| rest - *output * *by);
        }
    }
    output.copy_from_slice(&waveform)
}

#[torch_impl(torchaudio::_overdrive_core_loop, CPU)]
fn _overdrive_core_loop<'a, 'b, 'c>(
    waveform: &Tensor,
    temp: &Tensor,
    last_in: &'a mut Tensor,
    last_out: &'b mut Tensor,
    output_waveform: &'c mut Tensor,
) -> Result<(&'a mut Tensor, &'b mut Tensor, &'c mut Tensor)> {
    in_type_of!(waveform, temp, last_in, last_out, output_waveform => overdrive(
        waveform, temp, [&mut *last_in, &mut *last_out, &mut *output_waveform]
    ))?;
    Ok((last_in, last_out, output_waveform))
}

/// The numbers of channels and samples.
///
/// # Errors
/// Sizes that do not match.
pub(crate) fn of_overdrive(
    waveform: &Tensor,
    temp: &Tensor,
    [last_in, last_out, output]: [&Tensor; 3],
) -> Result<[usize; 2]> {
    let found = sizes("waveform", waveform)?;
    let expected = [
        ("temp", temp.sizes(), waveform.sizes()),
        ("output_waveform", output.sizes(), waveform.sizes()),
        ("last_in", last_in.sizes(), &waveform.sizes()[..1]),
        ("last_out", last_out.sizes(), &waveform.sizes()[..1]),
    ];
    for (name, found, expected) in expected {
        ensure!(found == expected, Shape, "`{name}` has sizes {found:?}, expected {expected:?}");
    }
    Ok(found)
}

fn overdrive<T: Real>(waveform: &Tensor, temp: &Tensor, written: [&mut Tensor; 3]) -> Result<()> {
    let [channels, samples] = of_overdrive(waveform, temp, [&*written[0], &*written[1], &*written[2]])?;
    let [last_in, last_out, output] = written;
    let (clean, distorted) = (waveform.to_vec::<T>()?, temp.to_vec::<T>()?);
    let (mut input, mut level) = (last_in.to_vec::<T>()?, last_out.to_vec::<T>()?);
    let mut mixed = Vec::with_capacity(clean.len());
    for channel in 0..channels {
        let (input, level) = (&mut input[channel], &mut level[channel]);
        for place in channel * samples..(channel + 1) * samples {
            // As in torchaudio, products with constants are `f64`.
            *level = real(wide(distorted[place] - *input) + 0.995 * wide(*level));
            *input = distorted[place];
            mixed.push(real::<T>(wide(clean[place]) * 0.5 + wide(*level) * 0.75));
        }
    }
    last_in.copy_from_slice(&input)?;
    last_out.copy_from_slice(&level)?;
    output.copy_from_slice(&mixed)
}

fn wide<T: Real>(number: T) -> f64 {
    number.to_f64().unwrap_or(f64::NAN)
}
