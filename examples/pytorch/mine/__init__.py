"""Operators written in Rust: `torch.ops.mine`, which are functions of this package as well."""

import ctypes
import json
import os
import pathlib
import sys

import torch  # PyTorch must be imported first: the library looks for it when it is loaded

_here = pathlib.Path(__file__).parent
_file = f"lib{__name__}{'.dylib' if sys.platform == 'darwin' else '.so'}"
_library = os.environ.get(f"{__name__.upper()}_LIBRARY", str(_here / _file))
_glue = {}
_text = ctypes.CDLL(_library).torch_library_glue
_text.restype = ctypes.c_char_p
exec(compile(_text(), "torch_library_glue.py", "exec"), _glue)

operators = _glue["load"](_library)
for _operator in operators:
    _name = _operator["name"]
    globals()[_name] = getattr(getattr(torch.ops, _operator["namespace"]), _name)
if (_here / "docs.json").exists():  # only in a wheel
    for _name, _doc in json.loads((_here / "docs.json").read_text("utf-8")).items():
        globals()[_name].__doc__ = _doc


def opcheck(samples, **options):
    """`torch.library.opcheck` for all operators: `samples` maps each name to a list of argument tuples."""
    return _glue["opcheck"](operators, samples, **options)


def report():
    """What was left out of PyTorch, with the reasons, one per line."""
    return _glue["report"](_library)
