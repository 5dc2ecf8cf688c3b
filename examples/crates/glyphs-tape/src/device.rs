//! The hooks that the core needs from the backend, and the fallback for operators without a kernel.

use torch_library::backend::{Allocation, Backend, cpu_fallback};
use torch_library::prelude::*;
use torch_library::{Storage, torch_backend};

use crate::Tape;

/// The only device: one tape deck.
struct Deck;

/// The length of a tape in bytes: its contents are played into the host's memory.
const LONGEST: usize = 1 << 32;

static DECK: Deck = Deck;
torch_backend!(DECK);

impl Backend for Deck {
    fn device_type(&self) -> DeviceType {
        DeviceType::PrivateUse1
    }

    fn name(&self) -> &'static str {
        "tape"
    }

    fn device_count(&self) -> usize {
        1
    }

    fn allocate(&self, wanted: &Allocation) -> Result<Storage> {
        ensure!(wanted.nbytes <= LONGEST, OutOfMemory, "a tape has {LONGEST} bytes, not {}", wanted.nbytes);
        Ok(Storage::new(Tape::blank(wanted.nbytes, wanted.dtype)))
    }

    fn upload(&self, to: &Storage, offset: usize, bytes: &[u8]) -> Result<()> {
        Tape::in_storage(to)?.record(offset, bytes)
    }

    fn download(&self, from: &Storage, offset: usize, bytes: &mut [u8]) -> Result<()> {
        let all = Tape::in_storage(from)?.play();
        let Some(range) = all.get(offset..).and_then(|rest| rest.get(..bytes.len())) else {
            bail!(Argument, "a tape of {} bytes has not {} of them at {offset}", all.len(), bytes.len())
        };
        bytes.copy_from_slice(range);
        Ok(())
    }
}

#[torch_fallback(PrivateUse1)]
fn on_the_cpu(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    cpu_fallback(operator, keys, stack)
}
