//! Steps with nested steps: branches, loops, regions without gradients or in another precision.

use torch_library::autocast::Autocast;
use torch_library::prelude::*;
use torch_library::{DeviceType, Dispatcher};

use crate::associative::Pairs;
use crate::functional;
use crate::number;
use crate::operand::Operand;
use crate::out_dtype::{self, OutDtype};
use crate::plan::{Action, Block, Scope, Source};
use crate::print::Format;
use crate::target::Call;
use crate::wire::{Argument, Graph, Named, SymIntArgument};

/// How the nested steps are run.
#[derive(Debug)]
pub(crate) enum Region {
    /// Runs one of two blocks, depending on the operand.
    Cond { yes: Block, no: Block },
    /// Runs the body while the condition holds; `carried` are the slots that change from one iteration to the next.
    While { condition: Block, body: Block, carried: Vec<u32>, results: Results },
    /// Runs the body for each row of the operands, which are put into the slots `rows`, and stacks the results.
    Map { body: Block, rows: Vec<u32>, by: Rows },
    /// Like `Map`, but the first results of an iteration are passed to the next; those of the last one are results.
    Scan { body: Block, carried: Vec<u32>, rows: Vec<u32>, by: Rows },
    /// Combines each row of the operands with all rows before it. The body combines what is in the slots `left`, for
    /// several rows at once, with what is in the slots `right`.
    Associative { body: Block, left: Vec<u32>, right: Vec<u32>, by: Pairs },
    /// Runs the body with or without gradients.
    Grad { enabled: bool, body: Block },
    /// Runs the body in an autocast region.
    Autocast { region: Autocast, body: Block },
    /// Runs the body.
    Plain(Block),
}

impl Region {
    /// Compares the results with those that the node names.
    ///
    /// # Errors
    /// There are more or fewer, or two branches have different numbers of them.
    pub(crate) fn check(&self, named: usize) -> Result<()> {
        let results = match self {
            Region::Cond { yes, no } => {
                let [yes, no] = [yes, no].map(|branch| branch.results.len());
                ensure!(
                    yes == no,
                    Argument,
                    "the number of results is {yes} in one branch and {no} in the other"
                );
                yes
            }
            Region::While { body, .. }
            | Region::Map { body, .. }
            | Region::Scan { body, .. }
            | Region::Associative { body, .. }
            | Region::Grad { body, .. }
            | Region::Autocast { body, .. }
            | Region::Plain(body) => body.results.len(),
        };
        let counts = format!("the number of results is {results} in the nested graph");
        ensure!(results == named, Argument, "{counts} and {named} in the node");
        let carried = if let Region::Scan { carried, .. } = self { carried.len() } else { 0 };
        ensure!(carried <= results, Argument, "{counts}, but it carries {carried} values");
        Ok(())
    }
}

/// The results of a loop.
#[derive(Debug)]
pub(crate) enum Results {
    /// What the last iteration made. If there is none, copies of what the loop began with, by this operator.
    Last { clone: OperatorHandle },
    /// What each iteration made, stacked. If there is none, what the loop began with, as that of one iteration.
    All(Rows),
}

impl Results {
    /// # Errors
    /// The operators that make the results are not linked.
    fn of(name: &str) -> Result<Results> {
        Ok(match name {
            "while_loop" => Results::Last { clone: Dispatcher::global().find("aten::clone")? },
            _ => Results::All(Rows::new()?),
        })
    }
}

/// The operators that select and stack rows.
#[derive(Debug)]
pub(crate) struct Rows {
    pub(crate) select: OperatorHandle,
    pub(crate) stack: OperatorHandle,
}

impl Rows {
    fn new() -> Result<Rows> {
        let find = |name| Dispatcher::global().find(name);
        Ok(Rows { select: find("aten::select.int")?, stack: find("aten::stack")? })
    }
}

/// The step for a higher-order operator.
///
/// # Errors
/// The operator is not supported, or does not take these arguments.
pub(crate) fn new(name: &str, call: &Call<'_>, scope: &mut Scope<'_>) -> Result<(Action, Vec<Operand>)> {
    let arguments: Vec<&Argument> = call.inputs.iter().map(|input| &input.arg).collect();
    let (region, operands) = match (name, arguments.as_slice()) {
        ("cond", [condition, Argument::AsGraph(yes), Argument::AsGraph(no), rest @ ..]) => {
            let inputs = sources(rest, scope)?;
            let (yes, no) = (scope.inner(&yes.graph, &inputs)?, scope.inner(&no.graph, &inputs)?);
            (Region::Cond { yes, no }, vec![Operand::of_any(condition, scope)?])
        }
        (
            "while_loop" | "while_loop_stack_output",
            [Argument::AsGraph(condition), Argument::AsGraph(body), carried, rest @ ..],
        ) => loops([&condition.graph, &body.graph], carried, rest, Results::of(name)?, scope)?,
        ("map_impl", [Argument::AsGraph(body), rows, rest @ ..]) => {
            let (operands, slots) = fresh(rows, scope)?;
            let mut inputs: Vec<_> = slots.iter().map(|slot| Source::Slot(*slot)).collect();
            inputs.extend(sources(rest, scope)?);
            let body = scope.inner(&body.graph, &inputs)?;
            (Region::Map { body, rows: slots, by: Rows::new()? }, operands)
        }
        ("scan", [Argument::AsGraph(body), carried, rows, rest @ ..]) => {
            let (mut operands, carried) = fresh(carried, scope)?;
            let (columns, rows) = fresh(rows, scope)?;
            operands.extend(columns);
            let mut inputs: Vec<_> = carried.iter().chain(&rows).map(|slot| Source::Slot(*slot)).collect();
            inputs.extend(sources(rest, scope)?);
            let body = scope.inner(&body.graph, &inputs)?;
            (Region::Scan { body, carried, rows, by: Rows::new()? }, operands)
        }
        ("associative_scan", [Argument::AsGraph(body), rows, rest @ ..]) => {
            let (operands, left) = fresh(rows, scope)?;
            let right: Vec<_> = left.iter().map(|_| scope.shared.slot()).collect();
            let mut inputs: Vec<_> = left.iter().chain(&right).map(|slot| Source::Slot(*slot)).collect();
            inputs.extend(sources(rest, scope)?);
            let body = scope.inner(&body.graph, &inputs)?;
            (Region::Associative { body, left, right, by: Pairs::new()? }, operands)
        }
        ("wrap_with_set_grad_enabled", [Argument::AsBool(enabled), Argument::AsGraph(body), rest @ ..]) => {
            let body = plain(&body.graph, rest, scope)?;
            (Region::Grad { enabled: *enabled, body }, Vec::new())
        }
        (
            "wrap_with_autocast",
            [
                Argument::AsString(device),
                dtype,
                Argument::AsBool(enabled),
                cache,
                Argument::AsGraph(body),
                rest @ ..,
            ],
        ) => {
            let body = plain(&body.graph, rest, scope)?;
            (autocast(scope.device_of_region(device)?, dtype, *enabled, cache, body)?, Vec::new())
        }
        ("invoke_subgraph", [Argument::AsGraph(body), Argument::AsString(_), rest @ ..])
        | ("wrap" | "strict_mode" | "tag_activation_checkpoint", [Argument::AsGraph(body), rest @ ..]) => {
            (Region::Plain(plain(&body.graph, rest, scope)?), Vec::new())
        }
        _ => return around(name, call, &arguments, scope),
    };
    Ok((Action::Region(Box::new(region)), operands))
}

/// The step for an operator that calls another one, and for what only compilers and readers look at.
///
/// # Errors
/// The errors of [`new`].
fn around(
    name: &str,
    call: &Call<'_>,
    arguments: &[&Argument],
    scope: &mut Scope<'_>,
) -> Result<(Action, Vec<Operand>)> {
    let body = match (name, arguments) {
        ("auto_functionalized" | "auto_functionalized_v2", [Argument::AsOperator(_), ..]) => {
            functional::new(name == "auto_functionalized_v2", call.inputs, scope)?
        }
        ("hints_wrapper", [Argument::AsGraph(body), inputs, Argument::AsStringToArgument(named), ..])
            if named.is_empty() =>
        {
            plain(&body.graph, &[*inputs], scope)?
        }
        ("out_dtype", _) => {
            let Some((operator, dtype, rest)) = out_dtype::parts(call.inputs) else {
                return Err(refused(name));
            };
            return OutDtype::step(operator, dtype, rest, scope);
        }
        ("print", [Argument::AsString(format), rest @ ..]) => {
            let names: Vec<_> = call.inputs[1..].iter().map(|input| input.name.as_str()).collect();
            let (format, places) = Format::new(format, &names)?;
            let operands = places.into_iter().map(|place| Operand::of_any(rest[place], scope));
            let print = Dispatcher::global().find("aten::_print")?;
            return Ok((Action::Print { format, print }, operands.collect::<Result<_>>()?));
        }
        _ => return Err(refused(name)),
    };
    Ok((Action::Region(Box::new(Region::Plain(body))), Vec::new()))
}

/// The higher-order operators that can be run.
const RUN: [&str; 17] = [
    "cond",
    "while_loop",
    "while_loop_stack_output",
    "map_impl",
    "scan",
    "associative_scan",
    "wrap_with_set_grad_enabled",
    "wrap_with_autocast",
    "invoke_subgraph",
    "wrap",
    "strict_mode",
    "tag_activation_checkpoint",
    "auto_functionalized",
    "auto_functionalized_v2",
    "out_dtype",
    "print",
    "hints_wrapper",
];

/// The error for a higher-order operator, or for its arguments.
fn refused(name: &str) -> Error {
    let shown = crate::shortened(name);
    let message = match name {
        name if RUN.contains(&name) => {
            format!("the higher-order operator `{shown}` is supported, but not with these arguments")
        }
        "with_effects" => {
            "`with_effects` is supported, but not with these arguments: it calls no operator".to_owned()
        }
        _ => format!("the higher-order operator `{shown}` is not supported, only {}", RUN.join(", ")),
    };
    Error::new(ErrorKind::NotSupported, message)
}

fn plain(graph: &Graph, inputs: &[&Argument], scope: &mut Scope<'_>) -> Result<Block> {
    let inputs = sources(inputs, scope)?;
    scope.inner(graph, &inputs)
}

fn loops(
    [condition, body]: [&Graph; 2],
    carried: &Argument,
    rest: &[&Argument],
    results: Results,
    scope: &mut Scope<'_>,
) -> Result<(Region, Vec<Operand>)> {
    let (operands, slots) = fresh(carried, scope)?;
    let mut inputs: Vec<_> = slots.iter().map(|slot| Source::Slot(*slot)).collect();
    inputs.extend(sources(rest, scope)?);
    let (condition, body) = (scope.inner(condition, &inputs)?, scope.inner(body, &inputs)?);
    ensure!(
        body.results.len() == slots.len(),
        Argument,
        "the body of a loop has {} results, but the loop carries {} values",
        body.results.len(),
        slots.len()
    );
    Ok((Region::While { condition, body, carried: slots, results }, operands))
}

/// An autocast region, or a plain one if there is no device that it is for.
fn autocast(
    device: Option<DeviceType>,
    dtype: &Argument,
    enabled: bool,
    cache: &Argument,
    body: Block,
) -> Result<Region> {
    let Some(device) = device else { return Ok(Region::Plain(body)) };
    let mut region = Autocast::on(device).enabled(enabled);
    if let Argument::AsScalarType(number) = dtype {
        region = region.dtype(crate::kinds::dtype(*number)?);
    }
    if let Argument::AsBool(cached) = cache {
        region = region.cache_enabled(*cached);
    }
    Ok(Region::Autocast { region, body })
}

/// The values that arguments name, with lists flattened.
fn sources(arguments: &[&Argument], scope: &mut Scope<'_>) -> Result<Vec<Source>> {
    let mut sources = Vec::new();
    for argument in arguments {
        for operand in each(argument, scope)? {
            let Operand::Borrowed(source) = operand else {
                bail!(NotSupported, "an argument of a graph is neither a tensor nor a size")
            };
            sources.push(source);
        }
    }
    Ok(sources)
}

/// The values of a list, each as an operand of its own; a value that is no list is one operand.
fn each(list: &Argument, scope: &mut Scope<'_>) -> Result<Vec<Operand>> {
    let fixed = |value: Value<'static>| Ok(Operand::Fixed(value));
    match list {
        Argument::AsTensors(list) => {
            list.iter().map(|Named { name }| Ok(Operand::Borrowed(scope.source(name)?))).collect()
        }
        Argument::AsSymInts(list) => {
            let each = list.iter().map(|size| match size {
                SymIntArgument::AsName(name) => Ok(Operand::Borrowed(scope.source(name)?)),
                SymIntArgument::AsInt(size) => fixed((*size).into()),
            });
            each.collect()
        }
        Argument::AsInts(list) => list.iter().map(|number| fixed((*number).into())).collect(),
        one => Ok(vec![Operand::of_any(one, scope)?]),
    }
}

/// The values of a list, with a new slot for each, which is set repeatedly. What a loop begins with may be a constant.
fn fresh(list: &Argument, scope: &mut Scope<'_>) -> Result<(Vec<Operand>, Vec<u32>)> {
    let operands = each(list, scope)?;
    let is_value = |operand: &Operand| match operand {
        Operand::Borrowed(_) => true,
        Operand::Fixed(constant) => number::of(constant).is_some(),
        _ => false,
    };
    ensure!(operands.iter().all(is_value), NotSupported, "a loop begins with neither tensors nor numbers");
    let slots = operands.iter().map(|_| scope.shared.slot()).collect();
    Ok((operands, slots))
}
