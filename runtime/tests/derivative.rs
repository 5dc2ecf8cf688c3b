//! The record of a derivative's formulas, and a node of the graph that is called alone.

use torch_library::autograd::{self, Derivative, Positions};
use torch_library::{Dispatcher, derivatives, prelude::*};

torch_library! {
    /// Operators with derivative formulas.
    mod named {
        all(Tensor self, Tensor other, Tensor[] list, float by=1) -> (Tensor, Tensor, int);
        swapped(Tensor first, Tensor second) -> Tensor;
        last(Tensor a, Tensor b, Tensor c, Tensor d, Tensor e) -> Tensor;
        written_(Tensor(a!) self, Tensor other) -> Tensor(a!);
        asked(Tensor self, ScalarType? dtype=None, Tensor? like=None) -> Tensor;
        without(Tensor self) -> Tensor;
        plain(Tensor self) -> Tensor;
        failing(Tensor self) -> Tensor;
        refused(Tensor self) -> Tensor;
        refused_all(Tensor a, Tensor b) -> Tensor;
        refused_list(Tensor[] list) -> Tensor;
        refused_later(Tensor self) -> Tensor;
        _1d(Tensor self) -> Tensor;
        masked(Tensor self, Tensor other, Tensor mask) -> Tensor;
    }
}

torch_library! {
    /// Operators whose rows are written by a macro.
    mod by_macro {
        named(Tensor self) -> Tensor;
        given(Tensor self, float by) -> Tensor;
    }
}

derivatives! {
    in named;

    all(Tensor self, Tensor other, Tensor[] list, float by=1) -> (Tensor, Tensor, int) {
        self => { let _ = (other.sizes(), by); grads[0].clone() },
        other => { let _ = (self, other, result1); grads[0].clone() },
        list => { let _ = metadata(list); vec![grads[0].clone(); list.len()] },
        result1 => non_differentiable,
    }

    swapped(Tensor first, Tensor second) -> Tensor {
        (second, first) => (grad.clone(), None::<Tensor>),
    }

    last(Tensor a, Tensor b, Tensor c, Tensor d, Tensor e) -> Tensor {
        (a, b, c, d, e) => (None::<Tensor>, None::<Tensor>, None::<Tensor>, None::<Tensor>, grad.clone()),
    }

    written_(Tensor(a!) self, Tensor other) -> Tensor(a!) {
        self => grad.clone(),
        other => non_differentiable,
    }

    #[differentiable_if(dtype.is_none() || like.is_some())]
    asked(Tensor self, ScalarType? dtype=None, Tensor? like=None) -> Tensor {
        self => grad.clone(),
        like => non_differentiable,
    }

    without(Tensor self) -> Tensor as non_differentiable;

    failing(Tensor self) -> Tensor {
        self => { ensure!(grad.numel() > 1, Shape, "a gradient of one element"); grad.clone() },
    }
}

// Names that Rust would not take, or that formulas have themselves.
derivatives! {
    in named;

    _1d(Tensor self) -> Tensor {
        self => grad.clone(),
    }

    masked(Tensor self, Tensor other, Tensor mask) -> Tensor {
        (self, other) => (mask.clone(), None::<Tensor>),
        mask => non_differentiable,
    }
}

// The macro has some of the names, and its caller the others.
macro_rules! row {
    ($operator:ident) => {
        derivatives! {
            in by_macro;
            $operator(Tensor self) -> Tensor {
                self => { let _ = (self, result, grads, mask); grad.clone() },
            }
        }
    };
    ($operator:ident if $condition:expr => $formula:expr) => {
        derivatives! {
            in by_macro;
            #[differentiable_if($condition)]
            $operator(Tensor self, float by) -> Tensor {
                self => $formula,
            }
        }
    };
}

row!(named);
row!(given if by > 0.0 => { let _ = (by, self.sizes(), result); grad.clone() });

// Formulas without a value.
derivatives! {
    in named;

    refused(Tensor self) -> Tensor {
        self => bail!(NotSupported, "no gradient of {:?}", self.sizes()),
    }

    refused_all(Tensor a, Tensor b) -> Tensor {
        (a, b) => { return Err(Error::new(ErrorKind::NotSupported, "no gradients")); },
    }

    refused_list(Tensor[] list) -> Tensor {
        list => torch_library::bail!(NotSupported, "no gradients of a list"),
    }

    refused_later(Tensor self) -> Tensor {
        self => {
            if grad.numel() > 1 {
                return Err(Error::new(ErrorKind::NotSupported, "too many gradients"));
            }
            bail!(NotSupported, "no gradient of {}", self.dtype())
        },
    }
}

#[torch_impl(named::refused_all, CPU)]
fn refused_all(a: &Tensor, _: &Tensor) -> Result<Tensor> {
    failing(a)
}

#[torch_impl(named::refused_list, CPU)]
fn refused_list(list: &[Tensor]) -> Result<Tensor> {
    failing(&list[0])
}

#[torch_impl(named, CPU)]
fn refused(this: &Tensor) -> Result<Tensor> {
    failing(this)
}

#[torch_impl(named, CPU)]
fn refused_later(this: &Tensor) -> Result<Tensor> {
    failing(this)
}

#[torch_impl(named::failing, CPU)]
fn failing(this: &Tensor) -> Result<Tensor> {
    Tensor::from_vec(this.to_vec::<f64>()?, this.sizes())
}

#[torch_impl(named::_1d, CPU)]
fn _1d(this: &Tensor) -> Result<Tensor> {
    failing(this)
}

#[torch_impl(named::masked, CPU)]
fn masked(this: &Tensor, _: &Tensor, _: &Tensor) -> Result<Tensor> {
    failing(this)
}

#[torch_impl(by_macro::named, CPU)]
fn by_macro_named(this: &Tensor) -> Result<Tensor> {
    failing(this)
}

#[torch_impl(by_macro::given, CPU)]
fn by_macro_given(this: &Tensor, _: f64) -> Result<Tensor> {
    failing(this)
}

#[torch_impl(named::swapped, CPU)]
fn swapped(_: &Tensor, second: &Tensor) -> Result<Tensor> {
    Tensor::from_vec(second.to_vec::<f64>()?, second.sizes())
}

#[torch_impl(named::last, CPU)]
fn last(_: &Tensor, _: &Tensor, _: &Tensor, _: &Tensor, e: &Tensor) -> Result<Tensor> {
    Tensor::from_vec(e.to_vec::<f64>()?, e.sizes())
}

#[torch_impl(named::plain, Autograd)]
fn plain(this: &Tensor) -> Result<Tensor> {
    Ok(this.clone())
}

fn derivative(name: &str) -> Option<&'static Derivative> {
    let info = Dispatcher::global().operator(&format!("named::{name}")).unwrap();
    let found: Vec<_> = info.kernels.iter().filter_map(|kernel| kernel.derivative).collect();
    assert!(found.len() < 2, "kernels that keep books of writes have none");
    found.first().copied()
}

/// For each formula: the arguments it differentiates, those whose values and metadata it uses, and the results it uses.
fn formulas(name: &str) -> Vec<[Vec<usize>; 4]> {
    let list = |positions: Positions| positions.iter().collect();
    let formulas = derivative(name).unwrap().formulas().iter();
    formulas.map(|f| [f.of(), f.values(), f.metadata(), f.results()].map(list)).collect()
}

#[test]
fn a_record_says_what_each_formula_names() {
    let none = Vec::new;
    assert_eq!(
        formulas("all"),
        [
            [vec![0], vec![3], vec![1], none()],
            [vec![1], vec![0, 1], none(), vec![1]],
            [vec![2], vec![2], none(), none()], // the value includes the metadata
        ]
    );
    assert_eq!(formulas("written_"), [[vec![0], none(), none(), none()]]);
    let asked = derivative("asked").unwrap();
    assert_eq!(asked.condition().iter().collect::<Vec<_>>(), [1, 2]);
    assert_eq!(derivative("all").unwrap().differentiable().iter().collect::<Vec<_>>(), [0]);
    assert!(derivative("without").unwrap().formulas().is_empty());
    assert_eq!(derivative("without").unwrap().differentiable(), Positions::default());
    assert_eq!(derivative("plain"), None, "of what somebody wrote by hand nothing is known");
}

#[test]
fn edges_are_in_the_order_of_arguments_and_a_node_can_be_called_alone() {
    let (first, second) = (Tensor::from([1.0]), Tensor::from([2.0]));
    second.set_requires_grad(true).unwrap();
    let node = named::swapped(&first, &second).unwrap().grad_fn().unwrap().unwrap();
    assert_eq!(node.edges().iter().map(Option::is_some).collect::<Vec<_>>(), [false, true]);
    let grads = node.call(vec![Some(Tensor::from([5.0]))]).unwrap();
    let values = |grad: &Option<Tensor>| grad.as_ref().map(|grad| grad.to_vec::<f64>().unwrap());
    assert_eq!(grads.iter().map(values).collect::<Vec<_>>(), [None, Some(vec![5.0])]);
    assert!(node.call(vec![None]).unwrap().iter().all(Option::is_none), "zeros in, zeros out");
}

#[test]
fn a_formula_for_five_arguments_gives_each_its_own_gradient() -> Result<()> {
    let x = [0.0, 1.0, 2.0, 3.0, 4.0].map(|x| Tensor::from([x]));
    x.iter().try_for_each(|x| x.set_requires_grad(true))?;
    let [a, b, c, d, e] = &x;
    let grads = autograd::grad(
        &[&named::last(a, b, c, d, e)?],
        &[d, e],
        &[Some(Tensor::from([7.0]))],
        autograd::GradOptions::new().allow_unused(true),
    )?;
    assert!(grads[0].is_none());
    assert_eq!(grads[1].as_ref().map(Tensor::to_vec::<f64>).transpose()?, Some(vec![7.0]));
    Ok(())
}

#[test]
fn an_argument_named_mask_is_that_argument_in_shared_formulas() -> Result<()> {
    let (x, mask) = (Tensor::from([1.0]), Tensor::from([5.0]));
    x.set_requires_grad(true)?;
    let y = named::masked(&x, &mask, &mask)?;
    let grads = autograd::grad(&[&y], &[&x], &[Some(Tensor::from([1.0]))], Default::default())?;
    assert_eq!(grads[0].as_ref().map(Tensor::to_vec::<f64>).transpose()?, Some(vec![5.0]));
    Ok(())
}

#[test]
fn the_default_name_of_a_node_may_start_with_a_digit() -> Result<()> {
    let x = Tensor::from([1.0]);
    x.set_requires_grad(true)?;
    assert_eq!(named::_1d(&x)?.grad_fn()?.map(|node| node.name()), Some("1dBackward0"));
    Ok(())
}

#[test]
fn formulas_in_a_macro_see_all_names_whoever_wrote_them() -> Result<()> {
    let x = Tensor::from([1.0]);
    x.set_requires_grad(true)?;
    assert!(by_macro::named(&x)?.grad_fn()?.is_some());
    assert!(by_macro::given(&x, 1.0)?.grad_fn()?.is_some());
    assert!(by_macro::given(&x, -1.0)?.grad_fn()?.is_none());
    Ok(())
}

#[test]
fn the_error_of_a_formula_says_whose_gradient_it_is() -> Result<()> {
    let x = Tensor::from([1.0]);
    x.set_requires_grad(true)?;
    let y = named::failing(&x)?;
    let gradient = Some(Tensor::from([1.0]));
    let alone = y.grad_fn()?.unwrap().call(vec![gradient.clone()]);
    let all = autograd::grad(&[&y], &[&x], &[gradient], autograd::GradOptions::new());
    for error in [alone.map(drop).unwrap_err(), all.map(drop).unwrap_err()] {
        assert_eq!(error.to_string(), "FailingBackward0: a gradient of one element");
    }
    Ok(())
}

#[test]
fn a_formula_may_only_return_an_error() -> Result<()> {
    let x = Tensor::from([1.0]);
    x.set_requires_grad(true)?;
    let refusals = [
        (named::refused(&x)?, "RefusedBackward0: no gradient of [1]"),
        (named::refused_all(&x, &x)?, "RefusedAllBackward0: no gradients"),
        (named::refused_list(std::slice::from_ref(&x))?, "RefusedListBackward0: no gradients of a list"),
        (named::refused_later(&x)?, "RefusedLaterBackward0: no gradient of float64"),
    ];
    for (y, expected) in refusals {
        let gradient = Some(Tensor::from([1.0]));
        let error = autograd::grad(&[&y], &[&x], &[gradient], autograd::GradOptions::new()).unwrap_err();
        assert_eq!((error.kind(), &error.to_string()[..]), (ErrorKind::NotSupported, expected));
    }
    Ok(())
}
