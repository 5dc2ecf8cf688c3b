//! What kernels are made of: operands, walks, rows, threads.
#![expect(unsafe_code, reason = "reads and writes elements through pointers that a walk keeps in bounds")]

// How it works:
//
// 1. A kernel is a closure over one *computing type*: `f32` for halves, the element type itself otherwise.
// 2. A `Walk` lays the operands' dimensions out once: ordered by the output's strides, merged where they are one
//    line in memory. What is left are rows of equidistant elements.
// 3. Where all operands lie in memory as the closure wants them, a row is computed in one go. Else it is computed
//    in chunks that fit the first-level cache: an operand of another type or stride is first converted into a
//    buffer, by one of a few loops that all kernels share. So the closure's own loop (`Inner`) only ever sees dense
//    memory of its type, and vectorises.
// 4. Where an input's neighbours lie across the rows (it is transposed), rows are computed several at a time, so that
//    each of its cache lines is read once (`across`).
// 5. The closure's loop is all that is compiled for each closure and type, for wide vectors, element by element for
//    processors without, and for functions of floats on the widest; the rest knows elements by their size only, and
//    calls it through addresses (`inner::Compiled`).
// 6. What is only copied goes from plane to plane (`planes`).
// 7. From `GRAIN` elements up, threads share the rows.

use std::mem::MaybeUninit;

use torch_library::{DType, Element, Lease, Leased, ListLease, Result, Tensor, match_dtype};

pub mod across;
mod computing;
pub mod convert;
mod copies;
pub mod crossings;
mod dense;
mod function;
pub mod gather;
mod halves;
mod inner;
pub mod lines;
mod numbered;
mod overlap;
pub mod parallel;
pub mod parts;
mod planes;
pub mod pointwise;
pub mod reduce;
pub mod reduction;
mod run;
mod small;
pub mod update;
mod vectors;
pub mod walk;

pub use computing::computing_type;
use convert::{Loader, Storer};
pub use copies::contiguous;
pub use copies::{copy, copy_back_to_front, elements, uninit_like};
use function::Identity;
pub use function::{Elements, Function, Inlined, RowByRow, Usually, function};
use halves::Half;
use inner::{Inner, Plane};
pub use numbered::numbered;
pub use parallel::ranges;
pub use pointwise::Pointwise;
pub use reduce::{Fold, fold};
pub use reduction::Reduction;
use run::run;
pub use vectors::on_vectors;
#[cfg(target_arch = "x86_64")]
pub use vectors::{is_wide, is_widest};
use walk::{Row, Walk};

use crate::inlined::{from_fn, zip};
pub use crate::match_computing;
pub use crate::number::{Number, Ordered};

/// How many elements are worth a thread where lines are only copied: waking it takes as long as copying most of these.
pub const COPIED: usize = 4 * parallel::GRAIN;

/// How many elements a row is computed at a time, where operands are converted on the way; more of those that are
/// small.
pub const CHUNK: usize = 256;

/// Computes every element of `out` from those of the inputs, which broadcast to it.
///
/// Inputs are converted to `M` as they are read, results to the type of `out` as they are written. Tensors whose
/// memory the host does not reach (meta) are left alone: of them there is nothing but the shape.
///
/// # Errors
/// An input that does not broadcast to `out`, or shares a part of its memory; elements of `out` that coincide; an
/// input whose memory the host does not reach, for an output whose memory it does.
#[track_caller]
pub fn map<M: Element, R: Element, const N: usize>(
    out: &Tensor,
    inputs: [&Tensor; N],
    f: impl Fn([M; N]) -> R + Sync,
) -> Result<()> {
    run(out, inputs, &Inner::of::<M, R, _>(&f))
}

/// As [`map`], by a type that is a function, or by a function that has a faster form for usual arguments.
#[track_caller]
pub fn map_elements<M: Element, R: Element, const N: usize>(
    out: &Tensor,
    inputs: [&Tensor; N],
    elements: impl Elements<M, R, N>,
) -> Result<()> {
    run(out, inputs, &Inner::of::<M, R, _>(&elements))
}

/// Writes the elements of a tensor that broadcasts to `out`, converted to its type.
///
/// # Errors
/// As [`map`].
#[track_caller]
pub fn assign(out: &Tensor, input: &Tensor) -> Result<()> {
    match_dtype!(out.dtype(), T => {
        run(out, [input], &Inner::of::<T, T, _>(&Identity))
    })
}

/// Keeps what a kernel is given as it is, while it looks at sizes, takes memory for a result, and reads: else
/// another thread could give a tensor other sizes in between.
///
/// # Errors
/// Memory that somebody writes now.
#[track_caller]
pub fn frozen<const N: usize>(tensors: [&Tensor; N]) -> Result<Lease<'_, 0, N>> {
    Lease::new([], tensors)
}

/// As [`frozen`], of as many as there are.
///
/// # Errors
/// As there.
#[track_caller]
pub fn all_frozen<'a>(tensors: impl IntoIterator<Item = &'a Tensor>) -> Result<ListLease<'a, 0>> {
    ListLease::new([], tensors)
}

/// Whether there is anything to compute: elements, in memory that the host reaches.
#[inline]
pub fn has_elements(out: &Tensor) -> bool {
    out.numel() > 0 && out.storage().data_ptr().is_some()
}

/// Whether memory of a type can be read as `M`. A `bool` cannot: bytes from outside need not be 0 or 1.
#[inline]
pub fn is_plain<M: Element>(dtype: DType) -> bool {
    dtype == M::DTYPE && dtype != DType::Bool
}

/// The memory of an operation's operands, how to get at their elements, and what to do with them. Good while the
/// lease is held that it was made under.
struct Operands<'f, const N: usize> {
    out: *mut u8,
    out_size: usize,
    store: Storer,
    /// Whether results can be written as they are.
    is_plain: bool,
    /// Which halves the results are, and the inputs where they have more than one element in a row, if there is a
    /// loop over them.
    half: Option<Half>,
    inputs: [Input; N],
    /// How many elements of any operand a buffer has room for.
    chunk: usize,
    inner: &'f Inner<'f, N>,
}

// SAFETY: addresses that only `unsafe` functions follow, whose callers give no two threads one row; `Inner` is `Sync`.
unsafe impl<const N: usize> Sync for Operands<'_, N> {}

struct Input {
    data: *const u8,
    dtype: DType,
    size: usize,
    load: Loader,
    /// Whether elements can be read as they are.
    is_plain: bool,
}

impl Input {
    fn new<M: Element>(tensor: &Tensor, lease: &impl Leased) -> Result<Self> {
        Ok(Self::at::<M>(tensor.address(lease)?, tensor.dtype()))
    }

    /// Elements of a type, from an address on.
    fn at<M: Element>(data: *const u8, dtype: DType) -> Self {
        Input {
            data,
            dtype,
            size: dtype.size(),
            load: convert::loader::<M>(dtype),
            is_plain: is_plain::<M>(dtype),
        }
    }
}

/// Room for a chunk of an operand of any type, and some more: buffers that begin at the same place of their pages
/// are taken for the same memory by processors that read one while they write another, and wait. The widest vectors
/// fill a line of the cache.
#[repr(align(64))]
struct Buffer([MaybeUninit<u128>; CHUNK + 80]);

impl Buffer {
    const EMPTY: Buffer = Buffer([MaybeUninit::uninit(); CHUNK + 80]);

    fn data(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }
}

impl<'f, const N: usize> Operands<'f, N> {
    fn new(out: &Tensor, inputs: [&Tensor; N], inner: &'f Inner<'f, N>, lease: &impl Leased) -> Result<Self> {
        let mut found = [const { None }; N];
        for (found, tensor) in zip(&mut found, &inputs) {
            *found = Some(inner.input(tensor, lease)?);
        }
        Ok(Operands {
            out: out.address_mut(lease)?,
            out_size: out.dtype().size(),
            store: (inner.compiled.storer)(out.dtype()),
            is_plain: out.dtype() == inner.compiled.result,
            half: inner.half(out.dtype()),
            inputs: from_fn(|k| found[k].take().expect("each was filled above")),
            chunk: CHUNK * size_of::<u128>()
                / inner.compiled.element.size().max(inner.compiled.result.size()),
            inner,
        })
    }

    /// Computes all rows.
    fn compute(&self, out: &Tensor, inputs: [&Tensor; N]) -> Result<()> {
        let mut walk = Walk::new(out.geometry(), from_fn(|k| inputs[k].geometry()));
        let count = out.numel() as usize;
        let grain = if self.is_copy() { COPIED } else { parallel::GRAIN };
        if let Some(plane) = self.plane(&walk) {
            let grain = (grain / plane.len).max(1);
            // SAFETY: in bounds by the walk; of the loop's types, dense or single, apart or in place by `plane`. No
            // two threads get one row; the lease keeps everybody else away.
            parallel::shares(plane.rows, grain, |rows| unsafe { self.inner.run_plane(&plane.part(rows)) });
            return Ok(());
        }
        if self.copies(&mut walk) {
            return Ok(());
        }
        if count >= across::WORTHWHILE && walk.turn_across() {
            // SAFETY: in bounds by the walk; apart or in place by `check` and `may_overlap_partially`. No two
            // threads get one element of the result; the lease keeps everybody else away.
            parallel::ranges(count, |range| unsafe { self.rows_across(&walk, range) });
            return Ok(());
        }
        self.compute_rows(&walk, count, if walk.is_line() { grain } else { parallel::GRAIN });
        Ok(())
    }

    /// Computes so many elements, row by row.
    fn compute_rows(&self, walk: &Walk<N>, count: usize, grain: usize) {
        parallel::shares(count, grain, |range| {
            let mut buffers = [Buffer::EMPTY; N];
            walk.rows(range, |row| {
                // SAFETY: in bounds by the walk; apart or in place by `check` and `may_overlap_partially`, or as
                // the result is new. No two threads get one element of the result; the lease keeps everybody else
                // away.
                unsafe { self.row(&row, &mut buffers) }
            });
        });
    }

    /// All rows, if they are alike and simple, and there is a loop over such.
    fn plane(&self, walk: &Walk<N>) -> Option<Plane<N>> {
        let (row, rows, out_step, steps) = walk.plane().filter(|_| self.inner.has_plane())?;
        let mut single = None;
        for (k, (input, step)) in zip(&self.inputs, &steps).enumerate() {
            let is_in_place = std::ptr::eq(input.data, self.out);
            match row.input_strides[k] {
                _ if !input.is_plain => return None,
                1 if !is_in_place || *step == out_step => {}
                0 if !is_in_place && single.is_none() => single = Some(k),
                _ => return None,
            }
        }
        (self.is_plain && row.out_stride == 1).then(|| Plane {
            rows,
            len: row.len,
            out: self.out,
            out_step: out_step * self.out_size as isize,
            inputs: from_fn(|k| self.inputs[k].data),
            steps: from_fn(|k| steps[k] * self.inputs[k].size as isize),
            single,
        })
    }

    /// Computes one row.
    ///
    /// # Safety
    /// - Every element of the row lies in bounds of its operand.
    /// - Nobody else writes to these elements meanwhile, or reads those of `out`.
    /// - Each input is `out` itself, each element at its place, or shares no element with it.
    unsafe fn row(&self, row: &Row<N>, buffers: &mut [Buffer; N]) {
        let is_dense = |k: usize| self.inputs[k].is_plain && row.input_strides[k] == 1;
        if (0..N).all(is_dense) && self.is_plain && row.out_stride == 1 {
            let address =
                |data: *const u8, place: isize, size: usize| data.wrapping_offset(place * size as isize);
            let inputs = from_fn(|k| address(self.inputs[k].data, row.inputs[k], self.inputs[k].size));
            let out = address(self.out, row.out, self.out_size).cast_mut();
            // SAFETY: in bounds by the caller's promise, dense in all operands, and of the loop's types
            // (`is_dense`, `is_plain`); the caller vouches that nobody else is there and that each input is the
            // result itself or apart.
            return unsafe { self.inner.run(out, inputs, row.len) };
        }
        if let Some(half) = self.half.filter(|half| self.is_row_of_halves(*half, row)) {
            // SAFETY: the row was found fit; the caller vouches for its bounds, nobody else there, inputs apart or
            // in place.
            return unsafe { self.row_of_halves(half, row) };
        }
        let is_elsewhere = || !std::ptr::eq(self.inputs[0].data, self.out);
        if self.inner.compiled.is_identity && self.is_plain && row.out_stride == 1 && is_elsewhere() {
            let data = self.inputs[0].data.wrapping_offset(row.inputs[0] * self.inputs[0].size as isize);
            let out = self.out.wrapping_offset(row.out * self.out_size as isize);
            // SAFETY: the caller vouches for the elements of the row, and for an input apart, as it is not in
            // place; `load` writes the function's type, which is the result's, to dense places.
            return unsafe { (self.inputs[0].load)(data, row.input_strides[0], row.len, out) };
        }
        let mut start = 0;
        while start < row.len {
            let len = self.chunk.min(row.len - start);
            let inputs: [*const u8; N] = from_fn(|k| {
                // SAFETY: in bounds, as the chunk is part of the row, which the caller vouches for, with nobody
                // else writing to it; a chunk of the function's type fits a buffer.
                unsafe {
                    self.inputs[k].chunk(row.inputs[k], row.input_strides[k], start, len, &mut buffers[k])
                }
            });
            // SAFETY: `start..start + len` is part of the row that the caller vouches for; `chunk` gave addresses
            // of `len` elements of the function's type, and `len` is at most `self.chunk`.
            unsafe { self.finish(row, start, len, inputs) };
            start += len;
        }
    }

    /// Whether each operand of a row is dense and of these halves, or an input of a single element.
    fn is_row_of_halves(&self, half: Half, row: &Row<N>) -> bool {
        let is_fit = |k: usize| match row.input_strides[k] {
            0 => true,
            stride => stride == 1 && Half::of(self.inputs[k].dtype) == Some(half),
        };
        row.out_stride == 1 && (0..N).all(is_fit)
    }

    /// Computes one row of halves, which may be in place.
    ///
    /// # Safety
    /// - [`is_row_of_halves`](Self::is_row_of_halves) has said so of this row, and `half` is [`Operands::half`].
    /// - Every element of the row lies in bounds of its operand.
    /// - Nobody else writes to these elements meanwhile, or reads those of `out`.
    /// - Each input is `out` itself, each element at its place, or shares no element with it.
    unsafe fn row_of_halves(&self, half: Half, row: &Row<N>) {
        let mut singles = [0f32; N];
        let inputs = from_fn(|k| {
            let input = &self.inputs[k];
            let data = input.data.wrapping_offset(row.inputs[k] * input.size as isize);
            if row.input_strides[k] != 0 {
                return (data, false);
            }
            let single = (&raw mut singles[k]).cast::<u8>();
            // SAFETY: the caller vouches for the element; the loader is one to the function's type, which is `f32`
            // where there is a loop over halves, and `single` has room for one.
            unsafe { (input.load)(data, 0, 1, single) };
            (single.cast_const(), true)
        });
        let out = self.out.wrapping_offset(row.out * self.out_size as isize);
        // SAFETY: the caller vouches for `row.len` halves in `out` and in each dense input, for nobody else being
        // there, and for inputs apart or in place; the other inputs are an `f32` of this frame each.
        unsafe { self.inner.run_halves(half, out, inputs, row.len) };
    }

    /// Computes a part of a row from dense inputs, and writes it.
    ///
    /// # Safety
    /// - Elements `start..start + len` of the row lie in bounds of `out`, and nobody else uses them meanwhile.
    /// - `len` elements of the type that the function takes can be read from each of `inputs`, and nobody else
    ///   writes to them meanwhile.
    /// - `len` is at most `self.chunk`.
    /// - Each of `inputs` is the place in `out` itself, or shares no memory with it.
    unsafe fn finish(&self, row: &Row<N>, start: usize, len: usize, inputs: [*const u8; N]) {
        let offset = (row.out + start as isize * row.out_stride) * self.out_size as isize;
        // SAFETY: the caller vouches for element `start` of the row being in bounds of `out`.
        let out = unsafe { self.out.offset(offset) };
        if self.is_plain && row.out_stride == 1 {
            // SAFETY: the caller vouches for `len` elements in each input and in `out`, which is dense and of the
            // function's result type; nobody else uses them.
            return unsafe { self.inner.run(out, inputs, len) };
        }
        let mut buffer = Buffer::EMPTY;
        let buffer = buffer.data();
        // SAFETY: the caller vouches for `len` elements in each input; the buffer is of this frame, aligned for any
        // type, and has room for `self.chunk` results, which `len` does not exceed.
        unsafe { self.inner.run(buffer, inputs, len) };
        // SAFETY: `len` results were just written to the buffer, and the caller vouches for as many places in the
        // row; a buffer of this frame is no tensor's memory.
        unsafe { (self.store)(buffer, len, out, row.out_stride) };
    }
}

impl Input {
    /// The address of a chunk in the computing type: in memory, or in the buffer after conversion.
    ///
    /// # Safety
    /// - The elements of the chunk lie in bounds, and are initialised.
    /// - Nobody writes to them meanwhile.
    /// - `len` elements of the function's type fit the buffer.
    /// - If `stride` is 0 and `start` is not, the buffer holds what the chunk at 0 left there.
    #[inline]
    unsafe fn chunk(
        &self,
        row: isize,
        stride: isize,
        start: usize,
        len: usize,
        buffer: &mut Buffer,
    ) -> *const u8 {
        let buffer = buffer.data();
        let offset = (row + start as isize * stride) * self.size as isize;
        // SAFETY: the caller vouches for the first element of the chunk being in bounds.
        let data = unsafe { self.data.offset(offset) };
        if stride == 1 && self.is_plain {
            return data;
        }
        if stride != 0 || start == 0 {
            // SAFETY: the caller vouches for `len` elements, `stride` apart, that nobody writes to, and for room
            // for them in the buffer, which is no tensor's memory.
            unsafe { (self.load)(data, stride, len, buffer) };
        }
        buffer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(sizes: &[i64]) -> Tensor {
        Tensor::zeros(sizes, DType::Float32, torch_library::Device::CPU).unwrap()
    }

    fn refusal(out: &Tensor, input: &Tensor) -> String {
        map(out, [input], |[x]: [f32; 1]| x + 1.0).unwrap_err().to_string()
    }

    #[test]
    fn what_does_not_reach_every_place_is_refused() {
        for (sizes, others) in
            [(&[1000][..], &[3][..]), (&[4], &[0]), (&[4], &[2, 4]), (&[300, 2], &[2, 300])]
        {
            let said = refusal(&numbers(sizes), &numbers(others));
            assert_eq!(said, format!("sizes {others:?} do not broadcast to those of the result, {sizes:?}"));
        }
    }

    #[test]
    fn places_that_are_read_or_written_as_others_are_refused() {
        let x = numbers(&[8]);
        let expanded = x.strided_view(&[3, 8], &[0, 1], 0).unwrap();
        assert!(refusal(&expanded, &x).contains("several elements are one place in memory"));
        let [left, right] = [0, 1].map(|start| x.strided_view(&[7], &[1], start).unwrap());
        assert!(refusal(&left, &right).contains("shares a part of its memory"));
        map(&x, [&x], |[x]: [f32; 1]| x + 1.0).unwrap();
        map(
            &x.strided_view(&[4], &[1], 0).unwrap(),
            [&x.strided_view(&[4], &[1], 4).unwrap()],
            |[x]: [f32; 1]| x + 1.0,
        )
        .unwrap();
        assert_eq!(x.to_vec::<f32>().unwrap(), [2.0, 2.0, 2.0, 2.0, 1.0, 1.0, 1.0, 1.0]);
    }
}
