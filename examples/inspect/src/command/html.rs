//! `inspect html`: writes the catalogue, a single page about all operators, to a file.

use std::fs;
use std::path::Path;

use serde_json::json;
use torch_library::{Dispatcher, Result, bail};

use crate::answer::Answer;
use crate::catalogue;

pub(crate) fn answer(out: &Path, sources: &Path) -> Result<Answer> {
    let operators = Dispatcher::global().operators();
    let page = catalogue::page(&operators, sources);
    if let Err(error) = fs::write(out, &page) {
        bail!(Io, "the catalogue cannot be written to {}: {error}", out.display());
    }
    let text = format!("{} operators in {}\n", operators.len(), out.display());
    let json =
        json!({ "operators": operators.len(), "bytes": page.len(), "file": out.display().to_string() });
    Ok(Answer::new(text, json))
}
