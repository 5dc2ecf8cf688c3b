//! Calls whose results would be lost are refused: of tensors on a device, and into tensors with a lazy bit.

use std::sync::{Mutex, MutexGuard, PoisonError};

use torch_library::backend::{Allocation, Backend, cpu_fallback};
use torch_library::element::Complex64;
use torch_library::prelude::*;
use torch_library::{DeviceType, Storage, StorageImpl, torch_backend};
use torch_library_distributed::{
    _c10d_functional as functional, DistributedDataParallel, Work, c10d, threads,
};
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

/// Memory that the host cannot access.
struct Drawer(Mutex<Vec<u8>>, usize);

impl Drawer {
    fn of(storage: &Storage) -> MutexGuard<'_, Vec<u8>> {
        let drawer = storage.downcast_ref::<Drawer>().expect("the backend has one kind of memory");
        drawer.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StorageImpl for Drawer {
    fn nbytes(&self) -> usize {
        self.1
    }

    fn device(&self) -> Device {
        Device::new(DeviceType::PrivateUse1, Some(0))
    }
}

/// A backend without kernels: every call falls back to the CPU.
struct Desk;

impl Backend for Desk {
    fn device_type(&self) -> DeviceType {
        DeviceType::PrivateUse1
    }

    fn name(&self) -> &'static str {
        "desk"
    }

    fn device_count(&self) -> usize {
        1
    }

    fn allocate(&self, wanted: &Allocation) -> Result<Storage> {
        Ok(Storage::new(Drawer(Mutex::new(vec![0; wanted.nbytes]), wanted.nbytes)))
    }

    fn upload(&self, to: &Storage, offset: usize, bytes: &[u8]) -> Result<()> {
        Drawer::of(to)[offset..offset + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn download(&self, from: &Storage, offset: usize, bytes: &mut [u8]) -> Result<()> {
        bytes.copy_from_slice(&Drawer::of(from)[offset..offset + bytes.len()]);
        Ok(())
    }
}

static DESK: Desk = Desk;
torch_backend!(DESK);

#[torch_fallback(PrivateUse1)]
fn on_the_cpu(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    cpu_fallback(operator, keys, stack)
}

#[test]
fn collectives_of_tensors_on_a_device() {
    let ranks = threads::run(2, |group| {
        let x = Tensor::from([1.0f32, 2.0]).to(Device::new(DeviceType::PrivateUse1, Some(0)))?;
        let (mut list, mut wide) = ([x.clone()], aten::cat(&[x.clone(), x.clone()])?);
        let errors = [
            functional::all_reduce(&x, "sum", "world").map(drop),
            functional::broadcast(&x, 0, "world").map(drop),
            functional::all_gather_into_tensor(&x, 2, "world").map(drop),
            c10d::allreduce_(&mut list, "world", "sum", None).map(drop),
            c10d::_allgather_base_(&mut wide, &Tensor::from([1.0f32, 2.0]), "world").map(drop),
            DistributedDataParallel::new([("weight".to_owned(), x.clone())], group, Default::default())
                .map(drop),
        ];
        for error in errors {
            let error = error.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Device);
            assert!(error.to_string().contains("ranks exchange tensors on the CPU only"), "{error}");
        }
        c10d::barrier::with(&x, "world", &[]).async_op(false).call().map(drop)
    });
    ranks.into_iter().collect::<Result<()>>().unwrap();
}

#[test]
fn tensors_with_a_bit_that_a_collective_would_write_later() {
    let ranks = threads::run(2, |_| {
        let x = Tensor::from(vec![Complex64::new(1.0, 2.0)]);
        let mut both = aten::conj(&aten::cat(&[x.clone(), x.clone()])?)?;
        let error = c10d::_allgather_base_(&mut both, &x, "world").map(drop).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotSupported);
        assert!(error.to_string().contains("`resolve_conj`"), "{error}");
        // What is read may have the bit.
        let mut plain = aten::resolve_conj(&both)?;
        let (_, ticket) = c10d::_allgather_base_(&mut plain, &aten::conj(&x)?, "world")?;
        Work::take(ticket)?.wait()?;
        assert_eq!(plain.to_vec::<Complex64>()?, [Complex64::new(1.0, -2.0); 2]);
        Ok(())
    });
    ranks.into_iter().collect::<Result<()>>().unwrap();
}
