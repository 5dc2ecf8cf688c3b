//! Histograms of points in several dimensions.

use torch_library::geometry::{numel, saturating_numel};
use torch_library::prelude::*;
use torch_library::{Element, match_dtype};

use crate::aten;
use crate::composite::collected;
use crate::loops;
use crate::loops::pointwise::{common_device, unsupported};

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn histogram_bin_ct(
        this: &Tensor,
        bins: i64,
        range: Option<&[f64]>,
        weight: Option<&Tensor>,
        density: bool,
    ) -> Result<(Tensor, Tensor)> {
        const OPERATOR: &str = aten::histogram_bin_ct::NAME;
        let (points, weight) = (aten::reshape(this, &[-1, 1])?, flat(weight)?);
        let edges = edges(OPERATOR, &points, &[bins], range)?;
        let hist = counted(OPERATOR, &points, &edges, weight.as_ref(), density)?;
        let [edges] = <[Tensor; 1]>::try_from(edges).unwrap_or_else(|_| unreachable!("of one dimension"));
        Ok((hist, edges))
    }

    fn histogram_bins_tensor(
        this: &Tensor,
        bins: &Tensor,
        weight: Option<&Tensor>,
        density: bool,
    ) -> Result<(Tensor, Tensor)> {
        const OPERATOR: &str = aten::histogram_bins_tensor::NAME;
        let (points, weight) = (aten::reshape(this, &[-1, 1])?, flat(weight)?);
        let edges = [bins.clone()];
        let hist = counted(OPERATOR, &points, &edges, weight.as_ref(), density)?;
        Ok((hist, loops::copy(bins, bins.dtype())?))
    }

    fn _histogramdd_bin_edges(
        this: &Tensor,
        bins: &[i64],
        range: Option<&[f64]>,
        weight: Option<&Tensor>,
        density: bool,
    ) -> Result<Vec<Tensor>> {
        let _ = (weight, density); // the edges do not depend on them
        edges(aten::_histogramdd_bin_edges::NAME, this, bins, range)
    }

    fn _histogramdd_from_bin_cts(
        this: &Tensor,
        bins: &[i64],
        range: Option<&[f64]>,
        weight: Option<&Tensor>,
        density: bool,
    ) -> Result<Tensor> {
        const OPERATOR: &str = aten::_histogramdd_from_bin_cts::NAME;
        counted(OPERATOR, this, &edges(OPERATOR, this, bins, range)?, weight, density)
    }

    fn _histogramdd_from_bin_tensors(
        this: &Tensor,
        bins: &[Tensor],
        weight: Option<&Tensor>,
        density: bool,
    ) -> Result<Tensor> {
        counted(aten::_histogramdd_from_bin_tensors::NAME, this, bins, weight, density)
    }
}

fn flat(weight: Option<&Tensor>) -> Result<Option<Tensor>> {
    weight.map(|weight| aten::reshape(weight, &[-1])).transpose()
}

/// The number of coordinates of a point.
fn coordinates(operator: &str, points: &Tensor, bins: usize) -> Result<usize> {
    let [_, .., count] = *points.sizes() else {
        bail!(
            Shape,
            "{operator}: sizes {:?}, expected at least two dimensions, with points in the last",
            points.sizes()
        )
    };
    ensure!(
        bins as i64 == count,
        Argument,
        "{operator}: bins in {bins} dimensions for points of {count} coordinates"
    );
    Ok(bins)
}

/// The edges of bins of equal width in each dimension: from the smallest coordinate to the largest, unless a range is
/// given.
fn edges(operator: &str, points: &Tensor, bins: &[i64], range: Option<&[f64]>) -> Result<Vec<Tensor>> {
    let count = coordinates(operator, points, bins.len())?;
    if !matches!(points.dtype(), DType::Float32 | DType::Float64) {
        return Err(unsupported(operator, points.dtype()));
    }
    let flat =
        aten::reshape(points, &[-1, count as i64]).or_else(|_| aten::reshape(points, &[0, count as i64]))?;
    let mut ends = vec![[0.0, 1.0]; count];
    match range {
        Some(range) => {
            let (pairs, rest) = range.as_chunks::<2>();
            ensure!(
                pairs.len() == count && rest.is_empty(),
                Argument,
                "{operator}: a range of {} numbers, expected two for each of {count} dimensions",
                range.len()
            );
            ends.copy_from_slice(pairs);
        }
        None if loops::has_elements(&flat) => {
            let (low, high) = (aten::amin::call(&flat, &[0], false)?, aten::amax::call(&flat, &[0], false)?);
            let wide = |x: &Tensor| loops::elements::<f64>(&loops::copy(x, DType::Float64)?);
            ends = wide(&low)?.into_iter().zip(wide(&high)?).map(|(low, high)| [low, high]).collect();
        }
        None => {}
    }
    ends.iter().zip(bins).map(|(ends, bins)| series(operator, points, *ends, *bins)).collect()
}

/// The edges of `bins` bins between two ends.
fn series(operator: &str, points: &Tensor, [low, high]: [f64; 2], bins: i64) -> Result<Tensor> {
    ensure!(bins > 0, Argument, "{operator}: {bins} bins, at least one is needed");
    ensure!(
        low.is_finite() && high.is_finite() && low <= high,
        Argument,
        "{operator}: the range from {low} to {high} cannot be divided into bins"
    );
    let [low, high] = if low == high { [low - 0.5, high + 0.5] } else { [low, high] };
    let count = bins.checked_add(1);
    let Some(count) = count else { bail!(Argument, "{operator}: {bins} bins are too many") };
    aten::linspace::with(low.into(), high.into(), count).dtype(points.dtype()).device(points.device()).call()
}

fn counted(
    operator: &'static str,
    points: &Tensor,
    edges: &[Tensor],
    weight: Option<&Tensor>,
    density: bool,
) -> Result<Tensor> {
    coordinates(operator, points, edges.len())?;
    let mut tensors = vec![points];
    tensors.extend(edges);
    tensors.extend(weight);
    common_device(operator, &tensors)?;
    let _lease = loops::all_frozen(tensors.iter().copied())?;
    if let Some(other) = tensors.iter().find(|tensor| tensor.dtype() != points.dtype()) {
        bail!(DType, "{operator}: elements of {} and {}, expected one type", points.dtype(), other.dtype());
    }
    let mut sizes = Vec::new();
    for edges in edges {
        ensure!(
            edges.dim() == 1 && edges.numel() > 1,
            Shape,
            "{operator}: edges of bins of sizes {:?}, expected a vector of two or more",
            edges.sizes()
        );
        sizes.push(edges.numel() - 1);
    }
    let batch = &points.sizes()[..points.dim() - 1];
    if let Some(weight) = weight {
        ensure!(
            weight.sizes() == batch,
            Shape,
            "{operator}: weights of sizes {:?} for points of sizes {batch:?}",
            weight.sizes()
        );
    }
    let hist = match_dtype!(points.dtype(), T: Float => {
        let mut hist = Tensor::zeros(&sizes, points.dtype(), points.device())?;
        if loops::has_elements(&hist) {
            let count = saturating_numel(batch) as usize;
            let sums = Points::<T> {
                edges: edges.iter().map(loops::elements::<T>).collect::<Result<_>>()?,
                elements: loops::elements::<T>(points)?,
                weights: weight.map(loops::elements::<T>).transpose()?,
            };
            hist.copy_from_slice(&sums.count(operator, count, numel(&sizes)?)?)?;
        }
        hist
    }, else => return Err(unsupported(operator, points.dtype())));
    if !density {
        return Ok(hist);
    }
    let mut hist = aten::div_Tensor(&hist, &aten::sum(&hist)?)?;
    for (at, edges) in edges.iter().enumerate() {
        let part = |start, end| aten::slice_Tensor::call(edges, 0, start, end, 1);
        let widths = aten::sub_Tensor(&part(Some(1), None)?, &part(None, Some(-1))?)?;
        let sizes: Vec<i64> = (0..sizes.len()).map(|other| if other == at { sizes[at] } else { 1 }).collect();
        hist = aten::div_Tensor(&hist, &aten::reshape(&widths, &sizes)?)?;
    }
    Ok(hist)
}

/// The points to count.
struct Points<T> {
    edges: Vec<Vec<T>>,
    elements: Vec<T>,
    weights: Option<Vec<T>>,
}

impl<T: Element + PartialOrd> Points<T> {
    /// The sum of the weights in each bin, or the number of points without weights.
    fn count(&self, operator: &str, points: usize, bins: i64) -> Result<Vec<T>> {
        let mut sums = collected(operator, bins, |_| 0f64)?;
        let dims = self.edges.len();
        // Points without coordinates are not counted, as in PyTorch; as they take no memory, there may be any number.
        let points = if self.elements.is_empty() { 0 } else { points };
        'points: for at in 0..points {
            let mut bin = 0;
            for (edges, x) in self.edges.iter().zip(&self.elements[at * dims..][..dims]) {
                let inside = *x >= edges[0] && *x <= edges[edges.len() - 1];
                if !inside {
                    continue 'points; // NaN is in no bin
                }
                // Only the last bin includes its right edge.
                let place = edges.partition_point(|edge| *edge <= *x).saturating_sub(1).min(edges.len() - 2);
                bin = bin * (edges.len() - 1) + place;
            }
            let weight = self.weights.as_ref().map_or(1.0, |weights| weights[at].cast::<f64>());
            sums[bin] += weight;
        }
        Ok(sums.into_iter().map(|sum| sum.cast()).collect())
    }
}
