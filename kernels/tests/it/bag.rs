//! Bags of embeddings; the numbers are PyTorch's.

use torch_library::autograd::gradcheck;
use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

const INDICES: [i64; 6] = [1, 3, 0, 4, 4, 2];

/// Five rows of three numbers.
fn weight() -> Result<Tensor> {
    aten::arange(15.0.into())?.reshape(&[5, 3])?.div(2)
}

#[test]
fn bags_are_summed_averaged_and_compared() -> Result<()> {
    let (indices, offsets) = (Tensor::from(INDICES), Tensor::from([0i64, 2, 2]));
    let rows = [
        [6.0f32, 7.0, 8.0, 0.0, 0.0, 0.0, 15.0, 17.0, 19.0],
        [3.0, 3.5, 4.0, 0.0, 0.0, 0.0, 3.75, 4.25, 4.75],
        [4.5, 5.0, 5.5, 0.0, 0.0, 0.0, 6.0, 6.5, 7.0],
    ];
    let bags: [&[i64]; 3] = [&[], &[0, 0, 2, 2, 2, 2], &[0, 0, 2, 2, 2, 2]];
    let sizes: [&[i64]; 3] = [&[0, 0, 0], &[2, 0, 4], &[2, 0, 4]];
    let places: [&[i64]; 3] = [&[0, 0, 0], &[2, 0, 4], &[3, 3, 3, 0, 0, 0, 4, 4, 4]];
    for dtype in [DType::Float32, DType::Float64, DType::BFloat16] {
        let weight = weight()?.to_dtype(dtype)?;
        let turned = weight.t()?.contiguous()?.t()?; // rows of which are not contiguous
        for (mode, expected) in (0..).zip(rows) {
            for weight in [&weight, &turned] {
                let bag = aten::embedding_bag::with(weight, &indices, &offsets).mode(mode).call()?;
                assert_eq!(bag.0.dtype(), dtype);
                assert_eq!(bag.0.to_dtype(DType::Float32)?.to_vec::<f32>()?, expected, "{dtype} {mode}");
                if mode > 0 || dtype != DType::Float64 && weight.strides()[1] == 1 {
                    assert_eq!(bag.1.to_vec::<i64>()?, bags[mode as usize]);
                }
                assert_eq!(bag.2.to_vec::<i64>()?, sizes[mode as usize]);
                assert_eq!(bag.3.to_vec::<i64>()?, places[mode as usize]);
            }
        }
    }
    Ok(())
}

#[test]
fn the_last_offset_may_be_the_end_and_a_row_may_not_count() -> Result<()> {
    let (indices, offsets) = (Tensor::from(INDICES), Tensor::from([0i64, 2, 2, 6]));
    let bag = aten::embedding_bag_padding_idx(
        &weight()?,
        &indices,
        &offsets,
        false,
        1,
        false,
        None,
        true,
        Some(-1),
    )?;
    assert_eq!(bag.0.to_vec::<f32>()?, [3.0, 3.5, 4.0, 0.0, 0.0, 0.0, 1.5, 2.0, 2.5]);
    assert_eq!((bag.1.to_vec::<i64>()?, bag.2.to_vec::<i64>()?), (vec![0, 0, 2, 2, 2, 2], vec![2, 0, 2]));
    Ok(())
}

#[test]
fn gradients_go_back_to_the_rows() -> Result<()> {
    let (indices, offsets) = (Tensor::from(INDICES), Tensor::from([0i64, 2, 2]));
    let gradients = [
        [[1f32, 2.0, 3.0], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [2.0, 4.0, 6.0]],
        [[0.25, 0.5, 0.75], [0.5, 1.0, 1.5], [0.25, 0.5, 0.75], [0.5, 1.0, 1.5], [0.5, 1.0, 1.5]],
        [[0.0; 3], [0.0; 3], [0.0; 3], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0]],
    ];
    for (mode, expected) in (0..).zip(gradients) {
        let weight = weight()?;
        weight.set_requires_grad(true)?;
        let rows = aten::embedding_bag::with(&weight, &indices, &offsets).mode(mode).call()?.0;
        assert_eq!(rows.grad_fn()?.map(|node| node.name()), Some("EmbeddingBagBackward0"));
        rows.mul(&Tensor::from([1f32, 2.0, 3.0]))?.sum()?.backward()?;
        assert_eq!(weight.grad().unwrap().to_vec::<f32>()?, expected.as_flattened(), "{mode}");
    }
    Ok(())
}

#[test]
fn gradients_are_those_of_differences() -> Result<()> {
    let (indices, offsets) = (Tensor::from(INDICES), Tensor::from([0i64, 2, 2]));
    for (mode, padding) in [(0, -1), (1, -1), (2, -1), (0, 4), (1, 4), (2, 4)] {
        let inputs =
            [weight()?.to_dtype(DType::Float64)?, aten::arange(6.0.into())?.to_dtype(DType::Float64)?];
        let inputs = if mode == 0 { &inputs[..] } else { &inputs[..1] };
        inputs.iter().try_for_each(|input| input.set_requires_grad(true).map(drop))?;
        let pooled = |inputs: &[Tensor]| {
            let share = inputs.get(1);
            let bag = aten::_embedding_bag::call(
                &inputs[0], &indices, &offsets, false, mode, false, share, false, padding,
            )?;
            Ok(vec![bag.0])
        };
        gradcheck(pooled, inputs, Default::default())?;
    }
    Ok(())
}

#[test]
fn wrong_bags_are_refused() -> Result<()> {
    let (weight, indices) = (weight()?, Tensor::from(INDICES));
    let refusal = |indices: &Tensor, offsets: &Tensor, mode: i64| {
        aten::embedding_bag::with(&weight, indices, offsets).mode(mode).call().unwrap_err().to_string()
    };
    let said = refusal(&indices, &Tensor::from([0i64, 4, 2]), 0);
    assert!(said.contains("offset 2 comes after 4"), "{said}");
    assert!(refusal(&indices, &Tensor::from([1i64, 4]), 0).contains("the first offset is 1, expected 0"));
    assert!(
        refusal(&indices, &Tensor::from([0i64, 7]), 0).contains("the last offset is 7, there are 6 indices")
    );
    assert!(refusal(&indices, &Tensor::from([0i64]), 3).contains("mode 3"));
    assert!(refusal(&Tensor::from([5i64]), &Tensor::from([0i64]), 2).contains("index 5 is out of range"));
    assert!(refusal(&Tensor::from([-1i64]), &Tensor::from([0i64]), 0).contains("index -1 is out of range"));
    Ok(())
}
