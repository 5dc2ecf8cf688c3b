//! Wrappers: tensors without elements of their own, with which a layer represents other tensors.

use std::any::Any;
use std::sync::Arc;

use super::geometry::Geometry;
use super::{Storage, StorageView, Tensor};
use crate::dropping::{self, Queue};
use crate::dtype::DType;
use crate::error::Result;
use crate::key::DispatchKeySet;

/// The data that a layer stores in a wrapper; empty in other tensors.
#[derive(Clone)]
pub(super) struct Content(Option<Arc<dyn Any + Send + Sync>>);

thread_local! {
    static CONTENTS: Queue<Arc<dyn Any + Send + Sync>> = const { Queue::new() };
}

impl Content {
    pub(super) const NONE: Content = Content(None);

    #[inline]
    pub(super) fn is_none(&self) -> bool {
        self.0.is_none()
    }
}

/// Queues the content, because recursion could overflow the stack: wrappers may be nested.
impl Drop for Content {
    #[inline]
    fn drop(&mut self) {
        if let Some(content) = self.0.take() {
            dropping::in_turn(&CONTENTS, content);
        }
    }
}

impl Tensor {
    /// Creates a wrapper, a tensor that stands for others: to callers it has this geometry and type, and its keys lead
    /// every call to the layer that made it, which finds its `content` there. Its elements are never accessed.
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
    /// A geometry that exceeds the storage.
    ///
    /// PyTorch: a subclass of `TensorImpl`.
    pub fn wrapper<T: Any + Send + Sync>(
        storage: Storage,
        geometry: &Geometry,
        dtype: DType,
        key_set: DispatchKeySet,
        content: T,
    ) -> Result<Tensor> {
        StorageView::check(&storage, geometry, dtype)?;
        let place = StorageView { storage, geometry: geometry.clone() };
        Ok(Tensor::from_place(place, dtype, key_set).with_content(Content(Some(Arc::new(content)))))
    }

    /// The content of this tensor, if it is a wrapper of that layer.
    pub fn content<T: Any>(&self) -> Option<&T> {
        self.0.content.0.as_deref()?.downcast_ref()
    }

    /// Whether this tensor has no elements of its own.
    #[inline]
    pub fn is_wrapper(&self) -> bool {
        self.0.content.0.is_some()
    }

    pub(super) fn with_content_of(self, other: &Tensor) -> Tensor {
        if other.is_wrapper() { self.with_content(other.0.content.clone()) } else { self }
    }

    fn with_content(mut self, content: Content) -> Tensor {
        if let Some(tensor) = Arc::get_mut(&mut self.0) {
            tensor.content = content; // always succeeds: there is no other handle yet
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::DispatchKey;
    use crate::{Device, StorageImpl};

    /// Miri, which is slow, sees the same steps in a shorter chain.
    const DEPTH: usize = if cfg!(miri) { 300 } else { 200_000 };

    fn around(inside: Tensor) -> Tensor {
        let keys = DispatchKeySet::from_key(DispatchKey::TESTING_ONLY_GenericWrapper);
        let (storage, geometry, dtype) =
            (inside.storage().clone(), inside.geometry().clone(), inside.dtype());
        Tensor::wrapper(storage, &geometry, dtype, keys, inside).unwrap()
    }

    #[test]
    fn wrappers_of_wrappers_are_dropped_in_a_loop() {
        let nested = (0..DEPTH).fold(Tensor::from([1.0]), |inside, _| around(inside));
        assert!(nested.content::<Tensor>().is_some_and(Tensor::is_wrapper));
        assert!(nested.to_string().starts_with("tensor(..."));
    }

    #[test]
    fn wrappers_and_the_storages_that_own_them_are_dropped_in_a_loop() {
        struct Owner(Tensor);
        impl StorageImpl for Owner {
            fn nbytes(&self) -> usize {
                self.0.storage().nbytes()
            }
            fn device(&self) -> Device {
                Device::CPU
            }
        }
        let nested = (0..DEPTH).fold(Tensor::from([1.0]), |inside, _| {
            let (geometry, dtype, keys) = (inside.geometry().clone(), inside.dtype(), inside.key_set());
            Tensor::wrapper(Storage::new(Owner(inside.clone())), &geometry, dtype, keys, inside).unwrap()
        });
        assert_eq!(nested.sizes(), [1]);
    }
}
