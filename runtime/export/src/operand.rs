//! The arguments of a step: constants, values that other steps leave in slots, and lists of both.

use torch_library::prelude::*;
use torch_library::schema::{Argument as Declared, DefaultValue, Type, Value as _};

use crate::kinds;
use crate::number::{self, Number};
use crate::plan::{Scope, Source};
use crate::wire::{
    Argument, Float, Named, OptionalTensor, SymBoolArgument, SymFloatArgument, SymIntArgument,
};

/// An argument of a step.
#[derive(Debug)]
pub(crate) enum Operand {
    /// A constant.
    Fixed(Value<'static>),
    /// The result of another step, or a weight.
    Borrowed(Source),
    /// The same, but as an owned handle: the operator writes to it.
    Written(Source),
    /// A number from another step, as a tensor.
    Wrapped(Source),
    /// A number from another step, as a float.
    Float(Source),
    Tensors(Box<[Source]>),
    OptionalTensors(Box<[Option<Source>]>),
    Ints(Box<[Item<i64>]>),
    Floats(Box<[Item<f64>]>),
    Bools(Box<[Item<bool>]>),
}

/// An element of a list of numbers.
#[derive(Debug)]
pub(crate) enum Item<T> {
    Known(T),
    Slot(Source),
}

impl Operand {
    /// An argument for an operator's declared argument, converted to its type.
    ///
    /// # Errors
    /// A value of another type, or of an unsupported one.
    pub(crate) fn new(argument: &Argument, declared: &Declared, scope: &mut Scope<'_>) -> Result<Operand> {
        let ty = declared.ty.without_optional();
        let operand = Self::of_any(argument, scope)?;
        Ok(match (ty, operand) {
            (Type::Tensor, Operand::Borrowed(source)) if declared.is_mutable() => Operand::Written(source),
            // A number for a tensor argument becomes a wrapped number.
            (Type::Tensor, Operand::Fixed(value)) if !value.is_none() => match (number::of(&value), &value) {
                (Some(number), _) => Operand::Fixed(Value::Tensor(wrapped(number))),
                (None, Value::Complex(number)) => {
                    Operand::Fixed(Value::Tensor(Tensor::wrapped_number(*number)))
                }
                (None, _) => Operand::Fixed(fit(value, declared)?),
            },
            (Type::Tensor, Operand::Borrowed(source)) if is_number(argument) => Operand::Wrapped(source),
            (Type::Float, Operand::Borrowed(source)) => Operand::Float(source),
            (Type::List(element), Operand::Tensors(list)) if list.is_empty() && **element != Type::Tensor => {
                Operand::Fixed(Value::of_default(&DefaultValue::List(Vec::new()), declared))
            }
            (Type::List(element), Operand::Tensors(list)) if matches!(**element, Type::Optional(_)) => {
                Operand::OptionalTensors(list.iter().map(|source| Some(*source)).collect())
            }
            (Type::List(_), Operand::Borrowed(source)) if is_number(argument) => {
                let count = usize::try_from(declared.size.unwrap_or(1)).unwrap_or(1).min(64);
                Operand::Ints((0..count).map(|_| Item::Slot(source)).collect())
            }
            (_, Operand::Fixed(value)) => Operand::Fixed(fit(value, declared)?),
            (_, operand) => operand,
        })
    }

    /// The default of an argument that is left out.
    ///
    /// # Errors
    /// There is no default.
    pub(crate) fn default_of(declared: &Declared) -> Result<Operand> {
        let Some(default) = &declared.default else {
            bail!(Argument, "argument `{}` is missing", declared.name)
        };
        Ok(Operand::Fixed(fit(Value::of_default(default, declared), declared)?))
    }

    /// The slots whose values it needs.
    pub(crate) fn slots(&self) -> Vec<u32> {
        fn of<T>(list: &[Item<T>]) -> Vec<Source> {
            let slots = list
                .iter()
                .filter_map(|item| if let Item::Slot(source) = item { Some(*source) } else { None });
            slots.collect()
        }
        let sources = match self {
            Operand::Fixed(_) => Vec::new(),
            Operand::Borrowed(source)
            | Operand::Written(source)
            | Operand::Wrapped(source)
            | Operand::Float(source) => vec![*source],
            Operand::Tensors(list) => list.to_vec(),
            Operand::OptionalTensors(list) => list.iter().copied().flatten().collect(),
            Operand::Ints(list) => of(list),
            Operand::Floats(list) => of(list),
            Operand::Bools(list) => of(list),
        };
        let slots = sources.into_iter().filter_map(|source| match source {
            Source::Slot(slot) => Some(slot),
            Source::Weight(_) => None,
        });
        slots.collect()
    }

    /// An argument with its own type.
    ///
    /// # Errors
    /// A name that no earlier step has defined; a value of an unsupported type.
    pub(crate) fn of_any(argument: &Argument, scope: &mut Scope<'_>) -> Result<Operand> {
        let fixed = |value: Value<'static>| Ok(Operand::Fixed(value));
        match argument {
            Argument::AsNone(_) | Argument::AsOptionalTensor(OptionalTensor::AsNone(_)) => fixed(Value::None),
            Argument::AsTensor(name) | Argument::AsOptionalTensor(OptionalTensor::AsTensor(name)) => {
                Ok(Operand::Borrowed(scope.source(&name.name)?))
            }
            Argument::AsTensors(names) => {
                let sources = names.iter().map(|name| scope.source(&name.name));
                Ok(Operand::Tensors(sources.collect::<Result<_>>()?))
            }
            Argument::AsOptionalTensors(list) => {
                let sources = list.iter().map(|tensor| match tensor {
                    OptionalTensor::AsTensor(Named { name }) => scope.source(name).map(Some),
                    OptionalTensor::AsNone(_) => Ok(None),
                });
                Ok(Operand::OptionalTensors(sources.collect::<Result<_>>()?))
            }
            Argument::AsInt(number) | Argument::AsSymInt(SymIntArgument::AsInt(number)) => {
                fixed((*number).into())
            }
            Argument::AsFloat(Float(number))
            | Argument::AsSymFloat(SymFloatArgument::AsFloat(Float(number))) => fixed((*number).into()),
            Argument::AsBool(yes) | Argument::AsSymBool(SymBoolArgument::AsBool(yes)) => fixed((*yes).into()),
            Argument::AsSymInt(SymIntArgument::AsName(name))
            | Argument::AsSymFloat(SymFloatArgument::AsName(name))
            | Argument::AsSymBool(SymBoolArgument::AsName(name)) => {
                Ok(Operand::Borrowed(scope.source(name)?))
            }
            Argument::AsInts(list) => fixed(list.clone().into()),
            Argument::AsFloats(list) => {
                fixed(list.iter().map(|Float(number)| *number).collect::<Vec<_>>().into())
            }
            Argument::AsBools(list) => fixed(list.clone().into()),
            Argument::AsSymInts(list) => Self::ints(list, scope),
            Argument::AsSymFloats(list) => Self::floats(list, scope),
            Argument::AsSymBools(list) => Self::bools(list, scope),
            Argument::AsString(text) => fixed(text.clone().into()),
            Argument::AsStrings(list) => fixed(list.clone().into()),
            Argument::AsScalarType(number) => fixed(kinds::dtype(*number)?.into()),
            Argument::AsMemoryFormat(number) => fixed(kinds::memory_format(*number)?.into()),
            Argument::AsLayout(number) => fixed(kinds::layout(*number)?.into()),
            Argument::AsDevice(device) => fixed(scope.device(&device.kind)?.into()),
            Argument::AsComplex(number) => fixed(Complex64::new(number.real.0, number.imag.0).into()),
            other => Err(refused(other)),
        }
    }

    fn ints(list: &[SymIntArgument], scope: &mut Scope<'_>) -> Result<Operand> {
        let items = list.iter().map(|item| match item {
            SymIntArgument::AsInt(number) => Ok(Item::Known(*number)),
            SymIntArgument::AsName(name) => scope.source(name).map(Item::Slot),
        });
        Ok(Operand::Ints(items.collect::<Result<_>>()?))
    }

    fn floats(list: &[SymFloatArgument], scope: &mut Scope<'_>) -> Result<Operand> {
        let items = list.iter().map(|item| match item {
            SymFloatArgument::AsFloat(Float(number)) => Ok(Item::Known(*number)),
            SymFloatArgument::AsName(name) => scope.source(name).map(Item::Slot),
        });
        Ok(Operand::Floats(items.collect::<Result<_>>()?))
    }

    fn bools(list: &[SymBoolArgument], scope: &mut Scope<'_>) -> Result<Operand> {
        let items = list.iter().map(|item| match item {
            SymBoolArgument::AsBool(yes) => Ok(Item::Known(*yes)),
            SymBoolArgument::AsName(name) => scope.source(name).map(Item::Slot),
        });
        Ok(Operand::Bools(items.collect::<Result<_>>()?))
    }
}

/// The error for an argument that cannot be an operand.
fn refused(argument: &Argument) -> Error {
    let what = match argument {
        Argument::AsCustomObj(object) => {
            format!("an object of the class {:?}", crate::shortened(&object.class_fqn))
        }
        Argument::AsOperator(name) => format!("the operator {:?}", crate::shortened(name)),
        Argument::AsGraph(_) => "a graph outside of a higher-order operator".to_owned(),
        Argument::AsNestedTensors(lists) => format!("a list of {} lists of tensors", lists.len()),
        Argument::AsIntLists(lists) => format!("a list of {} lists of ints", lists.len()),
        Argument::AsFloatLists(lists) => format!("a list of {} lists of floats", lists.len()),
        Argument::AsStringToArgument(map) => format!("a dictionary of {} values", map.len()),
        _ => "a value of an unknown kind".to_owned(),
    };
    Error::new(ErrorKind::NotSupported, format!("{what} is not supported as an argument"))
}

/// A number as a tensor.
pub(crate) fn wrapped(number: Number) -> Tensor {
    match number {
        Number::Int(number) => Tensor::wrapped_number(number),
        Number::Float(number) => Tensor::wrapped_number(number),
        Number::Bool(number) => Tensor::wrapped_number(number),
    }
}

fn is_number(argument: &Argument) -> bool {
    matches!(argument, Argument::AsSymInt(_) | Argument::AsSymFloat(_) | Argument::AsSymBool(_))
}

/// Converts a constant to the type of an argument.
fn fit(value: Value<'static>, declared: &Declared) -> Result<Value<'static>> {
    let found = value.type_name();
    let ty = declared.ty.without_optional();
    let scalars = |list: Vec<Scalar>| Value::from(list);
    let repeat = || usize::try_from(declared.size.unwrap_or(1)).unwrap_or(1).min(64);
    let fitted = match (ty, value) {
        (_, Value::None) => Value::None,
        (Type::Float, Value::Int(number)) => Value::Float(number as f64),
        (Type::Float, Value::Bool(yes)) => Value::Float(f64::from(u8::from(yes))),
        (Type::Int | Type::SymInt, Value::Bool(yes)) => Value::Int(i64::from(yes)),
        (Type::Bool | Type::SymBool, Value::Int(number @ 0..=1)) => Value::Bool(number == 1),
        (Type::Complex, Value::Float(number)) => Value::Complex(Complex64::new(number, 0.0)),
        (Type::Complex, Value::Int(number)) => Value::Complex(Complex64::new(number as f64, 0.0)),
        (Type::List(element), value) => match (element.without_optional(), value) {
            (Type::Int | Type::SymInt, Value::Int(number)) => vec![number; repeat()].into(),
            (Type::Float, Value::Float(number)) => vec![number; repeat()].into(),
            (Type::Float, Value::Ints(list)) => {
                list.iter().map(|number| *number as f64).collect::<Vec<_>>().into()
            }
            (Type::Scalar, Value::Ints(list)) => {
                scalars(list.iter().map(|number| (*number).into()).collect())
            }
            (Type::Scalar, Value::Floats(list)) => {
                scalars(list.iter().map(|number| (*number).into()).collect())
            }
            (Type::Scalar, Value::Bools(list)) => scalars(list.iter().map(|yes| (*yes).into()).collect()),
            (_, value) => value,
        },
        (_, value) => value,
    };
    ensure!(
        fitted.is_none() || fitted.is_a(&declared.ty),
        Type,
        "argument `{}` is {found}, but the operator takes {}",
        declared.name,
        declared.ty
    );
    Ok(fitted)
}
