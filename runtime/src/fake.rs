//! Fake mode: runs a whole program without elements. It computes the sizes, strides, types and devices of all tensors;
//! no kernel of a device runs, and the devices need not exist.
//!
//! ```
//! use torch_library::fake::{is_fake, to_fake};
//! use torch_library::prelude::*;
//!
//! torch_library! {
//!     pub mod fake_docs {
//!         /// The outer product of two vectors.
//!         outer(Tensor self, Tensor other) -> Tensor;
//!     }
//! }
//!
//! /// On `meta` a kernel says what it would return.
//! #[torch_impl(fake_docs, Meta)]
//! fn outer(this: &Tensor, other: &Tensor) -> Result<Tensor> {
//!     Tensor::empty(&[this.numel(), other.numel()], this.dtype(), Device::META)
//! }
//!
//! # fn main() -> Result<()> {
//! let x = to_fake(&Tensor::from([1.0, 2.0]))?;
//! let y = fake_docs::outer(&x, &x)?; // there is no kernel for the CPU
//! assert!(is_fake(&y));
//! assert_eq!((y.sizes(), y.device()), (&[2, 2][..], Device::CPU));
//! # Ok(())
//! # }
//! ```
//!
//! # How it works
//! A fake tensor has the keys of its device and the key `Fake`, and a [`Storage`](crate::Storage) that refers to one on
//! `meta`. The fallback at `Fake`, which is above the backends and below all other layers, runs each operator on
//! `meta`, and makes the results fake again. Tensors that share memory on `meta` share it here, so views and writes are
//! followed, and autograd, autocast, vmap and functionalize see nothing unusual. In [`FakeMode`] the thread has the key
//! as well: new tensors are fake, and real tensors may take part without being written to.
//!
//! PyTorch: `FakeTensorMode`, `FakeTensor`.

mod device;
mod fallback;
mod memory;

use std::marker::PhantomData;

use crate::device::Device;
use crate::error::Result;
use crate::guard::IncludeDispatchKeyGuard;
use crate::key::DispatchKey;
use crate::registry::LayerKernel;
use crate::tensor::Tensor;

/// The layer's kernel, above the backends.
pub(crate) const LAYER: LayerKernel =
    LayerKernel { key: DispatchKey::Fake, kernel: fallback::fallback, name: "fake" };

/// While it lives, this thread computes without elements.
///
/// Real tensors may take part; their elements are neither read nor written.
///
/// ```
/// use torch_library::fake::FakeMode;
/// use torch_library::guard::LocalDispatchKeySet;
/// use torch_library::DispatchKey;
///
/// let mode = FakeMode::new();
/// assert!(LocalDispatchKeySet::current().included.has(DispatchKey::Fake));
/// drop(mode);
/// ```
///
/// PyTorch: `FakeTensorMode(allow_non_fake_inputs=True)`.
#[must_use = "a guard acts while it lives: bind it to a name, `let _guard = …`; `let _ = …` drops it at once"]
#[derive(Debug)]
pub struct FakeMode {
    _key: IncludeDispatchKeyGuard,
    not_send: PhantomData<*const ()>,
}

impl FakeMode {
    /// Enters fake mode.
    #[expect(clippy::new_without_default, reason = "a guard that is made by default guards nothing")]
    pub fn new() -> FakeMode {
        memory::enter();
        FakeMode { _key: IncludeDispatchKeyGuard::new(DispatchKey::Fake), not_send: PhantomData }
    }

    /// Runs a closure in fake mode.
    ///
    /// ```
    /// use torch_library::fake::FakeMode;
    /// use torch_library::guard::LocalDispatchKeySet;
    /// use torch_library::DispatchKey;
    ///
    /// let is_fake = || LocalDispatchKeySet::current().included.has(DispatchKey::Fake);
    /// assert!(FakeMode::run(is_fake));
    /// assert!(!is_fake());
    /// ```
    pub fn run<R>(f: impl FnOnce() -> R) -> R {
        let _mode = FakeMode::new();
        f()
    }
}

impl Drop for FakeMode {
    fn drop(&mut self) {
        memory::leave();
    }
}

/// A fake tensor like a real one: a separate leaf, which requires a gradient if the real one does.
///
/// # Errors
/// The tensor is a wrapper.
///
/// PyTorch: `FakeTensorMode.from_tensor`.
pub fn to_fake(tensor: &Tensor) -> Result<Tensor> {
    to_fake_on(tensor, tensor.device())
}

/// Like [`to_fake`], but on a device that need not exist.
///
/// # Errors
/// The errors of [`to_fake`].
///
/// ```
/// use torch_library::fake::to_fake_on;
/// use torch_library::Tensor;
///
/// let x = to_fake_on(&Tensor::from([1.0, 2.0]), "cuda:0".parse()?)?;
/// assert_eq!(x.device().to_string(), "cuda:0");
/// assert!(x.to_vec::<f64>().unwrap_err().to_string().contains("fake"));
/// # Ok::<(), torch_library::Error>(())
/// ```
pub fn to_fake_on(tensor: &Tensor, device: Device) -> Result<Tensor> {
    let fake = memory::fake_of(tensor, device)?;
    fake.store_requires_grad(tensor.requires_grad());
    Ok(fake)
}

/// Whether a tensor is fake.
///
/// PyTorch: `is_fake`.
pub fn is_fake(tensor: &Tensor) -> bool {
    memory::Memory::of(&tensor.storage()).is_some()
}
