//! Each schema type that the runtime supports, as an argument and as a return.

use torch_library::prelude::*;

torch_library! {
    /// An operator for each way a type can stand.
    mod types {
        tensors(Tensor a, Tensor? b, Tensor[] c, Tensor?[] d, Tensor[]? e) -> Tensor;
        written(Tensor(a!) a, Tensor(b!)? b, Tensor(c!)[] c) -> ();
        viewed(Tensor(a) self) -> Tensor(a);
        numbers(int a, SymInt b, float c, bool d, complex e, Scalar f) -> (int, SymInt, float, bool, complex, Scalar);
        words(str a, ScalarType b, Layout c, MemoryFormat d, Device e) -> (str, ScalarType, Layout, MemoryFormat, Device);
        lists(int[] a, int[2] b, SymInt[] c, float[] d, bool[3] e, Scalar[] f, str[] g) -> (int[], float[], bool[], str[]);
        optionals(int? a, float? b, str? c, int[]? d, ScalarType? e, Generator? f) -> (Tensor?, int?);
        tensor_lists(Tensor[] a) -> (Tensor[], Tensor?[]);
        nothing() -> ();
    }
}

#[torch_impl(types, CompositeExplicitAutograd)]
mod composite {
    use torch_library::prelude::*;

    fn tensors(
        a: &Tensor,
        b: Option<&Tensor>,
        c: &[Tensor],
        d: &[Option<Tensor>],
        e: Option<&[Tensor]>,
    ) -> Result<Tensor> {
        assert_eq!((b.is_some(), c.len(), d.len(), e.map(<[Tensor]>::len)), (true, 2, 1, None));
        Ok(a.clone())
    }

    fn written(_: &mut Tensor, b: Option<&mut Tensor>, c: &mut [Tensor]) -> Result<()> {
        assert_eq!((b.is_none(), c.len()), (true, 1));
        Ok(())
    }

    fn viewed(this: &Tensor) -> Result<Tensor> {
        Ok(this.clone())
    }

    fn numbers(
        a: i64,
        b: i64,
        c: f64,
        d: bool,
        e: Complex64,
        f: Scalar,
    ) -> Result<(i64, i64, f64, bool, Complex64, Scalar)> {
        Ok((a, b, c, d, e, f))
    }

    fn words(
        a: &str,
        b: DType,
        c: Layout,
        d: MemoryFormat,
        e: Device,
    ) -> Result<(String, DType, Layout, MemoryFormat, Device)> {
        Ok((a.to_owned(), b, c, d, e))
    }

    fn lists(
        a: &[i64],
        b: &[i64],
        c: &[i64],
        d: &[f64],
        e: &[bool],
        f: &[Scalar],
        g: &[String],
    ) -> Result<(Vec<i64>, Vec<f64>, Vec<bool>, Vec<String>)> {
        assert_eq!((b.len(), c.len(), f.len()), (2, 1, 1));
        Ok((a.to_vec(), d.to_vec(), e.to_vec(), g.to_vec()))
    }

    fn optionals(
        a: Option<i64>,
        _: Option<f64>,
        _: Option<&str>,
        _: Option<&[i64]>,
        _: Option<DType>,
        _: Option<&Generator>,
    ) -> Result<(Option<Tensor>, Option<i64>)> {
        Ok((None, a))
    }

    fn tensor_lists(a: &[Tensor]) -> Result<(Vec<Tensor>, Vec<Option<Tensor>>)> {
        Ok((a.to_vec(), vec![None]))
    }

    fn nothing() -> Result<()> {
        Ok(())
    }
}

#[test]
fn tensors_of_every_shape() -> Result<()> {
    let mut x = Tensor::from([1.0]);
    let two = [x.clone(), x.clone()];
    types::tensors(&x, Some(&x), &two, &[None], None)?;
    types::written(&mut x, None, &mut [two[0].clone()])?;
    types::viewed(&x)?;
    assert_eq!(types::tensor_lists(&two)?.0.len(), 2);
    Ok(())
}

#[test]
fn values_come_back_as_they_went() -> Result<()> {
    let numbers = (1, 2, 3.0, true, Complex64::new(0.0, 1.0), Scalar::Int(4));
    let (a, b, c, d, e, f) = numbers;
    assert_eq!(types::numbers(a, b, c, d, e, f)?, numbers);
    let words = types::words("x", DType::Int8, Layout::Strided, MemoryFormat::Contiguous, Device::CPU)?;
    assert_eq!((&*words.0, words.1), ("x", DType::Int8));
    let lists = types::lists(&[1], &[1, 2], &[3], &[0.5], &[true; 3], &[Scalar::Int(1)], &["x".to_owned()])?;
    assert_eq!(lists, (vec![1], vec![0.5], vec![true; 3], vec!["x".to_owned()]));
    assert_eq!(types::optionals(Some(1), None, None, None, None, None)?.1, Some(1));
    types::nothing()
}
