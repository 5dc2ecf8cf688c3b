//! Defaults, and arguments by name.

use torch_library::prelude::*;

torch_library! {
    /// A default of each kind.
    mod defaults {
        numbers(int a=-1, float b=1e-05, float c=2, bool d=True, Scalar e=1, Scalar f=1.5, complex g=2j, float? h=1) -> str;
        lists(int[2] a=0, int[] b=[1, 2], float[]? c=None, bool[3] d=[True, False, True]) -> str;
        words(str a="mean", ScalarType b=float, Layout c=strided, MemoryFormat d=contiguous_format, Device e="cpu", ScalarType? f=None) -> str;
        call(Tensor self, *, int call=1, int keys=2, int lifetime=3) -> (int, int, int);
        "single_quotes(str mode='nearest', int[]? size=None) -> str";
    }
}

#[torch_impl(defaults, CompositeExplicitAutograd)]
mod composite {
    use torch_library::prelude::*;

    fn numbers(
        a: i64,
        b: f64,
        c: f64,
        d: bool,
        e: Scalar,
        f: Scalar,
        g: Complex64,
        h: Option<f64>,
    ) -> Result<String> {
        Ok(format!("{a} {b} {c} {d} {e:?} {f:?} {g} {h:?}"))
    }

    fn lists(a: &[i64], b: &[i64], c: Option<&[f64]>, d: &[bool]) -> Result<String> {
        Ok(format!("{a:?} {b:?} {c:?} {d:?}"))
    }

    fn words(a: &str, b: DType, c: Layout, d: MemoryFormat, e: Device, f: Option<DType>) -> Result<String> {
        Ok(format!("{a} {b} {c} {d} {e} {f:?}"))
    }

    fn call(_: &Tensor, call: i64, keys: i64, lifetime: i64) -> Result<(i64, i64, i64)> {
        Ok((call, keys, lifetime))
    }

    fn single_quotes(mode: &str, size: Option<&[i64]>) -> Result<String> {
        Ok(format!("{mode} {size:?}"))
    }
}

#[test]
fn defaults_are_the_schemas() -> Result<()> {
    assert_eq!(defaults::numbers()?, "-1 0.00001 2 true Int(1) Float(1.5) 0+2i Some(1.0)");
    assert_eq!(defaults::lists()?, "[0, 0] [1, 2] None [true, false, true]");
    assert_eq!(defaults::words()?, "mean float32 strided contiguous_format cpu None");
    assert_eq!(defaults::single_quotes()?, "nearest None");
    Ok(())
}

#[test]
fn arguments_are_given_by_name_in_any_order() -> Result<()> {
    assert_eq!(defaults::lists::with().b(&[]).a(&[7, 8]).call()?, "[7, 8] [] None [true, false, true]");
    let numbers = defaults::numbers::with().a(2).e(0.5).f(true).h(3.0).call()?;
    assert_eq!(numbers, "2 0.00001 2 true Float(0.5) Bool(true) 0+2i Some(3.0)");
    let (none, complex) = (defaults::numbers::with().h(None), Complex64::new(0.0, 1.0));
    assert!(none.e(complex).call()?.ends_with("Float(1.5) 0+2i None"));
    assert_eq!(
        defaults::words::with().f(DType::Bool).call()?,
        defaults::words::with().f(Some(DType::Bool)).call()?
    );
    let mode = String::from("area");
    assert_eq!(defaults::single_quotes::with().mode(&mode).size(Some(&[1])).call()?, "area Some([1])");
    Ok(())
}

#[test]
fn arguments_may_have_names_that_the_expansion_uses() -> Result<()> {
    let x = Tensor::from([1.0]);
    assert_eq!(defaults::call::with(&x).call_(5).keys(6).lifetime(7).call()?, (5, 6, 7));
    Ok(())
}
