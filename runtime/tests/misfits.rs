//! Boxed calls whose values do not fit: what the error says.

use torch_library::prelude::*;

torch_library! {
    mod misfits {
        /// Takes one tensor.
        one(Tensor self) -> Tensor;
        write_(Tensor(a!) self) -> Tensor(a!);
    }
}

#[torch_impl(misfits, CompositeExplicitAutograd)]
mod calls {
    use torch_library::prelude::*;

    fn one(this: &Tensor) -> Result<Tensor> {
        Ok(this.clone())
    }

    fn write_(this: &mut Tensor) -> Result<&mut Tensor> {
        Ok(this)
    }
}

#[test]
fn a_boxed_call_with_a_number_for_a_tensor_is_told_which_call_takes_it() {
    let error = |operator: OperatorHandle, values: Vec<Value<'static>>| {
        operator.call_boxed(&mut Stack::from_iter(values)).unwrap_err().to_string()
    };
    assert_eq!(
        error(misfits::one::handle(), vec![Value::Int(1)]),
        "argument 1 `self` of misfits::one must be Tensor, but is int\n  schema: one(Tensor self) -> Tensor\n  \
         help: `call_with` converts it"
    );
    assert!(!error(misfits::write_::handle(), vec![Value::Int(1)]).contains("help"));
    assert!(!error(misfits::one::handle(), vec![Value::from("x")]).contains("help"));
    let none = error(misfits::one::handle(), vec![]);
    assert!(none.starts_with("misfits::one takes 1 argument, but the stack holds 0"), "{none}");
}
