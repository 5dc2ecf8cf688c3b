//! The order in which a loop visits the elements of its operands, and where they are in memory.

use std::ops::Range;

use smallvec::SmallVec;
use torch_library::geometry::Geometry;

use crate::inlined::{from_fn, zip};

/// The dimensions of one output and `N` inputs that broadcast to it, innermost first.
///
/// Dimensions are ordered by the output's strides and merged where all operands allow; those of size 1 are dropped.
#[derive(Debug)]
pub struct Walk<const N: usize> {
    dims: SmallVec<[Dim<N>; 6]>,
}

/// Fewer elements than this take less time than to start a loop over them.
pub const SHORT: usize = 16;

/// One dimension: its size, and its stride in each operand, in elements.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Dim<const N: usize> {
    size: usize,
    out: isize,
    inputs: [isize; N],
}

/// A row: elements that are equidistant in every operand. Offsets count elements from each operand's first; strides
/// count elements too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row<const N: usize> {
    pub len: usize,
    pub out: isize,
    pub out_stride: isize,
    pub inputs: [isize; N],
    pub input_strides: [isize; N],
}

impl<const N: usize> Walk<N> {
    /// A walk over an output and inputs whose shapes broadcast to it.
    pub fn new(out: &Geometry, inputs: [&Geometry; N]) -> Self {
        if let Some(line) = Self::line(out, inputs) {
            return line;
        }
        let (mut walk, (sizes, strides)) = (Self::empty(), (out.sizes(), out.strides()));
        for back in 0..sizes.len() {
            let dim = sizes.len() - 1 - back;
            if sizes[dim] != 1 {
                let inputs = from_fn(|k| broadcast_stride(inputs[k], back));
                walk.dims.push(Dim { size: sizes[dim] as usize, out: strides[dim] as isize, inputs });
            }
        }
        walk.arrange();
        walk
    }

    /// A walk without dimensions.
    #[inline]
    fn empty() -> Self {
        Walk { dims: SmallVec::new() }
    }

    /// Sorts and merges the dimensions.
    fn arrange(&mut self) {
        let dims = &mut *self.dims;
        dims.sort_by_key(|dim| dim.out);
        let mut last = 0;
        for next in 1..dims.len() {
            let dim = dims[next];
            if dims[last].continues_in(&dim) {
                // Saturates only if there are no elements.
                dims[last].size = dims[last].size.saturating_mul(dim.size);
            } else {
                last += 1;
                dims[last] = dim;
            }
        }
        if last + 1 < dims.len() {
            self.dims.truncate(last + 1);
        }
    }

    /// The common case, handled quickly: each operand is contiguous with the shape of the output, or has a single
    /// element.
    fn line(out: &Geometry, inputs: [&Geometry; N]) -> Option<Self> {
        if !out.is_contiguous() {
            return None;
        }
        for input in inputs {
            if input.numel() != 1 && (input.sizes() != out.sizes() || !input.is_contiguous()) {
                return None;
            }
        }
        let inputs = from_fn(|k| isize::from(inputs[k].numel() != 1));
        let line = Dim { size: out.numel() as usize, out: 1, inputs };
        Some(Walk { dims: SmallVec::from_slice(&[line]) })
    }

    /// If some input is transposed, with stride 1 in an outer dimension but not in the innermost one, moves that
    /// dimension next to the innermost, so that neighbouring rows read neighbouring elements of that input. Returns
    /// whether there is such a dimension.
    pub(crate) fn turn_across(&mut self) -> bool {
        let Some((inner, outer)) = self.dims.split_first() else { return false };
        let is_across = |dim: &Dim<N>| (0..N).any(|k| dim.inputs[k] == 1 && inner.inputs[k] > 1);
        let Some(found) = outer.iter().position(is_across) else { return false };
        self.dims[1..=found + 1].rotate_right(1);
        true
    }

    /// If rows are short and the next dimension is much longer, makes that one the innermost: starting a loop
    /// takes longer than going through a few elements.
    pub fn lengthen_rows(&mut self) {
        if let [inner, next, ..] = &mut *self.dims
            && inner.size < SHORT
            && next.size >= 2 * SHORT
        {
            std::mem::swap(inner, next);
        }
    }

    /// If there are two dimensions or more: the first row, and the number of rows and their distance in the output and
    /// in the inputs, all in the two innermost dimensions.
    #[inline]
    pub fn plane(&self) -> Option<(Row<N>, usize, isize, [isize; N])> {
        let [inner, across, ..] = self.dims.as_slice() else { return None };
        let row = Row {
            len: inner.size,
            out: 0,
            out_stride: inner.out,
            inputs: [0; N],
            input_strides: inner.inputs,
        };
        Some((row, across.size, across.out, across.inputs))
    }

    /// Whether all elements are in one plane, or in a line of it.
    #[inline]
    pub(crate) fn is_plane(&self) -> bool {
        self.dims.len() <= 2
    }

    /// Whether an input has the strides of the output.
    #[inline]
    pub fn is_aligned(&self, input: usize) -> bool {
        self.dims.iter().all(|dim| dim.inputs[input] == dim.out)
    }

    /// Whether an input has one element for all of the output.
    #[inline]
    pub fn is_constant(&self, input: usize) -> bool {
        self.dims.iter().all(|dim| dim.inputs[input] == 0)
    }

    /// The size of the innermost dimension and its stride in the output, if there is one.
    #[inline]
    pub fn inner(&self) -> Option<(usize, isize)> {
        self.dims.first().map(|dim| (dim.size, dim.out))
    }

    /// The number of parts into which the planes of the two innermost dimensions are split, if a part has at most
    /// `most` rows.
    pub fn parts(&self, most: usize) -> usize {
        let rows = self.dims.get(1).map_or(1, |dim| dim.size);
        rows.div_ceil(most) * self.dims.iter().skip(2).map(|dim| dim.size).product::<usize>()
    }

    /// Calls a closure with each of a range of such parts: its first row, its number of rows, and their distance in the
    /// output and in the inputs.
    pub fn planes(
        &self,
        most: usize,
        parts: Range<usize>,
        mut f: impl FnMut(Row<N>, usize, isize, [isize; N]),
    ) {
        let Some((inner, rest)) = self.dims.split_first() else { return };
        let single = Dim { size: 1, out: 0, inputs: [0; N] };
        let (across, outer) = rest.split_first().unwrap_or((&single, &[]));
        let each = across.size.div_ceil(most);
        let (mut start, mut part) = (Start::of(outer, parts.start / each), parts.start % each);
        for _ in parts {
            let mut row = inner.row(&start, 0, inner.size);
            let first = (part * most) as isize;
            row.out += first * across.out;
            for (place, step) in zip(&mut row.inputs, &across.inputs) {
                *place += first * step;
            }
            f(row, most.min(across.size - part * most), across.out, across.inputs);
            part += 1;
            if part == each {
                part = 0;
                start.advance(outer);
            }
        }
    }

    /// Whether all elements are contiguous, in the same order, in every operand.
    #[inline]
    pub fn is_line(&self) -> bool {
        matches!(self.dims.as_slice(), [line] if line.out == 1 && line.inputs == [1; N])
    }

    /// The stride of the innermost dimension in the first input, if there is more than one element.
    #[inline]
    pub(crate) fn inner_stride(&self) -> Option<isize> {
        self.dims.first().map(|dim| dim.inputs[0])
    }

    /// Like [`rows`](Self::rows), but compiled only once, for closures that take long for each row.
    pub fn each_row(&self, range: Range<usize>, f: &mut dyn FnMut(Row<N>)) {
        self.rows(range, f);
    }

    /// Calls a closure with the rows of a range of elements, counted in the order of the walk.
    pub fn rows(&self, range: Range<usize>, mut f: impl FnMut(Row<N>)) {
        if range.is_empty() {
            return; // a dimension may be empty
        }
        let Some((inner, outer)) = self.dims.split_first() else {
            return f(Row { len: 1, out: 0, out_stride: 1, inputs: [0; N], input_strides: [1; N] });
        };
        let (row, mut within) = (range.start / inner.size, range.start % inner.size);
        let mut start = Start::of(outer, row);
        let mut left = range.len();
        loop {
            let len = left.min(inner.size - within);
            f(inner.row(&start, within, len));
            (within, left) = (0, left - len);
            if left == 0 {
                return;
            }
            start.advance(outer);
        }
    }

    /// Calls a closure with a range of elements, counted in the order of the walk, in runs of rows that are equally
    /// long and equally far apart: the first row, the number of rows, and their distance in the inputs.
    pub(crate) fn runs(&self, range: Range<usize>, mut f: impl FnMut(Row<N>, usize, [isize; N])) {
        let [inner, outer @ ..] = self.dims.as_slice() else {
            return self.rows(range, |row| f(row, 1, [0; N]));
        };
        let (mut next, end) = (range.start, range.end);
        while next < end {
            let (row, within, left) = (next / inner.size, next % inner.size, end - next);
            let start = Start::of(outer, row);
            let (len, count, step) = match outer.first() {
                Some(across) if within == 0 && left >= inner.size => {
                    let count = (left / inner.size).min(across.size - row % across.size);
                    (inner.size, count, across.inputs)
                }
                _ => (left.min(inner.size - within), 1, [0; N]),
            };
            f(inner.row(&start, within, len), count, step);
            next += len * count;
        }
    }
}

impl Walk<1> {
    /// A walk over an input of the output's shape in which some dimensions are reversed; also returns the offset of the
    /// element at which it starts.
    pub(crate) fn back_to_front(
        out: &Geometry,
        input: &Geometry,
        is_back: impl Fn(usize) -> bool,
    ) -> (Self, isize) {
        let (mut walk, mut first) = (Self::empty(), 0);
        for (dim, (&size, &stride)) in out.sizes().iter().zip(out.strides()).enumerate().rev() {
            if size == 1 {
                continue;
            }
            let mut step = input.strides()[dim] as isize;
            if is_back(dim) {
                first += (size - 1) as isize * step;
                step = -step;
            }
            walk.dims.push(Dim { size: size as usize, out: stride as isize, inputs: [step] });
        }
        walk.arrange();
        (walk, first)
    }

    /// A walk over the dimensions of an input that are not reduced, with a contiguous output of these dimensions.
    pub(crate) fn of_kept(input: &Geometry, is_reduced: &[bool]) -> Self {
        let (mut walk, mut out) = (Self::empty(), 1);
        for (size, stride) in dims_where(input, is_reduced, false) {
            walk.dims.push(Dim { size, out, inputs: [stride] });
            out *= size as isize;
        }
        walk.arrange();
        walk
    }

    /// Makes a dimension whose elements are contiguous in the input the innermost one, if one has at least so many.
    pub(crate) fn turn_to_contiguous(&mut self, fewest: usize) {
        if let Some(found) = self.dims.iter().position(|dim| dim.inputs[0] == 1 && dim.size >= fewest) {
            self.dims[..=found].rotate_right(1);
        }
    }

    /// A walk over the dimensions of an input that are reduced, in the order of its memory.
    pub(crate) fn of_reduced(input: &Geometry, is_reduced: &[bool]) -> Self {
        let mut walk = Self::empty();
        for (size, stride) in dims_where(input, is_reduced, true) {
            walk.dims.push(Dim { size, out: stride, inputs: [stride] });
        }
        walk.arrange();
        walk
    }

    /// The number of elements.
    #[inline]
    pub fn count(&self) -> usize {
        // If one dimension is empty, the product of the others may overflow.
        if self.dims.iter().any(|dim| dim.size == 0) {
            return 0;
        }
        let mut count = 1;
        for dim in &*self.dims {
            count *= dim.size;
        }
        count
    }

    /// The number of elements that are contiguous in the input at a time.
    #[inline]
    pub(crate) fn dense_len(&self) -> usize {
        self.dims.first().map_or(1, |dim| if dim.inputs[0] == 1 { dim.size } else { 1 })
    }

    /// The stride of all elements in the input, if they are equidistant.
    #[inline]
    pub(crate) fn single_stride(&self) -> Option<isize> {
        match self.dims.as_slice() {
            [] => Some(1),
            [dim] => Some(dim.inputs[0]),
            _ => None,
        }
    }
}

/// Sizes and strides of the dimensions whose mark equals `mark`, the last first, without those of size 1.
fn dims_where(input: &Geometry, marks: &[bool], mark: bool) -> impl Iterator<Item = (usize, isize)> {
    let dims = input.sizes().iter().zip(input.strides()).zip(marks).rev();
    let dims = dims.filter(move |((size, _), is_marked)| **size != 1 && **is_marked == mark);
    dims.map(|((size, stride), _)| (*size as usize, *stride as isize))
}

impl<const N: usize> Dim<N> {
    /// Whether a wider dimension continues where this one ends, in every operand, so that the two can be merged.
    fn continues_in(&self, wider: &Self) -> bool {
        let goes_on = |step: isize, wider| step.checked_mul(self.size as isize) == Some(wider);
        goes_on(self.out, wider.out) && (0..N).all(|k| goes_on(self.inputs[k], wider.inputs[k]))
    }

    /// A row of `len` elements along this dimension, from index `within` of the row that starts at `start`.
    fn row(&self, start: &Start<N>, within: usize, len: usize) -> Row<N> {
        let out = start.out + within as isize * self.out;
        let inputs = from_fn(|k| start.inputs[k] + within as isize * self.inputs[k]);
        Row { len, out, out_stride: self.out, inputs, input_strides: self.inputs }
    }
}

/// The start of a row: its index in the outer dimensions, and the offsets that follow from it.
struct Start<const N: usize> {
    index: SmallVec<[usize; 6]>,
    out: isize,
    inputs: [isize; N],
}

impl<const N: usize> Start<N> {
    fn of(outer: &[Dim<N>], mut row: usize) -> Self {
        let mut start = Start { index: SmallVec::new(), out: 0, inputs: [0; N] };
        for dim in outer {
            start.index.push(row % dim.size);
            start.step(dim, (row % dim.size) as isize);
            row /= dim.size;
        }
        start
    }

    /// Moves on to the next row.
    fn advance(&mut self, outer: &[Dim<N>]) {
        for (d, dim) in outer.iter().enumerate() {
            self.step(dim, 1);
            let index = &mut (*self.index)[d];
            *index += 1;
            if *index < dim.size {
                return;
            }
            *index = 0;
            self.step(dim, -(dim.size as isize));
        }
    }

    fn step(&mut self, dim: &Dim<N>, steps: isize) {
        self.out += steps * dim.out;
        for (input, stride) in zip(&mut self.inputs, &dim.inputs) {
            *input += steps * stride;
        }
    }
}

/// Whether sizes broadcast to those of a result: counted from the last dimension, each is the same or 1.
pub(super) fn broadcasts_to(sizes: &[i64], result: &[i64]) -> bool {
    let Some(missing) = result.len().checked_sub(sizes.len()) else { return false };
    (0..sizes.len()).all(|dim| sizes[dim] == 1 || sizes[dim] == result[missing + dim])
}

/// An input's stride in the dimension that is `back` from the last: 0 where the input lacks the dimension, or repeats
/// its only element.
#[inline]
pub(super) fn broadcast_stride(input: &Geometry, back: usize) -> isize {
    match input.dim().checked_sub(back + 1) {
        Some(dim) if input.sizes()[dim] != 1 => input.strides()[dim] as isize,
        _ => 0,
    }
}
