//! A program as data: the tracer records calls of any crate's operators, and the graph runs through the dispatcher.

use torch_library::prelude::*;
use torch_library::tracer::{self, Graph};
use torch_library_kernels::aten;
use torch_library_kernels::vmap::vmap;

torch_library! {
    /// An operator that the tracer knows nothing about.
    pub mod calm {
        /// Moves each element towards zero.
        calm(Tensor self, float by=2.) -> Tensor;
    }
}

#[torch_impl(calm, CompositeExplicitAutograd)]
fn calm(this: &Tensor, by: f64) -> Result<Tensor> {
    aten::div_Scalar(this, by.into())
}

fn layer(x: &Tensor, weight: &Tensor) -> Result<Tensor> {
    let mut y = aten::mm(x, weight)?;
    aten::zero_(&mut aten::select_int(&y, 1, 0)?)?; // in place, through a view: the graph records it
    aten::add__Tensor(&mut y, &calm::calm(x)?)?;
    let _forgotten = aten::exp(x)?;
    aten::add_Tensor(&aten::relu(&y)?, &aten::relu(&y)?)
}

fn main() -> Result<()> {
    let (x, weight) = (Tensor::from([[1.0, -2.0]]), Tensor::from([[1.0, 2.0], [3.0, 4.0]]));
    let (outputs, mut graph) =
        tracer::trace(&[x.clone(), weight.clone()], |inputs| Ok(vec![layer(&inputs[0], &inputs[1])?]))?;
    print!("{graph}");

    let (dead, repeated) = (graph.eliminate_dead_code(), graph.merge_common_subexpressions());
    println!("{dead} dead and {repeated} repeated calls are gone, {} are left", graph.nodes().len());

    println!("the function: {}", outputs[0]);
    println!("the graph:    {}", graph.run(&[x, weight.clone()])?[0]);
    let again: Graph = graph.to_string().parse()?;
    println!("its text:     {}", again.run(&[Tensor::from([[2.0, 0.0]]), weight.clone()])?[0]);

    // Other keys, other kernels: sizes without elements, and a batch of examples.
    let meta = |sizes: &[i64]| Tensor::empty(sizes, DType::Float64, Device::META);
    println!("on meta:      {:?}", graph.run(&[meta(&[100, 2])?, meta(&[2, 2])?])?[0].sizes());
    let batch = Tensor::from([[[1.0, -2.0]], [[2.0, 0.0]]]);
    let each = vmap([&batch], |[x]| Ok(graph.run(&[x, weight.clone()])?.remove(0)))?;
    println!("on a batch:   {:?}", each.to_vec::<f64>()?);
    println!("as a picture: {} lines for Graphviz", graph.to_dot().lines().count());
    Ok(())
}

// Prints:
// graph(%0: float64[1, 2], %1: float64[2, 2]) {
//   %2: float64[1, 2] = aten::mm(self=%0, mat2=%1)
//   %3: float64[1] = aten::select.int(self=%2, dim=1, index=0)
//   %4: float64[1] = aten::zero_(self=%3)
//   %5: float64[1, 2] = calm::calm(self=%0, by=2.0)
//   %6: float64[1, 2] = aten::add_.Tensor(self=%2, other=%5, alpha=1)
//   %7: float64[1, 2] = aten::exp(self=%0)
//   %8: float64[1, 2] = aten::relu(self=%6)
//   %9: float64[1, 2] = aten::relu(self=%6)
//   %10: float64[1, 2] = aten::add.Tensor(self=%8, other=%9, alpha=1)
//   return %10
// }
// 1 dead and 1 repeated calls are gone, 7 are left
// the function: tensor([[1., 0.]], dtype=torch.float64)
// the graph:    tensor([[1., 0.]], dtype=torch.float64)
// its text:     tensor([[2., 8.]], dtype=torch.float64)
// on meta:      [100, 2]
// on a batch:   [1.0, 0.0, 2.0, 8.0]
// as a picture: 24 lines for Graphviz
