"""Writes rows of the calls of PyTorch's operator tests in two layers: under autocast, and on batches.

    python tests/opinfo/layers.py OUT --seed N [--only REGEX] [--part K/N] [--samples COUNT] [--each COUNT]

`OUT/autocast.jsonl.gz` has the calls that work under autocast to `bfloat16` or `float16`, with PyTorch's answers.
`OUT/vmap.jsonl.gz` has calls that work in PyTorch's vmap, with batches for some tensors. The answer is PyTorch's for
one example after the other: its batching rules have errors of their own.
"""

import argparse
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


def batch(value, chance, size):
    """A batch of which a tensor is the first example, and the dimension with the examples."""
    tensor = value.tensor()
    # Multiples of a matrix have all of its properties, and a permutation of indices has none out of range.
    is_number = tensor.is_floating_point() or tensor.is_complex()
    others = [tensor * (1 - i / 8) if is_number else tensor.flatten().roll(i).view(tensor.shape) for i in range(size)]
    dim = chance.randint(0, tensor.dim())
    return torch.stack(others, dim), dim


def vmap_row(call, chance):
    """The row of a call on batches: those of its tensors that come first, at least one of them."""
    refuse_unfit(call)
    if call.short_name in FREE_SIGN | FREE_ORDER | OF_STRIDES or any(a.alias_info for a in call.schema.arguments):
        raise Unfit("an answer that depends on more than the examples, or a view")
    count = next((i for i, value in enumerate(call.args) if not isinstance(value, Sized)), len(call.args))
    rest, kwargs = call.args[count:], head(call)["kwargs"]
    if not count or any(True for _ in paths(rest, call.kwargs)):
        raise Unfit("tensors behind other arguments")
    batched = [chance.random() < 0.6 for _ in range(count)]
    batched[chance.randrange(count)] = True
    size = chance.choice([1, 2, 3])
    pairs = [batch(value, chance, size) if own else (value.tensor(), None) for value, own in zip(call.args, batched)]
    try:
        torch.vmap(lambda *tensors: call.operator(*tensors, *made(rest), **call.made()[1]),
                   tuple(dim for _, dim in pairs))(*[tensor.clone() for tensor, _ in pairs])
    except Exception as error:
        raise Unfit("PyTorch refuses it in vmap") from error
    for_each = []
    for index in range(size):
        example = [tensor if dim is None else tensor.select(dim, index).clone() for tensor, dim in pairs]
        of_example = type(call)(call.operator, [take_down(tensor) for tensor in example] + rest, call.kwargs)
        outputs = answers(of_example, of_example.made())
        check(of_example, outputs, [])
        for_each.append(outputs)
    if any(len({output.shape for output in outputs}) > 1 for outputs in zip(*for_each)):
        raise Unfit("results of different sizes")
    stacked = [torch.stack(outputs) for outputs in zip(*for_each, strict=True)]
    return {"op": call.name, "kind": "vmap", "tensor_list_first": False, "levels": 1, "rest": written(rest),
            "kwargs": kwargs, "tensors": [Sized(tensor).written()["tensor"] for tensor, _ in pairs],
            "in_dims": [[dim for _, dim in pairs]], "out_dims": [0],
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
                writer.add(name, lambda: vmap_row(call, chance))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--only", default="", help="entries whose whole name matches this expression")
    parser.add_argument("--part", default="1/1", help="part K of N of the entries")
    parser.add_argument("--samples", type=int, default=8, help="how many samples in a dtype are considered")
    parser.add_argument("--each", type=int, default=3, help="how many calls of an operator of an entry in a dtype")
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
    for name, info, _ in database(options)[part - 1::parts]:
        if options.only and not re.fullmatch(options.only, name):
            continue
        writer = Rows(declared)
        found = rows_of(lambda of_this: layered(of_this, name, info, options), writer, options.seconds)
        if found is None:
            print(f"{name}: PyTorch ended")
            continue
        for entry in found[0]:
            rows = files[entry["kind"]]
            rows.append({**entry, "id": len(rows)})
    options.out.mkdir(parents=True, exist_ok=True)
    for file, rows in (("autocast", files["call"]), ("vmap", files["vmap"])):
        with gzip.open(options.out / f"{file}.jsonl.gz", "wt", compresslevel=9) as text:
            text.writelines(json.dumps(entry) + "\n" for entry in rows)
        print(f"{len(rows)} rows of {file}")


if __name__ == "__main__":
    main()
