//! Gather and scatter: reading and writing elements at the places that an index tensor gives.
#![expect(
    unsafe_code,
    reason = "reads and writes elements through pointers that a walk and a bound check keep in bounds"
)]

use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use torch_library::geometry::{Dims, Geometry};
use torch_library::{DType, Lease, Leased, MemoryFormat, Result, Tensor, ensure};

use super::bytes::copy_row;
use super::convert::{self, Loader};
use super::walk::broadcasts_to;
use super::walk::{Row, Walk};
use super::{CHUNK, assign, has_elements, on_vectors, parallel, uninit_like};

mod scatter;

pub use scatter::{put, scatter};

/// A tensor with an indexed dimension: each place of the index tensor belongs to an element at index 0 of that
/// dimension, from which the index counts in steps.
pub struct Lanes<'a> {
    tensor: &'a Tensor,
    /// The geometry of the tensor when this was made.
    geometry: &'a Geometry,
    strides: Dims,
    /// The indexed dimension.
    dim: usize,
    /// Its size: valid indices are below it.
    count: i64,
    /// Its stride, in elements.
    step: i64,
}

impl<'a> Lanes<'a> {
    /// Indexes `tensor` along the dimension `dim`; its other dimensions are those of the index.
    pub fn along(tensor: &'a Tensor, dim: usize) -> Self {
        let geometry = tensor.geometry();
        let mut strides = Dims::from_slice(geometry.strides());
        let step = std::mem::take(&mut strides[dim]);
        Lanes { tensor, geometry, strides, dim, count: geometry.sizes()[dim], step }
    }

    /// Checks that the tensor's geometry has not changed, and that in the dimensions that are not indexed it is at
    /// least as large as `sizes`. Under a lease it stays so.
    fn check(&self, sizes: &[i64]) -> Result<()> {
        let own = self.geometry.sizes();
        // An expanded dimension is one element, however often it is read; without elements there is nothing to read.
        let reaches = |dim: usize| {
            dim == self.dim || sizes[dim] <= own[dim] || (self.strides[dim] == 0 && own[dim] > 0)
        };
        ensure!(
            own.len() == sizes.len() && (0..own.len()).all(reaches),
            Shape,
            "an index of sizes {sizes:?} is out of range for sizes {own:?}"
        );
        ensure!(
            self.tensor.geometry() == self.geometry,
            Busy,
            "a tensor of sizes {own:?} was resized to {:?} while it was indexed",
            self.tensor.sizes()
        );
        Ok(())
    }
}

/// Writes `out[i, j, …] = source[i, index[i, j, …], …]`, for the indexed dimension.
///
/// `index` broadcasts to `out`; the source is at least as large as `out` in the other dimensions. Returns an index that
/// is out of range, if there is one.
///
/// # Errors
/// Memory that the host cannot access, an `out` of another type than the source's or whose elements share memory.
pub fn gather(out: &Tensor, source: &Lanes<'_>, index: &Tensor) -> Result<Option<i64>> {
    if !has_elements(out) {
        return Ok(None);
    }
    let lease = Lease::new([out], [source.tensor, index])?;
    if [source.tensor, index].iter().any(|read| read.shares_storage_with(out)) {
        drop(lease);
        // SAFETY: `gather` writes every element, unless it returns a bad index or fails: then the tensor is dropped
        // here.
        let apart = unsafe { uninit_like(out, out.dtype(), MemoryFormat::Contiguous)? };
        let bad = gather(&apart, source, index)?;
        return if bad.is_some() { Ok(bad) } else { assign(out, &apart).map(|()| None) };
    }
    source.check(out.sizes())?;
    check_types(out.dtype(), out, source.tensor)?;
    out.check_no_internal_overlap()?;
    ensure!(
        broadcasts_to(index.sizes(), out.sizes()),
        Shape,
        "an index of sizes {:?} does not broadcast to those of the result, {:?}",
        index.sizes(),
        out.sizes()
    );
    let starts = Geometry::new(out.sizes(), &source.strides, 0)?;
    let mut walk = Walk::new(out.geometry(), [index.geometry(), &starts]);
    let indices = Indices::new(index, source, &lease)?;
    let pick = match out.dtype() {
        DType::Bool => pick_flags,
        dtype => match dtype.size() {
            1 => pick::<u8>,
            2 => pick::<u16>,
            4 => pick::<u32>,
            8 => pick::<u64>,
            _ => pick::<u128>,
        },
    };
    let (count, size) = (out.numel() as usize, out.dtype().size());
    let is_of_flags = out.dtype() == DType::Bool;
    let (out, source) = (AddressMut::of(out, &lease)?, Address::of(source.tensor, &lease)?);
    if let Some(rows) = ContiguousRows::of(&walk, size).filter(|_| !is_of_flags) {
        parallel::shares(rows.count, (parallel::GRAIN / rows.len).max(1), |range| {
            // SAFETY: as below, for whole rows.
            unsafe { rows.copy(&indices, range, source.get(), out.get()) };
        });
        return Ok(indices.bad());
    }
    if indices.have_short_rows(&walk) {
        let most = (parallel::GRAIN / walk.inner().map_or(1, |(len, _)| len)).max(1);
        parallel::shares(walk.parts(most), 1, |parts| {
            walk.planes(most, parts, |row, rows, _, steps| {
                // SAFETY: as below, for all of these rows, which `have_short_rows` has found to have this form.
                unsafe {
                    pick_rows(&indices, &row, [rows, size], steps[1], source.get(), out.get(), is_of_flags)
                };
            });
        });
        return Ok(indices.bad());
    }
    walk.lengthen_rows();
    parallel::ranges(count, |range| {
        // SAFETY: in bounds, as the walk stays within the elements of the result and the index, and of the source by
        // `Lanes::check`; source and result are of one type, of this size. No two threads get the same element of the
        // result; the lease excludes all other access, and source and index share no storage with the result.
        walk.rows(range, |row| unsafe { pick(&indices, &row, source.get(), out.get()) });
    });
    Ok(indices.bad())
}

/// Rows of a source that indices choose, where rows and the places for them in the result are contiguous.
struct ContiguousRows {
    /// The first row of the walk, as a row of indices.
    indices: Row<2>,
    count: usize,
    /// The number of elements of a row, and their size.
    len: usize,
    size: usize,
}

impl ContiguousRows {
    /// The rows of a walk over a result, its indices and the source, if they have this form.
    fn of(walk: &Walk<2>, size: usize) -> Option<Self> {
        let (row, count, out_step, steps) = walk.plane().filter(|_| walk.is_plane())?;
        let is_dense = row.input_strides == [0, 1] && row.out_stride == 1 && steps[1] == 0;
        let indices = Row { len: count, out_stride: out_step, input_strides: steps, ..row };
        is_dense.then_some(ContiguousRows { indices, count, len: row.len, size })
    }

    /// Copies some of the rows.
    ///
    /// # Safety
    /// - The rows lie in bounds of the index and of the result, and every index in range leads to a row of the source,
    ///   with elements of this size.
    /// - Nothing writes to index and source during the call, and nothing else uses these rows of the result, which
    ///   shares no memory with the source.
    unsafe fn copy(&self, indices: &Indices, range: Range<usize>, source: *const u8, out: *mut u8) {
        let (bytes, step) = (self.len * self.size, self.indices.out_stride * self.size as isize);
        let first = self.indices.inputs[0] + range.start as isize * self.indices.input_strides[0];
        let row = Row { len: range.len(), inputs: [first, 0], ..self.indices };
        let out = out.wrapping_offset(range.start as isize * step);
        let copy = |i: isize, index: isize| {
            let from = source.wrapping_offset(index * self.size as isize);
            // SAFETY: a row of the range, and an index in range: the caller vouches for both.
            unsafe { copy_row(from, out.wrapping_offset(i * step), bytes) };
        };
        // SAFETY: the caller vouches for the indices of these rows; the closure writes only to the result.
        unsafe { indices.row(&row, copy) };
    }
}

/// Gathers one row of the result; `T` stands for an element of its size, and elements need not be aligned like it.
///
/// # Safety
/// - The row lies in bounds of the index and of the result, whose elements take as many bytes as `T`.
/// - For each place of the row, counted from where the row starts in the source, every index in range leads to an
///   element of that size.
/// - Nothing writes to index and source during the call, and nothing else uses the row of the result.
/// - Any bits are a value of `T`; elements need not be aligned like it.
unsafe fn pick<T: Copy>(indices: &Indices, row: &Row<2>, source: *const u8, out: *mut u8) {
    let (from, to) = (source.cast::<T>(), out.cast::<T>());
    if row.input_strides == [0, 1] && row.out_stride == 1 {
        // One index for the whole row, whose elements are contiguous.
        let (from, to) = (from.wrapping_offset(row.inputs[1]), to.wrapping_offset(row.out));
        let copy = |_, index| {
            let from = from.wrapping_offset(index).cast::<u8>();
            // SAFETY: an index in range leads to elements, as the caller vouches, and the whole row of them is
            // contiguous, as are the places in the result, which shares no memory with the source.
            unsafe { copy_row(from, to.cast(), row.len * size_of::<T>()) };
        };
        // SAFETY: the caller vouches for the row of the index, of which this is the first place; the closure writes
        // only to the result.
        return unsafe { indices.row(&Row { len: 1, ..*row }, copy) };
    }
    // SAFETY: the caller vouches for the row in index, source and result, and for exclusive use of the result.
    unsafe { pick_each(indices, row, from, to, |x| x) }
}

/// Gathers short rows of elements of `size` bytes that follow each other without gaps in the result, as do their
/// indices; they are `step` elements apart in the source.
///
/// # Safety
/// - The requirements of [`pick`], for each of the rows.
unsafe fn pick_rows(
    indices: &Indices,
    row: &Row<2>,
    [rows, size]: [usize; 2],
    step: isize,
    source: *const u8,
    out: *mut u8,
    is_of_flags: bool,
) {
    // SAFETY: the caller vouches for the rows, of elements of this size; any value of a boolean is a byte, and only 0
    // or 1 is written.
    unsafe {
        match size {
            1 if is_of_flags => {
                pick_rows_of(indices, row, rows, step, source, out, |byte: u8| u8::from(byte != 0))
            }
            1 => pick_rows_of(indices, row, rows, step, source, out, |x: u8| x),
            2 => pick_rows_of(indices, row, rows, step, source, out, |x: u16| x),
            4 => pick_rows_of(indices, row, rows, step, source, out, |x: u32| x),
            8 => pick_rows_of(indices, row, rows, step, source, out, |x: u64| x),
            _ => pick_rows_of(indices, row, rows, step, source, out, |x: u128| x),
        }
    }
}

/// # Safety
/// - The requirements of [`pick_rows`], for elements of the size of `T`.
unsafe fn pick_rows_of<T: Copy>(
    indices: &Indices,
    row: &Row<2>,
    rows: usize,
    step: isize,
    source: *const u8,
    out: *mut u8,
    written: impl Fn(T) -> T + Copy,
) {
    let from = source.cast::<T>().wrapping_offset(row.inputs[1]);
    let to = out.cast::<T>().wrapping_offset(row.out);
    let pick = |stride: isize| {
        let len = row.len;
        let pick = move |n: usize, i: usize, index: isize| {
            let place = n as isize * step + i as isize * stride + index;
            // SAFETY: `Indices::rows` passes only places of the rows and indices in range, which lead to elements, as
            // the caller vouches, and to places in the result, which follow each other.
            unsafe {
                let x = from.wrapping_offset(place).read_unaligned();
                to.wrapping_add(n * len + i).write_unaligned(written(x));
            }
        };
        // SAFETY: the caller vouches for the rows of the index; the closure writes only to the result, which shares no
        // memory with it.
        unsafe { indices.rows(row.inputs[0], [rows, len], pick) };
    };
    match row.input_strides[1] {
        0 => pick(0),
        stride => pick(stride),
    }
}

/// Like [`pick`], for booleans.
///
/// # Safety
/// - What [`pick`] requires, for bytes: the row in bounds of index and result, indices in range that lead to elements
///   of the source.
/// - Nothing writes to index and source during the call, and nothing else uses the row of the result.
unsafe fn pick_flags(indices: &Indices, row: &Row<2>, source: *const u8, out: *mut u8) {
    // SAFETY: the caller vouches for the row in index, source and result, and for exclusive use of the result; any
    // value is a byte, and only 0 or 1 is written.
    unsafe { pick_each(indices, row, source, out, |byte| u8::from(byte != 0)) }
}

/// # Safety
/// - The row lies in bounds of the index and of the result, whose elements take as many bytes as `T`.
/// - For each place of the row, counted from where the row starts in the source, every index in range leads to an
///   element of that size.
/// - Nothing writes to index and source during the call, and nothing else uses the row of the result.
/// - Any bits are a value of `T`; elements need not be aligned like it.
#[inline(always)]
unsafe fn pick_each<T>(
    indices: &Indices,
    row: &Row<2>,
    source: *const T,
    out: *mut T,
    written: impl Fn(T) -> T + Copy,
) {
    let (from, to) = (source.wrapping_offset(row.inputs[1]), out.wrapping_offset(row.out));
    let pick = |source_stride: isize, out_stride: isize| {
        // The pointers are moved into the closure; behind references, the compiler would have to assume that writes
        // change them.
        let pick = move |i: isize, index: isize| {
            // SAFETY: `Indices::row` passes only places of the row and indices in range, which lead to elements, as the
            // caller vouches.
            let x = unsafe { from.wrapping_offset(i * source_stride + index).read_unaligned() };
            // SAFETY: `i` is a place of the row, which the caller vouches for in the result.
            unsafe { to.wrapping_offset(i * out_stride).write_unaligned(written(x)) };
        };
        // SAFETY: the caller vouches for the row of the index; the closure writes only to the result, which shares no
        // memory with it.
        unsafe { indices.row(row, pick) };
    };
    // The usual strides where rows run along the indexed dimension, as constants.
    match (row.input_strides[1], row.out_stride) {
        (0, 1) => pick(0, 1),
        (source_stride, out_stride) => pick(source_stride, out_stride),
    }
}

fn check_types(dtype: DType, target: &Tensor, source: &Tensor) -> Result<()> {
    let are_alike = [target, source].iter().all(|tensor| tensor.dtype() == dtype);
    ensure!(are_alike, DType, "elements of {} for {}, expected {dtype}", source.dtype(), target.dtype());
    Ok(())
}

/// Rows of at most this many elements take less time than the start of a loop over them.
const SHORT: isize = 16;

/// Whether all indices are in a range.
#[inline]
pub fn are_within(indices: &[i64], range: Range<i64>) -> bool {
    if indices.len() <= SHORT as usize {
        return signs(indices, &range) >= 0;
    }
    let mut joined = 0;
    many_signs(indices, &range, &mut joined);
    joined >= 0
}

/// Negative if an index is out of range: then the difference to the start or that to the last number is. Subtractions
/// of `i64` vectorise where comparisons do not.
#[inline(always)]
fn signs(indices: &[i64], range: &Range<i64>) -> i64 {
    let sign = |index: &i64| index.wrapping_sub(range.start) | (range.end - 1).wrapping_sub(*index);
    indices.iter().fold(0, |signs, index| signs | sign(index))
}

on_vectors! {
    /// [`signs`], of more than a few indices.
    fn many_signs(indices: &[i64], range: &Range<i64>, joined: &mut i64) {
        *joined = signs(indices, range);
    }
}

/// The address of a tensor's first element, for threads to share.
#[derive(Clone, Copy)]
pub struct Address(*const u8);

// SAFETY: the address is only dereferenced in `unsafe` code of its user, under the lease that it was made for.
unsafe impl Sync for Address {}

impl Address {
    pub fn of(tensor: &Tensor, lease: &impl Leased) -> Result<Self> {
        tensor.address(lease).map(Address)
    }

    #[inline]
    pub fn get(&self) -> *const u8 {
        self.0
    }
}

/// Like [`Address`], for writing.
#[derive(Clone, Copy)]
pub struct AddressMut(*mut u8);

// SAFETY: the address is only dereferenced in `unsafe` code of its user, under the lease that it was made for; that
// code argues which thread writes where.
unsafe impl Sync for AddressMut {}

impl AddressMut {
    pub fn of(tensor: &Tensor, lease: &impl Leased) -> Result<Self> {
        tensor.address_mut(lease).map(AddressMut)
    }

    #[inline]
    pub fn get(&self) -> *mut u8 {
        self.0
    }
}

/// The first input of a walk: the indices, with the range that they are checked against.
struct Indices {
    data: *const u8,
    size: isize,
    load: Loader,
    is_plain: bool,
    count: i64,
    step: isize,
    is_bad: AtomicBool,
    bad: AtomicI64,
}

// SAFETY: the address is only dereferenced in `row`, which is `unsafe`: its caller vouches that nothing writes there.
// All other fields are `Sync`.
unsafe impl Sync for Indices {}

impl Indices {
    fn new(index: &Tensor, lanes: &Lanes<'_>, lease: &impl Leased) -> Result<Self> {
        Ok(Indices {
            data: index.address(lease)?,
            size: index.dtype().size() as isize,
            load: convert::loader::<i64>(index.dtype()),
            is_plain: index.dtype() == DType::Int64,
            count: lanes.count,
            step: lanes.step as isize,
            is_bad: AtomicBool::new(false),
            bad: AtomicI64::new(0),
        })
    }

    fn bad(self) -> Option<i64> {
        self.is_bad.into_inner().then(|| self.bad.into_inner())
    }

    /// Whether the indices of a walk over a result, its indices and the source are short rows without gaps, like the
    /// result's, and need no conversion. Rows of a few indices are gathered column by column.
    fn have_short_rows(&self, walk: &Walk<2>) -> bool {
        let Some((row, _, out_step, steps)) = walk.plane() else { return false };
        let is_dense = row.out_stride == 1 && row.input_strides[0] == 1;
        let len = row.len as isize;
        self.is_plain && is_dense && (4..CHUNK / 4).contains(&row.len) && out_step == len && steps[0] == len
    }

    /// Like [`row`](Self::row), for `rows` rows of `len` indices that follow each other from the place `first` on:
    /// calls a closure with the number of each row, each place of it, and the offset of its index.
    ///
    /// # Safety
    /// - The rows lie in bounds of the index, whose elements need no conversion.
    /// - Nothing writes to the index during the call, the closure included.
    #[inline(always)]
    unsafe fn rows(&self, first: isize, [rows, len]: [usize; 2], mut f: impl FnMut(usize, usize, isize)) {
        let (count, step) = (self.count, self.step); // copied, so as not to be read again for each index
        let together = (CHUNK / len).max(1);
        for start in (0..rows).step_by(together) {
            let some = together.min(rows - start);
            let place = (first + (start * len) as isize) * self.size;
            // SAFETY: contiguous values of `i64`, some of those that the caller vouches for.
            let indices = unsafe {
                std::slice::from_raw_parts(self.data.wrapping_offset(place).cast::<i64>(), some * len)
            };
            let are_good = are_within(indices, 0..count);
            for (n, indices) in indices.chunks_exact(len).enumerate() {
                for (i, index) in indices.iter().enumerate() {
                    if are_good || self.is_good(*index) {
                        f(start + n, i, (*index as isize).wrapping_mul(step));
                    }
                }
            }
        }
    }

    /// Whether an index is in range; if not, it is remembered.
    #[cold]
    fn is_good(&self, index: i64) -> bool {
        let is_good = (0..self.count).contains(&index);
        if !is_good {
            self.bad.store(index, Ordering::Relaxed);
            self.is_bad.store(true, Ordering::Relaxed);
        }
        is_good
    }

    /// Calls a closure with each place of a row and the offset in elements of its index from index 0. Indices out of
    /// range are skipped, and remembered.
    ///
    /// # Safety
    /// - The row lies in bounds of the index.
    /// - Nothing writes to the index during the call, the closure included.
    #[inline(always)]
    unsafe fn row<const N: usize>(&self, row: &Row<N>, mut f: impl FnMut(isize, isize)) {
        let mut buffer = [MaybeUninit::<i64>::uninit(); CHUNK];
        for start in (0..row.len).step_by(CHUNK) {
            let len = CHUNK.min(row.len - start);
            let offset = (row.inputs[0] + start as isize * row.input_strides[0]) * self.size;
            let mut data = self.data.wrapping_offset(offset);
            if !self.is_plain || row.input_strides[0] != 1 && len > 1 {
                let buffer = buffer.as_mut_ptr().cast();
                // SAFETY: the chunk is part of the row, which the caller vouches for and nothing writes to; the buffer
                // is local, and has room for `CHUNK` values of the type that the loader converts to.
                unsafe { (self.load)(data, row.input_strides[0], len, buffer) };
                data = buffer;
            }
            // SAFETY: `len` contiguous values of `i64`: part of the row, which the caller vouches for and nothing
            // writes to, or loaded above.
            let indices = unsafe { std::slice::from_raw_parts(data.cast::<i64>(), len) };
            let (count, step) = (self.count, self.step); // copied, so as not to be read again for each index
            let place =
                |(i, index): (usize, &i64)| ((start + i) as isize, (*index as isize).wrapping_mul(step));
            let places = indices.iter().enumerate().map(place);
            if are_within(indices, 0..count) {
                places.for_each(|(i, index)| f(i, index));
                continue;
            }
            for ((i, index), given) in places.zip(indices) {
                if self.is_good(*given) {
                    f(i, index);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use torch_library::Tensor;

    use super::{Lanes, gather};
    use crate::loops::CHUNK;

    /// Rows of all lengths below and above those that are gathered together, of elements with gaps between their rows
    /// or in columns, more than a chunk of indices holds, and one index that is out of range.
    #[test]
    fn short_rows_are_gathered() {
        for len in [1usize, 2, 3, 16, 63, 64, 65] {
            let (rows, width) = (2 * CHUNK / len + 3, 5);
            let mut indices: Vec<i64> = (0..rows * len).map(|i| (i * 7 % 11 % width) as i64).collect();
            let elements: Vec<f32> = (0..rows * (width + 2)).map(|i| i as f32).collect();
            let source = Tensor::from_vec(elements, &[(rows * (width + 2)) as i64]).unwrap();
            for [across, along] in [[width + 2, 1], [1, rows]] {
                let strides = [across as i64, along as i64];
                let source = source.strided_view(&[rows as i64, width as i64], &strides, 1).unwrap();
                let sizes = [rows as i64, len as i64];
                let (out, index) = (
                    Tensor::from_vec(vec![0f32; rows * len], &sizes).unwrap(),
                    Tensor::from_slice(&indices, &sizes).unwrap(),
                );
                assert_eq!(gather(&out, &Lanes::along(&source, 1), &index).unwrap(), None);
                let place = |i: usize| 1 + i / len * across + indices[i] as usize * along;
                let expected: Vec<f32> = (0..rows * len).map(|i| place(i) as f32).collect();
                assert_eq!(out.to_vec::<f32>().unwrap(), expected, "{len}, {across} apart");
            }
            indices[rows * len - 1] = width as i64;
            let index = Tensor::from_slice(&indices, &[rows as i64, len as i64]).unwrap();
            let source = source.strided_view(&[rows as i64, width as i64], &[width as i64, 1], 0).unwrap();
            let out = Tensor::from_vec(vec![0f32; rows * len], &[rows as i64, len as i64]).unwrap();
            assert_eq!(gather(&out, &Lanes::along(&source, 1), &index).unwrap(), Some(width as i64));
        }
    }

    #[test]
    fn elements_are_gathered_as_their_type_to_places_of_their_own() {
        let (source, index) = (Tensor::from([1f32, 2.0]), Tensor::from([1i64, 0]));
        let refusal = |out: &Tensor| gather(out, &Lanes::along(&source, 0), &index).unwrap_err().to_string();
        let wider = Tensor::from([0f64; 2]);
        assert!(refusal(&wider).contains("elements of float32 for float64, expected float64"));
        let one = Tensor::from([0f32]).strided_view(&[2], &[0], 0).unwrap();
        assert!(refusal(&one).contains("several elements share one memory location"));
    }

    #[test]
    fn nothing_is_gathered_from_a_dimension_without_elements() {
        let source = Tensor::from([0f32; 0]).strided_view(&[0, 3], &[0, 1], 0).unwrap();
        let (out, index) = (Tensor::from([[0f32; 3]; 2]), Tensor::from([[2i64; 3]; 2]));
        let refusal = gather(&out, &Lanes::along(&source, 1), &index).unwrap_err().to_string();
        assert_eq!(refusal, "an index of sizes [2, 3] is out of range for sizes [0, 3]");
    }
}
