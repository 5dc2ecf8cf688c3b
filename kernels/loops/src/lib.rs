//! Writing kernels for the CPU: loops over the elements of [`torch_library`]'s tensors.
//!
//! A kernel is a closure over numbers. Everything around it is written once, here: broadcasting, strides, conversions
//! between types, memory formats, writing in place, vector instructions and threads. The same kernel serves `Meta`,
//! where tensors have shapes but no elements: there the loops do nothing.
//!
//! # A function of elements
//!
//! [`Pointwise`] decides everything that can be decided before any element is computed: sizes, types, strides. Its
//! [`compute`](Pointwise::compute) allocates the result and computes its elements; the two steps are also available
//! separately, as [`output`](Pointwise::output) and [`map`].
//!
//! ```
//! use torch_library::prelude::*;
//! use torch_library_loops::{Pointwise, match_opmath};
//!
//! torch_library! {
//!     /// Geometry.
//!     pub mod geometry {
//!         /// The length of the hypotenuse.
//!         hypotenuse(Tensor self, Tensor other) -> Tensor;
//!     }
//! }
//!
//! #[torch_impl(geometry, CPU, Meta)]
//! fn hypotenuse(this: &Tensor, other: &Tensor) -> Result<Tensor> {
//!     let call = Pointwise::promoting_to_float(geometry::hypotenuse::NAME, [this, other])?;
//!     match_opmath!(call.dtype, T: Float => {
//!         call.compute(None, call.dtype, |[a, b]: [T; 2]| a.hypot(b))
//!     }, else => Err(call.unsupported()))
//! }
//!
//! # fn main() -> Result<()> {
//! let (x, y) = (Tensor::from([3i64, 6]), Tensor::from([[4.0f32], [8.0]])); // they broadcast, integers become floats
//! assert_eq!(geometry::hypotenuse(&x, &y)?.to_string(), "tensor([[ 5.0000,  7.2111],\n        [ 8.5440, 10.0000]])");
//! # Ok(())
//! # }
//! ```
//!
//! An in-place variant passes `Some(this)` instead of `None`; the call then checks that this tensor can be written to.
//!
//! # A reduction
//!
//! [`Reduction`] decides which dimensions are reduced, a [`Fold`] says how elements are combined, and [`fold`] runs it
//! in parts that are merged as a balanced tree, so that rounding errors stay small and do not depend on the number of
//! threads.
//!
//! ```
//! use torch_library::prelude::*;
//! use torch_library_loops::{Fold, Number, Reduction, fold, match_opmath};
//!
//! torch_library! {
//!     /// Physics.
//!     pub mod physics {
//!         /// The sums of squares over some dimensions.
//!         energy(Tensor self, int[1]? dim=None, bool keepdim=False) -> Tensor;
//!     }
//! }
//!
//! struct Squares;
//!
//! impl<T: Number> Fold<T> for Squares {
//!     type Value = T;
//!
//!     fn identity(&self) -> T {
//!         T::ZERO
//!     }
//!
//!     fn step(&self, sum: T, element: T, _position: usize) -> T {
//!         sum.plus(element.times(element))
//!     }
//!
//!     fn merge(&self, a: T, b: T) -> T {
//!         a.plus(b)
//!     }
//! }
//!
//! #[torch_impl(physics, CPU, Meta)]
//! fn energy(this: &Tensor, dim: Option<&[i64]>, keepdim: bool) -> Result<Tensor> {
//!     let reduction = Reduction::new(physics::energy::NAME, this, dim, keepdim)?;
//!     let out = reduction.output(this.dtype())?;
//!     match_opmath!(this.dtype(), T: Integer | Float => {
//!         fold([&out], this, reduction.is_reduced(), &Squares, |sum: T| [sum])?;
//!     }, else => return Err(reduction.unsupported(this.dtype())));
//!     Ok(out)
//! }
//!
//! # fn main() -> Result<()> {
//! let x = Tensor::from([[1, 2], [3, 4]]);
//! assert_eq!(physics::energy::with(&x).dim(&[1]).call()?.to_vec::<i32>()?, [5, 25]);
//! # Ok(())
//! # }
//! ```
//!
//! # Anything else
//!
//! [`ranges`] shares items among threads, which inherit the calling thread's dispatch state. A kernel that needs rows
//! of elements as slices makes its input [`contiguous`] first.
//!
//! # Environment
//!
//! `ATEN_CPU_CAPABILITY` says which vector instructions loops may use: with `default`, only those that every processor
//! of the architecture has; with `avx2`, those of AVX2 with FMA; with `avx512`, or if the variable is not set, also
//! those of AVX-512. It is read once, when the first kernel needs it.
//!
//! # What is hidden
//!
//! The modules that the documentation does not show are for the kernels of `aten`, which always have the same version
//! as this crate. They are not part of its interface, and change without notice.

mod sync;

#[doc(hidden)]
pub mod inlined;
#[doc(hidden)]
pub mod number;
#[doc(hidden)]
pub mod vector;

#[doc(hidden)]
pub mod loops;

#[doc(hidden)]
pub mod functions;

pub use loops::{
    Fold, Number, Ordered, Pointwise, Reduction, contiguous, fold, has_elements, map, opmath_type, ranges,
};

/// The items that the macros of this crate refer to.
#[doc(hidden)]
pub mod __private {
    pub use torch_library::__private::error_at;
    pub use torch_library::match_dtype;
}
