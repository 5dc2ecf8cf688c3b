//! Small programs of several crates: other editions, other names, strict lints, kernels that are not linked.

use crate::cargo::{Build, run};

#[test]
fn operators_and_kernels_may_be_in_different_crates() {
    assert_eq!(run(Build::new("program")), "[4.0, 8.0]\n[8.0, 16.0]\n");
}

#[test]
fn a_namespace_may_have_the_name_of_its_crate() {
    assert_eq!(run(Build::new("imgops_user")), "[1.0] [3.0]\n");
}

#[test]
fn a_crate_that_is_not_named_is_named_in_the_error() {
    let printed = run(Build::new("forgotten"));
    assert_eq!(
        printed.lines().next(),
        Some(
            "myops::double has no kernel for CPU, and no linked crate registers any CPU kernel in myops; \
             did you forget `use kernels as _;`?"
        )
    );
}

#[test]
fn registration_by_hand_needs_no_linker() {
    let printed = run(Build::new("by_hand"));
    assert_eq!(printed, "Err(UnknownOperator)\nErr(MissingKernel)\nOk(1)\nOk(2)\n");
}
