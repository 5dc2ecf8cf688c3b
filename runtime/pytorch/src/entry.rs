//! What PyTorch calls: from its stack to the dispatcher here and back, with every failure as an exception.
#![expect(unsafe_code, reason = "owns the words of PyTorch's stack while a call lasts")]

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use torch_library::schema::{Schema, Type};
use torch_library::{DispatchKey, ErrorKind, OperatorHandle, Receiver, Result, Stack, Tensor, Value, bail};

use crate::derivative;
use crate::exception;
use crate::incoming::{Incoming, Sight};
use crate::plan::{Entry, Passing, passing};
use crate::shim::Word;
use crate::words;

/// An operator as PyTorch calls it.
#[derive(Debug)]
pub(crate) struct Exported {
    pub(crate) operator: OperatorHandle,
    pub(crate) schema: &'static Schema,
    /// The composite kernel that runs on stand-ins; without one the dispatcher here picks a kernel, for elements.
    pub(crate) composite: Option<DispatchKey>,
    /// The kernel that knows the derivative.
    pub(crate) autograd: Option<DispatchKey>,
}

impl Receiver for Exported {
    unsafe fn receive(&self, stack: *mut u64, inputs: u64, outputs: u64) {
        let length = inputs.max(outputs) as usize;
        let words: &mut [Word] = match length {
            0 => &mut [],
            // SAFETY: PyTorch lends so many words, and uses none of them until this returns.
            length => unsafe { std::slice::from_raw_parts_mut(stack, length) },
        };
        // SAFETY: the first words are the arguments of one of the operators that were registered with this, and the
        // callee's.
        let run = || unsafe { self.run(words, inputs as usize) };
        let (kind, message) = match catch_unwind(AssertUnwindSafe(run)) {
            Ok(Ok(())) => return,
            Ok(Err(error)) => (error.kind(), error.to_string()),
            Err(panic) => (ErrorKind::Kernel, format!("{} panicked: {}", self.operator, panic_text(&*panic))),
        };
        exception::raise(kind, message);
    }
}

impl Exported {
    /// Runs one call.
    ///
    /// # Safety
    /// * The first `inputs` words are the arguments of one of the operators that the entry point was registered for:
    ///   this one, or another with more arguments, whose last one is an [`Entry`]. They are owned, and nobody else's.
    unsafe fn run(&self, words: &mut [Word], inputs: usize) -> Result<()> {
        let mut incoming = Incoming::default();
        if inputs == self.schema.arguments.len() {
            // SAFETY: these are the operator's own arguments.
            let arguments = unsafe { self.arguments(&mut Words(&words[..inputs]), false, &mut incoming) }?;
            return self.call(arguments, &incoming, words);
        }
        let entry = words[inputs - 1];
        let mut rest = Words(&words[..inputs - 1]);
        if entry == Entry::Flat as Word {
            // SAFETY: these are the operator's arguments with numbers flattened, in front of the entry.
            let arguments = unsafe { self.arguments(&mut rest, true, &mut incoming) }?;
            return self.call(arguments, &incoming, words);
        }
        if entry != Entry::Backward as Word {
            bail!(Internal, "{} was called by an entry that it does not have", self.operator);
        }
        // SAFETY: these are the arguments of the operator that computes gradients, in front of the entry.
        let request = unsafe { self.backward_request(&mut rest, &mut incoming) }?;
        let gradients = derivative::backward(self, request)?;
        let ty = Type::List(Box::new(Type::Optional(Box::new(Type::Tensor))));
        words[0] = incoming.give(&ty, &Value::from(gradients))?;
        Ok(())
    }

    /// How a kernel of the operator sees tensors.
    fn sight(&self) -> Sight {
        if self.composite.is_some() { Sight::StandIn } else { Sight::Elements }
    }

    /// Takes the operator's arguments: all of them before any error is passed on, so that none is leaked.
    ///
    /// # Safety
    /// * The words in front are the operator's arguments, with numbers flattened or without, and owned.
    unsafe fn arguments(
        &self,
        words: &mut Words<'_>,
        is_flat: bool,
        incoming: &mut Incoming,
    ) -> Result<Stack<'static>> {
        // SAFETY: as this function's.
        unsafe { self.arguments_seen(words, is_flat, incoming, self.sight()) }
    }

    /// # Safety
    /// * As for [`arguments`](Self::arguments).
    unsafe fn arguments_seen(
        &self,
        words: &mut Words<'_>,
        is_flat: bool,
        incoming: &mut Incoming,
        sight: Sight,
    ) -> Result<Stack<'static>> {
        let (mut values, mut failure) = (Stack::new(), None);
        for argument in &self.schema.arguments {
            let value = match passing(&argument.ty) {
                Ok(Passing::Scalar) if is_flat => words::scalar([words.next(), words.next(), words.next()]),
                // SAFETY: the caller says that the word is an argument of this type.
                _ => unsafe { incoming.take(&argument.ty, words.next(), sight) },
            };
            match value {
                Ok(value) => values.push(value),
                Err(error) => {
                    failure.get_or_insert(error);
                }
            }
        }
        failure.map_or(Ok(values), Err)
    }

    /// Takes the arguments of the operator that computes gradients.
    ///
    /// # Safety
    /// * The words in front are its arguments, and owned.
    unsafe fn backward_request(
        &self,
        words: &mut Words<'_>,
        incoming: &mut Incoming,
    ) -> Result<derivative::Request> {
        let (tensor, sight) = (Type::Tensor, Sight::StandIn);
        let optional = Type::Optional(Box::new(tensor.clone()));
        // SAFETY: the operator's arguments come first, then two lists of tensors and one of flags, as the schema of
        // gradients has them.
        unsafe {
            let arguments = self.arguments_seen(words, true, incoming, sight);
            let results = incoming.take(&Type::List(Box::new(tensor)), words.next(), sight);
            let grads = incoming.take(&Type::List(Box::new(optional)), words.next(), sight);
            let wanted = incoming.take(&Type::List(Box::new(Type::Bool)), words.next(), sight);
            derivative::Request::new(arguments?.into_iter().collect(), results?, grads?, wanted?)
        }
    }

    /// Calls the operator here, and leaves its returns for PyTorch.
    fn call(&self, mut stack: Stack<'static>, incoming: &Incoming, words: &mut [Word]) -> Result<()> {
        let written: Vec<Tensor> = self.written(stack.last(stack.len()));
        match self.composite {
            Some(key) => self.operator.call_boxed_for_key(key, &mut stack)?,
            None => self.operator.call_boxed(&mut stack)?,
        }
        written.iter().try_for_each(|tensor| incoming.written(tensor))?;
        let returns = stack.last(self.schema.returns.len());
        // All before any is handed over: what comes before an error is freed with this list.
        let mut given = Given { words: Vec::with_capacity(returns.len()), schema: self.schema };
        for (ret, value) in self.schema.returns.iter().zip(returns) {
            given.words.push(incoming.give(&ret.ty, value)?);
        }
        words[..given.words.len()].copy_from_slice(&given.words);
        given.words.clear();
        Ok(())
    }

    /// The tensors that the operator may write to.
    fn written(&self, arguments: &[Value<'static>]) -> Vec<Tensor> {
        let all = self.schema.arguments.iter().zip(arguments);
        let mutable = all.filter(|(argument, _)| argument.is_mutable());
        mutable.flat_map(|(_, value)| value.all_tensors().cloned()).collect()
    }
}

/// The words of a stack that are still to be taken.
struct Words<'w>(&'w [Word]);

impl Words<'_> {
    /// The next one; zero, which is no object, where there is none.
    fn next(&mut self) -> Word {
        self.0.split_off_first().copied().unwrap_or_default()
    }
}

/// Returns that PyTorch does not have yet.
struct Given {
    words: Vec<Word>,
    schema: &'static Schema,
}

impl Drop for Given {
    fn drop(&mut self) {
        for (ret, word) in self.schema.returns.iter().zip(self.words.drain(..)) {
            // SAFETY: the word was made of a return of this type, and nobody has it.
            drop(unsafe { Incoming::default().take(&ret.ty, word, Sight::StandIn) });
        }
    }
}

/// What a panic says.
fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no text")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_have_a_text() {
        let of = |run: fn()| panic_text(&*catch_unwind(run).unwrap_err()).to_owned();
        assert_eq!(of(|| std::panic::resume_unwind(Box::new("short"))), "short");
        assert_eq!(of(|| std::panic::resume_unwind(Box::new("long".to_owned()))), "long");
        assert_eq!(of(|| std::panic::resume_unwind(Box::new(7))), "no text");
    }

    #[test]
    fn words_run_out_without_harm() {
        let mut words = Words(&[7, 8]);
        assert_eq!([words.next(), words.next(), words.next()], [7, 8, 0]);
    }
}
