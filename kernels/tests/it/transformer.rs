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

/// Integers from 0 to 15, in which no row or column of a panel is like its neighbours.
fn four_bits(rows: i32, columns: i32) -> Tensor {
    let numbers =
        (0..rows).flat_map(|row| (0..columns).map(move |at| (row * 3 + at * 7 + row / 9) % 16)).collect();
    Tensor::from_vec::<i32>(numbers, &[rows.into(), columns.into()]).unwrap()
}

/// Multiples of a fraction.
fn fractions(sizes: &[i64], [factor, modulus]: [i64; 2], [step, start]: [f32; 2]) -> Tensor {
    let count = sizes.iter().product::<i64>();
    let numbers = (0..count).map(|at| (at * factor % modulus) as f32 * step + start).collect();
    Tensor::from_vec::<f32>(numbers, sizes).unwrap()
}

#[test]
fn weights_of_four_bits_are_packed_in_pytorchs_order() -> Result<()> {
    let mut weight = four_bits(80, 64);
    for (place, value) in [([3, 5], 19), ([40, 6], -1)] {
        let row = aten::select_int(&weight, 0, place[0])?;
        aten::fill__Scalar(&mut aten::select_int(&row, 0, place[1])?, value.into())?;
    }
    let packed = aten::_convert_weight_to_int4pack_for_cpu(&weight, 2)?;
    assert_eq!((packed.sizes(), packed.dtype()), (&[80, 32][..], DType::UInt8));
    let bytes = packed.to_vec::<u8>()?;
    assert_eq!((&bytes[..6], &bytes[2557..]), (&[48, 99, 150, 201, 12, 63][..], &[47, 133, 235][..]));
    let weighted = bytes.iter().zip(0..).map(|(byte, at)| u64::from(*byte) * (at % 1009));
    assert_eq!(weighted.sum::<u64>(), 148_804_399);
    weight = aten::t(&aten::contiguous(&aten::t(&weight)?)?)?;
    let strided = aten::_convert_weight_to_int4pack_for_cpu(&weight, 2)?;
    assert_eq!(strided.to_vec::<u8>()?, bytes, "of other strides");

    let refused =
        |weight: &Tensor| aten::_convert_weight_to_int4pack_for_cpu(weight, 2).unwrap_err().to_string();
    let rows = refused(&four_bits(24, 2));
    assert!(
        rows.ends_with("sizes [24, 2], expected a multiple of 16 rows and an even number of columns"),
        "{rows}"
    );
    assert!(refused(&four_bits(16, 3)).contains("an even number of columns"));
    assert!(refused(&four_bits(16, 2).to_dtype(DType::UInt8)?).ends_with("of uint8, expected int32"));
    assert!(refused(&aten::select_int(&weight, 0, 0)?).contains("expected a matrix"));
    let empty = aten::_convert_weight_to_int4pack_for_cpu(&four_bits(16, 0), 2)?;
    assert_eq!(empty.sizes(), [16, 0]);
    Ok(())
}

#[test]
fn products_with_weights_of_four_bits_are_pytorchs() -> Result<()> {
    let packed = aten::_convert_weight_to_int4pack_for_cpu(&four_bits(80, 64), 2)?;
    let x = fractions(&[3, 64], [5, 11], [0.125, -0.5]);
    let scales = fractions(&[2, 80, 2], [3, 13], [0.25, -1.0]);
    let product = aten::_weight_int4pack_mm_for_cpu(&x, &packed, 32, &scales)?.to_vec::<f32>()?;
    assert_eq!(product[..3], [22.03125, 13.3125, -11.09375]);
    assert_eq!((product[119], &product[238..]), (-47.0, &[23.96875, 14.125][..]));
    assert_eq!(product.iter().sum::<f32>(), 569.71875);
    for (dtype, sum) in [(DType::Float16, 569.75), (DType::BFloat16, 569.40625)] {
        let product =
            aten::_weight_int4pack_mm_for_cpu(&x.to_dtype(dtype)?, &packed, 32, &scales.to_dtype(dtype)?)?;
        assert_eq!(product.dtype(), dtype);
        assert_eq!(product.to_dtype(DType::Float64)?.to_vec::<f64>()?.iter().sum::<f64>(), sum, "{dtype}");
    }
    let few = aten::_weight_int4pack_mm_for_cpu(&aten::narrow(&x, 0, 0, 0)?, &packed, 32, &scales)?;
    assert_eq!(few.sizes(), [0, 80]);
    let meta = |tensor: &Tensor| aten::_to_copy::with(tensor).device(Some(Device::META)).call();
    let shape = aten::_weight_int4pack_mm_for_cpu(&meta(&x)?, &meta(&packed)?, 32, &meta(&scales)?)?;
    assert_eq!((shape.sizes(), shape.dtype()), (&[3, 80][..], DType::Float32));
    Ok(())
}

#[test]
fn every_panel_of_a_weight_is_multiplied_like_the_weight_it_was_packed_from() -> Result<()> {
    for (rows, columns, group) in [(16, 32, 32), (32, 64, 64), (48, 256, 128), (64, 256, 256), (208, 128, 32)]
    {
        let weight = four_bits(rows, columns);
        let blocks = i64::from(columns) / group;
        let scales = fractions(&[blocks, rows.into(), 2], [3, 13], [0.25, -1.0]);
        let x = fractions(&[5, columns.into()], [5, 11], [0.125, -0.5]);
        let [scale, zero] = [0, 1].map(|at| {
            let part = aten::t(&aten::select_int(&scales, 2, at)?)?;
            aten::repeat_interleave_self_int::with(&part, group).dim(Some(1)).call()
        });
        let numbers = aten::sub_Scalar(&weight.to_dtype(DType::Float32)?, 8.into())?;
        let plain = aten::add_Tensor(&aten::mul_Tensor(&numbers, &scale?)?, &zero?)?;
        let packed = aten::_convert_weight_to_int4pack_for_cpu(&weight, 2)?;
        let product = aten::_weight_int4pack_mm_for_cpu(&x, &packed, group, &scales)?;
        assert!(aten::allclose(&product, &aten::linear(&x, &plain)?)?, "{rows} rows of {columns}");
    }
    Ok(())
}

#[test]
fn products_with_packed_weights_refuse_what_does_not_fit() -> Result<()> {
    let packed = aten::_convert_weight_to_int4pack_for_cpu(&four_bits(16, 64), 2)?;
    let (x, scales) =
        (fractions(&[3, 64], [5, 11], [0.125, 0.0]), fractions(&[2, 16, 2], [3, 13], [0.25, 0.0]));
    let refused = |x: &Tensor, packed: &Tensor, group, scales: &Tensor| {
        aten::_weight_int4pack_mm_for_cpu(x, packed, group, scales).unwrap_err().to_string()
    };
    let group = refused(&x, &packed, 16, &scales);
    assert!(
        group.ends_with("qGroupSize is 16 for 64 columns, expected 32, 64, 128 or 256, and a divisor"),
        "{group}"
    );
    for group in [-32, 0, 128, i64::MIN] {
        assert!(refused(&x, &packed, group, &scales).contains("expected 32, 64"), "{group}");
    }
    let wrong = refused(&x, &packed, 64, &scales);
    assert!(wrong.ends_with("scales and zeros of sizes [2, 16, 2], expected [1, 16, 2]"), "{wrong}");
    assert!(refused(&x, &packed, 32, &scales.to_dtype(DType::BFloat16)?).contains("the dtype of the inputs"));
    assert!(refused(&x, &packed.to_dtype(DType::Int8)?, 32, &scales).contains("a weight of int8"));
    assert!(refused(&x.to_dtype(DType::Float64)?, &packed, 32, &scales).contains("inputs of float64"));
    assert!(refused(&aten::t(&x)?, &packed, 32, &scales).contains("expected contiguous matrices"));
    assert!(refused(&x, &aten::narrow(&packed, 0, 0, 8)?, 32, &scales).contains("a multiple of 16 for N"));
    assert!(refused(&aten::narrow(&x, 1, 0, 32)?, &packed, 32, &scales).contains("contiguous matrices"));
    assert!(refused(&aten::select_int(&x, 0, 0)?, &packed, 32, &scales).contains("expected two matrices"));
    Ok(())
}

#[test]
fn products_with_rows_that_are_quantised_on_the_way_are_pytorchs() -> Result<()> {
    let bytes = (0..4).flat_map(|row| (0..32).map(move |at| ((row * 29 + at * 37) % 256) as u8)).collect();
    let weight = Tensor::from_vec::<u8>(bytes, &[4, 32])?;
    let scales = fractions(&[8], [1, 8], [0.0625, 0.0625]);
    let bias = Tensor::from([1.0f32, -2.0, 0.5, 3.0]);
    let x = fractions(&[2, 64], [5, 11], [0.125, -0.5]);
    let close = |got: Tensor, want: &[f32], most: f32| -> Result<()> {
        let got = got.to_dtype(DType::Float32)?.to_vec::<f32>()?;
        let is_close = got.len() == want.len() && got.iter().zip(want).all(|(a, b)| (a - b).abs() <= most);
        assert!(is_close, "{got:?} instead of {want:?}");
        Ok(())
    };
    let packed = aten::_dyn_quant_pack_4bit_weight(&weight, &scales, Some(&bias), 32, 64, 4)?;
    assert_eq!((packed.sizes(), packed.dtype()), (&[140][..], DType::Float32));
    let want = [-1.710478, -5.979473, -1.666973, 5.03462, -0.5554535, -3.216299, -2.9905026, 4.6498165];
    close(aten::_dyn_quant_matmul_4bit(&x, &packed, 32, 64, 4)?, &want, 2e-6)?;

    let packed =
        aten::_dyn_quant_pack_4bit_weight(&weight, &aten::narrow(&scales, 0, 0, 4)?, None, 64, 64, 4)?;
    assert_eq!(packed.sizes(), [132]);
    let first = aten::abs(&aten::narrow(&x, 0, 0, 1)?)?;
    close(
        aten::_dyn_quant_matmul_4bit(&first, &packed, 64, 64, 4)?,
        &[-1.447978, -2.0180147, -1.3626839, -2.0602942],
        1e-6,
    )?;
    close(aten::_dyn_quant_matmul_4bit(&aten::zeros_like(&first)?, &packed, 64, 64, 4)?, &[0.0; 4], 0.0)?;
    let want = [-1.2890625, -2.296875, -1.3984375, 0.625, -1.1328125, -1.0625, -2.03125, 0.6171875];
    close(aten::_dyn_quant_matmul_4bit(&x.to_dtype(DType::BFloat16)?, &packed, 64, 64, 4)?, &want, 0.0)?;

    let pack = |block, columns, rows| {
        aten::_dyn_quant_pack_4bit_weight(&weight, &scales, None, block, columns, rows)
            .unwrap_err()
            .to_string()
    };
    assert!(
        pack(16, 64, 4).ends_with("expected even rows that are one block, or blocks of a multiple of 32")
    );
    assert!(pack(0, 64, 4).contains("expected one or more"));
    assert!(pack(32, i64::MAX - 31, 4).contains("sizes that are not negative"));
    assert!(pack(32, 64, -4).contains("sizes that are not negative"));
    assert!(pack(32, 64, 5).contains("expected 160 bytes, 10 scales"));
    let multiply =
        |x: &Tensor, rows| aten::_dyn_quant_matmul_4bit(x, &packed, 64, 64, rows).unwrap_err().to_string();
    assert!(multiply(&x, 3).contains("expected a vector of 99 numbers"));
    assert!(multiply(&aten::narrow(&x, 1, 0, 32)?, 4).contains("expected rows of 64 elements"));
    assert!(multiply(&x.to_dtype(DType::Float16)?, 4).contains("a matrix of float16"));
    let many = aten::_dyn_quant_matmul_4bit(&aten::narrow(&x, 1, 0, 2)?, &packed, 2, 2, i64::MAX / 2 - 1);
    assert!(
        many.unwrap_err().to_string().contains("expected a vector of"),
        "of more numbers than there can be"
    );
    Ok(())
}

#[test]
fn attention_of_halves_takes_a_mask_of_floats() -> Result<()> {
    for dtype in [DType::BFloat16, DType::Float16] {
        let halves = |sizes: &[i64]| aten::randn::with(sizes).dtype(Some(dtype)).call();
        let mask = aten::randn::with(&[5, 5]).dtype(Some(DType::Float32)).call()?;
        for sizes in [&[2, 4, 5, 8][..], &[4, 5, 8]] {
            let (q, k, v) = (halves(sizes)?, halves(sizes)?, halves(sizes)?);
            let got = aten::scaled_dot_product_attention::with(&q, &k, &v).attn_mask(Some(&mask)).call()?;
            assert_eq!((got.dtype(), got.sizes()), (dtype, sizes));
            let wide = |x: &Tensor| x.to_dtype(DType::Float32);
            let (wide_q, wide_k, wide_v) = (wide(&q)?, wide(&k)?, wide(&v)?);
            let want = aten::_scaled_dot_product_attention_math::with(&wide_q, &wide_k, &wide_v);
            let want = want.attn_mask(Some(&mask)).call()?.0;
            assert!(aten::allclose::call(&wide(&got)?, &want, 0.02, 0.02, false)?);
            let (got, weights) =
                aten::_scaled_dot_product_attention_math::with(&q, &k, &v).attn_mask(Some(&mask)).call()?;
            assert_eq!((got.dtype(), weights.dtype()), (dtype, dtype));
            assert!(aten::allclose::call(&wide(&got)?, &want, 0.02, 0.02, false)?);
        }
    }
    Ok(())
}
