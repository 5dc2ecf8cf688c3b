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
fn a_fused_step_refuses_what_does_not_fit() -> Result<()> {
    let (gates, cx) = (random(&[2, 12])?, random(&[2, 3])?);
    let refused = |input: &Tensor, cx: &Tensor, bias: Option<&Tensor>| {
        aten::_thnn_fused_lstm_cell::call(input, &gates, cx, bias, None).unwrap_err().to_string()
    };
    assert!(refused(&gates, &random(&[2, 4])?, None).contains("are not four times a state of [2, 4]"));
    assert!(refused(&gates, &random(&[3])?, None).contains("expected matrices"));
    assert!(refused(&gates, &cx, Some(&random(&[3])?)).contains("a bias of sizes [3] for 12 gates"));
    let narrow = gates.to_dtype(DType::Float32)?;
    assert!(refused(&narrow, &cx, None).contains("gates or a bias of float32 and a state of float64"));
    Ok(())
}
