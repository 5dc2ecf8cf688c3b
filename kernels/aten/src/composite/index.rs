//! Concatenation and indexing, as compositions of other operators.

use torch_library::geometry::wrap_dim;
use torch_library::prelude::*;

use crate::aten;

mod bag;

#[torch_impl(aten, CompositeImplicitAutograd)]
fn _rowwise_prune(
    weight: &Tensor,
    mask: &Tensor,
    compressed_indices_dtype: DType,
) -> Result<(Tensor, Tensor)> {
    const OPERATOR: &str = aten::_rowwise_prune::NAME;
    ensure!(
        weight.dim() == 2 && mask.sizes() == [weight.sizes()[0]] && mask.dtype() == DType::Bool,
        Shape,
        "{OPERATOR}: a weight of sizes {:?} and a mask of {} and {:?}, expected a matrix and a bool for each row",
        weight.sizes(),
        mask.dtype(),
        mask.sizes()
    );
    ensure!(
        matches!(compressed_indices_dtype, DType::Int32 | DType::Int64),
        DType,
        "{OPERATOR}: indices of {compressed_indices_dtype}, expected int32 or int64"
    );
    let rows = aten::index_Tensor(weight, &[Some(mask.clone())])?;
    let number = aten::sub_Scalar(&aten::cumsum(mask, 0)?, 1.into())?;
    let indices = aten::masked_fill_Scalar(&number, &aten::logical_not(mask)?, (-1).into())?;
    Ok((rows, aten::to_dtype(&indices, compressed_indices_dtype)?))
}

/// `embedding_renorm`: rows of a matrix are scaled down to a maximal norm.
#[torch_impl(aten, CompositeExplicitAutograd, FuncTorchBatchedDecomposition)]
fn embedding_renorm(this: &Tensor, indices: &Tensor, max_norm: f64, norm_type: f64) -> Result<Tensor> {
    let rows = Rows::bounded(aten::embedding_renorm::NAME, this, indices, max_norm, norm_type)?;
    aten::index_put(this, &rows.places, &rows.values)
}

#[torch_impl(aten, CompositeExplicitAutograd)]
fn embedding_renorm_<'a>(
    this: &'a mut Tensor,
    indices: &Tensor,
    max_norm: f64,
    norm_type: f64,
) -> Result<&'a mut Tensor> {
    let rows = Rows::bounded(aten::embedding_renorm_::NAME, this, indices, max_norm, norm_type)?;
    aten::index_put_(this, &rows.places, &rows.values)
}

/// Rows of a matrix, and their indices.
struct Rows {
    places: [Option<Tensor>; 1],
    values: Tensor,
}

impl Rows {
    /// The rows at the given indices, with longer ones scaled down. A row whose index occurs twice gets the same values
    /// twice.
    fn bounded(
        operator: &str,
        this: &Tensor,
        indices: &Tensor,
        max_norm: f64,
        norm_type: f64,
    ) -> Result<Self> {
        ensure!(this.dim() == 2, Shape, "{operator}: sizes {:?}, expected a matrix", this.sizes());
        ensure!(
            this.dtype().is_differentiable() && matches!(indices.dtype(), DType::Int64 | DType::Int32),
            DType,
            "{operator}: a matrix of {} and indices of {}, expected floating-point or complex numbers, and int64 or int32",
            this.dtype(),
            indices.dtype()
        );
        let places = [Some(aten::reshape(indices, &[-1])?)];
        let rows = aten::index_Tensor(this, &places).map_err(|error| error.context(operator))?;
        let values = aten::renorm(&rows, norm_type.into(), 0, max_norm.into());
        Ok(Rows { places, values: values.map_err(|error| error.context(operator))? })
    }
}

#[torch_impl(aten, CompositeExplicitAutograd)]
mod kernels {
    use super::*;

    fn stack(tensors: &[Tensor], dim: i64) -> Result<Tensor> {
        let Some(first) = tensors.first() else {
            bail!(Argument, "{}: there are no tensors to join", aten::stack::NAME)
        };
        if let Some(other) = tensors.iter().find(|tensor| tensor.sizes() != first.sizes()) {
            bail!(Shape, "{}: sizes {:?} and {:?} differ", aten::stack::NAME, first.sizes(), other.sizes());
        }
        let dim = wrap_dim(dim, first.dim() + 1).map_err(|error| error.context(aten::stack::NAME))?;
        if dim == first.dim() {
            let columns: Result<Vec<_>> = tensors.iter().map(|tensor| aten::unsqueeze(tensor, -1)).collect();
            return aten::cat::call(&columns?, dim as i64);
        }
        // Concatenates along an existing dimension, which is then split.
        let mut sizes = first.sizes().to_vec();
        sizes.insert(dim, tensors.len() as i64);
        aten::view(&aten::cat::call(tensors, dim as i64)?, &sizes)
    }

    fn embedding(
        weight: &Tensor,
        indices: &Tensor,
        _padding_idx: i64,
        _scale_grad_by_freq: bool,
        _sparse: bool,
    ) -> Result<Tensor> {
        ensure!(
            weight.dim() == 2,
            Shape,
            "{}: the weight has sizes {:?}, expected a matrix",
            aten::embedding::NAME,
            weight.sizes()
        );
        if indices.dim() == 1 {
            return aten::index_select(weight, 0, indices);
        }
        let rows = aten::index_select(weight, 0, &aten::reshape(indices, &[indices.numel()])?)?;
        aten::view(&rows, &[indices.sizes(), &weight.sizes()[1..]].concat())
    }
}

#[torch_impl(aten, CompositeImplicitAutograd)]
fn _stack(tensors: &[Tensor], dim: i64) -> Result<Tensor> {
    aten::stack::call(tensors, dim)
}
