//! Copies between strides and types, and filling.

use torch_library::prelude::*;
use torch_library_kernels::aten;

use crate::call::{is_here, is_small};
use crate::launch::{Launch, THREADS};
use crate::memory::Memory;
use crate::pointwise::word_of;

#[torch_impl(aten, PrivateUse2, boxed)]
mod kernels {
    use super::*;

    fn copy_(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
        let arguments = operator.arguments(stack)?;
        let (Some(to), Some(from)) = (arguments[0].as_tensor(), arguments[1].as_tensor()) else {
            bail!(Internal, "{operator} of something else than tensors")
        };
        match copy(to, from)? {
            true => super::keep_first(operator, stack),
            // What every backend has, by way of the host where bytes are not enough.
            false => {
                let _ = keys;
                operator.call_boxed_for_key(DispatchKey::CompositeExplicitAutograd, stack)
            }
        }
    }

    fn fill__Scalar(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
        let arguments = operator.arguments(stack)?;
        let number = match arguments[1] {
            Value::Int(x) => Some(Scalar::Int(x)),
            Value::Float(x) => Some(Scalar::Float(x)),
            Value::Bool(x) => Some(Scalar::Bool(x)),
            _ => None,
        };
        match (arguments[0].as_tensor(), number) {
            (Some(tensor), Some(number)) if fill(tensor, number)? => super::keep_first(operator, stack),
            _ => torch_library::backend::cpu_fallback(operator, keys, stack),
        }
    }
}

/// Leaves the first argument as what the call returns.
fn keep_first(operator: OperatorHandle, stack: &mut Stack<'_>) -> Result<()> {
    let arguments = operator.take_arguments(stack)?;
    stack.extend(arguments.into_iter().take(1));
    Ok(())
}

/// The most dimensions that a shader counts through.
const MOST: usize = 8;

/// Writes elements, if they are words on one device.
fn copy(to: &Tensor, from: &Tensor) -> Result<bool> {
    let is_word = |tensor: &Tensor| matches!(tensor.dtype(), DType::Float32 | DType::Int32);
    let is_ours = [to, from].into_iter().all(|tensor| is_here(tensor) && is_small(tensor))
        && is_word(to)
        && (is_word(from) || from.dtype() == DType::Bool)
        && to.dim() <= MOST
        && from.dim() <= to.dim();
    let (target, source) = (to.storage().clone(), from.storage().clone());
    if !is_ours || target.is_same(&source) || to.device() != from.device() || to.has_internal_overlap() {
        return Ok(false);
    }
    let missing = to.dim() - from.dim();
    let mut strides = vec![0; missing];
    for (dim, size) in from.sizes().iter().enumerate() {
        match (*size, to.sizes()[missing + dim]) {
            (size, wanted) if size == wanted => strides.push(from.strides()[dim]),
            (1, _) => strides.push(0),
            _ => return Ok(false), // refused by who copies then
        }
    }
    let value = match (from.dtype(), to.dtype()) {
        (DType::Bool, DType::Float32) => "bitcast<u32>(select(0.0, 1.0, byte_at(source)))",
        (DType::Bool, _) => "select(0u, 1u, byte_at(source))",
        (from, to) if from == to => "in0[source]",
        (DType::Int32, _) => "bitcast<u32>(f32(bitcast<i32>(in0[source])))",
        _ => return Ok(false), // what is out of the range of integers, processors differ in
    };
    let source_text = format!(
        "fn byte_at(at: u32) -> bool {{ return ((in0[at >> 2u] >> ((at & 3u) * 8u)) & 255u) != 0u; }}
{}",
        scattering(&format!("result[place] = {value};"))
    );
    let params = params(to, Some((from.storage_offset(), &strides)));
    let (source, target) = (Memory::of(&source)?, Memory::of(&target)?);
    run("copy", &source_text, &params, &[source], target, to)?;
    Ok(true)
}

/// Writes a number to elements that are words.
fn fill(to: &Tensor, number: Scalar) -> Result<bool> {
    let word = match (number, to.dtype()) {
        (Scalar::Float(_), DType::Int32) => None, // truncated, or refused, as the CPU does
        (number, DType::Float32 | DType::Int32) => word_of(number, to.dtype()),
        _ => None,
    };
    let Some(word) =
        word.filter(|_| is_here(to) && is_small(to) && to.dim() <= MOST && !to.has_internal_overlap())
    else {
        return Ok(false);
    };
    let mut params = params(to, None);
    params.push(word);
    let place = params.len() - 1;
    let storage = to.storage().clone();
    run(
        "fill",
        &scattering(&format!("result[place] = params[{place}];")),
        &params,
        &[],
        Memory::of(&storage)?,
        to,
    )?;
    Ok(true)
}

/// The number of elements and of dimensions, sizes, and of the target and the source offset and strides.
fn params(to: &Tensor, from: Option<(i64, &[i64])>) -> Vec<u32> {
    let mut params = vec![to.numel() as u32, to.dim() as u32];
    let padded = |list: &[i64]| {
        let mut words = [1; MOST];
        words.iter_mut().zip(list).for_each(|(word, number)| *word = *number as u32);
        words
    };
    params.extend(padded(to.sizes()));
    params.push(to.storage_offset() as u32);
    params.extend(padded(to.strides()));
    let (offset, strides) = from.unwrap_or((0, &[]));
    params.push(offset as u32);
    params.extend(padded(strides));
    params
}

/// A shader that comes to each element of the target, with its place there and in the source.
fn scattering(write: &str) -> String {
    format!(
        "@compute @workgroup_size({THREADS})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) thread: u32) {{
    let number = group_number(group, groups) * {THREADS}u + thread;
    if (number >= params[0]) {{ return; }}
    var rest = number;
    var place = params[{target}];
    var source = params[{source}];
    for (var dim = params[1]; dim > 0u; dim--) {{
        let size = params[1u + dim];
        let at = rest % size;
        rest = rest / size;
        place += at * params[{target}u + dim];
        source += at * params[{source}u + dim];
    }}
    {write}
}}
",
        target = 2 + MOST,
        source = 3 + 2 * MOST,
    )
}

fn run(
    label: &str,
    source: &str,
    params: &[u32],
    inputs: &[&Memory],
    result: &Memory,
    to: &Tensor,
) -> Result<()> {
    let groups = (to.numel() as u64).div_ceil(u64::from(THREADS));
    Launch { label, source, params, inputs, result, groups }.run()
}
