//! Reads rows and their fields.

use std::fs;
use std::io::Read;
use std::path::Path;

use serde_json::Value as Json;
use torch_library::{DispatchKey, DispatchKeySet, Error, ErrorKind, Result};

use crate::report::{Check, Unmet};

/// The rows of a file: the lines of `NAME.jsonl`, or the single document in `NAME.json`, each optionally with `.gz`.
///
/// # Errors
/// The file cannot be read or is not JSON.
pub(crate) fn read(folder: &Path, name: &str) -> Result<Option<Vec<Json>>> {
    for extension in ["jsonl.gz", "jsonl", "json.gz", "json"] {
        let path = folder.join(format!("{name}.{extension}"));
        if path.exists() {
            let text = text(&path).map_err(|error| Error::from(error).context(path.display()))?;
            let lines: Vec<&str> =
                if extension.starts_with("jsonl") { text.lines().collect() } else { vec![&text] };
            let parse = |(index, line): (usize, &str)| {
                serde_json::from_str(line).map_err(|error| {
                    Error::new(ErrorKind::Io, format!("{}:{}: not JSON", path.display(), index + 1))
                        .with_source(error)
                })
            };
            return lines.into_iter().enumerate().map(parse).collect::<Result<_>>().map(Some);
        }
    }
    Ok(None)
}

/// The rows of a file `NAME.jsonl.gz` that is built into the program.
///
/// # Errors
/// The contents are not JSON.
pub(crate) fn of_bytes(bytes: &[u8]) -> Result<Vec<Json>> {
    let mut text = String::new();
    flate2::read::GzDecoder::new(bytes).read_to_string(&mut text)?;
    let wrong = |error| Error::new(ErrorKind::Io, "recorded answers that are not JSON").with_source(error);
    text.lines().map(|line| serde_json::from_str(line).map_err(wrong)).collect()
}

fn text(path: &Path) -> std::io::Result<String> {
    if path.extension().is_none_or(|extension| extension != "gz") {
        return fs::read_to_string(path);
    }
    let mut text = String::new();
    flate2::read::GzDecoder::new(fs::File::open(path)?).read_to_string(&mut text)?;
    Ok(text)
}

/// The fields of a row. A field that is missing or has another type is a failure of the row.
pub(crate) trait Row {
    fn field(&self, name: &str) -> Check<&Json>;
    fn text(&self, name: &str) -> Check<&str>;
    fn integer(&self, name: &str) -> Check<i64>;
    fn list(&self, name: &str) -> Check<&[Json]>;
    /// Whether a field is present and true.
    fn flag(&self, name: &str) -> bool;
    /// Whether a field is present and not null.
    fn has(&self, name: &str) -> bool;
    /// A key by its name.
    fn key(&self, name: &str) -> Check<DispatchKey>;
    /// A set by its bits.
    fn keys(&self, name: &str) -> Check<DispatchKeySet>;
    /// A list of strings.
    fn texts(&self, name: &str) -> Check<Vec<&str>>;
}

impl Row for Json {
    fn field(&self, name: &str) -> Check<&Json> {
        self.get(name).ok_or_else(|| malformed(name, "a field"))
    }

    fn text(&self, name: &str) -> Check<&str> {
        self[name].as_str().ok_or_else(|| malformed(name, "a text"))
    }

    fn integer(&self, name: &str) -> Check<i64> {
        self[name].as_i64().ok_or_else(|| malformed(name, "an integer"))
    }

    fn list(&self, name: &str) -> Check<&[Json]> {
        self[name].as_array().map(Vec::as_slice).ok_or_else(|| malformed(name, "a list"))
    }

    fn flag(&self, name: &str) -> bool {
        self[name] == true
    }

    fn has(&self, name: &str) -> bool {
        !self[name].is_null()
    }

    fn key(&self, name: &str) -> Check<DispatchKey> {
        Ok(self.text(name)?.parse()?)
    }

    fn keys(&self, name: &str) -> Check<DispatchKeySet> {
        let bits = self.text(name)?.parse().map_err(|_| malformed(name, "a mask"))?;
        Ok(DispatchKeySet::from_raw(bits))
    }

    fn texts(&self, name: &str) -> Check<Vec<&str>> {
        let texts = self.list(name)?.iter().map(Json::as_str);
        texts.collect::<Option<_>>().ok_or_else(|| malformed(name, "a list of texts"))
    }
}

fn malformed(name: &str, what: &str) -> Unmet {
    Unmet::failed(format!("{what} `{name}` in the row"), "none")
}
