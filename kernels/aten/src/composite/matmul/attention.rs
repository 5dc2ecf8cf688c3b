//! Attention, and batched products with an addend.

use torch_library::can_cast;
use torch_library::geometry::infer_size;
use torch_library::prelude::*;

use crate::arguments::{dense_order, has_flash_attention, suits_flash_attention};
use crate::aten;
use crate::below_autograd::below_autograd;
use crate::composite::linear::{in_type, rounded_to};
use crate::loops;

pub(crate) mod backward;

/// Operators with derivatives of their own.
#[torch_impl(aten, CompositeExplicitAutograd, FuncTorchBatchedDecomposition)]
mod derived {
    use super::*;

    fn baddbmm(
        this: &Tensor,
        batch1: &Tensor,
        batch2: &Tensor,
        beta: Scalar,
        alpha: Scalar,
    ) -> Result<Tensor> {
        ensure!(
            this.dtype() == batch1.dtype() && this.dtype() == batch2.dtype(),
            DType,
            "{}: {} with products of {} and {}, expected one type",
            aten::baddbmm::NAME,
            this.dtype(),
            batch1.dtype(),
            batch2.dtype()
        );
        // Half precision is rounded once, at the end.
        let dtype = this.dtype();
        let wide = |tensor: &Tensor| aten::to_dtype(tensor, loops::opmath_type(tensor.dtype()));
        let product = aten::bmm(&wide(batch1)?, &wide(batch2)?)?;
        let fits = infer_size(this.sizes(), product.sizes());
        ensure!(
            fits.is_ok_and(|fits| fits.as_slice() == product.sizes()),
            Shape,
            "{}: sizes {:?} do not broadcast to those of the products, {:?}",
            aten::baddbmm::NAME,
            this.sizes(),
            product.sizes()
        );
        let in_type = |factor| rounded_to(aten::baddbmm::NAME, factor, loops::opmath_type(dtype));
        let sum = added(&wide(this)?, product, in_type(beta)?, in_type(alpha)?)?;
        aten::to_dtype(&sum, if sum.dtype() == loops::opmath_type(dtype) { dtype } else { sum.dtype() })
    }

    fn addbmm(
        this: &Tensor,
        batch1: &Tensor,
        batch2: &Tensor,
        beta: Scalar,
        alpha: Scalar,
    ) -> Result<Tensor> {
        const OPERATOR: &str = aten::addbmm::NAME;
        let (&[batch, rows, inner], &[batch2_len, inner2, columns]) = (batch1.sizes(), batch2.sizes()) else {
            bail!(
                Shape,
                "{OPERATOR}: sizes {:?} and {:?}, expected batches of matrices",
                batch1.sizes(),
                batch2.sizes()
            )
        };
        ensure!(
            batch == batch2_len && inner == inner2,
            Shape,
            "{OPERATOR}: batches of sizes {:?} and {:?} have no product",
            batch1.sizes(),
            batch2.sizes()
        );
        let dtype = this.dtype();
        if batch > 0 && (loops::opmath_type_with_float8(dtype) != dtype || dtype.is_complex()) {
            // One product after the other, as PyTorch rounds them: sums have few digits in these dtypes.
            let mut sum = this.clone();
            for n in 0..batch {
                let (left, right) = (aten::select_int(batch1, 0, n)?, aten::select_int(batch2, 0, n)?);
                let beta = if n == 0 { beta } else { 1.into() };
                sum = aten::addmm::call(&sum, &left, &right, beta, alpha)
                    .map_err(|error| error.context(OPERATOR))?;
            }
            return Ok(sum);
        }
        // The matrices of a batch are put side by side: then the sum of their products is one product.
        let length = batch.saturating_mul(inner);
        let left = aten::reshape(&aten::permute(batch1, &[1, 0, 2])?, &[rows, length])?;
        let right = aten::reshape(batch2, &[length, columns])?;
        aten::addmm::call(this, &left, &right, beta, alpha).map_err(|error| error.context(OPERATOR))
    }

    fn addbmm_<'a>(
        this: &'a mut Tensor,
        batch1: &Tensor,
        batch2: &Tensor,
        beta: Scalar,
        alpha: Scalar,
    ) -> Result<&'a mut Tensor> {
        let sum = aten::addbmm::call(this, batch1, batch2, beta, alpha)?;
        ensure!(
            can_cast(sum.dtype(), this.dtype()),
            DType,
            "{}: a result of {} cannot be written to a tensor of {}",
            aten::addbmm_::NAME,
            sum.dtype(),
            this.dtype()
        );
        if this.sizes() != sum.sizes() {
            this.resize(sum.sizes(), None)?;
        }
        below_autograd(|| aten::copy_(this, &sum).map(drop))?;
        Ok(this)
    }

    fn trace(this: &Tensor) -> Result<Tensor> {
        const OPERATOR: &str = aten::trace::NAME;
        ensure!(this.dim() == 2, Shape, "{OPERATOR}: sizes {:?}, expected a matrix", this.sizes());
        ensure!(this.dtype() != DType::Bool, DType, "{OPERATOR}: bool is not supported, expected numbers");
        aten::sum(&aten::diagonal(this)?)
    }
}

#[torch_impl(aten, CompositeImplicitAutograd)]
mod kernels {
    use super::*;

    fn outer(this: &Tensor, vec2: &Tensor) -> Result<Tensor> {
        ensure!(
            this.dim() == 1 && vec2.dim() == 1,
            Shape,
            "{}: sizes {:?} and {:?}, expected two vectors",
            aten::outer::NAME,
            this.sizes(),
            vec2.sizes()
        );
        aten::mul_Tensor(&aten::unsqueeze(this, 1)?, vec2)
    }

    fn scaled_dot_product_attention(
        query: &Tensor,
        key: &Tensor,
        value: &Tensor,
        attn_mask: Option<&Tensor>,
        dropout_p: f64,
        is_causal: bool,
        scale: Option<f64>,
        enable_gqa: bool,
    ) -> Result<Tensor> {
        const OPERATOR: &str = aten::scaled_dot_product_attention::NAME;
        check_operands([query, key, value], attn_mask, dropout_p, is_causal)?;
        let dtype = query.dtype();
        if dropout_p == 0.0 && suits_flash_attention([query, key, value], attn_mask, enable_gqa) {
            let fused = aten::_scaled_dot_product_flash_attention_for_cpu::with(query, key, value);
            return Ok(fused.is_causal(is_causal).attn_mask(attn_mask).scale(scale).call()?.0);
        }
        let repeated = |tensor: &Tensor| {
            if enable_gqa { for_each_query(OPERATOR, tensor, query) } else { Ok(tensor.clone()) }
        };
        let order = (dropout_p == 0.0 && has_flash_attention([query, key, value], attn_mask, enable_gqa))
            .then(|| dense_order(query));
        let (key, value) = (repeated(key)?, repeated(value)?);
        if is_half(query) {
            let (tensors, mask) =
                (in_float32([query, &key, &value])?, attn_mask.map(mask_in_float32).transpose()?);
            let [query, key, value] = &tensors;
            let found = aten::scaled_dot_product_attention::with(query, key, value);
            let found = found
                .attn_mask(mask.as_ref())
                .dropout_p(dropout_p)
                .is_causal(is_causal)
                .scale(scale)
                .call()?;
            let found = aten::to_dtype(&found, dtype)?;
            return if order.is_some() { Ok(found) } else { aten::contiguous(&found) };
        }
        let scale = scale.unwrap_or_else(|| 1.0 / (query.sizes()[query.dim() - 1] as f64).sqrt());
        let query = aten::mul_Scalar(query, scale.into())?;
        let mut scores = aten::matmul(&query, &aten::transpose_int(&key, -2, -1)?)?;
        let causal = if is_causal { Some(causal_mask(&scores)?) } else { None };
        if let Some(mask) = attn_mask.or(causal.as_ref()) {
            scores = masked(&scores, mask)?;
        }
        let mut weights = aten::softmax_int(&scores, -1)?;
        if attn_mask.is_some() {
            weights = without_masked_rows(&scores, &weights)?;
        }
        if dropout_p > 0.0 {
            weights = aten::dropout(&weights, dropout_p, true)?;
        }
        let found = aten::matmul(&weights, &value)?;
        // Exported programs take views of the result of flash attention, on other devices too, so its layout must be
        // the same.
        match order {
            Some(order) => laid_out(&found, &order),
            None => Ok(found),
        }
    }

    fn _scaled_dot_product_attention_math(
        query: &Tensor,
        key: &Tensor,
        value: &Tensor,
        attn_mask: Option<&Tensor>,
        dropout_p: f64,
        is_causal: bool,
        dropout_mask: Option<&Tensor>,
        scale: Option<f64>,
        enable_gqa: bool,
    ) -> Result<(Tensor, Tensor)> {
        const OPERATOR: &str = aten::_scaled_dot_product_attention_math::NAME;
        check_operands([query, key, value], attn_mask, dropout_p, is_causal)
            .map_err(|error| error.context(OPERATOR))?;
        if is_half(query) {
            let dtype = query.dtype();
            let (tensors, mask) =
                (in_float32([query, key, value])?, attn_mask.map(mask_in_float32).transpose()?);
            let [query, key, value] = &tensors;
            let (found, weights) = aten::_scaled_dot_product_attention_math::call(
                query,
                key,
                value,
                mask.as_ref(),
                dropout_p,
                is_causal,
                dropout_mask,
                scale,
                enable_gqa,
            )?;
            return Ok((aten::to_dtype(&found, dtype)?, aten::to_dtype(&weights, dtype)?));
        }
        let repeated = |tensor: &Tensor| {
            if enable_gqa { for_each_query(OPERATOR, tensor, query) } else { Ok(tensor.clone()) }
        };
        let (key, value) = (repeated(key)?, repeated(value)?);
        let scale = scale.unwrap_or_else(|| 1.0 / (query.sizes()[query.dim() - 1] as f64).sqrt());
        let scores =
            aten::matmul(&aten::mul_Scalar(query, scale.into())?, &aten::transpose_int(&key, -2, -1)?)?;
        let scores = match attn_mask {
            Some(mask) => aten::add_Tensor(&scores, mask)?,
            None if is_causal => masked(&scores, &causal_mask(&scores)?)?,
            None => scores,
        };
        let weights = aten::_safe_softmax(&scores, -1)?;
        let weights = match dropout_mask {
            None if dropout_p == 0.0 => weights,
            None => aten::dropout(&weights, dropout_p, true)?,
            // The values are scaled up, so the weights that are returned are not.
            Some(mask) => {
                let kept = aten::masked_fill_Scalar(&weights, &aten::logical_not(mask)?, 0.into())?;
                let value = aten::mul_Scalar(&value, (1.0 / (1.0 - dropout_p)).into())?;
                return Ok((aten::matmul(&kept, &value)?, kept));
            }
        };
        Ok((aten::matmul(&weights, &value)?, weights))
    }
}

/// # Errors
/// Operands of scaled dot-product attention with too few dimensions or of different dtypes, a mask of another dtype or
/// beside `is_causal`, a dropout that is not a probability.
fn check_operands(
    [query, key, value]: [&Tensor; 3],
    attn_mask: Option<&Tensor>,
    dropout_p: f64,
    is_causal: bool,
) -> Result<()> {
    const OPERATOR: &str = aten::scaled_dot_product_attention::NAME;
    ensure!(
        query.dim() >= 2 && key.dim() >= 2 && value.dim() >= 2,
        Shape,
        "{OPERATOR}: sizes {:?}, {:?} and {:?}, expected at least [length, width]",
        query.sizes(),
        key.sizes(),
        value.sizes()
    );
    ensure!(
        query.dtype() == key.dtype() && query.dtype() == value.dtype(),
        DType,
        "{OPERATOR}: queries of {}, keys of {} and values of {}, expected one type",
        query.dtype(),
        key.dtype(),
        value.dtype()
    );
    if let Some(mask) = attn_mask {
        ensure!(
            [DType::Bool, DType::Float32, query.dtype()].contains(&mask.dtype()),
            DType,
            "{OPERATOR}: a mask of {}, expected bool, float32 or {}",
            mask.dtype(),
            query.dtype()
        );
    }
    ensure!(
        !(is_causal && attn_mask.is_some()),
        Argument,
        "{OPERATOR}: is_causal is a mask itself, so no other can be given"
    );
    ensure!(
        (0.0..=1.0).contains(&dropout_p),
        Argument,
        "{OPERATOR}: a dropout of {dropout_p}, expected a probability from 0 to 1"
    );
    Ok(())
}

/// Whether a tensor is of 16-bit floats. Attention that is made of other operators computes these in `float32`, and
/// rounds once, at the end.
fn is_half(tensor: &Tensor) -> bool {
    matches!(tensor.dtype(), DType::Float16 | DType::BFloat16)
}

fn in_float32([query, key, value]: [&Tensor; 3]) -> Result<[Tensor; 3]> {
    let wide = |tensor| aten::to_dtype(tensor, DType::Float32);
    Ok([wide(query)?, wide(key)?, wide(value)?])
}

fn mask_in_float32(mask: &Tensor) -> Result<Tensor> {
    if mask.dtype() == DType::Bool { Ok(mask.clone()) } else { aten::to_dtype(mask, DType::Float32) }
}

/// The same elements, laid out in memory by an order of the dimensions.
fn laid_out(this: &Tensor, order: &[i64]) -> Result<Tensor> {
    let mut back = vec![0; order.len()];
    (0..).zip(order).for_each(|(place, dim)| back[*dim as usize] = place);
    aten::permute(&aten::contiguous::call(&aten::permute(this, order)?, MemoryFormat::Contiguous)?, &back)
}

/// `beta * this + alpha * product`; if `beta` is zero, `this` is ignored, NaN included.
fn added(this: &Tensor, product: Tensor, beta: Scalar, alpha: Scalar) -> Result<Tensor> {
    let times = |tensor: &Tensor, factor: Scalar| match in_type(factor, this.dtype())? {
        Scalar::Int(1) | Scalar::Float(1.0) if tensor.dtype() != DType::Bool => Ok(tensor.clone()),
        factor => aten::mul_Scalar(tensor, factor),
    };
    let product = times(&product, alpha)?;
    if in_type(beta, this.dtype())?.cast::<f64>() == 0.0 {
        return Ok(product);
    }
    aten::add_Tensor(&product, &times(this, beta)?)
}

/// A mask of the keys that are not after the query.
fn causal_mask(scores: &Tensor) -> Result<Tensor> {
    let sizes = &scores.sizes()[scores.dim() - 2..];
    let all = aten::ones::with(sizes).dtype(DType::Bool).device(scores.device()).call()?;
    aten::tril(&all)
}

fn masked(scores: &Tensor, mask: &Tensor) -> Result<Tensor> {
    match mask.dtype() {
        DType::Bool => aten::where_ScalarOther(mask, scores, f64::NEG_INFINITY.into()),
        _ => aten::add_Tensor(scores, mask),
    }
}

/// Weights of zero for queries that may attend to no key: their softmax would be NaN.
fn without_masked_rows(scores: &Tensor, weights: &Tensor) -> Result<Tensor> {
    let is_masked = aten::eq_Scalar(scores, f64::NEG_INFINITY.into())?;
    let is_masked = aten::all_dim::with(&is_masked, -1).keepdim(true).call()?;
    aten::masked_fill_Scalar(weights, &is_masked, 0.into())
}

/// The heads of keys or values, repeated until there is one for each head of the query.
fn for_each_query(operator: &str, tensor: &Tensor, query: &Tensor) -> Result<Tensor> {
    let (&[.., heads, _, _], &[.., own, length, width]) = (query.sizes(), tensor.sizes()) else {
        bail!(Shape, "{operator}: heads cannot be shared without a dimension for them")
    };
    if heads == own {
        return Ok(tensor.clone());
    }
    ensure!(
        own > 0 && heads % own == 0,
        Shape,
        "{operator}: {heads} heads of queries cannot share {own} of keys or values"
    );
    let outer = &tensor.sizes()[..tensor.dim() - 3];
    let expanded = [outer, &[own, heads / own, length, width]].concat();
    let repeated = aten::expand(&aten::unsqueeze(tensor, -3)?, &expanded)?;
    aten::reshape(&repeated, &[outer, &[heads, length, width]].concat())
}
