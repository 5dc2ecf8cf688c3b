//! Error messages of calls that cannot be dispatched: short, and with what would help.

use expect_test::{Expect, expect};
use torch_library::guard::ExcludeDispatchKeyGuard;
use torch_library::prelude::*;
use torch_library::{Dispatcher, Library, LibraryKind, RuntimeKernel};

torch_library! {
    /// Its kernels are in a crate that is not linked.
    #[kernels_in(it_kernels)]
    pub mod it_forgotten {
        /// A composite kernel.
        twice(Tensor x) -> Tensor;
        /// It has no kernel here.
        add(Tensor x) -> Tensor;
    }
}

torch_library! {
    #[kernels_in(it_further_kernels)]
    pub mod it_forgotten_too extends it_forgotten {
        /// It has no kernel here either.
        sub(Tensor x) -> Tensor;
    }
}

torch_library! {
    pub mod it_messages {
        /// A kernel for the CPU.
        add(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor;
        /// Kernels for many keys.
        many(Tensor[] xs) -> Tensor;
        /// No kernel at all.
        nothing(Tensor? x) -> Tensor;
        /// Both a composite kernel and one for a sparse backend.
        both(Tensor x) -> Tensor;
    }
}

#[torch_impl(it_forgotten, CompositeImplicitAutograd)]
fn twice(x: &Tensor) -> Result<Tensor> {
    it_forgotten::add(x)
}

#[torch_impl(it_messages, CPU)]
fn add(this: &Tensor, _: &Tensor, _: Scalar) -> Result<Tensor> {
    Ok(this.clone())
}

#[torch_impl(it_messages, CPU, CUDA, HIP, MPS, XLA)]
fn many(_: &[Tensor]) -> Result<Tensor> {
    Ok(Tensor::from(1))
}

#[torch_impl(it_messages, SparseCPU, CompositeImplicitAutograd)]
fn both(x: &Tensor) -> Result<Tensor> {
    Ok(x.clone())
}

fn with_key(key: DispatchKey) -> Tensor {
    Tensor::from([1.0]).with_key_set(DispatchKeySet::from_key(key))
}

fn check<T>(outcome: Result<T>, kind: ErrorKind, expected: Expect) {
    let error = outcome.err().expect("an error");
    assert_eq!(error.kind(), kind);
    let text = error.to_string();
    assert!(text.lines().count() <= 12, "{text}");
    // Line numbers of this file change.
    let mut parts = text.split("messages.rs:");
    let first = parts.next().unwrap_or_default().to_owned();
    let without_line = |part: &str| part.trim_start_matches(|c: char| c.is_ascii_digit()).to_owned();
    expected.assert_eq(&parts.fold(first, |text, part| text + "messages.rs" + &without_line(part)));
}

#[test]
fn a_key_without_a_kernel() {
    let (x, y) = (with_key(DispatchKey::CPU), with_key(DispatchKey::XPU));
    check(
        it_messages::add(&x, &y),
        ErrorKind::MissingKernel,
        expect![[r#"
            it_messages::add has no kernel for XPU, and no linked crate registers any XPU kernel in it_messages; did you forget `use the_crate_with_the_kernels as _;`?
              argument 1 `self`: Tensor with DispatchKeySet(CPU)
              argument 2 `other`: Tensor with DispatchKeySet(XPU)
              kernel for CPU: add at tests/it/messages.rs (crate it)"#]],
    );
}

#[test]
fn tensors_on_different_devices() {
    let (x, y) = (Tensor::from([1.0]), Tensor::empty(&[1], DType::Float64, Device::META).unwrap());
    check(
        it_messages::add(&x, &y),
        ErrorKind::MissingKernel,
        expect![[r#"
            it_messages::add has no kernel for Meta
              argument 1 `self`: Tensor with DispatchKeySet(CPU, ADInplaceOrView, AutogradCPU, AutocastCPU)
              argument 2 `other`: Tensor with DispatchKeySet(Meta, ADInplaceOrView, AutogradMeta)
              kernel for CPU: add at tests/it/messages.rs (crate it)
              help: the tensors are on different devices, cpu and meta: move them to one"#]],
    );
}

#[test]
fn a_crate_that_is_not_linked() {
    let x = with_key(DispatchKey::CPU);
    check(
        it_forgotten::twice(&x),
        ErrorKind::MissingKernel,
        expect![[r#"
            it_forgotten::twice: it_forgotten::add has no kernel for CPU, and no linked crate registers any CPU kernel in it_forgotten; did you forget `use it_kernels as _;`?
              argument 1 `x`: Tensor with DispatchKeySet(CPU)
              it has no kernels at all"#]],
    );
    check(
        it_forgotten_too::sub(&x),
        ErrorKind::MissingKernel,
        expect![[r#"
            it_forgotten::sub has no kernel for CPU, and the crate with its kernels is not linked; did you forget `use it_further_kernels as _;`?
              argument 1 `x`: Tensor with DispatchKeySet(CPU)
              it has no kernels at all"#]],
    );
}

#[test]
fn a_key_that_other_operators_have() {
    let x = with_key(DispatchKey::CUDA);
    check(
        it_messages::add(&x, &x),
        ErrorKind::MissingKernel,
        expect![[r#"
            it_messages::add has no kernel for CUDA
              argument 1 `self`: Tensor with DispatchKeySet(CUDA)
              argument 2 `other`: Tensor with DispatchKeySet(CUDA)
              kernel for CPU: add at tests/it/messages.rs (crate it)
              help: write one with `#[torch_impl(it_messages, CUDA)]`"#]],
    );
}

#[test]
fn many_arguments_and_kernels() {
    let xs: Vec<Tensor> = (0..7).map(|_| with_key(DispatchKey::VE)).collect();
    check(
        it_messages::many(&xs),
        ErrorKind::MissingKernel,
        expect![[r#"
            it_messages::many has no kernel for VE, and no linked crate registers any VE kernel in it_messages; did you forget `use the_crate_with_the_kernels as _;`?
              argument 1 `xs`: Tensor[] with DispatchKeySet(VE)
              kernels for CPU, CUDA, HIP, XLA, MPS"#]],
    );
}

#[test]
fn no_kernel_and_no_tensor() {
    check(
        it_messages::nothing(None),
        ErrorKind::MissingKernel,
        expect![[r#"
            it_messages::nothing has no kernel for a call without tensors
              it has no kernels at all
              help: give at least one tensor in `x`, which says where to go; or register one for CompositeExplicitAutograd, or for BackendSelect to choose a backend"#]],
    );
}

#[test]
fn another_value_in_place_of_the_only_tensor() {
    let mut stack = Stack::new();
    stack.push("a word");
    check(
        it_messages::nothing::handle().call_boxed(&mut stack),
        ErrorKind::Type,
        expect![[r#"
            argument 1 `x` of it_messages::nothing must be Tensor?, but is str
              schema: nothing(Tensor? x) -> Tensor"#]],
    );
}

#[test]
fn an_ambiguous_kernel() {
    check(
        it_messages::both(&with_key(DispatchKey::AutogradOther)),
        ErrorKind::MissingKernel,
        expect![[r#"
            it_messages::both has both a CompositeImplicitAutograd kernel and one for a backend under AutogradOther, so it is not clear which differentiates it
              argument 1 `x`: Tensor with DispatchKeySet(AutogradOther)
              kernel for SparseCPU: both at tests/it/messages.rs (crate it)
              kernel for CompositeImplicitAutograd: both at tests/it/messages.rs (crate it)
              help: register a kernel for AutogradOther, or the composite one for CompositeExplicitAutograd"#]],
    );
}

#[test]
fn a_fallthrough_with_nothing_below() {
    let mut library = Library::fragment("it_messages").unwrap();
    let op = library.define("fall(Tensor x) -> Tensor").unwrap();
    library.implement("fall", DispatchKey::CompositeExplicitAutograd, RuntimeKernel::fallthrough()).unwrap();
    check(
        op.call_with([Value::Tensor(with_key(DispatchKey::CPU))], []),
        ErrorKind::MissingKernel,
        expect![[r#"
            it_messages::fall falls through at Undefined, and no key is left below it
              argument 1 `x`: Tensor with DispatchKeySet(CPU)
              skipped, as their kernel is a fallthrough: CPU
              kernel for CompositeExplicitAutograd: fallthrough at tests/it/messages.rs"#]],
    );
}

#[test]
fn an_unknown_operator() {
    let find = |name: &str| Dispatcher::global().find(name);
    check(
        find("it_messages::ad"),
        ErrorKind::UnknownOperator,
        expect![[r#"
            there is no operator it_messages::ad
              help: similar names: it_messages::add"#]],
    );
    check(
        find("nowhere::nothing_like_it"),
        ErrorKind::UnknownOperator,
        expect![[r#"
            there is no operator nowhere::nothing_like_it
              help: no operator has the namespace `nowhere`; is the crate that declares it linked (`use that_crate as _;`)?"#]],
    );
    check(
        find("it_messages::nothing_like_it"),
        ErrorKind::UnknownOperator,
        expect![[r#"
            there is no operator it_messages::nothing_like_it
              help: no operator has a similar name; is the crate that declares it linked (`use that_crate as _;`)?"#]],
    );
    check(
        find("torchaudio::forced_align"),
        ErrorKind::UnknownOperator,
        expect![[r#"
            there is no operator torchaudio::forced_align
              help: operators of `torchaudio` are in the crate `torch_library_audio`: link it, `use torch_library_audio as _;`"#]],
    );
}

#[test]
fn an_operator_of_another_meaning_is_not_suggested() {
    for name in
        ["values", "_embedding_bag_sparse_backward", "_nested_select_backward", "quantized_max_pool1d"]
    {
        let error = Dispatcher::global().find(&format!("aten::{name}")).unwrap_err().to_string();
        let expected = format!(
            "there is no operator aten::{name}\n  help: no operator of `aten` has a similar name, and not all of \
             PyTorch's are here: an exported program may do without it after `run_decompositions()`"
        );
        assert_eq!(error, expected);
    }
    let error = Dispatcher::global().find("aten::reluu").unwrap_err().to_string();
    assert!(error.contains("similar names: aten::relu, "), "{error}");
}

#[test]
fn an_operator_that_has_only_kernels() {
    let mut library = Library::fragment("it_messages").unwrap();
    library.implement("later", DispatchKey::CPU, RuntimeKernel::boxed(|_, _, _| Ok(()))).unwrap();
    check(
        Dispatcher::global().find("it_messages::later"),
        ErrorKind::UnknownOperator,
        expect![[r#"
            operator it_messages::later has kernels but was never defined
              a kernel is registered at tests/it/messages.rs
              help: link the crate that declares it, or define its schema"#]],
    );
}

#[test]
fn a_second_definition_and_a_wrong_kernel() {
    let dispatcher = Dispatcher::leak_empty();
    let mut library = Library::open(dispatcher, LibraryKind::Definition, "ns", None).unwrap();
    library.define("op(Tensor x) -> Tensor").unwrap();
    check(
        library.define("op(Tensor y) -> Tensor"),
        ErrorKind::Conflict,
        expect![[r#"
            operator ns::op is defined already
              at tests/it/messages.rs: op(Tensor x) -> Tensor
              and again at tests/it/messages.rs: op(Tensor y) -> Tensor"#]],
    );
    let kernel = RuntimeKernel::with_signature("op(Tensor x, int y) -> Tensor", |_, _, _| Ok(())).unwrap();
    check(
        library.implement("op", DispatchKey::CPU, kernel),
        ErrorKind::Type,
        expect![[r#"
            the CPU kernel does not fit ns::op: the operator has 1 argument, the kernel 2
              kernel at tests/it/messages.rs: op(Tensor x, int y) -> Tensor
              operator at tests/it/messages.rs: ns::op(Tensor x) -> Tensor"#]],
    );
    check(
        Library::open(dispatcher, LibraryKind::Definition, "ns", None),
        ErrorKind::Conflict,
        expect![[r#"
            namespace `ns` is declared already
              at tests/it/messages.rs
              and again at tests/it/messages.rs
              help: use a fragment, `Library::fragment("ns")`"#]],
    );
}

#[test]
fn a_gradient_that_would_be_lost() {
    let x = Tensor::from([1.0]);
    x.set_requires_grad(true).unwrap();
    check(
        it_messages::add(&x, &x).and_then(|y| y.backward()),
        ErrorKind::Autograd,
        expect![[r#"
            it_messages::add has no derivative, but a backward pass reached one of its results
              declared at tests/it/messages.rs (crate it)
              help: register a kernel for `Autograd`, or call it inside `no_grad` or on `x.detach()`"#]],
    );
    assert!(torch_library::guard::no_grad(|| it_messages::add(&x, &x)).unwrap().is_leaf().unwrap());
    let _below = ExcludeDispatchKeyGuard::new(DispatchKeySet::AUTOGRAD);
    assert!(it_messages::add(&x, &x).unwrap().is_leaf().unwrap());
}
