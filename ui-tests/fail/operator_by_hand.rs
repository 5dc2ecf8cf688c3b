#![forbid(unsafe_code)]
use torch_library::__private as __torch;
trait Kernel { fn f(this: &mut __torch::Tensor) -> __torch::Result<&'static mut __torch::Tensor>; }
trait KernelWithKeys { fn f(_: __torch::DispatchKeySet, this: &mut __torch::Tensor) -> __torch::Result<&'static mut __torch::Tensor>; }
static M: __torch::SourceModule = __torch::SourceModule { file: "", path: "" };
__torch::operator! {
    word: unsafe { __torch::Word::give() },
    name: f, symbol: "ops.f", lifetimes: ['a], arguments: 1 [[this (&'a mut __torch::Tensor)]], output: &'static mut __torch::Tensor, signature: (&'static mut __torch::Tensor) -> &'static mut __torch::Tensor, returned: 1 [None], spec: { namespace: "ns", schema: "f(Tensor(a!) self) -> Tensor(a!)", tags: [], place: __torch::Place { module: &M, line: 1, column: 1 }, base: None, },
} fn main() {}
