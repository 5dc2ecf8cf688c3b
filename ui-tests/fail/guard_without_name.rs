#![deny(unused_must_use)]
use torch_library::{DispatchKey, guard::IncludeDispatchKeyGuard};

fn main() {
    IncludeDispatchKeyGuard::new(DispatchKey::Tracer);
}
