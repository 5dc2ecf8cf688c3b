//! The catalogue that `inspect html` writes: one page with everything in it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::inspect;

/// The root of the sources, above this crate's folder.
fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page(name: &str, sources: &Path) -> String {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let (out_text, sources) = (out.to_str().unwrap(), sources.to_str().unwrap());
    let (code, output, errors) = inspect(&["html", out_text, "--sources", sources], "");
    assert_eq!((code, &*errors), (0, ""));
    assert!(output.ends_with(&format!("operators in {out_text}\n")), "{output}");
    fs::read_to_string(out).unwrap()
}

fn operators(page: &str) -> Value {
    let data = page.split_once("id=\"data\">").unwrap().1.split_once("</script>").unwrap().0;
    serde_json::from_str::<Value>(data).unwrap()["operators"].take()
}

fn entry(operators: &Value, name: &str) -> Value {
    let found = operators.as_array().unwrap().iter().find(|entry| entry["n"] == name);
    found.cloned().unwrap_or_default()
}

#[test]
fn a_page_says_of_each_operator_what_the_registry_and_the_sources_do() {
    let operators = operators(&page("whole.html", &sources()));
    let midpoint = entry(&operators, "line::midpoint");
    assert_eq!(midpoint["s"], "line::midpoint(Tensor a, Tensor b) -> Tensor");
    assert_eq!((&midpoint["d"], &midpoint["t"]), (&json!("The point half-way."), &json!(["pointwise"])));
    assert!(midpoint["p"].as_str().unwrap().starts_with("examples/inspect/tests/it/operators.rs:"));
    let shift = entry(&operators, "line::shift_");
    assert_eq!((&shift["l"], &shift["k"][0][0]), (&json!(["autograd"]), &json!("CPU")));
    assert!(shift["k"][1][2].as_str().unwrap().starts_with("examples/inspect/tests/it/operators.rs:"));
    assert_eq!(entry(&operators, "line::nothing")["k"], json!([]));
}

#[test]
fn a_page_is_whole_and_asks_for_nothing() {
    let page = page("alone.html", &sources());
    for mark in ["/*style*/", "/*script*/", "/*data*/", "src=", "@import", "fetch(", "url("] {
        assert!(!page.contains(mark), "{mark}");
    }
    assert_eq!(page.matches("</script>").count(), 2, "data and code, neither of which ends early");
    assert!(page.starts_with("<!doctype html>") && page.contains("light-dark("));
}

#[test]
fn without_sources_there_is_what_the_registry_knows() {
    let nowhere = Path::new(env!("CARGO_TARGET_TMPDIR")).join("nowhere");
    let midpoint = entry(&operators(&page("registry.html", &nowhere)), "line::midpoint");
    assert!(midpoint["d"].is_null() && midpoint["k"][0][0] == "CompositeExplicitAutograd");
}

#[test]
fn a_page_that_cannot_be_written_is_an_error() {
    let (code, output, errors) = inspect(&["html", "/nowhere/at/all.html"], "");
    assert_eq!((code, &*output), (2, ""));
    assert!(
        errors.starts_with("inspect: the catalogue cannot be written to /nowhere/at/all.html: "),
        "{errors}"
    );
}
