//! The opaque error type: what happened, its kind, and its cause.

use std::borrow::Cow;
use std::fmt;

use crate::dropping::{self, Queue};

/// The result of an operation that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The maximum number of bytes of an error's message, which may name lists of any length.
pub const MESSAGE: usize = 1 << 14;

/// An error, in one machine word.
///
/// An error has a [kind](Error::kind) to branch on, a message for people, and a source chain.
///
/// ```
/// use torch_library::{Error, ErrorKind};
///
/// let error = Error::new(ErrorKind::Shape, "sizes [2] and [3] do not broadcast");
/// assert_eq!(error.kind(), ErrorKind::Shape);
/// assert_eq!(error.to_string(), "sizes [2] and [3] do not broadcast");
///
/// // `?` converts the errors of the standard library's I/O, and of its conversions of text and numbers.
/// fn size(text: &str) -> torch_library::Result<i64> {
///     Ok(text.parse::<i64>()?)
/// }
/// assert_eq!(size("three").unwrap_err().kind(), ErrorKind::Argument);
/// ```
///
/// To wrap any other error, make it the source: `.map_err(|error| Error::new(ErrorKind::Kernel,
/// "…").with_source(error))`.
///
/// PyTorch: `c10::Error`.
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    message: Cow<'static, str>,
    help: Option<Help>,
    source: Option<Cause>,
}

type Cause = Box<dyn std::error::Error + Send + Sync>;
type Help = Box<dyn Fn() -> String + Send + Sync>;

thread_local! {
    static CAUSES: Queue<Cause> = const { Queue::new() };
}

/// Queues the cause, because recursion could overflow the stack: it is usually an error of this type, and may have a
/// cause in turn, and so on.
impl Drop for Inner {
    fn drop(&mut self) {
        if let Some(cause) = self.source.take() {
            dropping::in_turn(&CAUSES, cause);
        }
    }
}

/// The kinds of [`Error`] that a caller may want to tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A schema does not parse or contradicts itself.
    Schema,
    /// There is no operator with that name, or it was removed.
    UnknownOperator,
    /// The operator has no kernel for the keys of this call.
    MissingKernel,
    /// Registrations contradict each other.
    Conflict,
    /// An argument has an unacceptable value.
    Argument,
    /// Sizes, strides or dimensions do not fit.
    Shape,
    /// An index or a dimension is out of range.
    Index,
    /// An element type is not accepted here.
    DType,
    /// A device is not accepted here.
    Device,
    /// Not enough memory, on a device or the host.
    OutOfMemory,
    /// Memory is in use by another call, on this thread or a different one, see [`Lease`](crate::Lease).
    Busy,
    /// A value has a type other than the schema says.
    Type,
    /// A gradient was needed where there is none.
    Autograd,
    /// Not supported: a part of the schema language, or what a layer, a device or a kind of tensor cannot do, such as
    /// running an operator under vmap, or reading the elements of a wrapper.
    NotSupported,
    /// Calls are nested deeper than the thread's stack allows.
    Recursion,
    /// Reading or writing data failed.
    Io,
    /// A kernel's own failure.
    Kernel,
    /// A bug of this library.
    Internal,
}

impl Error {
    /// An error of a kind with a message. A message longer than [`MESSAGE`](crate::limits::MESSAGE) is cut off.
    #[cold]
    pub fn new(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Error(Box::new(Inner { kind, message: shortened(message.into()), help: None, source: None }))
    }

    /// The same error, whose message ends with a line of help. `help` searches for it whenever the message is shown:
    /// programs also ask for what may not exist, and drop the error.
    #[must_use]
    pub(crate) fn with_help(mut self, help: impl Fn() -> String + Send + Sync + 'static) -> Self {
        self.0.help = Some(Box::new(help));
        self
    }

    /// The same error with a cause, which [`source`](std::error::Error::source) returns.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// The same error, whose message begins with what the program was doing: `adding gradients: there is no …`.
    #[must_use]
    pub fn context(mut self, doing: impl fmt::Display) -> Self {
        self.0.message = shortened(format!("{doing}: {}", self.0.message).into());
        self
    }

    /// The same error with a last line that names a source location, unless the message has it already.
    #[cold]
    pub(crate) fn at(mut self, place: impl fmt::Display) -> Self {
        let place = place.to_string();
        let message = self.to_string();
        if !message.contains(&place) {
            self.0.message = format!("{message}\n  at {place}").into();
            self.0.help = None; // it is part of the message now
        }
        self
    }

    /// Puts the name of an operator, `ns::name.overload`, in front, unless the message has it. Overloads are not
    /// distinguished: kernels that several share say `ns::name`. Where operators call each other, the first and the
    /// last are named, not those in between.
    #[cold]
    #[inline(never)]
    pub(crate) fn name_operator(&mut self, operator: &dyn fmt::Display) {
        let full = operator.to_string();
        let name = full.split('.').next().unwrap_or_default();
        let is_whole = |after: Option<char>| !after.is_some_and(|c| c == '_' || c.is_alphanumeric());
        let message = &mut self.0.message;
        if !message.match_indices(name).any(|(at, _)| is_whole(message[at + name.len()..].chars().next())) {
            let last = match message.split_once(": ") {
                Some((between, rest)) if is_operator(between) && starts_with_operator(rest) => rest,
                _ => message,
            };
            *message = format!("{full}: {last}").into();
        }
    }

    /// The kind, for code to branch on.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }
}

/// The beginning of a message, and the number of bytes left out.
fn shortened(message: Cow<'static, str>) -> Cow<'static, str> {
    if message.len() <= MESSAGE {
        return message;
    }
    let kept = (0..=MESSAGE - ROOM).rfind(|end| message.is_char_boundary(*end)).unwrap_or_default();
    format!("{} … and {} bytes more", &message[..kept], message.len() - kept).into()
}

/// Room for the text that ends a message that was cut off.
const ROOM: usize = 40;

/// Whether a text looks like the name of an operator.
fn is_operator(text: &str) -> bool {
    text.contains("::") && text.chars().all(|c| matches!(c, '_' | '.' | ':') || c.is_alphanumeric())
}

fn starts_with_operator(message: &str) -> bool {
    message.split_once(": ").is_some_and(|(name, _)| is_operator(name))
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { message, help, .. } = &*self.0;
        f.write_str(message)?;
        match help {
            Some(help) => {
                let help = format!("\n  help: {}", help());
                f.write_str(if message.len() + help.len() <= MESSAGE { &help } else { "" })
            }
            None => Ok(()),
        }
    }
}

/// The message first, then the causes: what `fn main() -> Result<()>` prints.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")?;
        let mut source = std::error::Error::source(self);
        while let Some(cause) = source {
            write!(f, "\n  caused by: {cause}")?;
            source = cause.source();
        }
        Ok(())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_ref().map(|source| &**source as &(dyn std::error::Error + 'static))
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Error::new(ErrorKind::Io, error.to_string()).with_source(error)
    }
}

/// The errors of Rust's own conversions of text and numbers, so that `?` works on them in kernels.
macro_rules! of_conversions {
    ($($Source:ty),+) => { $(
        impl From<$Source> for Error {
            fn from(error: $Source) -> Self {
                Error::new(ErrorKind::Argument, error.to_string()).with_source(error)
            }
        }
    )+ };
}

of_conversions! {
    std::num::ParseIntError, std::num::ParseFloatError, std::num::TryFromIntError, std::str::ParseBoolError,
    std::str::Utf8Error, std::string::FromUtf8Error
}

/// Returns an [`Error`] of a kind from the enclosing function: `bail!(Shape, "sizes {a:?} and {b:?} do not match")`.
///
/// PyTorch: `TORCH_CHECK(false, …)`.
#[macro_export]
macro_rules! bail {
    ($kind:ident, $($message:tt)+) => {
        return ::core::result::Result::Err($crate::Error::new($crate::ErrorKind::$kind, ::std::format!($($message)+)))
    };
    ($($without_kind:tt)+) => {
        $crate::__private::error_at!([$($without_kind)+]
            "expected the kind of the error, then its message, as in `bail!(Argument, \"n is {n}\")`: \
             the kinds are the variants of `ErrorKind`")
    };
}

/// Returns an [`Error`] of a kind unless a condition holds: `ensure!(n > 0, Argument, "n is {n}, must be positive")`.
///
/// PyTorch: `TORCH_CHECK(condition, …)`.
#[macro_export]
macro_rules! ensure {
    ($condition:expr, $kind:ident, $($message:tt)+) => {
        if !$condition {
            $crate::bail!($kind, $($message)+);
        }
    };
    ($condition:expr, $($without_kind:tt)+) => {
        $crate::__private::error_at!([$($without_kind)+]
            "expected the kind of the error, then its message, as in `ensure!(n > 0, Argument, \"n is {n}\")`: \
             the kinds are the variants of `ErrorKind`")
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A large number natively, and a smaller one under Miri, which is slow.
    const fn count(natively: usize, interpreted: usize) -> usize {
        if cfg!(miri) { interpreted } else { natively }
    }

    #[test]
    fn texts_of_any_length_are_quoted_in_part() {
        let text = "é".repeat(count(1_000_000, MESSAGE));
        let errors = [
            Error::new(ErrorKind::Argument, format!("bad: {text}!")),
            Error::new(ErrorKind::Argument, "bad").context(&text),
            text.parse::<crate::DispatchKey>().unwrap_err(),
            crate::Dispatcher::global().find(&text).unwrap_err(),
        ];
        for error in errors {
            let message = error.to_string();
            assert!(message.len() <= MESSAGE && message.ends_with(" bytes more"), "{} bytes", message.len());
        }
        assert_eq!(Error::new(ErrorKind::Argument, "short").to_string(), "short");
    }

    #[test]
    fn an_operator_is_named_once() {
        let named = |message: &'static str, operator| {
            let mut error = Error::new(ErrorKind::Kernel, message);
            error.name_operator(&operator);
            error.to_string()
        };
        assert_eq!(named("no", "ns::add.Tensor"), "ns::add.Tensor: no");
        assert_eq!(named("ns::add: no", "ns::add.Tensor"), "ns::add: no");
        assert_eq!(named("argument 1 of ns::add.out", "ns::add.Tensor"), "argument 1 of ns::add.out");
        assert_eq!(named("ns::add_: no", "ns::add"), "ns::add: ns::add_: no");
        assert_eq!(named("ns::add_.out: no", "ns::sum"), "ns::sum: ns::add_.out: no");
        assert_eq!(named("ns::sum: ns::add_.out: no", "ns::mean"), "ns::mean: ns::add_.out: no");
        assert_eq!(named("ns::sum: index: no", "ns::mean"), "ns::mean: ns::sum: index: no");
        assert_eq!(named("ns::addmm: no; ns::add", "ns::add"), "ns::addmm: no; ns::add");
    }

    #[test]
    fn of_a_long_message_the_beginning_is_kept() {
        let message = |text: String| Error::new(ErrorKind::Kernel, text).to_string();
        assert_eq!(message("é".repeat(MESSAGE / 2)).len(), MESSAGE);
        let long = message("é".repeat(MESSAGE));
        assert!(long.len() <= MESSAGE && long.starts_with("éé"), "{} bytes", long.len());
        assert!(long.ends_with("é … and 16424 bytes more"), "{}", &long[MESSAGE - 60..]);
        let deep = (0..count(10_000, MESSAGE / 4))
            .fold(Error::new(ErrorKind::Kernel, "no"), |error, _| error.context("in a loop"));
        assert!(deep.to_string().len() <= MESSAGE && deep.to_string().starts_with("in a loop: in a loop: "));
    }

    #[test]
    fn help_is_searched_for_when_it_is_read() {
        use std::sync::atomic::{AtomicUsize, Ordering};

        static SEARCHES: AtomicUsize = AtomicUsize::new(0);
        let error = || {
            Error::new(ErrorKind::Argument, "no").with_help(|| {
                SEARCHES.fetch_add(1, Ordering::Relaxed);
                "yes".into()
            })
        };
        let mut in_context = error().context("asking");
        in_context.name_operator(&"ns::ask");
        assert_eq!((in_context.kind(), SEARCHES.load(Ordering::Relaxed)), (ErrorKind::Argument, 0));
        assert_eq!(in_context.to_string(), "ns::ask: asking: no\n  help: yes");
        assert_eq!(format!("{:?}", error()), "no\n  help: yes");
        assert_eq!(error().at("here").to_string(), "no\n  help: yes\n  at here");
        assert_eq!(SEARCHES.load(Ordering::Relaxed), 3);
        let long = Error::new(ErrorKind::Argument, "n".repeat(MESSAGE)).with_help(|| "yes".into());
        assert_eq!(long.to_string().len(), MESSAGE);
    }

    #[test]
    fn an_error_has_any_number_of_causes() {
        let first = Error::new(ErrorKind::Kernel, "first");
        let last = (0..count(200_000, 300))
            .fold(first, |cause, _| Error::new(ErrorKind::Kernel, "later").with_source(cause));
        assert!(format!("{last:?}").ends_with("caused by: later\n  caused by: first"));
    }

    #[test]
    fn errors_of_others_have_a_kind_and_stay_the_cause() {
        let of_text = Error::from("x".parse::<i64>().unwrap_err());
        assert_eq!(
            (of_text.kind(), of_text.to_string()),
            (ErrorKind::Argument, "invalid digit found in string".into())
        );
        let of_bytes = Error::from(String::from_utf8(vec![0xff]).unwrap_err());
        assert_eq!(of_bytes.kind(), ErrorKind::Argument);
        let of_a_file = Error::from(std::io::Error::new(std::io::ErrorKind::NotFound, "no such file"));
        assert_eq!(of_a_file.kind(), ErrorKind::Io);
        assert_eq!(format!("{of_a_file:?}"), "no such file\n  caused by: no such file");
    }
}
