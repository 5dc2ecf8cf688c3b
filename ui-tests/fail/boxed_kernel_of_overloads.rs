use torch_library::prelude::*;

torch_library! { #[overloads] pub mod ops { add.Tensor(Tensor self, Tensor other) -> Tensor; } }
#[torch_impl(ops::add, CPU, boxed)]
fn add(_: OperatorHandle, _: DispatchKeySet, _: &mut Stack) -> Result<()> { todo!() }

fn main() {}
