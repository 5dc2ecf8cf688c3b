//! Samples of operators that learned quantisation, sparse layouts, sequences of different lengths and second
//! derivatives call.

use torch_library::opcheck::Check;
use torch_library::prelude::*;
use torch_library_kernels::aten;

use super::samples::numbers;
use super::{floats, ints, keyed, tensor};

/// Samples of operators whose arguments depend on each other.
pub(super) fn by_hand(name: &str) -> Option<Vec<Value<'static>>> {
    learned(name)
        .or_else(|| laid_out(name))
        .or_else(|| derived(name))
        .or_else(|| multiplied(name))
        .or_else(|| keyed::by_hand(name))
}

/// The checks that an operator fails on purpose.
pub(super) fn left_out(name: &str) -> Option<&'static [Check]> {
    Some(match name {
        // The last offset is read, unless the total is given.
        "_padded_dense_to_jagged_forward" => &[Check::Meta],
        // The gradient of both gates is one tensor, as in PyTorch.
        "_thnn_differentiable_lstm_cell_backward" | "_thnn_fused_lstm_cell_backward" => &[Check::Aliasing],
        // It depends on the strides and on the memory of the slice, and each example has memory of its own.
        "slice_inverse" => &[Check::Layouts, Check::Vmap],
        _ => return keyed::left_out(name),
    })
}

/// Fake quantisation with parameters that are learned, in `float32`.
fn learned(name: &str) -> Option<Vec<Value<'static>>> {
    let single = |sizes: &[i64]| Value::Tensor(aten::to_dtype(&tensor(sizes), DType::Float32).unwrap());
    let vector =
        |numbers: &[f32]| Value::Tensor(Tensor::from_slice(numbers, &[numbers.len() as i64]).unwrap());
    let base = name.strip_prefix("_fake_quantize_learnable_")?;
    let grad = base.ends_with("_backward").then(|| single(&[2, 3]));
    let parameters = match base.starts_with("per_channel") {
        true => vec![vector(&[0.25, 0.5]), vector(&[1.0, -0.75]), Value::Int(0)],
        false => vec![vector(&[0.25]), vector(&[1.0])],
    };
    let bounds = [Value::Int(-4), Value::Int(3)];
    Some(grad.into_iter().chain([single(&[2, 3])]).chain(parameters).chain(bounds).collect())
}

fn laid_out(name: &str) -> Option<Vec<Value<'static>>> {
    let offsets = || {
        let offsets = ints(&[0, 2, 2, 5], &[4]);
        Value::Tensors(vec![offsets.as_tensor().unwrap().clone()].into())
    };
    Some(match name {
        "_convert_indices_from_coo_to_csr" => vec![ints(&[0, 0, 2, 3], &[4]), Value::Int(4)],
        "_convert_indices_from_csr_to_coo" => {
            vec![ints(&[0, 2, 2, 3], &[4]), ints(&[1, 2, 0], &[3])]
        }
        "_jagged_to_padded_dense_forward" => {
            vec![floats(&[5, 2]), offsets(), numbers(&[2]), Value::Float(0.5)]
        }
        "_padded_dense_to_jagged_forward" => vec![floats(&[3, 3, 2]), offsets()],
        "slice_inverse" => vec![floats(&[2, 3]), floats(&[2, 3])],
        _ => return None,
    })
}

fn derived(name: &str) -> Option<Vec<Value<'static>>> {
    let none = || Value::None;
    Some(match name {
        "glu_jvp" => vec![floats(&[2, 2]), floats(&[2, 4]), floats(&[2, 4]), Value::Int(1)],
        "glu_backward_jvp" => {
            let (wide, narrow) = (|| floats(&[2, 4]), || floats(&[2, 2]));
            vec![wide(), narrow(), wide(), narrow(), wide(), Value::Int(1)]
        }
        "_embedding_bag_dense_backward" => {
            let lists = [ints(&[1, 3, 0, 2], &[4]), ints(&[0, 0, 1, 1], &[4]), ints(&[2, 2], &[2])];
            let modes = [ints(&[2, 2], &[2]), Value::Int(4), Value::Bool(false), Value::Int(1), none()];
            [floats(&[2, 3])].into_iter().chain(lists).chain(modes).collect()
        }
        "_thnn_fused_lstm_cell" => {
            let gates = || floats(&[2, 8]);
            vec![gates(), gates(), floats(&[2, 2]), floats(&[8]), floats(&[8])]
        }
        "_thnn_fused_gru_cell" => {
            let gates = || floats(&[2, 6]);
            vec![gates(), gates(), floats(&[2, 2]), floats(&[6]), floats(&[6])]
        }
        "_thnn_fused_lstm_cell_backward" | "_thnn_fused_lstm_cell_backward_impl" => {
            let state = || floats(&[2, 2]);
            vec![state(), state(), state(), state(), floats(&[2, 8]), Value::Bool(true)]
        }
        "_thnn_fused_gru_cell_backward" => vec![floats(&[2, 2]), floats(&[2, 10]), Value::Bool(true)],
        "_thnn_differentiable_lstm_cell_backward" => {
            let (state, gates) = (|| floats(&[2, 2]), || floats(&[2, 8]));
            vec![state(), state(), gates(), gates(), floats(&[8]), floats(&[8]), state(), state()]
        }
        "_thnn_differentiable_gru_cell_backward" => {
            let (state, gates) = (|| floats(&[2, 2]), || floats(&[2, 6]));
            vec![state(), gates(), gates(), state(), floats(&[6]), floats(&[6])]
        }
        "_convolution_double_backward" => {
            let (image, kernels) = (|| floats(&[1, 2, 4, 4]), || floats(&[3, 2, 2, 2]));
            let grads = [image(), kernels(), floats(&[3]), floats(&[1, 3, 3, 3]), kernels(), image()];
            let steps = [numbers(&[1, 1]), numbers(&[0, 0]), numbers(&[1, 1]), Value::Bool(false)];
            let rest = [numbers(&[0, 0]), Value::Int(1), Value::Bools(vec![true; 3].into())];
            grads.into_iter().chain(steps).chain(rest).collect()
        }
        "mkldnn_convolution" => {
            let tensors = [floats(&[1, 2, 4, 4]), floats(&[3, 2, 2, 2]), floats(&[3])];
            let steps = [numbers(&[1, 0]), numbers(&[1, 2]), numbers(&[1, 1]), Value::Int(1)];
            tensors.into_iter().chain(steps).collect()
        }
        _ => return None,
    })
}

/// Products in the type of the matrices; that of a result may differ only for 16-bit floats.
fn multiplied(name: &str) -> Option<Vec<Value<'static>>> {
    let dtype = || Value::DType(DType::Float64);
    Some(match name {
        "mm.dtype" => vec![floats(&[2, 3]), floats(&[3, 4]), dtype()],
        "bmm.dtype" => vec![floats(&[2, 2, 3]), floats(&[2, 3, 4]), dtype()],
        "addmm.dtype" => vec![floats(&[4]), floats(&[2, 3]), floats(&[3, 4]), dtype()],
        "baddbmm.dtype" => vec![floats(&[4]), floats(&[2, 2, 3]), floats(&[2, 3, 4]), dtype()],
        _ => return None,
    })
}
