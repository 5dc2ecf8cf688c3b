"""What the rows of `figures` take in PyTorch: `name|milliseconds`, medians.

    python3 kernels/gpu/benches/of_pytorch.py DEVICE [--large]

Products and convolutions are computed in float32, without TF32, as the other sides do.
"""

import statistics
import sys
import time

import torch
from torch.nn import functional as f

device = torch.device(sys.argv[1])
is_large = "--large" in sys.argv
torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False


def numbers(*sizes):
    count = torch.Size(sizes).numel()
    return (torch.arange(count, dtype=torch.float32) * 0.77).sin().reshape(sizes).to(device)


def synchronize():
    if device.type != "cpu":
        torch.accelerator.synchronize()


def milliseconds(call, turn=0.15, turns=5):
    def run(count):
        start = time.perf_counter()
        for _ in range(count):
            call()
        synchronize()
        return time.perf_counter() - start

    run(3)
    some = max(1, min(2000, int(turn / 8 / max(run(1), 1e-6))))
    count = max(1, min(10_000, int(turn / (run(some) / some))))
    return statistics.median(run(count) / count for _ in range(turns)) * 1e3


def row(name, call):
    with torch.inference_mode():
        print(f"{name}|{milliseconds(call):.3f}", flush=True)


def ten(a, b, c):
    for _ in range(5):
        a = a * b + c
    return a


def rms_norm(x, weight):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * weight


def rows(long, wide, image, filters):
    length, (rows, columns) = f"{long:,}".replace(",", " "), wide
    a, b, c = (numbers(long) for _ in range(3))
    row(f"gelu(a × b + c), {length}", lambda: f.gelu(a * b + c))
    row(f"ten operators, {length}", lambda: ten(a, b, c))
    x, weight = numbers(*wide), numbers(columns)
    row(f"RMS norm, {rows}×{columns}", lambda: rms_norm(x, weight))
    row(f"softmax, {rows}×{columns}", lambda: x.softmax(1))
    row(f"layer norm, {rows}×{columns}", lambda: f.layer_norm(x, [columns], weight, weight))
    pixels, taps = numbers(*image), numbers(*filters)
    sizes = "×".join(str(size) for size in image)
    row(f"conv2d, {sizes}, 64 of 3×3", lambda: f.conv2d(pixels, taps, padding=1))


def product(name, *sizes):
    a, b = numbers(*sizes), numbers(*sizes)
    row(name, lambda: a @ b)


def training():
    """A gradient descent step of a perceptron with 64, 128 and 10 units, on a batch of 32."""
    parameters = [numbers(*sizes).requires_grad_() for sizes in [(64, 128), (128,), (128, 10), (10,)]]
    x, classes = numbers(32, 64), numbers(32, 10)

    def step():
        w1, b1, w2, b2 = parameters
        scores = ((x @ w1 + b1).relu() @ w2 + b2).log_softmax(1)
        (scores * classes).sum().neg().backward()
        with torch.no_grad():
            for parameter in parameters:
                parameter.add_(parameter.grad, alpha=-1e-3)
                parameter.grad = None

    print(f"training step, 64-128-10, 32 examples|{milliseconds(step):.3f}")


if is_large:
    rows(1 << 26, (16_384, 4096), (64, 64, 56, 56), (64, 64, 3, 3))
    product("mm, 4096", 4096, 4096)
    product("bmm, 64×512", 64, 512, 512)
else:
    small = numbers(64)
    row("relu, 64", lambda: small.relu())
    rows(1 << 20, (4096, 256), (8, 32, 56, 56), (64, 32, 3, 3))
    product("mm, 512", 512, 512)
    product("mm, 1024", 1024, 1024)
    there = numbers(1 << 22)
    here = there.cpu()
    row("16 MiB to the device", lambda: here.to(device))
    row("16 MiB to the host", lambda: there.cpu())
    training()
