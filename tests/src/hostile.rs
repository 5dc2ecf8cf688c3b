//! Calls that no reasonable program makes: any operator, with values that may or may not fit its schema, from a source of
//! choices. A test feeds it with random numbers, a fuzz target with bytes.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

use torch_library::prelude::*;
use torch_library::{
    DType, Device, Dispatcher, Generator, Layout, Library, LibraryKind, MemoryFormat, OperatorHandle,
    RuntimeKernel, Scalar, WeakTensor, element,
};
use torch_library_schema::Type;

/// Problematic sizes, dimensions and steps. None is between a few hundred and what no machine can hold.
const NUMBERS: [i64; 16] =
    [0, 1, 2, 3, 4, -1, -2, -3, -4, 7, 100, i64::MAX, i64::MIN, i64::MAX - 1, 1 << 61, -(1 << 61)];

/// Sizes of dimensions of tensors without elements: small ones, and what no machine can hold.
const LENGTHS: [i64; 6] = [0, 0, 0, 1 << 48, 1 << 61, i64::MAX];

const FLOATS: [f64; 8] = [0.0, -0.0, 1.5, -2.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300];

const DTYPES: [DType; 8] = [
    DType::Float32,
    DType::Float64,
    DType::Int64,
    DType::Int8,
    DType::UInt8,
    DType::Bool,
    DType::Float16,
    DType::Complex64,
];

/// The types of generated schemas.
const TYPES: [&str; 24] = [
    "Tensor",
    "Tensor",
    "Tensor(a!)",
    "Tensor(b)",
    "Tensor?",
    "Tensor[]",
    "Tensor(c!)[]",
    "Tensor?[]",
    "int",
    "SymInt",
    "int?",
    "int[]",
    "int[2]",
    "float",
    "float[]?",
    "bool",
    "bool[3]",
    "complex",
    "Scalar",
    "ScalarType?",
    "str",
    "Device",
    "Generator?",
    "MemoryFormat",
];

/// Makes calls, one after the other.
pub struct Hostile<'c> {
    operators: Vec<OperatorHandle>,
    /// Returns a number below its argument.
    choose: &'c mut dyn FnMut(usize) -> usize,
    tensors: Vec<WeakTensor>,
}

/// The result of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The call succeeded.
    Returned,
    /// The call returned an error.
    Refused,
}

impl<'c> Hostile<'c> {
    /// Calls these operators; `choose(n)` returns a number below `n`.
    pub fn new(operators: Vec<OperatorHandle>, choose: &'c mut dyn FnMut(usize) -> usize) -> Self {
        Hostile { operators, choose, tensors: Vec::new() }
    }

    /// Makes one call.
    ///
    /// # Errors
    /// The call panicked, kept a tensor alive, or returned an error that does not name the operator.
    pub fn call(&mut self) -> Result<Outcome, String> {
        let index = self.below(self.operators.len());
        self.call_one(self.operators[index])
    }

    fn call_one(&mut self, operator: OperatorHandle) -> Result<Outcome, String> {
        let arguments = self.arguments(operator);
        let what = format!("{} with {arguments:?}", operator.schema_text());
        let by_name = self.one_in(2);
        let call = AssertUnwindSafe(|| {
            if by_name {
                return operator.call_with(arguments, []).map(drop);
            }
            let mut stack = Stack::from_iter(arguments);
            operator.call_boxed(&mut stack)
        });
        let result = catch_unwind(call).map_err(|_| format!("panicked: {what}"))?;
        if self.tensors.drain(..).any(|tensor| tensor.upgrade().is_some()) {
            return Err(format!("kept an argument: {what}"));
        }
        let name = format!("{}::{}", operator.namespace(), operator.name());
        match result {
            Ok(()) => Ok(Outcome::Returned),
            Err(error) if error.to_string().contains(&name) => Ok(Outcome::Refused),
            Err(error) => Err(format!("does not name the operator: {what}\n{error}")),
        }
    }

    /// Declares an operator of any signature, calls it, and removes it.
    ///
    /// # Errors
    /// The same as those of [`call`](Self::call).
    pub fn declare_and_call(&mut self) -> Result<Outcome, String> {
        static EMPTY: OnceLock<&'static Dispatcher> = OnceLock::new();
        let dispatcher = EMPTY.get_or_init(Dispatcher::leak_empty);
        let types = |hostile: &mut Self, bound| -> Vec<&str> {
            (0..hostile.below(bound)).map(|_| TYPES[hostile.below(TYPES.len())]).collect()
        };
        let arguments =
            types(self, 9).iter().enumerate().map(|(i, ty)| format!("{ty} x{i}")).collect::<Vec<_>>();
        let returns = types(self, 4).join(", ");
        let name = format!("declared_{}", self.below(256));
        let schema = format!("{name}({}) -> ({returns})", arguments.join(", "));
        let mut library = Library::open(dispatcher, LibraryKind::Fragment, "hostile", None)
            .map_err(|error| error.to_string())?;
        let Ok(operator) = library.define(&schema) else { return Ok(Outcome::Refused) };
        // Pushes as many values as there are returns, which may have the wrong types.
        let kernel = RuntimeKernel::boxed(|operator, _, stack| {
            let schema = operator.schema()?;
            stack.drop_last(schema.arguments.len() / 2);
            schema.returns.iter().for_each(|_| stack.push(Value::None));
            Ok(())
        });
        library
            .implement(&name, DispatchKey::CompositeImplicitAutograd, kernel)
            .map_err(|error| error.to_string())?;
        self.call_one(operator)
    }

    fn arguments(&mut self, operator: OperatorHandle) -> Vec<Value<'static>> {
        let types: Vec<Type> = operator
            .schema()
            .map(|schema| schema.arguments.iter().map(|argument| argument.ty.clone()).collect())
            .unwrap_or_default();
        let mut values: Vec<_> = types.iter().map(|ty| self.value(ty)).collect();
        if self.one_in(16) {
            values.truncate(self.below(values.len() + 1));
        } else if self.one_in(16) {
            values.push(self.anything());
        }
        values
    }

    /// A value that usually has the given type.
    fn value(&mut self, ty: &Type) -> Value<'static> {
        if self.one_in(24) {
            return self.anything();
        }
        match ty {
            Type::Optional(_) if self.one_in(2) => Value::None,
            Type::Optional(inner) => self.value(inner),
            Type::Tensor => Value::Tensor(self.tensor()),
            Type::Int | Type::SymInt => Value::Int(self.number()),
            Type::Float => Value::Float(FLOATS[self.below(FLOATS.len())]),
            Type::Bool | Type::SymBool => Value::Bool(self.one_in(2)),
            Type::Scalar => self.scalar(),
            Type::Str => Value::Str(Cow::Borrowed(["", "floor", "trunc", "é"][self.below(4)])),
            Type::ScalarType => Value::DType(DTYPES[self.below(DTYPES.len())]),
            Type::Layout => Value::Layout(Layout::ALL[self.below(Layout::ALL.len())]),
            Type::MemoryFormat => Value::MemoryFormat(MemoryFormat::ALL[self.below(MemoryFormat::ALL.len())]),
            Type::Device => Value::Device(self.device()),
            Type::Generator => Value::Generator(Cow::Owned(Generator::with_seed(1))),
            Type::List(element) => self.list(element),
            _ => self.anything(),
        }
    }

    fn list(&mut self, element: &Type) -> Value<'static> {
        let len = self.below(4);
        match element {
            Type::Tensor => (0..len).map(|_| self.tensor()).collect::<Vec<_>>().into(),
            Type::Optional(_) => {
                (0..len).map(|_| self.one_in(2).then(|| self.tensor())).collect::<Vec<_>>().into()
            }
            Type::Float => (0..len).map(|_| FLOATS[self.below(FLOATS.len())]).collect::<Vec<_>>().into(),
            Type::Bool => (0..len).map(|_| self.one_in(2)).collect::<Vec<_>>().into(),
            Type::Scalar => (0..len).map(|_| Scalar::Int(self.number())).collect::<Vec<_>>().into(),
            _ => (0..len).map(|_| self.number()).collect::<Vec<_>>().into(),
        }
    }

    fn anything(&mut self) -> Value<'static> {
        let types = [
            Type::Tensor,
            Type::Int,
            Type::Float,
            Type::Bool,
            Type::Str,
            Type::ScalarType,
            Type::Device,
            Type::Generator,
            Type::List(Box::new(Type::Int)),
            Type::List(Box::new(Type::Tensor)),
            Type::List(Box::new(Type::Optional(Box::new(Type::Tensor)))),
        ];
        let ty = &types[self.below(types.len())];
        if self.one_in(8) { Value::None } else { self.value(ty) }
    }

    /// A small tensor; some are without memory, and some without elements in dimensions longer than any memory.
    fn tensor(&mut self) -> Tensor {
        let mut sizes: Vec<i64> = (0..self.below(4)).map(|_| self.below(4) as i64).collect();
        let dtype = DTYPES[self.below(DTYPES.len())];
        let device = self.device();
        let is_long = self.one_in(8);
        if is_long {
            sizes = sizes.iter().map(|size| LENGTHS[self.below(LENGTHS.len())].max(*size)).collect();
            sizes.insert(self.below(sizes.len() + 1), 0);
        }
        let zeros = |device| match is_long {
            true => Tensor::zeros(&[0], dtype, device)?.strided_view(&sizes, &vec![0; sizes.len()], 0),
            false => Tensor::zeros(&sizes, dtype, device),
        };
        let tensor = zeros(device).or_else(|_| zeros(Device::CPU)).expect("a few elements");
        self.tensors.push(tensor.downgrade());
        tensor
    }

    fn device(&mut self) -> Device {
        if self.one_in(8) { Device::META } else { Device::CPU }
    }

    fn scalar(&mut self) -> Value<'static> {
        match self.below(4) {
            0 => Value::Int(self.number()),
            1 => Value::Bool(true),
            2 => Value::Complex(element::Complex64::new(1.0, -1.0)),
            _ => Value::Float(FLOATS[self.below(FLOATS.len())]),
        }
    }

    fn number(&mut self) -> i64 {
        NUMBERS[self.below(NUMBERS.len())]
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.choose)(bound)
    }
}
