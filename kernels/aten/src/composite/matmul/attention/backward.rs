//! The gradients of flash attention, from its results.

use torch_library::prelude::*;

use super::{causal_mask, for_each_query, masked, without_masked_rows};
use crate::aten;
use crate::loops::opmath_type;

const OPERATOR: &str = aten::_scaled_dot_product_flash_attention_for_cpu_backward::NAME;

/// An operator with a derivative of its own.
#[torch_impl(aten, CompositeExplicitAutograd, FuncTorchBatchedDecomposition)]
fn _scaled_dot_product_flash_attention_for_cpu_backward(
    grad_out: &Tensor,
    query: &Tensor,
    key: &Tensor,
    value: &Tensor,
    out: &Tensor,
    logsumexp: &Tensor,
    dropout_p: f64,
    is_causal: bool,
    attn_mask: Option<&Tensor>,
    scale: Option<f64>,
) -> Result<(Tensor, Tensor, Tensor)> {
    let given = [grad_out, query, key, value, out, logsumexp];
    let scores = Scores { is_causal, attn_mask, scale };
    check(OPERATOR, given, dropout_p)?;
    gradients(given, &scores)
}

/// How scores are computed.
pub(crate) struct Scores<'t> {
    pub(crate) is_causal: bool,
    pub(crate) attn_mask: Option<&'t Tensor>,
    pub(crate) scale: Option<f64>,
}

/// The gradients of query, key and value, for tensors that [`check`] has accepted.
///
/// # Errors
/// Those of the operators that this consists of.
pub(crate) fn gradients(
    [grad_out, query, key, value, out, logsumexp]: [&Tensor; 6],
    scores: &Scores<'_>,
) -> Result<(Tensor, Tensor, Tensor)> {
    // Half precision is rounded once, at the end.
    let dtype = opmath_type(query.dtype());
    let wide = |tensor: &Tensor| aten::to_dtype(tensor, dtype);
    let shared = |tensor: &Tensor| for_each_query(OPERATOR, &wide(tensor)?, query);
    let (grad, q, k, v) = (wide(grad_out)?, wide(query)?, shared(key)?, shared(value)?);
    let scale = scores.scale.unwrap_or_else(|| 1.0 / (query.sizes()[3] as f64).sqrt());
    let across = |tensor: &Tensor| aten::transpose_int(tensor, -2, -1);
    let weights = match has_weights(logsumexp) {
        true => wide(logsumexp)?,
        false => scores.weights([&q, &k], &wide(logsumexp)?, scale)?,
    };
    let of_value = aten::matmul(&across(&weights)?, &grad)?;
    let of_weights = aten::matmul(&grad, &across(&v)?)?;
    let along = aten::sum_dim_IntList::with(&aten::mul_Tensor(&grad, &wide(out)?)?, Some(&[-1]))
        .keepdim(true)
        .call()?;
    let of_scores = aten::mul_Tensor(&weights, &aten::sub_Tensor(&of_weights, &along)?)?;
    let of_scores = aten::mul_Scalar(&of_scores, scale.into())?;
    let of_query = aten::matmul(&of_scores, &k)?;
    let of_key = aten::matmul(&across(&of_scores)?, &q)?;
    // The heads of each position are adjacent in memory.
    let laid = |tensor: Tensor| {
        let rows = aten::contiguous(&aten::transpose_int(&aten::to_dtype(&tensor, query.dtype())?, 1, 2)?)?;
        aten::transpose_int(&rows, 1, 2)
    };
    Ok((laid(of_query)?, laid(over_queries(&of_key, key)?)?, laid(over_queries(&of_value, key)?)?))
}

/// The gradients of keys or values, summed over the heads of queries that share them.
fn over_queries(grad: &Tensor, key: &Tensor) -> Result<Tensor> {
    let (heads, own) = (grad.sizes()[1], key.sizes()[1]);
    if heads == own {
        return Ok(grad.clone());
    }
    let groups = [&grad.sizes()[..1], &[own, heads / own], &grad.sizes()[2..]].concat();
    aten::sum_dim_IntList(&aten::reshape(grad, &groups)?, Some(&[2]))
}

impl Scores<'_> {
    /// The weights of the values, from the log-sum-exp of each query.
    fn weights(&self, [q, k]: [&Tensor; 2], logsumexp: &Tensor, scale: f64) -> Result<Tensor> {
        let mut scores = aten::mul_Scalar(&aten::matmul(q, &aten::transpose_int(k, -2, -1)?)?, scale.into())?;
        if let Some(mask) = self.attn_mask {
            scores = match mask.dtype() {
                DType::Bool => aten::where_ScalarOther(mask, &scores, f64::NEG_INFINITY.into())?,
                _ => aten::add_Tensor(&scores, &aten::to_dtype(mask, q.dtype())?)?,
            };
        }
        let weights = aten::exp(&aten::sub_Tensor(&scores, &aten::unsqueeze(logsumexp, -1)?)?)?;
        // Weights are zero for keys after the query, and for queries that may attend to no key, whose softmax would be
        // NaN.
        let is_masked = aten::eq_Scalar(&scores, f64::NEG_INFINITY.into())?;
        let weights = aten::masked_fill_Scalar(&weights, &is_masked, 0.into())?;
        if self.is_causal { aten::tril(&weights) } else { Ok(weights) }
    }
}

/// Whether the weights of the values are in the place of the log-sum-exps. PyTorch's decomposition of the forward pass
/// returns them there, and training graphs that `torch.export` decomposed pass them on.
pub(crate) fn has_weights(logsumexp: &Tensor) -> bool {
    logsumexp.dim() == 4
}

/// # Errors
/// Dropout, and tensors that do not belong to one attention.
pub(crate) fn check(
    operator: &str,
    [grad_out, query, key, value, out, logsumexp]: [&Tensor; 6],
    dropout_p: f64,
) -> Result<()> {
    ensure!(dropout_p == 0.0, NotSupported, "{operator}: a dropout of {dropout_p}, expected none");
    let [queries, keys] = [query, key].map(Tensor::sizes);
    ensure!(
        queries.len() == 4
            && keys.len() == 4
            && queries[0] == keys[0]
            && (queries[1] == keys[1] || keys[1] > 0 && queries[1] % keys[1] == 0)
            && queries[3] == keys[3]
            && value.sizes() == keys
            && grad_out.sizes() == queries
            && out.sizes() == queries
            && (logsumexp.sizes() == &queries[..3]
                || logsumexp.sizes() == [&queries[..3], &keys[2..3]].concat()),
        Shape,
        "{operator}: query {queries:?}, key {keys:?}, value {:?}, gradient {:?}, result {:?} and logsumexp {:?} \
         do not belong to one attention",
        value.sizes(),
        grad_out.sizes(),
        out.sizes(),
        logsumexp.sizes()
    );
    Ok(())
}

/// The gradients of query, key and value by operators with derivatives, for second derivatives: from the weights, which
/// are computed again.
pub(crate) fn differentiable_gradients(
    grad: &Tensor,
    [query, key, value]: [&Tensor; 3],
    is_causal: bool,
    attn_mask: Option<&Tensor>,
    scale: Option<f64>,
) -> Result<(Tensor, Tensor, Tensor)> {
    let scale = scale.unwrap_or_else(|| 1.0 / (query.sizes()[3] as f64).sqrt());
    let own = key;
    let (key, value) = (for_each_query(OPERATOR, key, query)?, for_each_query(OPERATOR, value, query)?);
    let across = |tensor: &Tensor| aten::transpose_int(tensor, -2, -1);
    let scaled = |tensor: &Tensor| aten::mul_Scalar(tensor, scale.into());
    let mut scores = scaled(&aten::matmul(query, &across(&key)?)?)?;
    let causal = if is_causal { Some(causal_mask(&scores)?) } else { None };
    let mask = attn_mask.or(causal.as_ref());
    if let Some(mask) = mask {
        scores = masked(&scores, mask)?;
    }
    let mut weights = aten::softmax_int(&scores, -1)?;
    if mask.is_some() {
        weights = without_masked_rows(&scores, &weights)?;
    }
    let of_weights = aten::matmul(grad, &across(&value)?)?;
    let products = aten::mul_Tensor(&weights, &of_weights)?;
    let along = aten::sum_dim_IntList::with(&products, Some(&[-1])).keepdim(true).call()?;
    let of_scores = scaled(&aten::mul_Tensor(&weights, &aten::sub_Tensor(&of_weights, &along)?)?)?;
    Ok((
        aten::matmul(&of_scores, &key)?,
        over_queries(&aten::matmul(&across(&of_scores)?, query)?, own)?,
        over_queries(&aten::matmul(&across(&weights)?, grad)?, own)?,
    ))
}
