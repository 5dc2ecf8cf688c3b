//! Embedding bags: groups of rows of a weight that are summed, averaged or reduced to their maxima.
#![expect(unsafe_code, reason = "reads rows where indices lead, which are checked before")]

use std::marker::PhantomData;
use std::ops::Range;

use num_traits::Float;
use torch_library::element::bf16;
use torch_library::geometry::contiguous_strides;
use torch_library::prelude::*;
use torch_library::{Element, OwnedLease, promote_types};

use crate::arguments::BagMode;
use crate::aten;
use crate::inlined::zip;
use crate::loops::convert::{self, Loader};
use crate::loops::gather::are_within;
use crate::loops::lines::fill;
use crate::loops::parts::PartsMut;
use crate::loops::pointwise::{common_device, unsupported};
use crate::loops::{self, match_opmath, on_vectors, parallel};
use crate::number::Number;

/// The number of columns whose sums stay in registers.
const COLUMNS: usize = 64;

/// Defines the kernels; one of them also returns what the gradient needs.
macro_rules! kernels {
    ($($name:ident: $is_for_gradient:literal;)+) => {
        #[torch_impl(aten, CPU, Meta)]
        mod kernels {
            use super::*;

            $(
                fn $name(
                    weight: &Tensor,
                    indices: &Tensor,
                    offsets: &Tensor,
                    _scale_grad_by_freq: bool,
                    mode: i64,
                    _sparse: bool,
                    share: Option<&Tensor>,
                    include_last_offset: bool,
                    padding_idx: i64,
                ) -> Result<(Tensor, Tensor, Tensor, Tensor)> {
                    let _lease = loops::all_frozen([weight, indices, offsets].into_iter().chain(share))?;
                    let operator = aten::$name::NAME;
                    let mode = BagMode::of(operator, mode)?;
                    Bags { operator, weight, indices, offsets, mode, share, include_last_offset, padding_idx }
                        .pool($is_for_gradient)
                }
            )+
        }
    };
}

kernels! {
    _embedding_bag: true;
    _embedding_bag_forward_only: false;
}

struct Bags<'a> {
    operator: &'static str,
    weight: &'a Tensor,
    indices: &'a Tensor,
    offsets: &'a Tensor,
    mode: BagMode,
    /// The weight of each row (`per_sample_weights`).
    share: Option<&'a Tensor>,
    include_last_offset: bool,
    /// The row that does not count; negative if there is none.
    padding_idx: i64,
}

impl Bags<'_> {
    /// The pooled rows, the bag of each index, the number of rows in each bag, and the rows of the maxima, as far as
    /// the mode or `is_for_gradient` asks for them.
    fn pool(&self, is_for_gradient: bool) -> Result<(Tensor, Tensor, Tensor, Tensor)> {
        let &Bags { operator, weight, indices, offsets, mode, .. } = self;
        self.check()?;
        let [count, width] = [self.count(), weight.sizes()[1]];
        let device = common_device(operator, &[weight, indices, offsets])?;
        let index_dtype = promote_types(indices.dtype(), offsets.dtype())?;
        let list = |len: i64| Tensor::zeros(&[len], index_dtype, device);
        let strides = contiguous_strides(&[count, width]);
        // SAFETY: `Pooling` writes every element, if there are any; after an error the tensor is dropped.
        let out = unsafe { Tensor::uninit_strided(&[count, width], &strides, weight.dtype(), device)? };
        let bag_of_each = list(if self.is_plain_sum() { 0 } else { indices.numel() })?;
        let of_sum = if is_for_gradient { count } else { offsets.numel() };
        let bag_sizes = list(if mode == BagMode::Sum { of_sum } else { count })?;
        let maxima = match mode {
            BagMode::Max => Tensor::zeros(&[count, width], index_dtype, device)?,
            _ => list(bag_sizes.numel())?,
        };
        if out.storage().data_ptr().is_none() {
            return Ok((out, bag_of_each, bag_sizes, maxima)); // on meta
        }
        let rows = loops::elements::<i64>(indices)?;
        let ends = self.ends()?;
        let range = 0..weight.sizes()[0];
        if !are_within(&rows, range.clone())
            && let Some(bad) = rows.iter().find(|row| !range.contains(row))
        {
            bail!(Index, "{operator}: index {bad} is out of range for a weight of {} rows", range.end);
        }
        let sizes: Vec<i64> = ends
            .windows(2)
            .map(|bag| rows[bag[0]..bag[1]].iter().filter(|row| **row != self.padding_idx).count() as i64)
            .collect();
        if bag_of_each.numel() > 0 {
            let before = std::iter::repeat_n(-1, ends[0]);
            let bags = ends.windows(2).zip(0..).flat_map(|(bag, n)| std::iter::repeat_n(n, bag[1] - bag[0]));
            write(&bag_of_each, before.chain(bags))?;
        }
        if mode != BagMode::Sum {
            write(&bag_sizes, sizes.iter().copied())?;
        }
        if mode == BagMode::Mean {
            write(&maxima, sizes.iter().copied())?; // nothing reads them, but PyTorch returns them as well
        }
        let pooling = Pooling { bags: self, rows: &rows, ends: &ends, sizes: &sizes };
        match_opmath!(weight.dtype(), T: Float => pooling.write::<T>(&out, &maxima)?,
            else => return Err(unsupported(operator, weight.dtype())));
        Ok((out, bag_of_each, bag_sizes, maxima))
    }

    /// The number of bags.
    fn count(&self) -> i64 {
        self.offsets.numel() - i64::from(self.include_last_offset)
    }

    /// Whether PyTorch sums without computing the bag of each index, and so does not return it.
    fn is_plain_sum(&self) -> bool {
        let is_dense = |tensor: &Tensor| tensor.strides().last().is_none_or(|stride| *stride == 1);
        self.mode == BagMode::Sum
            && self.padding_idx < 0
            && self.weight.dtype() != DType::Float64
            && is_dense(self.weight)
            && self.share.is_none_or(is_dense)
    }

    fn check(&self) -> Result<()> {
        let &Bags { operator, weight, indices, offsets, mode, share, include_last_offset, .. } = self;
        let is_vector =
            |tensor: &Tensor| tensor.dim() == 1 && matches!(tensor.dtype(), DType::Int32 | DType::Int64);
        ensure!(
            weight.dim() == 2 && is_vector(indices) && is_vector(offsets),
            Argument,
            "{operator}: weight of sizes {:?}, indices of {} and sizes {:?}, offsets of {} and sizes {:?}, \
             expected a matrix and vectors of int32 or int64",
            weight.sizes(),
            indices.dtype(),
            indices.sizes(),
            offsets.dtype(),
            offsets.sizes()
        );
        if !weight.dtype().is_floating_point() {
            return Err(unsupported(operator, weight.dtype()));
        }
        ensure!(
            !include_last_offset || offsets.numel() > 0,
            Argument,
            "{operator}: no offsets, but include_last_offset needs at least one"
        );
        if let Some(share) = share {
            ensure!(
                mode == BagMode::Sum && share.sizes() == indices.sizes() && share.dtype() == weight.dtype(),
                Argument,
                "{operator}: per_sample_weights of {} and sizes {:?} in mode {}, expected {} for each index in mode 0",
                share.dtype(),
                share.sizes(),
                mode as i64,
                weight.dtype()
            );
        }
        Ok(())
    }

    /// The boundaries of the bags, starting with the start of the first.
    fn ends(&self) -> Result<Vec<usize>> {
        let (operator, len) = (self.operator, self.indices.numel());
        let mut starts = loops::elements::<i64>(self.offsets)?;
        let Some(first) = starts.first() else { return Ok(vec![len as usize]) };
        ensure!(*first == 0, Argument, "{operator}: the first offset is {first}, expected 0");
        if let Some(bad) = starts.windows(2).find(|pair| pair[0] > pair[1]) {
            bail!(Argument, "{operator}: offset {} comes after {}, expected them in order", bad[1], bad[0]);
        }
        let last = starts[starts.len() - 1];
        ensure!(last <= len, Argument, "{operator}: the last offset is {last}, there are {len} indices");
        if self.include_last_offset {
            starts.pop();
        }
        // The last bag takes all remaining indices.
        Ok(starts.into_iter().chain([len]).map(|start| start as usize).collect())
    }
}

fn write(list: &Tensor, numbers: impl Iterator<Item = i64>) -> Result<()> {
    torch_library::match_dtype!(list.dtype(), T => list.clone().fill_from::<T>(numbers.map(|n| n.cast())))
}

/// The rows of all bags, after a check that they are in range.
struct Pooling<'a> {
    bags: &'a Bags<'a>,
    rows: &'a [i64],
    /// Like [`Bags::ends`].
    ends: &'a [usize],
    /// The number of rows in each bag that count.
    sizes: &'a [i64],
}

impl Pooling<'_> {
    /// Pools rows in the opmath type.
    fn write<T: Number + Float>(&self, out: &Tensor, maxima: &Tensor) -> Result<()> {
        if out.numel() == 0 {
            return Ok(());
        }
        let (count, width) = (self.sizes.len(), out.sizes()[1] as usize);
        let wide = as_type(out, T::DTYPE)?;
        let places = if self.bags.mode == BagMode::Max { Some(as_type(maxima, DType::Int64)?) } else { None };
        let typed = Typed {
            pooling: self,
            table: Table::<T>::of(self.bags.weight)?,
            share: self.bags.share.map(loops::elements::<T>).transpose()?,
            out: PartsMut::<T>::of(&wide, width)?,
            places: places.as_ref().map(|places| PartsMut::<i64>::of(places, width)).transpose()?,
        };
        let has_rows = are_within(self.rows, 0..typed.table.rows) && typed.table.width == width;
        ensure!(has_rows, Busy, "{}: the weight was resized while it was read", self.bags.operator);
        let work = (self.rows.len() / count + 1) * width;
        parallel::shares(count, (parallel::GRAIN / work).max(1), |bags| pool(&typed, bags));
        drop(typed); // together with its leases
        if !wide.is_same(out) {
            loops::assign(out, &wide)?;
        }
        match places {
            Some(places) if !places.is_same(maxima) => loops::assign(maxima, &places),
            _ => Ok(()),
        }
    }
}

/// The tensor itself if it has the dtype, else zeros of the same sizes.
fn as_type(tensor: &Tensor, dtype: DType) -> Result<Tensor> {
    if tensor.dtype() == dtype {
        return Ok(tensor.clone());
    }
    Tensor::zeros(tensor.sizes(), dtype, tensor.device())
}

/// How the elements of a row lie in memory.
#[derive(Clone, Copy, PartialEq)]
enum Layout {
    /// Of the opmath type, adjacent.
    Plain,
    /// `bf16`, adjacent: converted in registers.
    BFloat16,
    /// Anything else: converted line by line.
    Other,
}

/// The rows of a matrix, in the opmath type.
struct Table<T> {
    _lease: OwnedLease,
    rows: i64,
    width: usize,
    data: *const u8,
    size: usize,
    /// The strides of rows, and of elements within a row.
    strides: [isize; 2],
    layout: Layout,
    load: Loader,
    element: PhantomData<T>,
}

// SAFETY: an address of elements that nothing writes while the lease is held, which is as long as this value lives.
unsafe impl<T: Sync> Sync for Table<T> {}

impl<T: Element> Table<T> {
    fn of(matrix: &Tensor) -> Result<Self> {
        let lease = OwnedLease::shared(matrix.clone())?;
        ensure!(matrix.dim() == 2, Shape, "sizes {:?} are not those of a matrix", matrix.sizes());
        let strides = [matrix.strides()[0] as isize, matrix.strides()[1] as isize];
        let layout = match matrix.dtype() {
            _ if strides[1] != 1 => Layout::Other,
            dtype if loops::is_plain::<T>(dtype) => Layout::Plain,
            DType::BFloat16 => Layout::BFloat16,
            _ => Layout::Other,
        };
        Ok(Table {
            data: matrix.address(&lease)?,
            rows: matrix.sizes()[0],
            width: matrix.sizes()[1] as usize,
            size: matrix.dtype().size(),
            strides,
            layout,
            load: convert::loader::<T>(matrix.dtype()),
            element: PhantomData,
            _lease: lease,
        })
    }

    /// The address of an element.
    #[inline(always)]
    fn at(&self, row: i64, column: usize) -> *const u8 {
        let place = row as isize * self.strides[0] + column as isize * self.strides[1];
        self.data.wrapping_offset(place * self.size as isize)
    }

    /// A row: in place, or converted into the buffer.
    ///
    /// # Safety
    /// - The row exists, and is as long as the buffer.
    #[inline(always)]
    unsafe fn row<'a>(&'a self, row: i64, buffer: &'a mut [T]) -> &'a [T] {
        let data = self.at(row, 0);
        if self.layout == Layout::Plain {
            // SAFETY: the caller guarantees a row as long as the buffer, whose elements are contiguous; the lease
            // prevents writes.
            return unsafe { std::slice::from_raw_parts(data.cast(), buffer.len()) };
        }
        // SAFETY: the caller guarantees a row as long as the buffer, which has room for it, of the dtype that `load`
        // was chosen for; the lease prevents writes.
        unsafe { (self.load)(data, self.strides[1], buffer.len(), buffer.as_mut_ptr().cast()) };
        buffer
    }
}

impl<T: Number> Table<T> {
    /// Adds rows to sums, some columns at a time, whose sums stay in registers.
    ///
    /// # Safety
    /// - The rows exist, and are as long as `sums`; their elements are of type `S`, and adjacent.
    #[inline(always)]
    unsafe fn add<S: Element>(&self, rows: impl Iterator<Item = i64> + Clone, sums: &mut [T]) {
        let (whole, rest) = sums.as_chunks_mut::<COLUMNS>();
        let (data, pitch) = (self.data.cast::<S>(), self.strides[0]);
        for (n, sums) in whole.iter_mut().enumerate() {
            let mut together = *sums;
            let columns = data.wrapping_add(n * COLUMNS);
            for row in rows.clone() {
                let numbers = columns.wrapping_offset(row as isize * pitch).cast::<[S; COLUMNS]>();
                // SAFETY: the caller guarantees the row, which has these columns; the lease prevents writes.
                let numbers = unsafe { &*numbers };
                for i in 0..COLUMNS {
                    together[i] = together[i].plus(numbers[i].cast());
                }
            }
            *sums = together;
        }
        if rest.is_empty() {
            return;
        }
        for row in rows {
            // SAFETY: the caller guarantees the row, which has these last columns; the lease prevents writes.
            let numbers = unsafe {
                std::slice::from_raw_parts(self.at(row, whole.len() * COLUMNS).cast::<S>(), rest.len())
            };
            for (sum, x) in zip(&mut *rest, numbers) {
                *sum = sum.plus(x.cast());
            }
        }
    }
}

/// The operands of [`pool`].
struct Typed<'a, T> {
    pooling: &'a Pooling<'a>,
    table: Table<T>,
    share: Option<Vec<T>>,
    out: PartsMut<T>,
    places: Option<PartsMut<i64>>,
}

on_vectors! {
    /// Computes some bags.
    fn pool<T: Real>(typed: &Typed<'_, T>, bags: Range<usize>) {
        let Typed { pooling, table, share, out, places } = typed;
        let (mode, padding) = (pooling.bags.mode, pooling.bags.padding_idx);
        let mut buffer = vec![T::ZERO; out.len()];
        for bag in bags {
            // SAFETY: each bag is computed by one thread, and only one slice of it exists at a time; `places` were
            // initialised with zeros.
            let (sums, places) = unsafe { (out.uninit(bag), places.as_ref().map(|places| places.get_mut(bag))) };
            let sums = fill(sums, &buffer, |_| T::ZERO);
            let (start, end) = (pooling.ends[bag], pooling.ends[bag + 1]);
            let rows = pooling.rows[start..end].iter().copied().filter(|row| *row != padding);
            if let Some(places) = places {
                let mut is_first = true;
                for row in rows {
                    // SAFETY: `Pooling::write` ensured under the lease that the table has all rows, and that it is as
                    // wide as `out`, and so as the buffer; `Bags::pool` rejected negative rows.
                    let numbers = unsafe { table.row(row, &mut buffer) };
                    for ((largest, place), x) in zip(zip(&mut *sums, &mut *places), numbers) {
                        if is_first || *largest < *x {
                            (*largest, *place) = (*x, row);
                        }
                    }
                    is_first = false;
                }
                continue;
            }
            match share {
                // SAFETY: `Pooling::write` ensured under the lease that the table has all rows, and that it is as wide
                // as `out`, and so as the sums; `Bags::pool` rejected negative rows.
                None if table.layout == Layout::Plain => unsafe { table.add::<T>(rows, sums) },
                // SAFETY: `Pooling::write` ensured under the lease that the table has all rows, as wide as the sums,
                // and `Layout::BFloat16` that their elements are adjacent ones of `bf16`; no row is negative.
                None if table.layout == Layout::BFloat16 => unsafe { table.add::<bf16>(rows, sums) },
                None => for row in rows {
                    // SAFETY: `Pooling::write` ensured under the lease that the table has all rows, and that it is as
                    // wide as `out`, and so as the buffer; `Bags::pool` rejected negative rows.
                    let numbers = unsafe { table.row(row, &mut buffer) };
                    for (sum, x) in zip(&mut *sums, numbers) {
                        *sum = sum.plus(*x);
                    }
                },
                Some(share) => for at in (start..end).filter(|at| pooling.rows[*at] != padding) {
                    // SAFETY: `Pooling::write` ensured under the lease that the table has all rows, and that it is as
                    // wide as `out`, and so as the buffer; `Bags::pool` rejected negative rows.
                    let (numbers, by) = (unsafe { table.row(pooling.rows[at], &mut buffer) }, share[at]);
                    for (sum, x) in zip(&mut *sums, numbers) {
                        *sum = sum.plus(x.times(by));
                    }
                },
            }
            if mode == BagMode::Mean {
                let count: T = pooling.sizes[bag].max(1).cast();
                sums.iter_mut().for_each(|sum| *sum = *sum / count);
            }
        }
    }
}

/// A number that can be averaged and compared.
trait Real: Number + Float {}

impl<T: Number + Float> Real for T {}
