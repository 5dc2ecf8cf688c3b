//! Layers of transformers in one call, as PyTorch runs them outside of training.

use torch_library::prelude::*;

use crate::aten;

/// Operators with derivatives of their own.
#[torch_impl(aten, CompositeExplicitAutograd, FuncTorchBatchedDecomposition)]
mod derived {
    use super::*;

    fn _masked_softmax(
        this: &Tensor,
        mask: &Tensor,
        dim: Option<i64>,
        mask_type: Option<i64>,
    ) -> Result<Tensor> {
        const OPERATOR: &str = aten::_masked_softmax::NAME;
        check_mask(OPERATOR, mask)?;
        let mask = mask_of_all(OPERATOR, this.sizes(), mask, mask_type)?;
        let scores = aten::masked_fill_Scalar(this, &mask, f64::NEG_INFINITY.into())?;
        let weights = aten::_softmax(&scores, dim.unwrap_or(-1), false);
        let weights = weights.map_err(|error| error.context(OPERATOR))?;
        if this.is_contiguous(MemoryFormat::Contiguous) {
            return Ok(weights);
        }
        // They are laid out like the scores, as in PyTorch.
        let mut like_scores = aten::empty_like(this)?;
        aten::copy_(&mut like_scores, &weights)?;
        Ok(like_scores)
    }
}

#[torch_impl(aten, CompositeExplicitAutograd, FuncTorchBatchedDecomposition)]
mod kernels {
    use super::*;

    fn _masked_softmax_backward(
        grad_output: &Tensor,
        output: &Tensor,
        mask: &Tensor,
        dim: Option<i64>,
    ) -> Result<Tensor> {
        const OPERATOR: &str = aten::_masked_softmax_backward::NAME;
        check_mask(OPERATOR, mask)?;
        ensure!(
            mask.sizes() == grad_output.sizes(),
            Shape,
            "{OPERATOR}: a mask of sizes {:?} for a gradient of {:?}, expected the same sizes",
            mask.sizes(),
            grad_output.sizes()
        );
        // Where everything is masked the results are NaN, but nothing flows back.
        let unmasked = |tensor: &Tensor| aten::masked_fill_Scalar(tensor, mask, 0.into());
        let (grad, output) = (unmasked(grad_output)?, unmasked(output)?);
        aten::_softmax_backward_data(&grad, &output, dim.unwrap_or(-1), output.dtype())
            .map_err(|error| error.context(OPERATOR))
    }

    fn _transform_bias_rescale_qkv(
        qkv: &Tensor,
        qkv_bias: &Tensor,
        num_heads: i64,
    ) -> Result<(Tensor, Tensor, Tensor)> {
        const OPERATOR: &str = aten::_transform_bias_rescale_qkv::NAME;
        let &[batch, length, width] = qkv.sizes() else {
            bail!(Shape, "{OPERATOR}: projections of sizes {:?}, expected three dimensions", qkv.sizes())
        };
        ensure!(
            num_heads > 0 && width % 3 == 0 && width / 3 % num_heads == 0,
            Shape,
            "{OPERATOR}: a width of {width} cannot be divided into three times {num_heads} heads"
        );
        ensure!(
            qkv.dtype().is_floating_point() && qkv.dtype() == qkv_bias.dtype(),
            DType,
            "{OPERATOR}: projections of {} and a bias of {}, expected one floating-point type",
            qkv.dtype(),
            qkv_bias.dtype()
        );
        ensure!(
            qkv_bias.numel() == width,
            Shape,
            "{OPERATOR}: a bias of sizes {:?}, expected {width} elements",
            qkv_bias.sizes()
        );
        let moved = aten::add_Tensor(qkv, &aten::reshape(qkv_bias, &[width])?)?;
        let head = width / 3 / num_heads;
        let apart = aten::view(&aten::contiguous(&moved)?, &[batch, length, 3, num_heads, head])?;
        let part = |part| {
            let heads = aten::transpose_int(&aten::select_int(&apart, 2, part)?, 1, 2)?;
            if part == 0 { aten::mul_Scalar(&heads, (1.0 / (head as f64).sqrt()).into()) } else { Ok(heads) }
        };
        let [query, key, value] = [0, 1, 2]
            .map(|at| aten::view(&aten::reshape(&part(at)?, &[-1])?, &[batch, num_heads, length, head]));
        Ok((query?, key?, value?))
    }

    fn _native_multi_head_attention(
        query: &Tensor,
        key: &Tensor,
        value: &Tensor,
        embed_dim: i64,
        num_head: i64,
        qkv_weight: &Tensor,
        qkv_bias: &Tensor,
        proj_weight: &Tensor,
        proj_bias: &Tensor,
        mask: Option<&Tensor>,
        need_weights: bool,
        average_attn_weights: bool,
        mask_type: Option<i64>,
    ) -> Result<(Tensor, Tensor)> {
        const OPERATOR: &str = aten::_native_multi_head_attention::NAME;
        check_attention([query, key, value], [embed_dim, num_head], qkv_weight, qkv_bias)
            .map_err(|error| error.context(OPERATOR))?;
        if query.numel() == 0 {
            return Ok((aten::empty_like(query)?, Tensor::undefined()));
        }
        let projections = projected([query, key, value], qkv_weight, embed_dim);
        let projections = projections.map_err(|error| error.context(OPERATOR))?;
        let (query, key, value) = aten::_transform_bias_rescale_qkv(&projections, qkv_bias, num_head)?;
        let scores = aten::matmul(&query, &aten::transpose_int(&key, -2, -1)?)?;
        let weights = match mask {
            Some(mask) => {
                let mask = aten::to_dtype(mask, DType::Bool)?;
                aten::_masked_softmax::call(&scores, &mask, Some(-1), mask_type)?
            }
            None => aten::_softmax(&scores, -1, false)?,
        };
        let heads = aten::transpose_int(&aten::matmul(&weights, &value)?, 1, 2)?;
        let joined = aten::flatten_using_ints::with(&heads).start_dim(2).call()?;
        let output = aten::linear::call(&joined, proj_weight, Some(proj_bias))
            .map_err(|error| error.context(OPERATOR))?;
        let weights = match (need_weights, average_attn_weights) {
            (false, _) => Tensor::undefined(),
            (true, false) => weights,
            (true, true) => aten::div_Scalar(&aten::sum_dim_IntList(&weights, Some(&[1]))?, num_head.into())?,
        };
        Ok((output, weights))
    }

    fn _transformer_encoder_layer_fwd(
        src: &Tensor,
        embed_dim: i64,
        num_heads: i64,
        qkv_weight: &Tensor,
        qkv_bias: &Tensor,
        proj_weight: &Tensor,
        proj_bias: &Tensor,
        use_gelu: bool,
        norm_first: bool,
        eps: f64,
        norm_weight_1: &Tensor,
        norm_bias_1: &Tensor,
        norm_weight_2: &Tensor,
        norm_bias_2: &Tensor,
        ffn_weight_1: &Tensor,
        ffn_bias_1: &Tensor,
        ffn_weight_2: &Tensor,
        ffn_bias_2: &Tensor,
        mask: Option<&Tensor>,
        mask_type: Option<i64>,
    ) -> Result<Tensor> {
        const OPERATOR: &str = aten::_transformer_encoder_layer_fwd::NAME;
        if src.numel() == 0 {
            return aten::empty_like(src);
        }
        let layer = Layer {
            attention: |x: &Tensor| {
                let attention = aten::_native_multi_head_attention::with(
                    x,
                    x,
                    x,
                    embed_dim,
                    num_heads,
                    qkv_weight,
                    qkv_bias,
                    proj_weight,
                    proj_bias,
                );
                Ok(attention.mask(mask).need_weights(false).mask_type(mask_type).call()?.0)
            },
            network: |x: &Tensor| {
                let hidden = aten::linear::call(x, ffn_weight_1, Some(ffn_bias_1))?;
                let hidden = if use_gelu { aten::gelu(&hidden)? } else { aten::relu(&hidden)? };
                aten::linear::call(&hidden, ffn_weight_2, Some(ffn_bias_2))
            },
            norms: [(norm_weight_1, norm_bias_1), (norm_weight_2, norm_bias_2)],
            eps,
        };
        layer.run(src, embed_dim, norm_first).map_err(|error| error.context(OPERATOR))
    }

    fn _weight_int8pack_mm(this: &Tensor, mat2: &Tensor, scales: &Tensor) -> Result<Tensor> {
        const OPERATOR: &str = aten::_weight_int8pack_mm::NAME;
        let dtype = this.dtype();
        ensure!(
            matches!(dtype, DType::Float32 | DType::Float16 | DType::BFloat16) && mat2.dtype() == DType::Int8,
            DType,
            "{OPERATOR}: {dtype} and a weight of {}, expected float32, float16 or bfloat16, and int8",
            mat2.dtype()
        );
        ensure!(
            [this, mat2]
                .iter()
                .all(|matrix| matrix.dim() == 2 && matrix.is_contiguous(MemoryFormat::Contiguous))
                && this.sizes()[1] == mat2.sizes()[1],
            Shape,
            "{OPERATOR}: sizes {:?} and {:?}, expected contiguous matrices with rows of one length",
            this.sizes(),
            mat2.sizes()
        );
        ensure!(
            scales.sizes() == [mat2.sizes()[0]] && scales.dtype() == dtype,
            Shape,
            "{OPERATOR}: scales of sizes {:?} and {}, expected {} of {dtype}",
            scales.sizes(),
            scales.dtype(),
            mat2.sizes()[0]
        );
        // Half precision is rounded once, at the end.
        let [this, mat2, scales] = [this, mat2, scales].map(|tensor| aten::to_dtype(tensor, DType::Float32));
        let product = aten::mul_Tensor(&aten::linear(&this?, &mat2?)?, &scales?)?;
        aten::to_dtype(&product, dtype)
    }
}

/// # Errors
/// A mask that is not boolean.
fn check_mask(operator: &str, mask: &Tensor) -> Result<()> {
    ensure!(mask.dtype() == DType::Bool, DType, "{operator}: a mask of {}, expected bool", mask.dtype());
    Ok(())
}

/// A mask that broadcasts to scores of these sizes. Only masks `[L, L]` and `[B, L]` of scores `[B, H, L, L]` have a
/// type.
fn mask_of_all(operator: &str, sizes: &[i64], mask: &Tensor, mask_type: Option<i64>) -> Result<Tensor> {
    let wanted = match (sizes, mask.dim(), mask_type) {
        (&[_, _, length, _], 2, Some(0)) => [length, length],
        (&[batch, _, length, _], 2, Some(1)) => [batch, length],
        (&[_, _, _, _], 2, None) => {
            bail!(Argument, "{operator}: a mask of sizes {:?} without a mask_type", mask.sizes())
        }
        (&[_, _, _, _], 2, Some(other)) if other != 2 => {
            bail!(Argument, "{operator}: a mask_type of {other}, expected 0, 1 or 2")
        }
        _ => {
            ensure!(
                mask.sizes() == sizes,
                Shape,
                "{operator}: a mask of sizes {:?}, expected those of the scores, {sizes:?}",
                mask.sizes()
            );
            return Ok(mask.clone());
        }
    };
    ensure!(
        mask.sizes() == wanted,
        Shape,
        "{operator}: a mask of sizes {:?}, expected {wanted:?}",
        mask.sizes()
    );
    match mask_type {
        Some(1) => aten::unsqueeze(&aten::unsqueeze(mask, 1)?, 1),
        _ => Ok(mask.clone()),
    }
}

/// # Errors
/// Sizes of queries, keys, values and parameters that do not fit each other, heads that do not divide the width.
fn check_attention(
    [query, key, value]: [&Tensor; 3],
    [width, heads]: [i64; 2],
    qkv_weight: &Tensor,
    qkv_bias: &Tensor,
) -> Result<()> {
    ensure!(
        query.dim() == 3 && query.sizes()[2] == width,
        Shape,
        "queries of sizes {:?}, expected [batch, length, {width}]",
        query.sizes()
    );
    ensure!(
        query.sizes() == key.sizes() && query.sizes() == value.sizes(),
        Shape,
        "queries of sizes {:?}, keys of {:?} and values of {:?}, expected the same sizes",
        query.sizes(),
        key.sizes(),
        value.sizes()
    );
    let all = width.saturating_mul(3);
    ensure!(
        qkv_weight.sizes() == [all, width] && qkv_bias.sizes() == [all],
        Shape,
        "a weight of sizes {:?} and a bias of {:?}, expected [{all}, {width}] and [{all}]",
        qkv_weight.sizes(),
        qkv_bias.sizes()
    );
    ensure!(heads > 0 && width % heads == 0, Argument, "{heads} heads do not divide a width of {width}");
    Ok(())
}

/// Queries, keys and values times their parts of the weight, side by side.
fn projected([query, key, value]: [&Tensor; 3], weight: &Tensor, width: i64) -> Result<Tensor> {
    if query.is_same(key) && key.is_same(value) {
        return aten::linear(query, weight);
    }
    let parts = aten::split_Tensor(weight, width)?;
    let each = [query, key, value].into_iter().zip(&parts).map(|(x, weight)| aten::linear(x, weight));
    aten::cat::with(&each.collect::<Result<Vec<_>>>()?).dim(-1).call()
}

/// A layer of an encoder.
struct Layer<'a, A, N> {
    attention: A,
    network: N,
    /// The weight and the bias of both normalisations.
    norms: [(&'a Tensor, &'a Tensor); 2],
    eps: f64,
}

impl<A: Fn(&Tensor) -> Result<Tensor>, N: Fn(&Tensor) -> Result<Tensor>> Layer<'_, A, N> {
    fn run(&self, src: &Tensor, width: i64, norm_first: bool) -> Result<Tensor> {
        let normalised = |x: &Tensor, at: usize| {
            let (weight, bias) = self.norms[at];
            aten::layer_norm::with(x, &[width]).weight(weight).bias(bias).eps(self.eps).call()
        };
        let before = |x: &Tensor, at| if norm_first { normalised(x, at) } else { Ok(x.clone()) };
        let after = |x: Tensor, at| if norm_first { Ok(x) } else { normalised(&x, at) };
        let attended = (self.attention)(&before(src, 0)?)?;
        let x = after(aten::add_Tensor(&attended, src)?, 0)?;
        let computed = (self.network)(&before(&x, 1)?)?;
        after(aten::add_Tensor(&computed, &x)?, 1)
    }
}
