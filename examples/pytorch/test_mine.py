"""What the example promises."""

import pytest
import torch

import mine


def rand(*sizes):
    return torch.rand(*sizes, dtype=torch.float64, requires_grad=True)


def test_values():
    x = torch.tensor([[0.0, 1.0], [-2.0, 3.0]])
    assert torch.allclose(torch.ops.mine.log_cosh(x.t()), x.t().cosh().log())
    assert mine.log_cosh(torch.tensor(0)).dtype == torch.float32


def test_writes():
    x = torch.empty(4)
    assert mine.ramp_(x, step=0.5) is None
    assert x.tolist() == [0, 0.5, 1, 1.5] and x._version == 1
    with pytest.raises(TypeError, match="a ramp is of float32, not of int64"):
        mine.ramp_(torch.empty(4, dtype=torch.int64))


def test_derivatives():
    assert torch.autograd.gradcheck(mine.log_cosh, rand(3))
    assert torch.autograd.gradgradcheck(mine.log_cosh, rand(3))
    assert torch.autograd.gradcheck(mine.huber, (rand(3), rand(3)))


def test_opcheck():
    torch.library.opcheck(torch.ops.mine.log_cosh.default, (rand(2, 3),))
    torch.library.opcheck(torch.ops.mine.huber.default, (rand(3), rand(3)))


def test_compiled():
    def program(x):
        return (mine.log_cosh(x) * 2).sum()

    x = rand(3)
    program(x).backward()
    expected, x.grad = x.grad, None
    torch.compile(program, backend="aot_eager", fullgraph=True)(x).backward()
    assert torch.allclose(expected, x.grad)
