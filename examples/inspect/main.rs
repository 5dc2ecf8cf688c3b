//! `inspect` for everything in this workspace that declares operators or has kernels.

use std::process::ExitCode;

use {glyphs as _, glyphs_extra as _, glyphs_tape as _, torch_library_kernels as _};

fn main() -> ExitCode {
    torch_library_inspect::main()
}
