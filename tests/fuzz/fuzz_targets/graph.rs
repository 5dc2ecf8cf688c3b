//! `cargo +nightly fuzz run graph`, see `.ci/fuzz`. It runs `torch_library_tests::fuzz::graph`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| torch_library_tests::fuzz::graph(input));
