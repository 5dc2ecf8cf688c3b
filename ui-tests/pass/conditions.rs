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
        #[cfg(test)]
        #[variants(out)]
        grown(Tensor self, int by) -> Tensor;
        #[cfg(not(test))]
        #[variants(out)]
        grown(Tensor self) -> Tensor;
        #[cfg(not(test))]
        #[variants(in_place)]
        shrunk(Tensor self) -> Tensor;
        #[cfg(test)]
        #[variants(in_place)]
        shrunk(Tensor self, int by) -> Tensor;
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

#[torch_impl(conditions, CPU)]
fn grown(output: Output<'_>, this: &Tensor, by: i64) -> Result<Tensor> {
    let grown = this.to_vec::<f64>()?.iter().map(|x| x + by as f64).collect::<Vec<_>>();
    let mut out = output.contiguous(this.sizes(), DType::Float64, Device::CPU, &[])?;
    out.fill_from(grown)?;
    Ok(out)
}

#[torch_impl(conditions, CPU)]
fn shrunk(output: Output<'_>, this: &Tensor, by: i64) -> Result<Tensor> {
    grown(output, this, -by)
}

#[test]
fn each_alternative_has_its_own_variants() -> Result<()> {
    let (mut x, mut out) = (Tensor::from([1.0]), Tensor::from([0.0]));
    conditions::grown_out(&x, 2, &mut out)?;
    conditions::shrunk_(&mut x, 1)?;
    assert_eq!((out.to_vec::<f64>()?, x.to_vec::<f64>()?), (vec![3.0], vec![0.0]));
    Ok(())
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
