//! `inspect compare`: how the registrations of this program differ from those of another build, which were saved as
//! JSON.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use serde_json::{Value, json};
use torch_library::{Error, ErrorKind, Result};

use super::list;
use crate::answer::Answer;

/// What is compared of an operator. Lines are not: they change with every edit above them.
#[derive(PartialEq)]
struct Operator {
    schema: String,
    /// For each kernel its key, function, file and crate.
    kernels: BTreeSet<String>,
}

type Operators = BTreeMap<String, Operator>;

pub(crate) fn answer(saved: &Path, prefix: Option<&str>) -> Result<Answer> {
    let mut before = read(saved)?;
    before.retain(|name, _| name.starts_with(prefix.unwrap_or_default()));
    let now = operators(&list::answer(prefix).json)
        .ok_or_else(|| Error::new(ErrorKind::Internal, "`list` has another format"))?;
    let only = |these: &Operators, those: &Operators| -> Vec<String> {
        these.keys().filter(|name| !those.contains_key(*name)).cloned().collect()
    };
    let (added, removed) = (only(&now, &before), only(&before, &now));
    let both = before.iter().filter_map(|(name, before)| now.get(name).map(|now| (name, before, now)));
    let changed: Vec<_> = both.filter(|(_, before, now)| before != now).collect();

    let mut text = String::new();
    for (sign, names, of) in [('-', &removed, &before), ('+', &added, &now)] {
        for name in names {
            let _ = writeln!(text, "{sign} {}", of[name].schema);
        }
    }
    for (name, before, now) in &changed {
        let _ = writeln!(text, "  {name}");
        for line in differences(before, now) {
            let _ = writeln!(text, "    {line}");
        }
    }
    let count = added.len() + removed.len() + changed.len();
    let _ = writeln!(text, "of {} operators, {count} differ from {}", now.len(), saved.display());
    let changed: Value = changed
        .iter()
        .map(|(name, before, now)| json!({ "name": name, "differences": differences(before, now) }))
        .collect();
    let json = json!({ "added": added, "removed": removed, "changed": changed });
    Ok(Answer { text, json, is_well: count == 0 })
}

/// Lines that begin with `-` for what was there before, and with `+` for what is there now.
fn differences(before: &Operator, now: &Operator) -> Vec<String> {
    let mut lines = Vec::new();
    if before.schema != now.schema {
        lines.extend([format!("- {}", before.schema), format!("+ {}", now.schema)]);
    }
    lines.extend(before.kernels.difference(&now.kernels).map(|kernel| format!("- {kernel}")));
    lines.extend(now.kernels.difference(&before.kernels).map(|kernel| format!("+ {kernel}")));
    lines
}

/// The operators of a saved listing.
fn read(saved: &Path) -> Result<Operators> {
    let refused = |why: String| Error::new(ErrorKind::Argument, format!("{}: {why}", saved.display()));
    let text = std::fs::read_to_string(saved).map_err(|error| refused(error.to_string()))?;
    let listing = serde_json::from_str(&text).ok().and_then(|listing| operators(&listing));
    listing.ok_or_else(|| refused("this is not what `inspect list --json` prints".to_owned()))
}

/// The operators of a listing in JSON, if it is one.
fn operators(listing: &Value) -> Option<Operators> {
    let operator = |entry: &Value| {
        let kernels = entry["kernels"].as_array()?.iter().map(kernel).collect::<Option<_>>()?;
        let schema = entry["schema"].as_str()?.to_owned();
        Some((entry["name"].as_str()?.to_owned(), Operator { schema, kernels }))
    };
    listing.as_array()?.iter().map(operator).collect()
}

fn kernel(kernel: &Value) -> Option<String> {
    let mut text = format!("{}: {}", kernel["key"].as_str()?, kernel["function"].as_str()?);
    if let (Some(file), Some(krate)) = (kernel["place"]["file"].as_str(), kernel["place"]["crate"].as_str()) {
        let _ = write!(text, " at {file} (crate {krate})");
    }
    if !kernel["active"].as_bool()? {
        text.push_str(", overridden");
    }
    Some(text)
}
