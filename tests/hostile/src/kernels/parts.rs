//! Results with more parts than there is memory, and sizes that no loop could finish.
#![forbid(unsafe_code)]

use torch_library::autograd::{self, GradOptions};
use torch_library::prelude::*;
use torch_library_kernels::aten;

use crate::harness::{allowed, attempt, count};

const WIDE: i64 = 1 << 45;

fn wide() -> Result<Tensor> {
    Tensor::from([1.0]).strided_view(&[WIDE], &[0], 0)
}

/// An expanded tensor of 2^45 elements is split into parts of one.
pub(crate) fn parts_without_end() -> Result<()> {
    let x = wide()?;
    let matrix = x.strided_view(&[WIDE, 2], &[0, 0], 0)?;
    for parts in [
        aten::split_Tensor(&x, 1),
        aten::unbind_int(&x),
        aten::chunk(&x, WIDE),
        aten::tensor_split_sections(&x, WIDE),
        aten::split_Tensor(&matrix, 1),
        aten::unbind_int(&matrix),
        aten::tensor_split_indices(&x, &[1, 2, 3]),
        aten::r#where(&x),
    ] {
        assert!(allowed(parts).is_none_or(|parts| parts.len() < 1 << 20));
    }
    Ok(())
}

/// A grid of many wide tensors; outer and Cartesian products.
pub(crate) fn grids_without_end() -> Result<()> {
    let (x, line) = (wide()?, Tensor::from([1.0, 2.0]));
    let many = vec![line.clone(); count(5000, 70)];
    attempt(aten::meshgrid(&[x.clone(), x.clone()]).map(drop));
    attempt(aten::meshgrid(&many).map(drop));
    attempt(aten::cartesian_prod(&many));
    attempt(aten::cartesian_prod(&[x.clone(), x.clone()]));
    attempt(aten::block_diag(&many));
    attempt(aten::broadcast_tensors(&many).map(drop));
    attempt(aten::outer(&x, &x));
    Ok(())
}

/// Copies, repeats and ranges that are larger than any memory.
pub(crate) fn sizes_without_end() -> Result<()> {
    let x = wide()?;
    attempt(aten::contiguous(&x));
    attempt(aten::clone(&x));
    attempt(aten::neg(&x.strided_view(&[1 << 60], &[0], 0)?));
    attempt(aten::repeat(&Tensor::from([1.0]), &[1 << 40, 1 << 20]));
    attempt(aten::tile(&Tensor::from([1.0]), &[i64::MAX]));
    attempt(aten::arange(i64::MAX.into()));
    attempt(aten::linspace(0.into(), 1.into(), i64::MAX));
    attempt(aten::eye(1 << 40));
    attempt(aten::one_hot(&Tensor::from([i64::MAX - 1])));
    attempt(aten::bincount(&Tensor::from([i64::MAX - 1])));
    attempt(aten::randperm(i64::MAX));
    attempt(aten::repeat_interleave_self_int(&Tensor::from([1.0]), i64::MAX));
    attempt(aten::constant_pad_nd(&Tensor::from([1.0]), &[i64::MAX, i64::MAX]));
    attempt(aten::tril_indices(1 << 40, 1 << 40));
    attempt(aten::vander(&x));
    Ok(())
}

/// 200 000 dimensions: operators must refuse them, or take negligible time.
pub(crate) fn dimensions_without_end() -> Result<()> {
    let ones = vec![1; count(200_000, 100)];
    let Some(x) = allowed(Tensor::from([1.0]).strided_view(&ones, &ones, 0)) else { return Ok(()) };
    attempt(aten::sum(&x));
    attempt(aten::neg(&x));
    attempt(aten::add_Tensor(&x, &x));
    attempt(aten::squeeze(&x));
    attempt(aten::squeeze_dim(&x, 0));
    attempt(aten::sum_dim_IntList(&x, Some(&[0])));
    attempt(aten::permute(&x, &(0..x.dim() as i64).rev().collect::<Vec<_>>()));
    attempt(aten::reshape(&Tensor::from([1.0]), &ones));
    attempt(aten::expand(&Tensor::from([1.0]), &ones));
    attempt(aten::sort(&x).map(drop));
    attempt(aten::cat(&[x.clone(), x.clone()]));
    assert!(!x.to_string().is_empty());
    Ok(())
}

/// Tensors without elements, one of whose dimensions is longer than any memory, and the backward pass from them.
pub(crate) fn nothing_in_many_rows() -> Result<()> {
    let nothing = |dtype| {
        let x = Tensor::empty(&[2, 1 << 40, 0], dtype, Device::CPU)?;
        x.set_requires_grad(true)?;
        Ok::<_, Error>(x)
    };
    let (real, complex) = (nothing(DType::Float64)?, nothing(DType::Complex128)?);
    for result in [
        aten::fft_irfft::with(&complex).dim(1).call(),
        aten::fft_hfft::with(&complex).dim(1).call(),
        aten::fft_rfft::with(&real).dim(1).call(),
        aten::cumsum(&real, 1),
        aten::flip(&real, &[1]),
        aten::sort(&real).map(|(values, _)| values),
    ] {
        let Some(result) = allowed(result) else { continue };
        let gradient = Tensor::empty(result.sizes(), result.dtype(), Device::CPU)?;
        attempt(autograd::backward(&[&result], &[Some(gradient)], GradOptions::new()));
    }
    let index = Tensor::from([1i64, 0]);
    let (mut to, one) = (Tensor::empty(&[2, 1 << 40, 0], DType::Float64, Device::CPU)?, Tensor::from([1.0]));
    attempt(aten::index_put_(&mut to, &[Some(index.clone())], &one).map(drop));
    attempt(aten::index_Tensor(&to, &[Some(index.clone())]));
    attempt(aten::index_select(&to, 0, &index));
    attempt(aten::index_fill_int_Scalar(&to, 0, &index, 1.into()));
    attempt(aten::index_add(&to, 0, &index, &to));
    attempt(aten::index_copy(&to, 0, &index, &to));
    attempt(aten::roll::with(&to, &[1]).dims(&[1]).call());
    attempt(aten::tril(&to));
    attempt(aten::sum(&to));
    attempt(aten::mean(&to));
    attempt(aten::sum_dim_IntList(&to, Some(&[1])));
    attempt(aten::max_dim(&to, 1).map(drop));
    attempt(aten::linalg_vector_norm(&to));
    let (flat, high) = (
        Tensor::empty(&[0, 1 << 40], DType::Float64, Device::CPU)?,
        Tensor::empty(&[1 << 40, 0], DType::Float64, Device::CPU)?,
    );
    attempt(aten::mm(&flat, &high));
    attempt(aten::mv(&flat, &wide()?.strided_view(&[1 << 40], &[0], 0)?));
    attempt(aten::native_layer_norm(&flat, &[1 << 40], None, None, 1e-5).map(drop));
    let last = aten::polygamma(i64::MAX, &Tensor::from([1.5]))?;
    assert_eq!(last.sizes(), [1]);
    let x = Tensor::from([1.5]);
    x.set_requires_grad(true)?;
    attempt(aten::sum(&aten::polygamma(i64::MAX, &x)?)?.backward());
    Ok(())
}
