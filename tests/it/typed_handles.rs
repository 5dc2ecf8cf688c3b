//! Typed calls of operators that were looked up by name.

use torch_library::prelude::*;
use torch_library::{Dispatcher, Library, RuntimeKernel, TypedOperatorHandle, functionalize};

torch_library! {
    pub mod it_typed {
        /// The tensor's element, times a number if one is given.
        scale(Tensor self, Scalar? by, int[] unused) -> Tensor;
        /// Writes in place, and returns a number as well.
        grow_(Tensor(a!) self, Tensor other) -> (Tensor(a!), int);
        /// Names the kernel that a call reaches.
        layer(Tensor x) -> str;
    }
}

#[torch_impl(it_typed, CPU)]
mod cpu {
    use torch_library::prelude::*;

    fn scale(this: &Tensor, by: Option<Scalar>, _: &[i64]) -> Result<Tensor> {
        let by = by.map_or(1.0, |by| by.cast());
        Tensor::from_vec(this.to_vec::<f64>()?.iter().map(|x| x * by).collect(), this.sizes())
    }

    pub(super) fn grow_<'a>(this: &'a mut Tensor, other: &Tensor) -> Result<(&'a mut Tensor, i64)> {
        let sums: Vec<f64> =
            this.to_vec::<f64>()?.iter().zip(other.to_vec::<f64>()?).map(|(a, b)| a + b).collect();
        this.copy_from_slice(&sums)?;
        Ok((this, other.numel()))
    }

    fn layer(_: &Tensor) -> Result<String> {
        Ok("CPU".into())
    }
}

#[torch_impl(it_typed, AutogradCPU)]
fn layer(keys: DispatchKeySet, x: &Tensor) -> Result<String> {
    let below = it_typed::layer::redispatch(keys - DispatchKeySet::from_key(DispatchKey::AutogradCPU), x)?;
    Ok(format!("AutogradCPU, {below}"))
}

fn found(name: &str) -> torch_library::OperatorHandle {
    Dispatcher::global().find(name).unwrap()
}

#[test]
fn a_linked_operator_is_called_by_its_types() {
    let x = Tensor::from([1.0, 2.0]);
    let scale =
        found("it_typed::scale").typed::<fn(&Tensor, Option<Scalar>, &[i64]) -> Result<Tensor>, _>().unwrap();
    assert_eq!(scale.call(&x, Some(Scalar::Int(3)), &[]).unwrap().to_vec::<f64>().unwrap(), [3.0, 6.0]);
    assert_eq!(scale.call(&x, None, &[1]).unwrap().to_vec::<f64>().unwrap(), [1.0, 2.0]);
    assert_eq!(
        (scale.operator(), format!("{scale:?}").as_str()),
        (found("it_typed::scale"), "TypedOperatorHandle(it_typed::scale)")
    );

    // A field spells the types with `'static`, which stands for any lifetime.
    struct Layers {
        layer: TypedOperatorHandle<fn(&'static Tensor) -> String>,
    }
    let Layers { layer } =
        Layers { layer: found("it_typed::layer").typed::<fn(&Tensor) -> Result<String>, _>().unwrap() };
    assert_eq!(layer.call(&x).unwrap(), "AutogradCPU, CPU");
    assert_eq!(layer.redispatch(DispatchKeySet::from_key(DispatchKey::CPU), &x).unwrap(), "CPU");
}

/// The types of `grow_`, as an alias.
type Grow = for<'a, 'b> fn(&'a mut Tensor, &'b Tensor) -> Result<(&'a mut Tensor, i64)>;

#[test]
fn a_returned_argument_is_the_callers() {
    let mut library = Library::new("it_typed_returned").unwrap();
    let linked = found("it_typed::grow_");
    let defined = library.define("grow_(Tensor(x!) self, Tensor other) -> (Tensor(x!), int)").unwrap();
    library
        .implement("grow_", DispatchKey::CPU, RuntimeKernel::function(cpu::grow_ as Grow).unwrap())
        .unwrap();
    for grow in [linked, defined] {
        let (mut x, by) = (Tensor::from([1.0, 2.0]), Tensor::from([10.0, 20.0]));
        let before = x.clone();
        let (grown, count) = grow.typed::<Grow, _>().unwrap().call(&mut x, &by).unwrap();
        assert!(grown.is_same(&before) && count == 2, "{grow}");
        assert_eq!(grown.to_vec::<f64>().unwrap(), [11.0, 22.0], "{grow}");
    }
    // Layers know which argument is returned, too: since there is no `grow`, they call `grow_` with a copy.
    let mut x = functionalize::to_functional(&Tensor::from([1.0])).unwrap();
    let (before, one) = (x.clone(), Tensor::from([1.0]));
    let (grown, _) = defined.typed::<Grow, _>().unwrap().call(&mut x, &one).unwrap();
    assert!(grown.is_same(&before));
    assert_eq!(functionalize::from_functional(&x).unwrap().to_vec::<f64>().unwrap(), [2.0]);
}

#[test]
fn other_types_are_refused_with_both_schemas() {
    let scale = found("it_typed::scale");
    let error = scale.typed::<fn(&Tensor, Scalar) -> Result<Tensor>, _>().unwrap_err();
    expect_test::expect![[r#"
        it_typed::scale cannot be called with these types
          schema: it_typed::scale(Tensor self, Scalar? by, int[] unused) -> Tensor
          requested: it_typed::scale(Tensor arg0, Scalar arg1) -> Tensor"#]]
    .assert_eq(&error.to_string());

    // A signature that returns the other argument is wrong.
    let mut library = Library::new("it_typed_other").unwrap();
    let swap = library.define("swap(Tensor(a!) x, Tensor(b!) y) -> (Tensor(b!), Tensor(a!))").unwrap();
    type InOrder = for<'a, 'b> fn(&'a mut Tensor, &'b mut Tensor) -> Result<(&'a mut Tensor, &'b mut Tensor)>;
    assert!(swap.typed::<InOrder, _>().is_err());
}

#[test]
fn an_operator_of_the_run_time_is_boxed() {
    let mut library = Library::new("it_typed_run_time").unwrap();
    let twice = RuntimeKernel::function(|x: &Tensor, times: i64| Ok((x.numel() * times, x.clone()))).unwrap();
    library.define("twice(Tensor x, SymInt times=2) -> (int, Tensor)").unwrap();
    library.implement("twice", DispatchKey::CPU, twice).unwrap();
    let twice =
        found("it_typed_run_time::twice").typed::<fn(&Tensor, i64) -> Result<(i64, Tensor)>, _>().unwrap();
    let x = Tensor::from([1.0, 2.0]);
    let (count, same) = twice.call(&x, 3).unwrap();
    assert!(count == 6 && same.is_same(&x));
    let keys = DispatchKeySet::from_key(DispatchKey::Meta);
    assert!(twice.redispatch(keys, &x, 3).unwrap_err().to_string().contains("Meta"));

    drop(library);
    assert_eq!(twice.call(&x, 3).unwrap_err().kind(), ErrorKind::UnknownOperator);
}
