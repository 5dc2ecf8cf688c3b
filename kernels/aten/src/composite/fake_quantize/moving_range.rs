//! Fake quantisation whose scale and zero point follow the range of the elements.

use torch_library::prelude::*;

use crate::aten;

#[torch_impl(aten, CompositeImplicitAutograd)]
fn fused_moving_avg_obs_fake_quant(
    this: &Tensor,
    observer_on: &Tensor,
    fake_quant_on: &Tensor,
    running_min: &mut Tensor,
    running_max: &mut Tensor,
    scale: &mut Tensor,
    zero_point: &mut Tensor,
    averaging_const: f64,
    quant_min: i64,
    quant_max: i64,
    ch_axis: i64,
    per_row_fake_quant: bool,
    symmetric_quant: bool,
) -> Result<Tensor> {
    if this.numel() == 0 {
        return aten::clone(this);
    }
    let (output, _) = aten::_fused_moving_avg_obs_fq_helper::call(
        this,
        observer_on,
        fake_quant_on,
        running_min,
        running_max,
        scale,
        zero_point,
        averaging_const,
        quant_min,
        quant_max,
        ch_axis,
        per_row_fake_quant,
        symmetric_quant,
    )?;
    Ok(output)
}

/// Its derivative is that of the operator that it ends with.
#[torch_impl(aten, CompositeImplicitAutograd)]
mod observing {
    use super::*;

    fn _fused_moving_avg_obs_fq_helper(
        this: &Tensor,
        observer_on: &Tensor,
        fake_quant_on: &Tensor,
        running_min: &mut Tensor,
        running_max: &mut Tensor,
        scale: &mut Tensor,
        zero_point: &mut Tensor,
        averaging_const: f64,
        quant_min: i64,
        quant_max: i64,
        ch_axis: i64,
        per_row_fake_quant: bool,
        symmetric_quant: bool,
    ) -> Result<(Tensor, Tensor)> {
        const OPERATOR: &str = aten::_fused_moving_avg_obs_fq_helper::NAME;
        let mut parameters = [running_min, running_max, scale, zero_point];
        let rows = per_row_fake_quant.then_some(ch_axis);
        prepare(OPERATOR, this, &mut parameters, [quant_min, quant_max], rows)?;
        let [running_min, running_max, scale, zero_point] = parameters;
        if aten::is_nonzero(observer_on)? {
            let (smallest, largest) = range(OPERATOR, &aten::detach(this)?, per_row_fake_quant)?;
            follow(running_min, &smallest, averaging_const)?;
            follow(running_max, &largest, averaging_const)?;
        }
        let is_on = aten::is_nonzero(fake_quant_on)?;
        if is_on {
            let [smallest, largest] = [running_min.to_vec::<f32>()?, running_max.to_vec::<f32>()?];
            let bounds = [quant_min, quant_max];
            let all = smallest.into_iter().zip(largest);
            let (scales, zero_points): (Vec<f32>, Vec<i32>) = all
                .map(|(min, max)| parameters_of(min, max, bounds, symmetric_quant))
                .map(|(scale, zero_point)| (scale as f32, zero_point))
                .unzip();
            aten::copy_(scale, &Tensor::from_slice(&scales, scale.sizes())?)?;
            aten::copy_(zero_point, &Tensor::from_slice(&zero_points, zero_point.sizes())?)?;
        }
        match (per_row_fake_quant, is_on) {
            (true, true) => aten::fake_quantize_per_channel_affine_cachemask(
                this, scale, zero_point, ch_axis, quant_min, quant_max,
            ),
            (true, false) => Ok((aten::clone(this)?, aten::ones_like::with(this).dtype(DType::Bool).call()?)),
            (false, _) => aten::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams(
                this,
                scale,
                zero_point,
                fake_quant_on,
                quant_min,
                quant_max,
            ),
        }
    }
}

#[torch_impl(aten, CompositeExplicitAutograd)]
mod functional {
    use super::*;

    fn _fused_moving_avg_obs_fq_helper_functional(
        this: &Tensor,
        observer_on: &Tensor,
        fake_quant_on: &Tensor,
        running_min: &Tensor,
        running_max: &Tensor,
        scale: &Tensor,
        zero_point: &Tensor,
        averaging_const: f64,
        quant_min: i64,
        quant_max: i64,
        ch_axis: i64,
        per_row_fake_quant: bool,
        symmetric_quant: bool,
    ) -> Result<(Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)> {
        let [mut running_min, mut running_max] = [aten::clone(running_min)?, aten::clone(running_max)?];
        let [mut scale, mut zero_point] = [aten::clone(scale)?, aten::clone(zero_point)?];
        let (output, mask) = aten::_fused_moving_avg_obs_fq_helper::call(
            this,
            observer_on,
            fake_quant_on,
            &mut running_min,
            &mut running_max,
            &mut scale,
            &mut zero_point,
            averaging_const,
            quant_min,
            quant_max,
            ch_axis,
            per_row_fake_quant,
            symmetric_quant,
        )?;
        Ok((output, mask, running_min, running_max, scale, zero_point))
    }
}

/// Without data there is no range.
#[torch_impl(aten, Meta)]
fn _fused_moving_avg_obs_fq_helper(
    this: &Tensor,
    _observer_on: &Tensor,
    _fake_quant_on: &Tensor,
    running_min: &mut Tensor,
    running_max: &mut Tensor,
    scale: &mut Tensor,
    zero_point: &mut Tensor,
    _averaging_const: f64,
    quant_min: i64,
    quant_max: i64,
    ch_axis: i64,
    per_row_fake_quant: bool,
    _symmetric_quant: bool,
) -> Result<(Tensor, Tensor)> {
    const OPERATOR: &str = aten::_fused_moving_avg_obs_fq_helper::NAME;
    let mut parameters = [running_min, running_max, scale, zero_point];
    let rows = per_row_fake_quant.then_some(ch_axis);
    prepare(OPERATOR, this, &mut parameters, [quant_min, quant_max], rows)?;
    Ok((aten::empty_like(this)?, aten::empty_like::with(this).dtype(DType::Bool).call()?))
}

/// Checks the bounds, the range, the scale and the zero point; those of rows get an element for each row if they have
/// none.
fn prepare(
    operator: &str,
    this: &Tensor,
    parameters: &mut [&mut Tensor; 4],
    [least, most]: [i64; 2],
    rows: Option<i64>,
) -> Result<()> {
    ensure!(
        rows.is_none_or(|axis| axis == 0 && this.dim() > 0),
        Argument,
        "{operator}: rows along axis {} of {:?}, expected axis 0",
        rows.unwrap_or_default(),
        this.sizes()
    );
    ensure!(
        least < most,
        Argument,
        "{operator}: bounds from {least} to {most}, expected the smaller one first"
    );
    ensure!(this.numel() > 0, Shape, "{operator}: a tensor without elements has no range");
    let count = if rows.is_some() { this.sizes()[0] } else { 1 };
    let initial = [f64::INFINITY, f64::NEG_INFINITY, 1.0, 0.0];
    for (parameter, initial) in parameters.iter_mut().zip(initial) {
        if rows.is_some() && parameter.numel() == 0 {
            parameter.resize(&[count], None)?;
            aten::fill__Scalar(parameter, initial.into())?;
        }
        ensure!(
            parameter.numel() == count,
            Shape,
            "{operator}: a range, scale or zero point of sizes {:?}, expected {count} elements",
            parameter.sizes()
        );
    }
    let [running_min, running_max, ..] = parameters;
    ensure!(
        running_min.dtype() == DType::Float32 && running_max.dtype() == DType::Float32,
        DType,
        "{operator}: a range of {} and {}, expected float32",
        running_min.dtype(),
        running_max.dtype()
    );
    Ok(())
}

/// The smallest and the largest element, of all or of each row.
fn range(operator: &str, this: &Tensor, of_rows: bool) -> Result<(Tensor, Tensor)> {
    ensure!(this.dtype() == DType::Float32, DType, "{operator}: {}, expected float32", this.dtype());
    if !of_rows {
        return aten::aminmax(this).map_err(|error| error.context(operator));
    }
    let rows = aten::reshape(this, &[this.sizes()[0], -1])?;
    aten::aminmax::with(&rows).dim(1).call().map_err(|error| error.context(operator))
}

/// Moves an end of the range towards that of the last tensor; the first tensor sets it.
fn follow(end: &mut Tensor, last: &Tensor, share: f64) -> Result<()> {
    let last = aten::reshape(last, end.sizes())?;
    let moved = aten::add_Tensor(end, &aten::mul_Scalar(&aten::sub_Tensor(&last, end)?, share.into())?)?;
    let next = aten::where_self(&aten::isinf(end)?, &last, &moved)?;
    aten::copy_(end, &next).map(drop)
}

/// The scale and the zero point with which integers between the bounds represent a range, which is extended to zero.
/// Around zero, a symmetric range has its zero point in the middle.
///
/// PyTorch: `ChooseQuantizationParams`.
pub(super) fn parameters_of(min: f32, max: f32, [least, most]: [i64; 2], is_symmetric: bool) -> (f64, i32) {
    const SMALLEST_SCALE: f32 = 6.1e-5;
    let width = most.saturating_sub(least);
    let steps = width as f64;
    let (mut min, mut max) = (min, max);
    let is_centred = min < 0.0 && max > 0.0 && is_symmetric;
    if is_centred {
        let half = (width / 2) as f32;
        let step = f64::from((min / (half + 1.0)).abs().max((max / half).abs()));
        (min, max) = ((-step * f64::from(half + 1.0)) as f32, (step * f64::from(half)) as f32);
    }
    (min, max) = (min.min(0.0), max.max(0.0));
    let mut scale = (f64::from(max) - f64::from(min)) / steps;
    if scale as f32 == 0.0 || (1.0 / scale as f32).is_infinite() {
        scale = 0.1;
    }
    if scale < f64::from(SMALLEST_SCALE) {
        let factor = SMALLEST_SCALE / scale as f32;
        scale = SMALLEST_SCALE.into();
        (min, max) = match (min, max) {
            (0.0, _) => (0.0, (scale * steps) as f32),
            (_, 0.0) => ((-scale * steps) as f32, 0.0),
            _ => (min * factor, max * factor),
        };
    }
    let (low, high) = (f64::from(min) / scale, f64::from(max) / scale);
    let (least, most) = (least as f64, most as f64);
    let zero_point = if is_centred {
        (least + most) / 2.0
    } else if least.abs() - low.abs() < most.abs() - high.abs() {
        least - low
    } else {
        most - high
    };
    (scale, zero_point.clamp(least, most).round_ties_even() as i32)
}
