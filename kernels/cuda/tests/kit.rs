//! The tests that any backend has to pass, on a GPU or on the emulator.

use torch_library_tests::kit::Kit;

mod emulator;
mod found;

#[test]
fn the_kit_for_backends_passes() {
    let Some(device) = emulator::device(&emulator::ALL) else { return };
    let report = Kit::new(device).run();
    print!("{report}");
    report.into_result().unwrap();
}
