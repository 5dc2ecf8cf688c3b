//! Programs in C that link to a library of operators.

use std::path::Path;
use std::process::Command;

use crate::cargo::{Build, compile_library};
use crate::registrations::EXPECTED;

/// Links a program in C with these arguments, in the folder with the libraries, and returns what it prints.
fn said(target: &Path, name: &str, arguments: &[&str]) -> String {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/linked_to_c/main.c");
    let (folder, program) = (target.join("debug"), target.join(name));
    let mut compiler = Command::new("cc");
    let linked =
        compiler.arg(source).arg("-o").arg(&program).args(arguments).current_dir(&folder).output().unwrap();
    assert!(linked.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&linked.stderr));
    let output = Command::new(program).env("LD_LIBRARY_PATH", folder).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_program_in_c_has_all_registrations() {
    for features in ["inventory", "linkme"] {
        let target = compile_library(Build { features, ..Build::new("linked_to_c") });
        let target = target.unwrap_or_else(|errors| panic!("{errors}"));
        assert_eq!(said(&target, "shared", &["-L.", "-llinked_to_c"]), EXPECTED, "{features}");
        let whole = ["-Wl,--whole-archive", "liblinked_to_c.a", "-Wl,--no-whole-archive", "-lm"];
        assert_eq!(said(&target, "whole", &whole), EXPECTED, "{features}");
        // The linker takes from an archive what is named, and nothing names a registration: the guide warns of that.
        assert_ne!(said(&target, "named", &["liblinked_to_c.a", "-lm"]), EXPECTED, "{features}");
    }
}
