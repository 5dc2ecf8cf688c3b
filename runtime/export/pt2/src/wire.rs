//! The JSON of an archive: PyTorch's `torch/_export/serde/schema.py`, which has these names.
//!
//! A union is an object with one member, which is serde's default for an enumeration. Fields that are not needed are
//! left out here, and ignored in the JSON.
#![expect(missing_docs, reason = "PyTorch's file says what they are")]

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};

#[derive(Deserialize)]
pub struct ExportedProgram {
    pub graph_module: GraphModule,
    #[serde(default)]
    pub range_constraints: BTreeMap<String, RangeConstraint>,
    #[serde(default)]
    pub torch_version: String,
    #[serde(default)]
    pub guards_code: Vec<String>,
}

/// Read first, because with another version the rest may look different.
#[derive(Deserialize)]
pub struct Versioned {
    pub schema_version: SchemaVersion,
    #[serde(default)]
    pub torch_version: String,
}

#[derive(Deserialize)]
pub struct SchemaVersion {
    pub major: u64,
    pub minor: u64,
}

#[derive(Deserialize)]
pub struct RangeConstraint {
    pub min_val: Option<i64>,
    pub max_val: Option<i64>,
}

#[derive(Deserialize)]
pub struct GraphModule {
    pub graph: Graph,
    pub signature: GraphSignature,
    #[serde(default)]
    pub module_call_graph: Vec<ModuleCallEntry>,
}

#[derive(Deserialize)]
pub struct ModuleCallEntry {
    pub fqn: String,
    pub signature: Option<ModuleCallSignature>,
}

#[derive(Deserialize)]
pub struct ModuleCallSignature {
    pub in_spec: String,
    pub out_spec: String,
    pub forward_arg_names: Option<Vec<String>>,
}

#[derive(Deserialize)]
pub struct Graph {
    pub inputs: Vec<Argument>,
    pub outputs: Vec<Argument>,
    pub nodes: Vec<Node>,
    #[serde(default)]
    pub tensor_values: HashMap<String, TensorMeta>,
    #[serde(default)]
    pub sym_int_values: HashMap<String, SymInt>,
}

#[derive(Deserialize)]
pub struct Node {
    pub target: String,
    pub inputs: Vec<NamedArgument>,
    pub outputs: Vec<Argument>,
    #[serde(default)]
    pub metadata: HashMap<String, String>,
    pub name: Option<String>,
}

#[derive(Deserialize)]
pub struct NamedArgument {
    pub name: String,
    pub arg: Argument,
}

#[derive(Deserialize)]
pub struct TensorMeta {
    pub dtype: u64,
    pub sizes: Vec<SymInt>,
    pub strides: Vec<SymInt>,
    pub storage_offset: SymInt,
    pub layout: u64,
    pub device: Option<Device>,
}

#[derive(Deserialize)]
pub struct Device {
    #[serde(rename = "type")]
    pub kind: String,
}

#[derive(Deserialize)]
pub struct SymExpr {
    pub expr_str: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SymInt {
    AsExpr(SymExpr),
    AsInt(i64),
}

#[derive(Deserialize)]
pub struct Named {
    pub name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SymIntArgument {
    AsName(String),
    AsInt(i64),
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SymFloatArgument {
    AsName(String),
    AsFloat(Float),
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SymBoolArgument {
    AsName(String),
    AsBool(bool),
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OptionalTensor {
    AsTensor(Named),
    AsNone(bool),
}

#[derive(Deserialize)]
pub struct GraphArgument {
    pub graph: Graph,
}

#[derive(Deserialize)]
pub struct CustomObject {
    pub class_fqn: String,
}

#[derive(Deserialize)]
pub struct Complex {
    pub real: Float,
    pub imag: Float,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Argument {
    AsNone(bool),
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
pub struct GraphSignature {
    pub input_specs: Vec<InputSpec>,
    pub output_specs: Vec<OutputSpec>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InputSpec {
    UserInput { arg: Argument },
    Parameter { arg: Named, parameter_name: String },
    Buffer { arg: Named, buffer_name: String },
    TensorConstant { arg: Named, tensor_constant_name: String },
    CustomObj { custom_obj_name: String },
    Token { arg: Named },
    ConstantInput { name: String, value: ConstantValue },
}

/// The value of an argument that is no tensor.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConstantValue {
    AsNone(bool),
    AsInt(i64),
    AsFloat(Float),
    AsString(String),
    AsBool(bool),
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputSpec {
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
pub struct PayloadConfig {
    pub config: BTreeMap<String, PayloadMeta>,
}

#[derive(Deserialize)]
pub struct PayloadMeta {
    pub path_name: String,
    #[serde(default)]
    pub use_pickle: bool,
    pub tensor_meta: Option<TensorMeta>,
}

/// A float; JSON has no numbers that are not finite.
#[derive(Clone, Copy)]
pub struct Float(pub f64);

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
            other => Err(E::custom(format_args!("{other:?} is not a number"))),
        }
    }
}
