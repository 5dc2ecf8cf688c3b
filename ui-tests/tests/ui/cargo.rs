//! Cargo on the packages in `crates/`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// How to build a program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Build<'a> {
    pub(crate) package: &'a str,
    pub(crate) binary: &'a str,
    pub(crate) features: &'a str,
    pub(crate) release: bool,
    /// What rustc is told of the program, not of what it is linked from.
    pub(crate) flags: &'a [&'a str],
}

impl<'a> Build<'a> {
    /// A debug build of a package that is one program.
    pub(crate) fn new(package: &'a str) -> Self {
        Build { package, binary: package, features: "", release: false, flags: &[] }
    }
}

/// One at a time: they would wait for each other's locks anyway, and overwrite each other's programs.
static TURN: Mutex<()> = Mutex::new(());

/// Builds a program, runs it, and returns what it printed.
pub(crate) fn run(build: Build<'_>) -> String {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates");
    // The versions of the workspace around it: nothing is resolved anew, nothing is downloaded.
    std::fs::copy(folder.join("../../Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["rustc", "--quiet", "--offline", "--package", build.package, "--bin", build.binary]);
    cargo.args(["--features", build.features]).args(build.release.then_some("--release"));
    cargo.arg("--").args(build.flags).current_dir(&folder).env("CARGO_TARGET_DIR", target());
    // Libraries that serve each kind of LTO, compiled once.
    cargo.env("RUSTFLAGS", "-C embed-bitcode=yes");
    output(cargo, build);
    let profile = if build.release { "release" } else { "debug" };
    output(Command::new(target().join(profile).join(build.binary)), build)
}

fn output(mut command: Command, build: Build<'_>) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{build:?}:\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Where all of it is built, apart from the workspace around it.
fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("ui")
}
