//! Derivatives of Fourier transforms, which are Fourier transforms themselves.

use torch_library::derivatives;
use torch_library::prelude::*;

use crate::aten;
use crate::prelude::*;

derivatives! {
    in aten;

    _fft_c2c(Tensor self, SymInt[] dim, int normalization, bool forward) -> Tensor as FftC2CBackward0 {
        self => aten::_fft_c2c(grad, dim, normalization, !forward),
    }
    _fft_r2c(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor as FftR2CBackward0 {
        self => {
            let last = dim[dim.len() - 1];
            let missing = if onesided { self.size(last)? - grad.size(last)? } else { 0 };
            let full = if missing > 0 { with_zeros(grad, last, missing)? } else { grad.clone() };
            aten::real(&aten::_fft_c2c(&full, dim, normalization, false)?)
        },
    }
    _fft_c2r(
        Tensor self, int[] dim, int normalization, SymInt last_dim_size
    ) -> Tensor as FftC2RBackward0 {
        self => {
            let last = dim[dim.len() - 1];
            let half = aten::_fft_r2c(grad, dim, normalization, true)?;
            // A frequency whose conjugate is not stored counts twice.
            doubled(&half, last, grad.size(last)? - half.size(last)?)
        },
    }
}

/// A tensor padded with zeros at the end of a dimension.
fn with_zeros(tensor: &Tensor, dim: i64, count: i64) -> Result<Tensor> {
    let mut pad = vec![0; 2 * (tensor.dim() - dim as usize)];
    if let Some(behind) = pad.last_mut() {
        *behind = count;
    }
    aten::constant_pad_nd(tensor, &pad)
}

/// Doubles `count` elements from the second on along a dimension; the others stay.
fn doubled(half: &Tensor, dim: i64, count: i64) -> Result<Tensor> {
    if count == 0 || half.numel() == 0 {
        return Ok(half.clone()); // the size of another dimension may exceed any list
    }
    let factor = |at| if (1..=count).contains(&at) { 2.0 } else { 1.0 };
    let factors: Vec<f64> = (0..half.size(dim)?).map(factor).collect();
    let mut sizes = vec![1; half.dim()];
    sizes[dim as usize] = half.size(dim)?;
    let factors = Tensor::from_vec(factors, &sizes)?;
    let factors = aten::to_dtype(&factors, half.dtype().to_real())?;
    half.mul(&aten::_to_copy::with(&factors).device(half.device()).call()?)
}
