//! Sobol sequences: points that fill a cube more evenly than random ones.
//!
//! Point `n + 1` is point `n` with the direction number of one bit added modulo 2: that of the lowest zero bit of `n`.
#![expect(unsafe_code, reason = "writes rows of a new tensor")]

use torch_library::Element;
use torch_library::prelude::*;

use crate::aten;
use crate::inlined::zip;
use crate::loops::parts::PartsMut;
use crate::loops::{self, assign, elements, has_elements, match_opmath};

/// The bits of a coordinate, each with a direction number.
const BITS: usize = 30;

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn _sobol_engine_draw(
        quasi: &Tensor,
        n: i64,
        sobolstate: &Tensor,
        dimension: i64,
        num_generated: i64,
        dtype: Option<DType>,
    ) -> Result<(Tensor, Tensor)> {
        const OPERATOR: &str = aten::_sobol_engine_draw::NAME;
        check(OPERATOR, quasi, n, sobolstate, dimension, num_generated)?;
        let dtype = dtype.unwrap_or(DType::DEFAULT);
        ensure!(
            matches!(dtype, DType::Float32 | DType::Float64),
            DType,
            "{OPERATOR}: points of {dtype}, expected float32 or float64"
        );
        let points = Tensor::empty(&[n, dimension], dtype, quasi.device())?;
        if !has_elements(quasi) {
            return Ok((points, aten::empty_like(quasi)?));
        }
        let mut sequence = Sequence::new(quasi, sobolstate, num_generated)?;
        match_opmath!(dtype, T: Float => {
            let rows = PartsMut::<T>::of(&points, dimension as usize)?;
            for row in 0..rows.count() {
                sequence.advance();
                // SAFETY: this is the only slice, on this thread, of numbers that `Tensor::empty` initialised.
                for (out, bits) in zip(unsafe { rows.get_mut(row) }, &sequence.point) {
                    *out = (*bits as f64 / f64::from(1 << BITS)).cast();
                }
            }
        }, else => {});
        Ok((points, Tensor::from_vec(sequence.point, &[dimension])?))
    }

    fn _sobol_engine_ff_<'a>(
        this: &'a mut Tensor,
        n: i64,
        sobolstate: &Tensor,
        dimension: i64,
        num_generated: i64,
    ) -> Result<&'a mut Tensor> {
        check(aten::_sobol_engine_ff_::NAME, this, n, sobolstate, dimension, num_generated)?;
        this.check_no_internal_overlap()?;
        if has_elements(this) {
            let mut sequence = Sequence::new(this, sobolstate, num_generated)?;
            (0..n).for_each(|_| sequence.advance());
            assign(this, &Tensor::from_vec(sequence.point, &[dimension])?)?;
        }
        Ok(this)
    }

    fn _sobol_engine_scramble_<'a>(
        this: &'a mut Tensor,
        ltm: &Tensor,
        dimension: i64,
    ) -> Result<&'a mut Tensor> {
        const OPERATOR: &str = aten::_sobol_engine_scramble_::NAME;
        let bits = BITS as i64;
        ensure!(
            this.sizes() == [dimension, bits] && ltm.sizes() == [dimension, bits, bits],
            Shape,
            "{OPERATOR}: direction numbers of sizes {:?} and matrices of {:?} for {dimension} dimensions, expected \
             [{dimension}, {BITS}] and [{dimension}, {BITS}, {BITS}]",
            this.sizes(),
            ltm.sizes()
        );
        check_types(OPERATOR, [this, ltm])?;
        this.check_no_internal_overlap()?;
        if has_elements(this) {
            let mut numbers = elements::<i64>(this)?;
            let matrices = elements::<i64>(ltm)?;
            let dimensions = numbers.as_chunks_mut::<BITS>().0.iter_mut();
            for (numbers, matrix) in dimensions.zip(matrices.as_chunks::<BITS>().0.chunks(BITS)) {
                // Each row as a number: its first element is the highest bit.
                let rows: Vec<i64> = matrix
                    .iter()
                    .map(|row| row.iter().fold(0, |number, bit| number << 1 | bit & 1))
                    .collect();
                for number in numbers {
                    let product = |row: &i64| i64::from((row & *number).count_ones() & 1);
                    *number = rows.iter().fold(0, |scrambled, row| scrambled << 1 | product(row));
                }
            }
            assign(this, &Tensor::from_vec(numbers, &[dimension, bits])?)?;
        }
        Ok(this)
    }
}

/// # Errors
/// A last point or direction numbers that do not belong to so many dimensions, a number of points that is negative or
/// more than there are in the sequence.
fn check(
    operator: &str,
    quasi: &Tensor,
    n: i64,
    sobolstate: &Tensor,
    dimension: i64,
    num_generated: i64,
) -> Result<()> {
    ensure!(n >= 0, Argument, "{operator}: n is {n}, expected zero or more");
    let most = 1 << BITS;
    ensure!(
        num_generated >= 0 && num_generated.saturating_add(n) < most,
        Argument,
        "{operator}: {n} points after {num_generated}, but a sequence has fewer than {most}"
    );
    ensure!(
        quasi.sizes() == [dimension] && sobolstate.sizes() == [dimension, BITS as i64],
        Shape,
        "{operator}: a point of sizes {:?} and direction numbers of {:?} for {dimension} dimensions, expected \
         [{dimension}] and [{dimension}, {BITS}]",
        quasi.sizes(),
        sobolstate.sizes()
    );
    check_types(operator, [quasi, sobolstate])
}

/// # Errors
/// Tensors of other types than `int64`, or on different devices.
fn check_types(operator: &str, [first, second]: [&Tensor; 2]) -> Result<()> {
    ensure!(
        [first, second].iter().all(|tensor| tensor.dtype() == DType::Int64),
        DType,
        "{operator}: tensors of {} and {}, expected int64",
        first.dtype(),
        second.dtype()
    );
    ensure!(
        first.device() == second.device(),
        Device,
        "{operator}: tensors on {} and {}, expected one device",
        first.device(),
        second.device()
    );
    Ok(())
}

struct Sequence {
    /// The coordinates of the last point, as multiples of `2^-30`.
    point: Vec<i64>,
    /// For each dimension, the direction numbers.
    directions: Vec<[i64; BITS]>,
    /// The number of points so far.
    count: i64,
}

impl Sequence {
    fn new(point: &Tensor, directions: &Tensor, count: i64) -> Result<Self> {
        let _lease = loops::frozen([point, directions])?;
        let directions = elements::<i64>(directions)?.as_chunks::<BITS>().0.to_vec();
        Ok(Sequence { point: elements(point)?, directions, count })
    }

    fn advance(&mut self) {
        let bit = self.count.trailing_ones() as usize % BITS; // fewer than 30 ones, by the limit on points
        for (coordinate, directions) in self.point.iter_mut().zip(&self.directions) {
            *coordinate ^= directions[bit];
        }
        self.count += 1;
    }
}
