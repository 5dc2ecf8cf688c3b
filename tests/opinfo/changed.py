"""Writes rows of calls that differ slightly from the samples of PyTorch's operator tests: some work, some raise an error.

    python tests/opinfo/changed.py OUT --seed N [--only REGEX] [--part K/N] [--samples COUNT] [--changes COUNT]
                                       [--layouts 1]

Each operator that an entry calls is called again with one argument changed: a tensor of another dtype, with other sizes
or strides, without elements, zero-dimensional, or with non-finite numbers; a number or a list of numbers similar to
the original; an `out` that is too small, not contiguous or of another dtype. PyTorch's answer becomes the row.

With `--layouts 1`, the tensors keep their dtype and sizes, and each of them independently gets other strides.
"""

import argparse
import copy
import json
import os
import pathlib
import random
import re
import signal
import warnings

import torch

from encode import DTYPES, Sized
from row import Call, error_row, row
from rows import OPERATORS, SIX, Writer, calls_of, database, declared_in, out_call, samples_of, write

SPECIAL = [float("nan"), float("inf"), float("-inf"), -0.0, 0.0, 1.0, -1.0, 0.5, 1e30, -1e-30]


def other_dtype(value, chance):
    dtype = chance.choice([dtype for dtype in DTYPES if dtype != value.storage.dtype])
    return Sized(value.tensor().to(dtype))


def other_sizes(value, chance):
    tensor = value.tensor()
    kind = chance.choice(["drop", "add", "less", "repeat", "none", "one", "turn"])
    if kind == "add" or not tensor.dim():
        return Sized(tensor.unsqueeze(chance.randint(0, tensor.dim())))
    dim = chance.randrange(tensor.dim())
    if kind == "turn":
        return Sized(tensor.transpose(dim, chance.randrange(tensor.dim())))
    size = tensor.shape[dim]
    if kind == "drop" and size:
        return Sized(tensor.select(dim, 0))
    if kind == "repeat":
        return Sized(torch.cat([tensor, tensor.narrow(dim, 0, min(size, chance.randint(1, 2)))], dim))
    kept = {"less": max(size - 1, 0), "none": 0}.get(kind, min(size, 1))
    return Sized(tensor.narrow(dim, 0, kept).clone())


def other_strides(value, chance):
    tensor = value.tensor()
    kind = chance.choice(["turned", "stepped", "late", "expanded"])
    if kind == "late" or not tensor.dim():
        return Sized(torch.cat([tensor.flatten()[:1], tensor.flatten()])[-tensor.numel():].view(tensor.shape)
                             if tensor.numel() else tensor)
    if kind == "turned":
        return Sized(tensor.permute(*reversed(range(tensor.dim()))).contiguous()
                             .permute(*reversed(range(tensor.dim()))))
    dim = chance.randrange(tensor.dim())
    if kind == "stepped":
        return Sized(tensor.repeat_interleave(2, dim).narrow(dim, 0, 2 * tensor.shape[dim])
                             [(slice(None),) * dim + (slice(None, None, 2),)])
    return Sized(tensor.narrow(dim, 0, min(tensor.shape[dim], 1)).expand(tensor.shape))


def other_layout(value, chance):
    """A tensor of the same sizes whose dimensions have another order, have gaps, are repeated, or start late."""
    tensor = value.tensor()
    dims = tensor.dim()
    order = list(range(dims))
    kind = chance.choice(["same", "reversed", "swapped", "any", "channels last"])
    if kind == "reversed":
        order.reverse()
    elif kind == "swapped" and dims > 1:
        order[-2:] = order[:-3:-1]
    elif kind == "any":
        chance.shuffle(order)
    elif kind == "channels last" and dims > 2:
        order = [0, *range(2, dims), 1]
    gaps = chance.random() < 0.3
    repeated = chance.randrange(dims) if dims and chance.random() < 0.15 else None
    strides, step = [0] * dims, chance.choice([1, 1, 1, 2]) if gaps else 1
    for dim in reversed(order):
        if dim == repeated:
            tensor = tensor.narrow(dim, 0, min(tensor.shape[dim], 1)).expand(tensor.shape)
            continue
        strides[dim] = step
        step *= max(tensor.shape[dim], 1) + (chance.choice([0, 1, 2]) if gaps else 0)
    offset = chance.choice([0, 0, 0, 1, 3])
    return placed(tensor, strides, offset)


def placed(tensor, strides, offset):
    """A tensor's elements at these strides, amid copies of them."""
    if not tensor.numel():
        return Sized(tensor.new_zeros(offset).as_strided(tensor.shape, strides, offset))
    last = offset + sum((size - 1) * stride for size, stride in zip(tensor.shape, strides))
    storage = tensor.flatten().repeat(last // tensor.numel() + 1)[:last + 1].clone()
    once = [size if stride else min(size, 1) for size, stride in zip(tensor.shape, strides)]
    storage.as_strided(once, strides, offset).copy_(tensor[tuple(slice(size) for size in once)])
    return Sized(storage.as_strided(tensor.shape, strides, offset))


def special_numbers(value, chance):
    value = copy.deepcopy(value)
    storage = value.storage
    for _ in range(max(1, storage.numel() // 4)) if storage.numel() else ():
        index = chance.randrange(storage.numel())
        if storage.dtype.is_floating_point:
            storage[index] = chance.choice(SPECIAL)
        elif storage.dtype.is_complex:
            storage[index] = complex(chance.choice(SPECIAL[3:8]), chance.choice(SPECIAL[3:8]))
        elif storage.dtype != torch.bool:
            info = torch.iinfo(storage.dtype)
            storage[index] = chance.choice([0, 1, info.max, info.min, 7, max(-1, info.min)])
    return value


TENSORS = [other_dtype, other_dtype, other_sizes, other_sizes, other_sizes, other_strides, special_numbers]


def other_value(value, chance):
    """A changed value, or the same value if there is nothing to change."""
    if isinstance(value, Sized):
        return chance.choice(TENSORS)(value, chance)
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return chance.choice([value + 1, value - 1, -value, 0, -1, 1, value + 1, value - 1, 100, -100])
    if isinstance(value, float):
        return chance.choice([0.0, 1.0, -value, value * 2, -1.0, float("nan"), float("inf"), 3, True])
    if isinstance(value, str):
        return chance.choice(["mean", "sum", "none", "nothing", "floor", "trunc"])
    if isinstance(value, torch.dtype):
        return chance.choice(list(DTYPES))
    if isinstance(value, list) and value:
        kind = chance.choice(["one", "one", "one", "less", "more", "twice"])
        if kind == "less":
            return value[:-1]
        if kind == "more":
            return [*value, value[-1]]
        if kind == "twice":
            return [value[0], *value[:-1]]
        index = chance.randrange(len(value))
        return [*value[:index], other_value(value[index], chance), *value[index + 1:]]
    return value


def with_another_out(call, chance):
    """The `out` variant of a call, with an `out` that does not match the result."""
    call = out_call(call)
    if call is None:
        return None
    outs = [argument.name for argument in call.schema.arguments if argument.alias_info]
    kwargs = dict(call.kwargs)
    name = chance.choice(outs)
    change = chance.choice(["empty", other_dtype, other_dtype, other_sizes, other_strides, "same as input"])
    if change == "empty":
        kwargs[name] = Sized(torch.empty(0, dtype=kwargs[name].storage.dtype))
    elif change == "same as input":
        return call
    else:
        kwargs[name] = change(kwargs[name], chance)
    return Call(call.operator, call.args, kwargs)


def with_other_layouts(call, chance, outs):
    """The call with each of its tensors, independently, in another layout; with some probability, its `out` variant."""
    if chance.random() < outs:
        call = out_call(call) or call

    def laid_out(value):
        if isinstance(value, Sized) and chance.random() < 0.7:
            return other_layout(value, chance)
        return [laid_out(element) for element in value] if isinstance(value, list) else value
    return Call(call.operator, laid_out(call.args), {name: laid_out(value) for name, value in call.kwargs.items()})


def changed(call, chance, outs):
    """The call with one of its arguments changed; with some probability, its `out` variant."""
    if chance.random() < outs:
        other = with_another_out(call, chance)
        if other is not None or outs == 1:
            return other
    args, kwargs = list(call.args), dict(call.kwargs)
    places = [(args, index) for index in range(len(args))] + [(kwargs, name) for name in kwargs]
    tensors = [(where, place) for where, place in places if isinstance(where[place], Sized)]
    if not places:
        return None
    where, place = chance.choice(tensors if tensors and chance.random() < 0.6 else places)
    where[place] = other_value(where[place], chance)
    return Call(call.operator, args, kwargs)


def row_or_refusal(call):
    """The row of a call, whether it works or raises an error."""
    args, kwargs = call.made()
    try:
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call.operator(*args, **kwargs)
    except Exception:
        return error_row(call)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return row(call)


def changed_rows(writer, name, info, options):
    """The rows of one entry: changed calls of each of its operators."""
    chance = random.Random(f"{name} {options.seed}")
    calls = {}
    supported = info.supported_dtypes("cpu")
    functions = [info.op, *([info.inplace_variant] if options.layouts and info.inplace_variant else [])]
    change = with_other_layouts if options.layouts else changed
    for dtype in [getattr(torch, name) for name in options.dtypes]:
        for sample in samples_of(info, dtype, options) if dtype in supported else ():
            for function in functions:
                with torch.set_grad_enabled(function is info.op):
                    found = calls_of(lambda: function(sample.input, *sample.args, **sample.kwargs))[0]
                for kind, operator, call in found:
                    if kind == "top" and call is not None:
                        calls.setdefault(operator, {})[call.signature(True)] = call
    for operator, of in calls.items():
        of = list(of.values())
        for _ in range(options.changes):
            try:
                call = change(chance.choice(of), chance, options.outs)
            except Exception:  # a change that does not fit the tensor
                continue
            if call is not None:
                writer.add(name, "changed", call.operator, call, row_or_refusal)


def in_a_process(run, seconds):
    """The result of a function, run in a process of its own: with arbitrary arguments PyTorch may crash."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        signal.alarm(seconds)
        try:
            with os.fdopen(writing, "w") as file:
                json.dump(run(), file)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        text = file.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else None


def rows_of(fill, writer, seconds):
    """The rows that `fill` gives to a writer in a process of its own, those before the time is up, and what it left out; `None` if PyTorch
    ended the process."""
    def rows():
        of_this = type(writer)(writer.declared)
        signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(TimeoutError()))
        try:
            fill(of_this)
        except TimeoutError:
            pass
        return of_this.rows, dict(of_this.left_out)
    return in_a_process(rows, seconds)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--only", default="", help="entries whose whole name matches this expression")
    parser.add_argument("--part", default="1/1", help="part K of N of the entries")
    parser.add_argument("--samples", type=int, default=6, help="how many samples in a dtype are changed")
    parser.add_argument("--changes", type=int, default=20, help="how many calls are made of each operator of an entry")
    parser.add_argument("--outs", type=float, default=0.2, help="which part of the calls writes to an `out`")
    parser.add_argument("--layouts", type=int, default=0, help="1: change the strides of all tensors, and nothing else")
    parser.add_argument("--declared", type=pathlib.Path, default=OPERATORS, help="the list of our operators")
    parser.add_argument("--seconds", type=int, default=60, help="how long one entry may take")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--dtypes", type=lambda text: text.split(","), default=SIX, help="instead of the six")
    parser.add_argument("--inputs", choices=["samples", "reference"], default="samples")
    options = parser.parse_args()
    part, parts = map(int, options.part.split("/"))
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    writer = Writer(declared_in(options.declared))
    for name, info, _ in database(options)[part - 1::parts]:
        if options.only and not re.fullmatch(options.only, name):
            continue
        def fill(of_this, outs=options.outs):
            changed_rows(of_this, name, info, argparse.Namespace(**{**vars(options), "outs": outs}))
        found = rows_of(fill, writer, options.seconds)
        if found is None and options.layouts:  # most of what crashes writes to an `out` as if it were contiguous
            found = rows_of(lambda of_this: fill(of_this, 0), writer, options.seconds)
        if found is None:
            print(f"{name}: PyTorch ended")
            continue
        for entry in found[0]:
            writer.rows.append({**entry, "id": len(writer.rows), "tag": f"{name} changed #{len(writer.rows)}"})
        writer.left_out.update(found[1])
    write(writer, options.out)


if __name__ == "__main__":
    main()
