//! Recurrent networks.

use torch_library::autograd::{gradcheck, gradgradcheck};
use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;
use torch_library_kernels::vmap::vmap;

fn random(sizes: &[i64]) -> Result<Tensor> {
    aten::randn::with(sizes).dtype(Some(DType::Float64)).call()
}

/// Without a gradient each step is one operator; with one it is in parts.
#[test]
fn an_lstm_gives_the_same_with_and_without_a_gradient() -> Result<()> {
    let sizes = [[16, 3], [16, 2], [16, 1], [16, 1], [2, 4]];
    let parameters: Vec<Tensor> = (0..2)
        .flat_map(|_| sizes)
        .map(|[rows, columns]| match columns {
            1 => random(&[rows]),
            _ => random(&[rows, columns]),
        })
        .collect::<Result<_>>()?;
    for (dtype, tolerance) in [(DType::Float64, 1e-12), (DType::Float32, 1e-5), (DType::BFloat16, 0.05)] {
        let of = |tensor: &Tensor| tensor.to_dtype(dtype);
        let parameters = parameters.iter().map(of).collect::<Result<Vec<_>>>()?;
        let (input, hidden, cell) =
            (of(&random(&[9, 2, 3])?)?, of(&random(&[2, 2, 2])?)?, of(&random(&[2, 2, 4])?)?);
        let run = |input: &Tensor| {
            let state = [hidden.clone(), cell.clone()];
            aten::lstm_input(input, &state, &parameters, true, 1, 0.0, false, true, false)
        };
        let (output, hidden, cell) = run(&input)?;
        let wanted = input.copy()?;
        wanted.set_requires_grad(true)?;
        let want = run(&wanted)?;
        for (got, want) in [(output, want.0), (hidden, want.1), (cell, want.2)] {
            let (got, want) = (got.to_dtype(DType::Float64)?, want.detach()?.to_dtype(DType::Float64)?);
            assert!(aten::allclose::with(&got, &want).rtol(tolerance).atol(tolerance).call()?, "{dtype}");
        }
    }
    Ok(())
}

#[test]
fn a_fused_step_has_derivatives_and_batching_rules() -> Result<()> {
    let inputs = [random(&[2, 12])?, random(&[2, 12])?, random(&[2, 3])?, random(&[12])?, random(&[12])?];
    let step = |inputs: &[Tensor]| {
        let [input, hidden, cx, input_bias, hidden_bias] = inputs else { unreachable!("five inputs") };
        let biases = (Some(input_bias), Some(hidden_bias));
        aten::_thnn_fused_lstm_cell::call(input, hidden, cx, biases.0, biases.1)
    };
    let states = |inputs: &[Tensor]| step(inputs).map(|(hy, cy, _)| vec![hy, cy]);
    inputs.iter().try_for_each(|input| input.set_requires_grad(true))?;
    gradcheck(states, &inputs, Default::default())?;
    gradgradcheck(states, &inputs, Default::default())?;

    let [input, hidden, cx, input_bias, hidden_bias] = inputs.map(|input| input.detach().expect("a view"));
    let (hy, cy, gates) =
        aten::_thnn_fused_lstm_cell::call(&input, &hidden, &cx, Some(&input_bias), Some(&hidden_bias))?;
    let batch = aten::stack(&[input.clone(), input])?;
    let all = vmap([&batch], |[input]| {
        let (hy, cy, gates) =
            aten::_thnn_fused_lstm_cell::call(&input, &hidden, &cx, Some(&input_bias), Some(&hidden_bias))?;
        aten::cat::with(&[hy, cy, gates]).dim(1).call()
    })?;
    let want = aten::cat::with(&[hy, cy, gates]).dim(1).call()?;
    for i in 0..2 {
        assert!(aten::allclose(&all.select(0, i)?, &want)?, "{i}");
    }
    Ok(())
}

#[test]
fn fused_gradients_are_those_of_the_step() -> Result<()> {
    let [input, hidden] = [random(&[2, 12])?, random(&[2, 12])?];
    let [cx, grad_hy, grad_cy] = [random(&[2, 3])?, random(&[2, 3])?, random(&[2, 3])?];
    let biases = [random(&[12])?, random(&[12])?];
    let (_, cy, gates) =
        aten::_thnn_fused_lstm_cell::call(&input, &hidden, &cx, Some(&biases[0]), Some(&biases[1]))?;
    for grads in [(Some(&grad_hy), Some(&grad_cy)), (Some(&grad_hy), None), (None, Some(&grad_cy))] {
        let got = aten::_thnn_fused_lstm_cell_backward(grads.0, grads.1, &cx, &cy, &gates, true)?;
        let want = aten::_thnn_differentiable_lstm_cell_backward(
            grads.0,
            grads.1,
            &input,
            &hidden,
            Some(&biases[0]),
            Some(&biases[1]),
            &cx,
            &cy,
        )?;
        are_close(&[got.0, got.1, got.2, got.3, got.4], &[want.0, want.1, want.2, want.3, want.4])?;
    }
    let none = aten::_thnn_fused_lstm_cell_backward(None, None, &cx, &cy, &gates, true)?;
    assert!([none.0, none.1, none.2, none.3, none.4].iter().all(|grad| !grad.is_defined()));
    let (_, _, of_bias) =
        aten::_thnn_fused_lstm_cell_backward_impl(Some(&grad_hy), None, &cx, &cy, &gates, false)?;
    assert!(!of_bias.is_defined());
    let empty = || aten::zeros::with(&[0]).dtype(Some(DType::Float64)).call();
    let mut outs = [empty()?, empty()?, empty()?];
    let [hy_out, cy_out, gates_out] = &mut outs;
    aten::_thnn_fused_lstm_cell_out::call(
        &input,
        &hidden,
        &cx,
        Some(&biases[0]),
        Some(&biases[1]),
        hy_out,
        cy_out,
        gates_out,
    )?;
    are_close(&outs[1..], &[cy, gates.clone()])?;
    let error =
        aten::_thnn_fused_lstm_cell_backward(Some(&grad_hy), None, &input, &input, &gates, true).unwrap_err();
    assert!(
        error.to_string().contains("a workspace of sizes [2, 12] is not 4 times a state of [2, 12]"),
        "{error}"
    );
    Ok(())
}

fn are_close(got: &[Tensor], want: &[Tensor]) -> Result<()> {
    for (n, (got, want)) in got.iter().zip(want).enumerate() {
        assert!(aten::allclose(got, want)?, "{n}");
    }
    Ok(())
}

#[test]
fn a_fused_step_of_a_gru_is_that_of_its_cell() -> Result<()> {
    let (x, hx) = (random(&[2, 4])?, random(&[2, 3])?);
    let (to_input, to_hidden) = (random(&[9, 4])?, random(&[9, 3])?);
    let biases = [random(&[9])?, random(&[9])?];
    let gates = [x.matmul(&to_input.t()?)?, hx.matmul(&to_hidden.t()?)?];
    let step = |inputs: &[Tensor]| {
        let [input, hidden, hx, input_bias, hidden_bias] = inputs else { unreachable!("five inputs") };
        aten::_thnn_fused_gru_cell::call(input, hidden, hx, Some(input_bias), Some(hidden_bias))
    };
    let [input, hidden] = gates;
    let [input_bias, hidden_bias] = biases;
    let inputs = [input, hidden, hx.clone(), input_bias.clone(), hidden_bias.clone()];
    let (hy, workspace) = step(&inputs)?;
    let want = aten::gru_cell::call(&x, &hx, &to_input, &to_hidden, Some(&input_bias), Some(&hidden_bias))?;
    are_close(&[hy], &[want])?;
    assert_eq!(workspace.sizes(), [2, 15]);

    let grad = random(&[2, 3])?;
    let got = aten::_thnn_fused_gru_cell_backward(&grad, &workspace, true)?;
    let want = aten::_thnn_differentiable_gru_cell_backward(
        &grad,
        &inputs[0],
        &inputs[1],
        &hx,
        Some(&input_bias),
        Some(&hidden_bias),
    )?;
    are_close(&[got.0, got.1, got.2, got.3, got.4], &[want.0, want.1, want.2, want.3, want.4])?;
    let without = aten::_thnn_fused_gru_cell_backward(&grad, &workspace, false)?;
    assert!(!without.3.is_defined() && !without.4.is_defined());
    assert!(aten::_thnn_fused_gru_cell_backward(&random(&[2, 4])?, &workspace, true).is_err());

    inputs.iter().try_for_each(|input| input.set_requires_grad(true))?;
    let state = |inputs: &[Tensor]| step(inputs).map(|(hy, _)| vec![hy]);
    gradcheck(state, &inputs, Default::default())?;
    gradgradcheck(state, &inputs, Default::default())
}

#[test]
fn a_fused_step_refuses_what_does_not_fit() -> Result<()> {
    let (gates, cx) = (random(&[2, 12])?, random(&[2, 3])?);
    let refused = |input: &Tensor, cx: &Tensor, bias: Option<&Tensor>| {
        aten::_thnn_fused_lstm_cell::call(input, &gates, cx, bias, None).unwrap_err().to_string()
    };
    assert!(refused(&gates, &random(&[2, 4])?, None).contains("are not 4 times a state of [2, 4]"));
    assert!(refused(&gates, &random(&[3])?, None).contains("expected matrices"));
    assert!(refused(&gates, &cx, Some(&random(&[3])?)).contains("a bias of sizes [3] for 12 gates"));
    let narrow = gates.to_dtype(DType::Float32)?;
    assert!(refused(&narrow, &cx, None).contains("gates or a bias of float32 and a state of float64"));
    Ok(())
}
