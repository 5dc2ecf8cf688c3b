//! The layer `ADInplaceOrView` of operators that write in place: it counts the writes.
//!
//! Autograd compares the count with the one it remembers, and so finds out that a value it needs is gone.

use torch_library::guard::AutoDispatchBelowADInplaceOrView;
use torch_library::prelude::*;

use crate::aten;

/// The keys below this layer.
const BELOW: DispatchKeySet = DispatchKeySet::full_after(DispatchKey::ADInplaceOrView);

/// Writes a kernel for each operator that writes to its first argument and returns it.
macro_rules! counted {
    ($($operator:ident($($argument:ident: $ty:ty),*);)+) => {
        #[torch_impl(aten, ADInplaceOrView)]
        mod kernels {
            use super::*;

            $(
                fn $operator(
                    keys: DispatchKeySet,
                    this: &mut Tensor,
                    $($argument: $ty),*
                ) -> Result<&mut Tensor> {
                    let _below = AutoDispatchBelowADInplaceOrView::new();
                    let this = aten::$operator::redispatch(keys & BELOW, this, $($argument),*)?;
                    this.bump_version();
                    Ok(this)
                }
            )+
        }
    };
}

counted! {
    fill__Scalar(value: Scalar);
    fill__Tensor(value: &Tensor);
    zero_();
    copy_(src: &Tensor, non_blocking: bool);

    as_strided_(size: &[i64], stride: &[i64], storage_offset: Option<i64>);
    transpose_(dim0: i64, dim1: i64);
    unsqueeze_(dim: i64);
    squeeze_();
    squeeze__dim(dim: i64);

    add__Tensor(other: &Tensor, alpha: Scalar);
    add__Scalar(other: Scalar, alpha: Scalar);
    sub__Tensor(other: &Tensor, alpha: Scalar);
    sub__Scalar(other: Scalar, alpha: Scalar);
    mul__Tensor(other: &Tensor);
    mul__Scalar(other: Scalar);
    div__Tensor(other: &Tensor);
    div__Scalar(other: Scalar);
    div__Tensor_mode(other: &Tensor, rounding_mode: Option<&str>);

    relu_();
    neg_();
    sign_();
    abs_();
    exp_();
    log_();
    sqrt_();
    rsqrt_();
    reciprocal_();
    sin_();
    cos_();
    tanh_();
    sigmoid_();
    clamp_(min: Option<Scalar>, max: Option<Scalar>);

    masked_fill__Scalar(mask: &Tensor, value: Scalar);
    masked_fill__Tensor(mask: &Tensor, value: &Tensor);
    scatter__src(dim: i64, index: &Tensor, src: &Tensor);
    scatter__value(dim: i64, index: &Tensor, value: Scalar);
    scatter_add_(dim: i64, index: &Tensor, src: &Tensor);
    index_add_(dim: i64, index: &Tensor, source: &Tensor, alpha: Scalar);
    index_put_(indices: &[Option<Tensor>], values: &Tensor, accumulate: bool);
}

#[torch_impl(aten, ADInplaceOrView)]
fn mm_out(keys: DispatchKeySet, this: &Tensor, mat2: &Tensor, out: &mut Tensor) -> Result<&mut Tensor> {
    let _below = AutoDispatchBelowADInplaceOrView::new();
    let out = aten::mm_out::redispatch(keys & BELOW, this, mat2, out)?;
    out.bump_version();
    Ok(out)
}
