//! Special functions, element-wise: Bessel, zeta and gamma functions, and those of the normal distribution.
//!
//! Functions whose results are seldom integers give floating-point results for integers.

use torch_library::torch_library;

torch_library! {
    /// Special functions.
    #[methods(SpecialMethods)]
    #[overloads(function)]
    pub mod aten extends "aten" {
        /// The inverse error function: NaN outside `[-1, 1]`.
        ///
        /// # Errors
        /// Complex dtypes.
        ///
        /// PyTorch: `torch.erfinv`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        erfinv(Tensor self) -> Tensor;
        /// The logarithm of the absolute value of the gamma function.
        ///
        /// # Errors
        /// Complex dtypes.
        ///
        /// PyTorch: `torch.lgamma`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        lgamma(Tensor self) -> Tensor;
        /// The digamma function: the derivative of [`lgamma`](fn@lgamma).
        ///
        /// # Errors
        /// Complex dtypes.
        ///
        /// PyTorch: `torch.digamma`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        digamma(Tensor self) -> Tensor;
        /// The polygamma function: the `n`-th derivative of [`digamma`](fn@digamma).
        ///
        /// # Errors
        /// A negative order, a complex dtype.
        ///
        /// PyTorch: `torch.polygamma`.
        #[tags(pointwise)]
        #[variants(out)]
        polygamma(int n, Tensor self) -> Tensor;
        /// Alias for `sigmoid`.
        ///
        /// PyTorch: `torch.special.expit`.
        special_expit(Tensor self) -> Tensor;
        /// Alias for `erf`.
        ///
        /// PyTorch: `torch.special.erf`.
        special_erf(Tensor self) -> Tensor;
        /// The modified Bessel function of the first kind of order 0.
        ///
        /// # Errors
        /// Complex dtypes.
        ///
        /// PyTorch: `torch.i0`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        i0(Tensor self) -> Tensor;
        /// Alias for [`i0`](fn@i0).
        ///
        /// # Errors
        /// Complex dtypes.
        ///
        /// PyTorch: `torch.special.i0`.
        special_i0(Tensor self) -> Tensor;
        /// The exponentially scaled [`i0`](fn@i0): `exp(-abs(x)) * i0(x)`.
        ///
        /// # Errors
        /// Complex dtypes.
        ///
        /// PyTorch: `torch.special.i0e`.
        #[tags(pointwise)]
        #[variants(out)]
        special_i0e(Tensor self) -> Tensor;
        /// The modified Bessel function of the first kind of order 1.
        ///
        /// # Errors
        /// Complex dtypes.
        ///
        /// PyTorch: `torch.special.i1`.
        #[tags(pointwise)]
        #[variants(out)]
        special_i1(Tensor self) -> Tensor;
        /// The exponentially scaled [`special_i1`](fn@special_i1): `exp(-abs(x)) * i1(x)`.
        ///
        /// # Errors
        /// Complex dtypes.
        ///
        /// PyTorch: `torch.special.i1e`.
        #[tags(pointwise)]
        #[variants(out)]
        special_i1e(Tensor self) -> Tensor;
        /// The Bessel function of the first kind of order 0.
        ///
        /// # Errors
        /// Half-precision and complex dtypes.
        ///
        /// PyTorch: `torch.special.bessel_j0`.
        #[tags(pointwise)]
        #[variants(out)]
        special_bessel_j0(Tensor self) -> Tensor;
        /// The Bessel function of the first kind of order 1.
        ///
        /// # Errors
        /// Half-precision and complex dtypes.
        ///
        /// PyTorch: `torch.special.bessel_j1`.
        #[tags(pointwise)]
        #[variants(out)]
        special_bessel_j1(Tensor self) -> Tensor;
        /// The Bessel function of the second kind of order 0.
        ///
        /// # Errors
        /// Half-precision and complex dtypes.
        ///
        /// PyTorch: `torch.special.bessel_y0`.
        #[tags(pointwise)]
        #[variants(out)]
        special_bessel_y0(Tensor self) -> Tensor;
        /// The Bessel function of the second kind of order 1.
        ///
        /// # Errors
        /// Half-precision and complex dtypes.
        ///
        /// PyTorch: `torch.special.bessel_y1`.
        #[tags(pointwise)]
        #[variants(out)]
        special_bessel_y1(Tensor self) -> Tensor;
        /// The modified Bessel function of the first kind of order 0.
        ///
        /// # Errors
        /// Half-precision and complex dtypes.
        ///
        /// PyTorch: `torch.special.modified_bessel_i0`.
        #[tags(pointwise)]
        #[variants(out)]
        special_modified_bessel_i0(Tensor self) -> Tensor;
        /// The modified Bessel function of the first kind of order 1.
        ///
        /// # Errors
        /// Half-precision and complex dtypes.
        ///
        /// PyTorch: `torch.special.modified_bessel_i1`.
        #[tags(pointwise)]
        #[variants(out)]
        special_modified_bessel_i1(Tensor self) -> Tensor;
        /// The modified Bessel function of the second kind of order 0.
        ///
        /// # Errors
        /// Half-precision and complex dtypes.
        ///
        /// PyTorch: `torch.special.modified_bessel_k0`.
        #[tags(pointwise)]
        #[variants(out)]
        special_modified_bessel_k0(Tensor self) -> Tensor;
        /// The modified Bessel function of the second kind of order 1.
        ///
        /// # Errors
        /// Half-precision and complex dtypes.
        ///
        /// PyTorch: `torch.special.modified_bessel_k1`.
        #[tags(pointwise)]
        #[variants(out)]
        special_modified_bessel_k1(Tensor self) -> Tensor;
        /// The modified Bessel function of the second kind of order 0, times `exp(x)`.
        ///
        /// # Errors
        /// Half-precision and complex dtypes.
        ///
        /// PyTorch: `torch.special.scaled_modified_bessel_k0`.
        #[tags(pointwise)]
        #[variants(out)]
        special_scaled_modified_bessel_k0(Tensor x) -> Tensor;
        /// The modified Bessel function of the second kind of order 1, times `exp(x)`.
        ///
        /// # Errors
        /// Half-precision and complex dtypes.
        ///
        /// PyTorch: `torch.special.scaled_modified_bessel_k1`.
        #[tags(pointwise)]
        #[variants(out)]
        special_scaled_modified_bessel_k1(Tensor x) -> Tensor;
        /// The spherical Bessel function of the first kind of order 0: `sin(x) / x`.
        ///
        /// # Errors
        /// Half-precision and complex dtypes.
        ///
        /// PyTorch: `torch.special.spherical_bessel_j0`.
        #[tags(pointwise)]
        #[variants(out)]
        special_spherical_bessel_j0(Tensor x) -> Tensor;
        /// The entropy of each element, `-p * ln(p)`: zero for `p = 0`, minus infinity for negative `p`.
        ///
        /// # Errors
        /// Complex dtypes.
        ///
        /// PyTorch: `torch.special.entr`.
        #[tags(pointwise)]
        #[variants(out)]
        special_entr(Tensor self) -> Tensor;
        /// The scaled complementary error function: `exp(x²) * erfc(x)`.
        ///
        /// # Errors
        /// Half-precision and complex dtypes.
        ///
        /// PyTorch: `torch.special.erfcx`.
        #[tags(pointwise)]
        #[variants(out)]
        special_erfcx(Tensor self) -> Tensor;
        /// The cumulative distribution function of the standard normal distribution: the probability of a value of at
        /// most `x`.
        ///
        /// # Errors
        /// Complex dtypes.
        ///
        /// PyTorch: `torch.special.ndtr`.
        special_ndtr(Tensor self) -> Tensor;
        /// The logarithm of [`special_ndtr`](fn@special_ndtr), accurate also where the probability itself underflows.
        ///
        /// # Errors
        /// Half-precision and complex dtypes.
        ///
        /// PyTorch: `torch.special.log_ndtr`.
        #[tags(pointwise)]
        #[variants(out)]
        special_log_ndtr(Tensor self) -> Tensor;
        /// The quantile function of the standard normal distribution, the inverse of [`special_ndtr`](fn@special_ndtr):
        /// NaN outside `[0, 1]`.
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
        /// Half-precision and complex dtypes.
        ///
        /// PyTorch: `torch.special.ndtri`.
        #[tags(pointwise)]
        #[variants(out)]
        special_ndtri(Tensor self) -> Tensor;
        /// `self * log1p(other)`: 0 where `self` is 0, unless `other` is NaN.
        ///
        /// # Errors
        /// Complex dtypes.
        ///
        /// PyTorch: `torch.special.xlog1py`.
        #[tags(pointwise)]
        #[variants(out)]
        special_xlog1py(Tensor self, Tensor other) -> Tensor;
        /// [`special_xlog1py`](fn@special_xlog1py) with a scalar `other`.
        ///
        /// # Errors
        /// Complex dtypes.
        ///
        /// PyTorch: `torch.special.xlog1py`.
        #[tags(pointwise)]
        special_xlog1py.other_scalar(Tensor self, Scalar other) -> Tensor;
        /// [`special_xlog1py`](fn@special_xlog1py) with a scalar `self`.
        ///
        /// # Errors
        /// Complex dtypes.
        ///
        /// PyTorch: `torch.special.xlog1py`.
        #[tags(pointwise)]
        special_xlog1py.self_scalar(Scalar self, Tensor other) -> Tensor;
        /// The Hurwitz zeta function: the sum of `(other + k)^-self` over all integers `k` from 0.
        ///
        /// # Errors
        /// Half-precision and complex dtypes.
        ///
        /// PyTorch: `torch.special.zeta`.
        #[tags(pointwise)]
        #[variants(out)]
        special_zeta(Tensor self, Tensor other) -> Tensor;
        /// [`special_zeta`](fn@special_zeta) with a scalar `other`.
        ///
        /// # Errors
        /// Half-precision and complex dtypes.
        ///
        /// PyTorch: `torch.special.zeta`.
        #[tags(pointwise)]
        special_zeta.other_scalar(Tensor self, Scalar other) -> Tensor;
        /// [`special_zeta`](fn@special_zeta) with a scalar `self`.
        ///
        /// # Errors
        /// Half-precision and complex dtypes.
        ///
        /// PyTorch: `torch.special.zeta`.
        #[tags(pointwise)]
        special_zeta.self_scalar(Scalar self, Tensor other) -> Tensor;
        /// The regularised lower incomplete gamma function: the integral of `t^(self - 1) exp(-t)` from 0 to `other`,
        /// divided by the gamma function of `self`. NaN where either is negative.
        ///
        /// # Errors
        /// Integer, boolean and complex dtypes.
        ///
        /// PyTorch: `torch.igamma`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        igamma(Tensor self, Tensor other) -> Tensor;
        /// The regularised upper incomplete gamma function: 1 minus [`igamma`](fn@igamma), accurate also where it is
        /// small.
        ///
        /// # Errors
        /// Integer, boolean and complex dtypes.
        ///
        /// PyTorch: `torch.igammac`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        igammac(Tensor self, Tensor other) -> Tensor;
        /// The logarithm of the multivariate gamma function of dimension `p`.
        ///
        /// # Errors
        /// An order below 1, boolean and complex dtypes.
        ///
        /// PyTorch: `torch.mvlgamma`.
        #[tags(pointwise)]
        mvlgamma(Tensor self, int p) -> Tensor;
        /// Alias for [`mvlgamma`](fn@mvlgamma).
        ///
        /// # Errors
        /// An order below 1, boolean and complex dtypes.
        ///
        /// PyTorch: `torch.special.multigammaln`.
        special_multigammaln(Tensor self, int p) -> Tensor;
    }
}
