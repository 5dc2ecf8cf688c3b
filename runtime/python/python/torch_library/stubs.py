"""Writes the stubs and the docstrings of all linked operators.

    python -m torch_library.stubs --out python/torch_library --sources kernels/aten/src/ops

`_operators.pyi` gets a class for each operator, made from its schemas; `docs.json` gets the doc comments of declarations in
the given Rust sources.
"""

import argparse
import json
import keyword
import re
import sys
from itertools import groupby
from pathlib import Path

from torch_library import _native

HEADER = '''# Written by `python -m torch_library.stubs` from the schemas of the operators. Not to be edited.
# Overloads are tried in this order, and a number may be a tensor: where two of them take a call, the first is meant.
# mypy: disable-error-code="overload-overlap, overload-cannot-match, misc, override"
from collections.abc import Sequence
from typing import Any, overload

from torch_library import Generator, Operator, Tensor
from torch_library import device as _device
from torch_library import dtype as _dtype
from torch_library import layout as _layout
from torch_library import memory_format as _memory_format

# Operators may have these names.
_int = int
_float = float
_bool = bool
_str = str
Number = int | float | complex
'''

WORDS = {
    "Tensor": "Tensor",
    "Scalar": "Number",
    "int": "int",
    "SymInt": "int",
    "float": "float",
    "complex": "Number",
    "bool": "bool",
    "SymBool": "bool",
    "str": "str",
    "ScalarType": "_dtype | type",
    "Layout": "_layout",
    "MemoryFormat": "_memory_format",
    "Device": "_device | str",
    "Generator": "Generator",
}
RETURNED = WORDS | {"ScalarType": "_dtype", "Device": "_device"}
TAKE_NUMBERS = {"add", "copy", "div", "divide", "floor_divide", "mul", "multiply", "sub", "subtract", "true_divide"}


def annotation(ty, words=WORDS, is_return=False):
    """The Python type for a type of a schema; `#` marks a list that can be given as a single number."""
    if ty.endswith("?"):
        return f"{annotation(ty[:-1], words, is_return)} | None"
    repeated = ty.endswith("#")
    ty = ty.rstrip("#")
    if ty.endswith("?") and repeated:
        return f"{annotation(ty[:-1] + '#', words, is_return)} | None"
    if ty.endswith("[]"):
        member = annotation(ty[:-2], words, is_return)
        if is_return:
            return f"list[{member}]"
        return f"{member} | Sequence[{member}]" if repeated else f"Sequence[{member}]"
    return words.get(ty, "Any")


def signature(name, receiver, arguments, returns):
    """The signature of one overload. An argument whose name is a Python keyword and all after it become `Any`."""
    parts, by_name = [receiver], False
    for argument, ty, has_default, kwarg_only in arguments:
        if keyword.iskeyword(argument):
            parts.append("*args: Any" if not by_name else "")
            parts.append("**kwargs: Any")
            break
        if kwarg_only and not by_name:
            parts.append("*")
            by_name = True
        hint = annotation(ty)
        if ty == "Tensor" and not kwarg_only and name.rstrip("_") in TAKE_NUMBERS:
            hint = "Tensor | Number"
        parts.append(f"{argument}: {hint}" + (" = ..." if has_default else ""))
    return f"({', '.join(part for part in parts if part)}) -> {result_of(returns)}"


def result_of(returns):
    """The return type of a call."""
    results = [annotation(ty, RETURNED, True) for ty in returns]
    return {0: "None", 1: "".join(results)}.get(len(results), f"tuple[{', '.join(results)}]")


def class_of(namespace, name, rows):
    """The lines of the class of an operator; the namespace has one object of it."""
    lines = [f"class _{namespace}_{name}(Operator):"]
    for row in rows:
        if len(rows) > 1:
            lines.append("    @overload")
        lines.append(f"    def __call__{signature(name, '__operator', row[3], row[4])}: ...")
    lines += [f"    {overload}: Operator" for overload in sorted({row[2] for row in rows} - {""}) if is_name(overload)]
    lines.append("    default: Operator")
    return lines


def is_name(word):
    return word.isidentifier() and not keyword.iskeyword(word)


def stubs(rows):
    """The text of `_operators.pyi`."""
    lines, namespaces = [HEADER], {}
    for (namespace, name), group in groupby(rows, key=lambda row: row[:2]):
        if is_name(name):
            lines += ["", *class_of(namespace, name, list(group))]
            namespaces.setdefault(namespace, []).append(name)
    for namespace, names in namespaces.items():
        lines += ["", f"class _{namespace}:"]
        lines += [f"    {name}: _{namespace}_{name}" for name in names]
    lines += ["", "class Operators:"]
    lines += [f"    {namespace}: _{namespace}" for namespace in namespaces]
    lines += ["    def __getattr__(self, name: str) -> Any: ...", "", *methods(rows)]
    return "\n".join(lines) + "\n"


def methods(rows):
    """The lines of the base class of `Tensor`, with the operators that have an argument `self`."""
    own = {name for name, value in vars(_native.Tensor).items() if not isinstance(value, _native.Method)}
    known = set(_native.methods()) - own
    lines = ["class TensorMethods:"]
    for (namespace, name), group in groupby(rows, key=lambda row: row[:2]):
        overloads = [row for row in group if row[3] and row[3][0][0] == "self"]
        if namespace != "aten" or name not in known or not overloads or not is_name(name):
            continue
        for row in overloads:
            rest = row[3][1:]
            if len(overloads) > 1:
                lines.append("    @overload")
            lines.append(f"    def {name}{signature(name, 'self', rest, row[4])}: ...")
        sizes = [row for row in overloads if len(row[3]) > 1 and row[3][1][1] in ("int[]", "SymInt[]")]
        if sizes:
            if len(overloads) == 1:
                lines.insert(len(lines) - 1, "    @overload")
            lines += ["    @overload", f"    def {name}(self, *sizes: int) -> {result_of(sizes[0][4])}: ..."]
    return lines


COMMENTED = re.compile(r"((?:^[ \t]*///.*\n)+)(?:^[ \t]*#\[.*\]\n)*^[ \t]*([A-Za-z_]\w*(?:\.\w+)?)\(", re.M)
NAMESPACE = re.compile(r"^\s*pub mod (\w+)", re.M)


def docs(folders):
    """The doc comments of declarations in `torch_library!`, by `namespace::name.overload`, without examples in Rust."""
    found = {}
    for path in (path for folder in folders for path in sorted(Path(folder).rglob("*.rs"))):
        text = path.read_text("utf-8")
        namespace = NAMESPACE.search(text)
        if not namespace:
            continue
        for comment, name in COMMENTED.findall(text):
            lines = [line.strip()[3:].removeprefix(" ") for line in comment.splitlines()]
            prose = re.sub(r"```.*?```\n?", "", "\n".join(lines), flags=re.S)
            found[f"{namespace[1]}::{name}"] = re.sub(r"\n{3,}", "\n\n", prose).strip()
    return found


def print_overloads(rows):
    for (namespace, name), group in groupby(rows, key=lambda row: row[:2]):
        overloads = [row[2] or "default" for row in group]
        if namespace == "aten" and len(overloads) > 1:
            print(f"{name}: {' '.join(overloads)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path(__file__).parent, help="the folder to write to")
    parser.add_argument("--sources", nargs="*", default=[], help="folders with Rust sources that declare operators")
    parser.add_argument("--overloads", action="store_true", help="print the overloads of operators that have several")
    options = parser.parse_args()
    if options.overloads:
        print_overloads(_native.catalogue())
        return 0
    (options.out / "_operators.pyi").write_text(stubs(_native.catalogue()), "utf-8")
    if options.sources:
        text = json.dumps(docs(options.sources), indent=0, ensure_ascii=False, sort_keys=True)
        (options.out / "docs.json").write_text(text + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
