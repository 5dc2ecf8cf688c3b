//! Operators that return their arguments.

use torch_library::prelude::*;

torch_library! {
    /// Operators that return their arguments.
    mod lifetimes {
        alone_(Tensor(a!) self) -> Tensor(a!);
        among_others_(Tensor(a!) self, Tensor other, Tensor? more=None) -> Tensor(a!);
        both(Tensor self, *, Tensor(a!) min, Tensor(b!) max) -> (Tensor(a!), Tensor(b!));
        beside_a_value(Tensor self, Tensor(a!) out) -> (Tensor(a!), int);
        a_list(Tensor(a!)[] self, Tensor other) -> ();
    }
}

#[torch_impl(lifetimes, CPU)]
fn alone_(this: &mut Tensor) -> Result<&mut Tensor> {
    Ok(this)
}

#[torch_impl(lifetimes, CPU)]
fn among_others_<'other>(
    keys: DispatchKeySet,
    this: &mut Tensor,
    _: &'other Tensor,
    _: Option<&'other Tensor>,
) -> Result<&mut Tensor> {
    assert!(!keys.is_empty());
    Ok(this)
}

#[torch_impl(lifetimes, CPU)]
fn both<'min, 'max>(
    _: &Tensor,
    min: &'min mut Tensor,
    max: &'max mut Tensor,
) -> Result<(&'min mut Tensor, &'max mut Tensor)> {
    Ok((min, max))
}

#[torch_impl(lifetimes, CPU)]
fn beside_a_value(_: &Tensor, out: &mut Tensor) -> Result<(&mut Tensor, i64)> {
    Ok((out, 1))
}

#[torch_impl(lifetimes, CPU)]
fn a_list(_: &mut [Tensor], _: &Tensor) -> Result<()> {
    Ok(())
}

#[test]
fn what_is_returned_is_the_very_argument() -> Result<()> {
    let (x, mut y, mut z) = (Tensor::from([1.0]), Tensor::from([2.0]), Tensor::from([3.0]));
    let place: *const Tensor = &raw const y;
    assert!(std::ptr::eq(lifetimes::alone_(&mut y)?, place));
    assert!(std::ptr::eq(lifetimes::among_others_::with(&mut y, &x).more(Some(&x)).call()?, place));
    let (min, max) = lifetimes::both(&x, &mut y, &mut z)?;
    std::mem::swap(min, max);
    assert!(std::ptr::eq(lifetimes::beside_a_value(&x, &mut y)?.0, place));
    lifetimes::a_list(&mut [y, z], &x)
}
