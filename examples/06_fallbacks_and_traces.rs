//! One function for every operator: a boxed fallback. And the dispatcher's own record of its calls: a trace.

use torch_library::prelude::*;
use torch_library::{guard, trace};

torch_library! {
    /// A small calculator.
    pub mod calculator {
        /// Adds element-wise.
        plus(Tensor a, Tensor b) -> Tensor;
        /// Doubles, by calling other operators.
        double(Tensor self, int times=1) -> Tensor;
    }
}

#[torch_impl(calculator, CPU)]
fn plus(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    ensure!(a.sizes() == b.sizes(), Shape, "plus: sizes {:?} and {:?} differ", a.sizes(), b.sizes());
    let sums = a.to_vec::<i32>()?.into_iter().zip(b.to_vec::<i32>()?).map(|(a, b)| a.wrapping_add(b));
    Tensor::from_vec(sums.collect(), a.sizes())
}

/// For every backend and without derivative code: the calls of `plus` take care of both.
#[torch_impl(calculator, CompositeImplicitAutograd)]
fn double(this: &Tensor, times: i64) -> Result<Tensor> {
    (0..times).try_fold(this.clone(), |doubled, _| calculator::plus(&doubled, &doubled))
}

/// Serves all operators of all namespaces at its key: inspects the call, and redispatches it.
#[torch_fallback(Tracer)]
fn log(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    let schema = operator.schema()?;
    let arguments = schema.arguments.iter().zip(operator.arguments(stack)?);
    let arguments: Vec<_> =
        arguments.map(|(argument, value)| format!("{}={value:?}", argument.name)).collect();
    println!("  {operator}({})", arguments.join(", "));
    operator.redispatch_boxed(keys & DispatchKeySet::full_after(DispatchKey::Tracer), stack)
}

fn main() -> Result<()> {
    let x = Tensor::from([1, 2]);

    println!("with Tracer included:");
    let doubled = guard::include(DispatchKey::Tracer, || calculator::double(&x))?;
    println!("{doubled}");

    // In every build, and free of cost without listeners. TORCH_SHOW_DISPATCH_TRACE=1 enables it from outside.
    println!("with a listener:");
    let listener = trace::listen(|event| {
        println!("  {:1$}{2} at {3}", "", 2 * event.depth, event.operator, event.key);
    });
    let doubled = calculator::double::with(&x).times(2).call()?;
    println!("{doubled}");
    drop(listener);

    println!("with neither:\n{}", calculator::double(&x)?);
    Ok(())
}

// Prints:
// with Tracer included:
//   calculator::double(self=TensorRef(tensor([1, 2], dtype=torch.int32)), times=Int(1))
//   calculator::plus(a=TensorRef(tensor([1, 2], dtype=torch.int32)), b=TensorRef(tensor([1, 2], dtype=torch.int32)))
// tensor([2, 4], dtype=torch.int32)
// with a listener:
//   calculator::double at AutogradCPU
//     calculator::plus at AutogradCPU
//       calculator::plus at CPU
//     calculator::plus at AutogradCPU
//       calculator::plus at CPU
// tensor([4, 8], dtype=torch.int32)
// with neither:
// tensor([2, 4], dtype=torch.int32)
