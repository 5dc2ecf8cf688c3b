"""Memory that is shared with NumPy and other libraries: no copies, lifetimes, and objects that describe it wrongly."""

import array
import ctypes
import gc
import subprocess
import sys
import weakref

import numpy as np
import pytest

import torch_library as tl

DTYPES = ["uint8", "int8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64"]
DTYPES += ["complex64", "complex128"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_come_and_go_without_a_copy(dtype):
    a = np.arange(6).reshape(2, 3).astype(dtype)
    for x in (tl.from_numpy(a), tl.from_dlpack(a)):
        assert str(x.dtype) == f"torch_library.{dtype}" and x.shape == (2, 3)
        assert np.shares_memory(x.numpy(), a)
        a[0, 0] = 5
        assert x[0, 0].item() == 5
        x[0, 1] = 7
        assert a[0, 1] == 7
        assert x.numpy().dtype == a.dtype
        assert np.shares_memory(np.from_dlpack(x), a) and np.shares_memory(np.asarray(x), a)


def test_strides_come_and_go():
    a = np.arange(24.0).reshape(4, 6)
    for view in (a.T, a[::2, 1::2], a[1], np.broadcast_to(a[0], (3, 6)).copy()[:, ::3], a[:0], a[:, :, None]):
        x = tl.from_numpy(view)
        np.testing.assert_array_equal(x.numpy(), view)
        assert x.shape == view.shape
    x = tl.tensor(a)
    np.testing.assert_array_equal(x.T[1:, ::2].numpy(), a.T[1:, ::2])
    assert memoryview(x.T).strides == a.T.strides


def test_booleans_are_copied_in_and_read_only_out():
    a = np.array([True, False])
    for x in (tl.from_numpy(a), tl.from_dlpack(a)):
        a[1] = True
        assert x.tolist() == [True, False]
        a[1] = False
        assert not x.numpy().flags.writeable
        with pytest.raises(ValueError):
            x.numpy().setflags(write=True)
        assert not np.from_dlpack(x).flags.writeable
    bad = np.array([0, 1, 7, 255], dtype=np.uint8).view(bool)
    assert tl.from_numpy(bad).tolist() == tl.from_dlpack(bad).tolist() == [False, True, True, True]
    with pytest.raises(BufferError):
        tl.tensor(True).__dlpack__()


def test_copies_for_others_are_theirs():
    x = tl.tensor([True, False])
    copy = np.from_dlpack(x, copy=True)
    assert copy.dtype == bool and copy.flags.writeable and not np.shares_memory(copy, x.numpy())
    copy.view(np.uint8)[:] = 7  # no boolean: the copy is read by nobody here
    assert tl.from_dlpack(copy).tolist() == [True, True] and x.tolist() == [True, False]
    assert tl.from_dlpack(x.__dlpack__(copy=True)).tolist() == [True, False]
    for y, copies, flags in [(x, None, 1), (x, True, 2), (tl.tensor([1.0]), None, 0), (tl.tensor([1.0]), True, 2)]:
        assert flags_of(y.__dlpack__(max_version=(1, 1), copy=copies)) == flags


class Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64),
    ]  # fmt: skip


pointer_in = ctypes.pythonapi.PyCapsule_GetPointer
pointer_in.restype, pointer_in.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def flags_of(capsule):
    return Versioned.from_address(pointer_in(capsule, b"dltensor_versioned")).flags


def test_memory_lives_as_long_as_somebody_looks():
    a = np.arange(1000.0)
    alive = weakref.ref(a)
    x = tl.from_numpy(a)
    del a
    gc.collect()
    assert alive() is not None and x[999].item() == 999
    view = x[10:]
    del x
    gc.collect()
    assert view.sum().item() == sum(range(10, 1000))
    del view
    gc.collect()
    assert alive() is None
    lent = tl.ops.aten.arange(1000).numpy()
    gc.collect()
    assert lent.sum() == 499500
    lent = np.from_dlpack(tl.ops.aten.arange(1000))
    gc.collect()
    assert lent.sum() == 499500
    lent = memoryview(tl.ops.aten.arange(1000))
    gc.collect()
    assert lent[999] == 999


def test_memory_that_is_shared_does_not_go():
    a = np.arange(10.0)
    x = tl.from_numpy(a)
    with pytest.raises(ValueError):
        a.resize(100000, refcheck=False)
    base = np.arange(10.0)
    y = tl.from_numpy(base[2:])
    with pytest.raises(ValueError):
        base.resize(100000, refcheck=False)
    assert x.sum().item() == 45 and y.sum().item() == 44
    data = bytearray(80)
    z = tl.from_numpy(data)
    with pytest.raises(BufferError):
        data.extend(b"x" * 100000)
    assert z.sum().item() == 0
    numbers = array.array("d", [1, 2])
    w = tl.from_numpy(numbers)
    with pytest.raises(BufferError):
        numbers.append(3)
    assert w.tolist() == [1, 2]
    view = memoryview(bytearray(8))
    v = tl.from_numpy(view)
    view.release()
    assert v.tolist() == [0] * 8
    lent = tl.tensor([1.0, 2.0])
    out = lent.numpy()
    lent.resize_([100000])
    out += 1
    assert out.tolist() == [2, 3]


FLAGS = {"C": 0x38, "F": 0x58, "A": 0x98, "strides": 0x18, "sizes": 0x8}


def lends(x, flags):
    view = (ctypes.c_char * 256)()  # more than a Py_buffer has
    try:
        ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(x), view, FLAGS[flags])
    except BufferError:
        return False
    ctypes.pythonapi.PyBuffer_Release(view)
    return True


def test_elements_lie_as_who_asks_for_them_wants():
    x = tl.tensor(np.arange(6.0).reshape(2, 3))
    assert [lends(x, flags) for flags in FLAGS] == [True, False, True, True, True]
    assert [lends(x.T, flags) for flags in FLAGS] == [False, True, True, True, False]
    wide = tl.tensor([1.0]).expand(1000)  # one element: who trusted the sizes would read beyond it
    for view in (wide, x[:, ::2]):
        assert [lends(view, flags) for flags in FLAGS] == [False, False, False, True, False]
    assert all(lends(tl.tensor([1.0, 2.0]), flags) for flags in FLAGS)
    assert all(lends(x[:0].T, flags) for flags in FLAGS)


def test_arrays_that_cannot_be_shared():
    a = np.arange(4.0)
    with pytest.raises(ValueError, match="negative"):
        tl.from_numpy(a[::-1])
    assert tl.tensor(a).tolist() == [0, 1, 2, 3]
    a.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        tl.from_numpy(a)
    assert tl.from_dlpack(a).tolist() == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="read-only"):
        tl.from_numpy(b"bytes")
    odd = np.arange(17, dtype=np.uint8)[1:].view(np.float64)
    packed = np.zeros(3, np.dtype([("a", np.uint8), ("b", np.float64)]))["b"]
    for wrong in (np.array(["a"]), np.array([object()]), np.array(["2020"], "M8[D]"), a.astype(">f8"), 3, None, [1.0], odd, packed):
        with pytest.raises((TypeError, ValueError)):
            tl.from_numpy(wrong)
    for share in (tl.from_numpy, tl.from_dlpack):
        with pytest.raises(ValueError, match=r"no multiple of 8, cannot be shared; `torch_library.tensor\(array\)` copies"):
            share(odd)
    with pytest.raises(TypeError, match="bfloat16"):
        tl.tensor([1.0], dtype=tl.bfloat16).numpy()
    with pytest.raises(RuntimeError, match="detach"):
        tl.tensor([1.0], requires_grad=True).numpy()
    with pytest.raises((RuntimeError, TypeError, ValueError)):
        tl.ops.aten.empty([2], device="meta").numpy()


def test_elements_that_are_not_aligned_are_copied():
    memory = np.arange(1 + 8 * 24, dtype=np.uint8)
    for dtype in ["int16", "float32", "float64", "complex64", "int64"]:
        odd = memory[1:].view(dtype)
        assert not odd.flags.aligned
        for a in [odd, odd[:24].reshape(4, 6).T[1::2], odd[1], odd[:0], np.broadcast_to(odd[:2], (3, 2)), odd[:0].reshape(0, 3)]:
            x = tl.tensor(a)
            np.testing.assert_array_equal(x.numpy(), a)
            assert x.numpy().dtype == a.dtype
            x.fill_(0)
    assert memory.tolist() == list(range(1 + 8 * 24)) and tl.tensor(odd, dtype=tl.float32).shape == (24,)
    x = tl.tensor(memory[1:].view(np.float32), requires_grad=True)
    x.sum().backward()
    assert x.grad.tolist() == [1] * 48


class Device(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("number", ctypes.c_int32)]


class Type(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Managed(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device", Device), ("ndim", ctypes.c_int32), ("dtype", Type),
        ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p), ("offset", ctypes.c_uint64),
        ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
    ]  # fmt: skip


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
KEPT = []
GOOD = np.arange(16.0)
BIG = (1 << 63) - 1


class Liar:
    """An object whose `__dlpack__` returns the given description, right or wrong."""

    def __init__(self, data=GOOD.ctypes.data, shape=(4,), strides=None, name=b"dltensor", **fields):
        shape = (ctypes.c_int64 * len(shape))(*shape)
        strides = strides and (ctypes.c_int64 * len(strides))(*strides)
        address = lambda one: one and ctypes.addressof(one)  # noqa: E731
        self.managed = Managed(data, Device(1, 0), len(shape), Type(2, 64, 1), address(shape), address(strides))
        for field, value in fields.items():
            setattr(self.managed, field, value)
        self.name = name
        KEPT.append((self.managed, shape, strides))

    def __dlpack__(self, **_):
        return new_capsule(ctypes.addressof(self.managed), self.name, None)


def test_an_honest_object_is_believed():
    x = tl.from_dlpack(Liar())
    assert x.tolist() == [0, 1, 2, 3]
    x[0] = 9
    assert GOOD[0] == 9
    GOOD[0] = 0
    assert tl.from_dlpack(Liar(shape=(2, 2), strides=(1, 2))).tolist() == [[0, 2], [1, 3]]
    assert tl.from_dlpack(Liar(shape=(0,), data=0)).shape == (0,)


LIES = [
    {"data": 0}, {"data": 8}, {"data": 0x7FFF_FFFF_F000}, {"data": GOOD.ctypes.data + 1}, {"shape": (-1,)},
    {"shape": (BIG,)}, {"shape": (1 << 40, 1 << 40)}, {"shape": (4,), "strides": (-1,)}, {"strides": (BIG,)},
    {"shape": (2,) * 65}, {"ndim": -1}, {"ndim": 2**31 - 1}, {"shape": (1 << 45,)}, {"offset": 2**64 - 1},
    {"offset": 1 << 50}, {"dtype": Type(2, 64, 4)}, {"dtype": Type(9, 64, 1)}, {"dtype": Type(2, 7, 1)},
    {"device": Device(2, 0)}, {"device": Device(-1, 0)}, {"name": b"used_dltensor"}, {"name": b"dltensor_versioned"},
    {"name": b"other"},
]  # fmt: skip


@pytest.mark.parametrize("lie", LIES, ids=str)
def test_objects_that_lie_are_refused(lie):
    with pytest.raises((ValueError, TypeError, BufferError, MemoryError)):
        tl.from_dlpack(Liar(**lie))
    if "name" not in lie and "shape" not in lie:
        null = Liar(**lie)
        null.managed.shape = 8
        with pytest.raises((ValueError, TypeError, BufferError)):
            tl.from_dlpack(null)


def test_what_is_no_dlpack_is_refused():
    class Odd:
        def __init__(self, result):
            self.result = result

        def __dlpack__(self, **_):
            if isinstance(self.result, Exception):
                raise self.result
            return self.result

    for result in (None, 3, "dltensor", object(), Odd, KeyError("x"), new_capsule(8, b"dltensor", None)):
        with pytest.raises((TypeError, ValueError, KeyError)):
            tl.from_dlpack(Odd(result))
    for wrong in (None, 3, [1.0], object()):
        with pytest.raises((TypeError, AttributeError)):
            tl.from_dlpack(wrong)
    capsule = tl.tensor([1.0]).__dlpack__()
    assert tl.from_dlpack(capsule).tolist() == [1.0]
    with pytest.raises(ValueError, match="taken already"):
        tl.from_dlpack(capsule)


def test_tensors_over_one_memory_know_of_each_other():
    a = np.arange(10.0)
    x, y, z = tl.from_numpy(a), tl.from_numpy(a[2:8]), tl.from_dlpack(a)
    w, v = tl.from_numpy(x.numpy()), tl.from_dlpack(np.from_dlpack(x))
    assert all(x.shares_memory_with(other) for other in (y, z, w, v))
    bytes_of = tl.from_numpy(a.view(np.uint8))
    assert bytes_of.shares_memory_with(y)
    part = tl.from_numpy(np.arange(10.0)[5:])
    assert not part.shares_memory_with(x)
    # An in-place operation whose operand partially overlaps it: an error, never a race.
    with pytest.raises((ValueError, RuntimeError)):
        x[1:9].add_(tl.from_numpy(a[:8]))
    x.add_(w)
    assert a.tolist() == [2.0 * i for i in range(10)]
    first, whole = Liar(shape=(4,)), Liar(shape=(16,))
    kept = tl.from_dlpack(first)
    with pytest.raises(RuntimeError, match="part of this memory"):
        tl.from_dlpack(whole)
    del kept
    gc.collect()
    assert tl.from_dlpack(whole).shape == (16,)
    own = tl.tensor([1.0, 2.0, 3.0])
    assert own.shares_memory_with(tl.from_numpy(own[1:].numpy()))


LOANS = [lambda x: x.numpy(), memoryview, np.from_dlpack]


@pytest.mark.parametrize("first", LOANS)
@pytest.mark.parametrize("second", LOANS)
def test_a_block_is_known_until_the_last_loan_of_it_ends(first, second):
    x = tl.ops.aten.zeros([8])
    early, late = first(x), second(x[1:])
    del early
    gc.collect()
    y = tl.from_numpy(np.asarray(late))
    assert x.shares_memory_with(y)
    with pytest.raises((ValueError, RuntimeError)):
        tl.ops.aten.add.out(y[:6], y[:6], out=x[:6])
    early = first(x)
    del late, y
    gc.collect()
    assert x.shares_memory_with(tl.from_numpy(np.asarray(early)))


def test_many_arrays_come_and_go():
    for _ in range(2000):
        tl.from_numpy(np.zeros(3)).add_(1)
    kept = [(a, tl.from_numpy(a)) for a in (np.zeros(3) for _ in range(500))]
    assert all(not kept[0][1].shares_memory_with(x) for _, x in kept[1:])


def test_buffers_longer_than_any_are_refused():
    one = tl.ops.aten.zeros([1])
    for count in (2**62 + 1, 2**63 - 1):  # four times the first is four
        with pytest.raises(BufferError, match="more bytes than a buffer can have"):
            memoryview(one.expand([count]))
    assert memoryview(one.as_strided([1], [2**63 - 1])).tolist() == [0]
    assert memoryview(one.expand([2**40])).shape == (2**40,)


def test_operators_run_while_the_interpreter_ends():
    program = """
import builtins
import torch_library as tl

class Late:
    def __del__(self):
        print(tl.ops.aten.mm(tl.ops.aten.ones([99, 99]), tl.ops.aten.ones([99, 99])).sum().item())

builtins.late = Late()
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (0, "970299.0\n"), ended.stderr
