"""Writes print.txt: tensors and the texts that PyTorch's repr has for them. Run with PyTorch 2.15.0."""

import itertools
import random
import sys

import torch

random.seed(sys.argv[2] if len(sys.argv) > 2 else 7)
NAN, INF = float("nan"), float("inf")


def case(dtype, sizes, values, requires_grad=False):
    """`values` is a list, or a step: then element i is i * step."""
    count = 1
    for size in sizes:
        count *= size
    listed = values if isinstance(values, list) else [i * values for i in range(count)]
    text = f"*{values}" if not isinstance(values, list) else " ".join(str(v).strip("()") for v in values)
    if dtype == "bool":
        listed = [bool(v) for v in listed]
    x = torch.tensor(listed, dtype=getattr(torch, dtype)).reshape(sizes)
    x.requires_grad_(requires_grad)
    grad = " requires_grad" if requires_grad else ""
    print(f"== {dtype}{grad} [{','.join(map(str, sizes))}] {text}\n{x!r}")


def fixed():
    for dtype in "bool uint8 int8 int16 int32 int64 uint16 uint32 uint64".split():
        case(dtype, [2, 2], [0, 1, 100, 7])
    for dtype in "float16 bfloat16 float32 float64 complex32 bcomplex32 complex64 complex128".split():
        case(dtype, [3], [1.0, 2.5, 3.0])
        case(dtype, [], [1.5])
        case(dtype, [0], [])
        case(dtype, [2, 0], [])
    case("int64", [0], [])
    case("int64", [], [-3])
    case("bool", [], [1])
    for values in (
        [1.0, 2.0], [0.0, -0.0], [NAN], [NAN, 1.0], [INF, -INF, 1.5], [NAN, INF, 0.0], [1e8, 1.0], [1e9], [1e8],
        [1e-4], [9e-5, 1.0], [1.0, 1000.0], [1.5, 1500.1], [1.5, 1500.0], [1e30, NAN], [1e-30, 0.0], [100000.0, 123456.0],
        [-1.0, 2.0, 1e4], [0.1, -0.25, 1234.5], [1e10, -1e10, INF], [0.00012, 0.1], [12345678.0], [1e100], [0.99999],
        [-0.00001, 5.0], [3.0, NAN, 1e5], [2.5e-5], [1e-310], [0.0001, 0.05],
    ):
        case("float32" if max(map(abs, values)) < 1e38 and 1e-310 not in values else "float64", [len(values)], values)
    for dtype in "float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz float8_e8m0fnu".split():
        for values in ([], [0.0], [0.0, 1.0], [NAN, 0.0], [0.0, 1.5, 1e-8], [1.0625, -2.6, 17.0, 0.3], [INF, 448.0, 1e10], [1e-38, 2.0]):
            case(dtype, [len(values)], values)
        case(dtype, [], [1.5])
        case(dtype, [1001], 0.25)
    case("complex64", [2], [1 + 2j, -3.5 - 4j])
    case("complex64", [3], [complex(0.0, -0.0), complex(NAN, INF), complex(-INF, NAN)])
    case("complex128", [2, 2], [1j, 2 + 1e9j, 1e-9 + 0j, 0j])
    case("complex64", [], [1 + 1j])
    for sizes in ([30], [100], [1001], [3, 40], [7, 200], [2, 3, 4], [2, 1, 2, 2], [10, 11, 12], [1, 1], [1, 0, 3], [5, 5, 50]):
        case("float32", sizes, 0.5)
        case("int64", sizes, 1)
    case("float64", [40], 0.1)
    case("complex64", [20], 0.25)
    case("complex64", [2000], 0.25)
    case("bool", [40], 1)
    case("float32", [1000], 100.0)
    case("float64", [2, 7], 1.0)
    for count in range(6, 12):
        case("float64", [count], 1.0)
        case("float32", [count], 0.5, requires_grad=True)
    case("int32", [3, 0], [])
    case("float32", [2], [1.0, 2.0], requires_grad=True)
    case("float64", [], [1.0], requires_grad=True)


def fuzz(count):
    for _ in range(count):
        sizes = [random.choice([0, 1, 2, 3, 4, 7, 8, 13, 40, 300][: 10 - 2 * i]) for i in range(random.randrange(4))]
        total = 1
        for size in sizes:
            total *= size
        dtype = random.choice("bool uint8 int16 int64 float16 bfloat16 float32 float64 complex64 complex128".split())
        scale = 10.0 ** random.randint(-6, 4) if "float" in dtype or "complex" in dtype else 100

        def real():
            if dtype in ("bool", "uint8"):
                return random.randrange(2)
            if "int" in dtype:
                return random.randrange(-scale, scale)
            special = random.random()
            if special < 0.05:
                return random.choice([0.0, -0.0, NAN, INF, -INF])
            value = random.choice([random.uniform(-scale, scale), float(random.randint(-50, 50)), random.random()])
            return float(f"{value:.6g}")

        if total > 60:
            values = random.choice([1, 2]) if dtype == "bool" or "int" in dtype else round(random.random() * scale, 6)
            if "int" in dtype and total * values > 30000 or dtype == "uint8" or dtype == "float16":
                continue
        else:
            values = [complex(real(), real()) if "complex" in dtype else real() for _ in range(total)]
        case(dtype, sizes, values, requires_grad=dtype[0] in "fc" and random.random() < 0.1)


fixed()
fuzz(int(sys.argv[1]) if len(sys.argv) > 1 else 40)
