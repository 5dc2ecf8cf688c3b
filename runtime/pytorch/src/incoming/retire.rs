//! The end of a call for memory that its kernel keeps.

use std::time::{Duration, Instant};

use torch_library::Storage;

/// How long the end of a call waits in silence.
const SILENCE: Duration = Duration::from_secs(2);

/// Refuses all later accesses to the memory, which PyTorch may free or move as soon as the call has returned
/// (`Tensor.resize_`, `Tensor.set_`, `UntypedStorage.resize_`), whatever handles of the tensor exist.
///
/// Code that is still accessing it, on a thread that the kernel started, has its address: as the end of a scope waits
/// for its threads (`std::thread::scope`), the end of a call waits until that code is done.
#[cold]
#[inline(never)]
pub(super) fn retire(storage: &Storage) {
    let (start, mut is_told) = (Instant::now(), false);
    while let Err(error) = storage.retire() {
        if !is_told && start.elapsed() > SILENCE {
            is_told = true;
            eprintln!(
                "a call from PyTorch waits until its kernel has stopped using the caller's tensors: {error}"
            );
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}
