"""Writes rows for the replay of recorded answers, from PyTorch's own operator tests.

    python tests/opinfo/rows.py OUT [--only REGEX] [--part K/N] [--samples COUNT] [--declared FILE]
                                    [--seed N] [--dtypes NAME,NAME] [--inputs samples|reference|modules|lists|optimizers]

`OUT/kernels.jsonl.gz` gets the rows, `OUT/missing.txt` the operators that the tests reach and that are not declared
here, with how many entries need each. README.md beside this file says what a row holds and what is left out.
"""

import argparse
import collections
import functools
import gzip
import itertools
import json
import pathlib
import random
import re
import signal
import sys
import warnings

import torch
from torch._dispatch.python import enable_python_dispatcher
from torch._subclasses.schema_check_mode import SchemaCheckMode
from torch.utils._python_dispatch import TorchDispatchMode

from encode import Unwritable, take_down
from row import Call, Unfit, error_row, row

SIX = ["float32", "float64", "int64", "bool", "bfloat16", "complex64"]
OPERATORS = pathlib.Path(__file__).resolve().parents[2] / "docs" / "operators.md"


class Below(TorchDispatchMode):
    """Records each call that arrives below autograd."""

    def __init__(self, calls):
        super().__init__()
        self.calls = calls

    def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
        take(self.calls, "below", operator, args, kwargs or {})
        return operator(*args, **(kwargs or {}))


class Top(SchemaCheckMode):
    """Records each call of an operator that a program makes, together with the calls below it.

    Only PyTorch's own modes may be above autograd, hence the base class, which is not used otherwise.
    """

    def __init__(self, calls):
        super().__init__()
        self._dispatch_key = torch._C.DispatchKey.PreDispatch
        self.calls = calls

    def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
        take(self.calls, "top", operator, args, kwargs or {})
        with Below(self.calls):
            return operator(*args, **(kwargs or {}))


def take(calls, kind, operator, args, kwargs):
    if not isinstance(operator, torch._ops.OpOverload) or operator.namespace != "aten":
        return
    try:
        call = Call(operator, take_down(list(args)), {name: take_down(value) for name, value in kwargs.items()})
    except Unwritable:
        call = None
    calls.append((kind, operator, call))


def calls_of(run):
    """The calls that a function makes, and the error that it raises."""
    calls, failure = [], None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.manual_seed(0)
        try:
            with enable_python_dispatcher(), Top(calls):
                run()
        except Exception as error:
            failure = error
    return calls, failure


def out_call(call):
    """The `out` variant of a call, with fresh tensors of the right size."""
    names = [argument.name for argument in call.schema.arguments]
    for overload in call.operator.overloadpacket.overloads():
        operator = getattr(call.operator.overloadpacket, overload)
        arguments = operator._schema.arguments
        outs = [argument for argument in arguments if argument.alias_info and argument.alias_info.is_write]
        if not outs or not all(argument.kwarg_only and str(argument.type) == "Tensor" for argument in outs):
            continue
        rest = [argument.name for argument in arguments if argument not in outs]
        if rest != [name for name in names if name in rest] or len(outs) != len(call.schema.returns):
            continue
        if not set(call.kwargs) <= set(rest) or [a.name for a in arguments][:len(call.args)] != names[:len(call.args)]:
            continue
        args, kwargs = call.made()
        with torch.no_grad():
            outputs = operator_outputs(call.operator(*args, **kwargs))
        kwargs = dict(call.kwargs)
        for argument, output in zip(outs, outputs):
            kwargs[argument.name] = take_down(torch.zeros_like(output, memory_format=torch.contiguous_format))
        return Call(operator, call.args, kwargs)
    return None


def operator_outputs(outputs):
    return outputs if isinstance(outputs, (list, tuple)) else [outputs]


class Writer:
    """The rows so far, and statistics."""

    def __init__(self, declared):
        self.declared = declared
        self.rows, self.seen = [], set()
        self.missing = collections.defaultdict(set)
        self.left_out = collections.Counter()

    def add(self, entry, kind, operator, call, make=row):
        name = operator._schema.name.split("::")[1]
        name += "." + operator._schema.overload_name if operator._schema.overload_name else ""
        if name not in self.declared:
            self.missing[name].add(entry)
            return
        if call is None:
            self.left_out["too large, or of no form that rows have"] += 1
            return
        # Calls below are many and similar: one of each kind suffices, unless it has been written already.
        above = kind != "below"
        key, rough = (above, call.signature(above)), (False, call.signature(False))
        if make is row and key in self.seen:
            return
        self.seen.update([key, rough])
        try:
            made = make(call)
            made["tag"] = f"{entry} {kind} #{len(self.rows)}"
            made["id"] = len(self.rows)
            if len(json.dumps(made)) > 40_000:
                raise Unwritable("too large")
            self.rows.append(made)
        except (Unfit, Unwritable) as reason:
            self.left_out[str(reason) if isinstance(reason, Unfit) else
                          "too large, or of no form that rows have"] += 1
        except TimeoutError:
            raise
        except Exception as error:
            self.left_out[f"{type(error).__name__} when replayed"] += 1

    def sample(self, entry, run, variants):
        calls, _ = calls_of(run)
        for kind, operator, call in calls:
            self.add(entry, kind, operator, call)
            if variants and kind == "top" and call is not None:
                try:
                    with_out = out_call(call)
                except Exception:
                    with_out = None
                if with_out is not None:
                    self.add(entry, "top", with_out.operator, with_out)

    def error(self, entry, run):
        calls, failure = calls_of(run)
        if failure is not None and calls:
            kind, operator, call = [call for call in calls if call[0] == "top"][-1]
            self.add(entry, "error_inputs", operator, call, error_row)


def full_name(info):
    return info.name + ("." + info.variant_test_name if info.variant_test_name else "")


def samples_of(info, dtype, options):
    """An entry's samples in a dtype: the first ones or, with a seed, random ones."""
    differentiable = dtype.is_floating_point or dtype.is_complex
    inputs = info.reference_inputs if options.inputs == "reference" else info.sample_inputs
    if options.inputs == "lists":
        inputs = functools.partial(inputs, num_input_tensors=[3])
    count = options.samples if dtype == torch.float32 else (options.samples + 1) // 2
    if options.seed is None:
        return itertools.islice(inputs("cpu", dtype, requires_grad=differentiable and info.supports_autograd), count)
    torch.manual_seed(options.seed)
    inputs = list(itertools.islice(inputs("cpu", dtype, requires_grad=differentiable and info.supports_autograd), 300))
    return random.Random(f"{info.full_name} {dtype} {options.seed}").sample(inputs, min(count, len(inputs)))


def entry_rows(writer, info, options):
    """The rows of one entry: samples in up to six dtypes with derivatives and variants, then errors."""
    name = full_name(info)
    supported = info.supported_dtypes("cpu")
    for dtype in [getattr(torch, name) for name in options.dtypes]:
        if dtype not in supported:
            continue
        for index, sample in enumerate(samples_of(info, dtype, options)):
            def run(function=info.op):
                output = function(sample.input, *sample.args, **sample.kwargs)
                outputs = [value for value in operator_outputs(output) if isinstance(value, torch.Tensor)]
                real = [value.abs().sum() if value.is_complex() else value.sum() for value in outputs
                        if value.requires_grad]
                if real:
                    sum(real).backward()
            def run_in_place():
                with torch.no_grad():
                    copy = torch.utils._pytree.tree_map(lambda tensor: tensor.detach().clone(), sample.input)
                    info.inplace_variant(copy, *sample.args, **sample.kwargs)
            writer.sample(name, run, index < 2 and (options.seed or dtype in (torch.float32, torch.int64)))
            if info.inplace_variant is not None and isinstance(sample.input, (torch.Tensor, list)) and index < 3:
                writer.sample(name, run_in_place, False)
    if info.error_inputs_func is not None:
        for error in info.error_inputs("cpu"):
            sample = error.sample_input
            writer.error(name, lambda: info.op(sample.input, *sample.args, **sample.kwargs))


def module_rows(writer, info, options):
    """The rows of one module: the calls that its forward and backward passes make."""
    name = info.name
    for dtype in [getattr(torch, name) for name in options.dtypes]:
        if dtype not in info.dtypes:
            continue
        torch.manual_seed(options.seed or 0)
        for training in (True, False):
            inputs = info.module_inputs_func(info, device="cpu", dtype=dtype, requires_grad=dtype.is_floating_point,
                                             training=training)
            for sample in inputs[:options.samples]:
                module = info.module_cls(*sample.constructor_input.args, **sample.constructor_input.kwargs)
                module = module.to(dtype).train(training)

                def run(arguments=sample.forward_input):
                    output = module(*arguments.args, **arguments.kwargs)
                    leaves = [leaf for leaf in torch.utils._pytree.tree_leaves(output)
                              if isinstance(leaf, torch.Tensor) and leaf.requires_grad]
                    if leaves:
                        sum(leaf.abs().sum() for leaf in leaves).backward()
                writer.sample(name, run, bool(options.seed))


def optimizer_rows(writer, info, options):
    """The rows of one optimizer: the calls of two steps, tensor by tensor, in lists, and fused."""
    for dtype in [getattr(torch, name) for name in options.dtypes]:
        if not dtype.is_floating_point:
            continue
        for sample in info.optim_inputs_func("cpu"):
            for way in ({"foreach": False}, {"foreach": True}, {"fused": True}):
                torch.manual_seed(options.seed or 0)
                parameters = [torch.randn(3, 2, dtype=dtype).requires_grad_(), torch.randn(4, dtype=dtype).requires_grad_()]

                def run():
                    optimizer = info.optim_cls(parameters, **{"lr": 0.1, **sample.kwargs, **way})
                    for _ in range(2):
                        for parameter in parameters:
                            parameter.grad = torch.randn_like(parameter)
                        optimizer.step()
                writer.sample(info.optim_cls.__name__, run, False)


def database(options):
    """The entries, each with the function that writes its rows."""
    if options.inputs == "optimizers":
        from torch.testing._internal.common_optimizers import optim_db
        return [(info.optim_cls.__name__, info, optimizer_rows) for info in optim_db]
    if options.inputs == "lists":
        from torch.testing._internal.common_methods_invocations import foreach_op_db
        return [(info.name, info, entry_rows) for info in sorted(foreach_op_db, key=lambda info: info.name)]
    if options.inputs == "modules":
        from torch.testing._internal.common_modules import module_db
        return [(info.name, info, module_rows) for info in sorted(module_db, key=lambda info: info.name)]
    from torch.testing._internal.common_methods_invocations import op_db
    return [(full_name(info), info, entry_rows) for info in sorted(op_db, key=lambda info: info.full_name)]


def write(writer, folder):
    """Writes the rows and the list of missing operators, and prints what was left out."""
    folder.mkdir(parents=True, exist_ok=True)
    with gzip.open(folder / "kernels.jsonl.gz", "wt", compresslevel=9) as file:
        for entry in writer.rows:
            file.write(json.dumps(entry) + "\n")
    with open(folder / "missing.txt", "w") as file:
        file.write("# overloads that PyTorch's operator tests reach and that are not declared (entries that need each)\n")
        for name, entries in sorted(writer.missing.items(), key=lambda item: (-len(item[1]), item[0])):
            file.write(f"{name} {len(entries)}\n")
    print(f"{len(writer.rows)} rows, {len(writer.missing)} operators missing")
    for reason, count in writer.left_out.most_common():
        print(f"  left out {count}: {reason}")


def declared_in(file):
    return set(re.findall(r"^\| `([^`]+)` \|", file.read_text(), re.M))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--only", default="", help="entries whose whole name matches this expression")
    parser.add_argument("--part", default="1/1", help="part K of N of the entries")
    parser.add_argument("--samples", type=int, default=12,
                        help="how many of an entry's samples in float32; half as many in each other dtype")
    parser.add_argument("--declared", type=pathlib.Path, default=OPERATORS, help="the list of our operators")
    parser.add_argument("--seconds", type=int, default=30, help="how long one entry may take")
    parser.add_argument("--seed", type=int, help="other numbers, and any samples instead of the first ones")
    parser.add_argument("--dtypes", type=lambda text: text.split(","), default=SIX, help="instead of the six")
    parser.add_argument("--inputs", default="samples",
                        choices=["samples", "reference", "modules", "lists", "optimizers"],
                        help="an entry's samples, its reference inputs, the modules of `module_db`, the operators on lists of "
                        "tensors of `foreach_op_db`, or the optimizers of `optim_db`")
    options = parser.parse_args()
    part, parts = map(int, options.part.split("/"))
    torch.set_num_threads(1)
    writer = Writer(declared_in(options.declared))
    signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(TimeoutError()))
    for name, info, rows in database(options)[part - 1::parts]:
        if options.only and not re.fullmatch(options.only, name):
            continue
        signal.alarm(options.seconds)
        try:
            rows(writer, info, options)
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {str(error).splitlines()[:1]}", file=sys.stderr)
        finally:
            signal.alarm(0)
    write(writer, options.out)


if __name__ == "__main__":
    main()
