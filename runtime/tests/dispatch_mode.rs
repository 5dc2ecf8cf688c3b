//! Dispatch modes: what they see, in which order, on which thread, and until when.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use torch_library::autograd;
use torch_library::dispatch_mode::DispatchMode;
use torch_library::guard::{LocalDispatchKeySet, ThreadLocalState};
use torch_library::prelude::*;

torch_library! {
    mod modes {
        double(Tensor self) -> Tensor;
        plus_(Tensor(a!) self, float by=1.0) -> Tensor(a!);
        both(Tensor self) -> (Tensor, Tensor);
        made(int size) -> Tensor;
        twice(Tensor self) -> Tensor;
        indirect(Tensor self) -> Tensor;
    }
}

fn map(x: &Tensor, f: impl Fn(f64) -> f64) -> Result<Tensor> {
    Tensor::from_vec(x.to_vec()?.into_iter().map(f).collect(), x.sizes())
}

#[torch_impl(modes, CPU)]
mod cpu {
    use super::*;

    fn double(this: &Tensor) -> Result<Tensor> {
        map(this, |x| 2.0 * x)
    }

    /// A call of another operator, below autograd.
    fn indirect(this: &Tensor) -> Result<Tensor> {
        modes::double(this)
    }

    fn plus_(this: &mut Tensor, by: f64) -> Result<&mut Tensor> {
        let values = this.to_vec::<f64>()?;
        this.fill_from(values.into_iter().map(|x| x + by))?;
        Ok(this)
    }
}

#[torch_impl(modes, CompositeExplicitAutograd)]
fn made(size: i64) -> Result<Tensor> {
    Tensor::from_vec(vec![1.0; size as usize], &[size])
}

/// Two calls of an operator: composed of others.
#[torch_impl(modes, CompositeImplicitAutograd)]
fn twice(this: &Tensor) -> Result<Tensor> {
    modes::double(&modes::double(this)?)
}

derivatives! {
    in modes;
    double(Tensor self) -> Tensor { self => modes::double(grad) }
}

type Calls = Arc<Mutex<Vec<String>>>;

/// A mode that writes down each call, and passes it on.
fn noting(calls: &Calls, name: &'static str) -> DispatchMode {
    let calls = calls.clone();
    DispatchMode::new(move |operator, keys, stack| {
        calls.lock().unwrap().push(format!("{name} {operator}"));
        operator.redispatch_boxed(keys, stack)
    })
}

fn taken(calls: &Calls) -> Vec<String> {
    std::mem::take(&mut *calls.lock().unwrap())
}

/// Replaces `double` by its opposite.
fn opposite() -> DispatchMode {
    DispatchMode::replacing(modes::double::handle(), DispatchKey::CPU, |x: &Tensor| map(x, |x| -x)).unwrap()
}

fn doubled(x: f64) -> f64 {
    modes::double(&Tensor::from([x])).unwrap().to_vec::<f64>().unwrap()[0]
}

#[test]
fn a_kernel_is_replaced_while_the_guard_lives_on_this_thread_alone() {
    assert_eq!(doubled(3.0), 6.0);
    let mode = opposite();
    assert_eq!(doubled(3.0), -3.0);
    std::thread::scope(|scope| scope.spawn(|| assert_eq!(doubled(3.0), 6.0)).join().unwrap());
    let mut x = Tensor::from([3.0]);
    modes::plus_(&mut x).unwrap(); // another operator
    assert_eq!(x.to_vec::<f64>().unwrap(), [4.0]);
    drop(mode);
    assert_eq!(doubled(3.0), 6.0);
    assert!(!LocalDispatchKeySet::current().included.has(DispatchKey::Python));
}

#[test]
fn an_alias_is_for_all_backends_and_for_calls_without_tensors() {
    let all = DispatchKey::CompositeExplicitAutograd;
    let _double = DispatchMode::replacing(modes::double::handle(), all, |x: &Tensor| map(x, |x| -x)).unwrap();
    let _made =
        DispatchMode::replacing(modes::made::handle(), all, |_: i64| Ok(Tensor::from([4.0]))).unwrap();
    assert_eq!(doubled(3.0), -3.0);
    assert_eq!(modes::made(1).unwrap().to_vec::<f64>().unwrap(), [4.0]);
}

#[test]
fn in_place_operators_factories_and_composites_pass_through() {
    let calls = Calls::default();
    let mode = noting(&calls, "saw");
    let mut x = modes::made(2).unwrap();
    let written = std::ptr::from_ref::<Tensor>(modes::plus_::call(&mut x, 0.5).unwrap());
    assert!(std::ptr::eq(written, &x));
    assert_eq!(modes::twice(&x).unwrap().to_vec::<f64>().unwrap(), [6.0, 6.0]);
    drop(mode);
    modes::double(&x).unwrap();
    assert_eq!(
        taken(&calls),
        ["saw modes::made", "saw modes::plus_", "saw modes::double", "saw modes::double"]
    );
}

#[test]
fn the_newest_mode_is_first_and_redispatches_to_the_one_before() {
    let calls = Calls::default();
    let (outer, middle, inner) = (noting(&calls, "outer"), opposite(), noting(&calls, "inner"));
    assert_eq!(doubled(3.0), -3.0); // the replacement does not redispatch to the outer one
    assert_eq!(taken(&calls), ["inner modes::double"]);
    drop(middle); // not the newest: the others stay
    assert_eq!(doubled(3.0), 6.0);
    assert_eq!(taken(&calls), ["inner modes::double", "outer modes::double"]);
    drop(outer);
    assert_eq!(doubled(3.0), 6.0);
    assert_eq!(taken(&calls), ["inner modes::double"]);
    drop(inner);
    assert_eq!(doubled(3.0), 6.0);
    assert_eq!(taken(&calls), [""; 0]);
}

#[test]
fn a_kernel_is_replaced_in_the_kernels_of_other_operators_too() {
    let calls = Calls::default();
    let _outer = noting(&calls, "outer");
    let _replaced = opposite();
    let x = Tensor::from([3.0]);
    assert_eq!(modes::indirect(&x).unwrap().to_vec::<f64>().unwrap(), [-3.0]);
    assert_eq!(taken(&calls), ["outer modes::indirect"], "a closure does not see what it redispatches to");
}

#[test]
fn calls_of_the_closure_reach_the_other_modes_only() {
    let calls = Calls::default();
    let _outer = noting(&calls, "outer");
    let _inner = DispatchMode::replacing(modes::double::handle(), DispatchKey::CPU, |x: &Tensor| {
        let mut twice = modes::double(x)?; // no recursion
        modes::plus_::call(&mut twice, 0.25)?;
        Ok(twice)
    });
    assert_eq!(doubled(3.0), 6.25);
    assert_eq!(taken(&calls), ["outer modes::double", "outer modes::plus_"]);
}

#[test]
fn derivatives_apply_above_the_mode() {
    let _mode = opposite();
    let x = Tensor::from([3.0]);
    x.set_requires_grad(true).unwrap();
    let y = modes::double(&x).unwrap();
    assert_eq!(y.to_vec::<f64>().unwrap(), [-3.0]);
    let grads = autograd::grad(&[&y], &[&x], &[Some(Tensor::from([1.0]))], Default::default()).unwrap();
    // The formula calls `double`, on this thread and so in the mode.
    assert_eq!(grads[0].as_ref().unwrap().to_vec::<f64>().unwrap(), [-1.0]);
}

#[test]
fn a_panic_or_an_error_leaves_the_thread_in_the_mode() {
    let calls = Calls::default();
    let _outer = noting(&calls, "outer");
    let mode = DispatchMode::new(|operator, _, _| {
        if operator.name() == "made" {
            panic!("on purpose")
        }
        bail!(Argument, "refused")
    });
    assert!(catch_unwind(AssertUnwindSafe(|| modes::made(1))).is_err());
    let error = modes::double(&Tensor::from([1.0])).unwrap_err();
    assert_eq!(error.to_string(), "modes::double: refused");
    assert_eq!(taken(&calls), [""; 0]);
    drop(mode);
    assert_eq!(doubled(1.0), 2.0);
    assert_eq!(taken(&calls), ["outer modes::double"]);
}

#[test]
fn workers_have_the_modes_of_their_thread_until_the_guard_is_dropped() {
    let mode = opposite();
    let state = ThreadLocalState::capture();
    let on_worker = || std::thread::scope(|scope| scope.spawn(|| state.run(|| doubled(3.0))).join().unwrap());
    assert_eq!(on_worker(), -3.0);
    drop(mode);
    assert_eq!(on_worker(), 6.0);
}

#[test]
fn a_closure_may_enter_and_leave_modes() {
    let kept: Arc<Mutex<Vec<usize>>> = Arc::default();
    let seen = kept.clone();
    let _mode = DispatchMode::new(move |operator, keys, stack| {
        let inner = seen.clone();
        let _within = DispatchMode::new(move |operator, keys, stack| {
            inner.lock().unwrap().push(1);
            operator.redispatch_boxed(keys, stack)
        });
        seen.lock().unwrap().push(0);
        doubled(1.0); // passes through the mode that was just entered
        operator.redispatch_boxed(keys, stack)
    });
    assert_eq!(doubled(3.0), 6.0);
    assert_eq!(*kept.lock().unwrap(), [0, 1]);
}

#[test]
fn a_function_that_cannot_replace_the_kernel_is_refused() {
    let double = modes::double::handle();
    let refused = |mode: Result<DispatchMode>| mode.unwrap_err().to_string();
    let text = refused(DispatchMode::replacing(double, DispatchKey::CPU, |_: &Tensor, _: i64| Ok(1)));
    assert!(text.contains("does not fit modes::double: the operator has 1 argument, the kernel 2"), "{text}");
    assert!(text.contains("runtime/tests/dispatch_mode.rs:"), "{text}");
    let text = refused(DispatchMode::replacing(double, DispatchKey::Autograd, |x: &Tensor| Ok(x.clone())));
    assert!(
        text.starts_with("a function for Autograd cannot replace a kernel: modes see calls below"),
        "{text}"
    );
    let twice = modes::twice::handle();
    let text = refused(DispatchMode::replacing(twice, DispatchKey::CPU, |x: &Tensor| Ok(x.clone())));
    assert!(text.starts_with("modes::twice is composed of other operators"), "{text}");
    assert_eq!(doubled(3.0), 6.0);
}

#[test]
fn what_a_closure_leaves_is_checked() {
    let _mode = DispatchMode::new(|operator, _, stack| {
        operator.take_arguments(stack)?;
        stack.push(1i64);
        Ok(())
    });
    let error = modes::double(&Tensor::from([1.0])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Type, "{error}");
}
