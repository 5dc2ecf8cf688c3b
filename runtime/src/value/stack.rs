//! The stack of a boxed call.
#![expect(
    unsafe_code,
    reason = "a stack of borrowed values is emptied without looking at each for something to free"
)]

use std::mem::ManuallyDrop;

use smallvec::SmallVec;

use super::from::mismatch;
use super::{FromReturn, Value};
use crate::error::{Error, ErrorKind, Result};

/// The arguments, then the returns, of a boxed call: last in, last argument.
///
/// A call of up to six values allocates nothing.
///
/// ```
/// use torch_library::{Stack, Value};
///
/// let mut stack = Stack::new();
/// stack.push(1i64);
/// stack.push("two");
/// assert_eq!(stack.pop_as::<String>()?, "two");
/// assert_eq!(stack.len(), 1);
/// # Ok::<(), torch_library::Error>(())
/// ```
///
/// PyTorch: `torch::jit::Stack`.
#[derive(Debug)]
pub struct Stack<'a>(ManuallyDrop<SmallVec<[Value<'a>; 6]>>);

impl<'a> Stack<'a> {
    /// An empty stack.
    #[inline]
    pub fn new() -> Self {
        Stack(ManuallyDrop::new(SmallVec::new()))
    }

    /// Adds a value on top.
    #[inline]
    pub fn push(&mut self, value: impl Into<Value<'a>>) {
        let len = self.0.len();
        if len == self.0.capacity() {
            self.0.grow(2 * len);
        }
        // Made in its place: a value that is made elsewhere and copied as a whole stalls on its parts, which were just stored.
        // SAFETY: there is room for one more, and the length counts what is initialised.
        unsafe {
            self.0.as_mut_ptr().add(len).write(value.into());
            self.0.set_len(len + 1);
        }
    }

    /// Takes the value on top.
    #[inline]
    pub fn pop(&mut self) -> Option<Value<'a>> {
        self.0.pop()
    }

    /// How many values there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no value.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The uppermost `n` values, in the order they were pushed; all of them where there are fewer.
    #[inline]
    pub fn last(&self, n: usize) -> &[Value<'a>] {
        &self.0[self.0.len().saturating_sub(n)..]
    }

    /// The uppermost `n` values to change in place; all of them where there are fewer.
    #[inline]
    pub fn last_mut(&mut self, n: usize) -> &mut [Value<'a>] {
        let start = self.0.len().saturating_sub(n);
        &mut self.0[start..]
    }

    /// Drops the uppermost `n` values.
    #[inline]
    pub fn drop_last(&mut self, n: usize) {
        let left = self.0.len().saturating_sub(n);
        if self.0[left..].iter().all(Value::owns_nothing) {
            // SAFETY: the first `left` values are initialised; the others need no drop.
            unsafe { self.0.set_len(left) };
        } else {
            self.0.truncate(left);
        }
    }

    /// Takes the uppermost value as a Rust type.
    ///
    /// # Errors
    /// The stack is empty, or the value has another type.
    #[inline]
    pub fn pop_as<T: FromReturn>(&mut self) -> Result<T> {
        let Some(value) = self.0.last_mut() else { return Err(empty(T::TYPE)) };
        let Some(taken) = T::take(value) else { return Err(mismatch(T::TYPE, value)) };
        self.drop_last(1);
        Ok(taken)
    }

    /// The uppermost `N` values as an array, for the generated code that unboxes a call.
    #[doc(hidden)]
    #[inline]
    pub fn last_array_mut<const N: usize>(&mut self) -> Option<&mut [Value<'a>; N]> {
        self.0.last_chunk_mut::<N>()
    }
}

#[cold]
fn empty(want: &str) -> Error {
    Error::new(ErrorKind::Type, format!("the stack is empty where a value of type {want} was expected"))
}

impl Drop for Stack<'_> {
    #[inline]
    fn drop(&mut self) {
        self.drop_last(self.0.len());
        if self.0.spilled() {
            // SAFETY: dropped here alone. What did not spill is empty now and has nothing to free.
            unsafe { ManuallyDrop::drop(&mut self.0) };
        }
    }
}

impl Default for Stack<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a> FromIterator<Value<'a>> for Stack<'a> {
    fn from_iter<I: IntoIterator<Item = Value<'a>>>(values: I) -> Self {
        Stack(ManuallyDrop::new(values.into_iter().collect()))
    }
}

impl<'a> IntoIterator for Stack<'a> {
    type Item = Value<'a>;
    type IntoIter = smallvec::IntoIter<[Value<'a>; 6]>;

    fn into_iter(mut self) -> Self::IntoIter {
        std::mem::take(&mut *self.0).into_iter()
    }
}
