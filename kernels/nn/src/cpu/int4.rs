//! Weights of four bits, two in a byte, and products with them.
//!
//! A weight `[N, K]` of integers from 0 to 15 is packed in panels of 64 rows, column by column: byte `j` of a column
//! has row `j` of the panel in its lower half and row `32 + j` in its upper half, so that 32 bytes unpack to two halves
//! of the column without moving any element. The last panel may have 16, 32 or 48 rows; there, byte `j` has the rows
//! `2 j` and `2 j + 1`. PyTorch packs like this on processors with AVX-512, where programs are mostly exported; on
//! others it packs in another order, and nothing in the packed tensor tells which.
#![expect(unsafe_code, reason = "threads write parts of the rows of a tensor")]

use torch_library::prelude::*;

use crate::aten;
use crate::inlined::zip;
use crate::loops::parts::{Parts, PartsMut};
use crate::loops::{self, has_elements, on_vectors, parallel};

/// The number of rows of a panel.
const PANEL: usize = 64;

/// The longest group of elements that share a scale.
const LONGEST: usize = 256;

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn _convert_weight_to_int4pack_for_cpu(this: &Tensor, _innerKTiles: i64) -> Result<Tensor> {
        const OPERATOR: &str = aten::_convert_weight_to_int4pack_for_cpu::NAME;
        let _lease = loops::frozen([this])?;
        let &[rows, columns] = this.sizes() else {
            bail!(Shape, "{OPERATOR}: a weight of sizes {:?}, expected a matrix", this.sizes())
        };
        ensure!(
            this.dtype() == DType::Int32,
            DType,
            "{OPERATOR}: a weight of {}, expected int32",
            this.dtype()
        );
        ensure!(
            rows % 16 == 0 && columns % 2 == 0,
            Shape,
            "{OPERATOR}: a weight of sizes {:?}, expected a multiple of 16 rows and an even number of columns",
            this.sizes()
        );
        let out = Tensor::empty(&[rows, columns / 2], DType::UInt8, this.device())?;
        if has_elements(&out) {
            let weight = Parts::<i32>::row_major(this, columns as usize)?;
            let packed = PartsMut::<u8>::of(&out, out.numel() as usize)?;
            // SAFETY: this is the only slice, on this thread, of bytes that `Tensor::empty` initialised.
            let packed = unsafe { packed.get_mut(0) };
            for (panel, to) in packed.chunks_mut(PANEL / 2 * columns as usize).enumerate() {
                pack(&weight, panel * PANEL, to);
            }
        }
        Ok(out)
    }

    fn _weight_int4pack_mm_for_cpu(
        this: &Tensor,
        mat2: &Tensor,
        qGroupSize: i64,
        qScaleAndZeros: &Tensor,
    ) -> Result<Tensor> {
        const OPERATOR: &str = aten::_weight_int4pack_mm_for_cpu::NAME;
        let _lease = loops::frozen([this, mat2, qScaleAndZeros])?;
        let [count, rows] = check_product(OPERATOR, this, mat2, qGroupSize, qScaleAndZeros)?;
        let dtype = this.dtype();
        let out = Tensor::empty(&[count, rows], DType::Float32, this.device())?;
        if has_elements(&out) && this.numel() > 0 {
            let columns = this.sizes()[1] as usize;
            let product = Product {
                inputs: Parts::row_major(this, columns)?,
                weight: Parts::of(mat2, mat2.numel() as usize)?,
                scales: Parts::row_major(qScaleAndZeros, 2 * rows as usize)?,
                group: qGroupSize as usize,
                out: PartsMut::of(&out, rows as usize)?,
            };
            let panels = (rows as usize).div_ceil(PANEL);
            let work = PANEL * columns * (1 + product.inputs.count());
            parallel::shares(panels, (8 * parallel::GRAIN / work).max(1), |range| {
                let mut buffers = product.buffers();
                range.for_each(|panel| product.panel(panel, &mut buffers));
            });
        }
        // Half precision is rounded once, at the end.
        if dtype == DType::Float32 { Ok(out) } else { aten::to_dtype(&out, dtype) }
    }
}

/// The sizes of a product.
///
/// # Errors
/// Operands that are not contiguous or of other dtypes, a length of groups that PyTorch does not support or that does
/// not divide the columns, sizes that do not belong together.
fn check_product(
    operator: &str,
    inputs: &Tensor,
    weight: &Tensor,
    group: i64,
    scales: &Tensor,
) -> Result<[i64; 2]> {
    let (&[count, columns], &[rows, bytes]) = (inputs.sizes(), weight.sizes()) else {
        bail!(Shape, "{operator}: sizes {:?} and {:?}, expected two matrices", inputs.sizes(), weight.sizes())
    };
    let dtype = inputs.dtype();
    ensure!(
        matches!(dtype, DType::Float32 | DType::Float16 | DType::BFloat16)
            && weight.dtype() == DType::UInt8
            && scales.dtype() == dtype,
        DType,
        "{operator}: inputs of {dtype}, a weight of {} and scales of {}, expected float32, float16 or bfloat16, uint8, \
         and the dtype of the inputs",
        weight.dtype(),
        scales.dtype()
    );
    ensure!(
        [inputs, weight].iter().all(|matrix| matrix.is_contiguous(MemoryFormat::Contiguous))
            && rows % 16 == 0
            && columns % 2 == 0
            && bytes == columns / 2,
        Shape,
        "{operator}: inputs of sizes {:?} and a weight of {:?}, expected contiguous matrices [M, K] and [N, K / 2], \
         with a multiple of 16 for N",
        inputs.sizes(),
        weight.sizes()
    );
    ensure!(
        matches!(group, 32 | 64 | 128 | 256) && columns % group == 0,
        Argument,
        "{operator}: qGroupSize is {group} for {columns} columns, expected 32, 64, 128 or 256, and a divisor"
    );
    ensure!(
        scales.sizes() == [columns / group, rows, 2],
        Shape,
        "{operator}: scales and zeros of sizes {:?}, expected [{}, {rows}, 2]",
        scales.sizes(),
        columns / group
    );
    Ok([count, rows])
}

/// Packs the rows of a panel, from `first` on.
fn pack(weight: &Parts<i32>, first: usize, to: &mut [u8]) {
    let count = PANEL.min(weight.count() - first);
    for at in 0..count / 2 {
        let [low, high] = pair(count, at).map(|row| weight.get(first + row));
        for ((low, high), column) in low.iter().zip(high).zip(to.chunks_exact_mut(count / 2)) {
            column[at] = *low as u8 | (*high as u8) << 4; // larger numbers spill over, as in PyTorch
        }
    }
}

/// The rows whose elements byte `at` of a column has, in a panel of `count` rows.
#[inline(always)]
fn pair(count: usize, at: usize) -> [usize; 2] {
    if count == PANEL { [at, PANEL / 2 + at] } else { [2 * at, 2 * at + 1] }
}

struct Product {
    /// Rows of `K` numbers.
    inputs: Parts<f32>,
    weight: Parts<u8>,
    /// For each group, a scale and a number to add for each row.
    scales: Parts<f32>,
    group: usize,
    out: PartsMut<f32>,
}

/// A column of a panel, or of results.
type Column = [f32; PANEL];

/// What a thread computes a panel in.
struct Buffers {
    /// The weights of a group, column by column.
    weights: Vec<Column>,
    /// For each input, the sums so far.
    sums: Vec<Column>,
}

impl Product {
    fn buffers(&self) -> Buffers {
        Buffers { weights: vec![[0.0; PANEL]; LONGEST], sums: vec![[0.0; PANEL]; self.inputs.count()] }
    }

    /// Computes the results for the rows of a panel.
    fn panel(&self, panel: usize, buffers: &mut Buffers) {
        let first = panel * PANEL;
        let rows = PANEL.min(self.out.len() - first);
        let bytes = &self.weight.get(0)[first / 2 * self.inputs.len()..][..rows / 2 * self.inputs.len()];
        buffers.sums.fill([0.0; PANEL]);
        for (group, bytes) in bytes.chunks_exact(rows / 2 * self.group).enumerate() {
            let scales = &self.scales.get(group).as_chunks::<2>().0[first..first + rows];
            let weights = &mut buffers.weights[..self.group];
            unpack(bytes, scales, weights);
            for (input, sums) in (0..self.inputs.count()).zip(&mut buffers.sums) {
                add(&self.inputs.get(input)[group * self.group..][..self.group], weights, sums);
            }
        }
        for (input, sums) in buffers.sums.iter().enumerate() {
            // SAFETY: row `input` has the elements `first..first + rows`, which are this panel's alone, and so this
            // thread's.
            unsafe { self.out.at(input).add(first).copy_from_nonoverlapping(sums.as_ptr(), rows) };
        }
    }
}

on_vectors! {
    /// Unpacks the columns of a panel: each element is counted from 8, scaled and moved.
    fn unpack(bytes: &[u8], scales: &[[f32; 2]], columns: &mut [Column]) {
        let (rows, mut scale, mut zero) = (scales.len(), [0.0; PANEL], [0.0; PANEL]);
        // In the order of the bytes' lower halves, then of their upper ones.
        for at in 0..rows / 2 {
            for (half, row) in pair(rows, at).into_iter().enumerate() {
                [scale[half * PANEL / 2 + at], zero[half * PANEL / 2 + at]] = scales[row];
            }
        }
        for (bytes, column) in bytes.chunks_exact(rows / 2).zip(columns) {
            let mut padded = [0; PANEL / 2];
            padded[..bytes.len()].copy_from_slice(bytes);
            let mut unpacked = [0.0; PANEL];
            for at in 0..PANEL / 2 {
                let (low, high) = (f32::from(padded[at] & 15) - 8.0, f32::from(padded[at] >> 4) - 8.0);
                unpacked[at] = low * scale[at] + zero[at];
                unpacked[PANEL / 2 + at] = high * scale[PANEL / 2 + at] + zero[PANEL / 2 + at];
            }
            if rows == PANEL {
                *column = unpacked;
            } else {
                for at in 0..rows / 2 {
                    [column[2 * at], column[2 * at + 1]] = [unpacked[at], unpacked[PANEL / 2 + at]];
                }
            }
        }
    }
}

on_vectors! {
    /// Adds the columns, each times its element of the input.
    fn add(input: &[f32], columns: &[Column], sums: &mut Column) {
        let mut total = *sums;
        for (factor, column) in zip(input, columns) {
            for at in 0..PANEL {
                total[at] += factor * column[at];
            }
        }
        *sums = total;
    }
}
