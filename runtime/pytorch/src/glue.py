"""What PyTorch lets only Python do for the operators of a Rust library: numbers in arguments, and derivatives.

The library carries this text and hands it out; its package runs it once (see `__init__.py` of the example).
"""

import ctypes
import functools
import json
import struct

import torch

_kept = []  # PyTorch takes back what a library object registered when the object goes


def load(path):
    """Loads a library, and returns the operators that it has handed to PyTorch, as they describe themselves."""
    torch.ops.load_library(path)
    library = ctypes.CDLL(path)
    library.torch_library_register()  # nothing, unless the library was loaded before PyTorch
    library.torch_library_describe.restype = ctypes.c_char_p
    operators = json.loads(library.torch_library_describe())
    _define_call()
    for operator in operators:
        if operator["flat"]:
            _flatten(operator)
        if operator["backward"]:
            _differentiate(operator)
        elif "CompositeImplicitAutograd" in operator["keys"]:
            pass  # it is made of operators that PyTorch differentiates
        elif any(argument["is_written"] for argument in operator["arguments"]):
            _refuse_to_write(operator)
        elif operator["is_view"]:
            _implement(operator, torch.library.fallthrough_kernel, "Autograd")  # PyTorch differentiates the view
    return operators


def report(path):
    """What of a library is not in PyTorch, and why: a line each."""
    library = ctypes.CDLL(path)
    library.torch_library_report.restype = ctypes.c_char_p
    return library.torch_library_report().decode().splitlines()


def _overload(operator, name=None):
    packet = getattr(getattr(torch.ops, operator["namespace"]), name or operator["name"])
    return getattr(packet, "default" if name else operator["overload"] or "default")


def _full_name(operator, name=None):
    if name:
        return f"{operator['namespace']}::{name}"
    dot = "." if operator["overload"] else ""
    return f"{operator['namespace']}::{operator['name']}{dot}{operator['overload']}"


# Numbers ------------------------------------------------------------------------------------------------------------


def _bits(value):
    return struct.unpack("<q", struct.pack("<d", value))[0]


def _number(value):
    """A number as its kind and the bits of one or two others, as three integers."""
    if value is None:
        return (0, 0, 0)
    if isinstance(value, bool):
        return (3, int(value), 0)
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise OverflowError(f"{value} does not fit into 64 bits")
        return (1, value, 0)
    if isinstance(value, complex):
        return (4, _bits(value.real), _bits(value.imag))
    if isinstance(value, torch.SymInt):
        return (1, value, 0)
    return (2, _bits(float(value)), 0)


def _flatten(operator):
    """Gives an operator with numbers a body: a call of its flat twin."""
    flat = _overload(operator, operator["flat"])
    arguments = operator["arguments"]
    defaults = {argument.name: argument.default_value for argument in _overload(operator)._schema.arguments}

    def body(*args, **kwargs):
        values = []
        for index, argument in enumerate(arguments):
            if index < len(args):
                value = args[index]
            else:
                value = kwargs.get(argument["name"], defaults[argument["name"]])
            if argument["kind"] == "number":
                values.extend(_number(value))
            else:
                values.append(value)
        return flat(*values)

    library = torch.library.Library(operator["namespace"], "FRAGMENT")
    library.impl(_full_name(operator).split("::")[1], body, "CompositeImplicitAutograd")
    _kept.append(library)


def _implement(operator, function, key):
    """Registers a function for the operator that kernels serve."""
    library = torch.library.Library(operator["namespace"], "FRAGMENT")
    library.impl(_full_name(operator, operator["flat"]).split("::")[1], function, key)
    _kept.append(library)


# Derivatives --------------------------------------------------------------------------------------------------------


def _differentiate(operator):
    """Registers the derivative: the operator that Rust exports for it, on what was saved."""
    backward = _overload(operator, operator["backward"])
    kinds = []
    for argument in operator["arguments"]:
        kinds.extend(["other"] * 3 if argument["kind"] == "number" else [argument["kind"]])
    by_name = [] if operator["flat"] else [a["name"] for a in operator["arguments"] if a["by_name"]]

    def setup_context(ctx, inputs, output, keyword_only_inputs=None):
        values = list(inputs) + [keyword_only_inputs[name] for name in by_name]
        saved, layout = [], []
        for kind, value in zip(kinds, values):
            if kind == "tensor":
                saved.append(value)
                layout.append(None)
            elif kind == "tensors" and value is not None:
                saved.extend(value)
                layout.append(len(value))
            else:
                layout.append((value,))
        results = [output] if isinstance(output, torch.Tensor) else list(output)
        ctx.layout, ctx.arguments, ctx.results = layout, len(saved), len(results)
        ctx.positional = len(inputs)
        ctx.is_list = len(results) == 1 and not isinstance(output, torch.Tensor)
        ctx.save_for_backward(*saved, *results)

    def run(ctx, *grads):
        saved = ctx.saved_tensors
        tensors, results = saved[: ctx.arguments], saved[ctx.arguments :]
        needs = ctx.needs_input_grad
        if len(grads) == 1 and isinstance(grads[0], (list, tuple)):
            grads = grads[0]
        values, wanted, spans, rest = [], [], [], iter(tensors)
        for index, (kind, place) in enumerate(zip(kinds, ctx.layout)):
            need = needs[index] if index < len(needs) else False
            if isinstance(place, tuple):
                values.append(place[0])
                spans.append(None)
                continue
            several = [next(rest) for _ in range(1 if place is None else place)]
            values.append(several[0] if place is None else several)
            start = len(wanted)
            for position, tensor in enumerate(several):
                if tensor is None:
                    continue  # Rust counts those that are there
                is_needed = need if isinstance(need, bool) else need[position]
                wanted.append(is_needed and tensor.is_floating_point() or is_needed and tensor.is_complex())
            spans.append((start, several, place is None))
        found = backward(*values, list(results), list(grads), wanted)
        gradients = []
        for span in spans[: ctx.positional]:
            if span is None:
                gradients.append(None)
                continue
            start, several, is_one = span
            own = []
            for tensor in several:
                own.append(None if tensor is None else found[start])
                start += tensor is not None
            gradients.append(own[0] if is_one else own)
        return tuple(gradients)

    name = _full_name(operator, operator["flat"])
    torch.library.register_autograd(name, run, setup_context=setup_context)


def _refuse_to_write(operator):
    """Refuses writes that a gradient would have to know of: PyTorch would go on without a word."""
    call = _overload(operator, operator["flat"])
    written, position = [], 0
    for argument in operator["arguments"]:
        if argument["is_written"]:
            written.append((position, argument["name"]))
        position += 3 if operator["flat"] and argument["kind"] == "number" else 1

    def check(*args, **kwargs):
        if torch.is_grad_enabled():
            for position, name in written:
                value = args[position] if position < len(args) else kwargs.get(name)
                for tensor in [value] if isinstance(value, torch.Tensor) else value or []:
                    if tensor is not None and tensor.requires_grad:
                        raise RuntimeError(
                            f"{_full_name(operator)} writes to `{name}`, which requires grad, and has no derivative "
                            "in PyTorch: detach it, or use `torch.no_grad()`"
                        )
        with torch._C._AutoDispatchBelowAutograd():
            return call(*args, **kwargs)

    _implement(operator, check, "Autograd")


# What Rust calls with numbers ---------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=4096)
def _compiled(operator, overload, arguments):
    namespace, name = operator.split("::")
    call = getattr(getattr(getattr(torch.ops, namespace), name), overload or "default")
    words = {"torch": torch, "float": float, "complex": complex, "__builtins__": {}}
    return call, eval(f"lambda call, t: call({arguments})", words)


def _call(operator, overload, arguments, tensors):
    call, run = _compiled(operator, overload, arguments)
    result = run(call, tensors)
    return [result] if isinstance(result, torch.Tensor) else list(result)


def _define_call():
    if hasattr(torch.ops.torch_library, "call"):
        return
    library = torch.library.Library("torch_library", "FRAGMENT")
    library.define("call(str operator, str overload, str arguments, Tensor[] tensors) -> Tensor[]")
    library.impl("call", _call, "CompositeImplicitAutograd")
    _kept.append(library)
