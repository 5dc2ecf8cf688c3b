//! Histograms in several dimensions, with the edges of their bins.

use torch_library::prelude::*;

use crate::aten;

#[torch_impl(aten, CompositeImplicitAutograd)]
mod implicit {
    use super::*;

    fn histogramdd(
        this: &Tensor,
        bins: &[i64],
        range: Option<&[f64]>,
        weight: Option<&Tensor>,
        density: bool,
    ) -> Result<(Tensor, Vec<Tensor>)> {
        let edges = aten::_histogramdd_bin_edges::call(this, bins, range, weight, density)?;
        let hist = aten::_histogramdd_from_bin_cts::call(this, bins, range, weight, density)?;
        Ok((hist, edges))
    }

    fn histogramdd_int_bins(
        this: &Tensor,
        bins: i64,
        range: Option<&[f64]>,
        weight: Option<&Tensor>,
        density: bool,
    ) -> Result<(Tensor, Vec<Tensor>)> {
        let Some(count) = this.sizes().last() else {
            bail!(Shape, "{}: a tensor without dimensions has no points", aten::histogramdd_int_bins::NAME)
        };
        let count = torch_library::limits::check_tensors(*count)?;
        aten::histogramdd::call(this, &vec![bins; count], range, weight, density)
    }

    fn histogramdd_TensorList_bins(
        this: &Tensor,
        bins: &[Tensor],
        range: Option<&[f64]>,
        weight: Option<&Tensor>,
        density: bool,
    ) -> Result<(Tensor, Vec<Tensor>)> {
        let _ = range; // the bins give their own edges
        let hist = aten::_histogramdd_from_bin_tensors::call(this, bins, weight, density)?;
        Ok((hist, bins.to_vec()))
    }
}
