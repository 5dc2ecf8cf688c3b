//! A handle to an operator: boxed calls, the schema, registrations.

use std::fmt;
use std::hash::{Hash, Hasher};

use torch_library_schema::Schema;

use super::{ANY_NUMBER, EntryPoint, Operator, Place};
use crate::error::{Error, ErrorKind, Result};
use crate::guard;
use crate::key::{DispatchKey, DispatchKeySet};
use crate::recursion;
use crate::value::{Stack, Value, fit};

/// A copyable handle to an operator. It never dangles: once its operator is removed, it returns errors.
///
/// ```
/// use torch_library::prelude::*;
///
/// torch_library! {
///     pub mod handle_docs {
///         /// Adds two numbers.
///         plus(int a, int b) -> int;
///     }
/// }
///
/// #[torch_impl(handle_docs, CompositeExplicitAutograd)]
/// fn plus(a: i64, b: i64) -> Result<i64> {
///     Ok(a + b)
/// }
///
/// # fn main() -> Result<()> {
/// let plus = torch_library::Dispatcher::global().find("handle_docs::plus")?;
/// let mut stack = Stack::from_iter([Value::Int(1), Value::Int(2)]);
/// plus.call_boxed(&mut stack)?;
/// assert_eq!(stack.pop_as::<i64>()?, 3);
/// assert_eq!(plus.schema()?.to_string(), "handle_docs::plus(int a, int b) -> int");
/// # Ok(())
/// # }
/// ```
///
/// PyTorch: `c10::OperatorHandle`.
#[derive(Clone, Copy)]
pub struct OperatorHandle(&'static Operator);

impl OperatorHandle {
    pub(crate) const fn new(operator: &'static Operator) -> Self {
        OperatorHandle(operator)
    }

    /// The namespace: `aten`.
    pub fn namespace(&self) -> &'static str {
        self.0.spec().namespace
    }

    /// The name without namespace and overload: `add`.
    pub fn name(&self) -> &'static str {
        self.name_and_overload().0
    }

    /// The overload name: `Tensor`, or empty.
    pub fn overload(&self) -> &'static str {
        self.name_and_overload().1
    }

    fn name_and_overload(&self) -> (&'static str, &'static str) {
        let name = self.0.name();
        name.split_once('.').unwrap_or((name, ""))
    }

    /// The source location of the declaration.
    pub fn place(&self) -> Place {
        self.0.spec().place
    }

    /// The schema as text, without the namespace if a macro declared it.
    pub fn schema_text(&self) -> &'static str {
        self.0.spec().schema
    }

    /// The tags of the declaration.
    ///
    /// PyTorch: `OperatorHandle::getTags`.
    pub fn tags(&self) -> &'static [&'static str] {
        self.0.spec().tags
    }

    /// The schema, namespace included, as types of [`schema`](crate::schema).
    ///
    /// # Errors
    /// The operator was removed.
    ///
    /// PyTorch: `OperatorHandle::schema`.
    pub fn schema(&self) -> Result<&'static Schema> {
        self.0.check_alive()?;
        self.0.schema()
    }

    /// Calls the operator with the arguments on top of the stack, and leaves its returns there.
    ///
    /// # Errors
    /// There are too few values, one has the wrong type, no kernel serves their keys, or the kernel fails. The contents
    /// of the stack after an error are unspecified.
    ///
    /// PyTorch: `OperatorHandle::callBoxed`.
    #[inline]
    pub fn call_boxed(&self, stack: &mut Stack<'_>) -> Result<()> {
        let keys = keys_of(self.arguments(stack)?);
        let (kernel, keys) = self.0.select(keys);
        self.0.named(kernel.call_boxed(self.0, keys, stack))
    }

    /// Calls the operator with arguments by position and by name. Arguments that are left out take their defaults; a
    /// number may stand for a list of known length, and for a tensor that is only read (a [wrapped
    /// number](crate::Tensor::wrapped_number)). Returns a stack with the returns.
    ///
    /// ```
    /// use torch_library::prelude::*;
    /// use torch_library::Dispatcher;
    ///
    /// torch_library! {
    ///     pub mod call_with_docs {
    ///         /// Divides.
    ///         divide(int a, int b=1, *, bool round_up=False) -> int;
    ///     }
    /// }
    ///
    /// #[torch_impl(call_with_docs, CompositeExplicitAutograd)]
    /// fn divide(a: i64, b: i64, round_up: bool) -> Result<i64> {
    ///     ensure!(b != 0, Argument, "division by zero");
    ///     Ok((a + if round_up { b - 1 } else { 0 }).div_euclid(b))
    /// }
    ///
    /// # fn main() -> Result<()> {
    /// let divide = Dispatcher::global().find("call_with_docs::divide")?;
    /// let mut returns = divide.call_with([Value::Int(7), Value::Int(2)], [("round_up", Value::Bool(true))])?;
    /// assert_eq!(returns.pop_as::<i64>()?, 4);
    /// assert!(divide.call_with([Value::Int(7)], [("c", Value::Int(2))]).is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The arguments do not fit the schema (the message names the one that does not); the errors of
    /// [`call_boxed`](Self::call_boxed).
    ///
    /// PyTorch: `FunctionSchema::checkAndNormalizeInputs`, then `callBoxed`; `torch.ops`.
    pub fn call_with<'v, 'n>(
        &self,
        arguments: impl IntoIterator<Item = Value<'v>>,
        named: impl IntoIterator<Item = (&'n str, Value<'v>)>,
    ) -> Result<Stack<'v>> {
        let schema = self.schema()?;
        let values = schema.normalize(arguments.into_iter().collect(), named);
        let wrong = |what| Error::new(ErrorKind::Argument, format!("{self}: {what}\n  schema: {schema}"));
        let values = values.map_err(|error| wrong(error.kind.to_string()))?;
        let mut stack = Stack::new();
        let mut arguments = schema.arguments.iter();
        for value in values {
            let Some(argument) = arguments.next() else {
                stack.push(value); // one of the `...` values
                continue;
            };
            let takes = if argument.is_mutable() { "a tensor that can be written to" } else { "a list" };
            let not_one = || wrong(format!("argument `{}` takes {takes}, not one number", argument.name));
            stack.push(fit(value, argument).ok_or_else(not_one)?);
        }
        self.call_boxed(&mut stack)?;
        Ok(stack)
    }

    /// Like [`call_boxed`](Self::call_boxed), with these keys instead of those of the arguments and the thread.
    ///
    /// # Errors
    /// The errors of [`call_boxed`](Self::call_boxed).
    ///
    /// PyTorch: `OperatorHandle::redispatchBoxed`.
    #[inline]
    pub fn redispatch_boxed(&self, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
        self.arguments(stack)?;
        let (kernel, keys) = self.0.select_again(keys);
        self.0.named(kernel.call_boxed(self.0, keys, stack))
    }

    /// Calls the kernel that is registered for exactly this key, which may be an alias, otherwise the fallback of the
    /// key, whatever keys the arguments have. The kernel gets the keys that an ordinary call would pass.
    ///
    /// # Errors
    /// The key has neither a kernel nor a fallback, or that is a fallthrough; the errors of
    /// [`call_boxed`](Self::call_boxed).
    ///
    /// PyTorch: `OperatorHandle::callBoxedForDispatchKey`.
    pub fn call_boxed_for_key(&self, key: DispatchKey, stack: &mut Stack<'_>) -> Result<()> {
        if recursion::is_suspect() && recursion::is_exhausted() {
            return Err(recursion::error(self.0));
        }
        let keys = guard::apply(keys_of(self.arguments(stack)?));
        let kernel = self.0.kernel_for_key(key)?;
        let (_, keys) = self.0.resolved()?.row(keys);
        self.0.named(kernel.call_boxed(self.0, keys, stack))
    }

    /// Whether a kernel is registered for exactly this key, which may be an alias. Fallbacks do not count.
    ///
    /// ```
    /// use torch_library::prelude::*;
    ///
    /// torch_library! {
    ///     pub mod has_kernel_docs {
    ///         /// The number itself.
    ///         same(int number) -> int;
    ///     }
    /// }
    ///
    /// #[torch_impl(has_kernel_docs, CompositeImplicitAutograd)]
    /// fn same(number: i64) -> Result<i64> {
    ///     Ok(number)
    /// }
    ///
    /// let same = has_kernel_docs::same::handle();
    /// assert!(same.has_kernel_for(DispatchKey::CompositeImplicitAutograd));
    /// assert!(!same.has_kernel_for(DispatchKey::CPU)); // although it serves the CPU
    /// ```
    ///
    /// PyTorch: `OperatorHandle::hasKernelForDispatchKey`.
    pub fn has_kernel_for(&self, key: DispatchKey) -> bool {
        self.0.has_kernel_for(key)
    }

    /// The operator's functions for hosts that call kernels with only a stack. Operators that were defined at run time
    /// have none, and without the feature `host` no operator has.
    pub fn entry_point(&self) -> Option<&'static EntryPoint> {
        self.0.spec().entry_point.map(|point| point())
    }

    pub(crate) const fn operator(&self) -> &'static Operator {
        self.0
    }

    /// The arguments of a call on top of the stack; the whole stack if the schema ends in `...`.
    ///
    /// # Errors
    /// There are fewer values than the operator has arguments.
    ///
    /// PyTorch: `torch::jit::last`.
    #[inline]
    pub fn arguments<'s, 'v>(&self, stack: &'s Stack<'v>) -> Result<&'s [Value<'v>]> {
        let arity = usize::from(self.0.spec().arity);
        let arguments = stack.last(arity);
        if arguments.len() < arity { self.variable_arguments(stack) } else { Ok(arguments) }
    }

    /// Takes the arguments of a call from the stack.
    ///
    /// # Errors
    /// The errors of [`arguments`](Self::arguments).
    ///
    /// PyTorch: `torch::jit::pop`.
    pub fn take_arguments<'v>(&self, stack: &mut Stack<'v>) -> Result<Vec<Value<'v>>> {
        let arity = self.arguments(stack)?.len();
        let mut arguments: Vec<_> = (0..arity).filter_map(|_| stack.pop()).collect();
        arguments.reverse();
        Ok(arguments)
    }

    #[cold]
    fn variable_arguments<'s, 'v>(&self, stack: &'s Stack<'v>) -> Result<&'s [Value<'v>]> {
        let least = self.0.schema()?.arguments.len();
        if self.0.spec().arity != ANY_NUMBER || stack.len() < least {
            return Err(too_few(self.0, stack.len()));
        }
        Ok(stack.last(stack.len()))
    }
}

/// The keys that arguments bring to a call.
#[inline]
fn keys_of(arguments: &[Value<'_>]) -> DispatchKeySet {
    arguments.iter().fold(DispatchKeySet::EMPTY, |keys, value| keys | value.dispatch_keys())
}

#[cold]
pub(crate) fn too_few(operator: &Operator, found: usize) -> Error {
    let arity = match (operator.spec().arity, operator.schema()) {
        (ANY_NUMBER, Ok(schema)) => format!("at least {}", schema.arguments.len()),
        (arity, _) => arity.to_string(),
    };
    Error::new(
        ErrorKind::Argument,
        format!(
            "{operator} takes {arity} argument{}, but the stack holds {found}\n  schema: {}",
            if arity == "1" { "" } else { "s" },
            operator.spec().schema
        ),
    )
}

impl PartialEq for OperatorHandle {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for OperatorHandle {}

impl Hash for OperatorHandle {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::ptr::from_ref(self.0).hash(state);
    }
}

impl fmt::Debug for OperatorHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OperatorHandle({})", self.0)
    }
}

/// Prints `ns::name.overload`.
impl fmt::Display for OperatorHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
