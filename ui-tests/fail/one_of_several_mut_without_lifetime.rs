use torch_library::prelude::*;

torch_library! { pub mod ops { f(*, Tensor(a!) out, Tensor(b!) work) -> Tensor(a!); } }

#[torch_impl(ops, CPU)]
fn f(_out: &mut Tensor, _work: &mut Tensor) -> Result<&mut Tensor> { todo!() }

fn main() {}
