//! The operators that these tests inspect.

use torch_library::prelude::*;

torch_library! {
    /// Operators on points of a line.
    pub mod line {
        /// The point half-way.
        #[tags(pointwise)]
        midpoint(Tensor a, Tensor b) -> Tensor;
        /// Moves points, in place.
        shift_(Tensor(a!) points, float by=1., *, bool back=False) -> Tensor(a!);
        /// The ends of points, and how many there are.
        ends(Tensor points, int[2] trim=0, ScalarType? dtype=None) -> (Tensor least, Tensor most, int count);
        /// Nobody wrote a kernel.
        nothing(Tensor points) -> Tensor;
    }
}

#[torch_impl(line, CompositeExplicitAutograd)]
fn midpoint(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    let (a, b) = (a.to_vec::<f32>()?, b.to_vec::<f32>()?);
    Ok(a.iter().zip(&b).map(|(a, b)| (a + b) / 2.0).collect::<Vec<_>>().into())
}

#[torch_impl(line, CPU)]
fn shift_(points: &mut Tensor, by: f64, back: bool) -> Result<&mut Tensor> {
    let by = if back { -by } else { by };
    let moved: Vec<_> = points.to_vec::<f32>()?.into_iter().map(|point| point + by as f32).collect();
    points.copy_from_slice(&moved)?;
    Ok(points)
}

#[torch_impl(line, CPU)]
fn ends(points: &Tensor, trim: &[i64], dtype: Option<DType>) -> Result<(Tensor, Tensor, i64)> {
    let mut points = points.to_vec::<f32>()?;
    points.sort_by(f32::total_cmp);
    let kept = &points[trim[0] as usize..points.len() - trim[1] as usize];
    let end = |point: Option<&f32>| match dtype {
        Some(DType::Float64) => Tensor::from(f64::from(*point.unwrap_or(&f32::NAN))),
        _ => Tensor::from(*point.unwrap_or(&f32::NAN)),
    };
    Ok((end(kept.first()), end(kept.last()), kept.len() as i64))
}

#[torch_impl(line, AutogradCPU)]
mod autograd {
    use torch_library::prelude::*;

    fn shift_(points: &mut Tensor, by: f64, back: bool) -> Result<&mut Tensor> {
        let _below = torch_library::guard::AutoDispatchBelowADInplaceOrView::new();
        super::line::shift_::call(points, by, back)
    }
}
