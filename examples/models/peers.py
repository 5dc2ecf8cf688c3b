"""Runs full-size models here and in other runtimes, in turn on the same machine, and prints a table.

    python3 -m pip install torch torchvision transformers safetensors onnx onnxscript onnxruntime tract
    cargo build --release --bin run
    (cd examples/models/rten && cargo build --release)     # for the rten column
    python3 examples/models/peers.py --write               # from the repository's root; writes this machine's chapter of docs/models_of_size.md

Each system runs in a process of its own, for some seconds in each of several rounds; a cell has the median of its better round, and
the minimum of all its runs. PyTorch runs the original model, we run its export, the others run what PyTorch exports to ONNX. Weights are random. `--only NAME` selects
one model, `--threads 2` only the table for two threads.
"""

import argparse
import json
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time

import torch
from torch import nn
from torch.nn import functional as F

import compare

ROOT = compare.ROOT
SECONDS, ROUNDS = 2.0, 2
RTEN = ROOT / "examples" / "models" / "rten" / "target" / "release" / "rten-peer"


class Step(nn.Module):
    """One token of a GPT-2, with the keys and values of the tokens before: one step of generation."""

    def __init__(self, layers=12, heads=12, width=768, words=50257):
        super().__init__()
        self.heads = heads
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(1024, width)
        self.layers = nn.ModuleList(nn.ModuleDict({
            "norm1": nn.LayerNorm(width), "qkv": nn.Linear(width, 3 * width), "out": nn.Linear(width, width),
            "norm2": nn.LayerNorm(width), "up": nn.Linear(width, 4 * width), "down": nn.Linear(4 * width, width),
        }) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)

    def forward(self, token, place, keys, values):
        x, added = self.words(token) + self.places(place), []
        for index, layer in enumerate(self.layers):
            q, k, v = layer["qkv"](layer["norm1"](x)).view(1, 1, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
            k, v = torch.cat([keys[index], k], 2), torch.cat([values[index], v], 2)
            seen = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(x.shape)
            x = x + layer["out"](seen)
            x = x + layer["down"](F.gelu(layer["up"](layer["norm2"](x)), approximate="tanh"))
            added += [k[:, :, -1:], v[:, :, -1:]]
        return (self.head(self.norm(x)), *added)


def step():
    past = lambda: torch.randn(12, 1, 12, 128, 64)
    return Step(), (torch.tensor([[7]]), torch.tensor([[128]]), past(), past()), {}


class Block(nn.Module):
    """Two residual convolutions and attention over pixels, as in the UNet of a diffusion model."""

    def __init__(self, channels=320, heads=8):
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList(nn.GroupNorm(32, channels) for _ in range(3))
        self.convs = nn.ModuleList(nn.Conv2d(channels, channels, 3, padding=1) for _ in range(2))
        self.qkv, self.out = nn.Conv2d(channels, 3 * channels, 1), nn.Conv2d(channels, channels, 1)

    def forward(self, x):
        for norm, conv in zip(self.norms, self.convs):
            x = x + conv(F.silu(norm(x)))
        n, c, h, w = x.shape
        q, k, v = self.qkv(self.norms[2](x)).view(n, 3, self.heads, -1, h * w).transpose(3, 4).unbind(1)
        seen = F.scaled_dot_product_attention(q, k, v).transpose(2, 3).reshape(n, c, h, w)
        return x + self.out(seen)


def llama():
    import transformers

    config = transformers.LlamaConfig(hidden_size=2048, num_hidden_layers=1, num_attention_heads=32, num_key_value_heads=8,
                                      intermediate_size=5632, vocab_size=1000)
    return compare.Plain(transformers.LlamaForCausalLM(config).bfloat16()), (torch.randint(0, 1000, (1, 64)),), {}


class Sequence(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.out = nn.LSTM(256, 512, num_layers=2, batch_first=True), nn.Linear(512, 100)

    def forward(self, x):
        return self.out(self.lstm(x)[0])


MODELS = {
    "resnet18": compare.vision("resnet18"),
    "resnet50": compare.vision("resnet50"),
    "mobilenet_v3_large": compare.vision("mobilenet_v3_large"),
    "vit_b_16": compare.vision("vit_b_16"),
    "bert_base, 128 tokens": compare.language("BertModel", "BertConfig"),
    "gpt2, 64 tokens": compare.language("GPT2LMHeadModel", "GPT2Config"),
    "gpt2, a token after 128": step,
    "llama block, bf16, 64 tokens": llama,
    "unet block, 320 × 32²": lambda: (Block(), (torch.randn(1, 320, 32, 32),), {}),
    "lstm 2 × 512, 64 steps": lambda: (Sequence(), (torch.randn(1, 64, 256),), {}),
}
TOKENS = {"bert_base, 128 tokens": 128, "gpt2, 64 tokens": 64}


def make(name):
    torch.manual_seed(0)
    model, arguments, options = MODELS[name]()
    if name in TOKENS:
        arguments = (torch.randint(0, 30000, (1, TOKENS[name])),)
    return compare.without_zeros(model), arguments, options


def times(run, seconds):
    """The duration of each run, in nanoseconds, after a warm-up."""
    run()
    taken, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        start = time.perf_counter_ns()
        run()
        taken.append(time.perf_counter_ns() - start)
    return taken


def of_pytorch(name, path, threads, seconds):
    torch.set_num_threads(threads)
    model, arguments, options = make(name)
    with torch.inference_mode():
        return times(lambda: model(*arguments, **options), seconds)


def arrays(path):
    from safetensors.numpy import load_file

    return [value for _, value in sorted(load_file(path.with_suffix(".inputs.safetensors")).items())]


def of_onnxruntime(name, path, threads, seconds):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    session = onnxruntime.InferenceSession(path.with_suffix(".onnx"), options, providers=["CPUExecutionProvider"])
    given = {node.name: value for node, value in zip(session.get_inputs(), arrays(path))}
    return times(lambda: session.run(None, given), seconds)


def of_tract(name, path, threads, seconds):
    import tract

    if threads > 1:
        raise RuntimeError("tract runs on one thread")
    model = tract.onnx().load(str(path.with_suffix(".onnx")))
    given = arrays(path)
    runnable = model.into_model().into_runnable()
    return times(lambda: runnable.run(given), seconds)


SIDES = {"PyTorch": of_pytorch, "ONNX Runtime": of_onnxruntime, "tract": of_tract}


def write(folder, name):
    """Exports a model for all systems."""
    model, arguments, options = make(name)
    path = folder / (re.sub(r"\W+", "_", name) + ".pt2")
    with torch.no_grad():
        torch.export.save(torch.export.export(model, arguments, **options), path)
        wanted = model(*arguments, **options)
        try:
            torch.onnx.export(model, arguments, path.with_suffix(".onnx"), dynamo=True, external_data=False, verbose=False)
        except Exception as error:  # affects only the other runtimes
            print(f"{name}: no ONNX: {str(error).splitlines()[0]}", file=sys.stderr)
    compare.save(path.with_suffix(".inputs.safetensors"), compare.tensors(arguments))
    compare.save(path.with_suffix(".outputs.safetensors"), compare.tensors(wanted))
    return path


def peak(command, threads):
    """What a command prints, and its peak memory, in MB."""
    held = 'import resource,subprocess,sys;d=subprocess.run(sys.argv[1:]);' \
           'print("peak",resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss//1000);sys.exit(d.returncode)'
    env = os.environ | {"RAYON_NUM_THREADS": str(threads), "RTEN_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)}
    done = subprocess.run([sys.executable, "-c", held, *command], capture_output=True, text=True, env=env)
    if done.returncode:
        raise RuntimeError((done.stderr.strip() or "it failed").splitlines()[-1][:100])
    return done.stdout, int(re.search(r"^peak (\d+)$", done.stdout, re.M)[1])


class Ours:
    """The program `run`, which is asked for as many runs as fit into the time."""

    def __init__(self, program, *options):
        self.program, self.options, self.runs = program, options, 3

    def __call__(self, path, threads):
        command = [self.program, str(path), "--compare", str(path.with_suffix(".outputs.safetensors")), *self.options]
        out, held = peak([*command, "--profile", str(self.runs)], threads)
        found = re.search(r"^([\d.]+) µs for one run, .*; the quickest took ([\d.]+) µs$", out, re.M)
        median, least = (float(number) * 1e3 for number in found.groups())
        self.runs = max(3, int(SECONDS * 1e9 / median))
        apart = float(re.search(r"largest difference.*: (\S+)$", out, re.M)[1])
        return (median, least), held, apart


def side(name, path, threads, which):
    if which == "rten":
        if not RTEN.exists():
            raise RuntimeError("not built")
        inputs = str(path.with_suffix(".inputs.safetensors"))
        out, held = peak([str(RTEN), str(path.with_suffix(".onnx")), inputs, str(SECONDS)], threads)
        return [int(line) for line in out.splitlines() if line.isdigit()], held
    own = [sys.executable, __file__, "--side", which, "--path", str(path), "--only", name, "--threads", str(threads)]
    out, held = peak(own, threads)
    return json.loads(out.splitlines()[0]), held


def best(rounds):
    """The median of the better round, and the minimum of all, from each round's median and minimum."""
    medians, leasts = zip(*rounds)
    return min(medians), min(leasts)


def row(program, folder, name, threads):
    path = write(folder, name)
    ours, taken, memory, why, apart = {"here": Ours(program)}, {}, {}, {}, 0.0
    if "batch_norm" in subprocess.run([program, str(path), "--list"], capture_output=True, text=True, check=True).stdout:
        ours["folded"] = Ours(program, "--fold-batch-norm")
    others = [*SIDES, "rten"]
    for _ in range(ROUNDS):
        for which, run in ours.items():
            run(path, threads)  # finds how many runs fit, and warms the file cache
            found, memory[which], difference = run(path, threads)
            taken.setdefault(which, []).append(found)
            apart = max(apart, difference)
        for which in others:
            if which not in why:
                try:
                    found, memory[which] = side(name, path, threads, which)
                    taken.setdefault(which, []).append((statistics.median(found), min(found)))
                except RuntimeError as error:
                    why[which] = str(error)
                    print(f"{name}, {which}: {error}", file=sys.stderr)
    for file in folder.glob(path.stem + ".*"):
        file.unlink()
    found = {which: best(rounds) for which, rounds in taken.items()}
    cell = lambda median, least: f"{median / 1e6:.2f} ({least / 1e6:.2f})"
    cells = [cell(*found[which]) if which in found else "" for which in ["here", "folded", *others]]
    ratios = " / ".join(f"{found['PyTorch'][0] / found[which][0]:.2f}" for which in ours)
    held = " / ".join(str(memory[which]) for which in ours)
    return f"| {name} | {' | '.join(cells)} | {ratios} | {held} | {memory['PyTorch']} | {apart:.0e} |"


HEAD = """# Models of real sizes

Written by `examples/models/peers.py`, a chapter for each machine: milliseconds per call, the median of the better of two rounds and, in brackets, the
minimum. "Folded" is `run --fold-batch-norm`, which ONNX Runtime, tract and rten do as they load a model, and PyTorch eager does not. The
ratio is PyTorch's median over ours, and over that of the folded program. Memory is the peak resident memory of the process, in MB; PyTorch's includes its
libraries and the model that was exported. The last column is the difference between our results and PyTorch's, relative to the largest of them. An empty
cell means that this system does not run the model, or not with that many threads.
"""
CHAPTER = """
## On {machine}

PyTorch {torch} (its libraries take {libraries} MB), ONNX Runtime {onnxruntime}, tract {tract}, rten 0.27.
"""
TABLE = """
### {threads}

| model | here | folded | PyTorch | ONNX Runtime | tract | rten | ratio | memory here | memory PyTorch | difference |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|
"""


def chapter():
    from importlib.metadata import version

    about = pathlib.Path("/proc/cpuinfo")
    model = re.search(r"model name\s*: (.*)", about.read_text())[1] if about.exists() else platform.processor()
    _, libraries = peak([sys.executable, "-c", "import torch"], 1)
    return CHAPTER.format(machine=f"{model}, {os.cpu_count()} cores", torch=torch.__version__, libraries=libraries,
                          onnxruntime=version("onnxruntime"), tract=version("tract"))


def write_chapter(text):
    """Replaces the chapter on this machine, or adds one; those on others stay."""
    file, start = ROOT / "docs" / "models_of_size.md", "\n## On "
    title = lambda chapter: chapter.split("\n", 1)[0]
    _, *chapters = file.read_text().split(start)
    new = text.removeprefix(start)
    chapters = {title(chapter): chapter for chapter in [*chapters, new]}
    file.write_text(HEAD + "".join(start + chapter for chapter in chapters.values()))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", help="a model")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--program", default=str(ROOT / "target" / "release" / "run"), help="the binary `run`")
    parser.add_argument("--write", action="store_true", help="write the chapter on this machine to docs/models_of_size.md")
    parser.add_argument("--side", help=argparse.SUPPRESS)
    parser.add_argument("--path", type=pathlib.Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        print(json.dumps(SIDES[options.side](options.only[0], options.path, options.threads[0], SECONDS)))
        return
    text = chapter()
    print(text, end="")
    with tempfile.TemporaryDirectory() as temporary:
        for threads in options.threads:
            text += (top := TABLE.format(threads="One thread" if threads == 1 else f"{threads} threads"))
            print(top, end="")
            for name in options.only or MODELS:
                text += (line := row(options.program, pathlib.Path(temporary), name, threads)) + "\n"
                print(line, flush=True)
    if options.write:
        write_chapter(text)


if __name__ == "__main__":
    main()
