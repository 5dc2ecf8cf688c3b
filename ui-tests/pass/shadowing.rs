//! A module that shadows the names that expansions use, without the standard prelude.
#![no_implicit_prelude]

use ::std::convert::From as _;
use ::torch_library::{Result, Scalar, Stack, Tensor as T, torch_fallback, torch_impl, torch_library};

#[expect(dead_code, reason = "only in the way")]
mod in_the_way {
    pub(super) struct Option;
    pub(super) struct Vec;
    pub(super) struct String;
    pub(super) struct Kernel;
    pub(super) struct Tensor;
    pub(super) mod core {}
    pub(super) mod std {}
}
#[expect(unused_imports, reason = "only in the way")]
use in_the_way::{Kernel, Option, String, Tensor, Vec, core, std};

torch_library! {
    /// Operators.
    mod shadowing {
        f(Tensor? self, int[] sizes=[1], Scalar factor=1, ScalarType? dtype=None) -> (Tensor[], str);
        scale_(Tensor(a!) self, Scalar factor) -> Tensor(a!);
    }
}

#[torch_impl(shadowing, CompositeExplicitAutograd)]
fn f(
    _: ::std::option::Option<&T>,
    _: &[i64],
    _: Scalar,
    _: ::std::option::Option<::torch_library::DType>,
) -> Result<(::std::vec::Vec<T>, ::std::string::String)> {
    ::std::result::Result::Ok((::std::vec::Vec::new(), ::std::string::String::from("x")))
}

#[torch_impl(shadowing, CompositeExplicitAutograd)]
mod block {
    use ::torch_library::{Result, Scalar, Tensor as T};

    #[torch_impl("scale_")]
    fn f(this: &mut T, _: Scalar) -> Result<&mut T> {
        ::std::result::Result::Ok(this)
    }
}

#[torch_fallback(DeferredInit)]
fn defer(
    _: ::torch_library::OperatorHandle,
    _: ::torch_library::DispatchKeySet,
    _: &mut Stack<'_>,
) -> Result<()> {
    ::std::result::Result::Ok(())
}

#[::std::prelude::v1::test]
fn names_of_the_user_do_not_matter() -> Result<()> {
    ::std::assert_eq!(shadowing::f(::std::option::Option::None)?.1, "x");
    let mut x = T::from([1.0]);
    shadowing::scale_(&mut x, Scalar::Int(1))?;
    ::std::result::Result::Ok(())
}
