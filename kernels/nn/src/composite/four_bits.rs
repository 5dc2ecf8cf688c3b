//! Products of rows that are quantised when they are multiplied with weights of four bits.

use torch_library::prelude::*;

use crate::aten;

#[torch_impl(aten, CompositeExplicitAutograd)]
mod kernels {
    use super::*;

    fn _dyn_quant_pack_4bit_weight(
        weights: &Tensor,
        scales_zeros: &Tensor,
        bias: Option<&Tensor>,
        block_size: i64,
        in_features: i64,
        out_features: i64,
    ) -> Result<Tensor> {
        const OPERATOR: &str = aten::_dyn_quant_pack_4bit_weight::NAME;
        ensure!(
            weights.dtype() == DType::UInt8,
            DType,
            "{OPERATOR}: a weight of {}, expected uint8",
            weights.dtype()
        );
        let parts = Parts::new(OPERATOR, block_size, in_features, out_features)?;
        ensure!(
            weights.numel() == parts.bytes
                && scales_zeros.numel() == parts.scales
                && bias.is_none_or(|bias| bias.numel() == out_features),
            Shape,
            "{OPERATOR}: weights of sizes {:?}, scales of {:?} and a bias of {:?}, expected {} bytes, {} scales and \
             {out_features} numbers or none",
            weights.sizes(),
            scales_zeros.sizes(),
            bias.map(Tensor::sizes),
            parts.bytes,
            parts.scales
        );
        let all = [Some(weights), Some(scales_zeros), bias].into_iter().flatten();
        let all: Result<Vec<Tensor>> =
            all.map(|part| aten::to_dtype(&aten::reshape(part, &[-1])?, DType::Float32)).collect();
        aten::cat::call(&all?, 0)
    }

    fn _dyn_quant_matmul_4bit(
        inp: &Tensor,
        packed_weights: &Tensor,
        block_size: i64,
        in_features: i64,
        out_features: i64,
    ) -> Result<Tensor> {
        const OPERATOR: &str = aten::_dyn_quant_matmul_4bit::NAME;
        let dtype = inp.dtype();
        ensure!(
            dtype == DType::Float32 || (dtype == DType::BFloat16 && block_size == in_features),
            DType,
            "{OPERATOR}: a matrix of {dtype} for blocks of {block_size} of {in_features} elements, expected float32, \
             or bfloat16 for blocks of all elements"
        );
        let parts = Parts::new(OPERATOR, block_size, in_features, out_features)?;
        let without_bias = parts.bytes + parts.scales;
        let packed = packed_weights.numel();
        ensure!(
            packed_weights.dtype() == DType::Float32
                && packed_weights.dim() == 1
                && (packed == without_bias || packed == without_bias.saturating_add(out_features)),
            Shape,
            "{OPERATOR}: a packed weight of {} and sizes {:?}, expected a vector of {without_bias} numbers of float32, \
             and {out_features} more for a bias",
            packed_weights.dtype(),
            packed_weights.sizes()
        );
        ensure!(
            inp.dim() == 2 && inp.sizes()[1] == in_features,
            Shape,
            "{OPERATOR}: a matrix of sizes {:?}, expected rows of {in_features} elements",
            inp.sizes()
        );
        let weight = parts.weight(packed_weights)?;
        let (rows, steps) = quantized(&aten::to_dtype(inp, DType::Float32)?)?;
        let mut product = aten::mul_Tensor(&aten::linear(&rows, &weight)?, &steps)?;
        if packed > without_bias {
            product =
                aten::add_Tensor(&product, &aten::narrow(packed_weights, 0, without_bias, out_features)?)?;
        }
        if dtype == DType::Float32 { Ok(product) } else { truncated(&product) }
    }
}

/// What a packed weight consists of.
struct Parts {
    block_size: i64,
    in_features: i64,
    out_features: i64,
    /// The number of bytes, each of which is a number of the packed tensor.
    bytes: i64,
    scales: i64,
}

impl Parts {
    /// # Errors
    /// Negative numbers, blocks that do not make up rows, rows that end within a byte, more elements than an `i64`
    /// counts.
    fn new(operator: &str, block_size: i64, in_features: i64, out_features: i64) -> Result<Self> {
        let count = in_features.checked_mul(out_features);
        let is_possible = in_features >= 0 && out_features >= 0 && block_size > 0;
        let (Some(count), true) = (count, is_possible) else {
            bail!(
                Argument,
                "{operator}: blocks of {block_size} elements of a weight [{out_features}, {in_features}], expected one \
                 or more and sizes that are not negative"
            )
        };
        ensure!(
            in_features % 2 == 0
                && (block_size == in_features || (block_size % 32 == 0 && in_features % block_size == 0)),
            Argument,
            "{operator}: rows of {in_features} elements in blocks of {block_size}, expected even rows that are one \
             block, or blocks of a multiple of 32"
        );
        Ok(Parts { block_size, in_features, out_features, bytes: count / 2, scales: count / block_size })
    }

    /// The weight in floating-point numbers.
    fn weight(&self, packed: &Tensor) -> Result<Tensor> {
        let bytes = aten::to_dtype(&aten::narrow(packed, 0, 0, self.bytes)?, DType::UInt8)?;
        let low = aten::bitwise_and_Scalar(&bytes, 15.into())?;
        let high = aten::__rshift___Scalar(&bytes, 4.into())?;
        let numbers = aten::to_dtype(&aten::stack::call(&[low, high], 1)?, DType::Float32)?;
        let blocks = [self.out_features, self.in_features / self.block_size];
        let numbers = aten::view(&numbers, &[&blocks[..], &[self.block_size]].concat())?;
        let scales =
            aten::view(&aten::narrow(packed, 0, self.bytes, self.scales)?, &[&blocks[..], &[1]].concat())?;
        let scaled = aten::mul_Tensor(&aten::sub_Scalar(&numbers, 8.into())?, &scales)?;
        aten::view(&scaled, &[self.out_features, self.in_features])
    }
}

/// Rows as multiples of a step, and the steps. From the least number of a row to the largest one, zero included, there
/// are 255 steps; zero is a multiple.
fn quantized(rows: &Tensor) -> Result<(Tensor, Tensor)> {
    let (count, width) = (rows.sizes()[0], rows.sizes()[1]);
    if width == 0 {
        return Ok((rows.clone(), aten::new_zeros(rows, &[count, 1])?));
    }
    let least = aten::clamp_max(&aten::amin::call(rows, &[-1], true)?, 0.into())?;
    let most = aten::clamp_min(&aten::amax::call(rows, &[-1], true)?, 0.into())?;
    let span = aten::sub_Tensor(&most, &least)?;
    let is_zero = aten::eq_Scalar(&span, 0.into())?;
    let per_step = aten::masked_fill_Scalar(
        &aten::div_Tensor(&aten::full_like(&span, 255.into())?, &span)?,
        &is_zero,
        1.into(),
    )?;
    let [below, above] = [&least, &most].map(|end| aten::mul_Tensor(end, &per_step));
    let (below, above) = (below?, above?);
    // The zero point is counted from the end that rounding moves less.
    let is_least = aten::gt_Scalar(&aten::add_Tensor(&below, &above)?, 1.into())?;
    let from_least = aten::rsub_Scalar(&below, (-128).into())?;
    let from_most = aten::rsub_Scalar(&above, 127.into())?;
    let zero = aten::where_self(&is_least, &from_least, &from_most)?;
    let zero = aten::round(&aten::clamp::call(&zero, Some((-128).into()), Some(127.into()))?)?;
    let numbers = aten::add_Tensor(&away_from_zero(&aten::mul_Tensor(rows, &per_step)?)?, &zero)?;
    let numbers = aten::clamp::call(&numbers, Some((-128).into()), Some(127.into()))?;
    Ok((aten::sub_Tensor(&numbers, &zero)?, aten::reciprocal(&per_step)?))
}

/// The nearest integers; halves are rounded away from zero, other than those of zero points.
fn away_from_zero(numbers: &Tensor) -> Result<Tensor> {
    let whole = aten::trunc(numbers)?;
    let rest = aten::sub_Tensor(numbers, &whole)?;
    aten::add_Tensor(&whole, &aten::trunc(&aten::add_Tensor(&rest, &rest)?)?)
}

/// In `bfloat16`, with the digits that do not fit cut off, as PyTorch does here.
fn truncated(numbers: &Tensor) -> Result<Tensor> {
    let bits = aten::bitwise_and_Scalar(&aten::view_dtype(numbers, DType::Int32)?, (-0x1_0000).into())?;
    aten::to_dtype(&aten::view_dtype(&bits, DType::Float32)?, DType::BFloat16)
}
