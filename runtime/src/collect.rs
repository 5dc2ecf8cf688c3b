//! Link-time collection: the records that the macros leave in the program, and the only code that knows how.
//!
//! A record is plain static data. Nothing but the pushing of one pointer happens before `main`; the registry reads
//! the records when the first operator is called.
#![expect(unsafe_code, reason = "generated code says which operator's calling convention its code has")]

use crate::key::DispatchKey;
use crate::operator::kernel::{BoxedFn, ErasedCode, Kernel};
use crate::operator::{Derivative, Operator, Place};
use crate::program::Program;
use crate::tensor::backend::{Backend, Linked};

#[cfg(all(feature = "selective", target_os = "linux", target_pointer_width = "64"))]
pub(crate) mod selective;
#[cfg(not(all(feature = "selective", target_os = "linux", target_pointer_width = "64")))]
pub(crate) mod whole;

#[cfg(all(feature = "selective", target_os = "linux", target_pointer_width = "64"))]
pub(crate) use selective as linking;
#[cfg(not(all(feature = "selective", target_os = "linux", target_pointer_width = "64")))]
pub(crate) use whole as linking;

/// What one macro call registers. One record for each block, however many operators or kernels it has.
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

/// A backend of devices.
pub struct BackendRecord {
    /// What the core asks.
    pub backend: &'static dyn Backend,
    /// Where it is written.
    pub place: Place,
}

/// A namespace with its operators.
pub struct LibraryRecord {
    /// The namespace.
    pub namespace: &'static str,
    /// Whether it adds to a namespace that somebody else declares.
    pub extends: bool,
    /// The crate that has its kernels, where the library says so: for the message about a crate that is not linked.
    pub kernels_in: Option<&'static str>,
    /// Where it is written.
    pub place: Place,
    /// Its operators.
    pub operators: &'static [&'static Operator],
    /// The kernels that the library brings itself: those of derived variants.
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
    /// What its formulas name, if it is a row of `derivatives!`.
    pub derivative: Option<&'static Derivative>,
    /// The function's name.
    pub function: &'static str,
    /// Whether it is meant to replace another kernel for the same operator and key.
    pub overrides: bool,
    /// Where it is written.
    pub place: Place,
}

/// Typed code, and the operator whose calling convention it has. Only the module of an operator makes these, so a
/// record that names another operator is found out.
#[derive(Clone, Copy)]
pub struct TypedCode {
    code: ErasedCode,
    operator: fn() -> &'static Operator,
}

impl TypedCode {
    /// Code for an operator. A function returns it, since no constant may hold a reference to a static that changes.
    ///
    /// # Safety
    /// * `code` was erased from the calling convention of the operator that `operator` returns.
    pub const unsafe fn new(code: ErasedCode, operator: fn() -> &'static Operator) -> Self {
        TypedCode { code, operator }
    }

    /// The operator that it was made for.
    pub(crate) fn operator(self) -> &'static Operator {
        (self.operator)()
    }

    /// The kernel, and the operator that it was made for.
    pub(crate) fn kernel(self) -> (Kernel, &'static Operator) {
        let operator = (self.operator)();
        // SAFETY: whoever made this says that the code is of this operator's calling convention.
        (unsafe { Kernel::of_code(self.code, operator) }, operator)
    }
}

/// A kernel in a record.
#[derive(Clone, Copy)]
pub enum RecordedKernel {
    /// Its typed code, checked against the schema when it was compiled.
    Typed(TypedCode),
    /// Typed code of a variant, for where nobody has a kernel of its own: what its operator gives is copied.
    Copying(TypedCode),
    /// Typed code for an operator and each of its variants, the operator's first: a kernel that takes its output.
    Variants(&'static [TypedCode]),
    /// One function for any signature.
    Boxed(BoxedFn),
    /// "Not here: go on with the next key."
    Fallthrough,
}

/// A kernel for all operators at one key.
pub struct FallbackRecord {
    /// The key.
    pub key: DispatchKey,
    /// The kernel: never a typed one.
    pub kernel: RecordedKernel,
    /// The function's name.
    pub function: &'static str,
    /// Where it is written.
    pub place: Place,
}

#[cfg(all(feature = "inventory", not(feature = "linkme")))]
mod linked {
    use super::Record;

    inventory::collect!(Record);

    pub(super) fn records() -> impl Iterator<Item = &'static Record> {
        inventory::iter::<Record>.into_iter()
    }

    /// Leaves a record in the program.
    #[doc(hidden)]
    #[macro_export]
    macro_rules! __submit {
        ($record:expr) => {
            $crate::__private::inventory::submit! { $record }
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

    /// Leaves no record: the program passes them to `register!`.
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

/// What the tensors' module asks: the backends among the records, in the order of their places.
impl Linked for Program {
    fn backends() -> Vec<&'static dyn Backend> {
        let backend = |record: &'static Record| match record {
            Record::Backend(record) => Some(*record),
            _ => None,
        };
        let mut found: Vec<_> = records().filter_map(backend).collect();
        found.sort_by_key(|record| record.place);
        found.into_iter().map(|record| record.backend).collect()
    }
}

/// Leaves a backend in the program: a static that implements [`Backend`](crate::backend::Backend).
///
/// Written once, beside the static, at the level of a module; from then on devices of its kind are there, by their
/// names too. There is an example at [`Backend`](crate::backend::Backend).
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

/// Names operators that a program calls by name alone, or passes on as handles: with selective linking (the feature
/// `selective`) they and their kernels are linked, and registered by this. Operators that it calls by their functions
/// need no naming. Without that feature all are there already, and this does nothing.
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

/// Registers libraries and blocks by hand, for programs whose linker does not: a `torch_library!` module, or a
/// `#[torch_impl]` module.
///
/// What is registered already, by the linker or by hand, is left as it is. A single function and a fallback have no
/// name to register them by: put the function in a block.
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
/// Registrations that contradict each other are found as for linked ones: [`init`](crate::init) reports them.
///
/// PyTorch: static initialisers, which run where the linker keeps them; there is no other way.
#[macro_export]
macro_rules! register {
    ($($($module:ident)::+),+ $(,)?) => {
        $crate::__private::register(&[$(&$($module)::+::TORCH_LIBRARY_RECORD),+])
    };
}
