//! Error messages for wrong registrations and calls. Together with [`messages`](super::messages), which has the calls that
//! cannot be dispatched, and `alone/conflicts.rs`, these are PyTorch's error situations as far as they exist here:
//!
//! | situation | test |
//! |---|---|
//! | no kernel for the key of an argument | `messages::a_key_without_a_kernel`; with a renamed backend: `runtime/tests/backend_name.rs` |
//! | no key at all, or none left | `messages::no_kernel_and_no_tensor`, `keys_that_are_all_dropped` |
//! | no kernel computes shapes alone | `a_meta_tensor_into_a_kernel_for_data` |
//! | no such operator; kernels without a definition | `messages::an_unknown_operator`, `messages::an_operator_that_has_only_kernels` |
//! | a schema that does not parse | `a_schema_that_does_not_parse` |
//! | a second definition, namespace, fallback | `messages::a_second_definition_and_a_wrong_kernel`, `a_second_fallback`, `conflicts` |
//! | a kernel with another signature | `a_kernel_with_another_signature`, `a_kernel_of_another_operator` |
//! | a library used for what it cannot do | `libraries_used_for_what_they_cannot_do` |
//! | a kernel replaced by accident | `conflicts`: two kernels for one key are an error, not a warning |
//! | two kernels claim `AutogradOther` | `messages::an_ambiguous_kernel` |
//! | a fallthrough with nothing below it | `messages::a_fallthrough_with_nothing_below` |
//! | arguments that do not fit | `arguments_that_do_not_fit`, `a_boxed_call_that_does_not_fit` |
//! | a kernel that returns something else | `a_boxed_kernel_that_returns_something_else` |
//! | a derivative that is missing | `messages::a_gradient_that_would_be_lost` |
//! | a handle whose operator is gone | `a_handle_whose_operator_is_gone` |
//! | too many arguments; a key that does not exist | `too_many_arguments`, `keys_that_do_not_exist` |

use expect_test::{Expect, expect};
use torch_library::guard::ExcludeDispatchKeyGuard;
use torch_library::prelude::*;
use torch_library::{Dispatcher, Library, LibraryKind, RuntimeKernel};

torch_library! {
    /// Operators to call wrongly.
    pub mod it_mistakes {
        /// A kernel for the CPU.
        scale(Tensor self, float factor, *, str? note=None) -> Tensor;
        /// A composite kernel.
        other(Tensor self, int n) -> Tensor;
        /// A boxed kernel for Meta, which returns values that do not fit the schema.
        pair(Tensor self) -> (Tensor, int);
    }
}

#[torch_impl(it_mistakes, CPU)]
fn scale(this: &Tensor, _: f64, _: Option<&str>) -> Result<Tensor> {
    Ok(this.clone())
}

#[torch_impl(it_mistakes, CompositeExplicitAutograd)]
fn other(this: &Tensor, _: i64) -> Result<Tensor> {
    Ok(this.clone())
}

fn on(key: DispatchKey) -> Tensor {
    Tensor::from([1.0]).with_key_set(DispatchKeySet::from_key(key))
}

fn boxed() -> RuntimeKernel {
    RuntimeKernel::boxed(|_, _, _| Ok(()))
}

fn check<T>(outcome: Result<T>, expected: Expect) {
    let text = outcome.err().expect("an error").to_string();
    assert!(text.lines().count() <= 12, "{text}");
    // Line numbers of this file change.
    let mut parts = text.split("mistakes.rs:");
    let first = parts.next().unwrap_or_default().to_owned();
    let is_digit = |c: char| c.is_ascii_digit();
    let without_line = |part: &str| {
        let part = part.trim_start_matches(is_digit);
        let column = part.strip_prefix(':').filter(|rest| rest.starts_with(is_digit));
        column.map_or(part, |column| column.trim_start_matches(is_digit)).to_owned()
    };
    expected.assert_eq(&parts.fold(first, |text, part| text + "mistakes.rs" + &without_line(part)));
}

#[test]
fn keys_that_are_all_dropped() {
    let x = Tensor::from([1.0]);
    {
        let everything =
            DispatchKeySet::from_key(DispatchKey::CPU) | DispatchKeySet::AUTOGRAD_AND_AD_INPLACE_OR_VIEW;
        let _nothing = ExcludeDispatchKeyGuard::new(everything);
        check(
            it_mistakes::scale(&x, 2.0),
            expect![[r#"
            it_mistakes::scale has no kernel for a call that is left without keys
              argument 1 `self`: Tensor with DispatchKeySet(CPU, ADInplaceOrView, AutogradCPU, AutocastCPU)
              excluded by the thread: AutocastCPU, AutogradCPU, ADInplaceOrView, CPU
              kernel for CPU: scale at tests/it/mistakes.rs (crate it)"#]],
        );
    }
    check(
        it_mistakes::scale::redispatch(DispatchKeySet::EMPTY, &x, 2.0, None),
        expect![[r#"
            it_mistakes::scale has no kernel for a call that is left without keys
              argument 1 `self`: Tensor with DispatchKeySet(CPU, ADInplaceOrView, AutogradCPU, AutocastCPU)
              excluded by the thread: AutocastCPU
              skipped, as their kernel is a fallthrough: ADInplaceOrView
              not handed on by the kernel above: AutogradCPU, CPU
              kernel for CPU: scale at tests/it/mistakes.rs (crate it)"#]],
    );
    let mut library = Library::fragment("it_mistakes").unwrap();
    library.define("through(Tensor x) -> Tensor").unwrap();
    for key in [DispatchKey::CPU, DispatchKey::AutogradCPU] {
        library.implement("through", key, RuntimeKernel::fallthrough()).unwrap();
    }
    let through = Dispatcher::global().find("it_mistakes::through").unwrap();
    check(
        through.call_with([Value::from(&x)], []),
        expect![[r#"
        it_mistakes::through has no kernel for a call that is left without keys
          argument 1 `x`: Tensor with DispatchKeySet(CPU, ADInplaceOrView, AutogradCPU, AutocastCPU)
          excluded by the thread: AutocastCPU
          skipped, as their kernel is a fallthrough: AutogradCPU, ADInplaceOrView, CPU
          kernel for CPU: fallthrough at tests/it/mistakes.rs
          kernel for AutogradCPU: fallthrough at tests/it/mistakes.rs"#]],
    );
}

#[test]
fn a_meta_tensor_into_a_kernel_for_data() {
    let x = Tensor::empty(&[2], DType::Float32, Device::META).unwrap();
    check(
        it_mistakes::scale(&x, 2.0),
        expect![[r#"
            it_mistakes::scale has no kernel for Meta
              argument 1 `self`: Tensor with DispatchKeySet(Meta, ADInplaceOrView, AutogradMeta)
              kernel for CPU: scale at tests/it/mistakes.rs (crate it)
              help: write one with `#[torch_impl(it_mistakes, Meta)]`: it makes results of the right sizes, and no data"#]],
    );
}

#[test]
fn a_schema_that_does_not_parse() {
    let mut library = Library::open(Dispatcher::leak_empty(), LibraryKind::Definition, "ns", None).unwrap();
    check(
        library.define("f(Tensor x, int64_t n) -> Tensor"),
        expect![[r#"
            error: unknown type `int64_t`
              |
            1 | f(Tensor x, int64_t n) -> Tensor
              |             ^^^^^^^
              = help: write `SymInt` or `int`
              at tests/it/mistakes.rs"#]],
    );
    check(
        library.define("f(Tensor x, int n=1.5) -> Tensor"),
        expect![[r#"
            error: a `float` as the default of type `int`
              |
            1 | f(Tensor x, int n=1.5) -> Tensor
              |                   ^^^
              = help: write `1` or `-1`
              at tests/it/mistakes.rs"#]],
    );
    check(
        library.define("f.default(Tensor x) -> Tensor"),
        expect![[r#"
            error: `default` cannot be the name of an overload
              |
            1 | f.default(Tensor x) -> Tensor
              |   ^^^^^^^
              = help: leave the overload out, or take a name that is not `default` or `__…`
              at tests/it/mistakes.rs"#]],
    );
    check(
        library.define("f"),
        expect![[r#"
            error: expected a full schema, found an operator name alone
              |
            1 | f
              |  ^
              = help: write `f(Tensor self) -> Tensor`
              at tests/it/mistakes.rs"#]],
    );
    check(
        library.implement("f(Tensor x) -> Tensor", DispatchKey::CPU, boxed()),
        expect![[r#"
            error: expected an operator name, found a full schema
              |
            1 | f(Tensor x) -> Tensor
              |  ^
              = help: leave out the arguments and returns
              at tests/it/mistakes.rs"#]],
    );
}

#[test]
fn a_second_fallback() {
    let dispatcher = Dispatcher::leak_empty();
    let mut library = Library::open(dispatcher, LibraryKind::Implementation, "_", None).unwrap();
    library.fallback(DispatchKey::AutogradCUDA, boxed()).unwrap();
    check(
        library.fallback(DispatchKey::Autograd, boxed()),
        expect![[r#"
        there is a fallback for AutogradCUDA already
          at tests/it/mistakes.rs
          and again at tests/it/mistakes.rs"#]],
    );
}

#[test]
fn a_kernel_with_another_signature() {
    let dispatcher = Dispatcher::leak_empty();
    let kernel = |signature| RuntimeKernel::with_signature(signature, |_, _, _| Ok(())).unwrap();
    let mut library = Library::open(dispatcher, LibraryKind::Definition, "ns", None).unwrap();
    library.define("before(Tensor x, SymInt n) -> Tensor").unwrap();
    library.implement("before", DispatchKey::CPU, kernel("k(Tensor x, int n) -> Tensor")).unwrap();
    check(
        library.implement("before", DispatchKey::CPU, kernel("k(Tensor x, float n) -> Tensor")),
        expect![[r#"
            the CPU kernel does not fit ns::before: argument 2 `n` is `SymInt` for the operator, `float` for the kernel
              kernel at tests/it/mistakes.rs: k(Tensor x, float n) -> Tensor
              operator at tests/it/mistakes.rs: ns::before(Tensor x, SymInt n) -> Tensor"#]],
    );
    check(
        library.implement("before", DispatchKey::CPU, kernel("k(Tensor x, int n) -> ()")),
        expect![[r#"
        the CPU kernel does not fit ns::before: the operator has 1 return, the kernel 0
          kernel at tests/it/mistakes.rs: k(Tensor x, int n) -> ()
          operator at tests/it/mistakes.rs: ns::before(Tensor x, SymInt n) -> Tensor"#]],
    );
    library.implement("after", DispatchKey::Meta, kernel("k(Tensor x) -> Tensor")).unwrap();
    check(
        library.define("after(Tensor x, int n) -> Tensor"),
        expect![[r#"
            the Meta kernel does not fit ns::after: the operator has 2 arguments, the kernel 1
              kernel at tests/it/mistakes.rs: k(Tensor x) -> Tensor
              operator at tests/it/mistakes.rs: after(Tensor x, int n) -> Tensor"#]],
    );
}

#[test]
fn a_kernel_of_another_operator() {
    let mut library = Library::fragment("it_mistakes").unwrap();
    let kernel = it_mistakes::other::kernel(|x, _| Ok(x.clone()));
    check(
        library.implement("scale", DispatchKey::CUDA, kernel),
        expect![[r#"
        the CUDA kernel was made for it_mistakes::other, not for it_mistakes::scale
          kernel at tests/it/mistakes.rs
          it_mistakes::other is declared at tests/it/mistakes.rs (crate it)"#]],
    );
}

#[test]
fn libraries_used_for_what_they_cannot_do() {
    let dispatcher = Dispatcher::leak_empty();
    let open = |kind, namespace, key| Library::open(dispatcher, kind, namespace, key);
    check(
        open(LibraryKind::Definition, "_", None),
        expect![[r#"
            the wildcard namespace `_` is for fallbacks only: open an implementation library, not a Definition
              at tests/it/mistakes.rs"#]],
    );
    check(
        open(LibraryKind::Fragment, "ns", Some(DispatchKey::CPU)),
        expect![[r#"
            a library that defines operators has no dispatch key of its own, but CPU was given
              at tests/it/mistakes.rs"#]],
    );
    check(
        open(LibraryKind::Fragment, "my ops", None),
        expect![[r#"
            "my ops" is not a namespace: use letters, digits and `_`
              at tests/it/mistakes.rs"#]],
    );

    let mut kernels = open(LibraryKind::Implementation, "ns", Some(DispatchKey::CPU)).unwrap();
    check(
        kernels.define("f(Tensor x) -> Tensor"),
        expect![[r#"
            an implementation library cannot define operators: define `f(Tensor x) -> Tensor` in the library of its namespace
              at tests/it/mistakes.rs"#]],
    );
    check(
        kernels.implement("f", DispatchKey::CUDA, boxed()),
        expect![[r#"
            the kernel is for CUDA, but the library at tests/it/mistakes.rs is for CPU: open another one
              at tests/it/mistakes.rs"#]],
    );
    check(
        kernels.implement("other::f", DispatchKey::CPU, boxed()),
        expect![[r#"
            the name is in namespace `other`, but the library at tests/it/mistakes.rs is for `ns`
              at tests/it/mistakes.rs"#]],
    );
    check(
        kernels.fallback(DispatchKey::CPU, boxed()),
        expect![[r#"
            fallbacks serve all namespaces: open an implementation library for `_`
              at tests/it/mistakes.rs"#]],
    );

    let mut fallbacks = open(LibraryKind::Implementation, "_", None).unwrap();
    check(
        fallbacks.implement("f", DispatchKey::CPU, boxed()),
        expect![[r#"
            the library at tests/it/mistakes.rs is for `_`, all namespaces: it takes fallbacks only; open one for the operator's namespace
              at tests/it/mistakes.rs"#]],
    );
}

#[test]
fn arguments_that_do_not_fit() {
    let scale = Dispatcher::global().find("it_mistakes::scale").unwrap();
    let (x, factor) = (|| Value::from(Tensor::from([1.0])), || Value::Float(2.0));
    check(
        scale.call_with([x(), factor(), Value::None], []),
        expect![[r#"
        it_mistakes::scale: expected at most 2 positional arguments, received 3
          schema: it_mistakes::scale(Tensor self, float factor, *, str? note=None) -> Tensor"#]],
    );
    check(
        scale.call_with([x()], []),
        expect![[r#"
        it_mistakes::scale: argument `factor` is missing
          schema: it_mistakes::scale(Tensor self, float factor, *, str? note=None) -> Tensor"#]],
    );
    check(
        scale.call_with([x(), factor()], [("text", Value::from("a"))]),
        expect![[r#"
        it_mistakes::scale: there is no argument `text`
          schema: it_mistakes::scale(Tensor self, float factor, *, str? note=None) -> Tensor"#]],
    );
    check(
        scale.call_with([x(), factor()], [("factor", factor())]),
        expect![[r#"
        it_mistakes::scale: argument `factor` is given twice
          schema: it_mistakes::scale(Tensor self, float factor, *, str? note=None) -> Tensor"#]],
    );
    check(
        scale.call_with([x(), Value::from("two")], []),
        expect![[r#"
            it_mistakes::scale: argument 2 `factor` is of type `float`, received `str`
              schema: it_mistakes::scale(Tensor self, float factor, *, str? note=None) -> Tensor"#]],
    );
}

#[test]
fn a_boxed_call_that_does_not_fit() {
    let scale = Dispatcher::global().find("it_mistakes::scale").unwrap();
    let x = Tensor::from([1.0]);
    check(
        scale.call_boxed(&mut Stack::from_iter([Value::from(&x)])),
        expect![[r#"
        it_mistakes::scale takes 3 arguments, but the stack holds 1
          schema: scale(Tensor self, float factor, *, str? note=None) -> Tensor"#]],
    );
    let mut stack = Stack::from_iter([Value::from(&x), Value::from("two"), Value::None]);
    check(
        scale.call_boxed(&mut stack),
        expect![[r#"
            argument 2 `factor` of it_mistakes::scale must be float, but is str
              schema: scale(Tensor self, float factor, *, str? note=None) -> Tensor"#]],
    );
    check(
        Stack::from_iter([Value::Int(1)]).pop_as::<Tensor>(),
        expect!["expected a value of type Tensor, found int"],
    );
}

#[test]
fn a_boxed_kernel_that_returns_something_else() {
    let x = on(DispatchKey::XPU);
    let call_with_kernel = |kernel| {
        let mut library = Library::fragment("it_mistakes").unwrap();
        library.implement("pair", DispatchKey::XPU, kernel).unwrap();
        it_mistakes::pair(&x)
    };
    check(
        call_with_kernel(RuntimeKernel::boxed(|_, _, _| Ok(()))),
        expect![[r#"
            a boxed kernel of it_mistakes::pair left 1 on the stack instead of 2 returns
              schema: pair(Tensor self) -> (Tensor, int)"#]],
    );
    let two_tensors = RuntimeKernel::boxed(|_, _, stack| {
        stack.push(Tensor::from(1));
        Ok(())
    });
    check(
        call_with_kernel(two_tensors),
        expect![[r#"
        a boxed kernel of it_mistakes::pair must return int, but returned Tensor
          schema: pair(Tensor self) -> (Tensor, int)"#]],
    );
}

#[test]
fn a_handle_whose_operator_is_gone() {
    let mut library = Library::fragment("it_mistakes").unwrap();
    let gone = library.define("gone(Tensor x) -> Tensor").unwrap();
    drop(library);
    check(
        gone.call_with([Value::from(Tensor::from([1.0]))], []),
        expect![
            "operator it_mistakes::gone was removed, with the library that defined it, or never linked in"
        ],
    );
    check(
        gone.schema(),
        expect![
            "operator it_mistakes::gone was removed, with the library that defined it, or never linked in"
        ],
    );
}

#[test]
fn a_wait_that_is_in_vain() {
    let dispatcher = Dispatcher::leak_empty();
    let mut library = Library::open(dispatcher, LibraryKind::Definition, "ns", None).unwrap();
    library.define("there(Tensor x) -> Tensor").unwrap();
    library.implement("half", DispatchKey::CPU, boxed()).unwrap();
    let time = std::time::Duration::from_millis(1);
    check(
        dispatcher.wait_for_operator("ns::their", time),
        expect![[r#"
        waited for 1ms: there is no operator ns::their
          help: similar names: ns::there"#]],
    );
    check(
        dispatcher.wait_for_operator("ns::half", time),
        expect![[r#"
        waited for 1ms: operator ns::half has kernels but was never defined
          a kernel is registered at tests/it/mistakes.rs
          help: link the crate that declares it, or define its schema"#]],
    );
    check(
        dispatcher.wait_for_kernel("ns::there", DispatchKey::CPU, time),
        expect!["waited for 1ms: no kernel of ns::there for CPU was registered"],
    );
}

#[test]
fn too_many_arguments() {
    let arguments: Vec<_> = (0..65).map(|index| format!("int a{index}")).collect();
    let mut library = Library::fragment("it_mistakes").unwrap();
    check(
        library.define(&format!("long({}) -> ()", arguments.join(", "))),
        expect![[r#"
            it_mistakes::long has 65 arguments; an operator has at most 64
              at tests/it/mistakes.rs"#]],
    );
}

#[test]
fn keys_that_do_not_exist() {
    check(
        "AutogradCpu".parse::<DispatchKey>(),
        expect![[r#"no dispatch key is named "AutogradCpu"; did you mean AutogradCPU?"#]],
    );
    check(
        "DefaultBackend".parse::<DispatchKey>(),
        expect![[r#"no dispatch key is named "DefaultBackend"; it is CompositeExplicitAutograd now"#]],
    );
    check("Abracadabra".parse::<DispatchKey>(), expect![[r#"no dispatch key is named "Abracadabra""#]]);
    check(
        DispatchKey::for_device("gpu"),
        expect![[
            r#"no dispatch key for device type "gpu": expected one of cpu, cuda, hip, xla, mps, ipu, xpu, hpu, ve, lazy, mtia, maia, privateuseone, meta"#
        ]],
    );
}

#[test]
fn an_operator_of_64_arguments_is_none() {
    let arguments: Vec<_> = (0..64).map(|index| format!("int a{index}")).collect();
    let mut library = Library::fragment("it_mistakes").unwrap();
    let operator = library.define(&format!("as_long_as_may_be({}) -> ()", arguments.join(", "))).unwrap();
    assert_eq!(operator.schema().unwrap().arguments.len(), 64);
}
