"""Exports popular models, runs them here and in PyTorch, and writes `docs/models.md`.

    python3 -m pip install torch torchvision timm transformers safetensors
    cargo build --release --bin run
    python3 examples/models/compare.py --write            # from the repository's root

Weights are random, from a fixed seed: nothing is downloaded. Archives are kept in the folder given by `--folder`, by default a
temporary one; `--only NAME` selects one model. For a model with operators that are missing here, the table names them.

    cargo build --release --features wgpu --bin run
    python3 examples/models/compare.py --device wgpu --write    # writes kernels/wgpu/models.md

With `--device cuda`, and a PyTorch that finds the GPU, results are compared with PyTorch on that GPU.
"""

import argparse
import pathlib
import os
import re
import subprocess
import tempfile
import time

import torch
from safetensors.torch import save_file
from torch import nn
from torch.export import export

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SIDE = {"convolutions": 224}


def vision(name):
    def make():
        import torchvision

        side = SIDE["convolutions"]
        return getattr(torchvision.models, name)(weights=None), (torch.randn(1, 3, side, side),), {}

    return make


def timm(name):
    def make():
        import timm

        return timm.create_model(name, pretrained=False), (torch.randn(1, 3, 224, 224),), {}

    return make


class Plain(nn.Module):
    """A model from transformers that takes only its tokens, and returns only tensors."""

    def __init__(self, model, name="input_ids"):
        super().__init__()
        self.model, self.name = model, name

    def forward(self, tokens):
        found = self.model(**{self.name: tokens}, use_cache=False) if hasattr(self.model.config, "use_cache") else \
            self.model(**{self.name: tokens})
        return found[0]


def language(kind, config, **options):
    def make():
        import transformers

        settings = getattr(transformers, config)(**options)
        model = getattr(transformers, kind)(settings)
        return Plain(model), (torch.randint(0, settings.vocab_size, (1, 32)),), {}

    return make


class Recurrent(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.embedding, self.out = nn.Embedding(100, 64), nn.Linear(64, 100)
        self.recurrent = kind(64, 64, num_layers=2, batch_first=True)

    def forward(self, tokens):
        hidden, _ = self.recurrent(self.embedding(tokens))
        return self.out(hidden)


def recurrent(kind):
    return lambda: (Recurrent(kind), (torch.randint(0, 100, (2, 20)),), {})


def transformer():
    model = nn.Transformer(64, 4, 2, 2, 128, batch_first=True)
    return model, (torch.randn(2, 10, 64), torch.randn(2, 7, 64)), {}


def nms_of_classes(boxes, scores, classes, threshold):
    """Torchvision's `batched_nms` without its branches on the number of boxes, which an export does not know."""
    moved = boxes + 4096.0 * classes.to(boxes)[:, None]
    return torch.ops.torchvision.nms(moved, scores, threshold)


def told_apart(model):
    """Gives a model weights that produce distinct scores: with the initial ones all scores are nearly equal, and then
    chance decides which boxes are found."""
    norms = [module for module in model.modules() if isinstance(module, nn.BatchNorm2d)]
    for module in model.modules():
        if isinstance(module, (nn.Conv2d, nn.Linear)):
            nn.init.kaiming_normal_(module.weight)
    for norm in norms:
        norm.momentum = 1.0
        norm.train()
    with torch.no_grad():
        model([torch.rand(3, 320, 320) for _ in range(4)])
    model.eval()


def detection(build):
    def make():
        from torchvision.models import detection
        from torchvision.ops import boxes

        boxes.batched_nms = nms_of_classes
        model = build(detection).eval()
        told_apart(model)
        return model, ([torch.rand(3, 320, 320)],), {}

    return make


def faster_rcnn(detection):
    """On a single feature map: assigning boxes to maps of several sizes takes branches that cannot be exported."""
    import torchvision

    features = torchvision.models.mobilenet_v3_small(weights=None).features
    features.out_channels = 576
    anchors = detection.rpn.AnchorGenerator(sizes=((32, 64, 128),), aspect_ratios=((0.5, 1.0, 2.0),))
    pool = torchvision.ops.MultiScaleRoIAlign(featmap_names=["0"], output_size=7, sampling_ratio=2)
    return detection.FasterRCNN(features, num_classes=5, rpn_anchor_generator=anchors, box_roi_pool=pool, min_size=320,
                                max_size=320, rpn_post_nms_top_n_test=50, box_score_thresh=0.1)


SMALL = {"hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 256}
MODELS = {
    "resnet18": vision("resnet18"),
    "mobilenet_v3_small": vision("mobilenet_v3_small"),
    "efficientnet_b0": vision("efficientnet_b0"),
    "squeezenet1_1": vision("squeezenet1_1"),
    "densenet121": vision("densenet121"),
    "shufflenet_v2_x0_5": vision("shufflenet_v2_x0_5"),
    "convnext_tiny": vision("convnext_tiny"),
    "swin_t": vision("swin_t"),
    "vit_tiny_patch16_224": timm("vit_tiny_patch16_224"),
    "mixer_s32_224": timm("mixer_s32_224"),
    "deit_tiny_patch16_224": timm("deit_tiny_patch16_224"),
    "regnet_x_400mf": vision("regnet_x_400mf"),
    "lraspp_mobilenet_v3_large": lambda: (
        __import__("torchvision").models.segmentation.lraspp_mobilenet_v3_large(weights=None, weights_backbone=None),
        (torch.randn(1, 3, 128, 128),), {}),
    "ssdlite320_mobilenet_v3_large": detection(lambda detection: detection.ssdlite320_mobilenet_v3_large(
        weights=None, weights_backbone=None, num_classes=5)),
    "faster_rcnn_mobilenet_v3_small": detection(faster_rcnn),
    "bert": language("BertModel", "BertConfig", **SMALL),
    "distilbert": language("DistilBertModel", "DistilBertConfig", dim=128, n_layers=2, n_heads=4, hidden_dim=256),
    "gpt2": language("GPT2LMHeadModel", "GPT2Config", n_embd=128, n_layer=2, n_head=4),
    "llama": language("LlamaForCausalLM", "LlamaConfig", **SMALL, num_key_value_heads=2, vocab_size=1000),
    "qwen2": language("Qwen2ForCausalLM", "Qwen2Config", **SMALL, num_key_value_heads=2, vocab_size=1000),
    "t5_encoder": language("T5EncoderModel", "T5Config", d_model=128, num_layers=2, num_heads=4, d_ff=256, d_kv=32),
    "lstm": recurrent(nn.LSTM),
    "gru": recurrent(nn.GRU),
    "transformer": transformer,
}


def without_zeros(model):
    """Gives other values to weights that are initialised to zero, as some heads are: their results would be zero for any input."""
    for weight in model.parameters():
        if weight.dim() > 1 and not weight.any():
            nn.init.normal_(weight, std=0.02)
    return model.eval()


def tensors(tree):
    return [leaf for leaf in torch.utils._pytree.tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


def save(path, values):
    save_file({f"{i:02}": value.detach().cpu().clone().contiguous() for i, value in enumerate(values)}, path)


def moved(tree, device):
    """A tree with its tensors moved to a device."""
    move = lambda leaf: leaf.to(device) if isinstance(leaf, torch.Tensor) else leaf
    return torch.utils._pytree.tree_map(move, tree)


def write(folder, name, device="cpu"):
    """Exports a model with its inputs and with the outputs computed on a device. Returns how long PyTorch takes for a call."""
    torch.manual_seed(0)
    model, arguments, options = MODELS[name]()
    model = without_zeros(model)
    path = folder / f"{name}.pt2"
    with torch.no_grad():
        torch.export.save(export(model, arguments, **options), path)
        model, arguments = model.to(device), moved(arguments, device)
        wanted = model(*arguments)
        times = []
        for _ in range(5):
            start = time.perf_counter()
            model(*arguments)
            if device == "cuda":
                torch.cuda.synchronize()
            times.append(time.perf_counter() - start)
    save(path.with_suffix(".inputs.safetensors"), tensors(arguments))
    save(path.with_suffix(".outputs.safetensors"), tensors(wanted))
    return sorted(times)[len(times) // 2]


def run(program, path, *options):
    command = [program, str(path), *options]
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | {"RAYON_NUM_THREADS": "1"})


def row(folder, program, name, timed):
    """A row of the table."""
    try:
        theirs = write(folder, name)
    except Exception as error:  # a model that PyTorch cannot export is not a failure of ours
        print(f"{name}: {error}")
        return f"| `{name}` | | not exported: {type(error).__name__} | | |"
    path = folder / f"{name}.pt2"
    checked = run(program, path, "--check")
    if checked.returncode == 1:
        missing = sorted(set(re.findall(r"^torch\.ops\.([\w.]+?)(?:\.default)?, at", checked.stdout, re.M)))
        return f"| `{name}` | | missing: {', '.join(f'`{operator}`' for operator in missing)} | | |"
    options = ["--profile", "5"] if timed else []
    done = run(program, path, "--compare", str(path.with_suffix(".outputs.safetensors")), *options)
    if done.returncode != 0:
        return f"| `{name}` | | {done.stderr.strip().splitlines()[0][:160]} | | |"
    apart = re.search(r"largest difference.*: (\S+)$", done.stdout, re.M)[1]
    nodes = sum(int(count) for count in re.findall(r"^ +(\d+) × ", run(program, path, "--list").stdout, re.M))
    if not timed:
        return f"| `{name}` | {nodes} | {apart} | | |"
    ours = float(re.search(r"^([\d.]+) µs for one run", done.stdout, re.M)[1]) / 1e6
    return f"| `{name}` | {nodes} | {apart} | {ours * 1e3:.2f} ms | {theirs * 1e3:.2f} ms |"


def theirs(device):
    """The device on which PyTorch computes the reference results."""
    return "cuda" if device == "cuda" and torch.cuda.is_available() else "cpu"


def device_row(folder, program, name, device):
    """A row of the table for a device: the difference from PyTorch, the operators that were left to our CPU, and times if both used the GPU."""
    path, is_timed = folder / f"{name}.pt2", theirs(device) == device
    try:
        if is_timed or not path.exists():
            pytorch = write(folder, name, theirs(device))
    except Exception as error:
        print(f"{name}: {error}")
        return f"| `{name}` | not exported: {type(error).__name__} | |" + " | |" * is_timed
    options = ["--profile", "5"] if is_timed else []
    done = run(program, path, "--device", device, "--compare", str(path.with_suffix(".outputs.safetensors")), *options)
    if done.returncode != 0:
        return f"| `{name}` | {done.stderr.strip().splitlines()[-1][:160]} | |" + " | |" * is_timed
    apart = re.search(r"largest difference.*: (\S+)$", done.stdout, re.M)[1]
    if not float(apart) <= TOLERANCE:
        return f"| `{name}` | **{apart}**, which is too much | |" + " | |" * is_timed
    left = sorted(set(re.findall(r"^torch-library: (\S+) has no kernel", done.stderr, re.M)))
    found = f"| `{name}` | {apart} | {', '.join(f'`{operator}`' for operator in left)} |"
    if is_timed:
        here = float(re.search(r"^([\d.]+) µs for one run", done.stdout, re.M)[1]) / 1e3
        found += f" {here:.2f} ms | {pytorch * 1e3:.2f} ms |"
    return found


# The largest difference from PyTorch that a device may have.
TOLERANCE = 1e-3
DEVICE_HEAD = """# Models on a GPU

Written by `examples/models/compare.py --device {device}`: {adapter}. The difference
is the largest absolute difference of any output from PyTorch {version} on {theirs}, relative to the largest absolute value in that output; up to {tolerance} is tolerated. The models' weights
are random, and their images are {side} pixels wide and high. The third column lists the operators that were left to the CPU.{times}

| model | difference | on the CPU |{columns}
|---|---:|---|{lines}
"""
HEAD = """# Models

Written by `examples/models/compare.py`, with PyTorch {version} on the same machine, one thread each. The difference is the largest absolute difference in any
output, relative to the largest absolute value in that output. The models' weights are random, and their images are {side} pixels wide and high, unless
their names say otherwise. Where two boxes of a detection model have nearly equal scores, they may change places: the difference is then that between the
boxes. {times}

| model | nodes | difference | here | PyTorch |
|---|---:|---:|---:|---:|
"""
TIMED_COLUMNS = {"times": " Times are the\nmedian of five runs after a warm-up.", "columns": " here | PyTorch |", "lines": "---:|---:|"}
UNTIMED_COLUMNS = {"times": "", "columns": "", "lines": ""}
TIMED = "Times are the median of five runs after a warm-up."
UNTIMED = "Times were not taken: the build was not optimised."


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", help="a model")
    parser.add_argument("--folder", type=pathlib.Path, help="where archives go")
    parser.add_argument("--program", default=ROOT / "target" / "release" / "run", help="the binary `run`")
    parser.add_argument("--untimed", action="store_true", help="numbers alone")
    parser.add_argument("--side", type=int, default=224, help="the side of images for models that take any")
    parser.add_argument("--device", help="a device that the program was built for, instead of the CPU")
    parser.add_argument("--adapter", default="the first adapter", help="which one that is, for the table")
    parser.add_argument("--write", action="store_true", help="write docs/models.md, or the table of the device")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.backends.cudnn.allow_tf32 = False  # the others do not round factors of float32 either
    SIDE["convolutions"] = options.side
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        rows = []
        for name in options.only or MODELS:
            if options.device:
                rows.append(device_row(folder, str(options.program), name, options.device))
            else:
                rows.append(row(folder, str(options.program), name, not options.untimed))
            print(rows[-1], flush=True)
    if options.write and options.device:
        head = DEVICE_HEAD.format(device=options.device, adapter=options.adapter, version=torch.__version__,
                                  side=options.side, tolerance=TOLERANCE,
                                  theirs={"cpu": "the CPU", "cuda": "the same GPU"}[theirs(options.device)],
                                  **(TIMED_COLUMNS if theirs(options.device) == options.device else UNTIMED_COLUMNS))
        (ROOT / "kernels" / options.device / "models.md").write_text(head + "\n".join(rows) + "\n")
    elif options.write:
        times = UNTIMED if options.untimed else TIMED
        head = HEAD.format(version=torch.__version__, side=options.side, times=times)
        (ROOT / "docs" / "models.md").write_text(head + "\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
