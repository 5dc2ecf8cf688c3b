//! The building blocks of kernels: operands, walks, rows, threads.
#![expect(unsafe_code, reason = "reads and writes elements through pointers that a walk keeps in bounds")]

// How it works:
//
// 1. A kernel is a closure over one *opmath type*: `f32` for 16-bit floats ("halves"), the element type itself
//    otherwise.
// 2. A `Walk` lays out the operands' dimensions once: ordered by the output's strides, and merged where they are
//    contiguous with each other. What remains are rows of equidistant elements.
// 3. Where all operands are dense and of the closure's types, a row is computed in one go. Otherwise it is computed in
//    chunks that fit the L1 cache: an operand of another type or stride is first converted into a buffer, by
//    one of a few loops that all kernels share. So the closure's own loop (`Inner`) only ever sees dense memory of its
//    type, and vectorises.
// 4. Where an input is transposed, so that elements next to each other in memory belong to different rows, several rows
//    are computed at a time, so that each of its cache lines is read once (`across`).
// 5. Only the closure's loop is compiled for each closure and type: for wide vectors (AVX2), element by element for
//    processors without them, and for some functions of floats also for the widest (AVX-512). The rest of the code
//    knows only the size of elements, and calls that loop through function pointers (`inner::Compiled`).
// 6. Plain copies are done plane by plane, over two dimensions at a time (`planes`).
// 7. From about `GRAIN` elements on, threads share the rows.

use std::mem::MaybeUninit;

use torch_library::{DType, Element, Lease, Leased, ListLease, Result, Tensor, match_dtype};

mod across;
pub mod bytes;
pub mod convert;
mod copies;
pub mod crossings;
mod dense;
mod float8;
mod function;
pub mod gather;
mod halves;
mod inner;
pub mod lines;
mod numbered;
mod opmath;
pub mod overlap;
pub mod parallel;
pub mod parts;
mod planes;
pub mod pointwise;
pub mod reduce;
pub mod reduction;
mod repeated;
mod reversed;
mod run;
mod small;
pub mod transpose;
pub mod update;
mod vectors;
pub mod walk;
mod work;

use convert::{Loader, Storer};
pub use copies::contiguous;
pub use copies::{copy, copy_back_to_front, elements, uninit_like};
pub use float8::as_bytes;
use function::Identity;
pub use function::{Elements, Function, Inlined, RowByRow, Usually, Widest, function};
use halves::Half;
use inner::{Inner, Inputs, Plane};
pub use numbered::{in_runs, numbered, of_numbers};
pub use opmath::{opmath_type, opmath_type_with_float8, parameter};
pub use parallel::ranges;
pub use pointwise::Pointwise;
pub use reduce::{Fold, fold};
pub use reduction::Reduction;
use run::run;
pub use vectors::on_vectors;
#[cfg(target_arch = "x86_64")]
pub use vectors::{has_avx2, has_avx512};
use walk::{Row, SHORT, Walk};
pub use work::{Held, Work, work};

use crate::inlined::{from_fn, zip};
pub use crate::match_opmath;
pub use crate::number::{Number, Ordered};

/// The grain size of plain copies, in elements: waking a thread takes as long as copying most of these.
pub const COPY_GRAIN: usize = 4 * parallel::GRAIN;

/// The number of elements of a row that are computed at a time where operands are converted, for elements of 16 bytes;
/// smaller elements make larger chunks.
pub const CHUNK: usize = 256;

/// Computes every element of `out` from those of the inputs, which broadcast to it.
///
/// Inputs are converted to `M` as they are read, and results to the type of `out` as they are written. If the host
/// cannot access the memory of `out` (as on `Meta`, where tensors have only a shape), nothing is computed.
///
/// ```
/// use torch_library::{DType, Device, Tensor};
/// use torch_library_loops::map;
///
/// let (x, y) = (Tensor::from([[1i32, 2], [3, 4]]), Tensor::from([0.5f32, 1.5]));
/// let out = Tensor::empty(&[2, 2], DType::Float64, Device::CPU)?;
/// map(&out, [&x, &y], |[x, y]: [f32; 2]| x * y)?; // `x` is converted, `y` broadcast, the result converted
/// assert_eq!(out.to_vec::<f64>()?, [0.5, 3.0, 1.5, 6.0]);
/// # Ok::<(), torch_library::Error>(())
/// ```
///
/// # Errors
/// An input that does not broadcast to `out`, or that partially overlaps it; elements of `out` that share memory; an
/// input whose memory the host cannot access, for an output whose memory it can.
///
/// PyTorch: `at::native::cpu_kernel` on a `TensorIterator`.
#[track_caller]
pub fn map<M: Element, R: Element, const N: usize>(
    out: &Tensor,
    inputs: [&Tensor; N],
    f: impl Fn([M; N]) -> R + Sync,
) -> Result<()> {
    run(out, inputs, &Inner::of::<M, R, _>(&f))
}

/// Like [`map`], with an [`Elements`] that is not a closure: [`Inlined`], or [`Usually`] with its faster form for usual
/// arguments.
#[track_caller]
pub fn map_elements<M: Element, R: Element, const N: usize>(
    out: &Tensor,
    inputs: [&Tensor; N],
    elements: impl Elements<M, R, N>,
) -> Result<()> {
    run(out, inputs, &Inner::of::<M, R, _>(&elements))
}

/// Copies `input`, which broadcasts to `out`, to `out`, converted to the type of `out`.
///
/// # Errors
/// The errors of [`map`].
#[track_caller]
pub fn assign(out: &Tensor, input: &Tensor) -> Result<()> {
    match_dtype!(out.dtype(), T: NotFloat8 => {
        run(out, [input], &Inner::of::<T, T, _>(&Identity))
    }, else => match out.dtype() == input.dtype() {
        true => assign(&as_bytes(out)?, &as_bytes(input)?),
        // PyTorch converts to eight bits through `f32`, too.
        false => run(out, [input], &Inner::of::<f32, f32, _>(&Identity)),
    })
}

/// A read lease on a kernel's inputs, so that they stay as they are while the kernel looks at sizes, allocates a
/// result, and reads; without it, another thread could resize a tensor in between.
///
/// # Errors
/// Memory that is being written.
#[track_caller]
pub fn frozen<const N: usize>(tensors: [&Tensor; N]) -> Result<Lease<'_, 0, N>> {
    Lease::new([], tensors)
}

/// Like [`frozen`], for any number of tensors.
///
/// # Errors
/// The errors of [`frozen`].
#[track_caller]
pub fn all_frozen<'a>(tensors: impl IntoIterator<Item = &'a Tensor>) -> Result<ListLease<'a, 0>> {
    ListLease::new([], tensors)
}

/// Whether there is anything to compute: elements, in memory that the host can access.
#[inline]
pub fn has_elements(out: &Tensor) -> bool {
    out.numel() > 0 && out.storage().data_ptr().is_some()
}

/// Whether memory of type `dtype` can be read as `M` directly. `bool` cannot, since bytes from outside need not be 0 or
/// 1.
#[inline]
pub fn is_plain<M: Element>(dtype: DType) -> bool {
    dtype == M::DTYPE && dtype != DType::Bool
}

/// The operands of a loop: their memory, how to load and store their elements, and the function to compute. Valid only
/// while the lease is held under which it was made.
struct Operands<'f, const N: usize> {
    out: *mut u8,
    out_size: usize,
    store: Storer,
    /// Whether results can be written without conversion.
    is_plain: bool,
    /// If there is a loop over 16-bit floats: the type of the results, and of those inputs that have more than one
    /// element in a row.
    half: Option<Half>,
    inputs: [Input; N],
    /// The number of elements that a buffer has room for, of either of the function's types.
    chunk: usize,
    inner: &'f Inner<'f, N>,
}

// SAFETY: the addresses are dereferenced only in `unsafe` functions, whose callers give no two threads the same row;
// `Inner` is `Sync`.
unsafe impl<const N: usize> Sync for Operands<'_, N> {}

struct Input {
    data: *const u8,
    dtype: DType,
    size: usize,
    load: Loader,
    /// Whether elements can be read without conversion.
    is_plain: bool,
}

impl Input {
    /// An input whose elements start at `data`, have the type `dtype`, and are read as `element`.
    fn at(data: *const u8, dtype: DType, element: DType) -> Self {
        Input {
            data,
            dtype,
            size: dtype.size(),
            load: convert::loader_between(dtype, element),
            is_plain: dtype == element && dtype != DType::Bool,
        }
    }
}

/// Room for a chunk of an operand of any type, and padding: processors mistake buffers at the same offset in their
/// pages for the same memory (4K aliasing), and stall when they read one while they write another. Aligned to cache
/// lines, which are as long as the widest vectors.
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
        let mut made = [const { None }; N];
        for (made, tensor) in zip(&mut made, &inputs) {
            *made = Some(inner.input(tensor, lease)?);
        }
        Ok(Operands {
            out: out.address_mut(lease)?,
            out_size: out.dtype().size(),
            store: inner.storer(out.dtype()),
            is_plain: out.dtype() == inner.compiled.result,
            half: inner.half(out.dtype()),
            inputs: from_fn(|k| made[k].take().expect("each was made above")),
            chunk: CHUNK * size_of::<u128>()
                / inner.compiled.element.size().max(inner.compiled.result.size()),
            inner,
        })
    }

    /// Computes all rows.
    fn compute(&self, out: &Tensor, inputs: [&Tensor; N]) -> Result<()> {
        let mut walk = Walk::new(out.geometry(), from_fn(|k| inputs[k].geometry()));
        let count = out.numel() as usize;
        let grain = if self.is_copy() { COPY_GRAIN } else { parallel::GRAIN };
        if self.repeats(&walk, grain) || walk.is_plane() && self.by_planes(&walk, grain) {
            return Ok(());
        }
        if self.copies(&mut walk) {
            return Ok(());
        }
        let is_narrow = walk.inner().is_some_and(|(len, _)| len < across::FEWEST);
        if count >= across::WORTHWHILE && !is_narrow && walk.turn_across() {
            // SAFETY: in bounds by the walk; disjoint or in place by `check` and `may_overlap_partially`. No two
            // threads get the same element of the result; the lease excludes all other access.
            parallel::ranges(count, |range| unsafe { self.rows_across(&walk, range) });
            return Ok(());
        }
        if self.by_planes(&walk, grain) {
            return Ok(());
        }
        walk.lengthen_rows();
        self.compute_rows(&walk, count, if walk.is_line() { grain } else { parallel::GRAIN });
        Ok(())
    }

    /// Computes `count` elements, row by row.
    fn compute_rows(&self, walk: &Walk<N>, count: usize, grain: usize) {
        parallel::shares(count, grain, |range| {
            let mut buffers = [Buffer::EMPTY; N];
            walk.rows(range, |row| {
                // SAFETY: in bounds by the walk; disjoint or in place by `check` and `may_overlap_partially`, or since
                // the result is new. No two threads get the same element of the result; the lease excludes all other
                // access.
                unsafe { self.row(&row, &mut buffers) }
            });
        });
    }

    /// Computes all planes of the two innermost dimensions and returns true, if they have the simple form that
    /// [`Plane`] describes and there is a loop over them.
    fn by_planes(&self, walk: &Walk<N>, grain: usize) -> bool {
        if self.converts_rows(walk, grain) {
            return true;
        }
        let mut buffers = [Buffer::EMPTY; N];
        let Some(first) = self.plane(walk, &mut buffers) else { return false };
        let most = (grain / first.len.max(1)).max(1);
        let at_a_time = (grain / (first.len * first.rows.min(most)).max(1)).max(1);
        parallel::shares(walk.parts(most), at_a_time, |parts| {
            walk.planes(most, parts, |row, rows, _, _| {
                let inputs = from_fn(|k| row.inputs[k] * self.inputs[k].size as isize);
                let plane = first.moved(rows, row.out * self.out_size as isize, inputs);
                // SAFETY: in bounds by the walk; of the loop's types, dense, single or constant, disjoint or in place
                // by `plane`. No two threads get the same row; the lease excludes all other access.
                unsafe { self.inner.run_plane(&plane) }
            });
        });
        true
    }

    /// Converts all elements and returns true, if they are rows of a tensor of another type, and not very short.
    fn converts_rows(&self, walk: &Walk<N>, grain: usize) -> bool {
        let Some(input) = self.inputs.first() else { return false };
        let is_converted =
            self.inner.compiled.is_identity && self.is_plain && !input.is_plain && !self.is_copy_of_flags();
        let is_in_place = std::ptr::eq(input.data, self.out);
        let Some((row, ..)) = walk.plane().filter(|_| is_converted && !is_in_place) else { return false };
        if row.len < SHORT || row.out_stride != 1 || row.input_strides[0] != 1 {
            return false;
        }
        let most = (grain / row.len).max(1);
        parallel::shares(walk.parts(most), 1, |parts| {
            walk.planes(most, parts, |first, rows, out_step, steps| {
                for row in 0..rows as isize {
                    let place = (first.inputs[0] + row * steps[0]) * self.inputs[0].size as isize;
                    let out = (first.out + row * out_step) * self.out_size as isize;
                    let (data, out) =
                        (self.inputs[0].data.wrapping_offset(place), self.out.wrapping_offset(out));
                    // SAFETY: in bounds by the walk, whose rows are dense in both; the two are disjoint, since the
                    // input is not in place. The loader writes the function's type, which is the result's. No two
                    // threads get the same row; the lease excludes all other access.
                    unsafe { (self.inputs[0].load)(data, 1, first.len, out) };
                }
            });
        });
        true
    }

    /// The first plane, if all of them have that form. Inputs that have the same element everywhere are repeated in the
    /// buffers.
    fn plane(&self, walk: &Walk<N>, buffers: &mut [Buffer; N]) -> Option<Plane<N>> {
        let (row, rows, out_step, steps) = walk.plane()?;
        let is_constant = |k: usize| walk.is_constant(k) && row.len <= self.chunk;
        let constant = Inputs::of::<N>(is_constant);
        let single = Inputs::of::<N>(|k| row.input_strides[k] == 0 && !is_constant(k));
        let half = self.half.filter(|half| {
            (0..N).all(|k| constant.contains(k) || Half::of(self.inputs[k].dtype) == Some(*half))
        });
        let is_identity = self.inner.compiled.is_identity;
        let has_loop = match half {
            Some(_) => true,
            None if single.is_none() && (row.len >= SHORT || is_identity) => self.is_plain && !is_identity,
            None => self.is_plain && self.inner.has_plane() && single.have_loop::<N>(),
        };
        if !has_loop || row.out_stride != 1 {
            return None;
        }
        for (k, input) in self.inputs.iter().enumerate().filter(|(k, _)| !constant.contains(*k)) {
            let is_in_place = std::ptr::eq(input.data, self.out);
            match row.input_strides[k] {
                _ if half.is_none() && !input.is_plain => return None,
                1 if !is_in_place || walk.is_aligned(k) => {}
                0 if !is_in_place => {}
                _ => return None,
            }
        }
        let inputs = from_fn(|k| {
            let input = &self.inputs[k];
            if !constant.contains(k) {
                return input.data;
            }
            let buffer = buffers[k].data();
            // SAFETY: the input has an element, which the lease keeps from being written; the buffer has room for
            // `self.chunk` elements of the function's type.
            unsafe { (input.load)(input.data, 0, row.len.max(CHUNK), buffer) };
            buffer.cast_const()
        });
        Some(Plane {
            rows,
            len: row.len,
            out: self.out,
            out_step: out_step * self.out_size as isize,
            inputs,
            steps: from_fn(|k| steps[k] * self.inputs[k].size as isize),
            single,
            half: half.map(|half| (half, constant)),
        })
    }

    /// Computes one row.
    ///
    /// # Safety
    /// - Every element of the row lies in bounds of its operand.
    /// - Nothing else writes to these elements during the call, or reads those of `out`.
    /// - Each input is `out` itself, element for element, or shares no element with it.
    unsafe fn row(&self, row: &Row<N>, buffers: &mut [Buffer; N]) {
        let is_dense = |k: usize| self.inputs[k].is_plain && row.input_strides[k] == 1;
        if (0..N).all(is_dense) && self.is_plain && row.out_stride == 1 {
            let address =
                |data: *const u8, place: isize, size: usize| data.wrapping_offset(place * size as isize);
            let inputs = from_fn(|k| address(self.inputs[k].data, row.inputs[k], self.inputs[k].size));
            let out = address(self.out, row.out, self.out_size).cast_mut();
            // SAFETY: in bounds by the caller's promise, dense in all operands, and of the loop's types (`is_dense`,
            // `is_plain`); the caller vouches that nothing else uses them and that each input is the result itself or
            // disjoint from it.
            return unsafe { self.inner.run(out, inputs, row.len) };
        }
        if let Some(half) = self.half.filter(|half| self.is_row_of_halves(*half, row)) {
            // SAFETY: `is_row_of_halves` has accepted the row; the caller vouches for its bounds, for exclusive use,
            // and for inputs disjoint or in place.
            return unsafe { self.row_of_halves(half, row) };
        }
        let is_elsewhere = || !std::ptr::eq(self.inputs[0].data, self.out);
        if self.inner.compiled.is_identity && self.is_plain && row.out_stride == 1 && is_elsewhere() {
            let data = self.inputs[0].data.wrapping_offset(row.inputs[0] * self.inputs[0].size as isize);
            let out = self.out.wrapping_offset(row.out * self.out_size as isize);
            // SAFETY: the caller vouches for the elements of the row, and for an input that is disjoint from the
            // result, since it is not in place; `load` writes the function's type, which is the result's, to dense
            // places.
            return unsafe { (self.inputs[0].load)(data, row.input_strides[0], row.len, out) };
        }
        let mut start = 0;
        while start < row.len {
            let len = self.chunk.min(row.len - start);
            let inputs: [*const u8; N] = from_fn(|k| {
                // SAFETY: in bounds, as the chunk is part of the row, which the caller vouches for, with nothing else
                // writing to it; a chunk of the function's type fits a buffer.
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

    /// Whether each operand of a row is dense and of this type of halves, or an input with a single element.
    fn is_row_of_halves(&self, half: Half, row: &Row<N>) -> bool {
        let is_fit = |k: usize| match row.input_strides[k] {
            0 => true,
            stride => stride == 1 && Half::of(self.inputs[k].dtype) == Some(half),
        };
        row.out_stride == 1 && (0..N).all(is_fit)
    }

    /// Computes one row of 16-bit floats, which may be in place.
    ///
    /// # Safety
    /// - [`is_row_of_halves`](Self::is_row_of_halves) is true for this row, and `half` is [`Operands::half`].
    /// - Every element of the row lies in bounds of its operand.
    /// - Nothing else writes to these elements during the call, or reads those of `out`.
    /// - Each input is `out` itself, element for element, or shares no element with it.
    unsafe fn row_of_halves(&self, half: Half, row: &Row<N>) {
        let mut singles = [0f32; N];
        let inputs = from_fn(|k| {
            let input = &self.inputs[k];
            let data = input.data.wrapping_offset(row.inputs[k] * input.size as isize);
            if row.input_strides[k] != 0 {
                return (data, false);
            }
            let single = (&raw mut singles[k]).cast::<u8>();
            // SAFETY: the caller vouches for the element; the loader converts to the function's type, which is `f32`
            // where there is a loop over halves, and `single` has room for one.
            unsafe { (input.load)(data, 0, 1, single) };
            (single.cast_const(), true)
        });
        let out = self.out.wrapping_offset(row.out * self.out_size as isize);
        // SAFETY: the caller vouches for `row.len` halves in `out` and in each dense input, for exclusive use, and for
        // inputs disjoint or in place; each other input is a local `f32`.
        unsafe { self.inner.run_halves(half, out, inputs, row.len) };
    }

    /// Computes a part of a row from dense inputs, and writes it.
    ///
    /// # Safety
    /// - Elements `start..start + len` of the row lie in bounds of `out`, and nothing else uses them during the call.
    /// - `len` elements of the type that the function takes can be read from each of `inputs`, and nothing else writes
    ///   to them during the call.
    /// - `len` is at most `self.chunk`.
    /// - Each of `inputs` is the same place in `out`, or shares no memory with it.
    unsafe fn finish(&self, row: &Row<N>, start: usize, len: usize, inputs: [*const u8; N]) {
        let offset = (row.out + start as isize * row.out_stride) * self.out_size as isize;
        // SAFETY: the caller vouches for element `start` of the row being in bounds of `out`.
        let out = unsafe { self.out.offset(offset) };
        if self.is_plain && row.out_stride == 1 {
            // SAFETY: the caller vouches for `len` elements in each input and in `out`, which is dense and of the
            // function's result type; nothing else uses them.
            return unsafe { self.inner.run(out, inputs, len) };
        }
        let mut buffer = Buffer::EMPTY;
        let buffer = buffer.data();
        // SAFETY: the caller vouches for `len` elements in each input; the buffer is local, aligned for any type, and
        // has room for `self.chunk` results, which `len` does not exceed.
        unsafe { self.inner.run(buffer, inputs, len) };
        // SAFETY: `len` results were just written to the buffer, and the caller vouches for `len` places in the row; a
        // local buffer is not a tensor's memory.
        unsafe { (self.store)(buffer, len, out, row.out_stride) };
    }
}

impl Input {
    /// The address of a chunk in the opmath type: in the operand's memory, or in the buffer after conversion.
    ///
    /// # Safety
    /// - The elements of the chunk lie in bounds, and are initialised.
    /// - Nothing writes to them during the call.
    /// - `len` elements of the function's type fit the buffer.
    /// - If `stride` is 0 and `start` is not, the buffer still holds what the call for the chunk at 0 wrote to it.
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
            // SAFETY: the caller vouches for `len` elements, `stride` apart, that nothing writes to, and for room for
            // them in the buffer, which is not a tensor's memory.
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
        assert!(refusal(&expanded, &x).contains("several elements share one memory location"));
        let [left, right] = [0, 1].map(|start| x.strided_view(&[7], &[1], start).unwrap());
        assert!(refusal(&left, &right).contains("shares a part of its memory"));
        let keys = x.key_set();
        let halves = Tensor::from_storage(x.storage().clone(), &[8], &[1], 0, DType::Float16, keys).unwrap();
        assert!(refusal(&x, &halves).contains("shares a part of its memory"), "elements of another size");
        assert!(refusal(&halves, &x).contains("shares a part of its memory"), "elements of another size");
        let wide = Tensor::from_storage(x.storage().clone(), &[4], &[1], 0, DType::Float64, keys).unwrap();
        let few = Tensor::from_storage(x.storage().clone(), &[4], &[1], 0, DType::Float32, keys).unwrap();
        let widened = map(&wide, [&few], |[x]: [f32; 1]| f64::from(x)).unwrap_err().to_string();
        assert!(widened.contains("shares a part of its memory"), "{widened}");
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
