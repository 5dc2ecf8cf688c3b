//! Samples of factors of matrices, of bins and segments, and of pieces of tensors.

use torch_library::opcheck::Check;
use torch_library::prelude::*;

use super::samples::numbers;
use super::{floats, ints, tensor};

/// Whether this is a function without a derivative here, although it is differentiable.
pub(super) fn is_polynomial(name: &str) -> bool {
    name.starts_with("special_") && (name.contains("_polynomial_") || name == "special_airy_ai")
}

/// The checks that these operators fail on purpose.
pub(super) fn left_out(name: &str) -> &'static [Check] {
    match name {
        // They depend on the layout, or keep the order of memory.
        "as_strided_copy" | "_reshape_alias_copy" | "resize" | "resize_as" => {
            &[Check::Layouts, Check::Gradient, Check::SecondGradient]
        }
        // A tensor that requires grad keeps its sizes.
        "resize_" | "resize_as_" => &[Check::Layouts, Check::Gradient, Check::SecondGradient, Check::Vmap],
        // The tensor itself, and parts of it that autograd does not treat as views.
        "lift" | "unsafe_split.Tensor" | "unsafe_split_with_sizes" | "unsafe_chunk" => &[Check::Aliasing],
        // The edges of bins that are passed are returned.
        "histogramdd.TensorList_bins" => &[Check::Aliasing, Check::Gradient, Check::SecondGradient],
        // They read elements.
        "item" | "_local_scalar_dense" | "is_nonzero" => &[Check::Meta, Check::Vmap],
        "_linalg_check_errors" => &[Check::Vmap],
        // PyTorch has no derivatives of them.
        "detach_copy"
        | "_chunk_cat"
        | "geqrf"
        | "linalg_ldl_factor"
        | "linalg_ldl_factor_ex"
        | "linalg_ldl_solve"
        | "_segment_reduce_backward"
        | "_unique" => &[Check::Gradient, Check::SecondGradient],
        // Its derivative has no derivative either.
        "segment_reduce" => &[Check::SecondGradient],
        _ if name.contains("histogram") => &[Check::Gradient, Check::SecondGradient],
        _ if is_polynomial(name.split('.').next().unwrap_or(name)) => {
            &[Check::Gradient, Check::SecondGradient]
        }
        // Its gradient is that of symmetric matrices, and finite differences are not symmetric.
        "linalg_matrix_sqrth" => &[Check::Gradient, Check::SecondGradient],
        // The phase of vectors is arbitrary.
        "svd" => &[Check::Gradient, Check::SecondGradient],
        // It requires rows at multiples of 16 bytes, and its types are too imprecise for finite differences.
        "_grouped_mm" => &[Check::Layouts, Check::Gradient, Check::SecondGradient],
        "chalf" => &[Check::Gradient, Check::SecondGradient],
        // They require contiguous pairs or bytes.
        "view_as_complex_copy" | "view_copy.dtype" => &[Check::Layouts],
        _ => &[],
    }
}

/// Operators with derivatives whose gradients are left out above.
pub(super) const WITHOUT_GRADIENT: [&str; 8] = [
    "as_strided_copy",
    "_reshape_alias_copy",
    "resize_",
    "resize_as_",
    "geqrf",
    "_unique",
    "linalg_matrix_sqrth",
    "_grouped_mm",
];

/// A matrix with a heavy diagonal.
fn heavy(n: i64) -> Tensor {
    let mut matrix = tensor(&[n, n]);
    let values = matrix.to_vec::<f64>().unwrap();
    let on_diagonal = |at: usize| (at as i64) % (n + 1) == 0;
    let values: Vec<f64> =
        values.iter().enumerate().map(|(at, x)| x + if on_diagonal(at) { 9.0 } else { 0.0 }).collect();
    matrix.copy_from_slice(&values).unwrap();
    matrix
}

fn shaped(matrix: &Tensor, sizes: &[i64]) -> Value<'static> {
    Value::Tensor(Tensor::from_slice(&matrix.to_vec::<f64>().unwrap(), sizes).unwrap())
}

pub(super) fn by_hand(name: &str) -> Option<Vec<Value<'static>>> {
    matrices(name).or_else(|| bins(name)).or_else(|| pieces(name))
}

fn matrices(name: &str) -> Option<Vec<Value<'static>>> {
    let symmetric = || {
        let values = [4.0, 1.0, 0.5, 1.0, 3.0, -0.5, 0.5, -0.5, 5.0];
        Value::Tensor(Tensor::from_slice(&values, &[3, 3]).unwrap())
    };
    Some(match name {
        "geqrf" | "linalg_polar" => vec![Value::Tensor(tensor(&[3, 2]))],
        "svd" | "_lu_with_info" => vec![Value::Tensor(heavy(3))],
        "linalg_householder_product" | "orgqr" => vec![floats(&[3, 2]), floats(&[2])],
        "ormqr" => vec![floats(&[3, 2]), floats(&[2]), floats(&[3, 2])],
        "linalg_ldl_factor" | "linalg_ldl_factor_ex" | "linalg_matrix_sqrth" => vec![symmetric()],
        "linalg_ldl_solve" => vec![symmetric(), ints(&[1, 2, 3], &[3]), floats(&[3, 2])],
        "linalg_solve_ex" => vec![Value::Tensor(heavy(3)), floats(&[3, 2])],
        "linalg_tensorinv" => vec![shaped(&heavy(6), &[2, 3, 6])],
        "linalg_tensorsolve" => vec![shaped(&heavy(6), &[2, 3, 6]), floats(&[2, 3])],
        "_linalg_check_errors" => {
            let info = Tensor::from([0i32, 0]);
            vec![Value::Tensor(info), Value::Str("factor".into()), Value::Bool(false)]
        }
        "_grouped_mm" => {
            let ones = |sizes: &[i64]| Value::Tensor(Tensor::from_vec(vec![1f32; 32], sizes).unwrap());
            vec![ones(&[2, 4, 4]), ones(&[2, 4, 4])]
        }
        _ => return None,
    })
}

fn bins(name: &str) -> Option<Vec<Value<'static>>> {
    let ends = || Tensor::from([-1.5, 0.0, 1.0, 2.5]);
    let points = || floats(&[4, 2]);
    let (data, lengths) = (|| floats(&[6, 2]), || ints(&[2, 3, 1], &[3]));
    Some(match name {
        "histogram.bins_tensor" => vec![floats(&[2, 3]), Value::Tensor(ends())],
        "histogramdd" | "_histogramdd_bin_edges" | "_histogramdd_from_bin_cts" => {
            vec![points(), numbers(&[2, 3])]
        }
        "histogramdd.int_bins" => vec![points(), Value::Int(2)],
        "histogramdd.TensorList_bins" | "_histogramdd_from_bin_tensors" => {
            vec![points(), Value::Tensors(vec![ends(), ends()].into())]
        }
        "segment_reduce" => vec![data(), Value::Str("mean".into()), lengths()],
        "_segment_reduce_backward" => {
            vec![floats(&[3, 2]), floats(&[3, 2]), data(), Value::Str("mean".into()), lengths()]
        }
        "gradient.scalarrayarray" => {
            vec![floats(&[2, 3]), Value::Scalars(vec![1.5.into(), 2.0.into()].into()), numbers(&[0, 1])]
        }
        "gradient.tensorarrayint" => vec![floats(&[2, 3]), places()],
        "gradient.tensorarray" => vec![floats(&[2, 3]), places(), numbers(&[0, 1])],
        _ => return None,
    })
}

/// The positions of samples with two rows and three columns.
fn places() -> Value<'static> {
    Value::Tensors(vec![Tensor::from([0.0, 1.5]), Tensor::from([0.0, 1.0, 3.0])].into())
}

fn pieces(name: &str) -> Option<Vec<Value<'static>>> {
    Some(match name {
        "narrow_copy" => vec![floats(&[2, 3]), Value::Int(1), Value::Int(1), Value::Int(2)],
        "unfold_copy" => vec![floats(&[2, 3]), Value::Int(1), Value::Int(2), Value::Int(1)],
        "as_strided_copy" => vec![floats(&[2, 3]), numbers(&[2, 2]), numbers(&[1, 2])],
        "_reshape_alias_copy" => vec![floats(&[2, 3]), numbers(&[3, 2]), numbers(&[2, 1])],
        "view_as_complex_copy" => vec![floats(&[3, 2])],
        "view_as_real_copy" => {
            let number = Complex64::new(1.0, 2.0);
            vec![Value::Tensor(Tensor::from_vec(vec![number; 3], &[3]).unwrap())]
        }
        "resize_" | "resize" => vec![floats(&[2, 3]), numbers(&[3, 2])],
        "resize_as_" | "resize_as" => vec![floats(&[2, 3]), floats(&[3, 2])],
        "item" | "_local_scalar_dense" | "is_nonzero" => vec![floats(&[1])],
        "_chunk_cat" => {
            let tensors = vec![tensor(&[2, 3]), tensor(&[3, 2])];
            vec![Value::Tensors(tensors.into()), Value::Int(0), Value::Int(2)]
        }
        "nonzero_static" => vec![floats(&[2, 3]), Value::Int(3)],
        "frexp.Tensor" => vec![Value::Tensor(Tensor::from([[0.3, 0.7, 1.1], [1.5, -1.9, 2.3]]))],
        _ => return None,
    })
}
