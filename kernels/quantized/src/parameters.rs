//! Checks and shapes of scales, zero points and bounds.

use torch_library::fake::is_fake;
use torch_library::geometry::wrap_dim;
use torch_library::prelude::*;
use torch_library_aten::aten;

/// The least and the largest number that a dtype holds, which is an integer for floats of eight bits, too.
///
/// # Errors
/// A dtype that quantised tensors cannot have.
pub(crate) fn range(operator: &str, dtype: DType) -> Result<[i64; 2]> {
    Ok(match dtype {
        DType::UInt8 => [0, u8::MAX.into()],
        DType::Int8 => [i8::MIN.into(), i8::MAX.into()],
        DType::Int16 => [i16::MIN.into(), i16::MAX.into()],
        DType::Int32 => [i32::MIN.into(), i32::MAX.into()],
        DType::UInt16 => [0, u16::MAX.into()],
        DType::Float8E5M2 => [-57344, 57344],
        DType::Float8E4M3Fn => [-448, 448],
        other => bail!(
            DType,
            "{operator}: {other} is not the type of quantised tensors, expected integers of up to 32 bits, \
             float8_e5m2 or float8_e4m3fn"
        ),
    })
}

/// # Errors
/// A dtype that quantised tensors cannot have, bounds that it does not hold.
pub(crate) fn check_bounds(operator: &str, [least, most]: [i64; 2], dtype: DType) -> Result<()> {
    let [lowest, highest] = range(operator, dtype)?;
    ensure!(
        least >= lowest && most <= highest,
        Argument,
        "{operator}: bounds from {least} to {most}, expected no others than {dtype} has, from {lowest} to {highest}"
    );
    Ok(())
}

/// # Errors
/// A tensor of another dtype.
pub(crate) fn check_dtype(operator: &str, input: &Tensor, dtype: DType) -> Result<()> {
    range(operator, dtype)?;
    ensure!(input.dtype() == dtype, DType, "{operator}: a tensor of {}, expected {dtype}", input.dtype());
    Ok(())
}

/// A floating-point tensor as `float32`.
///
/// # Errors
/// `float64`, integers.
pub(crate) fn single(operator: &str, input: &Tensor) -> Result<Tensor> {
    ensure!(
        matches!(input.dtype(), DType::Float32 | DType::Float16 | DType::BFloat16),
        DType,
        "{operator}: a tensor of {}, expected float32, float16 or bfloat16",
        input.dtype()
    );
    aten::to_dtype(input, DType::Float32)
}

/// A parameter of one element, in `float64` and without dimensions. As in PyTorch, which reads the number, it gets no
/// gradient.
///
/// # Errors
/// Another number of elements.
pub(crate) fn one(operator: &str, name: &str, parameter: &Tensor) -> Result<Tensor> {
    ensure!(
        parameter.numel() == 1,
        Shape,
        "{operator}: `{name}` has sizes {:?}, expected one element",
        parameter.sizes()
    );
    aten::to_dtype(&aten::reshape(&aten::detach(parameter)?, &[])?, DType::Float64)
}

/// Whether a tensor has elements that can be read at once, without waiting for a device.
pub(crate) fn is_readable(tensor: &Tensor) -> bool {
    tensor.device() == Device::CPU && !tensor.is_wrapper() && !is_fake(tensor)
}

/// Checks that no element is NaN, if the elements can be read.
///
/// # Errors
/// One is.
pub(crate) fn check_numbers(operator: &str, input: &Tensor) -> Result<()> {
    if is_readable(input) && input.dtype().is_floating_point() {
        let has_nan = aten::any(&aten::isnan(input)?)?.item()?.to::<bool>()?;
        ensure!(!has_nan, Argument, "{operator}: there are elements that are NaN");
    }
    Ok(())
}

/// Parameters for the slices along an axis, or one for all, in sizes that broadcast to those of the tensor. A negative
/// axis counts from the last one.
///
/// # Errors
/// An axis out of range, parameters that are neither one nor one for each slice.
pub(crate) fn along(operator: &str, parameters: &Tensor, input: &Tensor, axis: i64) -> Result<Tensor> {
    ensure!(input.dim() > 0, Shape, "{operator}: a tensor without dimensions has no axis {axis}");
    let axis = wrap_dim(axis, input.dim()).map_err(|error| error.context(operator))?;
    ensure!(
        parameters.numel() == 1 || input.sizes().get(axis) == Some(&parameters.numel()),
        Shape,
        "{operator}: parameters of sizes {:?} for axis {axis} of sizes {:?}, expected one, or one for each slice",
        parameters.sizes(),
        input.sizes()
    );
    let mut sizes = vec![1; input.dim()];
    if let Some(size) = sizes.get_mut(axis) {
        *size = parameters.numel();
    }
    aten::reshape(parameters, &sizes)
}

/// The groups of elements of a matrix, each a row.
///
/// # Errors
/// A tensor that is not a matrix, groups that do not divide its rows.
pub(crate) fn groups(operator: &str, input: &Tensor, scales: &Tensor, group_size: i64) -> Result<Tensor> {
    let &[_, columns] = input.sizes() else {
        bail!(Shape, "{operator}: a tensor of sizes {:?}, expected a matrix", input.sizes())
    };
    let is_whole = group_size > columns && scales.sizes().last() == Some(&1);
    let len = if is_whole { columns } else { group_size };
    ensure!(
        group_size > 1 && len > 0 && columns % len == 0,
        Argument,
        "{operator}: groups of {group_size} elements, expected two at least, and rows of {columns} to consist of them"
    );
    aten::reshape(input, &[-1, len])
}
