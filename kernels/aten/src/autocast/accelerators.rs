//! The autocast policies of accelerators, which differ from those of the CPU: a backend registers them at its own key.

use std::collections::HashMap;
use std::sync::OnceLock;

use torch_library::autocast as state;
use torch_library::prelude::*;
use torch_library::{DeviceType, Library};

use super::{Policy, keys_below};

/// A policy, and the names of its operators.
type List = (Policy, &'static [&'static str]);

/// The policies on every kind of accelerator.
const EVERYWHERE: [List; 4] = [
    (
        Policy::LowerPrecision,
        &[
            "_convolution.deprecated",
            "_convolution",
            "addbmm",
            "addmm",
            "addmv",
            "addr",
            "baddbmm",
            "bmm",
            "chain_matmul",
            "conv1d",
            "conv2d",
            "conv3d",
            "conv_tbc",
            "conv_transpose1d",
            "conv_transpose2d.input",
            "conv_transpose3d.input",
            "convolution",
            "einsum",
            "linalg_multi_dot",
            "linear",
            "lstm_cell",
            "matmul",
            "mm",
            "mv",
            "prelu",
            "scaled_dot_product_attention",
        ],
    ),
    (
        Policy::Float32,
        &[
            "acos",
            "asin",
            "binary_cross_entropy_with_logits",
            "cdist",
            "cosh",
            "cosine_embedding_loss",
            "cosine_similarity",
            "dist",
            "erfinv",
            "exp",
            "expm1",
            "frobenius_norm.dim",
            "group_norm",
            "hinge_embedding_loss",
            "huber_loss",
            "kl_div",
            "l1_loss",
            "layer_norm",
            "log",
            "log10",
            "log1p",
            "log2",
            "logsumexp",
            "margin_ranking_loss",
            "mse_loss",
            "multi_margin_loss",
            "multilabel_margin_loss",
            "native_layer_norm",
            "nll_loss",
            "nll_loss2d",
            "nuclear_norm",
            "nuclear_norm.dim",
            "pdist",
            "poisson_nll_loss",
            "pow.Scalar",
            "pow.Tensor_Scalar",
            "pow.Tensor_Tensor",
            "reciprocal",
            "renorm",
            "rsqrt",
            "sinh",
            "smooth_l1_loss",
            "soft_margin_loss",
            "softplus",
            "tan",
            "triplet_margin_loss",
        ],
    ),
    (
        Policy::Float32Result,
        &[
            "cumprod",
            "cumsum",
            "linalg_matrix_norm",
            "linalg_matrix_norm.str_ord",
            "linalg_vector_norm",
            "log_softmax.int",
            "prod",
            "prod.dim_int",
            "softmax.int",
            "sum",
            "sum.dim_IntList",
        ],
    ),
    (
        Policy::Promote,
        &[
            "addcdiv",
            "addcmul",
            "atan2",
            "bilinear",
            "cross",
            "dot",
            "grid_sampler",
            "index_put",
            "scatter_add",
            "tensordot",
        ],
    ),
];

/// The policies on every kind of accelerator except MPS.
const NOT_MPS: [List; 5] = [
    (
        Policy::LowerPrecision,
        &[
            "_scaled_dot_product_flash_attention",
            "_thnn_fused_gru_cell",
            "_thnn_fused_lstm_cell",
            "gru_cell",
            "linalg_vecdot",
            "rnn_relu_cell",
            "rnn_tanh_cell",
        ],
    ),
    (
        Policy::Float32,
        &[
            "_upsample_bicubic2d_aa",
            "_upsample_bilinear2d_aa",
            "_upsample_nearest_exact1d",
            "_upsample_nearest_exact2d",
            "_upsample_nearest_exact3d",
            "rms_norm",
            "upsample_bicubic2d",
            "upsample_bilinear2d",
            "upsample_linear1d",
            "upsample_nearest1d",
            "upsample_nearest2d",
            "upsample_nearest3d",
            "upsample_trilinear3d",
        ],
    ),
    (Policy::Float32Result, &["norm.Scalar", "norm.ScalarOpt_dim"]),
    (Policy::Promote, &["vdot"]),
    (Policy::Banned, &["binary_cross_entropy"]),
];

const CUDA: [List; 2] = [
    (Policy::LowerPrecision, &["cudnn_convolution", "cudnn_convolution_transpose"]),
    (Policy::Float32, &["linalg_matrix_sqrth"]),
];

const MPS: [List; 2] = [(Policy::LowerPrecision, &["_mps_convolution"]), (Policy::Float32, &["batch_norm"])];

/// Registers the autocast policy of each operator of `aten` that PyTorch has one for on this kind of accelerator. A
/// device that PyTorch does not know, such as [`PrivateUse1`](DeviceType::PrivateUse1), gets the policies that all
/// devices but Apple's have.
/// The library belongs to the backend, so the policies live as long as the backend. An operator that is not declared
/// yet gets its policy when it is. Operators without a policy skip the key. A backend that is a crate of its own needs
/// no library: see [`policy_fallback`].
///
/// ```
/// use torch_library::prelude::*;
/// use torch_library::{DeviceType, Library};
/// use torch_library_kernels::autocast::implement_policies;
///
/// # fn main() -> Result<()> {
/// let mut library = Library::implementation("aten", DispatchKey::AutocastPrivateUse1)?;
/// implement_policies(&mut library, DeviceType::PrivateUse1)?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// A device without an autocast key; the CPU, whose policies are registered already; a library that is not one of
/// kernels of `aten`; an operator that already has a kernel at this key.
///
/// PyTorch: `AT_FORALL_LOWER_PRECISION_FP`, `AT_FORALL_FP32` and similar macros, which backends use in
/// `TORCH_LIBRARY_IMPL`.
pub fn implement_policies(library: &mut Library, device: DeviceType) -> Result<()> {
    let key = match state::key(device) {
        Some(key) if device != DeviceType::Cpu => key,
        Some(_) => bail!(Argument, "the policies of the CPU are registered with the kernels"),
        None => bail!(Argument, "{device} has no autocast key, so no policies"),
    };
    for (policy, operators) in policies_on(device) {
        for operator in *operators {
            library.implement(operator, key, policy.kernel(device))?;
        }
    }
    Ok(())
}

fn policies_on(device: DeviceType) -> impl Iterator<Item = &'static List> {
    let own: [&[List]; 2] = match device {
        DeviceType::Cuda => [&NOT_MPS, &CUDA],
        DeviceType::Mps => [&MPS, &[]],
        _ => [&NOT_MPS, &[]],
    };
    EVERYWHERE.iter().chain(own.into_iter().flatten())
}

/// The body of a fallback at the autocast key of an accelerator: an operator of `aten` that PyTorch has a policy for on
/// this kind of device is cast by that policy, and all others run in the types of their arguments. Without such a
/// fallback, or [`implement_policies`], autocast has no effect on a device.
///
/// An operator with a kernel of its own at the key does not get here.
///
/// ```standalone_crate
/// use torch_library::DeviceType;
/// use torch_library::prelude::*;
/// use torch_library_kernels::autocast::policy_fallback;
///
/// #[torch_fallback(AutocastPrivateUse1)]
/// fn autocast(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
///     policy_fallback(DeviceType::PrivateUse1, operator, keys, stack)
/// }
/// # fn main() {}
/// ```
///
/// # Errors
/// The policy refuses the operator, a cast fails, or the kernel below fails.
///
/// PyTorch: `TORCH_LIBRARY_IMPL(aten, AutocastPrivateUse1, m)`, with `KERNEL_PRIVATEUSEONE` for each operator.
pub fn policy_fallback(
    device: DeviceType,
    operator: OperatorHandle,
    keys: DispatchKeySet,
    stack: &mut Stack<'_>,
) -> Result<()> {
    match policy_of(device, operator) {
        Some(policy) => policy.apply(device, operator, keys, stack),
        None => operator.redispatch_boxed(keys & keys_below(device), stack),
    }
}

/// The policy of an operator on a kind of accelerator.
fn policy_of(device: DeviceType, operator: OperatorHandle) -> Option<Policy> {
    /// By name and overload.
    type Policies = HashMap<(&'static str, &'static str), Policy>;
    static LISTS: [OnceLock<Policies>; 3] = [const { OnceLock::new() }; 3];
    let list = &LISTS[match device {
        DeviceType::Cuda => 0,
        DeviceType::Mps => 1,
        _ => 2,
    }];
    let policies = list.get_or_init(|| {
        let named = |name: &&'static str| name.split_once('.').unwrap_or((name, ""));
        policies_on(device)
            .flat_map(|(policy, names)| names.iter().map(move |name| (named(name), *policy)))
            .collect()
    });
    match operator.namespace() {
        "aten" => policies.get(&(operator.name(), operator.overload())).copied(),
        _ => None,
    }
}
