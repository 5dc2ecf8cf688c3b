"""Calls of operators that PyTorch's C functions cannot call: with scalars, or with returns of several types."""

import functools
import threading

import torch

_told = threading.local()


@functools.lru_cache(maxsize=4096)
def _compiled(operator, overload, arguments):
    namespace, name = operator.split("::")
    call = getattr(getattr(getattr(torch.ops, namespace), name), overload or "default")
    words = {"torch": torch, "float": float, "complex": complex, "__builtins__": {}}
    return call, eval(f"lambda call, t: call({arguments})", words)


def _call(operator, overload, arguments, tensors):
    call, run = _compiled(operator, overload, arguments)
    result = run(call, tensors)
    parts = result if len(call._schema.returns) > 1 else (result,)
    _told.returns = "\n".join(map(_as_text, parts))
    lists = [part if isinstance(part, list) else [part] for part in parts]
    return [tensor for part in lists for tensor in part if isinstance(tensor, torch.Tensor)]


def _as_text(part):
    """A line that describes a return of the last call: its kind, and its value unless it is a tensor."""
    if part is None or isinstance(part, torch.Tensor):
        return "n" if part is None else "t"
    if isinstance(part, list):
        return f"l{len(part)}" if all(isinstance(tensor, torch.Tensor) for tensor in part) else "other"
    if isinstance(part, str):
        return "s" + part.encode().hex()
    kinds = ((bool, "b", int), (int, "i", int), (float, "f", _bits))
    return next((f"{kind}{value(part)}" for of, kind, value in kinds if isinstance(part, of)), "other")


def _define_call():
    if torch._C._dispatch_has_kernel("torch_library::call"):  # looking up a missing operator would take milliseconds
        return
    _need("numbers")
    library = torch.library.Library("torch_library", "FRAGMENT")
    library.define("call(str operator, str overload, str arguments, Tensor[] tensors) -> Tensor[]")
    library.define("told() -> str")
    for key in ("CompositeImplicitAutograd", "FuncTorchBatchedDecomposition"):
        library.impl("call", _passing_on(_call), key)
    library.impl("told", lambda: _told.returns, "CompositeImplicitAutograd")
    _kept.append(library)
