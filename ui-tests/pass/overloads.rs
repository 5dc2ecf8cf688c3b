//! Overloads by their common name, resolved by the types of their arguments.

use torch_library::prelude::*;

torch_library! {
    /// Overloads of each shape.
    #[methods(Combining)]
    #[overloads]
    pub mod combined {
        both.Tensor(Tensor self, Tensor other, *, int bits=64) -> str;
        both.Scalar(Tensor self, Scalar other) -> str;
        both.Scalar_Tensor(Scalar self, Tensor other) -> str;
        both.mode(Tensor self, Tensor other, *, str mode) -> str;
        both.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!);
        raise_.Tensor(Tensor(a!) self, Tensor by) -> Tensor(a!);
        raise_.Scalar(Tensor(a!) self, Scalar by) -> Tensor(a!);
        parts.int(Tensor self, int dim=0) -> int;
        pick.ints(Tensor self, int[] at) -> int;
        pick.float(Tensor self, float at) -> int;
        number.Scalar(Scalar self) -> str;
        number.int(int self) -> str;
        plain(Tensor self) -> int;
        plain.Scalar(Tensor self, Scalar by) -> int;
    }
}

#[torch_impl(combined, CompositeExplicitAutograd)]
mod composite {
    use torch_library::prelude::*;

    fn both_Tensor(_: &Tensor, _: &Tensor, bits: i64) -> Result<String> {
        Ok(format!("tensors, {bits} bits"))
    }

    fn both_Scalar(_: &Tensor, other: Scalar) -> Result<String> {
        Ok(format!("a tensor and {other:?}"))
    }

    fn both_Scalar_Tensor(this: Scalar, _: &Tensor) -> Result<String> {
        Ok(format!("{this:?} and a tensor"))
    }

    fn both_mode(_: &Tensor, _: &Tensor, mode: &str) -> Result<String> {
        Ok(mode.to_owned())
    }

    fn raise__Tensor(this: &mut Tensor, by: &Tensor) -> Result<&mut Tensor> {
        this.fill_from(by.to_vec::<f64>()?)?;
        Ok(this)
    }

    fn raise__Scalar(this: &mut Tensor, by: Scalar) -> Result<&mut Tensor> {
        let (values, by) = (this.to_vec::<f64>()?, by.to::<f64>()?);
        this.fill_from(values.iter().map(|value| value + by))?;
        Ok(this)
    }

    fn parts_int(_: &Tensor, dim: i64) -> Result<i64> {
        Ok(dim)
    }

    fn pick_ints(_: &Tensor, at: &[i64]) -> Result<i64> {
        Ok(at.iter().sum())
    }

    fn pick_float(_: &Tensor, at: f64) -> Result<i64> {
        Ok(-(at as i64))
    }

    fn number_Scalar(this: Scalar) -> Result<String> {
        Ok(format!("{this:?}"))
    }

    fn number_int(this: i64) -> Result<String> {
        Ok(format!("an int, {this}"))
    }

    fn plain(_: &Tensor) -> Result<i64> {
        Ok(1)
    }
}

#[test]
fn arguments_tell_overloads_apart() -> Result<()> {
    let (x, list) = (Tensor::from([1.0]), vec![2, 3]);
    assert_eq!(combined::both(&x, &x)?, "tensors, 64 bits");
    assert_eq!(combined::both(&x, 2)?, "a tensor and Int(2)");
    assert_eq!(combined::both(&x, 2.5)?, "a tensor and Float(2.5)");
    assert_eq!(combined::both(&x, Scalar::Bool(true))?, "a tensor and Bool(true)");
    assert_eq!(combined::both(2, &x)?, "Int(2) and a tensor");
    assert_eq!(combined::parts(&x)?, 0, "a single overload");
    assert_eq!(combined::pick(&x, &[2, 3])? + combined::pick(&x, &list[..])? + combined::pick(&x, 1.0)?, 9);
    let numbers = [combined::number(2)?, combined::number(1.5)?];
    assert_eq!(numbers, ["an int, 2", "Float(1.5)"], "as it is, before conversions");
    assert_eq!(combined::plain(&x)?, 1, "an operator that has the name");
    Ok(())
}

#[test]
fn overloads_are_one_method() -> Result<()> {
    use combined::Combining;
    let mut x = Tensor::from([1.0]);
    assert_eq!((x.both(&x)?, x.both(3)?), ("tensors, 64 bits".to_owned(), "a tensor and Int(3)".to_owned()));
    let by = Tensor::from([5.0]);
    x.raise_(&by)?.raise_(1)?;
    combined::raise_(&mut x, 0.5)?;
    assert_eq!(x.to_vec::<f64>()?, [6.5]);
    assert_eq!(x.parts()? + x.pick(&[4])?, 4);
    Ok(())
}
