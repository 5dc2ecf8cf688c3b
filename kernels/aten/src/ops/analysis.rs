//! Functions of statistics and physics, element by element: those of Bessel, of the normal distribution, of zeta.
//!
//! Integers give floating-point results.

use torch_library::torch_library;

torch_library! {
    /// Functions of statistics and physics, on top of what was declared before.
    #[methods(AnalysisMethods)]
    pub mod aten extends super::special::aten {
        /// The modified Bessel function of the first kind of order 0.
        ///
        /// # Errors
        /// Complex numbers.
        ///
        /// PyTorch: `torch.i0`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        i0(Tensor self) -> Tensor;
        /// [`i0`](fn@i0) under another name.
        ///
        /// # Errors
        /// Complex numbers.
        ///
        /// PyTorch: `torch.special.i0`.
        special_i0(Tensor self) -> Tensor;
        /// [`i0`](fn@i0) over the exponential of the magnitude.
        ///
        /// # Errors
        /// Complex numbers.
        ///
        /// PyTorch: `torch.special.i0e`.
        #[tags(pointwise)]
        #[variants(out)]
        special_i0e(Tensor self) -> Tensor;
        /// The modified Bessel function of the first kind of order 1.
        ///
        /// # Errors
        /// Complex numbers.
        ///
        /// PyTorch: `torch.special.i1`.
        #[tags(pointwise)]
        #[variants(out)]
        special_i1(Tensor self) -> Tensor;
        /// [`special_i1`](fn@special_i1) over the exponential of the magnitude.
        ///
        /// # Errors
        /// Complex numbers.
        ///
        /// PyTorch: `torch.special.i1e`.
        #[tags(pointwise)]
        #[variants(out)]
        special_i1e(Tensor self) -> Tensor;
        /// The Bessel function of the first kind of order 0.
        ///
        /// # Errors
        /// Halves and complex numbers.
        ///
        /// PyTorch: `torch.special.bessel_j0`.
        #[tags(pointwise)]
        #[variants(out)]
        special_bessel_j0(Tensor self) -> Tensor;
        /// The Bessel function of the first kind of order 1.
        ///
        /// # Errors
        /// Halves and complex numbers.
        ///
        /// PyTorch: `torch.special.bessel_j1`.
        #[tags(pointwise)]
        #[variants(out)]
        special_bessel_j1(Tensor self) -> Tensor;
        /// The Bessel function of the second kind of order 0.
        ///
        /// # Errors
        /// Halves and complex numbers.
        ///
        /// PyTorch: `torch.special.bessel_y0`.
        #[tags(pointwise)]
        #[variants(out)]
        special_bessel_y0(Tensor self) -> Tensor;
        /// The Bessel function of the second kind of order 1.
        ///
        /// # Errors
        /// Halves and complex numbers.
        ///
        /// PyTorch: `torch.special.bessel_y1`.
        #[tags(pointwise)]
        #[variants(out)]
        special_bessel_y1(Tensor self) -> Tensor;
        /// The modified Bessel function of the first kind of order 0.
        ///
        /// # Errors
        /// Halves and complex numbers.
        ///
        /// PyTorch: `torch.special.modified_bessel_i0`.
        #[tags(pointwise)]
        #[variants(out)]
        special_modified_bessel_i0(Tensor self) -> Tensor;
        /// The modified Bessel function of the first kind of order 1.
        ///
        /// # Errors
        /// Halves and complex numbers.
        ///
        /// PyTorch: `torch.special.modified_bessel_i1`.
        #[tags(pointwise)]
        #[variants(out)]
        special_modified_bessel_i1(Tensor self) -> Tensor;
        /// The modified Bessel function of the second kind of order 0.
        ///
        /// # Errors
        /// Halves and complex numbers.
        ///
        /// PyTorch: `torch.special.modified_bessel_k0`.
        #[tags(pointwise)]
        #[variants(out)]
        special_modified_bessel_k0(Tensor self) -> Tensor;
        /// The modified Bessel function of the second kind of order 1.
        ///
        /// # Errors
        /// Halves and complex numbers.
        ///
        /// PyTorch: `torch.special.modified_bessel_k1`.
        #[tags(pointwise)]
        #[variants(out)]
        special_modified_bessel_k1(Tensor self) -> Tensor;
        /// The modified Bessel function of the second kind of order 0, times the exponential.
        ///
        /// # Errors
        /// Halves and complex numbers.
        ///
        /// PyTorch: `torch.special.scaled_modified_bessel_k0`.
        #[tags(pointwise)]
        #[variants(out)]
        special_scaled_modified_bessel_k0(Tensor x) -> Tensor;
        /// The modified Bessel function of the second kind of order 1, times the exponential.
        ///
        /// # Errors
        /// Halves and complex numbers.
        ///
        /// PyTorch: `torch.special.scaled_modified_bessel_k1`.
        #[tags(pointwise)]
        #[variants(out)]
        special_scaled_modified_bessel_k1(Tensor x) -> Tensor;
        /// The sine over its angle: the spherical Bessel function of the first kind of order 0.
        ///
        /// # Errors
        /// Halves and complex numbers.
        ///
        /// PyTorch: `torch.special.spherical_bessel_j0`.
        #[tags(pointwise)]
        #[variants(out)]
        special_spherical_bessel_j0(Tensor x) -> Tensor;

        /// What each probability adds to the entropy: `-p ln(p)`; minus infinity below zero.
        ///
        /// # Errors
        /// Complex numbers.
        ///
        /// PyTorch: `torch.special.entr`.
        #[tags(pointwise)]
        #[variants(out)]
        special_entr(Tensor self) -> Tensor;
        /// The complement of the error function times `exp(x²)`.
        ///
        /// # Errors
        /// Halves and complex numbers.
        ///
        /// PyTorch: `torch.special.erfcx`.
        #[tags(pointwise)]
        #[variants(out)]
        special_erfcx(Tensor self) -> Tensor;
        /// The probability that a standard normal variable is below each element.
        ///
        /// # Errors
        /// Complex numbers.
        ///
        /// PyTorch: `torch.special.ndtr`.
        special_ndtr(Tensor self) -> Tensor;
        /// The logarithm of [`special_ndtr`](fn@special_ndtr), also where that is too small for the type.
        ///
        /// # Errors
        /// Halves and complex numbers.
        ///
        /// PyTorch: `torch.special.log_ndtr`.
        #[tags(pointwise)]
        #[variants(out)]
        special_log_ndtr(Tensor self) -> Tensor;
        /// Below which number a standard normal variable is with the probability that each element is; NaN beyond 0
        /// and 1.
        ///
        /// ```
        /// use torch_library::prelude::*;
        /// use torch_library_kernels::aten;
        ///
        /// let x = aten::special_ndtri(&Tensor::from([0.0, 0.5, 0.975]))?.to_vec::<f64>()?;
        /// assert_eq!(x[..2], [f64::NEG_INFINITY, 0.0]);
        /// assert!((x[2] - 1.96).abs() < 1e-4);
        /// # Ok::<(), Error>(())
        /// ```
        ///
        /// # Errors
        /// Halves and complex numbers.
        ///
        /// PyTorch: `torch.special.ndtri`.
        #[tags(pointwise)]
        #[variants(out)]
        special_ndtri(Tensor self) -> Tensor;
        /// `self` times the logarithm of one more than `other`; 0 where `self` is 0, whatever `other` is but NaN.
        ///
        /// # Errors
        /// Complex numbers.
        ///
        /// PyTorch: `torch.special.xlog1py`.
        #[tags(pointwise)]
        #[variants(out)]
        special_xlog1py(Tensor self, Tensor other) -> Tensor;
        /// As [`special_xlog1py`](fn@special_xlog1py), with a number.
        ///
        /// # Errors
        /// Complex numbers.
        ///
        /// PyTorch: `torch.special.xlog1py`.
        #[tags(pointwise)]
        special_xlog1py.other_scalar(Tensor self, Scalar other) -> Tensor;
        /// As [`special_xlog1py`](fn@special_xlog1py), of a number.
        ///
        /// # Errors
        /// Complex numbers.
        ///
        /// PyTorch: `torch.special.xlog1py`.
        #[tags(pointwise)]
        special_xlog1py.self_scalar(Scalar self, Tensor other) -> Tensor;
        /// The sum of `(other + k)^-self` over all whole `k` from 0: the zeta function of Hurwitz.
        ///
        /// # Errors
        /// Halves and complex numbers.
        ///
        /// PyTorch: `torch.special.zeta`.
        #[tags(pointwise)]
        #[variants(out)]
        special_zeta(Tensor self, Tensor other) -> Tensor;
        /// As [`special_zeta`](fn@special_zeta), with a number.
        ///
        /// # Errors
        /// Halves and complex numbers.
        ///
        /// PyTorch: `torch.special.zeta`.
        #[tags(pointwise)]
        special_zeta.other_scalar(Tensor self, Scalar other) -> Tensor;
        /// As [`special_zeta`](fn@special_zeta), of a number.
        ///
        /// # Errors
        /// Halves and complex numbers.
        ///
        /// PyTorch: `torch.special.zeta`.
        #[tags(pointwise)]
        special_zeta.self_scalar(Scalar self, Tensor other) -> Tensor;
        /// The lower incomplete gamma function over the gamma function: the part of the integral of
        /// `t^(self - 1) exp(-t)` over all positive numbers that lies below `other`. NaN where either is negative.
        ///
        /// # Errors
        /// Integers, booleans and complex numbers.
        ///
        /// PyTorch: `torch.igamma`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        igamma(Tensor self, Tensor other) -> Tensor;
        /// The upper incomplete gamma function over the gamma function: what [`igamma`](fn@igamma) leaves of 1, and
        /// exact where that is little.
        ///
        /// # Errors
        /// Integers, booleans and complex numbers.
        ///
        /// PyTorch: `torch.igammac`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        igammac(Tensor self, Tensor other) -> Tensor;
        /// The logarithm of the gamma function of `p` variables.
        ///
        /// # Errors
        /// An order below 1, booleans, complex numbers.
        ///
        /// PyTorch: `torch.mvlgamma`.
        #[tags(pointwise)]
        mvlgamma(Tensor self, int p) -> Tensor;
        /// [`mvlgamma`](fn@mvlgamma) under another name.
        ///
        /// # Errors
        /// An order below 1, booleans, complex numbers.
        ///
        /// PyTorch: `torch.special.multigammaln`.
        special_multigammaln(Tensor self, int p) -> Tensor;
    }
}
