use torch_library::prelude::*;
use torch_library_ui_tests::myops;

#[torch_fallback(myops, Tracer)]
fn trace(_: OperatorHandle, _: DispatchKeySet, _: &mut Stack<'_>) -> Result<()> { todo!() }

fn main() {}
