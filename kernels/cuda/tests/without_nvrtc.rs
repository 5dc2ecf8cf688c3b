//! A driver without NVRTC: kernels are an error that says where to get it, and everything that needs no kernel works.

use torch_library::prelude::*;
use torch_library_kernels::prelude::*;

mod emulator;
mod found;

#[test]
fn without_a_compiler_the_error_says_where_it_comes_from() {
    if found::has_gpu() || found::finds("libnvrtc.so") {
        return eprintln!("skipped: NVRTC is here, or a GPU");
    }
    let Some(device) = emulator::device(&emulator::ALL[..1]) else { return };
    let x = Tensor::from([1f32, 2.0]).to(device).unwrap();
    let error = x.add(&x).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Device);
    assert!(error.to_string().contains("NVRTC") && error.to_string().contains("help: "), "{error}");
    assert_eq!(x.to_vec::<f32>().unwrap(), [1.0, 2.0], "copies need no kernel");
}
