//! Operators on lists of tensors: each tensor's result and gradient, and lists that do not fit.

use torch_library::prelude::*;
use torch_library_kernels::aten;

fn list() -> Vec<Tensor> {
    vec![Tensor::from([1.0, 4.0]), Tensor::from(9.0)]
}

fn numbers(list: &[Tensor]) -> Vec<Vec<f64>> {
    list.iter().map(|tensor| tensor.to_vec().unwrap()).collect()
}

#[test]
fn each_tensor_has_a_result() -> Result<()> {
    assert_eq!(numbers(&aten::_foreach_add_Scalar(&list(), 1.into())?), [vec![2.0, 5.0], vec![10.0]]);
    assert_eq!(
        numbers(&aten::_foreach_mul_ScalarList(&list(), &[2.into(), 3.into()])?),
        [vec![2.0, 8.0], vec![27.0]]
    );
    assert_eq!(
        numbers(&aten::_foreach_sub_List::call(&list(), &list(), 2.into())?),
        [vec![-1.0, -4.0], vec![-9.0]]
    );
    assert_eq!(
        numbers(&aten::_foreach_div_Tensor(&list(), &Tensor::from(2.0))?),
        [vec![0.5, 2.0], vec![4.5]]
    );
    assert_eq!(
        numbers(&aten::_foreach_pow_ScalarAndTensor(2.into(), &list())?),
        [vec![2.0, 16.0], vec![512.0]]
    );
    let sums = aten::_foreach_addcmul_ScalarList(&list(), &list(), &list(), &[1.into(), 0.5.into()])?;
    assert_eq!(numbers(&sums), [vec![2.0, 20.0], vec![49.5]]);
    Ok(())
}

#[test]
fn each_tensor_is_written_to() -> Result<()> {
    let mut tensors = list();
    aten::_foreach_clamp_max__Scalar(&mut tensors, 3.into())?;
    aten::_foreach_neg_(&mut tensors)?;
    assert_eq!(numbers(&tensors), [vec![-1.0, -3.0], vec![-3.0]]);
    aten::_foreach_copy_(&mut tensors, &list())?;
    assert_eq!(numbers(&tensors), numbers(&list()));
    assert_eq!(tensors[0].version(), 3);
    Ok(())
}

#[test]
fn gradients_are_those_of_the_operator_on_one() -> Result<()> {
    let tensors = list();
    tensors.iter().try_for_each(|tensor| tensor.set_requires_grad(true).map(drop))?;
    let roots = aten::_foreach_pow_Scalar(&tensors, 2.into())?;
    assert_eq!(roots[0].grad_fn()?.expect("a node").name(), "PowBackward0");
    roots.iter().try_for_each(|root| aten::sum(root)?.backward())?;
    assert_eq!(tensors[0].grad().expect("a gradient").to_vec::<f64>()?, [2.0, 8.0]);
    Ok(())
}

/// The gradients of a list that an operator writes to, which was multiplied by 1 before.
fn grads_through(write: impl Fn(&mut [Tensor]) -> Result<()>) -> Result<Vec<Option<Vec<f64>>>> {
    let leaves = list();
    leaves[0].set_requires_grad(true)?;
    let mut written =
        leaves.iter().map(|leaf| aten::mul_Scalar(leaf, 1.into())).collect::<Result<Vec<_>>>()?;
    write(&mut written)?;
    assert!(!written[1].requires_grad(), "each tensor has a history of its own");
    aten::sum(&written[0])?.backward()?;
    leaves.iter().map(|leaf| leaf.grad().map(|grad| grad.to_vec()).transpose()).collect()
}

#[test]
fn writes_to_each_tensor_have_gradients() -> Result<()> {
    let ones = || vec![Tensor::from([1.0, 1.0]), Tensor::from(1.0)];
    type Write = fn(&mut [Tensor], &[Tensor]) -> Result<()>;
    let writes: [(Write, [f64; 2]); 13] = [
        (|x, y| aten::_foreach_add__List::call(x, y, 2.into()), [1.0, 1.0]),
        (|x, _| aten::_foreach_add__Scalar(x, 2.into()), [1.0, 1.0]),
        (|x, y| aten::_foreach_sub__List(x, y), [1.0, 1.0]),
        (|x, y| aten::_foreach_mul__List(x, y), [1.0, 1.0]),
        (|x, _| aten::_foreach_mul__Scalar(x, 3.into()), [3.0, 3.0]),
        (|x, y| aten::_foreach_div__List(x, y), [1.0, 1.0]),
        (|x, _| aten::_foreach_div__Scalar(x, 2.into()), [0.5, 0.5]),
        (|x, y| aten::_foreach_addcmul__Scalar(x, y, y), [1.0, 1.0]),
        (|x, y| aten::_foreach_addcdiv__Scalar(x, y, y), [1.0, 1.0]),
        (|x, y| aten::_foreach_lerp__Scalar(x, y, 0.25.into()), [0.75, 0.75]),
        (|x, _| aten::_foreach_zero_(x), [0.0, 0.0]),
        (|x, _| aten::_foreach_sqrt_(x), [0.5, 0.25]),
        (|x, y| aten::_foreach_addcmul__Tensor(x, y, y, &Tensor::from([2.0, 2.0])), [1.0, 1.0]),
    ];
    for (n, (write, want)) in writes.into_iter().enumerate() {
        assert_eq!(grads_through(|x| write(x, &ones()))?, [Some(want.to_vec()), None], "{n}");
    }
    Ok(())
}

#[test]
fn half_of_the_gradient_goes_to_an_element_that_equals_the_bound() -> Result<()> {
    type Bound = fn(&[Tensor]) -> Result<Vec<Tensor>>;
    let bounds: [(Bound, [f64; 3]); 4] = [
        (|x| aten::_foreach_maximum_Scalar(x, 2.into()), [0.0, 0.5, 1.0]),
        (|x| aten::_foreach_maximum_ScalarList(x, &[2.into()]), [0.0, 0.5, 1.0]),
        (|x| aten::_foreach_minimum_Scalar(x, 2.into()), [1.0, 0.5, 1.0]),
        (|x| aten::_foreach_minimum_ScalarList(x, &[2.into()]), [1.0, 0.5, 1.0]),
    ];
    for (n, (bound, want)) in bounds.into_iter().enumerate() {
        let x = Tensor::from([1.0, 2.0, f64::NAN]);
        x.set_requires_grad(true)?;
        aten::sum(&bound(std::slice::from_ref(&x))?[0])?.backward()?;
        assert_eq!(x.grad().expect("a gradient").to_vec::<f64>()?, want, "{n}");
    }
    // The type of a number counts only by its kind.
    let whole = [Tensor::from([1i32, 3])];
    assert_eq!(aten::_foreach_maximum_Scalar(&whole, 2.into())?[0].to_vec::<i32>()?, [2, 3]);
    assert_eq!(aten::_foreach_maximum_Scalar(&whole, 2.5.into())?[0].dtype(), DType::Float32);
    Ok(())
}

#[test]
fn lists_have_one_length_and_a_tensor() {
    let refused = |error: Error, part: &str| assert!(error.to_string().contains(part), "{error}");
    refused(aten::_foreach_exp(&[]).unwrap_err(), "a list has no tensors");
    refused(aten::_foreach_mul_List(&list(), &list()[..1]).unwrap_err(), "lists of 2 and 1");
    refused(aten::_foreach_mul_ScalarList(&list(), &[1.into()]).unwrap_err(), "lists of 2 and 1");
}

#[test]
fn a_boolean_to_the_power_of_true_is_itself() -> Result<()> {
    let mut all = [Tensor::from([true, false]), Tensor::from([true])];
    aten::_foreach_pow__Scalar(&mut all, true.into())?;
    assert_eq!(all[0].to_vec::<bool>()?, [true, false]);
    aten::_foreach_pow__ScalarList(&mut all, &[true.into(), true.into()])?;
    aten::pow__Scalar(&mut all[0], true.into())?;
    assert_eq!(all[0].to_vec::<bool>()?, [true, false]);
    for exponent in [Scalar::Int(2), Scalar::Float(2.0), Scalar::Int(0)] {
        assert!(aten::_foreach_pow__Scalar(&mut all, exponent).is_err(), "{exponent} makes no boolean");
    }
    Ok(())
}
