"""Comparisons with PyTorch, if it is installed: the order of overloads, and the examples of its documentation."""

import doctest

import numpy as np
import pytest

import torch_library as tl
from torch_library import _native

torch = pytest.importorskip("torch")


def test_overloads_are_tried_in_its_order():
    for name in {row[1] for row in _native.catalogue() if row[0] == "aten"}:
        try:
            _, there = torch._C._jit_get_operation(f"aten::{name}")
        except RuntimeError:
            continue
        here = getattr(tl.ops.aten, name).overloads()
        known = [overload or "default" for overload in there if (overload or "default") in here]
        assert [overload for overload in here if overload in known] == known, name


EXAMPLES = """
lambda t: t.tensor([[1.0, 2.0], [3.0, 4.0]]).sum(dim=0, keepdim=True)
lambda t: t.ops.aten.add(t.tensor([1, 2]), 20)
lambda t: t.ops.aten.add(t.tensor([1.0]), t.tensor([[2.0], [3.0]]), alpha=10)
lambda t: t.ops.aten.addcmul(t.tensor([1.0]), t.tensor([2.0]), t.tensor([3.0]), value=0.1)
lambda t: t.ops.aten.cat([t.tensor([1, 2]), t.tensor([3])])
lambda t: t.ops.aten.clamp(t.tensor([-1.7, 0.3]), min=-0.5, max=0.5)
lambda t: t.ops.aten.cumsum(t.tensor([1, 2, 3]), dim=0)
lambda t: t.ops.aten.diff(t.tensor([1, 3, 2]))
lambda t: t.ops.aten.gather(t.tensor([[1, 2], [3, 4]]), 1, t.tensor([[0, 0], [1, 0]]))
lambda t: t.ops.aten.masked_select(t.tensor([1, 2, 3]), t.tensor([True, False, True]))
lambda t: t.ops.aten.max(t.tensor([[1.0, 5.0], [7.0, 2.0]]), 1)[1]
lambda t: t.ops.aten.mean(t.tensor([[1.0, 2.0], [3.0, 4.0]]), [1])
lambda t: t.ops.aten.pow(2, t.tensor([1.0, 2.0]))
lambda t: t.ops.aten.remainder(t.tensor([-3, -2, -1, 1, 2, 3]), 2)
lambda t: t.ops.aten.roll(t.tensor([1, 2, 3, 4]), [1])
lambda t: t.ops.aten.searchsorted(t.tensor([1, 3, 5]), t.tensor([2, 4]))
lambda t: t.ops.aten.softmax(t.tensor([1.0, 2.0]), 0)
lambda t: t.ops.aten.tril(t.tensor([[1, 2], [3, 4]]))
lambda t: t.ops.aten.where(t.tensor([True, False]), t.tensor([1.0, 2.0]), 0.0)
lambda t: t.tensor([[1, 2], [3, 4]])[..., 0]
lambda t: t.tensor([[1, 2], [3, 4]]).permute(1, 0).reshape(-1)
lambda t: 2 ** t.tensor([1.0, 2.0]) - 1
lambda t: 7 // t.tensor([2, -2])
lambda t: t.vmap(t.ops.aten.dot)(t.tensor([[1.0, 2.0]]), t.tensor([[3.0, 4.0]]))
""".strip().splitlines()


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_give_what_they_give_there(example):
    program = eval(example)
    found, expected = program(tl), program(torch)
    assert str(found.dtype).split(".")[-1] == str(expected.dtype).split(".")[-1]
    np.testing.assert_allclose(np.asarray(found), expected.numpy(), rtol=1e-6)


#: Parts of lines to skip: those that give a different result each time, print, depend on one tensor's memory, or show a rounding
#: error, such as a product with the inverse of a random matrix, where the error depends on the processor's order of summation.
OTHERS = ("rand", "multinomial", "normal", "bernoulli", "poisson", "dropout", "empty", "print(", "seed", "compile", "set_", "data_ptr",
          "is_conj", "is_neg", "dist(torch.inverse", "inverse() @")  # fmt: skip


def ours(value):
    """The value of this library for a PyTorch value; `NotImplemented` or None if it cannot be compared."""
    if isinstance(value, torch.Tensor) and value.layout == torch.strided and value.device.type == "cpu" and not value.is_quantized:
        value = value.detach().resolve_conj().resolve_neg()
        return tl.from_numpy(value.clone().numpy()) if value.dtype != torch.bfloat16 else tl.from_dlpack(value.clone())
    if isinstance(value, torch.dtype):
        return getattr(tl, str(value).removeprefix("torch."), None)
    if type(value) in (list, tuple):
        return type(value)(ours(one) for one in value)
    return value if isinstance(value, (int, float, complex, str, slice, type(None), type(...))) else NotImplemented


def flat(value):
    return [leaf for one in value for leaf in flat(one)] if isinstance(value, (list, tuple)) else [value]


def is_same(found, expected):
    found, expected = flat(found), flat(expected)
    if len(found) != len(expected):
        return False
    for one, other in zip(found, expected):
        if isinstance(other, tl.Tensor):
            if not isinstance(one, tl.Tensor) or (one.shape, one.dtype) != (other.shape, other.dtype):
                return False
            one = one.detach().resolve_conj().resolve_neg()
            one, other = (np.asarray(x.to(tl.float32) if x.dtype == tl.bfloat16 else x) for x in (one, other))
            if not np.allclose(one, other, rtol=1e-4, atol=1e-6, equal_nan=True):
                return False
        elif one != other and not (one != one and other != other):
            return False
    return True


def documented(name):
    """The lines of an operator's examples, each with the values of the variables before it, and PyTorch's result."""
    text = getattr(getattr(torch, name, None), "__doc__", None) or ""
    there = {"torch": torch, "math": __import__("math"), "np": np}
    torch.manual_seed(0)  # per operator, so that random numbers in the examples of one do not affect another's
    try:
        examples = doctest.DocTestParser().get_examples(text)
    except ValueError:  # not a valid program
        return
    for example in examples:
        before, line = dict(there), example.source.strip()
        try:
            code = compile(line, name, "eval")
        except SyntaxError:
            code = None
        try:
            value = eval(code, there) if code else exec(line, there)
        except Exception:
            continue
        if code and not any(word in line for word in OTHERS):
            yield line, {key: ours(one) for key, one in before.items()}, ours(value)


def test_what_its_documentation_shows_is_what_comes_here():
    same, different, other = [], [], 0
    for name in sorted({row[1] for row in _native.catalogue() if row[0] == "aten" and not row[1].startswith("_")}):
        for line, names, expected in documented(name):
            try:
                found = eval(line, {**names, "torch": tl, "math": __import__("math"), "np": np})
            except Exception:  # what the package lacks, such as sizes as separate arguments of functions
                other += 1
                continue
            if expected is not NotImplemented:
                (same if is_same(found, expected) else different).append(line)
    print(f"{len(same)} lines are the same, {len(different)} differ, {other} are not for this package")
    assert not different, "\n".join(different)
    assert len(same) > 300


def test_memory_goes_there_and_back():
    x = torch.arange(4.0)
    y = tl.from_dlpack(x)
    y.mul_(2)
    assert x.tolist() == [0, 2, 4, 6]
    torch.from_dlpack(y).add_(1)
    assert y.tolist() == [1, 3, 5, 7]
