"""Writes the archives that are kept in this repository, each with inputs and with PyTorch's outputs for them.

    python3 -m pip install torch safetensors
    python3 examples/models/write.py            # from the repository's root

`digits.pt2` beside this script is a network that reads handwritten digits, trained here. The others are for tests: one
feature of `torch.export` each, in `runtime/export/tests/archives`. An older PyTorch writes only some of these, into a folder
named after its version; `features.py` writes many more, which are not kept. Seeds are fixed, and
PyTorch's stack traces of operator calls are left out, because they contain paths of the exporting machine.
"""

import collections
import contextlib
import csv
import dataclasses
import gzip
import pathlib
import tempfile

import torch
from safetensors.torch import save_file
from torch import nn
from torch.export import Dim, export

HERE = pathlib.Path(__file__).resolve().parent
TESTS = HERE.parent.parent / "runtime" / "export" / "tests" / "archives"
VERSION = ".".join(torch.__version__.split(".")[:2])
IS_OLDER = VERSION != "2.15"
if IS_OLDER:
    TESTS /= VERSION
# What an older PyTorch writes: version 2.10 all of these, later ones a few.
OLDER = {"nested", "sizes", "ties", "functional", "loops", "regions", "joint"} if VERSION == "2.10" else \
    {"ties", "functional", "loops"}


def leaves(tree):
    """The tensors of nested inputs or outputs."""
    return [leaf for leaf in torch.utils._pytree.tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


def save(path, tensors):
    tensors = {f"{i:02}": tensor.detach().resolve_conj().resolve_neg().clone().contiguous()
               for i, tensor in enumerate(tensors)}
    save_file(tensors, path)


def write(path, module, arguments, keywords=None, **options):
    """Exports a module, and records what it computes. With `decompositions`, operators are decomposed by that table: an empty
    one removes only in-place writes, None stands for PyTorch's own."""
    keywords = keywords or {}
    taken_apart = "decompositions" in options
    decompositions = options.pop("decompositions", None)
    program = export(module.eval(), arguments, keywords, **options)
    if taken_apart:
        program = program.run_decompositions(decompositions)
    for graph in program.graph_module.modules():
        for node in graph.graph.nodes if isinstance(graph, torch.fx.GraphModule) else []:
            node.meta.pop("stack_trace", None)
    with tempfile.TemporaryDirectory() as folder:
        # The archive contains the name of the file.
        file = pathlib.Path(folder, path.name)
        torch.export.save(program, file)
        path.write_bytes(file.read_bytes())
    copies = torch.utils._pytree.tree_map(lambda x: x.clone() if isinstance(x, torch.Tensor) else x, arguments)
    save(path.with_suffix(".inputs.safetensors"), leaves((arguments, keywords)))
    with torch.no_grad():
        save(path.with_suffix(".outputs.safetensors"), leaves(program.module()(*copies, **keywords)))
    print(f"{path.name}: {path.stat().st_size} bytes")


def fixture(name, *arguments, **options):
    """Writes an archive of the tests' data."""
    if not IS_OLDER or name in OLDER:
        write(TESTS / f"{name}.pt2", *arguments, **options)


def joint(path, module, arguments):
    """Exports a module with its joint graph, and records loss and gradients."""
    from torch.export.experimental import _export_forward_backward

    program = _export_forward_backward(export(module, arguments))
    for node in program.graph.nodes:
        node.meta.pop("stack_trace", None)
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, path.name)
        torch.export.save(program, file)
        path.write_bytes(file.read_bytes())
    save(path.with_suffix(".inputs.safetensors"), arguments)
    loss = module(*arguments)
    gradients = torch.autograd.grad(loss, list(module.parameters()))
    save(path.with_suffix(".outputs.safetensors"), [loss, *gradients])
    print(f"{path.name}: {path.stat().st_size} bytes")


class Digits(nn.Module):
    """Two convolutions and a linear layer."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.AdaptiveAvgPool2d(2),
        )
        self.classes = nn.Linear(64, 10)

    def forward(self, images):
        return self.classes(self.features(images / 16).flatten(1)).softmax(-1)


def digits():
    with gzip.open(HERE.parent / "data" / "digits.csv.gz", "rt") as file:
        rows = torch.tensor([[int(number) for number in row] for row in csv.reader(file)])
    images, classes = rows[:, :64].reshape(-1, 1, 8, 8).float(), rows[:, 64]
    network = Digits()
    optimizer = torch.optim.AdamW(network.parameters(), 1e-2)
    for epoch in range(8):
        for part in torch.randperm(len(images) - 8).split(64):
            optimizer.zero_grad()
            nn.functional.nll_loss(network(images[part]).log(), classes[part]).backward()
            optimizer.step()
    batch = Dim("batch", min=1, max=1024)
    write(HERE / "digits.pt2", network, (images[-8:].clone(),), dynamic_shapes=({0: batch},))
    with torch.no_grad():
        print("the last eight are", classes[-8:].tolist(), "found", network(images[-8:]).argmax(1).tolist())


class Nested(nn.Module):
    """Tuples, lists and dictionaries, as inputs and outputs."""

    def forward(self, pair, named, *, scale):
        first, second = pair
        return {"sum": first + second, "rest": [named["a"] * scale, (named["b"], None, 7)]}


class Sizes(nn.Module):
    """Symbolic sizes, computed from arguments."""

    def forward(self, x, y):
        n, m = x.shape[0], y.shape[0]
        grid = torch.arange(n * 2 - 1, dtype=torch.float32)
        return x.reshape(n * 3).sum() + grid.mean(), torch.cat([x, y]), x.new_zeros(max(n, 5) + m // 2)


class Guarded(nn.Module):
    """A branch that was resolved at export time."""

    def forward(self, x, y):
        if x.shape[0] % 2 == 0 and x.shape[0] > y.shape[0]:
            return x.reshape(2, -1) * 3
        return x


class Bits(nn.Module):
    """Bits of sizes and of numbers in tensors, and a guard on bits."""

    def forward(self, x, count):
        n, k = x.shape[0], count.item()
        doubled = x * 2 if n ^ 3 > 3 and n | 1 != 0 else x
        return doubled, x.new_zeros(n & 6, (n | 8) + (n << 1)), x * (k & 3), x * ((k | 8) + (k >> 1))


class Either(nn.Module):
    """A size that is one of two, whichever a number says."""

    def forward(self, x, k):
        return x.new_zeros(torch.sym_ite(k > 4, x.shape[0], k)), x * k


class Strict(nn.Module):
    """Guards of a strict export, which name the arguments by their places, constants included."""

    def forward(self, scale, pair, x, *, named):
        if x.shape[0] % 2 == 0 and named["second"].shape[0] > 3:
            return x * scale + pair[0] * pair[1]
        return x


class Complex(nn.Module):
    """Complex numbers of Python, where the operator takes a tensor and where it takes a number."""

    def forward(self, pairs, y):
        x = torch.view_as_complex(pairs)
        turned = x.clone()
        turned.mul_(1j)
        more = [1j * y, x + (1 - 2j), torch.add(x, x, alpha=2j), y.double() / 2j, torch.full((2,), 3j)]
        return [torch.view_as_real(each) for each in [turned, *more]]


class Counted(nn.Module):
    """Results that are all numbers, or None."""

    def forward(self, x, k):
        return x.shape[0] * k, None, 3


@dataclasses.dataclass
class Fields:
    a: torch.Tensor
    b: torch.Tensor


torch.export.register_dataclass(Fields, serialized_type_name="write.Fields")
Pair = collections.namedtuple("Pair", "first second")
torch.utils._pytree._register_namedtuple(Pair, serialized_type_name="write.Pair")


class Named(nn.Module):
    """Arguments and results with attributes, and guards on them."""

    def forward(self, pair, fields, groups):
        if all(x.shape[0] % 2 == 0 for x in [pair.first, fields.a, groups["z"]]):
            return Fields(pair.first.sum() + fields.a.sum(), groups["z"]), Pair(pair.second, fields.b)
        return pair.second, fields.b


@dataclasses.dataclass
class Outer:
    inner: Fields
    pair: Pair
    more: list


torch.export.register_dataclass(Outer, serialized_type_name="write.Outer")


class Containers(nn.Module):
    """Arguments and results in Python's other containers, and dataclasses within each other."""

    def forward(self, queue, ordered, outer):
        first, second = queue
        inner = Fields(outer.inner.b - first, outer.pair.second * 2)
        queue = collections.deque([second, ordered["a"] + ordered["z"]], maxlen=5)
        return queue, collections.OrderedDict(z=first * 3, a=outer.more[0]), Outer(inner, Pair(first, second + 1), [second])


class Ordered(nn.Module):
    """Checks of results, which are side effects: a graph of PyTorch's core operators orders them by tokens."""

    def forward(self, a, b):
        return torch.linalg.solve(a, b), torch.linalg.inv(a)


class Numbered(nn.Module):
    def forward(self, x, n):
        return x * n, x[:n]


class Ties(nn.Module):
    """One weight under two names, a transposed one, and a view of a part."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(7, 4)
        self.out = nn.Linear(4, 7, bias=False)
        self.out.weight = self.embedding.weight
        self.turned = nn.Parameter(torch.randn(4, 3).t())
        self.register_buffer("part", torch.randn(6, 4)[2:4, 1:3])

    def forward(self, tokens):
        hidden = self.embedding(tokens)
        return self.out(hidden), hidden @ self.turned.t(), self.part * 2


class Counts(nn.Module):
    """A buffer that each call updates in place, and an input that each call updates."""

    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x):
        self.calls.add_(1)
        x.mul_(2)
        return x + self.calls


class Branches(nn.Module):
    def forward(self, x):
        y = torch.cond(x.sum() > 0, lambda x: (x.sin(), x + 1), lambda x: (x.cos(), x - 1), (x,))
        return y[0] * y[1]


class Loops(nn.Module):
    def forward(self, x):
        from torch._higher_order_ops import map as map_rows, while_loop

        def again(i, x):
            return i < 5

        def step(i, x):
            return i + 1, x * 1.5 + i

        i, x = while_loop(again, step, (torch.zeros((), dtype=torch.int64), x))
        return i, x, map_rows(lambda row, other: (row + other).relu(), x, x[0].clone())


class Tallied(nn.Module):
    """Loops that carry numbers: constants to begin with, and a size."""

    def forward(self, x):
        from torch._higher_order_ops import while_loop

        i, j = while_loop(lambda i, j: i < j, lambda i, j: (i + 1, j - 1), (0, x.shape[0]))
        k, m = while_loop(lambda k, m: k < m, lambda k, m: (k + 2, m), (1, 6))
        return x * i + j, x * k - m


class Scanned(nn.Module):
    """Cumulative sums of the rows."""

    def forward(self, x):
        from torch._higher_order_ops.scan import scan

        return scan(lambda total, row: (total + row, (total + row).sin()), torch.zeros(2), x)


class Associative(nn.Module):
    """Scans by functions of two rows: of several tensors, backwards along another dimension, of odd and even numbers of
    rows and of one; and by a function that is not associative, for which the order matters."""

    def forward(self, x, y):
        from torch._higher_order_ops.associative_scan import associative_scan

        def linear(before, after):
            return before[0] * after[0], before[1] * after[0] + after[1]

        def skewed(before, after):
            return before * after + before

        factors, sums = associative_scan(linear, (x, y), 0, combine_mode="pointwise")
        turned = associative_scan(torch.add, x, 1, reverse=True, combine_mode="pointwise")
        return factors, sums, turned, associative_scan(skewed, x, 0), associative_scan(torch.maximum, x[:1], 0)


class Primitive(nn.Module):
    """Operators that the whole table of decompositions makes primitives of."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(4)
        self.attention = nn.MultiheadAttention(4, 2, batch_first=True)

    def forward(self, x, n):
        y = self.norm(x.transpose(1, 2)).transpose(1, 2).tanh().flip(1)
        seen, _ = self.attention(x, y, y, need_weights=False)
        spectrum = torch.fft.rfft(seen, dim=1)
        rows = torch.arange(3, 9, 2)[:, None] // n.to(torch.int64)
        return seen.softmax(-1), spectrum.abs(), y.var(1), x.amax(2), x.prod(-1), rows, torch.where(x > 0, x, n / 2)


class Strictly(nn.Module):
    """A function that is traced for itself."""

    def forward(self, x):
        from torch._higher_order_ops.strict_mode import strict_mode

        return strict_mode(lambda x: x.sin() + 1, (x,))[0]


class Loss(nn.Module):
    """A training graph, which computes gradients."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 1)

    def forward(self, x):
        return self.linear(x).pow(2).sum()


class LoopLoss(nn.Module):
    """A training graph with a loop: its gradients come from what all iterations made."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        from torch._higher_order_ops import while_loop

        def step(i, x):
            return i + 1, self.linear(x).tanh()

        return while_loop(lambda i, x: i < 3, step, (torch.zeros((), dtype=torch.int64), x))[1].sum()


class Regions(nn.Module):
    """Regions without gradients, and regions in another precision."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        with torch.no_grad():
            y = self.linear(x)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            z = self.linear(x)
        return y, z


class Types(nn.Module):
    """Weights of many types."""

    def __init__(self):
        super().__init__()
        for name in ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float64"]:
            values = torch.tensor([[0, 1, 1], [1, 0, 3]]).to(getattr(torch, name))
            self.register_buffer(f"of_{name}", values)
        self.register_buffer("complex64", torch.tensor([1 + 2j, 3 - 1j]))
        self.empty = nn.Parameter(torch.zeros(0, 3))

    def forward(self, x):
        sums = [buffer.sum().float() for name, buffer in self.named_buffers() if name != "complex64"]
        return torch.stack(sums) + x, torch.view_as_real(self.complex64), self.empty, self.of_bfloat16 * 2


class EightBits(nn.Module):
    """Weights of eight bits, with a scale for each row, and conversions to and from each type of eight bits."""

    FORMATS = ["float8_e5m2", "float8_e4m3fn", "float8_e5m2fnuz", "float8_e4m3fnuz", "float8_e8m0fnu"]

    def __init__(self):
        super().__init__()
        weight = torch.randn(6, 4)
        scale = weight.abs().amax(1, keepdim=True) / 448
        self.register_buffer("weight", (weight / scale).to(torch.float8_e4m3fn))
        self.register_buffer("scale", scale.t().contiguous())
        for name in self.FORMATS:
            self.register_buffer(f"of_{name}", torch.arange(1, 6).to(getattr(torch, name)))

    def forward(self, x):
        scale = x.abs().amax(1, keepdim=True) / 448
        narrow = (x / scale).to(torch.float8_e4m3fn)
        product = torch._scaled_mm(narrow, self.weight.t(), scale, self.scale, out_dtype=torch.float32)
        weights = [getattr(self, f"of_{name}").float() for name in self.FORMATS]
        return product, torch.stack(weights), *(x.to(getattr(torch, name)).float() for name in self.FORMATS)


class Sampled(nn.Module):
    """Random numbers, which affect no size."""

    def forward(self, x):
        return torch.nn.functional.dropout(x, 0.5, self.training) * x.shape[0], x.float().mean().item() + x


class Chosen(nn.Module):
    """A data-dependent size."""

    def forward(self, x):
        found = x.nonzero()
        return found, found.shape[0] * x


class Batched(nn.Module):
    """`torch.vmap`: along another dimension, nested, and with unbatched arguments."""

    def forward(self, x, w):
        columns = torch.vmap(lambda column: column.softmax(0) * w.sum(), in_dims=1)(x)
        pairs = torch.vmap(torch.vmap(lambda a, b: (a * b).sum(), in_dims=(None, 0)), in_dims=(0, None))(x, w)
        return columns, pairs, torch.vmap(lambda row: w)(x)


@torch.library.custom_op("fixtures::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@twice.register_fake
def _(x):
    return torch.empty_like(x)


class Custom(nn.Module):
    """An operator of another library."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Identity(), nn.ReLU())

    def forward(self, x):
        return torch.ops.fixtures.twice(self.inner(x))


@torch.library.custom_op("fixtures::accumulate", mutates_args=("into",))
def accumulate(into: torch.Tensor, x: torch.Tensor, factor: int = 2) -> None:
    into.add_(x * factor)


@torch.library.custom_op("fixtures::scale_all", mutates_args=("tensors", "seen"))
def scale_all(tensors: list[torch.Tensor], seen: torch.Tensor | None, factor: float) -> torch.Tensor:
    for tensor in tensors:
        tensor.mul_(factor)
    if seen is not None:
        seen.add_(len(tensors))
    return sum(tensor.sum() for tensor in tensors)


@scale_all.register_fake
def _(tensors, seen, factor):
    return torch.empty(())


class Mutating(nn.Module):
    """Operators that write to their arguments: to views of one tensor, to all of one, to lists, to nothing."""

    def forward(self, x, y):
        rows, whole = x.clone(), y.clone()
        torch.ops.fixtures.accumulate(rows[1], y)
        torch.ops.fixtures.accumulate(rows.t()[1:3], x.t()[:2], 3)
        torch.ops.fixtures.accumulate(whole.view(-1), y)
        total = torch.ops.fixtures.scale_all([rows[:, 0], whole[1:]], None, 2.0)
        again = torch.ops.fixtures.scale_all([whole], rows[0, 1:2], -1.0)
        return rows, whole, total, again


class MutatingWholes(nn.Module):
    """The same without views, which PyTorch writes with another operator."""

    def forward(self, x, y):
        first, second = x.clone(), y.clone()
        torch.ops.fixtures.accumulate(first, y)
        total = torch.ops.fixtures.scale_all([first, second], None, 2.0)
        again = torch.ops.fixtures.scale_all([second], first, -1.0)
        return first, second, total, again


class Conjugate(nn.Module):
    """Results that are views of memory with other signs."""

    def forward(self, x):
        return x.conj(), x.conj().imag


class Hinted(nn.Module):
    """Operators around others: one with a result type, one with hints for a compiler, one that prints."""

    def forward(self, x, y):
        from torch._higher_order_ops.hints_wrap import hints_wrapper
        from torch._higher_order_ops.out_dtype import out_dtype

        product = out_dtype(torch.ops.aten.mm.default, torch.int32, x, y)
        scaled = out_dtype(torch.ops.aten.mul.Tensor, torch.float32, x.to(torch.bfloat16), x)
        torch._higher_order_ops.print("the sum is {} of {}", product.sum(), x.shape[0])
        total, = hints_wrapper(lambda a, b: (a.sum() + b.sum(),), (product, scaled), {}, hints={"fast": True})
        return product, scaled, total


class Scaled(nn.Module):
    """Elements times a weight, or divided by it."""

    def __init__(self, divides, factor):
        super().__init__()
        self.divides = divides
        self.factor = nn.Parameter(torch.tensor(factor))

    def forward(self, x):
        return x / self.factor if self.divides else x * self.factor


def several():
    """An archive with two programs, whose weights have the same name and different values."""
    from torch.export.pt2_archive._package import package_pt2

    programs = {"twice": Scaled(False, 2.0), "halves": Scaled(True, 4.0)}
    programs = {name: export(module, (torch.ones(3),)) for name, module in programs.items()}
    for program in programs.values():
        for node in program.graph.nodes:
            node.meta.pop("stack_trace", None)
    package_pt2(TESTS / "several.pt2", exported_programs=programs)


class Chain(nn.Module):
    """Many calls of an operator that costs nothing, to measure the call overhead."""

    def forward(self, x):
        for _ in range(50):
            x = torch.ops.fixtures.twice(x)
        return x


class Block(nn.Module):
    """A causal transformer block with rotary positions."""

    def __init__(self, width=16, heads=2):
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(self.norm(x)).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        seen = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).reshape(b, t, c))
        return x + self.down(nn.functional.gelu(self.up(x)))


class Norms(nn.Module):
    """Batch norms after convolutions. Five can be folded; four cannot, since the convolution's result is used elsewhere, the
    statistics are written to or are those of the batch, or channels come first."""

    def __init__(self):
        super().__init__()
        self.line, self.line_norm = nn.Conv1d(2, 4, 3, bias=False), nn.BatchNorm1d(4, affine=False)
        self.plane, self.plane_norm = nn.Conv2d(4, 6, 3, groups=2, padding="same"), nn.BatchNorm2d(6, eps=0.1)
        self.space, self.space_norm = nn.Conv3d(1, 2, 1), nn.BatchNorm3d(2)
        self.brief, self.brief_norm = nn.Conv1d(4, 2, 1).bfloat16(), nn.BatchNorm1d(2).bfloat16()
        self.shared, self.shared_norm = nn.Conv1d(4, 4, 1), nn.BatchNorm1d(4)
        self.written, self.written_norm = nn.Conv1d(4, 4, 1), nn.BatchNorm1d(4)
        self.batch_norm = nn.BatchNorm1d(4, track_running_stats=False)
        self.single, self.single_norm = nn.Conv1d(4, 6, 1), nn.BatchNorm1d(6)
        for norm in self.modules():
            if isinstance(norm, nn.modules.batchnorm._BatchNorm) and norm.track_running_stats:
                norm.running_mean.normal_(), norm.running_var.uniform_(0.5, 2)
                if norm.affine:
                    norm.weight.data.normal_(), norm.bias.data.normal_()

    def forward(self, x):
        x = self.line_norm(self.line(x))
        again = self.shared_norm(self.line(x[:, :2]))
        plane = self.plane_norm(self.plane(x.unsqueeze(-1)))
        space = self.space_norm(self.space(plane.unsqueeze(1)))
        brief = self.brief_norm(self.brief(x.bfloat16())).float()
        kept = self.shared(x)
        shared = kept + self.shared_norm(kept)
        written = self.written_norm(self.written(x))
        self.written_norm.running_mean.add_(1)
        batch = self.batch_norm(self.shared(x))
        single = self.single_norm(self.single(x[0]))  # as many channels as steps
        return again, space, brief, shared, written, batch, single


def first_functional_operator():
    """Has PyTorch write `auto_functionalized`, the only such operator before `auto_functionalized_v2`."""
    config = getattr(torch._export, "config", None)
    if not hasattr(config, "enable_auto_functionalized_v2_for_export"):
        return contextlib.nullcontext()
    return config.patch(enable_auto_functionalized_v2_for_export=False)


def features():
    n, m = Dim("n", min=2, max=8), Dim("m", max=16)
    fixture("nested", Nested(), ((torch.ones(2), torch.ones(2)), {"a": torch.ones(3), "b": torch.zeros(1)}),
            {"scale": torch.tensor(3.0)})
    sizes = ({0: n}, {0: m})
    fixture("sizes", Sizes(), (torch.randn(4, 3), torch.randn(6, 3)), dynamic_shapes=sizes)
    fixture("ties", Ties(), (torch.tensor([3, 1, 6]),))
    fixture("counts", Counts(), (torch.ones(2),))
    fixture("functional", Counts(), (torch.ones(2),), decompositions={})
    fixture("guarded", Guarded(), (torch.randn(8, 3), torch.randn(5)),
            dynamic_shapes=({0: Dim.AUTO}, {0: Dim.AUTO}))
    fixture("bits", Bits(), (torch.randn(5, 3), torch.tensor(6)), dynamic_shapes=({0: Dim.AUTO}, None))
    fixture("either", Either(), (torch.randn(8, 3), 5), dynamic_shapes=({0: Dim.AUTO}, Dim.AUTO))
    fixture("strict", Strict(), (2.0, (torch.randn(3), 4), torch.randn(4, 3)),
            {"named": {"first": None, "second": torch.randn(4)}}, strict=True, dynamic_shapes={
                "scale": None, "pair": (None, None), "x": {0: Dim.AUTO},
                "named": {"first": None, "second": {0: Dim.AUTO}}})
    fixture("complex", Complex(), (torch.randn(3, 2), torch.randn(3)))
    fixture("counted", Counted(), (torch.randn(8), 5), dynamic_shapes=({0: Dim.AUTO}, Dim.AUTO))
    named = (Pair(torch.randn(4), torch.randn(2)), Fields(torch.randn(6), torch.randn(2)),
             collections.defaultdict(list, z=torch.randn(8)))
    even = {0: Dim.AUTO}
    fixture("named", Named(), named, dynamic_shapes=(Pair(even, None), [even, None], {"z": even}))
    fixture("ordered", Ordered(), (torch.randn(3, 3), torch.randn(3)), decompositions=None)
    fixture("numbered", Numbered(), (torch.randn(8, 3), 4), dynamic_shapes=({0: Dim.DYNAMIC}, Dim.DYNAMIC))
    fixture("branches", Branches(), (torch.randn(3),))
    fixture("loops", Loops(), (torch.randn(3, 2),))
    fixture("tallied", Tallied(), (torch.randn(7, 2),), dynamic_shapes=({0: Dim.DYNAMIC},))
    fixture("scanned", Scanned(), (torch.randn(4, 2),))
    if not IS_OLDER or "joint" in OLDER:
        joint(TESTS / "joint.pt2", Loss(), (torch.randn(2, 3),))
    fixture("regions", Regions(), (torch.randn(2, 4),))
    fixture("types", Types(), (torch.zeros(9),))
    fixture("eight_bits", EightBits(), (torch.randn(3, 4),))
    fixture("sampled", Sampled(), (torch.randn(3),))
    fixture("chosen", Chosen(), (torch.tensor([0.0, 2.0, 3.0]),))
    fixture("custom", Custom(), (torch.randn(2),))
    fixture("chain", Chain(), (torch.zeros(1),))
    fixture("mutating", Mutating(), (torch.arange(12.0).reshape(3, 4), torch.arange(4.0)), decompositions={})
    fixture("conjugate", Conjugate(), (torch.randn(3, dtype=torch.complex64),))
    integers = torch.arange(-6, 6, dtype=torch.int8)
    fixture("hinted", Hinted(), (20 * integers.reshape(3, 4), 9 * integers.reshape(4, 3)))
    if not IS_OLDER:
        several()
    with first_functional_operator():
        fixture("mutating_wholes", MutatingWholes(), (torch.arange(12.0).reshape(3, 4), torch.arange(4.0)), decompositions={})
    steps = Dim("steps", min=2, max=64)
    fixture("block", Block(), (torch.randn(1, 5, 16),), dynamic_shapes=({1: steps},))
    fixture("bfloat16", Block().bfloat16(), (torch.randn(1, 5, 16).bfloat16(),))
    fixture("batched", Batched(), (torch.arange(6.0).reshape(2, 3), torch.arange(12.0).reshape(4, 3)), strict=True)
    fixture("norms", Norms(), (torch.randn(2, 2, 8),))
    fixture("associative", Associative(), (torch.randn(7, 4), torch.randn(7, 4)))
    fixture("strictly", Strictly(), (torch.randn(3),))
    if not IS_OLDER:
        joint(TESTS / "joint_loop.pt2", LoopLoss(), (torch.randn(2, 3),))
    fixture("primitive", Primitive(), (torch.randn(2, 3, 4), torch.tensor([2], dtype=torch.int32)),
            decompositions=dict(torch._decomp.decomposition_table))
    each = iter(torch.arange(18.0).reshape(9, 2))
    fixture("containers", Containers(), (
        collections.deque([next(each), next(each)]), collections.OrderedDict(z=next(each), a=next(each)),
        Outer(Fields(next(each), next(each)), Pair(next(each), next(each)), [next(each)])))


if __name__ == "__main__":
    torch.manual_seed(0)
    if not IS_OLDER:
        digits()
    TESTS.mkdir(parents=True, exist_ok=True)
    features()
