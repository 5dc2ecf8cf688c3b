"""Libraries that were built against PyTorch's stable C ABI: one in C, and those named by environment variables."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import torch_library as tl

SOURCES = Path(__file__).parents[2] / "stable" / "tests" / "extensions"

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="libraries load on Linux")


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    if shutil.which("cc") is None:
        pytest.skip("there is no compiler for C")
    library = tmp_path_factory.mktemp("library") / "libplain.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, SOURCES / "plain.c"], check=True)
    return library, tl.load_library(library)


@linux
def test_its_operators_are_there(plain):
    library, names = plain
    assert "plain::add_one" in names and len(names) == 46
    assert "add_one" in dir(tl.ops.plain)
    x = tl.tensor([1.0, 2.0], dtype=tl.float64)
    assert tl.ops.plain.add_one(x).numpy().tolist() == [2.0, 3.0]
    assert tl.ops.plain.fill_(x) is x
    assert x.numpy().tolist() == [0.5, 0.5]
    first, second = tl.ops.plain.swap(x, [3, 4])
    assert first == [3, 4] and second.numpy().tolist() == [0.5, 0.5]
    assert tl.ops.plain.spell(1, 2.5, True, "text", tl.int64, "cpu") == "1 2.5 1 text 4 0:-1"
    assert tl.load_library(library) == names


@linux
def test_memory_of_numpys_is_shared(plain):
    array = np.zeros(3)
    tl.ops.plain.fill_(tl.from_numpy(array), 2.0)
    assert array.tolist() == [2.0] * 3


@linux
def test_errors_are_exceptions(plain):
    with pytest.raises(RuntimeError, match="only float64 is served"):
        tl.ops.plain.add_one(tl.tensor([1]))
    with pytest.raises(NotImplementedError, match="there is no CUDA"):
        tl.ops.plain.ask_for_cuda()
    with pytest.raises(OSError, match="missing.so"):
        tl.load_library("missing.so")
    with pytest.raises(OSError, match="no shared object"):
        tl.load_library(__file__)


@linux
@pytest.mark.skipif("MINE_LIBRARY" not in os.environ, reason="`MINE_LIBRARY` names a library of Rust, as `.ci/pytorch` builds it")
def test_a_library_of_rust_for_pytorch_loads():
    names = tl.load_library(os.environ["MINE_LIBRARY"])
    assert "mine::log_cosh" in names
    x = np.linspace(-2, 2, 5)
    found = tl.ops.mine.log_cosh(tl.from_numpy(x))
    np.testing.assert_allclose(found.numpy(), np.log(np.cosh(x)), rtol=1e-12)
    ramp = tl.tensor([0.0] * 3, dtype=tl.float32)
    tl.ops.mine.ramp_(ramp, 0.5)
    assert ramp.numpy().tolist() == [0.0, 0.5, 1.0]
    # In PyTorch, Python code registers the derivative; here the library itself provides it.
    leaf = tl.tensor(x, requires_grad=True)
    tl.ops.mine.log_cosh(leaf).sum().backward()
    np.testing.assert_allclose(leaf.grad.numpy(), np.tanh(x), rtol=1e-12)
