//! Integrals and slopes of samples.

use torch_library::torch_library;

torch_library! {
    /// Integrals and slopes, on top of what was declared before.
    pub mod aten extends super::factor::aten {
        /// The area under a line through points that are `dx` apart.
        ///
        /// # Errors
        /// Booleans, a tensor without dimensions, a dimension out of range.
        ///
        /// PyTorch: `torch.trapz`.
        trapz.dx(Tensor y, *, float dx=1., int dim=-1) -> Tensor;
        /// The area under a line through points at `x`.
        ///
        /// # Errors
        /// As of [`trapz_dx`](fn@trapz_dx); places that are not as many as the points.
        ///
        /// PyTorch: `torch.trapz`.
        trapz.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor;
        /// The integrals up to each sample but the first, at equal distances.
        ///
        /// # Errors
        /// As of [`trapz_dx`](fn@trapz_dx), and a distance that is complex or a boolean.
        ///
        /// PyTorch: `torch.cumulative_trapezoid`.
        cumulative_trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor;
        /// The integrals up to each sample but the first, at the places `x`.
        ///
        /// # Errors
        /// As of [`trapz_x`](fn@trapz_x).
        ///
        /// PyTorch: `torch.cumulative_trapezoid`.
        cumulative_trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor;

        /// The slopes of samples along dimensions, all of them unless one is named: differences of second order,
        /// and at the ends of order `edge_order`. One distance serves all dimensions.
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
        /// An order that is neither 1 nor 2, fewer samples than that takes, `uint8`, a dimension out of range or
        /// named twice.
        ///
        /// PyTorch: `torch.gradient`.
        gradient.scalarint(Tensor self, *, Scalar? spacing=None, int? dim=None, int edge_order=1) -> Tensor[];
        /// As [`gradient_scalarint`](fn@gradient_scalarint), along several dimensions.
        ///
        /// PyTorch: `torch.gradient`.
        gradient.scalararray(Tensor self, *, Scalar spacing, int[] dim, int edge_order=1) -> Tensor[];
        /// As [`gradient_scalarint`](fn@gradient_scalarint), along several dimensions, at distances of 1.
        ///
        /// PyTorch: `torch.gradient`.
        gradient.array(Tensor self, *, int[] dim, int edge_order=1) -> Tensor[];
        /// As [`gradient_scalarint`](fn@gradient_scalarint), with a distance for each dimension.
        ///
        /// # Errors
        /// As of that; other than one distance for each dimension.
        ///
        /// PyTorch: `torch.gradient`.
        gradient.scalarrayint(Tensor self, *, Scalar[] spacing, int? dim=None, int edge_order=1) -> Tensor[];
        /// As [`gradient_scalarrayint`](fn@gradient_scalarrayint), along several dimensions.
        ///
        /// PyTorch: `torch.gradient`.
        gradient.scalarrayarray(Tensor self, *, Scalar[] spacing, int[] dim, int edge_order=1) -> Tensor[];
        /// As [`gradient_scalarint`](fn@gradient_scalarint), with the places of samples in a vector for each dimension.
        ///
        /// # Errors
        /// As of that; places that are no vector, or not as many as the samples.
        ///
        /// PyTorch: `torch.gradient`.
        gradient.tensorarrayint(Tensor self, *, Tensor[] spacing, int? dim=None, int edge_order=1) -> Tensor[];
        /// As [`gradient_tensorarrayint`](fn@gradient_tensorarrayint), along several dimensions.
        ///
        /// PyTorch: `torch.gradient`.
        gradient.tensorarray(Tensor self, *, Tensor[] spacing, int[] dim, int edge_order=1) -> Tensor[];
    }
}
