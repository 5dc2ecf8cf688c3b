//! Plug-ins: shared objects that a program loads at run time, and that link to the same shared runtime.

use std::path::PathBuf;
use std::process::Command;

use crate::cargo::{Build, compile, compile_library};

/// The folder with the standard library, which the runtime is linked to if it is a shared library.
fn standard_library() -> String {
    let output = Command::new("rustc").args(["--print", "target-libdir"]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

/// What the host prints that loads these plug-ins.
fn said(plug_ins: &[&str]) -> String {
    let host = compile(Build::new("plug_host")).unwrap_or_else(|errors| panic!("{errors}"));
    let built = |name: &&str| -> PathBuf {
        let target = compile_library(Build::new(name)).unwrap_or_else(|errors| panic!("{errors}"));
        target.join(format!("debug/lib{name}.so"))
    };
    let folder = |name: &str| host.join(name).display().to_string();
    let output = Command::new(host.join("debug/plug_host"))
        .args(plug_ins.iter().map(built))
        .env("LD_LIBRARY_PATH", [folder("debug"), folder("debug/deps"), standard_library()].join(":"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn plug_ins_share_the_registry_of_their_host() {
    let expected = "\
Err(MissingKernel)
Err(UnknownOperator)
libplug_in.so: 3 new
libplug_in_second.so: 2 new
libplug_in.so: 0 new
myops::double Ok([2.0])
plugged::quadruple Ok([4.0])
plugged_in_second::sixteenfold Ok([16.0])
no conflicts
";
    assert_eq!(said(&["plug_in", "plug_in_second", "plug_in"]), expected);
}

#[test]
fn a_plug_in_of_another_build_is_refused() {
    let said = said(&["plug_in_unresolved", "plug_in_alone", "plug_in_other_build"]);
    let expected = "\
Io: the plug-in libplug_in_unresolved.so cannot be loaded: libplug_in_unresolved.so: undefined symbol: of_another_compiler
  help: it was built by another compiler, or with another version, profile or other features of the crates that it shares with this program: build both by the same command
Conflict: libplug_in_alone.so was loaded, and has registered nothing in this program: it has a runtime of its own, or no operators
  help: put the runtime into a crate of the type `dylib`, with the feature `inventory`, and name it in the sources of the program and of the plug-in: `use shared_runtime as _;`
Conflict: libplug_in_other_build.so: the plug-in with the module `plug_in_other_build` was compiled with other sources of torch-library than this program
     help: compile both again, from the same sources
";
    assert!(said.contains(expected), "{said}");
    let report = "the registrations of this program contradict each other: 1 conflict
  1. the plug-in with the module `plug_in_other_build` was compiled with other sources of torch-library than this program
";
    assert!(said.contains(report), "{said}");
}
