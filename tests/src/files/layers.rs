//! `programs`: they need layers above the kernels.

use serde_json::Value as Json;

use crate::report::{Report, Unmet};

pub(crate) fn programs(rows: &[Json], report: &mut Report) {
    skip(rows, report, "programs need the autograd layer");
}

fn skip(rows: &[Json], report: &mut Report, reason: &str) {
    for row in rows {
        report.row(row, "", || Err(Unmet::Skipped(reason.to_owned())));
    }
}
