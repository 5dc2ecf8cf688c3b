"""The peer of the second table of layers.rs: a graph of a million nodes in PyTorch."""

import time

import torch

torch.set_num_threads(1)
NODES = 1_000_000


def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096


leaf = torch.ones(1, dtype=torch.double, requires_grad=True)
leaf.neg().backward()
before, begin = resident(), time.perf_counter_ns()
x = leaf
for _ in range(NODES):
    x = x.neg()
built, memory = time.perf_counter_ns() - begin, resident() - before
begin = time.perf_counter_ns()
x.backward()
walked = time.perf_counter_ns() - begin
begin = time.perf_counter_ns()
del x
dropped = time.perf_counter_ns() - begin
print("\n| the same in PyTorch, per node | |\n|---|---:|")
for what, total in ("memory, bytes", memory), ("forward, ns", built), ("backward, ns", walked), ("dropped, ns", dropped):
    print(f"| {what} | {total // NODES} |")
