//! Lazy bits: tensors that are conjugated, negated or zero without having such elements in memory.
//!
//! A *bit* is a key of the tensor, and a view may differ from its base in this bit, so conjugating a tensor copies
//! nothing. Kernels need not know about it: the fallbacks here pass them tensors without the bit, and write their
//! results back to memory.
//!
//! PyTorch: `MathBitsFallback.h`, `ZeroTensorFallback.cpp`.

use crate::error::{Error, ErrorKind, Result};
use crate::guard::AutoDispatchBelowADInplaceOrView;
use crate::key::{DispatchKey, DispatchKeySet};
use crate::operator::OperatorHandle;
use crate::registry::{LayerKernel, call_for};
use crate::tensor::Tensor;
use crate::value::{Stack, Value};

/// The conjugate bit, of complex tensors.
pub(crate) const CONJUGATE: LayerKernel =
    LayerKernel { key: DispatchKey::Conjugate, kernel: conjugate, name: "conjugate" };

/// The negative bit, of signed tensors.
pub(crate) const NEGATIVE: LayerKernel =
    LayerKernel { key: DispatchKey::Negative, kernel: negative, name: "negate" };

/// The zero bit, of tensors without memory.
pub(crate) const ZERO: LayerKernel =
    LayerKernel { key: DispatchKey::ZeroTensor, kernel: zero, name: "make zeros" };

fn conjugate(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    fallback(operator, keys, stack, DispatchKey::Conjugate)
}

fn negative(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    fallback(operator, keys, stack, DispatchKey::Negative)
}

fn zero(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    fallback(operator, keys, stack, DispatchKey::ZeroTensor)
}

fn fallback(
    operator: OperatorHandle,
    keys: DispatchKeySet,
    stack: &mut Stack<'_>,
    bit: DispatchKey,
) -> Result<()> {
    let below = keys & DispatchKeySet::full_after(bit);
    let schema = operator.schema()?;
    // A view of a tensor with the bit has it as well.
    let is_view = schema.has_alias_info() && !schema.is_mutable();
    if is_view || operator.tags().contains(&"inplace_view") {
        return operator.redispatch_boxed(below, stack);
    }
    // A batched or a functional tensor has the bit because its value has it. The value is resolved once, where the
    // layer calls the operator on it; otherwise it would be conjugated twice.
    if below.has(DispatchKey::FuncTorchDynamicLayerBackMode) || below.has(DispatchKey::Functionalize) {
        return operator.redispatch_boxed(below, stack);
    }
    let mut arguments = operator.take_arguments(stack)?;
    let mut written = None;
    for (index, (argument, value)) in schema.arguments.iter().zip(&mut arguments).enumerate() {
        if !value.all_tensors().any(|tensor| has(tensor, bit)) {
            continue;
        }
        let resolved = value.map_tensors(|tensor| resolved(tensor, bit))?.into_owned();
        let original = std::mem::replace(value, resolved);
        if argument.is_mutable() {
            let is_one = written.is_none() && original.as_tensor().is_some();
            if !is_one || bit == DispatchKey::ZeroTensor {
                return Err(cannot_write(operator, bit));
            }
            written = value.as_tensor().cloned().map(|resolved| (index, original, resolved));
        }
    }
    arguments.into_iter().for_each(|argument| stack.push(argument));
    operator.redispatch_boxed(below, stack)?;
    let Some((index, mut original, resolved)) = written else { return Ok(()) };
    write_back(&mut original, resolved, bit)?;
    let returned =
        (0..schema.returns.len()).find(|ret| operator.operator().returned_argument(*ret) == Some(index));
    if let Some(position) = returned {
        stack.last_mut(schema.returns.len())[position] = original;
    }
    Ok(())
}

fn has(tensor: &Tensor, bit: DispatchKey) -> bool {
    tensor.key_set().has(bit)
}

/// A view of the same memory with the bit flipped.
///
/// PyTorch: `Tensor::_set_conj`, `Tensor::_set_neg`.
fn turned(tensor: &Tensor, bit: DispatchKey) -> Tensor {
    let keys = tensor.key_set();
    tensor.with_key_set(if keys.has(bit) { keys.remove(bit) } else { keys.add(bit) })
}

/// A tensor with the same elements but without the bit, laid out as a copy would be.
fn resolved(tensor: &Tensor, bit: DispatchKey) -> Result<Tensor> {
    if !has(tensor, bit) {
        return Ok(tensor.clone());
    }
    let elements = apply(&turned(tensor, bit), bit)?;
    // An element-wise operator chooses the strides of dimensions of size 1 itself, a copy keeps them.
    if tensor.is_non_overlapping_and_dense() && !elements.is_wrapper() {
        return elements.strided_view(tensor.sizes(), tensor.strides(), elements.storage_offset());
    }
    Ok(elements)
}

/// Computes the operation that the bit stands for.
fn apply(tensor: &Tensor, bit: DispatchKey) -> Result<Tensor> {
    let name = match bit {
        DispatchKey::Conjugate => "aten::conj_physical",
        DispatchKey::Negative => "aten::neg",
        _ => "aten::zeros_like",
    };
    call(name, [tensor.into()])
}

fn write_back(original: &mut Value<'_>, resolved: Tensor, bit: DispatchKey) -> Result<()> {
    let elements = apply(&resolved, bit)?;
    for tensor in original.tensors_mut() {
        let mut memory = turned(tensor, bit);
        call("aten::copy_", [(&mut memory).into(), (&elements).into()])?;
    }
    Ok(())
}

fn call<'v>(name: &str, arguments: impl IntoIterator<Item = Value<'v>>) -> Result<Tensor> {
    let _below = AutoDispatchBelowADInplaceOrView::new();
    call_for("computing the elements of a lazy tensor", name, arguments)
}

#[cold]
fn cannot_write(operator: OperatorHandle, bit: DispatchKey) -> Error {
    let message = match bit {
        DispatchKey::ZeroTensor => {
            format!(
                "{operator} cannot write to a tensor of zeros that has no memory\n  \
                 help: write to a copy, which has memory of its own"
            )
        }
        _ => format!(
            "{operator} writes to several tensors, and one of them is lazy: its {bit} bit is set\n  \
             help: write to the tensors that `resolve_conj` and `resolve_neg` return"
        ),
    };
    Error::new(ErrorKind::NotSupported, message)
}
