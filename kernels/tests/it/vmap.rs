//! vmap: the function's view of tensors, results, and what is refused.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use torch_library::guard::{ThreadLocalState, inference_mode};
use torch_library::prelude::*;
use torch_library::{limits, warning};
use torch_library_kernels::aten;
use torch_library_kernels::vmap::{Randomness, Vmap, grad, vmap};

torch_library! {
    mod vmap_test {
        no_rule(Tensor self, Tensor other, int factor) -> (Tensor, Tensor[]);
        no_rule_(Tensor(a!) self, Tensor other) -> Tensor(a!);
        view_without_rule(Tensor(a) self) -> Tensor(a);
        count(Tensor self) -> int;
        #[tags(pointwise)]
        blend(Tensor self, Tensor other) -> Tensor;
        slow(Tensor self) -> Tensor;
        heard(Tensor self) -> Tensor;
        #[tags(nondeterministic_seeded)]
        draw(Tensor? like=None) -> Tensor;
    }
}

#[torch_impl(vmap_test, CPU)]
mod cpu {
    use super::*;

    fn no_rule(this: &Tensor, other: &Tensor, factor: i64) -> Result<(Tensor, Vec<Tensor>)> {
        let scaled = aten::mul_Scalar(this, factor.into())?;
        Ok((aten::add_Tensor(&scaled, other)?, vec![scaled.clone(), scaled]))
    }

    fn no_rule_<'t>(this: &'t mut Tensor, other: &Tensor) -> Result<&'t mut Tensor> {
        aten::add__Tensor(this, other)
    }

    fn view_without_rule(this: &Tensor) -> Result<Tensor> {
        aten::alias(this)
    }

    fn count(this: &Tensor) -> Result<i64> {
        Ok(this.numel())
    }

    fn blend(this: &Tensor, other: &Tensor) -> Result<Tensor> {
        aten::add_Tensor(this, other)
    }

    fn slow(this: &Tensor) -> Result<Tensor> {
        aten::exp(this)
    }

    fn heard(this: &Tensor) -> Result<Tensor> {
        aten::exp(this)
    }
}

#[torch_impl(vmap_test, CompositeExplicitAutograd)]
fn draw(_like: Option<&Tensor>) -> Result<Tensor> {
    static DRAWN: AtomicUsize = AtomicUsize::new(0);
    Ok(Tensor::from(DRAWN.fetch_add(1, Ordering::Relaxed) as f64))
}

fn batch() -> Tensor {
    Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
}

/// The text of the error that a function of the rows of [`batch`] gives.
fn refusal(f: impl FnOnce(Tensor) -> Result<Tensor>) -> String {
    vmap([&batch()], |[row]| f(row)).unwrap_err().to_string()
}

#[test]
fn the_function_sees_one_example() -> Result<()> {
    let sums = vmap([&batch()], |[row]| {
        assert_eq!((row.sizes(), row.dim(), row.numel(), row.is_wrapper()), (&[3][..], 1, 3, true));
        aten::sum(&row)
    })?;
    assert_eq!(sums.to_vec::<f64>()?, [6.0, 15.0]);
    Ok(())
}

#[test]
fn levels_nest() -> Result<()> {
    let (a, b) = (Tensor::from([1.0, 2.0]), Tensor::from([10.0, 20.0, 30.0]));
    let table = vmap([&a], |[x]| vmap([&b], |[y]| aten::mul_Tensor(&x, &y)))?;
    assert_eq!(
        (table.sizes(), table.to_vec::<f64>()?),
        (&[2, 3][..], vec![10.0, 20.0, 30.0, 20.0, 40.0, 60.0])
    );
    Ok(())
}

#[test]
fn numbers_of_examples_promote_as_numbers() -> Result<()> {
    let (rows, numbers) = (Tensor::from([[1f32, 2.0], [3.0, 4.0]]), Tensor::from([0.5f64, 1.5]));
    let sum = vmap([&rows, &numbers], |[row, number]| aten::add_Tensor(&row, &number))?;
    assert_eq!((sum.dtype(), sum.to_vec::<f32>()?), (DType::Float32, vec![1.5, 2.5, 4.5, 5.5]));
    Ok(())
}

#[test]
fn an_operator_without_rule_runs_for_each_example() -> Result<()> {
    let shared = Tensor::from([100.0, 200.0, 300.0]);
    let run = |inputs: &[Tensor]| {
        let (sum, list) = vmap_test::no_rule(&inputs[0], &shared, 10)?;
        assert_eq!(sum.sizes(), [3]);
        Ok(vec![sum, list[1].clone()])
    };
    let outputs = Vmap::new().run(&[batch()], run)?;
    assert_eq!(outputs[0].to_vec::<f64>()?, [110.0, 220.0, 330.0, 140.0, 250.0, 360.0]);
    assert_eq!(outputs[1].to_vec::<f64>()?, [10.0, 20.0, 30.0, 40.0, 50.0, 60.0]);
    let written = batch();
    vmap([&written], |[mut row]| vmap_test::no_rule_(&mut row, &shared).cloned())?;
    assert_eq!(written.to_vec::<f64>()?[..3], [101.0, 202.0, 303.0]);
    Ok(())
}

#[test]
fn who_hears_of_an_operator_without_rule_may_call_it() -> Result<()> {
    static TIMES: AtomicUsize = AtomicUsize::new(0);
    let call = || vmap([&batch()], |[row]| vmap_test::heard(&row));
    let guard = warning::listen(move |message| {
        if message.contains("vmap_test::heard") {
            TIMES.fetch_add(1, Ordering::Relaxed);
            call().unwrap();
        }
    });
    call()?;
    drop(guard);
    assert_eq!(TIMES.load(Ordering::Relaxed), 1);
    Ok(())
}

#[test]
fn examples_that_are_run_one_by_one_are_counted() -> Result<()> {
    let wide = aten::expand(&aten::zeros(&[1])?, &[1 << 45])?;
    let error = vmap([&wide], |[x]| vmap_test::slow(&x)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument);
    let text = "vmap_test::slow has no batching rule, and is run one example at a time: 35184372088832 \
                tensors are too many to return";
    assert!(error.to_string().starts_with(text), "{error}");
    Ok(())
}

#[test]
fn all_levels_that_there_may_be_fit_on_the_stack_of_a_thread() -> Result<()> {
    fn squared(x: &Tensor, depth: usize) -> Result<Tensor> {
        match depth {
            0 => aten::mul_Tensor(x, x),
            _ => vmap([&aten::unsqueeze(x, 0)?], |[x]| squared(&x, depth - 1)),
        }
    }
    let x = Tensor::from(3.0);
    x.set_requires_grad(true)?;
    let result = squared(&x, limits::LEVELS)?;
    assert_eq!((result.sizes(), result.to_vec::<f64>()?), (&[1; limits::LEVELS][..], vec![9.0]));
    let error = squared(&x, limits::LEVELS + 1).unwrap_err().to_string();
    assert!(error.contains("at most 64") || error.contains("64 levels deep"), "{error}");
    fn slope(x: &Tensor, depth: usize) -> Result<Tensor> {
        match depth {
            0 => aten::mul_Tensor(x, x),
            _ => grad([x], |[x]| slope(&x, depth - 1)).map(|[slope]| slope),
        }
    }
    assert_eq!(slope(&x, 4)?.to_vec::<f64>()?, [0.0]);
    let error = slope(&x, limits::LEVELS + 1).unwrap_err().to_string();
    assert!(error.contains("64 levels deep"), "{error}");
    Ok(())
}

#[test]
fn an_operator_that_runs_for_each_example_is_said_once() -> Result<()> {
    let said = Arc::new(Mutex::new(Vec::new()));
    let listener = said.clone();
    let guard = warning::listen(move |message| listener.lock().unwrap().push(message.to_owned()));
    for _ in 0..2 {
        vmap([&batch()], |[row]| vmap_test::slow(&row))?;
    }
    drop(guard);
    let said = said.lock().unwrap();
    let about: Vec<_> = said.iter().filter(|message| message.contains("vmap_test::slow")).collect();
    assert!(matches!(about[..], [message] if message.contains("FuncTorchBatched")), "{about:?}");
    Ok(())
}

#[test]
fn what_is_tagged_pointwise_needs_no_rule() -> Result<()> {
    let blended = vmap([&batch()], |[row]| vmap_test::blend(&row, &aten::sum(&row)?))?;
    assert_eq!(blended.to_vec::<f64>()?, [7.0, 8.0, 9.0, 19.0, 20.0, 21.0]);
    Ok(())
}

#[test]
fn what_cannot_run_for_each_example_says_so() {
    let view = refusal(|row| vmap_test::view_without_rule(&row));
    assert!(
        view.contains(
            "vmap_test::view_without_rule has no batching rule, and an operator that returns views"
        ),
        "{view}"
    );
    let count = refusal(|row| vmap_test::count(&row).map(Tensor::from));
    assert!(count.contains("returns `int` for each example"), "{count}");
    for refused in [&view, &count] {
        assert!(
            refused.contains("help: write a rule for all examples at once, at the key FuncTorchBatched"),
            "{refused}"
        );
    }
    let none = Tensor::from_vec(Vec::<f64>::new(), &[0, 3]).unwrap();
    let none = vmap([&none], |[row]| vmap_test::no_rule(&row, &row, 1).map(|(sum, _)| sum)).unwrap_err();
    assert!(none.to_string().contains("an empty batch cannot be run"), "{none}");
}

#[test]
fn an_empty_batch_is_one() -> Result<()> {
    let none = Tensor::from_vec(Vec::<f64>::new(), &[0, 3])?;
    let sums = vmap([&none], |[row]| aten::sum(&aten::exp(&row)?))?;
    assert_eq!(sums.sizes(), [0]);
    Ok(())
}

#[test]
fn operators_made_of_others_run_as_these_in_inference_mode() -> Result<()> {
    inference_mode(|| {
        let none = aten::zeros(&[0, 3, 3])?; // has no key of autograd, which would take `matmul` apart
        assert_eq!(vmap([&none], |[matrix]| aten::matmul(&matrix, &matrix))?.sizes(), [0, 3, 3]);
        Ok(())
    })
}

#[test]
fn writes_go_to_the_batch_but_not_to_what_examples_share() -> Result<()> {
    let written = batch();
    vmap([&written], |[mut row]| aten::mul__Scalar(&mut row, 10.into()).cloned())?;
    assert_eq!(written.to_vec::<f64>()?, [10.0, 20.0, 30.0, 40.0, 50.0, 60.0]);
    let mut shared = Tensor::from([0.0, 0.0, 0.0]);
    let error = refusal(|row| aten::add__Tensor(&mut shared, &row).cloned());
    assert!(error.contains("aten::add_.Tensor would write a value of each example to one tensor"), "{error}");
    let error = refusal(|mut row| {
        let table = Tensor::from([[0.0; 3]; 2]);
        aten::add__Tensor(&mut row, &table).cloned()
    });
    assert!(
        error.contains("a result of 2 dimensions cannot be written to an example of sizes [3]"),
        "{error}"
    );
    Ok(())
}

#[test]
fn sizes_may_change_in_place() -> Result<()> {
    let columns = vmap([&batch()], |[row]| {
        let mut row = aten::alias(&row)?;
        aten::unsqueeze_(&mut row, 0)?;
        assert_eq!(row.sizes(), [1, 3]);
        aten::transpose_(&mut row, 0, 1)?;
        assert_eq!(row.sizes(), [3, 1]);
        Ok(row)
    })?;
    assert_eq!((columns.sizes(), columns.to_vec::<f64>()?), (&[2, 3, 1][..], batch().to_vec::<f64>()?));
    Ok(())
}

#[test]
fn elements_are_out_of_reach() {
    let error = refusal(|row| row.to_vec::<f64>().map(Tensor::from));
    assert!(error.contains("is a wrapper"), "{error}");
}

#[test]
fn dimensions_are_checked() {
    let run = |vmap: Vmap, inputs: &[Tensor]| {
        vmap.run(inputs, |rows| Ok(rows.to_vec())).map(drop).map_err(|error| error.to_string())
    };
    let (x, three) = ([batch()], Tensor::from([1.0, 2.0, 3.0]));
    let check = |vmap: Vmap, inputs: &[Tensor], text: &str| {
        let error = run(vmap, inputs).unwrap_err();
        assert!(error.contains(text), "{error}");
    };
    check(Vmap::new().in_dims([None]), &x, "no input has a batch");
    check(Vmap::new().in_dims([Some(0), None]), &x, "2 dimensions for 1 inputs");
    check(Vmap::new().in_dims([Some(2)]), &x, "has no dimension 2");
    check(Vmap::new(), &[batch(), three], "a batch of 2 examples, another one of 3");
    check(Vmap::new().out_dims([Some(2)]), &x, "out_dims");
    check(Vmap::new().out_dims([None]), &x, "depends on the example");
    check(Vmap::new().out_dims([Some(0), Some(0)]), &x, "2 dimensions for 1 outputs");
    check(Vmap::new(), &[Tensor::from(1.0)], "has no dimension 0");
}

#[test]
fn outputs_may_be_shared_and_lie_anywhere() -> Result<()> {
    let shared = Tensor::from([1.0, 2.0]);
    let vmap = Vmap::new().in_dims([Some(-1)]).out_dims([Some(-1), None, Some(1)]);
    let outputs =
        vmap.run(&[batch()], |columns| Ok(vec![columns[0].clone(), shared.clone(), shared.clone()]))?;
    assert_eq!(
        (outputs[0].sizes(), outputs[1].sizes(), outputs[2].sizes()),
        (&[2, 3][..], &[2][..], &[2, 3][..])
    );
    assert_eq!(outputs[2].to_vec::<f64>()?, [1.0, 1.0, 1.0, 2.0, 2.0, 2.0]);
    Ok(())
}

#[test]
fn random_operators_ask_what_is_meant() -> Result<()> {
    let draw = |randomness| {
        let vmap = Vmap::new().randomness(randomness);
        vmap.run(&[batch()], |_| Ok(vec![vmap_test::draw()?])).map(|outputs| outputs[0].clone())
    };
    let error = draw(Randomness::Error).unwrap_err();
    assert!(error.to_string().contains("vmap_test::draw is random"), "{error}");
    let same = draw(Randomness::Same)?.to_vec::<f64>()?;
    assert_eq!((same.len(), same[0]), (2, same[1]));
    let different = draw(Randomness::Different)?.to_vec::<f64>()?;
    assert!(different.len() == 2 && different[0] != different[1]);
    let vmap = Vmap::new().randomness(Randomness::Same);
    let error = vmap.run(&[batch()], |rows| Ok(vec![vmap_test::draw::call(Some(&rows[0]))?])).unwrap_err();
    assert!(error.to_string().contains("arguments that differ"), "{error}");
    Ok(())
}

#[test]
fn a_worker_asks_as_well_and_computes_with_batches() -> Result<()> {
    let rows = vmap([&batch()], |[row]| {
        let state = ThreadLocalState::capture();
        let there = || state.run(|| (vmap_test::draw(), aten::add_Scalar(&row, 1.into())));
        let (drawn, sum) = std::thread::scope(|scope| scope.spawn(there).join()).unwrap();
        let error = drawn.unwrap_err();
        assert!(error.to_string().contains("vmap_test::draw is random"), "{error}");
        aten::sub_Tensor(&sum?, &row)
    })?;
    assert!(rows.to_vec::<f64>()?.iter().all(|difference| *difference == 1.0));
    Ok(())
}

#[test]
fn autocast_goes_on_inside() -> Result<()> {
    use torch_library::{DeviceType, autocast::Autocast};
    let rows = Tensor::from([[1f32, 2.0], [3.0, 4.0]]);
    let product = Autocast::on(DeviceType::Cpu)
        .run(|| vmap([&rows], |[row]| aten::mm(&aten::unsqueeze(&row, 0)?, &rows)))?;
    assert_eq!((product.dtype(), product.sizes()), (DType::BFloat16, &[2, 1, 2][..]));
    Ok(())
}

/// `sum((w * x) ** 3)`, whose gradient in `w` is `3 * w ** 2 * x ** 3`.
fn cubed(w: &Tensor, x: &Tensor) -> Result<Tensor> {
    let product = aten::mul_Tensor(w, x)?;
    aten::sum(&aten::mul_Tensor(&aten::mul_Tensor(&product, &product)?, &product)?)
}

#[test]
fn gradients_go_through_a_batch() -> Result<()> {
    let (rows, w) = (batch(), Tensor::from([1.0, 10.0, 100.0]));
    rows.set_requires_grad(true)?;
    w.set_requires_grad(true)?;
    let results = vmap([&rows], |[row]| cubed(&w, &row))?;
    aten::sum(&results)?.backward()?;
    let want = |row: f64, w: f64| 3.0 * w.powi(3) * row.powi(2);
    let got = rows.grad().unwrap().to_vec::<f64>()?;
    assert_eq!(
        got,
        [
            want(1.0, 1.0),
            want(2.0, 10.0),
            want(3.0, 100.0),
            want(4.0, 1.0),
            want(5.0, 10.0),
            want(6.0, 100.0)
        ]
    );
    assert_eq!(w.grad().unwrap().to_vec::<f64>()?[0], 3.0 * (1.0 + 64.0));
    Ok(())
}

#[test]
fn each_example_has_a_gradient_of_what_all_share() -> Result<()> {
    let (rows, w) = (batch(), Tensor::from([1.0, 2.0, 3.0]));
    let per_example = vmap([&rows], |[row]| Ok(grad([&w], |[w]| cubed(&w, &row))?[0].clone()))?;
    for (index, got) in per_example.to_vec::<f64>()?.chunks(3).enumerate() {
        let row = aten::select_int(&rows, 0, index as i64)?;
        let [alone] = grad([&w], |[w]| cubed(&w, &row))?;
        assert_eq!(got, alone.to_vec::<f64>()?);
    }
    assert!(!w.requires_grad() && w.grad().is_none());
    Ok(())
}

#[test]
fn gradients_of_each_example_have_gradients() -> Result<()> {
    let (rows, w) = (batch(), Tensor::from([1.0, 2.0, 3.0]));
    w.set_requires_grad(true)?;
    let per_example = vmap([&rows], |[row]| Ok(grad([&w], |[w]| cubed(&w, &row))?[0].clone()))?;
    aten::sum(&per_example)?.backward()?;
    // The gradient of the sum of `3 * w ** 2 * x ** 3`.
    let want = [6.0 * (1.0 + 64.0), 12.0 * (8.0 + 125.0), 18.0 * (27.0 + 216.0)];
    assert_eq!(w.grad().unwrap().to_vec::<f64>()?, want);
    // In the other order: the second derivative of each example by itself.
    let twice = vmap([&rows], |[row]| {
        Ok(grad([&w], |[w]| aten::sum(&grad([&w], |[w]| cubed(&w, &row))?[0]))?[0].clone())
    })?;
    assert_eq!(twice.to_vec::<f64>()?[..3], [6.0, 12.0 * 8.0, 18.0 * 27.0]);
    Ok(())
}

#[test]
fn views_and_writes_of_an_example_have_gradients() -> Result<()> {
    let rows = batch();
    let gradients = vmap([&rows], |[row]| {
        let [gradient] = grad([&row], |[row]| {
            let mut copy = aten::mul_Scalar(&row, 2.into())?;
            aten::zero_(&mut aten::select_int(&copy, 0, 0)?)?;
            aten::mul__Tensor(&mut copy, &row)?;
            aten::sum(&copy)
        })?;
        Ok(gradient)
    })?;
    assert_eq!(gradients.to_vec::<f64>()?, [0.0, 8.0, 12.0, 0.0, 20.0, 24.0]);
    Ok(())
}

/// Asserts that a function under vmap gives for each matrix of a batch what it gives for that matrix alone.
fn check_rule(name: &str, f: impl Fn(&Tensor) -> Result<Tensor>) {
    let numbers = (0..24).map(|n| ((n * 7 % 24) as f64 - 9.5) / 4.0).collect::<Vec<_>>();
    let matrices = Tensor::from_vec(numbers, &[2, 3, 4]).unwrap();
    for dim in [0, 1] {
        let batch = aten::transpose_int(&matrices, 0, dim).unwrap();
        let batched = Vmap::new().in_dims([Some(dim)]).run(&[batch], |rows| Ok(vec![f(&rows[0])?]));
        let batched = batched.unwrap_or_else(|error| panic!("{name}: {error}"));
        let alone: Vec<_> =
            (0..2).map(|index| f(&aten::select_int(&matrices, 0, index).unwrap()).unwrap()).collect();
        let alone = aten::stack(&alone).unwrap();
        assert_eq!(batched[0].sizes(), alone.sizes(), "{name}");
        let elements =
            |tensor: &Tensor| aten::to_dtype(tensor, DType::Float64).unwrap().to_vec::<f64>().unwrap();
        for (got, want) in elements(&batched[0]).into_iter().zip(elements(&alone)) {
            assert!((got - want).abs() <= 1e-12 * want.abs().max(1.0), "{name}: {got} instead of {want}");
        }
    }
}

#[test]
fn a_rule_gives_what_each_example_gives_alone() {
    check_rule("cumsum", |x| aten::cumsum(x, -1));
    check_rule("max.dim", |x| Ok(aten::max_dim(x, 0)?.0));
    check_rule("min.dim", |x| Ok(aten::min_dim(x, 1)?.1));
    check_rule("max", aten::max);
    check_rule("min", aten::min);
    check_rule("any", |x| aten::any(&aten::gt_Scalar(x, 2.into())?));
    check_rule("all.dim", |x| aten::all_dim(&aten::gt_Scalar(x, (-2).into())?, 0));
    check_rule("prod", aten::prod);
    check_rule("prod.dim_int", |x| aten::prod_dim_int(x, 1));
    check_rule("amax of all", |x| aten::amax::call(x, &[], false));
    check_rule("permute", |x| aten::permute(x, &[-1, 0]));
    check_rule("sort", |x| Ok(aten::sort(x)?.0));
    check_rule("topk", |x| Ok(aten::topk(x, 2)?.0));
    check_rule("var.correction", aten::var_correction);
    check_rule("linalg_vector_norm", aten::linalg_vector_norm);
    check_rule("diagonal", aten::diagonal);
    check_rule("unbind", |x| Ok(aten::unbind_int(x)?.remove(1)));
    check_rule("unfold", |x| aten::unfold(x, 1, 2, 1));
    check_rule("tril", aten::tril);
    check_rule("isnan", aten::isnan);
    check_rule("new_zeros", |x| aten::new_zeros(x, &[2]));
    check_rule("index_add", |x| {
        aten::index_add(x, 0, &Tensor::from([0i64, 2]), &Tensor::from([[1.0; 4]; 2]))
    });
}

#[test]
fn a_search_or_a_step_of_a_batch_is_one_call() {
    check_rule("aminmax", |x| {
        let (min, max) = aten::aminmax::with(x).dim(Some(0)).call()?;
        aten::sub_Tensor(&max, &min)
    });
    let sequence = Tensor::from([-1.0, 0.0, 1.5]);
    check_rule("searchsorted in one sequence", |x| aten::searchsorted_Tensor(&sequence, x));
    check_rule("searchsorted in a vector", |x| {
        aten::searchsorted_Tensor(&aten::sort(&aten::select_int(x, 0, 1)?)?.0, x)
    });
    check_rule("searchsorted in rows", |x| {
        let (values, sorter) = aten::sort(x)?;
        let found = aten::searchsorted_Tensor::with(x, &values).sorter(Some(&sorter)).right(true).call()?;
        aten::searchsorted_Tensor(&values, &found)
    });
    check_rule("logsumexp", |x| aten::logsumexp(x, &[1]));
    check_rule("mse_loss", |x| aten::mse_loss(x, &aten::flip(x, &[0])?));
    check_rule("_fused_adam_", |x| {
        let zeros = || Ok::<_, Error>([aten::zeros_like(x)?]);
        let (mut params, mut grads) = ([aten::clone(x)?], [aten::clone(x)?]);
        let (mut means, mut squares) = (zeros()?, zeros()?);
        let lists = (&mut params, &mut grads, &mut means, &mut squares);
        let step = [Tensor::from(1f32)];
        aten::_fused_adam_(
            lists.0,
            lists.1,
            lists.2,
            lists.3,
            &mut [],
            &step,
            0.1,
            0.9,
            0.99,
            0.0,
            1e-8,
            false,
            false,
        )?;
        let [param] = params;
        Ok(param)
    });
}

#[test]
fn a_gradient_of_a_batch_is_that_of_each_example_alone() {
    let kernel = Tensor::from([[[[0.5, -1.0], [2.0, 0.25]]], [[[1.0, 0.0], [-0.5, 1.5]]]]);
    let image = |x: &Tensor| aten::view(x, &[1, 1, 3, 4]);
    let of_kernel = |x: &Tensor| {
        let [gradient] =
            grad([&kernel], |[kernel]| aten::sum(&aten::tanh(&aten::conv2d(&image(x)?, &kernel)?)?))?;
        Ok(gradient)
    };
    check_rule("conv2d by weight", of_kernel);
    let by_input = |name, f: &dyn Fn(&Tensor) -> Result<Tensor>| {
        check_rule(name, |x| Ok(grad([x], |[x]| aten::sum(&aten::tanh(&f(&x)?)?))?[0].clone()));
    };
    by_input("conv2d", &|x| aten::conv2d(&image(x)?, &kernel));
    by_input("max_pool2d", &|x| aten::max_pool2d(&image(x)?, &[2, 2]));
    by_input("avg_pool2d", &|x| aten::avg_pool2d(&image(x)?, &[2, 2]));
    by_input("adaptive_avg_pool2d", &|x| aten::adaptive_avg_pool2d(&image(x)?, &[2, 2]));
    by_input("softmax", &|x| aten::softmax_int(x, 0));
    by_input("log_softmax", &|x| aten::log_softmax_int(x, 1));
    by_input("select", &|x| aten::select_int(x, 1, -1));
    by_input("slice", &|x| aten::slice_Tensor::with(x).dim(1).step(2).call());
    by_input("layer_norm", &|x| aten::layer_norm(x, &[4]));
    by_input("amax", &|x| aten::amax::call(x, &[1], false));
    by_input("index_select", &|x| aten::index_select(x, 1, &Tensor::from([3i64, 0, 3])));
    let classes = Tensor::from([2i64, 0, -100]);
    for reduction in 0..3 {
        by_input("cross_entropy_loss", &|x| {
            aten::cross_entropy_loss::with(x, &classes).reduction(reduction).call()
        });
    }
}

#[test]
fn shared_and_own_parts_of_a_gradient_add_up() -> Result<()> {
    let (rows, w) = (batch(), Tensor::from([1.0, 2.0, 3.0]));
    let gradients = vmap([&rows], |[row]| {
        let of = |w: &Tensor| {
            let (shared, own) = (aten::sum(&aten::mul_Tensor(w, w)?)?, aten::dot(&row, w)?);
            aten::add_Tensor(&shared, &aten::add_Tensor(&own, &aten::sum(w)?)?)
        };
        let [gradient] = grad([&w], |[w]| of(&w))?;
        Ok(gradient)
    })?;
    assert_eq!(gradients.to_vec::<f64>()?, [4.0, 7.0, 10.0, 7.0, 10.0, 13.0]);
    // A result that does not depend on an input has a gradient of zeros; one that is not a number has none.
    let [zeros] = grad([&w], |[_]| Ok(Tensor::from(1.0)))?;
    assert_eq!(zeros.to_vec::<f64>()?, [0.0; 3]);
    let error = grad([&w], |[w]| Ok(w)).unwrap_err();
    assert!(error.to_string().contains("needs a single number"), "{error}");
    Ok(())
}

#[test]
fn numbers_of_several_levels_are_promoted_together() -> Result<()> {
    let (single, double) = (Tensor::from([1f32, 2.0]), Tensor::from([3.0f64, 4.0, 5.0]));
    let subtracted = Vmap::new().in_dims([None, Some(0)]).run(&[single, double], |outer| {
        Vmap::new()
            .in_dims([Some(0), None])
            .run(outer, |inner| Ok(vec![aten::rsub_Tensor(&inner[0], &inner[1])?]))
    })?;
    assert_eq!((subtracted[0].dtype(), subtracted[0].sizes()), (DType::Float64, &[3, 2][..]));
    Ok(())
}

#[test]
fn weights_of_classes_are_as_many_as_the_classes() -> Result<()> {
    let likelihoods = Tensor::zeros(&[2, 3], DType::Float64, Device::CPU)?;
    let (targets, weights) = (Tensor::from([0i64, 1]), Tensor::from([1.0, 1.0, 1.0, 1.0]));
    let loss = Vmap::new().in_dims([Some(0), Some(0), None]).run(&[likelihoods, targets, weights], |one| {
        Ok(vec![aten::nll_loss::call(&one[0], &one[1], Some(&one[2]), 1, -100)?])
    });
    let error = loss.unwrap_err();
    assert!(error.to_string().contains("a weight of sizes [4] for 3 classes"), "{error}");
    Ok(())
}
