use torch_library::prelude::*;

#[torch_fallback(Tracer)]
fn trace();

fn main() {}
