//! The stack of a boxed call.
#![expect(
    unsafe_code,
    reason = "the first values lie in the stack itself, in memory that is partly uninitialised"
)]

use std::fmt;
use std::mem::MaybeUninit;

use super::from::mismatch;
use super::{FromReturn, Value};
use crate::error::{Error, ErrorKind, Result};

/// The number of values that a stack holds without allocating.
const INLINE: usize = 6;

/// The arguments of a boxed call, then its returns; the last one is on top.
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
/// # How it works
///
/// The first `len` places of the memory in use are initialised, the others are not. That memory is `inline` until it
/// becomes too small, then `heap`. A boxed call consists of pushes, reads and drops, so unlike in a `SmallVec` the
/// length is always at the same place, and values that own nothing are dropped by forgetting them.
///
/// PyTorch: `torch::jit::Stack`.
pub struct Stack<'a> {
    len: usize,
    heap: Option<Box<[MaybeUninit<Value<'a>>]>>,
    inline: [MaybeUninit<Value<'a>>; INLINE],
}

impl<'a> Stack<'a> {
    /// An empty stack.
    #[inline]
    pub fn new() -> Self {
        Stack { len: 0, heap: None, inline: [const { MaybeUninit::uninit() }; INLINE] }
    }

    #[inline(always)]
    fn capacity(&self) -> usize {
        self.heap.as_ref().map_or(INLINE, |heap| heap.len())
    }

    #[inline(always)]
    fn start(&self) -> *const Value<'a> {
        self.heap.as_ref().map_or(self.inline.as_ptr(), |heap| heap.as_ptr()).cast()
    }

    #[inline(always)]
    fn start_mut(&mut self) -> *mut Value<'a> {
        self.heap.as_mut().map_or(self.inline.as_mut_ptr(), |heap| heap.as_mut_ptr()).cast()
    }

    /// Doubles the memory.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let mut larger = Box::new_uninit_slice(2 * self.capacity());
        // SAFETY: the first `len` values are initialised, and there is room for twice as many. They are not dropped at
        // their old place: that memory counts as uninitialised from here on.
        unsafe { std::ptr::copy_nonoverlapping(self.start(), larger.as_mut_ptr().cast(), self.len) };
        self.heap = Some(larger);
    }

    /// Adds a value on top.
    ///
    /// PyTorch: `torch::jit::push`.
    #[inline]
    pub fn push(&mut self, value: impl Into<Value<'a>>) {
        if self.len == self.capacity() {
            self.grow();
        }
        // Constructed in place: a value that is constructed elsewhere and copied as a whole stalls on its parts, which
        // were just stored. SAFETY: `len` is less than the capacity, or `grow` has just doubled that, so the place is
        // within the memory in use. It is not initialised, so no value is overwritten that would have to be dropped.
        unsafe { self.start_mut().add(self.len).write(value.into()) };
        self.len += 1;
    }

    /// Takes the value on top.
    ///
    /// PyTorch: `torch::jit::pop`.
    #[inline]
    pub fn pop(&mut self) -> Option<Value<'a>> {
        self.len = self.len.checked_sub(1)?;
        // SAFETY: the place was below the length, so it is initialised. It is read only once, and counts as
        // uninitialised then: the length has been lowered to it.
        Some(unsafe { self.start().add(self.len).read() })
    }

    /// The number of values.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no values.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The uppermost `n` values, in the order in which they were pushed; all values if there are fewer.
    ///
    /// PyTorch: `torch::jit::last`.
    #[inline]
    pub fn last(&self, n: usize) -> &[Value<'a>] {
        let n = n.min(self.len);
        // SAFETY: the first `len` values are initialised, and `n` is no more than that.
        unsafe { std::slice::from_raw_parts(self.start().add(self.len - n), n) }
    }

    /// The uppermost `n` values, for changing them in place; all values if there are fewer.
    #[inline]
    pub fn last_mut(&mut self, n: usize) -> &mut [Value<'a>] {
        let n = n.min(self.len);
        // SAFETY: the first `len` values are initialised, and `n` is no more than that; `self` is borrowed only for the
        // slice.
        unsafe { std::slice::from_raw_parts_mut(self.start_mut().add(self.len - n), n) }
    }

    /// Drops the uppermost `n` values.
    ///
    /// PyTorch: `torch::jit::drop`.
    #[inline]
    pub fn drop_last(&mut self, n: usize) {
        let dropped = std::ptr::from_mut(self.last_mut(n));
        self.len -= dropped.len(); // first: a value whose drop panics is not dropped again
        // SAFETY: the values were below the length, so they are initialised. The length has been lowered to the first
        // of them, so they are not read or dropped again.
        unsafe { drop_all(&mut *dropped) };
    }

    /// Drops the uppermost `n` values, which must exist, and pushes one.
    #[inline(always)] // callers know `n` at compile time
    pub(crate) fn replace_last(&mut self, n: usize, value: impl Into<Value<'a>>) {
        if n == 0 || n > self.len {
            self.drop_last(n);
            return self.push(value);
        }
        self.len -= n;
        // SAFETY: the length was higher by `n`, so the place is within the memory in use.
        let place = unsafe { self.start_mut().add(self.len) };
        // SAFETY: the `n` values from there on were below the length, so they are initialised. The length has been
        // lowered to the first of them, so they are not read or dropped again.
        unsafe { drop_all(std::slice::from_raw_parts_mut(place, n)) };
        // SAFETY: `n` is not zero, so the place is within the memory in use; the value there has just been dropped.
        unsafe { place.write(value.into()) };
        self.len += 1;
    }

    /// Takes the uppermost value as a Rust type.
    ///
    /// # Errors
    /// The stack is empty, or the value has another type.
    #[inline]
    pub fn pop_as<T: FromReturn>(&mut self) -> Result<T> {
        let Some(value) = self.last_array_mut::<1>() else { return Err(empty(T::TYPE)) };
        let Some(taken) = T::take(&mut value[0]) else { return Err(mismatch(T::TYPE, &value[0])) };
        let rest = std::ptr::from_mut(value);
        self.len -= 1;
        // SAFETY: the value was the last below the length, so it is initialised. The length has been lowered to it, so
        // it is not read or dropped again.
        unsafe { drop_all(&mut *rest) };
        Ok(taken)
    }

    /// The uppermost `N` values as an array, for code that unboxes a call.
    #[inline(always)]
    pub(crate) fn last_array_mut<const N: usize>(&mut self) -> Option<&mut [Value<'a>; N]> {
        let start = self.len.checked_sub(N)?;
        // SAFETY: `start` is lower than the length by `N`, so the `N` values from there on are initialised; an array
        // has the same layout, and `self` is borrowed only for it.
        Some(unsafe { &mut *self.start_mut().add(start).cast() })
    }
}

/// Drops values; if none owns anything, this only tests each.
///
/// # Safety
/// * The values are not read or dropped after this.
#[inline(always)]
unsafe fn drop_all(values: &mut [Value<'_>]) {
    /// # Safety
    /// * The values are not read or dropped after this.
    #[inline(never)]
    unsafe fn drop_owned(values: &mut [Value<'_>]) {
        // SAFETY: a slice has initialised values, and the caller promises that they are not used after this.
        unsafe { std::ptr::drop_in_place(values) }
    }
    if !values.iter().all(Value::owns_nothing) {
        // SAFETY: the caller of `drop_all` promises that the values are not read or dropped after this.
        unsafe { drop_owned(values) }
    }
}

#[cold]
fn empty(want: &str) -> Error {
    Error::new(ErrorKind::Type, format!("the stack is empty where a value of type {want} was expected"))
}

impl Drop for Stack<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.len > 0 {
            self.drop_last(self.len);
        }
    }
}

impl Default for Stack<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Stack<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.last(self.len)).finish()
    }
}

impl<'a> FromIterator<Value<'a>> for Stack<'a> {
    fn from_iter<I: IntoIterator<Item = Value<'a>>>(values: I) -> Self {
        let mut stack = Stack::new();
        stack.extend(values);
        stack
    }
}

/// The last value is on top afterwards.
impl<'a> Extend<Value<'a>> for Stack<'a> {
    fn extend<I: IntoIterator<Item = Value<'a>>>(&mut self, values: I) {
        values.into_iter().for_each(|value| self.push(value));
    }
}

/// From the lowest value to the uppermost.
impl<'a> IntoIterator for Stack<'a> {
    type Item = Value<'a>;
    type IntoIter = std::iter::Rev<std::vec::IntoIter<Value<'a>>>;

    fn into_iter(mut self) -> Self::IntoIter {
        std::iter::from_fn(|| self.pop()).collect::<Vec<_>>().into_iter().rev()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tensor;

    #[test]
    fn values_keep_their_order_through_every_growth() {
        let mut stack: Stack<'_> = (0..40).map(Value::Int).collect();
        assert_eq!(stack.len(), 40);
        assert!(matches!(stack.last(2), [Value::Int(38), Value::Int(39)]));
        assert_eq!(stack.last(100).len(), 40);
        stack.pop_as::<String>().unwrap_err();
        assert_eq!(stack.pop_as::<i64>().unwrap(), 39, "what is of another type stays");
        stack.replace_last(3, "top");
        assert!(matches!(stack.pop(), Some(Value::Str(text)) if text == "top"));
        let rest: Vec<_> = stack.into_iter().map(|value| i64::from_return(value).unwrap()).collect();
        assert_eq!(rest, (0..36).collect::<Vec<_>>());
    }

    #[test]
    fn what_a_stack_owns_is_freed_once() {
        let tensor = Tensor::from([1.0]);
        let kept = tensor.downgrade();
        let copies = |n| (0..n).map(|_| Value::Tensor(tensor.clone())).collect::<Stack<'_>>();
        for n in [1, 6, 7, 20] {
            copies(n).drop_last(1);
            copies(n).replace_last(n, 1i64);
            copies(n).pop_as::<Tensor>().unwrap();
            copies(n).pop_as::<i64>().unwrap_err();
            copies(n).into_iter().next();
        }
        drop(tensor);
        assert!(kept.upgrade().is_none());
    }

    #[test]
    fn an_empty_stack_refuses() {
        let mut stack = Stack::new();
        assert!(stack.pop().is_none());
        assert!(stack.last_array_mut::<1>().is_none());
        assert_eq!(
            stack.pop_as::<i64>().unwrap_err().to_string(),
            "the stack is empty where a value of type int was expected"
        );
        stack.drop_last(3);
        stack.replace_last(0, 1i64);
        assert_eq!(stack.len(), 1);
    }
}
