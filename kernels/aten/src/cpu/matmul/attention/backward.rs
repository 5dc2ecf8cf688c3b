//! The gradients of flash attention, without storing the matrix of scores.
//!
//! # How it works
//!
//! Scores are recomputed block by block; with the log-sum-exp of each query, they give the weights. The gradient of a
//! score is its weight times the difference between the gradient of the weight and the weighted sum of the row's
//! gradients, which equals the dot product of the result and its gradient. One thread computes a head of keys, and
//! accumulates the gradients of keys and values over the blocks of queries, of all heads that share them.

use super::*;
use crate::composite::matmul::attention::backward::{self as composite, check, has_weights};

#[torch_impl(aten, CPU)]
fn _scaled_dot_product_flash_attention_for_cpu_backward(
    grad_out: &Tensor,
    query: &Tensor,
    key: &Tensor,
    value: &Tensor,
    out: &Tensor,
    logsumexp: &Tensor,
    dropout_p: f64,
    is_causal: bool,
    attn_mask: Option<&Tensor>,
    scale: Option<f64>,
) -> Result<(Tensor, Tensor, Tensor)> {
    const OPERATOR: &str = aten::_scaled_dot_product_flash_attention_for_cpu_backward::NAME;
    let given = [grad_out, query, key, value, out, logsumexp];
    let _lease = ListLease::new([], given.into_iter().chain(attn_mask))?;
    check(OPERATOR, given, dropout_p)?;
    if has_weights(logsumexp) {
        return composite::gradients(given, &composite::Scores { is_causal, attn_mask, scale });
    }
    let (dtype, sizes) = (query.dtype(), sizes(OPERATOR, query, key, value)?);
    let [batch, heads, queries, width] = sizes.query;
    let mask = attn_mask.map(|mask| aten::expand(mask, &[batch, heads, queries, sizes.keys])).transpose();
    let mask = mask.map_err(|error| error.context(OPERATOR))?;
    // The heads of each position are adjacent in memory.
    let gradient = |heads: i64, length: i64| {
        let strides = [length * heads * width, width, heads * width, 1];
        Tensor::empty_strided(&[batch, heads, length, width], &strides, dtype, query.device())
    };
    let of_key = || gradient(sizes.key_heads, sizes.keys);
    let grads = (gradient(heads, queries)?, of_key()?, of_key()?);
    match_opmath!(dtype, T: Float => {
        if loops::has_elements(&grads.0) && sizes.keys > 0 {
            let read = given.into_iter().chain(mask.as_ref());
            let lease = ListLease::new([&grads.0, &grads.1, &grads.2], read)?;
            check_mask(OPERATOR, mask.as_ref(), &sizes)?;
            let widened = scale.unwrap_or_else(|| 1.0 / (width as f64).sqrt()).cast();
            let gradients = Gradients::<T> {
                operands: Operands {
                    query: Heads::of(query, &lease)?,
                    key: Heads::of(key, &lease)?,
                    value: Heads::of(value, &lease)?,
                    mask: mask.as_ref().map(|mask| Heads::of(mask, &lease)).transpose()?,
                    forbids: mask.as_ref().is_some_and(|mask| mask.dtype() == DType::Bool),
                    out: Heads::of(out, &lease)?,
                    store: convert::storer::<T>(dtype),
                    logsumexp: Heads::of(logsumexp, &lease)?,
                    sizes: sizes.query.map(|size| size as usize),
                    keys: sizes.keys as usize,
                    sharing: sizes.sharing(),
                    scale: widened,
                    is_causal,
                    products: Products::OfMatrices,
                },
                grad: Heads::of(grad_out, &lease)?,
                of_query: Heads::written(&grads.0, &lease)?,
                of_key: Heads::written(&grads.1, &lease)?,
                of_value: Heads::written(&grads.2, &lease)?,
            };
            gradients.compute();
        }
    }, else => return Err(unsupported(OPERATOR, dtype)));
    Ok(grads)
}

/// The operands of a call, and its results.
struct Gradients<T> {
    operands: Operands<T>,
    /// The gradient of the result.
    grad: Heads<T>,
    of_query: Heads<T>,
    of_key: Heads<T>,
    of_value: Heads<T>,
}

// SAFETY: the addresses are under a lease: nothing writes what is read, and `compute` gives each head of the results to
// one thread.
unsafe impl<T: Sync> Sync for Gradients<T> {}

/// The buffers of a thread, besides those of the forward pass.
#[derive(Default)]
struct Buffers<T> {
    forth: Scratch<T>,
    /// The gradients of the results of a block of queries, and these results.
    grads: Vec<T>,
    outs: Vec<T>,
    logsumexp: Vec<T>,
    /// The dot product of a result and its gradient, for each query of a block.
    products: Vec<T>,
    /// The gradients of the weights, and then of the scores.
    of_scores: Vec<T>,
    of_queries: Vec<T>,
    /// Of all keys and values of a head.
    of_keys: Vec<T>,
    of_values: Vec<T>,
}

impl<T: Score> Gradients<T> {
    fn compute(&self) {
        let Operands { sizes: [batches, heads, queries, width], sharing, .. } = self.operands;
        let heads = heads / sharing;
        let work = self.operands.keys.saturating_mul(queries * sharing * 5).saturating_mul(width);
        parallel::shares(batches * heads, (GRAIN / work.max(1)).max(1), |range| {
            let mut buffers = Buffers::default();
            for head in range {
                // SAFETY: `sizes` and `check` have compared the numbers of batches, heads and rows of all operands,
                // which are leased; only this thread writes the results of this head of keys, and of the heads of
                // queries that share it.
                unsafe { self.head([head / heads, head % heads], &mut buffers) };
            }
        });
    }

    /// Computes the gradients of a head of keys and values, and of the heads of queries that share it.
    ///
    /// # Safety
    /// - All operands have these heads, with as many queries, keys and values as they should have.
    /// - All of this is still leased, and nothing else uses the results of these heads.
    unsafe fn head(&self, [batch, head]: [usize; 2], buffers: &mut Buffers<T>) {
        let Operands { sizes: [.., queries, width], keys, sharing, store, .. } = self.operands;
        refill(&mut buffers.of_keys, keys * width, T::ZERO);
        refill(&mut buffers.of_values, keys * width, T::ZERO);
        let of_queries = head * sharing..(head + 1) * sharing;
        for (head, first) in
            of_queries.flat_map(|head| (0..queries).step_by(QUERIES).map(move |first| (head, first)))
        {
            // SAFETY: these rows are below the number of queries; the caller guarantees the rest.
            unsafe { self.block([batch, head], first..queries.min(first + QUERIES), buffers) };
        }
        for row in 0..keys {
            for (grads, to) in [(&buffers.of_keys, &self.of_key), (&buffers.of_values, &self.of_value)] {
                // SAFETY: the results have this row, of `width` elements of the dtype that `store` was chosen for, and
                // nothing else uses it; the buffer has as many for each key.
                unsafe {
                    let from = grads[row * width..][..width].as_ptr();
                    store(from.cast(), width, to.at([batch, head, row, 0]), to.strides[3]);
                }
            }
        }
    }

    /// Computes the gradients of some queries of a head, and adds what these contribute to those of keys and values.
    ///
    /// # Safety
    /// - All operands have this head, with these rows of queries, and as many keys and values as they should have.
    /// - All of this is still leased, and nothing else uses the results of these rows.
    unsafe fn block(&self, head: [usize; 2], rows: Range<usize>, buffers: &mut Buffers<T>) {
        let operands = &self.operands;
        let (width, count) = (operands.sizes[3], rows.len());
        // SAFETY: the caller guarantees these rows of all four, with `width` elements, or one of `logsumexp`.
        unsafe { self.read(head, rows.clone(), buffers) };
        refill(&mut buffers.of_queries, count * width, T::ZERO);
        let visible = if operands.is_causal { operands.keys.min(rows.end) } else { operands.keys };
        for first in (0..visible).step_by(KEYS) {
            let keys = first..visible.min(first + KEYS);
            // SAFETY: these keys are below `visible`; the caller guarantees the rest; `read` has filled the buffers.
            unsafe { self.meet(head, rows.clone(), keys, buffers) };
        }
        let [batch, head] = head;
        for (i, row) in rows.enumerate() {
            let of_query = &mut buffers.of_queries[i * width..][..width];
            of_query.iter_mut().for_each(|x| *x = *x * operands.scale);
            // SAFETY: the result has this row, of `width` elements of the dtype that `store` was chosen for, and
            // nothing else uses it.
            unsafe {
                let to = self.of_query.at([batch, head, row, 0]);
                (operands.store)(of_query.as_ptr().cast(), width, to, self.of_query.strides[3]);
            }
        }
    }

    /// Reads what a block of queries needs.
    ///
    /// # Safety
    /// - The queries, their results and the gradients of these have these rows, and are still leased.
    unsafe fn read(&self, head: [usize; 2], rows: Range<usize>, buffers: &mut Buffers<T>) {
        let (operands, width) = (&self.operands, self.operands.sizes[3]);
        // SAFETY: the caller guarantees these rows, of `width` elements each, and of one for `logsumexp`.
        unsafe {
            operands.query.read(head, rows.clone(), width, &mut buffers.forth.queries);
            operands.out.read(head, rows.clone(), width, &mut buffers.outs);
            operands.logsumexp.read(head, rows.clone(), 1, &mut buffers.logsumexp);
            self.grad.read(head, rows, width, &mut buffers.grads);
        }
        buffers.forth.queries.iter_mut().for_each(|x| *x = *x * operands.scale);
        let pairs = buffers.outs.chunks_exact(width).zip(buffers.grads.chunks_exact(width));
        buffers.products.clear();
        buffers
            .products
            .extend(pairs.map(|(out, grad)| {
                out.iter().zip(grad).fold(T::ZERO, |sum, (out, grad)| sum + *out * *grad)
            }));
    }

    /// Adds what some keys contribute to the gradients of a block of queries, and the other way round.
    ///
    /// # Safety
    /// - All operands have this head, with these rows of queries, and these keys and values.
    /// - All of this is still leased, and `read` has filled the buffers for these rows.
    unsafe fn meet(
        &self,
        head: [usize; 2],
        rows: Range<usize>,
        keys: Range<usize>,
        buffers: &mut Buffers<T>,
    ) {
        let (operands, width, count, len) = (&self.operands, self.operands.sizes[3], rows.len(), keys.len());
        buffers.forth.scores.resize(count * KEYS, T::ZERO);
        buffers.of_scores.resize(count * KEYS, T::ZERO);
        let of_keys = operands.of_keys(head);
        let matrix = |data: &mut Vec<T>, rows, columns| {
            Matrices::one(data.as_mut_ptr(), [rows, columns], [columns, 1])
        };
        let queries = matrix(&mut buffers.forth.queries, count, width);
        let scores = matrix(&mut buffers.forth.scores, count, len);
        let grads = matrix(&mut buffers.grads, count, width);
        let of_scores = matrix(&mut buffers.of_scores, count, len);
        let of_queries = matrix(&mut buffers.of_queries, count, width);
        let part = keys.start * width..keys.end * width;
        let to_keys = Matrices::one(buffers.of_keys[part.clone()].as_mut_ptr(), [len, width], [width, 1]);
        let to_values = Matrices::one(buffers.of_values[part].as_mut_ptr(), [len, width], [width, 1]);
        // SAFETY: the caller guarantees these keys and values, under a lease. The other matrices are in buffers of this
        // thread, one each, that hold as many numbers; `scores` and `of_scores` have been written before they are read,
        // and `meet` reads keys and values from `converted` one after the other.
        unsafe {
            let key = operands.key.rows(of_keys, keys.clone(), width, &mut buffers.forth.converted);
            multiply_one(Target::write(scores), queries, key.transposed(), false);
            operands.hide(head, rows, keys.clone(), &mut buffers.forth);
            let value = operands.value.rows(of_keys, keys.clone(), width, &mut buffers.forth.converted);
            multiply_one(Target::write(of_scores), grads, value.transposed(), false);
            differentiate(len, buffers);
            multiply_one(Target::add(to_values), scores.transposed(), grads, false);
            multiply_one(Target::add(to_keys), of_scores.transposed(), queries, false);
            let key = operands.key.rows(of_keys, keys, width, &mut buffers.forth.converted);
            multiply_one(Target::add(of_queries), of_scores, key, false);
        }
    }
}

on_vectors! {
    /// Converts scores to weights, and the gradients of weights to those of scores.
    fn differentiate<T: Score>(keys: usize, buffers: &mut Buffers<T>) {
        let Buffers { forth, of_scores, logsumexp, products, .. } = buffers;
        for (row, (logsumexp, product)) in zip(logsumexp, products).enumerate() {
            let weights = &mut forth.scores[row * keys..][..keys];
            let _ = exponentials_of(weights, *logsumexp);
            for (of_score, weight) in zip(&mut of_scores[row * keys..][..keys], weights) {
                *of_score = *weight * (*of_score - *product);
            }
        }
    }
}
