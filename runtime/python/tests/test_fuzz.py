"""Calls with arguments of any kind: each returns or raises, and none ends the process."""

import random

import numpy as np

import torch_library as tl
from torch_library import _native

#: What would only take time or memory, not find anything.
SLOW = {"linalg_multi_dot", "cdist", "_cdist_forward"}
HUGE = [1 << 62, -(1 << 63), (1 << 63) - 1, 1 << 31, 1 << 80, -1, 0, 1, 2, 5, 64]


def tensors(rng):
    sizes = [rng.choice([0, 1, 2, 3]) for _ in range(rng.randrange(4))]
    dtype = rng.choice([tl.float32, tl.float64, tl.int64, tl.bool, tl.complex64, tl.uint8, tl.bfloat16, tl.float16])
    array = np.random.default_rng(rng.randrange(1 << 30)).integers(-2, 3, sizes)
    x = tl.tensor(array, dtype=dtype)
    kind = rng.randrange(8)
    if kind == 0 and x.ndim > 1:
        return x.T if x.ndim == 2 else x.transpose(0, 1)
    if kind == 1 and dtype.is_floating_point:
        return x.requires_grad_()
    if kind == 2:
        return tl.from_numpy(np.ascontiguousarray(array))
    if kind == 3:
        return x.unsqueeze(0).expand(2, *x.shape)
    if kind == 4:
        return x.to("meta") if rng.randrange(4) == 0 else x
    return x


class Odd:
    """An object that says something else than it is whenever it is asked."""

    def __len__(self):
        return 1 << 40

    def __getitem__(self, key):
        raise IndexError if key == 3 else KeyError(key)

    def __index__(self):
        raise ZeroDivisionError

    def __float__(self):
        return "no float"

    def __bool__(self):
        raise OverflowError


ODD = [None, True, False, "", "cpu", "meta", "reflect", "ij,jk->ik", "\x00", "é", b"bytes", float("nan"), float("inf"), -0.5, 3.7, 1j]
ODD += [object(), Odd(), [], (), {}, set(), Odd, len, range(3), np.float32(2), np.int64(3), np.array([1, 2]), np.bool_(True)]
ODD += [tl.float32, tl.int64, tl.strided, tl.channels_last, tl.device("cpu"), tl.Generator(), float, int, np.float16, tl]


def anything(rng, depth=0):
    kind = rng.randrange(10)
    if kind < 4:
        return tensors(rng)
    if kind < 6:
        return rng.choice(HUGE) if rng.randrange(3) == 0 else rng.randrange(-3, 4)
    if kind < 8 or depth > 2:
        return rng.choice(ODD)
    return [anything(rng, depth + 1) for _ in range(rng.randrange(4))]


def fitting(rng, ty):
    """Most often what the type asks for, so that the call comes to the kernel."""
    if rng.randrange(8) == 0:
        return anything(rng)
    ty = ty.rstrip("?#")
    if ty.endswith("[]"):
        return [fitting(rng, ty[:-2]) for _ in range(rng.randrange(4))]
    number = rng.choice(HUGE) if rng.randrange(12) == 0 else rng.randrange(-2, 4)
    return {
        "Tensor": lambda: tensors(rng),
        "int": lambda: number,
        "SymInt": lambda: number,
        "Scalar": lambda: rng.choice([number, 0.5, True, 2j]),
        "float": lambda: rng.choice([0.0, 0.5, -1.0, 1e300]),
        "bool": lambda: rng.choice([True, False]),
        "str": lambda: rng.choice(["mean", "none", "reflect", "floor", "sum", "ij->i", "x"]),
        "ScalarType": lambda: rng.choice([tl.float32, tl.int64, tl.bool, tl.complex64, tl.float16]),
        "Device": lambda: rng.choice(["cpu", "meta", "cuda"]),
    }.get(ty, lambda: None)()


def is_too_large(value):
    """Whether a number or a list may ask for memory that there is: what is larger than all memory is an error at once."""
    if isinstance(value, (list, tuple)):
        return any(is_too_large(one) for one in value)
    return isinstance(value, int) and 1 << 20 < abs(value) < 1 << 40


def one_call(rng, rows):
    namespace, name, overload, parameters, _ = rng.choice(rows)
    operator = getattr(getattr(tl.ops, namespace), name)
    positional, named = [], {}
    for argument, ty, has_default, kwarg_only in parameters:
        if has_default and rng.randrange(2):
            continue
        value = fitting(rng, ty)
        if is_too_large(value):
            value = 2
        if kwarg_only or named or rng.randrange(6) == 0:
            named[argument] = value
        else:
            positional.append(value)
    if rng.randrange(20) == 0:
        named[rng.choice(["foo", "self", "out"])] = anything(rng)
    if rng.randrange(20) == 0:
        positional.append(anything(rng))
    kind = rng.randrange(12)
    try:
        if kind == 0:
            return tensors(rng)[anything(rng)]
        if kind == 1:
            tensors(rng)[anything(rng)] = anything(rng)
        elif kind == 2:
            return getattr(tensors(rng), name)(*positional[1:], **named)
        elif kind == 3:
            return rng.choice([tl.from_numpy, tl.from_dlpack, tl.tensor, tl.dtype, tl.device])(anything(rng))
        elif kind < 6:
            return getattr(operator, overload or "default")(*positional, **named)
        result = operator(*positional, **named)
        if kind == 6 and isinstance(result, tl.Tensor) and result.requires_grad:
            result.backward(result.detach())
        return result
    except Exception as error:  # a panic is none of these
        return error


def test_no_call_ends_the_process(request):
    calls, rng = request.config.getoption("--calls"), random.Random(20261124)
    rows = [row for row in _native.catalogue() if row[1] not in SLOW]
    raised = sum(isinstance(one_call(rng, rows), Exception) for _ in range(calls))
    assert 0 < raised < calls, f"{raised} of {calls} calls raised"
