"""Writes `src/order.txt`: the order in which PyTorch tries the overloads of its operators.

    python -m torch_library.stubs --overloads | PYTHON_WITH_PYTORCH tests/record_order.py

Standard input has a line for each operator of this library that has several overloads:
`name: overload overload`.
"""

import sys
from pathlib import Path

import torch


def main():
    lines = []
    for line in sys.stdin:
        name, overloads = line.split(":")
        here = set(overloads.split())
        try:
            _, there = torch._C._jit_get_operation(f"aten::{name}")
        except RuntimeError:
            continue
        order = [word for word in (overload or "default" for overload in there) if word in here]
        if len(order) > 1:
            lines.append(f"{name}: {' '.join(order)}\n")
    path = Path(__file__).parent.parent / "src" / "order.txt"
    path.write_text("".join(lines), "utf-8")


if __name__ == "__main__":
    main()
