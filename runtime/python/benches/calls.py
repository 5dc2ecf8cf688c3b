"""Prints what calls take here and in PyTorch, how long the import takes, and how large the wheel is.

    python benches/calls.py [WHEEL] [PYTHON_WITH_PYTORCH]

Times are the best of many runs, in nanoseconds a call, on one thread; the loop around a call, which takes about 10, is in them.
"""

import json
import statistics
import subprocess
import sys
import timeit
from pathlib import Path

CALLS = {
    "is_neg, which looks at a flag": "is_neg(x)",
    "is_neg of one overload": "is_neg_default(x)",
    "alias, which makes a tensor": "alias(x)",
    "alias as a method": "x.alias()",
    "add of two numbers": "add(x, y)",
    "add by name": "add(x, other=y, alpha=2)",
    "x + y": "x + y",
    "add of 4096 elements": "add(large, large)",
}


def times(module):
    aten = module.ops.aten
    x, y = module.tensor([1.0]), module.tensor([2.0])
    names = {
        "x": x, "y": y, "large": aten.zeros([4096]), "is_neg": aten.is_neg, "is_neg_default": aten.is_neg.default,
        "alias": aten.alias, "add": aten.add,
    }  # fmt: skip
    found = {}
    for what, call in CALLS.items():
        try:
            timer = timeit.Timer(call, globals=names)
            timer.timeit(10_000)
        except AttributeError:
            continue
        # Many short runs: on a busy machine, some of them are not interrupted.
        found[what] = min(timer.repeat(400, 1_000)) / 1_000 * 1e9
    return found


def import_time():
    """Milliseconds that `import` takes in a new process, the median of some."""
    program = "import time; t = time.perf_counter(); import torch_library; print(time.perf_counter() - t)"
    runs = [float(subprocess.check_output([sys.executable, "-c", program])) for _ in range(11)]
    return statistics.median(runs) * 1e3


def main():
    if sys.argv[1:] == ["--torch"]:
        import torch

        torch.set_num_threads(1)
        print(json.dumps(times(torch)))
        return
    import torch_library

    here = times(torch_library)
    there = {}
    if len(sys.argv) > 2:
        there = json.loads(subprocess.check_output([sys.argv[2], __file__, "--torch"]))
    print(f"{'a call of':32} {'here':>8} {'PyTorch':>8}  ns")
    for what, time in here.items():
        other = f"{there[what]:8.0f}" if what in there else " " * 8
        print(f"{what:32} {time:8.0f} {other}")
    print(f"\nimport torch_library: {import_time():.1f} ms")
    if len(sys.argv) > 1:
        print(f"wheel: {Path(sys.argv[1]).stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
