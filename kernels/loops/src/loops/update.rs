//! Updating several tensors together, in one pass over memory, for the steps of optimisers.
#![expect(unsafe_code, reason = "reads and writes elements of tensors that lie alike in memory")]

use torch_library::{Element, Lease, Leased, MemoryFormat, Result, Tensor, ensure};

use super::{copy, has_elements, is_plain, map, parallel, uninit_like};
use crate::inlined::{from_fn, zip};

/// The number of elements that are read before any is written, so that the loop vectorises although tensors may share
/// memory.
const STEP: usize = 16;

/// Replaces the elements of the tensors `changed`, which have the same sizes, by the results of a closure of the
/// elements of all tensors at the same place; those of `given` broadcast.
///
/// # Errors
/// Memory that the host cannot access; changed tensors of different sizes, whose elements share memory, or that
/// partially overlap another tensor.
pub fn update<T: Element, const N: usize, const K: usize>(
    changed: [&Tensor; N],
    given: [&Tensor; K],
    f: impl Fn([T; N], [T; K]) -> [T; N] + Sync,
) -> Result<()> {
    let lease = Lease::new(changed, given)?;
    if !has_elements(changed[0]) {
        return Ok(());
    }
    check(&changed, &given)?;
    if lie_alike::<T>(&[&changed[..], &given[..]].concat()) {
        return lines(changed, given, &lease, &f);
    }
    drop(lease);
    // SAFETY: `map` writes every element before any is read; if it fails, the tensor is dropped here.
    let empty = || unsafe { uninit_like(changed[0], T::DTYPE, MemoryFormat::Contiguous) };
    let whole = |tensor: &&Tensor| empty().and_then(|to| map(&to, [*tensor], |[x]: [T; 1]| x).map(|()| to));
    let copies = changed.iter().map(|tensor| copy(tensor, T::DTYPE)).collect::<Result<Vec<_>>>()?;
    let given = given.iter().map(whole).collect::<Result<Vec<_>>>()?;
    let (new, given) = (from_fn(|n| &copies[n]), from_fn(|k| &given[k]));
    lines(new, given, &Lease::new(new, given)?, &f)?;
    changed.iter().zip(&copies).try_for_each(|(to, from)| map(to, [from], |[x]: [T; 1]| x))
}

/// Checks what `lines` relies on: changed tensors have the same sizes, no internal overlap, and no partial overlap with
/// another tensor.
fn check(changed: &[&Tensor], given: &[&Tensor]) -> Result<()> {
    for (n, tensor) in changed.iter().enumerate() {
        ensure!(
            tensor.sizes() == changed[0].sizes(),
            Shape,
            "tensors of sizes {:?} and {:?} are changed together, expected the same sizes",
            changed[0].sizes(),
            tensor.sizes()
        );
        tensor.check_no_internal_overlap()?;
        changed[n + 1..].iter().chain(given).try_for_each(|other| tensor.check_no_partial_overlap(other))?;
    }
    Ok(())
}

/// Whether all tensors have the same sizes and the same dense layout, and need no conversion.
fn lie_alike<T: Element>(tensors: &[&Tensor]) -> bool {
    let first = tensors[0];
    let is_row_major = |tensor: &&Tensor| tensor.is_contiguous(MemoryFormat::Contiguous);
    tensors.iter().all(|tensor| is_plain::<T>(tensor.dtype()) && tensor.sizes() == first.sizes())
        && (tensors.iter().all(is_row_major)
            || first.is_non_overlapping_and_dense()
                && tensors.iter().all(|tensor| tensor.strides() == first.strides()))
}

/// Like [`update`], for tensors with the same dense layout, any two of which are the same memory or disjoint.
fn lines<T: Element, const N: usize, const K: usize, F: Fn([T; N], [T; K]) -> [T; N] + Sync>(
    changed: [&Tensor; N],
    given: [&Tensor; K],
    lease: &impl Leased,
    f: &F,
) -> Result<()> {
    let count = changed[0].numel();
    ensure!(
        changed.iter().chain(&given).all(|tensor| tensor.numel() == count),
        Busy,
        "tensors of sizes {:?} were resized while they were changed together",
        changed[0].sizes()
    );
    let mut memory = Memory { changed: [std::ptr::null_mut(); N], given: [std::ptr::null(); K] };
    for (data, tensor) in memory.changed.iter_mut().zip(changed) {
        *data = tensor.data_ptr_mut(lease)?;
    }
    for (data, tensor) in memory.given.iter_mut().zip(given) {
        *data = tensor.data_ptr::<T>(lease)?;
    }
    let memory = &memory;
    parallel::ranges(count as usize, |range| {
        let line = Memory {
            changed: memory.changed.map(|data| data.wrapping_add(range.start)),
            given: memory.given.map(|data| data.wrapping_add(range.start)),
        };
        #[cfg(target_arch = "x86_64")]
        if super::has_avx512() {
            // SAFETY: `has_avx512` found these features; the range lies within the elements of all tensors, as many by
            // the check above, and is this thread's alone. The lease excludes all other access.
            return unsafe { widest(&line, range.len(), f) };
        } else if super::has_avx2() {
            // SAFETY: `has_avx2` found these features; the range lies within the elements of all tensors, as many by
            // the check above, and is this thread's alone. The lease excludes all other access.
            return unsafe { wide(&line, range.len(), f) };
        }
        // SAFETY: the range lies within the elements of all tensors, as many by the check above, and is this thread's
        // alone. The lease excludes all other access.
        unsafe { each(&line, range.len(), f) }
    });
    Ok(())
}

/// Where the elements of the tensors are.
struct Memory<T, const N: usize, const K: usize> {
    changed: [*mut T; N],
    given: [*const T; K],
}

// SAFETY: the addresses are dereferenced only in `each`, which is `unsafe`: its caller gives each thread a range of its
// own.
unsafe impl<T: Sync, const N: usize, const K: usize> Sync for Memory<T, N, K> {}

/// # Safety
/// - `len` elements of each tensor can be read, and of the changed ones written.
/// - Nothing else writes to them during the call, or reads the changed ones.
/// - The processor has these features.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
unsafe fn widest<T: Element, const N: usize, const K: usize>(
    line: &Memory<T, N, K>,
    len: usize,
    f: &impl Fn([T; N], [T; K]) -> [T; N],
) {
    // SAFETY: the caller vouches for `len` elements of each tensor, which nothing else uses.
    unsafe { each(line, len, f) }
}

/// # Safety
/// - `len` elements of each tensor can be read, and of the changed ones written.
/// - Nothing else writes to them during the call, or reads the changed ones.
/// - The processor has these features.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn wide<T: Element, const N: usize, const K: usize>(
    line: &Memory<T, N, K>,
    len: usize,
    f: &impl Fn([T; N], [T; K]) -> [T; N],
) {
    // SAFETY: the caller vouches for `len` elements of each tensor, which nothing else uses.
    unsafe { each(line, len, f) }
}

/// # Safety
/// - `len` elements of each tensor can be read (they are values of `T`), and of the changed ones written.
/// - Nothing else writes to them during the call, or reads the changed ones.
#[inline(always)]
unsafe fn each<T: Element, const N: usize, const K: usize>(
    line: &Memory<T, N, K>,
    len: usize,
    f: &impl Fn([T; N], [T; K]) -> [T; N],
) {
    let even = len - len % STEP;
    for start in (0..even).step_by(STEP) {
        // SAFETY: `start + STEP` is at most `len`, and the caller vouches for as many elements of each tensor, which
        // nothing else uses.
        unsafe { step::<T, N, K, STEP>(line, start, f) };
    }
    for start in even..len {
        // SAFETY: `start` is below `len`, and the caller vouches for as many elements of each tensor, which nothing
        // else uses.
        unsafe { step::<T, N, K, 1>(line, start, f) };
    }
}

/// # Safety
/// - Elements `start..start + COUNT` of each tensor can be read (they are values of `T`), and of the changed ones
///   written.
/// - Nothing else writes to them during the call, or reads the changed ones.
#[inline(always)]
unsafe fn step<T: Element, const N: usize, const K: usize, const COUNT: usize>(
    line: &Memory<T, N, K>,
    start: usize,
    f: &impl Fn([T; N], [T; K]) -> [T; N],
) {
    // SAFETY: the caller vouches for `COUNT` elements from `start` on, aligned for `T` and so for an array of it, which
    // nothing else writes to.
    let mut changed: [_; N] = from_fn(|n| unsafe { line.changed[n].add(start).cast::<[T; COUNT]>().read() });
    // SAFETY: the caller vouches for `COUNT` elements from `start` on, aligned for `T` and so for an array of it, which
    // nothing else writes to.
    let given: [_; K] = from_fn(|k| unsafe { line.given[k].add(start).cast::<[T; COUNT]>().read() });
    for i in 0..COUNT {
        let new = f(from_fn(|n| changed[n][i]), from_fn(|k| given[k][i]));
        (0..N).for_each(|n| changed[n][i] = new[n]);
    }
    for (data, elements) in zip(&line.changed, &changed) {
        // SAFETY: the caller vouches for `COUNT` places from `start` on, aligned for `T` and so for an array of it,
        // which nothing else uses.
        unsafe { data.add(start).cast::<[T; COUNT]>().write(*elements) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensors_of_several_sizes_are_not_changed_as_lines() {
        let (x, y) = (Tensor::from([1f32, 2.0]), Tensor::from([1f32]));
        let lease = Lease::new([&x, &y], []).unwrap();
        let error = lines::<f32, 2, 0, _>([&x, &y], [], &lease, &|changed, []| changed).unwrap_err();
        assert!(
            error.to_string().contains("tensors of sizes [2] were resized while they were changed together")
        );
    }
}
