//! Link-time collection: the records that the macros leave in the program. No other code knows about linkers.
//!
//! A record is plain static data. Before `main`, all that happens is that one pointer per record is pushed to a list;
//! the registry reads the records when the first operator is called.
#![expect(unsafe_code, reason = "generated code says which operator's calling convention its code has")]

use crate::key::DispatchKey;
use crate::operator::kernel::{BoxedFn, ErasedCode, Kernel};
use crate::operator::{Declaration, Derivative, Operator, Place};
use crate::program::Program;
use crate::tensor::backend::{Backend, Linked};

#[cfg(all(feature = "inventory", not(feature = "linkme")))]
pub(crate) mod submitted;

#[cfg(not(all(feature = "selective", target_os = "linux", target_pointer_width = "64")))]
pub(crate) mod full;
#[cfg(all(feature = "selective", target_os = "linux", target_pointer_width = "64"))]
pub(crate) mod selective;

#[cfg(not(all(feature = "selective", target_os = "linux", target_pointer_width = "64")))]
pub(crate) use full as linking;
#[cfg(all(feature = "selective", target_os = "linux", target_pointer_width = "64"))]
pub(crate) use selective as linking;

/// What one macro invocation registers: one record for each block, however many operators or kernels it has.
#[derive(Clone, Copy)]
pub enum Record {
    /// `torch_library!`
    Library(&'static LibraryRecord),
    /// `#[torch_impl]`
    Kernels(&'static [KernelRecord]),
    /// `#[torch_fallback]`
    Fallback(&'static FallbackRecord),
    /// `torch_backend!`
    Backend(&'static BackendRecord),
}

/// A registered device backend.
pub struct BackendRecord {
    /// The implementation.
    pub backend: &'static dyn Backend,
    /// Its source location.
    pub place: Place,
}

/// A namespace with its operators.
pub struct LibraryRecord {
    /// The namespace.
    pub namespace: &'static str,
    /// Whether it adds to a namespace that another library declares.
    pub extends: bool,
    /// The crate with its kernels, if the library names one: for the error about a crate that is not linked.
    pub kernels_in: Option<&'static str>,
    /// Its source location.
    pub place: Place,
    /// Its operators.
    pub operators: &'static [&'static Operator],
    /// The kernels that the library itself brings: those of derived variants.
    pub kernels: &'static [KernelRecord],
}

/// A kernel for one operator and one key.
#[derive(Clone, Copy)]
pub struct KernelRecord {
    /// The operator.
    pub operator: &'static Operator,
    /// The key.
    pub key: DispatchKey,
    /// The kernel.
    pub kernel: RecordedKernel,
    /// The derivative, if the kernel is a row of `derivatives!`: what its formulas name.
    pub derivative: Option<&'static Derivative>,
    /// The function's name.
    pub function: &'static str,
    /// Whether it replaces another kernel for the same operator and key.
    pub overrides: bool,
    /// Its source location.
    pub place: Place,
}

/// Typed code, with the operator whose calling convention it has. Only the operator's module makes these, so a record
/// that names another operator is detected.
#[derive(Clone, Copy)]
pub struct TypedCode {
    code: ErasedCode,
    declaration: &'static Declaration,
}

impl TypedCode {
    /// Code for the declared operator. A constant cannot refer to the operator itself, which is a mutable static.
    ///
    /// # Safety
    /// * `code` was erased from the calling convention of the operator that was declared.
    pub const unsafe fn new(code: ErasedCode, declaration: &'static Declaration) -> Self {
        TypedCode { code, declaration }
    }

    /// The operator that the code was made for.
    pub(crate) fn operator(self) -> &'static Operator {
        self.declaration.operator()
    }

    /// The kernel, and the operator that it was made for.
    pub(crate) fn kernel(self) -> (Kernel, &'static Operator) {
        let operator = self.operator();
        // SAFETY: the caller of `new` promised that the code has this operator's calling convention.
        (unsafe { Kernel::of_code(self.code, operator) }, operator)
    }
}

/// A kernel in a record.
#[derive(Clone, Copy)]
pub enum RecordedKernel {
    /// Typed code, checked against the schema at compile time.
    Typed(TypedCode),
    /// Typed code of a derived variant, used unless the variant has a kernel of its own: it copies the operator's
    /// result.
    Copying(TypedCode),
    /// Typed code of a kernel that takes an `Output`: for the operator first, then for each of its variants.
    Variants(&'static [TypedCode]),
    /// A boxed kernel, which serves any signature.
    Boxed(BoxedFn),
    /// A fallthrough: calls go on with the next key.
    Fallthrough,
}

/// A kernel for all operators at one key.
pub struct FallbackRecord {
    /// The key.
    pub key: DispatchKey,
    /// The kernel, which is never typed.
    pub kernel: RecordedKernel,
    /// The function's name.
    pub function: &'static str,
    /// Its source location.
    pub place: Place,
}

#[cfg(all(feature = "inventory", not(feature = "linkme")))]
mod linked {
    use super::Record;
    use super::submitted::Submitted;

    inventory::collect!(Submitted);

    pub(super) fn records() -> impl Iterator<Item = &'static Record> {
        inventory::iter::<Submitted>.into_iter().filter_map(Submitted::record)
    }

    pub(super) fn foreign_modules() -> Vec<&'static str> {
        inventory::iter::<Submitted>.into_iter().filter_map(Submitted::foreign_module).collect()
    }

    /// Leaves a record in the program.
    #[doc(hidden)]
    #[macro_export]
    macro_rules! __submit {
        ($record:expr) => {
            $crate::__private::inventory::submit! {
                $crate::__private::Submitted::new($record, ::core::module_path!())
            }
        };
    }
}

#[cfg(feature = "linkme")]
mod linked {
    use super::Record;

    /// The records of the program.
    #[linkme::distributed_slice]
    pub static TORCH_LIBRARY_RECORDS: [Record];

    pub(super) fn records() -> impl Iterator<Item = &'static Record> {
        TORCH_LIBRARY_RECORDS.iter()
    }

    pub(super) fn foreign_modules() -> Vec<&'static str> {
        Vec::new() // the slice of a plug-in is its own
    }

    /// Leaves a record in the program.
    #[doc(hidden)]
    #[macro_export]
    macro_rules! __submit {
        ($record:expr) => {
            #[$crate::__private::linkme::distributed_slice($crate::__private::TORCH_LIBRARY_RECORDS)]
            #[linkme(crate = $crate::__private::linkme)]
            static RECORD: $crate::__private::Record = $record;
        };
    }
}

#[cfg(not(any(feature = "inventory", feature = "linkme")))]
mod linked {
    use super::Record;

    pub(super) fn records() -> impl Iterator<Item = &'static Record> {
        std::iter::empty()
    }

    pub(super) fn foreign_modules() -> Vec<&'static str> {
        Vec::new()
    }

    /// Leaves no record: the program passes records to `register!`.
    #[doc(hidden)]
    #[macro_export]
    macro_rules! __submit {
        ($record:expr) => {};
    }
}

#[cfg(feature = "linkme")]
pub use linked::TORCH_LIBRARY_RECORDS;

/// The records linked into this program, in no particular order.
pub(crate) fn records() -> impl Iterator<Item = &'static Record> {
    linked::records()
}

/// The modules of plug-ins whose records cannot be read, since they were compiled with another build of this crate.
pub(crate) fn foreign_modules() -> Vec<&'static str> {
    linked::foreign_modules()
}

/// Gives the tensors' module the backends among the records, ordered by source location.
impl Linked for Program {
    fn backends() -> Vec<&'static dyn Backend> {
        let backend = |record: &'static Record| match record {
            Record::Backend(record) => Some(*record),
            _ => None,
        };
        let mut backends: Vec<_> = records().filter_map(backend).collect();
        backends.sort_by_key(|record| record.place);
        backends.into_iter().map(|record| record.backend).collect()
    }
}

/// Registers a backend: a static that implements [`Backend`](crate::backend::Backend).
///
/// Write it once, beside the static, at module level; devices of its type are then available, by name too. There is an
/// example at [`Backend`](crate::backend::Backend).
///
/// PyTorch: `C10_REGISTER_GUARD_IMPL`, `at::RegisterPrivateUse1HooksInterface`.
#[macro_export]
macro_rules! torch_backend {
    ($backend:path) => {
        const _: () = {
            static BACKEND: $crate::__private::BackendRecord = $crate::__private::BackendRecord {
                backend: &$backend,
                place: $crate::__private::Place {
                    module: &$crate::__private::SourceModule {
                        file: ::core::file!(),
                        path: ::core::module_path!(),
                    },
                    line: ::core::line!(),
                    column: ::core::column!(),
                },
            };
            $crate::__submit! { $crate::__private::Record::Backend(&BACKEND) }
        };
    };
}

/// Lists operators that a program calls only by name or through handles: with selective linking (the feature
/// `selective`) this links them and their kernels, and registers them. Operators that it calls by their functions need
/// not be listed. Without that feature all operators are there already, and this does nothing.
///
/// ```
/// use torch_library::prelude::*;
///
/// torch_library! {
///     pub mod by_name {
///         first(Tensor self) -> Tensor;
///         second(Tensor self) -> Tensor;
///     }
/// }
///
/// torch_library::link!(by_name::first, by_name::second);
/// assert!(torch_library::Dispatcher::global().find("by_name::second").is_ok());
/// ```
///
/// PyTorch: the list of operators of a selective build.
#[macro_export]
macro_rules! link {
    ($($($segment:ident)::+),+ $(,)?) => {
        $crate::__private::link(&[$(&$($segment)::+::OPERATOR),+])
    };
}

/// Registers libraries and kernels by hand, for programs whose linker does not collect them. Each argument is a
/// `torch_library!` module or a `#[torch_impl]` module.
///
/// Anything that is registered already, by the linker or by hand, is left as it is. A single `#[torch_impl]` function
/// or a fallback has no name to register it by: put the function in a module.
///
/// ```
/// use torch_library::prelude::*;
///
/// torch_library! {
///     pub mod by_hand {
///         twice(Tensor self) -> Tensor;
///     }
/// }
///
/// #[torch_impl(by_hand, CPU)]
/// mod cpu {
///     use torch_library::prelude::*;
///
///     fn twice(this: &Tensor) -> Result<Tensor> {
///         Tensor::from_vec(this.to_vec::<f32>()?.iter().map(|x| 2.0 * x).collect(), this.sizes())
///     }
/// }
///
/// fn main() -> Result<()> {
///     torch_library::register!(by_hand, cpu);
///     assert_eq!(by_hand::twice(&Tensor::from([1.0f32]))?.to_vec::<f32>()?, [2.0]);
///     Ok(())
/// }
/// ```
///
/// Conflicting registrations are found as for linked ones: [`init`](crate::init) reports them.
///
/// PyTorch: static initialisers, which run if the linker keeps them; there is no other way.
#[macro_export]
macro_rules! register {
    ($($($module:ident)::+),+ $(,)?) => {
        $crate::__private::register(&[$(&$($module)::+::TORCH_LIBRARY_RECORD),+])
    };
}
