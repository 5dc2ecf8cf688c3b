//! Samples of linear algebra, recurrent networks, resizing, pooling of volumes, and of operators that combine elements
//! at given positions.

use torch_library::opcheck::Check;
use torch_library::prelude::*;

use torch_library_kernels::aten;

use super::samples::numbers;
use super::{floats, ints, tensor};

/// Samples of operators whose arguments depend on each other.
pub(super) fn by_hand(name: &str) -> Option<Vec<Value<'static>>> {
    equations(name)
        .or_else(|| aligned(name))
        .or_else(|| joined(name))
        .or_else(|| resized(name))
        .or_else(|| pooled(name))
        .or_else(|| recurrent(name))
        .or_else(|| packed(name))
        .or_else(|| transformed(name))
}

/// The checks that an operator fails on purpose.
pub(super) fn left_out(name: &str) -> Option<&'static [Check]> {
    Some(match name {
        // Lengths and batch sizes are read.
        "_pack_padded_sequence" | "_pack_padded_sequence_backward" | "_pad_packed_sequence" => &[Check::Meta],
        name if name.ends_with(".data") => &[Check::Meta],
        // It requires contiguous matrices, as in PyTorch.
        "_weight_int8pack_mm" => &[Check::Layouts],
        // Steps have no slope; the gradient is that of the identity.
        name if name.contains("fake_quantize_") || name.contains("moving_avg_obs") => {
            &[Check::Gradient, Check::SecondGradient]
        }
        // They return the tensor itself if it has the type.
        name if name.starts_with("_cast_") => &[Check::Aliasing],
        _ => return super::rare::left_out(name).or_else(|| super::exported::left_out(name)),
    })
}

/// Matrices that are neither singular nor far from symmetric, and positive.
fn matrices() -> Value<'static> {
    let elements = [4.0, 0.5, 1.0, 0.25, 3.0, -0.5, 0.75, 0.5, 5.0];
    Value::Tensor(Tensor::from_slice(&[elements, elements.map(|x| x + 0.5)].concat(), &[2, 3, 3]).unwrap())
}

fn equations(name: &str) -> Option<Vec<Value<'static>>> {
    let right = || floats(&[2, 3, 2]);
    Some(match name {
        "linalg_lu_factor_ex" | "linalg_lu_factor" | "linalg_lu" | "linalg_qr" => vec![matrices()],
        "linalg_eig" | "linalg_eigvals" => vec![matrices()],
        "lu_unpack" => factors().into(),
        "linalg_lu_solve" => factors().into_iter().chain([right()]).collect(),
        "lu_solve" => [right()].into_iter().chain(factors()).collect(),
        "linalg_lstsq" => vec![matrices(), right()],
        "pinverse" | "linalg_pinv.atol_rtol_tensor" | "linalg_pinv.atol_rtol_float" => vec![matrices()],
        "linalg_matrix_rank.atol_rtol_tensor" | "linalg_matrix_rank.atol_rtol_float" => vec![matrices()],
        "linalg_pinv" | "linalg_matrix_rank" => vec![matrices(), Value::Float(1e-9)],
        "linalg_pinv.rcond_tensor" | "linalg_matrix_rank.tol_tensor" => {
            vec![matrices(), Value::Tensor(Tensor::from(1e-9))]
        }
        "linalg_inv" | "linalg_inv_ex" | "inverse" => vec![matrices()],
        "linalg_det" | "_linalg_det" | "det" => vec![matrices()],
        "linalg_slogdet" | "_linalg_slogdet" | "slogdet" | "logdet" => vec![matrices()],
        "linalg_cholesky" | "linalg_cholesky_ex" | "cholesky_inverse" => vec![matrices()],
        "linalg_svd" | "_linalg_svd" | "linalg_svdvals" => vec![matrices()],
        "linalg_eigh" | "_linalg_eigh" | "linalg_eigvalsh" => vec![matrices()],
        "linalg_solve" | "_linalg_solve_ex" => vec![matrices(), right()],
        "linalg_solve_triangular" => vec![matrices(), right(), Value::Bool(true)],
        "triangular_solve" | "cholesky_solve" => vec![right(), matrices()],
        "linalg_multi_dot" => {
            vec![Value::Tensors(vec![tensor(&[2, 3]), tensor(&[3, 4]), tensor(&[4, 1])].into())]
        }
        _ => return None,
    })
}

/// Their LU factors, and pivots.
fn factors() -> [Value<'static>; 2] {
    let matrices = matrices();
    let (factors, pivots) = aten::linalg_lu_factor(matrices.as_tensor().unwrap()).unwrap();
    [Value::Tensor(factors), Value::Tensor(pivots)]
}

/// Sequences of labels.
fn aligned(name: &str) -> Option<Vec<Value<'static>>> {
    let log_probs = || aten::log_softmax_int(floats(&[4, 2, 3]).as_tensor().unwrap(), 2).unwrap();
    let labels = || Tensor::from([[1i64, 2], [2, 2]]);
    let (lists, tensors) = ([numbers(&[4, 3]), numbers(&[2, 1])], [ints(&[4, 3], &[2]), ints(&[2, 1], &[2])]);
    let call = |lengths: [Value<'static>; 2]| -> Vec<Value<'static>> {
        [Value::Tensor(log_probs()), Value::Tensor(labels())].into_iter().chain(lengths).collect()
    };
    let backward = |lengths: [Value<'static>; 2]| {
        let (loss, alpha) = aten::_ctc_loss(&log_probs(), &labels(), &[4, 3], &[2, 1]).unwrap();
        let rest = [Value::Tensor(loss), Value::Tensor(alpha), Value::Int(0)];
        [floats(&[2])].into_iter().chain(call(lengths)).chain(rest).collect()
    };
    Some(match name {
        "_ctc_loss" | "ctc_loss.IntList" => call(lists),
        "_ctc_loss.Tensor" | "ctc_loss.Tensor" => call(tensors),
        "_ctc_loss_backward" => backward(lists),
        "_ctc_loss_backward.Tensor" => backward(tensors),
        _ => return None,
    })
}

fn joined(name: &str) -> Option<Vec<Value<'static>>> {
    let by = |how: &'static str| Value::Str(how.into());
    let source = |sizes: &[i64]| {
        let count = sizes.iter().product::<i64>();
        let elements = (0..count).map(|at| 0.3 + 0.7 * (at * 5 % 7) as f64);
        Value::Tensor(Tensor::from_vec(elements.collect(), sizes).unwrap())
    };
    if let "polygamma_" = name {
        return Some(vec![source(&[2, 3]), Value::Int(2)]);
    }
    Some(match name.replace('_', "").as_str() {
        "scatterreduce.two" => {
            vec![floats(&[2, 3]), Value::Int(0), ints(&[1, 0, 1], &[2, 3]), source(&[2, 3]), by("mean")]
        }
        "indexreduce" => {
            vec![floats(&[2, 3]), Value::Int(0), ints(&[1, 0, 1], &[3]), source(&[3, 3]), by("prod")]
        }
        "polygamma" | "specialpolygamma" => vec![Value::Int(2), source(&[2, 3])],
        "multinomial" => vec![source(&[2, 3]), Value::Int(2)],
        _ => return None,
    })
}

/// An image of one to three dimensions, larger or smaller, by sizes or by factors, and back.
fn resized(name: &str) -> Option<Vec<Value<'static>>> {
    let count = match name.trim_start_matches('_').strip_prefix("upsample_")? {
        name if name.contains("1d") => 1,
        name if name.contains("2d") => 2,
        _ => 3,
    };
    let aligned = name.contains("linear") || name.contains("cubic");
    let flag = aligned.then_some(Value::Bool(false));
    let (from, to) = ([2, 3, 2].map(i64::from), [3, 2, 4].map(i64::from));
    let sizes = |sizes: &[i64]| Value::Ints(sizes.to_vec().into());
    let image = |size: &[i64]| [&[1, 2], size].concat();
    if name.ends_with("_backward") {
        let grad = floats(&image(&to[..count]));
        return Some(
            [grad, sizes(&to[..count]), sizes(&image(&from[..count]))].into_iter().chain(flag).collect(),
        );
    }
    let input = floats(&image(&from[..count]));
    Some(match name.ends_with(".vec") {
        true => {
            let factors = Value::Floats(vec![1.5; count].into());
            [input, Value::None].into_iter().chain(flag).chain([factors]).collect()
        }
        false => [input, sizes(&to[..count])].into_iter().chain(flag).collect(),
    })
}

/// A volume, or an image, pooled by windows of two elements or into two shares.
fn pooled(name: &str) -> Option<Vec<Value<'static>>> {
    let ints = |values: &[i64]| Value::Ints(values.to_vec().into());
    let (ndim, kind) = match name {
        name if name.contains("pool3d") => (3, name),
        "adaptive_max_pool2d" | "adaptive_max_pool2d_backward" => (2, name),
        "adaptive_max_pool1d" => (1, name),
        _ => return None,
    };
    let (from, to) = (&[2, 2, 4][3 - ndim..], &[1, 1, 2][3 - ndim..]);
    let of = |sizes: &[i64]| floats(&[&[1, 1], sizes].concat());
    let spread = || {
        let elements = (0..from.iter().product::<i64>()).map(|at| 0.1 * (at * 5 % 16) as f64).collect();
        Value::Tensor(Tensor::from_vec::<f64>(elements, &[&[1, 1], from].concat()).unwrap())
    };
    let places = || Value::Tensor(Tensor::from_vec(vec![1i64, 6], &[&[1, 1], to].concat()).unwrap());
    let (two, zero, one) = (|| ints(&[2]), || ints(&[0]), || ints(&[1]));
    let off = || Value::Bool(false);
    Some(match kind {
        "max_pool3d_with_indices_backward" => {
            vec![of(to), spread(), two(), two(), zero(), one(), off(), places()]
        }
        "avg_pool3d_backward" => vec![of(to), spread(), two(), two(), zero(), off(), off(), Value::None],
        "_adaptive_avg_pool3d_backward" => vec![of(to), spread()],
        "adaptive_avg_pool3d_backward.grad_input" => vec![of(to), spread(), spread()],
        name if name.ends_with("_backward") => vec![of(to), spread(), places()],
        name if name.contains("adaptive") => vec![spread(), ints(to)],
        _ => vec![spread(), two()],
    })
}

/// Two sequences of three steps of width four, two heads, and a mask of the last step.
fn transformed(name: &str) -> Option<Vec<Value<'static>>> {
    let mask = || {
        let last = Tensor::from([[false, false, true], [false, false, true]]);
        Value::Tensor(last)
    };
    let masks = || {
        let mask = mask().as_tensor().unwrap().clone();
        let all = aten::expand(&aten::reshape(&mask, &[2, 1, 1, 3]).unwrap(), &[2, 2, 3, 3]).unwrap();
        Value::Tensor(aten::contiguous(&all).unwrap())
    };
    let (sequences, scores) = (|| floats(&[2, 3, 4]), || floats(&[2, 2, 3, 3]));
    let projections = || [floats(&[12, 4]), floats(&[12]), floats(&[4, 4]), floats(&[4])];
    let heads = || [Value::Int(4), Value::Int(2)];
    Some(match name {
        "_masked_softmax" => vec![scores(), masks(), Value::Int(3)],
        "_masked_softmax_backward" => vec![scores(), scores(), masks(), Value::Int(3)],
        "_transform_bias_rescale_qkv" => vec![floats(&[2, 3, 12]), floats(&[12]), Value::Int(2)],
        "_native_multi_head_attention" => {
            let options = [mask(), Value::Bool(true), Value::Bool(true), Value::Int(1)];
            [sequences(), sequences(), sequences()]
                .into_iter()
                .chain(heads())
                .chain(projections())
                .chain(options)
                .collect()
        }
        "_transformer_encoder_layer_fwd" => {
            let options = [Value::Bool(true), Value::Bool(false), Value::Float(1e-5)];
            let norms = [floats(&[4]), floats(&[4]), floats(&[4]), floats(&[4])];
            let network = [floats(&[6, 4]), floats(&[6]), floats(&[4, 6]), floats(&[4])];
            [sequences()]
                .into_iter()
                .chain(heads())
                .chain(projections())
                .chain(options)
                .chain(norms)
                .chain(network)
                .chain([mask(), Value::Int(1)])
                .collect()
        }
        "_weight_int8pack_mm" => {
            let single = |sizes: &[i64]| {
                let numbers = floats(sizes);
                Value::Tensor(aten::to_dtype(numbers.as_tensor().unwrap(), DType::Float32).unwrap())
            };
            vec![single(&[2, 2]), Value::Tensor(Tensor::from([[1i8, -2], [3, 4], [0, 5]])), single(&[3])]
        }
        _ => return None,
    })
}

/// Two sequences of two steps and one, padded or packed.
fn packed(name: &str) -> Option<Vec<Value<'static>>> {
    let steps = || ints(&[2, 1], &[2]);
    Some(match name {
        "_pack_padded_sequence" => vec![floats(&[2, 2, 3]), steps(), Value::Bool(false)],
        "_pack_padded_sequence_backward" => {
            let sizes = Value::Ints(vec![2, 2, 3].into());
            vec![floats(&[3, 3]), sizes, steps(), Value::Bool(false)]
        }
        "_pad_packed_sequence" => {
            let padding = [Value::Bool(false), Value::Float(1.5), Value::Int(0)];
            [floats(&[3, 3]), steps()].into_iter().chain(padding).collect()
        }
        _ => return None,
    })
}

fn recurrent(name: &str) -> Option<Vec<Value<'static>>> {
    let (kind, form) = name.split_once(['.', '_']).map(|(kind, _)| (kind, name)).unwrap_or((name, name));
    let gates = match kind {
        "rnn" => 1,
        "gru" => 3,
        "lstm" => 4,
        _ => return None,
    };
    let state = |sizes: &[i64]| match gates {
        4 => Value::Tensors(vec![tensor(sizes), tensor(sizes)].into()),
        _ => floats(sizes),
    };
    if form.ends_with("_cell") {
        return Some(vec![floats(&[2, 3]), state(&[2, 2]), floats(&[2 * gates, 3]), floats(&[2 * gates, 2])]);
    }
    let params: Vec<Tensor> = [3, 3, 4, 4]
        .iter()
        .flat_map(|width| [tensor(&[2 * gates, *width]), tensor(&[2 * gates, 2])])
        .collect();
    let flags = [Value::Bool(false), Value::Int(2), Value::Float(0.0), Value::Bool(true)];
    if form.ends_with(".data") {
        let tensors =
            [floats(&[3, 3]), ints(&[2, 1], &[2]), state(&[4, 2, 2]), Value::Tensors(params.into())];
        return Some(tensors.into_iter().chain(flags).chain([Value::Bool(true)]).collect());
    }
    let directions = [Value::Bool(true), Value::Bool(false)];
    let tensors = [floats(&[2, 1, 3]), state(&[4, 1, 2]), Value::Tensors(params.into())];
    Some(tensors.into_iter().chain(flags).chain(directions).collect())
}
