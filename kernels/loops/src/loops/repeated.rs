//! Loops over short rows that follow each other without gaps, where an input broadcasts: it has one row for all of
//! them, such as a factor for each of three channels, or one element for each row.
//!
//! Starting a loop takes longer than going through a few elements. So all rows are computed as one, and such an input
//! is repeated in a buffer.
#![expect(unsafe_code, reason = "reads and writes elements through pointers that a walk keeps in bounds")]

use std::mem::MaybeUninit;
use std::ops::Range;

use super::walk::{Row, Walk};
use super::{Buffer, CHUNK, Input, Operands, parallel};
use crate::inlined::from_fn;

/// Rows of at least this many elements are computed one by one; if an operand is converted, which starts several loops
/// for each row, rows of at least [`LONG_IF_CONVERTED`].
const LONG: usize = 64;
const LONG_IF_CONVERTED: usize = CHUNK / 2;

/// A loop over a multiple of this many elements has no remainder.
const WHOLE: usize = 64;

/// With fewer chunks, it would take longer to repeat a row than to start a loop for each.
const FEWEST: usize = 8;

/// How an input broadcasts to the result.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// Not at all: it has an element for each of the result's.
    Alike,
    /// It has one row for all rows.
    Row,
    /// It has one element for each row, this far from the one before.
    Column(isize),
}

impl<const N: usize> Operands<'_, N> {
    /// Computes all elements and returns true, if they are one plane of short rows and it saves time.
    pub(super) fn repeats(&self, walk: &Walk<N>, grain: usize) -> bool {
        let Some((row, rows, out_step, steps)) = walk.plane().filter(|_| walk.is_plane()) else {
            return false;
        };
        let (len, count) = (row.len, row.len * rows);
        let is_converted = !self.is_plain || self.inputs.iter().any(|input| !input.is_plain);
        let is_short = len < if is_converted { LONG_IF_CONVERTED } else { LONG };
        if !is_short || count < FEWEST * CHUNK || row.out_stride != 1 || out_step != len as isize {
            return false;
        }
        let mut forms = [Form::Alike; N];
        for (k, form) in forms.iter_mut().enumerate() {
            *form = match (row.input_strides[k], steps[k]) {
                (_, 0) => Form::Row,
                (0, step) if is_converted => Form::Column(step),
                (1, step) if step == len as isize => Form::Alike,
                _ => return false,
            };
        }
        if forms.iter().all(|form| *form == Form::Alike) {
            return false;
        }
        let chunk = self.whole_rows(len);
        parallel::shares(count.div_ceil(chunk), (grain / chunk).max(1), |range| {
            let range = range.start * chunk..count.min(range.end * chunk);
            // SAFETY: in bounds by the walk, whose rows follow each other in the result and have these forms in the
            // inputs; disjoint or in place by `check` and `may_overlap_partially`. No two threads get the same chunk of
            // the result; the lease excludes all other access.
            unsafe { self.chunks(&row, forms, range) };
        });
        true
    }

    /// The number of elements of the rows that are computed together: about `CHUNK`, and a multiple of `WHOLE` if that
    /// many fit a buffer.
    fn whole_rows(&self, len: usize) -> usize {
        let without_remainder = len * (WHOLE >> len.trailing_zeros().min(WHOLE.trailing_zeros()));
        let unit = if without_remainder <= self.chunk { without_remainder } else { len };
        unit * (CHUNK / unit).max(1)
    }

    /// Computes a range of elements, which starts with a row.
    ///
    /// # Safety
    /// - All elements of the range lie in bounds of the result, in which they follow each other, and so do those that
    ///   belong to them in the inputs, by their forms.
    /// - The row is the first of the operands.
    /// - Nothing else writes to these elements during the call, or reads those of `out`.
    /// - Each input is `out` itself, element for element, or shares no element with it.
    unsafe fn chunks(&self, row: &Row<N>, forms: [Form; N], range: Range<usize>) {
        let chunk = self.whole_rows(row.len);
        let size = self.inner.compiled.element.size();
        let mut buffers = [Buffer::EMPTY; N];
        for k in (0..N).filter(|k| forms[*k] == Form::Row) {
            let (input, buffer) = (&self.inputs[k], buffers[k].data());
            for n in (0..chunk).step_by(row.len) {
                // SAFETY: the caller vouches for the row of the input; the buffer has room for `self.chunk` elements of
                // the function's type, of which these start at `n`.
                unsafe {
                    (input.load)(
                        input.place(row.inputs[k]),
                        row.input_strides[k],
                        row.len,
                        buffer.add(n * size),
                    );
                }
            }
        }
        let mut column = Buffer::EMPTY;
        let line = Row { len: range.end, input_strides: [1; N], ..*row };
        for start in range.clone().step_by(chunk) {
            let len = chunk.min(range.end - start);
            let inputs = from_fn(|k: usize| match forms[k] {
                Form::Row => buffers[k].data().cast_const(),
                Form::Column(step) => {
                    let (first, rows) = ((start / row.len) as isize, len / row.len);
                    let (input, column) = (&self.inputs[k], column.data());
                    // SAFETY: the caller vouches for one element for each row, that nothing else writes to; both
                    // buffers have room for `self.chunk` elements of the function's type.
                    unsafe {
                        (input.load)(input.place(row.inputs[k] + first * step), step, rows, column);
                        spread(column, rows, row.len, buffers[k].data(), size);
                    }
                    buffers[k].data().cast_const()
                }
                // SAFETY: the caller vouches for the elements of the chunk, and that nothing else writes to them; at
                // most `self.chunk` elements fit a buffer.
                Form::Alike => unsafe { self.inputs[k].chunk(row.inputs[k], 1, start, len, &mut buffers[k]) },
            });
            // SAFETY: `start..start + len` is part of the range that the caller vouches for; `inputs` has addresses of
            // `len` elements of the function's type, and `len` is at most `self.chunk`.
            unsafe { self.finish(&line, start, len, inputs) };
        }
    }
}

impl Input {
    /// The address of an element, counted from the first.
    fn place(&self, element: isize) -> *const u8 {
        self.data.wrapping_offset(element * self.size as isize)
    }
}

/// Writes each of `rows` elements `len` times.
///
/// # Safety
/// - `rows` elements of `size` bytes can be read at `from`, and `rows * len` written at `to`, both aligned for any
///   type.
/// - The two share no memory, and nothing else uses them during the call.
unsafe fn spread(from: *const u8, rows: usize, len: usize, to: *mut u8, size: usize) {
    // SAFETY: the caller vouches for both, for elements of this size, of which any bits are a value of the integer.
    unsafe {
        match size {
            1 => spread_sized::<u8>(from, rows, len, to),
            2 => spread_sized::<u16>(from, rows, len, to),
            4 => spread_sized::<u32>(from, rows, len, to),
            8 => spread_sized::<u64>(from, rows, len, to),
            _ => spread_sized::<u128>(from, rows, len, to),
        }
    }
}

/// [`spread`], for elements of the size of `T`.
///
/// # Safety
/// - As for [`spread`]; any bits are a value of `T`.
unsafe fn spread_sized<T: Copy>(from: *const u8, rows: usize, len: usize, to: *mut u8) {
    // SAFETY: the caller vouches for these elements, and for their alignment.
    let from = unsafe { std::slice::from_raw_parts(from.cast::<T>(), rows) };
    // SAFETY: likewise for room for as many times `len`, which need not be initialised.
    let to = unsafe { std::slice::from_raw_parts_mut(to.cast::<MaybeUninit<T>>(), rows * len) };
    for (row, element) in to.chunks_exact_mut(len).zip(from) {
        row.fill(MaybeUninit::new(*element));
    }
}

#[cfg(test)]
mod tests {
    use torch_library::geometry::saturating_numel;
    use torch_library::{DType, Tensor};

    use crate::loops::{copy, map};

    /// Numbers from 0 to 15, which all types hold exactly, as their products.
    fn numbers(sizes: &[i64], dtype: DType) -> Tensor {
        let count = saturating_numel(sizes);
        let numbers = (0..count).map(|i| (i * 7 % 16) as f32).collect();
        copy(&Tensor::from_vec(numbers, sizes).unwrap(), dtype).unwrap()
    }

    fn values(tensor: &Tensor) -> Vec<f32> {
        copy(tensor, DType::Float32).unwrap().to_vec().unwrap()
    }

    #[test]
    fn a_short_row_is_repeated_for_all_rows() {
        for len in [2i64, 3, 7, 16, 63, 64, 101, 255, 256] {
            for dtype in [DType::Float32, DType::Float64, DType::BFloat16, DType::UInt8, DType::Int64] {
                let rows = 20_001 / len;
                let (x, row) = (numbers(&[rows, len], dtype), numbers(&[2 * len], dtype));
                let row = row.strided_view(&[len], &[2], 1).unwrap();
                let (all, factors) = (values(&x), values(&row));
                let expected: Vec<f32> =
                    all.iter().zip(factors.iter().cycle()).map(|(x, y)| x * y + y).collect();
                let out = numbers(&[rows, len], dtype);
                map(&out, [&row, &x, &row], |[y, x, z]: [f32; 3]| x * y + z).unwrap();
                assert_eq!(values(&out), expected, "{len} {dtype}");
                map(&x, [&x, &row], |[x, y]: [f32; 2]| x * y + y).unwrap();
                assert_eq!(values(&x), expected, "{len} {dtype}, in place");
            }
        }
    }

    #[test]
    fn a_column_is_repeated_along_short_rows_that_are_converted() {
        for len in [2i64, 3, 8, 100, 255] {
            for dtype in [DType::Float32, DType::BFloat16, DType::UInt8] {
                let rows = 20_001 / len;
                let (x, column) = (numbers(&[rows, len], dtype), numbers(&[2 * rows, 1], DType::Float32));
                let column = column.strided_view(&[rows, 1], &[2, 1], 1).unwrap();
                let (all, factors) = (values(&x), values(&column));
                let lines = all.chunks_exact(len as usize).zip(&factors);
                let expected: Vec<f32> =
                    lines.flat_map(|(row, y)| row.iter().map(move |x| x * y + 1.0)).collect();
                let out = numbers(&[rows, len], DType::Float32);
                let one = numbers(&[rows, len], dtype);
                map(&one, [&one], |[_]: [f32; 1]| 1.0).unwrap();
                map(&out, [&x, &column, &one], |[x, y, z]: [f32; 3]| x * y + z).unwrap();
                assert_eq!(values(&out), expected, "{len} {dtype}");
            }
        }
    }

    #[test]
    fn rows_with_gaps_are_not_taken_as_one() {
        let (wide, row) = (numbers(&[3000, 4], DType::Float32), numbers(&[3], DType::Float32));
        let x = wide.strided_view(&[3000, 3], &[4, 1], 0).unwrap();
        let expected: Vec<f32> =
            values(&x).iter().zip(values(&row).iter().cycle()).map(|(x, y)| x + y).collect();
        let out = numbers(&[3000, 3], DType::Float32);
        map(&out, [&x, &row], |[x, y]: [f32; 2]| x + y).unwrap();
        assert_eq!(values(&out), expected, "from rows with gaps");
        let wide_out = numbers(&[3000, 4], DType::Float32);
        map(&wide_out.strided_view(&[3000, 3], &[4, 1], 0).unwrap(), [&out, &row], |[x, y]: [f32; 2]| x - y)
            .unwrap();
        let written: Vec<f32> = values(&wide_out).chunks(4).flat_map(|row| row[..3].to_vec()).collect();
        assert_eq!(written, values(&x), "to rows with gaps");
        map(&x, [&x, &row], |[x, y]: [f32; 2]| x + y).unwrap();
        assert_eq!(values(&x), expected);
        assert_eq!(values(&wide)[3], 5.0, "the element between two rows");
    }
}
