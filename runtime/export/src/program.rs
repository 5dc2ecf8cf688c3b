//! Programs: archives that were read and are ready to run.

use std::collections::{BTreeSet, HashMap, HashSet};

use torch_library::prelude::*;
use torch_library::{Device, Dispatcher, backend};

use crate::conditions::{Conditions, Names};
use crate::constant::{self, Leaves};
use crate::device::Moves;
use crate::fold::Folding;
use crate::operand::Operand;
use crate::plan::{Block, Problem, Scope, Shared, Source};
use crate::profile::Profile;
use crate::refused;
use crate::run::{self, Frame, Nobody, Watch};
use crate::signature::{Input, Kind, Output, Role, Weight, WeightKind};
use crate::tree::Tree;
use crate::weights::Weights;
use crate::wire::{
    Argument, ExportedProgram, Graph, InputSpec, ModuleCallSignature, OutputSpec, SymFloatArgument,
    SymIntArgument,
};

/// A program that PyTorch exported.
///
/// Several threads may run it at the same time, unless it writes to its buffers: then concurrent runs may fail with an
/// error of the kind `Busy`.
///
/// [`Display`](std::fmt::Display) lists the inputs, outputs, weights and operators.
///
/// PyTorch: `torch.export.ExportedProgram`.
#[derive(Debug)]
pub struct Program {
    pub(crate) block: Block,
    pub(crate) slots: u32,
    tensors: Vec<Tensor>,
    pub(crate) weights: Vec<Weight>,
    pub(crate) inputs: Vec<Input>,
    pub(crate) leaves: Leaves,
    pub(crate) outputs: Vec<Output>,
    /// What to do with each output of the graph.
    fates: Vec<Fate>,
    conditions: Conditions,
    problems: Vec<Problem>,
    input_tree: Option<Tree>,
    output_tree: Option<Tree>,
    pub(crate) torch_version: String,
    pub(crate) schema_version: String,
    /// `aten::copy_`, if outputs are written back.
    copy: Option<OperatorHandle>,
}

/// What to do with an output of the graph.
#[derive(Debug)]
enum Fate {
    /// It is an output of the program.
    Returned,
    /// It is the new value of this source, and is written back.
    Written(Source),
    /// It is an output of the program, and by another output the new value of this source, which is returned once it
    /// is written.
    InPlace(Source),
    /// It is dropped.
    Dropped,
}

impl Program {
    /// The inputs: nested arguments flattened, without constants.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// All arguments of `forward`, flattened: the inputs, and between them the constants, which are of the kind
    /// [`Kind::Constant`]. [`run_values`](Self::run_values) takes the values of either.
    pub fn arguments(&self) -> &[Input] {
        &self.leaves.arguments
    }

    /// The value that the argument with this name or path always has: the exporter made it part of the program, as it
    /// was no tensor. `None` if there is no such argument, or if it is an input.
    pub fn constant(&self, name: &str) -> Option<&Value<'static>> {
        self.leaves.constant(name)
    }

    /// The outputs, nested results flattened.
    pub fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    /// Parameters, buffers and constants.
    pub fn weights(&self) -> &[Weight] {
        &self.weights
    }

    /// The weight with this name in the model: `features.0.weight`.
    pub fn weight(&self, name: &str) -> Option<&Tensor> {
        self.weights.iter().find(|weight| weight.name == name).map(|weight| &weight.tensor)
    }

    /// The nesting of the arguments of `forward`, positional ones and keywords; constants are leaves, too.
    pub fn input_tree(&self) -> Option<&Tree> {
        self.input_tree.as_ref()
    }

    /// The nesting of the results of `forward`.
    pub fn output_tree(&self) -> Option<&Tree> {
        self.output_tree.as_ref()
    }

    /// The reasons why the program cannot run: operators that are not linked, and arguments that they do not take.
    /// Empty if it can run.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The version of PyTorch that exported it.
    pub fn torch_version(&self) -> &str {
        &self.torch_version
    }

    /// Runs the program. Results that are not tensors (numbers and `None`) are left out;
    /// [`run_values`](Self::run_values) returns all results.
    ///
    /// The program may write to its inputs, if the exported model does, and to its buffers, which keep their values
    /// between runs.
    ///
    /// # Errors
    /// [Problems](Self::problems); inputs of other types or sizes than the program was exported for, or that one of its
    /// guards refuses; errors of its operators.
    pub fn run(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
        let inputs = inputs.iter().cloned().map(Value::Tensor).collect();
        let values = self.execute(inputs, &self.tensors, &mut Nobody)?;
        Ok(values
            .into_iter()
            .filter_map(|value| if let Value::Tensor(tensor) = value { Some(tensor) } else { None })
            .collect())
    }

    /// Runs the program with inputs that may be numbers, and returns all results. The values are those of the
    /// [inputs](Self::inputs), or those of all [arguments](Self::arguments), constants included.
    ///
    /// # Errors
    /// The errors of [`run`](Self::run); a constant has another value.
    pub fn run_values<'v>(&self, inputs: impl IntoIterator<Item = Value<'v>>) -> Result<Vec<Value<'static>>> {
        self.execute(inputs.into_iter().map(Value::into_owned).collect(), &self.tensors, &mut Nobody)
    }

    /// Runs the program `runs` times, and returns the time of each operator. A run ends when its results are available;
    /// on an asynchronous device, the time of an operator is that of queuing it.
    ///
    /// # Errors
    /// The errors of [`run`](Self::run).
    pub fn profile(&self, inputs: &[Tensor], runs: u32) -> Result<Profile> {
        self.profile_values(&inputs.iter().map(Value::from).collect::<Vec<_>>(), runs)
    }

    /// [`profile`](Self::profile) with inputs that may be numbers.
    ///
    /// # Errors
    /// The errors of [`run`](Self::run).
    pub fn profile_values(&self, inputs: &[Value<'_>], runs: u32) -> Result<Profile> {
        self.profile_with(&self.tensors, inputs, runs)
    }

    pub(crate) fn execute<W: Watch>(
        &self,
        inputs: Vec<Value<'static>>,
        weights: &[Tensor],
        watch: &mut W,
    ) -> Result<Vec<Value<'static>>> {
        self.complete()?;
        let inputs = self.leaves.inputs(inputs)?;
        self.conditions.check(&inputs, self.leaves.arguments.len())?;
        let mut frame = Frame::new(self.slots, inputs.into_iter(), weights);
        run::block(&self.block, &mut frame, watch)?;
        let outputs = || self.block.results.iter().zip(&self.fates);
        for (operand, fate) in outputs() {
            if let Fate::Written(to) = fate {
                self.write_back(*to, frame.owned(operand)?, &frame)?;
            }
        }
        let mut results = Vec::with_capacity(self.outputs.len());
        for (operand, fate) in outputs() {
            match fate {
                Fate::Returned => results.push(frame.owned(operand)?),
                Fate::InPlace(source) => results.push(frame.value(*source).into_owned()),
                Fate::Written(_) | Fate::Dropped => {}
            }
        }
        Ok(results)
    }

    /// Copies a value that a functional program computed to the tensor that it replaces.
    fn write_back(&self, to: Source, value: Value<'static>, frame: &Frame<'_>) -> Result<()> {
        let Some(copy) = self.copy else { bail!(Internal, "there is no operator to copy with") };
        let mut stack = Stack::from_iter([frame.value(to).into_owned(), value, Value::Bool(false)]);
        copy.call_boxed(&mut stack).map_err(|error| error.context("writing a result back"))
    }

    /// Checks that there are no problems.
    ///
    /// # Errors
    /// The problems.
    pub(crate) fn complete(&self) -> Result<()> {
        if self.problems.is_empty() { Ok(()) } else { Err(self.incomplete()) }
    }

    #[cold]
    fn incomplete(&self) -> Error {
        let list: Vec<_> = self.problems.iter().map(Problem::to_string).collect();
        Error::new(ErrorKind::NotSupported, format!("the program cannot run here:\n{}", list.join("\n")))
    }
}

/// A program that is being built.
pub(crate) struct Builder {
    exported: ExportedProgram,
    shared: Shared,
    conditions: Conditions,
    weights: Vec<Weight>,
    inputs: Vec<Input>,
    leaves: Leaves,
    schema_version: String,
    folds_batch_norm: bool,
    moves: Moves,
    /// The names of the inputs so far.
    known: HashSet<String>,
}

impl Builder {
    pub(crate) fn new(
        exported: ExportedProgram,
        schema_version: String,
        device: Device,
        folds_batch_norm: bool,
    ) -> Builder {
        let conditions = Conditions::new(&exported.range_constraints);
        let shared = Shared::new(device, &exported.graph_module.graph);
        let (weights, inputs, leaves) = (Vec::new(), Vec::new(), Leaves::default());
        let (moves, known) = (Moves::to(device), HashSet::new());
        Builder {
            exported,
            shared,
            conditions,
            weights,
            inputs,
            leaves,
            schema_version,
            folds_batch_norm,
            moves,
            known,
        }
    }

    pub(crate) fn build(mut self, mut weights: Weights) -> Result<Program> {
        let call = self.call()?;
        let mut names = self.take_inputs(&mut weights, call.as_ref())?;
        if self.folds_batch_norm {
            let module = &mut self.exported.graph_module;
            let folding = Folding { graph: &mut module.graph, names: &mut names, weights: &mut self.weights };
            folding.run(&module.signature.output_specs)?;
        }
        let mut scope = Scope::new(&mut self.shared);
        for (name, source) in &names {
            scope.define(name, *source)?;
        }
        let mut block = scope.block(&self.exported.graph_module.graph)?;
        let (outputs, mut fates) = self.take_outputs(&names, call.as_ref())?;
        return_in_place(&mut fates, &block.results);
        let written = fates.iter().filter_map(|fate| match fate {
            Fate::Written(Source::Slot(slot)) => Some(*slot),
            _ => None,
        });
        block.keep(&written.collect());
        let writes = fates.iter().any(|fate| matches!(fate, Fate::Written(_)));
        let copy = if writes { Some(Dispatcher::global().find("aten::copy_")?) } else { None };
        let (input_tree, output_tree) = call.map(|call| (call.inputs, call.outputs)).unzip();
        Ok(Program {
            block,
            slots: self.shared.slots,
            tensors: self.weights.iter().map(|weight| weight.tensor.clone()).collect(),
            weights: self.weights,
            inputs: self.inputs,
            leaves: self.leaves,
            outputs,
            fates,
            conditions: self.conditions,
            problems: self.shared.problems,
            input_tree,
            output_tree,
            torch_version: self.exported.torch_version,
            schema_version: self.schema_version,
            copy,
        })
    }

    /// The calling convention of `forward`.
    fn call(&self) -> Result<Option<Call>> {
        let entries = &self.exported.graph_module.module_call_graph;
        let signature =
            entries.iter().find(|entry| entry.fqn.is_empty()).and_then(|entry| entry.signature.as_ref());
        signature.map(Call::new).transpose()
    }

    /// Divides the inputs of the graph into those that callers pass, which come first in the slots, and those from the
    /// archive.
    fn take_inputs(&mut self, weights: &mut Weights, call: Option<&Call>) -> Result<Vec<(String, Source)>> {
        let specs = std::mem::take(&mut self.exported.graph_module.signature.input_specs);
        let mut paths = call.map(|call| call.paths.clone()).unwrap_or_default().into_iter();
        let (mut names, mut leaves, mut tokens) = (Vec::new(), Vec::new(), Vec::new());
        for spec in &specs {
            match spec {
                InputSpec::UserInput { arg } => {
                    let path = paths.next();
                    let input = self.take_input(arg, path)?;
                    leaves.push(input.as_ref().map(|_| self.inputs.len() - 1));
                    names.extend(input.map(|name| (name, Source::Slot(self.shared.slot()))));
                }
                InputSpec::ConstantInput { name, value } => {
                    self.leaves.push_constant(name, paths.next(), constant::of(value));
                    leaves.push(None);
                }
                InputSpec::Parameter { arg, parameter_name } => {
                    names.push((
                        arg.name.clone(),
                        self.weight(weights, parameter_name, WeightKind::Parameter)?,
                    ));
                }
                InputSpec::Buffer { arg, buffer_name } => {
                    names.push((arg.name.clone(), self.weight(weights, buffer_name, WeightKind::Buffer)?));
                }
                InputSpec::TensorConstant { arg, tensor_constant_name } => {
                    let source = self.weight(weights, tensor_constant_name, WeightKind::Constant)?;
                    names.push((arg.name.clone(), source));
                }
                InputSpec::CustomObj { custom_obj_name } => {
                    bail!(
                        NotSupported,
                        "the program uses an object of a custom class, {:?}",
                        crate::shortened(custom_obj_name)
                    )
                }
                InputSpec::Token { arg } => tokens.push(arg.name.clone()),
            }
        }
        // Tokens have slots behind those of the inputs, and no values: steps run in the order of the program anyway.
        names.extend(tokens.into_iter().map(|token| (token, Source::Slot(self.shared.slot()))));
        self.take_guards(leaves);
        Ok(names)
    }

    /// Adds the guards. One that cannot be read is a warning: the program may be right for its inputs all the same.
    fn take_guards(&mut self, leaves: Vec<Option<usize>>) {
        let names = Names::new(self.inputs.iter().map(|input| (&*input.path, &*input.name)), leaves);
        for guard in std::mem::take(&mut self.exported.guards_code) {
            if let Err(error) = self.conditions.guard(&guard, &names) {
                torch_library::warning::warn(format_args!(
                    "guard `{}` is not checked: {error}",
                    crate::shortened(&guard)
                ));
            }
        }
    }

    fn take_input(&mut self, argument: &Argument, path: Option<String>) -> Result<Option<String>> {
        let graph = &self.exported.graph_module.graph;
        let (name, kind) = match argument {
            Argument::AsTensor(tensor) => {
                // Checked first, because each input has a copy of its description.
                ensure!(
                    self.known.insert(tensor.name.clone()),
                    Argument,
                    "the program has two inputs with the name {:?}",
                    crate::shortened(&tensor.name)
                );
                let Some(meta) = graph.tensor_values.get(&tensor.name) else {
                    bail!(
                        Argument,
                        "the archive does not describe input {:?}",
                        crate::shortened(&tensor.name)
                    )
                };
                self.conditions.tensor(&tensor.name, meta)?;
                (&tensor.name, self.conditions.kind(meta)?)
            }
            Argument::AsSymInt(SymIntArgument::AsName(name)) => {
                self.conditions.number(name, graph.sym_int_values.get(name))?;
                (name, Kind::Number)
            }
            Argument::AsSymFloat(SymFloatArgument::AsName(name)) => {
                self.conditions.number(name, None)?;
                (name, Kind::Number)
            }
            Argument::AsCustomObj(object) => {
                bail!(
                    NotSupported,
                    "an input is an object of the class {:?}",
                    crate::shortened(&object.class_fqn)
                )
            }
            argument => {
                let Some(value) = constant::of_argument(argument) else {
                    bail!(NotSupported, "an input is neither a tensor nor a number")
                };
                let name = path.clone().unwrap_or_default();
                self.leaves.push_constant(&name, path, value);
                return Ok(None);
            }
        };
        let path = path.unwrap_or_else(|| name.clone());
        let input = Input { name: name.clone(), path, kind };
        self.leaves.push(input.clone());
        self.inputs.push(input);
        Ok(Some(name.clone()))
    }

    fn weight(&mut self, weights: &mut Weights, name: &str, kind: WeightKind) -> Result<Source> {
        let tensor = weights.get(name)?;
        let moved = self.moves.moved(&tensor, weights.shared_part(&tensor));
        let tensor =
            moved.map_err(|error| error.context(format_args!("weight {:?}", crate::shortened(name))))?;
        let number = u32::try_from(self.weights.len())?;
        self.weights.push(Weight { name: name.to_owned(), kind, tensor });
        Ok(Source::Weight(number))
    }

    fn take_outputs(
        &mut self,
        names: &[(String, Source)],
        call: Option<&Call>,
    ) -> Result<(Vec<Output>, Vec<Fate>)> {
        let module = &self.exported.graph_module;
        let specs = &module.signature.output_specs;
        ensure!(
            specs.len() == module.graph.outputs.len(),
            Argument,
            "the graph has {} outputs, but its signature has {}",
            module.graph.outputs.len(),
            specs.len()
        );
        let mut paths = call.map(|call| call.outputs.paths()).unwrap_or_default().into_iter();
        let targets = self.targets(names);
        let (mut outputs, mut fates) = (Vec::new(), Vec::new());
        for (spec, argument) in specs.iter().zip(&module.graph.outputs) {
            let role = match spec {
                OutputSpec::UserOutput {} => Role::Result,
                OutputSpec::LossOutput {} => Role::Loss,
                OutputSpec::GradientToParameter { parameter_name: name } => {
                    Role::GradientOfParameter(name.clone())
                }
                OutputSpec::GradientToUserInput { user_input_name: name } => {
                    Role::GradientOfInput(name.clone())
                }
                other => {
                    fates.push(targets.fate(other)?);
                    continue;
                }
            };
            let path = match role {
                Role::Result | Role::Loss => paths.next().unwrap_or_default(),
                _ => String::new(),
            };
            let kind = kind_of_output(argument, &mut self.conditions, &module.graph)?;
            outputs.push(Output { path, kind, role });
            fates.push(Fate::Returned);
        }
        Ok((outputs, fates))
    }

    /// What an output can be written back to.
    fn targets(&self, names: &[(String, Source)]) -> Targets {
        let (mut weights, mut inputs) = (HashMap::new(), HashMap::new());
        for (number, weight) in (0..).zip(&self.weights) {
            weights.entry(weight.name.clone()).or_insert(Source::Weight(number));
        }
        for (name, source) in names {
            inputs.entry(name.clone()).or_insert(*source);
        }
        Targets { weights, inputs }
    }
}

/// What an output can be written back to, by name.
struct Targets {
    weights: HashMap<String, Source>,
    inputs: HashMap<String, Source>,
}

impl Targets {
    /// What to do with an output that is not the program's.
    fn fate(&self, spec: &OutputSpec) -> Result<Fate> {
        let (name, source) = match spec {
            OutputSpec::BufferMutation { buffer_name: name }
            | OutputSpec::ParameterMutation { parameter_name: name } => (name, self.weights.get(name)),
            OutputSpec::UserInputMutation { user_input_name: name } => (name, self.inputs.get(name)),
            _ => return Ok(Fate::Dropped),
        };
        match source {
            Some(source) => Ok(Fate::Written(*source)),
            None => bail!(Argument, "the graph writes to {:?}, which does not exist", crate::shortened(name)),
        }
    }
}

/// Finds the outputs that are also the new values of buffers or inputs. PyTorch returns these themselves, as the model
/// did that returned what it had written.
fn return_in_place(fates: &mut [Fate], results: &[Operand]) {
    let mut written = HashMap::new();
    for (fate, result) in fates.iter().zip(results) {
        if let (Fate::Written(to), Operand::Borrowed(value)) = (fate, result) {
            written.insert(*value, *to); // the last one, if there are several
        }
    }
    for (fate, result) in fates.iter_mut().zip(results) {
        if let (Fate::Returned, Operand::Borrowed(value)) = (&*fate, result)
            && let Some(to) = written.get(value)
        {
            *fate = Fate::InPlace(*to);
        }
    }
}

fn kind_of_output(argument: &Argument, conditions: &mut Conditions, graph: &Graph) -> Result<Kind> {
    Ok(match argument {
        Argument::AsTensor(tensor) => match graph.tensor_values.get(&tensor.name) {
            Some(meta) => conditions.kind(meta).map_err(|error| {
                error.context(format_args!("output {:?}", crate::shortened(&tensor.name)))
            })?,
            None => {
                bail!(Argument, "the archive does not describe output {:?}", crate::shortened(&tensor.name))
            }
        },
        Argument::AsSymInt(_) | Argument::AsSymFloat(_) | Argument::AsSymBool(_) => Kind::Number,
        argument => match constant::of_argument(argument) {
            Some(value) => Kind::Constant(constant::shown(&value)),
            None => bail!(NotSupported, "an output is neither a tensor nor a number"),
        },
    })
}

/// The calling convention of `forward`.
struct Call {
    inputs: Tree,
    outputs: Tree,
    /// The path of each leaf of the inputs.
    paths: Vec<String>,
}

impl Call {
    fn new(signature: &ModuleCallSignature) -> Result<Call> {
        let tree = |text| Tree::parse(text).map_err(refused);
        let (inputs, outputs) = (tree(&signature.in_spec)?, tree(&signature.out_spec)?);
        let paths = inputs.arguments(signature.forward_arg_names.as_deref().unwrap_or_default());
        Ok(Call { inputs, outputs, paths })
    }
}

/// Waits for the devices of the results.
pub(crate) fn waited(results: &[Value<'_>]) -> Result<()> {
    let devices: BTreeSet<_> = results.iter().filter_map(Value::as_tensor).map(Tensor::device).collect();
    devices.into_iter().filter(|device| *device != Device::CPU).try_for_each(backend::synchronize)
}
