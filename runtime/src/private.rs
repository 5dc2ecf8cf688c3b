//! Items for generated code only. Nothing here is stable between versions, except for one promise: no safe item here
//! calls code with arguments of types other than its own.

#[path = "private/arity.rs"]
pub mod arity;
#[path = "private/check.rs"]
pub mod check;
#[path = "private/constant.rs"]
pub mod constant;
#[path = "private/derivative.rs"]
pub mod derivative;
#[path = "private/kept.rs"]
pub mod kept;
#[path = "private/variant.rs"]
mod variant;

pub use std::any::TypeId;
pub use std::arch::global_asm;
pub use std::convert::Into;
pub use std::marker::{PhantomData, Send, Sync};
pub use std::ops::Fn;
pub use std::option::Option;
pub use std::primitive::{bool, f64, i64, str, u8, u64, usize};
pub use std::result::Result::{Err, Ok};
pub use std::string::String;
pub use std::vec::Vec;
pub use std::{assert, cfg, concat};

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
#[cfg(all(feature = "inventory", not(feature = "linkme")))]
pub use crate::collect::submitted::{Submitted, submitted_by_another_build};
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
pub use crate::text::are_same;
pub use crate::{
    DType, Device, DeviceType, DispatchKey, DispatchKeySet, EntryPoint, Generator, Layout, MemoryFormat,
    OperatorHandle, Output, Result, RuntimeKernel, Scalar, Tensor, Value,
};

pub use torch_library_macros::error_at;
pub use variant::{finish, joined};

/// Generates everything of an operator that is more than its types: the static, the callers, the shims of kernels.
///
/// The types in `arguments` and `output` are those of the schema; `Code` below is their calling convention, and every
/// function that is erased here is coerced to it first. `signature` is the same with `'static` for every lifetime.
/// `returned` has the index of an argument for each return that is one. `written` lists the other arguments that are
/// written to, with their indices.
///
/// Any crate can call this, and the unsafe code below trusts none of them:
/// * What it names has a path from `$crate` or is defined here, so nothing in the caller's module can take its place.
///   Methods that unsafe code relies on are called by such a path, too: a trait of the caller's could have others.
/// * No expression or type of the caller's is inside an `unsafe` block.
/// * Rustc compares the types with each other, and their lifetimes with `returned`, in functions that are never called.
#[doc(hidden)]
#[macro_export]
macro_rules! __operator {
    (
        name: $name:ident,
        symbol: $symbol:literal,
        lifetimes: [$($lifetime:lifetime)*],
        arguments: $count:literal [$([$argument:ident ($type:ty)])*],
        output: $output:ty,
        signature: ($($static_type:ty),*) -> $static_output:ty,
        returned: $returns:literal [$($result:ident { $($source:tt)? })*],
        written: [$($written:ident $at:tt)*],
        spec: {
            namespace: $namespace:expr,
            schema: $schema:literal,
            tags: [$($tag:literal),*],
            place: $place:expr,
            base: $base:expr,
            aliases: $aliases:literal,
        },
    ) => {
        type Code = for<$($lifetime),*> fn(
            &'static $crate::__private::Kernel,
            $crate::__private::DispatchKeySet,
            $($type),*
        ) -> $crate::__private::Result<$output>;
        type Signature = fn(
            &'static $crate::__private::Kernel,
            $crate::__private::DispatchKeySet,
            $($static_type),*
        ) -> $crate::__private::Result<$static_output>;

        $crate::__links! { $symbol }
        $crate::__entry_point! {}

        const __RETURNED: &[$crate::__private::Option<$crate::__private::usize>] =
            &[$($crate::__operator!(@index $($source)?)),*];

        #[allow(clippy::all, clippy::pedantic)]
        const _: () = {
            let is_right = $crate::__private::check::are_distinct(__RETURNED);
            $crate::__private::assert!(is_right, "an argument is returned twice");

            // A return has the lifetime of the argument that `__RETURNED` names, or none.
            fn returned<$($lifetime),*>($($argument: $type),*) -> $output {
                let _arguments = ($($argument,)*);
                ($($crate::__operator!(@of _arguments $($source)?)),*)
            }

            // A call accepts arguments of any lifetime: the adapters make it with those that are on a stack.
            fn lent<'v>() {
                $(let $argument = $crate::__private::check::lent::<'v, _>();)*
                let _ = call($($argument),*);
            }

            let _ = (returned, lent);
        };

        static __DECLARATION: $crate::__private::Declaration = {
            let spec = $crate::__private::OperatorSpec {
                namespace: $namespace,
                schema: SCHEMA,
                arity: $count,
                returns: $returns,
                dispatcher: $crate::__private::Option::None,
                tags: &[$($tag),*],
                place: $place,
                links: $crate::__links_here!(),
                base: $base,
                entry_point: $crate::__entry_point_here!(),
                has_alias_info: $aliases,
                returned: __RETURNED,
                convention: $crate::__private::Option::Some($crate::__private::TypeId::of::<Code>),
                adapters: <Signature as $crate::__private::Signature>::ADAPTERS,
            };
            let stub = <Signature as $crate::__private::Signature>::STUB;
            // SAFETY: the pointer is to the static below. The stub and the adapters have the type `Signature`, which is
            // `Code` up to lifetimes, as rustc checks in `code`. `__RETURNED` says which arguments the returns are, and
            // arguments may have any lifetime, as rustc checks in `returned` and `lent`.
            unsafe { $crate::__private::Declaration::new(&raw const OPERATOR, stub, spec) }
        };

        #[doc(hidden)]
        // SAFETY: this is the static that the declaration names.
        pub static OPERATOR: $crate::__private::Operator = unsafe { $crate::__private::Operator::new(&__DECLARATION) };

        #[doc(hidden)]
        pub const SCHEMA: &$crate::__private::str = $schema;

        /// Calls the operator with all of its arguments.
        #[inline]
        #[allow(clippy::too_many_arguments, clippy::missing_errors_doc)]
        pub fn call<$($lifetime),*>($($argument: $type),*) -> $crate::__private::Result<$output> {
            let keys = $crate::__private::DispatchKeySet::EMPTY
                $(.union($crate::__private::Argument::dispatch_keys(&$argument)))*;
            let (kernel, keys) = $crate::__private::Operator::select(&OPERATOR, keys);
            // SAFETY: this operator's tables hold only kernels with its own calling convention, `Code`.
            let code = unsafe { $crate::__private::Kernel::code::<Code>(kernel) };
            code(kernel, keys, $($argument),*)
        }

        /// Calls the kernel of the highest of these keys: from a kernel, to the next layer.
        #[inline]
        #[allow(clippy::too_many_arguments, clippy::missing_errors_doc)]
        pub fn redispatch<$($lifetime),*>(
            keys: $crate::__private::DispatchKeySet,
            $($argument: $type),*
        ) -> $crate::__private::Result<$output> {
            let (kernel, keys) = $crate::__private::Operator::select_again(&OPERATOR, keys);
            // SAFETY: this operator's tables hold only kernels with its own calling convention, `Code`.
            let code = unsafe { $crate::__private::Kernel::code::<Code>(kernel) };
            code(kernel, keys, $($argument),*)
        }

        /// A handle, for boxed calls and to inspect registrations.
        #[inline]
        pub fn handle() -> $crate::__private::OperatorHandle {
            $crate::__private::Operator::handle(&OPERATOR)
        }

        /// Makes a closure a kernel of this operator, to be registered at run time.
        pub fn kernel<F>(kernel: F) -> $crate::__private::RuntimeKernel
        where
            F: for<$($lifetime),*> $crate::__private::Fn($($type),*) -> $crate::__private::Result<$output>
                + $crate::__private::Send
                + $crate::__private::Sync
                + 'static,
        {
            let kernel = move |$($argument: $static_type),*| -> $crate::__private::Result<$static_output> {
                $crate::__checked! {
                    &OPERATOR, [$($argument)*] returned [$($result { $($source)? })*] written [$($written $at)*],
                    kernel($($argument),*)
                }
            };
            // SAFETY: `Signature` is this operator's calling convention. The bound on `F` is for all lifetimes of
            // `Code`, and the closure around it keeps none of its arguments.
            unsafe { $crate::__private::RuntimeKernel::typed::<Signature, _>(&OPERATOR, kernel) }
        }

        #[doc(hidden)]
        pub const fn code<K: Kernel>() -> $crate::__private::TypedCode {
            #[allow(clippy::too_many_arguments)]
            fn shim<$($lifetime,)* K: Kernel>(
                _: &'static $crate::__private::Kernel,
                _: $crate::__private::DispatchKeySet,
                $($argument: $type),*
            ) -> $crate::__private::Result<$output> {
                let result = $crate::__checked! {
                    &OPERATOR, [$($argument)*] returned [$($result { $($source)? })*] written [$($written $at)*],
                    K::$name($($argument),*)
                };
                $crate::__private::Operator::named(&OPERATOR, result)
            }
            // Rustc compares the two types, whichever code wrote them: they are equal up to lifetimes.
            let code: Signature = shim::<K> as Code;
            // SAFETY: `Code`, and so `Signature`, is the calling convention of the declared operator.
            unsafe { $crate::__private::TypedCode::new($crate::__private::ErasedCode::new(code), &__DECLARATION) }
        }

        #[doc(hidden)]
        pub const fn code_with_keys<K: KernelWithKeys>() -> $crate::__private::TypedCode {
            #[allow(clippy::too_many_arguments)]
            fn shim<$($lifetime,)* K: KernelWithKeys>(
                _: &'static $crate::__private::Kernel,
                keys: $crate::__private::DispatchKeySet,
                $($argument: $type),*
            ) -> $crate::__private::Result<$output> {
                let result = $crate::__kept! {
                    &OPERATOR, [$($argument)*] returned [$($result { $($source)? })*] written [$($written $at)*],
                    K::$name(keys, $($argument),*)
                };
                $crate::__private::Operator::named(&OPERATOR, result)
            }
            let code: Code = shim::<K>;
            // SAFETY: `Code` is the calling convention of the declared operator.
            unsafe { $crate::__private::TypedCode::new($crate::__private::ErasedCode::new(code), &__DECLARATION) }
        }
    };
    // For a return: the index of the argument that it is, and its value, from a tuple of the arguments.
    (@index) => {
        $crate::__private::Option::None
    };
    (@index $source:tt) => {
        $crate::__private::Option::Some($source)
    };
    (@of $arguments:ident) => {
        $crate::__private::check::owned()
    };
    (@of $arguments:ident $source:tt) => {
        $arguments.$source
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
        aliases: $aliases:literal,
    ) => {
        $crate::__links! { $symbol }
        $crate::__entry_point! {}

        static __DECLARATION: $crate::__private::Declaration = {
            let spec = $crate::__private::OperatorSpec {
                namespace: $namespace,
                schema: $schema,
                arity: $count,
                returns: $returns,
                dispatcher: $crate::__private::Option::None,
                tags: &[$($tag),*],
                place: $place,
                links: $crate::__links_here!(),
                base: $crate::__private::Option::None,
                entry_point: $crate::__entry_point_here!(),
                has_alias_info: $aliases,
                returned: &[],
                convention: $crate::__private::Option::None,
                adapters: $crate::__private::Adapters::NEVER_CALLED,
            };
            // SAFETY: the pointer is to the static below; without typed callers, any calling convention will do.
            unsafe {
                $crate::__private::Declaration::new(
                    &raw const OPERATOR,
                    $crate::__private::ErasedCode::never_called(),
                    spec,
                )
            }
        };

        #[doc(hidden)]
        // SAFETY: this is the static that the declaration names.
        pub static OPERATOR: $crate::__private::Operator = unsafe { $crate::__private::Operator::new(&__DECLARATION) };

        /// A handle, for boxed calls and to inspect registrations.
        #[inline]
        pub fn handle() -> $crate::__private::OperatorHandle {
            $crate::__private::Operator::handle(&OPERATOR)
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
