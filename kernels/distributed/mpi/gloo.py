"""The PyTorch side of bench.sh: `gloo.py all_reduce` and `gloo.py train_step` print the same as our programs of these names."""

import sys
import time

import torch
import torch.distributed as dist

LAYERS, WIDTH, BATCH = 3, 1024, 256


def median(repeats, body):
    """The duration in seconds; the first two runs set up memory."""
    times = []
    for _ in range(repeats + 2):
        dist.barrier()
        begun = time.perf_counter()
        body()
        times.append(time.perf_counter() - begun)
    return sorted(times[2:])[repeats // 2]


def report(line):
    if dist.get_rank() == 0:
        print(line)


def all_reduce():
    for kilobytes in [1, 16, 256, 4096, 65536, 262144]:
        x = torch.ones(kilobytes * 256)
        seconds = median(9 if kilobytes > 1024 else 200, lambda: dist.all_reduce(x))
        report(f"{kilobytes} {seconds * 1e6:.1f} {kilobytes * 1024 / seconds / 1e9:.3f}")


def train_step():
    torch.manual_seed(0)
    linear = lambda: [torch.nn.Linear(WIDTH, WIDTH, bias=False), torch.nn.ReLU()]
    network = torch.nn.Sequential(*[layer for _ in range(LAYERS) for layer in linear()])
    network = torch.nn.parallel.DistributedDataParallel(network, bucket_cap_mb=WIDTH * WIDTH * 4 / 2**20)
    optimizer = torch.optim.SGD(network.parameters(), lr=1e-3)
    x = torch.randn(BATCH, WIDTH).chunk(dist.get_world_size())[dist.get_rank()]

    def backward():
        optimizer.zero_grad()
        network(x).square().mean().backward()

    def step():
        backward()
        optimizer.step()

    def unsent():
        with network.no_sync():
            step()

    def after():
        with network.no_sync():
            backward()
        for parameter in network.parameters():
            dist.all_reduce(parameter.grad)  # gloo cannot average
            parameter.grad /= dist.get_world_size()
        optimizer.step()

    report(" ".join(f"{median(15, body) * 1e3:.2f}" for body in [step, unsent, after]))


torch.set_num_threads(1)
dist.init_process_group("gloo")
{"all_reduce": all_reduce, "train_step": train_step}[sys.argv[1]]()
dist.destroy_process_group()
