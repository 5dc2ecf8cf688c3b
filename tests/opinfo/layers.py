"""Writes rows of the calls of PyTorch's operator tests in two layers: under autocast, and on batches.

    python tests/opinfo/layers.py OUT --seed N [--only REGEX] [--part K/N] [--samples COUNT] [--each COUNT]
                                      [--levels COUNT] [--grads 1]

`OUT/autocast.jsonl.gz` has the calls that work under autocast to `bfloat16` or `float16`, with PyTorch's answers.
`OUT/vmap.jsonl.gz` has calls that work in PyTorch's vmap, with batches for some tensors. The answer is PyTorch's for
one example after the other: its batching rules have errors of their own.
"""

import argparse
import collections
import gzip
import json
import pathlib
import random
import re
import warnings

import torch

from changed import rows_of
from encode import NAMES, Sized, Unwritable, made, numbers, paths, take_down, written
from row import FREE_ORDER, FREE_SIGN, TOLERANCES, Unfit, check, head, refuse_unfit, results, same, state
from rows import OPERATORS, calls_of, database, declared_in, samples_of

LONGEST = 8000
# What these compute depends on the strides of a batch.
OF_STRIDES = {"as_strided", "as_strided_copy", "as_strided_scatter", "_unsafe_view", "view", "set_"}


def answers(call, made):
    """The results of a call, if all of them are tensors."""
    args, kwargs = made
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outputs = results(call.operator(*args, **kwargs))[0]
    if not outputs or not all(isinstance(output, torch.Tensor) and output.numel() < 500 for output in outputs):
        raise Unfit("a result that is no tensor, or a large one")
    return outputs


def autocast_row(call, dtype):
    """The row of a call under autocast, where its numbers are accurate enough to compare."""
    refuse_unfit(call)
    exact = answers(call, call.made())
    with torch.autocast("cpu", dtype=dtype):
        outputs = answers(call, call.made())
    if not all(same(output, other, TOLERANCES[dtype] / 2) for output, other in zip(outputs, exact, strict=True)):
        raise Unfit("not accurate in PyTorch")
    return {**head(call), "kind": "call", "autocast": {"device": "cpu", "dtype": NAMES[dtype], "enabled": True},
            "outputs": [state(output) for output in outputs]}


def batch(tensor, chance, size):
    """A batch of which a tensor is the first example, and the dimension with the examples."""
    # Multiples of a matrix have all of its properties, and a permutation of indices has none out of range.
    is_number = tensor.is_floating_point() or tensor.is_complex()
    others = [tensor * (1 - i / 8) if is_number else tensor.flatten().roll(i).view(tensor.shape) for i in range(size)]
    dim = chance.randint(0, tensor.dim())
    return torch.stack(others, dim), dim - chance.choice([0, 0, tensor.dim() + 1])


def batches(tensors, chance, sizes):
    """The tensors with a batch per size, and the dimensions of each level, the outermost first."""
    levels = []
    for size in reversed(sizes):
        own = [chance.random() < 0.6 for _ in tensors]
        own[chance.randrange(len(tensors))] = True
        pairs = [batch(tensor, chance, size) if batched else (tensor, None) for tensor, batched in zip(tensors, own)]
        tensors, dims = [tensor.clone() for tensor, _ in pairs], [dim for _, dim in pairs]
        levels.insert(0, dims)
    return tensors, levels


def of_each(function, tensors, levels, out_dims):
    """The results of `vmap`s in one another, computed one example after the other."""
    if not levels:
        return function(tensors)
    size = next(tensor.shape[dim] for tensor, dim in zip(tensors, levels[0]) if dim is not None)
    for_each = [of_each(function, [tensor if dim is None else tensor.select(dim, index).clone()
                                   for tensor, dim in zip(tensors, levels[0])], levels[1:], out_dims[1:])
                for index in range(size)]
    if any(len({output.shape for output in outputs}) > 1 for outputs in zip(*for_each)):
        raise Unfit("results of different sizes")
    return [torch.stack(outputs, out_dims[0]) for outputs in zip(*for_each, strict=True)]


def gradients(call, rest, tensors, wanted):
    """The gradients of the sum of the first result's elements."""
    leaves = [tensor.clone().requires_grad_(index in wanted) for index, tensor in enumerate(tensors)]
    output = results(call.operator(*leaves, *made(rest), **call.made()[1]))[0][0]
    if not output.requires_grad or not output.is_floating_point():
        raise Unfit("a result without a gradient")
    of = [leaves[index] for index in wanted]
    found = torch.autograd.grad(output.sum(), of, allow_unused=True)
    return [torch.zeros_like(leaf) if grad is None else grad for leaf, grad in zip(of, found)]


def vmap_row(call, chance, options):
    """The row of a call on batches: those of its tensors that come first, at least one of them in each level."""
    refuse_unfit(call)
    if call.short_name in FREE_SIGN | FREE_ORDER | OF_STRIDES or any(a.alias_info for a in call.schema.arguments):
        raise Unfit("an answer that depends on more than the examples, or a view")
    in_list = bool(call.args) and isinstance(call.args[0], list)
    first = call.args[0] if in_list else call.args
    count = next((i for i, value in enumerate(first) if not isinstance(value, Sized)), len(first))
    rest, kwargs = call.args[1:] if in_list else call.args[count:], head(call)["kwargs"]
    if not count or in_list and count < len(first) or any(True for _ in paths(rest, call.kwargs)):
        raise Unfit("tensors behind other arguments")
    sizes = [chance.choice([1, 2, 3]) for _ in range(options.levels)]
    tensors, levels = batches([value.tensor() for value in first[:count]], chance, sizes)
    floats = [index for index, tensor in enumerate(tensors) if tensor.is_floating_point()]
    wanted = sorted(chance.sample(floats, chance.randint(1, len(floats)))) if options.grads and floats else None
    if options.grads and (wanted is None or in_list):
        raise Unfit("no gradient")

    def refused(*examples):
        return call.operator(*[list(examples)] if in_list else examples, *made(rest), **call.made()[1])
    function = refused
    for dims in reversed(levels):
        function = torch.vmap(function, tuple(dims))
    try:
        outputs = results(function(*tensors))[0]
    except Exception as error:
        raise Unfit("PyTorch refuses it in vmap") from error
    least = min([len(tensors[index].shape) - sum(dims[index] is not None for dims in levels) for index in wanted]
                if wanted else [output.dim() - options.levels for output in outputs])
    out_dims = [chance.randint(-least - 1, least) for _ in sizes]

    def answer(examples):
        of_example = [take_down(tensor) for tensor in examples]
        of_example = type(call)(call.operator, ([of_example] if in_list else of_example) + rest, call.kwargs)
        if wanted is not None:
            found = gradients(call, rest, examples, wanted)
            nudged = gradients(call, rest, [tensor * (1 + 1e-7) if index in floats else tensor
                                            for index, tensor in enumerate(examples)], wanted)
            if not all(same(a, b, 1e-5) for a, b in zip(found, nudged)):
                raise Unfit("not accurate in PyTorch")
            return found
        outputs = answers(of_example, of_example.made())
        check(of_example, outputs, [])
        return outputs
    stacked = of_each(answer, tensors, levels, out_dims)
    return {"op": call.name, "kind": "vmap" if wanted is None else "vmap_grad", "tensor_list_first": in_list,
            "levels": len(levels), "rest": written(rest),
            "kwargs": kwargs, "tensors": [Sized(tensor).written()["tensor"] for tensor in tensors],
            "in_dims": levels, "out_dims": out_dims, **({} if wanted is None else {"argnums": wanted}),
            "outputs": [{"sizes": list(output.shape), "dtype": NAMES[output.dtype], "values": numbers(output)}
                        for output in stacked]}


class Rows:
    """The rows of both files so far; `rows` and `left_out` as in `rows.Writer`."""

    def __init__(self, declared):
        self.declared, self.rows, self.left_out = declared, [], {}

    def add(self, entry, make):
        try:
            made = {**make(), "tag": entry}
            if len(json.dumps(made)) <= LONGEST:
                self.rows.append(made)
        except (Unfit, Unwritable) as reason:
            self.left_out[str(reason)] = self.left_out.get(str(reason), 0) + 1
        except TimeoutError:
            raise
        except Exception as error:  # PyTorch refuses the call in this layer, or there is no such batch
            self.left_out[type(error).__name__] = self.left_out.get(type(error).__name__, 0) + 1


def layered(writer, name, info, options):
    """The rows of one entry."""
    chance = random.Random(f"{name} {options.seed}")
    calls = {}
    supported = info.supported_dtypes("cpu")
    for dtype in [getattr(torch, name) for name in options.dtypes]:
        for sample in samples_of(info, dtype, options) if dtype in supported else ():
            for kind, operator, call in calls_of(lambda: info.op(sample.input, *sample.args, **sample.kwargs))[0]:
                overload = operator._schema.overload_name
                known = operator._schema.name.split("::")[1] + (f".{overload}" if overload else "")
                if kind == "top" and call is not None and known in writer.declared:
                    calls.setdefault((operator, dtype), {})[call.signature(True)] = call
    for (_, dtype), of in calls.items():
        of = list(of.values())
        for call in chance.sample(of, min(options.each, len(of))):
            if dtype.is_floating_point:
                for lower in (torch.bfloat16, torch.float16):
                    writer.add(name, lambda: autocast_row(call, lower))
            if dtype not in (torch.float16, torch.bfloat16):
                writer.add(name, lambda: vmap_row(call, chance, options))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--only", default="", help="entries whose whole name matches this expression")
    parser.add_argument("--part", default="1/1", help="part K of N of the entries")
    parser.add_argument("--samples", type=int, default=8, help="how many samples in a dtype are considered")
    parser.add_argument("--each", type=int, default=3, help="how many calls of an operator of an entry in a dtype")
    parser.add_argument("--levels", type=int, default=1, help="how many `vmap`s are in one another")
    parser.add_argument("--grads", type=int, default=0, help="1: gradients on batches instead of results")
    parser.add_argument("--declared", type=pathlib.Path, default=OPERATORS, help="the list of our operators")
    parser.add_argument("--seconds", type=int, default=60, help="how long one entry may take")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--dtypes", type=lambda text: text.split(","),
                        default=["float32", "float64", "float16", "int64"])
    options = parser.parse_args()
    options.inputs = "samples"
    part, parts = map(int, options.part.split("/"))
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    declared = declared_in(options.declared)
    files = {"call": [], "vmap": []}
    left_out = collections.Counter()
    for name, info, _ in database(options)[part - 1::parts]:
        if options.only and not re.fullmatch(options.only, name):
            continue
        writer = Rows(declared)
        found = rows_of(lambda of_this: layered(of_this, name, info, options), writer, options.seconds)
        if found is None:
            print(f"{name}: PyTorch ended")
            continue
        left_out.update(found[1])
        for entry in found[0]:
            rows = files["call" if entry["kind"] == "call" else "vmap"]
            rows.append({**entry, "id": len(rows)})
    options.out.mkdir(parents=True, exist_ok=True)
    for file, rows in (("autocast", files["call"]), ("vmap", files["vmap"])):
        with gzip.open(options.out / f"{file}.jsonl.gz", "wt", compresslevel=9) as text:
            text.writelines(json.dumps(entry) + "\n" for entry in rows)
        print(f"{len(rows)} rows of {file}")
    for reason, count in left_out.most_common():
        print(f"  left out {count}: {reason}")


if __name__ == "__main__":
    main()
