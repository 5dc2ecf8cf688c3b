//! The recorded answers that are committed here, replayed.

use std::any::Any;
use std::path::Path;
use std::sync::{PoisonError, RwLock};

use torch_library_tests::{File, Report};

/// Replays one file; any row that fails fails the test.
fn replay(name: &str) -> Report {
    replay_in("golden", name)
}

/// The probes of `autocast` are kernels of the process, which other files must not call meanwhile.
fn turn(name: &str) -> Box<dyn Any> {
    static PROBES: RwLock<()> = RwLock::new(());
    match name {
        "autocast" => Box::new(PROBES.write().unwrap_or_else(PoisonError::into_inner)),
        _ => Box::new(PROBES.read().unwrap_or_else(PoisonError::into_inner)),
    }
}

fn replay_in(folder: &str, name: &str) -> Report {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let _turn = turn(name);
    let report = File::named(name).unwrap().replay(&folder).unwrap().expect("the file is committed");
    assert!(report.failed.is_empty(), "{}", report.render(10));
    report
}

/// As [`replay`], and no row may be skipped.
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
fn programs_without_writes_or_without_elements() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden");
    let _turn = turn("programs");
    for layer in ["functionalize", "fake"] {
        let report = File::through(layer).unwrap().replay(&folder).unwrap().expect("the file is committed");
        assert!(report.passed > 0 && report.passed == report.rows(), "{layer}\n{}", report.render(10));
    }
}

#[test]
fn autocast() {
    replay_all("autocast");
}

#[test]
fn vmap() {
    replay_all("vmap");
}

#[test]
fn kernels_with_arguments_at_random() {
    for folder in ["golden/wider", "golden/derivatives"] {
        assert!(replay_in(folder, "kernels").passed > 0);
    }
}
