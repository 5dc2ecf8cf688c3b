//! The cross entropy of a linear layer in chunks, beside that of all its logits.

use torch_library::autograd::{self, GradOptions, Tolerance};
use torch_library::prelude::*;
use torch_library_kernels::{aten, torch_nn};

const ROWS: i64 = 7;
const CLASSES: i64 = 5;
const FEATURES: i64 = 3;

fn spread(sizes: &[i64]) -> Tensor {
    let count = sizes.iter().product::<i64>();
    let values = (0..count).map(|at| ((at * 5 + 2) % 11) as f64 / 5.0 - 1.0).collect();
    Tensor::from_vec::<f64>(values, sizes).unwrap()
}

/// A layer, and the two kinds of targets. The third row has no class.
struct Layer {
    input: Tensor,
    weight: Tensor,
    bias: Tensor,
    of_class: Tensor,
    classes: Tensor,
    probabilities: Tensor,
}

impl Layer {
    fn new() -> Self {
        Layer {
            input: spread(&[ROWS, FEATURES]),
            weight: spread(&[CLASSES, FEATURES]),
            bias: spread(&[CLASSES]),
            of_class: Tensor::from([0.5, 2.0, 1.0, 0.25, 1.5]),
            classes: Tensor::from([0i64, 4, -100, 2, 2, 1, 3]),
            probabilities: aten::softmax_int(&spread(&[ROWS, CLASSES]), 1).unwrap(),
        }
    }

    /// The loss of all logits: 0 for one of each row, 1 for the mean, 2 for the sum.
    fn at_once(&self, target: &Tensor, reduction: i64) -> Result<Tensor> {
        let logits = aten::linear::call(&self.input, &self.weight, Some(&self.bias))?;
        aten::cross_entropy_loss::with(&logits, target)
            .weight(Some(&self.of_class))
            .reduction(reduction)
            .call()
    }

    fn in_chunks(&self, target: &Tensor, reduction: &str, chunk: i64) -> Result<[Tensor; 4]> {
        let Layer { input, weight, bias, of_class, .. } = self;
        let (all, dtype) = (true, input.dtype());
        let (loss, of_input, of_weight, of_bias) = torch_nn::_linear_cross_entropy_batch_chunked(
            input,
            weight,
            target,
            Some(bias),
            Some(of_class),
            reduction,
            -100,
            0.0,
            chunk,
            "compact",
            dtype,
            all,
            all,
            all,
            all,
        )?;
        Ok([loss, of_input, of_weight, of_bias])
    }

    fn of_rows(&self, target: &Tensor, chunk: i64) -> Result<Tensor> {
        let Layer { input, weight, bias, of_class, .. } = self;
        torch_nn::_linear_cross_entropy_batch_chunked_no_reduction(
            input,
            weight,
            target,
            Some(bias),
            Some(of_class),
            -100,
            chunk,
            "keep",
            input.dtype(),
        )
    }

    fn require_grad(&mut self) {
        for tensor in [&mut self.input, &mut self.weight, &mut self.bias] {
            tensor.set_requires_grad(true).unwrap();
        }
    }

    fn gradients(&self, loss: &Tensor) -> Result<Vec<Tensor>> {
        let all = [&self.input, &self.weight, &self.bias];
        let found = autograd::grad(&[loss], &all, &[None], GradOptions::default())?;
        Ok(found.into_iter().map(|gradient| gradient.expect("the loss depends on all of them")).collect())
    }
}

#[track_caller]
fn assert_near(found: &Tensor, expected: &Tensor) {
    assert_eq!(found.sizes(), expected.sizes());
    let [found, expected] = [found, expected].map(|tensor| tensor.to_vec::<f64>().unwrap());
    let is_near = found.iter().zip(&expected).all(|(x, y)| (x - y).abs() < 1e-13);
    assert!(is_near, "{found:?}, expected {expected:?}");
}

#[test]
fn losses_and_gradients_are_those_of_all_logits() -> Result<()> {
    let mut layer = Layer::new();
    layer.require_grad();
    for target in [&layer.classes, &layer.probabilities] {
        for (reduction, name) in [(1, "mean"), (2, "sum")] {
            let expected = layer.at_once(target, reduction)?;
            let of_all = layer.gradients(&expected)?;
            for chunk in [1, 3, ROWS, 100] {
                let [loss, of_input, of_weight, of_bias] = layer.in_chunks(target, name, chunk)?;
                assert_near(&loss, &expected);
                let backward = layer.gradients(&loss)?;
                for (at, computed) in [of_input, of_weight, of_bias].iter().enumerate() {
                    assert!(!computed.requires_grad());
                    assert_near(computed, &of_all[at]);
                    assert_near(&backward[at], &of_all[at]);
                }
            }
        }
    }
    Ok(())
}

#[test]
fn rows_have_losses_of_their_own() -> Result<()> {
    let mut layer = Layer::new();
    layer.require_grad();
    let scale = spread(&[ROWS]);
    for target in [&layer.classes, &layer.probabilities] {
        let expected = layer.at_once(target, 0)?;
        let of_all = layer.gradients(&aten::sum(&aten::mul_Tensor(&expected, &scale)?)?)?;
        for chunk in [2, ROWS] {
            let losses = layer.of_rows(target, chunk)?;
            assert_near(&losses, &expected);
            let gradients = layer.gradients(&aten::sum(&aten::mul_Tensor(&losses, &scale)?)?)?;
            gradients.iter().zip(&of_all).for_each(|(found, expected)| assert_near(found, expected));
        }
    }
    Ok(())
}

#[test]
fn losses_of_rows_can_be_differentiated_twice() -> Result<()> {
    let layer = Layer::new();
    let Layer { input, weight, bias, classes, .. } = &layer;
    let inputs = [input.clone(), weight.clone(), bias.clone()];
    let losses = |inputs: &[Tensor]| {
        let [input, weight, bias] = inputs else { unreachable!("three inputs") };
        let losses = torch_nn::_linear_cross_entropy_batch_chunked_no_reduction(
            input,
            weight,
            classes,
            Some(bias),
            None,
            -100,
            3,
            "compact",
            DType::Float64,
        )?;
        Ok(vec![losses])
    };
    autograd::gradcheck(losses, &inputs, Tolerance::default())?;
    autograd::gradgradcheck(losses, &inputs, Tolerance::default())
}

#[test]
fn sixteen_bits_are_added_up_in_thirty_two() -> Result<()> {
    let layer = Layer::new();
    let half = |tensor: &Tensor| aten::to_dtype(tensor, DType::BFloat16);
    let [input, weight] = [half(&layer.input)?, half(&layer.weight)?];
    let (loss, of_input, of_weight, of_bias) = torch_nn::_linear_cross_entropy_batch_chunked(
        &input,
        &weight,
        &layer.classes,
        None,
        None,
        "mean",
        -100,
        0.0,
        2,
        "keep",
        DType::Float32,
        true,
        true,
        true,
        false,
    )?;
    for result in [&loss, &of_input, &of_weight, &of_bias] {
        assert_eq!(result.dtype(), DType::BFloat16);
    }
    assert_eq!(of_bias.sizes(), [0]);
    let [wide, matrix] = [&input, &weight].map(|tensor| aten::to_dtype(tensor, DType::Float64).unwrap());
    let expected = aten::cross_entropy_loss(&aten::linear(&wide, &matrix)?, &layer.classes)?;
    assert_eq!(loss.item()?.to::<f64>()?, aten::to_dtype(&expected, DType::BFloat16)?.item()?.to::<f64>()?);
    Ok(())
}

#[test]
fn no_rows_have_the_mean_of_nothing() -> Result<()> {
    let layer = Layer {
        input: spread(&[0, FEATURES]),
        classes: Tensor::from_vec::<i64>(vec![], &[0])?,
        ..Layer::new()
    };
    let [mean, of_input, of_weight, _] = layer.in_chunks(&layer.classes, "mean", 4)?;
    assert!(mean.item()?.to::<f64>()?.is_nan());
    assert_eq!((of_input.sizes(), of_weight.sizes()), (&[0, FEATURES][..], &[CLASSES, FEATURES][..]));
    assert_eq!(of_weight.to_vec::<f64>()?, [0.0; 15]);
    let [sum, ..] = layer.in_chunks(&layer.classes, "sum", 4)?;
    assert_eq!(sum.item()?.to::<f64>()?, 0.0);
    Ok(())
}

#[test]
fn mistakes_are_named() -> Result<()> {
    let mut layer = Layer::new();
    let message = |result: Result<[Tensor; 4]>| result.unwrap_err().to_string();
    let classes = layer.classes.clone();
    assert!(message(layer.in_chunks(&classes, "none", 4)).contains("unknown reduction \"none\""));
    assert!(message(layer.in_chunks(&classes, "sum", 0)).contains("batch_chunk_size is 0, must be positive"));
    let narrow = aten::to_dtype(&classes, DType::Int32)?;
    assert!(
        message(layer.in_chunks(&narrow, "sum", 1))
            .contains("target is int32[7], expected classes, int64[7]")
    );
    let number = Layer { input: Tensor::from(1.0), ..Layer::new() };
    assert!(number.of_rows(&classes, 2).unwrap_err().to_string().contains("expected two matrices"));
    assert!(message(number.in_chunks(&classes, "sum", 2)).contains("expected two matrices"));
    let outside = Tensor::from([0i64, 5, 0, 0, 0, 0, 0]);
    assert!(layer.in_chunks(&outside, "sum", 4).is_err());

    layer.require_grad();
    let Layer { input, weight, .. } = &layer;
    let (loss, ..) = torch_nn::_linear_cross_entropy_batch_chunked(
        input,
        weight,
        &classes,
        None,
        None,
        "sum",
        -100,
        0.0,
        4,
        "keep",
        DType::Float64,
        true,
        true,
        false,
        false,
    )?;
    let error = autograd::grad(&[&loss], &[weight], &[None], GradOptions::default()).unwrap_err().to_string();
    assert!(error.contains("pass compute_linear_weight_grad as true"), "{error}");
    Ok(())
}
