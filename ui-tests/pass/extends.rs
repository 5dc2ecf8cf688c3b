//! Namespaces that others extend.

use torch_library::prelude::*;
use torch_library_ui_tests::myops;

torch_library! {
    /// More operators for a namespace of another crate.
    pub mod more extends torch_library_ui_tests::myops {
        add.Three(Tensor self, Tensor other, Tensor third) -> Tensor;
    }
}

torch_library! {
    /// A namespace by name, without its module.
    mod by_name extends "myops" {
        negate(Tensor self) -> Tensor;
    }
}

torch_library! {
    /// Extends an extension.
    mod most extends self::more {
        add.Four(Tensor self, Tensor other, Tensor third, Tensor fourth) -> Tensor;
    }
}

torch_library! {
    /// Extends several modules of one namespace, two of which have operators in common.
    mod all extends self::most, by_name, torch_library_ui_tests::myops, {
        add.Five(Tensor self, Tensor other, Tensor third, Tensor fourth, Tensor fifth) -> Tensor;
    }
}

#[torch_impl(more, CPU)]
fn add_Three(this: &Tensor, _: &Tensor, _: &Tensor) -> Result<Tensor> {
    Ok(this.clone())
}

#[torch_impl(most, CPU)]
fn add_Four(this: &Tensor, other: &Tensor, third: &Tensor, _: &Tensor) -> Result<Tensor> {
    most::add_Three(this, other, third)
}

/// By the extension's path, for an operator of the base.
#[torch_impl(more, CPU)]
fn add(this: &Tensor, _: &Tensor) -> Result<Tensor> {
    Ok(this.clone())
}

#[torch_impl(by_name, CPU)]
fn negate(this: &Tensor) -> Result<Tensor> {
    Ok(this.clone())
}

/// By a path of several names that is the namespace's.
#[torch_impl(torch_library_ui_tests::myops, Meta)]
fn scale_(this: &mut Tensor, _: Scalar) -> Result<&mut Tensor> {
    Ok(this)
}

/// By a path of several names, the last of which is the operator's.
#[torch_impl(torch_library_ui_tests::myops::add_Scalar, Meta)]
fn shifted(this: &Tensor, _: Scalar, _: Scalar) -> Result<Tensor> {
    Ok(this.clone())
}

#[torch_impl(torch_library_ui_tests::myops, Meta)]
mod without_elements {
    use torch_library::prelude::*;

    fn add(this: &Tensor, _: &Tensor) -> Result<Tensor> {
        Ok(this.clone())
    }
}

#[test]
fn a_path_names_a_namespace_or_an_operator() -> Result<()> {
    let mut x = Tensor::empty(&[2], DType::Float32, Device::META)?;
    myops::scale_(&mut x, 2.into())?;
    let sum = myops::add(&x, &myops::add_Scalar(&x, 1.into())?)?;
    assert_eq!(sum.sizes(), [2]);
    Ok(())
}

#[test]
fn one_module_reaches_old_and_new_operators() -> Result<()> {
    let x = Tensor::from([1.0]);
    most::add_Four(&x, &x, &x, &x)?;
    most::add(&x, &x)?;
    assert_eq!(most::add::handle(), myops::add::handle());
    by_name::negate(&x)?;
    let names = [most::add_Four::handle(), more::add_Three::handle(), by_name::negate::handle()];
    assert_eq!(names.map(|name| name.to_string()), ["myops::add.Four", "myops::add.Three", "myops::negate"]);
    Ok(())
}

#[test]
fn a_module_has_the_operators_of_all_that_it_extends() {
    assert_eq!(all::add::handle(), myops::add::handle());
    let handles =
        [all::add_Five::handle(), all::add_Four::handle(), all::add_Three::handle(), all::negate::handle()];
    let names = ["myops::add.Five", "myops::add.Four", "myops::add.Three", "myops::negate"];
    assert_eq!(handles.map(|handle| handle.to_string()), names);
    assert_eq!([all::NAMESPACE, all::add_Five::NAME], ["myops", "myops::add.Five"]);
}

#[test]
fn a_function_can_hold_a_library_by_a_path_from_a_root() {
    torch_library! {
        mod inner extends ::torch_library_ui_tests::myops {
            inner(Tensor self) -> Tensor;
        }
    }
    torch_library! {
        mod innermost extends self::most {
            innermost(Tensor self) -> Tensor;
        }
    }
    torch_library! {
        mod both extends self::most, ::torch_library_ui_tests::myops {}
    }
    assert_eq!(inner::add::handle(), innermost::add::handle());
    assert_eq!(inner::add::handle(), both::add::handle());
    let names = [inner::inner::handle(), innermost::innermost::handle(), innermost::add_Four::handle()];
    assert_eq!(names.map(|name| name.to_string()), ["myops::inner", "myops::innermost", "myops::add.Four"]);
}
