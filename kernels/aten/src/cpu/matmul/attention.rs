//! Flash attention: scaled dot-product attention without storing the matrix of scores.
//!
//! # How it works
//!
//! A block of queries is multiplied by one block of keys after the other, so that the block of scores stays in the
//! cache. The softmax is computed online: each row keeps its running maximum, the sum of the exponentials relative to
//! it, and the sum of the values weighted by these. When a block of keys raises the maximum, the previous sums are
//! rescaled; at the end, the sum of the values is divided by the sum of the weights.
//!
//! Several heads of queries may share a head of keys and values (grouped-query attention), which is read in place.
#![expect(
    unsafe_code,
    reason = "hands strided memory to matrix products, and writes every element of its results"
)]

use std::ops::Range;

use num_traits::Float;
use torch_library::Element;
use torch_library::prelude::*;
use torch_library::{Leased, ListLease};

#[cfg(target_arch = "x86_64")]
use super::pairs::Unit;
use super::target::Target;
use super::{GRAIN, Matrices, multiply_one};
use crate::aten;
use crate::cpu::folds::Largest;
use crate::cpu::softmax::exponentials_of;
use crate::functions::Functions;
use crate::inlined::{self, from_fn, zip};
use crate::loops::convert::{self, Loader, Storer};
use crate::loops::lines::fold_line;
use crate::loops::pointwise::unsupported;
use crate::loops::reduce::Fold;
use crate::loops::{self, match_opmath, on_vectors, opmath_type, parallel};
use crate::number::Ordered;

mod backward;
#[cfg(target_arch = "x86_64")]
mod paired;
#[cfg(target_arch = "x86_64")]
mod single;

/// The number of queries in a block.
const QUERIES: usize = 64;

/// The number of keys in a block.
const KEYS: usize = 256;

#[torch_impl(aten, CPU, Meta)]
fn _scaled_dot_product_flash_attention_for_cpu(
    query: &Tensor,
    key: &Tensor,
    value: &Tensor,
    dropout_p: f64,
    is_causal: bool,
    attn_mask: Option<&Tensor>,
    scale: Option<f64>,
) -> Result<(Tensor, Tensor)> {
    const OPERATOR: &str = aten::_scaled_dot_product_flash_attention_for_cpu::NAME;
    ensure!(
        dropout_p == 0.0,
        NotSupported,
        "{OPERATOR}: a dropout of {dropout_p} is for the unfused operators"
    );
    let _lease = ListLease::new([], [query, key, value].into_iter().chain(attn_mask))?;
    let (dtype, device) = (query.dtype(), query.device());
    let sizes = sizes(OPERATOR, query, key, value)?;
    let [batch, heads, queries, width] = sizes.query;
    let mask = attn_mask.map(|mask| aten::expand(mask, &[batch, heads, queries, sizes.keys])).transpose();
    let mask = mask.map_err(|error| error.context(OPERATOR))?;
    // SAFETY: `attend` writes every element if there are any; after an error the tensor is dropped.
    let out = unsafe { loops::uninit_like(query, dtype, MemoryFormat::Preserve)? };
    let logsumexp = Tensor::empty(&[batch, queries, heads], opmath_type(dtype), device)?;
    let logsumexp = logsumexp.strided_view(&[batch, heads, queries], &[queries * heads, 1, heads], 0)?;
    match_opmath!(dtype, T: Float => {
        if loops::has_elements(&out) {
            let scale = scale.unwrap_or_else(|| 1.0 / (width as f64).sqrt()).cast();
            let read = [query, key, value].into_iter().chain(mask.as_ref());
            let lease = ListLease::new([&out, &logsumexp], read)?;
            check_mask(OPERATOR, mask.as_ref(), &sizes)?;
            let operands = Operands::<T> {
                query: Heads::of(query, &lease)?,
                key: Heads::of(key, &lease)?,
                value: Heads::of(value, &lease)?,
                mask: mask.as_ref().map(|mask| Heads::of(mask, &lease)).transpose()?,
                forbids: mask.as_ref().is_some_and(|mask| mask.dtype() == DType::Bool),
                out: Heads::written(&out, &lease)?,
                store: convert::storer::<T>(dtype),
                logsumexp: Heads::written(&logsumexp, &lease)?,
                keys: sizes.keys as usize,
                sizes: sizes.query.map(|size| size as usize),
                sharing: sizes.sharing(),
                scale,
                is_causal,
                products: Products::of([query, key, value], &sizes, is_causal),
            };
            operands.attend();
        }
    }, else => return Err(unsupported(OPERATOR, dtype)));
    Ok((out, logsumexp))
}

struct Sizes {
    /// The numbers of batches, heads and queries, and the width of a query.
    query: [i64; 4],
    /// The numbers of keys, and of their heads.
    keys: i64,
    key_heads: i64,
}

impl Sizes {
    /// The number of heads of queries that share a head of keys.
    fn sharing(&self) -> usize {
        (self.query[1] / self.key_heads.max(1)) as usize
    }
}

/// # Errors
/// Sizes or dtypes that do not match those of queries, keys and values.
fn sizes(operator: &str, query: &Tensor, key: &Tensor, value: &Tensor) -> Result<Sizes> {
    let of = |tensor: &Tensor| -> Result<[i64; 4]> {
        ensure!(
            tensor.dtype() == query.dtype(),
            DType,
            "{operator}: {} and {} cannot be multiplied, convert one to the other by `aten::to_dtype`",
            query.dtype(),
            tensor.dtype()
        );
        tensor.sizes().try_into().map_err(|_| {
            let sizes = tensor.sizes();
            Error::new(
                ErrorKind::Shape,
                format!("{operator}: sizes {sizes:?}, expected [batch, heads, length, width]"),
            )
        })
    };
    let (q, k, v) = (of(query)?, of(key)?, of(value)?);
    ensure!(
        k == v && [q[0], q[3]] == [k[0], k[3]],
        Shape,
        "{operator}: sizes {q:?}, {k:?} and {v:?}: queries, keys and values may differ in their number only, and \
         queries in that of their heads"
    );
    ensure!(
        q[1] == k[1] || k[1] > 0 && q[1] % k[1] == 0,
        Shape,
        "{operator}: {} heads of queries cannot share {} of keys and values",
        q[1],
        k[1]
    );
    Ok(Sizes { query: q, keys: k[2], key_heads: k[1] })
}

/// Checks, under a lease, that an expanded mask has a score for each query and key: a kernel of another key may have
/// expanded it.
fn check_mask(operator: &str, mask: Option<&Tensor>, sizes: &Sizes) -> Result<()> {
    let [batch, heads, queries, _] = sizes.query;
    let scores = [batch, heads, queries, sizes.keys];
    ensure!(
        mask.is_none_or(|mask| mask.sizes() == scores),
        Shape,
        "{operator}: `aten::expand` gave a mask of other sizes than {scores:?}"
    );
    Ok(())
}

/// Matrices of one shape, one for each batch and head.
struct Heads<T> {
    data: *mut u8,
    size: isize,
    strides: [isize; 4],
    load: Loader,
    /// Whether the elements can be read in place, without conversion.
    is_plain: bool,
    element: std::marker::PhantomData<T>,
}

impl<T: Element> Heads<T> {
    /// For reading, as long as the lease lives.
    fn of(tensor: &Tensor, lease: &impl Leased) -> Result<Self> {
        Ok(Self::at_address(tensor, tensor.address(lease)?.cast_mut()))
    }

    /// For writing, as long as the lease lives.
    fn written(tensor: &Tensor, lease: &impl Leased) -> Result<Self> {
        Ok(Self::at_address(tensor, tensor.address_mut(lease)?))
    }

    fn at_address(tensor: &Tensor, data: *mut u8) -> Self {
        let strides = tensor.strides();
        Heads {
            data,
            size: tensor.dtype().size() as isize,
            strides: from_fn(|dim| strides.get(dim).map_or(0, |stride| *stride as isize)),
            load: convert::loader::<T>(tensor.dtype()),
            is_plain: loops::is_plain::<T>(tensor.dtype()),
            element: std::marker::PhantomData,
        }
    }

    /// The address of an element: `[batch, head, row, column]`.
    fn at(&self, [batch, head, row, column]: [usize; 4]) -> *mut u8 {
        let mut place = 0;
        for (index, stride) in zip(&[batch, head, row, column], &self.strides) {
            place += *index as isize * stride;
        }
        self.data.wrapping_offset(place * self.size)
    }

    /// Reads rows into a buffer, and converts them.
    ///
    /// # Safety
    /// - The head has these rows, with `width` elements each, and its memory is still leased.
    unsafe fn read(&self, [batch, head]: [usize; 2], rows: Range<usize>, width: usize, buffer: &mut Vec<T>) {
        buffer.clear();
        buffer.reserve(rows.len() * width);
        for (i, row) in rows.clone().enumerate() {
            // SAFETY: the caller guarantees `width` elements in this row, which the lease keeps unchanged, of the dtype
            // that `load` was chosen for; the buffer has room for as many elements of each row.
            unsafe {
                let to = buffer.as_mut_ptr().add(i * width);
                (self.load)(self.at([batch, head, row, 0]), self.strides[3], width, to.cast());
            }
        }
        // SAFETY: this many elements are reserved, and the loop wrote `width` for each row.
        unsafe { buffer.set_len(rows.len() * width) };
    }

    /// Rows as a matrix: in place, or converted into a buffer.
    ///
    /// # Safety
    /// - The head has these rows, with `width` elements each, and its memory is still leased.
    unsafe fn rows(
        &self,
        [batch, head]: [usize; 2],
        rows: Range<usize>,
        width: usize,
        buffer: &mut Vec<T>,
    ) -> Matrices<T> {
        let shape = [rows.len(), width];
        if self.is_plain {
            let [.., row, column] = self.strides;
            let data = self.at([batch, head, rows.start, 0]).cast();
            return Matrices::one(data, shape, [row as usize, column as usize]);
        }
        // SAFETY: the caller guarantees these rows, with `width` elements each, and that the lease is held.
        unsafe { self.read([batch, head], rows, width, buffer) };
        Matrices::one(buffer.as_mut_ptr(), shape, [width, 1])
    }
}

/// How products are computed.
#[derive(Clone, Copy)]
enum Products {
    /// Like products of matrices of any dtype.
    OfMatrices,
    /// In pairs of `bfloat16`.
    #[cfg(target_arch = "x86_64")]
    InPairs(Unit),
    /// With a single query.
    #[cfg(target_arch = "x86_64")]
    OfOne,
}

impl Products {
    #[cfg(target_arch = "x86_64")]
    fn of(tensors: [&Tensor; 3], sizes: &Sizes, is_causal: bool) -> Self {
        if single::suits(tensors, sizes) {
            return Products::OfOne;
        }
        paired::unit(tensors, sizes, is_causal).map_or(Products::OfMatrices, Products::InPairs)
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn of(_tensors: [&Tensor; 3], _sizes: &Sizes, _is_causal: bool) -> Self {
        Products::OfMatrices
    }
}

/// The operands and results of a call.
struct Operands<T> {
    query: Heads<T>,
    key: Heads<T>,
    value: Heads<T>,
    mask: Option<Heads<T>>,
    /// Whether the mask is boolean, and says which keys are visible; otherwise it is added to the scores.
    forbids: bool,
    out: Heads<T>,
    store: Storer,
    logsumexp: Heads<T>,
    /// The numbers of batches, heads and queries, and the width of a query.
    sizes: [usize; 4],
    keys: usize,
    /// The number of heads of queries that share a head of keys and values.
    sharing: usize,
    scale: T,
    is_causal: bool,
    products: Products,
}

// SAFETY: the addresses are under a lease: nothing writes what is read, and `attend` gives each row of the results to
// one thread.
unsafe impl<T: Sync> Sync for Operands<T> {}

/// The buffers of a thread.
#[derive(Default)]
struct Scratch<T> {
    queries: Vec<T>,
    converted: Vec<T>,
    mask: Vec<T>,
    /// The scores of each row, and then its weights.
    scores: Vec<T>,
    /// The sum of the weighted values of each row, not divided yet.
    values: Vec<T>,
    largest: Vec<T>,
    sums: Vec<T>,
    #[cfg(target_arch = "x86_64")]
    packed: paired::Packed,
    /// The weights of a single query, in `bfloat16` and pairs.
    #[cfg(target_arch = "x86_64")]
    weights: Vec<[u16; 2]>,
}

impl<T: Score> Operands<T> {
    /// Computes all rows.
    fn attend(&self) {
        let [batches, heads, queries, width] = self.sizes;
        let blocks = queries.div_ceil(QUERIES);
        let work = self.keys.saturating_mul(QUERIES * 2).saturating_mul(width); // `keys` may be one expanded key
        parallel::shares(batches * heads * blocks, (GRAIN / work.max(1)).max(1), |range| {
            let mut scratch = Scratch::default();
            for index in range {
                let (head, first) = (index / blocks, index % blocks * QUERIES);
                let rows = first..queries.min(first + QUERIES);
                // SAFETY: `sizes` has the numbers of batches, heads and rows of the queries and the results; a mask has
                // as many batches and heads, keys and values as many batches, and one head for `sharing` heads of
                // queries. The lease under which the operands were made is held, and only this thread writes the
                // results of these rows.
                unsafe { self.block([head / heads, head % heads], rows, &mut scratch) };
            }
        });
    }

    /// The batch and head of the keys and values that belong to a head of queries.
    fn of_keys(&self, [batch, head]: [usize; 2]) -> [usize; 2] {
        [batch, head / self.sharing]
    }

    /// Computes some rows of a head.
    ///
    /// # Safety
    /// - The head has these rows of queries, `keys` keys and values, and, if there is a mask, a mask for all of them.
    /// - All of this is still leased, and nothing else uses the results of these rows.
    unsafe fn block(&self, head: [usize; 2], rows: Range<usize>, scratch: &mut Scratch<T>) {
        let (width, count) = (self.sizes[3], rows.len());
        // SAFETY: the caller guarantees the head and these rows of its queries.
        unsafe { self.prepare(head, rows.clone(), scratch) };
        refill(&mut scratch.values, count * width, T::ZERO);
        refill(&mut scratch.largest, count, T::neg_infinity());
        refill(&mut scratch.sums, count, T::ZERO);
        let visible = if self.is_causal { self.keys.min(rows.end) } else { self.keys };
        let mut first = 0;
        while first < visible {
            let keys = first..visible.min(first + KEYS);
            // SAFETY: these keys are below `visible`, and the caller guarantees as many, and as many values.
            unsafe {
                self.score(head, rows.clone(), keys.clone(), scratch);
                self.hide(head, rows.clone(), keys.clone(), scratch);
                weigh(keys.len(), width, scratch);
                self.add(head, keys.clone(), scratch);
            }
            first = keys.end;
        }
        // SAFETY: the caller guarantees these rows of the results, which nothing else uses, and the lease; `scratch`
        // has a sum and values for each.
        unsafe { self.finish(head, rows, scratch) };
    }

    /// Reads rows of queries, or packs keys and values in pairs.
    ///
    /// # Safety
    /// - The head has these rows of queries, and is still leased.
    unsafe fn prepare(&self, head: [usize; 2], rows: Range<usize>, scratch: &mut Scratch<T>) {
        match self.products {
            Products::OfMatrices => {}
            // SAFETY: `paired::unit` allowed these products; the caller guarantees the head and the lease.
            #[cfg(target_arch = "x86_64")]
            Products::InPairs(_) => return unsafe { self.pack(head, &mut scratch.packed) },
            #[cfg(target_arch = "x86_64")]
            Products::OfOne => return,
        }
        // SAFETY: the caller guarantees these rows of queries, which have `width` elements.
        unsafe { self.query.read(head, rows, self.sizes[3], &mut scratch.queries) };
        scratch.queries.iter_mut().for_each(|x| *x = *x * self.scale);
    }

    /// Computes the scores of rows of queries with keys.
    ///
    /// # Safety
    /// - [`prepare`](Self::prepare) was called for this head and these rows; the head has these keys, and is still
    ///   leased.
    unsafe fn score(
        &self,
        head: [usize; 2],
        rows: Range<usize>,
        keys: Range<usize>,
        scratch: &mut Scratch<T>,
    ) {
        let (width, count) = (self.sizes[3], rows.len());
        scratch.scores.resize(count * KEYS, T::ZERO);
        #[cfg(target_arch = "x86_64")]
        match self.products {
            Products::OfMatrices => {}
            Products::InPairs(unit) => {
                let Scratch { packed, scores, .. } = scratch;
                // SAFETY: `prepare` has packed the keys, and the caller guarantees the head, rows and keys; blocks of
                // keys start at multiples of `KEYS`.
                return unsafe { self.scores(unit, head, rows, keys, packed, scores) };
            }
            Products::OfOne => {
                let scores = &mut scratch.scores[..keys.len()];
                // SAFETY: `suits` chose these products, and the caller guarantees the head, keys and lease.
                return unsafe { self.scores_of_one(head, keys, scores) };
            }
        }
        let queries = Matrices::one(scratch.queries.as_mut_ptr(), [count, width], [width, 1]);
        let scores = Matrices::one(scratch.scores.as_mut_ptr(), [count, keys.len()], [keys.len(), 1]);
        // SAFETY: the caller guarantees the keys. Queries and scores are in buffers of this thread, which hold
        // `count * width` and `count * KEYS` numbers; so the scores do not overlap the factors.
        unsafe {
            let key = self.key.rows(self.of_keys(head), keys, width, &mut scratch.converted);
            multiply_one(Target::write(scores), queries, key.transposed(), false);
        }
    }

    /// Adds the values of keys, by the weights of each row, to the sums of the values.
    ///
    /// # Safety
    /// - [`prepare`](Self::prepare) was called for this head, which has these values and is still leased.
    unsafe fn add(&self, head: [usize; 2], keys: Range<usize>, scratch: &mut Scratch<T>) {
        let (width, count) = (self.sizes[3], scratch.sums.len());
        #[cfg(target_arch = "x86_64")]
        {
            let Scratch { packed, weights: pairs, scores, values, .. } = &mut *scratch;
            let weights = &scores[..count * keys.len()];
            match self.products {
                Products::OfMatrices => {}
                Products::InPairs(unit) => {
                    // SAFETY: `prepare` has packed the values, and the caller guarantees the keys; blocks of keys start
                    // at multiples of `KEYS`.
                    return unsafe { self.add_values(unit, keys, packed, weights, values) };
                }
                Products::OfOne => {
                    // SAFETY: `suits` chose these products, and the caller guarantees the head, keys and lease.
                    return unsafe { self.add_values_of_one(head, keys, weights, pairs, values) };
                }
            }
        }
        let weights = Matrices::one(scratch.scores.as_mut_ptr(), [count, keys.len()], [keys.len(), 1]);
        let values = Matrices::one(scratch.values.as_mut_ptr(), [count, width], [width, 1]);
        // SAFETY: the caller guarantees the values. The weights and the sums of values are in buffers of this thread,
        // which hold `count * KEYS` and `count * width` numbers; so the sums do not overlap the factors.
        unsafe {
            let value = self.value.rows(self.of_keys(head), keys, width, &mut scratch.converted);
            multiply_one(Target::add(values), weights, value, false);
        }
    }

    /// Applies the masks to the scores.
    ///
    /// # Safety
    /// - The mask, if there is one, has these rows and keys, and is still leased.
    unsafe fn hide(
        &self,
        [batch, head]: [usize; 2],
        rows: Range<usize>,
        keys: Range<usize>,
        scratch: &mut Scratch<T>,
    ) {
        for (i, row) in rows.enumerate() {
            let scores = &mut scratch.scores[i * keys.len()..][..keys.len()];
            if let Some(mask) = &self.mask {
                refill(&mut scratch.mask, keys.len(), T::ZERO);
                let data = mask.at([batch, head, row, keys.start]);
                // SAFETY: the caller guarantees an element of the mask for each key, of the dtype that `load` was
                // chosen for; the buffer has room for as many, and the lease prevents writes.
                unsafe { (mask.load)(data, mask.strides[3], keys.len(), scratch.mask.as_mut_ptr().cast()) };
                for (score, mask) in zip(&mut *scores, &scratch.mask) {
                    *score = match self.forbids {
                        true if *mask == T::ZERO => T::neg_infinity(),
                        true => *score,
                        false => *score + *mask,
                    };
                }
            }
            if self.is_causal {
                let visible = (row + 1).saturating_sub(keys.start).min(keys.len());
                inlined::fill(&mut scores[visible..], T::neg_infinity());
            }
        }
    }

    /// Writes the results of rows.
    ///
    /// # Safety
    /// - The rows exist and are still leased, and nothing else uses their results.
    unsafe fn finish(&self, [batch, head]: [usize; 2], rows: Range<usize>, scratch: &mut Scratch<T>) {
        let width = self.sizes[3];
        for (i, row) in rows.enumerate() {
            let (sum, values) = (scratch.sums[i], &mut scratch.values[i * width..][..width]);
            let is_hidden = sum == T::ZERO; // all keys are masked: the result is zero, as in PyTorch
            let scale = if is_hidden { T::ZERO } else { sum.recip() };
            values.iter_mut().for_each(|x| *x = *x * scale);
            let out = self.out.at([batch, head, row, 0]);
            let logsumexp = if is_hidden { T::ZERO } else { scratch.largest[i] + sum.ln() };
            // SAFETY: this row of `out` has `width` elements of the dtype that `store` was chosen for, and `logsumexp`
            // one of `T`; the caller guarantees the row, and that nothing else uses it.
            unsafe {
                (self.store)(values.as_ptr().cast(), width, out, self.out.strides[3]);
                self.logsumexp.at([batch, head, row, 0]).cast::<T>().write(logsumexp);
            }
        }
    }
}

/// Sets a vector to `len` copies of a value, and reuses its memory.
fn refill<T: Clone>(vec: &mut Vec<T>, len: usize, value: T) {
    vec.clear();
    vec.resize(len, value);
}

/// A type in which scores are computed.
trait Score: Float + Ordered + Functions + Default {}

impl<T: Float + Ordered + Functions + Default> Score for T {}

on_vectors! {
    /// Converts the scores of each row to weights in place: exponentials relative to the running maximum. The previous
    /// sums of the row, relative to a smaller maximum, are rescaled.
    fn weigh<T: Score>(keys: usize, width: usize, scratch: &mut Scratch<T>) {
        let Scratch { scores, values, largest, sums, .. } = scratch;
        for (row, (largest, sum)) in zip(largest, sums).enumerate() {
            let scores = &mut scores[row * keys..][..keys];
            let before = *largest;
            *largest = Fold::<T>::merge(&Largest, before, fold_line(&Largest, scores));
            if *largest == T::neg_infinity() {
                inlined::fill(scores, T::ZERO); // all scores are masked, and so were the previous ones
                continue;
            }
            let factor = (before - *largest).exponential();
            *sum = *sum * factor + exponentials_of(scores, *largest);
            if factor != T::ONE {
                for value in &mut values[row * width..][..width] {
                    *value = *value * factor;
                }
            }
        }
    }
}
