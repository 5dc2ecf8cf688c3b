//! Copies between strides and types, and filling.

use torch_library::prelude::*;
use torch_library_kernels::aten;

use crate::call::{Wgpu, is_here, is_small};
use crate::launch::{Launch, Parameters, THREADS};
use crate::memory::{Memory, WORD};
use crate::pointwise::{of_type, words_of};
use crate::shader::Shader;
use torch_library_gpu::{DIMS, KernelBuilder, held};

#[torch_impl(aten, PrivateUse2, boxed)]
mod kernels {
    use super::*;

    fn copy_(operator: OperatorHandle, _: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
        let arguments = operator.arguments(stack)?;
        let (Some(to), Some(from)) = (arguments[0].as_tensor(), arguments[1].as_tensor()) else {
            bail!(Internal, "{operator} of something other than tensors")
        };
        let leases = held::<Wgpu>(arguments)?;
        let is_copied = copy(to, from)?;
        drop(leases); // before another kernel takes its own
        match is_copied {
            true => super::keep_first(operator, stack),
            // The kernel that every backend has, which goes through the host if copying bytes is not enough.
            false => operator.call_boxed_for_key(DispatchKey::CompositeExplicitAutograd, stack),
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
        let leases = held::<Wgpu>(arguments)?;
        let is_filled = match (arguments[0].as_tensor(), number) {
            (Some(tensor), Some(number)) => fill(tensor, number)?,
            _ => false,
        };
        drop(leases);
        match is_filled {
            true => super::keep_first(operator, stack),
            false => torch_library::backend::cpu_fallback(operator, keys, stack),
        }
    }
}

/// Pushes the first argument as the result of the call.
fn keep_first(operator: OperatorHandle, stack: &mut Stack<'_>) -> Result<()> {
    let arguments = operator.take_arguments(stack)?;
    stack.extend(arguments.into_iter().take(1));
    Ok(())
}

/// A tensor as words: a type with more than one word per element adds a dimension.
struct Words {
    sizes: Vec<i64>,
    strides: Vec<i64>,
    offset: i64,
}

impl Words {
    /// The words of a tensor that is expanded to other sizes, with these strides.
    fn of(tensor: &Tensor, sizes: &[i64], strides: &[i64]) -> Words {
        let count = (tensor.dtype().size() / WORD).max(1) as i64;
        let (mut sizes, mut strides) = (sizes.to_vec(), strides.to_vec());
        if count > 1 {
            strides.iter_mut().for_each(|stride| *stride *= count);
            sizes.push(count);
            strides.push(1);
        }
        Words { sizes, strides, offset: tensor.storage_offset() * count }
    }
}

/// The strides of a tensor that is expanded to these sizes, if it broadcasts to them.
fn broadcast(from: &Tensor, sizes: &[i64]) -> Option<Vec<i64>> {
    let missing = sizes.len().checked_sub(from.dim())?;
    let mut strides = vec![0; missing];
    for (dim, size) in from.sizes().iter().enumerate() {
        match (*size, sizes[missing + dim]) {
            (size, wanted) if size == wanted => strides.push(from.strides()[dim]),
            (1, _) => strides.push(0),
            _ => return None,
        }
    }
    Some(strides)
}

/// Copies elements, if they consist of words and are on the same device.
pub(crate) fn copy(to: &Tensor, from: &Tensor) -> Result<bool> {
    let are_here = [to, from].into_iter().all(|tensor| is_here(tensor) && is_small(tensor));
    let (target, source) = (to.storage().clone(), from.storage().clone());
    let is_apart = !target.is_same(&source) && !to.has_internal_overlap();
    if !are_here || !is_apart || to.device() != from.device() {
        return Ok(false);
    }
    let Some(strides) = broadcast(from, to.sizes()) else { return Ok(false) }; // the fallback reports the error
    if from.dtype() != to.dtype() {
        return of_type(from, to.dtype())?.map_or(Ok(false), |from| copy(to, &from));
    }
    if !from.dtype().size().is_multiple_of(WORD) {
        return copy_bytes(to, from);
    }
    let target_words = Words::of(to, to.sizes(), to.strides());
    let source_words = Words::of(from, to.sizes(), &strides);
    if target_words.sizes.len() > DIMS {
        return Ok(false);
    }
    let params = params(&target_words, Some(&source_words));
    let (source, target) = (Memory::of(&source)?, Memory::of(&target)?);
    run("copy", &scattering("result[place] = in0[source];"), &params, &[source], target)?;
    Ok(true)
}

/// Copies elements smaller than a word to a whole storage; each thread writes the elements of one word.
fn copy_bytes(to: &Tensor, from: &Tensor) -> Result<bool> {
    let (size, count) = (to.dtype().size(), to.numel());
    let is_whole = to.storage_offset() == 0 && to.storage().nbytes() as i64 == count * size as i64;
    let is_ours = is_whole && to.is_contiguous(MemoryFormat::Contiguous) && to.dim() <= DIMS;
    let Some(strides) = broadcast(from, to.sizes()).filter(|_| is_ours) else { return Ok(false) };
    let words = (count * size as i64 + WORD as i64 - 1) / WORD as i64;
    Shader::new("copy of bytes")
        .number("elements", count)
        .number("size", size as i64)
        .number("mask", (1 << (8 * size)) - 1)
        .number("offset", from.storage_offset())
        .sizes(to.sizes())
        .strides("x", &strides)
        .input_bytes("x", from)
        .result_bytes("y", to)
        .threads(
            words,
            "    var word = 0u;
    for (var part = 0u; part * p.size < 4u; part++) {
        let at = n * (4u / p.size) + part;
        if (at < p.elements) {
            let byte = (p.offset + x_place(at)) * p.size;
            word |= ((x(byte >> 2u) >> (8u * (byte & 3u))) & p.mask) << (8u * p.size * part);
        }
    }
    set_y(n, word);",
        )?;
    Ok(true)
}

/// Writes a number to all elements, which consist of words.
fn fill(to: &Tensor, number: Scalar) -> Result<bool> {
    let target = Words::of(to, to.sizes(), to.strides());
    let is_ours = is_here(to) && is_small(to) && target.sizes.len() <= DIMS && !to.has_internal_overlap();
    let is_words = matches!(to.dtype(), DType::Float32 | DType::Float64 | DType::Int32 | DType::Int64);
    let Some(words) = words_of(number, to.dtype()).filter(|_| is_ours && is_words) else {
        return fill_bytes(to, number);
    };
    let mut params = params(&target, None);
    let (place, count) = (params.len(), words.len());
    params.extend(words);
    let storage = to.storage().clone();
    let write = format!("result[place] = params[{place}u + number % {count}u];");
    run("fill", &scattering(&write), &params, &[], Memory::of(&storage)?)?;
    Ok(true)
}

/// Writes a bool to all elements of a whole storage.
fn fill_bytes(to: &Tensor, number: Scalar) -> Result<bool> {
    let (Scalar::Bool(_) | Scalar::Int(_), DType::Bool) = (number, to.dtype()) else { return Ok(false) };
    let is_all = is_here(to)
        && to.is_contiguous(MemoryFormat::Contiguous)
        && to.storage_offset() == 0
        && to.storage().nbytes() as i64 == to.numel();
    if !is_all || !is_small(to) {
        return Ok(false);
    }
    let word = if number == Scalar::Bool(true) || number.to::<i64>().is_ok_and(|x| x != 0) {
        0x0101_0101
    } else {
        0
    };
    let count = to.numel().div_euclid(WORD as i64) + i64::from(to.numel() % WORD as i64 != 0);
    let words = Words { sizes: vec![count], strides: vec![1], offset: 0 };
    let mut params = params(&words, None);
    params.push(word);
    let place = params.len() - 1;
    let storage = to.storage().clone();
    let write = format!("result[place] = params[{place}];");
    run("fill", &scattering(&write), &params, &[], Memory::of(&storage)?)?;
    Ok(true)
}

/// The parameters of a copy: the numbers of words and of dimensions, the sizes, and the offset and strides of target
/// and source.
fn params(to: &Words, from: Option<&Words>) -> Vec<u32> {
    let mut params = vec![to.sizes.iter().product::<i64>() as u32, to.sizes.len() as u32];
    let padded = |list: &[i64]| {
        let mut words = [1; DIMS];
        words.iter_mut().zip(list).for_each(|(word, number)| *word = *number as u32);
        words
    };
    params.extend(padded(&to.sizes));
    params.push(to.offset as u32);
    params.extend(padded(&to.strides));
    params.push(from.map_or(0, |from| from.offset as u32));
    params.extend(padded(from.map_or(&[], |from| &from.strides)));
    params
}

/// A shader that runs `write` for each element of the target, with its position there and in the source.
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
        target = 2 + DIMS,
        source = 3 + 2 * DIMS,
    )
}

/// Runs a shader on as many words as the first parameter.
fn run(label: &str, source: &str, params: &[u32], inputs: &[&Memory], result: &Memory) -> Result<()> {
    let groups = u64::from(params[0]).div_ceil(u64::from(THREADS));
    Launch { label, source, params, params_are: Parameters::Numbered, inputs, results: &[result], groups }
        .run()
}
