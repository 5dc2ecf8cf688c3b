"""Derivatives: a call that needs a gradient makes a PyTorch autograd node, whose formulas are operators that Rust exports."""

import torch


def _record(operator):
    """Implements the operator that records calls, and returns the function. It is called only if a gradient is needed."""
    _need("recorders")
    record = _after_recorder(operator) if operator["is_recorded_after"] else _passing_on(_recorder(operator))
    _implement(operator, record, "CompositeImplicitAutograd", _full_name(operator, operator["recorded"]))
    return record


def _differentiate(operator):
    """Records all calls of an operator, for when Rust cannot tell which of them need a gradient."""
    record = _lazily(lambda: _all_recorder(operator))
    _implement(operator, record, "Autograd")


def _all_recorder(operator):
    _need("layers")
    _define(operator)
    record, positional = _record(operator), _positional_with_defaults(operator)
    return lambda *args, **kwargs: record(*positional(args, kwargs))


def _check_write(operator, tensor):
    """Refuses, before the call, a write in place that PyTorch would refuse only after it."""
    base = tensor._base if tensor._is_view() else tensor
    if tensor.is_leaf and tensor.requires_grad or base.is_leaf and base.requires_grad:
        raise RuntimeError(
            f"{_full_name(operator)} writes to a leaf that requires grad, or to a view of one: call it under "
            "`torch.no_grad()`, or on a copy"
        )


def _written(operator):
    """The arguments that an operator writes to: their positions and names."""
    written, position = [], 0
    for argument in operator["arguments"]:
        if argument["is_written"]:
            written.append((position, argument["name"]))
        position += 3 if operator["flat"] and argument["kind"] == "number" else 1
    return written


def _refuse_to_write(operator):
    """Refuses writes that would make a gradient wrong, for when Rust cannot: PyTorch would not report them."""
    if not _written(operator):
        return
    call = _called(operator)

    def check(*args, **kwargs):
        if torch.is_grad_enabled() and torch._C._any_requires_grad(*args, **kwargs):
            raise RuntimeError(
                f"{_full_name(operator)} writes to an argument, one of its arguments requires grad, and it has no "
                "derivative in PyTorch: detach them, or use `torch.no_grad()`"
            )
        with torch._C._AutoDispatchBelowAutograd():
            return call(*args, **kwargs)

    _implement(operator, check, "Autograd")
