//! Gradients of determinants of singular matrices, and of vectors that are determined up to a phase.

use torch_library::autograd::{self, GradOptions};
use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

/// The gradient of the sum of determinants, and that of a weighted sum of this gradient.
fn twice(matrices: &Tensor) -> Result<[Vec<f64>; 2]> {
    matrices.set_requires_grad(true)?;
    let of = |y: &Tensor| {
        let options = GradOptions::new().create_graph(true);
        let grads = autograd::grad(&[&y.sum()?], &[matrices], &[], options)?;
        Ok::<_, Error>(grads.into_iter().flatten().next().expect("a gradient"))
    };
    let first = of(&aten::linalg_det(matrices)?)?;
    let second = of(&first.mul(&Tensor::from([[1.0, 2.0], [3.0, 5.0]]))?)?;
    let rounded = |x: &Tensor| x.round()?.add(0.0)?.contiguous()?.to_vec::<f64>();
    assert!(aten::allclose(&first.round()?, &first)? && aten::allclose(&second.round()?, &second)?);
    Ok([rounded(&first)?, rounded(&second)?])
}

#[test]
fn determinants_of_singular_matrices_can_be_differentiated_twice() -> Result<()> {
    let (singular, regular) = ([[1.0, 2.0], [2.0, 4.0]], [[1.0, 2.0], [3.0, 5.0]]);
    let weighted = [5.0, -3.0, -2.0, 1.0];
    assert_eq!(twice(&Tensor::from(singular))?, [vec![4.0, -2.0, -2.0, 1.0], weighted.to_vec()]);
    assert_eq!(twice(&Tensor::from(regular))?, [weighted.to_vec(), weighted.to_vec()]);
    let [first, second] = twice(&Tensor::from([singular, regular]))?;
    assert_eq!((&first[..4], &first[4..]), (&[4.0, -2.0, -2.0, 1.0][..], &weighted[..]));
    assert_eq!(second, [weighted, weighted].concat());
    Ok(())
}

#[test]
fn a_loss_that_depends_on_phases_has_no_gradient() -> Result<()> {
    let number = Complex64::new;
    let hermitian = || {
        let matrix =
            Tensor::from([[number(2.0, 0.0), number(0.0, 1.0)], [number(0.0, -1.0), number(3.0, 0.0)]]);
        matrix.set_requires_grad(true)?;
        Ok::<_, Error>(matrix)
    };
    let sum_of_real = |x: &Tensor| aten::real(x)?.sum();
    type Loss<'a> = (&'a str, &'a dyn Fn(&Tensor) -> Result<Tensor>);
    let losses: [Loss<'_>; 4] = [
        ("aten::_linalg_eigh", &|a| sum_of_real(&aten::linalg_eigh(a)?.1)),
        ("aten::linalg_eig", &|a| sum_of_real(&aten::linalg_eig(a)?.1)),
        ("aten::_linalg_svd", &|a| sum_of_real(&aten::linalg_svd(a)?.0)),
        ("aten::_linalg_svd", &|a| sum_of_real(&aten::linalg_svd(a)?.2)),
    ];
    for (operator, loss) in losses {
        let error = loss(&hermitian()?)?.backward().unwrap_err().to_string();
        let refusal = format!("{operator}: the loss depends on the phases of complex vectors");
        assert!(error.contains(&refusal), "{error}");
    }
    aten::linalg_eigh(&hermitian()?)?.1.abs()?.sum()?.backward()?;
    aten::linalg_eig(&hermitian()?)?.1.abs()?.sum()?.backward()?;
    let (u, _, vh) = aten::linalg_svd(&hermitian()?)?;
    sum_of_real(&u.matmul(&vh)?)?.backward()
}

#[test]
fn the_gradient_of_a_symmetric_matrix_is_symmetric_whatever_the_loss_of_its_eigenvectors() -> Result<()> {
    let a = Tensor::from([[2.0, 1.0], [1.0, -1.0]]);
    a.set_requires_grad(true)?;
    let (values, vectors) = aten::linalg_eigh(&a)?;
    // Squares, as signs are arbitrary.
    let weights = Tensor::from([[1.0, 2.0], [3.0, 5.0]]);
    vectors.square()?.mul(&weights)?.sum()?.add(&values.sum()?)?.backward()?;
    let gradient = a.grad().expect("a gradient");
    assert!(aten::allclose(&gradient, &gradient.t()?)?, "{gradient}");
    // The symmetric change is that of the loss: rotation by the angle with tan(2 angle) = 2 a01 / (a00 - a11).
    let change = |da: f64| {
        let a = Tensor::from([[2.0, 1.0 + da], [1.0 + da, -1.0]]);
        aten::linalg_eigh(&a)?.1.square()?.mul(&weights)?.sum()?.item()?.to::<f64>()
    };
    let numeric = (change(1e-5)? - change(-1e-5)?) / 2e-5;
    let analytic = gradient.to_vec::<f64>()?[1] * 2.0;
    assert!((numeric - analytic).abs() < 1e-7, "{numeric} {analytic}");
    Ok(())
}

#[test]
fn singular_values_of_least_squares_have_no_gradient() -> Result<()> {
    let a = Tensor::from([[2.0, 1.0], [1.0, -1.0], [0.0, 3.0]]);
    a.set_requires_grad(true)?;
    let b = Tensor::from([[1.0], [2.0], [3.0]]);
    let (solution, _, _, values) = aten::linalg_lstsq::with(&a, &b).driver(Some("gelsd")).call()?;
    assert!(solution.requires_grad() && !values.requires_grad());
    Ok(())
}
