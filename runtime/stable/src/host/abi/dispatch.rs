//! Calls of operators by name, and related functions: errors, warnings, grad mode.
#![expect(unsafe_code, reason = "takes the words of a stack over, and reads texts of C")]

use std::ffi::c_char;

use torch_library::element::Complex64;
use torch_library::guard::GradMode;
use torch_library::schema::Type;
use torch_library::{
    Dispatcher, Error, ErrorKind, OperatorHandle, Result, Scalar, Stack, Value, bail, ensure,
};

use super::{Out, functions, others, put};
use crate::host::words::{self, Given, Word, c_text};
use crate::host::{exception, last, leases, numbers};

functions! {
    /// Not part of PyTorch's ABI: like `torch_call_dispatcher`, for a library that supports both hosts and passes
    /// `Scalar`s as handles.
    fn torch_library_host_call_dispatcher(
        op_name: *const c_char,
        overload_name: *const c_char,
        stack: *mut Word,
        _extension_build_version: u64,
    ) {
        // SAFETY: the library promises that the texts end in zeros, and that the stack fits the operator.
        unsafe { call(op_name, overload_name, stack, Numbers::AsHandles) }
    }

    /// Not part of PyTorch's ABI: makes a `Scalar` from its kind and its bits.
    fn torch_library_host_new_scalar(kind: i64, first: u64, second: u64, ret: Out<'_, *mut Scalar>) {
        let (re, im) = (f64::from_bits(first), f64::from_bits(second));
        let scalar = match kind {
            1 => Scalar::Int(first as i64),
            2 => Scalar::Float(re),
            3 => Scalar::Bool(first != 0),
            4 => Scalar::Complex(Complex64::new(re, im)),
            _ => bail!(Argument, "a number of kind {kind}, which is none"),
        };
        put(ret, Box::into_raw(Box::new(scalar)))
    }

    fn torch_library_host_delete_scalar(scalar: *mut Scalar) {
        // SAFETY: the library promises that this is its handle, and that it no longer uses it.
        unsafe { words::take_box::<Scalar>(scalar.expose_provenance() as Word, "number") }.map(drop)
    }

    fn torch_call_dispatcher(
        op_name: *const c_char,
        overload_name: *const c_char,
        stack: *mut Word,
        _extension_build_version: u64,
    ) {
        // SAFETY: the library promises that the texts end in zeros, and that the stack fits the operator.
        unsafe { call(op_name, overload_name, stack, Numbers::Refused) }
    }

    fn aoti_torch_call_dispatcher(op_name: *const c_char, overload_name: *const c_char, stack: *mut Word) {
        // SAFETY: the library promises that the texts end in zeros, and that the stack fits the operator.
        unsafe { call(op_name, overload_name, stack, Numbers::Refused) }
    }

    fn torch_parse_device_string(
        device_string: *const c_char,
        out_device_type: Out<'_, u32>,
        out_device_index: Out<'_, i32>,
    ) {
        // SAFETY: the library promises that the text ends in a zero.
        let text = unsafe { c_text(device_string, "the device") }?;
        let device: torch_library::Device = text.parse()?;
        put(out_device_type, device.kind as u32)?;
        put(out_device_index, numbers::index(device))
    }
}

others! {
    aoti_torch_check,
    aoti_torch_warn,
    torch_exception_get_what,
    torch_exception_get_what_without_backtrace,
    aoti_torch_grad_mode_is_enabled,
    aoti_torch_grad_mode_set_enabled,
    aoti_torch_print_tensor_handle,
}

/// The operator with this name, `ns::name.overload`.
///
/// # Errors
/// There is no such operator.
pub(super) fn find(name: &str) -> Result<OperatorHandle> {
    Dispatcher::global().find(name).map_err(|error| {
        if !name.starts_with("aten::") || error.kind() != ErrorKind::UnknownOperator {
            return error;
        }
        let help =
            "those of `aten` come with the crate torch-library-kernels: `use torch_library_kernels as _;`";
        Error::new(error.kind(), format!("{error}\n  help: {help}"))
    })
}

/// How a `Scalar` argument is passed.
#[derive(Clone, Copy, PartialEq)]
enum Numbers {
    /// Not at all, as in PyTorch's functions.
    Refused,
    /// As a handle.
    AsHandles,
}

/// Takes over an argument.
///
/// # Safety
/// * The requirements of [`words::take`]; with handles of numbers, the word of a `Scalar` is one.
unsafe fn take(ty: &Type, word: Word, numbers: Numbers) -> Result<Value<'static>> {
    let is_number = matches!(ty.without_optional(), Type::Scalar | Type::Complex);
    let word = match ty {
        _ if !is_number || numbers == Numbers::Refused => {
            // SAFETY: as the caller promises.
            return unsafe { words::take(ty, word) };
        }
        Type::Optional(_) if word == 0 => return Ok(Value::None),
        // SAFETY: the word of an optional with a value is the address of a separate place with the value's word.
        Type::Optional(_) => unsafe { words::take_place(word) },
        _ => word,
    };
    // SAFETY: the caller promises that it is a handle of a number.
    unsafe { words::take_box::<Scalar>(word, "number") }.map(Value::from)
}

/// # Safety
/// * The texts end in zeros.
/// * The stack has room for the arguments and for the returns of the operator. It begins with all arguments, with the
///   types in its schema; the callee owns them.
unsafe fn call(
    name: *const c_char,
    overload: *const c_char,
    stack: *mut Word,
    numbers: Numbers,
) -> Result<()> {
    // SAFETY: as the caller promises.
    let (name, overload) =
        unsafe { (c_text(name, "the operator's name")?, c_text(overload, "its overload")?) };
    let operator = match &*overload {
        "" => find(&name)?,
        overload => find(&format!("{name}.{overload}"))?,
    };
    let schema = operator.schema()?;
    ensure!(!schema.is_vararg && !schema.is_varret, NotSupported, "{operator} takes any number of values");
    let (inputs, outputs) = (schema.arguments.len(), schema.returns.len());
    ensure!(inputs.max(outputs) == 0 || !stack.is_null(), Argument, "a null stack for {operator}");
    // All arguments are taken before any error is returned, so that all of them are freed.
    let mut taken = Vec::with_capacity(inputs);
    for (index, argument) in schema.arguments.iter().enumerate() {
        // SAFETY: the caller promises that the stack begins with the arguments, with these types, and that we own them.
        taken.push(unsafe { take(&argument.ty, stack.add(index).read(), numbers) });
    }
    let mut values = Stack::new();
    for (argument, value) in schema.arguments.iter().zip(taken) {
        values.push(
            value.map_err(|error| error.context(format_args!("{operator}, argument `{}`", argument.name)))?,
        );
    }
    leases::suspended(|| operator.call_boxed(&mut values))?;
    let mut given = Given::default();
    for (ret, value) in schema.returns.iter().zip(values.last(outputs)) {
        let named = |error: Error| error.context(format_args!("a return of {operator}"));
        given.push(&ret.ty, value).map_err(named)?;
    }
    for (index, word) in given.handed_over().into_iter().enumerate() {
        // SAFETY: the caller promises that there is room for the returns.
        unsafe { stack.add(index).write(word) };
    }
    Ok(())
}

/// Throws if a condition does not hold; the only function of the ABI that throws.
extern "C-unwind" fn aoti_torch_check(
    condition: bool,
    function: *const c_char,
    file: *const c_char,
    line: u32,
    message: *const c_char,
) {
    if !condition {
        exception::raise(located(function, file, line, message));
    }
}

/// The text of a message, with its source location, if it has one.
fn located(function: *const c_char, file: *const c_char, line: u32, message: *const c_char) -> String {
    // SAFETY: the library promises that these are texts that end in zeros, or null.
    let [message, function, file] =
        [message, function, file].map(|text| unsafe { c_text(text, "").unwrap_or_default() });
    // Line 0 means that the message comes from one of our own libraries, which has named the place already.
    if line == 0 { message.into_owned() } else { format!("{message}\n  in {function} at {file}:{line}") }
}

extern "C" fn aoti_torch_warn(
    function: *const c_char,
    file: *const c_char,
    line: u32,
    message: *const c_char,
) {
    last::or("aoti_torch_warn", (), || torch_library::warning::warn(located(function, file, line, message)));
}

extern "C" fn torch_exception_get_what() -> *const c_char {
    last::text()
}

extern "C" fn torch_exception_get_what_without_backtrace() -> *const c_char {
    last::text()
}

extern "C" fn aoti_torch_grad_mode_is_enabled() -> bool {
    last::or("aoti_torch_grad_mode_is_enabled", false, GradMode::is_enabled)
}

extern "C" fn aoti_torch_grad_mode_set_enabled(enabled: bool) {
    last::or("aoti_torch_grad_mode_set_enabled", (), || GradMode::set_enabled(enabled));
}

extern "C" fn aoti_torch_print_tensor_handle(this: super::Handle<'_>, message: *const c_char) {
    last::or("aoti_torch_print_tensor_handle", (), || {
        // SAFETY: the library promises that it is a text that ends in a zero, or null.
        let message = unsafe { c_text(message, "").unwrap_or_default() };
        if let Some(this) = this
            && let Ok(text) = leases::suspended(|| Ok(this.to_string()))
        {
            println!("[{message}]: {text}");
        }
    });
}
