//! Kernels of distances between rows: one pair at a time, where compositions would store the differences of all pairs.
#![expect(unsafe_code, reason = "gives each thread rows of the result")]

use num_traits::Float;
use torch_library::prelude::*;
use torch_library::{Element, match_dtype};

use crate::aten;
use crate::composite::distance::check_cdist;
use crate::composite::distance::pairs::{
    check_cdist_backward, check_pdist, check_pdist_backward, count_of_pairs,
};
use crate::inlined::zip;
use crate::loops::parts::{Parts, PartsMut};
use crate::loops::{on_vectors, parallel};
use crate::number::{Number, larger};

#[torch_impl(aten, CPU)]
mod kernels {
    use super::*;

    fn _cdist_forward(x1: &Tensor, x2: &Tensor, p: f64, compute_mode: Option<i64>) -> Result<Tensor> {
        let sizes = check_cdist(x1, x2, compute_mode)?;
        let out = Tensor::zeros(&sizes, x1.dtype(), x1.device())?;
        if out.numel() > 0 && x1.numel() > 0 {
            match_dtype!(x1.dtype(), T: Float => Rows::<T>::of([x1, x2], &sizes)?.distances(&out, p)?, else => {});
        }
        Ok(out)
    }

    fn _cdist_backward(
        grad_output: &Tensor,
        x1: &Tensor,
        x2: &Tensor,
        p: f64,
        cdist: &Tensor,
    ) -> Result<Tensor> {
        let sizes = check_cdist_backward(grad_output, x1, x2, cdist)?;
        if grad_output.numel() == 0 || x1.numel() == 0 {
            return aten::zeros_like::with(x1).memory_format(MemoryFormat::Contiguous).call();
        }
        let out = [&sizes[..sizes.len() - 1], &[x1.size(-1)?]].concat();
        let out = Tensor::zeros(&out, x1.dtype(), x1.device())?;
        match_dtype!(x1.dtype(), T: Float => {
            Rows::<T>::of([x1, x2], &sizes)?.gradients(&out, [grad_output, cdist], p)?;
        }, else => {});
        Ok(out)
    }

    fn _pdist_forward(this: &Tensor, p: f64) -> Result<Tensor> {
        check_pdist(this, p)?;
        let out = Tensor::zeros(&[count_of_pairs(this)], this.dtype(), this.device())?;
        let [rows, len] = [this.sizes()[0] as usize, this.sizes()[1] as usize];
        if out.numel() == 0 || len == 0 {
            return Ok(out);
        }
        match_dtype!(this.dtype(), T: Float => {
            let (x, to, norm) = (Parts::<T>::row_major(this, len)?, PartsMut::<T>::of(&out, 1)?, norm_of::<T>(p));
            parallel::shares(rows, (parallel::GRAIN / (rows * len)).max(1), |range| {
                let mut line = vec![T::ZERO; rows];
                for row in range {
                    let line = &mut line[row + 1..];
                    norm.distances(x.get(row), x.range(row + 1..rows), line);
                    for (at, distance) in (place_of(row, rows)..).zip(line) {
                        // SAFETY: the pairs of a row with those after it are one thread's.
                        unsafe { to.get_mut(at)[0] = *distance };
                    }
                }
            });
        }, else => {});
        Ok(out)
    }

    fn _pdist_backward(grad_output: &Tensor, this: &Tensor, p: f64, pdist: &Tensor) -> Result<Tensor> {
        check_pdist_backward(grad_output, this, pdist)?;
        let out = Tensor::zeros(this.sizes(), this.dtype(), this.device())?;
        let [rows, len] = [this.sizes()[0] as usize, this.sizes()[1] as usize];
        if out.numel() == 0 || grad_output.numel() == 0 {
            return Ok(out);
        }
        match_dtype!(this.dtype(), T: Float => {
            let (x, to, norm) = (Parts::<T>::row_major(this, len)?, PartsMut::<T>::of(&out, len)?, norm_of::<T>(p));
            let pairs = grad_output.numel() as usize;
            let (grads, distances) = (Parts::<T>::row_major(grad_output, pairs)?, Parts::<T>::row_major(pdist, pairs)?);
            parallel::shares(rows, (parallel::GRAIN / (rows * len)).max(1), |range| {
                for row in range {
                    // SAFETY: each row of the new tensor is one thread's.
                    let to = unsafe { to.get_mut(row) };
                    for other in (0..rows).filter(|other| *other != row) {
                        let (first, second) = (row.min(other), row.max(other));
                        let at = place_of(first, rows) + second - first - 1;
                        let (grad, distance) = (grads.get(0)[at], distances.get(0)[at]);
                        norm.add_slopes(to, x.get(row), x.get(other), &[grad], &[distance]);
                    }
                }
            });
        }, else => {});
        Ok(out)
    }
}

/// The place of the first pair of a row among the pairs of all rows with those after them.
fn place_of(row: usize, rows: usize) -> usize {
    row * rows - row * (row + 1) / 2
}

/// Two lists of rows of one length, for each of a batch.
struct Rows<T> {
    first: Parts<T>,
    second: Parts<T>,
    /// The numbers of rows in each list.
    counts: [usize; 2],
    len: usize,
}

impl<T: Measured> Rows<T> {
    /// The rows of matrices that broadcast to a batch; `sizes` are those of their distances.
    fn of([x1, x2]: [&Tensor; 2], sizes: &[i64]) -> Result<Self> {
        let [batch @ .., rows, others] = sizes else {
            bail!(Shape, "sizes {sizes:?} are not those of distances")
        };
        let len = x1.size(-1)?;
        let lists = |x: &Tensor, rows: i64| {
            let all = aten::expand(x, &[batch, &[rows, len]].concat())?;
            Parts::<T>::row_major(&all, (rows * len) as usize)
        };
        let counts = [*rows as usize, *others as usize];
        Ok(Rows { first: lists(x1, *rows)?, second: lists(x2, *others)?, counts, len: len as usize })
    }

    /// Calls a closure with the place of each row of the first list, the row, and the second list, on several threads
    /// where that pays.
    fn each(&self, f: impl Fn(usize, &[T], &[T]) + Sync) {
        let [rows, others] = self.counts;
        parallel::shares(
            self.first.count() * rows,
            (parallel::GRAIN / (others * self.len)).max(1),
            |range| {
                for at in range {
                    f(
                        at,
                        &self.first.get(at / rows)[at % rows * self.len..][..self.len],
                        self.second.get(at / rows),
                    );
                }
            },
        );
    }

    fn distances(&self, out: &Tensor, p: f64) -> Result<()> {
        let (to, norm) = (PartsMut::<T>::of(out, self.counts[1])?, norm_of::<T>(p));
        // SAFETY: each row of the new tensor is one thread's.
        self.each(|at, row, others| norm.distances(row, others, unsafe { to.get_mut(at) }));
        Ok(())
    }

    fn gradients(&self, out: &Tensor, given: [&Tensor; 2], p: f64) -> Result<()> {
        let (to, norm) = (PartsMut::<T>::of(out, self.len)?, norm_of::<T>(p));
        let [grads, distances] = given.map(|tensor| Parts::<T>::row_major(tensor, self.counts[1]));
        let (grads, distances) = (grads?, distances?);
        self.each(|at, row, others| {
            // SAFETY: each row of the new tensor is one thread's.
            norm.add_slopes(unsafe { to.get_mut(at) }, row, others, grads.get(at), distances.get(at));
        });
        Ok(())
    }
}

/// A type of numbers with distances.
trait Measured: Number + Float {}

impl Measured for f32 {}
impl Measured for f64 {}

/// Distances of some order, for rows.
trait Norm<T>: Sync {
    /// Writes the distance of a row to each of the others.
    fn distances(&self, row: &[T], others: &[T], to: &mut [T]);

    /// Adds the derivatives of the distances to the others with respect to the row, each times a gradient.
    fn add_slopes(&self, to: &mut [T], row: &[T], others: &[T], grads: &[T], distances: &[T]);
}

/// How a distance is made of the differences.
trait Order<T: Measured>: Sync {
    /// Takes one more difference, which is not negative.
    fn step(&self, sum: T, size: T) -> T;

    /// Joins what two parts of the differences add up to.
    #[inline(always)]
    fn join(&self, a: T, b: T) -> T {
        a + b
    }

    /// The distance.
    #[inline(always)]
    fn distance(&self, sum: T) -> T {
        sum
    }

    /// The derivative with respect to a difference.
    fn slope(&self, difference: T, distance: T) -> T;
}

/// The number of differences.
struct Zero;
/// The sum of their sizes.
struct One;
/// The root of the sum of their squares.
struct Two;
/// The largest of their sizes.
struct Most;
/// Any other order.
struct Any<T>(T);

/// The norm of an order.
fn norm_of<T: Measured>(p: f64) -> Box<dyn Norm<T>> {
    match p {
        0.0 => Box::new(Zero),
        1.0 => Box::new(One),
        2.0 => Box::new(Two),
        f64::INFINITY => Box::new(Most),
        p => Box::new(Any(Element::cast::<T>(p))),
    }
}

impl<T: Measured> Order<T> for Zero {
    #[inline(always)]
    fn step(&self, sum: T, size: T) -> T {
        sum + if size == T::ZERO { T::ZERO } else { T::ONE }
    }

    #[inline(always)]
    fn slope(&self, _: T, _: T) -> T {
        T::ZERO
    }
}

impl<T: Measured> Order<T> for One {
    #[inline(always)]
    fn step(&self, sum: T, size: T) -> T {
        sum + size
    }

    #[inline(always)]
    fn slope(&self, difference: T, _: T) -> T {
        sign(difference)
    }
}

impl<T: Measured> Order<T> for Two {
    #[inline(always)]
    fn step(&self, sum: T, size: T) -> T {
        sum + size * size
    }

    #[inline(always)]
    fn distance(&self, sum: T) -> T {
        sum.sqrt()
    }

    #[inline(always)]
    fn slope(&self, difference: T, distance: T) -> T {
        if distance == T::ZERO { T::ZERO } else { difference / distance }
    }
}

impl<T: Measured> Order<T> for Most {
    #[inline(always)]
    fn step(&self, sum: T, size: T) -> T {
        larger(size, sum)
    }

    #[inline(always)]
    fn join(&self, a: T, b: T) -> T {
        larger(a, b)
    }

    #[inline(always)]
    fn slope(&self, difference: T, distance: T) -> T {
        if difference.abs() == distance { sign(difference) } else { T::ZERO }
    }
}

impl<T: Measured> Order<T> for Any<T> {
    #[inline(always)]
    fn step(&self, sum: T, size: T) -> T {
        sum + size.powf(self.0)
    }

    #[inline(always)]
    fn distance(&self, sum: T) -> T {
        sum.powf(T::ONE / self.0)
    }

    /// Zero where the difference is, although the power may be infinite there.
    #[inline(always)]
    fn slope(&self, difference: T, distance: T) -> T {
        if difference == T::ZERO {
            return T::ZERO;
        }
        sign(difference) * (difference.abs() / distance).powf(self.0 - T::ONE)
    }
}

/// The sign, which is 0 for zero and NaN for NaN.
#[inline(always)]
fn sign<T: Measured>(x: T) -> T {
    if x == T::ZERO { T::ZERO } else { x.signum() }
}

impl<T: Measured, O: Order<T>> Norm<T> for O {
    fn distances(&self, row: &[T], others: &[T], to: &mut [T]) {
        distances(self, row, others, to);
    }

    fn add_slopes(&self, to: &mut [T], row: &[T], others: &[T], grads: &[T], distances: &[T]) {
        add_slopes(self, to, (row, others), (grads, distances));
    }
}

/// The number of lanes in which differences are added up.
const LANES: usize = 8;

on_vectors! {
    fn distances<T: Measured, O: Order<T>>(order: &O, row: &[T], others: &[T], to: &mut [T]) {
        let (chunks, rest) = row.as_chunks::<LANES>();
        for (at, to) in to.iter_mut().enumerate() {
            let other = &others[at * row.len()..][..row.len()];
            let (other_chunks, other_rest) = other.as_chunks::<LANES>();
            let mut lanes = [T::ZERO; LANES];
            for (a, b) in zip(chunks, other_chunks) {
                for lane in 0..LANES {
                    lanes[lane] = order.step(lanes[lane], (a[lane] - b[lane]).abs());
                }
            }
            let mut sum = lanes.into_iter().fold(T::ZERO, |sum, lane| order.join(sum, lane));
            for (a, b) in zip(rest, other_rest) {
                sum = order.step(sum, (*a - *b).abs());
            }
            *to = order.distance(sum);
        }
    }
}

on_vectors! {
    fn add_slopes<T: Measured, O: Order<T>>(order: &O, to: &mut [T], rows: (&[T], &[T]), given: (&[T], &[T])) {
        let ((row, others), (grads, distances)) = (rows, given);
        for (at, (grad, distance)) in zip(grads, distances).enumerate() {
            let other = &others[at * row.len()..][..row.len()];
            for (to, (a, b)) in zip(&mut *to, zip(row, other)) {
                *to = *to + *grad * order.slope(*a - *b, *distance);
            }
        }
    }
}
