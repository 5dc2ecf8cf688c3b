"""What PyTorch lets only Python do for the operators of a Rust library: numbers in arguments, derivatives, rules for vmap.

The library carries this text and hands it out; its package runs it once (see `__init__.py` of the example).
"""

import ctypes
import json

import torch

_raised = []  # who is told what is about to be raised through PyTorch, which loses it
_kept = []  # PyTorch takes back what a library object registered when the object goes


def load(path):
    """Loads a library, and returns the operators that it has handed to PyTorch, as they describe themselves."""
    torch.ops.load_library(path)
    library = ctypes.CDLL(path)
    library.torch_library_register()  # nothing, unless the library was loaded before PyTorch
    library.torch_library_describe.restype = ctypes.c_char_p
    operators = json.loads(library.torch_library_describe())
    raised = ctypes.PyDLL(path).torch_library_raised
    raised.argtypes, raised.restype = [ctypes.py_object], None
    _raised.append(raised)
    _define_call()
    for operator in operators:
        if operator["flat"]:
            _flatten(operator)
        if operator["recorded"]:
            _differentiate(operator)
        elif operator["has_above"] or operator["is_composite"]:
            pass  # Rust is there, or PyTorch differentiates the parts
        elif operator["is_view"]:
            _implement(operator, torch.library.fallthrough_kernel, "Autograd")  # PyTorch differentiates the view
        else:
            _refuse_to_write(operator)
        for key in operator["layers"]:
            _put_between(operator, key)
        if operator["batched"]:
            _batch(operator)
    library.torch_library_differentiate()
    return operators


def _later(name):
    """A function of the text that is compiled when it is first needed: an import need not wait for it."""
    if name not in globals():
        exec(compile(_LATER, "recorders.py", "exec"), globals())
    return globals()[name]


def _lazily(make):
    """The function that is made at its first call: to look operators up takes time, which no import need spend."""
    made = []

    def lazily(*args, **kwargs):
        if not made:
            made.append(make())
        return made[0](*args, **kwargs)

    return lazily


def _passing_on(function):
    """The function, whose exceptions reach whoever called PyTorch as they are."""

    def passing_on(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except Exception as error:
            _raised[-1](error)
            raise

    return passing_on


def report(path):
    """What of a library is not in PyTorch, and why: a line each."""
    library = ctypes.CDLL(path)
    library.torch_library_report.restype = ctypes.c_char_p
    return library.torch_library_report().decode().splitlines()


def _overload(operator, name=None):
    packet = getattr(getattr(torch.ops, operator["namespace"]), name or operator["name"])
    return getattr(packet, "default" if name else operator["overload"] or "default")


def _called(operator):
    """The operator that kernels serve."""
    return _overload(operator, operator["flat"])


def _full_name(operator, name=None):
    if name:
        return f"{operator['namespace']}::{name}"
    dot = "." if operator["overload"] else ""
    return f"{operator['namespace']}::{operator['name']}{dot}{operator['overload']}"


def _implement(operator, function, key, name=None):
    """Registers a function: for the operator that kernels serve, unless another one is named."""
    name = name or _full_name(operator, operator["flat"])
    library = _library(operator["namespace"])
    library.impl(name.split("::")[1], function, key)


def _library(namespace):
    for library in _kept:
        if library.ns == namespace:
            return library
    _kept.append(torch.library.Library(namespace, "FRAGMENT"))
    return _kept[-1]
