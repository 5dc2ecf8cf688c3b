//! How long common work takes on the first GPU.
//!
//! ```sh
//! cargo bench -p torch-library-cuda --bench figures [-- --large] [WORD…]
//! ```
//!
//! `kernels/gpu/benches/figures.sh cuda` also measures PyTorch.

#[path = "../../gpu/benches/figures/mod.rs"]
mod figures;

use figures::Backend;
use torch_library::backend;
use torch_library::prelude::*;
use torch_library_cuda::devices;

fn main() -> Result<()> {
    let device = backend::resolve("cuda".parse()?)?;
    let name = devices()?.into_iter().nth(usize::from(device.index.unwrap_or(0))).unwrap_or_default();
    figures::print(&name, Backend { device, fuse: None })
}
