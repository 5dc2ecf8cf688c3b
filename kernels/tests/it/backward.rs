//! The operators that compute gradients, called directly: PyTorch's numbers, and refused arguments.

use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};

use torch_library::autograd::{GradOptions, grad};
use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

use crate::assert_close;

fn close(got: &Tensor, want: &[f64]) -> Result<()> {
    let got = got.to_dtype(DType::Float64)?.to_vec::<f64>()?;
    let is_close = |(got, want): (&f64, &f64)| {
        got == want || (got.is_nan() && want.is_nan()) || (got - want).abs() <= 1e-7 * want.abs().max(1.0)
    };
    assert!(got.len() == want.len() && got.iter().zip(want).all(is_close), "{got:?} instead of {want:?}");
    Ok(())
}

fn grad_and_input() -> (Tensor, Tensor) {
    (Tensor::from([1.0, 2.0, 3.0, -1.0, 0.5]), Tensor::from([-4.0, -0.4, 0.0, 1.5, 30.0]))
}

fn number(x: f64) -> Scalar {
    x.into()
}

#[test]
fn slopes_of_activations_are_pytorchs() -> Result<()> {
    let (g, x) = grad_and_input();
    let elu = |is_result| aten::elu_backward(&g, number(1.5), number(0.5), number(2.0), is_result, &x);
    close(&elu(false)?, &[0.00050319, 1.34798689, 4.5, -0.5, 0.25])?;
    close(&elu(true)?, &[-6.5, 1.4, 4.5, -0.5, 0.25])?;
    close(&aten::leaky_relu_backward(&g, &x, number(0.1), false)?, &[0.1, 0.2, 0.3, -1.0, 0.5])?;
    close(&aten::hardshrink_backward(&g, &x, number(0.5))?, &[1.0, 0.0, 0.0, -1.0, 0.5])?;
    close(&aten::softshrink_backward(&g, &x, number(0.5))?, &[1.0, 0.0, 0.0, -1.0, 0.5])?;
    close(&aten::hardsigmoid_backward(&g, &x)?, &[0.0, 1.0 / 3.0, 0.5, -1.0 / 6.0, 0.0])?;
    close(&aten::hardswish_backward(&g, &x)?, &[0.0, 0.73333333, 1.5, -1.0, 0.5])?;
    close(&aten::mish_backward(&g, &x)?, &[-0.05377321, 0.6951456, 1.8, -1.08848799, 0.5])?;
    close(
        &aten::softplus_backward(&g, &x, number(1.5), number(20.0))?,
        &[0.00247262, 0.70868739, 1.5, -0.90465054, 0.5],
    )?;
    let (_, buffer) = aten::log_sigmoid_forward(&x)?;
    close(&aten::log_sigmoid_backward(&g, &x, &buffer)?, &[0.98201379, 1.19737532, 1.5, -0.18242552, 0.0])?;
    let chances = Tensor::from([0.1, 0.5, 0.0, 1.0, 1.5]);
    let logit = |eps| aten::logit_backward::call(&g, &chances, eps);
    close(&logit(None)?, &[11.11111111, 8.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN])?;
    close(&logit(Some(0.2))?, &[0.0, 8.0, 0.0, 0.0, 0.0])?;
    close(&logit(Some(-1.0))?, &[11.11111111, 8.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN])?;
    let (of_half, halves) = (Tensor::from([[1.0, 2.0]]), Tensor::from([[1.0, -1.0, 0.5, 2.0]]));
    close(&aten::glu_backward(&of_half, &halves, 1)?, &[0.62245933, 1.76159416, 0.23500371, -0.20998717])
}

#[test]
fn gradients_of_gates_do_not_depend_on_the_layout() -> Result<()> {
    for (sizes, dim) in [([3, 10, 4], 1), ([2, 5000, 2], 1), ([1, 7, 66], 2), ([4, 70, 3], 0), ([0, 4, 2], 1)]
    {
        for dtype in [DType::Float32, DType::Float64, DType::BFloat16] {
            let of = |sizes: &[i64]| {
                let numbers = aten::arange(sizes.iter().product::<i64>().into())?.to_dtype(DType::Float64)?;
                aten::sin(&numbers)?.view(sizes)?.to_dtype(dtype)
            };
            let mut halves = sizes;
            halves[dim as usize] /= 2;
            let (grad, x) = (of(&halves)?, of(&sizes)?);
            let turned = |tensor: &Tensor| tensor.transpose(0, 2)?.contiguous()?.transpose(0, 2);
            let found = aten::glu_backward(&grad, &x, dim)?;
            let want = aten::glu_backward(&turned(&grad)?, &turned(&x)?, dim)?;
            assert_eq!(found.strides(), x.strides());
            let near = aten::allclose::with(&found, &want).rtol(1e-6).atol(1e-6).call()?;
            assert!(near, "{sizes:?} {dim} {dtype}");
        }
    }
    Ok(())
}

#[test]
fn activations_refuse_what_tells_no_slope() -> Result<()> {
    let (g, x) = grad_and_input();
    let one = || number(1.0);
    let error = aten::elu_backward(&g, number(-1.0), one(), one(), true, &x).unwrap_err().to_string();
    assert!(error.contains("results do not show which side of zero they come from"), "{error}");
    assert!(aten::leaky_relu_backward(&g, &x, number(-0.1), true).is_err());
    assert!(aten::hardswish_backward(&Tensor::from([1i64]), &Tensor::from([1i64])).is_err());
    assert!(aten::log_sigmoid_backward(&Tensor::from([1f32; 5]), &x, &x).is_err(), "several types");
    let error = aten::glu_backward(&g, &g, 0).unwrap_err().to_string();
    assert_eq!(error, "aten::glu_backward: dimension 0 of sizes [5] is not even, so it has no two halves");
    assert!(aten::glu_backward(&g, &Tensor::from([1.0; 4]), 0).is_err(), "a gradient of another half");
    Ok(())
}

#[test]
fn slopes_of_losses_are_pytorchs() -> Result<()> {
    let (g, x, y) = (Tensor::from(3.0), Tensor::from([1.0, -2.0, 0.25]), Tensor::from([0.5, 1.0, 0.5]));
    close(&aten::mse_loss_backward(&g, &x, &y, 1)?, &[1.0, -6.0, -0.5])?;
    let wider = Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    let grown = aten::mse_loss_backward(&wider, &Tensor::from([2.0]), &Tensor::from([1.0, 1.0, 3.0]), 0)?;
    assert_eq!((grown.sizes(), grown.strides()), (&[2, 3][..], &[3, 1][..]));
    close(&grown, &[2.0, 4.0, -6.0, 8.0, 10.0, -12.0])?;
    close(&aten::smooth_l1_loss_backward(&g, &x, &y, 1, 1.0)?, &[0.5, -1.0, -0.25])?;
    close(&aten::huber_loss_backward(&g, &x, &y, 1, 0.75)?, &[0.5, -0.75, -0.25])?;
    close(&aten::soft_margin_loss_backward(&g, &x, &y, 1)?, &[-0.18877033, -0.88079708, -0.23439531])?;
    let whole =
        aten::mse_loss_backward(&g.to_dtype(DType::Int64)?, &Tensor::from([3i64]), &Tensor::from([1i64]), 0)?;
    assert_eq!(whole.to_vec::<i64>()?, [12]);
    let refused = aten::mse_loss_backward(&g, &Tensor::from([3i64]), &Tensor::from([1i64]), 0);
    assert!(refused.is_err(), "an input of integers has no gradient of fractions");
    assert!(aten::huber_loss_backward(&g, &x.to_dtype(DType::Float32)?, &y, 1, 1.0).is_err());
    let wide = Tensor::from([[1.0; 3], [1.0; 3]]);
    assert!(aten::soft_margin_loss_backward(&wide, &x, &y, 0).is_err(), "a gradient of more than there is");
    Ok(())
}

#[test]
fn several_classes_may_be_right() -> Result<()> {
    let x = Tensor::from([[0.0, 0.25, 0.5, 0.75], [1.0, 1.25, 1.5, 1.75]]);
    let target = Tensor::from([[1i64, 2, -1, 0], [0, -1, 2, 2]]);
    let (losses, is_target) = aten::multilabel_margin_loss_forward(&x, &target, 0)?;
    assert_eq!(losses.to_vec::<f64>()?, [1.0, 1.125]);
    assert_eq!(is_target.to_vec::<f64>()?, [0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
    assert_eq!(aten::multilabel_margin_loss(&x, &target)?.to_vec::<f64>()?, [1.0625]);
    let back = aten::multilabel_margin_loss_backward(&Tensor::from(2.0), &x, &target, 1, &is_target)?;
    assert_eq!(back.to_vec::<f64>()?, [0.5, -0.5, -0.5, 0.5, -0.75, 0.25, 0.25, 0.25]);
    let error = aten::multilabel_margin_loss(&x, &target.add(3)?).unwrap_err().to_string();
    assert!(error.contains("target 4 is out of range for 4 classes, and not -1"), "{error}");
    assert!(aten::multilabel_margin_loss(&x, &target.narrow(0, 0, 1)?).is_err());
    assert!(aten::multilabel_margin_loss(&x.to_dtype(DType::Float16)?, &target).is_err());
    Ok(())
}

#[test]
fn pairs_of_rows_have_distances() -> Result<()> {
    let x = Tensor::from([[0.0, 1.0], [2.0, 3.0], [4.0, 1.0]]);
    x.set_requires_grad(true)?;
    let distances = aten::pdist(&x)?;
    close(&distances, &[2.82842712, 4.0, 2.82842712])?;
    assert_eq!(distances.grad_fn()?.map(|node| node.name()), Some("PdistBackward0"));
    let grads = grad(&[&distances], &[&x], &[Some(Tensor::from([1.0, 2.0, 3.0]))], GradOptions::new())?;
    close(
        grads[0].as_ref().expect("rows have a gradient"),
        &[-2.0 - FRAC_1_SQRT_2, -FRAC_1_SQRT_2, -SQRT_2, 2.82842712, 4.12132034, -2.12132034],
    )?;
    assert_eq!(aten::pdist(&Tensor::from([[1.0, 2.0]]))?.sizes(), [0]);
    assert!(aten::pdist(&Tensor::from([1.0])).is_err() && aten::pdist::call(&x, -1.0).is_err());
    assert!(aten::pdist(&Tensor::from([[1i64]])).is_err());
    assert!(aten::_cdist_backward(&x, &x, &Tensor::from([[1.0]]), 2.0, &x).is_err());
    Ok(())
}

#[test]
fn gradients_of_views_are_put_back() -> Result<()> {
    let windows = Tensor::from([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]);
    assert_eq!(aten::unfold_backward(&windows, &[4], 0, 2, 1)?.to_vec::<f64>()?, [0.0, 3.0, 7.0, 5.0]);
    assert_eq!(
        aten::unfold_backward(&windows, &[7], 0, 2, 2)?.to_vec::<f64>()?,
        [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 0.0]
    );
    assert!(aten::unfold_backward(&windows, &[9], 0, 2, 2).is_err());
    let diagonal = aten::diagonal_backward(&Tensor::from([1.0, 2.0]), &[2, 3], 1, 0, 1)?;
    assert_eq!(diagonal.to_vec::<f64>()?, [0.0, 1.0, 0.0, 0.0, 0.0, 2.0]);
    assert!(aten::diagonal_backward(&Tensor::from([1.0; 3]), &[2, 3], 1, 0, 1).is_err());
    let (x, mask) = (Tensor::from([1.0, 2.0, 3.0]), Tensor::from([true, false, true]));
    assert_eq!(aten::masked_scatter_backward(&x, &mask, &[3])?.to_vec::<f64>()?, [1.0, 3.0, 0.0]);
    assert!(aten::masked_scatter_backward(&x, &mask, &[1]).is_err());
    Ok(())
}

#[test]
fn attention_has_a_gradient_from_its_results() -> Result<()> {
    let x = Tensor::from([[[[1.0, 0.0], [0.0, 1.0]]]]);
    let (out, logsumexp) =
        aten::_scaled_dot_product_flash_attention_for_cpu::with(&x, &x, &x).is_causal(true).call()?;
    let grad = Tensor::from([[[[1.0, 2.0], [1.0, 2.0]]]]);
    let back = |dropout| {
        aten::_scaled_dot_product_flash_attention_for_cpu_backward(
            &grad, &x, &x, &x, &out, &logsumexp, dropout, true,
        )
    };
    let (of_query, of_key, of_value) = back(0.0)?;
    close(&of_query, &[0.0, 0.0, -0.1563986, 0.1563986])?;
    close(&of_key, &[0.0, -0.1563986, 0.0, 0.1563986])?;
    close(&of_value, &[1.33023845, 2.6604769, 0.66976155, 1.3395231])?;
    assert!(back(0.5).is_err());
    Ok(())
}

#[test]
fn attention_has_a_gradient_from_its_weights() -> Result<()> {
    let numbers = |from: i64, length: i64| {
        let numbers = (0..2 * 3 * length * 4).map(|n| ((n * 7 + from) % 11) as f32 / 4.0 - 1.0);
        Tensor::from_vec(numbers.collect::<Vec<_>>(), &[2, 3, length, 4])
    };
    let (query, key, value, grad) = (numbers(0, 5)?, numbers(1, 6)?, numbers(2, 6)?, numbers(3, 5)?);
    let mask = aten::tril(&aten::ones(&[5, 6])?)?;
    let mask = aten::log(&mask)?;
    let forth = aten::_scaled_dot_product_flash_attention_for_cpu::with(&query, &key, &value);
    let (out, logsumexp) = forth.attn_mask(Some(&mask)).call()?;
    let scores = aten::div_Scalar(&aten::matmul(&query, &aten::transpose_int(&key, -2, -1)?)?, 2.into())?;
    let weights = aten::softmax_int(&aten::add_Tensor(&scores, &mask)?, -1)?;
    let back = |statistics: &Tensor| {
        aten::_scaled_dot_product_flash_attention_for_cpu_backward::call(
            &grad,
            &query,
            &key,
            &value,
            &out,
            statistics,
            0.0,
            false,
            Some(&mask),
            None,
        )
    };
    let (wanted, found) = (back(&logsumexp)?, back(&weights)?);
    for (wanted, found) in [(wanted.0, found.0), (wanted.1, found.1), (wanted.2, found.2)] {
        assert_eq!(wanted.strides(), found.strides());
        assert!(aten::allclose::with(&wanted, &found).atol(1e-5).call()?);
    }
    assert!(back(&aten::transpose_int(&weights, 2, 3)?).is_err(), "weights of other queries");
    Ok(())
}

#[test]
fn gradients_of_selections_are_pytorchs() -> Result<()> {
    let (ones, picks) = (aten::ones(&[2, 2])?, Tensor::from([[0i64, 0], [2, 1]]));
    let input = aten::zeros(&[2, 3])?;
    close(&aten::gather_backward(&ones, &input, 1, &picks, false)?, &[2.0, 0.0, 0.0, 0.0, 1.0, 1.0])?;
    let rows = aten::index_select_backward(&aten::ones(&[2, 3])?, &[3, 3], 0, &Tensor::from([1i64, 1]))?;
    close(&rows, &[0.0, 0.0, 0.0, 2.0, 2.0, 2.0, 0.0, 0.0, 0.0])?;
    let (column, mask) = (aten::zeros(&[2, 1])?, Tensor::from([true, false, true]));
    let masked = aten::masked_select_backward(&Tensor::from([1.0f32, 2.0, 3.0, 4.0]), &column, &mask)?;
    assert_eq!(masked.sizes(), [2, 3]);
    close(&masked, &[1.0, 0.0, 2.0, 3.0, 0.0, 4.0])?;
    let selected = |grad: &Tensor, indices: &Tensor, sizes: &[i64], keepdim| {
        let dim = sizes.len() as i64 - 1;
        aten::value_selecting_reduction_backward(grad, dim.max(0), indices, sizes, keepdim)
    };
    let (grad, places) = (Tensor::from([1.0, 2.0, 3.0]), Tensor::from([0i64, 1, 0]));
    close(&selected(&grad, &places, &[3, 2], false)?, &[1.0, 0.0, 0.0, 2.0, 3.0, 0.0])?;
    let column = |tensor: &Tensor| aten::unsqueeze(tensor, 1);
    close(&selected(&column(&grad)?, &column(&places)?, &[3, 2], true)?, &[1.0, 0.0, 0.0, 2.0, 3.0, 0.0])?;
    close(&selected(&Tensor::from(5.0), &Tensor::from(0i64), &[], false)?, &[5.0])?;
    close(&aten::cummaxmin_backward(&grad, &grad, &Tensor::from([0i64, 0, 2]), 0)?, &[3.0, 0.0, 3.0])?;
    let input = Tensor::from([1.0, 2.0, 0.0]);
    close(
        &aten::cumprod_backward(&aten::ones_like(&grad)?, &input, 0, &aten::cumprod(&input, 0)?)?,
        &[3.0, 1.0, 2.0],
    )?;
    let rows = aten::embedding_backward(&aten::ones(&[2, 2])?, &Tensor::from([0i64, 1]), 3, 1, false, false)?;
    close(&rows, &[1.0, 1.0, 0.0, 0.0, 0.0, 0.0])
}

#[test]
fn the_gradient_of_a_trace_is_on_the_diagonal() -> Result<()> {
    let grad = Tensor::from(2.0);
    close(&aten::trace_backward(&grad, &[3, 2])?, &[2.0, 0.0, 0.0, 2.0, 0.0, 0.0])?;
    close(&aten::trace_backward(&grad, &[2, 3])?, &[2.0, 0.0, 0.0, 0.0, 2.0, 0.0])?;
    let message = aten::trace_backward(&grad, &[3]).unwrap_err().to_string();
    assert!(message.contains("expected those of a matrix"), "{message}");
    assert!(aten::trace_backward(&Tensor::from([1.0, 2.0]), &[2, 2]).is_err());
    Ok(())
}

#[test]
fn sparse_gradients_are_refused() -> Result<()> {
    let (grad, index) = (aten::ones(&[2, 2])?, Tensor::from([[0i64, 0], [1, 1]]));
    let message = aten::gather_backward(&grad, &grad, 1, &index, true).unwrap_err().to_string();
    assert!(message.contains("sparse_grad=True"), "{message}");
    let row = Tensor::from([0i64, 1]);
    assert!(aten::embedding_backward(&grad, &row, 4, -1, false, true).is_err());
    grad.set_requires_grad(true)?;
    for loss in [
        aten::gather::with(&grad, 1, &index).sparse_grad(true).call()?,
        aten::embedding::with(&grad, &row).sparse(true).call()?,
    ] {
        let error = loss.sum()?.backward().unwrap_err().to_string();
        assert!(error.contains("needs sparse tensors"), "{error}");
    }
    Ok(())
}

#[test]
fn writes_by_index_have_gradients() -> Result<()> {
    let (x, values) = (aten::ones(&[3])?, Tensor::from([2.0f32, 3.0]));
    x.set_requires_grad(true)?;
    values.set_requires_grad(true)?;
    let (picks, weights) = ([Some(Tensor::from([2i64, 0]))], Tensor::from([1.0f32, 10.0, 100.0]));
    let of = |sum: &Tensor, inputs: &[&Tensor]| grad(&[sum], inputs, &[], GradOptions::new());
    for written in [
        aten::_unsafe_index_put(&x, &picks, &values)?,
        aten::_index_put_impl(&x, &picks, &values)?,
        aten::_index_put_impl_(&mut aten::clone(&x)?, &picks, &values)?.clone(),
    ] {
        assert_eq!(written.to_vec::<f32>()?, [3.0, 1.0, 2.0]);
        let gradients = of(&written.mul(&weights)?.sum()?, &[&x, &values])?;
        close(gradients[0].as_ref().unwrap(), &[0.0, 10.0, 0.0])?;
        close(gradients[1].as_ref().unwrap(), &[100.0, 1.0])?;
    }
    let read = aten::_unsafe_index_Tensor(&x, &[Some(Tensor::from([1i64, 1]))])?;
    close(of(&read.sum()?, &[&x])?[0].as_ref().unwrap(), &[0.0, 2.0, 0.0])?;
    let mask = [Some(Tensor::from([true, false, true]))];
    assert!(aten::_unsafe_index_Tensor(&x, &mask).unwrap_err().to_string().contains("bool"));
    assert_eq!(aten::_unsafe_index_put(&x, &mask, &values)?.to_vec::<f32>()?, [2.0, 1.0, 3.0]);
    Ok(())
}

#[test]
fn the_gradient_of_gelu_is_a_function() -> Result<()> {
    let grad =
        aten::infinitely_differentiable_gelu_backward(&Tensor::from([1.0, 0.5]), &Tensor::from([1.0, -2.0]))?;
    assert_close(&grad, &[1.0833154705876864, -0.04261590053909846])?;
    Ok(())
}

#[test]
fn gates_change_with_their_input() -> Result<()> {
    let x = Tensor::from([[0.5, -1.0, 2.0, 0.25], [1.5, 0.0, -0.5, 1.0]]);
    let dx = Tensor::from([[1.0, 0.5, -1.0, 2.0], [0.25, -2.0, 1.0, 0.0]]);
    close(
        &aten::glu_jvp(&aten::glu::call(&x, 1)?, &x, &dx, 1)?,
        &[0.828300246, -0.211179881, 0.446890699, -1.462117157],
    )?;
    let (grad, dgrad) = (Tensor::from([[1.0, 2.0], [-1.0, 0.5]]), Tensor::from([[0.5, 0.0], [1.0, -1.0]]));
    let of_x = aten::glu_backward(&grad, &x, 1)?;
    let change = aten::glu_backward_jvp(&of_x, &grad, &x, &dgrad, &dx, 1)?;
    // What the derivative of the gradient says, in the direction of the changes.
    let (small, half) = (1e-6, |sign: f64| {
        let moved = |of: &Tensor, by: &Tensor| of.add(&by.mul(sign * 1e-6)?);
        aten::glu_backward(&moved(&grad, &dgrad)?, &moved(&x, &dx)?, 1)
    });
    let slope = half(1.0)?.sub(&half(-1.0)?)?.mul(0.5 / small)?;
    assert!(aten::allclose::with(&change, &slope).rtol(1e-5).atol(1e-7).call()?, "{change} and {slope}");
    Ok(())
}

#[test]
fn gradients_of_bags_need_only_the_bag_of_each_row() -> Result<()> {
    let (grad, rows) = (Tensor::from([[1.0, 2.0], [3.0, 4.0]]), Tensor::from([1i64, 2, 2]));
    let (bags, sizes) = (Tensor::from([0i64, 0, 1]), Tensor::from([2i64, 1]));
    let largest = Tensor::from([[1i64, 2], [2, 2]]);
    let of = |by_frequency, mode, share: Option<&Tensor>, padding| {
        aten::_embedding_bag_dense_backward::call(
            &grad,
            &rows,
            &bags,
            &sizes,
            &largest,
            4,
            by_frequency,
            mode,
            share,
            padding,
        )
    };
    let share = Tensor::from([2.0, 3.0, 0.5]);
    close(&of(false, 0, Some(&share), -1)?, &[0.0, 0.0, 2.0, 4.0, 4.5, 8.0, 0.0, 0.0])?;
    close(&of(true, 1, None, -1)?, &[0.0, 0.0, 0.5, 1.0, 1.75, 2.5, 0.0, 0.0])?;
    close(&of(false, 1, None, 2)?, &[0.0, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0, 0.0])?;
    close(&of(false, 2, None, -1)?, &[0.0, 0.0, 1.0, 0.0, 3.0, 6.0, 0.0, 0.0])
}

#[test]
fn gradients_of_cells_are_pytorchs() -> Result<()> {
    let line = |from: f64, step: f64, count: usize| {
        let numbers = (0..count).map(|at| from + step * at as f64).collect();
        Tensor::from_vec::<f64>(numbers, &[1, count as i64])
    };
    let (input, hidden) = (line(-1.0, 2.0 / 7.0, 8)?, line(0.5, -1.0 / 7.0, 8)?);
    let bias = line(0.0, 0.1, 8)?.reshape(&[8])?;
    let (state, memory) = (Tensor::from([[0.5, -0.25]]), Tensor::from([[0.3, 0.7]]));
    let (of_gates, other, of_memory, of_bias, _) = aten::_thnn_differentiable_lstm_cell_backward(
        Some(&state),
        Some(&memory),
        &input,
        &hidden,
        Some(&bias),
        Some(&bias.mul(2)?),
        &memory,
        &state,
    )?;
    let wanted = [
        0.130972547,
        0.112660041,
        0.047158641,
        0.071269504,
        0.06660009,
        0.028449586,
        0.021469742,
        0.003940636,
    ];
    for found in [&of_gates, &other, &of_bias] {
        close(found, &wanted)?;
    }
    close(&of_memory, &[0.388377209, 0.334971288])?;
    let without = |hy: Option<&Tensor>, cy: Option<&Tensor>| {
        aten::_thnn_differentiable_lstm_cell_backward(hy, cy, &input, &hidden, None, None, &memory, &state)
    };
    let (of_gates, _, _, of_bias, _) = without(None, Some(&memory))?;
    assert!(!of_bias.is_defined());
    let wanted = [0.005027246, 0.035783147, 0.022243676, 0.122343881, 0.112686299, 0.275319078, 0.0, 0.0];
    close(&of_gates, &wanted)?;
    assert!(without(None, None).unwrap_err().to_string().contains("a gradient is missing"));

    let [input, hidden] = [&input, &hidden].map(|gates| gates.narrow(1, 0, 6));
    let bias = bias.narrow(0, 0, 6)?;
    let (of_input, of_hidden, of_state, _, of_bias) = aten::_thnn_differentiable_gru_cell_backward(
        &state,
        &input?,
        &hidden?,
        &memory,
        Some(&bias),
        Some(&bias.mul(2)?),
    )?;
    let wanted = [0.018912254, -0.003772258, -0.045045874, 0.008691433, 0.11045781, -0.019219909];
    close(&of_input, &wanted)?;
    let wanted = [0.018912254, -0.003772258, -0.045045874, 0.008691433, 0.041702315, -0.00933546];
    close(&of_hidden, &wanted)?;
    close(&of_bias, &wanted)?;
    close(&of_state, &[0.297625273, -0.174013197])?;
    Ok(())
}

#[test]
fn second_gradients_of_a_convolution_have_a_name() -> Result<()> {
    let line = |from: f64, step: f64, sizes: &[i64]| {
        let numbers = (0..sizes.iter().product::<i64>()).map(|at| from + step * at as f64).collect();
        Tensor::from_vec::<f64>(numbers, sizes)
    };
    let (image, grad) = (line(0.0, 0.125, &[1, 1, 4, 4])?, line(-1.0, 0.25, &[1, 1, 3, 3])?);
    let kernel = Tensor::from([[[[1.0, -1.0], [0.5, 2.0]]]]);
    let (of_image, of_kernel, of_bias) = (image.mul(2)?, kernel.mul(-1)?, Tensor::from([0.5]));
    let second = |grad: &Tensor, [of_image, of_kernel, of_bias]: [Option<&Tensor>; 3]| {
        aten::_convolution_double_backward(
            of_image,
            of_kernel,
            of_bias,
            grad,
            &kernel,
            &image,
            &[1, 1],
            &[0, 0],
            &[1, 1],
            false,
            &[0, 0],
            1,
            &[true; 3],
        )
    };
    let (of_grad, of_input, of_weight) = second(&grad, [Some(&of_image), Some(&of_kernel), Some(&of_bias)])?;
    close(&of_grad, &[1.875, 2.1875, 2.5, 3.125, 3.4375, 3.75, 4.375, 4.6875, 5.0])?;
    let wanted = [
        1.0, -0.25, -0.25, -0.5, 0.75, 2.125, 1.5, 1.25, -0.375, 0.25, -0.375, 0.5, -0.25, -1.375, -2.0, -2.0,
    ];
    close(&of_input, &wanted)?;
    close(&of_weight, &[4.875; 4])?;
    let (of_grad, of_input, of_weight) = second(&grad, [None; 3])?;
    assert!([of_grad, of_input, of_weight].iter().all(|gradient| !gradient.is_defined()));
    assert!(second(&Tensor::from(0.5), [None, None, Some(&of_bias)]).is_err(), "no channels");
    let same = aten::mkldnn_convolution(&image, &kernel, None, &[0, 1], &[1, 2], &[1, 1], 1)?;
    let wanted = aten::convolution(&image, &kernel, None, &[1, 2], &[0, 1], &[1, 1], false, &[0, 0], 1)?;
    assert!(aten::equal(&same, &wanted)?);
    Ok(())
}

#[test]
fn a_width_that_the_type_does_not_have_is_refused_backward_as_forward() {
    let (g, x) = (Tensor::from([1.0f32]), Tensor::from([0.25f32]));
    assert!(aten::hardshrink::with(&x).lambd(1e300).call().is_err());
    for slope in [aten::hardshrink_backward, aten::softshrink_backward] {
        assert!(slope(&g, &x, 1e300.into()).is_err() && slope(&g, &x, 0.5.into()).is_ok());
    }
    for (beta, threshold) in [(1e300, 20.0), (1.0, 1e300)] {
        assert!(aten::softplus_backward(&g, &x, beta.into(), threshold.into()).is_err());
    }
    assert!(aten::softplus_backward(&g, &x, 1.into(), 20.into()).is_ok());
}

#[test]
fn some_slopes_in_double_precision_have_the_digits_of_a_float_as_in_pytorch() -> Result<()> {
    let x = Tensor::from([-0.5, 1.0]);
    let sixth = f64::from(1.0f32 / 6.0);
    assert_eq!(aten::hardsigmoid_backward(&aten::ones_like(&x)?, &x)?.to_vec::<f64>()?, [sixth; 2]);
    x.set_requires_grad(true)?;
    let [slope] =
        grad(&[&aten::hardsigmoid(&x)?.sum()?], &[&x], &[], GradOptions::new())?.try_into().unwrap();
    assert_eq!(slope.unwrap().to_vec::<f64>()?, [sixth; 2]);
    let sum = aten::celu::call(&x, 0.9.into())?.sum()?;
    let [slope] = grad(&[&sum], &[&x], &[], GradOptions::new())?.try_into().unwrap();
    let slopes = slope.unwrap().to_vec::<f64>()?;
    assert!((slopes[0] - 0.5737534274926661).abs() < 1e-12 && slopes[1] == 1.0, "{slopes:?}");
    Ok(())
}
