//! Convolutions in one to three directions, plain and transposed, and their gradients.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

use crate::{all_same, device, same, tensor};

/// The sizes of an image and a weight, and the parameters of the window, in this order: stride, padding, dilation,
/// output padding if it is transposed, and groups.
struct Case {
    image: &'static [i64],
    weight: &'static [i64],
    steps: [&'static [i64]; 3],
    transposed: Option<&'static [i64]>,
    groups: i64,
}

const fn case(
    image: &'static [i64],
    weight: &'static [i64],
    steps: [&'static [i64]; 3],
    groups: i64,
) -> Case {
    Case { image, weight, steps, transposed: None, groups }
}

const CASES: [Case; 12] = [
    case(&[2, 3, 9, 7], &[5, 3, 3, 3], [&[1, 1], &[1, 1], &[1, 1]], 1),
    case(&[1, 1, 8, 8], &[16, 1, 3, 3], [&[1, 1], &[1, 1], &[1, 1]], 1),
    case(&[3, 4, 11, 6], &[6, 2, 3, 2], [&[2, 3], &[1, 0], &[1, 2]], 2),
    case(&[2, 6, 10, 10], &[6, 1, 5, 5], [&[2, 2], &[2, 2], &[1, 1]], 6),
    case(&[2, 70, 9, 9], &[66, 70, 1, 1], [&[1, 1], &[0, 0], &[1, 1]], 1),
    case(&[1, 16, 12, 12], &[80, 16, 3, 3], [&[1, 1], &[1, 1], &[2, 2]], 1),
    case(&[2, 3, 33, 31], &[8, 3, 7, 7], [&[4, 4], &[3, 3], &[1, 1]], 1),
    case(&[2, 3, 17], &[4, 3, 4], [&[2], &[2], &[1]], 1),
    case(&[1, 8, 40], &[8, 1, 3], [&[1], &[2], &[2]], 8),
    Case { transposed: Some(&[1, 0]), ..case(&[2, 4, 5, 6], &[4, 3, 3, 2], [&[2, 3], &[1, 0], &[1, 2]], 1) },
    Case { transposed: Some(&[0, 0]), ..case(&[1, 6, 7, 7], &[6, 2, 4, 4], [&[2, 2], &[1, 1], &[1, 1]], 3) },
    Case { transposed: Some(&[1]), ..case(&[2, 3, 9], &[3, 5, 3], [&[2], &[1], &[1]], 1) },
];

impl Case {
    fn channels(&self) -> i64 {
        if self.transposed.is_some() { self.weight[1] * self.groups } else { self.weight[0] }
    }

    fn convolve(&self, x: &Tensor, weight: &Tensor, bias: Option<&Tensor>) -> Result<Tensor> {
        let (Case { steps: [stride, padding, dilation], groups, .. }, zeros) = (self, [0; 2]);
        let (is_transposed, output) =
            (self.transposed.is_some(), self.transposed.unwrap_or(&zeros[..stride.len()]));
        aten::convolution(x, weight, bias, stride, padding, dilation, is_transposed, output, *groups)
    }

    fn backward(&self, grad: &Tensor, x: &Tensor, weight: &Tensor, mask: [bool; 3]) -> Result<Vec<Tensor>> {
        let (Case { steps: [stride, padding, dilation], groups, .. }, zeros) = (self, [0; 2]);
        let (is_transposed, output) =
            (self.transposed.is_some(), self.transposed.unwrap_or(&zeros[..stride.len()]));
        let bias = [self.channels()];
        let (a, b, c) = aten::convolution_backward(
            grad,
            x,
            weight,
            Some(&bias),
            stride,
            padding,
            dilation,
            is_transposed,
            output,
            *groups,
            &mask,
        )?;
        Ok(vec![a, b, c])
    }
}

#[test]
fn images_are_convolved() {
    let Some(device) = device() else { return };
    for case in &CASES {
        let inputs = [tensor(case.image, 0.0), tensor(case.weight, 3.0), tensor(&[case.channels()], 5.0)];
        same(device, &inputs, |x| case.convolve(&x[0], &x[1], Some(&x[2])));
        same(device, &inputs[..2], |x| case.convolve(&x[0], &x[1], None));
    }
}

#[test]
fn convolutions_have_gradients() {
    let Some(device) = device() else { return };
    for case in &CASES {
        let (x, weight) = (tensor(case.image, 0.0), tensor(case.weight, 3.0));
        let grad = tensor(case.convolve(&x, &weight, None).unwrap().sizes(), 7.0);
        let grad = grad.mul(0.1).unwrap();
        for mask in [[true; 3], [false, true, false], [true, false, false], [false, false, true]] {
            all_same(device, &[grad.clone(), x.clone(), weight.clone()], |x| {
                case.backward(&x[0], &x[1], &x[2], mask)
            });
        }
    }
}

#[test]
fn images_of_other_strides_are_convolved_too() {
    let Some(device) = device() else { return };
    let (x, weight) = (tensor(&[2, 9, 7, 3], 0.0), tensor(&[3, 5, 3, 3], 1.0));
    same(device, &[x, weight], |x| {
        let last = x[0].permute(&[0, 3, 1, 2])?;
        aten::conv2d::with(&last, &x[1].transpose(0, 1)?).padding(&[1, 1]).call()
    });
    let (x, weight) = (tensor(&[4, 20, 20], 0.0), tensor(&[2, 4, 3, 3], 1.0));
    same(device, &[x, weight], |x| aten::conv2d(&x[0].slice(1, 1, 19, 2)?.slice(2, 0, 18, 1)?, &x[1]));
}
