//! `run` for everything in this workspace that has operators of models.

use std::process::ExitCode;

#[cfg(feature = "cuda")]
use torch_library_cuda as _;
use {glyphs as _, glyphs_extra as _, torch_library_kernels as _};
use {torch_library_audio as _, torch_library_prims as _, torch_library_quantized as _};
use {torch_library_transformers as _, torch_library_vision as _};

fn main() -> ExitCode {
    torch_library_run::main()
}
