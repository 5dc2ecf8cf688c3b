//! What generated code names, and nobody else. No promise holds here between versions.

pub use std::marker::PhantomData;
pub use std::option::Option;
pub use std::primitive::{bool, f64, i64, str};
pub use std::result::Result as StdResult;
pub use std::string::String;
pub use std::vec::Vec;

#[cfg(not(feature = "linkme"))]
pub use inventory;
#[cfg(feature = "linkme")]
pub use linkme;

pub use crate::__operator as operator;
pub use crate::__submit as submit;
pub use crate::argument::Argument;
pub use crate::autograd::{below_autograd, needs_derivative, no_derivative};
#[cfg(feature = "linkme")]
pub use crate::collect::TORCH_LIBRARY_RECORDS;
pub use crate::collect::{FallbackRecord, KernelRecord, LibraryRecord, Record, RecordedKernel};
pub use crate::element::Complex64;
pub use crate::kernel::{BoxedCode, ErasedCode, Kernel};
pub use crate::operator::{Operator, OperatorSpec, Place};
pub use crate::value::{FromReturn, FromValue, IntoValue};
pub use crate::{
    DType, Device, DeviceType, DispatchKey, DispatchKeySet, Error, Generator, Layout, MemoryFormat,
    OperatorHandle, Result, RuntimeKernel, Scalar, Stack, Tensor, Value,
};
pub use torch_library_macros::__torch_library as torch_library;

use crate::ErrorKind;

/// A return of a boxed call that is one of the arguments, which the typed caller still has.
pub struct Skipped;

impl FromReturn for Skipped {
    const TYPE: &'static str = "Tensor";

    #[inline]
    fn take(_: &mut Value<'_>) -> Option<Self> {
        Some(Skipped)
    }
}

/// A return of a typed kernel, on its way to the stack.
pub enum Returned<'v> {
    /// A value of its own.
    Value(Value<'v>),
    /// The argument with this position.
    Argument(usize),
}

/// The error for a boxed call with too few arguments.
#[cold]
pub fn too_few(operator: &'static Operator, stack: &Stack<'_>) -> Error {
    crate::operator::too_few(operator, stack.len())
}

/// An argument of a boxed call as its Rust type, or the type's name where the value has another one.
///
/// # Errors
/// As said; the caller makes the message, once the argument is not borrowed any more.
#[inline]
pub fn argument<'v, T: FromValue<'v>>(value: &'v mut Value<'_>) -> StdResult<T, &'static str> {
    T::from_value(value).ok_or(T::TYPE)
}

/// The error for an argument of a boxed call that has another type than wanted.
#[cold]
pub fn wrong_type(operator: &'static Operator, index: usize, want: &str, stack: &Stack<'_>) -> Error {
    let spec = operator.spec();
    let found = stack.last(usize::from(spec.arity)).get(index).map_or("missing", Value::type_name);
    Error::new(
        ErrorKind::Type,
        format!(
            "argument {} of {operator} must be {want}, but is {found}\n  schema: {}",
            index + 1,
            spec.schema
        ),
    )
}

/// Puts the returns of a kernel where its arguments were.
#[inline]
pub fn replace_arguments<'v, const RETURNS: usize>(
    stack: &mut Stack<'v>,
    arguments: usize,
    returned: [Returned<'v>; RETURNS],
) {
    let returned = returned.map(|returned| match returned {
        Returned::Value(value) => value,
        Returned::Argument(index) => std::mem::replace(&mut stack.last_mut(arguments)[index], Value::None),
    });
    stack.drop_last(arguments);
    returned.into_iter().for_each(|value| stack.push(value));
}

/// The returns that a boxed kernel left, as an array.
///
/// # Errors
/// There are more or fewer than the schema says.
#[inline]
pub fn returns<'s, 'v, const N: usize>(
    operator: &'static Operator,
    stack: &'s mut Stack<'v>,
) -> Result<&'s mut [Value<'v>; N]> {
    let found = stack.len();
    if found != N {
        return Err(wrong_returns(operator, found));
    }
    stack.last_array_mut::<N>().ok_or_else(|| wrong_returns(operator, found))
}

#[cold]
fn wrong_returns(operator: &'static Operator, found: usize) -> Error {
    let spec = operator.spec();
    Error::new(
        ErrorKind::Type,
        format!(
            "a boxed kernel of {operator} left {found} values on the stack instead of {}\n  schema: {}",
            spec.returns, spec.schema
        ),
    )
}

/// One return of a boxed call as its Rust type.
///
/// # Errors
/// The value has another type.
#[inline]
pub fn returned<T: FromReturn>(operator: &'static Operator, value: &mut Value<'_>) -> Result<T> {
    T::take(value).ok_or_else(|| wrong_return(operator, T::TYPE, value.type_name()))
}

#[cold]
fn wrong_return(operator: &'static Operator, want: &str, found: &str) -> Error {
    let spec = operator.spec();
    Error::new(
        ErrorKind::Type,
        format!(
            "a boxed kernel of {operator} must return {want}, but returned {found}\n  schema: {}",
            spec.schema
        ),
    )
}

/// The boxed face of the cold stub. Boxed calls go by the resolved table, so nobody comes here.
///
/// # Errors
/// Always.
#[cold]
pub fn stub_boxed(
    _: &Kernel,
    operator: &'static Operator,
    _: DispatchKeySet,
    _: &mut Stack<'_>,
) -> Result<()> {
    Err(Error::new(ErrorKind::Internal, format!("the stub of {operator} was called through the stack")))
}

/// Everything of an operator that is more than its types: the static, the callers, the adapters.
///
/// The types in `arguments` and `output` are those of the schema; `$code` below is their calling convention, and every
/// function that is erased here is coerced to it first.
#[doc(hidden)]
#[macro_export]
macro_rules! __operator {
    (
        name: $name:ident,
        lifetimes: [$($lifetime:lifetime)*],
        arguments: $count:literal [$([$index:literal $argument:ident ($type:ty) ($lent:expr)])*],
        output: $output:ty,
        returns: $returned:literal [$([$return:ident $return_type:ty])*] ($result:expr) ($unpacked:pat) [$($packed:tt)*],
        spec: {
            namespace: $namespace:expr,
            name: $operator:literal,
            overload: $overload:literal,
            schema: $schema:literal,
            tags: [$($tag:literal),*],
            place: $place:expr,
        },
    ) => {
        type Code = for<$($lifetime),*> fn(&__torch::Kernel, __torch::DispatchKeySet, $($type),*) -> __torch::Result<$output>;

        #[doc(hidden)]
        pub static OPERATOR: __torch::Operator = {
            const SPEC: __torch::OperatorSpec = __torch::OperatorSpec {
                namespace: $namespace,
                name: $operator,
                overload: $overload,
                schema: $schema,
                arity: $count,
                returns: $returned,
                dispatcher: __torch::Option::None,
                tags: &[$($tag),*],
                place: $place,
                // SAFETY: both are of type `Code`, this operator's calling convention.
                boxing: unsafe { __torch::ErasedCode::new(boxing as Code) },
                // SAFETY: as above.
                autograd_default: unsafe { __torch::ErasedCode::new(autograd_default as Code) },
            };
            // SAFETY: a `Code`, as above.
            let stub = __torch::Kernel::new(unsafe { __torch::ErasedCode::new(stub as Code) }, __torch::stub_boxed);
            // SAFETY: the pointer is to this very static; all three pieces of code are of type `Code`.
            unsafe { __torch::Operator::new(&raw const OPERATOR, stub, SPEC) }
        };

        /// Calls the operator with all of its arguments.
        #[inline]
        #[allow(clippy::too_many_arguments, clippy::missing_errors_doc)]
        pub fn call<$($lifetime),*>($($argument: $type),*) -> __torch::Result<$output> {
            let keys = __torch::DispatchKeySet::EMPTY $(.union(__torch::Argument::dispatch_keys(&$argument)))*;
            let (kernel, keys) = OPERATOR.select(keys);
            // SAFETY: this operator's tables hold kernels of its own calling convention, `Code`, alone.
            let code = unsafe { kernel.code::<Code>() };
            code(kernel, keys, $($argument),*)
        }

        /// Calls the kernel of the highest of these keys: from a kernel, on to the next layer.
        #[inline]
        #[allow(clippy::too_many_arguments, clippy::missing_errors_doc)]
        pub fn redispatch<$($lifetime),*>(keys: __torch::DispatchKeySet, $($argument: $type),*) -> __torch::Result<$output> {
            let __torch::Option::Some((kernel, keys)) = OPERATOR.select_again(keys) else {
                return redispatch_cold(keys, $($argument),*);
            };
            // SAFETY: as in `call`.
            let code = unsafe { kernel.code::<Code>() };
            code(kernel, keys, $($argument),*)
        }

        /// A handle, for boxed calls and for what is registered.
        #[allow(clippy::missing_errors_doc)]
        pub fn handle() -> __torch::OperatorHandle {
            OPERATOR.handle()
        }

        /// A closure as a kernel of this operator, to be registered at run time.
        pub fn kernel<F>(kernel: F) -> __torch::RuntimeKernel
        where
            F: for<$($lifetime),*> Fn($($type),*) -> __torch::Result<$output> + Send + Sync + 'static,
        {
            // The bound once more, where it cannot see the lifetimes of `shim`.
            trait Closure: for<$($lifetime),*> Fn($($type),*) -> __torch::Result<$output> + Send + Sync + 'static {}
            impl<F> Closure for F where
                F: for<$($lifetime),*> Fn($($type),*) -> __torch::Result<$output> + Send + Sync + 'static
            {
            }
            #[allow(clippy::too_many_arguments)]
            fn shim<$($lifetime,)* F: Closure>(
                kernel: &__torch::Kernel,
                _: __torch::DispatchKeySet,
                $($argument: $type),*
            ) -> __torch::Result<$output> {
                // SAFETY: the kernel below is made with an `F`.
                let closure = unsafe { kernel.state::<F>() };
                closure($($argument),*)
            }
            // SAFETY: `shim` is a `Code`.
            let code = unsafe { __torch::ErasedCode::new(shim::<F> as Code) };
            __torch::RuntimeKernel::typed(&OPERATOR, __torch::Kernel::with_state(code, unbox, __torch::leak(kernel)))
        }

        #[doc(hidden)]
        pub const fn typed<K: Kernel>() -> __torch::Kernel {
            #[allow(clippy::too_many_arguments)]
            fn shim<$($lifetime,)* K: Kernel>(
                _: &__torch::Kernel,
                _: __torch::DispatchKeySet,
                $($argument: $type),*
            ) -> __torch::Result<$output> {
                K::$name($($argument),*)
            }
            // SAFETY: `shim` is a `Code`.
            __torch::Kernel::new(unsafe { __torch::ErasedCode::new(shim::<K> as Code) }, unbox)
        }

        #[doc(hidden)]
        pub const fn typed_with_keys<K: KernelWithKeys>() -> __torch::Kernel {
            #[allow(clippy::too_many_arguments)]
            fn shim<$($lifetime,)* K: KernelWithKeys>(
                _: &__torch::Kernel,
                keys: __torch::DispatchKeySet,
                $($argument: $type),*
            ) -> __torch::Result<$output> {
                K::$name(keys, $($argument),*)
            }
            // SAFETY: `shim` is a `Code`.
            __torch::Kernel::new(unsafe { __torch::ErasedCode::new(shim::<K> as Code) }, unbox)
        }

        #[cold]
        #[inline(never)]
        #[allow(clippy::too_many_arguments)]
        fn stub<$($lifetime),*>(_: &__torch::Kernel, _: __torch::DispatchKeySet, $($argument: $type),*) -> __torch::Result<$output> {
            let entered = OPERATOR.enter_call(&[$(__torch::Argument::dispatch_keys(&$argument)),*])?;
            // SAFETY: as in `call`.
            let code = unsafe { entered.kernel.code::<Code>() };
            code(entered.kernel, entered.keys, $($argument),*)
        }

        #[cold]
        #[inline(never)]
        #[allow(clippy::too_many_arguments)]
        fn redispatch_cold<$($lifetime),*>(keys: __torch::DispatchKeySet, $($argument: $type),*) -> __torch::Result<$output> {
            let entered = OPERATOR.enter_redispatch(keys, &[$(__torch::Argument::dispatch_keys(&$argument)),*])?;
            // SAFETY: as in `call`.
            let code = unsafe { entered.kernel.code::<Code>() };
            code(entered.kernel, entered.keys, $($argument),*)
        }

        /// From a typed call to a boxed kernel.
        #[allow(unused_mut, clippy::too_many_arguments, clippy::needless_option_as_deref)]
        fn boxing<$($lifetime),*>(kernel: &__torch::Kernel, keys: __torch::DispatchKeySet, $(mut $argument: $type),*) -> __torch::Result<$output> {
            let mut stack = __torch::Stack::new();
            $(stack.push(__torch::IntoValue::into_value($lent));)*
            kernel.call_boxed(&OPERATOR, keys, &mut stack)?;
            let [$($return),*] = __torch::returns::<$returned>(&OPERATOR, &mut stack)?;
            $(let $return = __torch::returned::<$return_type>(&OPERATOR, $return)?;)*
            // The arguments that were lent to the stack are the caller's again.
            drop(stack);
            __torch::Result::Ok($result)
        }

        /// From a boxed call to a typed kernel.
        fn unbox(
            kernel: &__torch::Kernel,
            _: &'static __torch::Operator,
            keys: __torch::DispatchKeySet,
            stack: &mut __torch::Stack<'_>,
        ) -> __torch::Result<()> {
            let __torch::Option::Some([$($argument),*]) = stack.last_array_mut::<$count>() else {
                return __torch::Result::Err(__torch::too_few(&OPERATOR, stack));
            };
            // SAFETY: as in `call`.
            let code = unsafe { kernel.code::<Code>() };
            let $unpacked = code(
                kernel,
                keys,
                $(match __torch::argument($argument) {
                    __torch::StdResult::Ok(value) => value,
                    __torch::StdResult::Err(want) => {
                        return __torch::Result::Err(__torch::wrong_type(&OPERATOR, $index, want, stack));
                    }
                }),*
            )?;
            $crate::__leave!(stack, $count, $($packed)*);
            __torch::Result::Ok(())
        }

        /// At an autograd key that has no kernel: on to the next layer, unless a gradient would be lost.
        #[allow(clippy::too_many_arguments)]
        fn autograd_default<$($lifetime),*>(
            _: &__torch::Kernel,
            keys: __torch::DispatchKeySet,
            $($argument: $type),*
        ) -> __torch::Result<$output> {
            if __torch::needs_derivative(false $(|| __torch::Argument::requires_grad(&$argument))*) {
                return __torch::Result::Err(__torch::no_derivative(&OPERATOR));
            }
            redispatch(__torch::below_autograd(keys), $($argument),*)
        }
    };
}

/// Leaves returns on the stack: `(value r0)` is one of its own, `(argument 1)` the argument with this position.
#[doc(hidden)]
#[macro_export]
macro_rules! __leave {
    ($stack:ident, $count:literal, $((value $value:expr))*) => {
        $stack.drop_last($count);
        $($stack.push(__torch::IntoValue::into_value($value));)*
    };
    ($stack:ident, $count:literal, $(($kind:ident $what:expr))*) => {
        __torch::replace_arguments($stack, $count, [$($crate::__leave!(@$kind $what)),*]);
    };
    (@value $value:expr) => { __torch::Returned::Value(__torch::IntoValue::into_value($value)) };
    (@argument $index:expr) => { __torch::Returned::Argument($index) };
}

/// Defaults that a schema spells as a word and carries as a number.
pub mod constant {
    use crate::dtype::DType;
    use crate::layout::{Layout, MemoryFormat};

    /// `float`, `complex`, `long`.
    pub const fn dtype(number: i64) -> DType {
        match number {
            4 => DType::Int64,
            6 => DType::Float32,
            9 => DType::Complex64,
            _ => panic!("the default of a ScalarType is `float`, `complex` or `long`"),
        }
    }

    /// `strided`.
    pub const fn layout(number: i64) -> Layout {
        Layout::ALL[number as usize]
    }

    /// `contiguous_format`.
    pub const fn memory_format(number: i64) -> MemoryFormat {
        MemoryFormat::ALL[number as usize]
    }
}

/// A closure that lives as long as the process.
pub fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}
