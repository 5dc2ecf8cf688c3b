//! Operators with a wrong layer kernel: a gradient, a batching rule, a cast. Each fault is found and named.

use torch_library::autocast::Autocast;
use torch_library::guard::AutoDispatchBelowAutograd;
use torch_library::opcheck::{Check, OpCheck, Report, opcheck};
use torch_library::prelude::*;
use torch_library::vmap::Level;
use torch_library::{DeviceType, Dispatcher, derivatives};
use torch_library_kernels::prelude::*;
use torch_library_kernels::{aten, autocast};

torch_library! {
    pub mod layered {
        square(Tensor self) -> Tensor;
        square_(Tensor(a!) self) -> Tensor(a!);
        underived(Tensor self) -> Tensor;

        wrong_slope(Tensor self) -> Tensor;
        slope_of_one(Tensor self, Tensor other) -> Tensor;
        lost(Tensor self) -> Tensor;
        wrong_write_(Tensor(a!) self) -> Tensor(a!);
        no_curve(Tensor self) -> Tensor;
        formula_panics(Tensor self) -> Tensor;

        first_example(Tensor self) -> Tensor;
        front_only(Tensor self) -> Tensor;
        no_batches(Tensor self) -> Tensor;
        refuses_batches(Tensor self) -> Tensor;
        writes_one_(Tensor(a!) self) -> Tensor(a!);

        casts_too_much(Tensor self) -> Tensor;
        casts_to_another(Tensor self) -> Tensor;
        cast_fails(Tensor self) -> Tensor;
    }
}

/// Kernels that all compute the square.
macro_rules! squares {
    ($key:ident: $($operator:ident)+; $($in_place:ident)+) => {
        #[torch_impl(layered, $key)]
        mod squares {
            use super::*;

            $(fn $operator(this: &Tensor) -> Result<Tensor> {
                this.mul(this)
            })+

            $(fn $in_place(this: &mut Tensor) -> Result<&mut Tensor> {
                let copy = this.copy()?;
                this.mul_(&copy)
            })+

            fn slope_of_one(this: &Tensor, other: &Tensor) -> Result<Tensor> {
                this.mul(other)
            }
        }
    };
}

squares! {
    CompositeExplicitAutograd:
        square underived wrong_slope lost no_curve formula_panics first_example front_only no_batches refuses_batches
        casts_too_much casts_to_another cast_fails;
    square_ wrong_write_ writes_one_
}

derivatives! {
    in layered;

    #[in_place]
    square(Tensor self) -> Tensor {
        self => grad.mul(self)?.mul(2),
    }
    wrong_slope(Tensor self) -> Tensor {
        self => grad.mul(self)?.mul(3),
    }
    slope_of_one(Tensor self, Tensor other) -> Tensor {
        self => grad.mul(other),
        other => non_differentiable,
    }
    wrong_write_(Tensor(a!) self) -> Tensor(a!) {
        self => grad.clone(),
    }
    no_curve(Tensor self) -> Tensor {
        self => grad.mul(&self.detach()?.mul(2)?),
    }
    formula_panics(Tensor self) -> Tensor {
        self => panicking(self.numel()),
    }
}

fn panicking(elements: i64) -> Result<Tensor> {
    panic!("{elements} elements")
}

/// Redispatches without recording anything.
#[torch_impl(layered, Autograd)]
fn lost(keys: DispatchKeySet, this: &Tensor) -> Result<Tensor> {
    let _below = AutoDispatchBelowAutograd::new();
    layered::lost::redispatch(keys & DispatchKeySet::full_after(DispatchKey::AutogradOther), this)
}

#[torch_impl(layered, FuncTorchBatched)]
mod rules {
    use super::*;

    fn square(this: &Tensor) -> Result<Tensor> {
        let level = Level::current()?;
        let (value, dim) = level.unwrap(this);
        level.wrap(value.mul(&value)?, dim.unwrap_or(0))
    }

    fn first_example(this: &Tensor) -> Result<Tensor> {
        let (value, dim) = Level::current()?.unwrap(this);
        super::square(&value.select(dim.unwrap_or(0) as i64, 0)?)
    }

    fn front_only(this: &Tensor) -> Result<Tensor> {
        let level = Level::current()?;
        let (value, _) = level.unwrap(this);
        level.wrap(value.mul(&value)?, 0)
    }

    fn no_batches(this: &Tensor) -> Result<Tensor> {
        bail!(Shape, "{} dimensions are enough", this.dim())
    }

    fn refuses_batches(_: &Tensor) -> Result<Tensor> {
        bail!(NotSupported, "not yet")
    }

    fn writes_one_(this: &mut Tensor) -> Result<&mut Tensor> {
        let (value, dim) = Level::current()?.unwrap(this);
        value.select(dim.unwrap_or(0) as i64, 0)?.mul_(2)?;
        Ok(this)
    }
}

fn square(x: &Tensor) -> Result<Tensor> {
    x.mul(x)
}

#[torch_impl(layered, AutocastCPU)]
mod casts {
    use super::*;

    fn square(this: &Tensor) -> Result<Tensor> {
        let _no_autocast = autocast::below(DeviceType::Cpu);
        super::square(&autocast::cached_cast(DType::BFloat16, this, DeviceType::Cpu)?)
    }

    fn casts_too_much(this: &Tensor) -> Result<Tensor> {
        let _no_autocast = autocast::below(DeviceType::Cpu);
        super::square(&this.to_dtype(DType::BFloat16)?)
    }

    fn casts_to_another(this: &Tensor) -> Result<Tensor> {
        let _no_autocast = autocast::below(DeviceType::Cpu);
        super::square(&this.to_dtype(DType::Float16)?)
    }

    fn cast_fails(_: &Tensor) -> Result<Tensor> {
        bail!(Kernel, "out of bits")
    }
}

fn x() -> Tensor {
    Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.5]])
}

fn report(name: &str) -> Report {
    let operator = Dispatcher::global().find(&format!("layered::{name}")).unwrap();
    let count = operator.schema().unwrap().arguments.len();
    let others = [Check::Meta, Check::Empty, Check::InPlace];
    let check = others.into_iter().fold(OpCheck::new(operator), OpCheck::without);
    check.run([(0..count).map(|_| Value::Tensor(x())).collect()])
}

/// Checks that the operator has exactly one fault, with this message.
#[track_caller]
fn check(name: &str, check: Check, expected: &str) {
    let report = report(name);
    let found: Vec<_> = report.faults.iter().map(|fault| (fault.check, fault.message.as_str())).collect();
    let [(found, message)] = found[..] else { panic!("not one fault: {report}") };
    assert!(found == check && message.contains(expected), "{report}");
}

#[test]
fn layers_that_are_right_pass() {
    let square = Dispatcher::global().find("layered::square").unwrap();
    opcheck(square, [vec![Value::Tensor(x())]]).unwrap();
    let all = [Check::Gradient, Check::SecondGradient, Check::Autocast, Check::Vmap, Check::Functionalize];
    assert_eq!(report("square").layers, all);
    assert_eq!(
        report("square_").layers,
        [Check::Gradient, Check::SecondGradient, Check::Vmap, Check::Functionalize]
    );
    assert_eq!(report("underived").layers, [Check::Vmap, Check::Functionalize]);
    assert_eq!(Autocast::on(DeviceType::Cpu).run(|| layered::square(&x())).unwrap().dtype(), DType::Float64);
}

#[test]
fn gradients_are_those_of_differences() {
    let slope = "output 0, element 0, with respect to input 0, element 0, is 3, but finite differences give";
    check("wrong_slope", Check::Gradient, slope);
    check(
        "slope_of_one",
        Check::Gradient,
        "with respect to input 1, element 0, is 0, but finite differences give",
    );
    check("wrong_write_", Check::Gradient, "is 1, but finite differences give");
    check("formula_panics", Check::Gradient, "panics: 6 elements");
}

#[test]
fn gradients_are_not_lost() {
    let lost = "a result changes with `self`, but does not require grad with it";
    check("lost", Check::Gradient, lost);
}

#[test]
fn gradients_have_gradients() {
    check("no_curve", Check::SecondGradient, "second derivative: the derivative of output 0");
}

#[test]
fn a_batch_is_what_a_loop_gives() {
    let first = "with a batch of `self` along the first dimension: example 1: element 0 is 1 instead of";
    check("first_example", Check::Vmap, first);
    check(
        "front_only",
        Check::Vmap,
        "dimension 0 of sizes [2, 3, 3] does not have the 3 examples of the batch",
    );
    check("no_batches", Check::Vmap, "layered::no_batches: 2 dimensions are enough");
    check(
        "writes_one_",
        Check::Vmap,
        "with a batch of `self` along the first dimension: example 0: element 0 is 2 instead",
    );
    // A rule that returns an error instead of a result is not a fault.
    assert!(report("refuses_batches").faults.is_empty());
}

#[test]
fn autocast_casts_inputs_and_nothing_else() {
    let much = "with inputs of float64, the result differs from that of a call with cast inputs: return 0: \
                bfloat16 instead of float64";
    check("casts_too_much", Check::Autocast, much);
    check(
        "casts_to_another",
        Check::Autocast,
        "float16 instead of float32; return 0: float16 instead of bfloat16",
    );
    check("cast_fails", Check::Autocast, "layered::cast_fails: out of bits");
}

#[test]
fn a_layer_can_be_left_out() {
    let operator = Dispatcher::global().find("layered::lost").unwrap();
    let check = OpCheck::new(operator).without(Check::Gradient).without(Check::SecondGradient);
    let report = check.run([vec![Value::Tensor(x())]]);
    assert!(report.faults.is_empty(), "{report}");
    // Nothing to check: no sample is precise enough for finite differences.
    let single = aten::to_dtype(&x(), DType::Float32).unwrap();
    let report = OpCheck::new(operator).run([vec![Value::Tensor(single)]]);
    assert!(!report.layers.contains(&Check::Gradient), "{report}");
}
