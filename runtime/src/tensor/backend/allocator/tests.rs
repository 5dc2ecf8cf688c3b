//! Tests of the allocator, with a driver that counts.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

use super::*;

/// A driver with a fixed amount of memory, whose streams all finish when a switch is set.
struct Driver {
    left: Arc<AtomicUsize>,
    is_done: Arc<AtomicBool>,
    is_broken: Arc<AtomicBool>,
}

struct Memory(usize, Arc<AtomicUsize>);

impl Drop for Memory {
    fn drop(&mut self) {
        self.1.fetch_add(self.0, SeqCst);
    }
}

struct Switch {
    is_done: Arc<AtomicBool>,
    is_broken: Arc<AtomicBool>,
}

impl Event for Switch {
    fn query(&self) -> Result<bool> {
        Ok(self.is_done.load(SeqCst))
    }

    fn synchronize(&self) -> Result<()> {
        crate::ensure!(!self.is_broken.load(SeqCst), OutOfMemory, "the stream failed");
        self.is_done.store(true, SeqCst);
        Ok(())
    }
}

impl RawAllocator for Driver {
    type Memory = Memory;

    fn allocate(&self, nbytes: usize) -> Result<Memory> {
        let took = self.left.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(nbytes));
        match took {
            Ok(_) => Ok(Memory(nbytes, self.left.clone())),
            Err(left) => Err(Error::new(ErrorKind::OutOfMemory, format!("{left} left"))),
        }
    }

    fn record(&self, _: Stream) -> Result<Box<dyn Event>> {
        Ok(Box::new(Switch { is_done: self.is_done.clone(), is_broken: self.is_broken.clone() }))
    }
}

fn with(bytes: usize) -> (CachingAllocator<Driver>, Arc<AtomicUsize>, Arc<AtomicBool>) {
    let (left, is_done) = (Arc::new(AtomicUsize::new(bytes)), Arc::new(AtomicBool::new(false)));
    let driver = Driver { left: left.clone(), is_done: is_done.clone(), is_broken: Arc::default() };
    (CachingAllocator::new(Device::CPU, driver), left, is_done)
}

#[test]
fn what_waits_is_given_back_before_there_is_too_little() {
    let (allocator, left, _) = with(10 << 20);
    drop(allocator.allocate(6 << 20).unwrap());
    assert_eq!(left.load(SeqCst), 4 << 20, "it waits");
    let large = allocator.allocate(8 << 20).unwrap();
    let error = allocator.allocate(4 << 20).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutOfMemory);
    assert!(error.to_string().contains("8388608 are in use, 8388608 taken"), "{error}");
    drop(large);
    assert!(allocator.allocate(10 << 20).is_ok(), "the next call works");
    assert_eq!(allocator.stats().retries, 3);
}

#[test]
fn counts_add_up_to_nothing_at_the_end() {
    let (allocator, left, _) = with(1 << 30);
    let sizes = [1, 255, 256, 257, 1 << 20, (1 << 20) + 1, 5 << 20];
    let blocks: Vec<_> = sizes.iter().map(|size| allocator.allocate(*size).unwrap()).collect();
    assert_eq!(allocator.stats().requested, sizes.iter().sum::<usize>());
    drop(blocks);
    let stats = allocator.stats();
    assert_eq!((stats.requested, stats.allocated, stats.reserved), (0, 0, stats.peak_allocated));
    allocator.empty_cache().unwrap();
    assert_eq!((allocator.stats().reserved, left.load(SeqCst)), (0, 1 << 30));
    assert!(allocator.allocate(usize::MAX).is_err());
}

#[test]
fn a_block_that_a_stream_uses_waits_for_the_stream() {
    let (allocator, _, is_done) = with(1 << 20);
    let block = allocator.allocate(1000).unwrap();
    block.record_stream(Stream { device: Device::CPU, id: 7 });
    drop(block);
    let second = allocator.allocate(1000).unwrap();
    assert_eq!(allocator.stats().reused, 0);
    is_done.store(true, SeqCst);
    let third = allocator.allocate(1000).unwrap();
    assert_eq!(allocator.stats().reused, 1);
    drop((second, third));
}

#[test]
fn blocks_wait_on_if_their_stream_fails() {
    let is_broken = Arc::new(AtomicBool::new(true));
    let left = Arc::new(AtomicUsize::new(1 << 30));
    let driver = Driver { left: left.clone(), is_done: Arc::default(), is_broken: is_broken.clone() };
    let allocator = CachingAllocator::new(Device::CPU, driver);
    for block in [1000, 2 << 20, 5 << 20].map(|size| allocator.allocate(size).unwrap()) {
        block.record_stream(Stream { device: Device::CPU, id: 7 });
    }
    let taken = allocator.stats().reserved;
    assert!(allocator.empty_cache().is_err());
    assert_eq!(((1 << 30) - left.load(SeqCst), allocator.stats().reserved), (taken, taken));
    is_broken.store(false, SeqCst);
    allocator.empty_cache().unwrap();
    assert_eq!((left.load(SeqCst), allocator.stats().reserved), (1 << 30, 0));
}

#[test]
fn an_event_may_ask_the_allocator() {
    struct Asks(Arc<OnceLock<CachingAllocator<Asking>>>);
    impl Event for Asks {
        fn query(&self) -> Result<bool> {
            Ok(self.0.get().is_some_and(|allocator| allocator.stats().allocated == 0))
        }

        fn synchronize(&self) -> Result<()> {
            Ok(())
        }
    }

    struct Asking(Arc<OnceLock<CachingAllocator<Asking>>>);
    impl RawAllocator for Asking {
        type Memory = ();

        fn allocate(&self, _: usize) -> Result<()> {
            Ok(())
        }

        fn record(&self, _: Stream) -> Result<Box<dyn Event>> {
            Ok(Box::new(Asks(self.0.clone())))
        }
    }

    let own = Arc::new(OnceLock::new());
    let allocator = own.get_or_init(|| CachingAllocator::new(Device::CPU, Asking(own.clone())));
    let block = allocator.allocate(1000).unwrap();
    block.record_stream(Stream { device: Device::CPU, id: 7 });
    drop(block);
    drop(allocator.allocate(1000).unwrap());
    assert_eq!(allocator.stats().reused, 1);
}

#[test]
fn the_limit_holds_while_the_driver_is_asked() {
    struct Asking(Arc<OnceLock<CachingAllocator<Asking>>>);
    impl RawAllocator for Asking {
        type Memory = ();

        fn allocate(&self, nbytes: usize) -> Result<()> {
            let allocator = self.0.get().unwrap();
            let meanwhile = std::thread::scope(|scope| scope.spawn(|| allocator.allocate(nbytes)).join());
            assert_eq!(meanwhile.unwrap().err().map(|error| error.kind()), Some(ErrorKind::OutOfMemory));
            crate::bail!(Device, "no driver")
        }

        fn record(&self, _: Stream) -> Result<Box<dyn Event>> {
            crate::bail!(Device, "no driver")
        }
    }

    let own = Arc::new(OnceLock::new());
    let allocator = own.get_or_init(|| CachingAllocator::new(Device::CPU, Asking(own.clone())));
    allocator.set_limit(Some(3 << 20));
    assert_eq!(allocator.allocate(2 << 20).err().map(|error| error.kind()), Some(ErrorKind::Device));
    assert_eq!(allocator.stats().reserved, 0, "what the driver did not give is not counted");
}
