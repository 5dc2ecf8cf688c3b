//! A dispatcher's reports on itself: dispatch tables, how a call is resolved, kernels by key, and inconsistencies.

use expect_test::{Expect, expect};
use torch_library::guard::LocalDispatchKeySet;
use torch_library::{
    DispatchKey, DispatchKeySet, Dispatcher, Fate, Library, LibraryKind, Result, RuntimeKernel,
};

const FRESH: LocalDispatchKeySet = LocalDispatchKeySet {
    included: DispatchKeySet::DEFAULT_INCLUDED,
    excluded: DispatchKeySet::DEFAULT_EXCLUDED,
};

/// A separate dispatcher with a few fallbacks, and the operator `ns::op` with kernels at these keys.
fn registered(keys: &[&str]) -> Result<(&'static Dispatcher, [Library; 2])> {
    let dispatcher = Dispatcher::leak_empty();
    let mut library = Library::open(dispatcher, LibraryKind::Definition, "ns", None)?;
    library.define("op(Tensor self) -> Tensor")?;
    for key in keys {
        let (key, kernel) = match key.strip_suffix(" fallthrough") {
            Some(key) => (key, RuntimeKernel::fallthrough()),
            None => (*key, RuntimeKernel::boxed(|_, _, _| Ok(()))),
        };
        library.implement("op", key.parse()?, kernel.named(&format!("of_{key}")))?;
    }
    let mut fallbacks = Library::open(dispatcher, LibraryKind::Implementation, "_", None)?;
    for key in [DispatchKey::BackendSelect, DispatchKey::ADInplaceOrView] {
        fallbacks.fallback(key, RuntimeKernel::fallthrough())?;
    }
    fallbacks.fallback(DispatchKey::Autograd, RuntimeKernel::boxed(|_, _, _| Ok(())).named("autograd"))?;
    Ok((dispatcher, [library, fallbacks]))
}

/// `text` without the line numbers of this file.
fn without_lines(text: &str) -> String {
    let mut parts = text.split("inspect.rs:");
    let first = parts.next().unwrap_or_default().to_owned();
    parts
        .fold(first, |text, part| text + "inspect.rs" + part.trim_start_matches(|c: char| c.is_ascii_digit()))
}

fn keys(names: &[&str]) -> DispatchKeySet {
    names.iter().map(|name| name.parse::<DispatchKey>().unwrap()).collect()
}

fn check_call(registrations: &[&str], arguments: &[&str], thread: LocalDispatchKeySet, expected: Expect) {
    let (dispatcher, _libraries) = registered(registrations).unwrap();
    let call = dispatcher.explain("ns::op", keys(arguments), thread).unwrap();
    expected.assert_eq(&without_lines(&call.to_string()));
    assert_eq!(dispatcher.check(), []);
}

#[test]
fn a_call_on_the_cpu_goes_through_autograd() {
    check_call(
        &["CPU"],
        &["CPU", "AutogradCPU", "ADInplaceOrView", "AutocastCPU"],
        FRESH,
        expect![[r#"
        ns::op: DispatchKeySet(CPU, AutogradCPU)
          excluded  AutocastCPU: [missing]
          taken     AutogradCPU: autograd at runtime/tests/inspect.rs [backend fallback]
          skipped   ADInplaceOrView: fallthrough at runtime/tests/inspect.rs [backend fallback]
          skipped   BackendSelect: fallthrough at runtime/tests/inspect.rs [backend fallback]
          below     CPU: of_CPU at runtime/tests/inspect.rs [kernel]
        AutogradCPU: backend fallback
          kernel at AutogradCPU: none
          CompositeExplicitAutogradNonFunctional: none
          CompositeExplicitAutograd: none
          CompositeImplicitAutogradNestedTensor: none
          CompositeImplicitAutograd: none
          Autograd: none
          FuncTorchBatchedDecomposition: none
          backend fallback: taken
    "#]],
    );
}

#[test]
fn what_the_thread_excludes_is_told_apart_from_what_falls_through() {
    let below_autograd = LocalDispatchKeySet { excluded: DispatchKeySet::AUTOGRAD, ..FRESH };
    check_call(
        &["CPU", "Meta", "Tracer", "AutogradMeta fallthrough"],
        &["CPU", "Meta", "AutogradMeta", "Tracer"],
        below_autograd,
        expect![[r#"
            ns::op: DispatchKeySet(CPU, Meta, Tracer)
              taken     Tracer: of_Tracer at runtime/tests/inspect.rs [kernel]
              excluded  AutogradMeta: of_AutogradMeta at runtime/tests/inspect.rs [kernel]
              skipped   ADInplaceOrView: fallthrough at runtime/tests/inspect.rs [backend fallback]
              skipped   BackendSelect: fallthrough at runtime/tests/inspect.rs [backend fallback]
              below     Meta: of_Meta at runtime/tests/inspect.rs [kernel]
            Tracer: kernel
              kernel at Tracer: taken
        "#]],
    );
}

#[test]
fn a_fallthrough_for_one_backend_is_skipped_there_only() {
    let registrations = ["CPU", "CUDA", "AutogradCPU fallthrough", "Autograd"];
    let fate_of_autograd = |backend: &str| {
        let (dispatcher, _libraries) = registered(&registrations).unwrap();
        let arguments = keys(&[backend, &format!("Autograd{backend}")]);
        let call = dispatcher.explain("ns::op", arguments, FRESH).unwrap();
        call.layers[0].fate
    };
    assert_eq!([fate_of_autograd("CPU"), fate_of_autograd("CUDA")], [Fate::Skipped, Fate::Taken]);
}

#[test]
fn a_call_without_keys_takes_undefined() {
    check_call(
        &["CompositeExplicitAutograd"],
        &[],
        FRESH,
        expect![[r#"
        ns::op: DispatchKeySet()
          skipped   ADInplaceOrView: fallthrough at runtime/tests/inspect.rs [backend fallback]
          skipped   BackendSelect: fallthrough at runtime/tests/inspect.rs [backend fallback]
          taken     Undefined: of_CompositeExplicitAutograd at runtime/tests/inspect.rs [default backend kernel]
        Undefined: default backend kernel
          kernel at Undefined: none
          CompositeExplicitAutogradNonFunctional: none
          CompositeExplicitAutograd: taken
    "#]],
    );
}

#[test]
fn the_layers_agree_with_what_a_call_does() {
    for registrations in [
        &["CPU"] as &[_],
        &["CompositeImplicitAutograd", "CPU"],
        &["CompositeImplicitAutograd", "SparseCPU"],
        &["CPU fallthrough", "Autograd", "CompositeExplicitAutograd"],
    ] {
        let (dispatcher, _libraries) = registered(registrations).unwrap();
        let table = dispatcher.table("ns::op").unwrap();
        for key in DispatchKey::all() {
            let arguments = keys(&["CPU"]) | key.into();
            let call = table.explain(arguments, FRESH);
            let expected = table.mask.apply((arguments | FRESH.included) - FRESH.excluded);
            assert_eq!(call.keys, expected);
            assert_eq!(call.row(), Some(&table.rows[expected.table_index()]), "{key}");
            assert_eq!(call.layers.iter().filter(|layer| layer.fate == Fate::Taken).count(), 1);
            assert_eq!(call.explanation.source, table.rows[expected.table_index()].source);
        }
    }
}

#[test]
fn kernels_are_listed_by_key() {
    let (dispatcher, _libraries) = registered(&["CPU", "Autograd"]).unwrap();
    let listed = |key| {
        let registrations = dispatcher.registrations(key);
        registrations
            .iter()
            .map(|registration| format!("{} {}", registration.name, registration.kernel.function))
            .collect::<Vec<_>>()
    };
    assert_eq!(listed(None), ["ns::op of_CPU", "ns::op of_Autograd"]);
    assert_eq!(listed(Some(DispatchKey::CPU)), ["ns::op of_CPU"]);
    assert!(listed(Some(DispatchKey::AutogradCPU)).is_empty());
}

#[test]
fn kernels_that_wait_for_a_definition_dangle() -> Result<()> {
    let (dispatcher, mut libraries) = registered(&["CPU"])?;
    assert_eq!(dispatcher.dangling(), []);
    libraries[0].implement("later", DispatchKey::CPU, RuntimeKernel::boxed(|_, _, _| Ok(())))?;
    let dangling = dispatcher.dangling();
    expect!["ns::later CPU: closure at runtime/tests/inspect.rs"]
        .assert_eq(&without_lines(&dangling[0].to_string()));
    libraries[0].define("later(Tensor self) -> Tensor")?;
    assert_eq!(dispatcher.dangling(), []);
    Ok(())
}

#[test]
fn a_name_as_python_has_it_is_told_as_schemas_have_it() -> Result<()> {
    let (dispatcher, mut libraries) = registered(&["CPU"])?;
    libraries[0].define("op.other(Tensor self) -> Tensor")?;
    for (name, schema) in [("ns::op.default", "op"), ("ns.op", "op"), ("torch.ops.ns.op.other", "op.other")] {
        let error = dispatcher.find(name).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("there is no operator {name}\n  help: in schemas it is ns::{schema}")
        );
    }
    Ok(())
}

#[test]
fn without_the_operators_of_aten_their_crate_is_named() -> Result<()> {
    let (dispatcher, _libraries) = registered(&["CPU"])?;
    let error = dispatcher.find("aten::add.Tensor").unwrap_err();
    expect![[r#"
        there is no operator aten::add.Tensor
          help: PyTorch's own operators, which gradients, vmap and other layers call as well, are in the crate `torch_library_kernels`: link it, `use torch_library_kernels as _;`"#]]
    .assert_eq(&error.to_string());
    Ok(())
}

#[test]
fn a_name_without_its_namespace_is_told_the_whole_one() -> Result<()> {
    let (dispatcher, _libraries) = registered(&["CPU"])?;
    let error = dispatcher.find("op").unwrap_err();
    assert_eq!(error.to_string(), "there is no operator op\n  help: similar names: ns::op");
    Ok(())
}

#[test]
fn a_name_without_its_overload_is_told_the_overloads() -> Result<()> {
    let dispatcher = Dispatcher::leak_empty();
    let mut library = Library::open(dispatcher, LibraryKind::Definition, "ns", None)?;
    for schema in
        ["add.Tensor(Tensor x) -> Tensor", "add.Scalar(Tensor x) -> Tensor", "ad(Tensor x) -> Tensor"]
    {
        library.define(schema)?;
    }
    let help = |name: &str| dispatcher.find(name).unwrap_err().to_string();
    let overloads = "an overload's name is a part of it: ns::add.Scalar, ns::add.Tensor";
    assert_eq!(help("ns::add"), format!("there is no operator ns::add\n  help: {overloads}"));
    let of_rust = "there is no operator ns::add_Tensor\n  help: in schemas it is ns::add.Tensor";
    assert_eq!(help("ns::add_Tensor"), of_rust);
    Ok(())
}

#[test]
fn what_may_have_been_meant_is_searched_for_when_the_error_is_read() -> Result<()> {
    let (dispatcher, mut libraries) = registered(&["CPU"])?;
    let errors = ["ns::later", "ns::late"].map(|name| dispatcher.find(name).unwrap_err());
    libraries[0].define("later(Tensor self) -> Tensor")?;
    let texts = errors.map(|error| error.to_string());
    assert_eq!(texts[0], "there is no operator ns::later\n  help: it was defined after it was looked up");
    assert_eq!(texts[1], "there is no operator ns::late\n  help: similar names: ns::later");
    Ok(())
}
