//! Sums, means and extremes over dimensions: a workgroup for each element of the result.

use torch_library::prelude::*;
use torch_library_kernels::aten;

use crate::call::{Arguments, index_of, is_here, is_small, kernels, on_meta, unwritten};
use crate::launch::{Launch, THREADS, WORDS};
use crate::memory::Memory;
use crate::pointwise::of_type;

kernels! {
    super::sum: sum sum_dim_IntList;
    super::mean: mean mean_dim;
    super::amax: amax;
    super::amin: amin;
    super::all_or_any: all all_dim all_dims any any_dim any_dims;
}

fn sum(operator: OperatorHandle, arguments: &[Value<'_>]) -> Result<Option<Tensor>> {
    reduce(operator, arguments, &Fold { start: "0.0", join: "a + b", finish: "total" })
}

fn mean(operator: OperatorHandle, arguments: &[Value<'_>]) -> Result<Option<Tensor>> {
    reduce(operator, arguments, &Fold { start: "0.0", join: "a + b", finish: "total / f32(params[1])" })
}

// Bits of infinities, which WGSL has no word for.
fn amax(operator: OperatorHandle, arguments: &[Value<'_>]) -> Result<Option<Tensor>> {
    let join = "select(select(b, a, a > b || is_nan(a)), b, is_nan(b))";
    reduce(operator, arguments, &Fold { start: "bitcast<f32>(params[2])", join, finish: "total" })
}

fn amin(operator: OperatorHandle, arguments: &[Value<'_>]) -> Result<Option<Tensor>> {
    let join = "select(select(b, a, a < b || is_nan(a)), b, is_nan(b))";
    reduce(operator, arguments, &Fold { start: "-bitcast<f32>(params[2])", join, finish: "total" })
}

/// Whether all or any of a row of bools are true: by how many are, up to where float32 counts without gaps.
fn all_or_any(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<Tensor>> {
    let this = Arguments::new(operator, values).tensor(0)?;
    let count = 1..=1 << 24;
    if !is_here(this) || this.dtype() != DType::Bool || !count.contains(&this.numel()) || this.dim() > MOST {
        return Ok(None);
    }
    let meta = on_meta(operator, values)?;
    let dims = match values.get(1) {
        Some(Value::Ints(dims)) => dims.to_vec(),
        Some(Value::Int(dim)) => vec![*dim],
        _ => Vec::new(),
    };
    let Some(numbers) = of_type(this, DType::Float32)? else { return Ok(None) };
    let sums = aten::sum_dim_IntList::call(&numbers, Some(&dims), meta.dim() == this.dim(), None)?;
    let is_any = operator.name() == "any";
    let least = if is_any { 1 } else { this.numel() / meta.numel().max(1) };
    let found = aten::ge_Scalar(&sums, least.into())?;
    Ok((found.sizes() == meta.sizes()).then_some(found))
}

/// What happens with the elements of a row.
struct Fold {
    start: &'static str,
    join: &'static str,
    finish: &'static str,
}

/// The most dimensions.
const MOST: usize = 8;

fn reduce(operator: OperatorHandle, arguments: &[Value<'_>], fold: &Fold) -> Result<Option<Tensor>> {
    let Some(this) = arguments.first().and_then(Value::as_tensor) else { return Ok(None) };
    let has_dtype =
        arguments.iter().any(|argument| matches!(argument, Value::DType(dtype) if *dtype != DType::Float32));
    let is_ours = is_here(this) && is_small(this) && this.dtype() == DType::Float32 && this.dim() <= MOST;
    if !is_ours || has_dtype || this.numel() == 0 {
        return Ok(None);
    }
    let meta = on_meta(operator, arguments)?;
    let listed: &[i64] = match arguments.get(1) {
        Some(Value::Ints(dims)) => dims,
        _ => &[],
    };
    let dim = this.dim() as i64;
    let is_reduced =
        |at: usize| listed.is_empty() || listed.iter().any(|d| d.rem_euclid(dim.max(1)) == at as i64);
    let (reduced, kept): (Vec<usize>, Vec<usize>) = (0..this.dim()).partition(|at| is_reduced(*at));
    if !meta.is_contiguous(MemoryFormat::Contiguous) || meta.dtype() != DType::Float32 {
        return Ok(None);
    }
    let result = unwritten(&meta, index_of(this))?;
    let count: i64 = reduced.iter().map(|at| this.sizes()[*at]).product();
    let mut params =
        vec![meta.numel() as u32, count as u32, f32::NEG_INFINITY.to_bits(), this.storage_offset() as u32];
    for dims in [&kept, &reduced] {
        params.push(dims.len() as u32);
        for list in [this.sizes(), this.strides()] {
            params.extend((0..MOST).map(|at| dims.get(at).map_or(1, |dim| list[*dim] as u32)));
        }
    }
    let (source, target) = (this.storage().clone(), result.storage().clone());
    let (input, output) = (Memory::of(&source)?, Memory::of(&target)?);
    let groups = meta.numel() as u64;
    Launch {
        label: "reduce",
        source: &shader(fold),
        params: &params,
        params_type: WORDS,
        inputs: &[input],
        results: &[output],
        groups,
    }
    .run()?;
    Ok(Some(result))
}

fn shader(fold: &Fold) -> String {
    let Fold { start, join, finish } = fold;
    let (kept, reduced, sizes) = (4, 4 + 1 + 2 * MOST, MOST);
    format!(
        "var<workgroup> parts: array<f32, {THREADS}>;
fn join(a: f32, b: f32) -> f32 {{ return {join}; }}
fn place(number: u32, dims: u32) -> u32 {{
    var rest = number;
    var at = 0u;
    for (var dim = params[dims]; dim > 0u; dim--) {{
        let size = params[dims + dim];
        at += (rest % size) * params[dims + {sizes}u + dim];
        rest = rest / size;
    }}
    return at;
}}
@compute @workgroup_size({THREADS})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) thread: u32) {{
    let number = group_number(group, groups);
    let row = params[3] + place(min(number, params[0] - 1u), {kept}u);
    var mine = {start};
    for (var at = thread; at < params[1]; at += {THREADS}u) {{
        mine = join(mine, bitcast<f32>(in0[row + place(at, {reduced}u)]));
    }}
    parts[thread] = mine;
    for (var half = {THREADS}u / 2u; half > 0u; half = half / 2u) {{
        workgroupBarrier();
        if (thread < half) {{ parts[thread] = join(parts[thread], parts[thread + half]); }}
    }}
    if (thread == 0u && number < params[0]) {{
        let total = parts[0];
        result[number] = bitcast<u32>({finish});
    }}
}}
"
    )
}
