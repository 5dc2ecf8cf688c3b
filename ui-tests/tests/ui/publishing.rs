//! Checks the package contents of published crates, by `cargo package`.

use std::path::Path;
use std::process::Command;

/// The folders of the crates that are published.
const PUBLISHED: [&str; 4] = ["runtime/schema", "macros", "runtime", "kernels"];

#[test]
fn every_published_crate_has_the_texts_of_both_licences() {
    for folder in PUBLISHED {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder);
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["package", "--list", "--allow-dirty", "--offline"]).current_dir(&folder);
        let output = cargo.output().unwrap();
        let files = String::from_utf8(output.stdout).unwrap();
        for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
            assert!(
                files.lines().any(|file| file == licence),
                "{}: no {licence} in\n{files}",
                folder.display()
            );
        }
    }
}
