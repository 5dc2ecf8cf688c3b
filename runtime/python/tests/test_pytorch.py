"""PyTorch as the referee, where it is installed: orders of overloads, and examples of its documentation."""

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


def test_memory_goes_there_and_back():
    x = torch.arange(4.0)
    y = tl.from_dlpack(x)
    y.mul_(2)
    assert x.tolist() == [0, 2, 4, 6]
    torch.from_dlpack(y).add_(1)
    assert y.tolist() == [1, 3, 5, 7]
