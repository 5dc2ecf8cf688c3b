//! Reading, writing and adding elements by index, compared with the CPU.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

use crate::{all_same, device, same, tensor};

/// Indices below a bound, some of them repeated.
fn indices(sizes: &[i64], below: i64) -> Tensor {
    let count = sizes.iter().product::<i64>();
    Tensor::from_vec((0..count).map(|i| (i * i + 3 * i + 1) % below).collect(), sizes).unwrap()
}

#[test]
fn elements_are_looked_up() {
    let Some(device) = device() else { return };
    let x = tensor(&[5, 7, 6], 0.0);
    for dim in [0, 1, 2, -1] {
        let size = x.size(dim).unwrap();
        same(device, &[x.clone(), indices(&[4, 7, 5], size.min(5))], |x| aten::gather(&x[0], dim, &x[1]));
        same(device, &[x.clone(), indices(&[9], size)], |x| aten::index_select(&x[0], dim, &x[1]));
        same(device, &[x.clone(), indices(&[9], 5)], |x| {
            aten::index_select(&x[0].transpose(0, 2)?, dim, &x[1].slice(0, 0, 8, 2)?)
        });
    }
    same(device, &[tensor(&[11, 3], 0.0), indices(&[2, 5], 11)], |x| aten::embedding(&x[0], &x[1]));
    same(device, &[indices(&[11, 3], 99), indices(&[2, 5], 11)], |x| aten::embedding(&x[0], &x[1]));
    let index = Tensor::from([[0i64, -1], [2, -3]]);
    same(device, &[x.clone(), index.clone()], |x| aten::index_Tensor(&x[0], &[Some(x[1].clone())]));
    same(device, &[x.clone(), index.clone()], |x| {
        aten::index_Tensor(&x[0], &[None, None, Some(x[1].clone())])
    });
    all_same(device, &[x, index, Tensor::from([[-7i64], [6]])], |x| {
        let several = [Some(x[1].clone()), Some(x[2].clone())];
        let bools = x[0].gt(0)?;
        Ok(vec![
            aten::index_Tensor(&x[0], &several)?,
            aten::index_Tensor(&bools, &several)?,
            aten::index_Tensor(&bools, &[Some(x[1].clone())])?,
        ])
    });
}

#[test]
fn a_bad_index_is_the_error_that_it_is_on_the_cpu() {
    let Some(device) = device() else { return };
    let (x, index) = (tensor(&[4, 3], 0.0), Tensor::from([1i64, 4]));
    let expected = aten::index_select(&x, 0, &index).unwrap_err();
    let (x, index) = (x.to(device).unwrap(), index.to(device).unwrap());
    let found = aten::index_select(&x, 0, &index).unwrap_err();
    assert_eq!((found.kind(), found.to_string()), (expected.kind(), expected.to_string()));
    let far = Tensor::from([1i64, 1 << 32]).to(device).unwrap();
    assert!(aten::index_select(&x, 0, &far).is_err(), "the upper half counts");
    let [none, source] = [0, 1].map(|size| tensor(&[size], 0.0).to(device).unwrap());
    let first = Tensor::from([0i64]).to(device).unwrap();
    assert!(aten::index_add(&none, 0, &first, &source).is_err(), "there is no first place");
}

#[test]
fn elements_are_put_and_added() {
    let Some(device) = device() else { return };
    let (x, source) = (tensor(&[5, 7, 6], 0.0), tensor(&[5, 7, 6], 3.0));
    for dim in [0, 1, 2, -1] {
        let inputs = [x.clone(), indices(&[4, 6, 6], 5), source.clone()];
        all_same(device, &inputs, |x| {
            let (mut y, mut z, mut w) = (aten::clone(&x[0])?, aten::clone(&x[0])?, aten::clone(&x[0])?);
            aten::scatter__src(&mut y, dim, &x[1], &x[2])?;
            aten::scatter__value(&mut z, dim, &x[1], 7.into())?;
            aten::scatter_add_(&mut w, dim, &x[1], &x[2])?;
            Ok(vec![
                aten::scatter_src(&x[0], dim, &x[1], &x[2])?,
                aten::scatter_add(&x[0], dim, &x[1], &x[2])?,
                y,
                z,
                w,
            ])
        });
        let mut sizes = x.sizes().to_vec();
        let at = dim.rem_euclid(3) as usize;
        let inputs = {
            let below = sizes[at];
            sizes[at] = 12;
            [x.clone(), indices(&[12], below), tensor(&sizes, 9.0)]
        };
        same(device, &inputs, |x| aten::index_add::call(&x[0], dim, &x[1], &x[2], 2.into()));
    }
}

#[test]
fn gradients_of_look_ups_are_added_up() {
    let Some(device) = device() else { return };
    for padding in [-1, 2] {
        same(device, &[tensor(&[3, 40, 5], 0.0), indices(&[3, 40], 7)], |x| {
            aten::embedding_dense_backward(&x[0], &x[1], 9, padding, false)
        });
    }
    for accumulate in [true, false] {
        // Some indices, counted from both ends, lead to the same element.
        for index in [indices(&[3, 4], 5), Tensor::from([[4i64, 0, -1], [-5, 2, 4]])] {
            for sizes in [vec![2, 1, 1, 3], [&[2][..], index.sizes(), &[3]].concat()] {
                let inputs = [tensor(&[2, 5, 3], 0.0), index.clone(), tensor(&sizes, 1.0)];
                same(device, &inputs, |x| {
                    aten::index_put::call(&x[0], &[None, Some(x[1].clone())], &x[2], accumulate)
                });
            }
        }
    }
}

/// The sums would differ in another order.
#[test]
fn sums_of_many_elements_have_the_bits_of_the_cpu() {
    let Some(device) = device() else { return };
    let (x, index, source) = (tensor(&[3], 0.0), indices(&[3000], 3), tensor(&[3000], 1.0));
    let expected = aten::index_add(&x, 0, &index, &source).unwrap().to_vec::<f32>().unwrap();
    let [x, index, source] = [x, index, source].map(|x| x.to(device).unwrap());
    assert_eq!(aten::index_add(&x, 0, &index, &source).unwrap().to_vec::<f32>().unwrap(), expected);
}

/// These rows are long enough for their indices to be sorted, instead of each thread searching its row.
#[test]
fn long_rows_are_put_and_added_as_short_ones_are() {
    let Some(device) = device() else { return };
    for (dim, sizes) in [(0, [700, 4, 3]), (1, [2, 700, 3]), (2, [2, 4, 700])] {
        let mut below = sizes;
        below[dim as usize] = 9;
        let (x, source) = (tensor(&below, 0.0), tensor(&sizes, 3.0));
        all_same(device, &[x.clone(), indices(&sizes, 9), source.clone()], |x| {
            let turned = x[2].mul_Scalar(2.into())?;
            Ok(vec![
                aten::scatter_add(&x[0], dim, &x[1], &x[2])?,
                aten::scatter_src(&x[0], dim, &x[1], &turned)?,
                aten::scatter_value(&x[0], dim, &x[1], 7.into())?,
            ])
        });
        same(device, &[x, indices(&[700], 8), source], |x| {
            aten::index_add::call(&x[0], dim, &x[1], &x[2], 2.into())
        });
    }
    for (padding, count) in [(-1, 9), (2, 9), (0, 1)] {
        same(device, &[tensor(&[3, 400, 5], 0.0), indices(&[3, 400], count)], |x| {
            aten::embedding_dense_backward(&x[0], &x[1], count, padding, false)
        });
    }
    let ends = indices(&[20_000], 10).sub_Scalar(5.into()).unwrap();
    for accumulate in [true, false] {
        same(device, &[tensor(&[2, 5], 0.0), ends.clone(), tensor(&[2, 20_000], 1.0)], |x| {
            aten::index_put::call(&x[0], &[None, Some(x[1].clone())], &x[2], accumulate)
        });
    }
    let (x, index) = (tensor(&[4], 0.0), Tensor::full(&[300], 4, DType::Int64, Device::CPU).unwrap());
    let expected = aten::index_add(&x, 0, &index, &tensor(&[300], 1.0)).unwrap_err();
    let [x, index, source] = [x, index, tensor(&[300], 1.0)].map(|x| x.to(device).unwrap());
    let found = aten::index_add(&x, 0, &index, &source).unwrap_err();
    assert_eq!((found.kind(), found.to_string()), (expected.kind(), expected.to_string()));
}
