//! Batching rules for matrix products, by `matmul`, which broadcasts batches of matrices.

use torch_library::prelude::*;
use torch_library::vmap::Level;

use super::boxed::{aligned, front};
use crate::aten;

/// Rejects examples that do not have the numbers of dimensions that the operator takes.
fn check(operator: &str, tensors: [&Tensor; 2], ranks: [usize; 2]) -> Result<()> {
    ensure!(
        tensors.map(Tensor::dim) == ranks,
        Shape,
        "{operator}: sizes {:?} and {:?}, expected tensors of {} and {} dimensions",
        tensors[0].sizes(),
        tensors[1].sizes(),
        ranks[0],
        ranks[1]
    );
    Ok(())
}

/// The products of the matrices of all examples.
fn products(level: Level, a: &Tensor, b: &Tensor) -> Result<Tensor> {
    aten::matmul(&front(level, a)?, &front(level, b)?)
}

#[torch_impl(aten, FuncTorchBatched)]
mod rules {
    use super::*;

    fn mm(this: &Tensor, mat2: &Tensor) -> Result<Tensor> {
        check(aten::mm::NAME, [this, mat2], [2, 2])?;
        let level = Level::current()?;
        level.wrap(products(level, this, mat2)?, 0)
    }

    fn bmm(this: &Tensor, mat2: &Tensor) -> Result<Tensor> {
        check(aten::bmm::NAME, [this, mat2], [3, 3])?;
        ensure!(
            this.sizes()[0] == mat2.sizes()[0],
            Shape,
            "{}: sizes {:?} and {:?} do not have the same number of matrices",
            aten::bmm::NAME,
            this.sizes(),
            mat2.sizes()
        );
        let level = Level::current()?;
        level.wrap(products(level, this, mat2)?, 0)
    }

    fn mv(this: &Tensor, vec: &Tensor) -> Result<Tensor> {
        check(aten::mv::NAME, [this, vec], [2, 1])?;
        let level = Level::current()?;
        let (matrices, vectors) = (front(level, this)?, front(level, vec)?);
        let product = match (level.has(this), level.has(vec)) {
            (true, true) => aten::squeeze_dim(&aten::matmul(&matrices, &aten::unsqueeze(&vectors, 2)?)?, 2)?,
            (true, false) => aten::matmul(&matrices, &vectors)?,
            (false, _) => aten::matmul(&vectors, &aten::t(&matrices)?)?,
        };
        level.wrap(product, 0)
    }

    fn dot(this: &Tensor, tensor: &Tensor) -> Result<Tensor> {
        check(aten::dot::NAME, [this, tensor], [1, 1])?;
        let level = Level::current()?;
        let (a, b) = (front(level, this)?, front(level, tensor)?);
        let product = match (level.has(this), level.has(tensor)) {
            (true, true) => {
                let product = aten::bmm(&aten::unsqueeze(&a, 1)?, &aten::unsqueeze(&b, 2)?)?;
                aten::squeeze_dims(&product, &[1, 2])?
            }
            (true, false) => aten::mv(&a, &b)?,
            (false, _) => aten::mv(&b, &a)?,
        };
        level.wrap(product, 0)
    }

    fn addmm(this: &Tensor, mat1: &Tensor, mat2: &Tensor, beta: Scalar, alpha: Scalar) -> Result<Tensor> {
        check(aten::addmm::NAME, [mat1, mat2], [2, 2])?;
        let level = Level::current()?;
        let product = products(level, mat1, mat2)?;
        // Integer products are scaled by integers.
        let number =
            |number: Scalar| if product.dtype().is_differentiable() { number } else { whole(number) };
        let mut sum =
            if is(alpha, 1.0) { product.clone() } else { aten::mul_Scalar(&product, number(alpha))? };
        let this = aligned(level, this, 2)?;
        if is(beta, 1.0) {
            sum = aten::add_Tensor(&sum, &this)?;
        } else if !is(beta, 0.0) {
            sum = aten::add_Tensor(&sum, &aten::mul_Scalar(&this, number(beta))?)?;
        }
        // The product may be of matrices that all examples share.
        let sizes = [level.batch_size(), mat1.sizes()[0], mat2.sizes()[1]];
        level.wrap(aten::expand(&sum, &sizes)?, 0)
    }
}

fn is(number: Scalar, value: f64) -> bool {
    number.cast::<f64>() == value
}

fn whole(number: Scalar) -> Scalar {
    Scalar::Int(number.cast::<i64>())
}
