use torch_library::prelude::*;

torch_library! {
    pub mod ops { f(Tensor self, int size) -> Tensor; }
}
#[torch_impl(ops, CPU)]
fn f(_: &Tensor, _: i64) -> Result<f64> { todo!() }

fn main() {}
