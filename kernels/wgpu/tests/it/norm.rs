//! Normalisation and its gradients, compared with the CPU.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

use crate::{all_same, device, tensor};

const MASKS: [[bool; 3]; 3] = [[true; 3], [true, false, false], [false, true, true]];

#[test]
fn layers_are_normalised() {
    let Some(device) = device() else { return };
    for (sizes, last) in [(&[5, 7, 30][..], 1), (&[3, 4, 5], 2), (&[300, 3], 1), (&[2, 1000], 1)] {
        let shape = &sizes[sizes.len() - last..];
        let inputs = [tensor(sizes, 0.0), tensor(shape, 1.0), tensor(shape, 2.0), tensor(sizes, 3.0)];
        for with in [true, false] {
            for mask in MASKS {
                all_same(device, &inputs, |x| {
                    let (weight, bias) = (with.then_some(&x[1]), with.then_some(&x[2]));
                    let mask = if with { mask } else { [true, false, false] };
                    let (y, mean, rstd) = aten::native_layer_norm(&x[0], shape, weight, bias, 1e-5)?;
                    let (a, b, c) = aten::native_layer_norm_backward(
                        &x[3], &x[0], shape, &mean, &rstd, weight, bias, &mask,
                    )?;
                    Ok(vec![y, mean, rstd, a, b, c])
                });
            }
        }
    }
}

#[test]
fn equal_numbers_without_eps_have_a_reciprocal_deviation() {
    let Some(device) = device() else { return };
    let equal = Tensor::from_vec(vec![3f32; 24], &[2, 3, 4]).unwrap();
    all_same(device, &[equal], |x| {
        let (_, _, of_layers) = aten::native_layer_norm(&x[0], &[4], None, None, 0.0)?;
        let (_, _, of_groups) = aten::native_group_norm(&x[0], None, None, 2, 3, 4, 1, 0.0)?;
        let (y, _, of_batches) = aten::native_batch_norm(&x[0], None, None, None, None, true, 0.1, 0.0)?;
        Ok(vec![of_layers, of_groups, y, of_batches])
    });
}

#[test]
fn groups_are_normalised() {
    let Some(device) = device() else { return };
    for (batch, channels, pixels, groups) in [(2, 6, 20, 3), (3, 4, 1, 4), (1, 8, 33, 1)] {
        let sizes = [batch, channels, pixels];
        let inputs =
            [tensor(&sizes, 0.0), tensor(&[channels], 1.0), tensor(&[channels], 2.0), tensor(&sizes, 3.0)];
        for mask in MASKS {
            all_same(device, &inputs, |x| {
                let (weight, bias) = (Some(&x[1]), Some(&x[2]));
                let (y, mean, rstd) =
                    aten::native_group_norm(&x[0], weight, bias, batch, channels, pixels, groups, 1e-2)?;
                let (a, b, c) = aten::native_group_norm_backward(
                    &x[3], &x[0], &mean, &rstd, weight, batch, channels, pixels, groups, &mask,
                )?;
                Ok(vec![y, mean, rstd, a, b, c])
            });
        }
    }
}

#[test]
fn batches_are_normalised_and_statistics_run_along() {
    let Some(device) = device() else { return };
    for sizes in [&[6, 5][..], &[4, 3, 7, 9], &[2, 70, 5]] {
        let channel = |seed| tensor(&sizes[1..2], seed);
        let inputs = [
            tensor(sizes, 0.0),
            channel(1.0),
            channel(2.0),
            channel(3.0),
            channel(4.0).abs().unwrap(),
            tensor(sizes, 5.0),
        ];
        for (is_training, mask) in [true, false].into_iter().flat_map(|is| MASKS.map(|mask| (is, mask))) {
            all_same(device, &inputs, |x| {
                let [weight, bias, mean, var] = [1, 2, 3, 4].map(|at| Some(&x[at]));
                let (y, save_mean, save_invstd) =
                    aten::native_batch_norm(&x[0], weight, bias, mean, var, is_training, 0.1, 1e-5)?;
                let (a, b, c) = aten::native_batch_norm_backward(
                    &x[5],
                    &x[0],
                    weight,
                    mean,
                    var,
                    Some(&save_mean),
                    Some(&save_invstd),
                    is_training,
                    1e-5,
                    &mask,
                )?;
                Ok(vec![y, save_mean, save_invstd, a, b, c])
            });
        }
    }
}
