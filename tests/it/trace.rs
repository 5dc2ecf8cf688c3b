//! The trace of a call through several layers.

use std::sync::{Arc, Mutex};

use expect_test::expect;
use torch_library::guard::{AutoDispatchBelowAutograd, NoGradGuard, include};
use torch_library::prelude::*;
use torch_library::{Library, RuntimeKernel, trace};

torch_library! {
    pub mod it_trace {
        /// Has an autograd kernel above the one for the CPU.
        layered(Tensor x) -> Tensor;
        /// Calls the other operator.
        twice(Tensor x) -> Tensor;
        /// Has no kernel.
        absent(Tensor x) -> Tensor;
        /// Takes arguments that are not tensors, and has a boxed kernel.
        several(Tensor[] xs, int n, Tensor? y=None, *, Generator? g=None) -> Tensor;
        /// Is overridden while it is called.
        overridden(int x) -> int;
    }
}

#[torch_impl(it_trace::layered, CPU)]
fn layered(x: &Tensor) -> Result<Tensor> {
    Ok(x.clone())
}

#[torch_impl(it_trace::layered, Autograd)]
fn layered_autograd(keys: DispatchKeySet, x: &Tensor) -> Result<Tensor> {
    let _guard = AutoDispatchBelowAutograd::new();
    it_trace::layered::redispatch(keys & DispatchKeySet::AFTER_AUTOGRAD, x)
}

#[torch_impl(it_trace, CompositeImplicitAutograd)]
fn twice(x: &Tensor) -> Result<Tensor> {
    it_trace::layered(&it_trace::layered(x)?)
}

#[torch_impl(it_trace, CompositeExplicitAutograd, boxed)]
fn several(_: OperatorHandle, _: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    stack.drop_last(4);
    stack.push(Tensor::from(1));
    Ok(())
}

#[torch_fallback(PythonTLSSnapshot)]
fn pass_on(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    operator.redispatch_boxed(keys & DispatchKeySet::full_after(DispatchKey::PythonTLSSnapshot), stack)
}

/// Runs `calls` and returns the trace of this thread's calls of these operators, without places.
fn traced(calls: impl FnOnce()) -> String {
    let lines = Arc::new(Mutex::new(String::new()));
    let (listener, this) = (lines.clone(), std::thread::current().id());
    let guard = trace::listen(move |event| {
        if std::thread::current().id() == this {
            let line = event.to_string();
            let line = match line.split_once(" at ") {
                Some((before, after)) => before.to_owned() + &after[after.find(']').unwrap()..],
                None => line,
            };
            *listener.lock().unwrap() += &format!("{line}\n");
        }
    });
    calls();
    drop(guard);
    let lines = lines.lock().unwrap();
    lines.clone()
}

#[test]
fn layers_nest() {
    let x = Tensor::from([1.0]);
    let text = traced(|| {
        it_trace::twice(&x).unwrap();
    });
    expect![[r#"
        [call] op=[it_trace::twice], key=[AutogradCPU], kernel=[twice], arguments=[CPU+ADInplaceOrView+AutogradCPU+AutocastCPU]
          [call] op=[it_trace::layered], key=[AutogradCPU], kernel=[layered_autograd], arguments=[CPU+ADInplaceOrView+AutogradCPU+AutocastCPU]
            [redispatch] op=[it_trace::layered], key=[CPU], kernel=[layered], arguments=[CPU+ADInplaceOrView+AutogradCPU+AutocastCPU]
          [call] op=[it_trace::layered], key=[AutogradCPU], kernel=[layered_autograd], arguments=[CPU+ADInplaceOrView+AutogradCPU+AutocastCPU]
            [redispatch] op=[it_trace::layered], key=[CPU], kernel=[layered], arguments=[CPU+ADInplaceOrView+AutogradCPU+AutocastCPU]
    "#]]
    .assert_eq(&text);
}

#[test]
fn boxed_calls_and_missing_kernels_show() {
    let x = Tensor::from([1.0]);
    let text = traced(|| {
        let _guard = NoGradGuard::new();
        it_trace::layered::handle().call_with([Value::from(&x)], []).unwrap();
        it_trace::absent(&x).unwrap_err();
    });
    expect![[r#"
        [callBoxed] op=[it_trace::layered], key=[AutogradCPU], kernel=[layered_autograd], arguments=[CPU+ADInplaceOrView+AutogradCPU+AutocastCPU]
          [redispatch] op=[it_trace::layered], key=[CPU], kernel=[layered], arguments=[CPU+ADInplaceOrView+AutogradCPU+AutocastCPU]
        [call] op=[it_trace::absent], key=[AutogradCPU], fallback=[autograd default], arguments=[CPU+ADInplaceOrView+AutogradCPU+AutocastCPU]
          [redispatch] op=[it_trace::absent], key=[CPU], missing, arguments=[CPU+ADInplaceOrView+AutogradCPU+AutocastCPU]
    "#]]
    .assert_eq(&text);
}

#[test]
fn arguments_fallbacks_and_boxed_kernels_show() {
    let bare = |key| Tensor::from([1.0]).with_key_set(DispatchKeySet::from_key(key));
    let (cpu, meta) = (bare(DispatchKey::CPU), bare(DispatchKey::Meta));
    let text = traced(|| {
        include(DispatchKey::PythonTLSSnapshot, || {
            it_trace::several::with(&[cpu.clone(), meta.clone()], 3).y(Some(&cpu)).call().unwrap();
        });
    });
    expect![[r#"
        [call] op=[it_trace::several], key=[PythonTLSSnapshot], fallback=[pass_on], arguments=[CPU+Meta, -, CPU, -]
          [redispatchBoxed] op=[it_trace::several], key=[Meta], boxed kernel=[several], arguments=[CPU+Meta, -, CPU, -]
    "#]].assert_eq(&text);
}

#[test]
fn nothing_is_traced_without_a_listener() {
    let x = Tensor::from([1.0]);
    traced(|| drop(it_trace::layered(&x)));
    it_trace::layered(&x).unwrap();
    assert_eq!(traced(|| ()), "");
}

#[torch_impl(it_trace, CompositeExplicitAutograd)]
fn overridden(x: i64) -> Result<i64> {
    Ok(x)
}

#[test]
fn a_call_whose_kernel_goes_meanwhile_is_shown_once() {
    let key = DispatchKey::CompositeExplicitAutograd;
    let captured = Arc::new(()); // a closure that captures nothing is never dropped
    let (in_typed, in_boxed) = (captured.clone(), captured.clone());
    let typed = it_trace::overridden::kernel(move |_| Ok(Arc::strong_count(&in_typed) as i64));
    let boxed = RuntimeKernel::boxed(move |_, _, _| panic!("{in_boxed:?} is gone"));
    for kernel in [typed, boxed] {
        let mut library = Library::implementation("it_trace", key).unwrap();
        library.implement("overridden", key, kernel).unwrap();
        let (library, shown) = (Mutex::new(Some(library)), Arc::new(Mutex::new(0)));
        let (count, this) = (shown.clone(), std::thread::current().id());
        let guard = trace::listen(move |_| {
            if std::thread::current().id() == this {
                *count.lock().unwrap() += 1;
                drop(library.lock().unwrap().take()); // the call has found its kernel, but not run it yet
            }
        });
        assert_eq!(it_trace::overridden(5).unwrap(), 5, "the linked kernel ran");
        drop(guard);
        assert_eq!(*shown.lock().unwrap(), 1);
    }
    assert_eq!(Arc::strong_count(&captured), 1, "both closures are gone");
}
