//! Operators that write, in a program without writes: `auto_functionalized` and `auto_functionalized_v2` call them on
//! copies of what they write to, and the copies are results.
//!
//! The second form copies whole bases and names the views of them that the operator gets, so that arguments which share
//! memory still do.

use std::collections::BTreeMap;

use torch_library::prelude::*;
use torch_library::schema::{Argument as Declared, Type};
use torch_library::{Dispatcher, MemoryFormat};

use crate::operand::Operand;
use crate::plan::{Action, Block, Origin, Scope, Source, Step, Target};
use crate::target;
use crate::wire::{Argument, NamedArgument};

/// Copies a tensor with its strides and its offset, which views of the copy are described by.
#[derive(Debug)]
pub(crate) struct Duplicate {
    as_strided: OperatorHandle,
    clone: OperatorHandle,
}

impl Duplicate {
    /// # Errors
    /// One of the operators is not linked.
    fn new() -> Result<Duplicate> {
        let find = |name| Dispatcher::global().find(name);
        Ok(Duplicate { as_strided: find("aten::as_strided")?, clone: find("aten::clone")? })
    }

    /// # Errors
    /// Those of the operators.
    pub(crate) fn run(&self, tensor: &Tensor) -> Result<Tensor> {
        let (offset, strides) = (tensor.storage_offset(), tensor.strides().to_vec());
        if offset == 0 && tensor.is_contiguous(MemoryFormat::Contiguous) {
            return self.cloned(tensor);
        }
        let last = tensor.sizes().iter().zip(&strides).map(|(size, stride)| (size - 1) * stride).sum::<i64>();
        let length = if tensor.numel() == 0 { 0 } else { offset + last + 1 };
        let whole = self.cloned(&self.strided(tensor, vec![length], vec![1], 0)?)?;
        self.strided(&whole, tensor.sizes().to_vec(), strides, if length == 0 { 0 } else { offset })
    }

    fn cloned(&self, tensor: &Tensor) -> Result<Tensor> {
        let mut stack = Stack::from_iter([Value::TensorRef(tensor), Value::None]);
        self.clone.call_boxed(&mut stack)?;
        stack.pop_as()
    }

    fn strided(&self, tensor: &Tensor, sizes: Vec<i64>, strides: Vec<i64>, offset: i64) -> Result<Tensor> {
        let arguments = [Value::TensorRef(tensor), sizes.into(), strides.into(), Value::Int(offset)];
        let mut stack = Stack::from_iter(arguments);
        self.as_strided.call_boxed(&mut stack)?;
        stack.pop_as()
    }
}

/// The steps for a node of `auto_functionalized`, or of `auto_functionalized_v2`, which has views.
///
/// # Errors
/// The operator is not linked, or does not take these arguments.
pub(crate) fn new(has_views: bool, given: &[NamedArgument], scope: &mut Scope<'_>) -> Result<Block> {
    let [NamedArgument { arg: Argument::AsOperator(name), .. }, given @ ..] = given else {
        bail!(NotSupported, "auto_functionalized is supported for operators only, which this is not")
    };
    let target::Target::Operator(operator) = target::Target::parse(name).map_err(crate::refused)? else {
        bail!(NotSupported, "auto_functionalized is supported for operators only, which {name:?} is not")
    };
    let operator = scope.shared.find(&operator.to_string())?;
    scope.shared.check_kernel(operator)?;
    let schema = operator.schema()?;
    let given = given.iter().map(|argument| (argument.name.as_str(), &argument.arg)).collect();
    let mut call = Functional { given, copies: Vec::new(), steps: Vec::new(), scope };
    // Of an `out` variant, PyTorch writes what a new tensor looks like, and no base.
    let is_out = has_views
        && (schema.arguments.iter().filter(|declared| declared.is_mutable()))
            .any(|declared| call.given.contains_key(format!("_{}_dtype", declared.name).as_str()));
    if has_views {
        call.copy_bases()?;
    }
    let arguments = schema.arguments.iter().map(|declared| match declared.is_mutable() {
        true if is_out => call.fresh(declared),
        true if has_views => call.viewed(declared),
        true => call.copied(declared),
        false => call.unwritten(declared),
    });
    let operands = arguments
        .collect::<Result<Vec<_>>>()
        .map_err(|error| Error::new(ErrorKind::Schema, format!("{error}\n  schema: {schema}")))?;
    if let Some(unknown) = call.given.keys().next() {
        bail!(Schema, "the operator has no argument `{}`\n  schema: {schema}", crate::shortened(unknown))
    }
    let slots: Vec<u32> = schema.returns.iter().map(|_| call.scope.shared.slot()).collect();
    let targets = slots.iter().map(|slot| Target::Slot(*slot)).collect();
    call.steps.push(step(name, Action::Call(operator), operands, targets));
    let mut results: Vec<Operand> =
        slots.into_iter().map(|slot| Operand::Borrowed(Source::Slot(slot))).collect();
    if results.is_empty() {
        results.push(Operand::Fixed(Value::None)); // as in PyTorch, where a call without results has None
    }
    if !is_out {
        results.append(&mut call.copies);
    }
    Ok(Block::of_calls(call.steps, results))
}

fn step(target: &str, action: Action, operands: Vec<Operand>, targets: Box<[Target]>) -> Step {
    let node = target.strip_prefix("torch.ops.").unwrap_or(target).to_owned();
    let place = Box::new(Origin { node, module: String::new(), target: target.to_owned() });
    Step { action, operands: operands.into(), targets, release: Box::default(), place }
}

/// A node while its steps are made.
struct Functional<'n, 's, 'p> {
    /// The arguments that have not been used yet.
    given: BTreeMap<&'n str, &'n Argument>,
    /// What is copied: the bases, or the arguments, in the order of the results.
    copies: Vec<Operand>,
    steps: Vec<Step>,
    scope: &'s mut Scope<'p>,
}

impl<'n> Functional<'n, '_, '_> {
    fn take(&mut self, name: &str) -> Result<&'n Argument> {
        match self.given.remove(name) {
            Some(argument) => Ok(argument),
            None => bail!(Schema, "argument `{}` is missing", crate::shortened(name)),
        }
    }

    /// An argument that describes a view, as it is in the archive.
    fn described(&mut self, name: &str) -> Result<Operand> {
        Operand::of_any(self.take(name)?, self.scope)
    }

    /// Adds a step with one result.
    fn step(&mut self, target: &str, action: Action, operands: Vec<Operand>) -> Source {
        let slot = self.scope.shared.slot();
        self.steps.push(step(target, action, operands, Box::new([Target::Slot(slot)])));
        Source::Slot(slot)
    }

    fn call(&mut self, name: &str, overload: &str, operands: Vec<Operand>) -> Result<Source> {
        let dot = if overload.is_empty() { "" } else { "." };
        let operator = self.scope.shared.find(&format!("aten::{name}{dot}{overload}"))?;
        let shown = if overload.is_empty() { "default" } else { overload };
        Ok(self.step(&format!("torch.ops.aten.{name}.{shown}"), Action::Call(operator), operands))
    }

    fn copy(&mut self, source: Source) -> Result<Source> {
        let duplicate = Action::Duplicate(Duplicate::new()?);
        Ok(self.step("torch.ops.aten.clone.default", duplicate, vec![Operand::Borrowed(source)]))
    }

    /// An argument that is not written to.
    fn unwritten(&mut self, declared: &Declared) -> Result<Operand> {
        match self.given.remove(declared.name.as_str()) {
            Some(argument) => Operand::new(argument, declared, self.scope),
            None => Operand::default_of(declared),
        }
    }

    /// A copy of an argument that is written to.
    fn copied(&mut self, declared: &Declared) -> Result<Operand> {
        let copied = match self.described(&declared.name)? {
            Operand::Borrowed(source) => Operand::Borrowed(self.copy(source)?),
            Operand::Tensors(list) => {
                let copies = list.iter().map(|source| self.copy(*source));
                Operand::Tensors(copies.collect::<Result<_>>()?)
            }
            Operand::Fixed(none) if none.is_none() => Operand::Fixed(none),
            _ => bail!(NotSupported, "argument `{}` is written to, but is no tensor", declared.name),
        };
        let (written, result) = match copied {
            Operand::Borrowed(source) => (Operand::Written(source), Operand::Borrowed(source)),
            Operand::Tensors(list) => (listed(&list, declared), Operand::Tensors(list)),
            _ => (Operand::Fixed(Value::None), Operand::Fixed(Value::None)),
        };
        self.copies.push(result);
        Ok(written)
    }

    fn copy_bases(&mut self) -> Result<()> {
        let bases = match self.described("_all_bases")? {
            Operand::Tensors(list) => list,
            Operand::Fixed(Value::Ints(list)) if list.is_empty() => Box::default(),
            _ => bail!(NotSupported, "the bases that auto_functionalized_v2 copies are not tensors"),
        };
        for base in bases {
            let copy = self.copy(base)?;
            self.copies.push(Operand::Borrowed(copy));
        }
        Ok(())
    }

    /// An argument that is written to, as views of the copies.
    fn viewed(&mut self, declared: &Declared) -> Result<Operand> {
        let name = &declared.name;
        if !matches!(declared.ty.without_optional(), Type::List(_)) {
            return Ok(match self.view(&format!("_{name}"))? {
                Some(source) => Operand::Written(source),
                None => Operand::Fixed(Value::None),
            });
        }
        let length = match self.take(&format!("_{name}_length"))? {
            Argument::AsInt(length) => *length,
            _ => return Ok(Operand::Fixed(Value::None)),
        };
        let views: Vec<_> =
            (0..length).map(|at| self.view(&format!("_{name}_{at}"))).collect::<Result<_>>()?;
        match views.iter().copied().collect::<Option<Vec<Source>>>() {
            Some(sources) => Ok(listed(&sources, declared)),
            None => Ok(Operand::OptionalTensors(views.into())),
        }
    }

    /// The view of a copy that arguments with this prefix describe.
    fn view(&mut self, prefix: &str) -> Result<Option<Source>> {
        let base = match self.take(&format!("{prefix}_base_index"))? {
            Argument::AsInt(base) => usize::try_from(*base).ok().and_then(|base| self.copies.get(base)),
            _ => return Ok(None),
        };
        let Some(Operand::Borrowed(base)) = base else {
            bail!(Schema, "`{prefix}_base_index` is not the number of a base")
        };
        let base = *base;
        let described = |call: &mut Self, parts: [&str; 3]| {
            let mut operands = vec![Operand::Borrowed(base)];
            for part in parts {
                operands.push(call.described(&format!("{prefix}_{part}"))?);
            }
            Ok::<_, Error>(operands)
        };
        let has = |call: &Self, part: &str| call.given.contains_key(format!("{prefix}_{part}").as_str());
        if has(self, "alias") {
            self.take(&format!("{prefix}_alias"))?;
            return self.call("alias", "", vec![Operand::Borrowed(base)]).map(Some);
        }
        if has(self, "storage_offset") {
            let operands = described(self, ["size", "stride", "storage_offset"])?;
            return self.call("as_strided", "", operands).map(Some);
        }
        if has(self, "slice_dim") {
            let mut operands = described(self, ["slice_dim", "slice_start", "slice_end"])?;
            operands.push(Operand::Fixed(Value::Int(1)));
            return self.call("slice", "Tensor", operands).map(Some);
        }
        Ok(Some(base))
    }

    /// A new tensor for an argument that the operator only writes to.
    fn fresh(&mut self, declared: &Declared) -> Result<Operand> {
        let prefix = format!("_{}", declared.name);
        let mut operands = Vec::new();
        for part in ["size", "stride", "dtype"] {
            operands.push(self.described(&format!("{prefix}_{part}"))?);
        }
        let device = self.described(&format!("{prefix}_device"))?;
        let none = || Operand::Fixed(Value::None);
        operands.extend([none(), device, none()]);
        self.call("empty_strided", "", operands).map(Operand::Written)
    }
}

/// A list of tensors for a declared argument.
fn listed(sources: &[Source], declared: &Declared) -> Operand {
    match declared.ty.without_optional() {
        Type::List(element) if matches!(**element, Type::Optional(_)) => {
            Operand::OptionalTensors(sources.iter().map(|source| Some(*source)).collect())
        }
        _ => Operand::Tensors(sources.into()),
    }
}
