//! `bad_schemas`: texts at the border of the language, to be accepted or rejected as declarations.

use serde_json::Value as Json;
use torch_library_schema::{Mode, Schema};

use super::schemas;
use crate::report::{Check, Report, Unmet};
use crate::rows::Row;

pub(crate) fn replay(rows: &[Json], report: &mut Report) {
    for row in rows {
        let label = format!("{} ({})", row["input"], row["category"].as_str().unwrap_or_default());
        report.row(row, &label, || check(row));
    }
}

fn check(row: &Json) -> Check {
    let text = row.text("input")?;
    match (Schema::parse(text, Mode::Strict), row.text("want")?) {
        (Ok(_), "accept") if row.flag("compare_structure") => {
            schemas::compare(text, row.field("parse")?.field("parsed")?, Mode::Strict)
        }
        (Ok(_), "accept") | (Err(_), "refuse") => Ok(()),
        (Ok(schema), want) => Err(Unmet::failed(want, format!("accepted as {schema}"))),
        (Err(error), want) => Err(Unmet::failed(want, error.render(text))),
    }
}
