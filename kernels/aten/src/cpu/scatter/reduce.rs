//! Reductions at positions given by an index: sums, products, means and extremes.

use torch_library::match_dtype;
use torch_library::prelude::*;

use super::{Scattering, copied, slices};
use crate::aten;
use crate::loops::pointwise::unsupported;
use crate::loops::{self, match_opmath};
use crate::number::{Number, Ordered};

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn scatter_reduce_two(
        this: &Tensor,
        dim: i64,
        index: &Tensor,
        src: &Tensor,
        reduce: &str,
        include_self: bool,
    ) -> Result<Tensor> {
        const OPERATOR: &str = aten::scatter_reduce_two::NAME;
        let out = copied(this)?;
        let places = Scattering::new(OPERATOR, &out, dim, index, Some(src))?;
        places.reduce(src, Reduction::of_scatter(OPERATOR, reduce)?, include_self)?;
        Ok(out)
    }

    fn scatter_reduce__two<'a>(
        this: &'a mut Tensor,
        dim: i64,
        index: &Tensor,
        src: &Tensor,
        reduce: &str,
        include_self: bool,
    ) -> Result<&'a mut Tensor> {
        const OPERATOR: &str = aten::scatter_reduce__two::NAME;
        let places = Scattering::new(OPERATOR, this, dim, index, Some(src))?;
        places.reduce(src, Reduction::of_scatter(OPERATOR, reduce)?, include_self)?;
        Ok(this)
    }

    fn scatter_reduce(this: &Tensor, dim: i64, index: &Tensor, src: &Tensor, reduce: &str) -> Result<Tensor> {
        let out = copied(this)?;
        Scattering::new(aten::scatter_reduce::NAME, &out, dim, index, Some(src))?.combine(src, reduce)?;
        Ok(out)
    }

    fn scatter_value_reduce(
        this: &Tensor,
        dim: i64,
        index: &Tensor,
        value: Scalar,
        reduce: &str,
    ) -> Result<Tensor> {
        let out = copied(this)?;
        let places = Scattering::new(aten::scatter_value_reduce::NAME, &out, dim, index, None)?;
        places.combine(&places.repeated(value)?, reduce)?;
        Ok(out)
    }

    fn index_reduce(
        this: &Tensor,
        dim: i64,
        index: &Tensor,
        source: &Tensor,
        reduce: &str,
        include_self: bool,
    ) -> Result<Tensor> {
        let out = copied(this)?;
        super::index_reduce(aten::index_reduce::NAME, &out, dim, index, source, reduce, include_self)?;
        Ok(out)
    }

    fn index_reduce_<'a>(
        this: &'a mut Tensor,
        dim: i64,
        index: &Tensor,
        source: &Tensor,
        reduce: &str,
        include_self: bool,
    ) -> Result<&'a mut Tensor> {
        super::index_reduce(aten::index_reduce_::NAME, this, dim, index, source, reduce, include_self)?;
        Ok(this)
    }
}

fn index_reduce(
    operator: &'static str,
    this: &Tensor,
    dim: i64,
    index: &Tensor,
    source: &Tensor,
    reduce: &str,
    include_self: bool,
) -> Result<()> {
    ensure!(
        this.dtype() != DType::Bool && !this.dtype().is_complex(),
        DType,
        "{operator} is not implemented for {}",
        this.dtype()
    );
    let (whole, slices, index) = slices(operator, this, dim, index, source)?;
    let places = Scattering::new(operator, &whole, dim, &index, Some(&slices))?;
    places.reduce(&slices, Reduction::named(operator, reduce)?, include_self)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reduction {
    Sum,
    Product,
    Mean,
    Largest,
    Smallest,
}

impl Reduction {
    fn of_scatter(operator: &str, name: &str) -> Result<Self> {
        if name == "sum" { Ok(Reduction::Sum) } else { Reduction::named(operator, name) }
    }

    fn named(operator: &str, name: &str) -> Result<Self> {
        Ok(match name {
            "prod" => Reduction::Product,
            "mean" => Reduction::Mean,
            "amax" => Reduction::Largest,
            "amin" => Reduction::Smallest,
            _ => bail!(
                Argument,
                "{operator}: unknown reduce {name:?}, expected \"prod\", \"mean\", \"amax\" or \"amin\", or for \
                 scatter_reduce \"sum\""
            ),
        })
    }

    /// The identity of the reduction, for ordered numbers.
    fn neutral<T: Ordered>(self) -> T {
        match self {
            Reduction::Largest => T::LOWEST,
            Reduction::Smallest => T::HIGHEST,
            Reduction::Product => T::ONE,
            Reduction::Sum | Reduction::Mean => T::ZERO,
        }
    }

    #[inline(always)]
    fn join<T: Ordered>(self, old: T, new: T) -> T {
        let is_new = match self {
            Reduction::Largest => new > old,
            Reduction::Smallest => new < old,
            Reduction::Product => return old.times(new),
            Reduction::Sum | Reduction::Mean => return old.plus(new),
        };
        if is_new || new.is_unordered() { new } else { old }
    }
}

impl Scattering<'_> {
    /// Reduces by the older names, `"add"` and `"multiply"`.
    fn combine(&self, src: &Tensor, reduce: &str) -> Result<()> {
        match reduce {
            "add" => self.add(src, Scalar::Int(1)),
            "multiply" => self.reduce(src, Reduction::Product, true),
            _ => bail!(
                Argument,
                "{}: unknown reduce {reduce:?}, expected \"add\" or \"multiply\"",
                self.operator
            ),
        }
    }

    /// Combines `src` with the elements at the positions, or, without `include_self`, only its own elements with each
    /// other.
    fn reduce(&self, src: &Tensor, reduction: Reduction, include_self: bool) -> Result<()> {
        let dtype = self.this.dtype();
        if self.index.numel() == 0 {
            return Ok(());
        }
        match_opmath!(dtype, T: Bool | Integer | Float => {
            ensure!(
                dtype != DType::Bool || reduction != Reduction::Mean,
                DType,
                "{}: bools have no mean",
                self.operator
            );
            let neutral = (!include_self).then(|| reduction.neutral::<T>());
            match reduction {
                // As constants, without which the loop tests for each element which of the five it is.
                Reduction::Largest => self.fold(src, reduction, neutral, |x, y| Reduction::Largest.join(x, y)),
                Reduction::Smallest => self.fold(src, reduction, neutral, |x, y| Reduction::Smallest.join(x, y)),
                _ => self.fold(src, reduction, neutral, move |old, new| reduction.join(old, new)),
            }
        }, else => match_opmath!(dtype, T: Complex => match reduction {
            Reduction::Sum | Reduction::Mean => self.fold(src, reduction, (!include_self).then_some(T::ZERO), T::plus),
            Reduction::Product => self.fold(src, reduction, (!include_self).then_some(T::ONE), T::times),
            _ => Err(unsupported(self.operator, dtype)),
        }, else => match reduction {
            // Modulo a power of two, sums and products of signed and unsigned integers are the same.
            Reduction::Sum if include_self && dtype.is_integer() => self.fold(src, reduction, None, i64::plus),
            Reduction::Product if include_self && dtype.is_integer() => self.fold(src, reduction, None, i64::times),
            _ => Err(unsupported(self.operator, dtype)),
        }))
    }

    /// Combines elements in the opmath type, and rounds once. If `instead` is given, the previous elements are
    /// replaced by it first.
    fn fold<T: Number>(
        &self,
        src: &Tensor,
        reduction: Reduction,
        instead: Option<T>,
        join: impl Fn(T, T) -> T + Copy + Sync,
    ) -> Result<()> {
        if !loops::has_elements(self.this) {
            return self.check_empty();
        }
        let is_wide = self.this.dtype() == T::DTYPE;
        let wide = |tensor: &Tensor| if is_wide { Ok(tensor.clone()) } else { loops::copy(tensor, T::DTYPE) };
        let (this, src) = (wide(self.this)?, wide(src)?);
        if let Some(instead) = instead {
            self.join(&this, &src, move |_, _: T| instead)?;
        }
        self.join(&this, &src, join)?;
        if reduction == Reduction::Mean {
            self.divide(&this, instead.is_none())?;
        }
        if is_wide { Ok(()) } else { loops::map(self.this, [&this], |[x]: [T; 1]| x) }
    }

    /// Divides each sum by the number of its terms; integers are rounded down.
    fn divide(&self, sums: &Tensor, include_self: bool) -> Result<()> {
        let count = Tensor::full(sums.sizes(), i64::from(include_self), DType::Int64, sums.device())?;
        let one = Tensor::from(1i64).strided_view(self.index.sizes(), &vec![0; self.index.dim()], 0)?;
        self.join(&count, &one, |old: i64, new| old + new)?;
        loops::map(&count, [&count], |[count]: [i64; 1]| count.max(1))?;
        match_dtype!(sums.dtype(), T: Float | Complex => {
            loops::map(sums, [sums, &count], |[sum, count]: [T; 2]| sum / count)
        }, else => loops::map(sums, [sums, &count], |[sum, count]: [i64; 2]| sum.div_euclid(count)))
    }
}
