//! The tutorial: every example prints what the comment at its end says, and the first one is the README's program.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What precedes the expected output in an example's last comment.
const PRINTS: &str = "\n// Prints:\n";

fn room() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The paths of the examples, in order.
fn examples() -> Vec<PathBuf> {
    let files = fs::read_dir(room()).unwrap().map(|entry| entry.unwrap().path());
    let mut examples: Vec<_> =
        files.filter(|path| path.extension().is_some_and(|extension| extension == "rs")).collect();
    examples.sort();
    examples
}

/// An example's program, and its expected output.
fn parts(path: &Path) -> (String, String) {
    let source = fs::read_to_string(path).unwrap().replace("\r\n", "\n");
    let (program, comment) =
        source.split_once(PRINTS).unwrap_or_else(|| panic!("{} has no `// Prints:`", path.display()));
    let lines = comment.lines().map(|line| line.strip_prefix("//").unwrap());
    let printed = lines.map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line))).collect();
    (program.to_owned(), printed)
}

/// Runs an example, whose binary Cargo puts next to the tests.
fn run(name: &str) -> String {
    let this = std::env::current_exe().unwrap();
    let profile = this.parent().and_then(Path::parent).unwrap();
    let program = profile.join("examples").join(name).with_extension(std::env::consts::EXE_EXTENSION);
    assert!(
        program.exists(),
        "{} is not built; `cargo test` builds it, `cargo test --test` does not",
        program.display()
    );
    let output = Command::new(program).output().unwrap();
    assert!(output.status.success(), "{name}:\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().replace("\r\n", "\n")
}

#[test]
fn examples_print_what_they_say() {
    for path in examples() {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let (_, expected) = parts(&path);
        let trimmed: String = run(name).lines().map(|line| format!("{}\n", line.trim_end())).collect();
        assert_eq!(
            trimmed, expected,
            "{name} printed (left) something else than its comment says (right)\n{trimmed}"
        );
    }
}

#[test]
fn every_example_is_in_the_manifest() {
    let manifest = fs::read_to_string(room().join("Cargo.toml")).unwrap();
    for path in examples() {
        let name = path.file_stem().unwrap().to_str().unwrap();
        assert!(manifest.contains(&format!("name = \"{name}\"\npath = \"{name}.rs\"")), "{name} is missing");
    }
}

#[test]
fn examples_are_short() {
    for path in examples() {
        let lines = parts(&path).0.lines().count();
        assert!((20..=80).contains(&lines), "{} has {lines} lines", path.display());
    }
}

/// The text between two marks, at their first occurrence in the README.
fn between<'t>(text: &'t str, start: &str, end: &str) -> &'t str {
    let (_, rest) = text.split_once(start).unwrap_or_else(|| panic!("the README has no {start:?}"));
    rest.split_once(end).map(|(inside, _)| inside).unwrap()
}

#[test]
fn the_readme_shows_the_first_example() {
    let readme = fs::read_to_string(room().join("../README.md")).unwrap().replace("\r\n", "\n");
    let (program, printed) = parts(&room().join("01_first_operator.rs"));
    let (_, program) = program.split_once("\n\n").unwrap(); // the line that says what the file is for
    assert_eq!(between(&readme, "```rust\n", "```"), program);
    assert_eq!(between(&readme, "```text\n", "```"), printed);
}

#[test]
fn the_readme_is_one_or_two_screens_long() {
    let lines = fs::read_to_string(room().join("../README.md")).unwrap().lines().count();
    assert!(lines <= 120, "the README has {lines} lines: what is more belongs in the guide");
}

#[test]
fn the_list_of_examples_has_every_example() {
    let list = fs::read_to_string(room().join("README.md")).unwrap();
    for path in examples() {
        let name = path.file_stem().unwrap().to_str().unwrap();
        assert!(list.contains(&format!("[`{name}`]({name}.rs)")), "{name} is missing");
    }
}
