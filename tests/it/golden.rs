//! Replays the recorded answers in this repository, except those of autocast, which are in `alone/probes.rs`.

use std::path::Path;

use torch_library_tests::{File, Report};

/// Replays one file; the test fails if any row does.
fn replay(name: &str) -> Report {
    replay_in("golden", name)
}

fn replay_in(folder: &str, name: &str) -> Report {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let report = File::named(name).unwrap().replay(&folder).unwrap().expect("the file is committed");
    assert!(report.failed.is_empty(), "{}", report.render(10));
    report
}

/// Like [`replay`], and no row may be skipped.
fn replay_all(name: &str) {
    let report = replay(name);
    assert!(report.passed > 0 && report.skipped.is_empty(), "{}", report.render(10));
}

#[test]
fn schemas() {
    replay_all("schemas");
}

#[test]
fn schema_inputs() {
    replay_all("schema_inputs");
}

#[test]
fn bad_schemas() {
    replay_all("bad_schemas");
}

#[test]
fn dispatch_keys() {
    replay_all("dispatch_keys");
}

#[test]
fn dispatch_tables() {
    replay_all("dispatch_tables");
}

#[test]
fn dispatch_calls() {
    replay_all("dispatch_calls");
}

#[test]
fn promotion() {
    replay_all("promotion");
}

#[test]
fn kernels() {
    assert!(replay("kernels").passed > 0);
}

#[test]
fn programs() {
    replay_all("programs");
}

#[test]
fn programs_without_writes_without_elements_and_as_graphs() {
    for (folder, layer) in ["golden", "golden/wider"]
        .into_iter()
        .flat_map(|folder| ["functionalize", "fake", "trace"].map(|layer| (folder, layer)))
    {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let report = File::through(layer).unwrap().replay(&folder).unwrap().expect("the file is committed");
        assert!(report.passed > 0 && report.passed == report.rows(), "{layer}\n{}", report.render(10));
    }
}

#[test]
fn vmap() {
    replay_all("vmap");
}

#[test]
fn programs_and_batches_at_random() {
    for name in ["programs", "vmap"] {
        let report = replay_in("golden/wider", name);
        assert!(report.passed > 0 && report.skipped.is_empty(), "{}", report.render(10));
    }
}

#[test]
fn what_pytorchs_own_tests_ask_of_operators() {
    for folder in ["golden/opinfo", "golden/changed", "golden/float8"] {
        let report = replay_in(folder, "kernels");
        assert!(report.passed > 0 && report.skipped.is_empty(), "{}", report.render(10));
    }
}

#[test]
fn kernels_with_arguments_at_random() {
    for folder in ["golden/wider", "golden/derivatives"] {
        assert!(replay_in(folder, "kernels").passed > 0);
    }
}
