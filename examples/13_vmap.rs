//! A function of one example, run on a batch: vmap. Operators need a batching rule, unless they are pointwise.

use torch_library::prelude::*;
use torch_library::vmap::Level;
use torch_library_kernels::aten;
use torch_library_kernels::vmap::{Vmap, front, vmap};

torch_library! {
    /// Geometry of points.
    pub mod points {
        /// The distance between two points.
        distance(Tensor a, Tensor b) -> Tensor;
        /// The point half-way between two points.
        #[tags(pointwise)]
        half_way(Tensor a, Tensor b) -> Tensor;
    }
}

#[torch_impl(points, CPU)]
mod cpu {
    use super::*;

    fn distance(a: &Tensor, b: &Tensor) -> Result<Tensor> {
        ensure!(
            a.dim() == 1 && a.sizes() == b.sizes(),
            Shape,
            "distance: {:?} and {:?}",
            a.sizes(),
            b.sizes()
        );
        let (a, b) = (a.to_vec::<f64>()?, b.to_vec::<f64>()?);
        Ok(a.iter().zip(&b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt().into())
    }

    fn half_way(a: &Tensor, b: &Tensor) -> Result<Tensor> {
        aten::mul_Scalar(&aten::add_Tensor(a, b)?, 0.5.into())
    }
}

/// All distances at once: a batching rule is written once, and every vmap that calls the operator uses it.
#[torch_impl(points::distance, FuncTorchBatched)]
fn distances(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    let level = Level::current()?;
    println!("  (the rule runs, once for {} examples)", level.batch_size());
    let difference = aten::sub_Tensor(&front(level, a)?, &front(level, b)?)?;
    let squares = aten::mul_Tensor(&difference, &difference)?;
    level.wrap(aten::sqrt(&aten::sum_dim_IntList(&squares, Some(&[-1]))?)?, 0)
}

fn main() -> Result<()> {
    let corners = Tensor::from([[0.0, 0.0], [3.0, 0.0], [3.0, 4.0]]);
    let origin = Tensor::from([0.0, 0.0]);

    println!("from one point:");
    println!("{}", vmap([&corners], |[corner]| points::distance(&corner, &origin))?);

    println!("from each point to each, one vmap in another:");
    println!("{}", vmap([&corners], |[a]| vmap([&corners], |[b]| points::distance(&a, &b)))?);

    println!("columns as examples:");
    let columns = Vmap::new().in_dims([Some(1), None]).out_dims([Some(1)]);
    let middles = columns.run(&[corners.clone(), Tensor::from([1.0, 1.0, 1.0])], |inputs| {
        Ok(vec![points::half_way(&inputs[0], &inputs[1])?])
    })?;
    println!("{}", middles[0]);

    println!("what belongs to all examples cannot take one of each:");
    let mut sum = Tensor::from([0.0, 0.0]);
    let error = vmap([&corners], |[corner]| aten::add__Tensor(&mut sum, &corner).cloned()).unwrap_err();
    println!("{error}");
    Ok(())
}

// Prints:
// from one point:
//   (the rule runs, once for 3 examples)
// tensor([0., 3., 5.], dtype=torch.float64)
// from each point to each, one vmap in another:
//   (the rule runs, once for 3 examples)
// tensor([[0., 3., 5.],
//         [3., 0., 4.],
//         [5., 4., 0.]], dtype=torch.float64)
// columns as examples:
// tensor([[0.5000, 0.5000],
//         [2.0000, 0.5000],
//         [2.0000, 2.5000]], dtype=torch.float64)
// what belongs to all examples cannot take one of each:
// aten::add_.Tensor would write a value of each example to one tensor that they all share
//   help: use the operator that returns a new tensor, or make that tensor an input with a batch
