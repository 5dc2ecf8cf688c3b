//! Numbers to integers and back in blocks, and the parameters for that.

use torch_library::geometry::saturating_numel;
use torch_library::prelude::*;
use torch_library_aten::aten;

use crate::parameters::{check_dtype, range};
use crate::torchao;

#[torch_impl(torchao, CompositeImplicitAutograd)]
mod kernels {
    use super::*;

    fn quantize_affine(
        input: &Tensor,
        block_size: &[i64],
        scale: &Tensor,
        zero_point: Option<&Tensor>,
        output_dtype: DType,
        quant_min: Option<Scalar>,
        quant_max: Option<Scalar>,
    ) -> Result<Tensor> {
        const OPERATOR: &str = torchao::quantize_affine::NAME;
        let [least, most] = bounds(OPERATOR, [quant_min, quant_max], output_dtype)?;
        check_numbers(OPERATOR, input.dtype())?;
        let blocks = Blocks::new(OPERATOR, input, block_size)?;
        let Some(zero_point) = zero_point else { bail!(Argument, "{OPERATOR}: there are no zero points") };
        let factor = aten::reciprocal(&blocks.parameters(OPERATOR, scale)?)?;
        let rounded = aten::round(&aten::mul_Tensor(&blocks.split(input)?, &factor)?)?;
        let moved = aten::add_Tensor(&rounded, &blocks.parameters(OPERATOR, zero_point)?)?;
        let clamped = aten::clamp::call(&moved, Some(least), Some(most))?;
        aten::to_dtype(&aten::reshape(&clamped, input.sizes())?, output_dtype)
    }

    fn dequantize_affine(
        input: &Tensor,
        block_size: &[i64],
        scale: &Tensor,
        zero_point: Option<&Tensor>,
        input_dtype: DType,
        quant_min: Option<Scalar>,
        quant_max: Option<Scalar>,
        output_dtype: DType,
    ) -> Result<Tensor> {
        const OPERATOR: &str = torchao::dequantize_affine::NAME;
        check_dtype(OPERATOR, input, input_dtype)?;
        bounds(OPERATOR, [quant_min, quant_max], input_dtype)?;
        check_numbers(OPERATOR, output_dtype)?;
        let blocks = Blocks::new(OPERATOR, input, block_size)?;
        let mut numbers = aten::to_dtype(&blocks.split(input)?, output_dtype)?;
        if let Some(zero_point) = zero_point {
            let zero_point = aten::to_dtype(&blocks.parameters(OPERATOR, zero_point)?, output_dtype)?;
            numbers = aten::sub_Tensor(&numbers, &zero_point)?;
        }
        let numbers = aten::mul_Tensor(&numbers, &blocks.parameters(OPERATOR, scale)?)?;
        aten::to_dtype(&aten::reshape(&numbers, input.sizes())?, output_dtype)
    }

    fn choose_qparams_affine(
        input: Option<&Tensor>,
        mapping_type: &str,
        block_size: &[i64],
        target_dtype: DType,
        quant_min: Option<Scalar>,
        quant_max: Option<Scalar>,
        eps: Option<f64>,
        scale_dtype: Option<DType>,
        zero_point_dtype: Option<DType>,
        keepdim: bool,
    ) -> Result<(Tensor, Tensor)> {
        const OPERATOR: &str = torchao::choose_qparams_affine::NAME;
        let [least, most] = bounds(OPERATOR, [quant_min, quant_max], target_dtype)?;
        let mapping = Mapping::named(OPERATOR, mapping_type)?;
        let Some(input) = input else { bail!(Argument, "{OPERATOR}: there is no tensor") };
        let smallest = smallest_normal(OPERATOR, input.dtype())?;
        let blocks = Blocks::new(OPERATOR, input, block_size)?;
        let extremes = blocks.extremes(input, keepdim)?;
        let (scale, zero_point) = mapping.parameters(extremes, [least, most], eps.unwrap_or(smallest))?;
        let zero_point_dtype = match mapping {
            Mapping::Asymmetric => Some(zero_point_dtype.unwrap_or(DType::Int32)),
            _ => zero_point_dtype,
        };
        let in_form = |parameters: Tensor, dtype: DType| {
            let kept = if keepdim {
                aten::reshape(&parameters, &blocks.counts(input, block_size))?
            } else {
                parameters
            };
            aten::to_dtype(&kept, dtype)
        };
        let as_it_is = zero_point.dtype();
        Ok((
            in_form(scale, scale_dtype.unwrap_or(input.dtype()))?,
            in_form(zero_point, zero_point_dtype.unwrap_or(as_it_is))?,
        ))
    }
}

/// How the range of numbers is mapped to the range of integers.
#[derive(Clone, Copy)]
enum Mapping {
    Symmetric,
    SymmetricNoClippingErr,
    Asymmetric,
}

impl Mapping {
    /// # Errors
    /// Another name.
    fn named(operator: &str, name: &str) -> Result<Mapping> {
        Ok(match name {
            "SYMMETRIC" => Mapping::Symmetric,
            "SYMMETRIC_NO_CLIPPING_ERR" => Mapping::SymmetricNoClippingErr,
            "ASYMMETRIC" => Mapping::Asymmetric,
            other => bail!(
                Argument,
                "{operator}: the mapping type is {other:?}, expected \"SYMMETRIC\", \"SYMMETRIC_NO_CLIPPING_ERR\" or \
                 \"ASYMMETRIC\""
            ),
        })
    }

    /// The scales, which are at least `eps`, and the zero points, for the least and the largest number of each block.
    fn parameters(
        self,
        [lowest, highest]: [Tensor; 2],
        [least, most]: [Scalar; 2],
        eps: f64,
    ) -> Result<(Tensor, Tensor)> {
        let [first, last] = [least.to::<f64>()?, most.to::<f64>()?];
        let at_least = |scale: &Tensor| aten::clamp_min(scale, eps.into());
        let width = last - first;
        let scale = match self {
            Mapping::Symmetric => {
                let largest = aten::maximum(&aten::neg(&lowest)?, &highest)?;
                aten::div_Scalar(&largest, (width / 2.0).into())?
            }
            Mapping::SymmetricNoClippingErr => {
                let below = aten::div_Scalar(&lowest, first.into())?;
                let above = aten::div_Scalar(&highest, last.into())?;
                aten::where_self(&aten::gt_Tensor(&below, &above)?, &below, &above)?
            }
            Mapping::Asymmetric => {
                let scale =
                    at_least(&aten::div_Scalar(&aten::sub_Tensor(&highest, &lowest)?, width.into())?)?;
                let steps = aten::round(&aten::div_Tensor(&lowest, &scale)?)?;
                let zero_point = aten::rsub_Scalar(&steps, least)?;
                return Ok((scale, aten::clamp::call(&zero_point, Some(least), Some(most))?));
            }
        };
        let middle = ((last + first + 1.0) / 2.0).trunc();
        let zero_point = aten::full_like(&scale, middle.into())?;
        Ok((at_least(&scale)?, zero_point))
    }
}

/// The blocks of a tensor: its sizes with a dimension for the blocks and another one for their elements where there are
/// several blocks.
struct Blocks {
    sizes: Vec<i64>,
    /// The dimensions within blocks.
    within: Vec<i64>,
}

impl Blocks {
    /// # Errors
    /// Not a size for each dimension; blocks that do not divide the sizes.
    fn new(operator: &str, input: &Tensor, block_size: &[i64]) -> Result<Blocks> {
        ensure!(
            block_size.len() == input.dim(),
            Shape,
            "{operator}: blocks of sizes {block_size:?} in a tensor of sizes {:?}, expected a size for each dimension",
            input.sizes()
        );
        let mut blocks = Blocks { sizes: Vec::new(), within: Vec::new() };
        for (&size, &block) in input.sizes().iter().zip(block_size) {
            if block == size || block == 1 {
                if block != 1 {
                    blocks.within.push(blocks.sizes.len() as i64);
                }
                blocks.sizes.push(size);
                continue;
            }
            ensure!(
                block > 1 && size % block == 0,
                Shape,
                "{operator}: blocks of sizes {block_size:?} in a tensor of sizes {:?}, which they do not divide",
                input.sizes()
            );
            blocks.sizes.push(size / block);
            blocks.within.push(blocks.sizes.len() as i64);
            blocks.sizes.push(block);
        }
        Ok(blocks)
    }

    fn split(&self, input: &Tensor) -> Result<Tensor> {
        aten::reshape(input, &self.sizes)
    }

    /// Parameters, in sizes that broadcast to those of the blocks.
    ///
    /// # Errors
    /// Another number than one for each block.
    fn parameters(&self, operator: &str, parameters: &Tensor) -> Result<Tensor> {
        let mut sizes = self.sizes.clone();
        for &dim in &self.within {
            sizes[dim as usize] = 1;
        }
        let count = saturating_numel(&sizes);
        ensure!(
            parameters.numel() == count,
            Shape,
            "{operator}: parameters of sizes {:?} for {count} blocks, expected one for each",
            parameters.sizes()
        );
        aten::reshape(parameters, &sizes)
    }

    /// The least and the largest number of each block, or zero.
    fn extremes(&self, input: &Tensor, keepdim: bool) -> Result<[Tensor; 2]> {
        let split = self.split(input)?;
        let lowest = aten::amin::call(&split, &self.within, keepdim)?;
        let highest = aten::amax::call(&split, &self.within, keepdim)?;
        Ok([aten::clamp_max(&lowest, 0.into())?, aten::clamp_min(&highest, 0.into())?])
    }

    /// The number of blocks along each dimension of the tensor.
    fn counts(&self, input: &Tensor, block_size: &[i64]) -> Vec<i64> {
        input
            .sizes()
            .iter()
            .zip(block_size)
            .map(|(size, block)| size.checked_div(*block).unwrap_or(0))
            .collect()
    }
}

/// The bounds, or those of the dtype.
///
/// # Errors
/// A dtype that quantised tensors cannot have, bounds that it does not hold.
fn bounds(operator: &str, given: [Option<Scalar>; 2], dtype: DType) -> Result<[Scalar; 2]> {
    let [lowest, highest] = range(operator, dtype)?;
    let [least, most] = [given[0].unwrap_or(lowest.into()), given[1].unwrap_or(highest.into())];
    ensure!(
        least.to::<f64>()? >= lowest as f64 && most.to::<f64>()? <= highest as f64,
        Argument,
        "{operator}: bounds from {least} to {most}, expected no others than {dtype} has, from {lowest} to {highest}"
    );
    Ok([least, most])
}

/// # Errors
/// A dtype that is not one of numbers before or after quantisation.
fn check_numbers(operator: &str, dtype: DType) -> Result<()> {
    ensure!(
        matches!(dtype, DType::Float32 | DType::Float16 | DType::BFloat16),
        DType,
        "{operator}: numbers of {dtype}, expected float32, float16 or bfloat16"
    );
    Ok(())
}

/// The smallest number of a type that has all its digits.
///
/// # Errors
/// A type that is not a floating-point one of 16 bits or more.
fn smallest_normal(operator: &str, dtype: DType) -> Result<f64> {
    Ok(match dtype {
        DType::Float64 => f64::MIN_POSITIVE,
        DType::Float32 | DType::BFloat16 => f32::MIN_POSITIVE.into(),
        DType::Float16 => 2f64.powi(-14),
        other => bail!(DType, "{operator}: a tensor of {other}, expected a floating-point type"),
    })
}
