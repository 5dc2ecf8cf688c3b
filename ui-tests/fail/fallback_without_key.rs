use torch_library::prelude::*;

#[torch_fallback]
fn trace(_: OperatorHandle, _: DispatchKeySet, _: &mut Stack<'_>) -> Result<()> { todo!() }

fn main() {}
