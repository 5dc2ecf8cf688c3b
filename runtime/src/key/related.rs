//! Relations between keys: the expansion of aliases, the keys below autograd, and named sets.

use super::{BackendComponent, DispatchKey, DispatchKeySet};

/// The sets that have names in PyTorch's sources.
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

    /// The keys that a new thread includes.
    ///
    /// PyTorch: `default_included_set`.
    pub const DEFAULT_INCLUDED: Self =
        Self::from_keys(&[DispatchKey::BackendSelect, DispatchKey::ADInplaceOrView]);

    /// The keys that a new thread excludes.
    ///
    /// PyTorch: `default_excluded_set`.
    pub const DEFAULT_EXCLUDED: Self = Self::AUTOCAST;

    /// The keys of a tensor written in Python.
    ///
    /// PyTorch: `python_ks`.
    pub const PYTHON: Self = Self::from_keys(&[DispatchKey::Python, DispatchKey::PythonTLSSnapshot]);

    /// The keys that functorch transforms set on tensors and threads.
    ///
    /// PyTorch: `functorch_transforms_ks`.
    pub const FUNCTORCH_TRANSFORMS: Self = Self::from_keys(&[
        DispatchKey::FuncTorchBatched,
        DispatchKey::FuncTorchVmapMode,
        DispatchKey::Batched,
        DispatchKey::VmapMode,
        DispatchKey::FuncTorchGradWrapper,
    ]);

    /// The functionalities that a backend may have besides dense tensors, and the keys that are backends of their own.
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

    /// The mask with which an autograd kernel redispatches.
    ///
    /// PyTorch: `after_autograd_keyset`.
    pub const AFTER_AUTOGRAD: Self = Self::full_after(DispatchKey::AutogradOther);

    /// The mask with which an `ADInplaceOrView` kernel redispatches.
    ///
    /// PyTorch: `after_ADInplaceOrView_keyset`.
    pub const AFTER_AD_INPLACE_OR_VIEW: Self = Self::full_after(DispatchKey::ADInplaceOrView);

    /// The mask with which a `Functionalize` kernel redispatches.
    ///
    /// PyTorch: `after_func_keyset`.
    pub const AFTER_FUNCTIONALIZE: Self = Self::full_after(DispatchKey::Functionalize);

    /// The keys of an ordinary tensor of a backend: the backend's key, `ADInplaceOrView`, its autograd and its autocast
    /// key.
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

    /// The keys of a tensor made in inference mode: no autograd key and no `ADInplaceOrView`.
    #[inline]
    pub const fn of_inference_tensor(key: DispatchKey) -> Self {
        Self::from_key(key).union(key.autocast_related())
    }

    /// The runtime key of highest priority among those with data in a backend's memory.
    ///
    /// PyTorch: `highestPriorityBackendTypeId`.
    #[inline]
    pub const fn highest_priority_backend(self) -> DispatchKey {
        self.intersection(Self::BACKEND_FUNCTIONALITIES).highest_priority()
    }

    /// The single key that a tensor had before key sets were introduced: its layout and backend, without the layers
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

/// The backend keys that the composite keys cover: everything that holds data, except nested tensors.
const COMPOSITE_EXPLICIT: DispatchKeySet = DispatchKeySet::AUTOGRAD_OTHER_BACKENDS.add(DispatchKey::Dense);
const AUTOGRAD: DispatchKeySet = DispatchKeySet::AUTOGRAD.union(DispatchKeySet::ALL_BACKENDS);
const NESTED_TENSOR: DispatchKeySet = DispatchKeySet::ALL_BACKENDS.add(DispatchKey::NestedTensor);

impl DispatchKey {
    /// The runtime keys that a kernel registered at this key may serve: several for an alias, otherwise the key itself.
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

    /// Whether a kernel registered at `alias` may serve this key, by PyTorch's definition, which compares the bits of
    /// the two keys, so that building blocks count, and every alias is included in every other. Use
    /// [`covers`](Self::covers) to ask about runtime keys alone.
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

    /// Whether the key is one of the backend keys that the composite keys serve: all but those of nested tensors.
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

    /// The backend keys that an autograd key belongs to; empty for keys of other functionalities.
    ///
    /// This is the inverse of [`BackendComponent::autograd_key`], with PyTorch's one exception: for `AutogradMTIA` it
    /// is empty.
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

    /// The keys that autograd adds to a tensor with this key: `ADInplaceOrView` and the autograd key.
    ///
    /// PyTorch: `c10::getAutogradRelatedKeySetFromBackend`.
    pub const fn autograd_related(self) -> DispatchKeySet {
        DispatchKeySet::from_keys(&[DispatchKey::ADInplaceOrView, self.autograd_key()])
    }

    /// The keys that autocast adds to a tensor with this key: the autocast key of its backend, if there is one.
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
