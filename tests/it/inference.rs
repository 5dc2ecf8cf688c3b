//! Schemas inferred from Rust functions, and operators that have no other definition.

use torch_library::prelude::*;
use torch_library::{
    DType, Device, Dispatcher, Generator, Inferred, Layout, Library, LibraryKind, MemoryFormat,
    RuntimeKernel, Scalar, element::Complex64, infer_schema,
};

fn inferred<F: Inferred<Types>, Types>(_: F) -> String {
    infer_schema::<F, Types>("ns::op").unwrap().to_string()
}

fn nothing() -> Result<()> {
    Ok(())
}

#[expect(clippy::too_many_arguments, reason = "as many as can be inferred")]
fn words(
    _: Complex64,
    _: Scalar,
    _: DType,
    _: Layout,
    _: MemoryFormat,
    _: Option<Device>,
    _: &Generator,
    _: &str,
) -> Result<String> {
    Ok(String::new())
}

#[expect(clippy::too_many_arguments, clippy::type_complexity, reason = "as many as can be inferred")]
fn lists(
    _: &[Tensor],
    _: &mut [Tensor],
    _: &[Option<Tensor>],
    _: &[i64],
    _: Option<&[f64]>,
    _: &[bool],
    _: &[Scalar],
    _: &[String],
) -> Result<(Vec<Tensor>, Vec<i64>, Option<Vec<f64>>)> {
    Ok((Vec::new(), Vec::new(), None))
}

fn outs<'a, 'b>(
    _: &Tensor,
    low: &'a mut Tensor,
    high: &'b mut Tensor,
) -> Result<(&'a mut Tensor, &'b mut Tensor, i64)> {
    Ok((low, high, 7))
}

#[test]
fn every_type_has_its_word() {
    let schemas = [
        (inferred(nothing), "ns::op() -> ()"),
        (inferred(|_: &Tensor, _: Option<&Tensor>| Ok(1i64)), "ns::op(Tensor arg0, Tensor? arg1) -> int"),
        (
            inferred(|_: i64, _: f64, _: bool| Ok((1.5, true))),
            "ns::op(int arg0, float arg1, bool arg2) -> (float, bool)",
        ),
        (
            inferred(words),
            "ns::op(complex arg0, Scalar arg1, ScalarType arg2, Layout arg3, MemoryFormat arg4, Device? arg5, \
             Generator arg6, str arg7) -> str",
        ),
        (
            inferred(lists),
            "ns::op(Tensor[] arg0, Tensor(a!)[] arg1, Tensor?[] arg2, int[] arg3, float[]? arg4, bool[] arg5, \
             Scalar[] arg6, str[] arg7) -> (Tensor[], int[], float[]?)",
        ),
        (
            inferred(outs),
            "ns::op(Tensor arg0, Tensor(a!) arg1, Tensor(b!) arg2) -> (Tensor(a!), Tensor(b!), int)",
        ),
        (inferred(|_: DispatchKeySet, x: &Tensor| Ok(x.clone())), "ns::op(Tensor arg0) -> Tensor"),
    ];
    for (schema, expected) in schemas {
        assert_eq!(schema, expected);
    }
}

#[test]
fn what_cannot_be_inferred_is_refused() {
    let error = infer_schema::<fn(&Tensor) -> Result<&mut Tensor>, _>("ns::op").unwrap_err();
    assert!(error.to_string().contains("returns 1 `&mut Tensor`, but takes 0"), "{error}");
    let error = infer_schema::<fn(i64) -> Result<i64>, _>("no name").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Schema);

    let mut library = Library::open(Dispatcher::leak_empty(), LibraryKind::Definition, "ns", None).unwrap();
    let boxed = RuntimeKernel::boxed(|_, _, _| Ok(()));
    let error = library.define_with("op", DispatchKey::CPU, boxed).unwrap_err();
    assert!(error.to_string().contains("a boxed kernel has none to infer one from"), "{error}");
}

#[test]
fn an_operator_is_defined_by_a_closure() {
    let mut library = Library::fragment("it_inference").unwrap();
    let offset = 10;
    let add = RuntimeKernel::function(move |a: i64, b: i64| Ok(a + b + offset)).unwrap();
    let add = library.define_with("add.int", DispatchKey::Undefined, add).unwrap();
    assert_eq!(add.schema().unwrap().to_string(), "it_inference::add.int(int arg0, int arg1) -> int");
    let mut stack = Stack::from_iter([Value::Int(1), Value::Int(2)]);
    add.call_boxed(&mut stack).unwrap();
    assert_eq!((stack.pop_as::<i64>().unwrap(), stack.len()), (13, 0));
    let error = add.call_boxed(&mut Stack::from_iter([Value::Int(1), Value::from("2")])).unwrap_err();
    assert!(
        error.to_string().contains("argument 2 `arg1` of it_inference::add.int must be int, but is str"),
        "{error}"
    );

    let wrong = RuntimeKernel::function(|_: i64| Ok(())).unwrap();
    let error = library.implement("add.int", DispatchKey::CPU, wrong).unwrap_err();
    assert!(error.to_string().contains("the operator has 2 arguments, the kernel 1"), "{error}");
    assert!(
        library.define_with("add.int", DispatchKey::CPU, RuntimeKernel::function(nothing).unwrap()).is_err()
    );
}

#[test]
fn returned_arguments_are_the_callers() {
    let mut library = Library::fragment("it_inference").unwrap();
    let outs = library.define_with("outs", DispatchKey::CPU, RuntimeKernel::function(outs).unwrap()).unwrap();
    let (x, mut low, mut high) = (Tensor::from([1]), Tensor::from([2]), Tensor::from([3]));
    let (low_before, high_before) = (low.clone(), high.clone());
    let stack = [Value::from(&x), Value::from(&mut low), Value::from(&mut high)];
    let mut stack = Stack::from_iter(stack);
    outs.call_boxed(&mut stack).unwrap();
    assert_eq!(stack.len(), 3);
    let is = |value: &Value<'_>, tensor: &Tensor| Tensor::is_same(value.as_tensor().unwrap(), tensor);
    assert!(is(&stack.last(3)[0], &low_before) && is(&stack.last(3)[1], &high_before));
    assert!(matches!(stack.last(3), [Value::TensorMut(_), Value::TensorMut(_), Value::Int(7)]));

    fn swapped<'a, 'b>(a: &'a mut Tensor, b: &'b mut Tensor) -> Result<(&'b mut Tensor, &'a mut Tensor)> {
        Ok((b, a))
    }
    fn second<'a>(_: &Tensor, out: &'a mut Tensor) -> Result<&'a mut Tensor> {
        Ok(out)
    }
    drop(stack);
    let kernel = RuntimeKernel::function(second).unwrap();
    let second = library.define_with("second", DispatchKey::CPU, kernel).unwrap();
    let mut stack = second.call_with([Value::from(&x), Value::from(&mut low)], []).unwrap();
    assert!(matches!(stack.pop(), Some(Value::TensorMut(returned)) if returned.is_same(&low_before)));
    drop(stack);

    let kernel = RuntimeKernel::function(swapped).unwrap();
    let swapped = library.define_with("swapped", DispatchKey::CPU, kernel).unwrap();
    let error = swapped.call_with([Value::from(&mut low), Value::from(&mut high)], []).unwrap_err();
    assert!(error.to_string().contains("must return the arguments that it writes to in order"), "{error}");
}
