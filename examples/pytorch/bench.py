"""Nanoseconds per call, from Python, of operators that do nothing, or the same: in Rust, in Python, in C++.

`python bench.py LIBRARY` measures the operators of a library that was built with `--release` from
`runtime/pytorch/tests/operators`; the others it makes itself. Each figure is the least of many short rounds.
"""

import ctypes
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time

import torch

CPP = """
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/tensor.h>
void nop(torch::stable::Tensor x) {}
STABLE_TORCH_LIBRARY(stable_cpp, m) { m.def("nop(Tensor self) -> ()"); }
STABLE_TORCH_LIBRARY_IMPL(stable_cpp, CPU, m) { m.impl("nop", TORCH_BOX(&nop)); }
"""


def cpp():
    """The same operator in C++ over the stable C functions, or why there is none."""
    compiler = shutil.which("c++") or shutil.which("g++")
    if compiler is None:
        return None
    folder = pathlib.Path(tempfile.mkdtemp())
    (folder / "nop.cpp").write_text(CPP)
    root = pathlib.Path(torch.__file__).parent
    command = [compiler, "-O2", "-std=c++20", "-shared", "-fPIC", "-DTORCH_TARGET_VERSION=0x020a000000000000"]
    command += ["-I", root / "include", "-I", sysconfig.get_paths()["include"], folder / "nop.cpp"]
    command += ["-o", folder / "nop.so", "-L", root / "lib", "-ltorch_cpu", f"-Wl,-rpath,{root / 'lib'}"]
    made = subprocess.run(command, capture_output=True, text=True)
    if made.returncode:
        print("no C++:", made.stderr.strip().splitlines()[0])
        return None
    torch.ops.load_library(str(folder / "nop.so"))
    return torch.ops.stable_cpp.nop.default


def nanoseconds(rows, seconds, calls=300):
    """The least that a call of each took, in turns: what else the machine does meets all of them alike."""
    least = [float("inf")] * len(rows)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for index, (_, function, arguments) in enumerate(rows):
            start = time.perf_counter_ns()
            for _ in range(calls):
                function(*arguments)
            least[index] = min(least[index], (time.perf_counter_ns() - start) / calls)
    return least


@torch.library.custom_op("bench_python::nop", mutates_args=())
def python_nop(x: torch.Tensor) -> None:
    pass


@torch.library.custom_op("bench_python::hypotenuse", mutates_args=())
def python_hypotenuse(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.hypot(x, y)


def main():
    path = sys.argv[1]
    start = time.perf_counter()
    torch.ops.load_library(path)
    loaded = time.perf_counter() - start
    library = ctypes.CDLL(path)
    library.torch_library_glue.restype = ctypes.c_char_p
    glue = {}
    exec(compile(library.torch_library_glue(), "glue.py", "exec"), glue)
    torch.set_num_threads(1)
    x, y = torch.ones(4), torch.ones(4)
    plain = [("hypotenuse of 4 elements, Rust, no derivative registered", torch.ops.door.hypotenuse.default, (x, y))]
    (before,) = nanoseconds(plain, 3)
    start = time.perf_counter()
    glue["load"](path)
    registered = time.perf_counter() - start
    print(f"torch {torch.__version__}; loading {loaded * 1e3:.1f} ms, the Python for it {registered * 1e3:.1f} ms")
    rows = [
        ("empty operator, Rust", torch.ops.door.nop.default, (x,)),
        ("empty operator, custom_op", torch.ops.bench_python.nop.default, (x,)),
        ("three arguments, Rust", torch.ops.door.nop3.default, (x, y)),
        ("hypotenuse of 4 elements, Rust, differentiable", torch.ops.door.hypotenuse.default, (x, y)),
        ("hypotenuse of 4 elements, custom_op", torch.ops.bench_python.hypotenuse.default, (x, y)),
        ("torch.hypot of 4 elements", torch.hypot, (x, y)),
    ]
    if (stable := cpp()) is not None:
        rows.insert(1, ("empty operator, C++ with the stable C functions", stable, (x,)))
    print(f"{plain[0][0]:60}{before:8.0f} ns")
    for (name, *_), found in zip(rows, nanoseconds(rows, 20)):
        print(f"{name:60}{found:8.0f} ns")


if __name__ == "__main__":
    main()
