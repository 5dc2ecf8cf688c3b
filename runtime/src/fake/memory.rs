//! The memory of fake tensors, and the mapping between them and their twins on `meta`.

use std::cell::RefCell;
use std::mem::ManuallyDrop;

use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;

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

/// The real storages that took part in a mode, with their fake ones.
///
/// PyTorch: `FakeTensorConverter`, whose memo has tensors.
struct StorageMemo {
    depth: usize,
    /// By the number of the real storage.
    reals: Map<Real>,
    /// The fake storages, by the number of their memory on `meta`.
    fakes: Map<Storage>,
    /// What the real storages weigh together, and what they may weigh before they are looked through.
    weight: usize,
    limit: usize,
}

/// Freed where the outermost mode ends, so it needs no destructor, and remains usable by other thread-local
/// destructors at the end of a thread.
type Map<T> = ManuallyDrop<FxHashMap<usize, T>>;

const fn empty<T>() -> Map<T> {
    ManuallyDrop::new(FxHashMap::with_hasher(FxBuildHasher))
}

struct Real {
    storage: Storage,
    /// One for each device.
    fakes: SmallVec<[Storage; 1]>,
}

impl Real {
    /// Its bytes, and those of the entry, so that a large number of small storages weighs something, too.
    fn weight(&self) -> usize {
        self.storage.nbytes().saturating_add(size_of::<Real>())
    }
}

impl StorageMemo {
    const EMPTY: StorageMemo =
        StorageMemo { depth: 0, reals: empty(), fakes: empty(), weight: 0, limit: Self::LEAST_LIMIT };
    const LEAST_LIMIT: usize = 1 << 20;

    fn add(&mut self, real: &Storage, fake: &Storage) {
        if let Some(memory) = Memory::of(fake) {
            self.fakes.insert(memory.meta.id(), fake.clone());
        }
        let entry = self.reals.entry(real.id()).or_insert_with(|| {
            let entry = Real { storage: real.clone(), fakes: SmallVec::new() };
            self.weight = self.weight.saturating_add(entry.weight());
            entry
        });
        entry.fakes.push(fake.clone());
    }

    /// Takes out the storages that nobody else has. A storage in the memo stays alive, so that no other one gets its
    /// number; therefore they are looked through whenever their weight has doubled.
    fn take_unused(&mut self) -> Vec<Real> {
        if self.weight < self.limit {
            return Vec::new();
        }
        let unused = self.reals.iter().filter(|(_, real)| real.storage.is_sole_owner());
        let unused: Vec<usize> = unused.map(|(number, _)| *number).collect();
        let taken: Vec<Real> = unused.iter().filter_map(|number| self.reals.remove(number)).collect();
        for memory in taken.iter().flat_map(|real| &real.fakes).filter_map(Memory::of) {
            self.fakes.remove(&memory.meta.id());
        }
        self.weight = taken.iter().fold(self.weight, |weight, real| weight.saturating_sub(real.weight()));
        self.limit = self.weight.saturating_mul(2).max(Self::LEAST_LIMIT);
        taken
    }
}

thread_local! {
    static MEMO: RefCell<StorageMemo> = const { RefCell::new(StorageMemo::EMPTY) };
}

/// Enters a mode: each real storage maps to the same fake one until the outermost mode ends.
pub(super) fn enter() {
    MEMO.with_borrow_mut(|memo| memo.depth += 1);
}

/// Leaves a mode.
pub(super) fn leave() {
    let done = MEMO.with_borrow_mut(|memo| {
        memo.depth -= 1;
        if memo.depth == 0 { std::mem::replace(memo, StorageMemo::EMPTY) } else { StorageMemo::EMPTY }
    });
    // After the borrow has ended.
    drop((ManuallyDrop::into_inner(done.reals), ManuallyDrop::into_inner(done.fakes)));
}

/// The fake storage for a real one.
fn fake_storage(real: &Storage, device: Device) -> Storage {
    let (fake, unused) = MEMO.with_borrow_mut(|memo| {
        let mut fakes = memo.reals.get(&real.id()).into_iter().flat_map(|real| &real.fakes);
        if let Some(fake) = fakes.find(|fake| fake.device() == device) {
            return (fake.clone(), Vec::new());
        }
        let fake = Memory::around(Storage::without_data(real.nbytes(), Device::META), device);
        if memo.depth == 0 {
            return (fake, Vec::new());
        }
        memo.add(real, &fake);
        (fake, memo.take_unused())
    });
    drop(unused); // after the borrow has ended
    fake
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
    let fake = MEMO.with_borrow(|memo| memo.fakes.get(&meta.id()).cloned());
    fake.unwrap_or_else(|| Memory::around(meta.clone(), device))
}

fn keys(device: Device, inference: bool) -> DispatchKeySet {
    let key = device.kind.dispatch_key();
    let keys =
        if inference { DispatchKeySet::of_inference_tensor(key) } else { DispatchKeySet::of_tensor(key) };
    keys.add(DispatchKey::Fake)
}
