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

torch_library! {
    #[methods(Describing)]
    mod described {
        describe(Tensor self, int times, *, str? title=None, int[]? dims=None, Scalar? limit=None, Tensor? other=None, Generator? generator=None, bool[2]? flags=None) -> str;
        grow_(Tensor(a!) self, *, int by=1) -> Tensor(a!);
        where(bool condition, Tensor self, float other=0.5) -> float;
        plus(Tensor self, int by=1) -> int;
        plus_with(Tensor self) -> int;
    }
}

#[torch_impl(described, CPU)]
mod describing {
    use torch_library::prelude::*;

    fn describe(
        _: &Tensor,
        times: i64,
        title: Option<&str>,
        dims: Option<&[i64]>,
        limit: Option<Scalar>,
        other: Option<&Tensor>,
        generator: Option<&Generator>,
        flags: Option<&[bool]>,
    ) -> Result<String> {
        let (other, generator) = (other.is_some(), generator.is_some());
        Ok(format!("{times} {title:?} {dims:?} {limit:?} {other} {generator} {flags:?}"))
    }

    fn grow_(this: &mut Tensor, by: i64) -> Result<&mut Tensor> {
        let values = this.to_vec::<i64>()?;
        this.fill_from(values.iter().map(|value| value + by))?;
        Ok(this)
    }

    fn r#where(condition: bool, _: &Tensor, other: f64) -> Result<f64> {
        Ok(if condition { 0.0 } else { other })
    }

    fn plus_with(_: &Tensor) -> Result<i64> {
        Ok(7)
    }
}

#[test]
fn an_optional_argument_is_given_as_its_value_or_as_an_option() -> Result<()> {
    let (x, generator, text, list) =
        (Tensor::from([1.0]), Generator::with_seed(1), String::from("cat"), vec![0, 1]);
    let with = || described::describe::with(&x, 1);
    let all =
        with().title("cat").dims(&[0, 1]).limit(2).other(&x).generator(&generator).flags(&[true, false]);
    assert_eq!(all.call()?, r#"1 Some("cat") Some([0, 1]) Some(Int(2)) true true Some([true, false])"#);
    let limit = Some(Scalar::Int(2));
    let options = with()
        .title(Some("cat"))
        .dims(Some(&[0, 1]))
        .limit(limit)
        .other(Some(&x))
        .generator(Some(&generator));
    assert_eq!(options.call()?, r#"1 Some("cat") Some([0, 1]) Some(Int(2)) true true None"#);
    let (none, empty) = (None::<&[i64]>, with().title(None).limit(None).other(None).generator(None));
    assert_eq!(empty.dims(none).call()?, "1 None None None false false None");
    let owned = with().title(&text).dims(&list).limit(0.5);
    assert_eq!(owned.call()?, r#"1 Some("cat") Some([0, 1]) Some(Float(0.5)) false false None"#);
    assert_eq!(with().dims(Some(&list)).call()?, with().dims(Some(&list[..])).call()?);
    Ok(())
}

#[test]
fn a_method_takes_arguments_by_name() -> Result<()> {
    use described::Describing;

    let mut x = Tensor::from([1i64]);
    assert_eq!(x.describe_with(3).title("cat").call()?, r#"3 Some("cat") None None false false None"#);
    x.grow_with_().by(4).call()?.grow_()?;
    assert_eq!(x.to_vec::<i64>()?, [6]);
    assert_eq!(x.r#where(false)?, 0.5);
    assert_eq!(x.where_with(false).other(2.0).call()?, 2.0);
    assert_eq!(x.plus_with()?, 7, "the operator of that name");
    Ok(())
}
