//! The functions that PyTorch calls: from its stack to the dispatcher here and back, with failures as exceptions.
#![expect(unsafe_code, reason = "owns the words of PyTorch's stack while a call lasts")]

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;

use smallvec::SmallVec;
use torch_library::autograd::Derivative;
use torch_library::schema::{Schema, Type};
use torch_library::{DispatchKey, ErrorKind, OperatorHandle, Receiver, Result, Stack, Tensor, Value, bail};

use crate::above::Above;
use crate::handle::Handle;
use crate::hidden::Entry;
use crate::incoming::{Incoming, Sight};
use crate::plan::{Named, Passing, Role, is_tensors, passing};
use crate::shim::{Shim, Word};
use crate::{batched, derivative, exception, layer, views, words};

/// An operator as PyTorch calls it. The fields that every call reads come first, in few cache lines.
#[repr(C)]
pub(crate) struct Exported {
    pub(crate) operator: OperatorHandle,
    pub(crate) shim: &'static Shim,
    /// The kinds of the arguments, if they are all so simple that a call can lend them to the kernel.
    pub(crate) plain: Option<SmallVec<[Plain; 16]>>,
    pub(crate) has_returns: bool,
    /// Whether it returns views, which PyTorch differentiates.
    pub(crate) is_view: bool,
    pub(crate) schema: &'static Schema,
    /// The key of the autograd kernel.
    pub(crate) autograd: Option<DispatchKey>,
    /// The row of `derivatives!`, if the autograd kernel is one.
    pub(crate) derivative: Option<&'static Derivative>,
    pub(crate) named: Named,
    /// The kernel at the autograd key in PyTorch.
    pub(crate) above: Option<Above>,
}

/// The kind of an argument that passes in a single word and can be lent to a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plain {
    Tensor,
    Int,
    Float,
    Bool,
}

impl Plain {
    /// The kinds of all arguments; `None` if one is of another type, or if the operator writes to an argument or
    /// returns a view.
    pub(crate) fn all(schema: &Schema) -> Option<SmallVec<[Plain; 16]>> {
        let plain = schema.arguments.iter().map(|argument| match argument.ty {
            Type::Tensor => Some(Plain::Tensor),
            Type::Int | Type::SymInt => Some(Plain::Int),
            Type::Float => Some(Plain::Float),
            Type::Bool => Some(Plain::Bool),
            _ => None,
        });
        plain.collect::<Option<_>>().filter(|_| !schema.has_alias_info() && !schema.is_mutable())
    }
}

impl Receiver for Exported {
    unsafe fn receive(&self, which: usize, stack: *mut u64, inputs: u64, outputs: u64) {
        let length = inputs.max(outputs) as usize;
        let words: &mut [Word] = match length {
            0 => &mut [],
            // SAFETY: PyTorch lends `length` words, and does not use them until this returns.
            length => unsafe { std::slice::from_raw_parts_mut(stack, length) },
        };
        // SAFETY: the first words are the arguments of one of the operators that were registered with this receiver,
        // and the callee owns them.
        let run = || unsafe { self.run(Role::of(which), words, inputs as usize) };
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
    ///   this one, or an auxiliary one with more arguments, whose last one is an [`Entry`]. The call owns them alone.
    #[inline(always)]
    unsafe fn run(&self, role: Role, words: &mut [Word], inputs: usize) -> Result<()> {
        match &self.plain {
            Some(plain) if role == Role::Kernel && plain.len() == inputs => {
                let mut incoming = Incoming::default();
                // SAFETY: there are as many words as the operator's own arguments, so they are these arguments.
                unsafe { self.run_plain(plain, &mut incoming, words) }
            }
            // SAFETY: the caller guarantees what the words are.
            _ => unsafe { self.run_other(role, words, inputs) },
        }
    }

    /// Runs one call that is not plain.
    ///
    /// # Safety
    /// * The same as for [`run`](Self::run).
    #[inline(never)]
    unsafe fn run_other(&self, role: Role, words: &mut [Word], inputs: usize) -> Result<()> {
        if let (Role::Above, Some(above)) = (role, &self.above) {
            let mut is_untouched = true;
            let is_flat = inputs > self.schema.arguments.len();
            // SAFETY: `Above::run` passes owned arguments and results of this operator.
            let has_gradient = |needs: &[bool], arguments: &[Word], results: &[Word]| unsafe {
                self.has_gradient(needs, arguments, results, is_flat)
            };
            // SAFETY: the caller guarantees that the words are the arguments of the operator that was registered here,
            // which is the operator that `above` calls.
            let result = unsafe { above.run(self.operator, words, &mut is_untouched, has_gradient) };
            if is_untouched {
                let (words, mut incoming) = (&mut Words(&words[..inputs]), Incoming::default());
                // SAFETY: the words are still the owned arguments, which nothing has taken.
                drop(unsafe {
                    self.arguments(words, is_flat, Named::default(), &mut incoming, Sight::StandIn)
                });
            }
            return result;
        }
        let mut incoming = Incoming::default();
        // SAFETY: the caller guarantees what the words are.
        unsafe { self.run_values(role, words, inputs, &mut incoming) }
    }

    /// Runs one call of a kernel, or of an auxiliary operator, with values of any type.
    ///
    /// # Safety
    /// * The same as for [`run`](Self::run).
    unsafe fn run_values(
        &self,
        role: Role,
        words: &mut [Word],
        inputs: usize,
        incoming: &mut Incoming,
    ) -> Result<()> {
        if inputs == self.schema.arguments.len() {
            let sight = if role == Role::Composite { Sight::StandIn } else { Sight::Elements };
            // SAFETY: there are as many words as the operator's own arguments, so they are these arguments.
            let arguments = unsafe {
                self.arguments(&mut Words(&words[..inputs]), false, Named::default(), incoming, sight)
            }?;
            return self.call(role, arguments, incoming, words);
        }
        let entry = Entry::of(words[inputs - 1]);
        // SAFETY: these are the arguments of an auxiliary operator, in front of its entry.
        unsafe { self.serve(role, entry, incoming, words, inputs - 1) }
    }

    /// Runs one call of a kernel, lending it all arguments.
    ///
    /// # Safety
    /// * The first words are the operator's arguments, and owned.
    #[inline(always)]
    unsafe fn run_plain(&self, plain: &[Plain], incoming: &mut Incoming, words: &mut [Word]) -> Result<()> {
        let mut failure = None;
        for (kind, word) in plain.iter().zip(&*words) {
            if *kind == Plain::Tensor {
                // SAFETY: the caller guarantees that the word is an owned tensor.
                let handle = unsafe { Handle::from_word(*word) };
                // Take all of them before returning an error, so that none is leaked.
                if let Err(error) = handle.and_then(|handle| incoming.see(handle, self.shim)) {
                    failure.get_or_insert(error);
                }
            }
        }
        if let Some(error) = failure {
            return Err(error);
        }
        let mut stack = Stack::new();
        let mut tensors = incoming.tensors();
        if tensors.len() == plain.len() {
            tensors.by_ref().for_each(|tensor| stack.push(Value::TensorRef(tensor)));
            drop(tensors);
            self.operator.call_boxed(&mut stack)?;
            return self.give(&mut stack, incoming, words);
        }
        for (kind, word) in plain.iter().zip(&*words) {
            match kind {
                Plain::Tensor => stack.push(Value::TensorRef(tensors.next().expect("each was seen"))),
                Plain::Int => stack.push(Value::Int(*word as i64)),
                Plain::Float => stack.push(Value::Float(f64::from_bits(*word))),
                Plain::Bool => stack.push(Value::Bool(*word & 0xff != 0)),
            }
        }
        drop(tensors);
        self.operator.call_boxed(&mut stack)?;
        self.give(&mut stack, incoming, words)
    }

    /// Runs one call of an auxiliary operator.
    ///
    /// # Safety
    /// * The first `inputs` words are the arguments of the operator of this entry, and owned.
    unsafe fn serve(
        &self,
        role: Role,
        entry: Option<Entry>,
        incoming: &mut Incoming,
        words: &mut [Word],
        inputs: usize,
    ) -> Result<()> {
        let rest = &mut Words(&words[..inputs]);
        let sight = match (entry, role) {
            (Some(Entry::Flat), Role::Kernel | Role::Above) => Sight::Elements,
            _ => Sight::StandIn,
        };
        let named = if entry == Some(Entry::Gradients) { self.named } else { Named::default() };
        // SAFETY: every auxiliary operator takes the operator's arguments first, with scalars flattened; the one for
        // gradients takes only the tensors that are named.
        let arguments = unsafe { self.arguments(rest, true, named, incoming, sight) };
        let types = &SERVING;
        // SAFETY: the words that follow are taken by the types in the schema of the entry's operator.
        let mut take = |ty: &Type| unsafe { incoming.take(ty, rest.next(), sight) };
        match entry {
            Some(Entry::Flat) => self.call(role, arguments?, incoming, words),
            Some(Entry::Backward) => {
                let (results, grads, wanted) =
                    (take(&types.optionals), take(&types.optionals), take(&types.flags));
                let call = derivative::Call::new(arguments?, results?, wanted?)?;
                let Value::OptionalTensors(grads) = grads? else {
                    bail!(Type, "gradients were given by another type")
                };
                let gradients = derivative::backward(self, call, &grads)?;
                words[0] = incoming.give(&types.optionals, &Value::from(gradients))?;
                Ok(())
            }
            Some(Entry::Gradients) => {
                let count = self.schema.returns.len();
                let mut each = |is_there: &dyn Fn(usize) -> bool| {
                    let one = |index| if is_there(index) { take(&Type::Tensor) } else { Ok(Value::None) };
                    (0..count).map(one).collect::<Vec<_>>()
                };
                // Take all of them before returning an error, so that none is leaked.
                let (results, grads) = (each(&|index| self.named.has_result(index)), each(&|_| true));
                let (results, grads) = (derivative::tensors(results)?, derivative::tensors(grads)?);
                let call = derivative::Call::of_named(self, arguments?, results, &grads, rest.next())?;
                let gradients = derivative::backward(self, call, &grads)?;
                self.give_gradients(&gradients, incoming, words)
            }
            Some(Entry::Differentiable) => {
                let (results, wanted) = (take(&types.optionals), take(&types.flags));
                let call = derivative::Call::new(arguments?, results?, wanted?)?;
                words[0] =
                    incoming.give(&types.flags, &Value::from(derivative::differentiable(self, call)?))?;
                Ok(())
            }
            Some(Entry::Layer) => {
                let (key, dtype) = (take(&Type::Str), take(&types.dtype));
                let mut stack = arguments?;
                layer::run(self, &key?, &dtype?, &mut stack)?;
                self.give(&mut stack, incoming, words)
            }
            Some(Entry::Batched) => {
                let (dims, size, randomness) = (take(&types.dims), take(&Type::Int), take(&Type::Str));
                let batch = batched::Batch::new(dims?, size?, randomness?)?;
                let (mut returns, dims) = batched::run(self, batch, arguments?)?;
                let count = self.schema.returns.len();
                self.give(&mut returns, incoming, words)?;
                words[count] = incoming.give(&types.dims, &Value::from(dims))?;
                Ok(())
            }
            None => bail!(Internal, "{} was called by an entry that it does not have", self.operator),
        }
    }

    /// For each result of a call, whether it has a gradient.
    ///
    /// # Safety
    /// * The words are arguments and results of the operator, with scalars flattened if `is_flat`, and owned.
    unsafe fn has_gradient(
        &self,
        needs: &[bool],
        arguments: &[Word],
        results: &[Word],
        is_flat: bool,
    ) -> Result<Vec<bool>> {
        let mut incoming = Incoming::default();
        // SAFETY: the caller guarantees that these are the owned arguments.
        let arguments = unsafe {
            self.arguments(&mut Words(arguments), is_flat, Named::default(), &mut incoming, Sight::StandIn)
        };
        let take = |word: &Word| {
            // SAFETY: results are owned tensors.
            let handle = unsafe { Handle::from_word(*word) }?;
            incoming.tensor(handle, Sight::StandIn).map(|tensor| Some(tensor).filter(Tensor::is_defined))
        };
        // Take all of them before returning an error, so that none is leaked.
        let results: Vec<Result<Option<Tensor>>> = results.iter().map(take).collect();
        let results: Vec<Option<Tensor>> = results.into_iter().collect::<Result<_>>()?;
        let call = derivative::Call::new(arguments?, Value::from(results), Value::from(needs.to_vec()))?;
        derivative::differentiable(self, call)
    }

    /// Takes the operator's arguments: all of them before returning an error, so that none is leaked. In place of
    /// tensors that are not named stands [`Value::None`].
    ///
    /// # Safety
    /// * The first words are the operator's arguments, without tensors that are not named, with scalars flattened if
    ///   `is_flat`, and owned.
    unsafe fn arguments(
        &self,
        words: &mut Words<'_>,
        is_flat: bool,
        named: Named,
        incoming: &mut Incoming,
        sight: Sight,
    ) -> Result<Stack<'static>> {
        let (mut values, mut failure) = (Stack::new(), None);
        for (index, argument) in self.schema.arguments.iter().enumerate() {
            if is_tensors(&argument.ty) && !named.has_argument(index) {
                values.push(Value::None);
                continue;
            }
            let value = if is_flat && passing(&argument.ty) == Ok(Passing::Scalar) {
                words::scalar([words.next(), words.next(), words.next()])
            } else {
                // SAFETY: the caller guarantees that the word is an owned argument of this type.
                unsafe { incoming.take(&argument.ty, words.next(), sight) }
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

    /// Calls the operator here, and writes its returns to the words.
    fn call(
        &self,
        role: Role,
        mut stack: Stack<'static>,
        incoming: &Incoming,
        words: &mut [Word],
    ) -> Result<()> {
        let written = match self.plain {
            Some(_) => Vec::new(),
            None => self.written(stack.last(stack.len())),
        };
        match role {
            Role::Composite => {
                self.operator.call_boxed_for_key(DispatchKey::CompositeImplicitAutograd, &mut stack)?
            }
            _ => self.operator.call_boxed(&mut stack)?,
        }
        written.iter().try_for_each(|tensor| incoming.written(tensor))?;
        if self.is_view && role == Role::Kernel {
            self.check_views(stack.last(self.schema.returns.len()), incoming)?;
        }
        self.give(&mut stack, incoming, words)
    }

    /// Writes the operator's returns to the words, if it has any.
    #[inline(always)]
    fn give(&self, stack: &mut Stack<'_>, incoming: &Incoming, words: &mut [Word]) -> Result<()> {
        if self.has_returns { self.give_all(stack, incoming, words) } else { Ok(()) }
    }

    #[inline(never)]
    fn give_all(&self, stack: &mut Stack<'_>, incoming: &Incoming, words: &mut [Word]) -> Result<()> {
        let returns = stack.last(self.schema.returns.len());
        // Convert all returns before handing any over: on an error, `Given` frees those already converted.
        let mut given = Given { words: SmallVec::new(), schema: self.schema };
        for (ret, value) in self.schema.returns.iter().zip(returns) {
            given.words.push(incoming.give(&ret.ty, value)?);
        }
        words[..given.words.len()].copy_from_slice(&given.words);
        given.words.clear();
        Ok(())
    }

    /// Writes gradients to the words, each as a tensor.
    fn give_gradients(
        &self,
        gradients: &[Option<Tensor>],
        incoming: &Incoming,
        words: &mut [Word],
    ) -> Result<()> {
        let out = |gradient: &Option<Tensor>| {
            gradient.as_ref().map_or_else(Handle::undefined, |tensor| incoming.out(tensor))
        };
        // Convert all gradients before handing any over: on an error, those already converted are freed.
        let given = gradients.iter().map(out).collect::<Result<SmallVec<[Handle; 4]>>>()?;
        given.into_iter().zip(words).for_each(|(handle, word)| *word = handle.into_word());
        Ok(())
    }

    /// Checks that each return of a view operator is a view if a gradient is needed: PyTorch differentiates only views.
    fn check_views(&self, returns: &[Value<'static>], incoming: &Incoming) -> Result<()> {
        let mut tensors = returns.iter().flat_map(Value::all_tensors);
        let is_lost = tensors.any(|tensor| tensor.is_defined() && !incoming.is_at_home(tensor));
        torch_library::ensure!(
            !(is_lost && (views::are_required() || incoming.wants_gradient())),
            Autograd,
            "{} returns no view of its argument, as its schema says, and the argument requires grad: the gradient would \
             be lost; detach it, or use `torch.no_grad()`",
            self.operator
        );
        Ok(())
    }

    /// The tensors that the operator may write to.
    fn written(&self, arguments: &[Value<'static>]) -> Vec<Tensor> {
        let all = self.schema.arguments.iter().zip(arguments);
        let mutable = all.filter(|(argument, _)| argument.is_mutable());
        mutable.flat_map(|(_, value)| value.all_tensors().cloned()).collect()
    }
}

/// The words of a stack that have not been taken yet.
struct Words<'w>(&'w [Word]);

impl Words<'_> {
    /// The next word; zero, which is not an object, if there is none.
    fn next(&mut self) -> Word {
        self.0.split_off_first().copied().unwrap_or_default()
    }
}

/// The types that auxiliary operators take and return in addition to an operator's own.
struct Serving {
    optionals: Type,
    flags: Type,
    dims: Type,
    dtype: Type,
}

static SERVING: LazyLock<Serving> = LazyLock::new(|| {
    let list = |ty| Type::List(Box::new(ty));
    Serving {
        optionals: list(Type::Optional(Box::new(Type::Tensor))),
        flags: list(Type::Bool),
        dims: list(Type::Int),
        dtype: Type::Optional(Box::new(Type::ScalarType)),
    }
});

/// Converted returns, which are freed on drop unless they have been handed over.
struct Given {
    words: SmallVec<[Word; 4]>,
    schema: &'static Schema,
}

impl Drop for Given {
    fn drop(&mut self) {
        for (ret, word) in self.schema.returns.iter().zip(self.words.drain(..)) {
            // SAFETY: the word was made from a return of this type, and nothing else owns it.
            drop(unsafe { Incoming::default().take(&ret.ty, word, Sight::StandIn) });
        }
    }
}

/// The message of a panic.
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
