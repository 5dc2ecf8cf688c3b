//! Items for generated code only. Nothing here is stable between versions, except for one promise: no safe item here
//! calls code with arguments of types other than its own.
#![expect(unsafe_code, reason = "generated code answers for lifetimes, which no trait can compare")]

#[path = "private/arity.rs"]
pub mod arity;
#[path = "private/constant.rs"]
pub mod constant;
#[path = "private/derivative.rs"]
pub mod derivative;
#[path = "private/variant.rs"]
mod variant;

pub use std::convert::Into;
pub use std::marker::{PhantomData, Send, Sync};
pub use std::ops::Fn;
pub use std::option::Option;
pub use std::primitive::{bool, f64, i64, str};
pub use std::string::String;
pub use std::vec::Vec;

#[cfg(feature = "inventory")]
pub use inventory;
#[cfg(feature = "linkme")]
pub use linkme;

pub use crate::__entry_point as entry_point;
pub use crate::__entry_point_here as entry_point_here;
pub use crate::__links as links;
pub use crate::__links_here as links_here;
pub use crate::__of_namespace as of_namespace;
pub use crate::__of_operator as of_operator;
pub use crate::__operator as operator;
pub use crate::__operator_name as operator_name;
pub use crate::__serving as serving;
pub use crate::__serving_none as serving_none;
pub use crate::__submit as submit;
pub use crate::__submit_kernels as submit_kernels;
pub use crate::__submit_library as submit_library;
pub use crate::__untyped_operator as untyped_operator;
pub use crate::argument::{Argument, IntoOptional};
#[cfg(feature = "linkme")]
pub use crate::collect::TORCH_LIBRARY_RECORDS;
pub use crate::collect::linking::*;
pub use crate::collect::{
    BackendRecord, FallbackRecord, KernelRecord, LibraryRecord, Record, RecordedKernel, TypedCode,
};
pub use crate::element::Complex64;
pub use crate::native::{NativeFunction, derived};
pub use crate::operator::kernel::{BoxedFn, ErasedCode, Kernel};
pub use crate::operator::{
    Adapters, Declaration, Derivative, Formula, Operator, OperatorSpec, Place, Positions, SourceModule,
};
pub use crate::registry::{link, register};
pub use crate::signature::{ClosureSignature, Signature};
pub use crate::{
    DType, Device, DeviceType, DispatchKey, DispatchKeySet, EntryPoint, Generator, Layout, MemoryFormat,
    OperatorHandle, Output, Result, RuntimeKernel, Scalar, Tensor, Value,
};

pub use torch_library_macros::error_at;
pub use variant::{are_same, finish, joined};

/// The error for a kernel that put another tensor into the place of one that it was lent.
#[cold]
pub fn replaced_handle(operator: &str) -> crate::Error {
    crate::Error::new(
        crate::ErrorKind::Kernel,
        format!(
            "a kernel of {operator} replaced the handle of a tensor that it should write to (as `*this = other` does), so \
             other handles of the tensor do not see its result\n  \
             help: write to the elements, as `copy_` does, or give the tensor other memory by `set_storage`"
        ),
    )
}

/// A promise by the caller of `__operator!` about what rustc cannot compare. The macros give it; a crate that forbids
/// unsafe code cannot give it by hand.
pub struct Word(());

impl Word {
    /// Gives the promise.
    ///
    /// # Safety
    /// * Each lifetime in the operator's `output` is that of the argument which `returned` names for this return.
    /// * A return for which `returned` names no argument has no lifetime.
    /// * `returned` names no argument twice.
    pub const unsafe fn give() -> Self {
        Word(())
    }
}

/// Generates everything of an operator that is more than its types: the static, the callers, the shims of kernels.
///
/// The types in `arguments` and `output` are those of the schema; `Code` below is their calling convention, and every
/// function that is erased here is coerced to it first. `signature` is the same with `'static` for every lifetime.
///
/// The first argument is the caller's [`Word`].
#[doc(hidden)]
#[macro_export]
macro_rules! __operator {
    (
        word: $word:expr,
        name: $name:ident,
        symbol: $symbol:literal,
        lifetimes: [$($lifetime:lifetime)*],
        arguments: $count:literal [$([$argument:ident ($type:ty)])*],
        output: $output:ty,
        signature: ($($static_type:ty),*) -> $static_output:ty,
        returned: $returns:literal [$($returned:expr),*],
        spec: {
            namespace: $namespace:expr,
            schema: $schema:literal,
            tags: [$($tag:literal),*],
            place: $place:expr,
            base: $base:expr,
        },
    ) => {
        type Code = for<$($lifetime),*> fn(
            &'static __torch::Kernel,
            __torch::DispatchKeySet,
            $($type),*
        ) -> __torch::Result<$output>;
        type Signature = fn(
            &'static __torch::Kernel,
            __torch::DispatchKeySet,
            $($static_type),*
        ) -> __torch::Result<$static_output>;

        __torch::links! { $symbol }
        __torch::entry_point! {}

        static DECLARATION: __torch::Declaration = {
            let _: __torch::Word = $word;
            let spec = __torch::OperatorSpec {
                namespace: $namespace,
                schema: SCHEMA,
                arity: $count,
                returns: $returns,
                dispatcher: __torch::Option::None,
                tags: &[$($tag),*],
                place: $place,
                links: __torch::links_here!(),
                base: $base,
                entry_point: __torch::entry_point_here!(),
                returned: &[$($returned),*],
                adapters: <Signature as __torch::Signature>::ADAPTERS,
            };
            // SAFETY: the pointer is to the static below. The stub and the adapters have the type `Signature`, which is
            // `Code` up to lifetimes, as rustc checks in `code`; the caller of this macro promises that the lifetimes
            // and `returned` are right.
            unsafe { __torch::Declaration::new(&raw const OPERATOR, <Signature as __torch::Signature>::STUB, spec) }
        };

        #[doc(hidden)]
        // SAFETY: this is the static that the declaration names.
        pub static OPERATOR: __torch::Operator = unsafe { __torch::Operator::new(&DECLARATION) };

        #[doc(hidden)]
        pub const SCHEMA: &__torch::str = $schema;

        /// Calls the operator with all of its arguments.
        #[inline]
        #[allow(clippy::too_many_arguments, clippy::missing_errors_doc)]
        pub fn call<$($lifetime),*>($($argument: $type),*) -> __torch::Result<$output> {
            let keys = __torch::DispatchKeySet::EMPTY $(.union(__torch::Argument::dispatch_keys(&$argument)))*;
            let (kernel, keys) = OPERATOR.select(keys);
            // SAFETY: this operator's tables hold only kernels with its own calling convention, `Code`.
            let code = unsafe { kernel.code::<Code>() };
            code(kernel, keys, $($argument),*)
        }

        /// Calls the kernel of the highest of these keys: from a kernel, to the next layer.
        #[inline]
        #[allow(clippy::too_many_arguments, clippy::missing_errors_doc)]
        pub fn redispatch<$($lifetime),*>(
            keys: __torch::DispatchKeySet,
            $($argument: $type),*
        ) -> __torch::Result<$output> {
            let (kernel, keys) = OPERATOR.select_again(keys);
            // SAFETY: this operator's tables hold only kernels with its own calling convention, `Code`.
            let code = unsafe { kernel.code::<Code>() };
            code(kernel, keys, $($argument),*)
        }

        /// A handle, for boxed calls and to inspect registrations.
        #[inline]
        pub fn handle() -> __torch::OperatorHandle {
            OPERATOR.handle()
        }

        /// Makes a closure a kernel of this operator, to be registered at run time.
        pub fn kernel<F>(kernel: F) -> __torch::RuntimeKernel
        where
            F: for<$($lifetime),*> __torch::Fn($($type),*) -> __torch::Result<$output>
                + __torch::Send
                + __torch::Sync
                + 'static,
        {
            // SAFETY: `Signature` is this operator's calling convention, and the bound on `F` is for all lifetimes of
            // `Code`.
            unsafe { __torch::RuntimeKernel::typed::<Signature, F>(&OPERATOR, kernel) }
        }

        #[doc(hidden)]
        pub const fn code<K: Kernel>() -> __torch::TypedCode {
            #[allow(clippy::too_many_arguments)]
            fn shim<$($lifetime,)* K: Kernel>(
                _: &'static __torch::Kernel,
                _: __torch::DispatchKeySet,
                $($argument: $type),*
            ) -> __torch::Result<$output> {
                OPERATOR.named(K::$name($($argument),*))
            }
            // Rustc compares the two types, whichever code wrote them: they are equal up to lifetimes.
            let code: Signature = shim::<K> as Code;
            // SAFETY: `Code`, and so `Signature`, is the calling convention of the declared operator.
            unsafe { __torch::TypedCode::new(__torch::ErasedCode::new(code), &DECLARATION) }
        }

        #[doc(hidden)]
        pub const fn code_with_keys<K: KernelWithKeys>() -> __torch::TypedCode {
            #[allow(clippy::too_many_arguments)]
            fn shim<$($lifetime,)* K: KernelWithKeys>(
                _: &'static __torch::Kernel,
                keys: __torch::DispatchKeySet,
                $($argument: $type),*
            ) -> __torch::Result<$output> {
                OPERATOR.named(K::$name(keys, $($argument),*))
            }
            // SAFETY: `Code` is the calling convention of the declared operator.
            unsafe { __torch::TypedCode::new(__torch::ErasedCode::new(shim::<K> as Code), &DECLARATION) }
        }
    };
}

/// Generates the static and the handle of an operator whose schema has types without a Rust counterpart.
#[doc(hidden)]
#[macro_export]
macro_rules! __untyped_operator {
    (
        symbol: $symbol:literal,
        namespace: $namespace:expr,
        schema: $schema:literal,
        arguments: $count:literal,
        returns: $returns:literal,
        tags: [$($tag:literal),*],
        place: $place:expr,
    ) => {
        __torch::links! { $symbol }
        __torch::entry_point! {}

        static DECLARATION: __torch::Declaration = {
            let spec = __torch::OperatorSpec {
                namespace: $namespace,
                schema: $schema,
                arity: $count,
                returns: $returns,
                dispatcher: __torch::Option::None,
                tags: &[$($tag),*],
                place: $place,
                links: __torch::links_here!(),
                base: __torch::Option::None,
                entry_point: __torch::entry_point_here!(),
                returned: &[],
                adapters: __torch::Adapters::NEVER_CALLED,
            };
            // SAFETY: the pointer is to the static below; without typed callers, any calling convention will do.
            unsafe { __torch::Declaration::new(&raw const OPERATOR, __torch::ErasedCode::never_called(), spec) }
        };

        #[doc(hidden)]
        // SAFETY: this is the static that the declaration names.
        pub static OPERATOR: __torch::Operator = unsafe { __torch::Operator::new(&DECLARATION) };

        /// A handle, for boxed calls and to inspect registrations.
        #[inline]
        pub fn handle() -> __torch::OperatorHandle {
            OPERATOR.handle()
        }
    };
}

/// In an operator's module, under the same name as [`__of_namespace`] in a namespace: takes the first of two.
#[doc(hidden)]
#[macro_export]
macro_rules! __of_operator {
    ({ $($operator:tt)* } { $($in_namespace:tt)* }) => { $($operator)* };
}

/// In the module of a namespace: takes the second of two.
#[doc(hidden)]
#[macro_export]
macro_rules! __of_namespace {
    ({ $($operator:tt)* } { $($in_namespace:tt)* }) => { $($in_namespace)* };
}
