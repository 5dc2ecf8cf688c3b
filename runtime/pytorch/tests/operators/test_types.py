"""Each type of a schema and each key of a kernel: values that pass come back unchanged, and what does not is reported."""

import subprocess
import sys

import pytest
import torch

from library import PATH, REPORT, VERSION, rand

types = torch.ops.types

T = torch.ones(2)
VALUES = {
    "int": [0, -1, 2**63 - 1, -(2**63)],
    "symint": [3],
    "float": [0.5, float("inf"), -0.0],
    "bool": [True, False],
    "str": ["", "é\0x", "x" * 100],
    "device": [torch.device("cpu"), torch.device("cuda:1"), torch.device("cuda"), torch.device("meta")],
    "ints": [[], [1, -2, 3]],
    "symints": [[], [1, -2, 3]],
    "floats": [[], [0.5, -1.5]],
    "bools": [[], [True, False]],
    "strs": [[], ["a", "é", ""]],
}
NUMBERED = {
    "dtype": [torch.float64, torch.bool, torch.complex64, torch.bfloat16, torch.int64],
    "layout": [torch.strided, torch.sparse_coo],
    "format": [torch.channels_last, torch.contiguous_format, torch.preserve_format],
}


@pytest.mark.parametrize("name", VALUES)
def test_values_come_back_as_they_went(name):
    for value in VALUES[name]:
        found = getattr(types, name)(value)
        assert found == value and type(found) is type(value)
    if name not in ("symints",):
        optional = getattr(types, f"optional_{name}", None)
        for value in [*VALUES[name], None]:
            assert optional(value) == value


@pytest.mark.parametrize("name", NUMBERED)
def test_numbered_values_come_back_as_the_numbers_that_pytorch_has_for_them(name):
    # PyTorch returns these to Python as numbers, whose meaning only `prim::` operators know: they must be distinct, and the
    # same whether the value or its number was passed.
    found = [getattr(types, name)(value) for value in NUMBERED[name]]
    assert len(set(found)) == len(found)
    optional = getattr(types, f"optional_{name}")
    assert [optional(value) for value in NUMBERED[name]] == found and optional(None) is None
    assert [getattr(types, name)(number) for number in found] == found


def test_tensors_come_back_themselves():
    assert [found is T for found in types.tensors([T, T])] == [True, True] and types.tensors([]) == []
    assert types.optional_tensor(T) is T and types.optional_tensor(None) is None
    assert types.optional_list([T])[0] is T and types.optional_list(None) is None
    first, none = types.optional_tensors([T, None])
    assert first is T and none is None


def test_complex_numbers_are_given_alone():
    assert types.optional_complex(1.5 - 2j) == "1.5-2i" and types.optional_complex(None) == "none"


@pytest.mark.skipif(VERSION < (2, 13), reason="PyTorch's C functions pass generators since 2.13")
def test_generators_are_drawn_from():
    assert types.drawn(torch.Generator())


def test_sizes_that_are_symbols_are_numbers_to_a_kernel():
    def program(x):
        return x.reshape(types.symints([types.symint(x.shape[0]) * 2, -1]))

    x = torch.rand(4, 6)
    assert torch.equal(program(x), x.reshape(8, 3))


@pytest.mark.parametrize(
    "name, why",
    [
        ("symbool", "argument `x`: PyTorch's C functions pass no `SymBool`"),
        ("scalar", "PyTorch's C functions return no `Scalar`"),
        ("complex", "PyTorch's C functions return no `complex`"),
        ("generator", "PyTorch's C functions return no `Generator`"),
    ],
)
def test_types_that_do_not_pass_are_reported(name, why):
    assert f"types::{name} is not in PyTorch: {why}" in REPORT and not hasattr(types, name)


def test_one_derivative_of_an_operator_is_for_all_devices():
    x = rand(3)
    for operator in [types.on_cpu, types.on_each]:
        assert torch.equal(torch.autograd.grad(operator(x).sum(), x)[0], torch.full_like(x, 2))
    assert any(
        line.startswith("types::on_each's kernel at is not in PyTorch: AutogradCUDA: PyTorch has one derivative")
        for line in REPORT
    )


def test_a_derivative_that_is_made_of_other_operators_is_refused_where_it_would_be_lost():
    assert types.composed(T).tolist() == [2, 2]
    with pytest.raises(RuntimeError, match="types::composed at Autograd calls it nowhere below.*CompositeImplicitAutograd"):
        types.composed(rand(3))


def test_kernels_that_write_to_nothing_are_in_their_place():
    assert types.functional(T).tolist() == [2, 2]
    assert torch._C._dispatch_has_kernel_for_dispatch_key("types::functional", "CompositeExplicitAutogradNonFunctional")


BACKEND = """
import ctypes, sys, torch
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

_setup_privateuseone_for_python_backend("yard")
own = torch.library.Library("aten", "IMPL")
empty = lambda sizes, dtype=None, **_: torch._C._acc.create_empty_tensor(sizes, dtype or torch.get_default_dtype())
own.impl("empty.memory_format", empty, "PrivateUse1")
torch.ops.load_library(sys.argv[1])
x = torch.empty(2, 3, device="yard")
assert torch.ops.layers.there(x) == "[2, 3] on privateuseone:0", torch.ops.layers.there(x)
try:
    torch.ops.layers.elsewhere(x)
except NotImplementedError as error:
    assert "layers::elsewhere was given to the fallback" in str(error), error
else:
    raise AssertionError("the fallback was not called")
"""


def test_kernels_and_fallbacks_for_another_backend_are_called():
    ran = subprocess.run([sys.executable, "-c", BACKEND, PATH], capture_output=True, text=True)
    if "_setup_privateuseone_for_python_backend" in ran.stderr or "_acc" in ran.stderr:
        pytest.skip("this PyTorch has no backend that is written in Python")
    assert ran.returncode == 0, ran.stderr
