//! Modules of kernels.

use torch_library::prelude::*;

torch_library! {
    /// Operators for a block.
    mod in_block {
        plain(Tensor self) -> int;
        add.Tensor(Tensor self, Tensor other) -> int;
        with_keys(Tensor self) -> int;
        boxed(Tensor self) -> int;
        skipped(Tensor self) -> int;
        add_(Tensor(a!) self, Tensor other) -> Tensor(a!);
    }
}

#[torch_impl(in_block, CPU, Meta)]
pub(crate) mod kernels {
    //! With documentation inside.
    use torch_library::prelude::*;

    const ONE: i64 = 1;

    mod helpers {
        pub(super) fn two() -> i64 {
            2
        }
    }

    #[torch_impl(helper)]
    fn one() -> Result<i64> {
        Ok(ONE)
    }

    pub(crate) fn plain(_: &Tensor) -> Result<i64> {
        one()
    }

    #[torch_impl("add.Tensor")]
    fn sum(_: &Tensor, _: &Tensor) -> Result<i64> {
        Ok(helpers::two())
    }

    pub(super) fn with_keys(_: DispatchKeySet, _: &Tensor) -> Result<i64> {
        Ok(3)
    }

    #[torch_impl(boxed)]
    fn boxed(_: OperatorHandle, _: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
        stack.pop();
        stack.push(4);
        Ok(())
    }

    fn skipped(_: &Tensor) -> Result<i64> {
        Ok(5)
    }

    fn add_(this: &mut Tensor, _: &Tensor) -> Result<&mut Tensor> {
        Ok(this)
    }
}

#[torch_impl(in_block, AutogradCPU, fallthrough)]
mod autograd {
    fn skipped();

    #[torch_impl("add.Tensor")]
    fn add();
}

#[torch_impl(in_block, Tracer, boxed)]
mod traced {
    use torch_library::prelude::*;

    fn plain(_: OperatorHandle, _: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
        stack.pop();
        stack.push(6);
        Ok(())
    }

    #[torch_impl(fallthrough)]
    fn skipped();
}

#[torch_impl(in_block, CPU)]
mod better {
    use torch_library::prelude::*;

    #[torch_impl(override)]
    fn plain(_: &Tensor) -> Result<i64> {
        Ok(-1)
    }
}

#[test]
fn every_function_of_a_block_is_a_kernel() -> Result<()> {
    let mut x = Tensor::from([1.0]);
    let meta = Tensor::empty(&[1], DType::Float32, Device::META)?;
    assert_eq!((in_block::plain(&x)?, in_block::plain(&meta)?), (-1, 1));
    assert_eq!((in_block::add_Tensor(&x, &x)?, in_block::with_keys(&x)?), (2, 3));
    assert_eq!((in_block::boxed(&x)?, in_block::skipped(&meta)?), (4, 5));
    let other = x.clone();
    in_block::add_(&mut x, &other)?;
    assert_eq!(kernels::plain(&x)?, 1);

    let _traced = torch_library::guard::IncludeDispatchKeyGuard::new(DispatchKey::Tracer);
    assert_eq!((in_block::plain(&x)?, in_block::skipped(&x)?), (6, 5));
    Ok(())
}
