"""Nanoseconds per call, from Python, of operators that do nothing, and of one operator implemented in Rust, in Python and in C++.

`cargo build --release` builds the library of this folder, and `python bench.py target/release/libbench.so [CALLS] [HUNDRED]` measures its
operators, and those that it defines in Python and C++. Each figure is the minimum of many short rounds. At the end it makes CALLS further calls
of each kind, and prints the growth of memory. HUNDRED is the library of `cargo build --release --features hundred --target-dir target/hundred`,
whose import is measured in separate processes.
"""

import ctypes
import pathlib
import resource
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time

import torch

STABLE = """
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>
using torch::stable::Tensor;
void nop(Tensor x) {}
Tensor myadd(Tensor x, Tensor y) {
  Tensor sum = torch::stable::empty_like(x);
  const float *a = x.const_data_ptr<float>(), *b = y.const_data_ptr<float>();
  float* c = sum.mutable_data_ptr<float>();
  for (int64_t i = 0; i < x.numel(); ++i) c[i] = a[i] + b[i];
  return sum;
}
STABLE_TORCH_LIBRARY(stable_cpp, m) { m.def("myadd(Tensor self, Tensor other) -> Tensor"); m.def("nop(Tensor self) -> ()"); }
STABLE_TORCH_LIBRARY_IMPL(stable_cpp, CPU, m) { m.impl("myadd", TORCH_BOX(&myadd)); m.impl("nop", TORCH_BOX(&nop)); }
"""

WHOLE = """
#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>
using at::Tensor;
Tensor kernel(const Tensor& x, const Tensor& y) {
  Tensor sum = at::empty_like(x);
  const float *a = x.const_data_ptr<float>(), *b = y.const_data_ptr<float>();
  float* c = sum.mutable_data_ptr<float>();
  for (int64_t i = 0; i < x.numel(); ++i) c[i] = a[i] + b[i];
  return sum;
}
Tensor call(const Tensor& x, const Tensor& y) {
  static auto op = c10::Dispatcher::singleton().findSchemaOrThrow("whole_cpp::myadd", "").typed<decltype(kernel)>();
  return op.call(x, y);
}
struct Add : torch::autograd::Function<Add> {
  static Tensor forward(torch::autograd::AutogradContext* ctx, const Tensor& x, const Tensor& y) {
    at::AutoDispatchBelowAutograd guard;
    return call(x, y);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext*, torch::autograd::variable_list g) {
    return {g[0], g[0]};
  }
};
Tensor recorded(const Tensor& x, const Tensor& y) { return Add::apply(x, y); }
void nop(const Tensor& x) {}
TORCH_LIBRARY(whole_cpp, m) { m.def("myadd(Tensor self, Tensor other) -> Tensor"); m.def("nop(Tensor self) -> ()"); }
TORCH_LIBRARY_IMPL(whole_cpp, CPU, m) { m.impl("myadd", kernel); m.impl("nop", nop); }
TORCH_LIBRARY_IMPL(whole_cpp, Autograd, m) { m.impl("myadd", recorded); }
"""


def cpp(name, source):
    """A C++ extension, or None if it cannot be built."""
    compiler = shutil.which("c++") or shutil.which("g++")
    if compiler is None:
        return None
    folder = pathlib.Path(tempfile.mkdtemp())
    (folder / "it.cpp").write_text(source)
    root = pathlib.Path(torch.__file__).parent
    command = [compiler, "-O2", "-std=c++20", "-shared", "-fPIC"]
    command += ["-DTORCH_TARGET_VERSION=0x020a000000000000"] if name == "stable_cpp" else []
    command += ["-I", root / "include", "-I", root / "include" / "torch" / "csrc" / "api" / "include"]
    command += ["-I", sysconfig.get_paths()["include"], folder / "it.cpp", "-o", folder / "it.so"]
    command += ["-L", root / "lib", "-ltorch_cpu", "-ltorch", "-lc10", f"-Wl,-rpath,{root / 'lib'}"]
    made = subprocess.run(command, capture_output=True, text=True)
    if made.returncode:
        print("no C++:", made.stderr.strip().splitlines()[0])
        return None
    torch.ops.load_library(str(folder / "it.so"))
    return getattr(torch.ops, name)


def nanoseconds(rows, seconds, round_ns=200_000):
    """The minimum time of a call of each function, in turn and in rounds so short that other work on the machine misses some."""
    least, calls = [float("inf")] * len(rows), [1] * len(rows)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for index, (_, function, arguments) in enumerate(rows):
            start = time.perf_counter_ns()
            for _ in range(calls[index]):
                function(*arguments)
            least[index] = min(least[index], (time.perf_counter_ns() - start) / calls[index])
            calls[index] = max(1, int(round_ns / least[index]))
    return least


@torch.library.custom_op("bench_python::nop", mutates_args=())
def python_nop(x: torch.Tensor) -> None:
    pass


@torch.library.custom_op("bench_python::myadd", mutates_args=())
def python_add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.add(x, y)


python_add.register_autograd(lambda ctx, grad: (grad, grad))


def forward_and_backward(function):
    def run(x, y):
        x.grad = y.grad = None
        function(x, y).backward(ONES)

    return run


ONES = torch.ones(4)


def imported(path):
    """Loads a library of ours and runs its Python code: the number of operators, and the seconds for each."""
    start = time.perf_counter()
    torch.ops.load_library(path)
    loaded = time.perf_counter() - start
    library = ctypes.CDLL(path)
    library.torch_library_glue.restype = ctypes.c_char_p
    start, glue = time.perf_counter(), {}
    exec(compile(library.torch_library_glue(), "glue.py", "exec"), glue)
    operators = glue["load"](path)
    return len(operators), loaded, time.perf_counter() - start


def print_import(path):
    count, loaded, registered = imported(path)
    print(f"{count} operators: loading {loaded * 1e3:.1f} ms, the Python for it {registered * 1e3:.1f} ms", flush=True)
    return loaded + registered


def import_in_processes(path, times=5):
    """The minimum time of imports in separate processes, each of which has loaded PyTorch."""
    program = f"import bench; print(bench.print_import({path!r}))"
    folder = pathlib.Path(__file__).parent
    runs = [subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True) for _ in range(times)]
    best = min((run.stdout.split("\n") for run in runs), key=lambda lines: float(lines[1]))
    print(best[0])


def kibibytes_more(calls, function, arguments):
    """The growth of memory over calls, without the first thousand."""
    for _ in range(1000):
        function(*arguments)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(calls):
        function(*arguments)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before


def main():
    path, calls = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0
    print(f"torch {torch.__version__}")
    print_import(path)
    if len(sys.argv) > 3:
        import_in_processes(str(pathlib.Path(sys.argv[3]).resolve()))
    torch.set_num_threads(1)
    x, y = torch.ones(4), torch.ones(4)
    v, w = torch.ones(4, requires_grad=True), torch.ones(4, requires_grad=True)
    stable, whole = cpp("stable_cpp", STABLE), cpp("whole_cpp", WHOLE)
    python, ours = torch.ops.bench_python, torch.ops.bench
    rows = [("empty operator, Rust", ours.nop.default, (x,))]
    sums = [("Rust", ours.myadd.default)]
    if stable:
        torch.library.register_autograd("stable_cpp::myadd", lambda ctx, grad: (grad, grad))
        rows.append(("empty operator, C++ with the stable C functions", stable.nop.default, (x,)))
        sums.append(("C++ with the stable C functions", stable.myadd.default))
    if whole:
        rows.append(("empty operator, C++", whole.nop.default, (x,)))
        sums.append(("C++", whole.myadd.default))
    rows += [("empty operator, custom_op", python.nop.default, (x,)), ("three arguments, Rust", ours.nop3.default, (x, y))]
    for name, add in [*sums, ("custom_op", python.myadd.default), ("torch.add", torch.add)]:
        rows.append((f"sum of 4 elements, differentiable, {name}", add, (x, y)))
        rows.append((f"the same, recorded, {name}", add, (v, w)))
        rows.append((f"the same and its backward pass, {name}", forward_and_backward(add), (v, w)))
    for (name, *_), found in zip(rows, nanoseconds(rows, 30)):
        print(f"{name:75}{found:8.0f} ns")
    for name, function, arguments in [
        ("an empty operator", ours.nop.default, (x,)),
        ("sums", ours.myadd.default, (x, y)),
        ("recorded sums", ours.myadd.default, (v, w)),
        ("sums with their backward passes", forward_and_backward(ours.myadd.default), (v, w)),
    ]:
        print(f"memory after {calls} calls: {kibibytes_more(calls, function, arguments):6} KiB more ({name})")


if __name__ == "__main__":
    main()
