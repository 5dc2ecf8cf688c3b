//! Products of vectors and matrices, as compositions of other operators.

use torch_library::geometry::{infer_size, numel, wrap_dim};
use torch_library::prelude::*;
use torch_library::{promote_types, result_type};

use super::below_autocast;
use crate::aten;
use crate::loops::{opmath_type, parameter};

mod trilinear;

use trilinear::Trilinear;

/// Operators with derivatives of their own.
#[torch_impl(aten, CompositeExplicitAutograd, FuncTorchBatchedDecomposition)]
mod derived {
    use super::*;

    fn linalg_cross(this: &Tensor, other: &Tensor, dim: i64) -> Result<Tensor> {
        crossed(this, other, dim)
    }

    fn _trilinear(
        i1: &Tensor,
        i2: &Tensor,
        i3: &Tensor,
        expand1: &[i64],
        expand2: &[i64],
        expand3: &[i64],
        sumdim: &[i64],
        unroll_dim: i64,
    ) -> Result<Tensor> {
        const OPERATOR: &str = aten::_trilinear::NAME;
        let dims = i1.dim() + expand1.len();
        ensure!(dims <= 26, Shape, "{OPERATOR}: {dims} dimensions, expected 26 at most");
        let wrap = |list: &[i64]| -> Result<Vec<usize>> {
            let wrapped = list.iter().map(|dim| wrap_dim(*dim, dims)).collect::<Result<Vec<_>>>();
            wrapped.map_err(|error| error.context(OPERATOR))
        };
        let (operands, common) = ([i1, i2, i3], result_type([i1, i2, i3].map(Tensor::promotion_operand))?);
        let absent = [wrap(expand1)?, wrap(expand2)?, wrap(expand3)?];
        for (operand, absent) in operands.iter().zip(&absent) {
            ensure!(
                operand.dim() + absent.len() == dims,
                Shape,
                "{OPERATOR}: sizes {:?} and {} dimensions to expand, expected {dims} in all",
                operand.sizes(),
                absent.len()
            );
        }
        let [unrolled] = wrap(&[unroll_dim])?[..] else { bail!(Internal, "one dimension is wrapped to one") };
        let trilinear = Trilinear { operands, absent, summed: wrap(sumdim)?, dims };
        let is_half = opmath_type(common) != common;
        let of_one_type = operands.iter().all(|operand| operand.dtype() == common);
        // Without slices, there would be no product whose sizes are known.
        let has_slices = trilinear.slices(unrolled) > 0;
        let product = match is_half && of_one_type && has_slices {
            true => trilinear.in_slices(unrolled),
            false => trilinear.in_type(common),
        };
        // Under autocast the products are of a lower precision, and the result is not.
        product.and_then(|product| aten::to_dtype(&product, common)).map_err(|error| error.context(OPERATOR))
    }

    fn vdot(this: &Tensor, other: &Tensor) -> Result<Tensor> {
        match this.dtype().is_complex() {
            true => aten::dot(&aten::conj_physical(this)?, other),
            false => aten::dot(this, other),
        }
        .map_err(|error| error.context(aten::vdot::NAME))
    }

    fn addmv(this: &Tensor, mat: &Tensor, vec: &Tensor, beta: Scalar, alpha: Scalar) -> Result<Tensor> {
        ensure!(
            this.dtype() == mat.dtype() && this.dtype() == vec.dtype(),
            DType,
            "{}: {} with a product of {} and {}, expected one type",
            aten::addmv::NAME,
            this.dtype(),
            mat.dtype(),
            vec.dtype()
        );
        let in_type = |factor| {
            let factor = in_type(factor, this.dtype()).map_err(|error| error.context(aten::addmv::NAME))?;
            rounded_to(aten::addmv::NAME, factor, this.dtype())
        };
        combined(this, &aten::mv(mat, vec)?, in_type(beta)?, in_type(alpha)?)
    }

    fn addr(this: &Tensor, vec1: &Tensor, vec2: &Tensor, beta: Scalar, alpha: Scalar) -> Result<Tensor> {
        let dtype = this.dtype();
        let is_plain = matches!(dtype, DType::Float32 | DType::Float64)
            && [vec1, vec2].iter().all(|vector| vector.dim() == 1 && vector.dtype() == dtype);
        let sizes = [vec1.numel(), vec2.numel()];
        let fits = infer_size(this.sizes(), &sizes).is_ok_and(|fit| fit.as_slice() == sizes);
        if is_plain && fits && beta.to::<f64>().is_ok_and(|beta| beta == 1.0) {
            // In one pass: the product need not be stored.
            let (column, row) = (aten::unsqueeze(vec1, 1)?, aten::unsqueeze(vec2, 0)?);
            return aten::addcmul::with(this, &column, &row).value(alpha).call();
        }
        // Unlike in other operators, the dtype of a tensor without dimensions counts like that of any other.
        let common = promote_types(promote_types(vec1.dtype(), vec2.dtype())?, dtype)?;
        let is_fraction =
            [beta, alpha].iter().any(|factor| !factor.dtype().is_integer() && factor.dtype() != DType::Bool);
        ensure!(
            !is_fraction || common.is_differentiable(),
            Argument,
            "{}: beta {beta} and alpha {alpha}, expected integers for a result of {common}",
            aten::addr::NAME
        );
        let is_boolean = [beta, alpha].iter().any(|factor| factor.dtype() == DType::Bool);
        ensure!(
            !is_boolean || common == DType::Bool,
            Argument,
            "{}: beta and alpha can be bool only for a result of bool, not of {common}",
            aten::addr::NAME
        );
        // Half precision is rounded once, at the end.
        let wide = |tensor: &Tensor| aten::to_dtype(tensor, opmath_type(common));
        let in_type = |factor| rounded_to(aten::addr::NAME, factor, common);
        let (beta, alpha) = (in_type(beta)?, in_type(alpha)?);
        let sum = combined(&wide(this)?, &aten::outer(&wide(vec1)?, &wide(vec2)?)?, beta, alpha)?;
        aten::to_dtype(&sum, common)
    }
}

#[torch_impl(aten, CompositeImplicitAutograd)]
mod implicit {
    use super::*;

    fn kron(this: &Tensor, other: &Tensor) -> Result<Tensor> {
        let dim = this.dim().max(other.dim());
        let padded = |tensor: &Tensor| -> Vec<i64> {
            let missing = dim - tensor.dim();
            vec![1; missing].into_iter().chain(tensor.sizes().iter().copied()).collect()
        };
        let (a, b) = (padded(this), padded(other));
        let spread = |sizes: &[i64], first: bool| -> Vec<i64> {
            sizes.iter().flat_map(|size| if first { [*size, 1] } else { [1, *size] }).collect()
        };
        let product = aten::mul_Tensor(
            &aten::reshape(this, &spread(&a, true))?,
            &aten::reshape(other, &spread(&b, false))?,
        )?;
        let sizes: Vec<i64> = a.iter().zip(&b).map(|(a, b)| a * b).collect();
        // As a view of the product, which has the strides of the factors, where that is possible.
        aten::_unsafe_view(&product, &sizes)
            .or_else(|_| aten::_unsafe_view(&aten::contiguous(&product)?, &sizes))
    }

    fn _compute_linear_combination(input: &Tensor, coefficients: &Tensor) -> Result<Tensor> {
        const OPERATOR: &str = aten::_compute_linear_combination::NAME;
        let ([rows, columns], [count, rest @ ..]) = (coefficients.sizes(), input.sizes()) else {
            bail!(
                Shape,
                "{OPERATOR}: coefficients of sizes {:?} for slices of {:?}, expected a matrix",
                coefficients.sizes(),
                input.sizes()
            )
        };
        ensure!(columns == count, Shape, "{OPERATOR}: {columns} coefficients for {count} slices");
        ensure!(input.numel() > 0, Shape, "{OPERATOR}: sizes {:?} have no elements", input.sizes());
        let slices = aten::reshape(input, &[*count, -1])?;
        let sums = aten::mm(coefficients, &slices).map_err(|error| error.context(OPERATOR))?;
        aten::reshape(&sums, &[&[*rows], rest].concat())
    }

    fn cross(this: &Tensor, other: &Tensor, dim: Option<i64>) -> Result<Tensor> {
        let first = this.sizes().iter().position(|size| *size == 3).map(|dim| dim as i64);
        let Some(dim) = dim.or(first) else {
            bail!(Shape, "{}: no dimension of sizes {:?} has size 3", aten::cross::NAME, this.sizes())
        };
        aten::linalg_cross::with(this, other).dim(dim).call()
    }

    fn tensordot(this: &Tensor, other: &Tensor, dims_self: &[i64], dims_other: &[i64]) -> Result<Tensor> {
        const OPERATOR: &str = aten::tensordot::NAME;
        let split = |tensor: &Tensor, dims: &[i64]| -> Result<(Vec<i64>, Vec<i64>)> {
            let summed = dims
                .iter()
                .map(|dim| wrap_dim(*dim, tensor.dim()).map(|dim| dim as i64))
                .collect::<Result<Vec<_>>>()
                .map_err(|error| error.context(OPERATOR))?;
            let kept = (0..tensor.dim() as i64).filter(|dim| !summed.contains(dim)).collect();
            Ok((kept, summed))
        };
        let ((kept, summed), (kept_other, summed_other)) =
            (split(this, dims_self)?, split(other, dims_other)?);
        let sizes = |tensor: &Tensor, dims: &[i64]| -> Vec<i64> {
            dims.iter().map(|dim| tensor.sizes().get(*dim as usize).copied().unwrap_or(1)).collect()
        };
        // A dimension that is paired with one of size 1 is summed first.
        let single = |tensor: &Tensor, dims: &[i64], own: &[i64], others: &[i64]| -> Result<Tensor> {
            let pairs = dims.iter().zip(own.iter().zip(others));
            let dims: Vec<i64> =
                pairs.filter(|(_, (own, other))| **own != 1 && **other == 1).map(|(dim, _)| *dim).collect();
            if dims.is_empty() {
                return Ok(tensor.clone());
            }
            aten::sum_dim_IntList::call(tensor, Some(&dims), true, Some(tensor.dtype()))
        };
        ensure!(
            summed.len() == summed_other.len(),
            Shape,
            "{OPERATOR}: dimensions {dims_self:?} and {dims_other:?} differ in number"
        );
        let (inner, inner_other) = (sizes(this, &summed), sizes(other, &summed_other));
        let this = &single(this, &summed, &inner, &inner_other)?;
        let other = &single(other, &summed_other, &inner_other, &inner)?;
        let (inner, inner_other) = (sizes(this, &summed), sizes(other, &summed_other));
        ensure!(
            inner == inner_other,
            Shape,
            "{OPERATOR}: dimensions {dims_self:?} and {dims_other:?} of sizes {:?} and {:?} do not match",
            this.sizes(),
            other.sizes()
        );
        let count = numel(&inner)?;
        let (rows, columns) = (sizes(this, &kept), sizes(other, &kept_other));
        let (height, width) = (numel(&rows)?, numel(&columns)?);
        let left = aten::permute(this, &[kept, summed].concat())?;
        let right = aten::permute(other, &[summed_other, kept_other].concat())?;
        let product = match (height, width) {
            // Unlike `mm`, autocast leaves `dot` in the type of its operands.
            (1, 1) => aten::dot(&aten::reshape(&left, &[count])?, &aten::reshape(&right, &[count])?)?,
            _ => {
                aten::mm(&aten::reshape(&left, &[height, count])?, &aten::reshape(&right, &[count, width])?)?
            }
        };
        aten::reshape(&product, &[rows, columns].concat())
    }

    fn bilinear(input1: &Tensor, input2: &Tensor, weight: &Tensor, bias: Option<&Tensor>) -> Result<Tensor> {
        const OPERATOR: &str = aten::bilinear::NAME;
        let sizes = || format!("{:?}, {:?} and {:?}", input1.sizes(), input2.sizes(), weight.sizes());
        let (Some((left, batch)), Some((right, others)), &[outputs, rows, columns]) =
            (input1.sizes().split_last(), input2.sizes().split_last(), weight.sizes())
        else {
            bail!(Shape, "{OPERATOR}: sizes {}, expected [.., i], [.., j] and [o, i, j]", sizes())
        };
        ensure!(
            (batch, *left, *right) == (others, rows, columns),
            Shape,
            "{OPERATOR}: sizes {}, expected [.., i], [.., j] and [o, i, j]",
            sizes()
        );
        ensure!(
            [input2, weight].into_iter().chain(bias).all(|tensor| tensor.dtype() == input1.dtype()),
            DType,
            "{OPERATOR}: inputs of {} and {} with weights of {}, expected one type",
            input1.dtype(),
            input2.dtype(),
            weight.dtype()
        );
        if let Some(bias) = bias {
            ensure!(
                bias.sizes() == [outputs],
                Shape,
                "{OPERATOR}: a bias of sizes {:?} for {outputs} outputs",
                bias.sizes()
            );
        }
        let count = numel(batch)?;
        let [first, second] =
            [aten::reshape(input1, &[count, *left])?, aten::reshape(input2, &[count, *right])?];
        let sums = aten::_trilinear(&first, weight, &second, &[1, 3], &[0], &[1, 2], &[2, 3])?;
        let out = aten::reshape(&sums, &[batch, &[outputs]].concat())?;
        bias.map_or(Ok(out.clone()), |bias| aten::add_Tensor(&out, bias))
    }

    fn inner(this: &Tensor, other: &Tensor) -> Result<Tensor> {
        if this.dim() == 0 || other.dim() == 0 {
            return aten::mul_Tensor(this, other);
        }
        ensure!(
            this.sizes().last() == other.sizes().last(),
            Shape,
            "{}: rows of sizes {:?} and {:?}, expected one length",
            aten::inner::NAME,
            this.sizes(),
            other.sizes()
        );
        aten::tensordot(this, other, &[-1], &[-1]).map_err(|error| error.context(aten::inner::NAME))
    }

    fn matrix_power(this: &Tensor, n: i64) -> Result<Tensor> {
        const OPERATOR: &str = aten::matrix_power::NAME;
        let is_square = matches!(this.sizes(), [.., rows, columns] if rows == columns);
        ensure!(is_square, Shape, "{OPERATOR}: sizes {:?} are not those of square matrices", this.sizes());
        let this = &if n < 0 { aten::linalg_inv(this)? } else { this.clone() };
        let mut power: Option<Tensor> = None;
        let (mut square, mut left) = (this.clone(), n.unsigned_abs());
        while left > 0 {
            if left % 2 == 1 {
                power = Some(match power {
                    None => square.clone(),
                    Some(power) => aten::matmul(&power, &square)?,
                });
            }
            left /= 2;
            if left > 0 {
                square = aten::matmul(&square, &square)?;
            }
        }
        match power {
            Some(power) if !matches!(n, 0 | 1) => Ok(power), // the inverse also keeps its strides
            Some(power) => aten::clone::with(&power).memory_format(MemoryFormat::Contiguous).call(),
            None => {
                let one = aten::eye::with(this.size(-1)?).dtype(this.dtype()).device(this.device()).call()?;
                // Written over a copy of the input, so that autograd has a path to it, with a gradient of zero.
                let mut out = aten::clone::with(this).memory_format(MemoryFormat::Contiguous).call()?;
                aten::copy_(&mut out, &one)?;
                Ok(out)
            }
        }
    }
}

/// The cross product of vectors of three elements along a dimension.
pub(crate) fn crossed(this: &Tensor, other: &Tensor, dim: i64) -> Result<Tensor> {
    const OPERATOR: &str = aten::linalg_cross::NAME;
    let is_three = |tensor: &Tensor| tensor.size(dim).is_ok_and(|size| size == 3);
    ensure!(
        this.dim() == other.dim() && is_three(this) && is_three(other),
        Shape,
        "{OPERATOR}: sizes {:?} and {:?}, expected size 3 in dimension {dim}",
        this.sizes(),
        other.sizes()
    );
    ensure!(
        this.dtype() == other.dtype(),
        DType,
        "{OPERATOR}: {} and {}, expected one type",
        this.dtype(),
        other.dtype()
    );
    let turned = |tensor: &Tensor, shift: i64| aten::roll::call(tensor, &[shift], &[dim]);
    let sizes = infer_size(this.sizes(), other.sizes());
    let sizes = sizes.map_err(|error| error.context(OPERATOR))?;
    let (a, b) = (aten::expand(this, &sizes)?, aten::expand(other, &sizes)?);
    let product = below_autocast(this.device(), || {
        aten::sub_Tensor(
            &aten::mul_Tensor(&turned(&a, -1)?, &turned(&b, -2)?)?,
            &aten::mul_Tensor(&turned(&a, -2)?, &turned(&b, -1)?)?,
        )
    })?;
    aten::contiguous(&product)
}

/// A factor in the dtype that it multiplies: for integer dtypes, it is truncated to an integer.
///
/// # Errors
/// NaN, infinity, or a number that is too large, for an integer dtype.
pub(super) fn in_type(factor: Scalar, dtype: DType) -> Result<Scalar> {
    if dtype.is_differentiable() {
        return Ok(factor);
    }
    if let Scalar::Float(number) = factor {
        ensure!(
            number.abs() < i64::MAX as f64,
            Argument,
            "the factor {number} cannot be represented in {dtype}"
        );
    }
    Ok(Scalar::Int(factor.cast()))
}

/// A factor as a number of `dtype`, if that is a type of floats.
///
/// # Errors
/// A number beyond its range.
pub(super) fn rounded_to(operator: &str, factor: Scalar, dtype: DType) -> Result<Scalar> {
    if !dtype.is_floating_point() || !matches!(factor, Scalar::Float(_) | Scalar::Int(_)) {
        return Ok(factor);
    }
    let rounded: f64 = parameter(operator, factor, dtype)?;
    Ok(if rounded == factor.cast::<f64>() { factor } else { rounded.into() })
}

/// `beta * a + alpha * b`; if `beta` is 0, `a` is ignored, NaN included.
fn combined(a: &Tensor, b: &Tensor, beta: Scalar, alpha: Scalar) -> Result<Tensor> {
    let times = |tensor: &Tensor, factor: Scalar| match factor {
        Scalar::Int(1) if tensor.dtype() != DType::Bool => Ok(tensor.clone()), // booleans become numbers
        factor => aten::mul_Scalar(tensor, factor),
    };
    let scaled = times(b, alpha)?;
    let sizes = infer_size(a.sizes(), b.sizes())?;
    ensure!(
        sizes.as_slice() == b.sizes(),
        Shape,
        "sizes {:?} do not broadcast to those of the product, {:?}",
        a.sizes(),
        b.sizes()
    );
    if beta.to::<f64>().is_ok_and(|beta| beta == 0.0) {
        return Ok(scaled);
    }
    aten::add_Tensor(&times(a, beta)?, &scaled)
}
