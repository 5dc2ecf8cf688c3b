//! Every mistake in `fail/` is rejected with the message in its `.stderr`.
//!
//! The messages are rustc's of the pinned toolchain; `TRYBUILD=overwrite cargo test -p torch-library-ui-tests` rewrites
//! them after a change; read them before committing.

#[test]
fn mistakes_are_refused_in_the_words_of_their_stderr() {
    trybuild::TestCases::new().compile_fail("fail/*.rs");
}
