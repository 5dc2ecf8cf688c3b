//! The tracer on real operators: recording, running graphs again, and what passes may change.

use torch_library::prelude::*;
use torch_library::tracer::{Graph, trace};
use torch_library_kernels::aten;
use torch_library_kernels::vmap::vmap;

torch_library! {
    mod tracer_test {
        #[tags(nondeterministic_seeded)]
        noise(Tensor self) -> Tensor;
        labelled(Tensor self, str label, ScalarType? dtype, Device? device, float[] scales, bool[] flags,
            Scalar[] numbers, complex z, Tensor?[] more) -> Tensor;
    }
}

#[torch_impl(tracer_test, CPU)]
mod cpu {
    use super::*;

    fn noise(this: &Tensor) -> Result<Tensor> {
        aten::clone(this)
    }

    fn labelled(
        this: &Tensor,
        _label: &str,
        _dtype: Option<DType>,
        _device: Option<Device>,
        _scales: &[f64],
        _flags: &[bool],
        _numbers: &[Scalar],
        _z: Complex64,
        _more: &[Option<Tensor>],
    ) -> Result<Tensor> {
        aten::clone(this)
    }
}

fn x() -> Tensor {
    Tensor::from([[1.0, -2.0], [3.0, -4.0]])
}

/// The graph of a function of [`x`], which runs on `x` as the function does and reads back from its text.
fn graph(f: impl Fn(&Tensor) -> Result<Tensor>) -> Graph {
    let (outputs, graph) = trace(&[x()], |inputs| Ok(vec![f(&inputs[0])?])).unwrap();
    let again: Graph = graph.to_string().parse().unwrap();
    assert_eq!(again.to_string().matches('\n').count(), graph.to_string().matches('\n').count());
    for graph in [&graph, &again] {
        assert_eq!(graph.run(&[x()]).unwrap()[0].to_string(), outputs[0].to_string());
    }
    graph
}

/// The calls of a graph by the names of their operators.
fn calls(graph: &Graph) -> Vec<&'static str> {
    graph.nodes().iter().map(|node| node.operator().name()).collect()
}

#[test]
fn a_graph_reads_as_it_runs() {
    let graph = graph(|x| {
        let weight = Tensor::from([0.5, 2.0]);
        let y = aten::add_Tensor::call(&aten::matmul(x, &weight)?, &weight, 2.into())?;
        aten::softmax_int::call(&y, -1, Some(DType::Float32))
    });
    let text = "\
graph(%0: float64[2, 2]) {
  %1: float64[2] = constant [0.5, 2.0]
  %2: float64[2] = aten::matmul(self=%0, other=%1)
  %3: float64[2] = aten::add.Tensor(self=%2, other=%1, alpha=2)
  %4: float32[2] = aten::softmax.int(self=%3, dim=-1, dtype=float32)
  return %4
}
";
    assert_eq!(graph.to_string(), text);
    let dot = graph.to_dot();
    assert!(
        dot.contains("n0 [label=\"aten::matmul\"];") && dot.contains("n0 -> n1 [label=\"float64[2]\"];"),
        "{dot}"
    );
    let json = graph.to_json();
    let call = r#"{"operator":"aten::matmul","call":"aten::matmul(self=%0, other=%1)""#;
    let values = r#""uses":["%0","%1"],"defines":["%2"]}"#;
    assert!(json.contains(&format!("{call},{values}")), "{json}");
}

#[test]
fn writes_and_lists_are_recorded() {
    let graph = graph(|x| {
        let mut y = aten::mul_Scalar(x, 2.into())?;
        let mut rows = aten::split_Tensor::call(&y, 1, 0)?;
        aten::zero_(&mut rows[0])?;
        aten::add__Tensor(&mut y, x)?;
        aten::cat::call(&[y.clone(), rows[1].clone()], 0)
    });
    assert_eq!(calls(&graph), ["mul", "split", "zero_", "add_", "cat"]);
    assert!(
        graph.to_string().contains("[%2: float64[1, 2], %3: float64[1, 2]] = aten::split.Tensor("),
        "{graph}"
    );
    assert!(graph.to_string().contains("tensors=[%5, %3]"), "{graph}");
}

#[test]
fn every_type_goes_through_text() {
    let graph = graph(|x| {
        let scalars = [
            Scalar::Int(1),
            Scalar::Float(2.0),
            Scalar::Bool(true),
            Scalar::Complex(Complex64::new(0.0, 1.5)),
        ];
        tracer_test::labelled::call(
            x,
            "two \"words\"\n\\ \u{1}é",
            Some(DType::BFloat16),
            Some(Device::CPU),
            &[1.0, f64::INFINITY, -2.5e-300],
            &[true, false],
            &scalars,
            Complex64::new(1.0, -2.0),
            &[Some(x.clone()), None],
        )
    });
    let text = graph.to_string();
    assert_eq!(text.parse::<Graph>().unwrap().to_string(), text);
    for part in
        ["scales=[1.0, inf, -2.5e-300]", "numbers=[1, 2.0, true, complex(0.0, 1.5)]", "more=[%0, none]"]
    {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn a_graph_runs_on_other_inputs_and_keys() {
    let graph = graph(|x| aten::sum_dim_IntList(&aten::relu(x)?, Some(&[1])));
    let larger = Tensor::from([[1.0, 2.0, -3.0]]);
    assert_eq!(graph.run(&[larger]).unwrap()[0].to_vec::<f64>().unwrap(), [3.0]);
    let shape = Tensor::empty(&[5, 7], DType::Float32, Device::META).unwrap();
    let sums = &graph.run(&[shape]).unwrap()[0];
    assert_eq!((sums.sizes(), sums.device()), (&[5][..], Device::META));
    let batch = Tensor::from([[[1.0, 2.0]], [[3.0, -4.0]]]);
    let sums = vmap([&batch], |[example]| Ok(graph.run(&[example])?.remove(0))).unwrap();
    assert_eq!(sums.to_vec::<f64>().unwrap(), [3.0, 3.0]);
    let error = graph.run(&[]).unwrap_err();
    assert_eq!(error.to_string(), "0 inputs were given to a graph that takes 1");
    let error = graph.run(&[Tensor::from(1.0)]).unwrap_err();
    assert!(error.to_string().contains("= aten::sum.dim_IntList(self=%1, dim=[1]"), "{error}");
}

#[test]
fn inside_of_vmap_the_batches_are_recorded() {
    let graph = graph(|x| vmap([x], |[row]| aten::add_Tensor(&row, &aten::sum(&row)?)));
    assert!(graph.to_string().contains("aten::sum.dim_IntList(self=%0, dim=[1]"), "{graph}");
    let error =
        vmap([&x()], |[row]| trace(&[row], |rows| Ok(rows.to_vec())).map(|(rows, _)| rows[0].clone()));
    assert!(error.unwrap_err().to_string().contains("trace outside of vmap"));
}

#[test]
fn what_cannot_be_recorded_is_noted() {
    let graph = graph(|x| {
        let y = if aten::is_contiguous(x)? { tracer_test::noise(x)? } else { x.clone() };
        tracer_test::noise(&y)
    });
    assert_eq!(calls(&graph), ["noise", "noise"]);
    let notes = graph.notes();
    assert_eq!(notes.len(), 2);
    assert!(notes[0].starts_with("aten::is_contiguous returned a bool"), "{notes:?}");
    assert!(notes[1].starts_with("tracer_test::noise is random"), "{notes:?}");
    let inner =
        trace(&[x()], |inputs| trace(inputs, |inputs| Ok(inputs.to_vec())).map(|(outputs, _)| outputs));
    assert!(inner.unwrap_err().to_string().contains("a trace is under way"));
    // A trace that failed is over.
    assert!(trace(&[x()], |inputs| Ok(inputs.to_vec())).is_ok());
}

#[test]
fn dead_code_goes_and_effects_stay() {
    let mut graph = graph(|x| {
        let y = aten::exp(x)?; // dead: written, but never read
        aten::zero_(&mut aten::select_int(&y, 0, 0)?)?;
        aten::neg(&aten::exp(x)?)?; // dead
        let mut z = aten::exp(x)?; // alive: a view of it is written, and it is returned
        aten::zero_(&mut aten::select_int(&z, 0, 1)?)?;
        aten::mul__Scalar(&mut z, 2.into())?;
        tracer_test::noise(&z)?; // random: what comes later has other numbers without it
        aten::relu(&z)
    });
    assert_eq!(graph.eliminate_dead_code(), 5);
    assert_eq!(calls(&graph), ["exp", "select", "zero_", "mul_", "noise", "relu"]);
    assert_eq!(graph.eliminate_dead_code(), 0);
    assert_eq!(graph.run(&[x()]).unwrap()[0].to_vec::<f64>().unwrap()[2..], [0.0, 0.0]);
}

#[test]
fn writes_to_inputs_are_seen_from_outside() {
    let mut graph = graph(|x| {
        let x = aten::view(x, &[4])?;
        aten::zero_(&mut aten::select_int(&x, 0, 0)?)?;
        aten::relu(&Tensor::from([1.0]))
    });
    assert_eq!(graph.eliminate_dead_code(), 0);
    let input = x();
    graph.run(std::slice::from_ref(&input)).unwrap();
    assert_eq!(input.to_vec::<f64>().unwrap()[0], 0.0);
}

#[test]
fn equal_calls_are_merged_unless_something_is_written() {
    let mut pure = graph(|x| aten::add_Tensor(&aten::exp(&aten::neg(x)?)?, &aten::exp(&aten::neg(x)?)?));
    assert_eq!(pure.merge_common_subexpressions(), 2);
    assert_eq!(calls(&pure), ["neg", "exp", "add"]);
    assert!(pure.to_string().contains("aten::add.Tensor(self=%2, other=%2"), "{pure}");
    pure.run(&[x()]).unwrap();
    let mut written = graph(|x| {
        let mut y = aten::exp(x)?;
        aten::zero_(&mut y)?;
        aten::add_Tensor(&y, &aten::exp(x)?)
    });
    assert_eq!(written.merge_common_subexpressions(), 0);
    let mut between = graph(|x| {
        let mut y = aten::clone(x)?;
        let before = aten::add_Tensor(&aten::exp(&y)?, &aten::exp(&y)?)?;
        aten::zero_(&mut aten::select_int(&y, 0, 0)?)?;
        let again = aten::exp(&y)?;
        aten::mul__Tensor(&mut y, &again)?;
        aten::add_Tensor(&before, &y)
    });
    assert_eq!(between.merge_common_subexpressions(), 1);
    assert_eq!(calls(&between), ["clone", "exp", "add", "select", "zero_", "exp", "mul_", "add"]);
    let (_, mut inputs) = trace(&[x(), x()], |inputs| {
        let before = aten::exp(&inputs[0])?;
        aten::zero_(&mut inputs[1].clone())?;
        Ok(vec![aten::add_Tensor(&before, &aten::exp(&inputs[0])?)?])
    })
    .unwrap();
    assert_eq!(inputs.merge_common_subexpressions(), 0, "an input may be a view of another");
    let mut random = graph(|x| aten::add_Tensor(&tracer_test::noise(x)?, &tracer_test::noise(x)?));
    assert_eq!(random.merge_common_subexpressions(), 0);
}

#[test]
fn a_text_that_is_no_graph_says_where() {
    let check = |text: &str, message: &str| {
        let error = text.parse::<Graph>().unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    };
    check("graf() {}", "expected `graph(`");
    check("graph(%0: float64[2]) {\n  %1: float64[2] = aten::nothing(self=%0)\n  return %1\n}", "line 2");
    check("graph() {\n  return %7\n}", "%7 is used before it is defined");
    check("graph(%0: int64[1], %0: int64[1]) { return %0 }", "%0 is defined twice");
    check(
        "graph(%0: float64[2]) { %1: float64[2] = aten::relu(other=%0) return %1 }",
        "has no argument `other`",
    );
    check("graph(%0: float64[2]) { %1: float64[2] = aten::relu() return %1 }", "called without `self`");
    check(
        "graph(%0: float64[2]) { %1: float64[2] = aten::relu(self=1) return %1 }",
        "`self` of aten::relu must be Tensor",
    );
    check(
        "graph(%0: float64[2]) { %1: float64[2] = aten::cat(tensors=[%0, none], dim=0) return %1 }",
        "`tensors` of aten::cat must be Tensor[]",
    );
    check("graph(%0: float64[2]) { %1: float64[2] = constant [1.0] return %1 }", "sizes [2] need 2 elements");
    check("graph(%0: float64[2]) { return %0 } more", "expected the end");
    check("graph(%0: float99[2]) { return %0 }", "float99");
    check(
        "graph(%0: float64[2]) { %1: float64[2] = tracer_test::labelled(self=%0, label=\"x",
        "a string has no closing quote",
    );
    let lists = "[".repeat(200_000);
    check(
        &format!("graph() {{ %1: float64[2] = aten::zeros(size={lists}"),
        "expected an element that is not a list, found `[[[",
    );
}
