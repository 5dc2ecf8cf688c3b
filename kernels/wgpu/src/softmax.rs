//! Softmax and its logarithm along a dimension, and their derivatives: a workgroup for each row.

use torch_library::prelude::*;
use torch_library_gpu::{Tensors, index_of, on_meta};
use torch_library_kernels::aten;

use crate::call::{Wgpu, is_here, is_small, kernels};
use crate::launch::{Launch, THREADS, WORDS};
use crate::memory::Memory;

kernels! {
    super::softmax: _softmax;
    super::log_softmax: _log_softmax;
    super::softmax_backward: _softmax_backward_data;
    super::log_softmax_backward: _log_softmax_backward_data;
}

const LARGEST: &str = "var m = bitcast<f32>(params[5]);
    for (var i = thread; i < count; i += THREADS) { let x = in0_at(i); m = select(m, x, x > m || is_nan(x)); }
    let largest = over_max(m, thread);
    var s = 0.0;
    for (var i = thread; i < count; i += THREADS) { s += exp(in0_at(i) - largest); }
    let total = over_sum(s, thread);";

fn softmax(operator: OperatorHandle, arguments: &[Value<'_>]) -> Result<Option<Tensor>> {
    let [Value::Bool(false)] = arguments.get(2..).unwrap_or_default() else { return Ok(None) };
    rows(operator, arguments, 1, LARGEST, "exp(in0_at(i) - largest) / total")
}

fn log_softmax(operator: OperatorHandle, arguments: &[Value<'_>]) -> Result<Option<Tensor>> {
    let [Value::Bool(false)] = arguments.get(2..).unwrap_or_default() else { return Ok(None) };
    rows(operator, arguments, 1, LARGEST, "in0_at(i) - largest - log(total)")
}

fn softmax_backward(operator: OperatorHandle, arguments: &[Value<'_>]) -> Result<Option<Tensor>> {
    let sums = "var s = 0.0;
    for (var i = thread; i < count; i += THREADS) { s += in0_at(i) * in1_at(i); }
    let total = over_sum(s, thread);";
    rows(operator, arguments, 2, sums, "in1_at(i) * (in0_at(i) - total)")
}

fn log_softmax_backward(operator: OperatorHandle, arguments: &[Value<'_>]) -> Result<Option<Tensor>> {
    let sums = "var s = 0.0;
    for (var i = thread; i < count; i += THREADS) { s += in0_at(i); }
    let total = over_sum(s, thread);";
    rows(operator, arguments, 2, sums, "in0_at(i) - exp(in1_at(i)) * total")
}

/// Runs a shader on the rows of as many tensors, which lie without gaps and in one order.
fn rows(
    operator: OperatorHandle,
    arguments: &[Value<'_>],
    tensors: usize,
    before: &str,
    value: &str,
) -> Result<Option<Tensor>> {
    let inputs: Vec<&Tensor> = arguments.iter().take(tensors).filter_map(Value::as_tensor).collect();
    let is_ours = |tensor: &&Tensor| {
        is_here(tensor)
            && is_small(tensor)
            && tensor.dtype() == DType::Float32
            && tensor.is_contiguous(MemoryFormat::Contiguous)
    };
    let (Some(first), Some(Value::Int(dim))) = (inputs.first(), arguments.get(tensors)) else {
        return Ok(None);
    };
    let same = inputs.iter().all(|input| input.sizes() == first.sizes());
    if inputs.len() != tensors
        || !same
        || !inputs.iter().all(is_ours)
        || first.dim() == 0
        || first.numel() == 0
    {
        return Ok(None);
    }
    let meta = on_meta(operator, arguments)?;
    if meta.dtype() != DType::Float32 || !meta.is_contiguous(MemoryFormat::Contiguous) {
        return Ok(None);
    }
    let dim = dim.rem_euclid(first.dim() as i64) as usize;
    let (count, inner) = (first.sizes()[dim] as u32, first.sizes()[dim + 1..].iter().product::<i64>() as u32);
    let number = first.numel() as u32 / count;
    let offset = |at: usize| inputs.get(at).map_or(0, |input| input.storage_offset() as u32);
    let params = [number, count, inner, offset(0), offset(1), f32::NEG_INFINITY.to_bits()];
    let result = Wgpu::unwritten(&meta, index_of(first))?;
    let storages: Vec<_> = inputs.iter().map(|input| input.storage().clone()).collect();
    let memories = storages.iter().map(Memory::of).collect::<Result<Vec<_>>>()?;
    let target = result.storage().clone();
    let source = shader(tensors, before, value);
    let (source, params, inputs) = (source.as_str(), params.as_slice(), memories.as_slice());
    let (params_type, results, groups) = (WORDS, &[Memory::of(&target)?], number.into());
    Launch { label: "rows", source, params, params_type, inputs, results, groups }.run()?;
    Ok(Some(result))
}

fn shader(tensors: usize, before: &str, value: &str) -> String {
    let reads: String = (0..tensors)
        .map(|at| {
            let offset = 3 + at;
            format!("fn in{at}_at(i: u32) -> f32 {{ return bitcast<f32>(in{at}[params[{offset}] + start + i * inner]); }}\n")
        })
        .collect();
    let text = format!(
        "const THREADS = {THREADS}u;
var<workgroup> parts: array<f32, {THREADS}>;
var<private> start: u32;
var<private> inner: u32;
{reads}
fn over_sum(mine: f32, thread: u32) -> f32 {{
    workgroupBarrier();
    parts[thread] = mine;
    for (var half = THREADS / 2u; half > 0u; half = half / 2u) {{
        workgroupBarrier();
        if (thread < half) {{ parts[thread] = parts[thread] + parts[thread + half]; }}
    }}
    workgroupBarrier();
    return parts[0];
}}
@compute @workgroup_size({THREADS})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) thread: u32) {{
    let row = min(group_number(group, groups), params[0] - 1u);
    let count = params[1];
    inner = params[2];
    start = (row / inner) * count * inner + row % inner;
    {before}
    for (var i = thread; i < count; i += THREADS) {{ result[start + i * inner] = bitcast<u32>({value}); }}
}}
"
    );
    let over_max = "fn over_max(mine: f32, thread: u32) -> f32 {
    parts[thread] = mine;
    for (var half = THREADS / 2u; half > 0u; half = half / 2u) {
        workgroupBarrier();
        if (thread < half) {
            let a = parts[thread];
            let b = parts[thread + half];
            parts[thread] = select(select(b, a, a > b || is_nan(a)), b, is_nan(b));
        }
    }
    workgroupBarrier();
    return parts[0];
}
";
    text.replace("fn over_sum", &format!("{over_max}fn over_sum"))
}
