//! Builds the libraries of the tests, with the compiler that links Rust.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of the sources.
pub(crate) fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/extensions")
}

/// Compiles a library from a source file here, and returns its path.
pub(crate) fn build(compiler: &str, source: &str, name: &str, options: &[&str]) -> PathBuf {
    let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut command = Command::new(compiler);
    command.args(["-shared", "-fPIC", "-O1", "-Wall", "-Wextra"]).arg("-o").arg(&library);
    let built = command.arg(sources().join(source)).args(options).output();
    let built = built.unwrap_or_else(|error| panic!("{compiler}, which links this test: {error}"));
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    library
}
