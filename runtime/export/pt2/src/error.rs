//! The error for an archive: a message, and whether the archive is wrong or only unsupported.

use std::fmt;

/// The result of an operation that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason why an archive cannot be read.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    source: Option<serde_json::Error>,
}

/// The kinds of [`Error`] that a caller may want to tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// It is inconsistent, or not an archive.
    Argument,
    /// It contains something that is not supported.
    NotSupported,
}

impl Error {
    /// An error of a kind with a message.
    #[cold]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error { kind, message: message.into(), source: None }
    }

    /// The error for JSON of another form.
    #[cold]
    pub(crate) fn of_json(what: impl fmt::Display, error: serde_json::Error) -> Self {
        Error { kind: ErrorKind::Argument, message: format!("{what}: {error}"), source: Some(error) }
    }

    /// The same error, with text in front that says what the program was doing.
    #[must_use]
    pub fn context(mut self, doing: impl fmt::Display) -> Self {
        self.message = format!("{doing}: {}", self.message);
        self
    }

    /// The kind, for code to branch on.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|source| source as _)
    }
}

/// Returns an error of a kind from the enclosing function.
macro_rules! bail {
    ($kind:ident, $($message:tt)+) => {
        return Err($crate::Error::new($crate::ErrorKind::$kind, format!($($message)+)))
    };
}

/// Returns an error of a kind unless a condition holds.
macro_rules! ensure {
    ($condition:expr, $kind:ident, $($message:tt)+) => {
        if !$condition {
            $crate::error::bail!($kind, $($message)+);
        }
    };
}

pub(crate) use {bail, ensure};
