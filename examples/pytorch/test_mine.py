"""Tests the example's operators in PyTorch."""

import ast
import os
import subprocess
import sys
import zipfile

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


def test_all_operators_pass_opcheck():
    samples = {
        "log_cosh": [(rand(2, 3),), (torch.rand(3, 2).t(),), (torch.rand(0),)],
        "ramp_": [(torch.empty(4), 0.5), (torch.empty(2, 3),)],
        "huber": [(rand(3), rand(3))],
    }
    assert mine.opcheck(samples) == 6
    with pytest.raises(ValueError, match=r"operators without samples: \['huber', 'ramp_'\]"):
        mine.opcheck({"log_cosh": []})
    assert all(" has no " in line for line in mine.report()), "but for what an older PyTorch has not, all is there"


def test_transforms():
    x = torch.rand(4, 3)
    assert torch.allclose(torch.vmap(torch.func.grad(lambda x: mine.log_cosh(x).sum()))(x), x.tanh())
    with torch.autocast("cpu"):
        assert mine.log_cosh(x.bfloat16()).dtype == torch.float32


@pytest.mark.skipif("MINE_LIBRARY" not in os.environ, reason="a wheel around a library that is built already")
def test_a_wheel_has_the_library_a_stub_and_docstrings(tmp_path):
    import build_wheel

    name = build_wheel.build_wheel(tmp_path, {"library": os.environ["MINE_LIBRARY"]})
    with zipfile.ZipFile(tmp_path / name) as archive:
        assert archive.testzip() is None
        archive.extractall(tmp_path)
    stub = (tmp_path / "mine" / "__init__.pyi").read_text()
    ast.parse(stub)
    assert "def log_cosh(self: Tensor) -> Tensor:\n    \"The logarithm of the hyperbolic cosine.\"" in stub
    assert "def ramp_(self: Tensor, step: float = ...) -> None:" in stub
    program = "import mine, torch; print(torch.ops.mine.log_cosh(torch.zeros(2)), mine.log_cosh.__doc__)"
    without = {key: value for key, value in os.environ.items() if key != "MINE_LIBRARY"}
    library = next((tmp_path / "mine").glob("libmine.*"), None)
    assert library, "the library has the package's name"
    ran = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=without, capture_output=True, text=True)
    assert ran.stdout == "tensor([0., 0.]) log_cosh(self: Tensor) -> Tensor\n\nThe logarithm of the hyperbolic cosine.\n", ran


def test_compiled():
    def program(x):
        return (mine.log_cosh(x) * 2).sum()

    x = rand(3)
    program(x).backward()
    expected, x.grad = x.grad, None
    torch.compile(program, backend="aot_eager", fullgraph=True)(x).backward()
    assert torch.allclose(expected, x.grad)
