"""What only Python can register with PyTorch for a Rust library: operators with scalars, derivatives, batching rules.

The library contains this source; its package runs it once (see `__init__.py` of the example). To keep imports quick,
auxiliary operators are defined when a call first needs them, and so are most functions here.
"""

import ctypes
import json
import threading

import torch

_raised = []  # Rust functions that save an exception before it is raised through PyTorch, which loses it
_kept = []  # library objects: PyTorch undoes their registrations when they are freed
_owners = {}  # for each operator's name, the library that it belongs to
_lock = threading.RLock()  # held while something is defined


def load(path):
    """Loads a library, and returns the descriptions of the operators that it has registered with PyTorch."""
    torch.ops.load_library(path)
    library = ctypes.CDLL(path)
    library.torch_library_register()  # does nothing, unless the library was loaded before PyTorch
    library.torch_library_describe.restype = ctypes.c_char_p
    operators = json.loads(library.torch_library_describe())
    raised = ctypes.PyDLL(path).torch_library_raised
    raised.argtypes, raised.restype = [ctypes.py_object], None
    _raised.append(raised)
    for operator in operators:
        _owners[_full_name(operator)] = library
        _complete(operator)
    define = _definer(operators)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(define))  # never freed: Rust may call it after all else here is gone
    library.torch_library_differentiate(define)
    return operators


def opcheck(operators, samples, **options):
    """Checks each operator with each of its samples, and returns the number of checks.

    `samples` maps the name of each operator (`name.overload` if it has an overload name) to a list of samples: tuples of
    arguments, or pairs of such a tuple and a dictionary of keyword arguments. An operator without samples is an error that
    names it, and so are samples for an unknown operator. `options` are passed to `torch.library.opcheck`.
    """
    _need("checks")
    return _opcheck(operators, samples, **options)


def report(path):
    """What was left out of PyTorch, with the reasons, one line each."""
    library = ctypes.CDLL(path)
    library.torch_library_report.restype = ctypes.c_char_p
    return library.torch_library_report().decode().splitlines()


def _complete(operator):
    """Registers what an operator needs before its first call."""
    if operator["flat"]:
        _need("numbers")
        _flatten(operator)
    if operator["has_above"]:
        pass  # Rust has a kernel there, and asks for more when it needs it
    elif operator["recorded"]:
        _need("derivatives")
        _differentiate(operator)
    elif operator["is_composite"]:
        pass  # PyTorch differentiates the operators that it calls
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
    """A callback for Rust: given an operator's name, it defines the operators that record its calls; given none, the
    operator that makes calls through Python."""
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
    """Makes Rust define the auxiliary operators of an operator."""
    name = _full_name(operator)
    _owners[name].torch_library_define(name.encode())


def _need(part):
    """Compiles and runs a part of this source, unless that has been done."""
    with _lock:
        if part in _LATER:
            exec(compile(_LATER[part], f"{part}.py", "exec"), globals())
            del _LATER[part]


def _lazily(make):
    """A function that is made at its first call: looking operators up takes time, which an import need not spend."""
    made = []

    def lazily(*args, **kwargs):
        if not made:
            with _lock:
                made or made.append(make())
        return made[0](*args, **kwargs)

    return lazily


def _passing_on(function):
    """The function, with its exceptions saved so that they reach the caller of PyTorch unchanged."""

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
    """The operator that has the kernels: the flat one if there is one."""
    return _overload(operator, operator["flat"])


def _full_name(operator, name=None):
    if name:
        return f"{operator['namespace']}::{name}"
    dot = "." if operator["overload"] else ""
    return f"{operator['namespace']}::{operator['name']}{dot}{operator['overload']}"


def _implement(operator, function, key, name=None):
    """Registers a function as a kernel, for the operator that has the kernels unless another one is named."""
    name = name or _full_name(operator, operator["flat"])
    library = _library(operator["namespace"])
    library.impl(name.split("::")[1], function, key)


def _library(namespace):
    for library in _kept:
        if library.ns == namespace:
            return library
    _kept.append(torch.library.Library(namespace, "FRAGMENT"))
    return _kept[-1]
