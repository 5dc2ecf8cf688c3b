//! The tool's output, for people and for machines.

use expect_test::{Expect, expect};
use torch_library::{DispatchKey, Library, Result, RuntimeKernel};

mod catalogue;
mod compare;
mod operators;

/// Runs the tool: the exit code, the output, the error output.
fn inspect(arguments: &[&str], input: &str) -> (u8, String, String) {
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    let arguments = ["inspect"].iter().chain(arguments);
    let code = torch_library_inspect::run(arguments, &mut input.as_bytes(), &mut output, &mut errors);
    let text = |bytes| without_lines(&String::from_utf8(bytes).unwrap());
    (code, text(output), text(errors))
}

/// Removes line numbers, which change with each edit.
fn without_lines(text: &str) -> String {
    let mut parts = text.split(".rs:");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + ".rs:N" + part.trim_start_matches(|c: char| c.is_ascii_digit()))
}

fn check(arguments: &[&str], expected: Expect) {
    let (code, output, errors) = inspect(arguments, "");
    assert_eq!((code, &*errors), (0, ""), "{output}");
    expected.assert_eq(&output);
}

fn check_error(arguments: &[&str], expected: Expect) {
    let (code, output, errors) = inspect(arguments, "");
    assert_eq!((code, &*output), (2, ""));
    expected.assert_eq(&errors);
}

/// The JSON answer.
fn json(arguments: &[&str]) -> serde_json::Value {
    let (code, output, errors) = inspect(&[arguments, &["--json"]].concat(), "");
    assert_eq!((code, &*errors), (0, ""));
    serde_json::from_str(&output).unwrap()
}

#[test]
fn list_shows_schemas_places_and_keys() {
    check(
        &["list", "line::"],
        expect![[r#"
        line::ends(Tensor points, int[2] trim=0, ScalarType? dtype=None) -> (Tensor least, Tensor most, int count)
          examples/inspect/tests/it/operators.rs:N (crate it)
          kernels for CPU
        line::midpoint(Tensor a, Tensor b) -> Tensor
          examples/inspect/tests/it/operators.rs:N (crate it)
          kernels for CompositeExplicitAutograd
        line::nothing(Tensor points) -> Tensor
          examples/inspect/tests/it/operators.rs:N (crate it)
          no kernels
        line::shift_(Tensor(a!) points, float by=1., *, bool back=False) -> Tensor(a!)
          examples/inspect/tests/it/operators.rs:N (crate it)
          kernels for CPU, AutogradCPU
        4 operators
    "#]],
    );
    assert_eq!(json(&["list", "line::midpoint"])[0]["kernels"][0]["key"], "CompositeExplicitAutograd");
}

#[test]
fn table_shows_where_each_key_leads() {
    check(
        &["table", "line::shift_"],
        expect![[r#"
            line::shift_(Tensor(a!) points, float by=1., *, bool back=False) -> Tensor(a!)
              declared at examples/inspect/tests/it/operators.rs:N (crate it)

            Kernels

              CPU          shift_ at examples/inspect/tests/it/operators.rs:N (crate it)
              AutogradCPU  shift_ at examples/inspect/tests/it/operators.rs:N (crate it)

            Table

              shift_ at examples/inspect/tests/it/operators.rs:N (crate it) [kernel]
                  CPU

              fallthrough [backend fallback]: calls skip
                  BackendSelect, AutocastCPU, AutocastMTIA, AutocastMAIA, AutocastXPU, AutocastIPU, AutocastHPU,
                  AutocastXLA, AutocastMPS, AutocastCUDA, AutocastPrivateUse1, FuncTorchVmapMode, VmapMode

              fake [backend fallback]
                  Fake

              dispatch_mode [backend fallback]
                  Python

              vmap_back [backend fallback]
                  FuncTorchDynamicLayerBackMode

              functionalize [backend fallback]
                  Functionalize

              conjugate [backend fallback]
                  Conjugate

              negate [backend fallback]
                  Negative

              make zeros [backend fallback]
                  ZeroTensor

              views and versions [backend fallback]
                  ADInplaceOrView

              autograd default [backend fallback]
                  AutogradOther, AutogradCUDA, AutogradHIP, AutogradXLA, AutogradMPS, AutogradIPU, AutogradXPU,
                  AutogradHPU, AutogradVE, AutogradLazy, AutogradMTIA, AutogradMAIA, AutogradPrivateUse1,
                  AutogradPrivateUse2, AutogradPrivateUse3, AutogradMeta, AutogradNestedTensor

              shift_ at examples/inspect/tests/it/operators.rs:N (crate it) [kernel]
                  AutogradCPU

              record [backend fallback]
                  Tracer

              vmap_front [backend fallback]
                  FuncTorchDynamicLayerFrontMode

              [missing]
                  Undefined, CUDA, HIP, XLA, MPS, IPU, XPU, HPU, VE, Lazy, MTIA, MAIA, PrivateUse1, PrivateUse2,
                  PrivateUse3, Meta, FPGA, Vulkan, Metal, Quantized*, CustomRNGKeyId, MkldnnCPU, Sparse*, SparseCsr*,
                  NestedTensor*, FuncTorchBatched, BatchedNestedTensor, Batched, FuncTorchGradWrapper, DeferredInit,
                  PythonTLSSnapshot, TESTING_ONLY_GenericWrapper, TESTING_ONLY_GenericMode, PreDispatch,
                  PythonDispatcher
        "#]],
    );
}

#[test]
fn table_can_show_every_key() {
    let (_, output, _) = inspect(&["table", "--all", "line::midpoint"], "");
    let line =
        |key: &str| output.lines().find(|line| line.trim_start().starts_with(&format!("{key} "))).unwrap();
    assert_eq!(output.lines().filter(|line| line.contains("default backend kernel")).count(), 70);
    expect!["  SparseCUDA                      default backend kernel  midpoint at examples/inspect/tests/it/operators.rs:N (crate it)"].assert_eq(line("SparseCUDA"));
    expect!["  AutogradCUDA                    backend fallback        autograd default"]
        .assert_eq(line("AutogradCUDA"));
    assert_eq!(json(&["table", "line::midpoint"])["rows"].as_array().map(Vec::len), Some(137));
}

#[test]
fn explain_tells_what_becomes_of_each_key() {
    check(
        &["explain", "line::shift_"],
        expect![[r#"
            line::shift_

              keys of the arguments   CPU, ADInplaceOrView, AutogradCPU, AutocastCPU
              included by the thread  BackendSelect, ADInplaceOrView
              excluded by the thread  AutocastCPU, AutocastMTIA, AutocastMAIA, AutocastXPU, AutocastIPU, AutocastHPU, AutocastXLA, AutocastMPS, AutocastCUDA, AutocastPrivateUse1
              handed to the kernel    CPU, ADInplaceOrView, AutogradCPU

            From the highest key

              AutocastCPU      excluded  by the thread
              AutogradCPU      taken     shift_ at examples/inspect/tests/it/operators.rs:N (crate it) [kernel]
              ADInplaceOrView  below     views and versions [backend fallback]
              BackendSelect    skipped   fallthrough [backend fallback]
              CPU              below     shift_ at examples/inspect/tests/it/operators.rs:N (crate it) [kernel]

            Rules for AutogradCPU

              kernel for AutogradCPU  taken
        "#]],
    );
}

#[test]
fn explain_takes_the_keys_of_arguments_and_thread() {
    check(
        &[
            "explain",
            "line::midpoint",
            "--keys",
            "CUDA,AutogradCUDA",
            "--include",
            "AutocastCUDA,Tracer",
            "--exclude",
            "AutogradCUDA",
        ],
        expect![[r#"
            line::midpoint

              keys of the arguments   CUDA, AutogradCUDA
              included by the thread  BackendSelect, ADInplaceOrView, Tracer, AutocastCUDA
              excluded by the thread  AutogradCUDA, AutocastCPU, AutocastMTIA, AutocastMAIA, AutocastXPU, AutocastIPU, AutocastHPU, AutocastXLA, AutocastMPS, AutocastPrivateUse1
              handed to the kernel    CUDA, Tracer

            From the highest key

              AutocastCUDA     skipped   fallthrough [backend fallback]
              Tracer           taken     record [backend fallback]
              AutogradCUDA     excluded  by the thread
              ADInplaceOrView  skipped   views and versions [backend fallback]
              BackendSelect    skipped   fallthrough [backend fallback]
              CUDA             below     midpoint at examples/inspect/tests/it/operators.rs:N (crate it) [default backend kernel]

            Rules for Tracer

              kernel for Tracer                                  none
              kernel for CompositeExplicitAutogradNonFunctional  none
              kernel for CompositeExplicitAutograd               does not cover this key
              kernel for CompositeImplicitAutogradNestedTensor   none
              kernel for CompositeImplicitAutograd               none
              kernel for Autograd                                none
              kernel for FuncTorchBatchedDecomposition           none
              backend fallback                                   taken
        "#]],
    );
    let call = json(&["explain", "line::midpoint", "--keys", "CUDA,AutogradCUDA"]);
    assert_eq!(call["keys"], serde_json::json!(["CUDA", "AutogradCUDA"]));
    assert_eq!(call["layers"][0]["fate"], "taken");
}

#[test]
fn registrations_are_those_of_exactly_the_key() {
    check(
        &["registrations", "AutogradCPU"],
        expect![[r#"
            Kernels for AutogradCPU

              line::shift_    AutogradCPU  shift_ at examples/inspect/tests/it/operators.rs:N (crate it)
              every operator  AutogradCPU  autograd default
        "#]],
    );
}

#[test]
fn dangling_kernels_wait_for_their_operator() -> Result<()> {
    check(
        &["dangling"],
        expect![[r#"
        every kernel has its operator
    "#]],
    );
    let mut library = Library::fragment("line")?;
    library.implement("later", DispatchKey::CPU, RuntimeKernel::fallthrough())?;
    let (code, output, _) = inspect(&["dangling"], "");
    assert_eq!(code, 1);
    expect![[r#"
        Kernels of operators that nobody defined

          line::later  CPU  fallthrough at examples/inspect/tests/it/main.rs:N
    "#]]
    .assert_eq(&output);
    Ok(())
}

#[test]
fn check_finds_nothing_wrong() {
    let (code, output, _) = inspect(&["check"], "");
    assert_eq!(code, 0);
    assert!(output.ends_with(" kernels: nothing is wrong\n"), "{output}");
}

#[test]
fn whatif_shows_the_table_of_registrations() {
    check(
        &["whatif", "--register", "CPU,XLA,AutogradCPU,CompositeImplicitAutograd"],
        expect![[r#"
            An operator with kernels for CPU, XLA, AutogradCPU, CompositeImplicitAutograd

              kernel for CompositeImplicitAutograd [math kernel]
                  Undefined, CUDA, HIP, MPS, IPU, XPU, HPU, VE, Lazy, MTIA, MAIA, PrivateUse1, PrivateUse2,
                  PrivateUse3, Meta, FPGA, Vulkan, Metal, Quantized*, CustomRNGKeyId, MkldnnCPU, Sparse*, SparseCsr*,
                  NestedTensor*, AutogradOther, AutogradCUDA, AutogradHIP, AutogradMPS, AutogradIPU, AutogradXPU,
                  AutogradHPU, AutogradVE, AutogradLazy, AutogradMTIA, AutogradMAIA, AutogradPrivateUse1,
                  AutogradPrivateUse2, AutogradPrivateUse3, AutogradMeta, AutogradNestedTensor

              kernel for CPU [kernel]
                  CPU

              kernel for XLA [kernel]
                  XLA

              fallthrough [backend fallback]: calls skip
                  BackendSelect, AutocastCPU, AutocastMTIA, AutocastMAIA, AutocastXPU, AutocastIPU, AutocastHPU,
                  AutocastXLA, AutocastMPS, AutocastCUDA, AutocastPrivateUse1, FuncTorchVmapMode, VmapMode

              fake [backend fallback]
                  Fake

              dispatch_mode [backend fallback]
                  Python

              vmap_back [backend fallback]
                  FuncTorchDynamicLayerBackMode

              functionalize [backend fallback]
                  Functionalize

              conjugate [backend fallback]
                  Conjugate

              negate [backend fallback]
                  Negative

              make zeros [backend fallback]
                  ZeroTensor

              views and versions [backend fallback]
                  ADInplaceOrView

              kernel for AutogradCPU [kernel]
                  AutogradCPU

              autograd default [backend fallback]
                  AutogradXLA

              record [backend fallback]
                  Tracer

              vmap_front [backend fallback]
                  FuncTorchDynamicLayerFrontMode

              [missing]
                  FuncTorchBatched, BatchedNestedTensor, Batched, FuncTorchGradWrapper, DeferredInit,
                  PythonTLSSnapshot, TESTING_ONLY_GenericWrapper, TESTING_ONLY_GenericMode, PreDispatch,
                  PythonDispatcher
        "#]],
    );
}

#[test]
fn whatif_takes_kernels_that_fall_through() {
    check(
        &["whatif", "--register", "FPGA,CompositeImplicitAutograd,Tracer=fallthrough"],
        expect![[r#"
            An operator with kernels for FPGA, CompositeImplicitAutograd, Tracer

              kernel for CompositeImplicitAutograd [math kernel]
                  Undefined, every backend, Vulkan, Metal, Quantized*, CustomRNGKeyId, MkldnnCPU, Sparse*,
                  SparseCsr*, NestedTensor*, Autograd*, AutogradNestedTensor

              kernel for FPGA [kernel]
                  FPGA

              fallthrough [backend fallback]: calls skip
                  BackendSelect, AutocastCPU, AutocastMTIA, AutocastMAIA, AutocastXPU, AutocastIPU, AutocastHPU,
                  AutocastXLA, AutocastMPS, AutocastCUDA, AutocastPrivateUse1, FuncTorchVmapMode, VmapMode

              fake [backend fallback]
                  Fake

              dispatch_mode [backend fallback]
                  Python

              vmap_back [backend fallback]
                  FuncTorchDynamicLayerBackMode

              functionalize [backend fallback]
                  Functionalize

              conjugate [backend fallback]
                  Conjugate

              negate [backend fallback]
                  Negative

              make zeros [backend fallback]
                  ZeroTensor

              views and versions [backend fallback]
                  ADInplaceOrView

              kernel for Tracer [kernel]: calls skip
                  Tracer

              vmap_front [backend fallback]
                  FuncTorchDynamicLayerFrontMode

              [ambiguous autogradother]
                  AutogradOther

              [missing]
                  FuncTorchBatched, BatchedNestedTensor, Batched, FuncTorchGradWrapper, DeferredInit,
                  PythonTLSSnapshot, TESTING_ONLY_GenericWrapper, TESTING_ONLY_GenericMode, PreDispatch,
                  PythonDispatcher
        "#]],
    );
}

#[test]
fn call_reads_arguments_as_the_schema_asks() {
    check(
        &["call", "line::midpoint", "[0, 1.5]", "[1.0, 2]"],
        expect![[r#"
        tensor([0.5000, 1.7500])
    "#]],
    );
    check(
        &["call", "line::shift_", "[0.5, 1.5]", "back=true", "by=-2"],
        expect![[r#"
        tensor([2.5000, 3.5000])
    "#]],
    );
    check(
        &["call", "line::ends", "[3.0, 1, 2]", "1", "float64"],
        expect![[r#"
        tensor(2., dtype=torch.float64)
        tensor(2., dtype=torch.float64)
        1
    "#]],
    );
    check(
        &["call", "line::ends", "[3.0, 1, 2]", "[1, 0]"],
        expect![[r#"
        tensor(2.)
        tensor(3.)
        2
    "#]],
    );
}

#[test]
fn returns_can_be_arguments_again() {
    let returned = json(&["call", "line::midpoint", "[0, 1.5]", "[1.0, 2]"]);
    let tensor = &returned["returns"][0];
    assert_eq!(
        *tensor,
        serde_json::json!({ "dtype": "float32", "sizes": [2], "strides": [1], "values": [0.5, 1.75] })
    );
    assert_eq!(
        json(&["call", "line::midpoint", &tensor.to_string(), &tensor.to_string()])["returns"][0],
        *tensor
    );
}

#[test]
fn schema_writes_the_canonical_form() {
    let (code, output, errors) =
        inspect(&["schema"], "f( Tensor  x,int[2] y = 1 )->Tensor\n\ng(*,str s='a') -> ()\n");
    assert_eq!((code, &*errors), (0, ""));
    expect![[r#"
        f(Tensor x, int[2] y=1) -> Tensor
        g(*, str s="a") -> ()
    "#]]
    .assert_eq(&output);
}

#[test]
fn schema_shows_what_is_wrong() {
    let (code, output, _) = inspect(&["schema"], "f(tensor x) -> Tensor\ng() -> ()\n");
    assert_eq!(code, 1);
    expect![[r#"
        error: unknown type `tensor`
          |
        1 | f(tensor x) -> Tensor
          |   ^^^^^^
          = help: write `Tensor`
        g() -> ()
    "#]]
    .assert_eq(&output);
    let (code, output, _) = inspect(&["schema", "--pytorch"], "f(int x, int x) -> ()\n");
    assert_eq!((code, &*output), (0, "f(int x, int x) -> ()\n"));
}

#[test]
fn schema_takes_schemas_apart() {
    let (_, output, _) =
        inspect(&["schema", "--json"], "ns::f.o(Tensor(a!) x, *, int[2] y=1) -> Tensor(a!)\n");
    let schemas: serde_json::Value = serde_json::from_str(&output).unwrap();
    let schema = &schemas[0];
    assert_eq!(schema["overload"], "o");
    assert_eq!(schema["arguments"][0]["alias"]["write"], true);
    let default = &schema["arguments"][1];
    assert_eq!(
        [&default["default"], &default["type"], &default["size"]],
        [&serde_json::json!("1"), &"int[]".into(), &2.into()]
    );
}

#[test]
fn questions_about_nothing_are_told_what_would_be_right() {
    check_error(
        &["table", "line::midpont"],
        expect![[r#"
        inspect: there is no operator line::midpont
          help: similar names: line::midpoint
    "#]],
    );
    check_error(
        &["explain", "line::midpoint", "--keys", "Autocast"],
        expect![[r#"
        inspect: no dispatch key is named "Autocast"; it is AutocastCUDA now
    "#]],
    );
    check_error(
        &["explain", "line::midpoint", "--keys", "FuncTorchBatchedDecomposition"],
        expect![[r#"
        inspect: no call has the key FuncTorchBatchedDecomposition: it stands for FuncTorchBatched
    "#]],
    );
    check_error(
        &["whatif", "--register", "CPU=fall"],
        expect![[r#"
        inspect: CPU has no kernel "fall": write `CPU` or `CPU=fallthrough`
    "#]],
    );
}

#[test]
fn a_tensor_has_no_other_parts() {
    check_error(
        &["call", "line::midpoint", "[1, true]", r#"{"dtpye": "float64", "values": [1]}"#],
        expect![[r#"
        inspect: argument `b`: a tensor has no part "dtpye" that is "float64": it has `values`, and may have `sizes`, `dtype` and `requires_grad`
    "#]],
    );
}

#[test]
fn bad_arguments_are_told_what_would_be_right() {
    check_error(
        &["call", "line::midpoint", "[1, 2"],
        expect![[r#"
        inspect: [1, 2 is no JSON: EOF while parsing a list at line 1 column 5
    "#]],
    );
    check_error(
        &["call", "line::midpoint", "[1, [2]]", "1"],
        expect![[r#"
        inspect: argument `a`: the list [2] has 1 items, but others in its place have another number
    "#]],
    );
    check_error(
        &["call", "line::midpoint", "[1, true]", "{}"],
        expect![[r#"
        inspect: argument `b`: {} is no tensor: it has no `values`
    "#]],
    );
    check_error(
        &["call", "line::midpoint", "[1.0]"],
        expect![[r#"
            inspect: line::midpoint: argument `b` is missing
              schema: line::midpoint(Tensor a, Tensor b) -> Tensor
        "#]],
    );
    check_error(
        &["call", "line::shift_", "[1.0]", "1", "2"],
        expect![[r#"
            inspect: line::shift_: expected at most 2 positional arguments, received 3
              schema: line::shift_(Tensor(a!) points, float by=1., *, bool back=False) -> Tensor(a!)
        "#]],
    );
    check_error(
        &["call", "line::shift_", "[1.0]", "to=2"],
        expect![[r#"
            inspect: line::shift_: there is no argument `to`
              schema: line::shift_(Tensor(a!) points, float by=1., *, bool back=False) -> Tensor(a!)
        "#]],
    );
    check_error(
        &["call", "line::nothing", "[1.0]"],
        expect![[r#"
        inspect: line::nothing has no kernel for CPU
          argument 1 `points`: Tensor with DispatchKeySet(CPU, ADInplaceOrView, AutogradCPU, AutocastCPU)
          it has no kernels at all
          help: write one with `#[torch_impl(line, CPU)]`
    "#]],
    );
    check_error(
        &["tabel"],
        expect![[r#"
        error: unrecognized subcommand 'tabel'

          tip: a similar subcommand exists: 'table'

        Usage: inspect [OPTIONS] <COMMAND>

        For more information, try '--help'.
    "#]],
    );
}
