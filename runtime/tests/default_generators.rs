//! Default generators that are made and seeded while other threads draw from them and ask for more.
#![forbid(unsafe_code)]

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use torch_library::backend::{self, Allocation, Backend};
use torch_library::prelude::*;
use torch_library::{DeviceType, Storage, torch_backend};

const SEED: u64 = 7;

struct Desk;

impl Backend for Desk {
    fn device_type(&self) -> DeviceType {
        DeviceType::PrivateUse1
    }

    fn name(&self) -> &'static str {
        "desk"
    }

    fn device_count(&self) -> usize {
        3
    }

    fn allocate(&self, _: &Allocation) -> Result<Storage> {
        bail!(NotSupported, "no memory")
    }

    fn upload(&self, _: &Storage, _: usize, _: &[u8]) -> Result<()> {
        Ok(())
    }

    fn download(&self, _: &Storage, _: usize, _: &mut [u8]) -> Result<()> {
        Ok(())
    }

    /// The numbers of the last device are the continuation of those of the first.
    fn new_generator(&self, index: u8) -> Generator {
        let seed = match index {
            2 => backend::default_generator(desk(0)).unwrap().random64(),
            _ => SEED,
        };
        Generator::for_backend(desk(index), DispatchKeySet::from_key(DispatchKey::PrivateUse1), seed)
    }
}

static DESK: Desk = Desk;
torch_backend!(DESK);

fn desk(index: u8) -> Device {
    Device::new(DeviceType::PrivateUse1, Some(index))
}

/// Does the work on another thread, and fails if it deadlocks.
fn result_of<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(work()));
    receiver.recv_timeout(Duration::from_secs(20)).expect("the end of the work")
}

#[test]
fn default_generators_are_made_and_seeded_while_others_are_in_use() {
    let made = result_of(|| backend::default_generator(desk(2)).unwrap().initial_seed());
    assert_eq!(made, Generator::with_seed(SEED).random64());

    let first = backend::default_generator(desk(0)).unwrap();
    let (drawing, draws) = mpsc::channel();
    let (seeding, seeds) = mpsc::channel();
    let user = thread::spawn(move || {
        first.with(|_| {
            drawing.send(()).unwrap();
            seeds.recv().unwrap();
            thread::sleep(Duration::from_millis(100)); // by now the other thread waits for this one
            result_of(|| backend::default_generator(desk(1)).unwrap());
        })
    });
    draws.recv().unwrap();
    seeding.send(()).unwrap();
    backend::manual_seed_all(SEED + 1);
    user.join().unwrap();
    let seeds = [0, 1, 2].map(|index| backend::default_generator(desk(index)).unwrap().initial_seed());
    assert_eq!(seeds, [SEED + 1; 3]);
}
