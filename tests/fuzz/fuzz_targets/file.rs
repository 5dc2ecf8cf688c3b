//! `cargo +nightly fuzz run file`, see `.ci/fuzz`. It runs `torch_library_tests::fuzz::file`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| torch_library_tests::fuzz::file(input));
