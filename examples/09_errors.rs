//! Error messages: they name the operator, the argument and the place, and what would have worked.

use torch_library::prelude::*;
use torch_library::{Dispatcher, Library};
use torch_library_kernels::prelude::*;

torch_library! {
    /// Operators of my library.
    pub mod myops {
        /// Doubles every element.
        double.Tensor(Tensor self) -> Tensor;
        /// An operator without kernels.
        halve(Tensor self) -> Tensor;
    }
}

#[torch_impl(myops, "double.Tensor", CPU)]
fn double(this: &Tensor) -> Result<Tensor> {
    this.add(this)
}

fn report<T>(what: &str, result: Result<T>) {
    match result {
        Ok(_) => println!("# {what}: no error"),
        Err(error) => println!("# {what}: {:?}\n{error}", error.kind()),
    }
}

fn main() -> Result<()> {
    let dispatcher = Dispatcher::global();
    let x = Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    let meta = Tensor::empty(&[3], DType::Float64, Device::META)?;

    let mut library = Library::new("mine")?;
    report("a schema with a typo", library.define("scale(Tensor self, flaot factor=2) -> Tensor"));
    report("an unknown operator", dispatcher.find("myops::dubble.Tensor"));
    report("an unknown overload", dispatcher.find("myops::double.Tensr"));
    report("no kernel for a key", myops::double_Tensor(&meta));
    report("no kernel at all", myops::halve(&x));
    report("shapes that do not broadcast", x.add(&Tensor::from([1.0, 2.0])));
    report("a type without a kernel", Tensor::from([1, 2, 3]).mean());

    let mut stack = Stack::from_iter([Value::from(&x), Value::from("zero"), Value::from(0)]);
    report(
        "a value of the wrong type on the stack",
        dispatcher.find("aten::select.int")?.call_boxed(&mut stack),
    );

    x.set_requires_grad(true)?;
    report("a gradient that would be lost", myops::double_Tensor(&x)?.sum()?.backward());
    Ok(())
}

// Prints:
// # a schema with a typo: Schema
// error: unknown type `flaot`
//   |
// 1 | scale(Tensor self, flaot factor=2) -> Tensor
//   |                    ^^^^^
//   = help: write `float`
//   at examples/09_errors.rs:35
// # an unknown operator: UnknownOperator
// there is no operator myops::dubble.Tensor
//   help: similar names: myops::double.Tensor
// # an unknown overload: UnknownOperator
// there is no operator myops::double.Tensr
//   help: similar names: myops::double.Tensor
// # no kernel for a key: MissingKernel
// myops::double.Tensor has no kernel for Meta
//   argument 1 `self`: Tensor with DispatchKeySet(Meta, ADInplaceOrView, AutogradMeta)
//   kernel for CPU: double at examples/09_errors.rs:18 (crate 09_errors)
//   help: write one with `#[torch_impl(myops, Meta)]`: it makes results of the right sizes, and no data
// # no kernel at all: MissingKernel
// myops::halve has no kernel for CPU
//   argument 1 `self`: Tensor with DispatchKeySet(CPU, ADInplaceOrView, AutogradCPU, AutocastCPU)
//   it has no kernels at all
//   help: write one with `#[torch_impl(myops, CPU)]`
// # shapes that do not broadcast: Shape
// aten::add.Tensor: sizes [2, 3] and [2] do not broadcast: 3 and 2 at dimension -1, neither is 1
// # a type without a kernel: DType
// aten::mean.dim: a mean cannot be of int32, give a floating-point or complex dtype
// # a value of the wrong type on the stack: Type
// argument 2 `dim` of aten::select.int must be int, but is str
//   schema: select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)
// # a gradient that would be lost: Autograd
// myops::double.Tensor has no derivative, but a backward pass reached one of its results
//   declared at examples/09_errors.rs:11 (crate 09_errors)
//   help: register a kernel for `Autograd`, or call it inside `no_grad` or on `x.detach()`
