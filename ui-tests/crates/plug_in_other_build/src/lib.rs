//! A plug-in whose record was made by another build of the runtime.

use shared_runtime as _; // so that the runtime is the shared one
use torch_library::__private::{Record, inventory, submitted_by_another_build};

inventory::submit! { submitted_by_another_build(Record::Kernels(&[]), module_path!()) }
