"""Operators that Rust calls and PyTorch's C functions do not: with numbers, or returns of several types."""

import functools

import torch


@functools.lru_cache(maxsize=4096)
def _compiled(operator, overload, arguments):
    namespace, name = operator.split("::")
    call = getattr(getattr(getattr(torch.ops, namespace), name), overload or "default")
    words = {"torch": torch, "float": float, "complex": complex, "__builtins__": {}}
    return call, eval(f"lambda call, t: call({arguments})", words)


def _call(operator, overload, arguments, tensors):
    call, run = _compiled(operator, overload, arguments)
    result = run(call, tensors)
    if isinstance(result, torch.Tensor):
        return [result]
    return [tensor for part in result for tensor in (part if isinstance(part, list) else [part])]


def _define_call():
    if hasattr(torch.ops.torch_library, "call"):
        return
    library = torch.library.Library("torch_library", "FRAGMENT")
    library.define("call(str operator, str overload, str arguments, Tensor[] tensors) -> Tensor[]")
    for key in ("CompositeImplicitAutograd", "FuncTorchBatchedDecomposition"):
        library.impl("call", _passing_on(_call), key)
    _kept.append(library)
