//! Kernels of foreign libraries, as the dispatcher calls them: values are converted to words, and words to values.
#![expect(unsafe_code, reason = "hands a stack to a foreign function, and takes it back")]

use std::ffi::c_void;
use std::sync::Arc;

use torch_library::schema::Schema;
use torch_library::{
    DispatchKey, Error, ErrorKind, OperatorHandle, Result, RuntimeKernel, Stack, Tensor, Value, bail,
};

use crate::host::words::{Given, Word};
use crate::host::{exception, last, leases, words};

/// A function of the ABI that is a kernel.
pub(crate) type Entry = unsafe extern "C-unwind" fn(*mut Word, u64, u64);

/// A kernel of a foreign library.
pub(crate) struct Kernel {
    pub(crate) function: Entry,
    pub(crate) library: Arc<str>,
    pub(crate) key: Option<DispatchKey>,
}

impl Kernel {
    /// Converts it for the registry.
    pub(crate) fn into_runtime_kernel(self) -> RuntimeKernel {
        let label = format!("a kernel of {}", self.library);
        let run = move |operator: OperatorHandle, _, stack: &mut Stack<'_>| self.call(operator, stack);
        RuntimeKernel::boxed(run).named(&label)
    }

    fn call(&self, operator: OperatorHandle, stack: &mut Stack<'_>) -> Result<()> {
        let schema = operator.schema()?;
        if schema.is_vararg || schema.is_varret {
            bail!(NotSupported, "PyTorch's stable ABI carries no further arguments (`...`)");
        }
        let arguments = operator.take_arguments(stack)?;
        let mut given = Given::default();
        for (argument, value) in schema.arguments.iter().zip(&arguments) {
            let named = |error: Error| error.context(format_args!("argument `{}`", argument.name));
            given.push(&argument.ty, value).map_err(named)?;
        }
        let (written, read) = tensors(schema, &arguments);
        let running = leases::hold(written, read.into_iter())?;
        let (inputs, outputs) = (schema.arguments.len(), schema.returns.len());
        let mut words = given.handed_over();
        words.resize(inputs.max(outputs), 0);
        let places = [words.as_mut_ptr().expose_provenance(), inputs, outputs];
        // SAFETY: the code that loaded the library promised that its kernels keep to the ABI: they take a stack, which
        // has room for the arguments and for the returns, and two counts. The arguments fit the schema, and the kernel
        // owns them.
        let thrown = unsafe { exception::call(self.function as *const c_void, places) };
        drop(running);
        thrown.map_err(|text| self.failure(&text))?;
        // SAFETY: the kernel has returned, so these are its returns, with the types in the schema, and we own them.
        unsafe { returns(schema, &words[..outputs], stack) }.map_err(|error| self.failure_of(error))
    }

    /// The error for a failure that the library reports.
    fn failure(&self, text: &str) -> Error {
        self.failure_of(Error::new(last::kind_of(text), text.trim_end().to_owned()))
    }

    fn failure_of(&self, error: Error) -> Error {
        let key = self.key.map_or("all keys", DispatchKey::name);
        Error::new(error.kind(), format!("{error}\n  in the kernel for {key} of {}", self.library))
    }
}

/// The tensors that a call writes, and those that it reads.
fn tensors(schema: &Schema, arguments: &[Value<'_>]) -> (Vec<Tensor>, Vec<Tensor>) {
    let (mut written, mut read) = (Vec::new(), Vec::new());
    for (argument, value) in schema.arguments.iter().zip(arguments) {
        let tensors = value.all_tensors().filter(|tensor| tensor.is_defined()).cloned();
        if argument.is_mutable() { written.extend(tensors) } else { read.extend(tensors) }
    }
    (written, read)
}

/// Takes over the returns of a call.
///
/// # Errors
/// A return does not fit the schema.
///
/// # Safety
/// * The words are values of the types in the schema, owned by the caller, who does not use them again.
pub(crate) unsafe fn returns(schema: &Schema, words: &[Word], stack: &mut Stack<'_>) -> Result<()> {
    // All returns are taken before any error is returned, so that all of them are freed.
    let taken = schema.returns.iter().zip(words);
    // SAFETY: as the caller promises.
    let taken: Vec<_> = taken.map(|(ret, word)| (ret, unsafe { words::take(&ret.ty, *word) })).collect();
    for (index, (ret, value)) in taken.into_iter().enumerate() {
        let value = value.map_err(|error| error.context(format_args!("return {index}")))?;
        let is_missing = value.is_none() && !matches!(ret.ty, torch_library::schema::Type::Optional(_));
        if is_missing && ret.ty != torch_library::schema::Type::Tensor {
            return Err(Error::new(ErrorKind::Type, format!("return {index} is not there")));
        }
        stack.push(value);
    }
    Ok(())
}
