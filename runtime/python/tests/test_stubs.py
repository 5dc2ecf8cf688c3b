"""The errors that a type checker finds in programs with the stubs of the wheel."""

import subprocess
import sys
from pathlib import Path

import pytest

import torch_library as tl
from torch_library import stubs

PROGRAM = '''
import torch_library as tl

x = tl.tensor([[1.0, 2.0]])
sums: tl.Tensor = tl.ops.aten.add(x, x, alpha=2).sum(dim=0)
values, indices = tl.ops.aten.max(x, 1)
reveal_type(values)
reveal_type(x.view(2, 1))
reveal_type(tl.ops.aten.is_neg(x))
with tl.no_grad(), tl.autocast("cpu", dtype=tl.bfloat16):
    y: tl.Tensor = (x @ x.T + 1)[0, :1]
wrong_type = tl.ops.aten.add(x, "a")
wrong_name = tl.ops.aten.relu(x, inplace=True)
wrong_method = x.sum(dim="a")
'''


def mypy(*arguments):
    pytest.importorskip("mypy")
    done = subprocess.run([sys.executable, "-m", "mypy", *arguments], capture_output=True, text=True)
    return done.stdout + done.stderr


def test_a_type_checker_tells_good_calls_from_bad_ones(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, "utf-8")
    said = mypy("--strict", "--cache-dir", str(tmp_path / "cache"), str(program))
    lines = said.splitlines()
    errors = {int(line.split(":")[1]) for line in lines if " error: " in line}
    assert errors == {12, 13, 14}, said
    assert [line.split('"')[1] for line in lines if "Revealed" in line] == [
        "torch_library.Tensor", "torch_library.Tensor", "bool",
    ], said  # fmt: skip


def test_the_stubs_are_of_these_operators(tmp_path):
    package = Path(tl.__file__).parent
    if not (package / "_operators.pyi").exists():
        pytest.skip("a development build without stubs")
    # In a separate process: other tests load libraries, whose operators are then in this process's catalogue as well.
    program = "import sys, torch_library as tl; from torch_library import stubs; sys.stdout.buffer.write(stubs.stubs(tl._native.catalogue()).encode())"
    fresh = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout.decode()
    assert (package / "_operators.pyi").read_text("utf-8") == fresh
    said = mypy("--strict", "--cache-dir", str(tmp_path), "-p", "torch_library._operators", "-p", "torch_library.autograd")
    assert "Success" in said or said.strip() == "", said


def test_docstrings_are_those_of_the_declarations():
    if not (Path(tl.__file__).parent / "docs.json").exists():
        pytest.skip("a development build without docstrings")
    text = tl.ops.aten.add.__doc__
    assert text.startswith("aten::add.Tensor(Tensor self,") and "The sum `self + alpha * other`." in text
    assert "cargo" not in text and "```" not in text
    assert "The sum" in tl.Tensor.add.__doc__ if hasattr(tl.Tensor, "add") else tl.tensor(1).add.__doc__
