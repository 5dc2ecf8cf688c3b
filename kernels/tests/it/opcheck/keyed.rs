//! Samples of operators that draw from a key or a sequence, of products with weights of four bits, and of conversions
//! that return the tensor itself.

use torch_library::opcheck::Check;
use torch_library::prelude::*;
use torch_library_kernels::aten;

use super::tensor;

/// Samples of operators whose arguments depend on each other.
pub(super) fn by_hand(name: &str) -> Option<Vec<Value<'static>>> {
    keyed(name).or_else(|| sequence(name)).or_else(|| multiplied(name)).or_else(|| chosen(name))
}

/// The checks that an operator fails on purpose.
pub(super) fn left_out(name: &str) -> Option<&'static [Check]> {
    Some(match name {
        // It requires contiguous matrices, as in PyTorch.
        "_weight_int4pack_mm_for_cpu" => &[Check::Layouts],
        // It returns the tensor itself, as in PyTorch.
        "to_dense" => &[Check::Aliasing],
        // Tensors without data cannot be moved to the CPU.
        "_to_cpu" => &[Check::Aliasing, Check::Meta],
        // It has the memory of the tensor, but not its history.
        "data" => &[Check::Aliasing, Check::Gradient, Check::SecondGradient],
        // It counts the writes to a sample, which are others where the sample is made in another way.
        "_version" => &[Check::Meta, Check::Functionalize],
        // The result is in the elements.
        "choose_qparams_optimized" => &[Check::Meta],
        // It writes the running statistics, though the schema does not say so, as in PyTorch.
        "batch_norm_update_stats" => &[Check::Mutation, Check::Layouts],
        _ => return None,
    })
}

fn keyed(name: &str) -> Option<Vec<Value<'static>>> {
    let base = name.strip_prefix("_philox_")?;
    let keys = || Value::Tensor(Tensor::from([[[1u64, 0]], [[2, 3]]]));
    let empty = |dtype| Value::Tensor(Tensor::empty(&[2, 3], dtype, Device::CPU).unwrap());
    Some(match base.trim_end_matches('_') {
        "key_split" => vec![keys(), Value::Int(2)],
        "key_fold_in" => vec![keys(), Value::Int(-1)],
        "key_fold_in.Tensor" => vec![keys(), Value::Tensor(Tensor::from([5u64]))],
        "randint" => vec![empty(DType::Int64), keys(), Value::Int(-3), Value::Int(4)],
        _ => vec![empty(DType::Float32), keys(), Value::Float(0.5), Value::Float(2.0)],
    })
}

fn multiplied(name: &str) -> Option<Vec<Value<'static>>> {
    let single = |sizes: &[i64]| Value::Tensor(aten::to_dtype(&tensor(sizes), DType::Float32).unwrap());
    let bytes = |sizes: &[i64]| {
        let numbers = (0..sizes.iter().product::<i64>()).map(|at| (at * 37 % 256) as u8).collect();
        Value::Tensor(Tensor::from_vec::<u8>(numbers, sizes).unwrap())
    };
    let numbers = |numbers: &[i64]| numbers.iter().map(|number| Value::Int(*number)).collect::<Vec<_>>();
    Some(match name {
        "_convert_weight_to_int4pack_for_cpu" => {
            let numbers = (0..64).map(|at| at * 7 % 16).collect();
            vec![Value::Tensor(Tensor::from_vec::<i32>(numbers, &[16, 4]).unwrap()), Value::Int(2)]
        }
        "_weight_int4pack_mm_for_cpu" => {
            vec![single(&[2, 32]), bytes(&[16, 16]), Value::Int(32), single(&[1, 16, 2])]
        }
        "_dyn_quant_pack_4bit_weight" => {
            [bytes(&[3, 2]), single(&[3]), single(&[3])].into_iter().chain(numbers(&[4, 4, 3])).collect()
        }
        "_dyn_quant_matmul_4bit" => {
            [single(&[2, 4]), single(&[12])].into_iter().chain(numbers(&[4, 4, 3])).collect()
        }
        _ => return None,
    })
}

fn sequence(name: &str) -> Option<Vec<Value<'static>>> {
    let base = name.strip_prefix("_sobol_engine_")?;
    let numbers = |sizes: &[i64]| {
        let count = sizes.iter().product::<i64>();
        Value::Tensor(Tensor::from_vec((0..count).map(|at| at * 7919 % 1024).collect(), sizes).unwrap())
    };
    let at = || [Value::Int(2), Value::Int(5)];
    Some(match base {
        "draw" => {
            let sequence = [numbers(&[2]), Value::Int(3), numbers(&[2, 30])];
            sequence.into_iter().chain(at()).chain([Value::DType(DType::Float64)]).collect()
        }
        "ff_" => [numbers(&[2]), Value::Int(3), numbers(&[2, 30])].into_iter().chain(at()).collect(),
        _ => vec![numbers(&[2, 30]), numbers(&[2, 30, 30]), Value::Int(2)],
    })
}

fn chosen(name: &str) -> Option<Vec<Value<'static>>> {
    let single = |sizes: &[i64]| Value::Tensor(aten::to_dtype(&tensor(sizes), DType::Float32).unwrap());
    Some(match name {
        "choose_qparams_optimized" => {
            let search = [Value::Int(6), Value::Int(50), Value::Float(0.3), Value::Int(4)];
            [single(&[2, 3])].into_iter().chain(search).collect()
        }
        "batch_norm_update_stats" => {
            vec![single(&[2, 3, 4]), single(&[3]), single(&[3]), Value::Float(0.1)]
        }
        "_rowwise_prune" => {
            let mask = Tensor::from([true, false]);
            vec![single(&[2, 3]), Value::Tensor(mask), Value::DType(DType::Int32)]
        }
        _ => return None,
    })
}
