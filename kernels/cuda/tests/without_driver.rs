//! Without a driver: the crate works, its devices are known, and asking for one is an error that says what is missing.

use torch_library::prelude::*;
use torch_library::{DeviceType, backend};
use torch_library_cuda as _;
use torch_library_kernels::prelude::*;

mod found;

#[test]
fn without_a_driver_the_error_says_where_it_comes_from() {
    if found::has_gpu() {
        return eprintln!("skipped: there is a GPU");
    }
    let device = "cuda:0".parse::<Device>().unwrap();
    assert_eq!(device.to_string(), "cuda:0");
    assert_eq!(backend::device_count(DeviceType::Cuda), 0);
    for device in [device, DeviceType::Cuda.into()] {
        let error = Tensor::zeros(&[2], DType::Float32, device).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Device);
        let text = error.to_string();
        assert!(text.contains("CUDA driver") && text.contains("help: "), "{text}");
        assert!(Tensor::from([1f32]).to(device).is_err());
        assert!(backend::synchronize(device).is_err());
    }
    assert!(torch_library_cuda::devices().is_err() && torch_library_cuda::reset(0).is_err());
    assert_eq!(Tensor::from([1f32]).to_vec::<f32>().unwrap(), [1.0], "the next call works");
}
