"""`Scalar` arguments, which PyTorch's C functions do not pass: each is flattened to three integers."""

import struct

import torch


def _bits(value):
    return struct.unpack("<q", struct.pack("<d", value))[0]


def _number(value):
    """A number as three integers: its kind, and the bits of one number or, for complex, of two."""
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
    """Implements an operator with scalars by a call of its flat variant."""
    body = _lazily(lambda: _body(operator))
    for key in ("CompositeImplicitAutograd", "FuncTorchBatchedDecomposition"):
        _implement(operator, body, key, _full_name(operator))


def _body(operator):
    flat, values_of = _overload(operator, operator["flat"]), _values(operator)
    return lambda *args, **kwargs: flat(*values_of(args, kwargs))


def _values(operator):
    """A function that turns a call's arguments into those of auxiliary operators: positional, with scalars flattened."""
    arguments = operator["arguments"]
    schema = _overload(operator)._schema.arguments
    defaults = {argument.name: argument.default_value for argument in schema if argument.has_default_value()}

    def values_of(args, kwargs):
        values = []
        for index, argument in enumerate(arguments):
            value = args[index] if index < len(args) else kwargs.get(argument["name"], defaults.get(argument["name"]))
            if argument["kind"] == "number":
                values.extend(_number(value))
            else:
                values.append(value)
        return values

    return values_of
