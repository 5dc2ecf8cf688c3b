//! The small-tensor path: few elements are computed directly, since laying out a walk would take longer than the work.
#![expect(unsafe_code, reason = "reads and writes elements through pointers that a geometry keeps in bounds")]

use torch_library::geometry::Geometry;
use torch_library::{DType, Lease, Leased, Result, Tensor};

use super::inner::Inner;
use super::walk::{broadcast_stride, broadcasts_to};
use super::{Buffer, CHUNK, Input, parallel};
use crate::inlined::{from_fn, zip};

/// Computes all elements in one go if all operands have the same dense layout and need no conversion. Returns whether
/// that was so.
#[inline]
pub(super) fn as_line<const N: usize>(
    inner: &Inner<'_, N>,
    out: &Tensor,
    inputs: [&Tensor; N],
    lease: &Lease<'_, 1, N>,
) -> bool {
    let half = inner.half(out.dtype());
    let (element, result) = match half {
        Some(_) => (out.dtype(), out.dtype()),
        None => (inner.compiled.element, inner.compiled.result),
    };
    let count = out.numel() as usize;
    if count > parallel::GRAIN || element == DType::Bool || out.dtype() != result || !lie_alike(out, inputs) {
        return false;
    }
    let Some((to, from)) = lease.addresses() else { return false };
    let is_one_size = element.size() == result.size();
    for (input, from) in zip(&inputs, &from) {
        if input.dtype() != element || !is_one_size && std::ptr::eq(*from, to) {
            return false;
        }
    }
    // SAFETY: by `lie_alike`, each operand has `count` contiguous elements; they have the loop's argument and result
    // types, and are not booleans. An input is in another storage, or starts where the result does and has elements of
    // the same size; the lease excludes all other access.
    unsafe {
        match half {
            Some(half) => inner.run_halves(half, to, from_fn(|k| (from[k], false)), count),
            None => inner.run(to, from, count),
        }
    }
    true
}

/// Whether the elements of all operands are in the same order in memory, without gaps.
fn lie_alike<const N: usize>(out: &Tensor, inputs: [&Tensor; N]) -> bool {
    let place = out.geometry();
    if place.is_contiguous() {
        // An input that broadcasts to the result and has as many elements repeats none of them, so they are in the same
        // order.
        return inputs.iter().all(|input| {
            let input = input.geometry();
            let reaches_all =
                || input.numel() == place.numel() && broadcasts_to(input.sizes(), place.sizes());
            input.is_contiguous() && (input.has_sizes_of(place) || reaches_all())
        });
    }
    let lies_so = |input: &&Tensor| (input.sizes(), input.strides()) == (place.sizes(), place.strides());
    inputs.iter().all(lies_so) && out.is_non_overlapping_and_dense()
}

/// Computes a contiguous result of at most [`CHUNK`] elements, from inputs that are first gathered in row-major order.
/// Returns whether the result was of that kind.
///
/// # Errors
/// An input whose memory the host cannot access.
pub(super) fn gathered<const N: usize>(
    inner: &Inner<'_, N>,
    out: &Tensor,
    inputs: [&Tensor; N],
    lease: &impl Leased,
) -> Result<bool> {
    let count = out.numel() as usize;
    if count > CHUNK || !out.geometry().is_contiguous() {
        return Ok(false);
    }
    let (mut buffers, mut from) = ([Buffer::EMPTY; N], [std::ptr::null::<u8>(); N]);
    for (k, buffer) in buffers.iter_mut().enumerate() {
        let (input, geometry) = (inner.input(inputs[k], lease)?, inputs[k].geometry());
        let is_line = geometry.is_contiguous() && geometry.numel() == out.numel();
        from[k] = if is_line && input.is_plain {
            input.data
        } else {
            let (len, outer) = out.sizes().split_last().unwrap_or((&1, &[]));
            let row = (*len as usize, broadcast_stride(geometry, 0));
            let to = buffer.data();
            // SAFETY: by `check`, the input broadcasts to the sizes of the result, which have `count` elements, for
            // which the buffer has room (at most `CHUNK`, aligned for any type); the lease excludes writers.
            unsafe { input.gather(outer, geometry, row, input.data, inner.compiled.element.size(), to) };
            to.cast_const()
        };
    }
    let to = out.address_mut(lease)?;
    if out.dtype() == inner.compiled.result {
        // SAFETY: `count` elements of the loop's types in each operand: in a local buffer, or in an input's memory,
        // which is the result's own or disjoint from it by `check` and `may_overlap_partially`; the lease excludes all
        // other access.
        unsafe { inner.run(to, from, count) };
        return Ok(true);
    }
    let mut buffer = Buffer::EMPTY;
    let buffer = buffer.data();
    // SAFETY: `count` elements of the loop's type in each input, in buffers or under the lease; this buffer is local,
    // and has room for `CHUNK` results, which `count` does not exceed.
    unsafe { inner.run(buffer, from, count) };
    // SAFETY: `count` results were just written to the buffer; the result is contiguous and has as many places,
    // leased for this call alone.
    unsafe { inner.storer(out.dtype())(buffer, count, to, 1) };
    Ok(true)
}

impl Input {
    /// Gathers an input, broadcast to the sizes `outer` and a last dimension of `row.0` elements that are `row.1`
    /// apart, in row-major order at `to`, each element converted to `size` bytes. Returns the address after the last
    /// one.
    ///
    /// # Safety
    /// - The geometry is that of the input, and `data` the address of its element at index 0 of the remaining
    ///   dimensions: `outer` and that of the row.
    /// - The input broadcasts to these dimensions, none of which is empty.
    /// - Nothing writes to the input during the call.
    /// - `to` has room for all elements, of `size` bytes each, which is what `self.load` writes; it is not a tensor's
    ///   memory.
    unsafe fn gather(
        &self,
        outer: &[i64],
        geometry: &Geometry,
        row: (usize, isize),
        data: *const u8,
        size: usize,
        to: *mut u8,
    ) -> *mut u8 {
        let Some((count, inner)) = outer.split_first() else {
            // SAFETY: `data` is the first element of a row; the caller vouches for the row being in bounds and for
            // room for it.
            unsafe { (self.load)(data, row.1, row.0, to) };
            return to.wrapping_add(row.0 * size);
        };
        let step = broadcast_stride(geometry, inner.len() + 1) * self.size as isize;
        (0..*count as isize).fold(to, |to, i| {
            // SAFETY: the caller vouches for all indices of this dimension, of which `i` is one: its elements are in
            // the input, and there is room for them after those of the index before.
            unsafe { self.gather(inner, geometry, row, data.wrapping_offset(i * step), size, to) }
        })
    }
}

#[cfg(test)]
mod tests {
    use torch_library::{Element, Tensor};

    use crate::loops::map;

    /// Subtracts a tensor that broadcasts to `[3, 4, 5]`, of another type and with any strides, from a row-major
    /// tensor.
    fn check<A: Element, B: Element>(sizes: &[i64], strides: &[i64]) {
        let numbers = |count: i64| (0..count).map(|i| (i * 7 % 31) as f32);
        let x = Tensor::from_vec(numbers(60).map(f32::cast::<A>).collect(), &[3, 4, 5]).unwrap();
        let memory = Tensor::from_vec(numbers(200).map(f32::cast::<B>).collect(), &[200]).unwrap();
        let y = memory.strided_view(sizes, strides, 2).unwrap();
        let wide: Vec<i64> = vec![0; 3 - sizes.len()].into_iter().chain(strides.iter().copied()).collect();
        let at = |i: i64| [i / 20, i / 5 % 4, i % 5];
        let repeats = |dim: usize| dim + sizes.len() < 3 || sizes[dim + sizes.len() - 3] == 1;
        let place =
            |i: i64| 2 + (0..3).filter(|dim| !repeats(*dim)).map(|dim| at(i)[dim] * wide[dim]).sum::<i64>();
        let want: Vec<f32> = (0..60).map(|i| ((i * 7 % 31) - (place(i) * 7 % 31)) as f32).collect();
        let out = Tensor::from_vec(vec![0f32; 60], &[3, 4, 5]).unwrap();
        map(&out, [&x, &y], |[a, b]: [f32; 2]| a - b).unwrap();
        assert_eq!(out.to_vec::<f32>().unwrap(), want, "{sizes:?} {strides:?}");
        map(&x, [&x, &y], |[a, b]: [f32; 2]| a - b).unwrap();
        assert_eq!(x.to_vec::<A>().unwrap(), want.iter().map(|x| x.cast()).collect::<Vec<A>>(), "in place");
    }

    #[test]
    fn few_elements_are_computed_from_wherever_they_lie() {
        let layouts: [(&[i64], &[i64]); 7] = [
            (&[3, 4, 5], &[20, 5, 1]),
            (&[3, 4, 5], &[1, 3, 12]),
            (&[3, 4, 5], &[2, 40, 7]),
            (&[4, 5], &[1, 6]),
            (&[3, 1, 5], &[5, 1, 1]),
            (&[4, 1], &[3, 9]),
            (&[], &[]),
        ];
        for (sizes, strides) in layouts {
            check::<f32, f32>(sizes, strides);
            check::<f32, i64>(sizes, strides);
            check::<half::f16, half::f16>(sizes, strides);
            check::<i32, half::bf16>(sizes, strides);
        }
    }

    #[test]
    fn elements_that_lie_alike_need_no_order() {
        let memory = Tensor::from_vec((0..6).map(|i| i as f32).collect(), &[6]).unwrap();
        let (x, out) = (
            memory.strided_view(&[3, 2], &[1, 3], 0).unwrap(),
            Tensor::from_slice(&[0f32; 6], &[6]).unwrap(),
        );
        let turned = out.strided_view(&[3, 2], &[1, 3], 0).unwrap();
        map(&turned, [&x], |[x]: [f32; 1]| x + 1.0).unwrap();
        assert_eq!(out.to_vec::<f32>().unwrap(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    }
}
