//! Reading and writing elements at places that an index gives.
#![expect(
    unsafe_code,
    reason = "reads and writes elements through pointers that a walk and a bound check keep in bounds"
)]

use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use torch_library::geometry::{Dims, Geometry};
use torch_library::{DType, Element, Result, Tensor, match_dtype};

use super::convert::{self, Loader};
use super::walk::{Row, Walk};
use super::{CHUNK, data_ptr, has_elements, parallel};

/// Where an index leads in a tensor: for each place of the index to an element at index 0 of the indexed dimension, and
/// from there so many steps.
pub(crate) struct Lanes<'a> {
    tensor: &'a Tensor,
    strides: Dims,
    /// How many indices there are.
    count: i64,
    /// How many elements lie between two of them.
    step: i64,
}

impl<'a> Lanes<'a> {
    /// Along one dimension; the others are those of the index.
    pub(crate) fn along(tensor: &'a Tensor, dim: usize) -> Self {
        let mut strides = Dims::from_slice(tensor.strides());
        let step = std::mem::take(&mut strides[dim]);
        Lanes { tensor, strides, count: tensor.sizes()[dim], step }
    }
}

/// Writes `out[i, j, …] = source[i, index[i, j, …], …]`, for the indexed dimension.
///
/// `index` broadcasts to `out`; the source is at least as large as `out` in the other dimensions. Gives back an index that
/// is out of range, if there is one.
///
/// # Errors
/// Memory that the host does not reach.
pub(crate) fn gather(out: &Tensor, source: &Lanes<'_>, index: &Tensor) -> Result<Option<i64>> {
    if !has_elements(out) {
        return Ok(None);
    }
    let starts = Geometry::new(out.sizes(), &source.strides, 0)?;
    let walk = Walk::new(out.geometry(), [index.geometry(), &starts]);
    let indices = Indices::new(index, source)?;
    let (size, is_whole) = (out.dtype().size() as isize, out.dtype() != DType::Bool);
    let (out_data, source_data) = (Address(data_ptr(out)?), Address(data_ptr(source.tensor)?));
    parallel::ranges(out.numel() as usize, |range| {
        walk.rows(range, |row| {
            if is_whole && row.input_strides == [0, 1] && row.out_stride == 1 {
                // One index for the whole row, whose elements are neighbours.
                let from = source_data.get().wrapping_offset(row.inputs[1] * size);
                let to = out_data.get().wrapping_offset(row.out * size);
                // SAFETY: the walk stays within the elements of the index.
                return unsafe {
                    indices.row(&Row { len: 1, ..row }, |_, index| {
                        // SAFETY: as below, for all elements of the row.
                        std::ptr::copy(from.offset(index * size), to, row.len * size as usize);
                    });
                };
            }
            match_dtype!(out.dtype(), T => {
                let (out, source) = (out_data.get().cast::<T>(), source_data.get().cast::<T>());
                let (source, out) = (source.wrapping_offset(row.inputs[1]), out.wrapping_offset(row.out));
                let gather = |source_stride: isize, out_stride: isize| {
                    // SAFETY: the walk stays within the elements of the index.
                    unsafe {
                        indices.row(&row, |i, index| {
                            // SAFETY: in bounds of `source`, the index having been checked, and of `out`, of which no two
                            // threads get the same element; both hold `T`.
                            let element = convert::read(source.offset(i * source_stride + index));
                            out.offset(i * out_stride).write(element);
                        });
                    }
                };
                // Along the indexed dimension, strides are known.
                match (row.input_strides[1], row.out_stride) {
                    (0, 1) => gather(0, 1),
                    (source_stride, out_stride) => gather(source_stride, out_stride),
                }
            });
        });
    });
    Ok(indices.bad())
}

/// Writes `target[i, index[i, j, …], …] = f(what is there, source[i, j, …])`, for the indexed dimension, one after the other.
///
/// The source, of the target's type, has the sizes of the index, or more of which the first count. Gives back an index that
/// is out of range, if there is one.
///
/// # Errors
/// Memory that the host does not reach.
pub(crate) fn scatter<T: Element>(
    target: &Lanes<'_>,
    index: &Tensor,
    source: &Tensor,
    f: impl Fn(T, T) -> T,
) -> Result<Option<i64>> {
    if index.numel() == 0 || !has_elements(target.tensor) {
        return Ok(None);
    }
    let starts = Geometry::new(index.sizes(), &target.strides, 0)?;
    let used = Geometry::new(index.sizes(), source.strides(), 0)?;
    // Of the walk only the inputs are looked at: its output would be a tensor in the order of the index.
    let order = Geometry::contiguous(index.sizes())?;
    let walk = Walk::new(&order, [index.geometry(), &starts, &used]);
    let indices = Indices::new(index, target)?;
    let (target, source) = (target.tensor.data_ptr::<T>()?, source.data_ptr::<T>()?);
    walk.rows(0..index.numel() as usize, |row| {
        if T::DTYPE != DType::Bool && row.input_strides == [0, 1, 1] {
            // One index for the whole row, whose elements are neighbours.
            // SAFETY: the walk stays within the elements of the index.
            return unsafe {
                indices.row(&Row { len: 1, ..row }, |_, index| {
                    // SAFETY: as below, for all elements of the row; target and source share no memory.
                    let to = std::slice::from_raw_parts_mut(target.offset(row.inputs[1] + index), row.len);
                    let from = std::slice::from_raw_parts(source.offset(row.inputs[2]), row.len);
                    to.iter_mut().zip(from).for_each(|(to, from)| *to = f(*to, *from));
                });
            };
        }
        // SAFETY: the walk stays within the elements of the index.
        unsafe {
            indices.row(&row, |i, index| {
                let place = target.offset(row.inputs[1] + i * row.input_strides[1] + index);
                let element = source.offset(row.inputs[2] + i * row.input_strides[2]);
                // SAFETY: in bounds of both, the index having been checked; both hold `T`.
                place.write(f(convert::read(place), convert::read(element)));
            });
        }
    });
    Ok(indices.bad())
}

/// Whether all indices are in a range: then each is at least its start, and at most its last number, so no difference has a sign.
/// That takes vectors, where comparisons of `i64` do not.
#[inline(always)]
pub(crate) fn are_within(indices: &[i64], range: Range<i64>) -> bool {
    let sign = |index: &i64| index.wrapping_sub(range.start) | (range.end - 1).wrapping_sub(*index);
    indices.iter().fold(0, |signs, index| signs | sign(index)) >= 0
}

/// An address that threads share.
#[derive(Clone, Copy)]
struct Address(*mut u8);

// SAFETY: a plain address; which thread writes where is for its user to say.
unsafe impl Sync for Address {}

impl Address {
    fn get(&self) -> *mut u8 {
        self.0
    }
}

/// The first input of a walk: indices, which are checked.
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

// SAFETY: a plain address, from which is only read.
unsafe impl Sync for Indices {}

impl Indices {
    fn new(index: &Tensor, lanes: &Lanes<'_>) -> Result<Self> {
        Ok(Indices {
            data: data_ptr(index)?,
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

    /// Calls a closure with each place of a row and how many elements its index is away from index 0. Those out of range
    /// are left out.
    ///
    /// # Safety
    /// The row lies in bounds of the index.
    #[inline(always)]
    unsafe fn row<const N: usize>(&self, row: &Row<N>, mut f: impl FnMut(isize, isize)) {
        let mut buffer = [MaybeUninit::<i64>::uninit(); CHUNK];
        for start in (0..row.len).step_by(CHUNK) {
            let len = CHUNK.min(row.len - start);
            let offset = (row.inputs[0] + start as isize * row.input_strides[0]) * self.size;
            let mut data = self.data.wrapping_offset(offset);
            if !self.is_plain || row.input_strides[0] != 1 && len > 1 {
                let buffer = buffer.as_mut_ptr().cast();
                // SAFETY: the chunk is part of the row, and fits the buffer.
                unsafe { (self.load)(data, row.input_strides[0], len, buffer) };
                data = buffer;
            }
            // SAFETY: part of the row, or loaded.
            let indices = unsafe { std::slice::from_raw_parts(data.cast::<i64>(), len) };
            let (count, step) = (self.count, self.step); // not from memory for each index
            let place =
                |(i, index): (usize, &i64)| ((start + i) as isize, (*index as isize).wrapping_mul(step));
            let places = indices.iter().enumerate().map(place);
            if are_within(indices, 0..count) {
                places.for_each(|(i, index)| f(i, index));
                continue;
            }
            for ((i, index), given) in places.zip(indices) {
                if (0..count).contains(given) {
                    f(i, index);
                } else {
                    self.bad.store(*given, Ordering::Relaxed);
                    self.is_bad.store(true, Ordering::Relaxed);
                }
            }
        }
    }
}
