//! The recorded answers that are committed here, replayed.

use std::path::Path;

use torch_library_tests::File;

/// Replays one file; any row that fails, or is skipped for another reason than these, fails the test.
fn replay(name: &str, may_skip: &[&str]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden");
    let report = File::named(name).unwrap().replay(&folder).unwrap().expect("the file is committed");
    assert!(report.failed.is_empty(), "{}", report.render(10));
    let unexpected: Vec<_> =
        report.skipped.keys().filter(|reason| !may_skip.contains(&reason.as_str())).collect();
    assert!(unexpected.is_empty(), "{unexpected:?}");
    assert!(report.passed > 0);
}

#[test]
fn schemas() {
    replay("schemas", &[]);
}

#[test]
fn schema_inputs() {
    replay("schema_inputs", &[]);
}

#[test]
fn bad_schemas() {
    replay("bad_schemas", &[]);
}

#[test]
fn dispatch_keys() {
    replay("dispatch_keys", &[]);
}

#[test]
fn dispatch_tables() {
    replay("dispatch_tables", &[]);
}

#[test]
fn dispatch_calls() {
    replay("dispatch_calls", &[]);
}
