//! Code that the sources must not contain.

use std::fs;
use std::path::{Path, PathBuf};

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => sources(&path, found),
            false => found.push(path),
        }
    }
}

/// A tensor without elements may have sizes whose product overflows.
#[test]
fn sizes_are_multiplied_by_functions_that_know_of_overflow() {
    let mut paths = Vec::new();
    for family in ["loops", "aten", "nn", "linalg", "fourier"] {
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(family).join("src"), &mut paths);
    }
    assert!(paths.len() > 100);
    for path in paths {
        let source = fs::read_to_string(&path).unwrap();
        for product in [".product::<i64>()", ".product()"] {
            assert!(
                !source.contains(product),
                "{}: `{product}` of sizes overflows, use `geometry::numel` or `saturating_numel`; of other numbers, say the type",
                path.display()
            );
        }
    }
}
