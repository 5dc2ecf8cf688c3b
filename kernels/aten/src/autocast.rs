//! Autocast for `aten`: which operators run in lower precision, which in `float32`, and which in the widest dtype of
//! their inputs; and the means to declare the same for the operators of other libraries.
//!
//! An operator that is in no list falls through: it runs in the dtypes of its arguments.
//!
//! ```
//! use torch_library::prelude::*;
//! use torch_library::DeviceType;
//! use torch_library_kernels::{aten, autocast::{Autocast, Policy}};
//!
//! torch_library! {
//!     pub mod autocast_docs {
//!         /// A matrix product of mine.
//!         mymatmul(Tensor self, Tensor other) -> Tensor;
//!     }
//! }
//!
//! #[torch_impl(autocast_docs, CompositeImplicitAutograd)]
//! fn mymatmul(this: &Tensor, other: &Tensor) -> Result<Tensor> {
//!     aten::mm(this, other)
//! }
//!
//! // Casts what is given to the precision of the region, and calls the kernel below.
//! #[torch_impl(autocast_docs::mymatmul, AutocastCPU, boxed)]
//! fn mymatmul_autocast(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
//!     Policy::LowerPrecision.apply(DeviceType::Cpu, operator, keys, stack)
//! }
//!
//! # fn main() -> Result<()> {
//! let x = Tensor::from([[1f32, 2.0], [3.0, 4.0]]);
//! let y = Autocast::on(DeviceType::Cpu).run(|| autocast_docs::mymatmul(&x, &x))?;
//! assert_eq!(y.dtype(), DType::BFloat16);
//! # Ok(())
//! # }
//! ```
//!
//! A kernel that no policy fits holds the guard [`below`], and casts with [`cached_cast`] to [`dtype`], the precision
//! of the region.
//!
//! These lists are those of the CPU; [`policy_fallback`] is what the backend of an accelerator registers for its own.
//!
//! PyTorch: `aten/src/ATen/autocast_mode.h`.

use torch_library::autocast::{self as state, cached};
use torch_library::guard::ExcludeDispatchKeyGuard;
use torch_library::prelude::*;
use torch_library::{DeviceType, RuntimeKernel};

use crate::aten;

mod accelerators;

pub use accelerators::{implement_policies, policy_fallback};
pub use torch_library::autocast::{Autocast, dtype, promote_type};

/// What autocast does with the inputs of an operator. Only [eligible](torch_library::autocast::is_eligible) tensors are
/// cast: floating-point ones of the device that are not `float64`.
///
/// PyTorch: `at::autocast::CastPolicy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Policy {
    /// Casts to the precision of the region: matrix products, convolutions.
    LowerPrecision,
    /// Casts to `float32`: operators that lose too much precision otherwise, such as losses and decompositions.
    Float32,
    /// Casts to the widest dtype among the inputs.
    Promote,
    /// Casts nothing, but asks for a `float32` result where the caller gave no `dtype`: sums, softmax.
    Float32Result,
    /// Fails with an error that says what to use instead.
    Banned,
}

impl Policy {
    /// A boxed kernel with this policy, to register for an operator at the autocast key of any device.
    ///
    /// ```
    /// use torch_library::prelude::*;
    /// use torch_library::{DeviceType, Dispatcher, Library, LibraryKind};
    /// use torch_library_kernels::autocast::Policy;
    ///
    /// let mut library = Library::open(Dispatcher::global(), LibraryKind::Implementation, "aten", None)?;
    /// let kernel = Policy::LowerPrecision.kernel(DeviceType::PrivateUse1);
    /// library.implement("mm", DispatchKey::AutocastPrivateUse1, kernel)?;
    /// # Ok::<(), Error>(())
    /// ```
    pub fn kernel(self, device: DeviceType) -> RuntimeKernel {
        RuntimeKernel::boxed(move |operator, keys, stack| self.apply(device, operator, keys, stack))
    }

    /// The body of a boxed kernel with this policy, for `#[torch_impl]`: casts the arguments on the stack and calls the
    /// kernel below. The [module](self) has an example.
    ///
    /// # Errors
    /// The policy is [`Banned`](Policy::Banned), a cast fails, or the kernel below fails.
    pub fn apply(
        self,
        device: DeviceType,
        operator: OperatorHandle,
        keys: DispatchKeySet,
        stack: &mut Stack<'_>,
    ) -> Result<()> {
        let arity = operator.arguments(stack)?.len();
        let _no_autocast = below(device);
        let arguments = stack.last_mut(arity);
        let to = match self {
            Policy::LowerPrecision => state::dtype(device),
            Policy::Float32 => DType::Float32,
            Policy::Promote => {
                let tensors = arguments.iter().flat_map(Value::tensors);
                let widest = promote_type(state::dtype(device), device, tensors);
                widest.map_err(|error| error.context(operator))?
            }
            Policy::Float32Result => return float32_result(device, operator, keys, stack),
            Policy::Banned => bail!(
                NotSupported,
                "{operator} is not safe under autocast: its input would be rounded to 0 or 1\n  \
                 help: use the variant that takes logits, or turn autocast off around it"
            ),
        };
        for argument in arguments {
            cast_argument(argument, to, device)?;
        }
        operator.redispatch_boxed(keys & keys_below(device), stack)
    }
}

/// Calls an operator so that its result is `float32`, if its first tensor is eligible for autocast.
///
/// PyTorch: `CastPolicy::fp32_set_opt_dtype`, and `fp32_append_dtype` for operators with an overload that takes a
/// dtype.
fn float32_result(
    device: DeviceType,
    operator: OperatorHandle,
    keys: DispatchKeySet,
    stack: &mut Stack<'_>,
) -> Result<()> {
    let arguments = operator.arguments(stack)?;
    let takes_part = |tensor: &Tensor| state::is_eligible(tensor, device);
    let is_first_eligible = arguments.first().and_then(Value::as_tensor).is_some_and(takes_part);
    let arity = arguments.len();
    if !is_first_eligible {
        return operator.redispatch_boxed(keys & keys_below(device), stack);
    }
    let float32 = || Value::DType(DType::Float32);
    if let Some(index) = operator.schema()?.argument_index("dtype") {
        let dtype = &mut stack.last_mut(arity)[index];
        if dtype.is_none() {
            *dtype = float32();
        }
        return operator.redispatch_boxed(keys & keys_below(device), stack);
    }
    stack.push(float32());
    match operator.overload() {
        "Scalar" => aten::norm_ScalarOpt_dtype::handle().call_boxed(stack),
        "ScalarOpt_dim" => aten::norm_ScalarOpt_dim_dtype::handle().call_boxed(stack),
        _ => bail!(NotSupported, "{operator} has no overload with a dtype for its result"),
    }
}

/// The keys below autocast of a device.
fn keys_below(device: DeviceType) -> DispatchKeySet {
    DispatchKeySet::full_after(state::key(device).unwrap_or(DispatchKey::Undefined))
}

/// The tensor cast to `to` if it is eligible, else the tensor itself. Casts of weights are
/// [cached] until the outermost region ends.
///
/// # Errors
/// The cast fails.
///
/// PyTorch: `at::autocast::cached_cast`.
#[inline]
pub fn cached_cast(to: DType, tensor: &Tensor, device: DeviceType) -> Result<Tensor> {
    cached(tensor, to, device, aten::to_dtype)
}

/// A guard that excludes the autocast key of a device: an autocast kernel holds it while it calls the kernel below.
#[inline]
pub fn below(device: DeviceType) -> ExcludeDispatchKeyGuard {
    ExcludeDispatchKeyGuard::new(state::key(device).map_or(DispatchKeySet::EMPTY, DispatchKeySet::from_key))
}

fn cast_argument(argument: &mut Value<'_>, to: DType, device: DeviceType) -> Result<()> {
    let needs_cast = |tensor: &Tensor| tensor.dtype() != to && state::is_eligible(tensor, device);
    let cast = |tensor: &Tensor| cached_cast(to, tensor, device);
    match argument {
        Value::OptionalTensors(list) if list.iter().flatten().any(needs_cast) => {
            let list = list.iter().map(|element| element.as_ref().map(cast).transpose());
            *argument = list.collect::<Result<Vec<_>>>()?.into();
        }
        Value::Tensors(list) if list.iter().any(needs_cast) => {
            *argument = list.iter().map(cast).collect::<Result<Vec<_>>>()?.into();
        }
        _ => {
            if let Some(tensor) = argument.as_tensor().filter(|tensor| needs_cast(tensor)) {
                *argument = cast(tensor)?.into();
            }
        }
    }
    Ok(())
}

/// Defines a boxed kernel for each operator of a list with its policy, and [`policies`], which returns the list.
macro_rules! policies {
    ($($kernels:ident: $policy:ident [$($operator:ident)*])+) => {
        $(
            #[torch_impl(aten, AutocastCPU)]
            mod $kernels {
                use super::*;

                $(
                    #[torch_impl(boxed)]
                    fn $operator(op: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
                        Policy::$policy.apply(DeviceType::Cpu, op, keys, stack)
                    }
                )*
            }
        )+

        /// The operators that have an autocast policy on the CPU.
        pub fn policies() -> Vec<(OperatorHandle, Policy)> {
            vec![$($((aten::$operator::handle(), Policy::$policy),)*)+]
        }
    };
}

policies! {
    lower_precision: LowerPrecision [
        addbmm addmm _addmm_activation baddbmm bmm conv1d conv1d_padding conv2d conv2d_padding
        conv3d conv3d_padding conv_tbc conv_transpose1d conv_transpose2d_input
        conv_transpose3d_input _convolution_deprecated linalg_vecdot linear matmul mkldnn_rnn_layer
        mm _native_multi_head_attention prelu scaled_dot_product_attention
    ]
    float32: Float32 [
        adaptive_avg_pool3d adaptive_max_pool3d avg_pool3d binary_cross_entropy
        binary_cross_entropy_with_logits cdist cholesky_inverse cholesky_solve cosine_embedding_loss
        cross_entropy_loss ctc_loss_IntList ctc_loss_Tensor fake_quantize_per_tensor_affine fft_fft
        fft_fft2 fft_fftn fft_hfft fft_ifft fft_ifft2 fft_ifftn fft_ihfft fft_irfft fft_irfft2
        fft_irfftn fft_rfft fft_rfft2 fft_rfftn fractional_max_pool2d fractional_max_pool3d geqrf
        grid_sampler grid_sampler_2d _grid_sampler_2d_cpu_fallback grid_sampler_3d
        hinge_embedding_loss huber_loss inverse kl_div l1_loss linalg_cholesky linalg_cholesky_ex
        linalg_cond linalg_cond_p_str linalg_eig linalg_eigh linalg_eigvals linalg_eigvalsh
        linalg_householder_product linalg_inv linalg_inv_ex linalg_lstsq linalg_matrix_rank
        linalg_matrix_rank_atol_rtol_float linalg_matrix_rank_atol_rtol_tensor
        linalg_matrix_rank_tol_tensor linalg_matrix_sqrth linalg_qr linalg_solve linalg_svd
        linalg_svdvals linalg_tensorinv linalg_tensorsolve lu_solve _lu_with_info
        margin_ranking_loss max_pool3d max_unpool2d max_unpool3d mse_loss multi_margin_loss
        multilabel_margin_loss multilabel_margin_loss_forward nanquantile nanquantile_scalar
        nll_loss nll_loss2d orgqr ormqr pinverse poisson_nll_loss polar prod prod_dim_int quantile
        quantile_scalar reflection_pad1d reflection_pad2d replication_pad1d replication_pad2d
        replication_pad3d smooth_l1_loss soft_margin_loss stft stft_center svd trace
        triangular_solve triplet_margin_loss view_as_complex
    ]
    promote: Promote [
        cat index_copy stack
    ]
}
