//! The tape passes the backend tests: every operator that it has no kernel for falls back to the CPU.

use torch_library::DeviceType;
use torch_library_tests::kit::Kit;

#[test]
fn the_kit_for_backends_passes() {
    assert!(glyphs_tape::device().is_ok());
    let report = Kit::new(DeviceType::PrivateUse1.into()).quick().run();
    print!("{report}");
    report.into_result().unwrap();
}
