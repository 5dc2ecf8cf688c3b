//! How what lends a tensor's memory is shown: without the elements, which may be many.

use std::any::type_name;
use std::fmt::{Debug, Formatter, Result};

use super::{BackendRef, Elements, ElementsMut, Lease, ListLease, OwnedLease, StorageBytes, StorageBytesMut};
use crate::dtype::Element;

impl<const W: usize, const R: usize> Debug for Lease<'_, W, R> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.debug_struct("Lease").field("written", &W).field("read", &R).finish_non_exhaustive()
    }
}

impl<const W: usize> Debug for ListLease<'_, W> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.debug_struct("ListLease").field("written", &W).finish_non_exhaustive()
    }
}

impl Debug for OwnedLease {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.debug_struct("OwnedLease").field("geometry", self.tensor().geometry()).finish_non_exhaustive()
    }
}

impl<T: Element> Debug for Elements<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.debug_struct("Elements").field("geometry", self.geometry()).finish_non_exhaustive()
    }
}

impl<T: Element> Debug for ElementsMut<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.debug_struct("ElementsMut").field("geometry", self.geometry()).finish_non_exhaustive()
    }
}

impl Debug for StorageBytes<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.debug_struct("StorageBytes").field("len", &self.len()).finish_non_exhaustive()
    }
}

impl Debug for StorageBytesMut<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.debug_struct("StorageBytesMut").field("len", &self.len()).finish_non_exhaustive()
    }
}

impl<S> Debug for BackendRef<'_, S> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.debug_tuple("BackendRef").field(&type_name::<S>()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Tensor;
    use super::*;

    #[test]
    fn what_is_lent_is_shown_without_its_elements() -> crate::Result<()> {
        let mut x = Tensor::from([[1.0, 2.0, 3.0]]);
        assert_eq!(format!("{:?}", Lease::new([&x], [])?), "Lease { written: 1, read: 0, .. }");
        assert_eq!(format!("{:?}", x.storage().bytes()?), "StorageBytes { len: 24, .. }");
        let geometry = format!("{:?}", x.geometry());
        let shown = format!("{:?}", x.elements_mut::<f64>()?);
        assert_eq!(shown, format!("ElementsMut {{ geometry: {geometry}, .. }}"));
        Ok(())
    }
}
