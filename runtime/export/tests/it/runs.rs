//! What a run keeps in memory, what it returns, and where its weights are.

use std::cell::RefCell;

use torch_library::prelude::*;
use torch_library::{Tensor, WeakTensor};
use torch_library_export::{Loader, Program};
use torch_library_kernels::aten;

use super::hostile::{edited, replaced, with_record};

torch_library! {
    mod runs_test {
        /// A copy, which is noted.
        noted(Tensor x) -> Tensor;
        /// A copy of a tensor that is noted.
        seen(Tensor x) -> Tensor;
        /// Adds `x` to a tensor that is noted.
        add_into(Tensor(a!) into, Tensor x) -> ();
        /// The number of the noted tensors that are still there.
        alive(Tensor x) -> Tensor;
    }
}

thread_local! {
    static NOTED: RefCell<Vec<WeakTensor>> = const { RefCell::new(Vec::new()) };
}

fn note(tensor: &Tensor) {
    NOTED.with_borrow_mut(|noted| noted.push(tensor.downgrade()));
}

#[torch_impl(runs_test, CPU)]
mod cpu {
    use super::*;

    fn noted(x: &Tensor) -> Result<Tensor> {
        let copy = aten::clone(x)?;
        note(&copy);
        Ok(copy)
    }

    fn seen(x: &Tensor) -> Result<Tensor> {
        note(x);
        aten::clone(x)
    }

    fn add_into(into: &mut Tensor, x: &Tensor) -> Result<()> {
        note(into);
        aten::add__Tensor(into, x)?;
        Ok(())
    }

    fn alive(_: &Tensor) -> Result<Tensor> {
        let noted = NOTED.take();
        assert!(!noted.is_empty());
        Ok(Tensor::from(noted.iter().filter(|tensor| tensor.upgrade().is_some()).count() as f32))
    }
}

pub(super) fn tensor(name: &str) -> String {
    format!(r#"{{"as_tensor": {{"name": "{name}"}}}}"#)
}

pub(super) fn tensors(name: &str) -> String {
    format!(r#"{{"as_tensors": [{{"name": "{name}"}}]}}"#)
}

/// A node; an argument is a value, or a name and a value.
pub(super) fn node(target: &str, arguments: &[(&str, &str)], outputs: &[&str]) -> String {
    let arguments: Vec<_> = arguments
        .iter()
        .map(|(name, value)| format!(r#"{{"name": "{name}", "arg": {value}, "kind": 1}}"#))
        .collect();
    format!(
        r#"{{"target": "torch.ops.{target}", "inputs": [{}], "outputs": [{}], "metadata": {{}}}}"#,
        arguments.join(", "),
        outputs.join(", ")
    )
}

pub(super) fn graph(inputs: &[&str], nodes: &[String], outputs: &[&str]) -> String {
    let list = |names: &[&str]| names.iter().map(|name| tensor(name)).collect::<Vec<_>>().join(", ");
    let meta = r#"{"dtype": 7, "sizes": [{"as_int": 2}], "requires_grad": false, "device": {"type": "cpu", "index": null}, "strides": [{"as_int": 1}], "storage_offset": {"as_int": 0}, "layout": 7}"#;
    let metas: Vec<_> = inputs.iter().chain(outputs).map(|name| format!(r#""{name}": {meta}"#)).collect();
    format!(
        r#"{{"inputs": [{}], "outputs": [{}], "nodes": [{}], "tensor_values": {{{}}}, "sym_int_values": {{}}, "sym_bool_values": {{}}, "is_single_tensor_return": false, "custom_obj_values": {{}}, "sym_float_values": {{}}}}"#,
        list(inputs),
        list(outputs),
        nodes.join(", "),
        metas.join(", ")
    )
}

pub(super) fn nested(graph: &str) -> String {
    format!(r#"{{"as_graph": {{"name": "inner", "graph": {graph}}}}}"#)
}

/// A program of these nodes, with one input of two elements, `x`, and one output.
pub(super) fn program(nodes: &[String], output: &str) -> Program {
    let archive = edited("custom.pt2", |text| {
        let (start, end) = (r#"{"graph_module": {"graph": "#, r#", "signature": {"input_specs""#);
        let rest = &text[text.find(end).unwrap()..];
        format!(
            "{start}{}{}",
            graph(&["x"], nodes, &[output]),
            rest.replace("\"twice\"", &format!("\"{output}\""))
        )
    });
    let program = Program::from_bytes(&archive).unwrap();
    assert!(program.problems().is_empty(), "{:?}", program.problems());
    program
}

fn x() -> Tensor {
    Tensor::from([1f32, 2.0])
}

/// How many of the tensors that a region noted are there when a later step has used its result.
fn alive_after(region: String, result: &str) -> f32 {
    let later = [
        node("aten.relu.default", &[("self", &tensor(result))], &[&tensor("used")]),
        node("runs_test.alive.default", &[("x", &tensor("used"))], &[&tensor("count")]),
    ];
    let nodes: Vec<_> = [region].into_iter().chain(later).collect();
    program(&nodes, "count").run(&[x()]).unwrap()[0].to_vec::<f32>().unwrap()[0]
}

#[test]
fn results_of_nested_graphs_go_when_they_are_not_needed_any_more() {
    let noted = |name| node("runs_test.noted.default", &[("x", &tensor(name))], &[&tensor("r")]);
    let body = nested(&graph(&["a"], &[noted("a")], &["r"]));
    let (given, no) = (tensor("x"), r#"{"as_bool": false}"#);
    for (name, arguments) in [
        ("wrap", vec![("", &*body), ("", &given)]),
        ("wrap_with_set_grad_enabled", vec![("", no), ("", &body), ("", &given)]),
        ("cond", vec![("", no), ("", &body), ("", &body), ("", &tensors("x"))]),
    ] {
        let region = node(&format!("higher_order.{name}"), &arguments, &[&tensor("r")]);
        assert_eq!(alive_after(region, "r"), 0.0, "{name}");
    }
}

#[test]
fn copies_for_an_operator_that_writes_go_when_they_are_not_needed_any_more() {
    let operator = r#"{"as_operator": "torch.ops.runs_test.add_into.default"}"#;
    let (x, none, yes, zero) =
        (tensor("x"), r#"{"as_none": true}"#, r#"{"as_bool": true}"#, r#"{"as_int": 0}"#);
    let whole = [("", operator), ("into", &*x), ("x", &x)];
    let region = node("higher_order.auto_functionalized", &whole, &[none, &tensor("r")]);
    assert_eq!(alive_after(region, "r"), 0.0);
    let bases = tensors("x");
    let viewed =
        [("", operator), ("x", &x), ("_into_base_index", zero), ("_into_alias", yes), ("_all_bases", &bases)];
    let region = node("higher_order.auto_functionalized_v2", &viewed, &[none, &tensor("r")]);
    assert_eq!(alive_after(region, "r"), 0.0);
}

#[test]
fn rows_go_when_the_loop_is_over() {
    let seen = node("runs_test.seen.default", &[("x", &tensor("row"))], &[&tensor("s")]);
    let (xs, empty) = (tensors("x"), r#"{"as_tensors": []}"#);
    let body = nested(&graph(&["row"], std::slice::from_ref(&seen), &["s"]));
    let map = node("higher_order.map_impl", &[("", &body), ("", &xs), ("", empty)], &[&tensor("m")]);
    assert_eq!(alive_after(map, "m"), 0.0);
    let body = nested(&graph(&["carry", "row"], &[seen], &["s", "s"]));
    let scan = [("", &*body), ("", &xs), ("", &xs), ("", empty)];
    let scan = node("higher_order.scan", &scan, &[&tensor("last"), &tensor("m")]);
    assert_eq!(alive_after(scan, "m"), 0.0);
    let sum = node("runs_test.seen.default", &[("x", &tensor("b"))], &[&tensor("s")]);
    let body = nested(&graph(&["a", "b"], &[sum], &["s"]));
    let pairs = [("", &*body), ("", &xs), ("", empty)];
    let pairs = node("higher_order.associative_scan", &pairs, &[&tensor("m")]);
    assert_eq!(alive_after(pairs, "m"), 0.0);
}

/// A loop over `x` that goes on while any element is less than `limit`, and adds `step`.
pub(super) fn loop_below(limit: &str, step: &str, inputs: &[&str], rest: &str) -> String {
    let less = node("aten.lt.Scalar", &[("self", &tensor("a")), ("other", limit)], &[&tensor("l")]);
    let any = node("aten.any.default", &[("self", &tensor("l"))], &[&tensor("p")]);
    let sum = node("aten.add.Scalar", &[("self", &tensor("a")), ("other", step)], &[&tensor("s")]);
    let as_size = |graph: String| nested(&graph.replace(&tensor("k"), &size("k")));
    let condition = as_size(graph(inputs, &[less, any], &["p"]));
    let body = as_size(graph(inputs, &[sum], &["s"]));
    let arguments = [("", &*condition), ("", &body), ("", &tensors("x")), ("", rest)];
    node("higher_order.while_loop", &arguments, &[&tensor("y")])
}

fn size(name: &str) -> String {
    format!(r#"{{"as_sym_int": {{"as_name": "{name}"}}}}"#)
}

#[test]
fn a_loop_that_never_runs_returns_copies() {
    let below = loop_below(r#"{"as_int": 0}"#, r#"{"as_int": 1}"#, &["a"], r#"{"as_tensors": []}"#);
    let written = [("into", &*tensor("y")), ("x", &tensor("x"))];
    let written = node("runs_test.add_into.default", &written, &[]);
    let sum = [("self", &*tensor("x")), ("other", &tensor("y"))];
    let sum = node("aten.add.Tensor", &sum, &[&tensor("sum")]);
    let x = x();
    let output = program(&[below, written, sum], "sum").run(std::slice::from_ref(&x)).unwrap();
    assert_eq!(output[0].to_vec::<f32>().unwrap(), [3.0, 6.0]);
    assert_eq!(x.to_vec::<f32>().unwrap(), [1.0, 2.0], "the input is not the result that was written to");
    NOTED.take();
}

#[test]
fn a_loop_takes_sizes_from_outside() {
    let rows = [("self", &*tensor("x")), ("dim", r#"{"as_int": 0}"#)];
    let rows = node("aten.sym_size.int", &rows, &[&size("rows")]);
    let below = loop_below(&size("k"), &size("k"), &["a", "k"], r#"{"as_sym_ints": [{"as_name": "rows"}]}"#);
    let output = program(&[rows, below], "y").run(&[x()]).unwrap();
    assert_eq!(output[0].to_vec::<f32>().unwrap(), [3.0, 4.0]);
}

#[test]
fn all_columns_of_a_loop_have_as_many_rows() {
    let wider = [("self", &*tensor("x")), ("repeats", r#"{"as_ints": [2]}"#)];
    let wider = node("aten.repeat.default", &wider, &[&tensor("wide")]);
    let both = r#"{"as_tensors": [{"name": "x"}, {"name": "wide"}]}"#;
    let sum = [("self", &*tensor("a")), ("other", &tensor("b"))];
    let sum = node("aten.add.Tensor", &sum, &[&tensor("s")]);
    let body = nested(&graph(&["a", "b"], &[sum], &["s"]));
    let rows = [("", &*body), ("", both), ("", r#"{"as_tensors": []}"#)];
    let map = node("higher_order.map_impl", &rows, &[&tensor("m")]);
    let refused = program(&[wider, map], "m").run(&[x()]).unwrap_err().to_string();
    assert!(refused.ends_with("a loop over 2 rows of one tensor and 4 of another"), "{refused}");
}

#[test]
fn what_was_written_and_is_returned_is_the_buffer_or_the_input() {
    let returning = |name: &str| {
        let archive = edited("functional.pt2", |text| {
            text.replacen(
                r#"{"as_tensor": {"name": "add_1"}}], "nodes""#,
                &format!(r#"{}], "nodes""#, tensor(name)),
                1,
            )
        });
        Program::from_bytes(&archive).unwrap()
    };
    let (x, program) = (x(), returning("mul"));
    let output = program.run(std::slice::from_ref(&x)).unwrap().remove(0);
    assert!(output.is_same(&x));
    assert_eq!(output.to_vec::<f32>().unwrap(), [2.0, 4.0]);
    let program = returning("add");
    let run = || program.run(std::slice::from_ref(&x)).unwrap().remove(0);
    let (first, second) = (run(), run());
    let buffer = program.weight("calls").unwrap();
    assert!(first.is_same(buffer) && second.is_same(buffer));
    assert_eq!(buffer.to_vec::<f32>().unwrap(), [2.0]);
}

#[test]
fn weights_are_tied_on_other_devices_too() {
    let bytes = with_record("ties.pt2", "weights", |text| text.replacen("weight_2", "weight_1", 1));
    let program = Loader::new().device(Device::META).from_bytes(&bytes).unwrap();
    let weight = |name: &str| program.weight(name).unwrap();
    assert_eq!(weight("out.weight").device(), Device::META);
    assert!(weight("embedding.weight").is_same(weight("out.weight")));
    let part = weight("part");
    assert!(part.shares_storage_with(weight("out.weight")), "both are in one record");
    assert_eq!((part.sizes(), part.strides(), part.storage_offset()), (&[2, 2][..], &[4, 1][..], 9));
    assert!(!weight("turned").shares_storage_with(weight("out.weight")));
}

#[test]
fn a_guard_is_evaluated_as_far_as_it_decides() {
    let guard = r#"L['x'].size()[0] == 10 or L['x'].size()[0] % (L['x'].size()[0] - 10) == 0"#;
    let program = replaced("guarded.pt2", "(L['x'].size()[0] % 2) == 0", guard);
    let program = Program::from_bytes(&program).unwrap();
    let zeros = |sizes: &[i64]| Tensor::zeros(sizes, DType::Float32, Device::CPU).unwrap();
    assert!(program.run(&[zeros(&[10, 3]), zeros(&[5])]).is_ok());
    let refused = program.run(&[zeros(&[14, 3]), zeros(&[7])]).unwrap_err().to_string();
    assert!(refused.contains("which does not hold"), "{refused}");
}

#[cfg(unix)]
#[test]
fn a_pipe_is_refused_without_waiting_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe.pt2");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    if made.is_ok_and(|status| status.success()) {
        assert!(Program::load(&path).unwrap_err().to_string().contains("it is not a file"));
    }
}

#[test]
fn autocast_regions_apply_where_the_program_is() {
    let x = Tensor::from([[1f32, 2.0, 3.0, 4.0]; 2]);
    let types = |archive: &[u8]| -> Vec<DType> {
        let outputs = Program::from_bytes(archive).unwrap().run(std::slice::from_ref(&x)).unwrap();
        outputs.iter().map(Tensor::dtype).collect()
    };
    let elsewhere = edited("regions.pt2", |text| text.replace(r#""cpu""#, r#""cuda""#));
    assert_eq!(
        types(&elsewhere),
        [DType::Float32, DType::BFloat16],
        "exported on CUDA, and loaded on the CPU"
    );
    let foreign = replaced("regions.pt2", r#"{"as_string": "cpu"}"#, r#"{"as_string": "cuda"}"#);
    assert_eq!(types(&foreign), [DType::Float32; 2], "a region for CUDA in a program on the CPU");
}

#[test]
fn other_tensors_take_the_places_of_weights() {
    let program = Program::from_bytes(&edited("counts.pt2", str::to_owned)).unwrap();
    let x = Tensor::from([1f32, 2.0]);
    let own: Vec<Tensor> = program.weights().iter().map(|weight| weight.tensor.clone()).collect();
    let others: Vec<Tensor> = own.iter().map(|weight| aten::clone(weight).unwrap()).collect();
    for _ in 0..2 {
        program.run_with(&others, [Value::TensorRef(&x)]).unwrap();
    }
    let calls = program.weights().iter().position(|weight| weight.name == "calls").unwrap();
    assert_eq!(others[calls].to_vec::<f32>().unwrap(), [2.0]);
    assert_eq!(own[calls].to_vec::<f32>().unwrap(), [0.0]);

    let refusal =
        |weights: &[Tensor]| program.run_with(weights, [Value::TensorRef(&x)]).unwrap_err().to_string();
    assert_eq!(
        refusal(&others[1..]),
        format!("the program has {} weights, and is given {}", own.len(), own.len() - 1)
    );
    let mut wrong = others;
    wrong[calls] = Tensor::from([1i64]);
    assert!(refusal(&wrong).starts_with("the weight `calls` is float32[1], and is given as int64[1]"));
}
