//! The memory of fake tensors, and the mapping between them and their twins on `meta`.

use std::cell::RefCell;
use std::mem::ManuallyDrop;

use crate::device::{Device, DeviceType};
use crate::error::Result;
use crate::guard::InferenceMode;
use crate::key::{DispatchKey, DispatchKeySet};
use crate::operator::OperatorHandle;
use crate::tensor::{Storage, StorageImpl, Tensor};
use crate::{bail, ensure};

/// The storage of fake tensors: views share it, as their twins share the storage on `meta`.
pub(super) struct Memory {
    meta: Storage,
    device: Device,
}

impl StorageImpl for Memory {
    fn nbytes(&self) -> usize {
        self.meta.nbytes()
    }

    fn device(&self) -> Device {
        self.device
    }

    fn why_unreachable(&self) -> Option<&'static str> {
        Some("this tensor is fake: it has sizes and a type, but no elements")
    }
}

impl Memory {
    pub(super) fn of(storage: &Storage) -> Option<&Memory> {
        storage.downcast_ref()
    }

    fn around(meta: Storage, device: Device) -> Storage {
        Storage::new(Memory { meta, device })
    }
}

struct Known {
    depth: usize,
    /// Real storages that took part, with their fake ones.
    storages: ManuallyDrop<Vec<(Storage, Storage)>>,
}

thread_local! {
    /// Freed where the outermost mode ends, so it needs no destructor, and remains usable by other thread-local
    /// destructors at the end of a thread.
    static KNOWN: RefCell<Known> =
        const { RefCell::new(Known { depth: 0, storages: ManuallyDrop::new(Vec::new()) }) };
}

/// Enters a mode: each real storage maps to the same fake one until the outermost mode ends.
pub(super) fn enter() {
    KNOWN.with_borrow_mut(|known| known.depth += 1);
}

/// Leaves a mode.
pub(super) fn leave() {
    let done = KNOWN.with_borrow_mut(|known| {
        known.depth -= 1;
        if known.depth == 0 { std::mem::take(&mut known.storages) } else { ManuallyDrop::default() }
    });
    drop(ManuallyDrop::into_inner(done)); // after the borrow has ended
}

/// The fake storage for a real one.
fn fake_storage(real: &Storage, device: Device) -> Storage {
    KNOWN.with_borrow_mut(|known| {
        let same = |(other, fake): &&(Storage, Storage)| other.is_same(real) && fake.device() == device;
        if let Some((_, fake)) = known.storages.iter().find(same) {
            return fake.clone();
        }
        let fake = Memory::around(Storage::without_data(real.nbytes(), Device::META), device);
        if known.depth > 0 {
            known.storages.push((real.clone(), fake.clone()));
        }
        fake
    })
}

/// The fake tensor for a real one.
pub(super) fn fake_of(tensor: &Tensor, device: Device) -> Result<Tensor> {
    ensure!(
        !tensor.is_wrapper(),
        NotSupported,
        "a wrapper tensor cannot be made fake: make the tensors that it wraps fake"
    );
    let storage = match Memory::of(&tensor.storage()) {
        Some(memory) if memory.device == device => tensor.storage().clone(),
        Some(memory) => Memory::around(memory.meta.clone(), device),
        None => fake_storage(&tensor.storage(), device),
    };
    Tensor::from_storage_like(storage, tensor, keys(device, tensor.is_inference()))
}

/// The twin on `meta` of a fake tensor, or of a real one that takes part: a tensor with the same geometry.
pub(super) fn twin(tensor: &Tensor) -> Result<Tensor> {
    if tensor.device().kind == DeviceType::Meta || tensor.is_wrapped_number() {
        return Ok(tensor.clone());
    }
    let storage = match Memory::of(&tensor.storage()) {
        Some(memory) => memory.meta.clone(),
        None => {
            let fake = fake_storage(&tensor.storage(), tensor.device());
            Memory::of(&fake).map_or_else(|| fake.clone(), |memory| memory.meta.clone())
        }
    };
    Tensor::from_storage_like(storage, tensor, DispatchKeySet::of_inference_tensor(DispatchKey::Meta))
}

/// The fake tensor for a result on `meta`: a view of an argument, or new.
pub(super) fn fake_of_result<'t>(
    twin: &Tensor,
    device: Device,
    arguments: impl IntoIterator<Item = &'t Tensor>,
) -> Result<Tensor> {
    let is_base = |argument: &&Tensor| {
        Memory::of(&argument.storage()).is_some_and(|memory| memory.meta.is_same(&twin.storage()))
    };
    match arguments.into_iter().find(is_base) {
        Some(base) => Tensor::from_storage_like(base.storage().clone(), twin, base.key_set()),
        None if device.kind == DeviceType::Meta => Tensor::from_storage_like(
            twin.storage().clone(),
            twin,
            keys(device, InferenceMode::is_enabled()).remove(DispatchKey::Fake),
        ),
        None => {
            let storage = fake_of_meta(&twin.storage(), device);
            Tensor::from_storage_like(storage, twin, keys(device, InferenceMode::is_enabled()))
        }
    }
}

/// Gives a tensor, for all its handles, the geometry that an operator gave its twin.
pub(super) fn move_to(operator: OperatorHandle, tensor: &mut Tensor, twin: &Tensor) -> Result<()> {
    let before = tensor.storage();
    let Some(memory) = Memory::of(&before) else {
        bail!(
            NotSupported,
            "{operator} would resize a real tensor, and fake mode leaves real tensors unchanged\n  \
             help: `to_fake` makes a fake tensor of it"
        );
    };
    let storage = match memory.meta.is_same(&twin.storage()) {
        true => before.clone(),
        false => Memory::around(twin.storage().clone(), memory.device),
    };
    drop(before);
    let geometry = twin.geometry();
    tensor.set_storage(storage, geometry.sizes(), geometry.strides(), geometry.offset())
}

/// The fake storage for a meta one: that of a real tensor that took part, or new.
fn fake_of_meta(meta: &Storage, device: Device) -> Storage {
    let known = KNOWN.with_borrow(|known| {
        let is_its = |fake: &&Storage| Memory::of(fake).is_some_and(|memory| memory.meta.is_same(meta));
        known.storages.iter().map(|(_, fake)| fake).find(is_its).cloned()
    });
    known.unwrap_or_else(|| Memory::around(meta.clone(), device))
}

fn keys(device: Device, inference: bool) -> DispatchKeySet {
    let key = device.kind.dispatch_key();
    let keys =
        if inference { DispatchKeySet::of_inference_tensor(key) } else { DispatchKeySet::of_tensor(key) };
    keys.add(DispatchKey::Fake)
}
