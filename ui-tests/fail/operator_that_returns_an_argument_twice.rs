#![forbid(unsafe_code)]
use torch_library::__private::{DispatchKeySet, Place, Result, SourceModule};
static M: SourceModule = SourceModule { file: "", path: "" };
trait Kernel { fn f(x: i64) -> Result<(i64, i64)>; }
trait KernelWithKeys { fn f(_: DispatchKeySet, x: i64) -> Result<(i64, i64)>; }
torch_library::__operator! { name: f, symbol: "m.f", lifetimes: [], arguments: 1 [[x (i64)]], output: (i64, i64),
    signature: (i64) -> (i64, i64), returned: 2 [r { 0 } s { 0 }], written: [],
    spec: { namespace: "m", schema: "f(int x) -> (int, int)", tags: [], place: Place { module: &M, line: 1, column: 1 }, base: None, aliases: false, }, }
fn main() {}
