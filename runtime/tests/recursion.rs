//! Operators that call themselves endlessly: an error before the stack overflows, for any stack size and call path.
#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicUsize, Ordering};

use torch_library::observe::Observer;
use torch_library::prelude::*;
use torch_library::{Dispatcher, ErrorKind, Library, RuntimeKernel};

torch_library! {
    /// Operators that call themselves `n` times.
    pub mod deep {
        /// Through its module's typed function.
        typed(Tensor self, int n) -> Tensor;
        /// Through a boxed call.
        boxed(Tensor self, int n) -> Tensor;
        /// With a kernel for all backends.
        composite(Tensor self, int n) -> Tensor;
        /// Through the kernel for one key.
        for_key(Tensor self, int n) -> Tensor;
        /// By redispatch with the keys it was called with.
        again(Tensor self, int n) -> Tensor;
        /// At an autograd key, while the graph is recorded.
        derivative(Tensor self, int n) -> Tensor;
        /// At the key of vmap.
        batched(Tensor self, int n) -> Tensor;
        /// Through a fallback that calls the operator it serves.
        fallback(Tensor self, int n) -> Tensor;
    }
}

#[torch_impl(deep, CPU)]
mod cpu {
    use torch_library::prelude::*;

    fn typed(this: &Tensor, n: i64) -> Result<Tensor> {
        if n == 0 { Ok(this.clone()) } else { super::deep::typed(this, n - 1) }
    }

    #[torch_impl(boxed)]
    fn boxed(operator: OperatorHandle, _: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
        let n: i64 = stack.pop_as()?;
        if n == 0 {
            return Ok(());
        }
        stack.push(n - 1);
        operator.call_boxed(stack)
    }

    #[torch_impl(boxed)]
    fn for_key(operator: OperatorHandle, _: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
        let n: i64 = stack.pop_as()?;
        if n == 0 {
            return Ok(());
        }
        stack.push(n - 1);
        operator.call_boxed_for_key(DispatchKey::CPU, stack)
    }

    fn again(keys: DispatchKeySet, this: &Tensor, n: i64) -> Result<Tensor> {
        if n == 0 { Ok(this.clone()) } else { super::deep::again::redispatch(keys, this, n - 1) }
    }
}

#[torch_impl(deep::composite, CompositeImplicitAutograd)]
fn composite(this: &Tensor, n: i64) -> Result<Tensor> {
    if n == 0 { Ok(this.clone()) } else { deep::composite(this, n - 1) }
}

#[torch_impl(deep::derivative, Autograd)]
fn derivative(this: &Tensor, n: i64) -> Result<Tensor> {
    if n == 0 { Ok(this.clone()) } else { deep::derivative(this, n - 1) }
}

#[torch_impl(deep::batched, FuncTorchBatched)]
fn batched(this: &Tensor, n: i64) -> Result<Tensor> {
    if n == 0 { Ok(this.clone()) } else { deep::batched(this, n - 1) }
}

#[torch_fallback(TESTING_ONLY_GenericMode)]
fn fallback(operator: OperatorHandle, _: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    let n: i64 = stack.pop_as()?;
    if n == 0 {
        return Ok(());
    }
    stack.push(n - 1);
    operator.call_boxed(stack)
}

type Call = fn(i64) -> Result<Tensor>;

fn x() -> Tensor {
    Tensor::from([1.0])
}

/// The ways of calling, and the operators' names.
const WAYS: [(&str, Call); 8] = [
    ("deep::typed", |n| deep::typed(&x(), n)),
    ("deep::boxed", |n| deep::boxed(&x(), n)),
    ("deep::composite", |n| deep::composite(&x(), n)),
    ("deep::for_key", |n| deep::for_key(&x(), n)),
    ("deep::again", |n| deep::again(&x(), n)),
    ("deep::derivative", |n| {
        let x = x();
        x.set_requires_grad(true)?;
        deep::derivative(&x, n)
    }),
    ("deep::batched", |n| {
        let _batched = torch_library::guard::IncludeDispatchKeyGuard::new(DispatchKey::FuncTorchBatched);
        deep::batched(&x(), n)
    }),
    ("deep::fallback", |n| {
        let key = DispatchKey::TESTING_ONLY_GenericMode;
        let _generic = torch_library::guard::IncludeDispatchKeyGuard::new(key);
        deep::fallback(&x(), n)
    }),
];

/// Calls `run` on a thread with a stack of `kib` KiB.
fn on_stack_of(kib: usize, run: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(kib * 1024).spawn_scoped(scope, run).unwrap();
        thread.join().unwrap();
    });
}

fn check(name: &str, call: impl Fn(i64) -> Result<Tensor>) {
    for _ in 0..2 {
        let error = call(100_000).expect_err(name);
        assert_eq!(error.kind(), ErrorKind::Recursion, "{name}: {error}");
        let message = error.to_string();
        assert!(message.starts_with(&format!("{name}: calls are nested too deep: ")), "{message}");
        assert!(message.len() < 600, "{message}");
        assert_eq!(call(3).unwrap().sizes(), [1], "{name}");
    }
}

#[test]
fn an_operator_that_calls_itself_without_end_is_an_error() {
    for kib in [512, 2 * 1024, 8 * 1024] {
        for (name, call) in WAYS {
            on_stack_of(kib, || check(name, call));
        }
    }
}

#[test]
fn so_it_is_while_somebody_watches_the_calls() {
    static SEEN: AtomicUsize = AtomicUsize::new(0);
    on_stack_of(512, || {
        let handle = Observer::new(|_| {
            SEEN.fetch_add(1, Ordering::Relaxed);
        });
        let _handle = handle.with_inputs().with_redispatches().on_this_thread();
        WAYS.into_iter().for_each(|(name, call)| check(name, call));
    });
    assert!(SEEN.load(Ordering::Relaxed) > 100);
}

#[test]
fn a_closure_of_the_run_time_that_calls_itself_is_an_error() {
    let dispatcher = Dispatcher::global();
    let mut library = Library::new("deep_at_run_time").unwrap();
    let operator = library.define("f(Tensor self, int n) -> Tensor").unwrap();
    let call = move |n: i64| {
        let typed = operator.typed::<fn(&Tensor, i64) -> Result<Tensor>, _>()?;
        typed.call(&x(), n)
    };
    let kernel = RuntimeKernel::function(
        move |this: &Tensor, n: i64| {
            if n == 0 { Ok(this.clone()) } else { call(n - 1) }
        },
    );
    library.implement("f", DispatchKey::CPU, kernel.unwrap()).unwrap();
    assert!(dispatcher.find("deep_at_run_time::f").is_ok());
    on_stack_of(512, || check("deep_at_run_time::f", call));

    let closure = deep::typed::kernel(
        |this: &Tensor, n: i64| {
            if n == 0 { Ok(this.clone()) } else { deep::typed(this, n - 1) }
        },
    );
    let mut library = Library::fragment("deep").unwrap();
    library.implement("typed", DispatchKey::Meta, closure).unwrap();
    let on_meta = |n| deep::typed(&Tensor::empty(&[1], DType::Float32, Device::META)?, n);
    on_stack_of(512, || check("deep::typed", on_meta));
}
