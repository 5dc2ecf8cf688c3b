#![forbid(unsafe_code)]
use torch_library::__private::{DispatchKeySet, Place, Result, SourceModule, Tensor};
static M: SourceModule = SourceModule { file: "", path: "" };
trait Kernel { fn f(x: &mut Tensor) -> Result<(&mut Tensor, &mut Tensor)>; }
trait KernelWithKeys { fn f(_: DispatchKeySet, x: &mut Tensor) -> Result<(&mut Tensor, &mut Tensor)>; }
torch_library::__operator! { name: f, symbol: "m.f", lifetimes: ['a], arguments: 1 [[x (&'a mut Tensor)]], output: (&'a mut Tensor, &'a mut Tensor),
    signature: (&'static mut Tensor) -> (&'static mut Tensor, &'static mut Tensor), returned: 2 [r { 0 } s { 0 }], written: [],
    spec: { namespace: "m", schema: "f(Tensor(a!) x) -> (Tensor(a!), Tensor(a!))", tags: [], place: Place { module: &M, line: 1, column: 1 }, base: None, aliases: true, }, }
fn main() {}
