//! Tensors that get other sizes and other memory, or are written, while an operator computes with them.
#![forbid(unsafe_code)]

use torch_library::Storage;
use torch_library::prelude::*;
use torch_library_kernels::aten;

use crate::harness::{allowed, assert_one_of, attempt, count, right_or_refused, together};

const SMALL: i64 = 4;
const LARGE: i64 = count(1 << 15, 64) as i64;

fn filled(len: i64, value: f64) -> Storage {
    Storage::from_vec(vec![value; len as usize])
}

/// Alternately gives the tensor a small memory of ones and a large one of twos.
fn swap(x: &Tensor, round: usize) {
    let (len, value) = if round.is_multiple_of(2) { (LARGE, 2.0) } else { (SMALL, 1.0) };
    attempt(x.clone().set_storage(filled(len, value), &[len], &[1], 0));
}

/// Runs an operator on a tensor whose memory is exchanged: a result, if there is one, must come from one of the two memories.
fn attack(names: &[&str], call: impl Fn(&Tensor) -> Result<Tensor> + Sync, want: [f64; 2]) -> Result<()> {
    let x = Tensor::from(vec![1.0; SMALL as usize]);
    let calls = |_| {
        let Some(result) = right_or_refused(call(&x), names) else { return };
        if let Some(values) = allowed(result.to_vec::<f64>()) {
            assert_one_of(&values, &want);
        }
    };
    together(&[&calls, &calls, &|round| swap(&x, round)]);
    Ok(())
}

pub(crate) fn storage_set_while_negated() -> Result<()> {
    attack(&["aten::neg"], aten::neg, [-1.0, -2.0])?;
    attack(&["aten::neg"], |x| aten::neg(&aten::neg(x)?), [1.0, 2.0])
}

/// One thread shrinks and grows a tensor, two add it.
pub(crate) fn resized_while_added() -> Result<()> {
    let x = Tensor::from(vec![1.0; LARGE as usize]);
    let adds = |_| {
        if let Some(sum) = allowed(aten::add_Tensor(&x, &x)) {
            attempt(sum.to_vec::<f64>());
        }
        attempt(aten::add__Tensor(&mut x.clone(), &x).map(drop));
    };
    together(&[&adds, &adds, &|round| {
        attempt(x.clone().resize(&[[LARGE, 1, 4 * LARGE, 0][round % 4]], None));
    }]);
    Ok(())
}

/// A matrix is transposed, shrunk and replaced while it is multiplied.
pub(crate) fn moved_while_multiplied() -> Result<()> {
    const N: i64 = count(64, 4) as i64;
    for dtype in [DType::Float32, DType::Float64, DType::Int64, DType::Complex64] {
        let x = Tensor::full(&[N, N], 1, dtype, Device::CPU)?;
        let multiplies = |_| {
            attempt(aten::mm(&x, &x).map(|product| product.to_string()));
            attempt(aten::matmul(&x, &x));
        };
        together(&[&multiplies, &|round| {
            let mut x = x.clone();
            allowed(match round % 3 {
                0 => x.set_geometry(&[N, N], &[1, N], 0),
                1 => x.set_geometry(&[2, 2], &[1, 2], 3),
                _ => Tensor::full(&[N, N], 1, dtype, Device::CPU).and_then(|fresh| {
                    x.set_storage(fresh.storage().clone(), &[N, N], &[N, 1], 0)
                }),
            });
        }]);
    }
    Ok(())
}

/// A list that contains one tensor repeatedly is concatenated while the tensor changes.
pub(crate) fn lists_moved_while_joined() -> Result<()> {
    let x = Tensor::from(vec![1.0; SMALL as usize]);
    let joins = |_| {
        let joined = right_or_refused(aten::cat(&[x.clone(), x.clone(), x.clone()]), &["aten::cat"]);
        if let Some(values) = joined.and_then(|joined| allowed(joined.to_vec::<f64>())) {
            assert!(values.iter().all(|value| [1.0, 2.0].contains(value)));
        }
    };
    together(&[&joins, &|round| swap(&x, round)]);
    attack(&["aten::stack"], |x| aten::stack(std::slice::from_ref(x)), [1.0, 2.0])
}

/// A tensor shrinks while it is summed.
pub(crate) fn shrunk_while_reduced() -> Result<()> {
    attack(&["aten::"], aten::sum, [SMALL as f64, 2.0 * LARGE as f64])?;
    attack(&["aten::"], |x| aten::cumsum(x, 0)?.strided_view(&[1], &[1], 0), [1.0, 2.0])?;
    attack(&["aten::"], aten::amax, [1.0, 2.0])
}

/// A tensor is filled with integers while it is summed: the sum must be one of them times the number of elements.
pub(crate) fn written_while_reduced() -> Result<()> {
    let x = Tensor::from(vec![1.0; LARGE as usize]);
    let sums = |_| {
        if let Some(sum) = right_or_refused(aten::sum(&x), &["aten::sum"]) {
            let sum = sum.to_vec::<f64>().unwrap()[0] / LARGE as f64;
            assert!([0.0, 1.0, 2.0].contains(&sum), "{sum} on average");
        }
    };
    together(&[&sums, &sums, &|round| {
        attempt(aten::fill__Scalar(&mut x.clone(), ((round % 3) as i64).into()).map(drop));
    }]);
    Ok(())
}

/// Rows are sorted while they are moved and written.
pub(crate) fn rows_moved_while_sorted() -> Result<()> {
    let x = Tensor::from((0..LARGE).map(|i| ((i * 31) % 1000) as f64).collect::<Vec<_>>());
    let sorts = |_| {
        if let Some((values, places)) = allowed(aten::sort(&x)) {
            let (values, places) = (values.to_vec::<f64>().unwrap(), places.to_vec::<i64>().unwrap());
            assert!(places.iter().all(|place| (0..places.len() as i64).contains(place)));
            assert_eq!(values.len(), places.len());
        }
        attempt(aten::topk(&x, 2).map(|(values, _)| values.to_string()));
        attempt(aten::_unique2(&x).map(|(values, ..)| values.to_string()));
        attempt(aten::median(&x));
    };
    together(&[&sorts, &|round| {
        attempt(x.clone().set_geometry(&[[LARGE, 16][round % 2]], &[1], 0));
        attempt(aten::mul__Scalar(&mut x.clone(), (-1).into()).map(drop));
    }]);
    Ok(())
}

/// A tensor is copied to another and back, while both are moved.
pub(crate) fn written_while_copied() -> Result<()> {
    let (x, y) = (Tensor::from(vec![1.0; LARGE as usize]), Tensor::from(vec![2f32; LARGE as usize]));
    together(&[
        &|_| attempt(aten::copy_(&mut x.clone(), &y).map(drop)),
        &|_| attempt(aten::copy_(&mut y.clone(), &x).map(drop)),
        &|_| attempt(aten::clone(&x).and_then(|x| x.to_vec::<f64>())),
        &|round| {
            for tensor in [&x, &y] {
                attempt(tensor.clone().set_geometry(&[[LARGE, 8][round % 2]], &[1], 0));
            }
        },
    ]);
    Ok(())
}

/// Images are convolved, pooled, resized and padded while they are moved.
pub(crate) fn images_moved_while_folded() -> Result<()> {
    const N: i64 = count(16, 4) as i64;
    let x = Tensor::full(&[2, 2, N, N], 1.0, DType::Float32, Device::CPU)?;
    let weight = Tensor::full(&[2, 2, 3, 3], 1.0, DType::Float32, Device::CPU)?;
    let folds = |_| {
        attempt(aten::convolution(&x, &weight, None, &[1, 1], &[1, 1], &[1, 1], false, &[0, 0], 1));
        attempt(aten::max_pool2d_with_indices(&x, &[2, 2]));
        attempt(aten::upsample_bilinear2d(&x, &[2 * N, 2 * N], false));
        attempt(aten::constant_pad_nd(&x, &[1, 1, 1, 1]));
        attempt(aten::_softmax(&x, 1, false));
        attempt(aten::native_layer_norm(&x, &[N], None, None, 1e-5));
    };
    together(&[&folds, &|round| {
        for tensor in [&x, &weight] {
            let sizes = tensor.sizes().to_vec();
            allowed(match round % 3 {
                0 => tensor.clone().resize(&[1, 2, 2, 2], None),
                1 => tensor.clone().resize(&[2, 2, N, N], None),
                _ => Tensor::zeros(&sizes, DType::Float32, Device::CPU).and_then(|fresh| {
                    tensor.clone().set_storage(fresh.storage().clone(), fresh.sizes(), fresh.strides(), 0)
                }),
            });
        }
    }]);
    Ok(())
}

/// Running statistics get other sizes while a batch norm or its gradient is computed from them. The gradient is the same for any
/// mean: an element that was not written would be that of an earlier tensor.
pub(crate) fn statistics_moved_while_normalised() -> Result<()> {
    const CHANNELS: i64 = 16;
    let full = |sizes: &[i64], value: f64| Tensor::full(sizes, value, DType::Float64, Device::CPU);
    let x = full(&[4, CHANNELS], 1.0)?;
    let (mean, variance) = (full(&[CHANNELS], 0.0)?, full(&[CHANNELS], 4.0)?);
    let normalises = |_| {
        let (mean, variance, mask) = (Some(&mean), Some(&variance), [true, false, false]);
        drop(full(x.sizes(), -1.0)); // whose memory the gradient gets
        let gradients = aten::native_batch_norm_backward(&x, &x, None, mean, variance, None, None, false, 0.0, &mask);
        if let Some((gradient, ..)) = allowed(gradients) {
            assert_one_of(&gradient.to_vec::<f64>().unwrap(), &[0.5]);
        }
        attempt(aten::native_batch_norm(&x, None, None, mean, variance, false, 0.1, 0.0));
    };
    together(&[&normalises, &normalises, &|round| {
        let sizes = [&[CHANNELS][..], &[2], &[]][round % 3];
        for statistic in [&mean, &variance] {
            attempt(statistic.clone().set_geometry(sizes, &[1][..sizes.len()], 0));
        }
    }]);
    Ok(())
}
