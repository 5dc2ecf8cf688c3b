//! Operators in a crate of edition 2021, without kernels.
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, unreachable_pub, unused_qualifications, single_use_lifetimes, elided_lifetimes_in_paths)]

torch_library::torch_library! {
    /// Operators whose kernels are in `kernels`.
    #[kernels_in(kernels)]
    pub mod myops {
        /// Doubles.
        double(Tensor self, *, str how="by addition") -> Tensor;
        /// Doubles in place.
        double_(Tensor(a!) self) -> Tensor(a!);
        /// The smaller and the greater of each.
        minmax.out(Tensor self, Tensor other, *, Tensor(a!) min, Tensor(b!) max) -> (Tensor(a!), Tensor(b!));
    }
}
