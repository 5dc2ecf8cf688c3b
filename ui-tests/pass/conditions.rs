//! `cfg` on operators, kernels, functions of a block, whole blocks and libraries.

use torch_library::Dispatcher;
use torch_library::prelude::*;

torch_library! {
    /// Operators of which some are compiled.
    mod conditions {
        #[cfg(test)]
        here(Tensor self) -> int;
        #[cfg(not(test))]
        absent(Tensor self) -> int;
        #[cfg(test)]
        either(Tensor self) -> int;
        #[cfg(not(test))]
        either(Tensor self, int size) -> int;
        second(Tensor self) -> int;
    }
}

torch_library! {
    #[cfg(not(test))]
    mod absent_library {
        f(Tensor self) -> int;
    }
}

#[torch_impl(conditions, CPU)]
#[cfg(test)]
fn here(_: &Tensor) -> Result<i64> {
    Ok(1)
}

#[cfg(not(test))]
#[torch_impl(conditions, CPU)]
fn absent(_: &Tensor) -> Result<i64> {
    Ok(1)
}

#[torch_impl(conditions, Meta)]
#[cfg(not(test))]
fn here(_: &Tensor) -> Result<i64> {
    Ok(1)
}

#[torch_impl(conditions, CPU)]
mod cpu {
    use torch_library::prelude::*;

    #[cfg(not(test))]
    fn either(_: &Tensor, size: i64) -> Result<i64> {
        Ok(size)
    }

    #[cfg(test)]
    fn either(_: &Tensor) -> Result<i64> {
        Ok(2)
    }

    fn second(_: &Tensor) -> Result<i64> {
        Ok(3)
    }
}

#[test]
fn what_is_not_compiled_is_not_registered() -> Result<()> {
    let x = Tensor::from([1.0]);
    assert_eq!((conditions::here(&x)?, conditions::either(&x)?, conditions::second(&x)?), (1, 2, 3));
    let dispatcher = Dispatcher::global();
    assert!(dispatcher.find("conditions::absent").is_err());
    assert_eq!(dispatcher.operator("conditions::here")?.kernels.len(), 1);
    Ok(())
}
