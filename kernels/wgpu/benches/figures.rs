//! How long common work takes on the first adapter, or on the one that `WGPU_ADAPTER_NAME` names.
//!
//! ```sh
//! cargo bench -p torch-library-wgpu --bench figures [-- --large] [WORD…]
//! ```
//!
//! `kernels/gpu/benches/figures.sh` also measures burn and candle.

#[path = "../../gpu/benches/figures/mod.rs"]
mod figures;

use figures::Backend;
use torch_library::backend;
use torch_library::prelude::*;
use torch_library_wgpu::{adapters, fuse};

fn main() -> Result<()> {
    let device = backend::resolve("wgpu".parse()?)?;
    let adapter = adapters().into_iter().nth(usize::from(device.index.unwrap_or(0))).unwrap_or_default();
    let fuse = |graph| -> figures::Program {
        let fused = fuse(graph);
        Box::new(move |inputs| fused.run(inputs).map(drop))
    };
    figures::print(&adapter, Backend { device, fuse: Some(fuse) })
}
