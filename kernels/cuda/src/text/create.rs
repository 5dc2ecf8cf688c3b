//! The pieces of `arange`.

use torch_library_gpu::text::Create;

pub(super) const CREATE: Create = Create { arange: "    p.y[n] = as<R>(p.start + n * p.step);" };
