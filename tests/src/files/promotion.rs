//! `promotion`: the dtype of the result for every pair of operands.

use serde_json::{Map, Value as Json};
use torch_library::{
    DType, Device, Operand, Scalar, Tensor, Value, can_cast, element::Complex64, promote_types, result_type,
};
use torch_library_schema::{DefaultValue, Mode, Schema};

use crate::operators::{self, Arguments};
use crate::report::{Check, Report, Unmet, equal, error_iff};

pub(crate) fn replay(document: &[Json], report: &mut Report) {
    for document in document {
        cells(report, "promote_types", &document["promote_types"], 2, &|path, want| {
            dtype(want, promote_types(parse(path[0])?, parse(path[1])?))
        });
        cells(report, "can_cast", &document["can_cast"], 2, &|path, want| {
            equal("can cast", &Json::from(can_cast(parse(path[0])?, parse(path[1])?)), want)
        });
        cells(report, "result_type", &document["result_type"], 3, &|path, want| {
            let dims = dims(path[0])?;
            let operands = [operand(dims.0, path[1])?, operand(dims.1, path[2])?];
            dtype(want, result_type(operands))
        });
        cells(report, "scalar_type_numbers", &document["scalar_type_numbers"], 2, &number_of_word);
        let not_counted = &document["not_counted_operators"];
        for (list, depth, check) in CALLS {
            for (name, cells) in document[list].as_object().into_iter().flatten() {
                if !is_listed(not_counted, name) {
                    self::cells(report, &format!("{list} {name}"), cells, depth, &|path, want| {
                        check(name, path, want)
                    });
                }
            }
        }
    }
}

/// Replays a cell: takes the operator's name, the path to the cell, and its content.
type CallCell = fn(&str, &[&str], &Json) -> Check;

/// The lists of calls, and the depth of their cells below an operator's name.
const CALLS: [(&str, usize, CallCell); 3] =
    [("binary", 3, binary), ("unary", 1, unary), ("scalar_binary", 3, scalar_binary)];

fn is_listed(list: &Json, name: &str) -> bool {
    list.as_array().into_iter().flatten().any(|listed| listed == name)
}

/// Replays all cells at a depth below a table.
fn cells(
    report: &mut Report,
    label: &str,
    table: &Json,
    depth: usize,
    check: &dyn Fn(&[&str], &Json) -> Check,
) {
    fn walk<'t>(
        path: &mut Vec<&'t str>,
        table: &'t Json,
        depth: usize,
        visit: &mut dyn FnMut(&[&str], &Json),
    ) {
        if depth == 0 {
            return visit(path, table);
        }
        for (name, below) in
            table.as_object().into_iter().flat_map(Map::iter).filter(|(name, _)| *name != "note")
        {
            path.push(name);
            walk(path, below, depth - 1, visit);
            path.pop();
        }
    }
    walk(&mut Vec::new(), table, depth, &mut |path, want| {
        // An error because PyTorch lacks a kernel says nothing about promotion.
        let is_missing = want["error"].as_str().is_some_and(|error| error.contains("not implemented for"));
        if !is_missing {
            report.row(&Json::Null, &format!("{label} {}", path.join(" ")), || check(path, want));
        }
    });
}

fn parse(name: &str) -> Check<DType> {
    Ok(name.parse()?)
}

/// Compares a dtype with a cell, which has its name or an error.
fn dtype(want: &Json, got: torch_library::Result<DType>) -> Check {
    let want = type_of(want);
    let got = error_iff("dtype", want.is_none(), got)?;
    got.map_or(Ok(()), |got| equal("dtype", Some(got), want))
}

/// The dtype in a cell; `None` if it has an error. A dtype for which the recorder had no name is written `torch.NAME`,
/// and is an error where its name was asked for.
fn type_of(want: &Json) -> Option<DType> {
    want.as_str().or_else(|| want["error"].as_str()).and_then(|name| name.parse().ok())
}

/// Whether each operand has dimensions, from a text such as `dim_0d`.
fn dims(config: &str) -> Check<(bool, bool)> {
    let (a, b) = config.split_once('_').ok_or_else(|| Unmet::failed("a pair of operands", config))?;
    Ok((a == "dim", b == "dim"))
}

fn operand(has_dims: bool, dtype: &str) -> Check<Operand> {
    let dtype = parse(dtype)?;
    Ok(if has_dims { Operand::Dimensioned(dtype) } else { Operand::ZeroDim(dtype) })
}

/// Checks the value of a word as the default of an argument.
fn number_of_word(path: &[&str], want: &Json) -> Check {
    let schema = Schema::parse(&format!("f({} x={}) -> ()", path[1], path[0]), Mode::PyTorch).ok();
    let default = schema.as_ref().and_then(|schema| schema.arguments.first()?.default.as_ref());
    let number = match default {
        Some(DefaultValue::Int(number)) => Some(*number),
        _ => None,
    };
    equal("number", number, want.as_i64())
}

fn ones(has_dims: bool, dtype: &str) -> Check<Tensor> {
    let sizes: &[i64] = if has_dims { &[2] } else { &[] };
    Ok(Tensor::full(sizes, 1, parse(dtype)?, Device::CPU)?)
}

fn binary(name: &str, path: &[&str], want: &Json) -> Check {
    let dims = dims(path[0])?;
    let (a, b) = (ones(dims.0, path[1])?, ones(dims.1, path[2])?);
    let pair = |a: Tensor, b: Tensor| vec![Value::Tensor(a), Value::Tensor(b)];
    let mut named = Vec::new();
    // A name such as `div.Tensor_mode(floor)` includes the mode.
    let (operator, mode) = name.split_once('(').unwrap_or((name, ""));
    if !mode.is_empty() {
        named.push(("rounding_mode", Value::from(mode.trim_end_matches(')').to_owned())));
    }
    let positional = match operator {
        "where.self" => vec![Value::Tensor(ones(dims.0, "bool")?), Value::Tensor(a), Value::Tensor(b)],
        "cat" => vec![vec![a, b].into()],
        "mm" => {
            let (n, m) = (a.numel(), b.numel());
            pair(a.strided_view(&[1, n], &[n, 1], 0)?, b.strided_view(&[m, 1], &[1, 1], 0)?)
        }
        _ => pair(a, b),
    };
    call(operator, Arguments { positional, named }, want)
}

fn unary(name: &str, path: &[&str], want: &Json) -> Check {
    let x = Value::Tensor(ones(true, path[0])?);
    match name {
        "softmax" => {
            call("softmax.int", Arguments { positional: vec![x, Value::Int(0)], named: vec![] }, want)
        }
        name => call(name, Arguments { positional: vec![x], named: vec![] }, want),
    }
}

fn scalar_binary(name: &str, path: &[&str], want: &Json) -> Check {
    let number = match path[0] {
        "bool" => Scalar::Bool(true),
        "int" => Scalar::Int(2),
        "float" => Scalar::Float(2.5),
        "complex" => Scalar::Complex(Complex64::new(0.0, 1.0)),
        other => return Err(Unmet::failed(format!("a number of type {other}"), "none")),
    };
    let x = Value::Tensor(ones(path[1] == "dim", path[2])?);
    // Python's `x + 2` calls the `Tensor` overload; `clamp_min` has an overload for numbers only.
    let operator = if name == "clamp_min" { name.to_owned() } else { format!("{name}.Tensor") };
    call(&operator, Arguments { positional: vec![x, number.into()], named: vec![] }, want)
}

fn call(name: &str, arguments: Arguments<'_>, want: &Json) -> Check {
    let operator = operators::find(&format!("aten::{name}"))?;
    let outcome = operators::skip_missing(operator, arguments.call(operator))?;
    let want = type_of(want);
    let Some(outputs) = error_iff("the call", want.is_none(), outcome)? else { return Ok(()) };
    equal("dtype", outputs.first().and_then(Value::as_tensor).map(Tensor::dtype), want)
}
