use torch_library::prelude::*;

#[torch_fallback(Tracer, CPU)]
fn trace(_: OperatorHandle, _: DispatchKeySet, _: &mut Stack<'_>) -> Result<()> { todo!() }

fn main() {}
