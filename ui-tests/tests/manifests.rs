//! Checks the manifests and packages of published crates: everything that a registry shows, and the tested version of
//! Rust.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// The text between the quotes of the line `name = "…"`.
fn text<'m>(manifest: &'m str, name: &str) -> Option<&'m str> {
    let line = manifest.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = \""))?;
    line.split('"').next()
}

/// What a cargo command in the workspace prints.
fn cargo(arguments: &[&str]) -> String {
    let mut cargo = Command::new(env!("CARGO"));
    // A build folder of its own, since another cargo may hold the lock of the usual one.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("packages");
    cargo.args(arguments).arg("--offline").current_dir(root()).env("CARGO_TARGET_DIR", target);
    let output = cargo.output().unwrap();
    assert!(output.status.success(), "{arguments:?}:\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The manifests of the crates of this workspace that are published, as cargo reads them.
fn published() -> Vec<Value> {
    let metadata: Value =
        serde_json::from_str(&cargo(&["metadata", "--no-deps", "--format-version", "1"])).unwrap();
    let is_published = |package: &&Value| package["publish"].is_null(); // an empty list means nowhere
    let published: Vec<Value> =
        metadata["packages"].as_array().unwrap().iter().filter(is_published).cloned().collect();
    assert!(published.len() > 15, "{} of the crates are published", published.len());
    published
}

#[test]
fn every_published_crate_says_what_it_is() {
    let readme = root().join("README.md").canonicalize().unwrap();
    for package in published() {
        let name = package["name"].as_str().unwrap();
        for field in ["description", "license", "rust_version"] {
            assert!(package[field].as_str().is_some_and(|text| !text.is_empty()), "{name}: no {field}");
        }
        for field in ["keywords", "categories"] {
            let count = package[field].as_array().unwrap().len();
            assert!((1..=5).contains(&count), "{name}: {count} {field}, a registry takes one to five");
        }
        assert_eq!(package["documentation"].as_str(), Some(&*format!("https://docs.rs/{name}")));
        let folder = Path::new(package["manifest_path"].as_str().unwrap()).parent().unwrap();
        let own = package["readme"].as_str().unwrap_or_else(|| panic!("{name}: no readme"));
        let own = folder.join(own).canonicalize().unwrap();
        assert!(own == readme || own.starts_with(folder.canonicalize().unwrap()), "{name}: {own:?}");
    }
}

#[test]
fn published_crates_depend_on_published_ones() {
    let published = published();
    let names: Vec<_> = published.iter().map(|package| &package["name"]).collect();
    for package in &published {
        for dependency in package["dependencies"].as_array().unwrap() {
            // Packages leave out what tests take from a path without a version.
            let is_packaged = dependency["path"].is_string() && dependency["req"] != "*";
            let is_known = names.contains(&&dependency["name"]);
            assert!(!is_packaged || is_known, "{} needs {}", package["name"], dependency["name"]);
        }
    }
}

#[test]
fn every_published_crate_has_a_package_with_the_texts_of_both_licences() {
    let published = published();
    let names = published.iter().flat_map(|package| ["--package", package["name"].as_str().unwrap()]);
    // What is built from the packages is what the workspace builds: nothing is built here, and no versions are looked up.
    let command = ["package", "--no-verify", "--exclude-lockfile", "--allow-dirty", "--quiet"];
    let command: Vec<&str> = command.into_iter().chain(names).collect();
    cargo(&command);
    let files = cargo(&[&command[..], &["--list"]].concat());
    for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
        let count = files.lines().filter(|file| *file == licence).count();
        assert_eq!(count, published.len(), "packages with {licence}:\n{files}");
    }
}

#[test]
fn the_version_of_rust_that_is_asked_for_is_the_one_that_tests_run_with() {
    let (manifest, toolchain) = (read("Cargo.toml"), read("rust-toolchain.toml"));
    let (asked, tested) = (text(&manifest, "rust-version").unwrap(), text(&toolchain, "channel").unwrap());
    assert_eq!(tested.strip_suffix(".0"), Some(asked));
    assert!(read("README.md").contains(&format!("Rust {asked} is the oldest version that is tested")));
}

#[test]
fn the_changelog_has_the_version_of_the_manifest() {
    let manifest = read("Cargo.toml");
    let version = text(&manifest, "version").unwrap();
    assert!(read("CHANGELOG.md").contains(&format!("\n## {version} - ")), "no section for {version}");
}
