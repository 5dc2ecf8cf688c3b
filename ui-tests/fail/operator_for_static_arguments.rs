#![forbid(unsafe_code)]
use torch_library::__private::{DispatchKeySet, Place, Result, SourceModule, Tensor};
static M: SourceModule = SourceModule { file: "", path: "" };
trait Kernel { fn f(x: &'static Tensor) -> Result<()>; }
trait KernelWithKeys { fn f(_: DispatchKeySet, x: &'static Tensor) -> Result<()>; }
torch_library::__operator! { name: f, symbol: "m.f", lifetimes: [], arguments: 1 [[x (&'static Tensor)]], output: (),
    signature: (&'static Tensor) -> (), returned: 0 [], written: [],
    spec: { namespace: "m", schema: "f(Tensor x) -> ()", tags: [], place: Place { module: &M, line: 1, column: 1 }, base: None, aliases: false, }, }
fn main() {}
