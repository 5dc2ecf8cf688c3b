//! The tensors of a call, with those that stand for them elsewhere: on the host, or on `meta`.

use super::Tensor;

/// Tensors, each with its counterpart. A call has few, so they are compared one by one.
#[derive(Default)]
pub(crate) struct Counterparts(Vec<(Tensor, Tensor)>);

impl Counterparts {
    pub(crate) fn add(&mut self, tensor: &Tensor, counterpart: &Tensor) {
        self.0.push((tensor.clone(), counterpart.clone()));
    }

    /// The counterpart of a tensor.
    pub(crate) fn of(&self, tensor: &Tensor) -> Option<&Tensor> {
        self.0.iter().find(|(other, _)| other.is_same(tensor)).map(|(_, counterpart)| counterpart)
    }

    /// The counterpart of some tensor that shares memory with this one.
    pub(crate) fn of_same_memory(&self, tensor: &Tensor) -> Option<&Tensor> {
        self.0.iter().find(|(other, _)| other.shares_storage_with(tensor)).map(|(_, counterpart)| counterpart)
    }

    /// The tensor that has this counterpart.
    pub(crate) fn original(&self, counterpart: &Tensor) -> Option<&Tensor> {
        self.0.iter().find(|(_, other)| other.is_same(counterpart)).map(|(tensor, _)| tensor)
    }

    /// The tensors that have a counterpart.
    pub(crate) fn originals(&self) -> impl Iterator<Item = &Tensor> {
        self.0.iter().map(|(tensor, _)| tensor)
    }
}
