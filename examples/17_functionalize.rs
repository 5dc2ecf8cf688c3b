//! A program that writes in place and through views becomes one without mutation, which is what a compiler needs.

use torch_library::functionalize::functionalize;
use torch_library::prelude::*;
use torch_library::tracer;
use torch_library_kernels::aten;

torch_library! {
    /// An operator without any code for functionalization.
    pub mod paint {
        /// Fills a tensor with a number.
        paint_(Tensor(a!) self, float color) -> Tensor(a!);
    }
}

#[torch_impl(paint, CPU)]
fn paint_(this: &mut Tensor, color: f64) -> Result<&mut Tensor> {
    aten::fill__Scalar(this, color.into())
}

/// Writes to its input, to a view of it, and to a view of that.
fn program(inputs: &[Tensor]) -> Result<Vec<Tensor>> {
    let mut x = inputs[0].clone();
    let column = aten::select_int(&x, 1, 0)?; // made before the write, which must change it too
    aten::mul__Scalar(&mut x, 10.into())?;
    paint::paint_(&mut aten::select_int(&aten::t(&x)?, 0, 1)?, 7.0)?;
    let _forgotten = aten::exp(&x)?;
    Ok(vec![aten::add_Tensor(&column, &aten::select_int(&x, 1, 1)?)?])
}

fn main() -> Result<()> {
    let input = || [Tensor::from([[1.0, 2.0], [3.0, 4.0]])];
    let plain = input();
    println!(
        "as it is:     {:?}, and the input {:?}",
        program(&plain)?[0].to_vec::<f64>()?,
        plain[0].to_vec::<f64>()?
    );

    let x = input();
    let (results, mut graph) = tracer::trace(&x, |inputs| functionalize(inputs, program))?;
    println!("functional:   {:?}, and the input {:?}", results[0].to_vec::<f64>()?, x[0].to_vec::<f64>()?);
    print!("{graph}");

    // Only the last call writes to memory that others see, so calls can be removed and merged freely.
    let (dead, repeated) = (graph.eliminate_dead_code(), graph.merge_common_subexpressions());
    println!("{dead} dead and {repeated} repeated calls are gone");
    let x = input();
    let results = graph.run(&x)?;
    println!("what is left: {:?}, and the input {:?}", results[0].to_vec::<f64>()?, x[0].to_vec::<f64>()?);
    Ok(())
}

// Prints:
// as it is:     [17.0, 37.0], and the input [10.0, 7.0, 30.0, 7.0]
// functional:   [17.0, 37.0], and the input [10.0, 7.0, 30.0, 7.0]
// graph(%0: float64[2, 2]) {
//   %1: float64[2] = aten::select.int(self=%0, dim=1, index=0)
//   %2: float64[2, 2] = aten::mul.Scalar(self=%0, other=10)
//   %3: float64[2, 2] = aten::t(self=%2)
//   %4: float64[2] = aten::select.int(self=%3, dim=0, index=1)
//   %5: float64[2] = aten::clone(self=%4, memory_format=none)
//   %6: float64[2] = paint::paint_(self=%5, color=7.0)
//   %7: float64[2, 2] = aten::t(self=%2)
//   %8: float64[2, 2] = aten::select_scatter(self=%7, src=%6, dim=0, index=1)
//   %9: float64[2, 2] = aten::t(self=%8)
//   %10: float64[2, 2] = aten::exp(self=%9)
//   %11: float64[2] = aten::select.int(self=%9, dim=1, index=1)
//   %12: float64[2] = aten::select.int(self=%9, dim=1, index=0)
//   %13: float64[2] = aten::add.Tensor(self=%12, other=%11, alpha=1)
//   %14: float64[2, 2] = aten::copy_(self=%0, src=%9, non_blocking=false)
//   return %13
// }
// 2 dead and 1 repeated calls are gone
// what is left: [17.0, 37.0], and the input [10.0, 7.0, 30.0, 7.0]
