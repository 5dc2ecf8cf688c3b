"""What PyTorch lets only Python do for the operators of a Rust library: numbers in arguments, derivatives, rules for vmap.

The library carries this text and hands it out; its package runs it once (see `__init__.py` of the example). An import waits
for as little as can be: what serves an operator is defined when a call first needs it, and so are most functions here.
"""

import ctypes
import json
import threading

import torch

_raised = []  # who is told what is about to be raised through PyTorch, which loses it
_kept = []  # PyTorch takes back what a library object registered when the object goes
_owners = {}  # the library that an operator is of, by name
_lock = threading.RLock()  # something is defined


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
    for operator in operators:
        _owners[_full_name(operator)] = library
        _complete(operator)
    define = _definer(operators)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(define))  # Rust may call it whenever, also when all else here has gone
    library.torch_library_differentiate(define)
    return operators


def opcheck(operators, samples, **options):
    """Checks each operator with each of its samples, and returns how many checks there were.

    `samples` has a list for each operator, by its name, with the overload behind a dot if it has one: tuples of
    arguments, or of such a tuple and a dictionary. An operator without samples is an error that names it, and so is a
    sample for none. `options` go to `torch.library.opcheck`.
    """
    _need("checks")
    return _opcheck(operators, samples, **options)


def report(path):
    """What of a library is not in PyTorch, and why: a line each."""
    library = ctypes.CDLL(path)
    library.torch_library_report.restype = ctypes.c_char_p
    return library.torch_library_report().decode().splitlines()


def _complete(operator):
    """Registers what an operator needs before its first call."""
    if operator["flat"]:
        _need("numbers")
        _flatten(operator)
    if operator["has_above"]:
        pass  # Rust is there, and says when it needs more
    elif operator["recorded"]:
        _need("derivatives")
        _differentiate(operator)
    elif operator["is_composite"]:
        pass  # PyTorch differentiates the parts
    elif operator["is_view"]:
        _implement(operator, torch.library.fallthrough_kernel, "Autograd")  # PyTorch differentiates the view
    elif any(argument["is_written"] for argument in operator["arguments"]):
        _need("derivatives")
        _refuse_to_write(operator)
    for key in operator["layers"]:
        _need("layers")
        _put_between(operator, key)
    if operator["batched"]:
        _need("layers")
        _batch(operator)


def _definer(operators):
    """A function for Rust: it defines what records the calls of an operator, or without a name what passes calls on."""
    waiting = {_full_name(operator): operator for operator in operators if operator["has_above"] and operator["recorded"]}

    @ctypes.CFUNCTYPE(None, ctypes.c_char_p)
    def define(name):
        with _lock:
            if name is None:
                _need("calls")
                _define_call()
            elif operator := waiting.pop(name.decode(), None):
                _need("derivatives")
                _define(operator)
                _record(operator)

    return define


def _define(operator):
    """Has the operators defined that serve one."""
    name = _full_name(operator)
    _owners[name].torch_library_define(name.encode())


def _need(part):
    """Compiles a part of this text, if that was not done."""
    with _lock:
        if part in _LATER:
            exec(compile(_LATER[part], f"{part}.py", "exec"), globals())
            del _LATER[part]


def _lazily(make):
    """The function that is made at its first call: to look operators up takes time, which no import need spend."""
    made = []

    def lazily(*args, **kwargs):
        if not made:
            with _lock:
                made or made.append(make())
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


def _overload(operator, name=None):
    if name and name != operator["flat"]:
        _define(operator)
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
