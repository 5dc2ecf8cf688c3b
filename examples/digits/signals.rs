//! Signals that ask a program to end: looked at between two steps, so that what was learnt can be kept.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::signal;
use signal_hook::flag;
use torch_library::{Error, ErrorKind, Result};

/// What a shell adds to the number of the signal that ended a program.
const SHELLS: u8 = 128;

/// Whether the program was asked to end.
pub(crate) struct Signals(Arc<AtomicUsize>);

impl Signals {
    /// From now on a signal is noted; a second one ends the program at once.
    ///
    /// # Errors
    /// A system that does not let a program listen.
    pub(crate) fn listen() -> Result<Signals> {
        let (first, came) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        for signal in ending() {
            // In this order: the second signal finds what the first one noted.
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

    /// The exit code of a program that such a signal ended, if one came.
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

/// Whether who started the program wants it to outlive this, as `nohup` does; not every system tells.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    ignored >> (signal - 1) & 1 == 1
}
