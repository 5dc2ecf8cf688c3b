//! vmap without operators of `aten`: levels, wrappers and how calls are dispatched.

use std::panic::{AssertUnwindSafe, catch_unwind};

use torch_library::guard::{AutoDispatchBelowAutograd, LocalDispatchKeySet, ThreadLocalState, exclude};
use torch_library::prelude::*;
use torch_library::vmap::{Level, LevelGuard, Randomness};
use torch_library::{Dispatcher, Library, LibraryKind, RuntimeKernel};

torch_library! {
    mod vmap_tests {
        plus(Tensor self, Tensor other) -> Tensor;
        no_rule(Tensor self) -> Tensor;
        panics(Tensor self) -> Tensor;
    }
}

#[torch_impl(vmap_tests, CPU)]
fn plus(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    let sums = this.to_vec::<i32>()?.into_iter().zip(other.to_vec::<i32>()?).map(|(a, b)| a + b);
    Tensor::from_vec(sums.collect(), this.sizes())
}

#[torch_impl(vmap_tests, CPU)]
fn no_rule(this: &Tensor) -> Result<Tensor> {
    Ok(this.clone())
}

/// A batching rule for values that are batched along the same dimension.
#[torch_impl(vmap_tests::plus, FuncTorchBatched)]
fn plus_batched(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    let level = Level::current()?;
    let ((this, dim), (other, _)) = (level.unwrap(this), level.unwrap(other));
    level.wrap(vmap_tests::plus(&this, &other)?, dim.unwrap_or(0))
}

/// A batching rule that panics.
#[torch_impl(vmap_tests::panics, FuncTorchBatched)]
fn panics_batched(_: &Tensor) -> Result<Tensor> {
    panic!("in a rule")
}

fn enter(batch_size: i64) -> LevelGuard {
    Level::enter(batch_size, Randomness::default()).unwrap()
}

#[test]
fn a_wrapper_looks_like_one_example() {
    let guard = enter(2);
    let value = Tensor::from([[1, 2, 3], [4, 5, 6]]);
    let x = guard.level().wrap(value.clone(), 0).unwrap();
    assert_eq!((x.sizes(), x.strides(), x.dtype()), (&[3][..], &[1][..], DType::Int32));
    assert!(x.shares_storage_with(&value) && guard.level().has(&x) && !guard.level().has(&value));
    assert_eq!(guard.level().unwrap(&x).1, Some(0));
    assert_eq!(x.to_string(), "tensor(..., size=(3,), dtype=torch.int32)");
    assert_eq!(x.to_vec::<i32>().unwrap_err().kind(), ErrorKind::NotSupported);
    assert_eq!(guard.level().wrap(value, 1).unwrap_err().kind(), ErrorKind::Shape);
}

#[test]
fn a_call_runs_the_rule_of_each_level() {
    let value = Tensor::from([[1, 2, 3], [4, 5, 6]]);
    let outer = enter(2);
    let x = outer.level().wrap(value.clone(), 0).unwrap();
    let inner = enter(3);
    let y = inner.level().wrap(x, 0).unwrap();
    assert_eq!(y.sizes(), [0; 0]);
    let sum = vmap_tests::plus(&y, &y).unwrap();
    let (sum, dim) = inner.level().unwrap(&sum);
    assert_eq!((sum.sizes(), dim), (&[3][..], Some(0)));
    let (sum, dim) = outer.level().unwrap(&sum);
    assert_eq!((sum.to_vec::<i32>().unwrap(), dim), (vec![2, 4, 6, 8, 10, 12], Some(0)));
}

#[test]
fn a_tensor_that_escapes_is_an_error() {
    let guard = enter(2);
    let x = guard.level().wrap(Tensor::from([1, 2]), 0).unwrap();
    drop(guard);
    let error = vmap_tests::plus(&x, &x).unwrap_err();
    assert!(error.to_string().contains("a batched tensor is used outside of its vmap"), "{error}");
    assert!(Level::current().is_err() && Level::innermost().is_none());
}

/// Calls, the levels, and the level that a rule serves.
#[test]
fn levels_travel_with_the_state_of_their_thread() {
    let guard = enter(2);
    let level = guard.level();
    let x = level.wrap(Tensor::from([[1, 2, 3], [4, 5, 6]]), 0).unwrap();
    let state = level.serve(ThreadLocalState::capture);
    let there = || {
        let inside = state.run(|| {
            assert!(Level::innermost() == Some(level) && Level::current().unwrap() == level);
            vmap_tests::plus(&x, &x)
        });
        assert!(Level::innermost().is_none() && Level::current().is_err());
        (inside, vmap_tests::plus(&x, &x))
    };
    let (inside, outside) = std::thread::scope(|scope| scope.spawn(there).join()).unwrap();
    let (sums, _) = level.unwrap(&inside.unwrap());
    assert_eq!(sums.to_vec::<i32>().unwrap(), [2, 4, 6, 8, 10, 12]);
    assert!(outside.unwrap_err().to_string().contains("a batched tensor is used outside of its vmap"));
}

#[test]
fn an_operator_without_rule_says_so() {
    let guard = enter(2);
    let x = guard.level().wrap(Tensor::from([1, 2]), 0).unwrap();
    let error = vmap_tests::no_rule(&x).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::MissingKernel);
    let text = error.to_string();
    let first = "vmap_tests::no_rule has no kernel for FuncTorchBatched, and the fallback that runs it one example at \
                 a time is not linked; did you forget `use torch_library_kernels as _;`?";
    assert_eq!(text.lines().next(), Some(first), "{text}");
}

#[test]
fn rules_see_the_keys_in_front() {
    let guard = enter(2);
    let x = guard.level().wrap(Tensor::from([1, 2]), 0).unwrap();
    let mut library = Library::open(Dispatcher::global(), LibraryKind::Fragment, "vmap_keys", None).unwrap();
    library.define("look(Tensor self) -> bool").unwrap();
    // An autograd kernel that excludes the autograd keys and redispatches the same call.
    let autograd = RuntimeKernel::boxed(|operator, keys, stack| {
        let _below = AutoDispatchBelowAutograd::new();
        operator.redispatch_boxed(keys & DispatchKeySet::full_after(DispatchKey::AutogradOther), stack)
    });
    library.implement("look", DispatchKey::Autograd, autograd).unwrap();
    let rule = RuntimeKernel::boxed(|_, _, stack| {
        stack.pop();
        stack.push(LocalDispatchKeySet::current().excluded.has(DispatchKey::AutogradOther));
        Ok(())
    });
    library.implement("look", DispatchKey::FuncTorchBatched, rule).unwrap();
    let look = || -> bool {
        let look = Dispatcher::global().find("vmap_keys::look").unwrap();
        look.call_with([Value::TensorRef(&x)], []).unwrap().pop_as().unwrap()
    };
    assert!(!look());
    assert!(exclude(DispatchKeySet::AUTOGRAD, look));
}

#[test]
fn random_operators_may_look_past_the_innermost_level() {
    let (outer, inner) = (enter(2), enter(3));
    inner.level().outside(|| assert_eq!(Level::innermost(), Some(outer.level())));
    outer.level().outside(|| {
        assert_eq!(Level::innermost(), None);
        assert!(!LocalDispatchKeySet::current().included.has(DispatchKey::FuncTorchVmapMode));
    });
    assert_eq!(Level::innermost(), Some(inner.level()));
}

#[test]
fn a_panic_in_a_rule_leaves_nothing_of_the_call_behind() {
    let keys = LocalDispatchKeySet::current();
    let value = Tensor::from([1, 2]);
    let panics = || {
        let guard = enter(2);
        let x = guard.level().wrap(value.clone(), 0).unwrap();
        vmap_tests::panics(&x)
    };
    assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
    assert_eq!(LocalDispatchKeySet::current(), keys);
    assert!(Level::innermost().is_none());
    assert!(Level::current().is_err(), "no rule is running");
    // The saved state of the call that reached the rule is cleared, too.
    let guard = enter(2);
    let x = guard.level().wrap(value.clone(), 0).unwrap();
    let sum = vmap_tests::plus(&x, &x).unwrap();
    assert_eq!(guard.level().unwrap(&sum).0.to_vec::<i32>().unwrap(), [2, 4]);
}

#[test]
fn a_panic_outside_of_a_level_comes_back_to_it() {
    let guard = enter(2);
    let keys = LocalDispatchKeySet::current();
    let panics = || guard.level().outside(|| panic!("outside"));
    assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
    assert_eq!((Level::innermost(), LocalDispatchKeySet::current()), (Some(guard.level()), keys));
}

#[test]
fn an_example_keeps_the_strides_of_its_own_dimensions() {
    let guard = enter(3);
    let x = guard.level().wrap(Tensor::zeros(&[2, 3, 5], DType::Int32, Device::CPU).unwrap(), 1).unwrap();
    assert_eq!((x.sizes(), x.strides()), (&[2, 5][..], &[15, 1][..]));
}

#[test]
fn a_level_is_around_those_that_begin_inside_of_it() {
    let (outer, inner) = (enter(2), enter(2));
    let value = Tensor::from([1, 2]);
    let [of_outer, of_inner] = [&outer, &inner].map(|guard| guard.level().wrap(value.clone(), 0).unwrap());
    assert!(outer.level().is_around(&of_inner) && !outer.level().is_around(&of_outer));
    assert!(!inner.level().is_around(&of_outer) && !inner.level().is_around(&value));
}

#[test]
fn what_a_rule_excludes_is_excluded_in_the_calls_it_makes() {
    let (outer, inner) = (enter(2), enter(3));
    let x = outer.level().wrap(Tensor::from([[1, 2, 3], [4, 5, 6]]), 0).unwrap();
    let x = inner.level().wrap(x, 0).unwrap();
    let mut library = Library::open(Dispatcher::global(), LibraryKind::Fragment, "vmap_calls", None).unwrap();
    library.define("look(Tensor self) -> bool").unwrap();
    // The inner level's rule calls the operator on a tensor of the outer level.
    let rule = RuntimeKernel::boxed(|operator, _, stack| {
        let (value, _) = Level::current()?.unwrap(&stack.pop_as::<Tensor>()?);
        let call = || operator.call_with([Value::TensorRef(&value)], [])?.pop_as::<bool>();
        let seen = match value.is_wrapper() {
            true => exclude(DispatchKey::Tracer, call)?,
            false => LocalDispatchKeySet::current().excluded.has(DispatchKey::Tracer),
        };
        stack.push(seen);
        Ok(())
    });
    library.implement("look", DispatchKey::FuncTorchBatched, rule).unwrap();
    let look = Dispatcher::global().find("vmap_calls::look").unwrap();
    let seen: bool = look.call_with([Value::TensorRef(&x)], []).unwrap().pop_as().unwrap();
    assert!(seen);
}
