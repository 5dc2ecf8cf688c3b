//! Plug-ins: shared objects that a program loads at run time, and that link to the same shared runtime.

use std::path::Path;
use std::process::Command;

use crate::cargo::{Build, compile, compile_plug_in};

/// The folder with the standard library, which the runtime is linked to if it is a shared library.
fn standard_library() -> String {
    let output = Command::new("rustc").args(["--print", "target-libdir"]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

#[test]
fn plug_ins_share_the_registry_of_their_host() {
    let host = compile(Build::new("plug_host")).unwrap_or_else(|errors| panic!("{errors}"));
    let [first, second] = ["plug_in", "plug_in_second"].map(|name| {
        let target = compile_plug_in(name).unwrap_or_else(|errors| panic!("{errors}"));
        target.join(format!("debug/lib{name}.so"))
    });
    let folder = |name: &str| host.join(name).display().to_string();
    let output = Command::new(host.join("debug/plug_host"))
        .args([&first, &second] as [&Path; 2])
        .env("LD_LIBRARY_PATH", [folder("debug"), folder("debug/deps"), standard_library()].join(":"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let expected = "\
Err(MissingKernel)
Err(UnknownOperator)
myops::double Ok([2.0])
plugged::quadruple Ok([4.0])
plugged_in_second::sixteenfold Ok([16.0])
Ok(())
";
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
}
