//! `cargo +nightly fuzz run boxed_call`, see `.ci/fuzz`. It runs `torch_library_tests::fuzz::boxed_call`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| torch_library_tests::fuzz::boxed_call(input));
