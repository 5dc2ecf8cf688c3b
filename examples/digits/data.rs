//! Reads digits: gzip, lines of comma-separated numbers, and errors with places.

use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use torch_library::{Error, ErrorKind, Result, Tensor, bail, ensure};

use crate::progress::Progress;

/// The data that is built into the program, so that it runs from anywhere: `examples/data/digits.csv.gz`.
const BUILT_IN: &[u8] = include_bytes!("../data/digits.csv.gz");

/// Pixels on each side.
pub(crate) const SIDE: usize = 8;
/// Ink of the darkest pixel.
pub(crate) const MAX_INK: u8 = 16;
/// The number of classes.
pub(crate) const CLASSES: u8 = 10;
const PIXELS: usize = SIDE * SIDE;
/// Limits on the input: a small file may unpack to any length, and so may its first line.
const MAX_DIGITS: usize = 50_000;
const MAX_LINE: usize = 512;

/// Pictures with their classes.
pub(crate) struct Digits {
    /// Ink: `float32`, sizes `[N, 1, 8, 8]`.
    pub(crate) images: Tensor,
    /// Classes: `int64`, sizes `[N]`.
    pub(crate) labels: Tensor,
}

impl Digits {
    /// The digits of the data set that comes with the program.
    ///
    /// # Errors
    /// None, unless the program was built with other data.
    pub(crate) fn built_in() -> Result<Digits> {
        read("examples/data/digits.csv.gz", Cursor::new(BUILT_IN), BUILT_IN.len() as u64)
    }

    /// Reads the digits of a file.
    ///
    /// # Errors
    /// The file cannot be read, is not an intact gzip file, or holds something else; the message has line and column.
    pub(crate) fn open(path: &Path) -> Result<Digits> {
        let name = path.display().to_string();
        let unreadable = |error: std::io::Error| {
            Error::new(ErrorKind::Io, format!("cannot read {name}: {error}\n  help: {FORMAT}"))
                .with_source(error)
        };
        let file = File::open(path).map_err(unreadable)?;
        let len = file.metadata().map_err(unreadable)?.len();
        read(&name, file, len)
    }
}

/// The format of the file, for messages.
const FORMAT: &str = "`--data` takes a gzip file of lines `pixel,…,pixel,class`: 64 pixels from 0 to 16, a class from \
                      0 to 9; without it the built-in digits are read";

fn read(name: &str, source: impl Read, len: u64) -> Result<Digits> {
    let progress = Progress::reading(name, len);
    let mut lines = BufReader::new(MultiGzDecoder::new(progress.watch(source)));
    let (mut pixels, mut classes, mut line) = (Vec::new(), Vec::new(), String::new());
    for number in 1.. {
        line.clear();
        progress.go_on();
        let len = lines.by_ref().take(MAX_LINE as u64 + 1).read_line(&mut line).map_err(|error| {
            let doing = format!("{name} is no intact gzip file of text, after line {}: {error}", number - 1);
            Error::new(ErrorKind::Io, format!("{doing}\n  help: {FORMAT}")).with_source(error)
        })?;
        if len == 0 {
            break;
        }
        ensure!(
            number <= MAX_DIGITS,
            Io,
            "{name} holds more than {MAX_DIGITS} digits, the most that are read"
        );
        let fits = len <= MAX_LINE;
        ensure!(fits, Io, "{name}, line {number}: more than {MAX_LINE} bytes, the most that a line may have");
        let class = parse(line.trim_end(), &mut pixels)
            .map_err(|error| error.context(format_args!("{name}, line {number}")))?;
        classes.push(i64::from(class));
    }
    ensure!(!classes.is_empty(), Io, "{name} holds no digits\n  help: {FORMAT}");
    let sizes = [classes.len() as i64, 1, SIDE as i64, SIDE as i64];
    Ok(Digits { images: Tensor::from_vec(pixels, &sizes)?, labels: classes.into() })
}

/// Adds the pixels of a line, and returns its class.
fn parse(line: &str, pixels: &mut Vec<f32>) -> Result<u8> {
    let columns: Vec<&str> = line.split(',').collect();
    ensure!(columns.len() == PIXELS + 1, Io, "{} columns, 64 pixels and a class are 65", columns.len());
    let (ink, class) = columns.split_at(PIXELS);
    for (index, text) in ink.iter().enumerate() {
        pixels.push(f32::from(number(text, index, "ink", MAX_INK)?));
    }
    number(class[0], PIXELS, "a class", CLASSES - 1)
}

fn number(text: &str, index: usize, what: &str, max: u8) -> Result<u8> {
    match text.parse() {
        Ok(number) if number <= max => Ok(number),
        _ => bail!(Io, "column {}: {text:?} is not {what}, a number from 0 to {max}", index + 1),
    }
}
