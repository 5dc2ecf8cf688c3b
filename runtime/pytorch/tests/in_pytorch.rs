//! The operators under `operators/` and those of the example, loaded into a real PyTorch, if one is installed.
//!
//! `PYTORCH_PYTHON` names a Python that has `torch` and `pytest`; the default is `python3`. `.ci/pytorch` installs one.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A Python with PyTorch, or the reason why there is none.
fn python() -> Result<String, String> {
    let python = std::env::var("PYTORCH_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let program = "import pytest, torch; assert tuple(map(int, torch.__version__.split('.')[:2])) >= (2, 10)";
    match Command::new(&python).args(["-c", program]).output() {
        Ok(asked) if asked.status.success() => Ok(python),
        Ok(asked) => {
            let text = String::from_utf8_lossy(&asked.stderr);
            Err(format!("{python}: {}", text.lines().last().unwrap_or("it failed")))
        }
        Err(error) => Err(format!("{python}: {error}")),
    }
}

/// Builds the library in a folder with the locked versions of this workspace, so that nothing is downloaded.
fn build(folder: &Path, name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).expect("the workspace has a lock file");
    // The target folder of this build, which has the same dependencies.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("..");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--offline"]).current_dir(folder);
    let built = cargo.env("CARGO_TARGET_DIR", &target).env_remove("RUSTFLAGS").output().expect("cargo runs");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let file = format!("{}{name}{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    target.join("debug").join(file)
}

fn test(folder: &str, name: &str, variable: &str) {
    let python = match python() {
        Ok(python) => python,
        Err(why) => return println!("skipped, since there is no PyTorch: {why}"),
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let library = build(&folder, name);
    let mut pytest = Command::new(python);
    pytest.args(["-m", "pytest", "-q", "-p", "no:cacheprovider"]).current_dir(&folder);
    pytest.env(variable, library).env("OMP_NUM_THREADS", "1").env("PYTHONDONTWRITEBYTECODE", "1");
    let ran = pytest.output().expect("pytest runs");
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{out}\n{err}");
}

#[test]
fn operators_of_all_types_work_in_pytorch() {
    test("tests/operators", "door", "TORCH_LIBRARY_DOOR");
}

#[test]
fn the_example_works_in_pytorch() {
    test("../../examples/pytorch", "mine", "MINE_LIBRARY");
}
