//! Results of functional collectives that the program has not waited for yet.

use std::sync::{Mutex, MutexGuard, PoisonError};

use torch_library::prelude::*;

use crate::work::{LIMIT, Work};

/// The tensors of the results, with the work that fills them.
static PENDING: Mutex<Vec<(Tensor, Work)>> = Mutex::new(Vec::new());

fn pending() -> MutexGuard<'static, Vec<(Tensor, Work)>> {
    PENDING.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn add(result: Tensor, work: Work) -> Result<()> {
    let mut pending = pending();
    ensure!(
        pending.len() < LIMIT,
        Argument,
        "{LIMIT} results of collectives were not waited for\n  help: `wait_tensor` waits for one, and its memory is free then"
    );
    pending.push((result, work));
    Ok(())
}

/// Waits for the work that writes to the memory of a tensor.
pub(crate) fn wait(tensor: &Tensor) -> Result<()> {
    loop {
        let found = {
            let mut pending = pending();
            let place = pending.iter().position(|(result, _)| result.shares_storage_with(tensor));
            place.map(|place| pending.remove(place))
        };
        match found {
            Some((_, work)) => work.wait()?,
            None => return Ok(()),
        }
    }
}
