//! The two ways to say in which row each element of a sparse matrix is: by a row for each, or by where rows begin.

use torch_library::prelude::*;

use crate::aten;

#[torch_impl(aten, CompositeExplicitAutograd)]
mod kernels {
    use super::*;

    fn _convert_indices_from_coo_to_csr(this: &Tensor, size: i64, out_int32: bool) -> Result<Tensor> {
        const OPERATOR: &str = aten::_convert_indices_from_coo_to_csr::NAME;
        check(OPERATOR, this)?;
        ensure!(this.dim() == 1, Shape, "{OPERATOR}: rows of sizes {:?}, expected a vector", this.sizes());
        ensure!(size >= 0, Argument, "{OPERATOR}: {size} rows");
        let rows = counted(this, size.saturating_add(1))?;
        aten::searchsorted_Tensor::with(this, &rows).out_int32(out_int32).call()
    }

    fn _convert_indices_from_csr_to_coo(
        crow_indices: &Tensor,
        col_indices: &Tensor,
        out_int32: bool,
        transpose: bool,
    ) -> Result<Tensor> {
        const OPERATOR: &str = aten::_convert_indices_from_csr_to_coo::NAME;
        check(OPERATOR, crow_indices)?;
        check(OPERATOR, col_indices)?;
        let (Some((ends, batch)), Some((count, of_columns))) =
            (crow_indices.sizes().split_last(), col_indices.sizes().split_last())
        else {
            bail!(Shape, "{OPERATOR}: indices without dimensions")
        };
        ensure!(
            *ends > 0 && batch == of_columns,
            Shape,
            "{OPERATOR}: rows of sizes {:?} and columns of sizes {:?}, expected the same batch, and a first row",
            crow_indices.sizes(),
            col_indices.sizes()
        );
        // An element is in the row whose end is the first one after it.
        let ends = aten::contiguous(&aten::narrow(crow_indices, -1, 1, ends - 1)?)?;
        let places = aten::contiguous(&aten::expand(&counted(crow_indices, *count)?, col_indices.sizes())?)?;
        let rows = aten::searchsorted_Tensor::with(&ends, &places).right(true).call()?;
        let mut indices = Vec::new();
        for (axis, size) in batch.iter().enumerate() {
            let mut sizes = vec![1; batch.len() + 1];
            sizes[axis] = *size;
            let index = aten::view(&counted(&rows, *size)?, &sizes)?;
            indices.push(aten::expand(&index, col_indices.sizes())?);
        }
        let columns = col_indices.clone();
        indices.extend(if transpose { [columns, rows] } else { [rows, columns] });
        let dtype = if out_int32 { DType::Int32 } else { DType::Int64 };
        let indices = indices.iter().map(|index| {
            let index = aten::to_dtype(index, dtype)?;
            aten::reshape(&index, &[index.numel()])
        });
        aten::stack(&indices.collect::<Result<Vec<_>>>()?)
    }
}

fn check(operator: &str, indices: &Tensor) -> Result<()> {
    let dtype = indices.dtype();
    ensure!(dtype.is_integer(), DType, "{operator}: indices of {dtype}, expected integers");
    Ok(())
}

/// The numbers from 0 up to `count`, in the type of `like` and on its device.
fn counted(like: &Tensor, count: i64) -> Result<Tensor> {
    aten::arange::with(count.into()).dtype(like.dtype()).device(like.device()).call()
}
