//! Converts values to and from the words of PyTorch's stack, by the type in the schema.
#![expect(unsafe_code, reason = "a word may be an object of PyTorch, which is taken over or given away")]

use std::borrow::Cow;
use std::ffi::{CStr, c_char};
use std::mem::ManuallyDrop;

use smallvec::SmallVec;
use torch_library::schema::Type;
use torch_library::{
    DType, Device, Error, ErrorKind, Generator, Layout, MemoryFormat, Result, Scalar, Tensor, Value, bail,
};

use crate::handle::{Handle, device_numbers, dtype_number};
use crate::incoming::{Incoming, Sight};
use crate::python;
use crate::shim::{Object, WRITTEN_FROM, Word, check, number_of, of_number, shim};

/// The word of an optional without a value.
pub(crate) const NONE: Word = 0;

impl Incoming {
    /// Converts a word to a value, by the type in the schema, and takes ownership of it.
    ///
    /// # Errors
    /// No value here has this type, or a tensor's dtype, layout or device is not known here. The word is freed.
    ///
    /// # Safety
    /// * The word is a PyTorch value of this type that the caller owns and does not use again.
    pub(crate) unsafe fn take(&mut self, ty: &Type, word: Word, sight: Sight) -> Result<Value<'static>> {
        let numbers = &shim().numbers;
        Ok(match ty {
            // SAFETY: the caller guarantees that it is an owned tensor.
            Type::Tensor => Value::Tensor(self.tensor(unsafe { Handle::from_word(word)? }, sight)?),
            Type::Int | Type::SymInt => Value::Int(word as i64),
            Type::Float => Value::Float(f64::from_bits(word)),
            Type::Bool => Value::Bool(word & 0xff != 0),
            Type::ScalarType => Value::DType(known(&numbers.dtypes, word, "element type")?),
            Type::Layout => Value::Layout(known(&numbers.layouts, word, "layout")?),
            Type::MemoryFormat => Value::MemoryFormat(known(&numbers.formats, word, "memory format")?),
            Type::Device => {
                let index = word as u32 as i32;
                let kind = known(&numbers.devices, word >> 32, "device type")?;
                let index = u8::try_from(index).ok().filter(|_| kind != torch_library::DeviceType::Cpu);
                Value::Device(Device::new(kind, index))
            }
            // SAFETY: the caller guarantees that it is an owned string.
            Type::Str => Value::Str(Cow::Owned(unsafe { take_string(word as Object)? })),
            // SAFETY: the caller guarantees that it is an owned generator.
            Type::Generator => unsafe { take_generator(Some(word), sight)? },
            Type::Optional(inner) if word == NONE => match **inner {
                // SAFETY: there is no word, so there is nothing to own.
                Type::Generator if sight == Sight::Elements => unsafe { take_generator(None, sight)? },
                _ => Value::None,
            },
            Type::Optional(inner) => {
                let place = word as *mut Word;
                // SAFETY: the caller guarantees that it is an owned optional, and it is not none: it points to its
                // value, which it owns.
                let value = unsafe { place.read() };
                free_some(place);
                // SAFETY: the value of an optional of this type has the inner type, and only we own it: the optional
                // has been freed.
                unsafe { self.take(inner, value, sight)? }
            }
            Type::Scalar | Type::Complex if let Some(delete) = shim().torch_library_host_delete_scalar => {
                // SAFETY: the caller guarantees that it is an owned scalar, which the host made.
                unsafe { delete(word as Object) };
                bail!(NotSupported, "no operator returns a value of type {ty} to a library")
            }
            // SAFETY: the caller guarantees that it is an owned list of elements of this type.
            Type::List(element) => unsafe { self.take_list(element, word as Object, sight)? },
            other => {
                bail!(NotSupported, "a value of type {other} does not pass through PyTorch's C functions")
            }
        })
    }

    /// Takes ownership of a list, and converts it to a value.
    ///
    /// # Safety
    /// * It is an owned list with elements of this type.
    unsafe fn take_list(&mut self, element: &Type, list: Object, sight: Sight) -> Result<Value<'static>> {
        let list = List(list);
        // SAFETY: it is a list.
        let words = unsafe { elements(list.0) }?;
        // Take all of them before returning an error, so that none is leaked.
        // SAFETY: the elements are owned with the list, and `List` frees only the list itself.
        let values = words.into_iter().map(|word| unsafe { self.take(element, word, sight) });
        let values: Vec<Result<Value<'static>>> = values.collect();
        let mut values = values.into_iter().collect::<Result<Vec<_>>>()?;
        Ok(match element {
            Type::Tensor => Value::Tensors(Cow::Owned(each(&mut values, tensor)?)),
            Type::Optional(inner) if **inner == Type::Tensor => {
                Value::OptionalTensors(Cow::Owned(each(&mut values, optional_tensor)?))
            }
            Type::Int | Type::SymInt => Value::Ints(Cow::Owned(each(&mut values, |value| match value {
                Value::Int(value) => Some(value),
                _ => None,
            })?)),
            Type::Float => Value::Floats(Cow::Owned(each(&mut values, |value| match value {
                Value::Float(value) => Some(value),
                _ => None,
            })?)),
            Type::Bool => Value::Bools(Cow::Owned(each(&mut values, |value| match value {
                Value::Bool(value) => Some(value),
                _ => None,
            })?)),
            Type::Str => Value::Strs(Cow::Owned(each(&mut values, |value| match value {
                Value::Str(text) => Some(text.into_owned()),
                _ => None,
            })?)),
            other => bail!(NotSupported, "a list of {other} has no value here"),
        })
    }

    /// Converts a value to a word, which PyTorch then owns.
    ///
    /// # Errors
    /// The value has another type, or PyTorch lacks the dtype, device or the like.
    pub(crate) fn give(&self, ty: &Type, value: &Value<'_>) -> Result<Word> {
        let numbers = &shim().numbers;
        Ok(match (ty, value) {
            (Type::Optional(_), Value::None) => NONE,
            (Type::Optional(inner), value) => some(self.give(inner, value)?)?,
            (Type::Tensor, Value::None) => Handle::undefined()?.into_word(),
            (Type::Tensor, value) => match value.as_tensor() {
                Some(tensor) => self.out(tensor)?.into_word(),
                None => return Err(mismatch(ty, value)),
            },
            (Type::Int | Type::SymInt, Value::Int(value)) => *value as Word,
            (Type::Float, Value::Float(value)) => value.to_bits(),
            (Type::Float, Value::Int(value)) => (*value as f64).to_bits(),
            (Type::Bool, Value::Bool(value)) => Word::from(*value),
            (Type::ScalarType | Type::Int, Value::DType(dtype)) => dtype_number(*dtype)? as u32 as Word,
            (Type::Layout, Value::Layout(layout)) => number(&numbers.layouts, *layout, "layout")?,
            (Type::MemoryFormat, Value::MemoryFormat(format)) => {
                number(&numbers.formats, *format, "memory format")?
            }
            (Type::Device, Value::Device(device)) => {
                let (kind, index) = device_numbers(*device)?;
                Word::from(kind as u32) << 32 | Word::from(index as u32)
            }
            (Type::Str, Value::Str(text)) => string(text)?,
            (Type::List(element), value) => self.give_list(element, value)?,
            (Type::Scalar | Type::Complex, value) => number_handle(ty, value)?,
            _ => return Err(mismatch(ty, value)),
        })
    }

    fn give_list(&self, element: &Type, value: &Value<'_>) -> Result<Word> {
        let list = |words: Result<Vec<Word>>| make_list(&words?);
        match value {
            Value::Ints(values) => ints(values),
            Value::Floats(values) => list(Ok(values.iter().map(|value| value.to_bits()).collect())),
            Value::Bools(values) => list(Ok(values.iter().map(|value| Word::from(*value)).collect())),
            Value::Strs(values) => list(values.iter().map(|text| string(text)).collect()),
            Value::OptionalTensors(values) => {
                let words = values.iter().map(|tensor| match tensor {
                    Some(tensor) => some(self.out(tensor)?.into_word()),
                    None => Ok(NONE),
                });
                list(words.collect())
            }
            Value::Tensors(_) | Value::TensorsMut(_) => {
                let words = value.tensors().iter().map(|tensor| {
                    let word = self.out(tensor)?.into_word();
                    if matches!(element, Type::Optional(_)) { some(word) } else { Ok(word) }
                });
                list(words.collect())
            }
            other => Err(mismatch(&Type::List(Box::new(element.clone())), other)),
        }
    }
}

/// The word of a `Scalar`, for a host that takes one.
fn number_handle(ty: &Type, value: &Value<'_>) -> Result<Word> {
    let (Some(new), Some(number)) = (shim().torch_library_host_new_scalar, as_scalar(value)) else {
        return Err(mismatch(ty, value));
    };
    let (kind, first, second) = match number {
        Scalar::Int(value) => (1, value as Word, 0),
        Scalar::Float(value) => (2, value.to_bits(), 0),
        Scalar::Bool(value) => (3, Word::from(value), 0),
        Scalar::Complex(value) => (4, value.re.to_bits(), value.im.to_bits()),
    };
    let mut handle: Object = std::ptr::null_mut();
    // SAFETY: the function writes its answer to the given address.
    check(unsafe { new(kind, first, second, &raw mut handle) }, || "handing over a number".into())?;
    Ok(handle as Word)
}

#[cold]
fn mismatch(ty: &Type, value: &Value<'_>) -> Error {
    Error::new(ErrorKind::Type, format!("a value of type {} where PyTorch expects {ty}", value.type_name()))
}

/// The value whose PyTorch number is in the lower half of a word.
fn known<T: Copy>(pairs: &[(T, i32)], word: Word, what: &str) -> Result<T> {
    let number = word as u32 as i32;
    let unknown = || Error::new(ErrorKind::Argument, format!("{what} {number} of PyTorch is not known here"));
    of_number(pairs, number).ok_or_else(unknown)
}

fn number<T: Copy + PartialEq + std::fmt::Display>(pairs: &[(T, i32)], value: T, what: &str) -> Result<Word> {
    let unknown = || Error::new(ErrorKind::Argument, format!("this PyTorch has no {what} {value}"));
    Ok(number_of(pairs, value).ok_or_else(unknown)? as u32 as Word)
}

/// The elements of a list, each converted from a value by `of`.
fn each<T>(values: &mut Vec<Value<'static>>, of: impl Fn(Value<'static>) -> Option<T>) -> Result<Vec<T>> {
    let other = || Error::new(ErrorKind::Type, "a list of PyTorch has elements of several types");
    values.drain(..).map(|value| of(value).ok_or_else(other)).collect()
}

fn tensor(value: Value<'static>) -> Option<Tensor> {
    match value {
        Value::Tensor(tensor) => Some(tensor),
        _ => None,
    }
}

fn optional_tensor(value: Value<'static>) -> Option<Option<Tensor>> {
    match value {
        Value::None => Some(None),
        Value::Tensor(tensor) => Some(tensor.is_defined().then_some(tensor)),
        _ => None,
    }
}

/// The words of a list, which the list still owns.
///
/// # Safety
/// * It is a live list.
pub(crate) unsafe fn elements(list: Object) -> Result<SmallVec<[Word; 8]>> {
    let mut size = 0;
    // SAFETY: it is a live list, and the function writes the size to the given address.
    check(unsafe { (shim().torch_list_size)(list, &raw mut size) }, || "measuring a list".into())?;
    let element = |index| {
        let mut word = 0;
        // SAFETY: it is a live list with an element at this index, which the function writes to the given address.
        let code = unsafe { (shim().torch_list_get_item)(list, index, &raw mut word) };
        check(code, || "reading a list".into()).map(|()| word)
    };
    (0..size).map(element).collect()
}

/// A second word that owns the same value: a new reference to a tensor, a copy of a list or a string.
///
/// # Errors
/// The value is a generator; the exceptions of PyTorch.
///
/// # Safety
/// * The word is a live PyTorch value of this type.
pub(crate) unsafe fn share(ty: &Type, word: Word) -> Result<Word> {
    Ok(match ty {
        // SAFETY: it is a tensor, and `ManuallyDrop` leaves its reference alone.
        Type::Tensor => ManuallyDrop::new(unsafe { Handle::from_word(word) }?).share()?.into_word(),
        Type::Optional(_) if word == NONE => NONE,
        Type::Optional(inner) => {
            // SAFETY: an optional that is not none points to its value, which has the inner type.
            some(unsafe { share(inner, (word as *const Word).read()) }?)?
        }
        Type::List(element) => {
            // SAFETY: it is a live list, which is only read.
            let words = unsafe { elements(word as Object) }?;
            // SAFETY: its elements are of this type.
            let shared = words.iter().map(|word| unsafe { share(element, *word) });
            make_list(&shared.collect::<Result<Vec<_>>>()?)?
        }
        // SAFETY: it is a live string, which is only read.
        Type::Str => string(&unsafe { text(word as Object) }?)?,
        Type::Generator => bail!(NotSupported, "a generator is not kept for a derivative"),
        _ => word,
    })
}

/// A list that is freed on drop, without its elements.
struct List(Object);

impl Drop for List {
    fn drop(&mut self) {
        // SAFETY: it is a list that nothing uses any more. A failure would only leak it.
        unsafe { (shim().torch_delete_list)(self.0) };
    }
}

/// Makes a list that owns these elements.
fn make_list(words: &[Word]) -> Result<Word> {
    let mut list: Object = std::ptr::null_mut();
    // SAFETY: the function writes its answer to the given address.
    let code = unsafe { (shim().torch_new_list_reserve_size)(words.len(), &raw mut list) };
    check(code, || "making a list".into())?;
    for word in words {
        // SAFETY: it is the list that was made above.
        check(unsafe { (shim().torch_list_push_back)(list, *word) }, || "filling a list".into())?;
    }
    Ok(list as Word)
}

/// Makes a list of integers.
pub(crate) fn ints(values: &[i64]) -> Result<Word> {
    make_list(&values.iter().map(|value| *value as Word).collect::<Vec<_>>())
}

/// Makes an optional with a value.
pub(crate) fn some(word: Word) -> Result<Word> {
    let mut place: *mut Word = std::ptr::null_mut();
    match (shim().torch_new_stable_ivalue, shim()._Znwm) {
        // SAFETY: the function writes its answer to the given address.
        (Some(new), _) => check(unsafe { new(&raw mut place) }, || "making an optional".into())?,
        // SAFETY: it allocates the given number of bytes, or throws.
        (None, Some(new)) => place = unsafe { new(size_of::<Word>()) }.cast(),
        (None, None) => bail!(NotSupported, "this PyTorch does not say how optionals are made"),
    }
    // SAFETY: one of the two has allocated memory for a word, which we own.
    unsafe { place.write(word) };
    Ok(place as Word)
}

/// Frees an optional whose value has been taken.
fn free_some(place: *mut Word) {
    match (shim().torch_delete_stable_ivalue, shim()._ZdlPv) {
        // SAFETY: PyTorch made it, and nothing uses it any more. A failure would only leak it.
        (Some(delete), _) => drop(unsafe { delete(place) }),
        // SAFETY: a PyTorch without that function makes optionals by `operator new`, and nothing uses this one any
        // more.
        (None, Some(delete)) => unsafe { delete(place.cast()) },
        (None, None) => {}
    }
}

fn string(text: &str) -> Result<Word> {
    let mut handle: Object = std::ptr::null_mut();
    // SAFETY: it copies `text.len()` bytes of the text, and writes its answer to the given address.
    let code = unsafe { (shim().torch_new_string_handle)(text.as_ptr().cast(), text.len(), &raw mut handle) };
    check(code, || "making a string".into())?;
    Ok(handle as Word)
}

/// The contents of a string.
///
/// # Safety
/// * It is a live PyTorch string.
pub(crate) unsafe fn text(handle: Object) -> Result<String> {
    let (mut length, mut text): (usize, *const c_char) = (0, std::ptr::null());
    // SAFETY: it is a live string, and both functions write their answers to the given addresses.
    let codes = unsafe {
        [
            (shim().torch_string_length)(handle, &raw mut length),
            (shim().torch_string_c_str)(handle, &raw mut text),
        ]
    };
    codes.into_iter().try_for_each(|code| check(code, || "reading a string".into()))?;
    // SAFETY: the string has `length` bytes at this address, which stay there until it is deleted.
    let bytes = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), length) };
    Ok(String::from_utf8_lossy(bytes).into_owned())
}

/// Takes ownership of a string, and returns its contents.
///
/// # Safety
/// * It is an owned PyTorch string.
unsafe fn take_string(handle: Object) -> Result<String> {
    // SAFETY: it is a live string.
    let taken = unsafe { text(handle) };
    // SAFETY: the string is ours, and nothing uses it any more.
    unsafe { (shim().torch_delete_string)(handle) };
    taken
}

/// A generator of this library, seeded by a number from PyTorch's generator: PyTorch's C functions cannot draw from
/// that directly. Without a word, the seed comes from PyTorch's default generator.
///
/// # Safety
/// * The word is an owned PyTorch generator.
unsafe fn take_generator(word: Option<Word>, sight: Sight) -> Result<Value<'static>> {
    if sight == Sight::StandIn {
        if let (Some(word), Some(delete)) = (word, shim().torch_delete_generator) {
            // SAFETY: the caller guarantees that it is an owned generator.
            unsafe { delete(word as Object) };
        }
        bail!(NotSupported, "a generator of PyTorch cannot be handed on to PyTorch's operators from here");
    }
    let (dtype, (device, index)) = (dtype_number(DType::Int64)?, device_numbers(Device::CPU)?);
    // SAFETY: there is one size and one stride, and the function writes its answer to the given address.
    let seed = Handle::made("making a seed", |made| unsafe {
        (shim().aoti_torch_empty_strided)(1, [1i64].as_ptr(), [1i64].as_ptr(), dtype, device, index, made)
    })?;
    let generator = word.map_or(Ok(NONE), some)?;
    let drawn = call_aten(c"aten::random_", vec![seed.into_word()], |words| {
        words.push(generator);
        Ok(())
    })?;
    // SAFETY: it is a tensor of one `int64`, which `random_` has written.
    let seed = unsafe { drawn.data()?.cast::<u64>().read() };
    Ok(Value::Generator(Cow::Owned(Generator::with_seed(seed))))
}

/// The scalar in three words: its kind, and the bits of one number or, for complex, of two. `None` is a kind, too.
///
/// # Errors
/// The kind is unknown.
pub(crate) fn scalar(words: [Word; 3]) -> Result<Value<'static>> {
    let [kind, first, second] = words;
    Ok(match kind {
        0 => Value::None,
        1 => Value::Int(first as i64),
        2 => Value::Float(f64::from_bits(first)),
        3 => Value::Bool(first != 0),
        4 => {
            let (re, im) = (f64::from_bits(first), f64::from_bits(second));
            Value::Complex(torch_library::element::Complex64::new(re, im))
        }
        _ => bail!(Argument, "a number of kind {kind}, which is none"),
    })
}

/// A scalar as Python source, for operators that are called through Python.
pub(crate) fn scalar_text(scalar: Scalar) -> String {
    match scalar {
        Scalar::Int(value) => value.to_string(),
        Scalar::Float(value) => format!("float.fromhex('{}')", hexadecimal(value)),
        Scalar::Bool(value) => if value { "True" } else { "False" }.to_owned(),
        Scalar::Complex(value) => format!(
            "complex(float.fromhex('{}'), float.fromhex('{}'))",
            hexadecimal(value.re),
            hexadecimal(value.im)
        ),
    }
}

/// The exact value of a float, in the format of Python's `float.fromhex`.
fn hexadecimal(value: f64) -> String {
    if !value.is_finite() {
        return if value.is_nan() {
            "nan"
        } else if value > 0.0 {
            "inf"
        } else {
            "-inf"
        }
        .to_owned();
    }
    let (bits, sign) = (value.to_bits(), if value.is_sign_negative() { "-" } else { "" });
    let (exponent, fraction) = ((bits >> 52 & 0x7ff) as i64, bits & ((1 << 52) - 1));
    match exponent {
        0 => format!("{sign}0x0.{fraction:013x}p-1022"),
        _ => format!("{sign}0x1.{fraction:013x}p{}", exponent - 1023),
    }
}

/// Calls an operator by name. The returns replace the arguments in the words.
///
/// # Errors
/// The exceptions of PyTorch.
///
/// # Safety
/// * The words are all arguments of the operator, of the types in its schema, and owned; there is room for its returns.
pub(crate) unsafe fn call(name: &CStr, overload: &CStr, words: &mut [Word]) -> Result<()> {
    python::begin();
    // SAFETY: the caller guarantees that the words are the operator's arguments; the names are null-terminated.
    let code = unsafe {
        let call = shim().torch_library_host_call_dispatcher.unwrap_or(shim().torch_call_dispatcher);
        call(name.as_ptr(), overload.as_ptr(), words.as_mut_ptr(), WRITTEN_FROM)
    };
    if code == 0 {
        return Ok(());
    }
    match python::take().or_else(python::pending) {
        Some(text) => Err(Error::new(ErrorKind::Kernel, text)),
        None => check(code, || format!("calling {} in PyTorch", name.to_string_lossy())),
    }
}

/// Calls a PyTorch operator that takes a tensor first and returns a tensor; `rest` pushes the other arguments.
///
/// # Errors
/// The exceptions of PyTorch.
pub(crate) fn call_aten(
    name: &CStr,
    mut words: Vec<Word>,
    rest: impl FnOnce(&mut Vec<Word>) -> Result<()>,
) -> Result<Handle> {
    rest(&mut words)?;
    // SAFETY: the callers, all in this crate, name operators of `aten` with one return, and pass the arguments of their
    // schemas.
    unsafe { call(name, c"", &mut words)? };
    // SAFETY: the return is an owned tensor.
    unsafe { Handle::from_word(words[0]) }
}

/// Calls a PyTorch operator that takes a tensor and returns a number.
///
/// # Errors
/// The exceptions of PyTorch.
pub(crate) fn of_tensor(name: &CStr, tensor: &Handle) -> Result<Word> {
    let mut words = [tensor.share()?.into_word()];
    // SAFETY: the callers, all in this crate, name operators of `aten` that take one tensor and return a number.
    unsafe { call(name, c"", &mut words)? };
    Ok(words[0])
}

/// The scalar in a value of any numeric type.
pub(crate) fn as_scalar(value: &Value<'_>) -> Option<Scalar> {
    Some(match value {
        Value::Int(value) => Scalar::Int(*value),
        Value::Float(value) => Scalar::Float(*value),
        Value::Bool(value) => Scalar::Bool(*value),
        Value::Complex(value) => Scalar::Complex(*value),
        _ => return None,
    })
}

/// A dtype, layout, memory format or device as Python source.
pub(crate) fn enum_text(value: &Value<'_>) -> Option<String> {
    Some(match value {
        Value::DType(dtype) => format!("torch.{dtype}"),
        Value::Layout(layout) => format!("torch.{}", Layout::name(*layout)),
        Value::MemoryFormat(format) => format!("torch.{}", MemoryFormat::name(*format)),
        Value::Device(device) => format!("torch.device('{device}')"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_lose_nothing_on_the_way_to_python() {
        assert_eq!(hexadecimal(1.0), "0x1.0000000000000p0");
        assert_eq!(hexadecimal(-0.1), "-0x1.999999999999ap-4");
        assert_eq!(hexadecimal(5e-324), "0x0.0000000000001p-1022");
        assert_eq!(hexadecimal(f64::NEG_INFINITY), "-inf");
        assert_eq!(scalar_text(Scalar::Int(i64::MIN)), "-9223372036854775808");
        assert_eq!(scalar_text(Scalar::Bool(true)), "True");
    }

    #[test]
    fn a_scalar_is_three_words() {
        assert!(matches!(scalar([0, 7, 7]).unwrap(), Value::None));
        assert!(matches!(scalar([1, u64::MAX, 0]).unwrap(), Value::Int(-1)));
        assert!(matches!(scalar([2, 2.5f64.to_bits(), 0]).unwrap(), Value::Float(2.5)));
        assert!(matches!(scalar([3, 1, 0]).unwrap(), Value::Bool(true)));
        let complex = scalar([4, 1f64.to_bits(), 2f64.to_bits()]).unwrap();
        assert!(matches!(complex, Value::Complex(value) if (value.re, value.im) == (1.0, 2.0)));
        assert_eq!(scalar([5, 0, 0]).unwrap_err().to_string(), "a number of kind 5, which is none");
    }
}
