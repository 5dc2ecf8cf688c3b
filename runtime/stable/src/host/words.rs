//! Values on the ABI's stack, a word each: conversions both ways, by the type in the schema.
//!
//! | type | the word is |
//! |---|---|
//! | `Tensor` | a handle: a [`Tensor`] in a box |
//! | `int`, `SymInt`, `float`, `bool` | the number, or the bits of it |
//! | `ScalarType`, `Layout`, `MemoryFormat` | PyTorch's number |
//! | `Device` | the type in the upper half, the index in the lower one |
//! | `str` | a handle: a [`Text`] in a box |
//! | `T[]` | a handle: a [`List`] in a box, a word for each element |
//! | `T?` | null, or the address of a word that `malloc` made |
//! | `Generator` | a handle: a [`Generator`] in a box |
#![expect(unsafe_code, reason = "a word may be the address of a box, which is taken over or given away")]

use std::borrow::Cow;

use torch_library::schema::Type;
use torch_library::{Device, Error, ErrorKind, Generator, Result, Tensor, Value, bail};

use crate::host::numbers;

/// An argument or a return, as one word.
pub(crate) type Word = u64;

/// A list; its handle points to one.
pub(crate) type List = Vec<Word>;

/// A string, with a zero at the end for C; its handle points to one.
pub(crate) struct Text {
    bytes: Box<[u8]>,
}

impl Text {
    pub(crate) fn new(text: &[u8]) -> Text {
        Text { bytes: [text, &[0]].concat().into_boxed_slice() }
    }

    /// The string without the zero.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.bytes.len() - 1]
    }
}

/// An optional without a value.
const NONE: Word = 0;

/// A box that foreign code then owns.
pub(crate) fn give_box<T>(value: T) -> Word {
    Box::into_raw(Box::new(value)).expose_provenance() as Word
}

/// Takes a box back.
///
/// # Errors
/// The handle is null.
///
/// # Safety
/// * It is null, or was returned by [`give_box`], for this type, and is no longer used.
pub(crate) unsafe fn take_box<T>(word: Word, what: &str) -> Result<T> {
    let place = std::ptr::with_exposed_provenance_mut::<T>(word as usize);
    if place.is_null() {
        return Err(Error::new(ErrorKind::Argument, format!("a null handle of a {what}")));
    }
    // SAFETY: it is not null, so the caller promises that it is a box, which we own.
    Ok(*unsafe { Box::from_raw(place) })
}

/// Makes a place for an optional's value: C++ frees it with `delete`, or with a function of the ABI that calls `free`.
///
/// # Errors
/// There is not enough memory.
pub(crate) fn new_place() -> Result<*mut Word> {
    // SAFETY: `calloc` may be called with any size.
    let place = unsafe { libc::calloc(1, size_of::<Word>()) }.cast::<Word>();
    if place.is_null() {
        Err(Error::new(ErrorKind::OutOfMemory, "no memory for an optional"))
    } else {
        Ok(place)
    }
}

/// An optional that has a value.
fn some(word: Word) -> Result<Word> {
    let place = new_place()?;
    // SAFETY: there is room for a word, and we own it.
    unsafe { place.write(word) };
    Ok(place.expose_provenance() as Word)
}

/// Converts a value to a word, which foreign code then owns.
///
/// # Errors
/// The value has another type; the ABI does not support the type.
pub(crate) fn give(ty: &Type, value: &Value<'_>) -> Result<Word> {
    Ok(match (ty, value) {
        (Type::Optional(_), Value::None) => NONE,
        (Type::Optional(inner), value) => some(give(inner, value)?)?,
        (Type::Tensor, Value::None) => give_box(Tensor::undefined()),
        (Type::Tensor, value) => match value.as_tensor() {
            Some(tensor) => give_box(tensor.clone()),
            None => return Err(mismatch(ty, value)),
        },
        (Type::Int | Type::SymInt, Value::Int(value)) => *value as Word,
        (Type::Float, Value::Float(value)) => value.to_bits(),
        (Type::Float, Value::Int(value)) => (*value as f64).to_bits(),
        (Type::Bool, Value::Bool(value)) => Word::from(*value),
        (Type::ScalarType | Type::Int, Value::DType(dtype)) => *dtype as Word,
        (Type::Layout | Type::Int, Value::Layout(layout)) => Word::from(layout.number()),
        (Type::MemoryFormat | Type::Int, Value::MemoryFormat(format)) => Word::from(format.number()),
        (Type::Device, Value::Device(device)) => {
            Word::from(device.kind as u32) << 32 | Word::from(numbers::index(*device) as u32)
        }
        (Type::Str, Value::Str(text)) => give_box(Text::new(text.as_bytes())),
        (Type::Generator, Value::Generator(generator)) => give_box(Generator::clone(generator)),
        (Type::List(element), value) => give_list(element, value)?,
        (
            Type::Scalar | Type::Complex,
            Value::Int(_) | Value::Float(_) | Value::Bool(_) | Value::Complex(_),
        ) => {
            bail!(NotSupported, "PyTorch's stable ABI carries no value of type {ty}")
        }
        _ => return Err(mismatch(ty, value)),
    })
}

fn give_list(element: &Type, value: &Value<'_>) -> Result<Word> {
    let mut words = Given::default();
    let mut push = |value: Value<'_>| words.push(element, &value);
    match value {
        Value::Ints(values) => values.iter().try_for_each(|value| push(Value::Int(*value)))?,
        Value::Floats(values) => values.iter().try_for_each(|value| push(Value::Float(*value)))?,
        Value::Bools(values) => values.iter().try_for_each(|value| push(Value::Bool(*value)))?,
        Value::Strs(values) => values.iter().try_for_each(|value| push(Value::Str(Cow::Borrowed(value))))?,
        Value::OptionalTensors(values) => values.iter().try_for_each(|tensor| match tensor {
            Some(tensor) => push(Value::TensorRef(tensor)),
            None => push(Value::None),
        })?,
        Value::Tensors(_) | Value::TensorsMut(_) => {
            value.tensors().iter().try_for_each(|tensor| push(Value::TensorRef(tensor)))?;
        }
        Value::Scalars(_) => {
            bail!(NotSupported, "PyTorch's stable ABI carries no list of numbers of any type")
        }
        other => return Err(mismatch(&Type::List(Box::new(element.clone())), other)),
    }
    Ok(give_box::<List>(words.handed_over()))
}

/// Words that foreign code does not own yet: they are freed if an error follows.
#[derive(Default)]
pub(crate) struct Given {
    words: Vec<Word>,
    types: Vec<Type>,
}

impl Given {
    /// Adds a word.
    ///
    /// # Errors
    /// The errors of [`give`].
    pub(crate) fn push(&mut self, ty: &Type, value: &Value<'_>) -> Result<()> {
        let word = give(ty, value)?;
        self.words.push(word);
        // Words that own nothing need not be remembered.
        let owns = !matches!(ty, Type::Int | Type::SymInt | Type::Float | Type::Bool);
        self.types.push(if owns { ty.clone() } else { Type::Int });
        Ok(())
    }

    /// The words, for foreign code, which then owns them.
    pub(crate) fn handed_over(&mut self) -> Vec<Word> {
        self.types.clear();
        std::mem::take(&mut self.words)
    }
}

impl Drop for Given {
    fn drop(&mut self) {
        for (ty, word) in self.types.drain(..).zip(self.words.drain(..)) {
            // SAFETY: `give` made the word from a value of this type, and no other code owns it.
            drop(unsafe { take(&ty, word) });
        }
    }
}

/// Takes over the value of a word.
///
/// # Errors
/// A type that the ABI does not support, a null handle, an unknown number. Memory that the word owned is freed.
///
/// # Safety
/// * The word is a value of this type as in the table above, owned by the caller, who does not use it again.
pub(crate) unsafe fn take(ty: &Type, word: Word) -> Result<Value<'static>> {
    let number = word as u32 as i32;
    Ok(match ty {
        Type::Tensor => {
            // SAFETY: the caller promises that it is an owned tensor.
            let tensor = unsafe { take_box::<Tensor>(word, "tensor") }?;
            if tensor.is_defined() { Value::Tensor(tensor) } else { Value::None }
        }
        Type::Int | Type::SymInt => Value::Int(word as i64),
        Type::Float => Value::Float(f64::from_bits(word)),
        Type::Bool => Value::Bool(word & 0xff != 0),
        Type::ScalarType => Value::DType(numbers::dtype(number)?),
        Type::Layout => Value::Layout(numbers::layout(number)?),
        Type::MemoryFormat => Value::MemoryFormat(numbers::memory_format(number)?),
        Type::Device => Value::Device(take_device(word)?),
        // SAFETY: the caller promises that it is an owned string.
        Type::Str => Value::Str(Cow::Owned(unsafe { take_text(word) }?)),
        // SAFETY: the caller promises that it is an owned generator.
        Type::Generator => Value::Generator(Cow::Owned(unsafe { take_box(word, "generator") }?)),
        Type::Optional(_) if word == NONE => Value::None,
        // SAFETY: the caller promises that it is an optional, and it has a value, which is owned together with it.
        Type::Optional(inner) => unsafe { take(inner, take_place(word)) }?,
        // SAFETY: the caller promises that it is an owned list with elements of this type.
        Type::List(element) => unsafe { take_list(element, word) }?,
        other => bail!(NotSupported, "PyTorch's stable ABI carries no value of type {other}"),
    })
}

/// The value of an optional that has one; its place is freed.
///
/// # Safety
/// * The word is the address of a place with a value, allocated by `malloc`, or by C++'s `new`, which calls it; the
///   place is no longer used.
pub(crate) unsafe fn take_place(word: Word) -> Word {
    let place = std::ptr::with_exposed_provenance_mut::<Word>(word as usize);
    // SAFETY: the caller promises that there is a word, that `free` can free its place, and that it is no longer used.
    unsafe {
        let value = place.read();
        libc::free(place.cast());
        value
    }
}

fn take_device(word: Word) -> Result<Device> {
    numbers::device((word >> 32) as i32, word as u32 as i32)
}

/// # Safety
/// * The word is an owned string.
unsafe fn take_text(word: Word) -> Result<String> {
    // SAFETY: as the caller promises.
    let text = unsafe { take_box::<Text>(word, "string") }?;
    String::from_utf8(text.bytes().to_vec())
        .map_err(|error| Error::new(ErrorKind::Argument, format!("a string is not UTF-8: {error}")))
}

/// # Safety
/// * The word is an owned list with elements of this type.
unsafe fn take_list(element: &Type, word: Word) -> Result<Value<'static>> {
    // SAFETY: as the caller promises.
    let words = unsafe { take_box::<List>(word, "list") }?;
    // All elements are taken before any error is returned, so that all of them are freed.
    // SAFETY: the elements are owned together with the list.
    let values: Vec<Result<Value<'static>>> =
        words.into_iter().map(|word| unsafe { take(element, word) }).collect();
    let values = values.into_iter().collect::<Result<Vec<_>>>()?;
    Ok(match element {
        Type::Tensor => Value::Tensors(Cow::Owned(each(values, |value| match value {
            Value::Tensor(tensor) => Some(tensor),
            Value::None => Some(Tensor::undefined()),
            _ => None,
        })?)),
        Type::Optional(inner) if **inner == Type::Tensor => {
            Value::OptionalTensors(Cow::Owned(each(values, |value| match value {
                Value::Tensor(tensor) => Some(Some(tensor)),
                Value::None => Some(None),
                _ => None,
            })?))
        }
        Type::Int | Type::SymInt => Value::Ints(Cow::Owned(each(values, |value| match value {
            Value::Int(value) => Some(value),
            _ => None,
        })?)),
        Type::Float => Value::Floats(Cow::Owned(each(values, |value| match value {
            Value::Float(value) => Some(value),
            _ => None,
        })?)),
        Type::Bool => Value::Bools(Cow::Owned(each(values, |value| match value {
            Value::Bool(value) => Some(value),
            _ => None,
        })?)),
        Type::Str => Value::Strs(Cow::Owned(each(values, |value| match value {
            Value::Str(text) => Some(text.into_owned()),
            _ => None,
        })?)),
        other => bail!(NotSupported, "a list of {other} is no value here"),
    })
}

/// Converts each value to an element of a list.
fn each<T>(values: Vec<Value<'static>>, of: impl Fn(Value<'static>) -> Option<T>) -> Result<Vec<T>> {
    let other = || Error::new(ErrorKind::Type, "a list has elements of several types");
    values.into_iter().map(|value| of(value).ok_or_else(other)).collect()
}

#[cold]
fn mismatch(ty: &Type, value: &Value<'_>) -> Error {
    Error::new(ErrorKind::Type, format!("a value of type {} where the schema says {ty}", value.type_name()))
}

/// A C text.
///
/// # Errors
/// The text is null.
///
/// # Safety
/// * The text is null, or ends in a zero and lives as long as the result.
pub(crate) unsafe fn c_text<'t>(text: *const std::ffi::c_char, what: &str) -> Result<Cow<'t, str>> {
    if text.is_null() {
        return Err(Error::new(ErrorKind::Argument, format!("{what} is null")));
    }
    // SAFETY: it is not null, so the caller promises that it ends in a zero.
    Ok(unsafe { std::ffi::CStr::from_ptr(text) }.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use torch_library::{DType, Scalar};

    use super::*;

    fn ty(text: &str) -> Type {
        let schema = format!("f({text} x) -> ()");
        let schema =
            torch_library::schema::Schema::parse(&schema, torch_library::schema::Mode::Strict).unwrap();
        schema.arguments[0].ty.clone()
    }

    #[track_caller]
    fn check(text: &str, value: impl Into<Value<'static>>) {
        let (ty, value) = (ty(text), value.into());
        let word = give(&ty, &value).unwrap();
        // SAFETY: the word was just made for this type.
        let back = unsafe { take(&ty, word) }.unwrap();
        assert_eq!(format!("{back:?}"), format!("{value:?}"), "{text}");
    }

    #[test]
    fn values_pass_both_ways() {
        check("int", -3i64);
        check("float", 0.5);
        check("bool", true);
        check("str", "über".to_owned());
        check("ScalarType", DType::BFloat16);
        check("Device", "cuda:1".parse::<Device>().unwrap());
        check("Device", Device::CPU);
        check("int?", Value::None);
        check("float?", -0.0);
        check("str?", "x".to_owned());
        check("int[]", vec![1i64, -2]);
        check("float[]?", vec![0.25]);
        check("bool[]", vec![true, false]);
        check("str[]", vec!["a".to_owned(), String::new()]);
    }

    #[test]
    fn tensors_are_the_same_tensors() {
        let x = Tensor::from([1.0]);
        let (list, optional) = (ty("Tensor?[]"), ty("Tensor?"));
        let word = give(&list, &vec![Some(x.clone()), None].into()).unwrap();
        // SAFETY: the word was just made for this type.
        let Value::OptionalTensors(back) = (unsafe { take(&list, word) }).unwrap() else { panic!("a list") };
        assert!(back[0].as_ref().unwrap().is_same(&x) && back[1].is_none());
        let word = give(&optional, &Value::TensorRef(&x)).unwrap();
        // SAFETY: the word was just made for this type.
        let Value::Tensor(back) = (unsafe { take(&optional, word) }).unwrap() else { panic!("a tensor") };
        assert!(back.is_same(&x));
    }

    #[test]
    fn what_the_abi_does_not_carry_is_refused() {
        let text = |text: &str, value: Value<'_>| give(&ty(text), &value).unwrap_err().to_string();
        assert_eq!(
            text("Scalar", Scalar::Int(1).into()),
            "PyTorch's stable ABI carries no value of type Scalar"
        );
        assert_eq!(text("int", Value::Float(1.0)), "a value of type float where the schema says int");
        // SAFETY: a null handle refers to no object.
        let null = |text: &str| unsafe { take(&ty(text), 0) }.unwrap_err().to_string();
        assert_eq!(null("Tensor"), "a null handle of a tensor");
        assert_eq!(null("int[]"), "a null handle of a list");
    }
}
