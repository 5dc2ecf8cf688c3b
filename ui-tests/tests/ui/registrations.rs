//! The linker keeps every registration: eight kinds of builds of one program list the same registrations of nine crates. With
//! selective linking it keeps those that the program reaches.
//!
//! Each place where a kernel can be (a single function, a block, a private module) has three crates of its own, so that
//! no record is kept because of another.

use crate::cargo::{Build, run};

pub(crate) const EXPECTED: &str = "\
in_block::one of block_first
  CPU: one of block_first
  Meta: one of block_first
in_block::three of block_third
  CPU: three of block_third
in_block::two of block_first
  CPU: two of block_second
  Meta: two of block_third
in_function::one of function_first
  CPU: one of function_first
  Meta: one of function_first
in_function::three of function_third
  CPU: three of function_third
in_function::two of function_first
  CPU: two of function_second
  Meta: two of function_third
in_private_module::one of private_module_first
  CPU: one of private_module_first
  Meta: one of private_module_first
in_private_module::three of private_module_third
  CPU: three of private_module_third
in_private_module::two of private_module_first
  CPU: two of private_module_second
  Meta: two of private_module_third
  Tracer: trace of private_module_third
  TESTING_ONLY_GenericWrapper: trace of block_third
  TESTING_ONLY_GenericMode: trace of function_third
";

/// How a program is built: optimised or not, and with which link-time optimisation.
const BUILDS: [(bool, &str, &[&str]); 4] = [
    (false, "no_lto", &[]),
    (true, "no_lto", &[]),
    (true, "thin_lto", &["-C", "lto=thin"]),
    (true, "fat_lto", &["-C", "lto=fat"]),
];

#[test]
fn no_registration_is_lost() {
    for collector in ["inventory", "linkme"] {
        for (optimised, binary, flags) in BUILDS {
            let build =
                Build { package: "linked", binary, features: collector, optimised, flags, dtypes: None };
            assert_eq!(run(build), EXPECTED, "{build:?}");
        }
    }
}

/// The output of a program that is linked selectively, with or without layers.
#[cfg(target_os = "linux")]
fn selective(node: &str, has_derivative: bool) -> String {
    format!(
        "\
[]
outer: [2.0] by {node}
replaced: [2.0]
[\"reached::inner\", \"reached::outer\", \"reached::replaced\"]
doubled: [2.0]
named: false
named: true
unreached: false
a text that is there: true
in a block: false
a derivative: false
the derivative of what is called: {has_derivative}
by itself: false
"
    )
}

#[test]
#[cfg(target_os = "linux")]
fn what_is_not_reached_is_not_linked() {
    let builds: [(bool, &str, &[&str]); 3] = [
        (false, "selective", &[]),
        (true, "selective_thin_lto", &["-C", "lto=thin"]),
        (true, "selective_fat_lto", &["-C", "lto=fat"]),
    ];
    for (optimised, binary, flags) in builds {
        let build = Build { package: "selective", binary, features: "", optimised, flags, dtypes: None };
        assert_eq!(run(build), selective("InnerBackward0", true), "{build:?}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn for_inference_no_layer_is_linked() {
    let build = Build {
        package: "selective",
        binary: "selective",
        features: "inference",
        optimised: false,
        flags: &[],
        dtypes: None,
    };
    assert_eq!(run(build), selective("NotImplemented", false), "{build:?}");
}
