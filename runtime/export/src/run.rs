//! Runs steps: pushes values from slots onto the stack, calls the dispatcher, and stores the results in slots.

use std::borrow::Cow;

use torch_library::prelude::*;
use torch_library::{Dispatcher, guard};

use crate::batch::Levels;
use crate::number::{self, Number};
use crate::operand::{Item, Operand, wrapped};
use crate::plan::{Action, Block, Measure, Source, Step, Target};
use crate::region::{Region, Results, Rows};
use crate::unknown;

/// The state of a run: the values in their slots, and the program's weights.
pub(crate) struct Frame<'p> {
    slots: Vec<Value<'static>>,
    weights: &'p [Tensor],
    levels: Levels,
}

/// An observer of the steps of a run.
pub(crate) trait Watch {
    /// Runs a step.
    ///
    /// # Errors
    /// The errors of the step.
    fn around(&mut self, step: &Step, run: impl FnOnce(&mut Self) -> Result<()>) -> Result<()>;
}

/// An observer that does nothing.
pub(crate) struct Nobody;

impl Watch for Nobody {
    #[inline(always)]
    fn around(&mut self, _: &Step, run: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        run(self)
    }
}

impl<'p> Frame<'p> {
    /// A frame with `slots` slots, the first of which have the values of the inputs.
    pub(crate) fn new(
        slots: u32,
        inputs: impl Iterator<Item = Value<'static>>,
        weights: &'p [Tensor],
    ) -> Self {
        let mut frame =
            Frame { slots: Vec::with_capacity(slots as usize), weights, levels: Levels::default() };
        frame.slots.extend(inputs);
        frame.slots.resize_with(slots as usize, || Value::None);
        frame
    }

    /// The value of a source.
    #[inline]
    pub(crate) fn value(&self, source: Source) -> Value<'_> {
        match source {
            Source::Weight(number) => Value::TensorRef(&self.weights[number as usize]),
            Source::Slot(slot) => match &self.slots[slot as usize] {
                Value::Tensor(tensor) => Value::TensorRef(tensor), // by far the most frequent case
                other => other.borrowed(),
            },
        }
    }

    fn tensor(&self, source: Source) -> Result<Tensor> {
        match self.value(source).as_tensor() {
            Some(tensor) => Ok(tensor.clone()),
            None => bail!(Type, "expected a tensor, got {}", self.value(source).type_name()),
        }
    }

    fn number(&self, source: Source) -> Result<Number> {
        let value = self.value(source);
        match (number::of(&value), value.as_tensor()) {
            (Some(number), _) => Ok(number),
            (None, Some(tensor)) => number_of(tensor),
            (None, None) => bail!(Type, "expected a number, got {}", value.type_name()),
        }
    }

    fn int(&self, source: Source) -> Result<i64> {
        let number = self.number(source)?;
        number
            .int()
            .ok_or_else(|| Error::new(ErrorKind::Type, format!("expected an integer, got {number:?}")))
    }

    /// Pushes an argument.
    #[inline]
    fn push<'f>(&'f self, operand: &'f Operand, stack: &mut Stack<'f>) -> Result<()> {
        match operand {
            Operand::Borrowed(source) => stack.push(self.value(*source)),
            Operand::Fixed(value) => stack.push(value.borrowed()),
            other => stack.push(self.made(other)?),
        }
        Ok(())
    }

    /// An argument that is built for the call.
    #[inline(never)]
    fn made<'f>(&'f self, operand: &'f Operand) -> Result<Value<'f>> {
        Ok(match operand {
            Operand::Fixed(value) => value.borrowed(),
            Operand::Borrowed(source) => self.value(*source),
            Operand::Written(source) => Value::Tensor(self.tensor(*source)?),
            Operand::Wrapped(source) => match self.value(*source).as_tensor() {
                Some(tensor) => Value::Tensor(tensor.clone()),
                None => Value::Tensor(wrapped(self.number(*source)?)),
            },
            Operand::Float(source) => Value::Float(self.number(*source)?.float()),
            Operand::Tensors(list) => {
                let tensors = list.iter().map(|source| self.tensor(*source));
                Value::Tensors(Cow::Owned(tensors.collect::<Result<_>>()?))
            }
            Operand::OptionalTensors(list) => {
                let tensors = list.iter().map(|source| source.map(|source| self.tensor(source)).transpose());
                Value::OptionalTensors(Cow::Owned(tensors.collect::<Result<_>>()?))
            }
            Operand::Ints(list) => list_of(list, |source| self.int(source))?.into(),
            Operand::Floats(list) => list_of(list, |source| Ok(self.number(source)?.float()))?.into(),
            Operand::Bools(list) => list_of(list, |source| Ok(self.number(source)?.is_true()))?.into(),
        })
    }

    /// The value of an operand, without borrows.
    pub(crate) fn owned(&self, operand: &Operand) -> Result<Value<'static>> {
        Ok(self.made(operand)?.into_owned())
    }

    /// Stores a result.
    #[inline]
    fn store(&mut self, target: &Target, value: Value<'static>) -> Result<()> {
        match target {
            Target::Slot(slot) => self.slots[*slot as usize] = value,
            Target::Dropped => {}
            Target::Slots(slots) => {
                let Value::Tensors(tensors) = value else {
                    bail!(Type, "expected a list of tensors to be returned, got {}", value.type_name())
                };
                ensure!(
                    tensors.len() == slots.len(),
                    Shape,
                    "{} tensors were returned, but {} when the program was exported",
                    tensors.len(),
                    slots.len()
                );
                for (slot, tensor) in slots.iter().zip(tensors.into_owned()) {
                    self.slots[*slot as usize] = tensor.into();
                }
            }
        }
        Ok(())
    }
}

fn list_of<T: Copy>(list: &[Item<T>], slot: impl Fn(Source) -> Result<T>) -> Result<Vec<T>> {
    list.iter()
        .map(|item| match item {
            Item::Known(known) => Ok(*known),
            Item::Slot(source) => slot(*source),
        })
        .collect()
}

fn number_of(tensor: &Tensor) -> Result<Number> {
    match element(tensor)? {
        Scalar::Int(number) => Ok(Number::Int(number)),
        Scalar::Float(number) => Ok(Number::Float(number)),
        Scalar::Bool(yes) => Ok(Number::Bool(yes)),
        Scalar::Complex(_) => bail!(DType, "a complex number can be neither a condition nor a size"),
    }
}

/// The only element. A wrapper has none of its own, but its layer may know the tensor that it stands for.
fn element(tensor: &Tensor) -> Result<Scalar> {
    if tensor.is_wrapper()
        && let Ok(item) = Dispatcher::global().find("aten::item")
    {
        let mut stack = Stack::from_iter([Value::TensorRef(tensor)]);
        item.call_boxed(&mut stack)?;
        return stack.pop_as();
    }
    tensor.item()
}

/// Runs the steps of a block.
///
/// # Errors
/// The errors of the first step that fails, with its node and module.
pub(crate) fn block<W: Watch>(block: &Block, frame: &mut Frame<'_>, watch: &mut W) -> Result<()> {
    for step in &block.steps {
        let done = watch.around(step, |watch| run(step, frame, watch));
        if let Err(error) = done {
            return Err(failed(step, error));
        }
        clear(&step.release, frame);
    }
    Ok(())
}

#[cold]
fn failed(step: &Step, error: Error) -> Error {
    let place = &step.place;
    match place.module.is_empty() {
        true => error.context(format_args!("node {}", place.node)),
        false => error.context(format_args!("node {} in {}", place.node, place.module)),
    }
}

#[inline]
fn run<W: Watch>(step: &Step, frame: &mut Frame<'_>, watch: &mut W) -> Result<()> {
    match &step.action {
        Action::Call(operator) => call(step, *operator, frame),
        Action::Region(inner) => region(step, inner, frame, watch),
        other => own(step, other, frame),
    }
}

#[inline]
fn call(step: &Step, operator: OperatorHandle, frame: &mut Frame<'_>) -> Result<()> {
    let mut stack = Stack::new();
    for operand in &step.operands {
        frame.push(operand, &mut stack)?;
    }
    operator.call_boxed(&mut stack)?;
    if let [Target::Slot(slot)] = &*step.targets {
        let value = stack.pop().map_or(Value::None, Value::into_owned);
        drop(stack);
        frame.slots[*slot as usize] = value;
        return Ok(());
    }
    let results: Vec<_> = stack.into_iter().map(Value::into_owned).collect();
    step.targets.iter().zip(results).try_for_each(|(target, value)| frame.store(target, value))
}

/// Runs a step that is not an operator call.
fn own(step: &Step, action: &Action, frame: &mut Frame<'_>) -> Result<()> {
    let operands = || step.operands.iter().map(|operand| frame.owned(operand)).collect::<Result<Vec<_>>>();
    let number = |value: &Value<'_>| match (number::of(value), value.as_tensor()) {
        (Some(number), _) => Ok(number),
        (None, Some(tensor)) => number_of(tensor),
        (None, None) => Err(Error::new(ErrorKind::Type, format!("{} is not a number", value.type_name()))),
    };
    let first = || {
        let first =
            step.operands.first().ok_or_else(|| Error::new(ErrorKind::Argument, "an argument is missing"))?;
        frame.owned(first)
    };
    let value = match action {
        Action::Compute(function) => {
            let numbers = operands()?.iter().map(number).collect::<Result<Vec<_>>>()?;
            number::value(function.apply(&numbers).map_err(crate::refused)?)
        }
        Action::Measure(measure) => measured(*measure, &operands()?)?,
        Action::Assert(message) => {
            ensure!(number(&first()?)?.is_true(), Argument, "{message}");
            return Ok(());
        }
        Action::Within { least, most } => {
            let found = number(&first()?)?;
            let Some(found) = found.int() else { bail!(Type, "{} is not an integer", found.float()) };
            let is_within = least.is_none_or(|least| least <= found) && most.is_none_or(|most| found <= most);
            ensure!(is_within, Argument, "{found} is out of range, expected {}", range_text(*least, *most));
            return Ok(());
        }
        Action::Item => number::value(number(&first()?)?),
        Action::Duplicate(duplicate) => match first()?.as_tensor() {
            Some(tensor) => duplicate.run(tensor)?.into(),
            None => bail!(Type, "a value that an operator writes to is not a tensor"),
        },
        Action::OutDtype(call) => call.run(operands()?)?,
        Action::Print { format, print: operator } => {
            let operands = operands()?;
            if operands.iter().filter_map(Value::as_tensor).any(unknown::is_unknown) {
                return Ok(()); // as in PyTorch, there is nothing to show
            }
            let text = format.text(&operands)?;
            return operator.call_boxed(&mut Stack::from_iter([Value::from(text)]));
        }
        Action::Batch(batching) => {
            let operands = operands()?;
            match batching.run(&operands, &mut frame.levels)? {
                Some(tensor) => tensor.into(),
                None => return Ok(()),
            }
        }
        Action::Nothing => return Ok(()),
        Action::Missing | Action::Call(_) | Action::Region(_) => {
            bail!(NotSupported, "{} is not available in this program", step.place.target)
        }
    };
    match step.targets.first() {
        Some(target) => frame.store(target, value),
        None => Ok(()),
    }
}

/// A range of numbers, for people.
fn range_text(least: Option<i64>, most: Option<i64>) -> String {
    match (least, most) {
        (Some(least), Some(most)) => format!("{least} to {most}"),
        (Some(least), None) => format!("{least} or more"),
        (None, Some(most)) => format!("at most {most}"),
        (None, None) => "any number".to_owned(),
    }
}

fn measured(measure: Measure, operands: &[Value<'_>]) -> Result<Value<'static>> {
    let Some(tensor) = operands.first().and_then(Value::as_tensor) else {
        bail!(Type, "expected a tensor whose sizes or strides are asked for")
    };
    let dim = || match operands.get(1) {
        Some(Value::Int(dim)) => {
            let place = if *dim < 0 { dim + tensor.dim() as i64 } else { *dim };
            usize::try_from(place).ok().filter(|place| *place < tensor.dim()).ok_or_else(|| {
                Error::new(
                    ErrorKind::Shape,
                    format!("a tensor of {} dimensions has no dimension {dim}", tensor.dim()),
                )
            })
        }
        _ => bail!(Type, "the dimension is not a number"),
    };
    Ok(Value::Int(match measure {
        Measure::Size => tensor.sizes()[dim()?],
        Measure::Stride => tensor.strides()[dim()?],
        Measure::Numel => tensor.numel(),
        Measure::Offset => tensor.storage_offset(),
    }))
}

/// Runs a step with nested steps.
fn region<W: Watch>(step: &Step, region: &Region, frame: &mut Frame<'_>, watch: &mut W) -> Result<()> {
    let results = match region {
        Region::Cond { yes, no } => branch(&frame.owned(&step.operands[0])?, [yes, no], frame, watch)?,
        Region::While { condition, body, carried, results } => {
            let start = step.operands.iter().map(|operand| frame.owned(operand));
            let start = start.collect::<Result<Vec<_>>>()?;
            put(carried, start, frame);
            match results {
                Results::Last { clone } => last([condition, body], carried, *clone, frame, watch)?,
                Results::All(by) => all([condition, body], carried, by, frame, watch)?,
            }
        }
        Region::Map { body, rows, by } => {
            let columns = columns(step, 0, frame)?;
            let results = each_row(body, &columns, rows, by, frame, watch, &[])?;
            results.iter().map(|results| stacked(by, results)).collect::<Result<Vec<_>>>()?
        }
        Region::Scan { body, carried, rows, by } => {
            let start = step.operands[..carried.len()].iter().map(|operand| frame.owned(operand));
            let start = start.collect::<Result<Vec<_>>>()?;
            put(carried, start, frame);
            let columns = columns(step, carried.len(), frame)?;
            let results = each_row(body, &columns, rows, by, frame, watch, carried)?;
            let last = taken(carried, frame).into_iter().map(Ok);
            last.chain(results.iter().map(|results| stacked(by, results))).collect::<Result<Vec<_>>>()?
        }
        Region::Associative { body, left, right, by } => {
            let columns = columns(step, 0, frame)?;
            by.scan(columns, &mut |before, after| {
                combined(body, [(left, before), (right, after)], frame, watch)
            })?
            .into_iter()
            .map(Value::from)
            .collect()
        }
        Region::Grad { enabled: true, body } => guard::enable_grad(|| whole(body, frame, watch))?,
        Region::Grad { enabled: false, body } => guard::no_grad(|| whole(body, frame, watch))?,
        Region::Autocast { region, body } => region.run(|| whole(body, frame, watch))?,
        Region::Plain(body) => whole(body, frame, watch)?,
    };
    step.targets.iter().zip(results).try_for_each(|(target, value)| frame.store(target, value))
}

/// Runs a block, and returns its results, which its slots do not keep.
fn whole<W: Watch>(inner: &Block, frame: &mut Frame<'_>, watch: &mut W) -> Result<Vec<Value<'static>>> {
    block(inner, frame, watch)?;
    let results = inner.results.iter().map(|result| frame.owned(result)).collect();
    clear(&inner.held, frame);
    results
}

/// Runs the block that a condition chooses. If nobody can say which one that is, both run, and have to agree.
fn branch<W: Watch>(
    condition: &Value<'_>,
    [yes, no]: [&Block; 2],
    frame: &mut Frame<'_>,
    watch: &mut W,
) -> Result<Vec<Value<'static>>> {
    match holds(condition)? {
        Some(true) => whole(yes, frame, watch),
        Some(false) => whole(no, frame, watch),
        None => {
            let (results, others) = (whole(yes, frame, watch)?, whole(no, frame, watch)?);
            unknown::agree("the branches", &results, &others)?;
            Ok(results)
        }
    }
}

/// Runs the body while the condition holds, passes what each iteration made to `each`, and returns what the last one
/// made, and whether there was one. If nobody can say whether the condition holds, and so neither whether there is one,
/// the body runs once more, and what it makes has to agree with what it is given.
fn repeated<W: Watch>(
    [condition, body]: [&Block; 2],
    carried: &[u32],
    frame: &mut Frame<'_>,
    watch: &mut W,
    mut each: impl FnMut(&[Value<'static>]) -> Result<()>,
) -> Result<(Vec<Value<'static>>, Option<bool>)> {
    let mut has_run = false;
    loop {
        let holds = match whole(condition, frame, watch)?.first() {
            Some(condition) => holds(condition)?,
            None => bail!(Type, "the condition of a loop is nothing"),
        };
        if holds == Some(false) {
            return Ok((taken(carried, frame), Some(has_run)));
        }
        let next = whole(body, frame, watch)?;
        each(&next)?;
        if holds.is_none() {
            unknown::agree("two iterations", &taken(carried, frame), &next)?;
            return Ok((next, None));
        }
        put(carried, next, frame);
        has_run = true;
    }
}

/// What the last iteration of a loop made.
fn last<W: Watch>(
    blocks: [&Block; 2],
    carried: &[u32],
    clone: OperatorHandle,
    frame: &mut Frame<'_>,
    watch: &mut W,
) -> Result<Vec<Value<'static>>> {
    let (last, has_run) = repeated(blocks, carried, frame, watch, |_| Ok(()))?;
    // A later step may write to a result, which must not change what the loop began with.
    match has_run {
        Some(false) => last.into_iter().map(|value| copied(clone, value)).collect(),
        Some(true) | None => Ok(last),
    }
}

/// What all iterations of a loop made, stacked.
fn all<W: Watch>(
    blocks: [&Block; 2],
    carried: &[u32],
    by: &Rows,
    frame: &mut Frame<'_>,
    watch: &mut W,
) -> Result<Vec<Value<'static>>> {
    let mut columns: Vec<Vec<Tensor>> = vec![Vec::new(); carried.len()];
    let mut add = |values: &[Value<'static>]| {
        for (column, value) in columns.iter_mut().zip(values) {
            let Some(tensor) = value.as_tensor() else {
                bail!(Type, "a loop is to stack a {}, not a tensor", value.type_name())
            };
            column.push(tensor.clone());
        }
        Ok(())
    };
    let (start, has_run) = repeated(blocks, carried, frame, watch, &mut add)?;
    match has_run {
        Some(false) => add(&start)?,
        Some(true) => {}
        None => return Err(unknown::count()),
    }
    columns.iter().map(|column| stacked(by, column)).collect()
}

/// A copy of a tensor; any other value is itself.
fn copied(clone: OperatorHandle, value: Value<'static>) -> Result<Value<'static>> {
    if value.as_tensor().is_none() {
        return Ok(value);
    }
    let mut stack = Stack::from_iter([value, Value::None]);
    clone.call_boxed(&mut stack)?;
    Ok(stack.pop().map_or(Value::None, Value::into_owned))
}

/// Whether a condition holds; `None` if it is a tensor without elements, so that nobody knows.
fn holds(condition: &Value<'_>) -> Result<Option<bool>> {
    match (number::of(condition), condition.as_tensor()) {
        (Some(number), _) => Ok(Some(number.is_true())),
        (None, Some(tensor)) if unknown::is_unknown(tensor) => Ok(None),
        (None, Some(tensor)) => Ok(Some(number_of(tensor)?.is_true())),
        (None, None) => {
            bail!(Type, "a condition is {}, expected a number or a tensor", condition.type_name())
        }
    }
}

fn put(slots: &[u32], values: Vec<Value<'static>>, frame: &mut Frame<'_>) {
    for (slot, value) in slots.iter().zip(values) {
        frame.slots[*slot as usize] = value;
    }
}

/// Moves values out of their slots.
fn taken(slots: &[u32], frame: &mut Frame<'_>) -> Vec<Value<'static>> {
    slots.iter().map(|slot| std::mem::replace(&mut frame.slots[*slot as usize], Value::None)).collect()
}

fn clear(slots: &[u32], frame: &mut Frame<'_>) {
    for slot in slots {
        frame.slots[*slot as usize] = Value::None;
    }
}

/// The tensors whose rows a loop iterates over.
fn columns(step: &Step, from: usize, frame: &Frame<'_>) -> Result<Vec<Tensor>> {
    let values = step.operands[from..].iter().map(|operand| {
        frame
            .owned(operand)?
            .as_tensor()
            .cloned()
            .ok_or_else(|| Error::new(ErrorKind::Type, "expected tensors to take rows of"))
    });
    values.collect()
}

/// Runs a body for each row. Its first results go into `carried`; each other result is collected in a list.
fn each_row<W: Watch>(
    body: &Block,
    columns: &[Tensor],
    rows: &[u32],
    by: &Rows,
    frame: &mut Frame<'_>,
    watch: &mut W,
    carried: &[u32],
) -> Result<Vec<Vec<Tensor>>> {
    let count = columns.first().map_or(Ok(0), |column| column.size(0))?;
    ensure!(count > 0, Shape, "there are no rows to iterate over");
    for column in columns {
        let found = column.size(0)?;
        ensure!(found == count, Shape, "a loop over {count} rows of one tensor and {found} of another");
    }
    let mut results: Vec<Vec<Tensor>> = vec![Vec::new(); body.results.len().saturating_sub(carried.len())];
    for row in 0..count {
        for (slot, column) in rows.iter().zip(columns) {
            let mut stack = Stack::from_iter([Value::TensorRef(column), Value::Int(0), Value::Int(row)]);
            by.select.call_boxed(&mut stack)?;
            frame.slots[*slot as usize] = stack.pop().map_or(Value::None, Value::into_owned);
        }
        let mut values = whole(body, frame, watch)?;
        let others = values.split_off(carried.len().min(values.len()));
        put(carried, values, frame);
        for (list, value) in results.iter_mut().zip(others) {
            match value {
                Value::Tensor(tensor) => list.push(tensor),
                other => bail!(Type, "a row's result is {}, not a tensor", other.type_name()),
            }
        }
    }
    clear(rows, frame); // the last rows keep the memory of the whole columns
    Ok(results)
}

/// What the function of an associative scan makes of two operands, which are put into their slots.
fn combined<W: Watch>(
    body: &Block,
    operands: [(&[u32], Vec<Tensor>); 2],
    frame: &mut Frame<'_>,
    watch: &mut W,
) -> Result<Vec<Tensor>> {
    let slots = [operands[0].0, operands[1].0];
    for (slots, tensors) in operands {
        put(slots, tensors.into_iter().map(Value::from).collect(), frame);
    }
    let results = whole(body, frame, watch)?;
    slots.iter().for_each(|slots| clear(slots, frame));
    let tensors = results.into_iter().map(|result| match result {
        Value::Tensor(tensor) => Ok(tensor),
        other => bail!(Type, "a scan combines rows to {}, not to a tensor", other.type_name()),
    });
    tensors.collect()
}

fn stacked(by: &Rows, rows: &[Tensor]) -> Result<Value<'static>> {
    let mut stack = Stack::from_iter([Value::from(rows), Value::Int(0)]);
    by.stack.call_boxed(&mut stack)?;
    Ok(stack.pop().map_or(Value::None, Value::into_owned))
}
