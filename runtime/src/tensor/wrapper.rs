//! Wrappers: tensors without elements of their own, in which a layer keeps those that they stand for.

use std::any::Any;
use std::sync::Arc;

use super::geometry::Geometry;
use super::{Place, Storage, Tensor};
use crate::dtype::DType;
use crate::error::Result;
use crate::key::DispatchKeySet;

impl Tensor {
    /// A tensor that stands for others: to callers it has this geometry and type, and its keys lead every call to the
    /// layer that made it, which finds there what it put in. Nobody looks at its elements.
    ///
    /// ```
    /// use torch_library::{DType, DispatchKey, DispatchKeySet, Tensor};
    ///
    /// let inside = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
    /// let keys = DispatchKeySet::from_key(DispatchKey::TESTING_ONLY_GenericWrapper);
    /// let row = inside.strided_view(&[2], &[1], 0)?;
    /// let wrapper = Tensor::wrapper(row.storage().clone(), row.geometry(), row.dtype(), keys, inside)?;
    /// assert_eq!(wrapper.sizes(), [2]);
    /// assert_eq!(wrapper.content::<Tensor>().unwrap().sizes(), [2, 2]);
    /// assert!(wrapper.to_vec::<f64>().is_err());
    /// # Ok::<(), torch_library::Error>(())
    /// ```
    ///
    /// # Errors
    /// A geometry that does not fit into the storage.
    ///
    /// PyTorch: a subclass of `TensorImpl`.
    pub fn wrapper<T: Any + Send + Sync>(
        storage: Storage,
        geometry: &Geometry,
        dtype: DType,
        key_set: DispatchKeySet,
        content: T,
    ) -> Result<Tensor> {
        Place::check(&storage, geometry, dtype)?;
        let place = Place { storage, geometry: geometry.clone() };
        Ok(Tensor::from_place(place, dtype, key_set).with_content(Some(Arc::new(content))))
    }

    /// What a layer keeps in this tensor, if it is a wrapper of that layer.
    pub fn content<T: Any>(&self) -> Option<&T> {
        self.0.content.as_deref()?.downcast_ref()
    }

    /// Whether this tensor has no elements of its own.
    #[inline]
    pub fn is_wrapper(&self) -> bool {
        self.0.content.is_some()
    }

    pub(super) fn with_content_of(self, other: &Tensor) -> Tensor {
        match &other.0.content {
            None => self,
            content => self.with_content(content.clone()),
        }
    }

    fn with_content(mut self, content: Option<Arc<dyn Any + Send + Sync>>) -> Tensor {
        if let Some(tensor) = Arc::get_mut(&mut self.0) {
            tensor.content = content; // always: nobody else has a handle yet
        }
        self
    }
}
