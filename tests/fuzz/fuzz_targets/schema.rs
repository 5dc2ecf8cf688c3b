//! `cargo +nightly fuzz run schema`, see `.ci/fuzz`. It runs `torch_library_tests::fuzz::schema`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| torch_library_tests::fuzz::schema(input));
