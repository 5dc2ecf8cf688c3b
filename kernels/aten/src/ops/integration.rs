//! Numerical integrals (trapezoidal rule) and gradients of samples.

use torch_library::torch_library;

torch_library! {
    /// Integrals and gradients of samples.
    pub mod aten extends "aten" {
        /// The integral along a dimension by the trapezoidal rule, of samples that are `dx` apart.
        ///
        /// # Errors
        /// A boolean dtype, a tensor without dimensions, a dimension out of range.
        ///
        /// PyTorch: `torch.trapz`.
        trapz.dx(Tensor y, *, float dx=1., int dim=-1) -> Tensor;
        /// The integral along a dimension by the trapezoidal rule, of samples at the points `x`.
        ///
        /// # Errors
        /// The errors of [`trapz_dx`](fn@trapz_dx); a number of points other than that of the samples.
        ///
        /// PyTorch: `torch.trapz`.
        trapz.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor;
        /// The integral along a dimension by the trapezoidal rule, of samples that are `dx` apart.
        ///
        /// # Errors
        /// A dimension out of range, a boolean dtype, a `dx` that is complex or boolean.
        ///
        /// PyTorch: `torch.trapezoid`.
        trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor;
        /// The integral along a dimension by the trapezoidal rule, of samples at the points `x`.
        ///
        /// # Errors
        /// Sizes that do not broadcast, a number of points other than that of the samples, boolean dtypes.
        ///
        /// PyTorch: `torch.trapezoid`.
        trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor;
        /// The cumulative integral by the trapezoidal rule, at every sample but the first, of samples that are `dx`
        /// apart.
        ///
        /// # Errors
        /// The errors of [`trapz_dx`](fn@trapz_dx), and a `dx` that is complex or boolean.
        ///
        /// PyTorch: `torch.cumulative_trapezoid`.
        cumulative_trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor;
        /// The cumulative integral by the trapezoidal rule, at every sample but the first, of samples at the points
        /// `x`.
        ///
        /// # Errors
        /// The errors of [`trapz_x`](fn@trapz_x).
        ///
        /// PyTorch: `torch.cumulative_trapezoid`.
        cumulative_trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor;

        /// The gradients of samples along one dimension, or along all: central differences of second order inside, and
        /// one-sided differences of order `edge_order` at the edges. `spacing` is the same in all dimensions.
        ///
        /// ```
        /// use torch_library::prelude::*;
        /// use torch_library_kernels::aten;
        ///
        /// let slopes = aten::gradient_scalarint(&Tensor::from([1.0, 4.0, 9.0, 16.0]))?;
        /// assert_eq!(slopes[0].to_vec::<f64>()?, [3.0, 4.0, 6.0, 7.0]);
        /// # Ok::<(), Error>(())
        /// ```
        ///
        /// # Errors
        /// An `edge_order` other than 1 and 2, fewer samples than it needs, `uint8` and boolean dtypes, a dimension out
        /// of range or named twice.
        ///
        /// PyTorch: `torch.gradient`.
        gradient.scalarint(Tensor self, *, Scalar? spacing=None, int? dim=None, int edge_order=1) -> Tensor[];
        /// [`gradient_scalarint`](fn@gradient_scalarint) along several dimensions.
        ///
        /// PyTorch: `torch.gradient`.
        gradient.scalararray(Tensor self, *, Scalar spacing, int[] dim, int edge_order=1) -> Tensor[];
        /// [`gradient_scalarint`](fn@gradient_scalarint) along several dimensions, with a spacing of 1.
        ///
        /// PyTorch: `torch.gradient`.
        gradient.array(Tensor self, *, int[] dim, int edge_order=1) -> Tensor[];
        /// [`gradient_scalarint`](fn@gradient_scalarint) with a spacing for each dimension.
        ///
        /// # Errors
        /// The errors of [`gradient_scalarint`](fn@gradient_scalarint); a number of spacings other than that of the
        /// dimensions.
        ///
        /// PyTorch: `torch.gradient`.
        gradient.scalarrayint(Tensor self, *, Scalar[] spacing, int? dim=None, int edge_order=1) -> Tensor[];
        /// [`gradient_scalarrayint`](fn@gradient_scalarrayint) along several dimensions.
        ///
        /// PyTorch: `torch.gradient`.
        gradient.scalarrayarray(Tensor self, *, Scalar[] spacing, int[] dim, int edge_order=1) -> Tensor[];
        /// [`gradient_scalarint`](fn@gradient_scalarint) with the coordinates of the samples, a vector for each
        /// dimension.
        ///
        /// # Errors
        /// The errors of [`gradient_scalarint`](fn@gradient_scalarint); coordinates that are not a vector, or whose
        /// number is not that of the samples.
        ///
        /// PyTorch: `torch.gradient`.
        gradient.tensorarrayint(Tensor self, *, Tensor[] spacing, int? dim=None, int edge_order=1) -> Tensor[];
        /// [`gradient_tensorarrayint`](fn@gradient_tensorarrayint) along several dimensions.
        ///
        /// PyTorch: `torch.gradient`.
        gradient.tensorarray(Tensor self, *, Tensor[] spacing, int[] dim, int edge_order=1) -> Tensor[];
    }
}
