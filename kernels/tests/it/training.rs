//! Training: optimisers compared with PyTorch's numbers, initial parameters, batches, checkpoints.

use torch_library::prelude::*;
use torch_library_kernels::loader::Batches;
use torch_library_kernels::optim::{
    AdamW, Optimizer, Sgd, clip_grad_norm_, clip_grad_value_, get_total_norm,
};
use torch_library_kernels::prelude::*;
use torch_library_kernels::{aten, init};

/// The parameters after three steps on a quadratic.
fn descent<O: Optimizer>(optimizer: impl FnOnce(Tensor) -> Result<O>) -> Result<Vec<f64>> {
    let x = Tensor::from([1.0, -2.0, 0.5]);
    x.set_requires_grad(true)?;
    let (mut optimizer, steepness) = (optimizer(x.clone())?, Tensor::from([1.0, 2.0, 3.0]));
    for _ in 0..3 {
        optimizer.zero_grad()?;
        x.mul(&x)?.mul(&steepness)?.sum()?.backward()?;
        optimizer.step()?;
    }
    x.to_vec()
}

fn assert_close(values: Vec<f64>, expected: [f64; 3]) {
    let is_close = values.iter().zip(expected).all(|(value, expected)| (value - expected).abs() < 1e-11);
    assert!(is_close && values.len() == 3, "{values:?} are not {expected:?}");
}

#[test]
fn sgd_goes_where_pytorchs_goes() -> Result<()> {
    assert_close(descent(|x| Sgd::new([x], 0.1))?, [0.512, -0.432, 0.032]);
    let heavy = |x| Sgd::new([x], 0.1)?.momentum(0.9)?.weight_decay(0.01);
    assert_close(descent(heavy)?, [0.058194199, 1.084492802, -0.4274635005]);
    let ahead = |x| Ok(heavy(x)?.nesterov(true));
    assert_close(descent(ahead)?, [-0.111651094259, 0.867010499318, -0.151414782529]);
    Ok(())
}

#[test]
fn adamw_goes_where_pytorchs_goes() -> Result<()> {
    assert_close(descent(|x| AdamW::new([x], 0.1))?, [0.698911183158, -1.694944514002, 0.203712380856]);
    let other = |x| AdamW::new([x], 0.1)?.betas(0.8, 0.9)?.weight_decay(0.1)?.eps(1e-4);
    assert_close(descent(other)?, [0.675265218054, -1.644445206213, 0.193812459365]);
    Ok(())
}

/// Parameters with gradients of several types and sizes, and one without.
fn with_gradients() -> Result<[Tensor; 4]> {
    let parameters = [
        Tensor::from([0f32; 3]),
        Tensor::from([[0f64; 2]; 2]),
        Tensor::from([0f32; 2]).to_dtype(DType::BFloat16)?,
        Tensor::from([0.0]),
    ];
    let [x, y, z, _] = &parameters;
    x.set_grad(Some(Tensor::from([1f32, -2.0, 0.5])))?;
    y.set_grad(Some(Tensor::from([[3.0, -4.0], [0.25, 5.0]])))?;
    z.set_grad(Some(Tensor::from([1.5f32, -6.0]).to_dtype(DType::BFloat16)?))?;
    Ok(parameters)
}

fn gradients(parameters: &[Tensor]) -> Result<Vec<f64>> {
    let grads = parameters.iter().filter_map(Tensor::grad);
    Ok(grads.map(|grad| grad.to_dtype(DType::Float64)?.to_vec()).collect::<Result<Vec<_>>>()?.concat())
}

#[test]
fn gradients_are_clipped_as_pytorch_clips_them() -> Result<()> {
    // The order of the norm, the limit, the norm before, the sum of the magnitudes after.
    for (norm_type, max_norm, norm, after) in [
        (2.0, 4.0, 9.674588181735865, 9.617373115629),
        (2.0, 100.0, 9.674588181735865, 23.25),
        (f64::INFINITY, 4.0, 6.0, 15.499998291195),
        (1.0, 4.0, 23.25, 3.998739828148),
        (3.0, 4.0, 7.6319364491149315, 12.180565841558),
        (0.0, 4.0, 3.0, 23.25),
    ] {
        let parameters = with_gradients()?;
        let found: f64 = clip_grad_norm_(&parameters, max_norm, norm_type)?.item()?.to()?;
        let magnitudes: f64 = gradients(&parameters)?.iter().map(|x| x.abs()).sum();
        assert!((found - norm).abs() < 1e-12, "norm {norm_type}: {found}");
        assert!((magnitudes - after).abs() < 1e-6, "norm {norm_type} to {max_norm}: {magnitudes}");
    }
    let parameters = with_gradients()?;
    clip_grad_value_(&parameters, 1.25)?;
    assert_eq!(gradients(&parameters)?, [1.0, -1.25, 0.5, 1.25, -1.25, 0.25, 1.25, 1.25, -1.25]);
    let none = clip_grad_norm_(&[Tensor::from([1.0])], 1.0, 2.0)?;
    assert_eq!((none.item()?.to::<f64>()?, none.dim()), (0.0, 0));
    assert_eq!(get_total_norm(&[], 2.0)?.item()?.to::<f64>()?, 0.0);
    Ok(())
}

#[test]
fn a_limit_below_zero_is_refused_and_clips_nothing() -> Result<()> {
    let parameters = with_gradients()?;
    let before = gradients(&parameters)?;
    let error = clip_grad_norm_(&parameters, -1.0, 2.0).unwrap_err();
    assert_eq!(error.to_string(), "clip_grad_norm_: max_norm is -1, must not be negative");
    let error = clip_grad_value_(&parameters, f64::NAN).unwrap_err();
    assert_eq!(error.to_string(), "clip_grad_value_: clip_value is NaN, must not be negative");
    assert_eq!(gradients(&parameters)?, before);
    Ok(())
}

#[test]
fn parameters_without_a_gradient_stay() -> Result<()> {
    let (x, y) = (Tensor::from([1.0]), Tensor::from([1.0]));
    x.set_requires_grad(true)?;
    let mut optimizer = AdamW::new([y.clone(), x.clone()], 0.5)?;
    x.mul(2)?.sum()?.backward()?;
    optimizer.step()?;
    assert!(x.to_vec::<f64>()? < vec![1.0] && y.to_vec::<f64>()? == [1.0]);
    let steps: Vec<_> = optimizer.state().into_iter().filter(|(name, _)| name.starts_with("step")).collect();
    assert_eq!(steps[0].1.item()?.to::<f64>()? + 10.0 * steps[1].1.item()?.to::<f64>()?, 10.0);
    Ok(())
}

#[test]
fn a_step_without_gradients_changes_nothing() -> Result<()> {
    let x = Tensor::from([1.0]);
    x.set_requires_grad(true)?;
    Sgd::new([x.clone()], 0.1)?.momentum(0.9)?.step()?;
    AdamW::new([x.clone()], 0.1)?.step()?;
    Sgd::new([], 0.1)?.step()?;
    assert_eq!(x.to_vec::<f64>()?, [1.0]);
    Ok(())
}

#[test]
fn the_learning_rate_can_change() -> Result<()> {
    let x = Tensor::from([1.0]);
    x.set_requires_grad(true)?;
    x.sum()?.backward()?;
    let mut optimizer = Sgd::new([x.clone()], 0.5)?;
    optimizer.step()?;
    optimizer.set_lr(optimizer.lr() / 2.0);
    optimizer.step()?;
    assert_eq!(x.to_vec::<f64>()?, [0.25]);
    Ok(())
}

#[test]
fn settings_out_of_range_are_refused() -> Result<()> {
    let x = Tensor::from([1.0]);
    x.set_requires_grad(true)?;
    let (sgd, adam) = (|lr| Sgd::new([x.clone()], lr), |lr| AdamW::new([x.clone()], lr));
    let of_sgd = [sgd(f64::NAN), sgd(0.1)?.momentum(-0.5), sgd(0.1)?.weight_decay(-1.0)];
    assert_eq!(
        of_sgd.map(|refused| refused.unwrap_err().to_string()),
        [
            "SGD: lr is NaN, must not be negative",
            "SGD: momentum is -0.5, must not be negative",
            "SGD: weight_decay is -1, must not be negative",
        ]
    );
    let wild = [adam(0.1)?.betas(1.5, 0.9), adam(0.1)?.betas(0.9, 1.0)];
    let of_adam = [adam(-0.1), adam(0.1)?.eps(-1.0), adam(0.1)?.weight_decay(f64::NAN)];
    assert_eq!(
        of_adam.into_iter().chain(wild).map(|refused| refused.unwrap_err().to_string()).collect::<Vec<_>>(),
        [
            "AdamW: lr is -0.1, must not be negative",
            "AdamW: eps is -1, must not be negative",
            "AdamW: weight_decay is NaN, must not be negative",
            "AdamW: betas are (1.5, 0.9), must be from 0 to less than 1",
            "AdamW: betas are (0.9, 1), must be from 0 to less than 1",
        ]
    );
    Ok(())
}

#[test]
fn a_step_refuses_settings_and_parameters_that_it_cannot_use() -> Result<()> {
    let x = Tensor::from([1.0]);
    x.set_requires_grad(true)?;
    let refused = |mut optimizer: Box<dyn Optimizer>| optimizer.step().unwrap_err().to_string();
    let sgd = |x: Tensor| Sgd::new([x], 0.1);
    assert!(refused(Box::new(sgd(x.clone())?.nesterov(true))).contains("needs a momentum"));
    assert!(refused(Box::new(sgd(x.mul(2.0)?)?)).contains("parameter 0 was computed by MulBackward"));
    let later: [Box<dyn Optimizer>; 2] = [Box::new(sgd(x.clone())?), Box::new(AdamW::new([x], 0.1)?)];
    for mut optimizer in later {
        optimizer.set_lr(-0.5);
        assert!(refused(optimizer).contains("lr is -0.5, must not be negative"));
    }
    Ok(())
}

#[test]
fn the_scale_of_gradients_is_undone() -> Result<()> {
    let step = |found_inf: f32| {
        let (mut x, mut grad) = ([Tensor::from([1.0])], [Tensor::from([8.0])]);
        let (scale, found_inf) = (Tensor::from(4f32), Tensor::from(found_inf));
        aten::_fused_sgd_::with(&mut x, &mut grad, &mut [], 0.0, 0.0, 0.25, 0.0, false, true, true)
            .grad_scale(Some(&scale))
            .found_inf(Some(&found_inf))
            .call()?;
        Ok::<_, Error>((x[0].item()?.to::<f64>()?, grad[0].item()?.to::<f64>()?))
    };
    assert_eq!((step(0.0)?, step(1.0)?), ((1.5, 2.0), (1.0, 8.0)));
    Ok(())
}

#[test]
fn first_parameters_have_the_spread_that_was_asked_for() -> Result<()> {
    let generator = Generator::with_seed(3);
    let drawn: Vec<f32> = init::uniform(&[4], -1.0, 1.0, &generator)?.to_vec()?;
    let pytorchs = [-0.991_473, -0.788_861_3, -0.428_315_04, -0.946_090_34];
    assert!(
        drawn.len() == 4
            && drawn.iter().zip(pytorchs).all(|(ours, theirs): (_, f32)| (ours - theirs).abs() < 1e-6),
        "{drawn:?}"
    );
    let normal: Vec<f32> = init::kaiming_normal(&[100, 50], &generator)?.to_vec()?;
    let (mean, square) = normal.iter().fold((0.0, 0.0), |(mean, square), x| (mean + x, square + x * x));
    assert!((mean / 5000.0).abs() < 0.01 && (square / 5000.0 - 2.0 / 50.0).abs() < 0.003);
    let error = init::kaiming_uniform(&[3], &generator).unwrap_err().to_string();
    assert_eq!(error, "a weight has sizes [outputs, inputs, …], [3] has no inputs");
    Ok(())
}

#[test]
fn batches_have_every_example_once() -> Result<()> {
    let (x, y) =
        (Tensor::from([0i64, 1, 2, 3, 4, 5, 6]), Tensor::from([[0.], [1.], [2.], [3.], [4.], [5.], [6.]]));
    let batches = Batches::new([&x, &y], 3)?;
    assert_eq!(batches.len(), 3);
    let collect = |batches: Batches<2>| {
        let mut all = Vec::new();
        for batch in batches {
            let [x, y] = batch?;
            assert_eq!(x.to_dtype(DType::Float64)?.to_vec::<f64>()?, y.to_vec::<f64>()?);
            all.push(x.to_vec::<i64>()?);
        }
        Ok::<_, Error>(all)
    };
    assert_eq!(collect(batches.clone())?, [vec![0, 1, 2], vec![3, 4, 5], vec![6]]);
    let shuffled = collect(batches.shuffled(&Generator::with_seed(3))?)?.concat();
    assert_eq!(shuffled, [5, 3, 4, 6, 0, 2, 1], "as `torch.randperm(7)`");
    assert_eq!(
        Batches::new([&x, &Tensor::from([1.0])], 3).unwrap_err().to_string(),
        "7 examples in one tensor, 1 in another"
    );
    assert!(Batches::new([&Tensor::from(1.0)], 1).is_err());
    assert_eq!(
        Batches::new([&x], 0).unwrap_err().to_string(),
        "batches of no examples would never end, expected a size of at least 1"
    );
    Ok(())
}

#[test]
fn how_many_batches_are_to_come_is_exact_at_every_moment() -> Result<()> {
    for examples in 0..9usize {
        let x = Tensor::from((0..examples as i64).collect::<Vec<_>>());
        for size in [1, 2, 3, 4, 8, 9, usize::MAX] {
            let mut batches = Batches::new([&x], size)?;
            let mut sizes = Vec::new();
            loop {
                let hint = batches.size_hint();
                assert_eq!(hint, (batches.clone().count(), Some(hint.0)), "{examples} by {size}, {sizes:?}");
                let Some(batch) = batches.next() else { break };
                sizes.push(batch?[0].numel() as usize);
            }
            assert_eq!(sizes.iter().sum::<usize>(), examples);
            assert!(sizes.split_last().is_none_or(|(_, full)| full.iter().all(|count| *count == size)));
            assert!(batches.next().is_none() && batches.size_hint() == (0, Some(0)), "the end is an end");
        }
    }
    assert_eq!(Batches::new([], 3)?.size_hint(), (0, Some(0)));
    Ok(())
}

#[test]
fn shuffling_begins_anew() -> Result<()> {
    let mut batches = Batches::new([&Tensor::from([0i64, 1, 2, 3, 4])], 2)?;
    batches.next().expect("there are three")?;
    let shuffled = batches.shuffled(&Generator::with_seed(1))?;
    assert_eq!(shuffled.len(), 3);
    let mut examples = Vec::new();
    for batch in shuffled {
        let [batch] = batch?;
        examples.extend(batch.to_vec::<i64>()?);
    }
    examples.sort_unstable();
    assert_eq!(examples, [0, 1, 2, 3, 4]);
    Ok(())
}

#[test]
fn optimisers_say_their_settings() -> Result<()> {
    assert_eq!(
        AdamW::new([], 2e-3)?.betas(0.8, 0.9)?.to_string(),
        "AdamW(lr=0.002, betas=(0.8, 0.9), eps=1e-8, weight_decay=0.01)"
    );
    assert_eq!(
        Sgd::new([], 0.1)?.momentum(0.9)?.nesterov(true).to_string(),
        "SGD(lr=0.1, momentum=0.9, weight_decay=0, nesterov=true)"
    );
    Ok(())
}

#[test]
fn an_infinite_parameter_leaves_the_averages_of_its_gradients_finite() -> Result<()> {
    let one = |x: f64| [Tensor::from([x])];
    let (mut x, mut grad, mut mean, mut square) = (one(f64::INFINITY), one(0.5), one(0.0), one(0.0));
    let steps = [Tensor::from(1.0)];
    aten::_fused_adamw_::call(
        &mut x,
        &mut grad,
        &mut mean,
        &mut square,
        &mut [],
        &steps,
        0.1,
        0.9,
        0.99,
        0.1,
        1e-8,
        false,
        false,
        None,
        None,
    )?;
    assert_eq!(x[0].to_vec::<f64>()?, [f64::INFINITY]);
    assert!((mean[0].to_vec::<f64>()?[0] - 0.05).abs() < 1e-12);
    assert!((square[0].to_vec::<f64>()?[0] - 0.0025).abs() < 1e-12);
    let mut most = one(1.0);
    aten::_fused_adam_::call(
        &mut x,
        &mut one(f64::NAN),
        &mut mean,
        &mut square,
        &mut most,
        &steps,
        0.1,
        0.9,
        0.99,
        0.0,
        1e-8,
        true,
        false,
        None,
        None,
    )?;
    assert!(most[0].to_vec::<f64>()?[0].is_nan(), "AMSGrad's maximum does not hide NaN");
    Ok(())
}
