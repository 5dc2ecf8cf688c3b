//! Derivatives of `lift` and `lift_fresh`, and the checks of autograd on resizing.

use torch_library::derivatives;
use torch_library::guard::AutoDispatchBelowAutograd;
use torch_library::prelude::*;

use crate::aten;

derivatives! {
    in aten;

    lift(Tensor self) -> Tensor as LiftBackward0 {
        self => grad.clone(),
    }
    lift_fresh(Tensor(a) self) -> Tensor(a) as LiftFreshBackward0 {
        self => grad.clone(),
    }
}

#[torch_impl(aten, Autograd)]
mod sizes {
    use super::*;

    fn resize_<'t>(
        keys: DispatchKeySet,
        this: &'t mut Tensor,
        size: &[i64],
        memory_format: Option<MemoryFormat>,
    ) -> Result<&'t mut Tensor> {
        check(aten::resize_::NAME, this)?;
        let _below = AutoDispatchBelowAutograd::new();
        let keys = keys & DispatchKeySet::full_after(DispatchKey::AutogradOther);
        aten::resize_::redispatch(keys, this, size, memory_format)
    }

    fn resize_as_<'t>(
        keys: DispatchKeySet,
        this: &'t mut Tensor,
        the_template: &Tensor,
        memory_format: Option<MemoryFormat>,
    ) -> Result<&'t mut Tensor> {
        check(aten::resize_as_::NAME, this)?;
        let _below = AutoDispatchBelowAutograd::new();
        let keys = keys & DispatchKeySet::full_after(DispatchKey::AutogradOther);
        aten::resize_as_::redispatch(keys, this, the_template, memory_format)
    }
}

fn check(operator: &str, this: &Tensor) -> Result<()> {
    ensure!(
        !this.requires_grad(),
        Autograd,
        "{operator}: a tensor that requires grad cannot be resized, because its gradient has its sizes\n  \
         help: detach it, or resize a copy"
    );
    Ok(())
}
