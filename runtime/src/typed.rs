//! Typed calls of an operator that was found at run time: a handle with the types of the call.
//!
//! A linked operator is called with its own calling convention. One that was defined at run time has none, so its
//! handle holds a kernel that boxes the call.
#![expect(unsafe_code, reason = "the handle restores the type of kernels, which it has compared before")]
#![expect(clippy::too_many_arguments, reason = "as many as an operator has")]

use std::any::TypeId;
use std::fmt;

use torch_library_schema::Schema;

use crate::argument::Argument;
use crate::error::{Error, ErrorKind, Result};
use crate::infer::{Inferred, InferredArgument, InferredReturns, infer_schema};
use crate::key::DispatchKeySet;
use crate::operator::kernel::{BoxedKernel, Kernel};
use crate::operator::{Operator, OperatorHandle, REDISPATCHED, returned_arguments};
use crate::registry;
use crate::signature::Signature;
use crate::value::Stack;

/// An operator that is called with the types of `T`, a function of its arguments: `fn(&'static Tensor, f64) -> Tensor`.
/// The lifetimes in it stand for any lifetimes.
///
/// It is made by [`OperatorHandle::typed`] and is freely copyable. Like every handle it never dangles: once its
/// operator is removed, its calls return errors.
///
/// PyTorch: `TypedOperatorHandle`.
#[derive(Clone, Copy)]
pub struct TypedOperatorHandle<T> {
    operator: &'static Operator,
    /// The kernel that calls run if there is no table of typed kernels.
    boxing: Option<&'static Kernel>,
    types: std::marker::PhantomData<T>,
}

/// The types of a call, as [`Inferred`] infers them: `fn(arguments…) -> returns`.
pub trait CallTypes {
    /// The types with `'static` for every lifetime.
    type Static;
    /// The calling convention of operators with these types.
    type Convention: Signature + 'static;
}

impl OperatorHandle {
    /// The operator, for calls with the types of a function. The types are compared once, here.
    ///
    /// ```
    /// use torch_library::prelude::*;
    /// use torch_library::Dispatcher;
    ///
    /// torch_library! {
    ///     pub mod typed_docs {
    ///         /// Counts the elements above a limit.
    ///         above(Tensor self, float limit) -> int;
    ///     }
    /// }
    ///
    /// #[torch_impl(typed_docs, CPU)]
    /// fn above(this: &Tensor, limit: f64) -> Result<i64> {
    ///     Ok(this.to_vec::<f64>()?.iter().filter(|value| **value > limit).count() as i64)
    /// }
    ///
    /// # fn main() -> Result<()> {
    /// let above = Dispatcher::global().find("typed_docs::above")?;
    /// let above = above.typed::<fn(&Tensor, f64) -> Result<i64>, _>()?;
    /// assert_eq!(above.call(&Tensor::from([1.0, 2.0, 3.0]), 1.5)?, 2);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// The types are those in the table of [`torch_library!`](crate::torch_library), for up to twelve arguments; the
    /// compiler infers `_`. A call of a linked operator takes as long as one through its module. A call of an operator
    /// that was [defined](crate::Library::define) at run time, or that has a type without a counterpart in Rust, is
    /// boxed.
    ///
    /// # Errors
    /// The operator has other types, or was removed.
    ///
    /// PyTorch: `OperatorHandle::typed`, which accepts any types as long as the operator has no kernel.
    pub fn typed<F, T>(&self) -> Result<TypedOperatorHandle<T::Static>>
    where
        F: Inferred<T>,
        T: CallTypes,
    {
        let operator = self.operator();
        let (schema, asked) = (self.schema()?, infer_schema::<F, T>(&self.to_string())?);
        let (fits, boxing) = match operator.spec().adapters.convention {
            Some(convention) => (convention() == TypeId::of::<T::Convention>(), None),
            None if have_same_types(schema, &asked) => {
                let boxed = BoxedKernel::new(call_by_keys);
                // SAFETY: only the handle calls the kernel, with the types of `T`.
                let kernel = unsafe { boxed.with_typed_code(T::Convention::ADAPTERS.boxing, operator) };
                (true, Some(registry::keep_kernel(operator, kernel)?))
            }
            None => (false, None),
        };
        if !fits {
            return Err(Error::new(
                ErrorKind::Type,
                format!("{self} cannot be called with these types\n  schema: {schema}\n  requested: {asked}"),
            ));
        }
        Ok(TypedOperatorHandle { operator, boxing, types: std::marker::PhantomData })
    }
}

/// Whether calls with one schema are valid calls with the other: a returned reference must be that of the same
/// argument.
fn have_same_types(schema: &Schema, asked: &Schema) -> bool {
    let written = |schema: &Schema| -> Vec<bool> {
        schema.arguments.iter().map(torch_library_schema::Argument::is_mutable).collect()
    };
    registry::difference(schema, asked).is_none()
        && written(schema) == written(asked)
        && returned_arguments(schema) == returned_arguments(asked)
}

/// The boxed code of the kernel in a handle: a boxed call of its operator.
fn call_by_keys(
    _: &'static Kernel,
    operator: &'static Operator,
    keys: DispatchKeySet,
    stack: &mut Stack<'_>,
) -> Result<()> {
    let (kernel, keys) = match keys.has_any(REDISPATCHED) {
        true => operator.select_again(keys - REDISPATCHED),
        false => operator.select(keys),
    };
    kernel.call_boxed(operator, keys, stack)
}

impl<T> TypedOperatorHandle<T> {
    /// The handle without the types.
    pub fn operator(&self) -> OperatorHandle {
        self.operator.handle()
    }

    #[inline(always)]
    fn select(&self, keys: DispatchKeySet) -> (&'static Kernel, DispatchKeySet) {
        match self.boxing {
            None => self.operator.select(keys),
            Some(kernel) => (kernel, keys),
        }
    }

    #[inline(always)]
    fn select_again(&self, keys: DispatchKeySet) -> (&'static Kernel, DispatchKeySet) {
        match self.boxing {
            None => self.operator.select_again(keys),
            Some(kernel) => (kernel, keys | REDISPATCHED),
        }
    }
}

macro_rules! typed {
    ($($A:ident $a:ident)*) => {
        impl<R: InferredReturns, $($A: InferredArgument),*> CallTypes for fn($($A),*) -> R
        where
            fn(&'static Kernel, DispatchKeySet, $($A::With<'static>),*) -> Result<R::With<'static>>: Signature,
        {
            type Static = fn($($A::With<'static>),*) -> R::With<'static>;
            type Convention = fn(&'static Kernel, DispatchKeySet, $($A::With<'static>),*) -> Result<R::With<'static>>;
        }

        impl<R: InferredReturns, $($A: InferredArgument),*> TypedOperatorHandle<fn($($A),*) -> R> {
            /// Calls the operator with all of its arguments.
            ///
            /// # Errors
            /// No kernel serves the keys of the arguments, the operator was removed, or the kernel fails.
            ///
            /// PyTorch: `TypedOperatorHandle::call`.
            #[inline]
            pub fn call<'v>(&self, $($a: $A::With<'v>),*) -> Result<R::With<'v>> {
                let keys = DispatchKeySet::EMPTY $(.union($a.dispatch_keys()))*;
                let (kernel, keys) = self.select(keys);
                // SAFETY: `OperatorHandle::typed` has compared the operator's calling convention with this one, which
                // all kernels in its tables have; or it has made `boxing` with this one. The two differ only in
                // lifetimes, which are all replaced by one here, so that no return outlives an argument.
                let code = unsafe {
                    kernel.code::<fn(&'static Kernel, DispatchKeySet, $($A::With<'v>),*) -> Result<R::With<'v>>>()
                };
                code(kernel, keys, $($a),*)
            }

            /// Calls the kernel of the highest of these keys: from a kernel, to the next layer.
            ///
            /// # Errors
            /// The errors of [`call`](Self::call).
            ///
            /// PyTorch: `TypedOperatorHandle::redispatch`.
            #[inline]
            pub fn redispatch<'v>(&self, keys: DispatchKeySet, $($a: $A::With<'v>),*) -> Result<R::With<'v>> {
                let (kernel, keys) = self.select_again(keys);
                // SAFETY: the kernel is from the operator's tables, whose calling convention `OperatorHandle::typed`
                // has compared with this one, or it is `boxing`, which was made with this one; one lifetime replaces
                // all, so that no return outlives an argument.
                let code = unsafe {
                    kernel.code::<fn(&'static Kernel, DispatchKeySet, $($A::With<'v>),*) -> Result<R::With<'v>>>()
                };
                code(kernel, keys, $($a),*)
            }
        }
    };
}

typed!();
typed!(A a);
typed!(A a B b);
typed!(A a B b C c);
typed!(A a B b C c D d);
typed!(A a B b C c D d E e);
typed!(A a B b C c D d E e G g);
typed!(A a B b C c D d E e G g H h);
typed!(A a B b C c D d E e G g H h I i);
typed!(A a B b C c D d E e G g H h I i J j);
typed!(A a B b C c D d E e G g H h I i J j K k);
typed!(A a B b C c D d E e G g H h I i J j K k L l);
typed!(A a B b C c D d E e G g H h I i J j K k L l M m);

impl<T> fmt::Debug for TypedOperatorHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TypedOperatorHandle({})", self.operator)
    }
}
