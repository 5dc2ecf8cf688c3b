//! Pooling, and its gradients.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

use crate::{all_same, close, device, tensor};

#[test]
fn the_largest_under_a_window_is_found_with_its_place_and_gets_the_gradient() {
    let Some(device) = device() else { return };
    let windows = [
        ([2, 2], [2, 2], [0, 0], [1, 1], false),
        ([3, 3], [2, 2], [1, 1], [1, 1], false),
        ([3, 2], [1, 2], [1, 1], [2, 1], false),
        ([3, 3], [2, 2], [0, 0], [1, 1], true),
        ([2, 3], [3, 1], [1, 0], [1, 2], true),
    ];
    for (kernel, stride, padding, dilation, ceil) in windows {
        for sizes in [&[2, 3, 9, 8][..], &[3, 7, 10]] {
            let x = tensor(sizes, 0.0);
            let run = |x: &Tensor| {
                aten::max_pool2d_with_indices::call(x, &kernel, &stride, &padding, &dilation, ceil)
            };
            let grad = tensor(run(&x).unwrap().0.sizes(), 4.0);
            all_same(device, &[x, grad], |x| {
                let (values, places) = run(&x[0])?;
                let back = aten::max_pool2d_with_indices_backward(
                    &x[1], &x[0], &kernel, &stride, &padding, &dilation, ceil, &places,
                )?;
                Ok(vec![values, places, back])
            });
        }
    }
    let mut x = vec![1.0; 64];
    x[9] = f32::NAN;
    x[20] = f32::NEG_INFINITY;
    let x = Tensor::from_vec(x, &[1, 8, 8]).unwrap();
    all_same(device, &[x], |x| {
        let (values, places) = aten::max_pool2d_with_indices::with(&x[0], &[3, 3]).call()?;
        Ok(vec![values, places])
    });
}

#[test]
fn means_under_windows_and_their_gradients() {
    let Some(device) = device() else { return };
    for (kernel, stride, padding, ceil, padded, divisor) in [
        ([2, 2], [2, 2], [0, 0], false, true, None),
        ([3, 3], [2, 2], [1, 1], false, true, None),
        ([3, 2], [1, 2], [1, 1], false, false, None),
        ([3, 3], [2, 3], [1, 1], true, true, None),
        ([3, 3], [2, 2], [1, 0], true, false, None),
        ([2, 3], [2, 1], [0, 1], true, true, Some(5)),
    ] {
        let x = tensor(&[2, 3, 9, 8], 0.0);
        let run = |x: &Tensor| aten::avg_pool2d::call(x, &kernel, &stride, &padding, ceil, padded, divisor);
        let grad = tensor(run(&x).unwrap().sizes(), 4.0);
        all_same(device, &[x, grad], |x| {
            let back =
                aten::avg_pool2d_backward(&x[1], &x[0], &kernel, &stride, &padding, ceil, padded, divisor)?;
            Ok(vec![run(&x[0])?, back])
        });
    }
    let x = tensor(&[2, 3, 9, 8], 0.0);
    let refused = |x: &Tensor| {
        aten::avg_pool2d::call(x, &[2, 2, 2], &[2, 2], &[0, 0], false, true, None).unwrap_err().to_string()
    };
    assert_eq!(refused(&x.to(device).unwrap()), refused(&x));
}

#[test]
fn means_of_shares_and_their_gradients() {
    let Some(device) = device() else { return };
    for (high, wide) in [(1, 1), (3, 4), (9, 8), (12, 5), (2, 2)] {
        let (x, grad) = (tensor(&[2, 3, 9, 8], 0.0), tensor(&[2, 3, high, wide], 1.0));
        all_same(device, &[x, grad], |x| {
            let found = aten::_adaptive_avg_pool2d(&x[0], &[high, wide])?;
            let back = aten::_adaptive_avg_pool2d_backward(&x[1], &x[0])?;
            Ok(vec![found, back, aten::adaptive_avg_pool2d(&x[0], &[high, wide])?])
        });
    }
    // Products of these sizes do not fit into 32 bits.
    let long = tensor(&[1, 1, 70_000], 0.0);
    let mean = |x: &Tensor| aten::_adaptive_avg_pool2d(x, &[1, 65_000]).unwrap();
    close(&mean(&long.to(device).unwrap()), &mean(&long));
}
