//! How a node saves the arguments that its formulas name, whatever their type.

use super::node::{InputMetadata, Node};
use super::saved::SavedTensor;
use crate::element::Complex64;
use crate::error::{Error, ErrorKind, Result};
use crate::tensor::Tensor;
use crate::{DType, Device, Generator, Layout, MemoryFormat, Scalar};

/// An argument that can be saved.
pub trait Save {
    /// The saved form.
    type Kept: Keep;

    /// Saves the argument.
    ///
    /// # Errors
    /// An inference tensor.
    fn save(self) -> Result<Self::Kept>;
}

/// The saved form of an argument.
pub trait Keep: Send + Sync + 'static {
    /// What [`hold`](Self::hold) returns, from which formulas borrow.
    type Held: Lend;

    /// Unpacks the saved argument, for its node.
    ///
    /// # Errors
    /// A tensor that was modified in place since.
    fn hold(&self, node: &Node) -> Result<Self::Held>;
}

/// An unpacked argument, which formulas borrow as the argument's type.
pub trait Lend {
    /// The argument's type.
    type Lent<'a>
    where
        Self: 'a;

    /// Borrows the argument.
    fn lend(&self) -> Self::Lent<'_>;
}

/// The error for a formula that uses an argument which was not saved.
#[cold]
pub fn unsaved(node: &Node) -> Error {
    Error::new(ErrorKind::Internal, format!("{} did not save what it needs", node.name()))
}

impl Save for &Tensor {
    type Kept = SavedTensor;

    fn save(self) -> Result<SavedTensor> {
        SavedTensor::input(self)
    }
}

impl Save for &mut Tensor {
    type Kept = SavedTensor;

    fn save(self) -> Result<SavedTensor> {
        SavedTensor::input(self)
    }
}

impl Save for &[Tensor] {
    type Kept = Vec<SavedTensor>;

    fn save(self) -> Result<Self::Kept> {
        self.iter().map(SavedTensor::input).collect()
    }
}

impl Save for &[Option<Tensor>] {
    type Kept = Vec<Option<SavedTensor>>;

    fn save(self) -> Result<Self::Kept> {
        self.iter().map(|tensor| tensor.as_ref().save()).collect()
    }
}

impl<T: Save> Save for Option<T> {
    type Kept = Option<T::Kept>;

    fn save(self) -> Result<Self::Kept> {
        self.map(T::save).transpose()
    }
}

impl Keep for SavedTensor {
    type Held = Tensor;

    fn hold(&self, node: &Node) -> Result<Tensor> {
        self.unpack(node)
    }
}

impl Lend for Tensor {
    type Lent<'a> = &'a Tensor;

    fn lend(&self) -> &Tensor {
        self
    }
}

impl<K: Keep> Keep for Option<K> {
    type Held = Option<K::Held>;

    fn hold(&self, node: &Node) -> Result<Self::Held> {
        self.as_ref().map(|kept| kept.hold(node)).transpose()
    }
}

impl<L: Lend> Lend for Option<L> {
    type Lent<'a>
        = Option<L::Lent<'a>>
    where
        L: 'a;

    fn lend(&self) -> Self::Lent<'_> {
        self.as_ref().map(L::lend)
    }
}

impl Keep for Vec<SavedTensor> {
    type Held = Vec<Tensor>;

    fn hold(&self, node: &Node) -> Result<Vec<Tensor>> {
        self.iter().map(|kept| kept.unpack(node)).collect()
    }
}

impl Keep for Vec<Option<SavedTensor>> {
    type Held = Vec<Option<Tensor>>;

    fn hold(&self, node: &Node) -> Result<Self::Held> {
        self.iter().map(|kept| kept.hold(node)).collect()
    }
}

/// Types that are saved unchanged.
macro_rules! plain {
    ($($ty:ty)*) => { $(
        impl Save for $ty {
            type Kept = $ty;

            fn save(self) -> Result<$ty> {
                Ok(self)
            }
        }

        impl Keep for $ty {
            type Held = $ty;

            fn hold(&self, _: &Node) -> Result<$ty> {
                Ok(*self)
            }
        }

        impl Lend for $ty {
            type Lent<'a> = $ty;

            fn lend(&self) -> $ty {
                *self
            }
        }
    )* };
}

plain! { bool i64 f64 Complex64 Scalar DType Device Layout MemoryFormat }

/// Slices, which are saved as a copy and borrowed as a slice.
macro_rules! lists {
    ($($element:ty)*) => { $(
        impl Save for &[$element] {
            type Kept = List<$element>;

            fn save(self) -> Result<Self::Kept> {
                Ok(List(self.into()))
            }
        }
    )* };
}

lists! { bool i64 f64 Scalar String }

/// A saved list of values that are not tensors.
#[derive(Clone, Debug)]
pub struct List<T>(std::sync::Arc<[T]>);

impl<T: Clone + Send + Sync + 'static> Keep for List<T> {
    type Held = List<T>;

    fn hold(&self, _: &Node) -> Result<Self> {
        Ok(self.clone())
    }
}

impl<T> Lend for List<T> {
    type Lent<'a>
        = &'a [T]
    where
        T: 'a;

    fn lend(&self) -> &[T] {
        &self.0
    }
}

impl<T: LendAsSlice> Lend for Vec<T> {
    type Lent<'a>
        = &'a [T]
    where
        T: 'a;

    fn lend(&self) -> &[T] {
        self
    }
}

/// Element types whose lists are borrowed as slices.
pub trait LendAsSlice {}

impl LendAsSlice for Tensor {}
impl LendAsSlice for Option<Tensor> {}
impl LendAsSlice for InputMetadata {}

impl Save for &str {
    type Kept = String;

    fn save(self) -> Result<String> {
        Ok(self.into())
    }
}

impl Keep for String {
    type Held = String;

    fn hold(&self, _: &Node) -> Result<String> {
        Ok(self.clone())
    }
}

impl Lend for String {
    type Lent<'a> = &'a str;

    fn lend(&self) -> &str {
        self
    }
}

impl Save for &Generator {
    type Kept = Generator;

    fn save(self) -> Result<Generator> {
        Ok(self.clone())
    }
}

impl Keep for Generator {
    type Held = Generator;

    fn hold(&self, _: &Node) -> Result<Generator> {
        Ok(self.clone())
    }
}

impl Lend for Generator {
    type Lent<'a> = &'a Generator;

    fn lend(&self) -> &Generator {
        self
    }
}

/// An argument of which only the metadata (sizes, type and device) is saved.
pub trait SaveMetadata {
    /// The saved form.
    type Kept: Keep;

    /// Saves the metadata.
    fn save_metadata(self) -> Self::Kept;
}

impl SaveMetadata for &Tensor {
    type Kept = InputMetadata;

    fn save_metadata(self) -> InputMetadata {
        InputMetadata::of(self)
    }
}

impl SaveMetadata for &mut Tensor {
    type Kept = InputMetadata;

    fn save_metadata(self) -> InputMetadata {
        InputMetadata::of(self)
    }
}

impl<T: SaveMetadata> SaveMetadata for Option<T> {
    type Kept = Option<T::Kept>;

    fn save_metadata(self) -> Self::Kept {
        self.map(T::save_metadata)
    }
}

impl SaveMetadata for &[Tensor] {
    type Kept = Vec<InputMetadata>;

    fn save_metadata(self) -> Self::Kept {
        self.iter().map(InputMetadata::of).collect()
    }
}

impl Keep for InputMetadata {
    type Held = InputMetadata;

    fn hold(&self, _: &Node) -> Result<Self> {
        Ok(self.clone())
    }
}

impl Lend for InputMetadata {
    type Lent<'a> = &'a InputMetadata;

    fn lend(&self) -> &InputMetadata {
        self
    }
}

impl Keep for Vec<InputMetadata> {
    type Held = Vec<InputMetadata>;

    fn hold(&self, _: &Node) -> Result<Self> {
        Ok(self.clone())
    }
}
