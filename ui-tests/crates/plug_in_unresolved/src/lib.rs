//! A plug-in that needs a symbol which no library has, as one that was built by another compiler does.

use shared_runtime as _; // so that the runtime is the shared one

unsafe extern "C" {
    fn of_another_compiler();
}

/// So that the symbol is needed when this is loaded.
#[used]
static NEEDED: unsafe extern "C" fn() = of_another_compiler;
