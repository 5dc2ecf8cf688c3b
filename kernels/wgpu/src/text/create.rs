//! The pieces of `arange`.

use torch_library_gpu::text::Create;

pub(super) const CREATE: Create = Create { arange: "    set_y(n, R(p.start + i32(n) * p.step));" };
