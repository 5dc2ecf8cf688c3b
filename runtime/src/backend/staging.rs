//! Host copies of a call's tensors while the CPU computes; views of one storage stay views of one storage.

use crate::device::{Device, DeviceType};
use crate::error::Result;
use crate::key::{DispatchKey, DispatchKeySet};
use crate::tensor::backend::{Backend, of, range_of};
use crate::tensor::{Counterparts, Storage, Tensor};
use crate::{bail, ensure};

/// The tensors of a call, each with its CPU copy.
pub(super) struct Staging {
    backend: &'static dyn Backend,
    device: Device,
    storages: Vec<Staged>,
    tensors: Counterparts,
}

/// A storage and its host copy: of the same size, with the bytes that tensors have needed so far.
struct Staged {
    remote: Storage,
    host: Storage,
    fetched: std::ops::Range<usize>,
}

impl Staging {
    pub(super) fn new(device: Device) -> Result<Staging> {
        let Some(backend) = of(device.kind)? else {
            bail!(
                Device,
                "falling back to the CPU needs a backend of {device}, and no crate of this program has one"
            )
        };
        Ok(Staging { backend, device, storages: Vec::new(), tensors: Counterparts::default() })
    }

    /// The CPU copy of a tensor of the call. A tensor that the host can access is returned unchanged.
    pub(super) fn host_of(&mut self, tensor: &Tensor) -> Result<Tensor> {
        if matches!(tensor.device().kind, DeviceType::Cpu | DeviceType::Meta) || !tensor.is_defined() {
            return Ok(tensor.clone());
        }
        if let Some(host) = self.tensors.of(tensor) {
            return Ok(host.clone());
        }
        ensure!(
            tensor.device().kind == self.device.kind,
            Device,
            "one call has tensors on {} and on {}, move them to one device",
            self.device,
            tensor.device()
        );
        let host = self.host_memory(tensor)?;
        let host =
            Tensor::from_storage_like(host, tensor, DispatchKeySet::of_inference_tensor(DispatchKey::CPU))?;
        self.tensors.add(tensor, &host);
        Ok(host)
    }

    /// The host copy of a tensor's storage, with the tensor's elements fetched.
    fn host_memory(&mut self, tensor: &Tensor) -> Result<Storage> {
        let storage = tensor.storage().clone();
        if let Some(why) = storage.why_unreachable() {
            bail!(Device, "{why}");
        }
        let range = range_of(tensor)?;
        let at = self.storages.iter().position(|staged| staged.remote.is_same(&storage));
        let at = match at {
            Some(at) => at,
            None => {
                let host = Storage::zeroed(storage.nbytes(), Device::CPU)?;
                self.storages.push(Staged { remote: storage, host, fetched: 0..0 });
                self.storages.len() - 1
            }
        };
        self.storages[at].fetch(self.backend, range)?;
        Ok(self.storages[at].host.clone())
    }

    /// Makes a tensor of the call like its CPU copy after the operator ran: elements, sizes, memory.
    pub(super) fn write_back(&mut self, tensor: &mut Tensor) -> Result<()> {
        let Some(host) = self.tensors.of(tensor).cloned() else { return Ok(()) };
        let geometry = host.geometry();
        let own = self.storages.iter().find(|staged| staged.remote.is_same(&tensor.storage()));
        if own.is_some_and(|staged| staged.host.is_same(&host.storage())) {
            if geometry != tensor.geometry() {
                tensor.set_geometry(geometry.sizes(), geometry.strides(), geometry.offset())?;
            }
        } else {
            let storage = self.remote_memory(&host)?;
            tensor.set_storage(storage, geometry.sizes(), geometry.strides(), geometry.offset())?;
        }
        let range = range_of(&host)?;
        self.backend.upload(&tensor.storage(), range.start, &host.storage().bytes()?[range])
    }

    /// The device tensor for a result: an argument, a view of one, or new.
    pub(super) fn remote_of(&mut self, result: &Tensor) -> Result<Tensor> {
        if result.device().kind != DeviceType::Cpu || !result.is_defined() {
            return Ok(result.clone());
        }
        if let Some(tensor) = self.tensors.original(result) {
            return Ok(tensor.clone());
        }
        let storage = self.remote_memory(result)?;
        let keys = Tensor::empty(&[0], result.dtype(), self.device)?.key_set();
        Tensor::from_storage_like(storage, result, keys)
    }

    /// The device storage for host memory that a kernel allocated or was given.
    fn remote_memory(&mut self, result: &Tensor) -> Result<Storage> {
        let host = result.storage().clone();
        if let Some(staged) = self.storages.iter().find(|staged| staged.host.is_same(&host)) {
            return Ok(staged.remote.clone());
        }
        let count = i64::try_from(host.nbytes() / result.dtype().size()).unwrap_or(i64::MAX);
        let remote = Tensor::empty(&[count], result.dtype(), self.device)?.storage().clone();
        let nbytes = host.nbytes().min(remote.nbytes());
        self.backend.upload(&remote, 0, &host.bytes()?[..nbytes])?;
        self.storages.push(Staged { remote: remote.clone(), host, fetched: 0..nbytes });
        Ok(remote)
    }
}

impl Staged {
    /// Fetches a range, with everything between it and what was fetched before.
    fn fetch(&mut self, backend: &dyn Backend, range: std::ops::Range<usize>) -> Result<()> {
        if range.is_empty() {
            return Ok(());
        }
        let wanted = match self.fetched.is_empty() {
            true => range,
            false => self.fetched.start.min(range.start)..self.fetched.end.max(range.end),
        };
        if wanted != self.fetched {
            backend.download(&self.remote, wanted.start, &mut self.host.bytes_mut()?[wanted.clone()])?;
            self.fetched = wanted;
        }
        Ok(())
    }
}
