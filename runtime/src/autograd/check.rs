//! Checks of derivatives against finite differences.

use super::{GradOptions, grad};
use crate::backend::on_device;
use crate::device::DeviceType;
use crate::dtype::DType;
use crate::element::Complex64;
use crate::error::Result;
use crate::tensor::Tensor;
use crate::{bail, ensure};

/// How close a derivative has to be to the finite difference.
///
/// PyTorch: the keyword arguments of `torch.autograd.gradcheck`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// The step of the finite differences.
    pub step: f64,
    /// The absolute tolerance.
    pub absolute: f64,
    /// The relative tolerance.
    pub relative: f64,
}

impl Default for Tolerance {
    fn default() -> Self {
        Tolerance { step: 1e-6, absolute: 1e-5, relative: 1e-3 }
    }
}

/// Compares the gradients of a function with central differences, for each element of each input and output.
///
/// Inputs that require a gradient are checked. They must be float64 or complex128, since a narrower type is too inexact
/// for differences; a complex number counts as two real ones.
///
/// # Errors
/// The function's own errors; a wrong derivative: the message names the output and the input, and shows the derivatives
/// by autograd and by differences. NaN never matches, not even NaN.
///
/// PyTorch: `torch.autograd.gradcheck`.
pub fn gradcheck(
    function: impl Fn(&[Tensor]) -> Result<Vec<Tensor>>,
    inputs: &[Tensor],
    tolerance: Tolerance,
) -> Result<()> {
    for (index, input) in inputs.iter().enumerate().filter(|(_, input)| input.requires_grad()) {
        ensure!(
            matches!(input.dtype(), DType::Float64 | DType::Complex128),
            DType,
            "input {index} of gradcheck is {}, neither float64 nor complex128",
            input.dtype()
        );
    }
    let outputs = function(inputs)?;
    for (number, output) in outputs.iter().enumerate() {
        if !output.requires_grad() {
            continue;
        }
        for (index, input) in inputs.iter().enumerate().filter(|(_, input)| input.requires_grad()) {
            let derivative = by_autograd(output, input)?;
            let differences = by_differences(&function, inputs, index, number, tolerance.step)?;
            compare(&derivative, &differences, tolerance, number, index)?;
        }
    }
    Ok(())
}

/// Like [`gradcheck`], for the gradients themselves: checks second derivatives.
///
/// # Errors
/// The errors of [`gradcheck`].
///
/// PyTorch: `torch.autograd.gradgradcheck`.
pub fn gradgradcheck(
    function: impl Fn(&[Tensor]) -> Result<Vec<Tensor>>,
    inputs: &[Tensor],
    tolerance: Tolerance,
) -> Result<()> {
    let outputs = function(inputs)?;
    let mut all = inputs.to_vec();
    for (number, output) in outputs.iter().enumerate().filter(|(_, output)| output.requires_grad()) {
        let values = (0..parts(output)?.len()).map(|i| 0.5 + ((i + number) as f64 * 0.7).sin()).collect();
        let first = from_parts(output, values)?;
        first.set_requires_grad(true)?;
        all.push(first);
    }
    let gradients = |all: &[Tensor]| {
        let (inputs, firsts) = all.split_at(inputs.len());
        let outputs = function(inputs)?;
        let outputs: Vec<&Tensor> = outputs.iter().filter(|output| output.requires_grad()).collect();
        let firsts: Vec<_> = firsts.iter().cloned().map(Some).collect();
        let inputs: Vec<&Tensor> = inputs.iter().filter(|input| input.requires_grad()).collect();
        let options = GradOptions::new().create_graph(true).allow_unused(true);
        Ok(grad(&outputs, &inputs, &firsts, options)?.into_iter().flatten().collect())
    };
    gradcheck(gradients, &all, tolerance).map_err(|error| error.context("second derivative"))
}

/// Whether an output depends on an input, by finite differences, so the output need not have a history.
pub(crate) fn depends(
    function: &impl Fn(&[Tensor]) -> Result<Vec<Tensor>>,
    inputs: &[Tensor],
    index: usize,
    number: usize,
) -> Result<bool> {
    let Tolerance { step, absolute, .. } = Tolerance::default();
    let differences = by_differences(function, inputs, index, number, step)?;
    Ok(differences.iter().flatten().any(|difference| difference.abs() > absolute))
}

/// The elements as real numbers; a complex element becomes its real and its imaginary part.
fn parts(tensor: &Tensor) -> Result<Vec<f64>> {
    match tensor.dtype() {
        DType::Complex128 => Ok(tensor.to_vec::<Complex64>()?.iter().flat_map(|z| [z.re, z.im]).collect()),
        _ => tensor.to_vec::<f64>(),
    }
}

/// The inverse of [`parts`]: a tensor like `like`, on its device, from the real numbers.
fn from_parts(like: &Tensor, parts: Vec<f64>) -> Result<Tensor> {
    let made = match like.dtype() {
        DType::Complex128 => {
            let elements = parts.chunks_exact(2).map(|pair| Complex64::new(pair[0], pair[1])).collect();
            Tensor::from_vec::<Complex64>(elements, like.sizes())
        }
        _ => Tensor::from_vec(parts, like.sizes()),
    };
    match like.device().kind {
        DeviceType::Cpu => made,
        _ => on_device(&made?, like.device()),
    }
}

/// The Jacobian by autograd: in each row, the derivative of one part of the output.
fn by_autograd(output: &Tensor, input: &Tensor) -> Result<Vec<Vec<f64>>> {
    let options = GradOptions::new().retain_graph(true).allow_unused(true);
    let (rows, columns) = (parts(output)?.len(), parts(input)?.len());
    let row = |part: usize| {
        let mut first = vec![0.0; rows];
        first[part] = 1.0;
        match grad(&[output], &[input], &[Some(from_parts(output, first)?)], options)?.pop().flatten() {
            Some(gradient) => parts(&gradient),
            None => Ok(vec![0.0; columns]),
        }
    };
    (0..rows).map(row).collect()
}

/// The same matrix as [`by_autograd`], by central differences.
fn by_differences(
    function: &impl Fn(&[Tensor]) -> Result<Vec<Tensor>>,
    inputs: &[Tensor],
    index: usize,
    number: usize,
    step: f64,
) -> Result<Vec<Vec<f64>>> {
    let values = parts(&inputs[index])?;
    let at = |part: usize, distance: f64| {
        let mut moved = values.clone();
        moved[part] += distance;
        let mut inputs = inputs.to_vec();
        inputs[index] = from_parts(&inputs[index], moved)?;
        inputs[index].set_requires_grad(true)?; // the function may compute gradients itself
        match function(&inputs)?.get(number) {
            Some(output) => parts(output),
            None => bail!(Argument, "the function returned fewer outputs for another input"),
        }
    };
    let mut columns = Vec::with_capacity(values.len());
    for part in 0..values.len() {
        let (above, below) = (at(part, step)?, at(part, -step)?);
        columns.push(above.iter().zip(&below).map(|(a, b)| (a - b) / (2.0 * step)).collect::<Vec<f64>>());
    }
    let rows = columns.first().map_or(0, Vec::len);
    Ok((0..rows).map(|row| columns.iter().map(|column| column[row]).collect()).collect())
}

fn compare(
    derivative: &[Vec<f64>],
    differences: &[Vec<f64>],
    tolerance: Tolerance,
    output: usize,
    input: usize,
) -> Result<()> {
    for (element, (row, expected)) in derivative.iter().zip(differences).enumerate() {
        for (of, (got, want)) in row.iter().zip(expected).enumerate() {
            let allowed = tolerance.absolute + tolerance.relative * want.abs();
            let is_close = match got.is_finite() && want.is_finite() {
                true => (got - want).abs() <= allowed,
                false => got == want, // no tolerance for infinities, and NaN never passes
            };
            ensure!(
                is_close,
                Autograd,
                "the derivative of output {output}, element {element}, with respect to input {input}, element {of}, \
                 is {got}, but finite differences give {want}"
            );
        }
    }
    Ok(())
}
