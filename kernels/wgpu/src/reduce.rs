//! Sums, means and extremes over dimensions: a workgroup for each element of the result.
//!
//! The heads are of this backend alone: what is found out about a call is for chains of calls that are fused, too, which end in
//! such a reduction.

use torch_library::prelude::*;
use torch_library_kernels::aten;

use crate::call::{Wgpu, is_here, kernels};
use crate::fold::{self, Fold};
use crate::launch::{Launch, THREADS, WORDS};
use crate::memory::Memory;
use crate::pointwise::of_type;
use torch_library_gpu::{Arguments, DIMS, Tensors, index_of, on_meta};

kernels! {
    super::folded: sum sum_dim_IntList mean mean_dim amax amin;
    super::all_or_any: all all_dim all_dims any any_dim any_dims;
}

fn folded(operator: OperatorHandle, arguments: &[Value<'_>]) -> Result<Option<Tensor>> {
    let Some(known) = known(operator, arguments)? else { return Ok(None) };
    let Some(this) = arguments.first().and_then(Value::as_tensor).filter(|this| Wgpu::is_float(this)) else {
        return Ok(None);
    };
    reduce(&known, this)
}

/// Whether all or any of a row of bools are true: by how many are, up to where float32 counts without gaps.
fn all_or_any(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<Tensor>> {
    let this = Arguments::new(operator, values).tensor(0)?;
    let count = 1..=1 << 24;
    if !is_here(this) || this.dtype() != DType::Bool || !count.contains(&this.numel()) || this.dim() > DIMS {
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

/// A call that there is a fold for.
pub(crate) struct Known {
    pub(crate) fold: &'static Fold,
    /// The dimensions that stay, and those that do not.
    pub(crate) kept: Vec<usize>,
    pub(crate) reduced: Vec<usize>,
    /// How many elements a row has.
    pub(crate) count: i64,
    /// The result, without elements.
    pub(crate) meta: Tensor,
}

/// What is computed for such arguments, of which the tensor may be on `meta`; nothing where there is no kernel for that.
pub(crate) fn known(operator: OperatorHandle, arguments: &[Value<'_>]) -> Result<Option<Known>> {
    let (Some(fold), Some(this)) = (fold::of(operator), arguments.first().and_then(Value::as_tensor)) else {
        return Ok(None);
    };
    let has_dtype =
        arguments.iter().any(|argument| matches!(argument, Value::DType(dtype) if *dtype != DType::Float32));
    if this.dtype() != DType::Float32 || this.dim() > DIMS || has_dtype || this.numel() == 0 {
        return Ok(None);
    }
    let meta = on_meta(operator, arguments)?;
    if !meta.is_contiguous(MemoryFormat::Contiguous) || meta.dtype() != DType::Float32 {
        return Ok(None);
    }
    let listed: &[i64] = match arguments.get(1) {
        Some(Value::Ints(dims)) => dims,
        _ => &[],
    };
    let dim = this.dim() as i64;
    let is_reduced =
        |at: &usize| listed.is_empty() || listed.iter().any(|d| d.rem_euclid(dim.max(1)) == *at as i64);
    let (reduced, kept): (Vec<usize>, Vec<usize>) = (0..this.dim()).partition(is_reduced);
    let count = reduced.iter().map(|at| this.sizes()[*at]).product();
    Ok(Some(Known { fold, kept, reduced, count, meta }))
}

fn reduce(known: &Known, this: &Tensor) -> Result<Option<Tensor>> {
    let Known { fold, kept, reduced, count, meta } = known;
    let result = Wgpu::unwritten(meta, index_of(this))?;
    let mut params =
        vec![meta.numel() as u32, *count as u32, f32::NEG_INFINITY.to_bits(), this.storage_offset() as u32];
    for dims in [kept, reduced] {
        params.push(dims.len() as u32);
        for list in [this.sizes(), this.strides()] {
            params.extend((0..DIMS).map(|at| dims.get(at).map_or(1, |dim| list[*dim] as u32)));
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
    let (kept, reduced, sizes) = (4, 4 + 1 + 2 * DIMS, DIMS);
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
    let count = params[1];
    let LOWEST = bitcast<f32>(params[2]);
    var mine = {start};
    for (var at = thread; at < count; at += {THREADS}u) {{
        mine = join(mine, bitcast<f32>(in0[row + place(at, {reduced}u)]));
    }}
    parts[thread] = mine;
{}
}}
",
        fold::end(finish)
    )
}
