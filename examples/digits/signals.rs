//! Signals that ask the program to end: checked between two steps, so that the training so far can be saved.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::signal;
use signal_hook::flag;
use torch_library::{Error, ErrorKind, Result};

/// Shells report a program that was ended by a signal as this number plus the signal's.
const SHELLS: u8 = 128;

/// Whether the program was asked to end.
pub(crate) struct Signals(Arc<AtomicUsize>);

impl Signals {
    /// Registers handlers that record the first signal; a second one ends the program at once.
    ///
    /// # Errors
    /// The system does not allow handlers.
    pub(crate) fn listen() -> Result<Signals> {
        let (first, came) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        for signal in ending() {
            // In this order, so that the second signal sees the flag that the first one set.
            flag::register_conditional_default(signal, came.clone())
                .and_then(|_| flag::register(signal, came.clone()))
                .and_then(|_| flag::register_usize(signal, first.clone(), signal as usize))
                .map_err(|error| {
                    Error::new(ErrorKind::Io, format!("cannot wait for signal {signal}: {error}"))
                        .with_source(error)
                })?;
        }
        Ok(Signals(first))
    }

    /// The exit code of a program ended by the received signal, if there was one.
    pub(crate) fn exit_code(&self) -> Option<u8> {
        match self.0.load(Ordering::Relaxed) {
            0 => None,
            signal => Some(SHELLS + signal as u8),
        }
    }
}

/// Ctrl-C, `kill`, and a terminal that is closed.
fn ending() -> Vec<i32> {
    let mut signals = vec![signal::SIGINT, signal::SIGTERM];
    #[cfg(unix)]
    if !is_ignored(signal::SIGHUP) {
        signals.push(signal::SIGHUP);
    }
    signals
}

/// Whether the parent process arranged for the program to ignore it, as `nohup` does; not every system shows this.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    ignored >> (signal - 1) & 1 == 1
}
