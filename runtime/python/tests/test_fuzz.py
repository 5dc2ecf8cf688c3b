"""Calls with random arguments of any kind: each returns or raises, and none crashes the process."""

import ctypes
import random
import threading

import numpy as np
from test_memory import LIES, Liar

import torch_library as tl
from torch_library import _native

#: Operators that would only take time or memory without finding anything.
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
    """An object whose special methods lie or raise the wrong exception."""

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


class Reenter:
    """An object whose special methods all reallocate the memory of a tensor of the same call."""

    def __init__(self, tensor, size):
        self.tensor, self.size = tensor, size

    def change(self, answer):
        try:
            self.tensor.resize_([self.size])
            self.tensor.add_(1)
        except (RuntimeError, TypeError, ValueError, NotImplementedError):
            pass
        return answer

    def __index__(self):
        return self.change(0)

    def __float__(self):
        return self.change(0.5)

    def __bool__(self):
        return self.change(True)

    def __len__(self):
        return self.change(2)

    def __getitem__(self, key):
        if key > 1:
            raise IndexError(key)
        return self.change(self if self.size % 2 else key)

    def __dlpack__(self, **_):
        return self.change(self.tensor.detach().__dlpack__())

    @property
    def __array_interface__(self):
        return self.change({"data": (8, False), "shape": (1 << 40,), "typestr": "<f8", "version": 3})


class Emptying:
    """An element of a list that empties the list when it is converted to an integer."""

    def __init__(self):
        self.all = [self, 1, 2]

    def __index__(self):
        self.all.clear()
        return 1


class Twin(str):
    """A name that a dictionary can have twice."""

    __hash__ = object.__hash__

    def __eq__(self, other):
        return self is other


def released():
    view = memoryview(bytearray(16))
    view.release()
    return view


#: Unusual buffers: structures, empty, released, without strides, with more elements than bytes.
BUFFERS = [
    (ctypes.c_double * 3)(1, 2, 3), ctypes.c_int(3), (ctypes.c_char * 4)(), (ctypes.c_void_p * 2)(), Liar().managed, bytes(3),
    bytearray(), memoryview(bytearray(12)).cast("i"), memoryview(b"abcd")[::-1], released(),
    np.lib.stride_tricks.as_strided(np.zeros(1), (1 << 40, 3), (0, 0)), np.zeros((0, 1 << 40)), np.zeros(3, "c16")[::-1], np.zeros(2, "M8[s]"),
    np.zeros(2, [("a", "i1"), ("b", "f8")])["b"], np.array(1.5), np.array("text"), np.array([object()]), np.zeros((1,) * 32),
]  # fmt: skip
ODD = [None, True, False, "", "cpu", "meta", "reflect", "ij,jk->ik", "\x00", "é", b"bytes", float("nan"), float("inf"), -0.5, 3.7, 1j]
ODD += [object(), Odd(), [], (), {}, set(), Odd, len, range(3), np.float32(2), np.int64(3), np.array([1, 2]), np.bool_(True)]
ODD += [tl.float32, tl.int64, tl.strided, tl.channels_last, tl.device("cpu"), tl.Generator(), float, int, np.float16, tl]
ODD += BUFFERS + [Liar()] + [Liar(**lie) for lie in LIES]


def anything(rng, depth=0):
    kind = rng.randrange(10)
    if kind < 4:
        return tensors(rng)
    if kind < 6:
        return rng.choice(HUGE) if rng.randrange(3) == 0 else rng.randrange(-3, 4)
    if kind < 8 or depth > 2:
        return rng.choice(ODD) if rng.randrange(8) else Emptying().all
    return [anything(rng, depth + 1) for _ in range(rng.randrange(4))]


def fitting(rng, ty):
    """Most often a value of the type, so that the call reaches the kernel."""
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
    """Whether a size might make a call allocate too much memory. Even larger sizes, which exceed all memory, fail at once."""
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
    if named and rng.randrange(20) == 0:
        named[Twin(next(iter(named)))] = anything(rng)
    given = [one for one in positional if isinstance(one, tl.Tensor)]
    if given and len(positional) > 1 and rng.randrange(10) == 0:
        positional[rng.randrange(1, len(positional))] = Reenter(rng.choice(given), rng.randrange(2000))
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
    except Exception as error:  # a panic is not an `Exception`
        return error


def test_no_call_ends_the_process(request):
    calls, rng = request.config.getoption("--calls"), random.Random(20261124)
    rows = [row for row in _native.catalogue() if row[1] not in SLOW]
    raised = sum(isinstance(one_call(rng, rows), Exception) for _ in range(calls))
    assert 0 < raised < calls, f"{raised} of {calls} calls raised"


def test_no_call_of_several_threads_ends_the_process(request, monkeypatch):
    """Calls on four threads, most often on tensors that the other threads use as well."""
    calls, own = request.config.getoption("--calls"), tensors
    shared = [own(random.Random(seed)) for seed in range(12)]
    monkeypatch.setitem(globals(), "tensors", lambda rng: rng.choice(shared) if rng.randrange(3) else own(rng))
    rows = [row for row in _native.catalogue() if row[1] not in SLOW]
    raised = []

    def work(seed):
        rng = random.Random(seed)
        raised.append(sum(isinstance(one_call(rng, rows), Exception) for _ in range(calls // 8)))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(raised) == 4 and all(0 < count < calls // 8 for count in raised), raised
