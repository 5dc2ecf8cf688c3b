//! Matrix products.
#![expect(unsafe_code, reason = "hands strided memory to products, and takes memory that they fill")]

use torch_library::geometry::contiguous_strides;
use torch_library::prelude::*;
use torch_library::{Lease, match_dtype};

#[cfg(target_arch = "x86_64")]
use self::complex::multiply as multiply_complex;
pub use self::matrices::Matrices;
#[cfg(not(target_arch = "x86_64"))]
use self::others::multiply as multiply_complex;
use self::target::Target;
use crate::aten;
use crate::below_autograd::below_autograd;
use crate::loops::pointwise::{broadcast_strides, common_device, unsupported};
use crate::loops::{self, match_opmath, parallel};
use crate::number::Number;

#[cfg(target_arch = "x86_64")]
pub mod amx;
mod attention;
#[cfg(target_arch = "x86_64")]
pub mod blocks;
#[cfg(target_arch = "x86_64")]
mod complex;
#[cfg(target_arch = "x86_64")]
mod contiguous;
#[cfg(target_arch = "x86_64")]
mod fetch;
mod float8;
mod grouped;
#[cfg(target_arch = "x86_64")]
pub mod halves;
pub mod implicit_gemm;
mod integers;
mod matrices;
#[cfg(not(target_arch = "x86_64"))]
mod others;
#[cfg(target_arch = "x86_64")]
pub mod pairs;
mod small;
mod split;
pub mod target;
#[cfg(target_arch = "x86_64")]
mod tiles;
mod vectors;
#[cfg(target_arch = "x86_64")]
pub mod weights;

/// The grain size: the number of multiplications for which it pays to wake another thread.
pub const GRAIN: usize = 1 << 20;

/// The grain size of products with a vector, which read each element once, and are bound by memory.
const GRAIN_OF_VECTORS: usize = 4 * parallel::GRAIN;

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn mm(output: Output<'_>, this: &Tensor, mat2: &Tensor) -> Result<Tensor> {
        let operator = output.operator();
        let sizes = product_sizes(operator, this, mat2)?;
        let (dtype, device) =
            (common_dtype(operator, &[this, mat2])?, common_device(operator, &[this, mat2])?);
        output.exactly(dtype)?;
        // SAFETY: `multiply` writes every element; after an error the tensor is dropped.
        let out = unsafe { uninit(output, &sizes, dtype, device, &[this, mat2])? };
        match dtype.is_float8() {
            true => float8::multiply(operator, &out, this, mat2)?,
            false => multiply(operator, &out, this, mat2)?,
        }
        Ok(out)
    }

    fn bmm(output: Output<'_>, this: &Tensor, mat2: &Tensor) -> Result<Tensor> {
        let operator = output.operator();
        let [b, n, k] = sizes_of(operator, this)?;
        let [b2, k2, m] = sizes_of(operator, mat2)?;
        ensure!(
            b == b2 && k == k2,
            Shape,
            "{operator}: sizes {:?} and {:?} have no products, {b} and {b2} or {k} and {k2} differ",
            this.sizes(),
            mat2.sizes()
        );
        let device = common_device(operator, &[this, mat2])?;
        if [b, n, m, k].contains(&0) {
            return Tensor::empty(&[b, n, m], mat2.dtype(), device); // without elements, the dtypes need not match
        }
        let dtype = common_dtype(operator, &[this, mat2])?;
        output.exactly(dtype)?;
        // SAFETY: `multiply` writes every element; after an error the tensor is dropped.
        let out = unsafe { uninit(output, &[b, n, m], dtype, device, &[this, mat2])? };
        multiply(operator, &out, this, mat2)?;
        Ok(out)
    }

    fn mv(this: &Tensor, vec: &Tensor) -> Result<Tensor> {
        const OPERATOR: &str = aten::mv::NAME;
        let ([n, k], [k2]) = (sizes_of(OPERATOR, this)?, sizes_of(OPERATOR, vec)?);
        ensure!(k == k2, Shape, "{OPERATOR}: a {n} × {k} matrix and a vector of {k2} have no product");
        let dtype = common_dtype(OPERATOR, &[this, vec])?;
        let out = Tensor::empty(&[n], dtype, common_device(OPERATOR, &[this, vec])?)?;
        multiply(OPERATOR, &column(&out)?, this, &column(vec)?)?;
        Ok(out)
    }

    fn dot(this: &Tensor, tensor: &Tensor) -> Result<Tensor> {
        const OPERATOR: &str = aten::dot::NAME;
        let ([n], [n2]) = (sizes_of(OPERATOR, this)?, sizes_of(OPERATOR, tensor)?);
        ensure!(n == n2, Shape, "{OPERATOR}: vectors of {n} and {n2} have no product");
        let dtype = common_dtype(OPERATOR, &[this, tensor])?;
        let out = Tensor::empty(&[], dtype, common_device(OPERATOR, &[this, tensor])?)?;
        let row = this.strided_view(&[1, n], &[0, this.strides()[0]], this.storage_offset())?;
        multiply(OPERATOR, &out.strided_view(&[1, 1], &[1, 1], 0)?, &row, &column(tensor)?)?;
        Ok(out)
    }

    fn addmm(this: &Tensor, mat1: &Tensor, mat2: &Tensor, beta: Scalar, alpha: Scalar) -> Result<Tensor> {
        const OPERATOR: &str = aten::addmm::NAME;
        let dtype = common_dtype(OPERATOR, &[mat1, mat2, this])?;
        let sizes = [sizes_of::<2>(OPERATOR, mat1)?[0], sizes_of::<2>(OPERATOR, mat2)?[1]];
        let fits = torch_library::geometry::infer_size(this.sizes(), &sizes);
        ensure!(
            fits.is_ok_and(|fits| fits.as_slice() == sizes),
            Shape,
            "{OPERATOR}: sizes {:?} do not broadcast to those of the product, {sizes:?}",
            this.sizes()
        );
        let is_plain =
            [beta, alpha].map(|factor| factor.cast::<f64>()) == [1.0; 2] && dtype.is_differentiable();
        if is_plain && dtype == loops::opmath_type_with_float8(dtype) && loops::has_elements(this) {
            product_sizes(OPERATOR, mat1, mat2)?;
            return onto(OPERATOR, this, &sizes, mat1, mat2);
        }
        product_sizes(OPERATOR, mat1, mat2)?;
        let mut out = Tensor::empty(&sizes, dtype, common_device(OPERATOR, &[mat1, mat2, this])?)?;
        if out.numel() == 0 {
            return Ok(out);
        }
        if mat1.numel() == 0 {
            // If the product is empty, only `beta` has to fit the dtype.
            if beta.cast::<f64>() != 0.0 {
                below_autograd(|| aten::mul__Scalar(aten::copy_(&mut out, this)?, beta).map(drop))?;
            }
            return Ok(out);
        }
        let product = wide_product(OPERATOR, mat1, mat2)?;
        match_dtype!(loops::opmath_type_with_float8(dtype), T: Integer | Float | Complex => {
            let factor = |factor: Scalar| factor.to::<T>().map_err(|error| error.context(OPERATOR));
            let (beta, alpha) = (factor(beta)?, factor(alpha)?);
            if beta == T::ZERO {
                loops::map(&out, [&product], |[x]: [T; 1]| alpha.times(x))?; // `self` is ignored, NaN included
            } else {
                loops::map(&out, [this, &product], |[c, x]: [T; 2]| beta.times(c).plus(alpha.times(x)))?;
            }
        }, else => return Err(unsupported(OPERATOR, dtype)));
        Ok(out)
    }
}

/// Contiguous memory for a product: the caller's tensor if that can be, otherwise new memory, which is uninitialised.
///
/// # Safety
/// - Every element is written before any is read, and before safe code gets the tensor.
unsafe fn uninit(
    output: Output<'_>,
    sizes: &[i64],
    dtype: DType,
    device: Device,
    factors: &[&Tensor],
) -> Result<Tensor> {
    match output.contiguous_given(sizes, dtype, device, factors)? {
        Some(out) => Ok(out),
        // SAFETY: the caller promises to write every element before any is read, and before safe code gets the tensor.
        None => unsafe { Tensor::uninit(sizes, dtype, device) },
    }
}

/// The sizes of a tensor that must have `N` dimensions.
fn sizes_of<const N: usize>(operator: &str, tensor: &Tensor) -> Result<[i64; N]> {
    match tensor.sizes().try_into() {
        Ok(sizes) => Ok(sizes),
        Err(_) => {
            bail!(
                Shape,
                "{operator}: sizes {:?} do not have the {N} dimensions that are needed",
                tensor.sizes()
            )
        }
    }
}

fn common_dtype(operator: &str, tensors: &[&Tensor]) -> Result<DType> {
    let dtype = tensors[0].dtype();
    match tensors.iter().find(|tensor| tensor.dtype() != dtype) {
        None => Ok(dtype),
        Some(other) => bail!(
            DType,
            "{operator}: {dtype} and {} cannot be multiplied, convert one to the other by `aten::to_dtype`",
            other.dtype()
        ),
    }
}

/// A vector as a matrix of one column.
fn column(vector: &Tensor) -> Result<Tensor> {
    vector.strided_view(&[vector.numel(), 1], &[vector.strides()[0], 1], vector.storage_offset())
}

fn product_sizes(operator: &'static str, a: &Tensor, b: &Tensor) -> Result<[i64; 2]> {
    let ([n, k], [k2, m]) = (sizes_of(operator, a)?, sizes_of(operator, b)?);
    ensure!(
        k == k2,
        Shape,
        "{operator}: a {n} × {k} and a {k2} × {m} matrix have no product, {k} and {k2} differ"
    );
    Ok([n, m])
}

/// The sum of `this`, broadcast to these sizes, and the product.
fn onto(operator: &'static str, this: &Tensor, sizes: &[i64], a: &Tensor, b: &Tensor) -> Result<Tensor> {
    let (dtype, device) = (this.dtype(), common_device(operator, &[a, b, this])?);
    // SAFETY: every element is written next; after an error the tensor is dropped.
    let out = unsafe { Tensor::uninit_strided(sizes, &contiguous_strides(sizes), dtype, device)? };
    if !loops::has_elements(&out) || a.numel() == 0 {
        loops::assign(&out, this)?;
        return Ok(out);
    }
    let strides = broadcast_strides(this.sizes(), this.strides(), sizes);
    let bias = this.strided_view(sizes, &strides, this.storage_offset())?;
    match_opmath!(dtype, T: Float | Complex => batches::<T>(&out, a, b, Some(&bias))?,
        else => return Err(unsupported(operator, dtype)));
    Ok(out)
}

fn product(operator: &'static str, a: &Tensor, b: &Tensor) -> Result<Tensor> {
    let sizes = product_sizes(operator, a, b)?;
    let (dtype, device) = (common_dtype(operator, &[a, b])?, common_device(operator, &[a, b])?);
    // SAFETY: `multiply` writes every element; after an error the tensor is dropped.
    let out = unsafe { Tensor::uninit(&sizes, dtype, device)? };
    multiply(operator, &out, a, b)?;
    Ok(out)
}

/// The product of two matrices in the opmath type, not rounded to their own dtype yet.
fn wide_product(operator: &'static str, a: &Tensor, b: &Tensor) -> Result<Tensor> {
    ensure!(a.dtype() != DType::Float8E8M0Fnu, DType, "{operator} is not implemented for {}", a.dtype());
    let dtype = loops::opmath_type_with_float8(a.dtype());
    if dtype == a.dtype() {
        return product(operator, a, b);
    }
    #[cfg(target_arch = "x86_64")]
    if (pairs::is_for(a, b) || halves::are_for(a, b)) && a.numel() > 0 && loops::has_elements(b) {
        let sizes = product_sizes(operator, a, b)?;
        // SAFETY: the factors have elements, so `multiply` writes every element; after an error the tensor is dropped.
        let out = unsafe { Tensor::uninit(&sizes, dtype, common_device(operator, &[a, b])?)? };
        match pairs::is_for(a, b) {
            true => pairs::multiply(&out, a, b)?,
            false => halves::multiply(&out, a, b)?,
        }
        return Ok(out);
    }
    let (sizes, device) = (product_sizes(operator, a, b)?, common_device(operator, &[a, b])?);
    // SAFETY: `multiply_converted` writes every element; after an error the tensor is dropped.
    let out = unsafe { Tensor::uninit(&sizes, dtype, device)? };
    multiply_converted(operator, &out, a, b)?;
    Ok(out)
}

/// The matrices in another dtype, in the same memory layout: transposed ones stay so.
fn converted(matrices: &Tensor, dtype: DType) -> Result<Tensor> {
    // SAFETY: every element is written next; after an error the tensor is dropped.
    let copy = unsafe { loops::uninit_like(matrices, dtype, MemoryFormat::Preserve)? };
    loops::assign(&copy, matrices)?;
    Ok(copy)
}

/// Writes the products of matrices, or of batches of them, of one dtype to separate memory: every element of it.
///
/// Half precision is multiplied as `f32`, and rounded once.
pub(super) fn multiply(operator: &str, out: &Tensor, a: &Tensor, b: &Tensor) -> Result<()> {
    if a.numel() == 0 {
        return match_dtype!(out.dtype(), T: NotFloat8 => {
            loops::map(out, [], |[]: [T; 0]| T::default())
        }, else => loops::map(&loops::as_bytes(out)?, [], |[]: [u8; 0]| 0));
    }
    if !loops::has_elements(out) {
        return Ok(());
    }
    let dtype = loops::opmath_type(out.dtype());
    #[cfg(target_arch = "x86_64")]
    if !is_short(a, b) {
        if pairs::is_for(a, b) {
            return pairs::multiply(out, a, b);
        }
        if halves::are_for(a, b) {
            return halves::multiply(out, a, b);
        }
    }
    if dtype != out.dtype() {
        // SAFETY: `multiply_converted` writes every element; after an error the tensor is dropped.
        let wide = unsafe { Tensor::uninit(out.sizes(), dtype, out.device())? };
        multiply_converted(operator, &wide, a, b)?;
        return loops::assign(out, &wide);
    }
    match_opmath!(dtype, T: Integer | Float | Complex => batches::<T>(out, a, b, None),
        else => Err(unsupported(operator, dtype)))
}

/// Writes the products of matrices that are converted to the result's dtype first.
///
/// If one factor has only a few rows, or columns, converting the other takes about as long as multiplying it: it is
/// converted some columns, or rows, at a time, which are multiplied while they are in the cache.
fn multiply_converted(operator: &str, out: &Tensor, a: &Tensor, b: &Tensor) -> Result<()> {
    const FEW: i64 = 64;
    const CACHED: i64 = 128 << 10;
    let dtype = out.dtype();
    let sizes = match (a.sizes(), b.sizes()) {
        (&[rows, steps], &[_, columns])
            if rows.min(columns) <= FEW && steps.saturating_mul(rows.max(columns)) >= 2 * CACHED =>
        {
            Some([rows, steps, columns])
        }
        _ => None,
    };
    let Some([rows, steps, columns]) = sizes else {
        return multiply(operator, out, &converted(a, dtype)?, &converted(b, dtype)?);
    };
    let width = (CACHED / steps).max(FEW) / FEW * FEW;
    let strip = |matrix: &Tensor, dim: usize, start: i64| {
        let (mut sizes, strides) = (matrix.sizes().to_vec(), matrix.strides());
        sizes[dim] = width.min(sizes[dim] - start);
        matrix.strided_view(&sizes, strides, matrix.storage_offset() + start * strides[dim])
    };
    if rows <= columns {
        let few = converted(a, dtype)?;
        return (0..columns).step_by(width as usize).try_for_each(|start| {
            multiply(operator, &strip(out, 1, start)?, &few, &converted(&strip(b, 1, start)?, dtype)?)
        });
    }
    let few = converted(b, dtype)?;
    (0..rows).step_by(width as usize).try_for_each(|start| {
        multiply(operator, &strip(out, 0, start)?, &converted(&strip(a, 0, start)?, dtype)?, &few)
    })
}

/// Whether products of 16-bit floats have so few steps, and so few columns or rows, that it is faster to convert the
/// factors to wider floats, which have loops for such sizes.
#[cfg(target_arch = "x86_64")]
fn is_short(a: &Tensor, b: &Tensor) -> bool {
    const FEW: i64 = 8;
    match (a.sizes(), b.sizes()) {
        ([.., rows, steps], [.., columns]) => *steps <= FEW && *rows.min(columns) <= FEW,
        _ => false,
    }
}

/// Writes the products of matrices, or of batches of them, plus a bias of the result's sizes if there is one, to
/// separate memory: to every element. All are of one dtype, `float32` or `float64`, and the matrices have elements.
///
/// # Errors
/// Another dtype, sizes that do not match, a result that shares memory with the others, memory that is in use.
pub fn products(out: &Tensor, a: &Tensor, b: &Tensor, bias: Option<&Tensor>) -> Result<()> {
    match out.dtype() {
        DType::Float32 => batches::<f32>(out, a, b, bias),
        DType::Float64 => batches::<f64>(out, a, b, bias),
        dtype => Err(unsupported("a product of matrices", dtype)),
    }
}

#[inline]
fn batches<T: Number>(out: &Tensor, a: &Tensor, b: &Tensor, bias: Option<&Tensor>) -> Result<()> {
    let over = |tensor: &Tensor, data: *const T| Matrices::over(tensor, data.cast_mut());
    let Some(bias) = bias else {
        let lease = Lease::new([out], [a, b])?;
        check(out, a, b)?;
        let (x, y) = (over(a, a.data_ptr(&lease)?), over(b, b.data_ptr(&lease)?));
        // SAFETY: by `check`, the sizes match, and `out` overlaps neither the factors nor itself; the strides are those
        // of the tensors, so all accesses are in bounds. The lease prevents other accesses.
        unsafe { multiply_each(Target::write(Matrices::over(out, out.data_ptr_mut(&lease)?)), x, y) };
        return Ok(());
    };
    let lease = Lease::new([out], [a, b, bias])?;
    check(out, a, b)?;
    ensure!(
        bias.sizes() == out.sizes() && !out.may_overlap(bias),
        Shape,
        "a bias of sizes {:?} cannot be added to a product of sizes {:?}, or shares memory with it",
        bias.sizes(),
        out.sizes()
    );
    let (x, y) = (over(a, a.data_ptr(&lease)?), over(b, b.data_ptr(&lease)?));
    let bias = over(bias, bias.data_ptr(&lease)?);
    // SAFETY: by `check`, the sizes match, and `out` overlaps neither the factors nor itself; the bias has its sizes,
    // and does not overlap it. The strides are those of the tensors, so all accesses are in bounds, and the lease
    // prevents other accesses.
    unsafe { multiply_each(Target::add_to(Matrices::over(out, out.data_ptr_mut(&lease)?), bias), x, y) };
    Ok(())
}

/// Computes the products of a batch.
///
/// # Safety
/// - The requirements of [`multiply_one`] on each of the products.
#[inline(always)] // small products take as long as passing these arguments on
unsafe fn multiply_each<T: Number>(to: Target<T>, a: Matrices<T>, b: Matrices<T>) {
    let out = to.out;
    let work = out.rows.saturating_mul(out.columns).saturating_mul(a.columns);
    let is_large = work >= 2 * out.grain();
    let is_shared = out.count == 1 || work > 4 * GRAIN; // else each thread computes several whole products
    let one = |batch| {
        // SAFETY: the caller guarantees this; each matrix of the result is written by one thread.
        unsafe { multiply_one(to.at(batch), a.at(batch), b.at(batch), is_shared && is_large) };
    };
    let parts = if is_large { split::parts(&out, &a) } else { 1 };
    if parts > 1 {
        // SAFETY: the caller guarantees this.
        unsafe { split::multiply(to, a, b, parts) };
    } else if let Some(products) = small::products(&a, &b) {
        // SAFETY: the caller guarantees this; each matrix of the result is written by one thread.
        let each = |range| unsafe { products(to, a, b, range) };
        parallel::shares(out.count, (GRAIN / work.max(1)).max(1), each);
    } else if is_shared {
        (0..out.count).for_each(one);
    } else {
        parallel::shares(out.count, (GRAIN / work.max(1)).max(1), |range| range.for_each(one));
    }
}

/// Checks, under a lease, that the factors have elements, that their sizes match those of the result, and that it
/// overlaps neither a factor nor itself.
fn check(out: &Tensor, a: &Tensor, b: &Tensor) -> Result<()> {
    let (o, x, y) = (out.sizes(), a.sizes(), b.sizes());
    let ndim = o.len();
    ensure!(
        ndim >= 2
            && [x.len(), y.len()] == [ndim; 2]
            && [o[ndim - 2], x[ndim - 1], o[ndim - 1]] == [x[ndim - 2], y[ndim - 2], y[ndim - 1]]
            && [&x[..ndim - 2], &y[..ndim - 2]] == [&o[..ndim - 2]; 2],
        Shape,
        "the product of matrices of sizes {x:?} and {y:?} does not have sizes {o:?}"
    );
    ensure!(x[ndim - 1] > 0, Busy, "a matrix was resized to no columns while it was multiplied");
    ensure!(
        !out.may_overlap_itself(),
        Argument,
        "elements of sizes {o:?} and strides {:?} share memory locations",
        out.strides()
    );
    ensure!(
        !out.may_overlap(a) && !out.may_overlap(b),
        Argument,
        "matrices of sizes {o:?} share memory with their factors, pass a copy"
    );
    Ok(())
}

/// Computes a product.
///
/// # Safety
/// - The rows and columns of each matrix are in bounds of memory that is aligned for `T`, and initialised (that of the
///   result only if the product is added to it).
/// - `a` has as many rows as the result, `b` as many columns, and `b` as many rows as `a` has columns; a bias has an
///   element for each of the result's.
/// - The elements of the result overlap neither each other nor those of the other matrices.
/// - During the call, nothing else writes these, or reads or writes the result: either a lease prevents it, or the
///   memory is the caller's own.
#[inline]
pub(super) unsafe fn multiply_one<T: Number>(
    to: Target<T>,
    a: Matrices<T>,
    b: Matrices<T>,
    is_parallel: bool,
) {
    match T::DTYPE {
        // SAFETY: `T` is `f32`, so the casts change no type; the caller guarantees bounds, matching sizes, and no other
        // access.
        DType::Float32 => unsafe { fast::<f32>(to.cast(), a.cast(), b.cast(), is_parallel) },
        // SAFETY: `T` is `f64`, so the casts change no type; the caller guarantees bounds, matching sizes, and no other
        // access.
        DType::Float64 => unsafe { fast::<f64>(to.cast(), a.cast(), b.cast(), is_parallel) },
        // SAFETY: the caller guarantees bounds, matching sizes, and no other access.
        _ if unsafe { vectors::multiply(to, a, b, is_parallel) } => {}
        // SAFETY: `T` is this type, so the casts change no type; the caller guarantees bounds, matching sizes, and no
        // other access.
        DType::Complex64 => unsafe { multiply_complex::<f32>(to.cast(), a.cast(), b.cast(), is_parallel) },
        // SAFETY: `T` is this type, so the casts change no type; the caller guarantees bounds, matching sizes, and no
        // other access.
        DType::Complex128 => unsafe { multiply_complex::<f64>(to.cast(), a.cast(), b.cast(), is_parallel) },
        // SAFETY: the caller guarantees bounds, matching sizes, and no other access.
        _ => unsafe { integers::multiply(to, a, b, is_parallel) },
    }
}

/// What one thread computes of a product, or all of a small one.
///
/// # Safety
/// - The requirements of `tiles::multiply`: matrices that `tiles::turned` returned, or corresponding rows or columns of
///   them.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn alone<T: Number>(to: Target<T>, a: Matrices<T>, b: Matrices<T>) {
    // SAFETY: the caller guarantees this.
    unsafe {
        match blocks::are_for_few_rows(&a, &b) {
            true => blocks::multiply(to, a, b, false),
            false => tiles::multiply(to, a, b),
        }
    }
}

/// # Safety
/// - The requirements of [`multiply_one`]: matrices in bounds and of matching sizes, `out` disjoint from the others,
///   and no other access.
#[inline]
unsafe fn fast<T: Number>(to: Target<T>, a: Matrices<T>, b: Matrices<T>, is_parallel: bool) {
    #[cfg(target_arch = "x86_64")]
    if let Some((to, [a, b])) = tiles::turned(to, a, b) {
        // SAFETY: the caller guarantees the result, and what is added to it.
        let to = unsafe { to.for_vectors() };
        let out = to.out;
        if weights::are_for(&out, &a, &b, is_parallel) {
            // SAFETY: the caller guarantees the matrices; `turned` has returned them, and so has found that the
            // processor has the vector instructions.
            return unsafe { weights::multiply(to, a, b, is_parallel) };
        }
        if blocks::are_for(&a, &b) {
            // SAFETY: the caller guarantees the matrices; `turned` has returned them, and so has found that the
            // processor has the vector instructions.
            return unsafe { blocks::multiply(to, a, b, is_parallel) };
        }
        if !is_parallel {
            // SAFETY: the caller guarantees the matrices; `turned` has returned them, and so has found that the
            // processor has the vector instructions.
            return unsafe { alone(to, a, b) };
        }
        let is_tall = out.rows > out.columns;
        let (count, line) = if is_tall { (out.rows, out.columns) } else { (out.columns, out.rows) };
        let mut grain = (out.grain() / (line * a.columns).max(1)).max(1);
        if blocks::are_for_few_rows(&a, &b) {
            // Each range packs the rows of `a` anew, so there are few.
            grain = grain.max(count / (2 * rayon::current_num_threads()));
        }
        return parallel::shares(count, grain, |range| {
            let (to, [a, b]) = match is_tall {
                true => (to.rows(range.clone()), [a.rows(range), b]),
                false => (to.columns(range.clone()), [a, b.columns(range)]),
            };
            // SAFETY: these are some rows or columns of matrices that the caller guarantees; only this thread writes
            // this range of the result.
            unsafe { alone(to, a, b) };
        });
    }
    // SAFETY: the caller guarantees all matrices; those in the closure have a result with contiguous rows.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        match loops::has_avx2() {
            true => contiguous::by_copy(to, |to| fast(to, a, b, is_parallel)),
            false => integers::multiply(to, a, b, is_parallel),
        }
    }
    // SAFETY: the caller guarantees all matrices.
    #[cfg(not(target_arch = "x86_64"))]
    unsafe {
        others::multiply(to, a, b, is_parallel);
    }
}
