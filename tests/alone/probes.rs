//! What PyTorch's autocast casts: replays recorded answers with probes in place of kernels.

use std::path::Path;

use torch_library_tests::File;

#[test]
fn autocast() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden");
    let report = File::named("autocast").unwrap().replay(&folder).unwrap().expect("the file is committed");
    assert!(report.passed > 0 && report.passed == report.rows(), "{}", report.render(10));
}
