//! Which keys belong together: what aliases cover, what autograd stands above, sets with a name.

use super::{BackendComponent, DispatchKey, DispatchKeySet};

/// The sets that PyTorch's sources name.
impl DispatchKeySet {
    /// The autograd functionalities.
    ///
    /// PyTorch: `autograd_dispatch_keyset`.
    pub const AUTOGRAD: Self = Self::from_keys(&[
        DispatchKey::AutogradFunctionality,
        DispatchKey::AutogradOther,
        DispatchKey::AutogradNestedTensor,
    ]);

    /// The autograd functionalities and `ADInplaceOrView`.
    ///
    /// PyTorch: `autograd_dispatch_keyset_with_ADInplaceOrView`.
    pub const AUTOGRAD_AND_AD_INPLACE_OR_VIEW: Self = Self::AUTOGRAD.add(DispatchKey::ADInplaceOrView);

    /// The autocast keys.
    ///
    /// PyTorch: `autocast_dispatch_keyset`.
    pub const AUTOCAST: Self = Self::from_keys(&[
        DispatchKey::AutocastCPU,
        DispatchKey::AutocastMTIA,
        DispatchKey::AutocastMAIA,
        DispatchKey::AutocastXPU,
        DispatchKey::AutocastIPU,
        DispatchKey::AutocastHPU,
        DispatchKey::AutocastXLA,
        DispatchKey::AutocastMPS,
        DispatchKey::AutocastCUDA,
        DispatchKey::AutocastPrivateUse1,
    ]);

    /// What a fresh thread includes.
    ///
    /// PyTorch: `default_included_set`.
    pub const DEFAULT_INCLUDED: Self =
        Self::from_keys(&[DispatchKey::BackendSelect, DispatchKey::ADInplaceOrView]);

    /// What a fresh thread excludes.
    ///
    /// PyTorch: `default_excluded_set`.
    pub const DEFAULT_EXCLUDED: Self = Self::AUTOCAST;

    /// What a tensor written in Python carries.
    ///
    /// PyTorch: `python_ks`.
    pub const PYTHON: Self = Self::from_keys(&[DispatchKey::Python, DispatchKey::PythonTLSSnapshot]);

    /// What the transforms of functorch set on tensors and threads.
    ///
    /// PyTorch: `functorch_transforms_ks`.
    pub const FUNCTORCH_TRANSFORMS: Self = Self::from_keys(&[
        DispatchKey::FuncTorchBatched,
        DispatchKey::FuncTorchVmapMode,
        DispatchKey::Batched,
        DispatchKey::VmapMode,
        DispatchKey::FuncTorchGradWrapper,
    ]);

    /// The kinds of tensors that a backend may have besides dense ones, and those that are a backend of their
    /// own.
    ///
    /// PyTorch: `autogradother_backends`.
    pub const AUTOGRAD_OTHER_BACKENDS: Self = Self::ALL_BACKENDS.union(Self::from_keys(&[
        DispatchKey::FPGA,
        DispatchKey::Vulkan,
        DispatchKey::Metal,
        DispatchKey::Quantized,
        DispatchKey::CustomRNGKeyId,
        DispatchKey::MkldnnCPU,
        DispatchKey::Sparse,
        DispatchKey::SparseCsr,
    ]));

    /// The per-backend functionalities that hold data, on every backend.
    ///
    /// PyTorch: `backend_functionality_keys`.
    pub const BACKEND_FUNCTIONALITIES: Self = Self::ALL_BACKENDS.union(Self::from_keys(&[
        DispatchKey::Dense,
        DispatchKey::Quantized,
        DispatchKey::Sparse,
        DispatchKey::SparseCsr,
    ]));

    /// What an autograd kernel redispatches with.
    ///
    /// PyTorch: `after_autograd_keyset`.
    pub const AFTER_AUTOGRAD: Self = Self::full_after(DispatchKey::AutogradOther);

    /// What an `ADInplaceOrView` kernel redispatches with.
    ///
    /// PyTorch: `after_ADInplaceOrView_keyset`.
    pub const AFTER_AD_INPLACE_OR_VIEW: Self = Self::full_after(DispatchKey::ADInplaceOrView);

    /// What a `Functionalize` kernel redispatches with.
    ///
    /// PyTorch: `after_func_keyset`.
    pub const AFTER_FUNCTIONALIZE: Self = Self::full_after(DispatchKey::Functionalize);

    /// What an ordinary tensor of a backend key carries: the key, `ADInplaceOrView`, its autograd and its
    /// autocast key.
    ///
    /// ```
    /// use torch_library::{DispatchKey, DispatchKeySet};
    ///
    /// let keys = DispatchKeySet::of_tensor(DispatchKey::CPU);
    /// assert_eq!(keys.to_string(), "DispatchKeySet(CPU, ADInplaceOrView, AutogradCPU, AutocastCPU)");
    /// let inference = DispatchKeySet::of_inference_tensor(DispatchKey::CPU);
    /// assert_eq!(keys - DispatchKeySet::AUTOGRAD_AND_AD_INPLACE_OR_VIEW, inference);
    /// ```
    #[inline]
    pub const fn of_tensor(key: DispatchKey) -> Self {
        Self::of_inference_tensor(key).union(key.autograd_related())
    }

    /// What a tensor made in inference mode carries: no autograd key and no `ADInplaceOrView`.
    #[inline]
    pub const fn of_inference_tensor(key: DispatchKey) -> Self {
        Self::from_key(key).union(key.autocast_related())
    }

    /// The runtime key among those that hold data in a backend's memory.
    ///
    /// PyTorch: `highestPriorityBackendTypeId`.
    #[inline]
    pub const fn highest_priority_backend(self) -> DispatchKey {
        self.intersection(Self::BACKEND_FUNCTIONALITIES).highest_priority()
    }

    /// The one key that a tensor had before it could have several: its kind and backend, without the layers
    /// above.
    ///
    /// PyTorch: `legacyExtractDispatchKey`.
    pub const fn legacy_extract(self) -> DispatchKey {
        self.difference(Self::AUTOGRAD_AND_AD_INPLACE_OR_VIEW)
            .difference(Self::AUTOCAST)
            .difference(Self::PYTHON)
            .remove(DispatchKey::Functionalize)
            .remove(DispatchKey::FuncTorchGradWrapper)
            .remove(DispatchKey::FuncTorchVmapMode)
            .remove(DispatchKey::FuncTorchBatched)
            .highest_priority()
    }
}

/// What the composite keys cover among the backends: everything that holds data, except nested tensors.
const COMPOSITE_EXPLICIT: DispatchKeySet = DispatchKeySet::AUTOGRAD_OTHER_BACKENDS.add(DispatchKey::Dense);
const AUTOGRAD: DispatchKeySet = DispatchKeySet::AUTOGRAD.union(DispatchKeySet::ALL_BACKENDS);
const NESTED_TENSOR: DispatchKeySet = DispatchKeySet::ALL_BACKENDS.add(DispatchKey::NestedTensor);

impl DispatchKey {
    /// The runtime keys that a kernel registered at this key may serve: several for an alias, else the key
    /// itself.
    ///
    /// PyTorch: `c10::getRuntimeDispatchKeySet`.
    pub const fn expansion(self) -> DispatchKeySet {
        match self {
            DispatchKey::Autograd => AUTOGRAD,
            DispatchKey::CompositeImplicitAutograd => COMPOSITE_EXPLICIT.union(AUTOGRAD).union(NESTED_TENSOR),
            DispatchKey::CompositeImplicitAutogradNestedTensor => {
                NESTED_TENSOR.add(DispatchKey::AutogradNestedTensor)
            }
            DispatchKey::CompositeExplicitAutograd => COMPOSITE_EXPLICIT,
            DispatchKey::CompositeExplicitAutogradNonFunctional => COMPOSITE_EXPLICIT
                .remove(DispatchKey::Sparse)
                .remove_backend(BackendComponent::XLA)
                .remove_backend(BackendComponent::Lazy),
            DispatchKey::FuncTorchBatchedDecomposition => {
                DispatchKeySet::from_key(DispatchKey::FuncTorchBatched)
            }
            key => DispatchKeySet::from_key(key),
        }
    }

    /// Whether a kernel registered at `alias` may serve this key, as PyTorch answers it: by the bits of the
    /// two keys, so that building blocks count, and every alias is in every other. Ask
    /// [`covers`](Self::covers) for the runtime keys alone.
    ///
    /// PyTorch: `c10::isIncludedInAlias`.
    pub const fn is_included_in_alias(self, alias: DispatchKey) -> bool {
        !matches!(self, DispatchKey::Undefined)
            && if alias.is_alias() { alias.expansion().has(self) } else { self as u8 == alias as u8 }
    }

    /// Whether a kernel registered at this key may serve a runtime key.
    pub const fn covers(self, key: DispatchKey) -> bool {
        key.is_runtime() && key.is_included_in_alias(self)
    }

    /// Whether the key is one of the kinds of tensors that the composite keys serve: every backend key but
    /// nested tensors'.
    ///
    /// PyTorch: `c10::isBackendDispatchKey`.
    pub const fn is_backend(self) -> bool {
        !self.is_alias() && self.is_included_in_alias(DispatchKey::CompositeExplicitAutograd)
    }

    /// The autograd key of tensors that carry this key.
    ///
    /// PyTorch: `getAutogradKeyFromBackend(toBackendComponent(key))`.
    pub const fn autograd_key(self) -> DispatchKey {
        match self.backend() {
            Some(backend) => backend.autograd_key(),
            None => DispatchKey::AutogradOther,
        }
    }

    /// The keys whose kernels an autograd key stands above; empty for keys of other functionalities.
    ///
    /// This is the inverse of [`BackendComponent::autograd_key`], with PyTorch's one hole: `AutogradMTIA`
    /// stands above nothing.
    ///
    /// PyTorch: `c10::getBackendKeySetFromAutograd`.
    pub const fn backends_below_autograd(self) -> DispatchKeySet {
        match (self, self.backend()) {
            (DispatchKey::AutogradOther, _) => DispatchKeySet::AUTOGRAD_OTHER_BACKENDS,
            (DispatchKey::AutogradNestedTensor, _) => NESTED_TENSOR,
            (DispatchKey::AutogradMTIA, _) => DispatchKeySet::EMPTY,
            (_, Some(backend)) if backend.autograd_key() as u8 == self as u8 => {
                DispatchKeySet::from_key(DispatchKey::Dense.on(backend))
            }
            _ => DispatchKeySet::EMPTY,
        }
    }

    /// What autograd adds to a tensor that carries this key: `ADInplaceOrView` and the autograd key.
    ///
    /// PyTorch: `c10::getAutogradRelatedKeySetFromBackend`.
    pub const fn autograd_related(self) -> DispatchKeySet {
        DispatchKeySet::from_keys(&[DispatchKey::ADInplaceOrView, self.autograd_key()])
    }

    /// What autocast adds to a tensor that carries this key: the autocast key of its backend, if there is
    /// one.
    ///
    /// PyTorch: `c10::getAutocastRelatedKeySetFromBackend`.
    pub const fn autocast_related(self) -> DispatchKeySet {
        if let Some(backend) = self.backend()
            && let Some(key) = backend.autocast_key()
        {
            DispatchKeySet::from_key(key)
        } else {
            DispatchKeySet::EMPTY
        }
    }
}
