//! Lazy conjugates, negatives and zeros: PyTorch's results, and the state of memory in between.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::vmap::vmap;

torch_library! {
    mod lazy_test {
        /// Does not handle lazy bits.
        raw(Tensor self) -> Tensor;
        /// Writes to two tensors.
        both_(Tensor(a!) self, Tensor(b!) other) -> ();
    }
}

#[torch_impl(lazy_test, CPU)]
mod cpu {
    use super::*;

    fn raw(this: &Tensor) -> Result<Tensor> {
        Tensor::from_vec(this.to_vec::<Complex64>()?, this.sizes())
    }

    fn both_(_: &mut Tensor, _: &mut Tensor) -> Result<()> {
        Ok(())
    }
}

fn complex(re: f64, im: f64) -> Complex64 {
    Complex64::new(re, im)
}

fn x() -> Tensor {
    Tensor::from([[complex(1.0, 2.0), complex(3.0, -4.0)]])
}

fn elements(tensor: &Tensor) -> Vec<Complex64> {
    tensor.to_vec().unwrap()
}

#[test]
fn conjugates_are_views_until_a_kernel_needs_them() {
    let x = x();
    let conj = aten::conj(&x).unwrap();
    assert!(aten::is_conj(&conj).unwrap() && conj.shares_storage_with(&x) && conj.is_view());
    assert_eq!(elements(&conj), [complex(1.0, -2.0), complex(3.0, 4.0)]);
    assert_eq!(conj.element::<Complex64>(&[0, 1]).unwrap(), complex(3.0, 4.0));
    // Views of it are, results are not.
    let is_conj = |tensor: Result<Tensor>| aten::is_conj(&tensor.unwrap()).unwrap();
    assert!(
        is_conj(aten::t(&conj)) && is_conj(aten::select_int(&conj, 0, 0)) && is_conj(aten::detach(&conj))
    );
    assert!(!is_conj(aten::conj(&conj)) && !is_conj(aten::clone(&conj)) && !is_conj(aten::empty_like(&conj)));
    let sum = aten::add_Scalar(&conj, 1.into()).unwrap();
    assert_eq!(
        (elements(&sum), aten::is_conj(&sum).unwrap()),
        (vec![complex(2.0, -2.0), complex(4.0, 4.0)], false)
    );
    assert_eq!(elements(&lazy_test::raw(&conj).unwrap()), elements(&conj));
    let resolved = aten::resolve_conj(&conj).unwrap();
    assert!(!resolved.shares_storage_with(&x) && aten::resolve_conj(&x).unwrap().is_same(&x));
    assert_eq!(elements(&resolved), elements(&conj));
    let real = Tensor::from([1.0]);
    assert!(aten::conj(&real).unwrap().is_same(&real) && aten::_conj(&real).is_err());
}

#[test]
fn writes_reach_the_memory_that_is_conjugated() {
    let x = x();
    let mut conj = aten::conj(&x).unwrap();
    let returned = aten::mul__Scalar(&mut conj, complex(0.0, 2.0).into()).unwrap().clone();
    assert!(returned.is_same(&conj) && aten::is_conj(&conj).unwrap());
    assert_eq!(elements(&conj), [complex(4.0, 2.0), complex(-8.0, 6.0)]);
    assert_eq!(elements(&x), [complex(4.0, -2.0), complex(-8.0, -6.0)]);
    aten::copy_(&mut conj, &Tensor::from([[complex(0.0, 1.0), complex(0.0, 2.0)]])).unwrap();
    assert_eq!(elements(&x), [complex(0.0, -1.0), complex(0.0, -2.0)]);
    let error = lazy_test::both_(&mut conj.clone(), &mut aten::conj(&x).unwrap()).unwrap_err();
    assert!(error.to_string().starts_with("lazy_test::both_ writes to several tensors"), "{error}");
    assert!(conj.fill(complex(0.0, 0.0)).is_err());
}

#[test]
fn parts_of_complex_numbers_are_views() {
    let x = x();
    let (real, imag) = (aten::real(&x).unwrap(), aten::imag(&aten::conj(&x).unwrap()).unwrap());
    assert!(!aten::is_neg(&real).unwrap() && aten::is_neg(&imag).unwrap());
    assert_eq!(
        (real.to_vec::<f64>().unwrap(), imag.to_vec::<f64>().unwrap()),
        (vec![1.0, 3.0], vec![-2.0, 4.0])
    );
    aten::add__Scalar(&mut imag.clone(), 1.into()).unwrap();
    assert_eq!(imag.to_vec::<f64>().unwrap(), [-1.0, 5.0]);
    assert_eq!(elements(&x), [complex(1.0, 1.0), complex(3.0, -5.0)]);
    assert!(!aten::is_neg(&aten::resolve_neg(&imag).unwrap()).unwrap());
    let pairs = aten::view_as_real(&x).unwrap();
    assert_eq!((pairs.sizes(), pairs.strides()), (&[1, 2, 2][..], &[4, 2, 1][..]));
    assert_eq!(elements(&aten::view_as_complex(&pairs).unwrap()), elements(&x));
    let error = aten::view_dtype(&aten::conj(&x).unwrap(), DType::Float64).unwrap_err();
    assert!(error.to_string().contains("`resolve_conj` makes a copy"), "{error}");
    for lazy in [aten::conj(&x).unwrap(), aten::_neg_view(&x).unwrap()] {
        assert!(aten::view_dtype(&lazy, lazy.dtype()).is_err(), "also as elements of the same type");
    }
    let error = aten::view_as_real(&aten::conj(&x).unwrap()).unwrap_err();
    assert!(error.to_string().contains("`resolve_conj` makes a copy"), "{error}");
    assert!(aten::view_as_complex(&real).is_err() && aten::imag(&real).is_err());
}

#[test]
fn zeros_need_no_memory() {
    let zeros = aten::_efficientzerotensor::with(&[2]).dtype(Some(DType::Float64)).call().unwrap();
    assert!(aten::_is_zerotensor(&zeros).unwrap() && zeros.storage().data_ptr().is_none());
    assert_eq!(aten::add_Scalar(&zeros, 1.into()).unwrap().to_vec::<f64>().unwrap(), [1.0, 1.0]);
    let none = aten::_efficientzerotensor(&[3, 0]).unwrap();
    assert!(aten::_is_zerotensor(&none).unwrap() && none.to_vec::<f32>().unwrap().is_empty());
    let copy = aten::clone(&zeros).unwrap();
    assert!(!aten::_is_zerotensor(&copy).unwrap() && copy.to_vec::<f64>().unwrap() == [0.0, 0.0]);
    let error = aten::add__Scalar(&mut zeros.clone(), 1.into()).unwrap_err().to_string();
    assert_eq!(
        error,
        "aten::add_.Scalar cannot write to a tensor of zeros that has no memory\n  \
         help: write to a copy, which has memory of its own"
    );
}

#[test]
fn products_and_sums_of_zeros_are_zeros() -> Result<()> {
    let zeros = |sizes: &[i64]| aten::_efficientzerotensor(sizes);
    let (zero, x) = (zeros(&[2])?, Tensor::from([3f32, 4.0]));
    let lazy = [
        aten::mul_Tensor(&zero, &x)?,
        aten::mul_Tensor(&x, &zero)?,
        aten::mul_Scalar(&zero, 3.into())?,
        aten::add_Tensor(&zero, &zero)?,
        aten::sub_Tensor(&zero, &zero)?,
        aten::div_Tensor(&zero, &x)?,
        aten::dot(&x, &zero)?,
        aten::view(&zero, &[1, 2])?,
    ];
    assert!(lazy.iter().all(|tensor| aten::_is_zerotensor(tensor).unwrap()), "{lazy:?}");
    let wide = aten::mul_Tensor(&zeros(&[2, 2])?, &Tensor::from([1f64, 2.0]))?;
    assert_eq!((wide.sizes(), wide.dtype()), (&[2, 2][..], DType::Float64));
    let made = [
        aten::add_Tensor::with(&zero, &x).alpha(2).call()?,
        aten::sub_Tensor(&zero, &x)?,
        aten::div_Tensor(&x, &zero)?,
        aten::div_Scalar(&zero, 2.into())?,
    ];
    let expected = [[6.0, 8.0], [-3.0, -4.0], [f32::INFINITY; 2], [0.0, 0.0]];
    for (made, expected) in made.iter().zip(expected) {
        assert_eq!(made.to_vec::<f32>()?, expected);
    }
    assert!(aten::div_Tensor(&zero, &zero)?.to_vec::<f32>()?.iter().all(|x| x.is_nan()));
    Ok(())
}

#[test]
fn physical_conjugates_of_real_numbers_are_the_tensor_itself() {
    let real = Tensor::from([1.0, -2.0]);
    real.set_requires_grad(true).unwrap();
    assert!(aten::conj_physical(&real).unwrap().is_same(&real));
    let copy = aten::_conj_physical(&real).unwrap();
    assert!(
        !copy.shares_storage_with(&real)
            && copy.grad_fn().unwrap().unwrap().name() == "ConjPhysicalBackward0"
    );
    // In place, nothing is written to a real tensor, so its elements may share their memory.
    let mut one = aten::expand(&Tensor::from([1.0]), &[2]).unwrap();
    assert_eq!(aten::conj_physical_(&mut one).unwrap().strides(), [0]);
    assert!(aten::conj_physical_(&mut aten::expand(&x(), &[2, 2]).unwrap()).is_err());
    let turned = aten::conj_physical(&x()).unwrap();
    assert!(!turned.shares_storage_with(&x()) && !aten::is_conj(&turned).unwrap());
    assert_eq!(elements(&turned), [complex(1.0, -2.0), complex(3.0, 4.0)]);
    let lazy = aten::conj(&x()).unwrap();
    assert_eq!(elements(&aten::conj_physical(&lazy).unwrap()), elements(&x()));
}

#[test]
fn copies_of_lazy_tensors_keep_their_signs_under_vmap() -> Result<()> {
    let batch = Tensor::from([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]);
    let negative = aten::neg(&aten::transpose_int(&batch, 1, 2)?)?.to_vec::<f64>()?;
    for copy in [aten::contiguous, aten::clone, aten::resolve_neg] {
        let copies = vmap([&batch], |[x]| copy(&aten::_neg_view(&aten::t(&x)?)?))?;
        assert_eq!(copies.to_vec::<f64>()?, negative);
        let copies = vmap([&batch], |[x]| copy(&aten::t(&aten::_neg_view(&x)?)?))?;
        assert_eq!(copies.to_vec::<f64>()?, negative);
    }
    let batch = aten::unsqueeze(&x(), 0)?;
    for copy in [aten::contiguous, aten::clone, aten::resolve_conj, aten::exp] {
        let copies = vmap([&batch], |[x]| copy(&aten::conj(&aten::t(&x)?)?))?;
        assert_eq!(elements(&copies), elements(&copy(&aten::conj(&x())?)?));
    }
    let written = vmap([&aten::clone(&batch)?], |[x]| {
        let mut conj = aten::conj(&x)?;
        aten::mul__Scalar(&mut conj, complex(0.0, 2.0).into())?;
        Ok(x)
    })?;
    assert_eq!(elements(&written), [complex(4.0, -2.0), complex(-8.0, -6.0)]);
    Ok(())
}

#[test]
fn what_is_resolved_lies_as_a_copy_would() -> Result<()> {
    let x = Tensor::from([1.0, 2.0, 3.0]).strided_view(&[3, 1, 1], &[1, 3, 1], 0)?;
    let z = Tensor::from([complex(1.0, 2.0); 3]).strided_view(&[3, 1, 1], &[1, 3, 1], 0)?;
    for lazy in [aten::_neg_view(&x)?, aten::conj(&z)?] {
        let resolved = aten::resolve_neg(&aten::resolve_conj(&lazy)?)?;
        assert_eq!((resolved.sizes(), resolved.strides()), (&[3, 1, 1][..], &[1, 3, 1][..]));
        assert_eq!(aten::rsub_Scalar(&lazy, 1.into())?.strides(), [1, 3, 1]);
    }
    Ok(())
}
