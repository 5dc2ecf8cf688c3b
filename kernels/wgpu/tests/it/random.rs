//! Random numbers on a device.

use torch_library::backend::default_generator;
use torch_library::prelude::*;
use torch_library::{DispatchKeySet, Generator};
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

use crate::{device, falls};

fn near(found: &Tensor, expected: &[f32]) {
    let found = found.to_vec::<f32>().unwrap();
    assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 5.1e-5), "{found:?} {expected:?}");
}

/// Printed by PyTorch on CUDA, to four places: the first two calls after `torch.manual_seed(0)`.
#[test]
fn the_numbers_are_those_of_cuda() {
    let Some(device) = device() else { return };
    let generator = default_generator(device).unwrap();
    let empty = || Tensor::empty(&[10], DType::Float32, device).unwrap();
    generator.manual_seed(0);
    let (mut first, mut second) = (empty(), empty());
    aten::uniform_(&mut first).unwrap();
    aten::uniform_(&mut second).unwrap();
    near(&first, &[0.3990, 0.5167, 0.0249, 0.9401, 0.9459, 0.7967, 0.4150, 0.8203, 0.2290, 0.9096]);
    near(&second, &[0.9722, 0.7910, 0.4690, 0.3300, 0.3345, 0.3783, 0.7640, 0.6405, 0.1103, 0.3594]);
    generator.manual_seed(0);
    let normal = aten::randn::with(&[2, 8]).dtype(DType::Float32).device(device).call().unwrap();
    let expected = [-0.9247, -0.4253, -2.6438, 0.1452, -0.1209, -0.5797, -0.6229, -0.3284];
    near(&normal.select(0, 0).unwrap(), &expected);
    let expected = [-1.0745, -0.3631, -1.6711, 2.2655, 0.3117, -0.1842, 1.2866, 1.1820];
    near(&normal.select(0, 1).unwrap(), &expected);
}

#[test]
fn seeds_and_generators_give_the_same_numbers_again() {
    let Some(device) = device() else { return };
    let keys = DispatchKeySet::from_key(device.kind.dispatch_key());
    let generator = Generator::for_backend(device, keys, 7);
    let before = falls();
    let draw = || {
        let x = Tensor::empty(&[6, 5], DType::Float32, device).unwrap();
        aten::uniform_::with(&mut x.t().unwrap())
            .from(-2.0)
            .to(3.0)
            .generator(Some(&generator))
            .call()
            .unwrap();
        aten::normal_::with(&mut x.select(0, 1).unwrap())
            .std(0.1)
            .generator(Some(&generator))
            .call()
            .unwrap();
        x.to_vec::<f32>().unwrap()
    };
    let (first, second) = (draw(), draw());
    assert_ne!(first, second);
    generator.manual_seed(7);
    assert_eq!([draw(), draw()], [first.clone(), second]);
    assert!(first.iter().all(|x| (-2.0..3.0).contains(x)));
    assert_eq!(before, falls(), "fell back to the CPU");
}

/// The uniform number 396 of this seed is 1 in float32, which is not less than a probability of 1.
#[test]
fn what_is_certain_always_happens() {
    let Some(device) = device() else { return };
    let keys = DispatchKeySet::from_key(device.kind.dispatch_key());
    for dtype in [DType::Float32, DType::Bool, DType::Int32] {
        let generator = Generator::for_backend(device, keys, 19_945);
        let mut x = Tensor::empty(&[400], dtype, device).unwrap();
        aten::bernoulli__float::with(&mut x).p(1.0).generator(Some(&generator)).call().unwrap();
        let x = aten::to_dtype(&x, DType::Float32).unwrap();
        assert_eq!(x.to_vec::<f32>().unwrap(), [1.0; 400]);
    }
}

#[test]
fn numbers_are_spread_as_they_should_be() {
    let Some(device) = device() else { return };
    let count = 200_003;
    let x = aten::randn::with(&[count]).dtype(DType::Float32).device(device).call().unwrap();
    let x = x.to_vec::<f32>().unwrap().into_iter().map(f64::from).collect::<Vec<_>>();
    let mean = |power: i32| x.iter().map(|x| x.powi(power)).sum::<f64>() / count as f64;
    // With this many numbers, each mean is within five of its standard deviations.
    assert!(mean(1).abs() < 0.012 && (mean(2) - 1.0).abs() < 0.017 && mean(3).abs() < 0.045);
    assert!((mean(4) - 3.0).abs() < 0.12);
    let before = falls();
    for chance in [0.0, 0.3, 1.0] {
        for dtype in [DType::Float32, DType::Bool, DType::Int32] {
            let mut x = Tensor::empty(&[100_001], dtype, device).unwrap();
            aten::bernoulli__float::with(&mut x).p(chance).call().unwrap();
            let x = aten::to_dtype(&x, DType::Float32).unwrap();
            let share = f64::from(x.sum().unwrap().to_vec::<f32>().unwrap()[0]) / 100_001.0;
            assert!((share - chance).abs() < 0.0075, "{share} of {chance}");
        }
    }
    let x = Tensor::full(&[1000], 2, DType::Float32, device).unwrap();
    let (y, mask) = aten::native_dropout(&x, 0.5, Some(true)).unwrap();
    assert_eq!(before, falls(), "fell back to the CPU");
    let (y, mask) = (y.to_vec::<f32>().unwrap(), mask.to_vec::<bool>().unwrap());
    assert!(y.iter().zip(mask).all(|(y, kept)| *y == if kept { 4.0 } else { 0.0 }));
}
