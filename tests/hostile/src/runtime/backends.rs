//! Backends that break their promises, and their storages.
#![forbid(unsafe_code)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use torch_library::backend::{self, Allocation, Backend};
use torch_library::prelude::*;
use torch_library::{DeviceType, Storage, StorageImpl};

use crate::harness::{allowed, assert_one_of, attempt, count, rounds, together};

const BYTES: usize = 64;

fn tensor_over(storage: &Storage, len: usize) -> Result<Tensor> {
    let keys = DispatchKeySet::from_key(DispatchKey::PrivateUse1);
    Tensor::from_storage(storage.clone(), &[len as i64], &[1], 0, DType::Int64, keys)
}

/// Reads and writes everything that a tensor over such a storage reaches.
fn touch(storage: &Storage) {
    for len in [0, 1, BYTES / 8, BYTES / 8 + 1, 1 << 20] {
        let Some(mut x) = allowed(tensor_over(storage, len)) else { continue };
        attempt(x.fill(5i64));
        if let Some(values) = allowed(x.to_vec::<i64>()) {
            assert_one_of(&values, &[5]);
        }
        assert!(!x.to_string().is_empty());
        attempt(x.resize(&[2 * len as i64], None));
        attempt(x.to_vec::<i64>());
    }
}

/// A storage of a lying backend, or `None` if the lie was detected.
fn storage(backend: impl StorageImpl) -> Option<Storage> {
    catch_unwind(AssertUnwindSafe(|| Storage::new(backend))).ok()
}

/// A backend whose answers are these functions of the number of the question.
struct Liar {
    host: Vec<Storage>,
    asked: AtomicUsize,
    nbytes: fn(usize) -> usize,
    device: fn(usize) -> Device,
}

impl Liar {
    fn new(host: usize) -> Result<Liar> {
        Ok(Liar {
            host: vec![Storage::zeroed(host, Device::CPU)?],
            asked: AtomicUsize::new(0),
            nbytes: |_| BYTES,
            device: |_| DeviceType::PrivateUse1.into(),
        })
    }

    fn asked(&self) -> usize {
        self.asked.fetch_add(1, Ordering::Relaxed)
    }
}

impl StorageImpl for Liar {
    fn nbytes(&self) -> usize {
        (self.nbytes)(self.asked())
    }

    fn device(&self) -> Device {
        (self.device)(self.asked())
    }

    fn host(&self) -> Option<&Storage> {
        let asked = self.asked();
        self.host.get(asked % self.host.len().max(1))
    }
}

/// The backend gives a different size with each answer.
pub(crate) fn size_that_changes() -> Result<()> {
    let sizes: [fn(usize) -> usize; 3] = [|n| [BYTES, 1 << 40][n % 2], |n| BYTES >> n, |n| usize::MAX - n];
    for nbytes in sizes {
        if let Some(storage) = storage(Liar { nbytes, ..Liar::new(BYTES)? }) {
            rounds().for_each(|_| touch(&storage));
        }
    }
    Ok(())
}

/// The backend gives different memory with each answer, some of it too small.
pub(crate) fn host_that_changes() -> Result<()> {
    let host = [BYTES, 8, 0, 1024].map(|bytes| Storage::zeroed(bytes, Device::CPU));
    let host = host.into_iter().collect::<Result<Vec<_>>>()?;
    for skip in 0..host.len() {
        let host = host.iter().cycle().skip(skip).take(host.len()).cloned().collect();
        if let Some(storage) = storage(Liar { host, ..Liar::new(BYTES)? }) {
            touch(&storage);
        }
    }
    Ok(())
}

/// The host memory is smaller than the backend says, or there is none.
pub(crate) fn host_too_small() -> Result<()> {
    for host in [0, 1, BYTES - 1] {
        if let Some(storage) = storage(Liar::new(host)?) {
            touch(&storage);
        }
    }
    let nowhere = Liar { host: vec![Storage::without_data(usize::MAX, Device::META)], ..Liar::new(0)? };
    let huge = Liar { host: Vec::new(), nbytes: |_| usize::MAX, ..Liar::new(0)? };
    for storage in [storage(nowhere), storage(huge)].into_iter().flatten() {
        touch(&storage);
    }
    Ok(())
}

/// Two storages lend the same memory: a write through one is a write to the other.
pub(crate) fn host_shared_by_two() -> Result<()> {
    let host = Storage::zeroed(count(1 << 15, 64), Device::CPU)?;
    let lent = || {
        let nbytes = |_| count(1 << 15, 64);
        Liar { host: vec![host.clone()], nbytes, ..Liar::new(0).unwrap() }
    };
    let len = count(1 << 12, 8);
    let (x, y) = (tensor_over(&Storage::new(lent()), len)?, tensor_over(&Storage::new(lent()), len)?);
    let keys = DispatchKeySet::from_key(DispatchKey::CPU);
    let own = Tensor::from_storage(host, &[len as i64], &[1], 0, DType::Int64, keys)?;
    together(&[
        &|round| {
            attempt(x.clone().fill(round as i64 % 2));
        },
        &|_| {
            if let Some(values) = allowed(y.to_vec::<i64>()) {
                assert_one_of(&values, &[0, 1]);
            }
        },
        &|_| {
            if let Some(values) = allowed(own.to_vec::<i64>()) {
                assert_one_of(&values, &[0, 1]);
            }
        },
    ]);
    Ok(())
}

/// A storage lends a storage that lends a storage, and so on.
pub(crate) fn host_of_itself() -> Result<()> {
    let mut host = Storage::zeroed(BYTES, Device::CPU)?;
    for _ in 0..100 {
        host = Storage::new(Liar { host: vec![host], ..Liar::new(0)? });
    }
    let (x, y) = (tensor_over(&host, BYTES / 8)?, tensor_over(&host, BYTES / 8)?);
    together(&[
        &|round| {
            attempt(x.clone().fill(round as i64 % 2));
        },
        &|_| {
            if let Some(values) = allowed(y.to_vec::<i64>()) {
                assert_one_of(&values, &[0, 1]);
            }
        },
    ]);
    touch(&host);
    Ok(())
}

/// The backend gives a different device with each answer.
pub(crate) fn device_that_changes() -> Result<()> {
    let device: fn(usize) -> Device = |n| [Device::CPU, Device::META, DeviceType::Cuda.into()][n % 3];
    if let Some(storage) = storage(Liar { device, ..Liar::new(BYTES)? }) {
        assert_eq!(storage.device(), storage.device());
        touch(&storage);
        let mut x = Tensor::from([1i64]);
        attempt(x.set_storage(storage, &[8], &[1], 0));
        attempt(x.to_vec::<i64>());
    }
    Ok(())
}

/// Every method of the backend panics from some call on, and so does its destructor.
pub(crate) fn backend_that_panics() -> Result<()> {
    struct Panics(AtomicUsize, Storage);

    impl Panics {
        fn count(&self) {
            let left = self.0.fetch_sub(1, Ordering::Relaxed);
            assert!(left > 0 && left < 1 << 32, "asked once too often");
        }
    }

    impl StorageImpl for Panics {
        fn nbytes(&self) -> usize {
            self.count();
            BYTES
        }

        fn device(&self) -> Device {
            self.count();
            DeviceType::PrivateUse1.into()
        }

        fn why_unreachable(&self) -> Option<&'static str> {
            self.count();
            None
        }

        fn host(&self) -> Option<&Storage> {
            self.count();
            Some(&self.1)
        }
    }

    impl Drop for Panics {
        fn drop(&mut self) {
            if !std::thread::panicking() {
                self.count();
            }
        }
    }

    for left in 0..8 {
        let host = Storage::zeroed(BYTES, Device::CPU)?;
        let end = catch_unwind(AssertUnwindSafe(|| {
            let x = tensor_over(&Storage::new(Panics(AtomicUsize::new(left), host.clone())), 8)?;
            x.clone().fill(1i64)?;
            x.to_vec::<i64>()
        }));
        if let Ok(values) = end {
            assert_eq!(values?, [1; 8]);
        }
        let own = tensor_over(&host, 8)?;
        own.clone().fill(2i64)?;
        assert_eq!(own.to_vec::<i64>()?, [2; 8], "whatever panicked, nobody holds the memory");
    }
    Ok(())
}

/// The last handle of a storage is dropped: its owner then uses tensors, and keeps its host memory.
pub(crate) fn backend_that_calls_when_dropped() -> Result<()> {
    struct Calls {
        host: Storage,
        kept: Arc<Mutex<Vec<Tensor>>>,
        tensor: Tensor,
    }

    impl StorageImpl for Calls {
        fn nbytes(&self) -> usize {
            BYTES
        }

        fn device(&self) -> Device {
            DeviceType::PrivateUse1.into()
        }

        fn host(&self) -> Option<&Storage> {
            Some(&self.host)
        }
    }

    impl Drop for Calls {
        fn drop(&mut self) {
            attempt(self.tensor.resize(&[16], None));
            attempt(self.tensor.fill(3i64));
            self.kept
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .extend(allowed(tensor_over(&self.host, 8)));
        }
    }

    let (kept, mut x) = (Arc::default(), Tensor::from([1i64]));
    for _ in rounds() {
        let (host, tensor) = (Storage::zeroed(BYTES, Device::CPU)?, Tensor::from([0i64]));
        let storage = Storage::new(Calls { host, kept: Arc::clone(&kept), tensor: tensor.clone() });
        let mut y = tensor_over(&storage, 8)?;
        drop(storage);
        y.fill(7i64)?;
        y.set_storage(Storage::new(Liar::new(BYTES)?), &[8], &[1], 0)?;
        drop(y);
        attempt(x.set_storage(tensor.storage().clone(), tensor.sizes(), tensor.strides(), 0));
        assert_eq!((tensor.numel(), tensor.element::<i64>(&[0])?), (16, 3));
        let kept = std::mem::take(&mut *kept.lock().unwrap_or_else(PoisonError::into_inner));
        assert_eq!(kept.len(), 1);
        assert_eq!(kept[0].to_vec::<i64>()?, [7; 8]);
    }
    Ok(())
}

/// Storages that own storages: dropping 200 000 of them must not take stack.
pub(crate) fn deep_storages() -> Result<()> {
    struct Holds(#[expect(dead_code, reason = "held, and dropped")] Option<Storage>);

    impl StorageImpl for Holds {
        fn nbytes(&self) -> usize {
            0
        }

        fn device(&self) -> Device {
            DeviceType::PrivateUse1.into()
        }
    }

    let mut storage = Storage::new(Holds(None));
    for _ in 0..count(200_000, 50) {
        storage = Storage::new(Holds(Some(storage)));
    }
    drop(storage);
    let mut host = Storage::zeroed(BYTES, Device::CPU)?;
    for _ in 0..count(200_000, 50) {
        host = Storage::new(Liar { host: vec![host], ..Liar::new(0)? });
    }
    drop(host);
    Ok(())
}

/// The same memory as many dtypes: any bytes give numbers, and bools are true or false.
pub(crate) fn host_of_another_dtype() -> Result<()> {
    let storage = Storage::from_vec((0..=255u8).collect());
    let keys = DispatchKeySet::from_key(DispatchKey::CPU);
    for dtype in [DType::Bool, DType::Float16, DType::BFloat16, DType::Complex128, DType::UInt64] {
        for offset in 0..3 {
            let len = (256 / dtype.size()) as i64 - offset;
            let x = Tensor::from_storage(storage.clone(), &[len], &[1], offset, dtype, keys)?;
            assert!(!x.to_string().is_empty());
            attempt(x.element::<f64>(&[0]));
            attempt(x.to_vec::<half_or_number::Half>());
            if dtype == DType::Bool {
                let truths = x.to_vec::<bool>()?;
                assert_eq!(truths.iter().filter(|truth| !**truth).count(), usize::from(offset == 0));
            }
        }
        let odd = Tensor::from_storage(Storage::from_vec(vec![0u8; 256]), &[2], &[1], 1, dtype, keys);
        if let Some(x) = allowed(odd) {
            attempt(x.to_vec::<f64>());
        }
    }
    Ok(())
}

/// A backend allocates memory for numbers at an odd address: what follows the first byte of other memory.
pub(crate) fn memory_at_odd_addresses() -> Result<()> {
    struct Shifted(Storage);

    impl StorageImpl for Shifted {
        fn nbytes(&self) -> usize {
            self.0.nbytes()
        }

        fn device(&self) -> Device {
            Device::new(DeviceType::PrivateUse2, Some(0))
        }

        fn host(&self) -> Option<&Storage> {
            Some(&self.0)
        }
    }

    struct Shifts;

    impl Backend for Shifts {
        fn device_type(&self) -> DeviceType {
            DeviceType::PrivateUse2
        }

        fn name(&self) -> &'static str {
            "shifts"
        }

        fn device_count(&self) -> usize {
            1
        }

        fn allocate(&self, wanted: &Allocation) -> Result<Storage> {
            let mut all = Tensor::zeros(&[1 + wanted.nbytes as i64], DType::UInt8, Device::CPU)?;
            let parts = all.disjoint_parts(0, &[1, wanted.nbytes as i64])?;
            Ok(Storage::new(Shifted(parts[1].storage().clone())))
        }

        fn upload(&self, to: &Storage, offset: usize, bytes: &[u8]) -> Result<()> {
            to.bytes_mut()?[offset..offset + bytes.len()].copy_from_slice(bytes);
            Ok(())
        }

        fn download(&self, from: &Storage, offset: usize, bytes: &mut [u8]) -> Result<()> {
            bytes.copy_from_slice(&from.bytes()?[offset..offset + bytes.len()]);
            Ok(())
        }
    }

    backend::register(&Shifts)?;
    let device = Device::new(DeviceType::PrivateUse2, Some(0));
    let mut bytes = Tensor::zeros(&[4], DType::UInt8, device)?;
    bytes.elements_mut::<u8>()?.as_mut_slice()?.fill(7);
    assert_eq!(bytes.to_vec::<u8>()?, [7; 4]);
    let numbers = [
        Tensor::zeros(&[4], DType::Float64, device),
        Tensor::empty_strided(&[2, 2], &[1, 2], DType::Float64, device),
    ];
    for mut x in numbers.into_iter().filter_map(allowed) {
        x.elements_mut::<f64>()?.as_mut_slice()?.fill(2.5);
        assert_eq!(x.to_vec::<f64>()?, [2.5; 4]);
    }
    Ok(())
}

mod half_or_number {
    pub(super) type Half = torch_library::element::f16;
}
