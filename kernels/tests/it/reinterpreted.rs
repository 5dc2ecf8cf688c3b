//! Gradients of views that read the memory of their base in another way: as parts, as pairs, conjugated or negated. The
//! expected numbers are PyTorch's.

use torch_library::autograd::{self, GradOptions};
use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

type View = fn(&Tensor) -> Result<Tensor>;

fn complex(re: f64, im: f64) -> Complex64 {
    Complex64::new(re, im)
}

fn leaf() -> Result<Tensor> {
    let z = Tensor::from([complex(1.0, 2.0), complex(3.0, -1.0)]);
    z.set_requires_grad(true)?;
    Ok(z)
}

fn factors() -> Result<Tensor> {
    let factors = Tensor::from([2.0, 5.0]);
    factors.set_requires_grad(true)?;
    Ok(factors)
}

/// A number in which every part of a complex tensor has a weight of its own.
fn weighted(y: &Tensor) -> Result<Tensor> {
    let resolved = aten::resolve_neg(&aten::resolve_conj(y)?)?;
    let parts = if y.dtype().is_complex() { aten::view_as_real(&resolved)? } else { resolved };
    let weights = Tensor::from_vec((1..=parts.numel()).map(|x| x as f64).collect(), parts.sizes())?;
    parts.mul(&weights)?.sum()
}

fn grad_of(z: &Tensor) -> Result<Vec<Complex64>> {
    z.grad().expect("a gradient").to_vec()
}

/// The gradients of a tensor and of factors, by which a view of the tensor is multiplied in place.
#[track_caller]
fn check(view: View, of_base: [(f64, f64); 2], of_factors: [f64; 2]) -> Result<()> {
    let (z, factors) = (leaf()?, factors()?);
    let y = z.mul(1)?;
    let mut part = view(&y)?;
    let by = if part.sizes() == [1] { factors.narrow(0, 1, 1)? } else { factors.clone() };
    part.mul_(&by)?;
    weighted(&y)?.backward()?;
    assert_eq!(grad_of(&z)?, of_base.map(|(re, im)| complex(re, im)));
    assert_eq!(factors.grad().expect("a gradient").to_vec::<f64>()?, of_factors);
    Ok(())
}

#[test]
fn a_write_through_a_view_reaches_the_elements_that_it_reads() -> Result<()> {
    check(aten::real, [(2.0, 2.0), (15.0, 4.0)], [1.0, 9.0])?;
    check(aten::imag, [(1.0, 4.0), (3.0, 20.0)], [4.0, -4.0])?;
    check(aten::conj, [(2.0, 4.0), (15.0, 20.0)], [5.0, 5.0])?;
    check(|y| aten::imag(&aten::conj(y)?), [(1.0, 4.0), (3.0, 20.0)], [4.0, -4.0])?;
    check(aten::_neg_view, [(2.0, 4.0), (15.0, 20.0)], [5.0, 5.0])?;
    let negated: View = |y| aten::conj(&aten::_neg_view(y)?)?.narrow(0, 1, 1);
    check(negated, [(1.0, 2.0), (15.0, 20.0)], [0.0, 5.0])?;
    check(|y| aten::view_as_real(y)?.select(0, 0), [(2.0, 10.0), (3.0, 4.0)], [1.0, 4.0])?;
    check(|y| aten::view_as_real(y)?.t(), [(2.0, 4.0), (15.0, 20.0)], [5.0, 5.0])?;
    let back: View = |y| aten::view_as_complex(&aten::view_as_real(y)?);
    check(back, [(2.0, 4.0), (15.0, 20.0)], [5.0, 5.0])?;
    check(
        |y| aten::conj(&aten::view_as_complex(&aten::view_as_real(y)?)?),
        [(2.0, 4.0), (15.0, 20.0)],
        [5.0, 5.0],
    )
}

#[test]
fn parts_of_a_part_are_written_and_the_rest_is_not() -> Result<()> {
    let z = Tensor::from([complex(1.0, 2.0); 4]);
    z.set_requires_grad(true)?;
    let y = z.mul(1)?;
    let mut part = aten::view_as_real(&y.narrow(0, 0, 2)?)?;
    part.mul_(3)?;
    aten::view_as_real(&y)?.sum()?.backward()?;
    assert_eq!(
        grad_of(&z)?,
        [(3.0, 3.0), (3.0, 3.0), (1.0, 1.0), (1.0, 1.0)].map(|(re, im)| complex(re, im))
    );
    Ok(())
}

#[test]
fn a_write_through_complex_numbers_reaches_their_parts() -> Result<()> {
    let x = Tensor::from([1.0, 2.0, 3.0, 4.0]);
    x.set_requires_grad(true)?;
    let y = x.mul(1)?;
    let mut pairs = aten::view_as_complex(&aten::view(&y, &[2, 2])?)?;
    pairs.mul_(&Tensor::from([complex(0.0, 1.0), complex(2.0, 1.0)]))?;
    assert_eq!(pairs.grad_fn()?.map(|node| node.name()), Some("ViewAsComplexBackward0"));
    weighted(&y)?.backward()?;
    assert_eq!(x.grad().expect("a gradient").to_vec::<f64>()?, [2.0, -1.0, 10.0, 5.0]);
    Ok(())
}

/// The gradient of a view whose base was multiplied by 2 + i after the view was made.
#[track_caller]
fn check_read(view: View, expected: [(f64, f64); 2]) -> Result<()> {
    let z = leaf()?;
    let mut y = z.mul(1)?;
    let part = view(&y)?;
    y.mul_(Scalar::from(complex(2.0, 1.0)))?;
    weighted(&part)?.backward()?;
    assert_eq!(grad_of(&z)?, expected.map(|(re, im)| complex(re, im)));
    Ok(())
}

#[test]
fn a_view_of_what_was_written_has_its_history() -> Result<()> {
    check_read(aten::conj, [(0.0, -5.0), (2.0, -11.0)])?;
    check_read(aten::real, [(2.0, -1.0), (4.0, -2.0)])?;
    check_read(aten::view_as_real, [(4.0, 3.0), (10.0, 5.0)])
}

#[test]
fn a_base_may_be_conjugated_itself() -> Result<()> {
    let product = || -> Result<(Tensor, Tensor)> {
        let z = leaf()?;
        let mut base = aten::detach(&aten::conj(&z.detach()?.copy()?)?)?;
        base.mul_(&z)?;
        assert!(aten::is_conj(&base)? && !base.is_view());
        Ok((z, base))
    };
    let (z, base) = product()?;
    base.narrow(0, 1, 1)?.mul_(5)?;
    weighted(&base)?.backward()?;
    assert_eq!(grad_of(&z)?, [complex(-3.0, 4.0), complex(65.0, 45.0)]);

    // PyTorch cannot compute these gradients.
    let (z, base) = product()?;
    aten::imag(&base)?.mul_(&factors()?)?;
    weighted(&base)?.backward()?;
    assert_eq!(grad_of(&z)?, [complex(-7.0, 6.0), complex(29.0, 57.0)]);
    Ok(())
}

#[test]
fn gradients_of_such_writes_have_gradients() -> Result<()> {
    type Numbers = [(f64, f64); 2];
    let cases: [(View, Numbers, Numbers); 2] = [
        (aten::real, [(-100.0, 220.0), (2584.0, 888.0)], [(-176.0, 256.0), (3464.0, 8.0)]),
        (
            |y| aten::conj(y)?.narrow(0, 0, 1),
            [(-540.0, -720.0), (10.0, 30.0)],
            [(-540.0, -1620.0), (14.0, 2.0)],
        ),
    ];
    for (view, first, second) in cases {
        let z = leaf()?;
        let y = z.mul(&z)?;
        let mut part = view(&y)?;
        part.mul_(3)?;
        let factor = part.mul(1)?;
        part.mul_(&factor)?;
        let gradient = |of: &Tensor, graph| -> Result<Tensor> {
            let options = GradOptions::new().create_graph(graph);
            Ok(autograd::grad(&[of], &[&z], &[], options)?.remove(0).expect("a gradient"))
        };
        let once = gradient(&weighted(&y)?, true)?;
        assert_eq!(aten::resolve_conj(&once)?.to_vec::<Complex64>()?, first.map(|(re, im)| complex(re, im)));
        let twice = gradient(&aten::view_as_real(&aten::resolve_conj(&once)?)?.sum()?, false)?;
        assert_eq!(
            aten::resolve_conj(&twice)?.to_vec::<Complex64>()?,
            second.map(|(re, im)| complex(re, im))
        );
    }
    Ok(())
}

#[test]
fn a_view_as_another_type_has_no_gradient_and_may_be_written() -> Result<()> {
    let x = Tensor::from([1.0, 2.0]);
    x.set_requires_grad(true)?;
    let mut y = x.mul(1)?;
    for (source, dtype) in
        [(&x, DType::Float32), (&x, DType::Float64), (&y, DType::Complex64), (&y, DType::Int64)]
    {
        let view = aten::view_dtype(source, dtype)?;
        assert!(!view.requires_grad() && view.grad_fn()?.is_none() && !view.is_view(), "{dtype}");
        assert!(view.shares_storage_with(source));
    }
    // A write changes the other's version, and nothing else that autograd knows.
    let mut bits = aten::view_dtype(&y, DType::Int64)?;
    bits.zero_()?;
    assert_eq!((y.to_vec::<f64>()?, y.version(), bits.version()), (vec![0.0; 2], 1, 1));
    assert_eq!(y.grad_fn()?.expect("a node").name(), "MulBackward1");
    y.mul_(2)?;
    assert_eq!(bits.version(), 2);
    y.sum()?.backward()?;
    assert_eq!(x.grad().expect("a gradient").to_vec::<f64>()?, [2.0, 2.0]);
    // A view that is multiplied by something with a history has one itself, and its base has none.
    let base = Tensor::from([1.0]);
    let mut halves = aten::view_dtype(&base, DType::Float32)?;
    halves.mul_(&x.to_dtype(DType::Float32)?)?;
    assert!(halves.requires_grad() && !base.requires_grad());
    Ok(())
}

#[test]
fn gradients_are_retained_where_the_history_is_now() -> Result<()> {
    let x = Tensor::from([1.0, 1.0]);
    x.set_requires_grad(true)?;
    let retained = |tensor: &Tensor| tensor.grad().map(|grad| grad.to_vec::<f64>()).transpose();
    // Of the base of what is written, and of the view.
    let y = x.mul(2)?;
    let mut part = y.narrow(0, 0, 1)?;
    y.retain_grad()?;
    part.retain_grad()?;
    part.mul_(3)?;
    y.sum()?.backward()?;
    assert_eq!((retained(&y)?, retained(&part)?), (Some(vec![1.0, 1.0]), None));
    let y = x.mul(2)?;
    let mut part = y.narrow(0, 0, 1)?;
    part.retain_grad()?;
    part.mul_(3)?;
    part.sum()?.backward()?;
    assert_eq!(retained(&part)?, Some(vec![1.0]));
    // Of a view whose base is written.
    let mut y = x.mul(2)?;
    let part = y.narrow(0, 0, 1)?;
    part.retain_grad()?;
    y.mul_(3)?;
    part.sum()?.backward()?;
    assert_eq!(retained(&part)?, Some(vec![1.0]));
    // In two passes, and of a root whose gradient is the root itself.
    let y = x.mul(2)?;
    y.retain_grad()?;
    for _ in 0..2 {
        autograd::backward(&[&y], &[Some(y.clone())], GradOptions::new().retain_graph(true))?;
    }
    assert_eq!(retained(&y)?, Some(vec![4.0, 4.0]));
    assert!(y.grad().is_some_and(|grad| !grad.is_same(&y)));
    Ok(())
}
