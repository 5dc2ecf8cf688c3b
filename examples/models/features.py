"""Exports many small programs and models with whichever PyTorch runs this script, and records what each computes.

    python3 examples/models/features.py FOLDER    # PyTorch 2.10 to 2.15, and safetensors

The programs of `write.py` are among them. Each is exported in four ways: as it is; strictly (by TorchDynamo, the bytecode
interpreter); decomposed into PyTorch's core operators; and without in-place writes. What a version of PyTorch cannot export
is printed and skipped. `.ci/archive-versions` runs this with each supported version.
"""

import collections
import pathlib
import sys
import warnings

import torch
from torch import nn
from torch.export import Dim

import write as written

Pair = collections.namedtuple("Pair", "first second")
torch.utils._pytree._register_namedtuple(Pair, serialized_type_name="features.Pair")


class EveryType(nn.Module):
    """Weights of every type that an archive can have: zero-dimensional, empty, and ordinary."""

    NAMES = ["bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float16", "bfloat16",
             "float32", "float64", "complex64", "complex128"]

    def __init__(self):
        super().__init__()
        for name in self.NAMES:
            self.register_buffer(f"of_{name}", torch.tensor([[0, 1, 1], [1, 0, 3]]).to(getattr(torch, name)))
            self.register_buffer(f"one_{name}", torch.tensor(1).to(getattr(torch, name)))
            self.register_buffer(f"no_{name}", torch.zeros(0, 3).to(getattr(torch, name)))

    def forward(self, x):
        return [buffer.to(torch.complex128).abs().float().sum() + x for buffer in self.buffers()]


class Strided(nn.Module):
    """Weights that are views: transposed, sliced, expanded, channels-last, and sharing memory with one another."""

    def __init__(self):
        super().__init__()
        whole = torch.randn(4, 6)
        self.register_buffer("whole", whole)
        self.register_buffer("part", whole[1:3, ::2])
        self.register_buffer("row", whole[2])
        self.register_buffer("expanded", torch.randn(1, 3).expand(5, 3))
        self.images = nn.Parameter(torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last))
        self.turned = nn.Parameter(torch.randn(3, 4).t())
        self.same = self.turned

    def forward(self, x):
        return (self.whole.sum() + x, self.part * x, self.row + x, self.expanded * 2, self.images.mean(1) + x,
                self.turned @ torch.ones(3, 1) + self.same)


class Constants(nn.Module):
    """Constant tensors written in the program, and one that is an attribute."""

    def __init__(self):
        super().__init__()
        self.attribute = torch.arange(3.0)

    def forward(self, x):
        return x + torch.tensor([1.0, 2.0, 3.0]) * self.attribute + torch.tensor(2), torch.tensor([True, False])


class Structures(nn.Module):
    """Every structure that outputs may have: named tuples, dictionaries in lists, ordered dictionaries, None, numbers."""

    def forward(self, pair, named=None, *rest, flag: bool = True, **more):
        first = pair.first + (named["x"] if named else 0)
        ordered = collections.OrderedDict(b=first, a=[first * 2, {"c": rest[0] if rest else None}])
        return Pair(ordered, (pair.second if flag else None, 1.5, "text", None)), more["extra"] * 2


class Mutated(nn.Module):
    """Buffers and inputs that are mutated, through views too."""

    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(3, 2))
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))

    def forward(self, x, at):
        self.seen[at] = x[0]
        self.count += 1
        x[1:].mul_(3)
        y = x.clone()
        y.t()[0].add_(self.count)
        torch.add(y, 1, out=y)
        return y.relu_(), self.seen.clone(), self.count + 0


class SymbolicNumbers(nn.Module):
    """Floating-point and integer expressions of sizes: floats, quotients, roots, comparisons, minima, ranges."""

    def forward(self, x, y):
        n, m = x.shape[0], y.shape[-1]
        scaled = x * (n ** 0.5) / (m + 1) + float(n) / m
        grid = torch.linspace(0, 1, n + m) * (n // 2) + (m % 3)
        parts = y.unflatten(-1, (m // 2, 2)).sum(-1)
        return (scaled, grid, parts, torch.full((max(n, m),), min(n, m)), x[: n // 2].expand(n // 2, *x.shape[1:]),
                y.new_ones(n * m, 2), torch.sym_max(n, m) * x.sum(), n, n * m, y.narrow(-1, 1, m - 1), x.numel() + y)


class Decided(nn.Module):
    """Data-dependent sizes and numbers, with the constraints that the program promises."""

    def forward(self, x, counts):
        n = counts[0].item()
        torch._check(n >= 1)
        torch._check(n <= 8)
        found = (x > 0).nonzero().squeeze(1)
        return torch.arange(n) * 2, x.masked_select(x > 0), x[found].sum(), torch.ones(n, 2) * found.shape[0]


class Conditions(nn.Module):
    """Nested branches on elements and on sizes, with weights in them."""

    def __init__(self):
        super().__init__()
        self.one, self.other = nn.Linear(3, 3), nn.Linear(3, 3)

    def forward(self, x):
        def inner(x):
            return torch.cond(x.max() > 10, lambda x: x - 10, lambda x: self.other(x), (x,))

        y = torch.cond(x.sum() > 0, lambda x: self.one(x), inner, (x,))
        return y, torch.cond(x.shape[0] > 4, lambda x: x.sum(0), lambda x: x.mean(0), (x,))


class Loops(nn.Module):
    """Nested loops, and maps over several tensors."""

    def forward(self, x, y):
        from torch._higher_order_ops import map as map_rows, while_loop

        def step(i, x):
            _, x = while_loop(lambda j, x: j < 2, lambda j, x: (j + 1, x + j), (torch.zeros((), dtype=torch.int64), x))
            return i + 1, x * 0.5

        i, z = while_loop(lambda i, x: (i < 4) & (x.sum() < 100), step, (torch.zeros((), dtype=torch.int64), x))
        return i, z, map_rows(lambda row, other: (row * other, row - other.mean()), x, y)


class Scans(nn.Module):
    def forward(self, x):
        from torch._higher_order_ops.associative_scan import associative_scan

        return associative_scan(lambda a, b: a + b, x, 0, combine_mode="generic")


class Modes(nn.Module):
    """Nested regions: without gradients, with gradients enabled again, in other precisions and with autocast off."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        with torch.no_grad():
            y = self.linear(x)
            with torch.enable_grad():
                z = self.linear(y) * 2
        with torch.autocast("cpu", dtype=torch.bfloat16):
            a = self.linear(z)
            with torch.autocast("cpu", enabled=False):
                b = self.linear(a.float())
            c = a @ b.t()
        return y, z, a, b, c, torch.set_grad_enabled(True) or x + 1


class Calls(nn.Module):
    """Arguments of every kind: dtypes, memory formats, devices, strings, lists with None, scalars of various kinds."""

    def forward(self, x, index):
        images = x.reshape(1, 2, 3, 4).contiguous(memory_format=torch.channels_last)
        return (
            torch.zeros(2, 3, dtype=torch.float64, device="cpu"), torch.full_like(x, 7, dtype=torch.int32),
            torch.div(x, 0.7, rounding_mode="floor"), torch.nn.functional.gelu(x, approximate="tanh"),
            x[:, index, None], x[..., [0, 1], [1, 2]], torch.einsum("ij,kj->ik", x.reshape(6, 4), x.reshape(6, 4)),
            torch.clamp(x, max=1.0), x.to(torch.bfloat16).to(torch.float32), x.sum((0, 1), keepdim=True),
            nn.functional.interpolate(images, scale_factor=2.0, mode="bilinear", align_corners=False),
            nn.functional.pad(images, (1, 1, 0, 2), mode="constant", value=-1), x.var(-1, correction=0),
            torch.where(x > 0, x, -1), torch.searchsorted(x.flatten().sort()[0], x), x.float().pow(2) + 2 ** x,
            torch.stack(x.unbind(1)), torch.split(x, [1, 2], 1)[1], torch.complex(x, x).abs(), torch.fft.rfft(x).real,
            nn.functional.scaled_dot_product_attention(images, images, images), torch.topk(x, 2).indices,
            torch.histc(x, 4), nn.functional.one_hot(index, 4), torch.bucketize(x, torch.tensor([0.0, 1.0])),
            torch.linalg.norm(x, dim=-1), x.flip(0).roll(1, 1), torch.tril(x[0]), x.cumsum(1),
            nn.functional.softmax(x, -1, torch.float64),
        )


class Convolutions(nn.Module):
    """Building blocks of image networks."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8), nn.Hardswish(), nn.Conv2d(8, 8, 3, 1, 2, 2, 8),
            nn.GroupNorm(2, 8), nn.SiLU(), nn.MaxPool2d(2), nn.ConvTranspose2d(8, 4, 2, 2), nn.InstanceNorm2d(4),
            nn.LeakyReLU(0.1), nn.AvgPool2d(2, ceil_mode=True), nn.Upsample(scale_factor=2), nn.PixelShuffle(2),
            nn.AdaptiveAvgPool2d((2, 3)), nn.Dropout(), nn.Flatten(), nn.Linear(6, 5), nn.PReLU(5), nn.LogSoftmax(-1))

    def forward(self, x):
        return self.layers(x)


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.gru = nn.LSTM(4, 5, 2, bidirectional=True, batch_first=True), nn.GRU(10, 3)

    def forward(self, x):
        y, state = self.lstm(x)
        return self.gru(y)[0], state


class Attention(nn.Module):
    """PyTorch's own transformer module."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(11, 8)
        self.layers = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2)
        self.bag = nn.EmbeddingBag(11, 8)

    def forward(self, tokens):
        causal = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1])
        return self.layers(self.embedding(tokens), mask=causal, is_causal=True), self.bag(tokens)


class Batched(nn.Module):
    """`torch.vmap` with unbatched arguments, and nested."""

    def forward(self, x, w):
        shared = torch.vmap(lambda row, w: w + 1, in_dims=(0, None), out_dims=-1)(x, w)
        pairs = torch.vmap(torch.vmap(lambda a, b: (a * b).sum(), in_dims=(None, 0)), in_dims=(0, None))(x, w)
        return shared, pairs


class Updates(nn.Module):
    """In-place sums with factors that are tensors: strict exports have primitives for them."""

    def forward(self, x, y, factor):
        z, w, v = x.clone(), x.clone(), x.clone()
        return z.add_(y, alpha=factor), w.addcmul_(x, y, value=2.0), v.addcdiv_(x, y, value=factor)


class Twice(nn.Module):
    """One module called in two places, and a module that stays whole."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(3, 3), nn.Tanh())

    def forward(self, x):
        return self.inner(x) + self.inner(x * 2)


class Training(nn.Module):
    """A network with its loss."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(3, 4, 3), nn.GELU(), nn.Flatten(), nn.LayerNorm(144), nn.Linear(144, 3))

    def forward(self, images, classes):
        return nn.functional.cross_entropy(self.layers(images), classes)


def programs():
    """Each program: its name, module, arguments, keyword arguments and export options."""
    n, m = Dim("n", min=2, max=32), Dim("m", min=2, max=32)
    free = Dim.AUTO
    yield "every_type", EveryType(), (torch.zeros(()),), {}, {}
    yield "strided", Strided(), (torch.ones(1),), {}, {}
    yield "constants", Constants(), (torch.randn(3),), {}, {}
    structured = (Pair(torch.randn(2), torch.randn(3)), {"x": torch.randn(2)}, torch.randn(1))
    yield "structures", Structures(), structured, {"extra": torch.randn(2)}, {}
    yield "mutated", Mutated(), (torch.randn(3, 2), torch.tensor(1)), {}, {}
    yield "mutated_sizes", Mutated(), (torch.randn(3, 2), torch.tensor([0, 2])), {}, {
        "dynamic_shapes": ({0: free}, {0: free})}
    yield "symbolic", SymbolicNumbers(), (torch.randn(6, 3), torch.randn(2, 8)), {}, {
        "dynamic_shapes": ({0: n}, {1: free})}
    yield "symbolic_named", SymbolicNumbers(), (torch.randn(6, 3), torch.randn(2, 8)), {}, {
        "dynamic_shapes": ({0: n}, {1: 2 * m})}
    yield "decided", Decided(), (torch.randn(7), torch.tensor([5, 1])), {}, {}
    yield "conditions", Conditions(), (torch.randn(5, 3),), {}, {"dynamic_shapes": ({0: Dim.DYNAMIC},)}
    yield "conditions_below", Conditions(), (-torch.rand(5, 3) - 1,), {}, {}
    yield "loops", Loops(), (torch.randn(3, 2), torch.randn(3, 2)), {}, {}
    yield "scans", Scans(), (torch.randn(5, 2),), {}, {}
    yield "modes", Modes(), (torch.randn(2, 4),), {}, {}
    yield "calls", Calls(), (torch.randn(2, 3, 4), torch.tensor([2, 0])), {}, {}
    yield "convolutions", Convolutions(), (torch.randn(2, 3, 32, 32),), {}, {"dynamic_shapes": ({0: free},)}
    yield "recurrent", Recurrent(), (torch.randn(2, 6, 4),), {}, {}
    yield "attention", Attention(), (torch.randint(0, 11, (2, 5)),), {}, {"dynamic_shapes": ({1: free},)}
    yield "updates", Updates(), (torch.randn(3), torch.randn(3), torch.tensor(2.0)), {}, {}
    yield "twice", Twice(), (torch.randn(2, 3),), {}, {"preserve_module_call_signature": ("inner",)}
    for name, module, arguments in [
            ("branches", written.Branches(), (torch.randn(3),)),
            ("ties", written.Ties(), (torch.tensor([3, 1, 6]),)), ("types", written.Types(), (torch.zeros(9),)),
            ("counts", written.Counts(), (torch.ones(2),)), ("scanned", written.Scanned(), (torch.randn(4, 2),)),
            ("regions", written.Regions(), (torch.randn(2, 4),)), ("sampled", written.Sampled(), (torch.randn(3),)),
            ("chosen", written.Chosen(), (torch.tensor([0.0, 2.0, 3.0]),)),
            ("block", written.Block(), (torch.randn(1, 5, 16),)),
            ("bfloat16", written.Block().bfloat16(), (torch.randn(1, 5, 16).bfloat16(),)),
            ("float16", written.Block().half(), (torch.randn(1, 5, 16).half(),)),
            ("float64", written.Block().double(), (torch.randn(1, 5, 16).double(),))]:
        yield f"of_{name}", module, arguments, {}, {}
    yield "batched", Batched(), (torch.randn(2, 3), torch.randn(4, 3)), {}, {}
    yield "of_tallied", written.Tallied(), (torch.randn(7, 2),), {}, {"dynamic_shapes": ({0: Dim.DYNAMIC},)}
    yield "of_sizes", written.Sizes(), (torch.randn(4, 3), torch.randn(6, 3)), {}, {"dynamic_shapes": ({0: n}, {0: m})}
    yield "of_bits", written.Bits(), (torch.randn(5, 3), torch.tensor(6)), {}, {"dynamic_shapes": ({0: free}, None)}
    yield "of_complex", written.Complex(), (torch.randn(3, 2), torch.randn(3)), {}, {}
    yield "of_ordered", written.Ordered(), (torch.randn(3, 3), torch.randn(3)), {}, {}
    yield "of_guarded", written.Guarded(), (torch.randn(8, 3), torch.randn(5)), {}, {
        "dynamic_shapes": ({0: free}, {0: free})}


# How each program is exported.
WAYS = {"plain": {}, "strict": {"strict": True}, "core": {"decompositions": None}, "functional": {"decompositions": {}}}


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    count = 0
    for way, how in WAYS.items():
        torch.manual_seed(0)
        for name, module, arguments, named, options in programs():
            try:
                written.write(folder / f"{name}.{way}.pt2", module, arguments, named, **how, **options)
                count += 1
            except Exception as error:
                print(f"{name}.{way}: not exported: {type(error).__name__}: {str(error)[:120]!r}")
    for name, module, arguments in [("loss", written.Loss(), (torch.randn(2, 3),)),
                                    ("training", Training(), (torch.randn(4, 3, 8, 8), torch.tensor([0, 2, 1, 1])))]:
        try:
            written.joint(folder / f"joint_{name}.pt2", module, arguments)
            count += 1
        except Exception as error:
            print(f"joint_{name}: not exported: {type(error).__name__}: {str(error)[:120]!r}")
    print(f"PyTorch {torch.__version__}: {count} archives in {folder}")


if __name__ == "__main__":
    main()
