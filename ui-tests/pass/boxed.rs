//! Operators for boxed calls only: types without a counterpart in Rust, and any number of arguments.

use torch_library::prelude::*;

torch_library! {
    /// Operators that take what no Rust signature has.
    mod boxed_only {
        /// Takes a value of any type.
        #[boxed]
        #[tags(core)]
        name(Any value, Union(int, str) of, Storage? memory=None) -> str;
        #[boxed]
        count(Tensor first, ...) -> int;
        name.of(Tensor self) -> str;
        #[boxed]
        #[cfg(not(test))]
        absent(Stream s) -> ();
    }
}

#[torch_impl(boxed_only, CompositeExplicitAutograd, boxed)]
fn name(operator: OperatorHandle, _: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    let arguments = operator.take_arguments(stack)?;
    stack.push(arguments[0].type_name().to_owned());
    Ok(())
}

#[torch_impl(boxed_only, CPU)]
mod kernels {
    use torch_library::prelude::*;

    #[torch_impl(boxed)]
    fn count(operator: OperatorHandle, _: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
        let arguments = operator.take_arguments(stack)?.len();
        stack.push(arguments as i64);
        Ok(())
    }

    fn name_of(_: &Tensor) -> Result<String> {
        Ok("typed".to_owned())
    }
}

#[test]
fn they_are_called_by_their_handles() -> Result<()> {
    let name = boxed_only::name::handle();
    assert_eq!(name.call_with([Value::Bool(true), Value::Int(1)], [])?.pop_as::<String>()?, "bool");
    assert!(name.call_with([Value::Bool(true), Value::Float(1.0)], []).is_err());
    assert_eq!(name.tags(), ["core"]);
    let x = Tensor::from([1.0]);
    let several = [Value::from(&x), Value::Int(2), Value::None];
    assert_eq!(boxed_only::count::handle().call_with(several, [])?.pop_as::<i64>()?, 3);
    assert_eq!(boxed_only::name_of(&x)?, "typed");
    assert_eq!(boxed_only::name_of::handle().to_string(), "boxed_only::name.of");
    Ok(())
}
