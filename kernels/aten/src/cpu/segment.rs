//! Kernels of reductions of segments along a dimension.

use torch_library::Element;
use torch_library::geometry::{saturating_numel, wrap_dim};
use torch_library::prelude::*;

use crate::aten;
use crate::composite::collected;
use crate::loops::pointwise::{common_device, unsupported};
use crate::loops::{self, match_opmath};
use crate::number::{Number, larger, smaller};

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn segment_reduce(
        data: &Tensor,
        reduce: &str,
        lengths: Option<&Tensor>,
        indices: Option<&Tensor>,
        offsets: Option<&Tensor>,
        axis: i64,
        r#unsafe: bool,
        initial: Option<Scalar>,
    ) -> Result<Tensor> {
        const OPERATOR: &str = aten::segment_reduce::NAME;
        ensure!(
            indices.is_none(),
            Argument,
            "{OPERATOR}: indices of segments are not supported, give lengths or offsets"
        );
        let kind = Reduce::named(OPERATOR, reduce)?;
        let segments = Segments::new(OPERATOR, data, lengths, offsets, axis)?;
        segments.check_all(!r#unsafe && offsets.is_none())?;
        let initial = initial.map(|initial| initial.to::<f64>()).transpose()?;
        let out = Tensor::empty(&segments.sizes(), data.dtype(), data.device())?;
        match_opmath!(data.dtype(), T: Float => {
            if loops::has_elements(&out) {
                let elements = loops::elements::<T>(&loops::copy(data, T::DTYPE)?)?;
                let mut values = collected(OPERATOR, out.numel(), |_| T::ZERO)?;
                segments.each(|segment| {
                    values[segment.at] = kind.of(segment.places().map(|at| elements[at]), initial);
                });
                loops::assign(&out, &Tensor::from_vec(values, out.sizes())?)?;
            }
        }, else => return Err(unsupported(OPERATOR, data.dtype())));
        Ok(out)
    }

    fn _segment_reduce_backward(
        grad: &Tensor,
        output: &Tensor,
        data: &Tensor,
        reduce: &str,
        lengths: Option<&Tensor>,
        offsets: Option<&Tensor>,
        axis: i64,
        initial: Option<Scalar>,
    ) -> Result<Tensor> {
        const OPERATOR: &str = aten::_segment_reduce_backward::NAME;
        let kind = Reduce::named(OPERATOR, reduce)?;
        let segments = Segments::new(OPERATOR, data, lengths, offsets, axis)?;
        segments.check_all(false)?;
        let sizes = segments.sizes();
        ensure!(
            grad.sizes() == sizes && output.sizes() == sizes,
            Shape,
            "{OPERATOR}: gradients of sizes {:?} and results of sizes {:?}, expected {sizes:?}",
            grad.sizes(),
            output.sizes()
        );
        ensure!(
            grad.dtype() == data.dtype() && output.dtype() == data.dtype(),
            DType,
            "{OPERATOR}: gradients of {} and results of {} for elements of {}, expected one type",
            grad.dtype(),
            output.dtype(),
            data.dtype()
        );
        common_device(OPERATOR, &[grad, output, data])?;
        let initial = initial.map(|initial| initial.to::<f64>()).transpose()?;
        let out = Tensor::zeros(data.sizes(), data.dtype(), data.device())?;
        match_opmath!(data.dtype(), T: Float => {
            if loops::has_elements(&out) {
                let wide = |x: &Tensor| loops::elements::<T>(&loops::copy(x, T::DTYPE)?);
                let (grads, results, elements) = (wide(grad)?, wide(output)?, wide(data)?);
                let mut values = collected(OPERATOR, elements.len() as i64, |_| T::ZERO)?;
                segments.each(|segment| {
                    let [grad, result] = [grads[segment.at], results[segment.at]];
                    kind.gradients(&segment, [grad, result], &elements, initial, &mut values);
                });
                loops::assign(&out, &Tensor::from_vec(values, data.sizes())?)?;
            }
        }, else => return Err(unsupported(OPERATOR, data.dtype())));
        Ok(out)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reduce {
    Sum,
    Mean,
    Product,
    Largest,
    Smallest,
}

impl Reduce {
    fn named(operator: &str, name: &str) -> Result<Self> {
        Ok(match name {
            "sum" => Reduce::Sum,
            "mean" => Reduce::Mean,
            "prod" => Reduce::Product,
            "max" | "amax" => Reduce::Largest,
            "min" | "amin" => Reduce::Smallest,
            _ => bail!(
                Argument,
                "{operator}: there is no reduction {name:?}, expected sum, mean, prod, max or min"
            ),
        })
    }

    /// The value that every segment starts from, which is also the result of an empty one.
    fn start<T: num_traits::Float + Element>(self, initial: Option<f64>) -> T {
        initial
            .unwrap_or(match self {
                Reduce::Sum | Reduce::Mean => 0.0,
                Reduce::Product => 1.0,
                Reduce::Largest => f64::NEG_INFINITY,
                Reduce::Smallest => f64::INFINITY,
            })
            .cast()
    }

    fn of<T: num_traits::Float + Number>(self, elements: impl Iterator<Item = T>, initial: Option<f64>) -> T {
        let (mut value, mut count) = (self.start::<T>(initial), 0i64);
        for x in elements {
            count += 1;
            value = match self {
                Reduce::Sum | Reduce::Mean => value + x,
                Reduce::Product => value * x,
                Reduce::Largest => larger(x, value),
                Reduce::Smallest => smaller(x, value),
            };
        }
        match (self, count, initial) {
            (Reduce::Mean, 0, None) => T::nan(),
            (Reduce::Mean, 1.., _) => value / count.cast::<T>(),
            _ => value,
        }
    }

    /// Writes the gradients of the elements of a segment.
    fn gradients<T: num_traits::Float + Number>(
        self,
        segment: &Segment,
        [grad, result]: [T; 2],
        elements: &[T],
        initial: Option<f64>,
        values: &mut [T],
    ) {
        let count = || segment.places().count() as i64;
        match self {
            Reduce::Sum => segment.places().for_each(|at| values[at] = grad),
            Reduce::Mean => segment.places().for_each(|at| values[at] = grad / count().cast::<T>()),
            Reduce::Product => {
                let others = |at: usize| {
                    let others = segment.places().filter(|other| *other != at).map(|other| elements[other]);
                    others.fold(self.start::<T>(initial), |product, x| product * x)
                };
                for at in segment.places() {
                    let x = elements[at];
                    let is_plain = !x.is_nan() && x != T::zero();
                    values[at] = grad * if is_plain { result / x } else { others(at) };
                }
            }
            Reduce::Largest | Reduce::Smallest => {
                let is_there = |at: &usize| elements[*at].is_nan() || elements[*at] == result;
                let share = grad / (segment.places().filter(is_there).count() as i64).cast::<T>();
                segment.places().filter(is_there).for_each(|at| values[at] = share);
            }
        }
    }
}

/// The segments of a tensor along a dimension, separate for each index of the dimensions before it.
struct Segments {
    operator: &'static str,
    outer: usize,
    size: i64,
    inner: usize,
    /// The start and end of each segment; empty for meta tensors, where they are unknown.
    bounds: Vec<[i64; 2]>,
    count: usize,
    leading: Vec<i64>,
    trailing: Vec<i64>,
}

/// The elements that make up one result.
struct Segment {
    at: usize,
    start: usize,
    len: usize,
    step: usize,
}

impl Segment {
    fn places(&self) -> impl Iterator<Item = usize> + use<> {
        let (start, step) = (self.start, self.step);
        (0..self.len).map(move |k| start + k * step)
    }
}

impl Segments {
    fn new(
        operator: &'static str,
        data: &Tensor,
        lengths: Option<&Tensor>,
        offsets: Option<&Tensor>,
        axis: i64,
    ) -> Result<Self> {
        let axis = wrap_dim(axis, data.dim()).map_err(|error| error.context(operator))?;
        let Some(given) = offsets.or(lengths) else {
            bail!(Argument, "{operator}: neither lengths nor offsets of segments are given")
        };
        common_device(operator, &[data, given])?;
        ensure!(
            matches!(given.dtype(), DType::Int32 | DType::Int64),
            DType,
            "{operator}: segments of {}, expected int32 or int64",
            given.dtype()
        );
        ensure!(
            given.dim() == axis + 1 && axis < data.dim() && given.sizes()[..axis] == data.sizes()[..axis],
            Shape,
            "{operator}: segments of sizes {:?} along dimension {axis} of sizes {:?}, expected the sizes up to that dimension",
            given.sizes(),
            data.sizes()
        );
        let (leading, trailing) = (data.sizes()[..axis].to_vec(), data.sizes()[axis + 1..].to_vec());
        let width = given.sizes()[axis];
        let count = if offsets.is_some() { width - 1 } else { width };
        ensure!(count >= 0, Shape, "{operator}: at least one offset is needed");
        let outer = saturating_numel(&leading) as usize;
        let mut bounds = Vec::new();
        if loops::has_elements(given) {
            let numbers = loops::elements::<i64>(&loops::copy(given, DType::Int64)?)?;
            for line in numbers.chunks_exact(width as usize) {
                let mut end = 0i64;
                match offsets {
                    Some(_) => bounds.extend(line.windows(2).map(|pair| [pair[0], pair[1]])),
                    None => bounds.extend(line.iter().map(|length| {
                        let start = end;
                        end = start.saturating_add(*length);
                        [start, end]
                    })),
                }
            }
        }
        let (size, inner) = (data.sizes()[axis], saturating_numel(&trailing) as usize);
        Ok(Segments { operator, outer, size, inner, bounds, count: count as usize, leading, trailing })
    }

    /// # Errors
    /// A segment that is not within the dimension, or that ends before it begins; segments that do not make up the
    /// dimension, if `makes_up` asks for that.
    fn check_all(&self, makes_up: bool) -> Result<()> {
        for [start, end] in &self.bounds {
            ensure!(
                (0..=*end).contains(start) && *end <= self.size,
                Argument,
                "{}: a segment from {start} to {end} does not fit a dimension of size {}",
                self.operator,
                self.size
            );
        }
        if makes_up && self.count > 0 {
            for line in self.bounds.chunks_exact(self.count) {
                let end = line[self.count - 1][1];
                ensure!(
                    end == self.size,
                    Argument,
                    "{}: segments of {end} elements in all do not fit a dimension of size {}",
                    self.operator,
                    self.size
                );
            }
        }
        Ok(())
    }

    fn sizes(&self) -> Vec<i64> {
        [&self.leading[..], &[self.count as i64], &self.trailing].concat()
    }

    fn each(&self, mut f: impl FnMut(Segment)) {
        let size = self.size as usize;
        for outer in 0..self.outer {
            for segment in 0..self.count {
                let [start, end] = self.bounds[outer * self.count + segment];
                for inner in 0..self.inner {
                    f(Segment {
                        at: (outer * self.count + segment) * self.inner + inner,
                        start: (outer * size + start as usize) * self.inner + inner,
                        len: (end - start) as usize,
                        step: self.inner,
                    });
                }
            }
        }
    }
}
