//! Matrix products.
#![expect(unsafe_code, reason = "hands strided memory to the matrix product of `gemm`")]

use num_complex::Complex;
use torch_library::match_dtype;
use torch_library::prelude::*;

use super::loops;
use super::number::Number;
use crate::aten;
use crate::pointwise::{common_device, unsupported};

#[torch_impl(aten, CPU, Meta)]
fn mm(this: &Tensor, mat2: &Tensor) -> Result<Tensor> {
    const OPERATOR: &str = "aten::mm";
    let [n, k] = matrix(OPERATOR, this)?;
    let [k2, m] = matrix(OPERATOR, mat2)?;
    ensure!(
        k == k2,
        Shape,
        "{OPERATOR}: a {n} × {k} and a {k2} × {m} matrix have no product, {k} and {k2} differ"
    );
    let dtype = common_dtype(OPERATOR, this, mat2)?;
    let mut out = Tensor::empty(&[n, m], dtype, common_device(OPERATOR, &[this, mat2])?)?;
    multiply(OPERATOR, &mut out, this, mat2)?;
    Ok(out)
}

fn matrix(operator: &str, tensor: &Tensor) -> Result<[i64; 2]> {
    match *tensor.sizes() {
        [rows, columns] => Ok([rows, columns]),
        ref sizes => {
            bail!(Shape, "{operator}: sizes {sizes:?} are those of no matrix, expected two dimensions")
        }
    }
}

fn common_dtype(operator: &str, a: &Tensor, b: &Tensor) -> Result<DType> {
    ensure!(
        a.dtype() == b.dtype(),
        DType,
        "{operator}: matrices of {} and {} have no product, convert one to the other's type",
        a.dtype(),
        b.dtype()
    );
    Ok(a.dtype())
}

/// Writes the product of two matrices of one type to a third, in memory of its own.
///
/// Halves are multiplied as `f32`, and rounded once.
pub(super) fn multiply(operator: &str, out: &mut Tensor, a: &Tensor, b: &Tensor) -> Result<()> {
    if out.numel() == 0 || out.storage().data_ptr().is_none() {
        return Ok(());
    }
    let dtype = loops::computing_type(out.dtype());
    if dtype != out.dtype() {
        let mut wide = Tensor::empty(out.sizes(), dtype, out.device())?;
        multiply(operator, &mut wide, &converted(a, dtype)?, &converted(b, dtype)?)?;
        return loops::map(out, [&wide], |[x]: [f32; 1]| x);
    }
    match dtype {
        DType::Float32 => fast::<f32>(out, a, b),
        DType::Float64 => fast::<f64>(out, a, b),
        DType::Complex64 => fast::<Complex<f32>>(out, a, b),
        DType::Complex128 => fast::<Complex<f64>>(out, a, b),
        _ => {
            match_dtype!(dtype, T: Integer => plain::<T>(out, a, b), else => Err(unsupported(operator, dtype)))
        }
    }
}

/// A dense copy of another type.
fn converted(tensor: &Tensor, dtype: DType) -> Result<Tensor> {
    let copy = Tensor::empty(tensor.sizes(), dtype, tensor.device())?;
    match_dtype!(dtype, T => loops::map(&copy, [tensor], |[x]: [T; 1]| x))?;
    Ok(copy)
}

fn fast<T: Number>(out: &mut Tensor, a: &Tensor, b: &Tensor) -> Result<()> {
    let (&[n, m], k) = (out.sizes().first_chunk::<2>().expect("a matrix"), a.sizes()[1]);
    let (data, lhs, rhs) = (out.data_ptr::<T>()?, a.data_ptr::<T>()?, b.data_ptr::<T>()?);
    let strides = |x: &Tensor| (x.strides()[0] as isize, x.strides()[1] as isize);
    let ((rs, cs), (lhs_rs, lhs_cs), (rhs_rs, rhs_cs)) = (strides(out), strides(a), strides(b));
    let work = n * m * k;
    let parallelism = if work < 1 << 16 { gemm::Parallelism::None } else { gemm::Parallelism::Rayon(0) };
    // SAFETY: the pointers and strides are those of the tensors' elements, all in bounds; `out` is memory of its own.
    unsafe {
        gemm::gemm(
            n as usize,
            m as usize,
            k as usize,
            data,
            cs,
            rs,
            false,
            lhs,
            lhs_cs,
            lhs_rs,
            rhs,
            rhs_cs,
            rhs_rs,
            T::ZERO,
            T::ONE,
            false,
            false,
            false,
            parallelism,
        );
    }
    Ok(())
}

/// Integers, which wrap.
fn plain<T: Number>(out: &mut Tensor, a: &Tensor, b: &Tensor) -> Result<()> {
    let (&[n, m], k) = (out.sizes().first_chunk::<2>().expect("a matrix"), a.sizes()[1]);
    let (n, m, k) = (n as usize, m as usize, k as usize);
    let (a, b) = (a.to_vec::<T>()?, b.to_vec::<T>()?);
    let mut product = vec![T::ZERO; n * m];
    for row in 0..n {
        for inner in 0..k {
            let factor = a[row * k + inner];
            for (sum, x) in product[row * m..][..m].iter_mut().zip(&b[inner * m..]) {
                *sum = sum.plus(factor.times(*x));
            }
        }
    }
    out.copy_from_slice(&product)
}
