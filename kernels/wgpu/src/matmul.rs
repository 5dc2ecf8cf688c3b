//! Products of matrices by tiles, for operands of any strides: a workgroup computes a square of the result.

use torch_library::prelude::*;
use torch_library_kernels::aten;

use crate::call::{index_of, is_here, is_small, kernels, on_meta, unwritten};
use crate::launch::Launch;
use crate::memory::Memory;

kernels! {
    super::product: mm bmm;
    super::sum_with_product: addmm baddbmm;
}

/// The side of a tile.
const TILE: u32 = 16;

fn product(operator: OperatorHandle, arguments: &[Value<'_>]) -> Result<Option<Tensor>> {
    let (Some(left), Some(right)) = (tensor(arguments, 0), tensor(arguments, 1)) else { return Ok(None) };
    multiply(operator, arguments, [left, right], None)
}

/// `beta * self + alpha * left @ right`
fn sum_with_product(operator: OperatorHandle, arguments: &[Value<'_>]) -> Result<Option<Tensor>> {
    let (Some(this), Some(left), Some(right)) =
        (tensor(arguments, 0), tensor(arguments, 1), tensor(arguments, 2))
    else {
        return Ok(None);
    };
    let factor = |at: usize| match arguments.get(at) {
        Some(Value::Int(x)) => Some(*x as f32),
        Some(Value::Float(x)) => Some(*x as f32),
        _ => None,
    };
    let (Some(beta), Some(alpha)) = (factor(3), factor(4)) else { return Ok(None) };
    multiply(operator, arguments, [left, right], Some((this, beta, alpha)))
}

fn tensor<'a>(arguments: &'a [Value<'_>], at: usize) -> Option<&'a Tensor> {
    let is_ours = |tensor: &&Tensor| is_here(tensor) && is_small(tensor) && tensor.dtype() == DType::Float32;
    arguments.get(at)?.as_tensor().filter(is_ours)
}

fn multiply(
    operator: OperatorHandle,
    arguments: &[Value<'_>],
    [left, right]: [&Tensor; 2],
    summand: Option<(&Tensor, f32, f32)>,
) -> Result<Option<Tensor>> {
    let meta = on_meta(operator, arguments)?;
    let is_ours =
        meta.dtype() == DType::Float32 && meta.is_contiguous(MemoryFormat::Contiguous) && is_small(&meta);
    if !is_ours || left.numel() == 0 || right.numel() == 0 {
        return Ok(None);
    }
    let result = unwritten(&meta, index_of(left))?;
    let [batch, rows, columns] = last_three(meta.sizes(), 1);
    let inner = left.sizes()[left.dim() - 1] as u32;
    let strides = |tensor: &Tensor| {
        let [batch, row, column] = last_three(tensor.strides(), 0);
        [tensor.storage_offset() as u32, batch, row, column]
    };
    let mut params = vec![batch, rows, columns, inner];
    params.extend(strides(left));
    params.extend(strides(right));
    let (this, beta, alpha) =
        summand.map_or((None, 0.0, 1.0), |(this, beta, alpha)| (Some(this), beta, alpha));
    params.extend([beta.to_bits(), alpha.to_bits()]);
    if let Some(this) = this {
        params.extend(strides(&expanded(this, meta.sizes())?));
    }
    let is_added = this.is_some() && beta != 0.0; // what is not added may be no number
    let storages: Vec<_> = [left, right]
        .into_iter()
        .chain(this.filter(|_| is_added))
        .map(|tensor| tensor.storage().clone())
        .collect();
    let inputs = storages.iter().map(Memory::of).collect::<Result<Vec<_>>>()?;
    let target = result.storage().clone();
    let groups = u64::from(batch) * u64::from(rows.div_ceil(TILE)) * u64::from(columns.div_ceil(TILE));
    let source = shader(is_added);
    Launch {
        label: "matmul",
        source: &source,
        params: &params,
        inputs: &inputs,
        result: Memory::of(&target)?,
        groups,
    }
    .run()?;
    Ok(Some(result))
}

/// Batch, rows and columns.
fn last_three(list: &[i64], missing: u32) -> [u32; 3] {
    let mut three = [missing; 3];
    three.iter_mut().rev().zip(list.iter().rev()).for_each(|(word, number)| *word = *number as u32);
    three
}

fn expanded(this: &Tensor, sizes: &[i64]) -> Result<Tensor> {
    let missing = sizes.len() - this.dim();
    let stride = |dim: usize| match dim.checked_sub(missing) {
        Some(own) if this.sizes()[own] == sizes[dim] => this.strides()[own],
        _ => 0,
    };
    this.strided_view(sizes, &(0..sizes.len()).map(stride).collect::<Vec<_>>(), this.storage_offset())
}

fn shader(is_added: bool) -> String {
    let value = match is_added {
        true => {
            "let own = bitcast<f32>(in2[params[14] + batch * params[15] + row * params[16] + column * params[17]]);
        let value = bitcast<f32>(params[12]) * own + bitcast<f32>(params[13]) * sum;"
        }
        false => "let value = bitcast<f32>(params[13]) * sum;",
    };
    format!(
        "var<workgroup> left: array<array<f32, {TILE}>, {TILE}>;
var<workgroup> right: array<array<f32, {TILE}>, {TILE}>;
@compute @workgroup_size({TILE}, {TILE})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_id) thread: vec3<u32>) {{
    let tiles = (params[2] + {TILE}u - 1u) / {TILE}u;
    let high = (params[1] + {TILE}u - 1u) / {TILE}u;
    let number = group_number(group, groups);
    let batch = number / (tiles * high);
    let row = (number / tiles) % high * {TILE}u + thread.y;
    let column = number % tiles * {TILE}u + thread.x;
    let is_there = batch < params[0];
    var sum = 0.0;
    for (var start = 0u; start < params[3]; start += {TILE}u) {{
        let along = start + thread.x;
        let down = start + thread.y;
        var x = 0.0;
        var y = 0.0;
        if (is_there && row < params[1] && along < params[3]) {{
            x = bitcast<f32>(in0[params[4] + batch * params[5] + row * params[6] + along * params[7]]);
        }}
        if (is_there && column < params[2] && down < params[3]) {{
            y = bitcast<f32>(in1[params[8] + batch * params[9] + down * params[10] + column * params[11]]);
        }}
        left[thread.y][thread.x] = x;
        right[thread.y][thread.x] = y;
        workgroupBarrier();
        for (var i = 0u; i < {TILE}u; i++) {{ sum += left[thread.y][i] * right[i][thread.x]; }}
        workgroupBarrier();
    }}
    if (is_there && row < params[1] && column < params[2]) {{
        {value}
        result[(batch * params[1] + row) * params[2] + column] = bitcast<u32>(value);
    }}
}}
"
    )
}
