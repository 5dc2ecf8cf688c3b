//! Weights on another device than the CPU: its backend copies them, and those that share memory still do.

use std::collections::HashMap;

use torch_library::prelude::*;
use torch_library::{Device, Dispatcher};

/// What has been moved so far.
pub(crate) struct Moves {
    device: Device,
    /// By the identity of the tensor, whose handle must live as long.
    tensors: HashMap<usize, Tensor>,
    /// The whole memory of parts of the archive, which several tensors view.
    parts: HashMap<usize, Tensor>,
}

impl Moves {
    pub(crate) fn to(device: Device) -> Moves {
        Moves { device, tensors: HashMap::new(), parts: HashMap::new() }
    }

    /// A weight on the device. A tensor that was moved before is the same one; views of a part of the archive are views
    /// of its copy.
    ///
    /// # Errors
    /// The errors of the backend.
    pub(crate) fn moved(&mut self, tensor: &Tensor, part: Option<usize>) -> Result<Tensor> {
        if self.device == Device::CPU {
            return Ok(tensor.clone());
        }
        if let Some(moved) = self.tensors.get(&tensor.id()) {
            return Ok(moved.clone());
        }
        let moved = match part {
            Some(part) => self.viewed(tensor, part)?,
            None => self.copied(tensor)?,
        };
        self.tensors.insert(tensor.id(), moved.clone());
        Ok(moved)
    }

    fn viewed(&mut self, tensor: &Tensor, part: usize) -> Result<Tensor> {
        let whole = match self.parts.get(&part) {
            Some(whole) => whole.clone(),
            None => {
                let count = i64::try_from(tensor.storage().nbytes() / tensor.dtype().size())?;
                let whole = self.copied(&tensor.strided_view(&[count], &[1], 0)?)?;
                self.parts.insert(part, whole.clone());
                whole
            }
        };
        let (sizes, strides, offset) = (tensor.sizes(), tensor.strides(), tensor.storage_offset());
        let storage = whole.storage().clone();
        Tensor::from_storage(storage, sizes, strides, offset, tensor.dtype(), whole.key_set())
    }

    fn copied(&self, tensor: &Tensor) -> Result<Tensor> {
        let to = Dispatcher::global().find("aten::_to_copy")?;
        let mut moved = to.call_with([Value::TensorRef(tensor)], [("device", Value::Device(self.device))])?;
        moved.pop_as()
    }
}
