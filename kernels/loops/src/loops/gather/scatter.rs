//! Scatter: writes to the places that an index tensor gives, in the order of the index at each place.
#![expect(
    unsafe_code,
    reason = "writes elements through pointers that a walk and a bound check keep in bounds"
)]

use std::array::from_fn;

use torch_library::geometry::{Dims, Geometry};
use torch_library::{DType, Element, Lease, Result, Tensor, ensure};

use super::{Indices, Lanes, SHORT, check_types};
use crate::loops::walk::{Row, Walk};
use crate::loops::{CHUNK, convert, copy, has_elements, on_vectors, parallel};

/// Replaces each `x = target[i, index[i, j, …], …]`, for the indexed dimension, by `f(x, source[i, j, …])`, one after
/// the other.
///
/// The source, of the target's type, has at least the sizes of the index; only its first elements in each dimension
/// count. Returns an index that is out of range, if there is one.
///
/// # Errors
/// Memory that the host cannot access, elements of another type.
pub fn scatter<T: Element>(
    target: &Lanes<'_>,
    index: &Tensor,
    source: &Tensor,
    f: impl Fn(T, T) -> T + Copy + Sync,
) -> Result<Option<i64>> {
    check_types(T::DTYPE, target.tensor, source)?;
    join(target, index, source, move |to: *mut T, from: *const T| {
        // SAFETY: `join` passes aligned addresses of elements in both, under its lease; `check_types` has found both to
        // be of `T`, and `read` accepts any byte for a boolean.
        unsafe { to.write(f(convert::read(to), convert::read(from))) }
    })
}

/// Like [`scatter`], where only the last write to an element counts.
///
/// # Errors
/// The errors of [`scatter`].
pub fn put(target: &Lanes<'_>, index: &Tensor, source: &Tensor) -> Result<Option<i64>> {
    check_types(target.tensor.dtype(), target.tensor, source)?;
    match target.tensor.dtype() {
        DType::Bool => scatter(target, index, source, |_, new: bool| new),
        dtype => match dtype.size() {
            1 => put_each::<u8>(target, index, source),
            2 => put_each::<u16>(target, index, source),
            4 => put_each::<u32>(target, index, source),
            8 => put_each::<u64>(target, index, source),
            _ => put_each::<u128>(target, index, source),
        },
    }
}

/// Like [`put`], for elements of the size of `T`.
fn put_each<T: Copy>(target: &Lanes<'_>, index: &Tensor, source: &Tensor) -> Result<Option<i64>> {
    join(target, index, source, |to: *mut T, from: *const T| {
        // SAFETY: `join` passes addresses of elements in both, under its lease; they are of one type with the size of
        // `T`, of which any bits are a value. They need not be aligned like it.
        unsafe { to.write_unaligned(from.read_unaligned()) }
    })
}

/// Calls a closure with the address of each indexed element of the target and of the element of the source that belongs
/// to it.
fn join<T: Copy>(
    target: &Lanes<'_>,
    index: &Tensor,
    source: &Tensor,
    f: impl Fn(*mut T, *const T) + Copy + Sync,
) -> Result<Option<i64>> {
    if index.numel() == 0 || !has_elements(target.tensor) {
        return Ok(None);
    }
    // If the closure wrote to the index, its values could change after they were checked.
    let is_apart = !index.shares_storage_with(target.tensor);
    let index = &if is_apart { index.clone() } else { copy(index, index.dtype())? };
    let lease = Lease::new([target.tensor], [index, source])?;
    target.check(index.sizes())?;
    ensure!(
        index.dim() == source.dim()
            && index.sizes().iter().zip(source.sizes()).all(|(index, source)| index <= source)
            && !index.shares_storage_with(target.tensor),
        Shape,
        "an index of sizes {:?} is out of range for those of the source, {:?}",
        index.sizes(),
        source.sizes()
    );
    let indices = Indices::new(index, target, &lease)?;
    let join = Join {
        indices: &indices,
        target: target.tensor.address_mut(&lease)?.cast::<T>(),
        source: source.address(&lease)?.cast::<T>(),
        f,
    };
    let strides = [index.strides(), &target.strides, source.strides()];
    let dim = shared_dim(target, index.sizes(), source);
    let count = dim.map_or(1, |dim| index.sizes()[dim] as usize);
    let each = (index.numel() as usize / count).max(1);
    // Each part of a row reads all indices, and a short one is not worth a loop.
    let fewest = if dim.is_some_and(|dim| strides[1][dim] == 1) { LONG } else { 1 };
    parallel::shares(count, (parallel::GRAIN / each).max(fewest), |range| {
        let mut sizes = Dims::from_slice(index.sizes());
        let mut starts = [0; 3];
        if let Some(dim) = dim {
            sizes[dim] = range.len() as i64;
            starts = strides.map(|strides| range.start as isize * strides[dim] as isize);
        }
        // SAFETY: a part of the index, which the lease and the check above keep in bounds of the source, and
        // `Lanes::check` of the target. Threads get different places along a dimension that is not indexed, of a target
        // whose elements share no memory, so no two use the same element; by `shared_dim` the source is other memory.
        // The closure writes only to the target, which shares no storage with the index, and the lease excludes other
        // writers.
        unsafe { join.part(&sizes, strides, starts) };
    });
    Ok(indices.bad())
}

/// Parts of rows with fewer elements are not shared.
const LONG: usize = 128;

/// The dimension along which threads share the places of an index, if any: the largest one but the indexed dimension,
/// along which several places may lead to one element. An element that is written must not be read for another one.
fn shared_dim(target: &Lanes<'_>, sizes: &[i64], source: &Tensor) -> Option<usize> {
    if target.tensor.may_overlap_itself() || source.shares_storage_with(target.tensor) {
        return None;
    }
    (0..sizes.len()).rev().filter(|dim| *dim != target.dim).max_by_key(|dim| sizes[*dim])
}

/// What [`join`] does with each row.
struct Join<'a, T, F> {
    indices: &'a Indices,
    target: *mut T,
    source: *const T,
    f: F,
}

// SAFETY: the addresses are dereferenced only in `unsafe` functions, whose callers vouch for what threads share.
unsafe impl<T, F: Sync> Sync for Join<'_, T, F> {}

impl<T: Copy, F: Fn(*mut T, *const T) + Copy> Join<'_, T, F> {
    /// Calls the closure for each place of a part of the index with these sizes, whose strides and start are those of
    /// the index, of the target where the index is 0, and of the source.
    ///
    /// # Safety
    /// - The part lies in bounds of the index.
    /// - Nothing writes to the index during the call, the closure included.
    /// - The closure may be called with the address of each element of the target that an index in range leads to, and
    ///   of the element of the source at the same place.
    unsafe fn part(&self, sizes: &[i64], strides: [&[i64]; 3], starts: [isize; 3]) {
        let (Ok(order), [Ok(index), Ok(target), Ok(source)]) =
            (Geometry::contiguous(sizes), strides.map(|strides| Geometry::new(sizes, strides, 0)))
        else {
            unreachable!("parts of tensors that exist have geometries");
        };
        // Only the inputs of this walk are used; its output stands for a contiguous tensor with the sizes of the index.
        let walk = Walk::new(&order, [&index, &target, &source]);
        let moved = |row: Row<3>| Row { inputs: from_fn(|k| row.inputs[k] + starts[k]), ..row };
        // SAFETY: the walk stays within the part, for which the caller vouches.
        unsafe {
            match walk.inner() {
                Some(_) => walk.planes(CHUNK, 0..walk.parts(CHUNK), |row, rows, _, steps| {
                    self.plane(moved(row), rows, steps)
                }),
                None => walk.rows(0..1, |row| self.row(&moved(row))), // a single element
            }
        }
    }

    /// Calls the closure for each place of a row.
    ///
    /// # Safety
    /// - The row lies in bounds of the index.
    /// - Nothing writes to the index during the call, the closure included.
    unsafe fn row(&self, row: &Row<3>) {
        let (to, from) =
            (self.target.wrapping_offset(row.inputs[1]), self.source.wrapping_offset(row.inputs[2]));
        let f = self.f;
        let visit = |to_stride: isize, from_stride: isize| {
            // The pointers are moved into the closure; behind references, the compiler would have to assume that writes
            // change them.
            let each = move |i: isize, index: isize| {
                f(to.wrapping_offset(i * to_stride + index), from.wrapping_offset(i * from_stride));
            };
            // SAFETY: the caller vouches for the row and for the index.
            unsafe { self.indices.row(row, each) };
        };
        // The usual strides where rows run along the indexed dimension, as constants.
        match (row.input_strides[1], row.input_strides[2]) {
            (0, 1) => visit(0, 1),
            (to_stride, from_stride) => visit(to_stride, from_stride),
        }
    }

    /// Calls the closure for each place of `rows` rows, of which this is the first; `steps` are their distances.
    ///
    /// # Safety
    /// - As for [`row`](Self::row), for each of them.
    unsafe fn plane(&self, row: Row<3>, rows: usize, steps: [isize; 3]) {
        let (mut to, mut from) =
            (self.target.wrapping_offset(row.inputs[1]), self.source.wrapping_offset(row.inputs[2]));
        let ([index_stride, to_stride, from_stride], [index_step, to_step, from_step]) =
            (row.input_strides, steps);
        let (f, len, mut first) = (self.f, row.len as isize, 0);
        if row.input_strides == [0, 1, 1] {
            // One index for each row, whose elements are contiguous.
            let each = |i: isize, index| {
                let (to, from) =
                    (to.wrapping_offset(i * to_step + index), from.wrapping_offset(i * from_step));
                match len <= SHORT {
                    true => (0..len).for_each(|i| f(to.wrapping_offset(i), from.wrapping_offset(i))),
                    false => each_of(f, to, from, row.len),
                }
            };
            // SAFETY: the caller vouches for the index, and for the first place of each row.
            unsafe { self.indices.row(&Row { len: rows, input_strides: steps, ..row }, each) };
        } else if len <= SHORT && index_stride == 1 && index_step == len {
            // Short rows whose indices are contiguous: one row of indices.
            let each = move |i: isize, index: isize| {
                while i - first >= len {
                    (first, to, from) =
                        (first + len, to.wrapping_offset(to_step), from.wrapping_offset(from_step));
                }
                let place = i - first;
                f(to.wrapping_offset(place * to_stride + index), from.wrapping_offset(place * from_stride));
            };
            // SAFETY: the caller vouches for the index, and for these rows.
            unsafe { self.indices.row(&Row { len: rows * row.len, ..row }, each) };
        } else if len <= SHORT && index_step == 0 {
            // Short rows with the same indices: one index after the other, for all rows. An element of the target
            // belongs to one row, so its sources keep their order.
            for i in 0..len {
                let inputs = from_fn(|k| row.inputs[k] + i * row.input_strides[k]);
                // SAFETY: the caller vouches for these places of the rows, and for the index.
                unsafe { self.row(&Row { len: rows, inputs, input_strides: steps, ..row }) };
            }
        } else {
            for i in 0..rows as isize {
                // SAFETY: the caller vouches for each of these rows, and for the index.
                unsafe { self.row(&Row { inputs: from_fn(|k| row.inputs[k] + i * steps[k]), ..row }) };
            }
        }
    }
}

on_vectors! {
    /// Calls a closure with the addresses of each of `len` contiguous elements of the target and of the source.
    fn each_of<T: Copy, F: Fn(*mut T, *const T)>(f: F, to: *mut T, from: *const T, len: usize) {
        for i in 0..len {
            f(to.wrapping_add(i), from.wrapping_add(i));
        }
    }
}

#[cfg(test)]
mod tests {
    use torch_library::Tensor;

    use super::{CHUNK, Lanes, scatter};

    /// Rows of all lengths below and above `SHORT`, with targets whose elements are contiguous or not, more rows than a
    /// chunk of indices holds, and one index that is out of range.
    #[test]
    fn elements_are_scattered_one_after_the_other() {
        for len in [1usize, 2, 3, 15, 16, 17, 40] {
            for (outer, rows) in [(1, 2 * CHUNK / len + 3), (3, 5)] {
                let count = outer * rows * len;
                let sizes = [outer as i64, rows as i64, len as i64];
                let mut indices: Vec<i64> = (0..count).map(|i| (i * 7 % 11 % 4) as i64).collect();
                indices[count - 2] = 4;
                let sources: Vec<f32> = (0..count).map(|i| i as f32).collect();
                let [index, source] = [
                    Tensor::from_vec(indices.clone(), &sizes).unwrap(),
                    Tensor::from_vec(sources.clone(), &sizes).unwrap(),
                ];
                for [across, along] in [[len, 1], [1, 4]] {
                    let target =
                        Tensor::from_vec(vec![0f32; outer * 4 * len], &[(outer * 4 * len) as i64]).unwrap();
                    let strides = [(4 * len) as i64, across as i64, along as i64];
                    let view = target.strided_view(&[outer as i64, 4, len as i64], &strides, 0).unwrap();
                    let mut expected = vec![0f32; outer * 4 * len];
                    for i in (0..count).filter(|i| indices[*i] < 4) {
                        let place =
                            i / (rows * len) * 4 * len + indices[i] as usize * across + i % len * along;
                        expected[place] = expected[place] * 0.5 + sources[i];
                    }
                    let bad =
                        scatter(&Lanes::along(&view, 1), &index, &source, |old: f32, new| old * 0.5 + new);
                    assert_eq!(bad.unwrap(), Some(4));
                    assert_eq!(target.to_vec::<f32>().unwrap(), expected, "{len} {outer} {across}");
                }
            }
        }
    }

    #[test]
    fn rows_with_the_same_indices_are_scattered_one_after_the_other() {
        let (rows, width) = (2 * CHUNK + 3, 5);
        for len in [1usize, 4, 16, 17] {
            let indices: Vec<i64> = (0..len).map(|i| (i * 3 % 4) as i64).collect();
            let sources: Vec<f32> = (0..rows * len).map(|i| i as f32).collect();
            let sizes = [rows as i64, len as i64];
            let index = Tensor::from_slice(&indices, &[len as i64]).unwrap();
            let index = index.strided_view(&sizes, &[0, 1], 0).unwrap();
            let source = Tensor::from_slice(&sources, &sizes).unwrap();
            let target = Tensor::from_vec(vec![1f32; rows * width], &[rows as i64, width as i64]).unwrap();
            let bad = scatter(&Lanes::along(&target, 1), &index, &source, |old: f32, new| old * 0.5 + new);
            assert_eq!(bad.unwrap(), None);
            let mut expected = vec![1f32; rows * width];
            for (i, x) in sources.iter().enumerate() {
                let place = i / len * width + indices[i % len] as usize;
                expected[place] = expected[place] * 0.5 + x;
            }
            assert_eq!(target.to_vec::<f32>().unwrap(), expected, "{len}");
        }
    }
}
