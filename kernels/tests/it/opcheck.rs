//! Every operator that has a kernel does what its schema says, with samples made from the schema; so do its layers:
//! first and second derivatives, batching rules, casts.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use torch_library::opcheck::{Check, OpCheck, Report};
use torch_library::prelude::*;
use torch_library::table::Source;
use torch_library::{Dispatcher, OperatorInfo};
use torch_library_kernels as _;

mod exported;
mod factors;
mod keyed;
mod networks;
mod rare;
mod samples;

fn tensor(sizes: &[i64]) -> Tensor {
    let count = sizes.iter().product::<i64>();
    let values = (0..count).map(|at| 0.25 + 0.5 * (at % 7) as f64).collect();
    Tensor::from_vec::<f64>(values, sizes).unwrap()
}

/// The operators of `aten` with a kernel for the CPU.
fn operators() -> Vec<OperatorHandle> {
    let dispatcher = Dispatcher::global();
    let has_kernel = |info: &OperatorInfo| {
        let table = dispatcher.table(&info.operator.to_string()).unwrap();
        let row = table.rows.iter().find(|row| row.key == DispatchKey::CPU).unwrap();
        row.kernel.is_some() && !matches!(row.source, Source::BackendFallback)
    };
    let all = dispatcher.operators().into_iter().filter(has_kernel).map(|info| info.operator);
    all.filter(|operator| operator.namespace() == "aten").collect()
}

/// A value for an argument of an operator on integers.
fn integer(ty: &str, name: &str, sizes: &[i64]) -> Value<'static> {
    match (ty, name) {
        ("Tensor", "self") => ints(&[3, 1, 4, 1, 5, 9], sizes),
        ("Tensor", _) => ints(&[2, 7, 1, 8], sizes),
        ("Scalar", _) => Value::Int(6),
        _ => value(ty, name, sizes),
    }
}

/// A value for an argument, from its type and its name.
fn value(ty: &str, name: &str, sizes: &[i64]) -> Value<'static> {
    match (ty, name) {
        ("Tensor", "index" | "indices" | "target") => ints(&[1, 0, 1, 0, 1, 1], sizes),
        ("Tensor", "mask" | "condition") => Value::Tensor(bools(sizes)),
        ("Tensor", "value") => Value::Tensor(tensor(&[])),
        ("Tensor", "self" | "input") => floats(sizes),
        ("Scalar[]", _) => Value::Scalars(vec![1.5.into(), 2.0.into()].into()),
        ("Tensor", _) => Value::Tensor(tensor(sizes)),
        ("Tensor[]", _) => Value::Tensors(vec![tensor(sizes), tensor(sizes)].into()),
        ("Scalar?", "max") => Value::Float(0.5),
        ("Tensor?", "max") => Value::Tensor(tensor(sizes)),
        ("int" | "SymInt", "dim1" | "num_classes" | "step" | "groups") => Value::Int(1),
        ("int" | "SymInt", "end" | "chunks" | "split_size" | "steps" | "n" | "high") => Value::Int(2),
        ("int" | "SymInt", _) => Value::Int(0),
        ("int[]" | "SymInt[]", "size" | "shape" | "input_sizes") => Value::Ints(sizes.to_vec().into()),
        ("int[]" | "SymInt[]", "dims") => {
            Value::Ints((0..sizes.len() as i64).rev().collect::<Vec<_>>().into())
        }
        ("int[]" | "SymInt[]", "normalized_shape") => Value::Ints(sizes[1..].to_vec().into()),
        ("int[]" | "SymInt[]", "stride") if sizes.len() == 2 => Value::Ints(vec![sizes[1], 1].into()),
        ("int[]" | "SymInt[]", "pad") => Value::Ints(vec![1, 2].into()),
        ("int[]" | "SymInt[]", "split_sizes") => Value::Ints(vec![1; sizes[0] as usize].into()),
        ("int[]" | "SymInt[]", "kernel_size" | "stride" | "output_size") => Value::Ints(vec![2, 2].into()),
        ("int[]" | "SymInt[]", "dilation") => Value::Ints(vec![1, 1].into()),
        ("int[]" | "SymInt[]", "padding" | "output_padding") => Value::Ints(vec![0, 0].into()),
        ("int[]" | "SymInt[]", _) => Value::Ints(vec![0].into()),
        ("float", _) => Value::Float(0.5),
        ("Scalar", _) => Value::Float(1.5),
        ("bool", _) => Value::Bool(name == "training"),
        ("bool[]", _) => Value::Bools(vec![true; 3].into()),
        ("ScalarType", _) => Value::DType(DType::Float32),
        ("MemoryFormat", _) => Value::MemoryFormat(MemoryFormat::Contiguous),
        _ => Value::None,
    }
}

/// Numbers of both signs.
fn floats(sizes: &[i64]) -> Value<'static> {
    let mut values = tensor(sizes);
    let signed = values.to_vec::<f64>().unwrap().into_iter().map(|value| value - 1.125);
    values.fill_from(signed).unwrap();
    Value::Tensor(values)
}

fn ints(values: &[i64], sizes: &[i64]) -> Value<'static> {
    let count = sizes.iter().product::<i64>() as usize;
    Value::Tensor(Tensor::from_vec(values.iter().copied().cycle().take(count).collect(), sizes).unwrap())
}

fn bools(sizes: &[i64]) -> Tensor {
    let count = sizes.iter().product::<i64>();
    Tensor::from_vec((0..count).map(|at| at % 2 == 0).collect::<Vec<_>>(), sizes).unwrap()
}

/// Operators whose derivatives, if any, refuse some tensor of a sample, as PyTorch's do, since it is only bookkeeping.
const REFUSING: [&str; 9] = [
    "_native_batch_norm_legit",
    "_native_batch_norm_legit_functional",
    "_native_batch_norm_legit_no_training",
    "_batch_norm_with_update",
    "_batch_norm_with_update_functional",
    "_batch_norm_no_update",
    "log_sigmoid_backward",
    "rrelu_with_noise_backward",
    "soft_margin_loss_backward",
];

/// The checks that an operator fails on purpose.
fn left_out(name: &str) -> &'static [Check] {
    match name {
        // Autograd treats it as a copy, which may be written to; in PyTorch it shares memory as well.
        "_unsafe_view" => &[Check::Aliasing],
        // They depend on the layout, or replace it.
        "is_contiguous"
        | "is_contiguous.memory_format"
        | "as_strided"
        | "as_strided_"
        | "as_strided_scatter"
        | "_reshape_alias" => &[Check::Layouts],
        // It requires contiguous images, as in PyTorch.
        "nll_loss2d_backward" => &[Check::Layouts],
        // Their derivatives have no derivatives, as in PyTorch.
        "_grid_sampler_2d_cpu_fallback"
        | "_masked_softmax"
        | "multi_margin_loss"
        | "multilabel_margin_loss"
        | "multilabel_margin_loss_forward"
        | "_scaled_dot_product_flash_attention_for_cpu" => &[Check::SecondGradient],
        // The cutoff has no derivative, and requiring one is refused.
        "linalg_pinv.rcond_tensor" => &[Check::Gradient, Check::SecondGradient],
        // In evaluation mode it returns its input, as in PyTorch.
        "dropout" | "alpha_dropout" | "feature_dropout" | "feature_alpha_dropout" => &[Check::Aliasing],
        // It has no elements in memory: operators make them.
        "_efficientzerotensor" => &[Check::Deterministic, Check::Functionalize],
        // They return views where possible, as in PyTorch.
        "meshgrid"
        | "meshgrid.indexing"
        | "broadcast_tensors"
        | "atleast_1d"
        | "atleast_2d"
        | "atleast_3d"
        | "atleast_1d.Sequence"
        | "atleast_2d.Sequence"
        | "atleast_3d.Sequence" => &[Check::Aliasing],
        // Real tensors are returned themselves, as in PyTorch.
        "conj_physical" => &[Check::Aliasing],
        // Gradients are only written to if there is a `grad_scale` to divide by.
        name if name.starts_with("_fused_") => &[Check::Mutation],
        // They detach the tensor from its history; the memory stays the same.
        "detach" => &[Check::Gradient],
        "detach_" => &[Check::Mutation, Check::Gradient],
        // Statistics that are not those of the input, which finite differences would use, are an error.
        "native_layer_norm_backward" | "native_batch_norm_backward" | "batch_norm_backward" => {
            &[Check::Gradient, Check::SecondGradient]
        }
        // The factors are those of the matrix or of its transpose, depending on its layout.
        "_linalg_det" | "_linalg_slogdet" => &[Check::Layouts],
        // Their gradient is that of symmetric matrices, and finite differences are not symmetric.
        "linalg_cholesky" | "linalg_cholesky_ex" => &[Check::Gradient, Check::SecondGradient],
        // It also has a gradient for the other triangle, which is not read.
        "cholesky_solve" | "cholesky_inverse" => &[Check::Gradient, Check::SecondGradient],
        "linalg_eigh" | "_linalg_eigh" | "linalg_eigvalsh" => &[Check::Gradient, Check::SecondGradient],
        // The phase of vectors is arbitrary, and finite differences depend on the one that the kernel chooses.
        "linalg_eig" | "linalg_svd" | "_linalg_svd" => &[Check::Gradient, Check::SecondGradient],
        // The gradient is one of probabilities that add up to 1, as PyTorch's, and has no derivative; lengths may
        // be elements.
        "_ctc_loss"
        | "_ctc_loss.Tensor"
        | "_ctc_loss_backward"
        | "_ctc_loss_backward.Tensor"
        | "ctc_loss.IntList" => &[Check::Gradient, Check::SecondGradient],
        "ctc_loss.Tensor" => &[Check::Gradient, Check::SecondGradient, Check::Meta],
        // It returns the tensor itself if that has the type, which the schema does not declare.
        "type_as" => &[Check::Aliasing],
        // An `out` with gaps is rejected, as in PyTorch.
        "max_unpool3d" => &[Check::Out],
        // The starts of parts depend on elements.
        "narrow.Tensor" | "tensor_split.tensor_indices_or_sections" => &[Check::Meta],
        "linspace.Tensor_Tensor" | "logspace.Tensor_Tensor" => &[Check::Meta],
        // PyTorch has no derivatives of them.
        "special_scaled_modified_bessel_k0"
        | "special_scaled_modified_bessel_k1"
        | "special_spherical_bessel_j0" => &[Check::Gradient, Check::SecondGradient],
        // There is no derivative for the exponent, as in PyTorch.
        "special_zeta" | "special_zeta.other_scalar" => &[Check::Gradient, Check::SecondGradient],
        // There is no derivative for the shape parameter either.
        "igamma" | "igamma_" | "igammac" | "igammac_" | "special_gammainc" | "special_gammaincc" => {
            &[Check::Gradient, Check::SecondGradient]
        }
        // Its diagonal is clipped at 1, although as a function of the elements it has no kink there.
        "corrcoef" => &[Check::SecondGradient],
        name if REFUSING.contains(&name) => &[Check::Gradient, Check::SecondGradient],
        _ => networks::left_out(name).unwrap_or_else(|| factors::left_out(name)),
    }
}

/// Samples made from the schema: required arguments, and limits that have a default although one is needed.
fn from_schema(
    operator: OperatorHandle,
    value: fn(&str, &str, &[i64]) -> Value<'static>,
    sizes: &[i64],
) -> Vec<Value<'static>> {
    let arguments = &operator.schema().unwrap().arguments;
    let needed = |name: &str| name == "max";
    let last = arguments.iter().rposition(|argument| argument.default.is_none() || needed(&argument.name));
    let arguments = &arguments[..last.map_or(0, |last| last + 1)];
    let each = arguments.iter().map(|argument| match &argument.default {
        Some(_) if !needed(&argument.name) => Value::None,
        _ => value(&argument.ty.to_string(), &argument.name, sizes),
    });
    each.collect()
}

/// The arguments of an operator that writes to `out`, without `out`.
fn inputs(operator: OperatorHandle) -> Option<Vec<&'static str>> {
    let (outs, inputs): (Vec<_>, Vec<_>) =
        operator.schema().unwrap().arguments.iter().partition(|argument| argument.is_out());
    (!outs.is_empty()).then(|| inputs.into_iter().map(|argument| &*argument.name).collect())
}

/// Whether an operator of this name has these arguments, and no others but those that say what a new tensor is to be.
fn returns(operator: OperatorHandle, name: &str, inputs: &[&str]) -> bool {
    let options = ["dtype", "layout", "device", "pin_memory"];
    let own = operator.schema().unwrap().arguments.iter().map(|argument| &*argument.name);
    let own: Vec<&str> = own.filter(|name| inputs.contains(name) || !options.contains(name)).collect();
    operator.name() == name && own == inputs
}

fn has_tag(name: &str, tag: &str) -> bool {
    let mut all = operators().into_iter();
    all.any(|operator| operator.to_string() == format!("aten::{name}") && operator.tags().contains(&tag))
}

/// Operators whose gradients are left out above.
const WITHOUT_GRADIENT: [&str; 37] = [
    "_fake_quantize_learnable_per_channel_affine", // see `fake_quantize.rs`
    "_fake_quantize_learnable_per_tensor_affine",
    "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams",
    "fake_quantize_per_channel_affine_cachemask", // see `accepted.rs`
    "fake_quantize_per_tensor_affine_cachemask",
    "_native_batch_norm_legit",
    "_native_batch_norm_legit_functional",
    "_native_batch_norm_legit_no_training",
    "_batch_norm_with_update",
    "_batch_norm_with_update_functional",
    "_batch_norm_no_update",
    "log_sigmoid_backward",
    "rrelu_with_noise_backward",
    "soft_margin_loss_backward",
    "batch_norm_backward",
    "detach",
    "detach_",
    "histc", // constant between the ends of its bins
    "_linalg_eigh",
    "linalg_cholesky_ex",
    "cholesky_inverse",
    "cholesky_solve",
    "linalg_eig",
    "_linalg_svd",
    "_ctc_loss",
    "_ctc_loss.Tensor",
    "special_scaled_modified_bessel_k0",
    "special_scaled_modified_bessel_k1",
    "special_spherical_bessel_j0",
    "igamma",
    "igamma_",
    "igammac",
    "igammac_",
    "special_zeta",
    "special_zeta.other_scalar",
    "native_batch_norm_backward",
    "native_layer_norm_backward",
];

/// What was found about an operator.
struct Found {
    name: String,
    /// `None` if it accepts none of the samples.
    report: Option<Report>,
    /// Whether it has a derivative, which no sample was fit to check.
    lacks_gradient: bool,
}

/// Checks an operator, with a sample that was written for it or else with the first that it accepts. Returns `None` for
/// one that is checked with the operator that returns the result that this one writes.
fn found(operator: OperatorHandle, operators: &[OperatorHandle]) -> Option<Found> {
    let is_variant =
        |inputs: Vec<&str>| operators.iter().any(|base| returns(*base, operator.name(), &inputs));
    if inputs(operator).is_some_and(is_variant) {
        return None;
    }
    let name = operator.to_string().trim_start_matches("aten::").to_owned();
    let check = || left_out(&name).iter().fold(OpCheck::new(operator), |check, out| check.without(*out));
    let is_accepted = |report: &Report| {
        report.faults.iter().all(|fault| fault.check != Check::Accepts || fault.message.contains("panics"))
    };
    let report = match samples::by_hand(&name) {
        Some(sample) => Some(check().run([sample])),
        None => {
            let shapes: [&[i64]; 4] = [&[2, 3], &[3], &[2, 2, 3], &[1, 2, 5, 4]];
            type Kind = fn(&str, &str, &[i64]) -> Value<'static>;
            let kinds: [Kind; 2] = [value, integer];
            let samples = kinds.iter().flat_map(|kind| shapes.iter().map(move |sizes| (kind, sizes)));
            let mut reports = samples.map(|(kind, sizes)| check().run([from_schema(operator, *kind, sizes)]));
            reports.find(is_accepted)
        }
    };
    let kernels = Dispatcher::global().table(&operator.to_string()).unwrap().kernels;
    let has_derivative = kernels.iter().any(|kernel| kernel.key == DispatchKey::Autograd);
    let has_gradient = report.as_ref().is_some_and(|report| report.layers.contains(&Check::Gradient));
    Some(Found { name, report, lacks_gradient: has_derivative && !has_gradient })
}

/// Checks operators on several threads, as this takes longer than all other tests. Each thread takes the next operator;
/// a pool of rayon's would run the check of one while a kernel of another waits, with the modes of its thread.
fn all_found(operators: &[OperatorHandle]) -> Vec<Found> {
    let (next, all) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(operator) = operators.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let found = found(*operator, operators);
                    all.lock().unwrap().extend(found);
                }
            });
        }
    });
    all.into_inner().unwrap()
}

#[test]
fn every_operator_does_what_its_schema_says() {
    let (mut faults, mut without_sample, mut without_gradient) = (Vec::new(), Vec::new(), Vec::new());
    let operators = operators();
    for Found { name, report, lacks_gradient } in all_found(&operators) {
        if lacks_gradient {
            without_gradient.push(name.clone());
        }
        match report {
            Some(report) if !report.faults.is_empty() => faults.push(report.to_string()),
            Some(_) => {}
            None => without_sample.push(name),
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    // Random numbers have no differences; the others are left out above. New operators need small samples.
    let is_random = |name: &str| has_tag(name, "nondeterministic_seeded");
    let complex = ["_conj", "view_as_complex", "view_as_real"]; // differences are taken of real numbers
    let left_out = [&WITHOUT_GRADIENT[..], &factors::WITHOUT_GRADIENT, &complex].concat();
    without_gradient.retain(|name| {
        let first = name.split('.').next().unwrap_or(name).trim_end_matches("_copy");
        !left_out.contains(&&**name)
            && !complex.contains(&first)
            && !factors::is_polynomial(first)
            && !is_random(name)
    });
    assert!(without_gradient.is_empty(), "nobody looked at the gradients of {without_gradient:?}");
    // An operator with unusual arguments needs a line in `by_hand`.
    assert!(without_sample.len() * 20 <= operators.len(), "no samples for {without_sample:?}");
}

/// A value for an argument of an operator on complex numbers.
fn complex(ty: &str, name: &str, sizes: &[i64]) -> Value<'static> {
    match (ty, name) {
        ("Tensor", "index" | "indices" | "target" | "mask" | "condition") => value(ty, name, sizes),
        ("Tensor", "value") => complexes(&[], 0.3),
        ("Tensor", "self" | "input") => complexes(sizes, 0.1),
        ("Tensor", _) => complexes(sizes, 0.7),
        ("Tensor[]", _) => {
            let tensors = [0.1, 0.7].map(|start| complexes(sizes, start).as_tensor().unwrap().clone());
            Value::Tensors(tensors.to_vec().into())
        }
        ("Scalar", _) => Value::Complex(Complex64::new(0.6, -0.8)),
        _ => value(ty, name, sizes),
    }
}

/// Numbers of the right half of the unit circle, where every function is smooth.
fn complexes(sizes: &[i64], start: f64) -> Value<'static> {
    let count = sizes.iter().product::<i64>();
    let values = (0..count).map(|at| {
        let at = start + 0.13 * (at * 5 % 11) as f64;
        Complex64::new(0.2 + 0.3 * at, 0.6 - 0.5 * at)
    });
    Value::Tensor(Tensor::from_vec(values.collect(), sizes).unwrap())
}

#[test]
fn derivatives_of_complex_numbers() {
    let (mut faults, mut looked_at) = (Vec::new(), Vec::new());
    for operator in operators() {
        let name = operator.to_string();
        let others =
            [Check::Aliasing, Check::Mutation, Check::Layouts, Check::Meta, Check::Empty, Check::InPlace];
        let others = others.into_iter().chain([Check::Out, Check::Vmap, Check::Functionalize]);
        let check = others.fold(OpCheck::new(operator), OpCheck::without);
        let of_matrices = |sizes: [&[i64]; 2]| {
            let arguments = operator.schema().unwrap().arguments.iter();
            let mut sizes = sizes.into_iter();
            let needed = arguments.filter(|argument| argument.default.is_none());
            Some(
                needed
                    .map(|argument| complex(&argument.ty.to_string(), "", sizes.next().unwrap_or(&[])))
                    .collect(),
            )
        };
        let sample: Option<Vec<Value<'static>>> = match &*name {
            "aten::mm" | "aten::matmul" => of_matrices([&[2, 3], &[3, 2]]),
            "aten::bmm" => of_matrices([&[2, 2, 3], &[2, 3, 1]]),
            "aten::mv" => of_matrices([&[2, 3], &[3]]),
            "aten::dot" => of_matrices([&[3], &[3]]),
            "aten::linear" => of_matrices([&[2, 3], &[4, 3]]),
            "aten::conv2d" => of_matrices([&[1, 2, 3, 3], &[1, 2, 2, 2]]),
            // The samples have distance zero, where the function has a kink.
            "aten::pairwise_distance" | "aten::triplet_margin_loss" => continue,
            // It has no elements in memory: operators make them.
            "aten::_efficientzerotensor" => continue,
            // The sample's tolerance truncates the matrix.
            "aten::linalg_pinv" => continue,
            // The phase of complex vectors is arbitrary.
            "aten::_linalg_svd" | "aten::linalg_svd" => continue,
            // If an index is repeated, it is unspecified which element is taken.
            "aten::scatter.src" | "aten::scatter_.src" | "aten::index_copy" | "aten::put" | "aten::put_" => {
                continue;
            }
            _ => None,
        };
        let sample = sample.unwrap_or_else(|| from_schema(operator, complex, &[2, 3]));
        let report = check.run([sample]);
        let is_refused = report.faults.iter().any(|fault| fault.check == Check::Accepts);
        if is_refused || left_out(name.trim_start_matches("aten::")).contains(&Check::Gradient) {
            continue;
        }
        if report.layers.contains(&Check::Gradient) {
            looked_at.push(name);
        }
        if !report.faults.is_empty() {
            faults.push(report.to_string());
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(looked_at.len() > 100, "{looked_at:?}");
}
