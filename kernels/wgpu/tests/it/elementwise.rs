//! Element-wise operators, each compared with the CPU's, with NaN and infinities.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

use crate::{all_same, device, same, special, tensor};

#[test]
fn functions_of_one_number() {
    let Some(device) = device() else { return };
    let functions = [
        aten::sqrt,
        aten::rsqrt,
        aten::reciprocal,
        aten::floor,
        aten::ceil,
        aten::trunc,
        aten::abs,
        aten::neg,
        aten::relu,
        aten::sigmoid,
        aten::tanh,
        aten::exp,
        aten::log,
        aten::logical_not,
    ];
    for function in functions {
        same(device, &[special()], |x| function(&x[0]));
    }
    // The vendors' sines are only precise for angles near zero.
    for function in [aten::sin, aten::cos, aten::silu, aten::gelu] {
        same(device, &[tensor(&[5, 7], 0.0)], |x| function(&x[0]));
    }
    for slope in [0.01, -0.5] {
        same(device, &[special()], |x| aten::leaky_relu::call(&x[0], slope.into()));
    }
}

#[test]
fn functions_of_several_numbers() {
    let Some(device) = device() else { return };
    let inputs = [special(), special().t().unwrap().reshape(&[3, 4]).unwrap(), tensor(&[3, 4], 1.0)];
    for function in [aten::maximum, aten::minimum, aten::logical_and, aten::logical_or] {
        same(device, &inputs, |x| function(&x[0], &x[1]));
    }
    same(device, &inputs, |x| aten::addcmul::call(&x[0], &x[1], &x[2], 0.5.into()));
    same(device, &inputs, |x| aten::addcdiv::call(&x[0], &x[1], &x[2], 2.into()));
    let (start, end) = (tensor(&[4, 6], 2.0), tensor(&[4, 6], 3.0));
    for weight in [0.25, 0.75] {
        same(device, &[start.clone(), end.clone()], |x| aten::lerp_Scalar(&x[0], &x[1], weight.into()));
    }
}

#[test]
fn gradients_of_activations() {
    let Some(device) = device() else { return };
    let inputs = [tensor(&[5, 7], 0.0), tensor(&[5, 7], 1.0).sigmoid().unwrap()];
    same(device, &inputs, |x| aten::threshold_backward(&x[0], &x[1], 0.6.into()));
    same(device, &inputs, |x| aten::sigmoid_backward(&x[0], &x[1]));
    same(device, &inputs, |x| aten::tanh_backward(&x[0], &x[1]));
    for dim in [0, 1] {
        same(device, &inputs, |x| {
            aten::_softmax_backward_data(&x[0], &x[1].softmax(dim)?, dim, DType::Float32)
        });
        same(device, &inputs, |x| {
            aten::_log_softmax_backward_data(&x[0], &x[1].log_softmax(dim)?, dim, DType::Float32)
        });
    }
}

#[test]
fn rows_with_what_is_no_number() {
    let Some(device) = device() else { return };
    all_same(device, &[special()], |x| Ok(vec![x[0].amax(&[1], false)?, x[0].amin(&[1], false)?]));
}
