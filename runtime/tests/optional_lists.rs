//! Optional lists as returns, from a typed kernel through a boxed layer to a typed caller.

use torch_library::guard::IncludeDispatchKeyGuard;
use torch_library::prelude::*;

torch_library! {
    /// Operators that return optional lists.
    mod lists {
        names(bool some) -> str[]?;
        numbers(bool some) -> Scalar[]?;
        gaps(bool some) -> Tensor?[]?;
        same_(Tensor(a!)[]? tensors) -> Tensor(a!)[]?;
    }
}

#[torch_impl(lists, CPU, CompositeExplicitAutograd)]
mod kernels {
    use torch_library::prelude::*;

    fn names(some: bool) -> Result<Option<Vec<String>>> {
        Ok(some.then(|| vec!["one".to_owned()]))
    }

    fn numbers(some: bool) -> Result<Option<Vec<Scalar>>> {
        Ok(some.then(|| vec![Scalar::Int(1), Scalar::Bool(true)]))
    }

    fn gaps(some: bool) -> Result<Option<Vec<Option<Tensor>>>> {
        Ok(some.then(|| vec![None, Some(Tensor::from([1.0]))]))
    }

    fn same_(tensors: Option<&mut [Tensor]>) -> Result<Option<&mut [Tensor]>> {
        Ok(tensors)
    }
}

#[torch_fallback(TESTING_ONLY_GenericMode)]
fn boxed_layer(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    operator.redispatch_boxed(keys.remove(DispatchKey::TESTING_ONLY_GenericMode), stack)
}

#[test]
fn optional_lists_pass_a_boxed_layer() -> Result<()> {
    let _layer = IncludeDispatchKeyGuard::new(DispatchKey::TESTING_ONLY_GenericMode);
    assert_eq!(lists::names(true)?, Some(vec!["one".to_owned()]));
    assert_eq!(lists::names(false)?, None);
    assert_eq!(lists::numbers(true)?, Some(vec![Scalar::Int(1), Scalar::Bool(true)]));
    let gaps = lists::gaps(true)?.unwrap_or_default();
    assert_eq!(gaps.iter().map(Option::is_some).collect::<Vec<_>>(), [false, true]);

    let mut tensors = [Tensor::from([1.0]), Tensor::from([2.0])];
    let place = tensors.as_ptr();
    let returned = lists::same_(Some(&mut tensors))?.map(|tensors| tensors.as_ptr());
    assert_eq!(returned, Some(place), "the very list that came in");
    assert!(lists::same_(None)?.is_none());
    Ok(())
}
