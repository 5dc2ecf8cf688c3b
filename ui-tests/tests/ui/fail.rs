//! Every mistake in `fail/` is refused in the words of its `.stderr`.
//!
//! The words are rustc's of the pinned toolchain; `TRYBUILD=overwrite cargo test -p torch-library-ui-tests` writes them
//! anew after a change, to be read before they are committed.

#[test]
fn mistakes_are_refused_in_the_words_of_their_stderr() {
    trybuild::TestCases::new().compile_fail("fail/*.rs");
}
