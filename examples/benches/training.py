"""The peer of training.rs: the same steps in PyTorch, eager, with as many threads as RAYON_NUM_THREADS says."""

import os
import time

import torch
import torch.nn.functional as F

torch.set_num_threads(int(os.environ.get("RAYON_NUM_THREADS", "1")))


def perceptron(p, x):
    x = F.relu(F.linear(x.reshape(-1, 64), p[0], p[1]))
    return F.linear(F.relu(F.linear(x, p[2], p[3])), p[4], p[5])


def convolutional(p, x):
    x = F.relu(F.conv2d(x, p[0], p[1], padding=1))
    x = F.relu(F.conv2d(x, p[2], p[3], padding=1))
    return F.linear(F.max_pool2d(x, 2).flatten(1), p[4], p[5])


def measure(name, batch, shapes, logits):
    parameters = [torch.empty(shape).uniform_(-0.1, 0.1).requires_grad_() for shape in shapes]
    optimizer = torch.optim.AdamW(parameters, lr=1e-3, fused=True)
    images, labels = torch.rand(batch, 1, 8, 8), torch.arange(batch) % 10
    best, start, warm = float("inf"), time.perf_counter(), 5
    while time.perf_counter() - start < 0.7 or warm > 0:
        begin = time.perf_counter_ns()
        optimizer.zero_grad()
        F.cross_entropy(logits(parameters, images), labels).backward()
        optimizer.step()
        warm -= 1
        if warm < 0:
            best = min(best, time.perf_counter_ns() - begin)
    print(f"{name}-{batch} {best}")


for batch in (1, 32, 128):
    measure("perceptron", batch, [(256, 64), (256,), (256, 256), (256,), (10, 256), (10,)], perceptron)
    measure("digits", batch, [(16, 1, 3, 3), (16,), (32, 16, 3, 3), (32,), (10, 512), (10,)], convolutional)
