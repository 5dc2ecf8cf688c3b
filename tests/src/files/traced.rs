//! `programs` through the tracer: the graph of a program, its text read again, and what passes leave of it do what the program
//! does, on other tensors than those that were traced.

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
        // A graph does not say where gradients are recorded: what is compared are elements and places.
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

/// Fresh tensors, so that what is written is written to memory that no other run has seen.
fn inputs(row: &Json) -> Check<Vec<Tensor>> {
    Ok(row.list("init")?.iter().map(values::tensor).collect::<Result<_>>()?)
}

/// All variables at the end. Steps that fail, do so without a trace.
fn run(row: &Json, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
    let names = row["init"].as_array().into_iter().flatten().filter_map(|init| init["var"].as_str());
    let mut variables: BTreeMap<String, Tensor> =
        names.map(str::to_owned).zip(inputs.iter().cloned()).collect();
    for step in row["steps"].as_array().into_iter().flatten() {
        let _ = call(step, &mut variables); // refused here as there
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
