use torch_library::prelude::*;

#[torch_fallback(Tracer, fallthrough)]
fn trace() {}

fn main() {}
