use torch_library::prelude::*;

#[torch_fallback(Tracer)]
struct Trace;

fn main() {}
