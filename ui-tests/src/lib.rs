//! The operators for which the cases in `fail/` write kernels, in a crate of their own.

use torch_library::torch_library;

torch_library! {
    /// Operators of each shape that a kernel can have.
    pub mod myops {
        add(Tensor self, Tensor other) -> Tensor;
        add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor;
        scale_(Tensor(a!) self, Scalar factor) -> Tensor(a!);
        split(Tensor self, int size) -> Tensor[];
        minmax(Tensor self, *, Tensor(a!) min, Tensor(b!) max) -> (Tensor(a!), Tensor(b!));
        norm(Tensor self, float p=2.0, int[1]? dim=None) -> Tensor;
    }
}
