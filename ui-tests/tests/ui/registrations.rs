//! The linker keeps every registration: in 24 forms of one program, the same ones of three crates.

use crate::cargo::{Build, run};

const EXPECTED: &str = "\
shared::one of first
  CPU: one of first
  Meta: one of first
shared::three of third
  CPU: three of third
shared::two of first
  CPU: two of second
  Meta: two of third
  Tracer: trace of third
";

/// How a program is built: in release or not, and with which link-time optimisation.
const BUILDS: [(bool, &str, &[&str]); 4] = [
    (false, "no_lto", &[]),
    (true, "no_lto", &[]),
    (true, "thin_lto", &["-C", "lto=thin"]),
    (true, "fat_lto", &["-C", "lto=fat"]),
];

#[test]
fn no_registration_is_lost() {
    for collector in ["inventory", "linkme"] {
        for (release, binary, flags) in BUILDS {
            for style in ["private_module", "block", "function"] {
                let features = &format!("{style},{collector}");
                let build = Build { package: "linked", binary, features, release, flags };
                assert_eq!(run(build), EXPECTED, "{build:?}");
            }
        }
    }
}
