//! What the dispatcher asks of an argument: its dispatch keys, and whether it requires a gradient.

mod optional;

use num_complex::Complex64;

use crate::device::Device;
use crate::dtype::DType;
use crate::generator::Generator;
use crate::key::DispatchKeySet;
use crate::layout::{Layout, MemoryFormat};
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use crate::value::Value;

pub use optional::IntoOptional;

/// Seals [`Argument`]. Other crates cannot add types: adapters lend an argument under a longer lifetime
/// than it has, and code of others, implemented for that lifetime alone, could keep it.
pub trait Sealed {}

/// A type that an argument of an operator can have.
///
/// Tensors, generators, and lists and optionals of these bring dispatch keys to a call; other types bring none.
pub trait Argument: Sealed {
    /// The dispatch keys that this argument brings.
    #[inline(always)]
    fn dispatch_keys(&self) -> DispatchKeySet {
        DispatchKeySet::EMPTY
    }

    /// Whether the argument contains a tensor that requires a gradient.
    #[inline(always)]
    fn requires_grad(&self) -> bool {
        false
    }

    /// A number for a tensor, or for the tensors of a list that is written to, which is another if a handle is
    /// replaced; 0 for other arguments.
    #[inline(always)]
    fn identity(&self) -> usize {
        0
    }
}

impl Sealed for &Tensor {}
impl Sealed for &mut Tensor {}
impl Sealed for &Generator {}
impl Sealed for &[Option<Tensor>] {}
impl Sealed for Value<'_> {}
impl<T: Argument> Sealed for Option<T> {}

impl Argument for &Tensor {
    #[inline(always)]
    fn dispatch_keys(&self) -> DispatchKeySet {
        self.key_set()
    }

    #[inline(always)]
    fn requires_grad(&self) -> bool {
        Tensor::requires_grad(self)
    }

    #[inline(always)]
    fn identity(&self) -> usize {
        self.id()
    }
}

impl Argument for &mut Tensor {
    #[inline(always)]
    fn dispatch_keys(&self) -> DispatchKeySet {
        self.key_set()
    }

    #[inline(always)]
    fn requires_grad(&self) -> bool {
        Tensor::requires_grad(self)
    }

    #[inline(always)]
    fn identity(&self) -> usize {
        self.id()
    }
}

impl Argument for &Generator {
    #[inline(always)]
    fn dispatch_keys(&self) -> DispatchKeySet {
        self.key_set()
    }
}

impl<T: Argument> Argument for Option<T> {
    #[inline(always)]
    fn dispatch_keys(&self) -> DispatchKeySet {
        match self {
            Some(argument) => argument.dispatch_keys(),
            None => DispatchKeySet::EMPTY,
        }
    }

    #[inline(always)]
    fn requires_grad(&self) -> bool {
        self.as_ref().is_some_and(Argument::requires_grad)
    }

    #[inline(always)]
    fn identity(&self) -> usize {
        self.as_ref().map_or(0, Argument::identity)
    }
}

/// The type that rustc's error message names where a kernel is registered for a name that several overloads share.
#[derive(Debug)]
pub struct TheCommonNameOfOverloads;

/// Lists of tensors, which bring the keys of all their elements.
macro_rules! list_argument {
    ($($list:ty, $identity:expr;)*) => {$(
        impl Sealed for $list {}

        impl Argument for $list {
            #[inline]
            fn dispatch_keys(&self) -> DispatchKeySet {
                self.iter().fold(DispatchKeySet::EMPTY, |keys, tensor| keys | tensor.key_set())
            }

            #[inline]
            fn requires_grad(&self) -> bool {
                self.iter().any(Tensor::requires_grad)
            }

            #[inline]
            fn identity(&self) -> usize {
                $identity(self)
            }
        }
    )*};
}

list_argument! {
    &[Tensor], |_| 0;
    &mut [Tensor], identity_of_list;
}

/// A number for tensors in this order.
fn identity_of_list(tensors: &[Tensor]) -> usize {
    tensors.iter().fold(0, |all: usize, tensor| all.wrapping_mul(31).wrapping_add(tensor.id()))
}

impl Argument for &[Option<Tensor>] {
    #[inline]
    fn dispatch_keys(&self) -> DispatchKeySet {
        self.iter().flatten().fold(DispatchKeySet::EMPTY, |keys, tensor| keys | tensor.key_set())
    }

    #[inline]
    fn requires_grad(&self) -> bool {
        self.iter().flatten().any(Tensor::requires_grad)
    }
}

impl Argument for Value<'_> {
    fn dispatch_keys(&self) -> DispatchKeySet {
        Value::dispatch_keys(self)
    }

    fn requires_grad(&self) -> bool {
        self.all_tensors().any(Tensor::requires_grad)
    }
}

/// Types that carry no dispatch keys.
macro_rules! plain_argument {
    ($($type:ty),*) => {$(
        impl Sealed for $type {}
        impl Argument for $type {}
    )*};
}

plain_argument!(i64, f64, bool, Complex64, Scalar, DType, Layout, MemoryFormat, Device);
plain_argument!(&str, &[i64], &[f64], &[bool], &[Scalar], &[String]);
