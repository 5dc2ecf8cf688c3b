//! What is the same for all chunks: the layer in the type of its sums, and the targets with the weight of each row.

use torch_library::prelude::*;

use super::chunk::{Chunk, Target};
use crate::aten;

/// A linear layer with targets for its logits.
pub(super) struct Problem {
    pub(super) input: Tensor,
    /// `[C, F]` in the type of the sums, as everything below.
    pub(super) linear_weight: Tensor,
    linear_bias: Option<Tensor>,
    target: Target,
    /// The weight of each row, `[N]`.
    pub(super) mass: Tensor,
    /// The type of sums.
    pub(super) acc_dtype: DType,
    chunk_size: i64,
}

/// The arguments that both operators have.
pub(super) struct Arguments<'a> {
    pub(super) operator: &'static str,
    pub(super) input: &'a Tensor,
    pub(super) linear_weight: &'a Tensor,
    pub(super) target: &'a Tensor,
    pub(super) linear_bias: Option<&'a Tensor>,
    pub(super) weight: Option<&'a Tensor>,
    pub(super) ignore_index: i64,
    pub(super) batch_chunk_size: i64,
    pub(super) acc_dtype: DType,
}

impl Problem {
    pub(super) fn new(of: &Arguments<'_>) -> Result<Self> {
        of.check()?;
        let wide = |tensor: &Tensor| aten::to_dtype(tensor, of.acc_dtype);
        let weight = of.weight.map(wide).transpose()?;
        let (target, mass) = if of.target.dtype().is_floating_point() {
            let target = wide(of.target)?;
            let target = weight.map_or(Ok(target.clone()), |weight| aten::mul_Tensor(&target, &weight))?;
            let mass = aten::sum_dim_IntList(&target, Some(&[1]))?;
            (Target::Probabilities(target), mass)
        } else {
            let is_ignored = aten::eq_Scalar(of.target, of.ignore_index.into())?;
            let classes = aten::masked_fill_Scalar(of.target, &is_ignored, 0.into())?;
            let mass = match weight {
                Some(weight) => aten::index_select(&weight, 0, &classes)?,
                None => aten::to_dtype(&aten::ones_like(of.target)?, of.acc_dtype)?,
            };
            (Target::Classes(classes), aten::masked_fill_Scalar(&mass, &is_ignored, 0.into())?)
        };
        Ok(Problem {
            input: of.input.clone(),
            linear_weight: wide(of.linear_weight)?,
            linear_bias: of.linear_bias.map(wide).transpose()?,
            target,
            mass,
            acc_dtype: of.acc_dtype,
            chunk_size: of.batch_chunk_size,
        })
    }

    /// What the mean divides by: the weight of all rows, or for probabilities the number of rows. NaN instead of zero.
    pub(super) fn divisor(&self) -> Result<Tensor> {
        let divisor = match &self.target {
            Target::Probabilities(_) => aten::sum(&aten::ones_like(&self.mass)?)?,
            Target::Classes(_) => aten::sum(&self.mass)?,
        };
        aten::masked_fill_Scalar(&divisor, &aten::eq_Scalar(&divisor, 0.into())?, f64::NAN.into())
    }

    /// The chunks, in order, each with the number of its first row.
    pub(super) fn chunks(&self) -> impl Iterator<Item = Result<(i64, Chunk)>> {
        let rows = self.mass.numel();
        let starts = (0..rows).step_by(self.chunk_size as usize);
        starts.map(move |start| Ok((start, self.chunk(start, self.chunk_size.min(rows - start))?)))
    }

    fn chunk(&self, start: i64, rows: i64) -> Result<Chunk> {
        let part = |tensor: &Tensor| aten::narrow(tensor, 0, start, rows);
        let input = aten::to_dtype(&part(&self.input)?, self.acc_dtype)?;
        let logits = aten::linear::call(&input, &self.linear_weight, self.linear_bias.as_ref())?;
        let log_probabilities = aten::_log_softmax(&logits, 1, false)?;
        let target = match &self.target {
            Target::Probabilities(all) => Target::Probabilities(part(all)?),
            Target::Classes(all) => Target::Classes(aten::unsqueeze(&part(all)?, 1)?),
        };
        Ok(Chunk { input, log_probabilities, target, mass: part(&self.mass)? })
    }
}

impl Arguments<'_> {
    fn check(&self) -> Result<()> {
        let Arguments { operator, input, linear_weight, target, linear_bias, acc_dtype, .. } = *self;
        let (&[rows, features], &[classes, columns]) = (input.sizes(), linear_weight.sizes()) else {
            bail!(
                Shape,
                "{operator}: input of sizes {:?} and linear_weight of {:?}, expected two matrices",
                input.sizes(),
                linear_weight.sizes()
            )
        };
        ensure!(
            features == columns,
            Shape,
            "{operator}: rows of {features} elements for a linear_weight of sizes {:?}",
            linear_weight.sizes()
        );
        let dtype = input.dtype();
        ensure!(
            dtype == acc_dtype
                || (matches!(dtype, DType::Float16 | DType::BFloat16) && acc_dtype == DType::Float32),
            DType,
            "{operator}: input of {dtype} with acc_dtype {acc_dtype}, expected {}",
            if dtype.size() == 2 { DType::Float32 } else { dtype }
        );
        ensure!(
            linear_bias.is_none_or(|bias| bias.sizes() == [classes]),
            Shape,
            "{operator}: linear_bias has the sizes {:?}, expected [{classes}]",
            linear_bias.map(Tensor::sizes).unwrap_or_default()
        );
        let (sizes, expected): (&[i64], _) = match target.dtype().is_floating_point() {
            true => (&[rows, classes], dtype),
            false => (&[rows], DType::Int64),
        };
        ensure!(
            target.dtype() == expected && target.sizes() == sizes,
            Argument,
            "{operator}: target is {}{:?}, expected classes, int64[{rows}], or probabilities, {dtype}[{rows}, {classes}]",
            target.dtype(),
            target.sizes()
        );
        ensure!(
            self.batch_chunk_size > 0,
            Argument,
            "{operator}: batch_chunk_size is {}, must be positive",
            self.batch_chunk_size
        );
        Ok(())
    }
}
