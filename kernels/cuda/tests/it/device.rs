//! Streams, events, memory, several devices, and losing one.
#![expect(unsafe_code, reason = "the emulator's driver is told to fail")]

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use torch_library::backend::{self, DeviceGuard, Stream, StreamGuard};
use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

use crate::{device, found, tensor};

#[test]
fn a_stream_waits_for_what_another_one_computes() {
    let Some(device) = device() else { return };
    let host = tensor(&[300, 300], 0.0);
    let expected = host.mm(&host).unwrap().mm(&host).unwrap().to_vec::<f32>().unwrap();
    let (first, other) = (backend::current_stream(device).unwrap(), Stream::new(device).unwrap());
    let x = host.to(device).unwrap();
    let squared = x.mm(&x).unwrap();
    let begin = first.record_event().unwrap();
    other.wait_event(&*begin).unwrap();
    let (cubed, end) = {
        let _guard = StreamGuard::new(other).unwrap();
        (squared.mm(&x).unwrap(), other.record_event().unwrap())
    };
    first.wait_event(&*end).unwrap();
    let sum = cubed.add(&x).unwrap().sub(&x).unwrap();
    assert!(
        end.elapsed_since(&*begin).is_ok_and(|time| time.is_none_or(|time| time >= 0.0))
            || !end.query().unwrap()
    );
    end.synchronize().unwrap();
    assert!(end.query().unwrap());
    assert!(end.elapsed_since(&*begin).unwrap().unwrap() >= 0.0);
    for (a, b) in sum.to_vec::<f32>().unwrap().into_iter().zip(expected) {
        assert!((a - b).abs() < 1e-2 * b.abs().max(1.0), "{a} instead of {b}");
    }
    assert!(
        StreamGuard::new(Stream { device, id: 99 }).and_then(|_guard| x.add(&x)).is_err(),
        "there is no such stream"
    );
}

#[test]
fn memory_that_a_stream_uses_is_not_given_to_another() {
    let Some(device) = device() else { return };
    let other = Stream::new(device).unwrap();
    let ones = Tensor::full(&[512, 512], 1, DType::Float32, device).unwrap();
    backend::synchronize(device).unwrap();
    let product = {
        let _guard = StreamGuard::new(other).unwrap();
        let twos = ones.add(&ones).unwrap();
        twos.mm(&ones).unwrap() // `twos` is dropped here, before the stream has read it
    };
    let threes = Tensor::full(&[512, 512], 3, DType::Float32, device).unwrap(); // of the same size, on the first stream
    assert_eq!(threes.to_vec::<f32>().unwrap()[7], 3.0);
    assert_eq!(product.to_vec::<f32>().unwrap()[..3], [1024.0; 3]);
}

#[test]
fn uploads_are_read_before_the_host_goes_on_to_change_them() {
    let Some(device) = device() else { return };
    let mut parts = Vec::new();
    let mut host = Tensor::zeros(&[1000], DType::Float32, Device::CPU).unwrap();
    for round in 0..50 {
        host.fill(round as f32).unwrap();
        parts.push(host.to(device).unwrap());
    }
    for (round, part) in parts.iter().enumerate() {
        assert_eq!(part.to_vec::<f32>().unwrap(), vec![round as f32; 1000]);
    }
    let long = tensor(&[700_000], 0.0); // longer than uploads that are staged
    assert_eq!(long.to(device).unwrap().to_vec::<f32>().unwrap(), long.to_vec::<f32>().unwrap());
}

#[test]
fn too_much_is_refused_and_freed_memory_is_used_again() {
    let Some(device) = device() else { return };
    let error = Tensor::empty(&[1 << 42], DType::Float32, device).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutOfMemory, "{error}");
    assert!(error.to_string().contains("are in use"), "{error}");
    backend::synchronize(device).unwrap();
    let before = backend::memory_stats(device).unwrap().unwrap();
    for _ in 0..20 {
        let x = Tensor::zeros(&[1000, 100], DType::Float32, device).unwrap();
        assert_eq!(x.to_vec::<f32>().unwrap()[99_999], 0.0);
    }
    let after = backend::memory_stats(device).unwrap().unwrap();
    assert!(after.reused >= before.reused + 10, "{before:?} {after:?}");
    backend::empty_cache(device).unwrap();
}

#[test]
fn two_devices_are_two() {
    let Some(device) = device() else { return };
    if backend::device_count(device.kind) < 2 {
        return eprintln!("skipped: there is one GPU");
    }
    let second = Device::new(device.kind, Some(1));
    let x = tensor(&[40, 3], 0.0);
    let there = x.to(device).unwrap().to(second).unwrap();
    assert_eq!((there.device(), there.to_vec::<f32>().unwrap()), (second, x.to_vec::<f32>().unwrap()));
    assert_eq!(
        there.t().unwrap().to(device).unwrap().to_vec::<f32>().unwrap(),
        x.t().unwrap().to_vec::<f32>().unwrap()
    );
    let _guard = DeviceGuard::new(second).unwrap();
    let made = Tensor::zeros(&[2], DType::Float32, device.kind.into()).unwrap();
    assert_eq!(made.add(&made).unwrap().device(), second);
    assert!(x.to(device).unwrap().add(&there).is_err(), "one call on two devices");
}

/// Uses the last device, so that other tests keep theirs; if there is only one, no other test has tensors now.
#[test]
fn a_lost_device_takes_its_tensors_with_it_and_the_next_call_works() {
    let Some(first) = device() else { return };
    let last = u8::try_from(backend::device_count(first.kind) - 1).unwrap();
    let device = Device::new(first.kind, Some(last));
    let lose: [&dyn Fn(); 2] = [&|| torch_library_cuda::reset(last).unwrap(), &|| {
        if found::has_gpu() {
            torch_library_cuda::reset(last).unwrap();
        } else {
            fail(700); // as after a kernel with an illegal memory access
        }
    }];
    for lose in lose {
        let x = Tensor::full(&[4], 2, DType::Float32, device).unwrap();
        backend::synchronize(device).unwrap();
        lose();
        let error = x.to_vec::<f32>().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Device);
        assert!(error.to_string().contains("is lost"), "{error}");
        assert!(x.add(&x).is_err());
        let y = Tensor::full(&[4], 3, DType::Float32, device).unwrap();
        assert_eq!(y.add(&y).unwrap().to_vec::<f32>().unwrap(), [6.0; 4]);
        assert!(y.add(&x).is_err(), "{:?}", y.add(&x));
    }
}

/// The emulator ends the process if a device is reset while a call uses it.
#[test]
fn a_reset_waits_for_the_calls_of_other_threads() {
    let Some(first) = device() else { return };
    let last = u8::try_from(backend::device_count(first.kind) - 1).unwrap();
    let device = Device::new(first.kind, Some(last));
    let (computed, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Relaxed) {
                // An error says that the device was lost in between.
                let sum = Tensor::full(&[100, 100], 2, DType::Float32, device)
                    .and_then(|x| x.mm(&x)?.sum())
                    .and_then(|sum| sum.to_vec::<f32>());
                match sum {
                    Ok(sum) => assert_eq!(sum, [4e6]),
                    Err(error) => assert_eq!(error.kind(), ErrorKind::Device, "{error}"),
                }
                computed.fetch_add(1, Relaxed);
            }
        });
        for round in 1..=20 {
            torch_library_cuda::reset(last).unwrap();
            while computed.load(Relaxed) < 2 * round {
                std::thread::yield_now();
            }
        }
        is_over.store(true, Relaxed);
    });
}

/// Makes the emulator's driver fail from now on.
fn fail(code: i32) {
    // SAFETY: the emulator was loaded under this name, since there is no GPU, and its function has this type.
    unsafe {
        let library = libloading::Library::new("libcuda.so").expect("the emulator is loaded");
        library.get::<unsafe extern "C" fn(i32)>(b"emulator_fail").expect("it is the emulator")(code);
    }
}

#[test]
fn a_bad_call_is_the_error_that_it_is_on_the_cpu() {
    let Some(device) = device() else { return };
    let (x, y) = (tensor(&[2, 3], 0.0), tensor(&[4, 5], 1.0));
    let expected = x.mm(&y).unwrap_err();
    let found = x.to(device).unwrap().mm(&y.to(device).unwrap()).unwrap_err();
    assert_eq!((found.kind(), found.to_string()), (expected.kind(), expected.to_string()));
    let whole = Tensor::from([1i64, 2]).to(device).unwrap();
    assert!(aten::add__Tensor(&mut whole.clone(), &Tensor::from([0.5f32]).to(device).unwrap()).is_err());
}
