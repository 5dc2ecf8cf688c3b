#![forbid(unsafe_code)]
use torch_library::__private::{DispatchKeySet, Place, Result, SourceModule, Tensor};
static M: SourceModule = SourceModule { file: "", path: "" };
trait Kernel { fn f<'a>(x: &'a mut Tensor, y: &mut Tensor) -> Result<&'a mut Tensor>; }
trait KernelWithKeys { fn f<'a>(_: DispatchKeySet, x: &'a mut Tensor, y: &mut Tensor) -> Result<&'a mut Tensor>; }
torch_library::__operator! { name: f, symbol: "m.f", lifetimes: ['a], arguments: 2 [[x (&'a mut Tensor)] [y (&mut Tensor)]], output: &'a mut Tensor,
    signature: (&'static mut Tensor, &'static mut Tensor) -> &'static mut Tensor, returned: 1 [r { 1 }], written: [],
    spec: { namespace: "m", schema: "f(Tensor(a!) x, Tensor(b!) y) -> Tensor(b!)", tags: [], place: Place { module: &M, line: 1, column: 1 }, base: None, aliases: true, }, }
fn main() {}
