"""The counterpart of training.rs: the same steps in eager PyTorch, with RAYON_NUM_THREADS threads."""

import os
import sys
import time

import torch
import torch.nn.functional as F

torch.ones(1, requires_grad=True).exp().sum().backward()  # loads what every program needs
torch.set_num_threads(int(os.environ.get("RAYON_NUM_THREADS", "1")))


def perceptron(p, x):
    x = F.relu(F.linear(x.reshape(-1, 64), p[0], p[1]))
    return F.linear(F.relu(F.linear(x, p[2], p[3])), p[4], p[5])


def convolutional(p, x):
    x = F.relu(F.conv2d(x, p[0], p[1], padding=1))
    x = F.relu(F.conv2d(x, p[2], p[3], padding=1))
    return F.linear(F.max_pool2d(x, 2).flatten(1), p[4], p[5])


def transformer(p, x):
    g1, b1, w_in, b_in, w_out, b_out, g2, b2, w_up, b_up, w_down, b_down = p
    x = x.reshape(-1, 1, 64).expand(-1, 16, 64)
    heads = F.linear(F.layer_norm(x, (64,), g1, b1), w_in, b_in).reshape(-1, 16, 3, 4, 16).permute(2, 0, 3, 1, 4)
    seen = F.scaled_dot_product_attention(heads[0], heads[1], heads[2])
    x = x + F.linear(seen.transpose(1, 2).reshape(-1, 16, 64), w_out, b_out)
    return F.linear(F.gelu(F.linear(F.layer_norm(x, (64,), g2, b2), w_up, b_up)), w_down, b_down).mean(1)


BLOCK = [(64,), (64,), (192, 64), (192,), (64, 64), (64,), (64,), (64,), (256, 64), (256,), (10, 256), (10,)]


def memory(what):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(what))


def measure(name, batch, shapes, logits):
    if sys.argv[1:] not in ([], [f"{name}-{batch}"]):
        return
    open("/proc/self/clear_refs", "w").write("5")  # resets the peak
    before = memory("VmRSS:")
    parameters = [torch.empty(shape).uniform_(-0.1, 0.1).requires_grad_() for shape in shapes]
    optimizer = torch.optim.AdamW(parameters, lr=1e-3, fused=True)
    images, labels = torch.rand(batch, 1, 8, 8), torch.arange(batch) % 10

    def step():
        optimizer.zero_grad()
        F.cross_entropy(logits(parameters, images), labels).backward()
        optimizer.step()

    for _ in range(5):
        step()
    best, start = float("inf"), time.perf_counter()
    while time.perf_counter() - start < 0.7:
        begin = time.perf_counter_ns()
        step()
        best = min(best, time.perf_counter_ns() - begin)
    print(f"{name}-{batch} {best} {memory('VmHWM:') - before}")


for batch in (1, 32, 128):
    measure("transformer", batch, BLOCK, transformer)
    measure("perceptron", batch, [(256, 64), (256,), (256, 256), (256,), (10, 256), (10,)], perceptron)
    measure("digits", batch, [(16, 1, 3, 3), (16,), (32, 16, 3, 3), (32,), (10, 512), (10,)], convolutional)
