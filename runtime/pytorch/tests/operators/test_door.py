"""The operators of this folder in PyTorch: values that pass, the identity, versions and memory of tensors, and errors."""

import ctypes
import subprocess
import sys
import threading
import time

import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck

from library import GLUE, OPERATORS, PATH, REPORT, VERSION, rand

door = torch.ops.door


def test_what_is_not_in_pytorch_is_reported_with_the_reason():
    report = [line for line in REPORT if not line.startswith("PyTorch 2.") and "this PyTorch has no tag" not in line]
    for text in [
        "for PrivateUse1 serves the operators of this library alone",
        "for Tracer is not in PyTorch: PyTorch's C functions cannot go on to the next key from there",
        "rows::corner's kernel at Autograd is not in PyTorch: the operator returns a view, which PyTorch differentiates",
        "layers::there's kernel at is not in PyTorch: Conjugate: ",
        "types::on_each's kernel at is not in PyTorch: AutogradCUDA: ",
        *(f"types::{name} is not in PyTorch: " for name in ["symbool", "scalar", "complex", "generator"]),
    ]:
        assert sum(text in line for line in report) == 1, text
    assert len(report) == 10, report
    report = REPORT
    assert "door::several is not in PyTorch: argument `numbers`: no value here is a `Scalar[]`" in report
    assert not hasattr(door, "several")
    assert {operator["name"] for operator in OPERATORS} >= {"nop", "hypotenuse", "scale_", "weighted"}


def test_loading_again_does_nothing():
    before = GLUE["report"](PATH)
    ctypes.CDLL(PATH).torch_library_register()
    assert GLUE["report"](PATH) == before and door.nop(torch.ones(1)) is None


FIRST = """
import ctypes, gc, os, threading, torch

def load(path):
    library, names = ctypes.CDLL(path), {}
    library.torch_library_glue.restype = ctypes.c_char_p
    exec(compile(library.torch_library_glue(), "glue.py", "exec"), names)
    names["load"](path)

load(os.environ["TORCH_LIBRARY_DOOR"])
gc.collect()  # of the glue nobody holds anything
door = torch.ops.door

def is_defined(name):
    try:
        torch._C._dispatch_find_schema_or_throw(f"door::{name}", "")
        return True
    except RuntimeError:
        return False

serving = ["_hypotenuse_recorded", "_hypotenuse_gradients", "_weighted_recorded", "_weighted_backward"]
assert not any(map(is_defined, serving))
x = torch.rand(3, dtype=torch.float64, requires_grad=True)
assert door.hypotenuse(x.detach(), x.detach()).grad_fn is None and not any(map(is_defined, serving))
start, found = threading.Barrier(8), []

def first():
    start.wait()
    found.append(torch.autograd.grad(door.hypotenuse(x, x).sum(), x)[0])

threads = [threading.Thread(target=first) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
assert len(found) == 8 and all(torch.equal(gradient, found[0]) for gradient in found)
assert list(map(is_defined, serving)) == [True, True, False, False]
door.weighted([x, x], None, 2.0).sum().backward()
assert all(map(is_defined, serving))
"""


def test_what_serves_an_operator_is_defined_by_the_first_call_that_needs_it():
    ran = subprocess.run([sys.executable, "-c", FIRST], capture_output=True, text=True)
    assert ran.returncode == 0 and "Exception" not in ran.stderr, ran.stderr


def test_tensors_come_with_strides_offsets_and_types():
    x = torch.arange(6.0).reshape(2, 3)
    assert door.describe(x.t()[1:]) == "float32 [2, 2] [1, 3] 1 cpu"
    assert door.elements(x.t()[1:]) == [1, 4, 2, 5]
    assert door.describe(x.expand(4, 2, 3)) == "float32 [4, 2, 3] [0, 3, 1] 0 cpu"
    assert door.describe(torch.tensor(1)) == "int64 [] [] 0 cpu"
    assert door.describe(torch.empty(0, 3, dtype=torch.bool)) == "bool [0, 3] [3, 1] 0 cpu"
    assert door.describe(x[2:]) == "float32 [0, 3] [3, 1] 6 cpu" and door.elements(x[:, 1:1]) == []
    assert door.hypotenuse(x[:0], x[:0]).shape == (0, 3)
    assert door.describe(torch.empty(1, 2, 3, 4).contiguous(memory_format=torch.channels_last)).startswith(
        "float32 [1, 2, 3, 4] [24, 1, 8, 2]"
    )
    for dtype in [torch.uint8, torch.int8, torch.int16, torch.float16, torch.bfloat16, torch.complex64, torch.uint64, torch.float8_e4m3fn]:
        assert door.describe(torch.empty(2, dtype=dtype)).startswith(str(dtype).removeprefix("torch."))
    with pytest.raises(TypeError, match="is not known here"):
        door.describe(torch.empty(2, dtype=torch.float4_e2m1fn_x2))


def test_lazy_bits_are_resolved_both_ways():
    x = torch.tensor([1 + 2j, 3 - 1j])
    assert torch.view_as_real(door.bit(torch.ones(2), True)).tolist() == [[-1, -1], [-1, -1]]
    assert door.bit(torch.ones(2), False).tolist() == [1 - 1j, 1 - 1j]
    assert door.elements(x.imag.neg()) == [-2, 1]
    assert door.elements(torch._neg_view(torch.ones(2))) == [-1, -1]
    assert door.elements(x.conj().imag) == [-2, 1]


def test_nothing_is_copied_and_memory_outlives_either_side():
    x = torch.arange(6.0).reshape(2, 3)
    row = door.row(x, 1)
    assert row.data_ptr() == x.data_ptr() + 12 and row._is_view()
    row.zero_()
    assert x[1].tolist() == [0, 0, 0]
    bits = door.bits(x[1])
    assert bits.data_ptr() == x[1].data_ptr() and (bits.dtype, bits.shape) == (torch.int16, (6,))
    x.fill_(-2.0)
    assert bits.tolist() == [0, -0x4000] * 3
    rest = door.rest(x)
    assert rest.data_ptr() == x[1].data_ptr() and rest.tolist() == [[-2, -2, -2]]
    made = door.count(3)
    del x, row, bits, rest
    assert made.tolist() == [0, 1, 2]


def test_views_follow_memory_that_is_resized():
    x = torch.ones(100_000)
    bits, rest = door.bits(x), door.rest(x)
    x.untyped_storage().resize_(0)
    assert bits.untyped_storage().nbytes() == rest.untyped_storage().nbytes() == 0


@pytest.mark.parametrize("options", [{}, {"view": True}, {"panics": True}])
@pytest.mark.parametrize("change", [
    lambda x: None,
    lambda x: x.untyped_storage().resize_(0),
    lambda x: x.set_(torch.zeros(5)),
    lambda x: x.resize_(10**6),
])
def test_a_kernel_that_keeps_a_tensor_cannot_use_it_after_the_call(options, change):
    x = torch.ones(100_000)
    try:
        door.keep(x, **options)
    except RuntimeError as error:
        assert "panicked: something went wrong" in str(error) and options.get("panics")
    assert door.hypotenuse(x, x)[0] > 1.4  # the caller's tensor is as it was
    change(x)
    others = [torch.full((100_000,), 7.0) for _ in range(20)]
    for other in [torch.ones(1), *others]:
        with pytest.raises(RuntimeError, match="it was lent for one call, which has ended"):
            door.kept(other)
    door.keep(torch.ones(1))  # frees what was kept before


def test_a_call_lasts_as_long_as_its_threads_use_the_tensors():
    x = torch.ones(3)
    start = time.perf_counter()
    door.linger(x, 200)
    assert time.perf_counter() - start > 0.1
    assert door.hypotenuse(x, x).shape == (3,)


def test_arrays_that_overlap_are_known_to_overlap():
    numpy = pytest.importorskip("numpy")
    array = numpy.arange(12, dtype=numpy.float32)
    of = torch.from_numpy
    left, right = of(array[:8]), of(array[1:9])
    with pytest.raises(ValueError, match="shares a part of its memory"):
        door.hypotenuse.out(left, left, out=right)
    assert array.tolist() == list(range(12))
    assert torch.allclose(door.hypotenuse(left, right), (left**2 + right**2).sqrt())
    assert torch.allclose(door.hypotenuse.out(left, right, out=torch.empty(8)), (left**2 + right**2).sqrt())
    # Columns interleave: the storages overlap, and the elements do not.
    table = numpy.arange(6, dtype=numpy.float32).reshape(3, 2)
    first, second = of(table[:, 0]), of(table[:, 1])
    assert door.hypotenuse.out(first, first, out=second) is second
    assert torch.allclose(of(table[:, 1]), first * 2**0.5) and second._version == 1
    # The last one joins two that had nothing in common.
    with pytest.raises(ValueError, match="shares a part of its memory"):
        door.hypotenuse.out(of(array[:4]), of(array[6:10]), out=of(array[3:7]))
    door.fill_all_([of(array[:2]), of(array[4:6]), of(array[1:5])], 5.0)
    assert array.tolist() == [5, 5, 5, 5, 5, 5, 6, 7, 8, 9, 10, 11]
    door.fill_all_([of(array[8:]), of(array[9:].view(numpy.int32)), of(array[8:].view(numpy.int16))], 0.0)
    assert array[8:].tolist() == [0, 0, 0, 0]


def test_tensors_that_overlap_and_have_no_common_unit_are_refused():
    numpy = pytest.importorskip("numpy")
    array = numpy.zeros(12, dtype=numpy.int32)
    first = 1 if array.ctypes.data % 8 else 2
    wide, before = array[first : first + 8].view(numpy.int64), array[first - 1 : first + 3]
    for arrays in [(wide, before), (before, wide)]:
        with pytest.raises(NotImplementedError, match="overlap in memory at a distance of 4 bytes: pass a copy of one"):
            door.fill_all_([torch.from_numpy(part) for part in arrays], 1.0)
    door.fill_all_([torch.from_numpy(wide), torch.from_numpy(before.copy())], 1.0)
    assert wide.tolist() == [1, 1, 1, 1]


def test_what_is_returned_is_the_argument_itself():
    x = torch.ones(3)
    assert door.scale_.Scalar(x, 3) is x and x.tolist() == [3, 3, 3]
    out = torch.empty(0)
    assert door.hypotenuse.out(x, x + 1, out=out) is out and out.tolist() == [5, 5, 5]


def test_versions_move_with_writes():
    x, y = torch.ones(3), torch.ones(2)
    door.fill_(x, 2.5)
    assert x._version == 1
    door.fill_all_([x, y], 0.5)
    assert (x._version, y._version, x.tolist(), y.tolist()) == (2, 1, [0.5] * 3, [0.5] * 2)
    w = torch.ones(3, requires_grad=True)
    saved = w.exp()
    loss = (saved * saved).sum()
    door.fill_(saved.detach(), 0.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_a_tensor_may_grow():
    x = torch.ones(2)
    view = x[:1]
    assert door.grow_(x, 5) is x
    assert x.tolist() == [0, 1, 2, 3, 4] and x._version >= 1 and view.shape == (1,)
    assert door.grow_(x, 3).tolist() == [0, 1, 2]


def test_lists_options_and_numbers():
    x, y = torch.ones(2, 3), torch.ones(3)
    assert door.lists([x, y], [None, x], 3, [1.5], [True, False], ["a", "é"]) == (
        '[[2, 3], [3]] [None, Some(6)] [3, 3] [1.5] [true, false] ["a", "é"]'
    )
    assert door.options(x, 1, 2.0, True, "s", torch.float16, torch.strided, torch.device("cuda:1"), None, [4]) == (
        'Some(6) Some(1) Some(2.0) Some(true) Some("s") Some(Float16) Some(Strided) '
        "Some(Device { kind: Cuda, index: Some(1) }) None Some([4])"
    )
    assert door.options(x).count("None") == 9
    assert "ChannelsLast" in door.options(x, format=torch.channels_last, device=torch.device("cpu"))
    assert door.numbers(x, 1, 2.5, c=2 + 3j) == "Int(1) Some(Float(2.5)) 2+3i"
    assert door.numbers(x, True) == "Bool(true) None 0+1i"
    assert door.numbers(x, 2**62 + 1) == "Int(4611686018427387905) None 0+1i"
    assert door.numbers(x, 1j).startswith("Complex")
    with pytest.raises(OverflowError):
        door.numbers(x, 2**63)


def test_several_returns_of_several_types():
    whole, parts, seven, none, missing, yes, dtype = door.parts(torch.ones(2))
    assert (whole.tolist(), len(parts), seven, none, missing, yes, dtype) == ([1, 1], 2, 7, None, None, True, 2)
    assert door.count(3).tolist() == [0, 1, 2]


@pytest.mark.skipif(VERSION < (2, 13), reason="PyTorch's C functions pass generators since 2.13")
def test_generators_follow_pytorchs_seed():
    x = torch.ones(4)
    torch.manual_seed(0)
    first = door.noise(x)
    assert not torch.equal(first, door.noise(x))
    torch.manual_seed(0)
    assert torch.equal(first, door.noise(x))
    own = torch.Generator()
    drawn = [door.noise(x, generator=own.manual_seed(5)) for _ in range(2)]
    assert torch.equal(*drawn) and not torch.equal(drawn[0], first)


def test_failures_are_exceptions_with_their_text():
    x = torch.ones(2, 3)
    with pytest.raises(ValueError, match=r"^door::fails: sizes \[2, 3\] do not please é"):
        door.fails(x, "error")
    kinds = dict(index=IndexError, argument=ValueError, dtype=TypeError, unsupported=NotImplementedError, kernel=RuntimeError)
    kinds |= dict(schema=ValueError, type=TypeError, missing=NotImplementedError)
    kinds |= dict.fromkeys(["device", "busy", "autograd", "memory"], RuntimeError)
    for kind, exception in kinds.items():
        with pytest.raises(exception, match=f"^door::fails: {kind}$") as info:
            door.fails(x, kind)
        assert info.type is exception
        with pytest.raises(exception):  # through the autograd kernel
            door.fails(x.clone().requires_grad_(), kind)
    with pytest.raises(RuntimeError, match=r"^door::fails panicked: it was too much for 6"):
        door.fails(x, "panic")
    with pytest.raises(ValueError, match=r"aten::add.Tensor: sizes \[2, 3\] and \[77\] do not broadcast"):
        door.fails(x, "nested")
    with pytest.raises(RuntimeError, match="is a wrapper|own elements"):
        door.looks(x.double())
    assert door.fails(x, "no").shape == (2, 3)


def test_the_interpreter_goes_on_while_a_kernel_waits():
    x = torch.ones(1)
    start = time.perf_counter()
    threads = [threading.Thread(target=door.wait, args=(x, 300)) for _ in range(3)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert time.perf_counter() - start < 0.8


DIFFERENTIABLE = [
    (door.hypotenuse, lambda: (rand(2, 3), rand(3))),
    (door.both, lambda: (rand(2), rand(2))),
    (door.expm, lambda: (rand(2),)),
    (door.halves, lambda: (rand(4),)),
    (lambda a, b, w: door.weighted([a, b], w, 2.5), lambda: (rand(2), rand(2), rand(2))),
    (lambda a, b: door.weighted([a, b], None, 3), lambda: (rand(2), rand(2))),
    (door.swish, lambda: (rand(2),)),
    (lambda a: door.shifted(a, 2.0), lambda: (rand(2),)),
]


@pytest.mark.parametrize("function, arguments", DIFFERENTIABLE)
def test_first_and_second_derivatives_agree_with_differences(function, arguments):
    assert gradcheck(function, arguments()) and gradgradcheck(function, arguments())


def test_only_wanted_gradients_are_computed():
    x, y = rand(2), torch.ones(2, dtype=torch.float64)
    door.hypotenuse(x, y).sum().backward()
    assert x.grad is not None and y.grad is None
    (gradient,) = torch.autograd.grad(door.both(x, y)[1].sum(), x)
    assert gradient.tolist() == [1, 1]


def test_views_are_differentiated_without_a_warning(recwarn):
    x = rand(2, 3)
    (door.row(x, 1) ** 2).sum().backward()
    assert torch.equal(x.grad[1], 2 * x[1]) and x.grad[0].tolist() == [0, 0, 0] and not recwarn.list


def test_writes_without_a_derivative_are_refused_where_a_gradient_would_be_wrong():
    x = rand(2)
    y = x * 1
    for write in [lambda: door.fill_(y, 2.0), lambda: door.scale_.Scalar(y, 2), lambda: door.fill_all_([y], 2.0)]:
        with pytest.raises(RuntimeError, match="^door::(fill|scale|fill_all)_.* has no derivative in PyTorch: detach"):
            write()
    for x, out in [(x, y), (x, torch.empty(2)), (x.detach(), y)]:
        with pytest.raises(RuntimeError, match="^door::hypotenuse.out writes to an argument"):
            door.hypotenuse.out(x, x, out=out)
    with torch.no_grad():
        door.fill_(y, 2.0)
    assert y.tolist() == [2, 2]


def test_without_a_derivative_pytorch_says_so():
    with pytest.warns(UserWarning, match="door::opaque"):
        door.opaque(rand(2)).sum().backward()


@pytest.mark.parametrize(
    "operator, arguments",
    [
        (door.hypotenuse.default, lambda: (rand(2, 3), rand(3))),
        (door.both.default, lambda: (rand(2), rand(2))),
        (door.expm.default, lambda: (rand(2),)),
        (door.halves.default, lambda: (rand(4),)),
        (door.weighted.default, lambda: ([rand(2), rand(2)], rand(2), 2)),
        (door.swish.default, lambda: (rand(2),)),
        (door.shifted.default, lambda: (rand(2), 1.5)),
        (door.fill_.default, lambda: (torch.ones(2), 1.5)),
    ],
)
def test_opcheck(operator, arguments):
    torch.library.opcheck(operator, arguments())


def test_compiled_programs_do_the_same():
    def program(x, y):
        return door.weighted([door.hypotenuse(x, y), door.swish(x)], None, 2).sum()

    x, y = rand(2, 3), rand(2, 3)
    expected = torch.autograd.grad(program(x, y), (x, y))
    found = torch.autograd.grad(torch.compile(program, backend="aot_eager", fullgraph=True)(x, y), (x, y))
    assert all(torch.allclose(*pair) for pair in zip(expected, found))


def test_fake_tensors_need_no_elements():
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        result = door.hypotenuse(torch.empty(1000, 1), torch.empty(1000))
    assert result.shape == (1000, 1000) and result.device.type == "cpu"


def test_memory_stays_flat():
    import resource

    def rounds(count):
        x = torch.ones(1000)
        for _ in range(count):
            door.hypotenuse(x, x)
            door.scale_.Scalar(x, 1.0)
            door.row(x.reshape(10, 100), 3)
            try:
                door.fails(x, "error")
            except ValueError:
                pass

    rounds(500)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    rounds(5000)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 8 << 10  # in KiB
