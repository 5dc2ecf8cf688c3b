use torch_library::prelude::*;

#[torch_fallback(Tracer)]
async fn trace(_: OperatorHandle, _: DispatchKeySet, _: &mut Stack<'_>) -> Result<()> { todo!() }

fn main() {}
