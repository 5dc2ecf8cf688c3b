//! Losses.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

fn value(tensor: Result<Tensor>) -> Result<f64> {
    tensor?.item()?.to()
}

#[test]
fn likelihoods_are_picked_and_reduced() -> Result<()> {
    let (x, target) = (Tensor::from([[-1.0, -2.0], [-3.0, -4.0]]), Tensor::from([1i64, 0]));
    let loss = |reduction| aten::nll_loss::with(&x, &target).reduction(reduction).call();
    assert_eq!(loss(0)?.to_vec::<f64>()?, [2.0, 3.0]);
    assert_eq!((value(loss(1))?, value(loss(2))?, value(loss(3))?), (2.5, 5.0, 5.0));
    let weight = Tensor::from([1.0, 3.0]);
    let weighted = aten::nll_loss::with(&x, &target).weight(Some(&weight)).call();
    assert_eq!(value(weighted)?, 9.0 / 4.0);
    Ok(())
}

#[test]
fn ignored_targets_do_not_count() -> Result<()> {
    let x = Tensor::from([[-1.0, -2.0], [-3.0, -4.0]]);
    assert_eq!(value(aten::nll_loss(&x, &Tensor::from([-100i64, 0])))?, 3.0);
    assert!(value(aten::nll_loss(&x, &Tensor::from([-100i64, -100])))?.is_nan());
    let error = aten::nll_loss(&x, &Tensor::from([0i64, 2])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "aten::nll_loss: aten::nll_loss_forward: target 2 is out of range for 2 classes"
    );
    Ok(())
}

#[test]
fn gradients_of_likelihoods_are_those_of_the_loss() -> Result<()> {
    let (x, target) = (Tensor::from([[[[-1.0, -2.0]], [[-3.0, -4.0]]]]), Tensor::from([[[0i64, 1]]]));
    let back = |grad: &Tensor, reduction, total: &Tensor| {
        aten::nll_loss2d_backward(grad, &x, &target, None, reduction, -100, total)
    };
    let (one, total) = (Tensor::from(1.0), Tensor::from(2.0));
    assert_eq!(back(&one, 1, &total)?.to_vec::<f64>()?, [-0.5, 0.0, 0.0, -0.5]);
    assert_eq!(back(&Tensor::from([[[3.0, 5.0]]]), 0, &total)?.to_vec::<f64>()?, [-3.0, 0.0, 0.0, -5.0]);
    let error = back(&Tensor::from([3.0, 5.0]), 0, &total).unwrap_err().to_string();
    assert_eq!(
        error,
        "aten::nll_loss2d_backward: a gradient of sizes [2] is not that of the loss, of sizes [1, 1, 2]"
    );
    assert!(back(&Tensor::from([[1.0]]), 1, &total).is_err(), "one number, but of a matrix");
    assert!(
        back(&one, 1, &Tensor::from([1.0, 1.0])).is_err() && back(&Tensor::from(1f32), 1, &total).is_err()
    );
    Ok(())
}

#[test]
fn pixels_have_classes_too() -> Result<()> {
    let x = Tensor::from([[[-1.0, -2.0], [-3.0, -4.0]]]);
    let target = Tensor::from([[0i64, 1]]);
    assert_eq!(aten::nll_loss_nd::with(&x, &target).reduction(0).call()?.to_vec::<f64>()?, [1.0, 4.0]);
    let images = x.unsqueeze(-1)?;
    assert_eq!(value(aten::nll_loss_nd(&images, &target.unsqueeze(-1)?))?, 2.5);
    assert!(aten::nll_loss_nd(&x, &target.t()?).is_err());
    Ok(())
}

#[test]
fn cross_entropy_takes_classes_or_probabilities() -> Result<()> {
    let x = Tensor::from([[0.0, 0.0], [0.0, 3f64.ln()]]);
    let want = (2f64.ln() + (4f64 / 3.0).ln()) / 2.0;
    assert!((value(aten::cross_entropy_loss(&x, &Tensor::from([0i64, 1])))? - want).abs() < 1e-12);
    let one_hot = Tensor::from([[1.0, 0.0], [0.0, 1.0]]);
    assert!((value(aten::cross_entropy_loss(&x, &one_hot))? - want).abs() < 1e-12);
    let nothing = Tensor::zeros(&[0, 2], DType::Float64, Device::CPU)?;
    assert!(value(aten::cross_entropy_loss(&nothing, &nothing))?.is_nan());
    Ok(())
}

#[test]
fn smoothed_labels_are_mixed_with_chance() -> Result<()> {
    let x = Tensor::from([[0.0, 3f64.ln()]]);
    let loss =
        |target: &Tensor| value(aten::cross_entropy_loss::with(&x, target).label_smoothing(0.5).call());
    let want = 0.75 * (4f64 / 3.0).ln() + 0.25 * 4f64.ln();
    assert!((loss(&Tensor::from([1i64]))? - want).abs() < 1e-12);
    assert!((loss(&Tensor::from([[0.0, 1.0]]))? - want).abs() < 1e-12);
    let smoothing = aten::cross_entropy_loss::with(&x, &Tensor::from([1i64])).label_smoothing(1.5).call();
    assert!(smoothing.is_err());
    Ok(())
}

#[test]
fn sequences_are_as_likely_as_all_their_paths() -> Result<()> {
    // With two times, the label 1 appears at the first, at the second, or at both.
    let probabilities = Tensor::from([[[0.5, 0.3, 0.2]], [[0.1, 0.6, 0.3]]]);
    let log_probs = probabilities.log()?;
    let loss = |targets: &Tensor, labels: &[i64], reduction, zero| {
        aten::ctc_loss_IntList::call(&log_probs, targets, &[2], labels, 0, reduction, zero)
    };
    let one = Tensor::from([[1i64]]);
    let paths: f64 = 0.3 * 0.1 + 0.5 * 0.6 + 0.3 * 0.6;
    assert!((value(loss(&one, &[1], 2, false))? + paths.ln()).abs() < 1e-12);
    assert!((value(loss(&Tensor::from([1i64, 2]), &[2], 1, false))? + 0.09f64.ln() / 2.0).abs() < 1e-12);
    assert!((value(loss(&one, &[0], 2, false))? + 0.05f64.ln()).abs() < 1e-12, "blanks only");
    let twice = Tensor::from([[1i64, 1]]);
    assert_eq!(
        value(loss(&twice, &[2], 2, false))?,
        f64::INFINITY,
        "there is no time for the blank between them"
    );
    assert_eq!(value(loss(&twice, &[2], 2, true))?, 0.0);
    let lengths = [Tensor::from([2i64]), Tensor::from([1i64])];
    let same = aten::ctc_loss_Tensor(&log_probs.squeeze()?, &one, &lengths[0], &lengths[1]);
    assert!((value(same)? + paths.ln()).abs() < 1e-12, "one example without a batch");
    let error = loss(&Tensor::from([[3i64]]), &[1], 2, false).unwrap_err().to_string();
    assert!(error.ends_with("aten::_ctc_loss: target 3 is out of range for 3 classes"), "{error}");
    assert!(loss(&one, &[2], 2, false).is_err() && loss(&one, &[1, 1], 2, false).is_err());
    Ok(())
}

#[test]
fn targets_of_a_margin_may_be_whole_numbers() -> Result<()> {
    let (x, target) = (Tensor::from([1.77f32]), Tensor::from([1u8]));
    assert!((value(aten::soft_margin_loss(&x, &target))? - (-1.77f64).exp().ln_1p()).abs() < 1e-6);
    Ok(())
}

#[test]
fn distances_are_parabolas_and_lines() -> Result<()> {
    let (x, target) = (Tensor::from([1f32, 2.0, 5.0]), Tensor::from([1f32, 1.5, 1.0]));
    let squares = aten::mse_loss::with(&x, &target).reduction(0).call()?;
    assert_eq!(squares.to_vec::<f32>()?, [0.0, 0.25, 16.0]);
    let smooth = aten::smooth_l1_loss::with(&x, &target).reduction(0).beta(2.0).call()?;
    assert_eq!(smooth.to_vec::<f32>()?, [0.0, 0.0625, 3.0]);
    let huber = aten::huber_loss::with(&x, &target).reduction(2).delta(2.0).call();
    assert_eq!(value(huber)?, 0.125 + 6.0);
    let mut out = aten::zeros(&[0])?;
    aten::mse_loss_out::with(&x, &target, &mut out).reduction(2).call()?;
    assert_eq!((out.dim(), value(Ok(out))?), (0, 16.25));
    assert!(aten::mse_loss(&Tensor::from([1i64]), &Tensor::from([2i64])).is_err(), "which have no mean");
    Ok(())
}

#[test]
fn small_losses_count_beside_a_large_sum() -> Result<()> {
    let logs = Tensor::from([[-16_777_216f32], [-1.0], [-1.0]]);
    let targets = Tensor::from([0i64, 0, 0]);
    let (sum, _) = aten::nll_loss_forward(&logs, &targets, None, 2, -100)?;
    assert_eq!(sum.item()?, Scalar::Float(16_777_218.0));
    Ok(())
}

/// Scores of two rows, and the target classes of each.
fn scores() -> (Tensor, Tensor) {
    (Tensor::from([[0.1, 0.7, -0.3], [1.2, 0.2, 0.9]]), Tensor::from([2i64, 0]))
}

#[test]
fn losses_by_margins_and_their_gradients_are_pytorchs() -> Result<()> {
    let weight = Tensor::from([0.5, 2.0, 1.5]);
    type Case = (i64, bool, i64, &'static [f64], [f64; 6]);
    let (third, sixth) = (1.0 / 3.0, 1.0 / 6.0);
    let cases: [Case; 6] = [
        (1, false, 0, &[1.0, 0.1666666666666667], [third, third, -2.0 * third, -third, 0.0, third]),
        (1, false, 1, &[0.5833333333333334], [sixth, sixth, -third, -sixth, 0.0, sixth]),
        (1, true, 2, &[1.5833333333333333], [0.5, 0.5, -1.0, -sixth, 0.0, sixth]),
        (2, false, 1, &[0.8216666666666668], [0.4, 0.6, -1.0, -sixth, 0.0, sixth]),
        (2, true, 0, &[2.34, 0.041666666666666685], [1.2, 1.8, -3.0, -sixth, 0.0, sixth]),
        (2, true, 2, &[2.381666666666667], [1.2, 1.8, -3.0, -sixth, 0.0, sixth]),
    ];
    let is_near = |found: &Tensor, want: &[f64]| -> Result<bool> {
        let found = found.to_vec::<f64>()?;
        Ok(found.len() == want.len() && found.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-14))
    };
    for (p, is_weighted, reduction, loss, slopes) in cases {
        let (x, target) = scores();
        x.set_requires_grad(true)?;
        let weight = is_weighted.then_some(&weight);
        let found = aten::multi_margin_loss::call(&x, &target, p.into(), 0.8.into(), weight, reduction)?;
        found.sum()?.backward()?;
        let grad = x.grad().unwrap();
        assert!(
            is_near(&found.detach()?, loss)? && is_near(&grad, &slopes)?,
            "{p} {reduction}: {found} {grad}"
        );
    }
    Ok(())
}

#[test]
fn a_row_of_scores_has_the_sizes_of_its_target() -> Result<()> {
    let row = scores().0.select(0, 0)?;
    for target in [Tensor::from(2i64), Tensor::from([2i64])] {
        let loss = aten::multi_margin_loss::with(&row, &target).p(2).margin(0.8).reduction(0).call()?;
        assert_eq!(loss.sizes(), target.sizes());
        assert!((value(loss.sum())? - 1.56).abs() < 1e-14);
    }
    assert_eq!(value(aten::multi_margin_loss(&Tensor::from(0.3), &Tensor::from(0i64)))?, 0.0);
    Ok(())
}

#[test]
fn a_loss_by_margins_is_a_sum_over_all_classes_but_the_target() -> Result<()> {
    let classes = 21; // more than are added up side by side, and a rest
    let scores: Vec<f64> = (0..classes).map(|class| f64::from(class * 7 % 11) / 10.0).collect();
    let row = Tensor::from(&scores[..]);
    for (p, right) in [(1, 0), (1, 8), (2, 13), (2, 20)] {
        let short = |class: usize| (0.5 - scores[right] + scores[class]).max(0.0).powi(p);
        let sum: f64 = (0..scores.len()).filter(|class| *class != right).map(short).sum();
        let target = Tensor::from(right as i64);
        let loss = aten::multi_margin_loss::with(&row, &target).p(i64::from(p)).margin(0.5).call()?;
        assert!((value(Ok(loss))? - sum / f64::from(classes)).abs() < 1e-14, "{p} {right}");
    }
    let (sure, target) = (Tensor::from([5.0, 0.0]), Tensor::from(0i64));
    let infinite = Tensor::from([f64::INFINITY, 1.0]);
    let loss = aten::multi_margin_loss::with(&sure, &target).weight(Some(&infinite)).call()?;
    assert_eq!(value(Ok(loss))?, 0.0, "no class falls short of the margin");
    Ok(())
}

#[test]
fn losses_by_margins_need_a_class_for_each_row() -> Result<()> {
    let (x, target) = scores();
    let refusal = |x: &Tensor, target: &Tensor| aten::multi_margin_loss(x, target).unwrap_err().to_string();
    assert_eq!(
        refusal(&x, &Tensor::from([0i64, 3])),
        "aten::multi_margin_loss: target 3 is out of range for 3 classes"
    );
    assert_eq!(
        refusal(&x, &Tensor::from([0i64])),
        "aten::multi_margin_loss: targets of sizes [1] for scores of sizes [2, 3], expected one for each row"
    );
    assert!(refusal(&x, &target.to_dtype(DType::Int32)?).contains("targets of int32"));
    assert!(refusal(&x.to_dtype(DType::BFloat16)?, &target).contains("bfloat16"));
    assert!(refusal(&aten::zeros(&[2, 0])?, &target).contains("with at least one class"));
    let with = |p: i64, weight| {
        aten::multi_margin_loss::call(&x, &target, p.into(), 1.into(), weight, 1).unwrap_err().to_string()
    };
    assert_eq!(with(3, None), "aten::multi_margin_loss: p is 3, expected 1 or 2");
    assert!(with(1, Some(&Tensor::from([1.0, 2.0]))).contains("each of 3 classes"));
    let error = aten::multi_margin_loss_backward(&Tensor::from([1.0; 3]), &x, &target, 1.into(), 1.into());
    let error = error.unwrap_err().to_string();
    assert!(error.contains("a gradient of sizes [3]"), "{error}");
    Ok(())
}

#[test]
fn a_label_sequence_with_nan_has_no_finite_loss() -> Result<()> {
    let steps = [[0.2f64, 0.3, 0.5], [f64::NAN; 3], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4]];
    let log_probs = Tensor::from(steps).log()?.unsqueeze(1)?;
    log_probs.set_requires_grad(true)?;
    let targets = Tensor::from([[1i64, 2]]);
    for zero_infinity in [false, true] {
        let loss = aten::ctc_loss_IntList::call(&log_probs, &targets, &[4], &[2], 0, 1, zero_infinity)?;
        assert!(value(Ok(loss.clone()))?.is_nan());
        log_probs.set_grad(None)?;
        loss.backward()?;
        assert!(log_probs.grad().unwrap().to_vec::<f64>()?.iter().all(|grad| grad.is_nan()));
    }
    Ok(())
}

#[test]
fn the_weights_of_classes_are_a_vector() -> Result<()> {
    let (x, target) = (Tensor::from([[-1.0, -2.0]]), Tensor::from([1i64]));
    let error =
        aten::nll_loss::with(&x, &target).weight(Some(&Tensor::from([[1.0, 3.0]]))).call().unwrap_err();
    assert!(error.to_string().contains("the weight has sizes [1, 2]"), "{error}");
    Ok(())
}

#[test]
fn losses_are_of_the_type_that_pytorch_computes_them_in() -> Result<()> {
    let (logits, target) = (Tensor::from([0.5f32, -1.0]), Tensor::from([1.0, 0.0]));
    for dtype in [DType::Float16, DType::Float64] {
        let target = aten::to_dtype(&target, dtype)?;
        assert_eq!(
            aten::binary_cross_entropy_with_logits(&logits, &target)?.dtype(),
            dtype,
            "that of the targets"
        );
    }
    let (rates, counts) = (aten::to_dtype(&target, DType::Float16)?, Tensor::from([3i64, 1]));
    for full in [false, true] {
        let loss = aten::poisson_nll_loss::call(&rates, &counts, true, full, 1e-8, 1)?;
        assert_eq!(loss.dtype(), DType::Float16, "that of the rates, with Stirling's term or without");
    }
    Ok(())
}

#[test]
fn the_gradient_of_a_mean_may_have_the_sizes_of_its_inputs() -> Result<()> {
    let (x, target) = (Tensor::from([0.5, 3.0]), Tensor::from([0.0, 1.0]));
    let slopes = |loss: &dyn Fn(&Tensor) -> Result<Tensor>| -> Result<Vec<f64>> {
        let grad = Tensor::from([1.0, 1.0]);
        grad.set_requires_grad(true)?;
        loss(&grad)?.sum()?.backward()?;
        grad.grad().expect("a gradient").to_vec()
    };
    assert_eq!(slopes(&|grad| aten::mse_loss_backward(grad, &x, &target, 1))?, [0.5, 2.0]);
    assert_eq!(slopes(&|grad| aten::smooth_l1_loss_backward(grad, &x, &target, 2, 1.0))?, [0.5, 1.0]);
    Ok(())
}
