//! The program's output, and how the program ends when its reader goes away.

use std::fmt;
use std::io::{self, Write};

use torch_library::{Error, ErrorKind, Result};

/// The exit code of a program that writes to a closed pipe, by the shells' convention: 128 plus the number of SIGPIPE.
pub(crate) const CLOSED_PIPE: u8 = 128 + 13;

/// The error that the reader of the output is gone.
#[derive(Debug)]
struct Closed;

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nobody reads what is printed")
    }
}

impl std::error::Error for Closed {}

/// Prints to stdout.
///
/// # Errors
/// The output cannot be written, or its reader is gone: then the program ends quietly.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut output = io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            Err(Error::new(ErrorKind::Io, Closed.to_string()).with_source(Closed))
        }
        Err(error) => Err(Error::new(ErrorKind::Io, format!("cannot print: {error}")).with_source(error)),
        Ok(()) => Ok(()),
    }
}

/// Whether an error says that the reader is gone.
pub(crate) fn is_closed(error: &Error) -> bool {
    std::error::Error::source(error).is_some_and(|source| source.is::<Closed>())
}

/// Prints an error to stderr, if that is still open.
pub(crate) fn complain(error: &Error) {
    let _ = writeln!(io::stderr(), "digits: {error}");
}
