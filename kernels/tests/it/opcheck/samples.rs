//! Samples of operators whose arguments depend on each other: of numbers, lines, images, losses and gradients.

use torch_library::prelude::*;

use super::{bools, exported, factors, floats, ints, networks, rare, tensor};

/// Samples of operators whose arguments depend on each other.
pub(super) fn by_hand(name: &str) -> Option<Vec<Value<'static>>> {
    exported::by_hand(name)
        .or_else(|| smooth(name))
        .or_else(|| ranked(name))
        .or_else(|| pictured(name))
        .or_else(|| transformed(name))
        .or_else(|| arranged(name))
        .or_else(|| matrices_and_indices(name))
        .or_else(|| overloads(name))
        .or_else(|| moved(name))
        .or_else(|| lists(name))
        .or_else(|| losses(name))
        .or_else(|| images(name))
        .or_else(|| backwards(name))
        .or_else(|| parts(name))
        .or_else(|| networks::by_hand(name))
        .or_else(|| rare::by_hand(name))
        .or_else(|| factors::by_hand(name))
}

/// Samples of operators that are only differentiable for some numbers.
fn smooth(name: &str) -> Option<Vec<Value<'static>>> {
    let spread = |start: f64, step: f64| {
        let values = [4.0, 0.0, 3.0, 1.0, 5.0, 2.0].map(|at| start + at * step);
        Value::Tensor(Tensor::from_slice(&values, &[2, 3]).unwrap())
    };
    let (below_one, positive) = (|| spread(-0.7, 0.3), || spread(0.3, 0.4));
    Some(match name.trim_end_matches('_') {
        "acos" | "asin" | "atanh" | "erfinv" | "arccos" | "arcsin" | "arctanh" | "special_erfinv" => {
            vec![below_one()]
        }
        "acosh" | "arccosh" => vec![spread(1.2, 0.3)],
        "log" | "log2" | "log10" | "sqrt" | "rsqrt" | "lgamma" | "digamma" | "special_entr" => {
            vec![positive()]
        }
        "special_bessel_y0" | "special_bessel_y1" => vec![positive()],
        "special_modified_bessel_k0" | "special_modified_bessel_k1" => vec![positive()],
        "poisson" | "_standard_gamma" | "_sample_dirichlet" => vec![positive()],
        "_standard_gamma_grad" => vec![positive(), positive()],
        "_dirichlet_grad" => vec![spread(0.1, 0.15), positive(), spread(3.0, 0.4)],
        "binomial" => vec![spread(1.0, 7.0), spread(0.1, 0.15)],
        "special_ndtri" => vec![spread(0.1, 0.15)],
        "igamma" | "igammac" | "special_gammainc" | "special_gammaincc" => {
            vec![positive(), spread(0.2, 0.3)]
        }
        "special_zeta" => vec![spread(1.5, 0.4), positive()],
        "special_zeta.self_scalar" => vec![Value::Float(1.5), positive()],
        "special_zeta.other_scalar" => vec![spread(1.5, 0.4), Value::Float(1.5)],
        "mvlgamma" | "special_multigammaln" => vec![spread(2.0, 0.4), Value::Int(2)],
        "logit" | "special_logit" => vec![spread(0.1, 0.15)],
        "float_power.Tensor_Scalar" | "float_power_.Scalar" => vec![positive(), Value::Float(1.5)],
        "float_power.Tensor_Tensor" | "float_power_.Tensor" => vec![positive(), below_one()],
        "pow.Tensor_Scalar" | "pow_.Scalar" => vec![positive(), Value::Float(1.5)],
        "pow.Tensor_Tensor" | "pow_.Tensor" => vec![positive(), below_one()],
        "binary_cross_entropy_with_logits" => vec![spread(-0.4, 0.3), spread(0.2, 0.1)],
        "binary_cross_entropy" => vec![spread(0.1, 0.15), spread(0.2, 0.1)],
        "binary_cross_entropy_backward" => {
            vec![spread(0.5, 0.2), spread(0.1, 0.15), spread(0.2, 0.1), Value::None, Value::Int(0)]
        }
        "poisson_nll_loss" => {
            let flags = [Value::Bool(true), Value::Bool(true)];
            [positive(), positive()]
                .into_iter()
                .chain(flags)
                .chain([Value::Float(1e-8), Value::Int(1)])
                .collect()
        }
        "margin_ranking_loss" => vec![below_one(), spread(0.2, -0.2), spread(1.0, 0.0)],
        _ => return None,
    })
}

pub(super) fn numbers(numbers: &[i64]) -> Value<'static> {
    Value::Ints(numbers.to_vec().into())
}

/// An image or a volume, and points between its pixels; preceded by a gradient for a backward operator.
fn sampled(name: &str) -> Vec<Value<'static>> {
    let is_volume = name.contains("3d");
    let (image, sizes): (&[i64], &[i64]) = match is_volume {
        true => (&[1, 2, 2, 3, 2], &[1, 2, 1, 1, 3]),
        false => (&[1, 2, 4, 4], &[1, 3, 1, 2]),
    };
    let points = Tensor::from_slice(&[-0.7, 0.1, 0.33, -0.21, 0.52, 0.81], sizes).unwrap();
    let mode = [Value::Int(0), Value::Int(0), Value::Bool(true)];
    let own = [floats(image), Value::Tensor(points)].into_iter().chain(mode);
    let grad = floats(&[&image[..2], &sizes[1..sizes.len() - 1]].concat());
    let mask = || Value::Bools(vec![true, true].into());
    match (name.contains("backward"), name.contains("fallback")) {
        (false, _) => own.collect(),
        (true, true) => [grad].into_iter().chain(own).collect(),
        (true, false) => [grad].into_iter().chain(own).chain([mask()]).collect(),
    }
}

/// Two bags of two rows each; preceded by a gradient for a backward operator.
fn bags(name: &str) -> Vec<Value<'static>> {
    let none = || Value::None;
    let lists = || [ints(&[1, 3, 0, 2], &[4]), ints(&[0, 2], &[2])];
    let bag_of_each = [ints(&[0, 0, 1, 1], &[4])];
    match name {
        "_embedding_bag_backward" => {
            let sizes = [ints(&[2, 2], &[2]), ints(&[2, 2], &[2]), Value::Int(4)];
            let modes = [Value::Bool(false), Value::Int(1), Value::Bool(false), none()];
            [floats(&[2, 3])]
                .into_iter()
                .chain(lists())
                .chain(bag_of_each)
                .chain(sizes)
                .chain(modes)
                .collect()
        }
        "_embedding_bag_per_sample_weights_backward" => {
            let rows = [floats(&[2, 3]), floats(&[4, 3])];
            rows.into_iter().chain(lists()).chain(bag_of_each).chain([Value::Int(0)]).collect()
        }
        "embedding_bag.padding_idx" => {
            let mode = [Value::Bool(false), Value::Int(1), Value::Bool(false), none(), Value::Bool(false)];
            [floats(&[4, 3])].into_iter().chain(lists()).chain(mode).chain([Value::Int(3)]).collect()
        }
        _ => [floats(&[4, 3])].into_iter().chain(lists()).collect(),
    }
}

fn pictured(name: &str) -> Option<Vec<Value<'static>>> {
    let image = || floats(&[1, 2, 4, 4]);
    let two = || numbers(&[2, 2]);
    let one = || numbers(&[1, 1]);
    let zero = || numbers(&[0, 0]);
    let none = || Value::None;
    Some(match name {
        "_embedding_bag_dense_backward" => return None, // is with the rare ones
        name if name.contains("embedding_bag") => bags(name),
        "instance_norm" => {
            let numbers = [Value::Bool(true), Value::Float(0.1), Value::Float(1e-5), Value::Bool(false)];
            [image(), none(), none(), none(), none()].into_iter().chain(numbers).collect()
        }
        "im2col" => vec![image(), two(), one(), zero(), one()],
        "col2im" => vec![floats(&[1, 8, 9]), numbers(&[4, 4]), two(), one(), zero(), one()],
        "avg_pool1d" | "max_pool1d" | "adaptive_avg_pool1d" => vec![floats(&[1, 2, 6]), numbers(&[2])],
        name if name.starts_with("grid_sampler") || name.starts_with("_grid_sampler") => sampled(name),
        "reflection_pad2d" | "replication_pad2d" => vec![image(), numbers(&[1, 1, 0, 1])],
        "reflection_pad3d" | "replication_pad3d" => {
            vec![floats(&[1, 1, 2, 3, 3]), numbers(&[1, 0, 0, 0, 0, 1])]
        }
        "reflection_pad1d_backward" | "replication_pad1d_backward" => {
            vec![floats(&[1, 2, 6]), floats(&[1, 2, 4]), numbers(&[1, 1])]
        }
        "reflection_pad2d_backward" | "replication_pad2d_backward" => {
            vec![floats(&[1, 2, 5, 6]), image(), numbers(&[1, 1, 0, 1])]
        }
        "reflection_pad3d_backward" | "replication_pad3d_backward" => {
            vec![floats(&[1, 1, 3, 3, 4]), floats(&[1, 1, 2, 3, 3]), numbers(&[1, 0, 0, 0, 0, 1])]
        }
        "cross" | "linalg_cross" => vec![floats(&[2, 3]), Value::Tensor(tensor(&[2, 3]))],
        "tensordot" => vec![floats(&[2, 3]), floats(&[3, 4]), numbers(&[1]), numbers(&[0])],
        "vdot" => vec![floats(&[4]), floats(&[4])],
        "addmv" | "addmv_" => vec![floats(&[2]), floats(&[2, 3]), floats(&[3])],
        "addr" | "addr_" => vec![floats(&[2, 3]), floats(&[2]), floats(&[3])],
        "matrix_power" => vec![floats(&[3, 3]), Value::Int(3)],
        "cdist" | "_euclidean_dist" => vec![floats(&[2, 3]), Value::Tensor(tensor(&[4, 3]))],
        "_cdist_forward" => {
            vec![floats(&[2, 3]), Value::Tensor(tensor(&[4, 3])), Value::Float(3.0), Value::None]
        }
        "native_group_norm" => {
            let numbers = [2, 4, 3, 2].map(Value::Int).into_iter().chain([Value::Float(1e-5)]);
            [floats(&[2, 4, 3]), floats(&[4]), floats(&[4])].into_iter().chain(numbers).collect()
        }
        "pairwise_distance" => vec![floats(&[2, 3]), Value::Tensor(tensor(&[2, 3]))],
        "triplet_margin_loss" => {
            let far = Tensor::from_slice(&[-2.0, 0.5, 1.0, 3.0, -1.0, 0.25], &[2, 3]).unwrap();
            vec![floats(&[2, 3]), Value::Tensor(tensor(&[2, 3])), Value::Tensor(far)]
        }
        _ => return None,
    })
}

fn ranked(name: &str) -> Option<Vec<Value<'static>>> {
    let rows = || floats(&[2, 3]);
    let share = || Value::Tensor(Tensor::from([0.3, 0.6]));
    let vector = || Value::Tensor(Tensor::from([1.0, 2.0, 4.0]));
    Some(match name {
        "kthvalue" => vec![rows(), Value::Int(2)],
        "quantile" | "nanquantile" => vec![rows(), share(), Value::Int(1)],
        "bincount" => vec![ints(&[2, 0, 1], &[3]), vector()],
        "trapezoid.x" => vec![rows(), vector()],
        "argsort.stable" => vec![rows(), Value::Bool(true)],
        "searchsorted.Tensor" => vec![vector(), rows()],
        "searchsorted.Scalar" => vec![vector(), Value::Float(2.0)],
        "bucketize.Tensor" => vec![rows(), vector()],
        "bucketize.Scalar" => vec![Value::Float(2.0), vector()],
        _ => return None,
    })
}

fn transformed(name: &str) -> Option<Vec<Value<'static>>> {
    let complex = || super::complexes(&[2, 3], 0.1);
    let (both, sums) = (|| numbers(&[0, 1]), || Value::Int(0));
    Some(match name {
        "_fft_c2c" => vec![complex(), both(), sums(), Value::Bool(true)],
        "_fft_r2c" => vec![floats(&[2, 3]), both(), sums(), Value::Bool(true)],
        "_fft_c2r" => vec![complex(), both(), sums(), Value::Int(5)],
        "fft_fftfreq" | "fft_rfftfreq" => vec![Value::Int(5)],
        name if name.contains("_window") => {
            let rest = [Value::Bool(true), Value::Float(0.5), Value::Float(0.4)];
            let count = match name {
                "hamming_window.periodic_alpha_beta" => 3,
                "hamming_window.periodic_alpha" | "kaiser_window.beta" => 2,
                name => usize::from(name.ends_with("periodic")),
            };
            [Value::Int(5)].into_iter().chain(rest.into_iter().take(count)).collect()
        }
        "stft" | "stft.center" => vec![super::complexes(&[2, 6], 0.1), Value::Int(4)],
        "istft" => vec![super::complexes(&[3, 5], 0.1), Value::Int(4)],
        _ => return None,
    })
}

fn arranged(name: &str) -> Option<Vec<Value<'static>>> {
    let channels = || floats(&[1, 4, 2, 2]);
    Some(match name {
        "repeat" => vec![floats(&[2, 3]), numbers(&[2, 1, 3])],
        "repeat_interleave.self_int" => vec![floats(&[2, 3]), Value::Int(2), Value::Int(1)],
        "repeat_interleave.self_Tensor" => vec![floats(&[2, 3]), ints(&[2, 0, 1], &[3]), Value::Int(1)],
        "repeat_interleave.Tensor" => vec![ints(&[2, 0, 1], &[3])],
        "roll" => vec![floats(&[2, 3]), numbers(&[1]), numbers(&[1])],
        "unflatten.int" => vec![floats(&[2, 6]), Value::Int(1), numbers(&[2, -1])],
        "meshgrid.indexing" => {
            vec![Value::Tensors(vec![tensor(&[3]), tensor(&[2])].into()), Value::Str("xy".into())]
        }
        "tensor_split.sections" => vec![floats(&[5, 2]), Value::Int(3)],
        "masked_select" => vec![floats(&[2, 3]), Value::Tensor(bools(&[2, 3]))],
        "take" => vec![floats(&[2, 3]), ints(&[5, -1, 0], &[3])],
        "take_along_dim" => vec![floats(&[2, 3]), ints(&[1, 0], &[1, 3]), Value::Int(0)],
        "index_fill.int_Scalar" => {
            vec![floats(&[2, 3]), Value::Int(1), ints(&[2, 0], &[2]), Value::Float(7.5)]
        }
        "select_scatter" => vec![floats(&[2, 3]), floats(&[3]), Value::Int(0), Value::Int(1)],
        "slice_scatter" => {
            vec![floats(&[4, 3]), floats(&[2, 3]), Value::Int(0), Value::Int(1), Value::Int(3)]
        }
        "diagonal_scatter" => vec![floats(&[2, 3]), floats(&[2])],
        "one_hot" => vec![ints(&[2, 0, 1], &[3]), Value::Int(4)],
        "pixel_shuffle" | "pixel_unshuffle" => vec![channels(), Value::Int(2)],
        "channel_shuffle" | "native_channel_shuffle" => vec![channels(), Value::Int(2)],
        _ => return None,
    })
}

fn matrices_and_indices(name: &str) -> Option<Vec<Value<'static>>> {
    let one_index = || Value::OptionalTensors(vec![Some(Tensor::from([1i64, 0, 1]))].into());
    let row = || vec![floats(&[2, 3]), Value::Int(0), ints(&[1, 0], &[3])];
    Some(match name {
        "addbmm" | "addbmm_" => vec![floats(&[2, 4]), floats(&[2, 2, 3]), floats(&[2, 3, 4])],
        "baddbmm" | "baddbmm_" => vec![floats(&[2, 2, 4]), floats(&[2, 2, 3]), floats(&[2, 3, 4])],
        "einsum" => {
            let factors = vec![tensor(&[2, 3]), tensor(&[3, 4])].into();
            vec![Value::Str("ij,jk->ik".into()), Value::Tensors(factors)]
        }
        "scaled_dot_product_attention" => vec![floats(&[1, 2, 3]), floats(&[1, 4, 3]), floats(&[1, 4, 5])],
        "prelu" => vec![floats(&[2, 3]), Value::Tensor(tensor(&[3]))],
        "group_norm" => vec![floats(&[1, 4, 3]), Value::Int(2)],
        "addmm" | "addmm_" => vec![floats(&[2, 4]), floats(&[2, 3]), floats(&[3, 4])],
        "mm" | "matmul" => vec![floats(&[2, 3]), floats(&[3, 4])],
        "bmm" => vec![floats(&[2, 2, 3]), floats(&[2, 3, 4])],
        "mv" => vec![floats(&[2, 3]), floats(&[3])],
        "dot" => vec![floats(&[4]), floats(&[4])],
        "as_strided_" => vec![floats(&[2, 3]), numbers(&[3, 2]), numbers(&[1, 3])],
        "copy_" => vec![floats(&[2, 3]), Value::Tensor(tensor(&[1, 3]))],
        "_foreach_lerp_.Scalar" => {
            let lists = [tensor(&[2, 3]), Tensor::from([[1.0, 2.0, 3.0]])]
                .map(|list| Value::Tensors(vec![list].into()));
            lists.into_iter().chain([Value::Float(0.5)]).collect()
        }
        "nan_to_num_" => vec![Value::Tensor(Tensor::from([1.5, f64::INFINITY]))],
        "clamp_.Tensor" | "clip_.Tensor" => vec![floats(&[2, 3]), Value::None, Value::Tensor(tensor(&[3]))],
        "_fused_adam_" | "_fused_adamw_" | "_fused_adam" | "_fused_adamw" => {
            let list = || Value::Tensors(vec![tensor(&[2, 3])].into());
            let steps = Value::Tensors(vec![Tensor::from(1.0f32)].into());
            let numbers = [0.1, 0.9, 0.99, 0.01, 1e-8].map(Value::Float);
            let lists = [list(), list(), list(), list(), list(), steps];
            lists.into_iter().chain(numbers).chain([Value::Bool(true), Value::Bool(false)]).collect()
        }
        "squeeze_" => vec![floats(&[1, 3])],
        "squeeze_.dim" => vec![floats(&[1, 3]), Value::Int(0)],
        "sum_to_size" => vec![floats(&[2, 3]), numbers(&[1, 3])],
        "embedding" => vec![floats(&[3, 4]), ints(&[2, 0, 1], &[3])],
        "index.Tensor" | "_unsafe_index.Tensor" => vec![floats(&[2, 3]), one_index()],
        "index_put" | "index_put_" | "_unsafe_index_put" => {
            vec![floats(&[2, 3]), one_index(), Value::Tensor(tensor(&[3])), Value::Bool(true)]
        }
        "_index_put_impl" | "_index_put_impl_" => {
            let flags = [true, false].map(Value::Bool);
            vec![floats(&[2, 3]), one_index(), Value::Tensor(tensor(&[3]))].into_iter().chain(flags).collect()
        }
        "index_select" => row(),
        // If an index is repeated, it is unspecified which element is taken.
        "index_copy" => {
            vec![floats(&[2, 3]), Value::Int(0), ints(&[1, 0], &[2]), Value::Tensor(tensor(&[2, 3]))]
        }
        "scatter.src" | "scatter_.src" => {
            vec![
                floats(&[2, 3]),
                Value::Int(0),
                ints(&[1, 0, 1, 0, 1, 0], &[2, 3]),
                Value::Tensor(tensor(&[2, 3])),
            ]
        }
        "index_add" | "index_add_" => row().into_iter().chain([Value::Tensor(tensor(&[3, 3]))]).collect(),
        _ => return None,
    })
}

fn overloads(name: &str) -> Option<Vec<Value<'static>>> {
    Some(match name {
        "clamp_max_.Tensor" => vec![floats(&[2, 3]), Value::Tensor(tensor(&[3]))],
        "index_fill.int_Tensor" | "index_fill_.int_Tensor" => {
            vec![floats(&[2, 3]), Value::Int(1), ints(&[2, 0], &[2]), Value::Tensor(tensor(&[]))]
        }
        "narrow.Tensor" => vec![floats(&[4, 3]), Value::Int(0), ints(&[1], &[]), Value::Int(2)],
        "split.sizes" => vec![floats(&[3, 2]), numbers(&[1, 2])],
        "tensor_split.tensor_indices_or_sections" => vec![floats(&[5, 2]), ints(&[1, 3], &[2])],
        "scatter.reduce" | "scatter_.reduce" => {
            let places = ints(&[1, 0, 1, 0, 1, 0], &[2, 3]);
            let source = Value::Tensor(tensor(&[2, 3]));
            vec![floats(&[2, 3]), Value::Int(0), places, source, Value::Str("multiply".into())]
        }
        "scatter.value_reduce" | "scatter_.value_reduce" => {
            let places = ints(&[1, 0, 1, 0, 1, 0], &[2, 3]);
            vec![floats(&[2, 3]), Value::Int(0), places, Value::Float(1.5), Value::Str("add".into())]
        }
        "conj_physical_" => vec![Value::Tensor(Tensor::from([Complex64::new(0.5, -1.5)]))],
        "dropout_" => vec![floats(&[2, 3]), Value::Float(0.5), Value::Bool(true)],
        "t_" => vec![floats(&[2, 3])],
        "squeeze_.dims" => vec![floats(&[1, 3]), numbers(&[0])],
        "swapaxes_" | "swapdims_" => vec![floats(&[2, 3]), Value::Int(0), Value::Int(1)],
        "masked_scatter_" => {
            vec![floats(&[2, 3]), Value::Tensor(bools(&[2, 3])), Value::Tensor(tensor(&[2, 3]))]
        }
        "linspace.Tensor_Tensor" | "logspace.Tensor_Tensor" => {
            vec![Value::Tensor(Tensor::from(0.5)), Value::Tensor(Tensor::from(2.0)), Value::Int(3)]
        }
        _ => return None,
    })
}

/// Samples of operators that move, pair or bound tensors.
fn moved(name: &str) -> Option<Vec<Value<'static>>> {
    Some(match name {
        "affine_grid_generator" => vec![floats(&[2, 2, 3]), numbers(&[2, 1, 2, 3]), Value::Bool(false)],
        "affine_grid_generator_backward" => {
            vec![floats(&[2, 2, 3, 2]), numbers(&[2, 1, 2, 3]), Value::Bool(false)]
        }
        "bilinear" => vec![floats(&[3, 2]), floats(&[3, 4]), floats(&[5, 2, 4])],
        "_trilinear" => {
            let tensors = [floats(&[3, 2]), floats(&[5, 2, 4]), floats(&[3, 4])];
            let places = [numbers(&[1, 3]), numbers(&[0]), numbers(&[1, 2]), numbers(&[2, 3])];
            tensors.into_iter().chain(places).collect()
        }
        "put" | "put_" => vec![floats(&[2, 3]), ints(&[4, -6], &[2]), Value::Tensor(tensor(&[2]))],
        "renorm" | "renorm_" => vec![floats(&[3, 4]), Value::Float(2.0), Value::Int(0), Value::Float(0.7)],
        "linalg_cond" => vec![floats(&[3, 3]), Value::Int(1)],
        "linalg_cond.p_str" => vec![floats(&[3, 3]), Value::Str("fro".into())],
        "vander" => vec![floats(&[3])],
        "linalg_matrix_exp" | "matrix_exp" => vec![floats(&[2, 3, 3])],
        "matrix_exp_backward" => vec![floats(&[2, 2]), Value::Tensor(tensor(&[2, 2]))],
        "embedding_renorm" | "embedding_renorm_" => {
            vec![floats(&[3, 4]), ints(&[2, 0, 2], &[3]), Value::Float(0.7), Value::Float(2.0)]
        }
        _ => return None,
    })
}

fn lists(name: &str) -> Option<Vec<Value<'static>>> {
    let list = |values: [f64; 3]| Value::Tensors(vec![Tensor::from(values)].into());
    let (own, other) = (|| list([0.3, -0.6, 0.8]), || list([0.7, 0.2, -0.4]));
    Some(match name.strip_prefix("_foreach_")? {
        "abs_" | "acos" | "acos_" | "asin" | "asin_" => vec![own()],
        "clamp_max.List" | "clamp_min.List" | "maximum.List" | "minimum.List" | "copy_" => {
            vec![own(), other()]
        }
        "clamp_max_.List" | "clamp_min_.List" | "maximum_.List" | "minimum_.List" => vec![own(), other()],
        "lerp_.List" => vec![own(), other(), list([0.5, 0.25, 0.1])],
        "lerp_.ScalarList" => vec![own(), other(), Value::Scalars(vec![0.5.into()].into())],
        "mm" => [[2, 3], [3, 4]].map(|sizes| Value::Tensors(vec![tensor(&sizes)].into())).into(),
        _ => return None,
    })
}

fn losses(name: &str) -> Option<Vec<Value<'static>>> {
    let rows = || vec![floats(&[2, 3]), ints(&[2, 0], &[2])];
    let pixels = || vec![floats(&[1, 2, 5, 4]), ints(&[1, 0], &[1, 5, 4])];
    let rest = || [Value::None, Value::Int(1), Value::Int(-100)];
    let backward = |sample: Vec<Value<'static>>, total: f64| {
        let total = Value::Tensor(Tensor::from(total));
        [floats(&[])].into_iter().chain(sample).chain(rest()).chain([total]).collect()
    };
    let by_margin = || [Value::Int(2), Value::Float(0.8)];
    Some(match name {
        "multi_margin_loss" => rows().into_iter().chain(by_margin()).collect(),
        "multi_margin_loss_backward" => [floats(&[])].into_iter().chain(rows()).chain(by_margin()).collect(),
        "nll_loss" | "nll_loss_nd" | "cross_entropy_loss" => rows(),
        "nll_loss2d" => pixels(),
        "nll_loss_forward" => rows().into_iter().chain(rest()).collect(),
        "nll_loss2d_forward" => pixels().into_iter().chain(rest()).collect(),
        "nll_loss_backward" => backward(rows(), 2.0),
        "nll_loss2d_backward" => backward(pixels(), 20.0),
        _ => return None,
    })
}

fn images(name: &str) -> Option<Vec<Value<'static>>> {
    let (image, weight, grad) =
        (|| floats(&[1, 2, 5, 4]), || floats(&[3, 2, 2, 2]), || floats(&[1, 2, 2, 2]));
    let (zero, one, two) = (|| numbers(&[0, 0]), || numbers(&[1, 1]), || numbers(&[2, 2]));
    let all = || Value::Bools(vec![true; 3].into());
    let convolution = || [one(), zero(), one(), Value::Bool(false), zero(), Value::Int(1)];
    Some(match name {
        "conv2d" | "conv2d.padding" => vec![image(), weight()],
        "conv3d" | "conv3d.padding" => vec![floats(&[1, 2, 3, 4, 3]), floats(&[3, 2, 2, 2, 2])],
        "conv_transpose2d.input" => vec![image(), floats(&[2, 3, 2, 2])],
        "conv_transpose3d.input" => vec![floats(&[1, 2, 3, 4, 3]), floats(&[2, 3, 2, 2, 2])],
        "convolution" => [image(), weight(), Value::None].into_iter().chain(convolution()).collect(),
        "convolution_backward" => {
            let tensors = [floats(&[1, 3, 4, 3]), image(), weight(), numbers(&[3])];
            tensors.into_iter().chain(convolution()).chain([all()]).collect()
        }
        "_adaptive_avg_pool2d_backward" => vec![grad(), image()],
        "avg_pool2d_backward" => {
            vec![grad(), image(), two(), two(), zero(), Value::Bool(false), Value::Bool(true), Value::None]
        }
        "max_pool2d_with_indices_backward" => {
            let indices = ints(&[0, 2, 8, 10], &[1, 2, 2, 2]);
            vec![grad(), image(), two(), two(), zero(), one(), Value::Bool(false), indices]
        }
        _ => return None,
    })
}

fn backwards(name: &str) -> Option<Vec<Value<'static>>> {
    let all = || Value::Bools(vec![true; 3].into());
    let positive = |sizes: &[i64]| Value::Tensor(tensor(sizes));
    let none = || Value::None;
    Some(match name {
        "embedding_dense_backward" => {
            vec![floats(&[3, 4]), ints(&[2, 0, 1], &[3]), Value::Int(3), Value::Int(-1), Value::Bool(false)]
        }
        "native_layer_norm_backward" => {
            let (grad, input, mean) = (floats(&[2, 3]), floats(&[2, 3]), floats(&[2, 1]));
            vec![grad, input, numbers(&[3]), mean, positive(&[2, 1]), none(), none(), all()]
        }
        "native_batch_norm_backward" => {
            let (grad, input, mean) = (floats(&[1, 2, 5, 4]), floats(&[1, 2, 5, 4]), floats(&[2]));
            let (train, eps, weight) = (Value::Bool(true), Value::Float(1e-5), floats(&[2]));
            vec![grad, input, weight, none(), none(), mean, positive(&[2]), train, eps, all()]
        }
        "slice_backward" => {
            let (start, end, step) = (Value::Int(0), Value::Int(2), Value::Int(1));
            vec![floats(&[2, 3]), numbers(&[4, 3]), Value::Int(0), start, end, step]
        }
        "select_backward" => vec![floats(&[3]), numbers(&[4, 3]), Value::Int(0), Value::Int(1)],
        _ => return None,
    })
}

fn parts(name: &str) -> Option<Vec<Value<'static>>> {
    Some(match name {
        "select_scatter" => vec![floats(&[4, 3]), floats(&[3]), Value::Int(0), Value::Int(1)],
        "diagonal_scatter" => vec![floats(&[4, 3]), floats(&[3])],
        "as_strided_scatter" => vec![floats(&[4, 3]), floats(&[2, 3]), numbers(&[2, 3]), numbers(&[6, 1])],
        _ => return None,
    })
}
