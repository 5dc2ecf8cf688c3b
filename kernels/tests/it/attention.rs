//! Scaled dot-product attention.

use torch_library::autograd::{self, GradOptions, gradcheck, gradgradcheck};
use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;
use torch_library_kernels::vmap::vmap;

/// Attention by its definition: scores, their softmax, and the weighted sum.
fn attention_step_by_step(q: &Tensor, k: &Tensor, v: &Tensor, mask: Option<&Tensor>) -> Result<Tensor> {
    let scale = 1.0 / (q.sizes()[3] as f64).sqrt();
    let mut scores = aten::mul_Scalar(&q.matmul(&k.transpose(-2, -1)?)?, scale.into())?;
    if let Some(mask) = mask {
        scores = match mask.dtype() {
            DType::Bool => aten::where_ScalarOther(mask, &scores, f64::NEG_INFINITY.into())?,
            _ => aten::add_Tensor(&scores, mask)?,
        };
    }
    aten::nan_to_num(&aten::softmax_int(&scores, -1)?)?.matmul(v)
}

#[test]
fn attention_in_blocks_is_attention() -> Result<()> {
    let near = |got: &Tensor, want: &Tensor, tolerance: f64| {
        let distance = aten::max(&aten::abs(&aten::sub_Tensor(&got.to_dtype(DType::Float64)?, want)?)?)?;
        Ok::<_, Error>(distance.item()?.cast::<f64>() < tolerance)
    };
    for [queries, keys] in [[1, 1], [5, 7], [70, 300], [130, 520]] {
        let random = |len: i64| aten::randn::with(&[2, 3, len, 9]).dtype(Some(DType::Float64)).call();
        let (q, k, v) = (random(queries)?, random(keys)?, random(keys)?);
        let causal = aten::tril(&aten::ones::with(&[queries, keys]).dtype(Some(DType::Bool)).call()?)?;
        let added = aten::randn::with(&[3, 1, keys]).dtype(Some(DType::Float64)).call()?;
        let few = aten::lt_Scalar(&aten::rand(&[2, 1, queries, keys])?, 0.01.into())?;
        let fused = |q: &Tensor, mask, is_causal| {
            aten::scaled_dot_product_attention::with(q, &k, &v).attn_mask(mask).is_causal(is_causal).call()
        };
        assert!(near(&fused(&q, None, false)?, &attention_step_by_step(&q, &k, &v, None)?, 1e-12)?);
        let want = attention_step_by_step(&q, &k, &v, Some(&causal))?;
        assert!(near(&fused(&q, None, true)?, &want, 1e-12)?);
        for mask in [&causal, &added, &few] {
            let want = attention_step_by_step(&q, &k, &v, Some(mask))?;
            assert!(near(&fused(&q, Some(mask), false)?, &want, 1e-12)?, "a mask of {:?}", mask.sizes());
            let wanted = q.copy()?;
            wanted.set_requires_grad(true)?;
            let got = fused(&wanted, Some(mask), false)?;
            assert!(near(&got.detach()?, &want, 1e-12)?, "a mask of {:?}", mask.sizes());
            got.sum()?.backward()?;
            let grad = wanted.grad().expect("it was asked for");
            assert!(
                grad.to_vec::<f64>()?.iter().all(|grad| grad.is_finite()),
                "a mask of {:?}",
                mask.sizes()
            );
        }
        let across = q.transpose(1, 2)?.contiguous()?.transpose(1, 2)?;
        let got = fused(&across, None, false)?;
        assert_eq!(got.strides(), across.strides(), "as PyTorch's, which lies as the queries do");
        assert!(near(&got, &attention_step_by_step(&q, &k, &v, None)?, 1e-12)?);
        let wanted = across.detach()?;
        wanted.set_requires_grad(true)?;
        assert_eq!(fused(&wanted, None, false)?.strides(), across.strides(), "with a gradient, too");
        let down = q.transpose(2, 3)?.contiguous()?.transpose(2, 3)?;
        assert!(fused(&down, None, false)?.is_contiguous(MemoryFormat::Contiguous), "in parts, as PyTorch's");
        let [q, k, v] = [&q, &k, &v].map(|x| x.to_dtype(DType::BFloat16).unwrap());
        let got = aten::scaled_dot_product_attention(&q, &k, &v)?;
        assert_eq!(got.dtype(), DType::BFloat16);
        let [q, k, v] = [&q, &k, &v].map(|x| x.to_dtype(DType::Float64).unwrap());
        assert!(near(&got, &attention_step_by_step(&q, &k, &v, None)?, 0.02)?);
    }
    Ok(())
}

/// In `bfloat16`, with masks, lengths and widths that fill no tile, and heads that do not follow each other in memory.
/// The results differ from those of `float64` only by the rounding of the weights and of the results.
#[test]
fn attention_of_bfloat16_is_attention() -> Result<()> {
    for [queries, keys, width] in [
        [1, 1, 8],
        [1, 300, 64],
        [1, 515, 33],
        [1, 7, 130],
        [7, 270, 33],
        [33, 70, 24],
        [128, 128, 64],
        [70, 300, 80],
        [130, 520, 17],
    ] {
        let random = |len: i64| -> Result<Tensor> {
            let rows = aten::randn::with(&[2, len, 3, width]).dtype(Some(DType::BFloat16)).call()?;
            rows.transpose(1, 2)
        };
        let (q, k, v) = (random(queries)?, random(keys)?, random(keys)?);
        let [wide_q, wide_k, wide_v] = [&q, &k, &v].map(|x| x.to_dtype(DType::Float64).unwrap());
        let causal = aten::tril(&aten::ones::with(&[queries, keys]).dtype(Some(DType::Bool)).call()?)?;
        let added = aten::randn::with(&[3, 1, keys]).dtype(Some(DType::BFloat16)).call()?;
        for (mask, is_causal) in [(None, false), (None, true), (Some(&causal), false), (Some(&added), false)]
        {
            let got =
                aten::scaled_dot_product_attention::with(&q, &k, &v).attn_mask(mask).is_causal(is_causal);
            let got = got.call()?.to_dtype(DType::Float64)?;
            let mask = if is_causal { Some(&causal) } else { mask };
            let mask = mask.map(|mask| match mask.dtype() {
                DType::Bool => Ok(mask.clone()),
                _ => mask.to_dtype(DType::Float64),
            });
            let want = attention_step_by_step(&wide_q, &wide_k, &wide_v, mask.transpose()?.as_ref())?;
            let distance = aten::max(&aten::abs(&aten::sub_Tensor(&got, &want)?)?)?.item()?.cast::<f64>();
            assert!(distance < 0.03, "{queries} queries, {keys} keys of {width}: {distance}");
        }
    }
    Ok(())
}

/// The gradients of query, key and value.
fn gradients_of_attention(
    tensors: [&Tensor; 3],
    attend: impl Fn(&Tensor, &Tensor, &Tensor) -> Result<Tensor>,
    weights: &Tensor,
) -> Result<[Tensor; 3]> {
    let leaves = tensors.map(|x| x.copy().unwrap());
    leaves.iter().try_for_each(|x| x.set_requires_grad(true))?;
    let [q, k, v] = &leaves;
    attend(q, k, v)?.mul(weights)?.sum()?.backward()?;
    Ok(leaves.map(|x| x.grad().expect("each takes part")))
}

#[test]
fn attention_in_blocks_has_the_gradients_of_attention() -> Result<()> {
    for [queries, keys] in [[1, 1], [5, 7], [70, 300], [130, 520]] {
        let random = |len: i64| aten::randn::with(&[2, 3, len, 9]).dtype(Some(DType::Float64)).call();
        let (q, k, v, weights) = (random(queries)?, random(keys)?, random(keys)?, random(queries)?);
        let causal = aten::tril(&aten::ones::with(&[queries, keys]).dtype(Some(DType::Bool)).call()?)?;
        let added = aten::randn::with(&[3, 1, keys]).dtype(Some(DType::Float64)).call()?;
        let few = aten::lt_Scalar(&aten::rand(&[2, 1, queries, keys])?, 0.01.into())?;
        let cases = [
            (None, None, false),
            (None, Some(&causal), true),
            (Some(&causal), Some(&causal), false),
            (Some(&added), Some(&added), false),
            (Some(&few), Some(&few), false),
        ];
        for (mask, as_mask, is_causal) in cases {
            let fused = |q: &Tensor, k: &Tensor, v: &Tensor| {
                aten::scaled_dot_product_attention::with(q, k, v).attn_mask(mask).is_causal(is_causal).call()
            };
            let in_steps = |q: &Tensor, k: &Tensor, v: &Tensor| attention_step_by_step(q, k, v, as_mask);
            let want = gradients_of_attention([&q, &k, &v], in_steps, &weights)?;
            let got = gradients_of_attention([&q, &k, &v], fused, &weights)?;
            for (got, want) in got.iter().zip(&want) {
                let is_close = aten::allclose::with(got, want).rtol(1e-9).atol(1e-11).call()?;
                assert!(is_close, "{queries} queries, {keys} keys, causal {is_causal}");
                assert_eq!(got.sizes(), want.sizes());
            }
            let narrow = [&q, &k, &v].map(|x| x.to_dtype(DType::Float32).unwrap());
            let got = gradients_of_attention(narrow.each_ref(), fused_in(mask, is_causal), &weights)?;
            for (got, want) in got.iter().zip(&want) {
                let got = got.to_dtype(DType::Float64)?;
                assert!(
                    aten::allclose::with(&got, want).rtol(1e-4).atol(1e-4).call()?,
                    "in single precision"
                );
            }
        }
    }
    Ok(())
}

/// Results are the same as with keys and values that are repeated for each head of queries; the gradient of a shared
/// head is the sum of the gradients of its repetitions.
#[test]
fn heads_of_queries_may_share_keys_and_values() -> Result<()> {
    let each = |x: &Tensor| aten::repeat_interleave_self_int::with(x, 6 / x.sizes()[1]).dim(Some(1)).call();
    let attend = |q: &Tensor, k: &Tensor, v: &Tensor, is_causal| {
        aten::scaled_dot_product_attention::with(q, k, v).is_causal(is_causal).enable_gqa(true).call()
    };
    for ([queries, keys], own) in [([1, 300], 2), ([5, 7], 1), ([70, 300], 3), ([70, 70], 6)] {
        let random = |heads, len| aten::randn::with(&[2, heads, len, 16]).dtype(Some(DType::Float64)).call();
        let (q, k, v, weights) =
            (random(6, queries)?, random(own, keys)?, random(own, keys)?, random(6, queries)?);
        for is_causal in [false, true] {
            for dtype in [DType::Float64, DType::Float32, DType::BFloat16] {
                let [q, k, v] = [&q, &k, &v].map(|x| x.to_dtype(dtype).unwrap());
                let want = attend(&q, &each(&k)?, &each(&v)?, is_causal)?;
                assert!(aten::equal(&attend(&q, &k, &v, is_causal)?, &want)?, "{queries}, {own}, {dtype}");
            }
            let repeated = |q: &Tensor, k: &Tensor, v: &Tensor| attend(q, &each(k)?, &each(v)?, is_causal);
            let want = gradients_of_attention([&q, &k, &v], repeated, &weights)?;
            let got = gradients_of_attention([&q, &k, &v], |q, k, v| attend(q, k, v, is_causal), &weights)?;
            for (got, want) in got.iter().zip(&want) {
                assert!(aten::allclose::with(got, want).rtol(1e-9).atol(1e-11).call()?, "{queries}, {own}");
            }
        }
    }
    Ok(())
}

#[test]
fn shared_heads_have_second_derivatives_and_batching_rules() -> Result<()> {
    let random = |heads, len| aten::randn::with(&[1, heads, len, 3]).dtype(Some(DType::Float64)).call();
    let (q, k, v) = (random(4, 3)?, random(2, 5)?, random(2, 5)?);
    let fused = |inputs: &[Tensor]| {
        let [q, k, v] = inputs else { unreachable!("three inputs") };
        aten::_scaled_dot_product_flash_attention_for_cpu(q, k, v).map(|(out, _)| vec![out])
    };
    gradgradcheck(fused, &[q.clone(), k.clone(), v.clone()], Default::default())?;
    let (out, logsumexp) = aten::_scaled_dot_product_flash_attention_for_cpu(&q, &k, &v)?;
    let back = |grad: &Tensor| {
        aten::_scaled_dot_product_flash_attention_for_cpu_backward(
            grad, &q, &k, &v, &out, &logsumexp, 0.0, false,
        )
    };
    let grads = aten::randn::with(&[2, 1, 4, 3, 3]).dtype(Some(DType::Float64)).call()?;
    let joined = |grad: &Tensor| {
        let (q, k, v) = back(grad)?;
        aten::cat(&[q.flatten()?, k.flatten()?, v.flatten()?])
    };
    let batched = vmap([&grads], |[grad]| joined(&grad))?;
    for i in 0..2 {
        let one = joined(&grads.select(0, i)?)?;
        assert!(aten::allclose::with(&batched.select(0, i)?, &one).rtol(1e-9).atol(1e-11).call()?);
    }
    let refused = aten::_scaled_dot_product_flash_attention_for_cpu(&q, &random(3, 5)?, &random(3, 5)?);
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("4 heads of queries cannot share 3 of keys and values"), "{refused}");
    Ok(())
}

/// Attention in single precision, by a mask of any type.
fn fused_in(mask: Option<&Tensor>, is_causal: bool) -> impl Fn(&Tensor, &Tensor, &Tensor) -> Result<Tensor> {
    let mask = mask.map(|mask| match mask.dtype() {
        DType::Bool => mask.clone(),
        _ => mask.to_dtype(DType::Float32).expect("a copy on the CPU"),
    });
    move |q, k, v| {
        aten::scaled_dot_product_attention::with(q, k, v).attn_mask(mask.as_ref()).is_causal(is_causal).call()
    }
}

#[test]
fn attention_with_a_gradient_is_flash_attention_and_has_second_derivatives() -> Result<()> {
    let random = |len: i64| aten::randn::with(&[1, 2, len, 3]).dtype(Some(DType::Float64)).call();
    let inputs = [random(4)?, random(5)?, random(5)?];
    inputs.iter().try_for_each(|x| x.set_requires_grad(true))?;
    let mask = aten::ge_Scalar(&aten::rand(&[4, 5])?, 0.3.into())?;
    for (mask, is_causal) in [(None, false), (None, true), (Some(&mask), false)] {
        let attend = |x: &[Tensor]| {
            let call = aten::scaled_dot_product_attention::with(&x[0], &x[1], &x[2]);
            Ok(vec![call.attn_mask(mask).is_causal(is_causal).call()?])
        };
        gradcheck(attend, &inputs, Default::default())?;
        gradgradcheck(attend, &inputs, Default::default())?;
        let out = attend(&inputs)?.remove(0);
        let node = out.grad_fn()?.expect("it has a history");
        assert_eq!(node.name(), "ScaledDotProductFlashAttentionForCpuBackward0");
        // The kernel for the gradients puts the heads of a position side by side; operators in steps do not.
        let ones = [Some(aten::ones_like(&out)?)];
        let grads = autograd::grad(&[&out], &[&inputs[0]], &ones, GradOptions::new())?;
        assert_eq!(grads[0].as_ref().map(Tensor::strides), Some(&[24, 3, 6, 1][..]));
    }
    Ok(())
}
