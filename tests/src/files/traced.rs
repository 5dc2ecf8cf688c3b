//! `programs` through the tracer: the graph of a program, the graph parsed from its text, and the graph after the passes must
//! compute what the program does, on tensors other than those that were traced.

use std::collections::BTreeMap;

use serde_json::Value as Json;
use torch_library::guard::no_grad;
use torch_library::tracer::{Graph, trace};
use torch_library::{Result, Tensor};

use super::programs::call;
use crate::report::{Check, Report, Unmet, equal};
use crate::rows::Row;
use crate::values;

pub(crate) fn replay(rows: &[Json], report: &mut Report) {
    for row in rows {
        // A graph does not record where gradients are enabled, so only elements and geometry are compared.
        report.row(row, &super::programs::label(row), || no_grad(|| check(row)));
    }
}

fn check(row: &Json) -> Check {
    let (expected, graph) = trace(&inputs(row)?, |inputs| run(row, inputs))?;
    same("the graph", &graph, row, &expected)?;
    let mut again: Graph = graph.to_string().parse()?;
    same("the graph, read from its text", &again, row, &expected)?;
    again.eliminate_dead_code();
    same("the graph without dead code", &again, row, &expected)?;
    again.merge_common_subexpressions();
    same("the graph without common subexpressions", &again, row, &expected)
}

/// Fresh tensors, so that in-place writes do not affect other runs.
fn inputs(row: &Json) -> Check<Vec<Tensor>> {
    Ok(row.list("init")?.iter().map(values::tensor).collect::<Result<_>>()?)
}

/// All variables at the end. A step that fails leaves no trace.
fn run(row: &Json, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
    let names = row["init"].as_array().into_iter().flatten().filter_map(|init| init["var"].as_str());
    let mut variables: BTreeMap<String, Tensor> =
        names.map(str::to_owned).zip(inputs.iter().cloned()).collect();
    for step in row["steps"].as_array().into_iter().flatten() {
        let _ = call(step, &mut variables); // it fails in both runs
    }
    Ok(variables.into_values().collect())
}

fn same(what: &str, graph: &Graph, row: &Json, expected: &[Tensor]) -> Check {
    let got = graph.run(&inputs(row)?).map_err(|error| Unmet::from(error).at(what))?;
    equal(what, got.len(), expected.len())?;
    for (got, expected) in got.iter().zip(expected) {
        equal(what, got.geometry(), expected.geometry())?;
        let bits = |tensor: &Tensor| {
            Ok::<_, Unmet>(tensor.to_vec::<f64>()?.into_iter().map(f64::to_bits).collect::<Vec<_>>())
        };
        equal(what, bits(got)?, bits(expected)?)?;
    }
    Ok(())
}
