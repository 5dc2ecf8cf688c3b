//! The tests that any backend has to pass, on the first device of this machine.

use torch_library::Device;
use torch_library::backend;
use torch_library_tests::kit::Kit;
use torch_library_wgpu as _; // the backend

#[test]
fn the_kit_for_backends_passes() {
    let device = "wgpu".parse::<Device>().ok().and_then(|device| backend::resolve(device).ok());
    let Some(device) = device else { return eprintln!("skipped: this machine has no adapter") };
    let report = Kit::new(device).run();
    print!("{report}");
    report.into_result().unwrap();
}
