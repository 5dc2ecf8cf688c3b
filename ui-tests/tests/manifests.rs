//! Checks the manifests of published crates: everything that a registry shows, and the tested version of Rust.

use std::fs;
use std::path::{Path, PathBuf};

/// The folders of the crates that are published.
const PUBLISHED: [&str; 4] = ["runtime/schema", "macros", "runtime", "kernels"];

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

#[test]
fn every_published_crate_says_what_it_is() {
    for folder in PUBLISHED {
        let manifest = read(&format!("{folder}/Cargo.toml"));
        for field in ["description", "documentation", "readme"] {
            assert!(text(&manifest, field).is_some_and(|text| !text.is_empty()), "{folder}: no {field}");
        }
        for list in ["keywords = [\"", "categories = [\""] {
            let line = manifest.lines().find(|line| line.starts_with(list));
            let count = line.unwrap_or_else(|| panic!("{folder}: no {list}")).matches(", ").count() + 1;
            assert!(count <= 5, "{folder}: a registry takes five at most");
        }
        let name = text(&manifest, "name").unwrap();
        assert_eq!(text(&manifest, "documentation"), Some(&*format!("https://docs.rs/{name}")));
        let readme = root().join(folder).join(text(&manifest, "readme").unwrap());
        assert_eq!(readme.canonicalize().unwrap(), root().join("README.md").canonicalize().unwrap());
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
