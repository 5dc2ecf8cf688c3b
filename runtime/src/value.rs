//! Boxed values and the stack that holds them: the arguments and returns of kernels that serve every operator.

use std::borrow::Cow;

use num_complex::Complex64;

use crate::device::Device;
use crate::dtype::DType;
use crate::error::Result;
use crate::generator::Generator;
use crate::key::DispatchKeySet;
use crate::layout::{Layout, MemoryFormat};
use crate::scalar::Scalar;
use crate::tensor::Tensor;

mod fit;
mod from;
mod into;
mod stack;

pub(crate) use fit::fit;
pub use from::{FromReturn, FromValue};
pub use into::IntoValue;
pub use stack::Stack;

/// An argument or return whose type is known only at run time.
///
/// A value may *borrow* its content: a call that is boxed on its way to a fallback pushes references, so boxing copies
/// no list, touches no reference count, and an in-place kernel writes to the caller's own object.
///
/// ```
/// use torch_library::{Tensor, Value};
///
/// let x = Tensor::from([1.0, 2.0]);
/// let value = Value::from(&x);
/// assert_eq!(value.type_name(), "Tensor");
/// assert!(Tensor::is_same(value.as_tensor().unwrap(), &x));
/// ```
///
/// PyTorch: `c10::IValue`.
#[derive(Debug)]
#[non_exhaustive]
pub enum Value<'a> {
    // The order makes frequent queries one comparison each: whether a value has keys (from `TensorRef` to
    // `OptionalTensors`), and whether it owns something (from `Tensor` on).
    /// `None`: an absent optional.
    None,
    /// `int`, `SymInt`.
    Int(i64),
    /// `float`.
    Float(f64),
    /// `bool`.
    Bool(bool),
    /// `complex`.
    Complex(Complex64),
    /// `ScalarType`.
    DType(DType),
    /// `Layout`.
    Layout(Layout),
    /// `MemoryFormat`.
    MemoryFormat(MemoryFormat),
    /// `Device`.
    Device(Device),
    /// A borrowed tensor of the caller.
    TensorRef(&'a Tensor),
    /// A borrowed tensor of the caller that the operator writes to.
    TensorMut(&'a mut Tensor),
    /// `Tensor(a!)[]`: borrowed tensors of the caller that the operator writes to.
    TensorsMut(&'a mut [Tensor]),
    /// An owned tensor handle.
    Tensor(Tensor),
    /// `Generator`.
    Generator(Cow<'a, Generator>),
    /// `Tensor[]`.
    Tensors(Cow<'a, [Tensor]>),
    /// `Tensor?[]`.
    OptionalTensors(Cow<'a, [Option<Tensor>]>),
    /// `str`.
    Str(Cow<'a, str>),
    /// `int[]`, `SymInt[]`.
    Ints(Cow<'a, [i64]>),
    /// `float[]`.
    Floats(Cow<'a, [f64]>),
    /// `bool[]`.
    Bools(Cow<'a, [bool]>),
    /// `Scalar[]`.
    Scalars(Cow<'a, [Scalar]>),
    /// `str[]`.
    Strs(Cow<'a, [String]>),
}

impl<'a> Value<'a> {
    /// The type of this value in the schema language.
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::None => "None",
            Value::Tensor(_) | Value::TensorRef(_) | Value::TensorMut(_) => "Tensor",
            Value::Int(_) => "int",
            Value::Float(_) => "float",
            Value::Bool(_) => "bool",
            Value::Complex(_) => "complex",
            Value::Str(_) => "str",
            Value::DType(_) => "ScalarType",
            Value::Layout(_) => "Layout",
            Value::MemoryFormat(_) => "MemoryFormat",
            Value::Device(_) => "Device",
            Value::Generator(_) => "Generator",
            Value::Tensors(_) | Value::TensorsMut(_) => "Tensor[]",
            Value::OptionalTensors(_) => "Tensor?[]",
            Value::Ints(_) => "int[]",
            Value::Floats(_) => "float[]",
            Value::Bools(_) => "bool[]",
            Value::Scalars(_) => "Scalar[]",
            Value::Strs(_) => "str[]",
        }
    }

    /// The tensor, if this is one.
    pub fn as_tensor(&self) -> Option<&Tensor> {
        match self {
            Value::Tensor(tensor) => Some(tensor),
            Value::TensorRef(tensor) => Some(tensor),
            Value::TensorMut(tensor) => Some(tensor),
            _ => None,
        }
    }

    /// The tensors of a `Tensor` or of a `Tensor[]`.
    pub fn tensors(&self) -> &[Tensor] {
        match self {
            Value::Tensor(tensor) => std::slice::from_ref(tensor),
            Value::TensorRef(tensor) => std::slice::from_ref(*tensor),
            Value::TensorMut(tensor) => std::slice::from_ref(&**tensor),
            Value::Tensors(tensors) => tensors,
            Value::TensorsMut(tensors) => tensors,
            _ => &[],
        }
    }

    /// The tensors of a `Tensor` or of a `Tensor[]`, for writing to their elements.
    ///
    /// Tensors that were borrowed for reading are replaced by handles of their own for the same tensors. Replacing such
    /// a handle does not reach the caller.
    pub fn tensors_mut(&mut self) -> &mut [Tensor] {
        if let Value::TensorRef(tensor) = self {
            *self = Value::Tensor(tensor.clone());
        }
        match self {
            Value::Tensor(tensor) => std::slice::from_mut(tensor),
            Value::TensorMut(tensor) => std::slice::from_mut(*tensor),
            Value::TensorsMut(tensors) => tensors,
            Value::Tensors(tensors) => tensors.to_mut(),
            _ => &mut [],
        }
    }

    /// The tensors of a value of any type, including those of a `Tensor?[]`.
    pub fn all_tensors(&self) -> impl Iterator<Item = &Tensor> {
        let optional = match self {
            Value::OptionalTensors(list) => &**list,
            _ => &[],
        };
        self.tensors().iter().chain(optional.iter().flatten())
    }

    /// The same value with each of its tensors replaced, as needed by layers that wrap tensors.
    ///
    /// # Errors
    /// The errors of the closure.
    pub fn map_tensors(&self, mut f: impl FnMut(&Tensor) -> Result<Tensor>) -> Result<Value<'_>> {
        Ok(match self {
            Value::Tensors(_) | Value::TensorsMut(_) => {
                self.tensors().iter().map(f).collect::<Result<Vec<_>>>()?.into()
            }
            Value::OptionalTensors(list) => {
                let list = list.iter().map(|tensor| tensor.as_ref().map(&mut f).transpose());
                list.collect::<Result<Vec<_>>>()?.into()
            }
            value => match value.as_tensor() {
                Some(tensor) => f(tensor)?.into(),
                None => value.borrowed(),
            },
        })
    }

    /// Whether this is `None`.
    pub fn is_none(&self) -> bool {
        matches!(self, Value::None)
    }

    /// The dispatch keys that this argument brings to a call: those of its tensors and of a generator.
    ///
    /// PyTorch considers generators only in unboxed calls; here both kinds of call have the same keys.
    #[inline]
    pub fn dispatch_keys(&self) -> DispatchKeySet {
        if let Value::TensorRef(tensor) = self {
            return tensor.key_set();
        }
        if self.is_plain() { DispatchKeySet::EMPTY } else { self.dispatch_keys_of_others() }
    }

    #[inline(never)]
    fn dispatch_keys_of_others(&self) -> DispatchKeySet {
        match self {
            Value::Generator(generator) => generator.key_set(),
            Value::OptionalTensors(tensors) => keys_of(tensors.iter().flatten()),
            other => keys_of(other.tensors()),
        }
    }

    /// Whether this is a number, an enumeration value or `None`, which has no keys and owns nothing.
    #[inline]
    fn is_plain(&self) -> bool {
        matches!(
            self,
            Value::None
                | Value::Int(_)
                | Value::Float(_)
                | Value::Bool(_)
                | Value::Complex(_)
                | Value::DType(_)
                | Value::Layout(_)
                | Value::MemoryFormat(_)
                | Value::Device(_)
        )
    }

    /// Whether dropping the value does nothing: it is plain, or a borrowed tensor or list of tensors.
    #[inline]
    fn owns_nothing(&self) -> bool {
        self.is_plain() || matches!(self, Value::TensorRef(_) | Value::TensorMut(_) | Value::TensorsMut(_))
    }

    /// The same value borrowed for reading, to make several calls with it. For arguments that the operator writes to,
    /// use [`borrowed_mut`](Self::borrowed_mut).
    pub fn borrowed(&self) -> Value<'_> {
        match self {
            Value::None => Value::None,
            Value::Tensor(tensor) => Value::TensorRef(tensor),
            Value::TensorRef(tensor) => Value::TensorRef(tensor),
            Value::TensorMut(tensor) => Value::TensorRef(tensor),
            Value::Int(value) => Value::Int(*value),
            Value::Float(value) => Value::Float(*value),
            Value::Bool(value) => Value::Bool(*value),
            Value::Complex(value) => Value::Complex(*value),
            Value::Str(text) => Value::Str(Cow::Borrowed(text)),
            Value::DType(dtype) => Value::DType(*dtype),
            Value::Layout(layout) => Value::Layout(*layout),
            Value::MemoryFormat(format) => Value::MemoryFormat(*format),
            Value::Device(device) => Value::Device(*device),
            Value::Generator(generator) => Value::Generator(Cow::Borrowed(generator)),
            Value::Tensors(tensors) => Value::Tensors(Cow::Borrowed(tensors)),
            Value::TensorsMut(tensors) => Value::Tensors(Cow::Borrowed(tensors)),
            Value::OptionalTensors(tensors) => Value::OptionalTensors(Cow::Borrowed(tensors)),
            Value::Ints(list) => Value::Ints(Cow::Borrowed(list)),
            Value::Floats(list) => Value::Floats(Cow::Borrowed(list)),
            Value::Bools(list) => Value::Bools(Cow::Borrowed(list)),
            Value::Scalars(list) => Value::Scalars(Cow::Borrowed(list)),
            Value::Strs(list) => Value::Strs(Cow::Borrowed(list)),
        }
    }

    /// The same value borrowed, for writing if this value allows writing: for a fallback that makes a call with the
    /// arguments that it took from the stack, and needs them afterwards.
    ///
    /// Tensors that were borrowed for reading stay read-only: an operator that writes to them refuses them.
    ///
    /// ```
    /// use torch_library::prelude::*;
    ///
    /// torch_library! {
    ///     pub mod counters {
    ///         add_(Tensor(a!) self, int by) -> Tensor(a!);
    ///     }
    /// }
    ///
    /// #[torch_impl(counters, CPU)]
    /// fn add_(this: &mut Tensor, by: i64) -> Result<&mut Tensor> {
    ///     let values = this.to_vec::<i64>()?;
    ///     this.fill_from(values.iter().map(|value| value + by))?;
    ///     Ok(this)
    /// }
    ///
    /// /// Makes every call twice.
    /// #[torch_fallback(TESTING_ONLY_GenericWrapper)]
    /// fn twice(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    ///     let below = keys & DispatchKeySet::full_after(DispatchKey::TESTING_ONLY_GenericWrapper);
    ///     let mut arguments = operator.take_arguments(stack)?;
    ///     operator.redispatch_boxed(below, &mut arguments.iter_mut().map(Value::borrowed_mut).collect())?;
    ///     stack.extend(arguments);
    ///     operator.redispatch_boxed(below, stack)
    /// }
    ///
    /// # fn main() -> Result<()> {
    /// let mut x = Tensor::from([1i64]);
    /// let key = DispatchKey::TESTING_ONLY_GenericWrapper;
    /// torch_library::guard::include(key, || counters::add_(&mut x, 2).map(drop))?;
    /// assert_eq!(x.to_vec::<i64>()?, [5]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn borrowed_mut(&mut self) -> Value<'_> {
        match self {
            Value::Tensor(tensor) => Value::TensorMut(tensor),
            Value::TensorMut(tensor) => Value::TensorMut(tensor),
            Value::TensorsMut(tensors) => Value::TensorsMut(tensors),
            Value::Tensors(Cow::Owned(tensors)) => Value::TensorsMut(tensors),
            other => other.borrowed(),
        }
    }

    /// The same value without borrows: clones tensor handles, copies lists.
    pub fn into_owned(self) -> Value<'static> {
        match self {
            Value::None => Value::None,
            Value::Tensor(tensor) => Value::Tensor(tensor),
            Value::TensorRef(tensor) => Value::Tensor(tensor.clone()),
            Value::TensorMut(tensor) => Value::Tensor(tensor.clone()),
            Value::Int(value) => Value::Int(value),
            Value::Float(value) => Value::Float(value),
            Value::Bool(value) => Value::Bool(value),
            Value::Complex(value) => Value::Complex(value),
            Value::Str(text) => Value::Str(Cow::Owned(text.into_owned())),
            Value::DType(dtype) => Value::DType(dtype),
            Value::Layout(layout) => Value::Layout(layout),
            Value::MemoryFormat(format) => Value::MemoryFormat(format),
            Value::Device(device) => Value::Device(device),
            Value::Generator(generator) => Value::Generator(Cow::Owned(generator.into_owned())),
            Value::Tensors(tensors) => Value::Tensors(Cow::Owned(tensors.into_owned())),
            Value::TensorsMut(tensors) => Value::Tensors(Cow::Owned(tensors.to_vec())),
            Value::OptionalTensors(tensors) => Value::OptionalTensors(Cow::Owned(tensors.into_owned())),
            Value::Ints(list) => Value::Ints(Cow::Owned(list.into_owned())),
            Value::Floats(list) => Value::Floats(Cow::Owned(list.into_owned())),
            Value::Bools(list) => Value::Bools(Cow::Owned(list.into_owned())),
            Value::Scalars(list) => Value::Scalars(Cow::Owned(list.into_owned())),
            Value::Strs(list) => Value::Strs(Cow::Owned(list.into_owned())),
        }
    }
}

impl<'a, T: IntoValue<'a>> From<T> for Value<'a> {
    fn from(value: T) -> Self {
        value.into_value()
    }
}

fn keys_of<'t>(tensors: impl IntoIterator<Item = &'t Tensor>) -> DispatchKeySet {
    tensors.into_iter().fold(DispatchKeySet::EMPTY, |keys, tensor| keys | tensor.key_set())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_written_is_borrowed_to_write_and_comes_back() {
        let (mut of_caller, mut list) = (Tensor::from([1.0]), vec![Tensor::from([2.0]), Tensor::from([3.0])]);
        let mut values: Vec<Value<'_>> = vec![
            (&mut of_caller).into(),
            Value::Tensors(Cow::Owned(list.clone())),
            list.as_mut_slice().into(),
        ];
        for value in &mut values {
            let mut borrowed = value.borrowed_mut();
            for tensor in borrowed.tensors_mut() {
                *tensor = Tensor::from([7.0]);
            }
        }
        let ends = values.iter().flat_map(Value::tensors).map(|tensor| tensor.to_vec::<f64>().unwrap()[0]);
        assert_eq!(ends.collect::<Vec<_>>(), [7.0; 5]);
    }

    #[test]
    fn of_a_tensor_that_is_borrowed_to_read_a_handle_is_written_and_of_a_list_nothing() {
        let (tensor, list) = (Tensor::from([1.0]), [Tensor::from([2.0])]);
        let mut value = Value::from(&tensor);
        let handle = <&mut Tensor>::from_value(&mut value).unwrap();
        assert!(handle.is_same(&tensor));
        *handle = Tensor::from([3.0]); // the borrower's own variable, not the caller's
        assert_eq!(tensor.to_vec::<f64>().unwrap(), [1.0]);
        assert!(<&mut [Tensor]>::from_value(&mut Value::from(&list[..]).borrowed_mut()).is_none());
        for mut value in [Value::from(&tensor), Value::from(&list[..])] {
            let shown = value.tensors()[0].clone();
            assert!(matches!(value.tensors_mut(), [handle] if handle.is_same(&shown)));
        }
    }
}
