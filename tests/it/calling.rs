//! Typed and boxed calls reach the same kernels with the same arguments.

use torch_library::guard::ExcludeDispatchKeyGuard;
use torch_library::prelude::*;
use torch_library::{Library, RuntimeKernel};

torch_library! {
    pub mod it_calling {
        /// Returns the key set that the kernel receives.
        keys(Tensor[] xs, Generator? g=None) -> int;
        /// Adds in place.
        add_(Tensor(a!) self, int by=1) -> Tensor(a!);
        /// Writes two results.
        split(Tensor self, *, Tensor(a!) low, Tensor(b!) high) -> (Tensor(a!), Tensor(b!));
        /// Takes arguments of all types but tensors.
        describe(int a, float b=0.5, *, str c="x", int[2] d=3, bool? e=None, ScalarType f=float, Device? g=None) -> str;
        /// Names the kernel that the call reached.
        stop(Tensor x) -> str;
        /// Has a boxed kernel.
        boxed(Tensor(a!) self, Tensor? other, Scalar factor) -> Tensor(a!);
        /// Names who registered the kernel that the call reached.
        whose(Tensor x) -> str;
    }
}

#[torch_impl(it_calling, CPU)]
fn whose(_: &Tensor) -> Result<String> {
    Ok("the program's".to_owned())
}

#[torch_impl(it_calling, CPU, CompositeExplicitAutograd)]
fn keys(keys: DispatchKeySet, _: &[Tensor], _: Option<&Generator>) -> Result<i64> {
    Ok(keys.raw() as i64)
}

#[torch_impl(it_calling, CPU)]
mod cpu {
    use torch_library::prelude::*;

    fn add_(this: &mut Tensor, by: i64) -> Result<&mut Tensor> {
        let sums: Vec<i64> = this.to_vec::<i64>()?.into_iter().map(|x| x + by).collect();
        this.copy_from_slice(&sums)?;
        Ok(this)
    }

    fn split<'l, 'h>(
        this: &Tensor,
        low: &'l mut Tensor,
        high: &'h mut Tensor,
    ) -> Result<(&'l mut Tensor, &'h mut Tensor)> {
        let elements = this.to_vec::<i64>()?;
        low.copy_from_slice(&elements[..1])?;
        high.copy_from_slice(&elements[1..])?;
        Ok((low, high))
    }
}

#[torch_impl(it_calling, CompositeExplicitAutograd)]
fn describe(
    a: i64,
    b: f64,
    c: &str,
    d: &[i64],
    e: Option<bool>,
    f: DType,
    g: Option<Device>,
) -> Result<String> {
    Ok(format!("{a} {b} {c} {d:?} {e:?} {f} {g:?}"))
}

/// Doubles in place, as a boxed kernel.
#[torch_impl(it_calling, CPU, boxed)]
fn boxed(operator: OperatorHandle, _: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    let [this, other, factor] = operator.arguments(stack)? else { bail!(Internal, "three arguments") };
    ensure!(other.is_none(), Argument, "no second tensor was passed");
    let (Some(this), Value::Int(factor)) = (this.as_tensor(), factor) else {
        bail!(Type, "a tensor, a number")
    };
    let products: Vec<i64> = this.to_vec::<i64>()?.into_iter().map(|x| x * factor).collect();
    this.clone().copy_from_slice(&products)?;
    stack.drop_last(2);
    Ok(())
}

#[test]
fn in_place_calls_return_the_callers_own_object() {
    let mut x = Tensor::from([1i64, 2]);
    let at = std::ptr::from_ref(&x);
    let returned = it_calling::add_(&mut x).unwrap();
    assert_eq!(std::ptr::from_ref(returned), at);
    let returned = it_calling::boxed(&mut x, None, Scalar::Int(10)).unwrap();
    assert_eq!(std::ptr::from_ref(returned), at, "also through a boxed kernel");
    assert_eq!(x.to_vec::<i64>().unwrap(), [20, 30]);

    let handle = it_calling::add_::handle();
    let mut stack = handle.call_with([Value::from(&mut x)], [("by", Value::Int(5))]).unwrap();
    assert_eq!(stack.len(), 1);
    let Some(Value::TensorMut(returned)) = stack.pop() else {
        panic!("the argument comes back as it went in")
    };
    assert_eq!((std::ptr::from_ref(returned), returned.to_vec::<i64>().unwrap()), (at, vec![25, 35]));
}

#[test]
fn several_results_come_back_in_their_own_places() {
    let x = Tensor::from([1i64, 2]);
    let (mut low, mut high) = (Tensor::from([0i64]), Tensor::from([0i64]));
    let places = (std::ptr::from_ref(&low), std::ptr::from_ref(&high));
    let (a, b) = it_calling::split(&x, &mut low, &mut high).unwrap();
    assert_eq!((std::ptr::from_ref(a), std::ptr::from_ref(b)), places);
    assert_eq!((a.to_vec::<i64>().unwrap(), b.to_vec::<i64>().unwrap()), (vec![1], vec![2]));

    let out = [("low", Value::from(&mut low)), ("high", Value::from(&mut high))];
    let mut stack = it_calling::split::handle().call_with([Value::from(&x)], out).unwrap();
    let returned: Vec<_> = std::iter::from_fn(|| stack.pop()).collect();
    let [Value::TensorMut(b), Value::TensorMut(a)] = &returned[..] else {
        panic!("both come back as they went in: {returned:?}")
    };
    assert_eq!((std::ptr::from_ref(&**a), std::ptr::from_ref(&**b)), places);
}

#[test]
fn typed_and_boxed_calls_see_the_same_keys() {
    let meta = Tensor::empty(&[1], DType::Float32, Device::META).unwrap();
    let of_meta = DispatchKeySet::from_key(DispatchKey::Meta);
    let generator = Generator::for_backend(Device::META, of_meta, 0);
    let lists: [Vec<Tensor>; 4] =
        [vec![], vec![Tensor::from([1.0])], vec![Tensor::from([1.0]), meta.clone()], vec![meta]];
    for list in lists {
        for generator in [None, Some(&generator)] {
            let typed = it_calling::keys::with(&list).g(generator).call().unwrap();
            let mut stack = Stack::new();
            stack.push(list.as_slice());
            stack.push(generator);
            it_calling::keys::handle().call_boxed(&mut stack).unwrap();
            assert_eq!(stack.pop_as::<i64>().unwrap(), typed);
            let keys = DispatchKeySet::from_raw(typed as u64);
            assert!(generator.is_none() || keys.has_all(of_meta), "{keys}");
        }
    }
}

#[test]
fn a_redispatch_masks_again() {
    let mut library = Library::fragment("it_calling_redispatch").unwrap();
    let op = library.define("op(Tensor x) -> int").unwrap();
    let answer = RuntimeKernel::boxed(|_, keys, stack| {
        stack.drop_last(1);
        stack.push(keys.raw() as i64);
        Ok(())
    });
    library.implement("op", DispatchKey::CPU, answer).unwrap();
    library.implement("op", DispatchKey::Tracer, RuntimeKernel::fallthrough()).unwrap();
    let keys = DispatchKeySet::from_keys(&[DispatchKey::CPU, DispatchKey::Tracer]);
    let mut stack = Stack::from_iter([Value::Tensor(Tensor::from([1.0]))]);
    op.redispatch_boxed(keys, &mut stack).unwrap();
    assert_eq!(stack.pop_as::<i64>().unwrap() as u64, DispatchKeySet::from_key(DispatchKey::CPU).raw());
}

#[test]
fn a_fallthrough_for_one_backend_lets_another_stop() {
    let mut library = Library::fragment("it_calling_masks").unwrap();
    let op = library.define("op(Tensor x) -> str").unwrap();
    for key in [DispatchKey::CPU, DispatchKey::AutogradCPU, DispatchKey::Meta, DispatchKey::AutogradMeta] {
        let kernel = match key {
            DispatchKey::AutogradMeta => RuntimeKernel::fallthrough(),
            key => RuntimeKernel::boxed(move |_, _, stack| {
                stack.drop_last(1);
                stack.push(key.to_string());
                Ok(())
            }),
        };
        library.implement("op", key, kernel).unwrap();
    }
    let stop = |x: Tensor| op.call_with([Value::Tensor(x)], []).unwrap().pop_as::<String>().unwrap();
    assert_eq!(stop(Tensor::from([1.0])), "AutogradCPU");
    assert_eq!(stop(Tensor::empty(&[1], DType::Float32, Device::META).unwrap()), "Meta");
}

#[test]
fn typed_calls_take_the_mask_of_their_backend() {
    let mut library = Library::fragment("it_calling").unwrap();
    let stop = |name: &'static str| it_calling::stop::kernel(move |_| Ok(name.to_owned()));
    library.implement("stop", DispatchKey::CPU, stop("CPU")).unwrap();
    library.implement("stop", DispatchKey::Meta, stop("Meta")).unwrap();
    library.implement("stop", DispatchKey::AutogradCPU, stop("AutogradCPU")).unwrap();
    let (x, meta) = (Tensor::from([1.0]), Tensor::empty(&[1], DType::Float32, Device::META).unwrap());
    assert_eq!(it_calling::stop(&meta).unwrap(), "Meta", "by way of the default for autograd");
    let below = DispatchKeySet::AFTER_AUTOGRAD;
    for _ in 0..2 {
        let mut masks = Library::implementation("it_calling", DispatchKey::AutogradMeta).unwrap();
        masks.implement("stop", DispatchKey::AutogradMeta, RuntimeKernel::fallthrough()).unwrap();
        let mut only_cpu = Library::implementation("it_calling", DispatchKey::CPU).unwrap();
        only_cpu.implement("stop", DispatchKey::CPU, RuntimeKernel::fallthrough()).unwrap();
        assert_eq!(it_calling::stop(&meta).unwrap(), "Meta");
        assert_eq!(it_calling::stop(&x).unwrap(), "AutogradCPU");
        assert_eq!(it_calling::stop::redispatch(meta.key_set(), &meta).unwrap(), "Meta");
        assert_eq!(it_calling::stop::redispatch(meta.key_set() & below, &meta).unwrap(), "Meta");
        // No key is left for the CPU below autograd.
        let error = it_calling::stop::redispatch(x.key_set() & below, &x).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::MissingKernel, "{error}");
    }
    assert_eq!(it_calling::stop::redispatch(x.key_set() & below, &x).unwrap(), "CPU");
}

#[test]
fn fallbacks_serve_operators_that_were_called_before() {
    let mut library = Library::fragment("it_calling").unwrap();
    let kernel = it_calling::stop::kernel(|_| Ok("PrivateUse3".to_owned()));
    library.implement("stop", DispatchKey::PrivateUse3, kernel).unwrap();
    let keys =
        DispatchKeySet::from_keys(&[DispatchKey::PrivateUse3, DispatchKey::TESTING_ONLY_GenericWrapper]);
    let x = Tensor::from([1.0]).with_key_set(keys);
    assert_eq!(it_calling::stop(&x).unwrap_err().kind(), ErrorKind::MissingKernel);

    let mut fallbacks = Library::implementation("_", DispatchKey::TESTING_ONLY_GenericWrapper).unwrap();
    let wrap = RuntimeKernel::boxed(|operator, keys, stack| {
        let below = DispatchKeySet::full_after(DispatchKey::TESTING_ONLY_GenericWrapper);
        operator.redispatch_boxed(keys & below, stack)?;
        let inner: String = stack.pop_as()?;
        stack.push(format!("wrapped {inner}"));
        Ok(())
    });
    fallbacks.fallback(DispatchKey::Undefined, wrap).unwrap();
    assert_eq!(it_calling::stop(&x).unwrap(), "wrapped PrivateUse3");
    drop(fallbacks);
    assert_eq!(it_calling::stop(&x).unwrap_err().kind(), ErrorKind::MissingKernel);
}

#[test]
fn calls_by_name_fill_defaults() {
    let describe = it_calling::describe::handle();
    let call = |arguments: &[Value<'static>], named: &[(&'static str, Value<'static>)]| {
        let copy = |value: &Value<'static>| match value {
            Value::Int(value) => Value::Int(*value),
            Value::Float(value) => Value::Float(*value),
            Value::Str(text) => Value::Str(text.clone()),
            other => panic!("{other:?}"),
        };
        let named = named.iter().map(|(name, value)| (*name, copy(value)));
        describe.call_with(arguments.iter().map(copy), named)?.pop_as::<String>()
    };
    assert_eq!(call(&[Value::Int(1)], &[]).unwrap(), "1 0.5 x [3, 3] None float32 None");
    let named =
        [("c", Value::from("y")), ("d", Value::Int(7)), ("g", Value::from("meta")), ("b", Value::Int(2))];
    assert_eq!(
        call(&[Value::Int(1)], &named).unwrap(),
        "1 2 y [7, 7] None float32 Some(Device { kind: Meta, index: None })"
    );
    assert_eq!(it_calling::describe(1).unwrap(), call(&[Value::Int(1)], &[]).unwrap());

    let refused = [
        (call(&[], &[]), "argument `a` is missing"),
        (
            call(&[Value::Int(1), Value::Int(2), Value::Int(3)], &[]),
            "at most 2 positional arguments, received 3",
        ),
        (call(&[Value::from("1")], &[]), "argument 1 `a` is of type `int`, received `str`"),
        (call(&[Value::Int(1)], &[("a", Value::Int(1))]), "argument `a` is given twice"),
        (call(&[Value::Int(1)], &[("z", Value::Int(1))]), "there is no argument `z`"),
    ];
    for (outcome, message) in refused {
        let error = outcome.unwrap_err().to_string();
        assert!(error.starts_with("it_calling::describe: ") && error.contains(message), "{error}");
    }
}

#[test]
fn further_values_reach_an_operator_that_takes_any_number() {
    let mut library = Library::fragment("it_calling").unwrap();
    let count = library.define("count(Tensor x, int by, ...) -> int").unwrap();
    let kernel = RuntimeKernel::boxed(|operator, keys, stack| {
        let values = operator.arguments(stack)?.len() as i64;
        stack.drop_last(stack.len());
        stack.push(10 * values + i64::from(keys.has(DispatchKey::Meta)));
        Ok(())
    });
    library.implement("count", DispatchKey::CompositeExplicitAutograd, kernel).unwrap();
    let tensor = |key| Value::from(Tensor::from(1).with_key_set(DispatchKeySet::from_key(key)));
    let call = |values: Vec<Value<'static>>| count.call_with(values, [])?.pop_as::<i64>();
    let x = || tensor(DispatchKey::CPU);
    assert_eq!(call(vec![x(), Value::Int(1)]).unwrap(), 20);
    assert_eq!(call(vec![x(), Value::Int(1), Value::from("further"), x()]).unwrap(), 40);
    let meta_among_the_further = vec![x(), Value::Int(1), tensor(DispatchKey::Meta)];
    assert_eq!(call(meta_among_the_further).unwrap(), 31);
    let error = count.call_boxed(&mut Stack::from_iter([x()])).unwrap_err();
    assert!(error.to_string().contains("takes at least 2 arguments, but the stack holds 1"), "{error}");
}

#[test]
fn a_call_for_one_key_takes_what_is_registered_there() {
    let mut library = Library::fragment("it_calling").unwrap();
    let which = library.define("which(Tensor x) -> str").unwrap();
    let kernel = |name: &'static str| {
        RuntimeKernel::boxed(move |_, keys, stack| {
            stack.drop_last(1);
            stack.push(format!("{name} for {}", keys.highest_priority()));
            Ok(())
        })
    };
    for key in [DispatchKey::CPU, DispatchKey::CompositeImplicitAutograd] {
        library.implement("which", key, kernel(key.name())).unwrap();
    }
    library.implement("which", DispatchKey::Tracer, RuntimeKernel::fallthrough()).unwrap();
    let x = Tensor::from([1i64]);
    let call = |key| {
        let mut stack = Stack::from_iter([Value::from(&x)]);
        which.call_boxed_for_key(key, &mut stack)?;
        stack.pop_as::<String>()
    };
    assert_eq!(call(DispatchKey::CPU).unwrap(), "CPU for AutogradCPU", "the keys are those of the call");
    let composite = "CompositeImplicitAutograd for AutogradCPU";
    assert_eq!(call(DispatchKey::CompositeImplicitAutograd).unwrap(), composite, "aliases are keys here");
    assert_eq!(call(DispatchKey::AutogradCPU).unwrap(), "CPU for CPU", "the fallback goes on");
    let message = |key| call(key).unwrap_err().to_string();
    let meta = message(DispatchKey::Meta);
    assert!(
        meta.starts_with("it_calling::which has neither a kernel registered for Meta nor a fallback"),
        "{meta}"
    );
    let tracer = message(DispatchKey::Tracer);
    assert!(
        tracer.starts_with("it_calling::which falls through at Tracer, so there is nothing to call"),
        "{tracer}"
    );
    drop(library);
    assert_eq!(call(DispatchKey::CPU).unwrap_err().kind(), ErrorKind::UnknownOperator);
}

#[test]
fn whatever_fails_names_the_operator() {
    let x = Tensor::from([1i64]).with_key_set(DispatchKeySet::from_key(DispatchKey::CPU));
    let message = |outcome: Result<()>| outcome.unwrap_err().to_string();
    let wrong = message(it_calling::add_(&mut Tensor::from([1.5])).map(drop));
    assert!(wrong.starts_with("it_calling::add_: elements of int64 were requested"), "{wrong}");
    let mut library = Library::fragment("it_calling").unwrap();
    let fail = || Error::new(ErrorKind::Kernel, "out of luck");
    let own = library.define("unlucky(Tensor x) -> Tensor").unwrap();
    library.implement("unlucky", DispatchKey::CPU, RuntimeKernel::boxed(move |_, _, _| Err(fail()))).unwrap();
    let boxed = |operator: OperatorHandle| operator.call_with([Value::from(&x)], []).map(drop);
    assert_eq!(message(boxed(own)), "it_calling::unlucky: out of luck");

    library.implement("stop", DispatchKey::CPU, it_calling::stop::kernel(move |_| Err(fail()))).unwrap();
    assert_eq!(message(it_calling::stop(&x).map(drop)), "it_calling::stop: out of luck");
    assert_eq!(message(boxed(it_calling::stop::handle())), "it_calling::stop: out of luck");
    let composite = RuntimeKernel::boxed(|_, _, stack| {
        let x: Tensor = stack.pop_as()?;
        it_calling::stop(&x).map(drop)
    });
    let outer = library.define("outer(Tensor x) -> Tensor").unwrap();
    library.implement("outer", DispatchKey::CompositeImplicitAutograd, composite).unwrap();
    assert_eq!(message(boxed(outer)), "it_calling::outer: it_calling::stop: out of luck");
}

#[test]
fn a_boxed_call_checks_the_stack() {
    let add = it_calling::add_::handle();
    let error = |stack: &mut Stack<'_>| add.call_boxed(stack).unwrap_err();
    let few = error(&mut Stack::from_iter([Value::Tensor(Tensor::from([1i64]))]));
    assert_eq!(few.kind(), ErrorKind::Argument);
    let swapped = error(&mut Stack::from_iter([Value::Tensor(Tensor::from([1i64])), Value::from("1")]));
    assert_eq!(swapped.kind(), ErrorKind::Type);
    assert!(
        swapped.to_string().contains("argument 2 `by` of it_calling::add_ must be int, but is str"),
        "{swapped}"
    );
    let x = Tensor::from([1i64]);
    add.call_boxed(&mut Stack::from_iter([Value::from(&x), Value::Int(1)])).unwrap();
    assert_eq!(x.to_vec::<i64>().unwrap(), [2], "a borrowed tensor is written through a handle of its own");
}

#[test]
fn a_kernel_may_register_and_call_other_operators() {
    let mut outer = Library::fragment("it_calling_reentrant").unwrap();
    let op = outer.define("outer(int x) -> int").unwrap();
    let kernel = RuntimeKernel::boxed(|_, _, stack| {
        let mut inner = Library::fragment("it_calling_reentrant")?;
        let twice = inner.define("twice(int x) -> int")?;
        let kernel = RuntimeKernel::boxed(|_, _, stack| {
            let x: i64 = stack.pop_as()?;
            stack.push(2 * x);
            Ok(())
        });
        inner.implement("twice", DispatchKey::CompositeExplicitAutograd, kernel)?;
        twice.call_boxed(stack)
    });
    outer.implement("outer", DispatchKey::CompositeExplicitAutograd, kernel).unwrap();
    assert_eq!(op.call_with([Value::Int(21)], []).unwrap().pop_as::<i64>().unwrap(), 42);
    assert!(torch_library::Dispatcher::global().find("it_calling_reentrant::twice").is_err());
}

#[test]
fn a_kernel_of_the_run_time_counts_while_its_library_lives() {
    let mut x = Tensor::from([1i64]);
    let mut library = Library::implementation("it_calling", DispatchKey::PrivateUse2).unwrap();
    let kernel = it_calling::add_::kernel(|this, by| {
        this.copy_from_slice(&[100 * by])?;
        Ok(this)
    });
    library.implement("add_", DispatchKey::PrivateUse2, kernel).unwrap();
    let mut other = x.with_key_set(DispatchKeySet::from_key(DispatchKey::PrivateUse2));
    it_calling::add_(&mut other).unwrap();
    assert_eq!(x.to_vec::<i64>().unwrap(), [100]);
    drop(library);
    assert_eq!(it_calling::add_(&mut other).unwrap_err().kind(), ErrorKind::MissingKernel);
    it_calling::add_(&mut x).unwrap();
    assert_eq!(x.to_vec::<i64>().unwrap(), [101]);
}

#[test]
fn a_kernel_of_the_run_time_comes_before_the_programs_own() {
    let x = Tensor::from([1i64]);
    let boxed = || {
        let mut stack = it_calling::whose::handle().call_with([Value::from(&x)], [])?;
        stack.pop_as::<String>()
    };
    assert_eq!(it_calling::whose(&x).unwrap(), "the program's");
    let mut library = Library::implementation("it_calling", DispatchKey::CPU).unwrap();
    let kernel = it_calling::whose::kernel(|_| Ok("the library's".to_owned()));
    library.implement("whose", DispatchKey::CPU, kernel).unwrap();
    assert_eq!(
        (it_calling::whose(&x).unwrap(), boxed().unwrap()),
        ("the library's".into(), "the library's".into())
    );
    drop(library);
    assert_eq!(
        (it_calling::whose(&x).unwrap(), boxed().unwrap()),
        ("the program's".into(), "the program's".into())
    );
}

#[test]
fn a_typed_kernel_serves_its_own_operator_alone() {
    let mut library = Library::fragment("it_calling").unwrap();
    let kernel = || it_calling::add_::kernel(|this, _| Ok(this));
    library.define("other_(Tensor(a!) self, int by=1) -> Tensor(a!)").unwrap();
    for operator in ["other_", "never_declared", "describe"] {
        let error = library.implement(operator, DispatchKey::CUDA, kernel()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Type, "{operator}: {error}");
    }
}

#[test]
fn excluded_keys_are_not_reached() {
    let mut library = Library::implementation("it_calling", DispatchKey::Tracer).unwrap();
    let kernel = it_calling::describe::kernel(|a, _, _, _, _, _, _| Ok(format!("traced {a}")));
    library.implement("describe", DispatchKey::Tracer, kernel).unwrap();
    let _included = torch_library::guard::IncludeDispatchKeyGuard::new(DispatchKey::Tracer);
    assert_eq!(it_calling::describe(1).unwrap(), "traced 1");
    let _excluded = ExcludeDispatchKeyGuard::new(DispatchKey::Tracer);
    assert!(it_calling::describe(1).unwrap().starts_with("1 0.5"), "exclusion wins over inclusion");
}
