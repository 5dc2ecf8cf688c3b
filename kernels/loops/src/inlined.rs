//! Versions of functions of the standard library for arrays and slices that are always inlined into the loop around
//! them.
//!
//! Its `zip`, `array::from_fn`, `array::map`, `fill` and `sum`, and calls through a reference to a closure, are
//! functions that LLVM compiles in one codegen unit of a crate; code in the other units calls them, unless link-time
//! optimisation sees all units together. A function that is called from a loop for wide vectors is not itself compiled
//! for these, and the loop is optimised less well around the call. If a function is missing here, write a loop.
#![expect(unsafe_code, reason = "reads slices by numbers below their length, and fills an array")]

use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// `std::array::from_fn`. If the closure panics, the elements before are not dropped.
#[inline(always)]
pub fn from_fn<T, const N: usize>(mut f: impl FnMut(usize) -> T) -> [T; N] {
    let mut all = [const { MaybeUninit::<T>::uninit() }; N];
    let mut n = 0;
    while n < N {
        all[n].write(f(n));
        n += 1;
    }
    // SAFETY: each of the `N` elements was written above; `MaybeUninit<T>` has the layout of `T`, and is not dropped.
    unsafe { (&raw const all).cast::<[T; N]>().read() }
}

/// `slice::fill`.
#[inline(always)]
pub fn fill<T: Copy>(elements: &mut [T], value: T) {
    for element in elements {
        *element = value;
    }
}

/// `Iterator::zip` for slices, arrays, or results of `zip`: as many pairs as the shorter one has elements.
#[inline(always)]
pub fn zip<A: Elements, B: Elements>(a: A, b: B) -> Zip<A::Each, B::Each> {
    let (a, b) = (a.each(), b.each());
    let len = if a.len() < b.len() { a.len() } else { b.len() };
    Zip { a, b, next: 0, len }
}

/// A collection that can be iterated over by index.
pub trait Elements {
    type Each: Each;

    fn each(self) -> Self::Each;
}

/// Access to elements by index.
///
/// # Safety
/// - The results of [`get`](Self::get) for different indices below [`len`](Self::len) may be used together.
#[expect(clippy::len_without_is_empty, reason = "nobody asks")]
pub unsafe trait Each {
    type Item;

    fn len(&self) -> usize;

    /// # Safety
    /// - `i` is below [`len`](Self::len), and `get` was not called with it before.
    unsafe fn get(&mut self, i: usize) -> Self::Item;
}

/// Pairs of elements.
pub struct Zip<A, B> {
    a: A,
    b: B,
    next: usize,
    len: usize,
}

impl<A: Each, B: Each> Iterator for Zip<A, B> {
    type Item = (A::Item, B::Item);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        if self.next == self.len {
            return None;
        }
        let i = self.next;
        self.next += 1;
        // SAFETY: `i` is below `len`, the smaller of both lengths, and each index is used once.
        Some(unsafe { (self.a.get(i), self.b.get(i)) })
    }

    #[inline(always)]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.len - self.next, Some(self.len - self.next))
    }
}

impl<A: Each, B: Each> Elements for Zip<A, B> {
    type Each = Self;

    #[inline(always)]
    fn each(self) -> Self {
        self
    }
}

// SAFETY: each element of a pair comes from a collection whose own `Each` promises that its elements may be used
// together.
unsafe impl<A: Each, B: Each> Each for Zip<A, B> {
    type Item = (A::Item, B::Item);

    #[inline(always)]
    fn len(&self) -> usize {
        self.len - self.next
    }

    #[inline(always)]
    unsafe fn get(&mut self, i: usize) -> Self::Item {
        let i = self.next + i;
        // SAFETY: the caller vouches that `i` is below the number of pairs, and that it is asked for once.
        unsafe { (self.a.get(i), self.b.get(i)) }
    }
}

// SAFETY: shared references, which only read.
unsafe impl<'a, T> Each for &'a [T] {
    type Item = &'a T;

    #[inline(always)]
    fn len(&self) -> usize {
        <[T]>::len(self)
    }

    #[inline(always)]
    unsafe fn get(&mut self, i: usize) -> &'a T {
        // SAFETY: the caller vouches that `i` is below the length.
        unsafe { <[T]>::get_unchecked(self, i) }
    }
}

/// A mutable slice whose elements are lent one by one.
pub struct EachMut<'a, T> {
    first: *mut T,
    len: usize,
    slice: PhantomData<&'a mut [T]>,
}

// SAFETY: different elements of a slice that is exclusively borrowed for `'a`.
unsafe impl<'a, T> Each for EachMut<'a, T> {
    type Item = &'a mut T;

    #[inline(always)]
    fn len(&self) -> usize {
        self.len
    }

    #[inline(always)]
    unsafe fn get(&mut self, i: usize) -> &'a mut T {
        // SAFETY: the caller vouches that `i` is below the length of the slice that this was made of, which is borrowed
        // for `'a`; it asks for each index once, so no two references are to the same element.
        unsafe { &mut *self.first.add(i) }
    }
}

impl<'a, T> Elements for &'a mut [T] {
    type Each = EachMut<'a, T>;

    #[inline(always)]
    fn each(self) -> EachMut<'a, T> {
        EachMut { first: self.as_mut_ptr(), len: self.len(), slice: PhantomData }
    }
}

impl<'a, T, const N: usize> Elements for &'a mut [T; N] {
    type Each = EachMut<'a, T>;

    #[inline(always)]
    fn each(self) -> EachMut<'a, T> {
        self.as_mut_slice().each()
    }
}

impl<T> Elements for &[T] {
    type Each = Self;

    #[inline(always)]
    fn each(self) -> Self {
        self
    }
}

impl<'a, T, const N: usize> Elements for &'a [T; N] {
    type Each = &'a [T];

    #[inline(always)]
    fn each(self) -> &'a [T] {
        self
    }
}

impl<'a, T> Elements for &'a Vec<T> {
    type Each = &'a [T];

    #[inline(always)]
    fn each(self) -> &'a [T] {
        self
    }
}

impl<'a, T> Elements for &'a mut Vec<T> {
    type Each = EachMut<'a, T>;

    #[inline(always)]
    fn each(self) -> EachMut<'a, T> {
        self.as_mut_slice().each()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_made_in_order() {
        let mut made = Vec::new();
        let all: [String; 3] = from_fn(|n| {
            made.push(n);
            n.to_string()
        });
        assert_eq!((all, made), (["0", "1", "2"].map(String::from), vec![0, 1, 2]));
        assert_eq!(from_fn::<String, 0>(|_| unreachable!()), [""; 0]);
    }

    #[test]
    fn pairs_end_where_the_shorter_does() {
        for len in 0..5 {
            let (a, mut b, c) = ([1, 2, 3], vec![10; len], [100, 200, 300, 400]);
            let pairs = zip(zip(&a, &mut b), &c[..]);
            assert_eq!(pairs.size_hint(), (len.min(3), Some(len.min(3))));
            let pairs: Vec<_> = pairs.collect(); // all borrowed at the same time
            for ((a, b), c) in pairs {
                *b += a + c;
            }
            let want: Vec<_> = [111, 212, 313].into_iter().chain([10; 2]).take(len).collect();
            assert_eq!(b, if len > 3 { [&want[..3], &vec![10; len - 3]].concat() } else { want });
        }
    }

    #[test]
    fn what_was_taken_of_a_pair_is_not_given_again() {
        let (a, b) = ([1, 2, 3], [4, 5, 6]);
        let mut pairs = zip(&a, &b);
        pairs.next();
        let left: Vec<_> = zip(pairs, &["x", "y", "z"]).collect();
        assert_eq!(left, [((&2, &5), &"x"), ((&3, &6), &"y")]);
    }
}
