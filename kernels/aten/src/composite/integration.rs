//! Numerical integrals and gradients of samples, by sums and differences.

use torch_library::geometry::wrap_dim;
use torch_library::prelude::*;

use crate::aten;

#[torch_impl(aten, CompositeImplicitAutograd)]
mod integrals {
    use super::*;

    fn trapezoid_dx(y: &Tensor, dx: Scalar, dim: i64) -> Result<Tensor> {
        const OPERATOR: &str = aten::trapezoid_dx::NAME;
        match samples(OPERATOR, y, dim)? {
            0 => nothing(y, dim),
            _ => {
                check(OPERATOR, y, None, Some(dx))?;
                let ends = aten::add_Tensor(&aten::select_int(y, dim, 0)?, &aten::select_int(y, dim, -1)?)?;
                let half = aten::mul_Scalar(&ends, 0.5.into())?;
                let sum = aten::sum_dim_IntList(y, Some(&[dim]))?;
                aten::mul_Scalar(&aten::sub_Tensor(&sum, &half)?, Scalar::Float(dx.to()?))
            }
        }
    }

    fn trapezoid_x(y: &Tensor, x: &Tensor, dim: i64) -> Result<Tensor> {
        const OPERATOR: &str = aten::trapezoid_x::NAME;
        match samples(OPERATOR, y, dim)? {
            0 => nothing(y, dim),
            _ => {
                check(OPERATOR, y, Some(x), None)?;
                let dim = wrap_dim(dim, y.dim())? as i64; // areas have more dimensions if the points have
                let areas = aten::mul_Tensor(&sums_of_neighbors(y, dim)?, &distances(OPERATOR, y, x, dim)?)?;
                aten::div_Scalar(&aten::sum_dim_IntList(&areas, Some(&[dim]))?, 2.into())
            }
        }
    }

    fn trapz_dx(y: &Tensor, dx: f64, dim: i64) -> Result<Tensor> {
        aten::trapezoid_dx::call(y, dx.into(), dim)
    }

    fn trapz_x(y: &Tensor, x: &Tensor, dim: i64) -> Result<Tensor> {
        aten::trapezoid_x::call(y, x, dim)
    }

    fn cumulative_trapezoid_dx(y: &Tensor, dx: Scalar, dim: i64) -> Result<Tensor> {
        const OPERATOR: &str = aten::cumulative_trapezoid_dx::NAME;
        check(OPERATOR, y, None, Some(dx))?;
        samples(OPERATOR, y, dim)?;
        let half = dx.to::<f64>()? / 2.0;
        aten::cumsum(&aten::mul_Scalar(&sums_of_neighbors(y, dim)?, half.into())?, dim)
    }

    fn cumulative_trapezoid_x(y: &Tensor, x: &Tensor, dim: i64) -> Result<Tensor> {
        const OPERATOR: &str = aten::cumulative_trapezoid_x::NAME;
        check(OPERATOR, y, Some(x), None)?;
        samples(OPERATOR, y, dim)?;
        let dim = wrap_dim(dim, y.dim())? as i64; // areas have more dimensions if the points have
        let areas = aten::mul_Tensor(&sums_of_neighbors(y, dim)?, &distances(OPERATOR, y, x, dim)?)?;
        aten::div_Scalar(&aten::cumsum(&areas, dim)?, 2.into())
    }
}

fn check(operator: &str, y: &Tensor, x: Option<&Tensor>, dx: Option<Scalar>) -> Result<()> {
    let is_bool = y.dtype() == DType::Bool || x.is_some_and(|x| x.dtype() == DType::Bool);
    ensure!(!is_bool, DType, "{operator}: expected numbers, got bool");
    let is_real = !matches!(dx, Some(Scalar::Complex(_) | Scalar::Bool(_)));
    ensure!(is_real, Argument, "{operator}: dx is {dx:?}, expected a real number");
    Ok(())
}

/// The number of samples along a dimension.
fn samples(operator: &str, y: &Tensor, dim: i64) -> Result<i64> {
    ensure!(y.dim() > 0, Shape, "{operator}: a tensor without dimensions has no samples along one");
    Ok(y.sizes()[wrap_dim(dim, y.dim()).map_err(|error| error.context(operator))?])
}

/// The integrals over no samples: zeros.
fn nothing(y: &Tensor, dim: i64) -> Result<Tensor> {
    let mut sizes = y.sizes().to_vec();
    sizes.remove(wrap_dim(dim, y.dim())?);
    aten::new_zeros(y, &sizes)
}

/// The slices without the last and without the first sample along a dimension.
fn neighbors(x: &Tensor, dim: i64) -> Result<[Tensor; 2]> {
    let slice = |start, end| aten::slice_Tensor::call(x, dim, start, end, 1);
    Ok([slice(None, Some(-1))?, slice(Some(1), None)?])
}

fn sums_of_neighbors(y: &Tensor, dim: i64) -> Result<Tensor> {
    let [left, right] = neighbors(y, dim)?;
    aten::add_Tensor(&left, &right)
}

/// The distances between neighbouring points, with as many dimensions as the samples.
fn distances(operator: &str, y: &Tensor, x: &Tensor, dim: i64) -> Result<Tensor> {
    let axis = wrap_dim(dim, y.dim())?;
    let x = match x.dim() {
        1 => {
            ensure!(
                x.numel() == y.sizes()[axis],
                Shape,
                "{operator}: {} sample points for {} samples",
                x.numel(),
                y.sizes()[axis]
            );
            let mut sizes = vec![1; y.dim()];
            sizes[axis] = x.numel();
            aten::reshape(x, &sizes)?
        }
        ndim if ndim < y.dim() => {
            let sizes = [&vec![1; y.dim() - ndim], x.sizes()].concat();
            aten::reshape(x, &sizes)?
        }
        _ => x.clone(),
    };
    let [left, right] = neighbors(&x, axis as i64)?;
    aten::sub_Tensor(&right, &left)
}

#[torch_impl(aten, CompositeImplicitAutograd)]
mod slopes {
    use super::*;

    fn gradient_scalarint(
        this: &Tensor,
        spacing: Option<Scalar>,
        dim: Option<i64>,
        edge_order: i64,
    ) -> Result<Vec<Tensor>> {
        let dims = along(aten::gradient_scalarint::NAME, this, dim, None)?;
        at_distances(aten::gradient_scalarint::NAME, this, |_| spacing.unwrap_or(1.into()), &dims, edge_order)
    }

    fn gradient_scalararray(
        this: &Tensor,
        spacing: Scalar,
        dim: &[i64],
        edge_order: i64,
    ) -> Result<Vec<Tensor>> {
        at_distances(aten::gradient_scalararray::NAME, this, |_| spacing, dim, edge_order)
    }

    fn gradient_array(this: &Tensor, dim: &[i64], edge_order: i64) -> Result<Vec<Tensor>> {
        at_distances(aten::gradient_array::NAME, this, |_| 1.into(), dim, edge_order)
    }

    fn gradient_scalarrayint(
        this: &Tensor,
        spacing: &[Scalar],
        dim: Option<i64>,
        edge_order: i64,
    ) -> Result<Vec<Tensor>> {
        const OPERATOR: &str = aten::gradient_scalarrayint::NAME;
        let dims = along(OPERATOR, this, dim, Some(spacing.len()))?;
        at_distances(OPERATOR, this, |at| spacing[at], &dims, edge_order)
    }

    fn gradient_scalarrayarray(
        this: &Tensor,
        spacing: &[Scalar],
        dim: &[i64],
        edge_order: i64,
    ) -> Result<Vec<Tensor>> {
        const OPERATOR: &str = aten::gradient_scalarrayarray::NAME;
        check_count(OPERATOR, spacing.len(), dim.len())?;
        at_distances(OPERATOR, this, |at| spacing[at], dim, edge_order)
    }

    fn gradient_tensorarrayint(
        this: &Tensor,
        spacing: &[Tensor],
        dim: Option<i64>,
        edge_order: i64,
    ) -> Result<Vec<Tensor>> {
        const OPERATOR: &str = aten::gradient_tensorarrayint::NAME;
        let dims = along(OPERATOR, this, dim, Some(spacing.len()))?;
        at_places(OPERATOR, this, spacing, &dims, edge_order)
    }

    fn gradient_tensorarray(
        this: &Tensor,
        spacing: &[Tensor],
        dim: &[i64],
        edge_order: i64,
    ) -> Result<Vec<Tensor>> {
        const OPERATOR: &str = aten::gradient_tensorarray::NAME;
        check_count(OPERATOR, spacing.len(), dim.len())?;
        at_places(OPERATOR, this, spacing, dim, edge_order)
    }
}

/// The given dimension, or all; checks that there is a spacing or a vector of coordinates for each.
fn along(operator: &str, this: &Tensor, dim: Option<i64>, count: Option<usize>) -> Result<Vec<i64>> {
    let dims = dim.map_or_else(|| (0..this.dim() as i64).collect(), |dim| vec![dim]);
    check_count(operator, count.unwrap_or(dims.len()), dims.len())?;
    Ok(dims)
}

fn check_count(operator: &str, spacings: usize, dims: usize) -> Result<()> {
    ensure!(spacings == dims, Argument, "{operator}: {spacings} spacings for {dims} dimensions");
    Ok(())
}

fn check_samples(operator: &str, this: &Tensor, dims: &[i64], edge_order: i64) -> Result<Vec<usize>> {
    ensure!(
        this.dtype() != DType::UInt8,
        DType,
        "{operator}: differences of uint8 cannot be negative, convert to another type"
    );
    ensure!(matches!(edge_order, 1 | 2), Argument, "{operator}: edge_order is {edge_order}, expected 1 or 2");
    let mut wrapped = Vec::new();
    for dim in dims {
        let axis = wrap_dim(*dim, this.dim()).map_err(|error| error.context(operator))?;
        ensure!(!wrapped.contains(&axis), Argument, "{operator}: dimension {dim} is named twice in {dims:?}");
        let size = this.sizes().get(axis).copied().unwrap_or(1);
        ensure!(
            size > edge_order,
            Shape,
            "{operator}: {size} samples along dimension {dim}, edge_order {edge_order} needs at least {}",
            edge_order + 1
        );
        wrapped.push(axis);
    }
    Ok(wrapped)
}

/// The sample at an index along a dimension, as a slice; a negative index counts from the end.
fn sample(x: &Tensor, dim: i64, at: i64) -> Result<Tensor> {
    aten::slice_Tensor::call(x, dim, Some(at), Some(at + 1).filter(|end| *end != 0), 1)
}

/// The weighted sum of samples.
fn weighted(terms: &[(Tensor, Scalar)]) -> Result<Tensor> {
    let mut terms = terms.iter().map(|(x, weight)| aten::mul_Scalar(x, *weight));
    let Some(first) = terms.next() else { bail!(Internal, "a difference has terms") };
    terms.try_fold(first?, |sum, term| aten::add_Tensor(&sum, &term?))
}

fn at_distances(
    operator: &str,
    this: &Tensor,
    distance: impl Fn(usize) -> Scalar,
    dims: &[i64],
    edge_order: i64,
) -> Result<Vec<Tensor>> {
    let axes = check_samples(operator, this, dims, edge_order)?;
    let slope = |(at, axis): (usize, &usize)| {
        let (dim, distance) = (*axis as i64, distance(at));
        let part = |start, end| aten::slice_Tensor::call(this, dim, start, end, 1);
        let difference = aten::sub_Tensor(&part(Some(2), None)?, &part(None, Some(-2))?)?;
        let center = aten::div_Scalar(&aten::div_Scalar(&difference, distance)?, 2.into())?;
        let (first, last) = match edge_order {
            1 => (
                aten::sub_Tensor(&sample(this, dim, 1)?, &sample(this, dim, 0)?)?,
                aten::sub_Tensor(&sample(this, dim, -1)?, &sample(this, dim, -2)?)?,
            ),
            _ => {
                let terms = |places: [i64; 3], weights: [f64; 3]| -> Result<Tensor> {
                    let terms = places.into_iter().zip(weights);
                    let terms = terms.map(|(at, weight)| Ok((sample(this, dim, at)?, weight.into())));
                    weighted(&terms.collect::<Result<Vec<_>>>()?)
                };
                (terms([0, 1, 2], [-1.5, 2.0, -0.5])?, terms([-1, -2, -3], [1.5, -2.0, 0.5])?)
            }
        };
        let ends = [first, last].map(|end| aten::div_Scalar(&end, distance));
        let [first, last] = ends;
        aten::cat::with(&[first?, center, last?]).dim(dim).call()
    };
    axes.iter().enumerate().map(slope).collect()
}

fn at_places(
    operator: &str,
    this: &Tensor,
    places: &[Tensor],
    dims: &[i64],
    edge_order: i64,
) -> Result<Vec<Tensor>> {
    let axes = check_samples(operator, this, dims, edge_order)?;
    let slope = |(axis, places): (&usize, &Tensor)| {
        // Three coordinates have two distances, which broadcast: the first is used for all neighbours before a sample,
        // the second for all neighbours after it.
        ensure!(
            places.dim() == 1 && (places.numel() == this.sizes()[*axis] || places.numel() == 3),
            Shape,
            "{operator}: sample points of sizes {:?}, expected a vector of {}",
            places.sizes(),
            this.sizes()[*axis]
        );
        let dim = *axis as i64;
        let mut sizes = vec![1; this.dim()];
        let [left, right] = neighbors(places, 0)?;
        let distances = aten::sub_Tensor(&right, &left)?;
        // At the edges, the distance has no dimensions, so that it does not promote the dtype of the samples.
        let distance = |at: i64| aten::select_int(&distances, 0, at);
        sizes[*axis] = (places.numel() - 2).max(0);
        let [before, after] = neighbors(&distances, 0)?;
        let [before, after] = [aten::reshape(&before, &sizes)?, aten::reshape(&after, &sizes)?];
        let part = |start, end| aten::slice_Tensor::call(this, dim, start, end, 1);
        let neighborhood = [part(None, Some(-2))?, part(Some(1), Some(-1))?, part(Some(2), None)?];
        let center = of_three(&neighborhood, [&before, &after], Place::Middle)?;
        let end = |places: [i64; 3], of_distances: [i64; 2], place: Place| {
            if edge_order == 1 {
                let [from, to] =
                    if place == Place::First { [places[0], places[1]] } else { [places[1], places[2]] };
                let at = if place == Place::First { of_distances[0] } else { of_distances[1] };
                let difference = aten::sub_Tensor(&sample(this, dim, to)?, &sample(this, dim, from)?)?;
                return aten::div_Tensor(&difference, &distance(at)?);
            }
            let samples =
                [sample(this, dim, places[0])?, sample(this, dim, places[1])?, sample(this, dim, places[2])?];
            let [before, after] = of_distances.map(distance);
            of_three(&samples, [&before?, &after?], place)
        };
        let first = end([0, 1, 2], [0, 1], Place::First)?;
        let last = end([-3, -2, -1], [-2, -1], Place::Last)?;
        aten::cat::with(&[first, center, last]).dim(dim).call()
    };
    axes.iter().zip(places).map(slope).collect()
}

/// At which of three neighbouring samples a slope is computed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    First,
    Middle,
    Last,
}

/// The slope of the parabola through three samples at one of them, as a weighted sum of the samples; the weights depend
/// on the distances alone.
fn of_three(samples: &[Tensor; 3], [before, after]: [&Tensor; 2], place: Place) -> Result<Tensor> {
    let (whole, product) = (aten::add_Tensor(before, after)?, aten::mul_Tensor(before, after)?);
    let over = |x: &Tensor, distance: &Tensor| aten::div_Tensor(x, &aten::mul_Tensor(distance, &whole)?);
    let twice = |x: &Tensor, other: &Tensor| aten::add_Tensor(&aten::mul_Scalar(x, 2.into())?, other);
    let weights = match place {
        Place::First => [
            aten::neg(&over(&twice(before, after)?, before)?)?,
            aten::div_Tensor(&whole, &product)?,
            aten::neg(&over(before, after)?)?,
        ],
        Place::Middle => [
            aten::neg(&over(after, before)?)?,
            aten::div_Tensor(&aten::sub_Tensor(after, before)?, &product)?,
            over(before, after)?,
        ],
        Place::Last => [
            over(after, before)?,
            aten::neg(&aten::div_Tensor(&whole, &product)?)?,
            over(&twice(after, before)?, after)?,
        ],
    };
    let [first, second, third] = [0, 1, 2].map(|at| aten::mul_Tensor(&samples[at], &weights[at]));
    aten::add_Tensor(&aten::add_Tensor(&first?, &second?)?, &third?)
}
