//! Products of three tensors, summed over some dimensions, by two products of two tensors.

use torch_library::prelude::*;

use crate::aten;

/// The common dimensions of the operands, by their index.
pub(super) struct Trilinear<'a> {
    pub(super) operands: [&'a Tensor; 3],
    /// For each operand, the dimensions that it does not have.
    pub(super) absent: [Vec<usize>; 3],
    pub(super) summed: Vec<usize>,
    /// The number of dimensions, at most 26.
    pub(super) dims: usize,
}

impl Trilinear<'_> {
    /// Computes all at once, with the operands in another dtype.
    pub(super) fn in_type(&self, dtype: DType) -> Result<Tensor> {
        let [a, b, c] = self.operands.map(|operand| aten::to_dtype(operand, dtype));
        let [of_a, of_b, of_c] = [0, 1, 2].map(|at| self.letters(&[&self.absent[at]]));
        let formula = format!("{of_a},{of_b},{of_c}->{}", self.letters(&[&self.summed]));
        aten::einsum(&formula, &[a?, b?, c?])
    }

    /// Computes one slice after the other, with each product rounded to the dtype of the operands, as PyTorch does. In
    /// half precision, sums have so few digits that the difference shows.
    pub(super) fn in_slices(&self, unrolled: usize) -> Result<Tensor> {
        let at_slice = [unrolled];
        let absent = |at: usize| self.letters(&[&self.absent[at], &at_slice]);
        let only_first: Vec<usize> = (0..self.dims)
            .filter(|dim| self.summed.contains(dim) && self.absent[2].contains(dim))
            .chain((0..self.dims).filter(|dim| (0..2).all(|at| self.absent[at].contains(dim))))
            .collect();
        let between = self.letters(&[&only_first, &at_slice]);
        let first = format!("{},{}->{between}", absent(0), absent(1));
        let second = format!("{between},{}->{}", absent(2), self.letters(&[&self.summed, &at_slice]));
        let slices = (0..self.slices(unrolled)).map(|k| {
            let [a, b, c] = [0, 1, 2].map(|at| match self.place(at, unrolled) {
                Some(dim) => aten::select_int(self.operands[at], dim as i64, k),
                None => Ok(self.operands[at].clone()),
            });
            aten::einsum(&second, &[aten::einsum(&first, &[a?, b?])?, c?])
        });
        let slices = slices.collect::<Result<Vec<_>>>()?;
        if !self.summed.contains(&unrolled) {
            let before = (0..unrolled).filter(|dim| !self.summed.contains(dim)).count();
            return aten::stack::call(&slices, before as i64);
        }
        let mut sum = slices[0].clone();
        for slice in &slices[1..] {
            sum = aten::add_Tensor(&sum, slice)?;
        }
        Ok(sum)
    }

    /// The size of a common dimension.
    pub(super) fn slices(&self, unrolled: usize) -> i64 {
        // Another thread may give an operand other dimensions meanwhile.
        let sizes = (0..3).filter_map(|at| self.operands[at].sizes().get(self.place(at, unrolled)?).copied());
        sizes.max().unwrap_or(1)
    }

    /// The index of a common dimension among the dimensions that an operand has.
    fn place(&self, at: usize, dim: usize) -> Option<usize> {
        let absent = &self.absent[at];
        (!absent.contains(&dim)).then(|| (0..dim).filter(|dim| !absent.contains(dim)).count())
    }

    /// A letter for each dimension that is not left out.
    fn letters(&self, left_out: &[&[usize]]) -> String {
        let dims = ('a'..='z').take(self.dims).enumerate();
        dims.filter(|(dim, _)| !left_out.iter().any(|list| list.contains(dim)))
            .map(|(_, letter)| letter)
            .collect()
    }
}
