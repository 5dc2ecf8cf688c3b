"""Writes which operators the models of `compare.py` call into `docs/model_operators.md`: they are exported, not run.

    python3 -m pip install torch torchvision timm transformers safetensors
    python3 examples/models/operators.py                 # from the repository's root, one or two minutes

`inspect html` reads the file, to show for each operator which models need it.
"""

import torch
from torch.export import export

from compare import MODELS, ROOT

HEAD = f"""# Operators of models

Which operators the models of [the table](models.md) call, as `torch.export` of PyTorch {torch.__version__} writes them, and how often.
Written by `examples/models/operators.py`.

| model | operators |
|---|---|
"""


def calls(name):
    """How often a model calls each operator, by name."""
    torch.manual_seed(0)
    model, arguments, options = MODELS[name]()
    with torch.no_grad():
        program = export(model.eval(), arguments, **options)
    counts = {}
    for module in program.graph_module.modules():
        for node in getattr(module, "graph", torch.fx.Graph()).nodes:
            if isinstance(node.target, torch._ops.OpOverload):
                target = str(node.target).removesuffix(".default").replace(".", "::", 1)
                counts[target] = counts.get(target, 0) + 1
    return counts


def main():
    lines = []
    for name in MODELS:
        counts = sorted(calls(name).items(), key=lambda pair: (-pair[1], pair[0]))
        lines.append(f"| `{name}` | {', '.join(f'`{operator}` {count}' for operator, count in counts)} |\n")
    (ROOT / "docs" / "model_operators.md").write_text(HEAD + "".join(lines))


if __name__ == "__main__":
    main()
