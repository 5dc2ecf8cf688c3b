//! Dispatch keys: the table of all keys, and the properties of each.

mod backend;
mod names;
mod related;
mod set;

pub use backend::BackendComponent;
pub use names::register_backend_name;
pub use set::{DispatchKeySet, DispatchKeySetIter, NUM_RUNTIME_KEYS};

/// The category of a dispatch key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DispatchKeyCategory {
    /// Only [`DispatchKey::Undefined`].
    Undefined,
    /// One bit of a set and one slot of a table, the same for all backends.
    Functionality,
    /// A building block: one bit of a set, sixteen slots of a table, but no slot by itself.
    PerBackendFunctionality,
    /// A building block on a particular backend.
    PerBackendRuntime,
    /// Stands for several runtime keys when a kernel is registered; it is never in a set.
    Alias,
}

/// The properties of one key.
struct Row {
    key: DispatchKey,
    name: &'static str,
    category: DispatchKeyCategory,
    functionality: DispatchKey,
    backend: Option<BackendComponent>,
}

/// Generates the enum and its table from one list. The header of a block has PyTorch's start marker, whose value is one
/// below that of the block's first key; the block lists the keys of the backends in the order of [`BackendComponent`].
macro_rules! dispatch_keys {
    (
        functionalities { $($(#[$functionality_doc:meta])* $functionality:ident = $value:literal,)* }
        blocks { $($block:ident after $start:literal { $first:ident $($other:ident)* })* }
        aliases { $($(#[$alias_doc:meta])* $alias:ident = $alias_value:literal,)* }
    ) => {
        /// A dispatch key: one step on the way of a call from the user to a backend's kernel.
        ///
        /// The numeric values are PyTorch's. The functionalities come first, in order of rising priority; then, for
        /// each per-backend functionality, one runtime key per backend; then the alias keys. PyTorch's block markers
        /// are not keys here.
        ///
        /// ```
        /// use torch_library::{BackendComponent, DispatchKey};
        ///
        /// let key: DispatchKey = "SparseCUDA".parse()?;
        /// assert_eq!(key, DispatchKey::SparseCUDA);
        /// assert_eq!(key.functionality(), DispatchKey::Sparse);
        /// assert_eq!(key.backend(), Some(BackendComponent::CUDA));
        /// # Ok::<(), torch_library::Error>(())
        /// ```
        ///
        /// PyTorch: `c10::DispatchKey`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        #[non_exhaustive]
        #[expect(non_camel_case_types, reason = "PyTorch's own spelling")]
        pub enum DispatchKey {
            $($(#[$functionality_doc])* $functionality = $value,)*
            $(
                #[doc = concat!(
                    "[`", stringify!($block), "`](Self::", stringify!($block), ") on the first backend."
                )]
                $first = $start + 1,
                $(
                    #[doc = concat!(
                        "[`", stringify!($block), "`](Self::", stringify!($block), ") on the backend in its name."
                    )]
                    $other,
                )*
            )*
            $($(#[$alias_doc])* $alias = $alias_value,)*
        }

        /// The value of the start marker of each per-backend functionality's block.
        const BLOCKS: &[(DispatchKey, u8)] = &[$((DispatchKey::$block, $start)),*];

        const fn rows() -> [Option<Row>; 156] {
            let mut rows = [const { None }; 156];
            $(
                let name = stringify!($functionality);
                rows[$value] = Some(Row::of_functionality(DispatchKey::$functionality, name));
            )*
            $(
                let keys = [DispatchKey::$first, $(DispatchKey::$other),*];
                let names = [stringify!($first), $(stringify!($other)),*];
                let mut idx = 0;
                while idx < BackendComponent::ALL.len() {
                    rows[keys[idx] as usize] = Some(Row {
                        key: keys[idx],
                        name: names[idx],
                        category: DispatchKeyCategory::PerBackendRuntime,
                        functionality: DispatchKey::$block,
                        backend: Some(BackendComponent::ALL[idx]),
                    });
                    idx += 1;
                }
            )*
            $(rows[$alias_value] = Some(Row {
                key: DispatchKey::$alias,
                name: stringify!($alias),
                category: DispatchKeyCategory::Alias,
                functionality: DispatchKey::Undefined,
                backend: None,
            });)*
            rows
        }
    };
}

dispatch_keys! {
    functionalities {
        /// No functionality at all: the slot of a call with no key left.
        Undefined = 0,
        /// Strided tensors; per backend. The runtime keys are named after the backend alone.
        Dense = 1,
        /// Field-programmable gate arrays.
        FPGA = 2,
        /// Vulkan tensors.
        Vulkan = 3,
        /// Metal tensors.
        Metal = 4,
        /// Quantized tensors; per backend.
        Quantized = 5,
        /// Generators of a custom kind, which dispatch operators without a tensor.
        CustomRNGKeyId = 6,
        /// Opaque tensors of oneDNN.
        MkldnnCPU = 7,
        /// Sparse tensors in coordinate form; per backend.
        Sparse = 8,
        /// Sparse tensors in compressed form; per backend.
        SparseCsr = 9,
        /// Nested tensors; per backend.
        NestedTensor = 10,
        /// Chooses the backend of factory functions, which have no tensor arguments.
        BackendSelect = 11,
        /// Fake tensors: shapes and devices without data.
        Fake = 12,
        /// Tensor subclasses and modes written in Python.
        Python = 13,
        /// Where a functorch transform returns to the outer level.
        FuncTorchDynamicLayerBackMode = 14,
        /// Functionalization: replaces writes by operators that compute new tensors.
        Functionalize = 15,
        /// Materialises lazy conjugation.
        Conjugate = 16,
        /// Materialises lazy negation.
        Negative = 17,
        /// Materialises symbolic zeros.
        ZeroTensor = 18,
        /// Tracks version counters and views, below autograd.
        ADInplaceOrView = 19,
        /// Autograd of the backends that have no autograd key of their own.
        AutogradOther = 20,
        /// Autograd; per backend.
        AutogradFunctionality = 21,
        /// Autograd of nested tensors.
        AutogradNestedTensor = 22,
        /// Records calls into a graph.
        Tracer = 23,
        /// Autocast on CPU.
        AutocastCPU = 24,
        /// Autocast on MTIA.
        AutocastMTIA = 25,
        /// Autocast on MAIA.
        AutocastMAIA = 26,
        /// Autocast on XPU.
        AutocastXPU = 27,
        /// Autocast on IPU.
        AutocastIPU = 28,
        /// Autocast on HPU.
        AutocastHPU = 29,
        /// Autocast on XLA.
        AutocastXLA = 30,
        /// Autocast on MPS.
        AutocastMPS = 31,
        /// Autocast on CUDA.
        AutocastCUDA = 32,
        /// Autocast on PrivateUse1.
        AutocastPrivateUse1 = 33,
        /// Tensors that a vmap batches.
        FuncTorchBatched = 34,
        /// Nested tensors that a vmap batches.
        BatchedNestedTensor = 35,
        /// Set while a vmap runs; decides how random operators behave.
        FuncTorchVmapMode = 36,
        /// Tensors that the older vmap batches.
        Batched = 37,
        /// Set while the older vmap runs.
        VmapMode = 38,
        /// Tensors that a functorch grad transform wraps.
        FuncTorchGradWrapper = 39,
        /// Defers initialisation.
        DeferredInit = 40,
        /// Saves the thread's key sets on entry, for Python.
        PythonTLSSnapshot = 41,
        /// Where a functorch transform intercepts calls.
        FuncTorchDynamicLayerFrontMode = 42,
        /// For tests: a wrapper.
        TESTING_ONLY_GenericWrapper = 43,
        /// For tests: a mode.
        TESTING_ONLY_GenericMode = 44,
        /// Traces before every other layer.
        PreDispatch = 45,
        /// Hands every call to Python.
        PythonDispatcher = 46,
    }
    blocks {
        Dense after 48 {
            CPU CUDA HIP XLA MPS IPU XPU HPU VE Lazy MTIA MAIA PrivateUse1 PrivateUse2 PrivateUse3 Meta
        }
        Quantized after 65 {
            QuantizedCPU QuantizedCUDA QuantizedHIP QuantizedXLA QuantizedMPS QuantizedIPU QuantizedXPU
            QuantizedHPU QuantizedVE QuantizedLazy QuantizedMTIA QuantizedMAIA QuantizedPrivateUse1
            QuantizedPrivateUse2 QuantizedPrivateUse3 QuantizedMeta
        }
        Sparse after 82 {
            SparseCPU SparseCUDA SparseHIP SparseXLA SparseMPS SparseIPU SparseXPU SparseHPU SparseVE
            SparseLazy SparseMTIA SparseMAIA SparsePrivateUse1 SparsePrivateUse2 SparsePrivateUse3 SparseMeta
        }
        SparseCsr after 99 {
            SparseCsrCPU SparseCsrCUDA SparseCsrHIP SparseCsrXLA SparseCsrMPS SparseCsrIPU SparseCsrXPU
            SparseCsrHPU SparseCsrVE SparseCsrLazy SparseCsrMTIA SparseCsrMAIA SparseCsrPrivateUse1
            SparseCsrPrivateUse2 SparseCsrPrivateUse3 SparseCsrMeta
        }
        NestedTensor after 116 {
            NestedTensorCPU NestedTensorCUDA NestedTensorHIP NestedTensorXLA NestedTensorMPS NestedTensorIPU
            NestedTensorXPU NestedTensorHPU NestedTensorVE NestedTensorLazy NestedTensorMTIA NestedTensorMAIA
            NestedTensorPrivateUse1 NestedTensorPrivateUse2 NestedTensorPrivateUse3 NestedTensorMeta
        }
        AutogradFunctionality after 133 {
            AutogradCPU AutogradCUDA AutogradHIP AutogradXLA AutogradMPS AutogradIPU AutogradXPU AutogradHPU
            AutogradVE AutogradLazy AutogradMTIA AutogradMAIA AutogradPrivateUse1 AutogradPrivateUse2
            AutogradPrivateUse3 AutogradMeta
        }
    }
    aliases {
        /// Every autograd key, for a derivative that serves all backends.
        Autograd = 150,
        /// Every backend and every autograd key, for a kernel composed of other operators, which needs no derivative of
        /// its own.
        CompositeImplicitAutograd = 151,
        /// [`FuncTorchBatched`](Self::FuncTorchBatched), for a kernel composed of operators that have batching rules.
        FuncTorchBatchedDecomposition = 152,
        /// Like [`CompositeImplicitAutograd`](Self::CompositeImplicitAutograd), for nested tensors.
        CompositeImplicitAutogradNestedTensor = 153,
        /// Every backend, for a kernel composed of other operators, whose derivative is written separately.
        CompositeExplicitAutograd = 154,
        /// Every backend but those that prefer functional kernels: sparse, XLA and lazy ones.
        CompositeExplicitAutogradNonFunctional = 155,
    }
}

static ROWS: [Option<Row>; 156] = rows();

impl Row {
    const fn of_functionality(key: DispatchKey, name: &'static str) -> Self {
        let category = match key {
            DispatchKey::Undefined => DispatchKeyCategory::Undefined,
            _ if key.block().is_some() => DispatchKeyCategory::PerBackendFunctionality,
            _ => DispatchKeyCategory::Functionality,
        };
        Row { key, name, category, functionality: key, backend: None }
    }
}

impl DispatchKey {
    /// All keys in the order of their values, aliases last.
    pub fn all() -> impl Iterator<Item = DispatchKey> {
        ROWS.iter().flatten().map(|row| row.key)
    }

    /// The key with this value; `None` where PyTorch has a block marker or no key.
    pub const fn from_value(value: u8) -> Option<Self> {
        if (value as usize) < ROWS.len()
            && let Some(row) = &ROWS[value as usize]
        {
            Some(row.key)
        } else {
            None
        }
    }

    /// PyTorch's numeric value.
    pub const fn value(self) -> u8 {
        self as u8
    }

    #[inline]
    const fn row(self) -> &'static Row {
        match &ROWS[self as usize] {
            Some(row) => row,
            None => unreachable!(), // the macro generates a row for each variant
        }
    }

    /// The value of the marker before this functionality's runtime keys, if it has them.
    const fn block(self) -> Option<u8> {
        let mut idx = 0;
        while idx < BLOCKS.len() {
            if BLOCKS[idx].0 as u8 == self as u8 {
                return Some(BLOCKS[idx].1);
            }
            idx += 1;
        }
        None
    }

    /// PyTorch's name, even if a private backend has taken another; [`register_backend_name`] describes the names shown
    /// to users.
    ///
    /// PyTorch: `c10::toString(DispatchKey)`.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// The category of the key.
    pub const fn category(self) -> DispatchKeyCategory {
        self.row().category
    }

    /// The functionality: the key itself for a functionality, `Undefined` for an alias.
    ///
    /// PyTorch: `c10::toFunctionalityKey`.
    #[inline]
    pub const fn functionality(self) -> DispatchKey {
        self.row().functionality
    }

    /// The backend of a per-backend runtime key.
    ///
    /// PyTorch: `c10::toBackendComponent`.
    #[inline]
    pub const fn backend(self) -> Option<BackendComponent> {
        self.row().backend
    }

    /// The runtime key of this per-backend functionality on a backend: `Sparse` on `CUDA` is `SparseCUDA`.
    /// A functionality that is not per backend is its own runtime key.
    ///
    /// PyTorch: `c10::toRuntimePerBackendFunctionalityKey`.
    pub const fn on(self, backend: BackendComponent) -> DispatchKey {
        match self.block() {
            None => self,
            Some(start) => match DispatchKey::from_value(start + 1 + backend.index() as u8) {
                Some(key) => key,
                None => unreachable!(), // each block has a key per backend
            },
        }
    }

    /// Whether the key stands for several runtime keys.
    ///
    /// PyTorch: `c10::isAliasDispatchKey`.
    pub const fn is_alias(self) -> bool {
        matches!(self.category(), DispatchKeyCategory::Alias)
    }

    /// Whether the key is a building block: a bit of a set that, together with a backend, becomes a runtime key.
    ///
    /// PyTorch: `c10::isPerBackendFunctionalityKey`.
    pub const fn is_per_backend_functionality(self) -> bool {
        matches!(self.category(), DispatchKeyCategory::PerBackendFunctionality)
    }

    /// Whether a dispatch table has a slot for exactly this key.
    pub const fn is_runtime(self) -> bool {
        !self.is_alias() && !self.is_per_backend_functionality()
    }
}

#[cfg(test)]
pub(crate) mod tests;
