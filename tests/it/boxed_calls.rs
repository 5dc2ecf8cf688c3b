//! Boxed calls: a hundred thousand calls of all linked operators, most of them invalid; and implicit conversions.

use torch_library::prelude::*;
use torch_library::{Dispatcher, Stack, Value};
use torch_library_tests::hostile::{Hostile, Outcome};

#[test]
fn no_call_panics_or_leaks() {
    let operators = Dispatcher::global().operators().into_iter().map(|info| info.operator);
    let operators: Vec<_> = operators.filter(|operator| operator.namespace() == "aten").collect();
    assert!(operators.len() > 100, "the kernels are linked");
    let mut state = 1u64;
    let mut choose = move |bound: usize| {
        // SplitMix64
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % bound as u64) as usize
    };
    let mut hostile = Hostile::new(operators, &mut choose);
    let mut outcomes = Vec::with_capacity(100_000);
    for _ in 0..100_000 {
        outcomes.push(hostile.call().unwrap_or_else(|failure| panic!("{failure}")));
    }
    let count = |wanted| outcomes.iter().filter(|outcome| **outcome == wanted).count();
    assert!(count(Outcome::Returned) > 10_000, "too few calls were right");
}

#[test]
fn a_number_stands_for_a_tensor_that_is_only_read() -> Result<()> {
    let add = Dispatcher::global().find("aten::add.Tensor")?;
    let x = Tensor::from([1i32, 2]);
    let mut returns = add.call_with([Value::from(&x), Value::Int(3)], [])?;
    let sum = returns.pop_as::<Tensor>()?;
    // Like a Python number, it does not decide the type.
    assert_eq!((sum.dtype(), sum.to_vec::<i32>()?), (DType::Int32, vec![4, 5]));
    let mut returns = add.call_with([Value::from(&x), Value::Float(0.5)], [])?;
    assert_eq!(returns.pop_as::<Tensor>()?.to_vec::<f32>()?, [1.5, 2.5]);

    let add_ = Dispatcher::global().find("aten::add_.Tensor")?;
    let refused = add_.call_with([Value::Int(3), Value::from(&x)], []).unwrap_err().to_string();
    assert!(refused.contains("takes a tensor that can be written to, not one number"), "{refused}");
    Ok(())
}

#[test]
fn a_borrowed_tensor_is_written_to_in_place() -> Result<()> {
    let add_ = Dispatcher::global().find("aten::add_.Tensor")?;
    let x = Tensor::from([1f32, 2.0]);
    let mut returns = add_.call_with([Value::from(&x), Value::Int(1)], [])?;
    assert!(returns.pop_as::<Tensor>()?.is_same(&x));
    assert_eq!(x.to_vec::<f32>()?, [2.0, 3.0]);

    let mut stack: Stack<'_> = [Value::from(&x), Value::from(&x), Value::Int(1)].into_iter().collect();
    add_.call_boxed(&mut stack)?;
    assert!(stack.pop_as::<Tensor>()?.is_same(&x));
    assert_eq!(x.to_vec::<f32>()?, [4.0, 6.0]);
    Ok(())
}

#[test]
fn a_whole_number_stands_for_a_float() -> Result<()> {
    let norm = Dispatcher::global().find("aten::native_layer_norm")?;
    let x = Tensor::from([[1f32, 3.0]]);
    let arguments = [Value::from(&x), vec![2i64].into(), Value::None, Value::None, Value::Int(0)];
    let mut returns = norm.call_with(arguments, [])?;
    returns.pop_as::<Tensor>()?;
    returns.pop_as::<Tensor>()?;
    assert_eq!(returns.pop_as::<Tensor>()?.to_vec::<f32>()?, [-1.0, 1.0]);
    Ok(())
}

#[test]
fn ints_and_floats_in_one_list_stand_for_floats() -> Result<()> {
    let upsample = Dispatcher::global().find("aten::upsample_nearest1d.vec")?;
    let x = Tensor::from_vec(vec![1f32, 2.0], &[1, 1, 2])?;
    let twice = |factors: Vec<Scalar>| {
        upsample.call_with([Value::from(&x), Value::None, Value::from(factors)], [])?.pop_as::<Tensor>()
    };
    assert_eq!(twice(vec![Scalar::Int(2)])?.to_vec::<f32>()?, [1.0, 1.0, 2.0, 2.0]);
    assert_eq!(twice(vec![Scalar::Float(1.5)])?.sizes(), [1, 1, 3]);
    let complex = Scalar::Complex(Complex64::new(2.0, 0.0));
    let refused = twice(vec![complex]).unwrap_err().to_string();
    assert!(refused.contains("argument 3 `scale_factors` is of type `float[]?`"), "{refused}");
    Ok(())
}
