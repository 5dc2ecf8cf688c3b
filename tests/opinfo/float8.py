"""Writes rows of calls with floats of eight bits, made from the samples of PyTorch's operator tests.

    python tests/opinfo/float8.py OUT [--only REGEX] [--part K/N] [--samples COUNT] [--each COUNT]
                                      [--longest CHARACTERS] [--without-kernel]

The tests have few samples in these types. So each call that an entry makes in `float32` is made again with such a type
in place of `float32`: for all of its tensors and its `dtype`, or for one of its tensors. PyTorch's answer becomes the
row. Most operators have no kernel for these types: their calls get rows only on request, to show what is accepted here
and not in PyTorch.
"""

import argparse
import json
import pathlib
import re
import warnings

import torch

from changed import rows_of
from encode import DTYPES, FLOAT8, Sized
from row import Call, Unfit, error_row, head, row
from rows import OPERATORS, Writer, calls_of, database, declared_in, out_call, samples_of, write

NUMBERS = [0.0, -0.0, 1.0, 1.0625, -2.6, 3.0, 0.0009765625, 448.0, 470.0, 1e6, float("inf"), float("nan")]
LEFT_OUT = {
    # PyTorch accepts these where there are no elements or one, before it finds that it has no kernel.
    "adaptive_avg_pool1d", "linalg_ldl_factor", "linalg_ldl_factor_ex", "linalg_svd", "linalg_vector_norm", "max", "min",
    "pdist",
    # These take two types here, one of them of eight bits, which PyTorch does not: the results are those of float32.
    "logical_and", "logical_or", "logical_xor", "soft_margin_loss",
    # What a call of `torch.tensor` consists of.
    "lift_fresh", "detach_",
}
PAIRED = [torch.float64, torch.float32, torch.int64, torch.bool, torch.complex64, *FLOAT8]


def where(a, b):
    return torch.where(torch.tensor([True]), a, b)


def further(dtype):
    """Calls that no entry makes: conversions, and operands of two types, one of which may have no dimensions."""
    x = torch.tensor(NUMBERS).to(dtype)
    for other in [*DTYPES, *FLOAT8]:
        # What NaN and infinity are as integers depends on the processor.
        numbers = x if other.is_floating_point else x[x.float().isfinite()]
        yield lambda: numbers.to(other)
        yield lambda: torch.tensor(NUMBERS[:10]).to(other).to(dtype)
        yield lambda: torch.zeros(len(numbers), dtype=other).copy_(numbers)
        yield lambda: torch.zeros(8, dtype=other).view(dtype)
        yield lambda: x.view(other)
        if other not in PAIRED:
            continue
        row, number = x[2:6], torch.tensor(1.3).to(other)
        for function in (torch.mul, torch.eq, torch.add, torch.lt, where):
            one = number.view(1)
            for a, b in ((row, number), (number, row), (row[0], one), (row, one), (row[0], number)):
                yield lambda: function(a, b)
        yield lambda: torch.searchsorted(torch.tensor([1, 2, 5]).to(other), row[0])
        yield lambda: torch.searchsorted(torch.tensor([1, 2, 5]).to(other), row)
    for number in (2, 1.3, 1e9, -5.0, float("inf"), float("nan"), True):
        for sizes in ([], [1], [2]):
            yield lambda: torch.full(sizes, number, dtype=dtype)
            yield lambda: torch.zeros(sizes, dtype=dtype).fill_(number)
        for function in (torch.eq, torch.ne, torch.lt, torch.mul, torch.add):
            yield lambda: function(x, number)
    for sizes in ([], [0], [3, 0], [2, 3]):
        y = torch.ones(sizes, dtype=dtype)
        for function in (torch.cumsum, torch.cumprod, torch.cummax, torch.cummin, torch.all, torch.any):
            yield lambda: function(y, 0)
        yield lambda: y.flip([])
        yield lambda: y.view(-1, 1).mm(y.view(1, -1)) if y.dim() < 2 else y.mm(y.t())


def with_type(call, dtype, which):
    """A call in `float32`, in another type: `all` of its tensors and its `dtype`, or the tensor of that path.

    None if there is nothing of that type.
    """
    is_changed = False

    def changed(value, path):
        nonlocal is_changed
        if isinstance(value, Sized) and value.storage.dtype == torch.float32 and which in ("all", path):
            is_changed = True
            return Sized(value.tensor(lambda storage: storage.to(dtype)))
        if isinstance(value, list):
            return [changed(element, f"{path}.{index}") for index, element in enumerate(value)]
        if value == torch.float32 and which == "all":
            is_changed = True
            return dtype
        return value
    args = [changed(value, str(index)) for index, value in enumerate(call.args)]
    kwargs = {name: changed(value, name) for name, value in call.kwargs.items()}
    return Call(call.operator, args, kwargs) if is_changed else None


def has_out(operator):
    return any(argument.kwarg_only and argument.alias_info for argument in operator._schema.arguments)


def answer(without_kernel):
    """Makes the row of a call, whether it works or raises an error."""
    def make(call):
        try:
            args, kwargs = call.made()
            with torch.no_grad():
                call.operator(*args, **kwargs)
        except Exception as error:
            try:
                return error_row(call)
            except Unfit as reason:
                if without_kernel and str(reason) == "PyTorch has no kernel":
                    return {**head(call), "error": {"type": type(error).__name__, "error": str(error)[:200]}}
                raise
        return row(call)
    return make


def float8_rows(writer, name, info, options):
    """The rows of one entry: each kind of call in each type."""
    calls = {}
    make = answer(options.without_kernel)
    if torch.float32 not in info.supported_dtypes("cpu"):
        return
    for sample in samples_of(info, torch.float32, options):
        for kind, operator, call in calls_of(lambda: info.op(sample.input, *sample.args, **sample.kwargs))[0]:
            if kind == "top" and call is not None:
                calls.setdefault(operator, {})[call.signature(True)] = call
                try:
                    call = out_call(call)
                except Exception:
                    continue
                if call is not None:
                    calls.setdefault(call.operator, {})[call.signature(True)] = call
    for operator, of in calls.items():
        for dtype in FLOAT8:
            for call in list(of.values())[:options.each]:
                # An `out` of another type than the operands often decides the type in which PyTorch computes.
                for which in ("all",) if has_out(operator) else ("all", "0", "1", "2"):
                    call_in_type = with_type(call, dtype, which)
                    if call_in_type is not None and call.short_name not in LEFT_OUT:
                        writer.add(name, FLOAT8[dtype], operator, call_in_type, make)


def further_rows(writer, options):
    make = answer(options.without_kernel)
    for dtype in FLOAT8:
        for run in further(dtype):
            for kind, operator, call in calls_of(run)[0]:
                if kind == "top" and call is not None and call.short_name not in LEFT_OUT:
                    writer.add("further", FLOAT8[dtype], operator, call, make)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--only", default="", help="entries whose whole name matches this expression")
    parser.add_argument("--part", default="1/1", help="part K of N of the entries")
    parser.add_argument("--samples", type=int, default=12, help="how many samples of an entry are considered")
    parser.add_argument("--each", type=int, default=3, help="how many calls of each operator of an entry are made")
    parser.add_argument("--longest", type=int, default=40_000, help="how many characters a row may have")
    parser.add_argument("--without-kernel", action="store_true", help="also calls that PyTorch has no kernel for")
    parser.add_argument("--declared", type=pathlib.Path, default=OPERATORS, help="the list of our operators")
    parser.add_argument("--seconds", type=int, default=60, help="how long one entry may take")
    options = parser.parse_args()
    options.seed, options.inputs = None, "samples"
    part, parts = map(int, options.part.split("/"))
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    writer = Writer(declared_in(options.declared))
    entries = [(name, info) for name, info, _ in database(options)[part - 1::parts]]
    for name, info in [("further", None), *entries] if part == 1 else entries:
        if options.only and not re.fullmatch(options.only, name):
            continue

        def fill(of_this):
            if info is None:
                further_rows(of_this, options)
            else:
                float8_rows(of_this, name, info, options)
        found = rows_of(fill, writer, options.seconds)
        if found is None:
            print(f"{name}: PyTorch ended")
            continue
        for entry in found[0]:
            if len(json.dumps(entry)) > options.longest:
                continue
            kind = entry["tag"].split()[1]
            writer.rows.append({**entry, "id": len(writer.rows), "tag": f"{name} {kind} #{len(writer.rows)}"})
        writer.left_out.update(found[1])
    write(writer, options.out)


if __name__ == "__main__":
    main()
