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
    /// The element types that it is built for, beside those that are always there: all, if nothing is said.
    pub(crate) dtypes: Option<&'a str>,
}

impl<'a> Build<'a> {
    /// A debug build of a package that is one program.
    pub(crate) fn new(package: &'a str) -> Self {
        Build { package, binary: package, features: "", release: false, flags: &[], dtypes: None }
    }
}

/// One at a time: they would wait for each other's locks anyway, and overwrite each other's programs.
static TURN: Mutex<()> = Mutex::new(());

/// Builds a program, runs it, and returns what it printed.
pub(crate) fn run(build: Build<'_>) -> String {
    let target = compile(build).unwrap_or_else(|errors| panic!("{build:?}:\n{errors}"));
    let profile = if build.release { "release" } else { "debug" };
    let output = Command::new(target.join(profile).join(build.binary)).output().unwrap();
    assert!(output.status.success(), "{build:?}:\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Builds a program: into which folder, or what cargo says against it.
pub(crate) fn compile(build: Build<'_>) -> Result<PathBuf, String> {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates");
    // The versions of the workspace around it: nothing is resolved anew, nothing is downloaded.
    std::fs::copy(folder.join("../../Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["rustc", "--quiet", "--offline", "--package", build.package, "--bin", build.binary]);
    cargo.args(["--features", build.features]).args(build.release.then_some("--release"));
    let target = target(build.dtypes);
    cargo.arg("--").args(build.flags).current_dir(&folder).env("CARGO_TARGET_DIR", &target);
    // Libraries that serve each kind of LTO, compiled once.
    cargo.env("RUSTFLAGS", "-C embed-bitcode=yes").env_remove("TORCH_LIBRARY_DTYPES");
    cargo.envs(build.dtypes.map(|dtypes| ("TORCH_LIBRARY_DTYPES", dtypes)));
    let output = cargo.output().unwrap();
    match output.status.success() {
        true => Ok(target),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// Where it is built, apart from the workspace around it; for some types, apart from what is built for all.
fn target(dtypes: Option<&str>) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(if dtypes.is_some() { "ui-dtypes" } else { "ui" })
}
