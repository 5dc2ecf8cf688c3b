use torch_library::prelude::*;
use torch_library_ui_tests::myops;

#[torch_impl(myops, CPU, boxed)]
fn add<T>(_: OperatorHandle, _: DispatchKeySet, _: &mut Stack<'_>) -> Result<()> { todo!() }

fn main() {}
