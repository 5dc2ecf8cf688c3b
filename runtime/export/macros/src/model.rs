//! What the macro needs from an archive: its validity, inputs and outputs, and the operators that it calls.

use std::collections::BTreeSet;

use torch_library_pt2::archive::Archive;
use torch_library_pt2::symbols::Symbols;
use torch_library_pt2::target::{Call, OperatorName, Target};
use torch_library_pt2::tree::Tree;
use torch_library_pt2::wire::{
    Argument, ExportedProgram, Graph, InputSpec, Node, OutputSpec, SymFloatArgument, SymIntArgument,
    TensorMeta,
};
use torch_library_pt2::{Error, ErrorKind, Result, kinds};

/// The parts of an archive that the macro uses.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) torch_version: String,
    pub(crate) inputs: Vec<Input>,
    pub(crate) outputs: Vec<Output>,
    pub(crate) operators: BTreeSet<Operator>,
}

/// An input that callers pass.
#[derive(Debug, PartialEq)]
pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) ty: Type,
    /// Type and sizes, such as `float32[s0, 3]`.
    pub(crate) text: String,
}

/// An output that callers get, and its index among all outputs, including constants.
#[derive(Debug, PartialEq)]
pub(crate) struct Output {
    pub(crate) place: usize,
    pub(crate) ty: Type,
    /// Path, type and sizes, such as `['logits']: float32[s0, 10]`.
    pub(crate) text: String,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Type {
    Tensor,
    Int,
    Float,
    Bool,
}

/// An operator that has to be linked: namespace, name, overload.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Operator {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) overload: String,
}

impl Operator {
    fn new(namespace: &str, name: &str, overload: &str) -> Self {
        Operator { namespace: namespace.to_owned(), name: name.to_owned(), overload: overload.to_owned() }
    }
}

impl Model {
    /// Reads the whole archive, including the checksums of weights.
    ///
    /// # Errors
    /// The archive is damaged, of another version, or contains something that is not supported.
    pub(crate) fn read(bytes: &[u8]) -> Result<Model> {
        let archive = Archive::new(bytes)?;
        archive.verify()?;
        let model = archive.model(None)?;
        let (exported, _) = archive.program(&model)?;
        check_weights(&archive, &model, &exported)?;
        let mut symbols = Symbols::new(&exported.range_constraints);
        let mut operators = BTreeSet::new();
        collect(&exported.graph_module.graph, &mut operators)?;
        let writes = |spec: &OutputSpec| {
            matches!(
                spec,
                OutputSpec::BufferMutation { .. }
                    | OutputSpec::ParameterMutation { .. }
                    | OutputSpec::UserInputMutation { .. }
            )
        };
        if exported.graph_module.signature.output_specs.iter().any(writes) {
            operators.insert(Operator::new("aten", "copy_", "")); // for writing back
        }
        Ok(Model {
            inputs: inputs(&exported, &mut symbols)?,
            outputs: outputs(&exported, &mut symbols)?,
            torch_version: exported.torch_version,
            operators,
        })
    }
}

/// Checks that the archive has all weights that a run needs.
fn check_weights(archive: &Archive<'_>, model: &str, exported: &ExportedProgram) -> Result<()> {
    let mut payload = archive.payload("weights", model)?;
    payload.extend(archive.payload("constants", model)?);
    for spec in &exported.graph_module.signature.input_specs {
        let name = match spec {
            InputSpec::Parameter { parameter_name: name, .. }
            | InputSpec::Buffer { buffer_name: name, .. }
            | InputSpec::TensorConstant { tensor_constant_name: name, .. } => name,
            InputSpec::CustomObj { custom_obj_name: name } => {
                return Err(unsupported(format!("the program uses an object of a custom class, {name:?}")));
            }
            InputSpec::UserInput { .. } | InputSpec::ConstantInput { .. } | InputSpec::Token { .. } => {
                continue;
            }
        };
        let Some(meta) = payload.get(name) else {
            return Err(contradiction(format!("the archive has no weight {name:?}")));
        };
        if meta.use_pickle || meta.tensor_meta.is_none() {
            return Err(unsupported(format!("weight {name:?} is pickled, which only Python can read")));
        }
        let folders = ["weights", "constants"];
        let has = |folder| archive.range(&format!("data/{folder}/{}", meta.path_name)).is_some();
        if !folders.into_iter().any(has) {
            return Err(contradiction(format!("the archive has no record {:?}", meta.path_name)));
        }
    }
    Ok(())
}

/// The operators of a graph and of the graphs within it.
fn collect(graph: &Graph, operators: &mut BTreeSet<Operator>) -> Result<()> {
    for node in &graph.nodes {
        let name = node.name.as_deref().unwrap_or_default();
        let called = Call::of(node).target;
        let target = Target::parse(called)
            .map_err(|error| error.context(format_args!("node `{name}` calls `{called}`")))?;
        match target {
            Target::Operator(OperatorName { namespace, name, overload }) => {
                operators.insert(Operator::new(namespace, name, overload));
            }
            // For selecting and stacking rows.
            Target::HigherOrder("map_impl" | "scan") => {
                operators.insert(Operator::new("aten", "select", "int"));
                operators.insert(Operator::new("aten", "stack", ""));
            }
            // For the results of a loop that never runs, which are copies.
            Target::HigherOrder("while_loop") => {
                operators.insert(Operator::new("aten", "clone", ""));
            }
            // For taking rows apart, and putting them together.
            Target::HigherOrder("associative_scan") => {
                for (name, overload) in
                    [("slice", "Tensor"), ("cat", ""), ("stack", ""), ("flatten", "using_ints")]
                {
                    operators.insert(Operator::new("aten", name, overload));
                }
            }
            // For copying what the operator writes to, and for views of the copies.
            Target::HigherOrder("auto_functionalized" | "auto_functionalized_v2") => {
                for (name, overload) in [
                    ("clone", ""),
                    ("as_strided", ""),
                    ("alias", ""),
                    ("slice", "Tensor"),
                    ("empty_strided", ""),
                ] {
                    operators.insert(Operator::new("aten", name, overload));
                }
                operators.extend(first_operator(node)?);
            }
            Target::HigherOrder("print") => {
                operators.insert(Operator::new("aten", "_print", ""));
            }
            Target::HigherOrder("out_dtype") => {
                operators.insert(Operator::new("aten", "to", "dtype"));
                operators.extend(first_operator(node)?);
            }
            Target::Batch(_) => {
                for name in ["permute", "unsqueeze", "expand"] {
                    operators.insert(Operator::new("aten", name, ""));
                }
            }
            Target::HigherOrder(_) | Target::Compute(_) | Target::Own(_) => {}
        }
        for argument in &node.inputs {
            if let Argument::AsGraph(inner) = &argument.arg {
                collect(&inner.graph, operators)?;
            }
        }
    }
    Ok(())
}

/// The operator that a higher-order operator takes as its first argument.
fn first_operator(node: &Node) -> Result<Option<Operator>> {
    let Some(Argument::AsOperator(name)) = node.inputs.first().map(|input| &input.arg) else {
        return Ok(None);
    };
    Ok(match Target::parse(name)? {
        Target::Operator(OperatorName { namespace, name, overload }) => {
            Some(Operator::new(namespace, name, overload))
        }
        _ => None,
    })
}

fn inputs(exported: &ExportedProgram, symbols: &mut Symbols) -> Result<Vec<Input>> {
    let graph = &exported.graph_module.graph;
    let mut inputs = Vec::new();
    for spec in &exported.graph_module.signature.input_specs {
        let InputSpec::UserInput { arg } = spec else { continue };
        let (name, ty, text) = match arg {
            Argument::AsTensor(tensor) => {
                // A run compares the sizes of inputs, so they must be computable.
                for size in graph.tensor_values.get(&tensor.name).into_iter().flat_map(|meta| &meta.sizes) {
                    symbols.dim(size).map_err(|error| error.context(&tensor.name))?;
                }
                (&tensor.name, Type::Tensor, tensor_text(&tensor.name, graph, symbols)?)
            }
            Argument::AsSymInt(SymIntArgument::AsName(name)) => {
                let size = graph.sym_int_values.get(name).map(|size| symbols.size(size)).transpose()?;
                (name, Type::Int, size.map_or_else(|| "a number".to_owned(), |size| size.to_string()))
            }
            Argument::AsSymFloat(SymFloatArgument::AsName(name)) => {
                (name, Type::Float, "a number".to_owned())
            }
            Argument::AsCustomObj(object) => {
                return Err(unsupported(format!(
                    "an input is an object of the class {:?}",
                    object.class_fqn
                )));
            }
            _ => continue, // a constant of the export
        };
        inputs.push(Input { name: name.clone(), ty, text });
    }
    Ok(inputs)
}

fn outputs(exported: &ExportedProgram, symbols: &mut Symbols) -> Result<Vec<Output>> {
    let module = &exported.graph_module;
    let mut paths = output_paths(exported)?.into_iter();
    let (mut outputs, mut place) = (Vec::new(), 0);
    for (spec, argument) in module.signature.output_specs.iter().zip(&module.graph.outputs) {
        let name = match spec {
            OutputSpec::UserOutput {} => paths.next().unwrap_or_default(),
            OutputSpec::LossOutput {} => paths.next().map(|_| "the loss".to_owned()).unwrap_or_default(),
            OutputSpec::GradientToParameter { parameter_name: of }
            | OutputSpec::GradientToUserInput { user_input_name: of } => format!("gradient of {of}"),
            _ => continue, // written back, or only informative
        };
        let (ty, kind) = match argument {
            Argument::AsTensor(tensor) => {
                (Some(Type::Tensor), tensor_text(&tensor.name, &module.graph, symbols)?)
            }
            Argument::AsSymInt(_) => (Some(Type::Int), "a number".to_owned()),
            Argument::AsSymFloat(_) => (Some(Type::Float), "a number".to_owned()),
            Argument::AsSymBool(_) => (Some(Type::Bool), "a bool".to_owned()),
            _ => (None, String::new()), // a constant
        };
        let text = if name.is_empty() { kind } else { format!("{name}: {kind}") };
        outputs.extend(ty.map(|ty| Output { place, ty, text }));
        place += 1;
    }
    Ok(outputs)
}

/// The path of each output in Python: `['logits']`.
fn output_paths(exported: &ExportedProgram) -> Result<Vec<String>> {
    let entries = &exported.graph_module.module_call_graph;
    let signature =
        entries.iter().find(|entry| entry.fqn.is_empty()).and_then(|entry| entry.signature.as_ref());
    signature.map_or_else(|| Ok(Vec::new()), |signature| Ok(Tree::parse(&signature.out_spec)?.paths()))
}

fn tensor_text(name: &str, graph: &Graph, symbols: &mut Symbols) -> Result<String> {
    let Some(TensorMeta { dtype, sizes, .. }) = graph.tensor_values.get(name) else {
        return Err(contradiction(format!("the archive does not describe {name:?}")));
    };
    let sizes = sizes.iter().map(|size| Ok(symbols.size(size)?.to_string())).collect::<Result<Vec<_>>>()?;
    Ok(format!("{}[{}]", kinds::dtype(*dtype)?, sizes.join(", ")))
}

fn unsupported(message: String) -> Error {
    Error::new(ErrorKind::NotSupported, message)
}

fn contradiction(message: String) -> Error {
    Error::new(ErrorKind::Argument, message)
}
