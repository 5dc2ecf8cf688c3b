//! Runs cargo on the packages in `crates/`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

/// How to build a program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Build<'a> {
    pub(crate) package: &'a str,
    pub(crate) binary: &'a str,
    pub(crate) features: &'a str,
    /// Optimises the program and its crates, as a release build does, but not their dependencies.
    pub(crate) optimised: bool,
    /// Flags for rustc that apply to the program, but not to its dependencies.
    pub(crate) flags: &'a [&'a str],
    /// The element types to build for, besides those that are always there; `None` means all.
    pub(crate) dtypes: Option<&'a str>,
}

impl<'a> Build<'a> {
    /// A debug build of a package that is one program.
    pub(crate) fn new(package: &'a str) -> Self {
        Build { package, binary: package, features: "", optimised: false, flags: &[], dtypes: None }
    }
}

/// A build folder. Two builds can go on in parallel: the second folder is for programs without some of the operators or
/// element types.
struct Folder {
    name: &'static str,
    /// In parallel, builds in one folder would wait for cargo's locks anyway, and overwrite each other's programs.
    turn: Mutex<()>,
}

static WHOLE: Folder = Folder { name: "ui", turn: Mutex::new(()) };
static PARTIAL: Folder = Folder { name: "ui-partial", turn: Mutex::new(()) };

impl Folder {
    /// The folder for a build.
    fn of(build: Build<'_>) -> &'static Folder {
        match build {
            Build { dtypes: Some(_), .. } | Build { package: "selective", .. } => &PARTIAL,
            _ => &WHOLE,
        }
    }

    /// Where it is: apart from the surrounding workspace.
    fn path(&self) -> PathBuf {
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(self.name)
    }

    fn lock(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a release build sets. A profile of its own would compile all dependencies again.
const OPTIMISED: [&str; 3] =
    ["profile.dev.opt-level=1", "profile.dev.debug-assertions=false", "profile.dev.overflow-checks=false"];

/// Builds a program, runs it, and returns what it printed.
pub(crate) fn run(build: Build<'_>) -> String {
    let target = compile(build).unwrap_or_else(|errors| panic!("{build:?}:\n{errors}"));
    let output = Command::new(target.join("debug").join(build.binary)).output().unwrap();
    assert!(output.status.success(), "{build:?}:\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Builds a package that is a library for the linker, and returns its folder or cargo's error output.
#[cfg(target_os = "linux")]
pub(crate) fn compile_library(build: Build<'_>) -> Result<PathBuf, String> {
    compile_target(build, &["--lib"])
}

/// Builds a program, and returns its folder or cargo's error output.
pub(crate) fn compile(build: Build<'_>) -> Result<PathBuf, String> {
    compile_target(build, &["--bin", build.binary])
}

fn compile_target(build: Build<'_>, target: &[&str]) -> Result<PathBuf, String> {
    let built = Folder::of(build);
    let _turn = built.lock();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates");
    static LOCKED: Once = Once::new();
    LOCKED.call_once(|| lock_versions(&folder));
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["rustc", "--quiet", "--offline", "--package", build.package]).args(target);
    cargo.args(["--features", build.features]);
    for setting in OPTIMISED.iter().filter(|_| build.optimised) {
        cargo.args(["--config", setting]);
    }
    let path = built.path();
    cargo.arg("--").args(build.flags).current_dir(&folder).env("CARGO_TARGET_DIR", &path);
    // Compiles libraries once, in a form that serves each kind of LTO.
    cargo.env("RUSTFLAGS", "-C embed-bitcode=yes").env_remove("TORCH_LIBRARY_DTYPES");
    cargo.envs(build.dtypes.map(|dtypes| ("TORCH_LIBRARY_DTYPES", dtypes)));
    let output = cargo.output().unwrap();
    match output.status.success() {
        true => Ok(path),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// Uses the lock file of the surrounding workspace, so that nothing is resolved or downloaded again.
fn lock_versions(folder: &Path) {
    std::fs::copy(folder.join("../../Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    // Removes what these packages do not need: builds in parallel only read the file. Unlike `cargo metadata`, this needs
    // no packages of other platforms, which nothing has downloaded on a new machine.
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["update", "--quiet", "--offline", "--workspace"]).current_dir(folder);
    assert!(cargo.output().unwrap().status.success());
}
