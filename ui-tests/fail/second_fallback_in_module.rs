use torch_library::prelude::*;

#[torch_fallback(Tracer)]
fn trace(_: OperatorHandle, _: DispatchKeySet, _: &mut Stack<'_>) -> Result<()> { todo!() }

#[torch_fallback(Tracer)]
fn again(_: OperatorHandle, _: DispatchKeySet, _: &mut Stack<'_>) -> Result<()> { todo!() }

fn main() {}
