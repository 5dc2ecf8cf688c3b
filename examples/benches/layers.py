"""The counterpart of the last tables of layers.rs: what recording and vmap add to a call in PyTorch, and a graph of a million nodes."""

import time

import torch

torch.set_num_threads(1)
NODES = 1_000_000


def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096


CALLS = 2000


def nanoseconds(x):
    """The minimum time per call over many batches of calls."""
    best = float("inf")
    for _ in range(100):
        begin = time.perf_counter_ns()
        for _ in range(CALLS):
            x.neg()
        best = min(best, (time.perf_counter_ns() - begin) / CALLS)
    return best


def batched(x):
    global in_vmap
    in_vmap = nanoseconds(x)
    return x


leaf = torch.ones(1, dtype=torch.double, requires_grad=True)
graph = leaf.neg()
torch.vmap(batched)(leaf.detach())
plain, recorded = nanoseconds(leaf.detach()), nanoseconds(leaf)
print("\n| `neg` of one number in PyTorch, from Python | ns | more than the first |\n|---|---:|---:|")
for what, took in ("the tensor alone", plain), ("recorded", recorded), ("batched", in_vmap):
    print(f"| {what} | {took:.1f} | {took - plain:.1f} |")
del graph

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
