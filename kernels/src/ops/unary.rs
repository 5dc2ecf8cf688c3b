//! Operators on one tensor, element by element.

use torch_library::torch_library;

torch_library! {
    /// Functions of one number, on top of what was declared before.
    pub mod aten extends super::binary::aten {
        /// The larger of each element and zero.
        ///
        /// ```
        /// use torch_library::prelude::*;
        /// use torch_library_kernels::aten;
        ///
        /// assert_eq!(aten::relu(&Tensor::from([-1.5, 2.0]))?.to_vec::<f64>()?, [0.0, 2.0]);
        /// # Ok::<(), Error>(())
        /// ```
        ///
        /// PyTorch: `torch.relu`.
        #[tags(pointwise)]
        relu(Tensor self) -> Tensor;
        /// Replaces negative elements by zero.
        ///
        /// PyTorch: `torch.relu_`.
        #[tags(pointwise)]
        relu_(Tensor(a!) self) -> Tensor(a!);
    }
}
