//! Scales and zero points that are chosen for the elements of a tensor.

use torch_library::element::f16;
use torch_library::prelude::*;

use super::moving_range::parameters_of;
use crate::aten;
use crate::loops;

#[torch_impl(aten, CompositeImplicitAutograd)]
mod choice {
    use super::*;

    fn _choose_qparams_per_tensor(this: &Tensor, reduce_range: bool) -> Result<(f64, i64)> {
        const OPERATOR: &str = aten::_choose_qparams_per_tensor::NAME;
        let this = aten::detach(this)?;
        let [least, most] = [aten::min(&this), aten::max(&this)]
            .map(|end| end.map_err(|error| error.context(OPERATOR))?.item()?.to::<f32>());
        let (least, most) = (least?, most?);
        ensure!(!least.is_nan(), Argument, "{OPERATOR}: NaN is in no range");
        let (scale, zero_point) =
            parameters_of(least, most, [0, if reduce_range { 127 } else { 255 }], false);
        Ok((scale, zero_point.into()))
    }

    fn choose_qparams_optimized(
        input: &Tensor,
        numel: i64,
        n_bins: i64,
        ratio: f64,
        bit_width: i64,
    ) -> Result<(Tensor, Tensor)> {
        const OPERATOR: &str = aten::choose_qparams_optimized::NAME;
        ensure!(
            input.dtype() == DType::Float32,
            DType,
            "{OPERATOR}: a tensor of {}, expected float32",
            input.dtype()
        );
        ensure!(
            input.numel() > 0 && (0..=input.numel()).contains(&numel),
            Argument,
            "{OPERATOR}: numel is {numel} for a tensor of sizes {:?}, expected elements and not more than there are",
            input.sizes()
        );
        ensure!(
            n_bins >= 0 && (1..32).contains(&bit_width),
            Argument,
            "{OPERATOR}: n_bins is {n_bins} and bit_width is {bit_width}, expected zero or more, and 1 to 31"
        );
        let elements = loops::elements::<f32>(input)?;
        let elements = &elements[..numel.max(1) as usize];
        let [least, most] = narrowed(elements, n_bins as f32, ratio as f32, bit_width as u32);
        Ok((Tensor::from([most]), Tensor::from([least])))
    }
}

/// The range of the elements, narrowed where that makes the error less.
fn narrowed(elements: &[f32], bins: f32, ratio: f32, bits: u32) -> [f32; 2] {
    let first = elements[0];
    let least = elements.iter().fold(first, |least, x| if *x < least { *x } else { least });
    let most = elements.iter().fold(first, |most, x| if *x > most { *x } else { most });
    let step = (most - least) / bins;
    let shortest = bins * (1.0 - ratio) * step;
    let (mut range, mut error) = ([least, most], error_of(elements, [least, most], bits));
    let (mut best, mut best_error) = (range, f32::INFINITY);
    while range[0] + shortest < range[1] {
        let [from_below, from_above] = [[range[0] + step, range[1]], [range[0], range[1] - step]];
        let [below, above] = [from_below, from_above].map(|range| error_of(elements, range, bits));
        if error < below && error < above && error < best_error {
            (best, best_error) = (range, error);
        }
        let (next, next_error) = if below < above { (from_below, below) } else { (from_above, above) };
        if next == range {
            break; // a step is less than the distance between numbers of the type
        }
        (range, error) = (next, next_error);
    }
    best
}

/// The distance of the elements from the values that integers of this many bits represent.
fn error_of(elements: &[f32], [least, most]: [f32; 2], bits: u32) -> f32 {
    let largest = ((1u64 << bits) - 1) as f32;
    let rounded = |number| f16::from_f32(number).to_f32();
    let (least, scale) = (rounded(least), rounded((most - least) / largest));
    let inverse = if scale == 0.0 { 1.0 } else { 1.0 / scale };
    let squares = elements.iter().map(|x| {
        let integer = ((x - least) * inverse).round_ties_even().clamp(0.0, largest);
        (x - (integer * scale + least)).powi(2)
    });
    squares.sum::<f32>().sqrt()
}
