//! Checks every case in `fail/`: it is short, and its message is one error, at the user's line, in the user's
//! words.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A program that does not compile, and rustc's output.
struct Case {
    name: String,
    source: String,
    stderr: String,
}

fn files(extension: &str) -> BTreeSet<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fail");
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|found| found == extension)).collect()
}

fn cases() -> Vec<Case> {
    let case = |path: PathBuf| Case {
        name: path.file_stem().unwrap().to_string_lossy().into_owned(),
        source: fs::read_to_string(&path).unwrap(),
        stderr: fs::read_to_string(path.with_extension("stderr")).unwrap(),
    };
    files("rs").into_iter().map(case).collect()
}

/// The names in a text that start with two underscores: generated ones, unless the user wrote them.
fn hidden_names(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| c != '_' && !c.is_ascii_alphanumeric());
    // More underscores underline an error in several lines.
    words.filter(|word| word.len() > 2 && word.starts_with("__") && !word.starts_with("___")).collect()
}

#[test]
fn every_case_has_its_message() {
    let stems =
        |extension| files(extension).into_iter().map(|path| path.with_extension("")).collect::<Vec<_>>();
    assert_eq!(stems("rs"), stems("stderr"));
    assert!(stems("rs").len() >= 40);
}

#[test]
fn every_case_is_under_ten_lines() {
    let long: Vec<_> = cases().into_iter().filter(|case| case.source.lines().count() >= 10).collect();
    assert_eq!(long.iter().map(|case| &*case.name).collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn every_message_is_one_error_in_the_users_file() {
    for Case { name, source, stderr } in cases() {
        let errors: Vec<_> = stderr.lines().filter(|line| line.starts_with("error")).collect();
        assert_eq!(errors.len(), 1, "{name}: {errors:?}");
        let error = stderr.lines().skip_while(|line| !line.starts_with("error"));
        let place = error.map(str::trim_start).find_map(|line| line.strip_prefix("--> ")).unwrap();
        let mut place = place.split(':');
        assert_eq!(place.next(), Some(&*format!("fail/{name}.rs")), "{name}");
        let line: usize = place.next().unwrap().parse().unwrap();
        assert!(line <= source.lines().count(), "{name}");
    }
}

#[test]
fn no_message_shows_a_name_of_ours() {
    for Case { name, source, stderr } in cases() {
        let foreign: Vec<_> = hidden_names(&stderr).difference(&hidden_names(&source)).copied().collect();
        assert_eq!(foreign, [""; 0], "{name}");
    }
}
