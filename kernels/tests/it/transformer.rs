//! The operators that PyTorch's transformers call outside of training.

use torch_library::autograd::{self, Tolerance};
use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

fn spread(sizes: &[i64]) -> Tensor {
    let count = sizes.iter().product::<i64>();
    let values = (0..count).map(|at| ((at * 5 + 2) % 7) as f64 / 7.0 - 0.4).collect();
    Tensor::from_vec::<f64>(values, sizes).unwrap()
}

#[track_caller]
fn near(found: &Tensor, wanted: &[f64]) {
    let found = found.to_vec::<f64>().unwrap();
    let is_near = found.len() == wanted.len() && found.iter().zip(wanted).all(|(x, y)| (x - y).abs() < 1e-13);
    assert!(is_near, "{found:?}, expected {wanted:?}");
}

/// The weights and biases of the projections before and after attention.
fn projections() -> [Tensor; 4] {
    [spread(&[12, 4]), spread(&[12]), spread(&[4, 4]), spread(&[4])]
}

#[test]
fn attention_in_one_call_is_pytorchs() -> Result<()> {
    let x = spread(&[2, 3, 4]);
    let [qkv_weight, qkv_bias, weight, bias] = projections();
    let later = Tensor::from([[false, true, true], [false, false, true], [false, false, false]]);
    let attention =
        aten::_native_multi_head_attention::with(&x, &x, &x, 4, 2, &qkv_weight, &qkv_bias, &weight, &bias);
    let (output, weights) = attention.mask(Some(&later)).mask_type(Some(0)).call()?;
    near(
        &aten::select_int(&aten::select_int(&output, 0, 0)?, 0, 0)?,
        &[-0.20569096209912535, -0.14423323615160344, 0.6813061224489796, 0.003988338192419831],
    );
    near(
        &aten::select_int(&aten::select_int(&weights, 0, 0)?, 0, 1)?,
        &[0.5152767349602823, 0.48472326503971774, 0.0],
    );

    // Other keys and values are projected one by one.
    let others = aten::clone(&x)?;
    let apart = aten::_native_multi_head_attention::with(
        &x,
        &others,
        &others,
        4,
        2,
        &qkv_weight,
        &qkv_bias,
        &weight,
        &bias,
    );
    let (same, weights) = apart.mask(Some(&later)).mask_type(Some(0)).average_attn_weights(false).call()?;
    near(&same, &output.to_vec::<f64>()?);
    assert_eq!(weights.sizes(), [2, 2, 3, 3]);

    let plain = |width, heads, x: &Tensor| {
        aten::_native_multi_head_attention(x, x, x, width, heads, &qkv_weight, &qkv_bias, &weight, &bias)
    };
    assert!(plain(4, 3, &x).is_err() && plain(5, 1, &x).is_err());
    assert!(plain(4, 2, &aten::select_int(&x, 0, 0)?).is_err());
    let (nothing, weights) = plain(4, 2, &aten::narrow(&x, 0, 0, 0)?)?;
    assert!(nothing.sizes() == [0, 3, 4] && !weights.is_defined());
    Ok(())
}

#[test]
fn a_layer_of_an_encoder_is_pytorchs() -> Result<()> {
    let x = spread(&[2, 3, 4]);
    let [qkv_weight, qkv_bias, weight, bias] = projections();
    let ones = aten::ones_like(&spread(&[4]))?;
    let (zeros, twos) = (ones.mul(0)?, ones.mul(2)?);
    let network = [spread(&[6, 4]), spread(&[6]), spread(&[4, 6]), spread(&[4])];
    let padding = Tensor::from([[false, false, true], [false, false, false]]);
    for (norm_first, mask, wanted) in [
        (false, None, [1.457411977411507, -2.261491282215504, 3.1836802502607773, 1.62039905454322]),
        (
            true,
            Some(&padding),
            [0.21300940173147032, -0.21354667695089968, 0.2010524614712351, -0.46507640858804133],
        ),
    ] {
        let layer = aten::_transformer_encoder_layer_fwd::with(
            &x,
            4,
            2,
            &qkv_weight,
            &qkv_bias,
            &weight,
            &bias,
            !norm_first,
            norm_first,
            1e-5,
            &ones,
            &zeros,
            &twos,
            &ones,
            &network[0],
            &network[1],
            &network[2],
            &network[3],
        );
        let output = layer.mask(mask).mask_type(mask.map(|_| 1)).call()?;
        near(&aten::select_int(&aten::select_int(&output, 0, 1)?, 0, 2)?, &wanted);
    }
    Ok(())
}

#[test]
fn masked_elements_have_no_weight() -> Result<()> {
    let scores = spread(&[2, 2, 3, 3]);
    let queries = Tensor::from([[false, true, true], [true, false, true], [true, true, false]]);
    let keys = Tensor::from([[false, true, true], [true, true, false]]);
    let of =
        |mask: &Tensor, mask_type| aten::_masked_softmax::with(&scores, mask).mask_type(mask_type).call();
    let row = |weights: &Tensor, example| {
        aten::select_int(&aten::select_int(weights, 0, example)?, 0, 0)?.to_vec::<f64>()
    };
    assert_eq!(row(&of(&queries, Some(0))?, 1)?, [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
    assert_eq!(row(&of(&keys, Some(1))?, 1)?, [0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0]);
    for (mask, mask_type) in [(&queries, None), (&queries, Some(1)), (&keys, Some(0)), (&keys, Some(3))] {
        assert!(of(mask, mask_type).is_err(), "{mask_type:?}");
    }
    assert!(of(&queries.to_dtype(DType::Float32)?, Some(0)).is_err());

    let all = aten::expand(&queries, &[2, 2, 3, 3])?;
    let softmax = |x: &[Tensor]| Ok(vec![aten::_masked_softmax::with(&x[0], &all).dim(Some(2)).call()?]);
    assert!(autograd::gradcheck(softmax, std::slice::from_ref(&scores), Tolerance::default()).is_ok());
    let hidden = aten::ones_like::with(&scores).dtype(Some(DType::Bool)).call()?;
    assert!(of(&hidden, None)?.to_vec::<f64>()?.iter().all(|weight| weight.is_nan()));
    let nothing = aten::_masked_softmax_backward(&scores, &of(&hidden, None)?, &hidden)?;
    assert!(nothing.to_vec::<f64>()?.iter().all(|grad| *grad == 0.0));
    Ok(())
}

#[test]
fn weights_of_attention_are_returned_with_what_is_dropped() -> Result<()> {
    let x = spread(&[1, 2, 3, 4]);
    let (output, weights) = aten::_scaled_dot_product_attention_math(&x, &x, &x)?;
    near(&output, &aten::scaled_dot_product_attention(&x, &x, &x)?.to_vec::<f64>()?);
    let kept = aten::expand(&Tensor::from([[true, false, true]]), &[1, 2, 3, 3])?;
    let dropping = aten::_scaled_dot_product_attention_math::with(&x, &x, &x);
    let (halved, rest) = dropping.dropout_p(0.5).dropout_mask(Some(&kept)).call()?;
    let wanted = aten::mul_Tensor(&weights, &kept)?;
    near(&rest, &wanted.to_vec::<f64>()?);
    near(&halved, &aten::matmul(&wanted, &x)?.mul(2)?.to_vec::<f64>()?);
    let mask = aten::narrow(&kept, 0, 0, 1)?;
    let with_mask = aten::_scaled_dot_product_attention_math::with(&x, &x, &x).attn_mask(Some(&mask));
    assert!(with_mask.is_causal(true).call().is_err());
    Ok(())
}

#[test]
fn integer_weights_are_scaled_row_by_row() -> Result<()> {
    let x = Tensor::from([[1.0f32, 2.0], [3.0, -1.0]]);
    let (weight, scales) = (Tensor::from([[1i8, -2], [100, 50], [0, 3]]), Tensor::from([0.5f32, 0.25, 2.0]));
    let product = aten::_weight_int8pack_mm(&x, &weight, &scales)?;
    assert_eq!(product.to_vec::<f32>()?, [-1.5, 50.0, 12.0, 2.5, 62.5, -6.0]);
    let few = aten::narrow(&scales, 0, 0, 2)?;
    assert!(aten::_weight_int8pack_mm(&x, &weight, &few).is_err());
    assert!(aten::_weight_int8pack_mm(&x.to_dtype(DType::Float64)?, &weight, &scales).is_err());
    assert!(aten::_weight_int8pack_mm(&x, &weight.to_dtype(DType::UInt8)?, &scales).is_err());
    assert!(aten::_weight_int8pack_mm(&aten::t(&x)?, &weight, &scales).is_err(), "it is not contiguous");
    Ok(())
}
