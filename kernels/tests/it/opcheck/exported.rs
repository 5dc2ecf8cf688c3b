//! Samples of gradients, of losses and norms under other names, and of operators that exported programs call.

use torch_library::opcheck::Check;
use torch_library::prelude::*;
use torch_library_kernels::aten;

use super::samples::numbers;
use super::{bools, floats, ints, tensor};

/// Samples of operators whose arguments depend on each other.
pub(super) fn by_hand(name: &str) -> Option<Vec<Value<'static>>> {
    activations(name)
        .or_else(|| losses(name))
        .or_else(|| normalised(name))
        .or_else(|| indexed(name))
        .or_else(|| pooled(name))
        .or_else(|| attended(name))
        .or_else(|| fused(name))
        .or_else(|| followed(name))
        .or_else(|| renamed(name))
        .or_else(|| convolved(name))
        .or_else(|| behind(name))
}

/// The checks that an operator fails on purpose.
pub(super) fn left_out(name: &str) -> Option<&'static [Check]> {
    Some(match name {
        // It copies by `copy`, which has no derivative.
        "_foreach_copy" => &[Check::Gradient, Check::SecondGradient],
        // Its parts are views that are not declared as such, as in PyTorch.
        "unflatten_dense_tensors" => &[Check::Aliasing],
        // Sizes are read, and become elements of a tensor on the CPU; the reshaped tensor is a view where possible.
        "_reshape_from_tensor" => &[Check::Meta, Check::Aliasing],
        "_shape_as_tensor" => &[Check::Meta],
        // They depend on strides, offsets and storages.
        "stride.int"
        | "sym_stride.int"
        | "storage_offset"
        | "sym_storage_offset"
        | "_debug_has_internal_overlap"
        | "_has_same_storage_numel"
        | "is_set_to" => &[Check::Layouts],
        // As `cholesky_solve`, and as `native_batch_norm_backward`.
        "_cholesky_solve_helper" | "_batch_norm_impl_index_backward" => {
            &[Check::Gradient, Check::SecondGradient]
        }
        _ => return None,
    })
}

/// Numbers between 0 and 1, none near an end or near another.
fn chances(sizes: &[i64]) -> Value<'static> {
    let count = sizes.iter().product::<i64>();
    let values = (0..count).map(|at| 0.1 + 0.8 * ((5 * at + 2) % 7) as f64 / 7.0).collect();
    Value::Tensor(Tensor::from_vec::<f64>(values, sizes).unwrap())
}

/// Samples of fake quantisation, of weight normalisation, and of operators that fuse others.
fn fused(name: &str) -> Option<Vec<Value<'static>>> {
    let bounds = || [Value::Int(-4), Value::Int(3)];
    let mask = || Value::Tensor(bools(&[2, 3]));
    Some(match name {
        "fake_quantize_per_tensor_affine" | "fake_quantize_per_tensor_affine_cachemask" => {
            [floats(&[2, 3]), Value::Float(0.25), Value::Int(1)].into_iter().chain(bounds()).collect()
        }
        "fake_quantize_per_channel_affine" | "fake_quantize_per_channel_affine_cachemask" => {
            let scales = Value::Tensor(Tensor::from([0.25f32, 0.5]));
            let zeros = Value::Tensor(Tensor::from([1i32, -1]));
            [floats(&[2, 3]), scales, zeros, Value::Int(0)].into_iter().chain(bounds()).collect()
        }
        "fake_quantize_per_tensor_affine_cachemask_backward" => vec![floats(&[2, 3]), mask()],
        "fake_quantize_per_channel_affine_cachemask_backward" => vec![floats(&[2, 3]), mask()],
        "_addmm_activation" => vec![floats(&[2, 4]), floats(&[2, 3]), floats(&[3, 4])],
        "conv_tbc" => vec![floats(&[5, 2, 3]), floats(&[2, 3, 4]), floats(&[4])],
        "_weight_norm" => vec![floats(&[2, 3]), Value::Tensor(tensor(&[2, 1]))],
        "_weight_norm_interface" => vec![floats(&[2, 3]), Value::Tensor(tensor(&[2, 1]))],
        "_weight_norm_interface_backward" => {
            let columns = || Value::Tensor(tensor(&[2, 1]));
            vec![floats(&[2, 3]), floats(&[2, 3]), columns(), columns(), Value::Int(0)]
        }
        "_int_mm" => {
            let matrix =
                |sizes: &[i64]| Value::Tensor(Tensor::zeros(sizes, DType::Int8, Device::CPU).unwrap());
            vec![matrix(&[2, 3]), matrix(&[3, 2])]
        }
        "_scaled_mm" => {
            let [a, b] = [[2, 3], [3, 2]].map(|sizes| eight_bits(&sizes));
            let scale = |number: f32| Value::Tensor(Tensor::from(number));
            let bias = Value::Tensor(Tensor::from([1.0f32, -0.5]));
            vec![a, b, scale(0.5), scale(2.0), bias, Value::None, Value::DType(DType::Float32)]
        }
        "_scaled_mm_v2" => {
            let [a, b] = [[2, 3], [3, 2]].map(|sizes| eight_bits(&sizes));
            let scale = |number: f32| Value::Tensors(vec![Tensor::from(number)].into());
            let zero = || Value::Ints(vec![0].into());
            let rest = [Value::None, Value::DType(DType::Float32)];
            let scales = [scale(0.5), zero(), zero(), scale(2.0), zero(), zero()];
            [a, b].into_iter().chain(scales).chain(rest).collect()
        }
        "_is_all_true" | "_is_any_true" => vec![Value::Tensor(bools(&[2, 3]))],
        "range.step" => [0, 5, 2].map(Value::Int).into(),
        "pad_sequence" => vec![Value::Tensors(vec![tensor(&[3, 2]), tensor(&[1, 2])].into())],
        "chain_matmul" => {
            vec![Value::Tensors(vec![tensor(&[3, 2]), tensor(&[2, 4]), tensor(&[4, 1])].into())]
        }
        "_fused_adagrad_" | "_fused_adagrad" => {
            let list = || Value::Tensors(vec![tensor(&[2, 3])].into());
            let steps = Value::Tensors(vec![Tensor::from(1.0f32)].into());
            let numbers = [0.1, 0.01, 0.01, 1e-8].map(Value::Float);
            let lists = [list(), list(), list(), steps];
            lists.into_iter().chain(numbers).chain([Value::Bool(false)]).collect()
        }
        _ => return None,
    })
}

/// Samples of fake quantisation whose parameters are tensors, and of scales of losses.
fn followed(name: &str) -> Option<Vec<Value<'static>>> {
    let bounds = || [Value::Int(-4), Value::Int(3)];
    let (one, on) = (|| Value::Tensor(Tensor::from([1.0f32])), || Value::Tensor(Tensor::from([1i64])));
    let parameters = || [Value::Tensor(Tensor::from([0.25f32])), Value::Tensor(Tensor::from([1i32]))];
    Some(match name {
        "fake_quantize_per_tensor_affine.tensor_qparams" => {
            [floats(&[2, 3])].into_iter().chain(parameters()).chain(bounds()).collect()
        }
        "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams" => {
            [floats(&[2, 3])].into_iter().chain(parameters()).chain([on()]).chain(bounds()).collect()
        }
        name if name.contains("moving_avg_obs") => {
            let x = aten::to_dtype(floats(&[2, 3]).as_tensor().unwrap(), DType::Float32).unwrap();
            let range = [-1.5f32, 1.25].map(|end| Value::Tensor(Tensor::from([end])));
            let tensors = [Value::Tensor(x), on(), on()];
            let numbers = [Value::Float(0.25), Value::Int(-4), Value::Int(3), Value::Int(0)];
            tensors.into_iter().chain(range).chain(parameters()).chain(numbers).collect()
        }
        "_amp_foreach_non_finite_check_and_unscale" | "_amp_foreach_non_finite_check_and_unscale_" => {
            let grads = Value::Tensors(vec![Tensor::from([1.0, f64::INFINITY])].into());
            let [none, half] = [0.0f32, 0.5].map(|number| Value::Tensor(Tensor::from([number])));
            vec![grads, none, half]
        }
        "_amp_update_scale" | "_amp_update_scale_" => {
            let steps = Value::Tensor(Tensor::from([1i32]));
            vec![one(), steps, one(), Value::Float(2.0), Value::Float(0.5), Value::Int(2)]
        }
        _ => return None,
    })
}

/// Samples of operators that are others by a further name.
fn renamed(name: &str) -> Option<Vec<Value<'static>>> {
    Some(match name {
        "_convolution" | "_convolution.deprecated" => {
            let tensors = [floats(&[1, 2, 4, 4]), floats(&[3, 2, 2, 2]), floats(&[3])];
            let pairs = |pair: [i64; 2]| numbers(&pair);
            let steps = [pairs([1, 1]), pairs([0, 0]), pairs([1, 1]), Value::Bool(false), pairs([0, 0])];
            let flags = if name == "_convolution" { 4 } else { 3 };
            tensors
                .into_iter()
                .chain(steps)
                .chain([Value::Int(1)])
                .chain((0..flags).map(|_| Value::Bool(false)))
                .collect()
        }
        "_convolution_mode" => {
            let tensors = [floats(&[1, 2, 4, 4]), floats(&[3, 2, 3, 3]), floats(&[3])];
            let steps = [numbers(&[1, 1]), Value::Str("same".into()), numbers(&[1, 1]), Value::Int(1)];
            tensors.into_iter().chain(steps).collect()
        }
        "_fused_rms_norm" => vec![floats(&[2, 3]), numbers(&[3]), floats(&[3]), Value::Float(0.1)],
        "_fused_rms_norm_backward" => {
            let mask = Value::Bools(vec![true, true].into());
            let roots = Value::Tensor(tensor(&[2, 1]));
            vec![floats(&[2, 3]), floats(&[2, 3]), numbers(&[3]), roots, floats(&[3]), mask]
        }
        "_print" => vec![Value::Str("a line".into())],
        _ => return None,
    })
}

/// Samples of facts about tensors, and of operators that others call.
fn behind(name: &str) -> Option<Vec<Value<'static>>> {
    let square = || floats(&[2, 2]);
    Some(match name {
        "sym_constrain_range" | "sym_constrain_range_for_size" => vec![Value::Int(3)],
        "_functional_sym_constrain_range" | "_functional_sym_constrain_range_for_size" => {
            vec![Value::Int(3), Value::Int(1), Value::Int(5), floats(&[])]
        }
        "_functional_assert_scalar" => vec![Value::Int(1), Value::Str("a message".into()), floats(&[])],
        "_cummax_helper" | "_cummin_helper" => {
            let lines = Tensor::from([[1.0, 3.0, 2.0], [2.0, 0.0, 5.0]]);
            vec![Value::Tensor(lines), floats(&[2, 3]), ints(&[0; 6], &[2, 3]), Value::Int(1)]
        }
        "_reshape_from_tensor" => vec![floats(&[2, 3]), ints(&[3, 2], &[2])],
        "mkldnn_rnn_layer" => {
            let weights = [floats(&[8, 3]), floats(&[8, 2]), floats(&[8]), floats(&[8])];
            let states = [floats(&[1, 2, 2]), floats(&[1, 2, 2]), Value::Bool(true), numbers(&[])];
            let counts = [2, 2, 1].map(Value::Int);
            let flags = [true, false, false, false].map(Value::Bool);
            let tensors = [floats(&[3, 2, 3])].into_iter().chain(weights);
            tensors.chain(states).chain(counts).chain(flags).collect()
        }
        "_reshape_copy" => vec![floats(&[2, 3]), numbers(&[3, 2])],
        "_pad_circular" => vec![floats(&[1, 2, 4]), numbers(&[1, 2])],
        "_pad_enum" => vec![floats(&[1, 2, 4]), numbers(&[1, 2]), Value::Int(1)],
        "_compute_linear_combination" => vec![floats(&[2, 3]), floats(&[4, 2])],
        "_cholesky_solve_helper" => {
            let factor = Tensor::from([[1.5, 0.0], [0.5, 2.0]]);
            vec![square(), Value::Tensor(factor), Value::Bool(false)]
        }
        "unflatten_dense_tensors" => {
            let lists = Value::Tensors(vec![tensor(&[2, 2]), tensor(&[1])].into());
            vec![floats(&[5]), lists]
        }
        "_weight_norm_differentiable_backward" => {
            let columns = || Value::Tensor(tensor(&[2, 1]));
            vec![floats(&[2, 3]), floats(&[2, 3]), columns(), columns(), Value::Int(0)]
        }
        "conv_tbc_backward" => {
            let tensors = [floats(&[4, 2, 4]), floats(&[5, 2, 3]), floats(&[2, 3, 4]), floats(&[4])];
            tensors.into_iter().chain([Value::Int(0)]).collect()
        }
        "_batch_norm_impl_index" => {
            let numbers = [Value::Bool(true), Value::Float(0.1), Value::Float(1e-5), Value::Bool(false)];
            let none = [Value::None, Value::None];
            let tensors = [floats(&[4, 3]), floats(&[3]), floats(&[3])];
            tensors.into_iter().chain(none).chain(numbers).collect()
        }
        "_batch_norm_impl_index_backward" => {
            let running = [Value::Tensor(tensor(&[3])), Value::Tensor(aten::ones(&[3]).unwrap())];
            let tensors = [Value::Int(0), floats(&[4, 3]), floats(&[4, 3]), floats(&[3])];
            let rest = [Value::None, Value::None, Value::Bool(false), Value::Float(1e-5)];
            let mask = [Value::Bools(vec![true; 3].into()), Value::Tensor(tensor(&[0]))];
            tensors.into_iter().chain(running).chain(rest).chain(mask).collect()
        }
        _ => return None,
    })
}

/// Samples of convolutions by the names of algorithms.
fn convolved(name: &str) -> Option<Vec<Value<'static>>> {
    let (image, kernels) = (|| floats(&[1, 2, 4, 4]), || floats(&[3, 2, 2, 2]));
    let (volume, cubes) = (|| floats(&[1, 2, 2, 3, 3]), || floats(&[2, 2, 2, 2, 2]));
    let (one, none) = (|| numbers(&[1, 1]), || numbers(&[0, 0]));
    Some(match name {
        "thnn_conv2d" | "slow_conv_dilated2d" => vec![image(), kernels(), numbers(&[2, 2]), floats(&[3])],
        "slow_conv_transpose2d" => {
            vec![image(), floats(&[2, 3, 2, 2]), numbers(&[2, 2]), floats(&[3]), numbers(&[2, 1])]
        }
        "_slow_conv2d_forward" => vec![image(), kernels(), numbers(&[2, 2]), floats(&[3]), one(), none()],
        "_slow_conv2d_backward.output_mask" => {
            let tensors = [floats(&[1, 3, 3, 3]), image(), kernels(), numbers(&[2, 2]), one(), none()];
            tensors.into_iter().chain([Value::Bools(vec![true; 3].into())]).collect()
        }
        "slow_conv3d" | "slow_conv_dilated3d" | "slow_conv_transpose3d" => {
            vec![volume(), cubes(), numbers(&[2, 2, 2])]
        }
        "slow_conv3d_forward" => {
            let steps = [numbers(&[1, 1, 1]), numbers(&[0, 0, 0])];
            [volume(), cubes(), numbers(&[2, 2, 2]), Value::None].into_iter().chain(steps).collect()
        }
        _ => return None,
    })
}

fn activations(name: &str) -> Option<Vec<Value<'static>>> {
    let two = || vec![tensor_value(&[2, 3]), floats(&[2, 3])];
    Some(match name {
        "elu_backward" => {
            let constants = [1.5, 0.5, 1.25].map(Value::Float);
            let [grad, this] = [tensor_value(&[2, 3]), floats(&[2, 3])];
            [grad].into_iter().chain(constants).chain([Value::Bool(false), this]).collect()
        }
        "leaky_relu_backward" => two().into_iter().chain([Value::Float(0.1), Value::Bool(false)]).collect(),
        "logit_backward" => vec![tensor_value(&[2, 3]), chances(&[2, 3])],
        "softplus_backward" => two().into_iter().chain([Value::Float(1.5), Value::Float(20.0)]).collect(),
        "log_sigmoid_backward" => {
            let x = floats(&[2, 3]);
            let buffer = aten::log_sigmoid_forward(x.as_tensor().unwrap()).unwrap().1;
            vec![tensor_value(&[2, 3]), x, Value::Tensor(buffer)]
        }
        "glu_backward" => vec![tensor_value(&[2, 2]), floats(&[2, 4]), Value::Int(1)],
        "alpha_dropout_" | "feature_dropout_" | "feature_alpha_dropout_" => {
            vec![floats(&[2, 3]), Value::Float(0.9), Value::Bool(true)]
        }
        "rrelu_with_noise" | "rrelu_with_noise_" => {
            let bounds = [Value::Float(0.1), Value::Float(0.3), Value::Bool(true)];
            [floats(&[2, 3]), tensor_value(&[2, 3])].into_iter().chain(bounds).collect()
        }
        "rrelu_with_noise_backward" => {
            let bounds = [Value::Float(0.1), Value::Float(0.3), Value::Bool(true), Value::Bool(false)];
            two().into_iter().chain([chances(&[2, 3])]).chain(bounds).collect()
        }
        _ => return None,
    })
}

fn tensor_value(sizes: &[i64]) -> Value<'static> {
    Value::Tensor(tensor(sizes))
}

fn losses(name: &str) -> Option<Vec<Value<'static>>> {
    let apart = || [tensor_value(&[2, 3]), floats(&[2, 3]), chances(&[2, 3]), Value::Int(1)];
    let grad = |sample: [Value<'static>; 4]| {
        let [_, this, target, reduction] = sample;
        vec![Value::Tensor(Tensor::from(1.5)), this, target, reduction]
    };
    let labels = || [floats(&[2, 3]), ints(&[1, -1, 0, 2, 0, -1], &[2, 3])];
    Some(match name {
        "mse_loss_backward" | "soft_margin_loss_backward" => grad(apart()),
        "smooth_l1_loss_backward" | "huber_loss_backward" => {
            grad(apart()).into_iter().chain([Value::Float(0.7)]).collect()
        }
        "multilabel_margin_loss" => labels().into(),
        "multilabel_margin_loss_forward" => labels().into_iter().chain([Value::Int(1)]).collect(),
        "multilabel_margin_loss_backward" => {
            let marks = Tensor::from([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0]]);
            let rest = [Value::Int(1), Value::Tensor(marks)];
            [floats(&[])].into_iter().chain(labels()).chain(rest).collect()
        }
        _ => return None,
    })
}

fn normalised(name: &str) -> Option<Vec<Value<'static>>> {
    let (image, vector) = (|| floats(&[2, 2, 3]), || tensor_value(&[2]));
    let constants = || [Value::Float(0.1), Value::Float(1e-5)];
    let channels = || [image(), vector(), vector(), vector(), vector()];
    let all = || Value::Bools(vec![true; 3].into());
    Some(match name {
        "_native_batch_norm_legit" | "_native_batch_norm_legit_functional" => {
            channels().into_iter().chain([Value::Bool(true)]).chain(constants()).collect()
        }
        "_native_batch_norm_legit.no_stats" => {
            [image(), vector(), vector(), Value::Bool(true)].into_iter().chain(constants()).collect()
        }
        "_native_batch_norm_legit_no_training"
        | "_batch_norm_with_update"
        | "_batch_norm_with_update_functional"
        | "_batch_norm_no_update" => channels().into_iter().chain(constants()).collect(),
        "batch_norm_backward" => {
            let update = [Value::Bool(true), Value::Float(1e-5), all()];
            let saved = [vector(), vector(), vector(), vector(), vector()];
            [image(), image()].into_iter().chain(saved).chain(update).chain([vector()]).collect()
        }
        "native_group_norm_backward" => {
            let counts = [2, 2, 3, 1].map(Value::Int);
            let notes = [tensor_value(&[2, 1]), tensor_value(&[2, 1]), vector()];
            [image(), image()].into_iter().chain(notes).chain(counts).chain([all()]).collect()
        }
        "native_dropout_backward" => {
            vec![floats(&[2, 3]), Value::Tensor(bools(&[2, 3])), Value::Float(2.0)]
        }
        _ => return None,
    })
}

fn indexed(name: &str) -> Option<Vec<Value<'static>>> {
    let numbers_of = |numbers: [i64; 2]| ints(&numbers, &[2]).as_tensor().unwrap().clone();
    let indices = || Value::OptionalTensors(vec![None, Some(numbers_of([1, 7]))].into());
    let mask = || Value::Tensor(bools(&[2]));
    Some(match name {
        "_unsafe_masked_index" => vec![floats(&[2, 3]), mask(), indices(), Value::Float(1.5)],
        "_unsafe_masked_index_put_accumulate" => vec![floats(&[2, 3]), mask(), indices(), floats(&[2, 2])],
        "masked_scatter_backward" => vec![floats(&[2, 3]), Value::Tensor(bools(&[2, 3])), numbers(&[2, 2])],
        "diagonal_backward" => {
            vec![floats(&[2]), numbers(&[2, 3]), Value::Int(1), Value::Int(0), Value::Int(1)]
        }
        "unfold_backward" => {
            vec![floats(&[3, 2]), numbers(&[4]), Value::Int(0), Value::Int(2), Value::Int(1)]
        }
        "_pdist_forward" | "pdist" => vec![floats(&[3, 2])],
        "_pdist_backward" => {
            vec![floats(&[3]), floats(&[3, 2]), Value::Float(2.0), tensor_value(&[3])]
        }
        "_cdist_backward" => {
            let rows = [floats(&[2, 2]), chances(&[3, 2])];
            [floats(&[2, 3])]
                .into_iter()
                .chain(rows)
                .chain([Value::Float(1.0), tensor_value(&[2, 3])])
                .collect()
        }
        _ => return None,
    })
}

fn pooled(name: &str) -> Option<Vec<Value<'static>>> {
    let (two, three) = (|| numbers(&[2, 2]), || numbers(&[2, 2, 2]));
    let (image, volume) = (|| shuffled(&[1, 2, 4, 3]), || shuffled(&[1, 1, 3, 4, 3]));
    let places = |sizes: &[i64]| ints(&[3, 0, 7, 9], sizes);
    let resized = |sizes: &[i64]| floats(&[&[1, 2][..], sizes].concat());
    Some(match name {
        "fractional_max_pool2d" => vec![image(), two(), two(), chances(&[1, 2, 2])],
        "fractional_max_pool3d" => vec![volume(), numbers(&[1, 1, 1]), three(), chances(&[1, 1, 3])],
        "fractional_max_pool2d_backward" => {
            vec![floats(&[1, 2, 2, 2]), image(), two(), two(), places(&[1, 2, 2, 2])]
        }
        "fractional_max_pool3d_backward" => {
            vec![floats(&[1, 1, 2, 2, 2]), volume(), three(), three(), places(&[1, 1, 2, 2, 2])]
        }
        "max_unpool2d" => vec![floats(&[1, 2, 2, 2]), places(&[1, 2, 2, 2]), numbers(&[3, 4])],
        "max_unpool3d" => {
            let sizes = [numbers(&[1, 3, 4]), numbers(&[1, 1, 1]), numbers(&[0, 0, 0])];
            [floats(&[1, 2, 1, 2, 2]), places(&[1, 2, 1, 2, 2])].into_iter().chain(sizes).collect()
        }
        "max_pool1d_with_indices" => vec![shuffled(&[1, 2, 5]), numbers(&[2])],
        "_upsample_bilinear2d_aa" | "_upsample_bicubic2d_aa" | "_upsample_lanczos2d_aa" => {
            vec![resized(&[5, 4]), two(), Value::Bool(false)]
        }
        "_upsample_bilinear2d_aa.vec" | "_upsample_bicubic2d_aa.vec" | "_upsample_lanczos2d_aa.vec" => {
            vec![resized(&[5, 4]), two(), Value::Bool(false), Value::None]
        }
        "_upsample_bilinear2d_aa_backward"
        | "_upsample_bicubic2d_aa_backward"
        | "_upsample_lanczos2d_aa_backward" => {
            vec![resized(&[2, 2]), two(), numbers(&[1, 2, 5, 4]), Value::Bool(false)]
        }
        _ => return None,
    })
}

/// Numbers of which no two are near each other.
fn shuffled(sizes: &[i64]) -> Value<'static> {
    let count = sizes.iter().product::<i64>();
    let values = (0..count).map(|at| ((7 * at + 3) % 37) as f64 / 4.0).collect();
    Value::Tensor(Tensor::from_vec::<f64>(values, sizes).unwrap())
}

fn attended(name: &str) -> Option<Vec<Value<'static>>> {
    let sizes = [1, 2, 3, 2];
    match name {
        "_scaled_dot_product_flash_attention_for_cpu" => Some((0..3).map(|_| chances(&sizes)).collect()),
        "_scaled_dot_product_flash_attention_for_cpu_backward" => {
            let x = chances(&sizes);
            let x = x.as_tensor().unwrap();
            let (out, logsumexp) = aten::_scaled_dot_product_flash_attention_for_cpu(x, x, x).unwrap();
            let inputs = [x.clone(), x.clone(), x.clone(), x.clone(), out, logsumexp].map(Value::Tensor);
            Some(inputs.into_iter().chain([Value::Float(0.0), Value::Bool(false)]).collect())
        }
        _ => None,
    }
}

/// A matrix of floats of eight bits.
fn eight_bits(sizes: &[i64]) -> Value<'static> {
    Value::Tensor(aten::to_dtype(&tensor(sizes), DType::Float8E4M3Fn).unwrap())
}
