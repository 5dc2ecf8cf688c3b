//! How a node keeps the arguments that its formulas name, whatever their type.

use super::node::{InputMetadata, Node};
use super::saved::SavedTensor;
use crate::bail;
use crate::element::Complex64;
use crate::error::Result;
use crate::tensor::Tensor;
use crate::{DType, Device, Generator, Layout, MemoryFormat, Scalar};

/// An argument that can be kept.
pub trait Save {
    /// What is kept of it.
    type Kept: Keep;

    /// Keeps it.
    ///
    /// # Errors
    /// An inference tensor.
    fn save(self) -> Result<Self::Kept>;
}

/// What is kept of an argument.
pub trait Keep: Send + Sync + 'static {
    /// What a formula's names stand for.
    type Held: Lend;

    /// Takes it out, for a node.
    ///
    /// # Errors
    /// A tensor that was written to since.
    fn hold(&self, node: &Node) -> Result<Self::Held>;
}

/// What a formula works with: again of the argument's type.
pub trait Lend {
    /// The argument's type.
    type Lent<'a>
    where
        Self: 'a;

    /// Lends it.
    fn lend(&self) -> Self::Lent<'_>;
}

/// What a formula that runs works with.
///
/// # Errors
/// It was not kept.
pub fn held<'a, H>(held: &'a Option<H>, node: &Node) -> Result<&'a H> {
    match held {
        Some(held) => Ok(held),
        None => bail!(Internal, "{} did not save what it needs", node.name()),
    }
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

/// What is kept as it is.
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

/// What is kept as a copy, and lent as a slice.
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

/// A list of what is no tensor.
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

/// Elements of lists that are lent as slices.
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

/// An argument of which only sizes, type and device are kept.
pub trait SaveMetadata {
    /// What is kept of it.
    type Kept: Keep;

    /// Keeps it.
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
