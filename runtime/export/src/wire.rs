//! What stands in an archive's JSON: PyTorch's `torch/_export/serde/schema.py`, which has these names.
//!
//! A union is an object with one member, hence an enumeration as serde has them by default. What is not needed is left
//! out, and ignored where it stands.
#![expect(clippy::enum_variant_names, reason = "the names are the archive's")]

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};

#[derive(Deserialize)]
pub(crate) struct ExportedProgram {
    pub(crate) graph_module: GraphModule,
    #[serde(default)]
    pub(crate) range_constraints: BTreeMap<String, RangeConstraint>,
    #[serde(default)]
    pub(crate) torch_version: String,
    #[serde(default)]
    pub(crate) guards_code: Vec<String>,
}

/// Read before the rest: of another version the rest may look otherwise.
#[derive(Deserialize)]
pub(crate) struct Versioned {
    pub(crate) schema_version: SchemaVersion,
    #[serde(default)]
    pub(crate) torch_version: String,
}

#[derive(Deserialize)]
pub(crate) struct SchemaVersion {
    pub(crate) major: u64,
    pub(crate) minor: u64,
}

#[derive(Deserialize)]
pub(crate) struct RangeConstraint {
    pub(crate) min_val: Option<i64>,
    pub(crate) max_val: Option<i64>,
}

#[derive(Deserialize)]
pub(crate) struct GraphModule {
    pub(crate) graph: Graph,
    pub(crate) signature: GraphSignature,
    #[serde(default)]
    pub(crate) module_call_graph: Vec<ModuleCallEntry>,
}

#[derive(Deserialize)]
pub(crate) struct ModuleCallEntry {
    pub(crate) fqn: String,
    pub(crate) signature: Option<ModuleCallSignature>,
}

#[derive(Deserialize)]
pub(crate) struct ModuleCallSignature {
    pub(crate) in_spec: String,
    pub(crate) out_spec: String,
    pub(crate) forward_arg_names: Option<Vec<String>>,
}

#[derive(Deserialize)]
pub(crate) struct Graph {
    pub(crate) inputs: Vec<Argument>,
    pub(crate) outputs: Vec<Argument>,
    pub(crate) nodes: Vec<Node>,
    #[serde(default)]
    pub(crate) tensor_values: HashMap<String, TensorMeta>,
    #[serde(default)]
    pub(crate) sym_int_values: HashMap<String, SymInt>,
}

#[derive(Deserialize)]
pub(crate) struct Node {
    pub(crate) target: String,
    pub(crate) inputs: Vec<NamedArgument>,
    pub(crate) outputs: Vec<Argument>,
    #[serde(default)]
    pub(crate) metadata: HashMap<String, String>,
    pub(crate) name: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct NamedArgument {
    pub(crate) name: String,
    pub(crate) arg: Argument,
}

#[derive(Deserialize)]
pub(crate) struct TensorMeta {
    pub(crate) dtype: u64,
    pub(crate) sizes: Vec<SymInt>,
    pub(crate) strides: Vec<SymInt>,
    pub(crate) storage_offset: SymInt,
    pub(crate) layout: u64,
}

#[derive(Deserialize)]
pub(crate) struct Device {
    #[serde(rename = "type")]
    pub(crate) kind: String,
}

#[derive(Deserialize)]
pub(crate) struct SymExpr {
    pub(crate) expr_str: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SymInt {
    AsExpr(SymExpr),
    AsInt(i64),
}

#[derive(Deserialize)]
pub(crate) struct Named {
    pub(crate) name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SymIntArgument {
    AsName(String),
    AsInt(i64),
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SymFloatArgument {
    AsName(String),
    AsFloat(Float),
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SymBoolArgument {
    AsName(String),
    AsBool(bool),
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OptionalTensor {
    AsTensor(Named),
    AsNone(#[expect(dead_code, reason = "that it stands there is all")] bool),
}

#[derive(Deserialize)]
pub(crate) struct GraphArgument {
    pub(crate) graph: Graph,
}

#[derive(Deserialize)]
pub(crate) struct CustomObject {
    pub(crate) class_fqn: String,
}

#[derive(Deserialize)]
pub(crate) struct Complex {
    pub(crate) real: Float,
    pub(crate) imag: Float,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Argument {
    AsNone(#[expect(dead_code, reason = "that it stands there is all")] bool),
    AsTensor(Named),
    AsTensors(Vec<Named>),
    AsInt(i64),
    AsInts(Vec<i64>),
    AsFloat(Float),
    AsFloats(Vec<Float>),
    AsString(String),
    AsStrings(Vec<String>),
    AsSymInt(SymIntArgument),
    AsSymInts(Vec<SymIntArgument>),
    AsScalarType(u64),
    AsMemoryFormat(u64),
    AsLayout(u64),
    AsDevice(Device),
    AsBool(bool),
    AsBools(Vec<bool>),
    AsSymBool(SymBoolArgument),
    AsSymBools(Vec<SymBoolArgument>),
    AsGraph(Box<GraphArgument>),
    AsOptionalTensors(Vec<OptionalTensor>),
    AsCustomObj(CustomObject),
    AsOperator(String),
    AsSymFloat(SymFloatArgument),
    AsSymFloats(Vec<SymFloatArgument>),
    AsOptionalTensor(OptionalTensor),
    AsComplex(Complex),
    AsNestedTensors(Vec<Vec<Named>>),
    AsIntLists(Vec<Vec<i64>>),
    AsStringToArgument(HashMap<String, Argument>),
    AsFloatLists(Vec<Vec<Float>>),
}

#[derive(Deserialize)]
pub(crate) struct GraphSignature {
    pub(crate) input_specs: Vec<InputSpec>,
    pub(crate) output_specs: Vec<OutputSpec>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum InputSpec {
    UserInput { arg: Argument },
    Parameter { arg: Named, parameter_name: String },
    Buffer { arg: Named, buffer_name: String },
    TensorConstant { arg: Named, tensor_constant_name: String },
    CustomObj { custom_obj_name: String },
    Token { arg: Named },
    ConstantInput {},
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OutputSpec {
    UserOutput {},
    LossOutput {},
    BufferMutation { buffer_name: String },
    ParameterMutation { parameter_name: String },
    GradientToParameter { parameter_name: String },
    GradientToUserInput { user_input_name: String },
    UserInputMutation { user_input_name: String },
    Token {},
}

#[derive(Deserialize)]
pub(crate) struct PayloadConfig {
    pub(crate) config: BTreeMap<String, PayloadMeta>,
}

#[derive(Deserialize)]
pub(crate) struct PayloadMeta {
    pub(crate) path_name: String,
    #[serde(default)]
    pub(crate) use_pickle: bool,
    pub(crate) tensor_meta: Option<TensorMeta>,
}

/// A float, which JSON has no word for where it is not finite.
#[derive(Clone, Copy)]
pub(crate) struct Float(pub(crate) f64);

impl<'de> Deserialize<'de> for Float {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FloatVisitor)
    }
}

struct FloatVisitor;

impl Visitor<'_> for FloatVisitor {
    type Value = Float;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, \"Infinity\", \"-Infinity\" or \"NaN\"")
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Float, E> {
        Ok(Float(number))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Float, E> {
        Ok(Float(number as f64))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Float, E> {
        Ok(Float(number as f64))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Float, E> {
        match text {
            "Infinity" => Ok(Float(f64::INFINITY)),
            "-Infinity" => Ok(Float(f64::NEG_INFINITY)),
            "NaN" => Ok(Float(f64::NAN)),
            other => Err(E::custom(format_args!("{other:?} is no number"))),
        }
    }
}
