//! Checks that a kernel has as many parameters as its operator has arguments, before rustc compares the signatures.
//!
//! With another number, rustc would report that "method `f` has 1 parameter but the declaration in trait
//! `ops::f::Kernel::f` has 2", a method and a trait that the user did not write. Instead, such a function is put into
//! an array with the operator's caller, and rustc reports both types.

/// For each number of arguments, a macro that an operator's module imports under the name `takes`: for a function with
/// that number of parameters it expands to the kernel, and for any other to a comparison with the caller.
macro_rules! takes {
    ($d:tt $($name:ident $count:tt [$($argument:tt)*])*) => {$(
        #[doc(hidden)]
        #[macro_export]
        macro_rules! $name {
            ($count [$d($d kernel:tt)*] $d($d rest:tt)*) => { $d($d kernel)* };
            (
                $d other:tt [$d($d kernel:tt)*]
                $d caller:path as $d expected:ident [$d($d keys:tt)*] $d comparison:expr
            ) => {{
                let $d expected: fn($d($d keys,)* $($argument),*) -> _ = $d caller;
                $d comparison
            }};
        }
        pub use $name;
    )*};
}

/// Replaces these macros where a name stands for several operators: what is there instead of an operator is refused.
#[doc(hidden)]
#[macro_export]
macro_rules! __takes_of_overloads {
    ($count:tt [$($kernel:tt)*] $caller:path as $expected:ident [$($keys:tt)*] $comparison:expr) => {
        $crate::__private::RecordedKernel::Fallthrough
    };
}
pub use crate::TheCommonNameOfOverloads;
pub use __takes_of_overloads;

/// Replaces these macros in the module of an operator that is only called boxed: refuses a typed kernel, at its name.
#[doc(hidden)]
#[macro_export]
macro_rules! __takes_of_untyped {
    ($count:tt [$($kernel:tt)*] $caller:path as $expected:ident [$($keys:tt)*] $comparison:tt) => {{
        $crate::__private::error_at!([$comparison]
            "this operator is declared for boxed calls only: write a boxed kernel, `#[torch_impl(…, boxed)]`");
        $crate::__private::RecordedKernel::Fallthrough
    }};
}
pub use __takes_of_untyped;

takes! { $
    __takes_0 0 []
    __takes_1 1 [_]
    __takes_2 2 [_ _]
    __takes_3 3 [_ _ _]
    __takes_4 4 [_ _ _ _]
    __takes_5 5 [_ _ _ _ _]
    __takes_6 6 [_ _ _ _ _ _]
    __takes_7 7 [_ _ _ _ _ _ _]
    __takes_8 8 [_ _ _ _ _ _ _ _]
    __takes_9 9 [_ _ _ _ _ _ _ _ _]
    __takes_10 10 [_ _ _ _ _ _ _ _ _ _]
    __takes_11 11 [_ _ _ _ _ _ _ _ _ _ _]
    __takes_12 12 [_ _ _ _ _ _ _ _ _ _ _ _]
    __takes_13 13 [_ _ _ _ _ _ _ _ _ _ _ _ _]
    __takes_14 14 [_ _ _ _ _ _ _ _ _ _ _ _ _ _]
    __takes_15 15 [_ _ _ _ _ _ _ _ _ _ _ _ _ _ _]
    __takes_16 16 [_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _]
    __takes_17 17 [_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _]
    __takes_18 18 [_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _]
    __takes_19 19 [_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _]
    __takes_20 20 [_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _]
    __takes_21 21 [_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _]
    __takes_22 22 [_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _]
    __takes_23 23 [_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _]
    __takes_24 24 [_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _]
    __takes_25 25 [_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _]
    __takes_26 26 [_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _]
    __takes_27 27 [_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _]
    __takes_28 28 [_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _]
    __takes_29 29 [_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _]
    __takes_30 30 [_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _]
    __takes_31 31 [_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _]
    __takes_32 32 [_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _]
}
