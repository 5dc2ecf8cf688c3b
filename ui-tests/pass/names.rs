//! Names: overloads, keywords of Rust, words in strings, tags, documentation.

use torch_library::prelude::*;
use torch_library::{Dispatcher, OperatorHandle, derivatives, torch_fallback};

torch_library! {
    /// Operators whose names Rust would not take.
    pub mod names {
        add.Tensor(Tensor self, Tensor other) -> Tensor;
        add.Scalar(Tensor self, Scalar other) -> Tensor;
        /// In place.
        #[tags(pointwise, inplace_view)]
        #[tags(core)]
        scale_.Scalar(Tensor(a!) self, Scalar factor) -> Tensor(a!);
        where(Tensor self, int type, int fn, int match) -> int;
        where.self(Tensor self) -> int;
        gen(Tensor self, int try) -> int;
        __and__(Tensor self) -> int;
        _private(Tensor self) -> int;
        yield(Tensor self) -> Tensor;
        yield_(Tensor(a!) self) -> Tensor(a!);
        "text(Tensor self) -> int";
        RECORDS(Tensor self) -> int;
        SOURCE(Tensor self) -> int;
    }
}

macro_rules! same {
    ($($path:path, $key:ident;)*) => {$(
        const _: () = {
            #[torch_impl($path, $key)]
            fn kernel(this: &Tensor) -> Result<i64> {
                this.sizes().first().map_or(Ok(0), |&size| Ok(size as i64))
            }
        };
    )*};
}

#[torch_impl(names, "add.Tensor", CPU)]
fn by_string(this: &Tensor, _: &Tensor) -> Result<Tensor> {
    Ok(this.clone())
}

#[torch_impl(names::add_Scalar, CPU)]
fn by_path(this: &Tensor, _: Scalar) -> Result<Tensor> {
    Ok(this.clone())
}

#[torch_impl(names, CPU)]
fn scale__Scalar(this: &mut Tensor, _: Scalar) -> Result<&mut Tensor> {
    Ok(this)
}

#[torch_impl(self::names, CPU)]
fn r#where(_: &Tensor, r#type: i64, r#fn: i64, r#match: i64) -> Result<i64> {
    Ok(r#type + r#fn + r#match)
}

#[torch_impl(names, CPU)]
fn r#gen(_: &Tensor, r#try: i64) -> Result<i64> {
    Ok(r#try)
}

#[torch_impl(crate::names::names, "where.self", CPU)]
fn where_self(_: &Tensor) -> Result<i64> {
    Ok(1)
}

#[torch_impl(names, CPU)]
fn __and__(_: &Tensor) -> Result<i64> {
    Ok(2)
}

#[torch_impl(names, CPU)]
fn RECORDS(_: &Tensor) -> Result<i64> {
    Ok(3)
}

#[torch_impl(names, CPU)]
mod source {
    use super::*;

    fn SOURCE(_: &Tensor) -> Result<i64> {
        Ok(4)
    }
}

same! {
    names::_private, CPU;
    names::text, CPU;
}

derivatives! {
    in names;
    #[in_place]
    r#yield(Tensor self) -> Tensor {
        self => grad.clone(),
    }
}

#[torch_fallback(r#PreDispatch, fallthrough)]
fn nothing_to_do();

#[test]
fn overloads_are_functions_of_their_own() -> Result<()> {
    let mut x = Tensor::from([1.0, 2.0, 3.0]);
    names::add_Tensor(&x, &x)?;
    names::add_Scalar(&x, Scalar::Int(1))?;
    names::scale__Scalar(&mut x, Scalar::Int(1))?;
    assert_eq!((names::r#where(&x, 1, 2, 3)?, names::r#gen(&x, 4)?), (6, 4));
    assert_eq!((names::where_self(&x)?, names::__and__(&x)?), (1, 2));
    assert_eq!((names::_private(&x)?, names::text(&x)?), (3, 3));
    assert_eq!((names::RECORDS(&x)?, names::SOURCE(&x)?), (3, 4));
    Ok(())
}

#[test]
fn the_registry_knows_the_schemas_names() -> Result<()> {
    let found: OperatorHandle = Dispatcher::global().find("names::where.self")?;
    assert_eq!(found, names::where_self::handle());
    assert_eq!(names::NAMESPACE, "names");
    assert_eq!(names::scale__Scalar::handle().tags(), ["pointwise", "inplace_view", "core"]);
    Ok(())
}
